//! Structs of tensors.

use mind::{Const, Parameters, Tensor, Workspace, Xoshiro256, mind};

mind! {
    /// Two layers.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Mlp {
        /// From the input.
        pub w1: f32[3, 4],
        b1: f32[4],
        w2: f32[4, 2],
        b2: f32[2],
    }

    pub fn mlp<N>(x: f32[N, 3], p: Mlp) -> f32[N, 2] {
        relu(x @ p.w1 + p.b1) @ p.w2 + p.b2
    }

    #[grad(p)]
    pub fn loss<N>(x: f32[N, 3], y: f32[N, 2], p: Mlp) -> f32 {
        let e = mlp(x, p) - y;
        mean(e * e)
    }

    fn step<N>(x: f32[N, 3], y: f32[N, 2], p: &mut Mlp, rate: f32) -> f32 {
        let (l, g) = value_and_grad(loss, wrt = p)(x, y, p);
        p -= rate * g;
        l
    }

    fn some_of_it(p: &mut Mlp, rate: f32) {
        p.w1 -= rate;
        p.b2 = p.b2 + 2.0;
    }

    fn arithmetic(p: Mlp, q: Mlp, s: f32) -> (Mlp, Mlp) {
        (-p + q * s - 1.0, s / (q * q + p))
    }

    fn literals(p: Mlp) -> Mlp {
        let Mlp { w1, b1: bias, .. } = p;
        Mlp { w1: w1.T.T, b2: [1.0, 2.0], b1: bias, ..p * 2.0 }
    }
}

fn network() -> Mlp {
    Mlp {
        w1: Tensor::from_fn(|[i, j]| ((i * 4 + j) as f32 * 0.7).sin()),
        b1: Tensor::full(0.1),
        w2: Tensor::from_fn(|[i, j]| ((i * 2 + j) as f32 * 1.3).cos()),
        b2: Tensor::zeros(),
    }
}

#[test]
fn a_step_of_descent_updates_every_field() {
    let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 0.5, -1.0], [0.0, 2.0, 1.0]]);
    let y = Tensor::full(0.5);
    let mut p = network();
    let before = p.clone();
    let (value, g) = loss_grad(&x, &y, &p);
    assert_eq!(step(&x, &y, &mut p, 0.05), value);
    for (new, (old, g)) in p.w1.iter().zip(before.w1.iter().zip(g.w1.iter())) {
        assert_eq!(*new, old - 0.05 * g);
    }
    for (new, (old, g)) in p.b2.iter().zip(before.b2.iter().zip(g.b2.iter())) {
        assert_eq!(*new, old - 0.05 * g);
    }
    assert!(loss(&x, &y, &p) < value);
}

#[test]
fn the_gradient_is_that_of_the_fields_as_parameters() {
    let flat = mind!(|w1: f32[3, 4], b1: f32[4], w2: f32[4, 2], b2: f32[2]| {
        let x = [[1.0, 0.5, -1.0], [0.0, 2.0, 1.0]];
        let e = relu(x @ w1 + b1) @ w2 + b2 - 0.5;
        mean(e * e)
    });
    let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 0.5, -1.0], [0.0, 2.0, 1.0]]);
    let p = network();
    let (value, g) = loss_grad(&x, &Tensor::full(0.5), &p);
    assert_eq!(value, flat(&p.w1, &p.b1, &p.w2, &p.b2));
    let mut nudged = p.clone();
    nudged.w2[[0, 1]] += 1e-3;
    let slope = (loss(&x, &Tensor::full(0.5), &nudged) - value) / 1e-3;
    assert!((slope - g.w2[[0, 1]]).abs() < 1e-2 * slope.abs(), "{slope} and {}", g.w2[[0, 1]]);
}

#[test]
fn fields_that_are_not_assigned_stay() {
    let mut p = network();
    let before = p.clone();
    some_of_it(&mut p, 0.5);
    assert_eq!((p.w1[[0, 0]], &p.b1), (before.w1[[0, 0]] - 0.5, &before.b1));
    assert_eq!((&p.w2, p.b2), (&before.w2, Tensor::from([2.0, 2.0])));
}

#[test]
fn arithmetic_goes_field_by_field() {
    let (p, q) = (network(), network());
    let (a, b) = arithmetic(&p, &q, 3.0);
    for ((a, b), w) in a.w2.iter().zip(b.w2.iter()).zip(p.w2.iter()) {
        assert_eq!((*a, *b), (-w + w * 3.0 - 1.0, 3.0 / (w * w + w)));
    }
    assert_eq!(a.b1[[3]], -0.1 + 0.1 * 3.0 - 1.0);
}

#[test]
fn a_struct_is_written_and_taken_apart() {
    let p = network();
    let q = literals(&p);
    assert_eq!((&q.w1, &q.b1, &q.b2), (&p.w1, &p.b1, &Tensor::from([1.0, 2.0])));
    assert_eq!(q.w2, p.w2.map(|w| w * 2.0));
}

