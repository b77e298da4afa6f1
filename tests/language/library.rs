//! The library of the language, called by functions, closures and templates.

use mind::{Tensor, mind};

#[test]
fn the_library_is_called_by_path_or_by_import() {
    mind! {
        use nn::{softmax, silu as swish};
        use nn as net;
        fn by_path(x: f64[2, 3]) -> f64[2, 3] { nn::softmax(x, axis = 0) + nn::silu(x) }
        fn imported(x: f64[2, 3]) -> f64[2, 3] { softmax(x, axis = 0) + swish(x) }
        fn through_module(x: f64[2, 3]) -> f64[2, 3] { net::softmax(x, axis = 0) + net::silu(x) }
        fn template(x: float[..]) { net::softmax(x, axis = 0) + swish(x) }
        fn by_template(x: f64[2, 3]) -> f64[2, 3] { template(x) }
    }
    let x = Tensor::from([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]]);
    let expected = by_path(&x);
    for found in [imported(&x), through_module(&x), by_template(&x)] {
        assert_eq!(found, expected);
    }
    let closure = mind!(use nn::softmax; |x: f64[2, 3]| softmax(x, axis = 0) + nn::silu(x));
    assert_eq!(closure(&x), expected);
    let first = |i: usize, j: usize| x[[i, j]].exp() / (x[[0, j]].exp() + x[[1, j]].exp());
    for (i, j) in [(0, 0), (1, 2)] {
        let silu = x[[i, j]] / (1.0 + (-x[[i, j]]).exp());
        assert!((expected[[i, j]] - first(i, j) - silu).abs() < 1e-12);
    }
}

mod own {
    mind::mind! {
        /// Not the library's function of this name.
        pub fn softmax(x: float[..]) { 2.0 * x }
    }
    pub mod nn {
        mind::mind! {
            pub fn softmax(x: float[..]) { 3.0 * x }
        }
    }
}

#[test]
fn a_name_of_the_library_means_what_an_import_says() {
    mind! {
        use self::own::nn;
        fn of_module(x: f64[2]) -> f64[2] { nn::softmax(x) }
        fn of_path(x: f64[2]) -> f64[2] { self::own::softmax(x) }
    }
    let x = Tensor::from([1.0, 2.0]);
    assert_eq!(of_module(&x), Tensor::from([3.0, 6.0]));
    assert_eq!(of_path(&x), Tensor::from([2.0, 4.0]));
}

#[test]
fn gradients_go_through_the_library() {
    mind! {
        #[grad(w)]
        fn loss(x: f64[2, 3], w: f64[3, 2]) -> f64 { sum(nn::softmax(x @ w) * nn::sigmoid(x @ w)) }
    }
    let x = Tensor::from([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]]);
    let w = Tensor::from([[0.1, -0.3], [0.2, 0.4], [-0.5, 0.6]]);
    let (value, gradient) = loss_grad(&x, &w);
    for at in [[0, 0], [1, 1], [2, 0]] {
        let mut near = w.clone();
        near[at] += 1e-6;
        let slope = (loss(&x, &near) - value) / 1e-6;
        assert!((slope - gradient[at]).abs() < 1e-5, "{slope} {}", gradient[at]);
    }
}

#[test]
fn a_step_of_an_optimiser_updates_a_struct_of_parameters() {
    mind! {
        #[derive(Clone)]
        struct Line { w: f64[2], b: f64 }
        fn loss(x: f64[3, 2], y: f64[3], p: Line) -> f64 { nn::mse(x @ p.w + p.b, y) }
        fn step(x: f64[3, 2], y: f64[3], p: &mut Line, m: &mut Line, v: &mut Line, t: f64, rate: f64) -> f64 {
            let (l, g) = value_and_grad(loss, wrt = p)(x, y, p);
            let (new, mean, squares) = optim::adam(p, g, m, v, t, rate);
            p = new;
            m = mean;
            v = squares;
            l
        }
    }
    let x = Tensor::from([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
    let y = Tensor::from([3.0, -1.0, 2.5]);
    let (mut p, mut m, mut v) = (Line::zeros(), Line::zeros(), Line::zeros());
    step(&x, &y, &mut p, &mut m, &mut v, 1.0, 0.25);
    // The first step moves each parameter by the rate, against the sign of its gradient.
    let first = [p.w[[0]], p.w[[1]], p.b];
    for (found, expected) in first.into_iter().zip([0.25, 0.25, 0.25]) {
        assert!((found - expected).abs() < 1e-7, "{first:?}");
    }
    for t in 2..=2_000 {
        step(&x, &y, &mut p, &mut m, &mut v, f64::from(t), optim_rate(f64::from(t)));
    }
    assert!(loss(&x, &y, &p) < 1e-6, "{}", loss(&x, &y, &p));
}

mind! {
    fn optim_rate(t: f64) -> f64 { optim::cosine_decay(t, 0.25, 2000.0) }
}
