use mind::{Tensor, mind};

mind! {
    struct Net { w1: f32[2, 3], b1: f32[3], w2: f32[3] }

    fn loss<N>(p: Net, x: f32[N, 2], y: f32[N]) -> f32 {
        let h = tanh(x @ p.w1 + p.b1);
        mean(pow(h @ p.w2 - y, 2.0))
    }

    fn step<N>(p: &mut Net, x: f32[N, 2], y: f32[N], rate: f32) -> f32 {
        let (l, g) = value_and_grad(loss, wrt = p)(p, x, y);
        p -= rate * g;
        l
    }
}

fn main() {
    let x = Tensor::from([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]);
    let y = Tensor::from([0.0, 1.0, 1.0]);
    let mut p = Net {
        w1: Tensor::from([[0.5, -0.5, 1.0], [0.25, 1.0, -1.0]]),
        b1: Tensor::zeros(),
        w2: Tensor::from([1.0, 0.5, -0.5]),
    };
    for _ in 0..3 {
        println!("{:.4}", step(&mut p, &x, &y, 0.2));
    }
}