#[test]
fn results_go_into_structs_of_the_caller() {
    let x: Tensor![f32; 2, 3] = Tensor::full(0.5);
    let (y, p) = (Tensor::full(0.5), network());
    let (expected, gradient) = loss_grad(&x, &y, &p);
    let (mut value, mut g) = (0.0, network());
    let mut workspace = Workspace::with_bytes(loss_grad::peak_bytes(2));
    assert_eq!(loss_grad_into(&x, &y, &p, (&mut value, &mut g), &mut workspace), Ok(()));
    assert_eq!((value, &g), (expected, &gradient));
    assert_eq!(literals_into(&p, &mut g, &mut workspace), Ok(()));
    assert_eq!(g, literals(&p));
}

#[test]
fn the_module_counts_the_elements_of_fields() {
    assert_eq!(some_of_it::PARAMS, 12 + 4 + 8 + 2);
    assert_eq!(loss::params(7), 26);
    assert!(loss::CORE_IR.contains("Input () {name=\"p.w1\"} : f32[3, 4]"), "{}", loss::CORE_IR);
}

mod layers {
    use mind::mind;

    mind! {
        #[derive(Clone, Debug, PartialEq)]
        pub struct Dense<I, O> { pub w: f64[I, O], pub b: f64[O] }

        #[derive(Clone, Debug)]
        pub struct Net<I> { pub first: Dense<I, 3>, pub scale: f64, pub last: Dense<3, 2 * I>, pub seen: i64 }

        fn dense<N, I, O>(x: f64[N, I], p: Dense<I, O>) -> f64[N, O] { x @ p.w + p.b }

        pub fn net<N, I>(x: f64[N, I], p: Net<I>) -> f64[N, 2 * I] {
            dense(dense(x, p.first) * p.scale, p.last)
        }

        #[grad(p.first, p.scale)]
        pub fn energy<N, I>(x: f64[N, I], p: Net<I>) -> f64 {
            let y = net(x, p);
            sum(y * y)
        }

        pub fn descend<N, I>(x: f64[N, I], p: &mut Net<I>) {
            let (first, last) = grad(energy, wrt = (p.first, p.last))(x, p);
            p.first -= 0.001 * first;
            shrink(p.last);
            p.last -= 1e-9 * last;
            p.seen += 1;
        }

        fn shrink<I, O>(layer: &mut Dense<I, O>) { layer.w *= 0.5; }

        pub fn halves<M>(p: Net<M>) -> (f64, Net<M>, Dense<M, 3>) {
            let half = Dense { w: p.first.w * 0.5, b: p.first.b / 2.0 };
            (p.scale, Net { first: half, ..p }, p.first)
        }

        pub fn five(p: Net<5>) -> Net<5> { p }

        pub fn computed<N>(x: f64[N], p: Dense<N + 1, 2>) -> Dense<N + 1, 2> { p + sum(x) }
    }
}

use layers::{
    Dense, Net, computed, descend, energy_grad, five, halves, halves_into, net, try_descend, try_five,
};

fn nested<I: mind::Dim>(i: I) -> Net<I> {
    let extent = i.extent();
    Net {
        first: Dense { w: Tensor::from_fn_with((i, Const), |[i, j]| (i + j) as f64), b: Tensor::full(1.0) },
        scale: 0.5,
        last: Dense {
            w: Tensor::from_fn_with((Const, 2 * extent), |[i, j]| (i * j) as f64 - 1.0),
            b: Tensor::full_with((2 * extent,), 0.25),
        },
        seen: 7,
    }
}

#[test]
fn dimensions_are_static_or_dynamic() {
    let x: Tensor![f64; 2, 5] = Tensor::from_fn(|[i, j]| (i * j) as f64);
    let y = net(&x, &nested(Const::<5>));
    let dynamic = net(&x.as_dyn(), &nested(5_usize));
    assert_eq!(y.as_slice(), dynamic.as_slice());
    assert_eq!(y.dims(), [2, 10]);
}

#[test]
fn parts_of_a_struct_are_differentiated_by_and_updated() {
    let x: Tensor![f64; 2, 5] = Tensor::from_fn(|[i, j]| (i + j) as f64 * 0.1);
    let mut p = nested(Const::<5>);
    let before = p.clone();
    let (_, (first, scale)) = energy_grad(&x, &p);
    assert!(scale > 0.0);
    descend(&x, &mut p);
    assert_eq!((p.scale, p.seen), (0.5, 8));
    assert_eq!(p.first.w[[4, 2]], before.first.w[[4, 2]] - 0.001 * first.w[[4, 2]]);
    assert!((p.last.w[[2, 9]] - before.last.w[[2, 9]] * 0.5).abs() < 1e-3);
}

