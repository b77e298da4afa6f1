//! Structs of tensors as arguments of templates and functions of the language, which apply to each field.

use mind::{Tensor, mind};

mind! {
    struct Dense<I, O> { w: f32[I, O], b: f32[O] }
    struct Net { hidden: Dense<2, 3>, last: Dense<3, 1>, scale: f32 }

    /// A step of Adam for one tensor.
    fn adam<..B, T: float>(w: T[..B], g: T[..B], m: T[..B], v: T[..B], rate: T, const b1: float = 0.9, const b2: float = 0.5) {
        let m = b1 * m + (1.0 - b1) * g;
        let v = b2 * v + (1.0 - b2) * g * g;
        (w - rate * m / (sqrt(v) + 1e-8), m, v)
    }

    fn each(w: Dense<2, 1>, g: Dense<2, 1>, m: Dense<2, 1>, v: Dense<2, 1>) -> (Dense<2, 1>, Dense<2, 1>, Dense<2, 1>) {
        adam(w, g, m, v, 0.5)
    }

    fn alone(w: f32[2, 1], g: f32[2, 1], m: f32[2, 1], v: f32[2, 1]) -> (f32[2, 1], f32[2, 1], f32[2, 1]) {
        adam(w, g, m, v, 0.5)
    }

    /// Scales a gradient of length above 1 to length 1.
    fn clipped<P: params>(g: P) {
        let length = sqrt(sum(g * g));
        g * (1.0 / maximum(length, 1.0))
    }

    fn energy(net: Net) -> f32 { sum(net * net) + max(net) }

    fn clip(net: Net) -> Net { clipped(net) }

    fn absolute(net: Net) -> Net { abs(net) + zeros_like(net) }

    fn forward<N>(net: Net, x: f32[N, 2]) -> f32[N, 1] {
        (relu(x @ net.hidden.w + net.hidden.b) @ net.last.w + net.last.b) * net.scale
    }

    #[grad(net)]
    fn loss<N>(net: Net, x: f32[N, 2], y: f32[N, 1]) -> (f32, f32[N, 1]) {
        let z = forward(net, x);
        let miss = z - y;
        (mean(miss * miss), z)
    }

    fn step<N>(net: &mut Net, m: &mut Net, v: &mut Net, x: f32[N, 2], y: f32[N, 1]) -> (f32, f32[N, 1]) {
        let ((l, z), g) = value_and_grad(loss, wrt = net)(net, x, y);
        let (w, m1, v1) = adam(net, clipped(g), m, v, 0.05);
        net = w;
        m = m1;
        v = v1;
        (l, z)
    }
}

fn net() -> Net {
    let mut net = Net::zeros();
    net.hidden.w = Tensor::from([[0.5, -0.25, 1.0], [-1.0, 0.75, 0.5]]);
    net.hidden.b = Tensor::from([0.1, 0.2, -0.3]);
    net.last.w = Tensor::from([[1.0], [-0.5], [0.25]]);
    net.last.b = Tensor::from([-2.0]);
    net.scale = 1.5;
    net
}

#[test]
fn a_template_of_a_tensor_takes_structs_field_by_field() {
    let dense = |by: f32| Dense { w: Tensor::from([[by], [2.0 * by]]), b: Tensor::from([-by]) };
    let (w, m, v) = each(&dense(1.0), &dense(0.5), &dense(0.1), &dense(0.2));
    let of = |by: f32| Tensor::from([[by], [2.0 * by]]);
    let (w_alone, m_alone, v_alone) = alone(&of(1.0), &of(0.5), &of(0.1), &of(0.2));
    assert_eq!((&w.w, &m.w, &v.w), (&w_alone, &m_alone, &v_alone));
    let m_b = 0.9 * -0.1 + 0.1 * -0.5_f32;
    assert!((m.b[[0]] - m_b).abs() < 1e-7, "{}", m.b);
}

#[test]
fn sums_and_extremes_of_a_struct_are_those_of_all_fields() {
    let net = net();
    let all: Vec<f32> = [&net.hidden.w, &net.hidden.w]
        .iter()
        .take(1)
        .flat_map(|w| w.as_slice().to_vec())
        .chain(net.hidden.b.as_slice().to_vec())
        .chain(net.last.w.as_slice().to_vec())
        .chain(net.last.b.as_slice().to_vec())
        .chain([net.scale])
        .collect();
    let squares: f32 = all.iter().map(|x| x * x).sum();
    assert!((energy(&net) - squares - 1.5).abs() < 1e-5);
    let short = clip(&net);
    assert!((short.scale - 1.5 / squares.sqrt()).abs() < 1e-6, "{}", short.scale);
    let sizes = absolute(&net);
    assert_eq!((sizes.last.b, sizes.hidden.w[[0, 1]]), (Tensor::from([2.0]), 0.25));
}

#[test]
fn what_a_loss_gives_beside_is_passed_on() {
    let (x, y) = (Tensor::from([[1.0, 2.0], [-1.0, 0.5]]), Tensor::from([[0.5], [-0.5]]));
    let before = net();
    let ((l, z), g) = loss_grad(&before, &x, &y);
    assert_eq!(z, forward(&before, &x));
    let mut near = net();
    near.last.b = Tensor::from([-2.0 + 1e-2]);
    let slope = (loss(&near, &x, &y).0 - l) / 1e-2;
    assert!((slope - g.last.b[[0]]).abs() < 0.05 * slope.abs(), "{slope} {}", g.last.b);
    let (mut trained, mut m, mut v) = (net(), Net::zeros(), Net::zeros());
    let (first, _) = step(&mut trained, &mut m, &mut v, &x, &y);
    assert_eq!(first, l);
    let mut last = first;
    for _ in 0..100 {
        last = step(&mut trained, &mut m, &mut v, &x, &y).0;
    }
    assert!(last < 0.1 * first, "{first} {last}");
}

#[test]
fn an_expression_passes_on_what_stands_beside_a_loss() {
    let (x, w) = (Tensor::from([1.0f64, -2.0]), Tensor::from([3.0f64, 0.5]));
    let ((loss, scores), g) = mind!(value_and_grad(
        {
            let z = x * w;
            (sum(z * z), z)
        },
        wrt = w
    ));
    assert_eq!(loss, 10.0);
    assert_eq!(scores.as_slice(), [3.0, -1.0]);
    assert_eq!(g, Tensor::from([6.0, 4.0]));
}