#[test]
fn structs_are_results_among_others() {
    let p = nested(4_usize);
    let (scale, half, first) = halves(&p);
    assert_eq!((scale, half.scale, half.seen), (0.5, 0.5, 7));
    assert_eq!((&first, &half.last), (&p.first, &p.last));
    assert_eq!(half.first.w, p.first.w.map(|w| w / 2.0));
    let (mut scale, mut other, mut layer) = (0.0, nested(4_usize), p.first.clone());
    let mut workspace = Workspace::with_bytes(halves::peak_bytes(4));
    assert_eq!(halves_into(&half, (&mut scale, &mut other, &mut layer), &mut workspace), Ok(()));
    assert_eq!((scale, other.first.b[[0]], layer), (0.5, 0.25, half.first));
}

#[test]
fn extents_that_rust_leaves_open_are_checked() {
    assert_eq!(five(&nested(Const)).seen, 7);
    let wrong = Net { last: nested(Const::<4>).last, ..nested(Const::<5>) };
    let error = try_five(&wrong).expect_err("8 is not 10");
    let expected = "E6009: `five`: parameter `p.last.w`: dimension 1 is 8, needed 10 (as declared)";
    assert_eq!(error.to_string(), expected);
    let mut wrong = Net { first: nested(3_usize).first, ..nested(4_usize) };
    let error = try_descend(&Tensor::full_with((1, 3), 1.0), &mut wrong).expect_err("8 is not 6");
    assert_eq!(
        error.to_string(),
        "E6009: `descend`: parameter `p.last.w`: dimension 1 is 8, needed 6 (2 * I)"
    );
}

#[test]
fn a_dimension_of_a_parameter_may_be_computed() {
    let p = Dense { w: Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), b: Tensor::full(1.0) };
    let q = computed(&Tensor::from([0.5, 0.5]), &p);
    assert_eq!((q.w.dims(), q.w[[2, 1]], q.b[[0]]), ([3, 2], 7.0, 2.0));
}

#[test]
fn constructors_take_static_or_dynamic_dimensions() {
    let p = Mlp::zeros();
    assert!(p.w1.iter().chain(p.b2.iter()).all(|x| *x == 0.0));
    let dense = Dense::<Const<3>, Const<2>>::zeros();
    assert_eq!(dense, Dense::zeros_with(Const, Const));
    let net = Net::zeros_with(4_usize);
    assert_eq!((net.first.w.dims(), net.last.w.dims(), net.last.b.dims()), ([4, 3], [3, 8], [8]));
    assert_eq!((net.scale, net.seen), (0.0, 0));
}

#[test]
fn initialisers_draw_weights_and_leave_biases_zero() {
    let p = Mlp::he_uniform(&mut Xoshiro256::new(1));
    let q = Mlp::he_uniform(&mut Xoshiro256::new(1));
    assert_eq!(p, q);
    assert!(p.w1.iter().all(|w| *w != 0.0 && w.abs() <= 2.0_f32.sqrt()));
    assert_eq!((&p.b1, &p.b2), (&Tensor::zeros(), &Tensor::zeros()));
    let mut bits = 0_u64;
    let mut generator = || {
        bits = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
        bits
    };
    let net = Net::glorot_normal_with(5_usize, &mut generator);
    assert!(net.first.w.iter().all(|w| *w != 0.0) && net.scale == 0.0);
    let net = Net::<Const<5>>::glorot_uniform(&mut generator);
    assert!(net.last.w.iter().all(|w| w.abs() <= (6.0_f64 / 13.0).sqrt()));
    assert_ne!(Mlp::glorot_normal(&mut generator), Mlp::he_normal(&mut generator));
}

#[test]
fn fields_are_visited_by_name() {
    let mut net = nested(2_usize);
    let parts: Vec<_> = net.parameters();
    let described = parts.iter().map(|part| format!("{}: {}{:?}", part.name, part.dtype(), part.dims));
    assert_eq!(
        described.collect::<Vec<_>>(),
        [
            "first.w: f64[2, 3]",
            "first.b: f64[3]",
            "scale: f64[]",
            "last.w: f64[3, 4]",
            "last.b: f64[4]",
            "seen: i64[]"
        ]
    );
    assert_eq!(parts[3].as_slice::<f64>(), Some(net.last.w.as_slice()));
    assert_eq!(net.element_count(), 6 + 3 + 1 + 12 + 4 + 1);
    for part in net.parameters_mut() {
        if let Some(elements) = part.into_slice::<f64>() {
            elements.fill(9.0);
        }
    }
    assert_eq!((net.scale, net.first.b[[2]], net.seen), (9.0, 9.0, 7));
}

#[test]
fn a_block_in_a_function_has_structs_of_its_own() {
    mind! {
        struct Pair { a: f32, b: f32 }
        fn swap(p: Pair) -> Pair { Pair { a: p.b, b: p.a } }
        fn bump(p: &mut Pair) { p.a += 1.0; }
    }
    let mut p = swap(&Pair { a: 1.0, b: 2.0 });
    bump(&mut p);
    assert_eq!((p.a, p.b), (3.0, 1.0));
}
