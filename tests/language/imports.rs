//! Structs and constants that are declared in one block and used in others.

use mind::{Const, Parameters, Tensor, mind};

/// The items that other blocks import.
mod layers {
    mind::mind! {
        /// A width.
        pub const WIDTH: dim = 3;
        /// A small number.
        pub const EPS: float = 0.25;
        pub const LOWEST: float = -inf;
        pub const SHIFT: int = -2;
        pub const KEEP: bool = true;
        pub const HALF: float = 0.5_f32;

        /// A layer.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Dense<I, O> { pub w: f32[I, O], pub b: f32[O] }

        /// Its fields are visible in this module only.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Hidden { w: f32[WIDTH, 2], scale: f32 }

        pub fn dense<N, I, O>(x: f32[N, I], p: Dense<I, O>) -> f32[N, O] { x @ p.w + p.b }

        pub fn applied<N>(x: f32[N, WIDTH], p: Hidden) -> f32[N, 2] { (x @ p.w) * p.scale }

        pub fn hidden(w: f32[WIDTH, 2]) -> Hidden { Hidden { w, scale: 2.0 } }

        /// Half the output of a layer, for any struct with its fields.
        pub fn halved(x, p) { HALF * (x @ p.w + p.b) }

        /// The same by a pattern, through another template.
        pub fn halved_by_name(x, p) { apart(x, p) * HALF }
        fn apart(x, p) {
            let Dense { w, b } = p;
            x @ w + b
        }

        /// A template that destructures a layer.
        pub fn norm(p) {
            let Dense { w, b } = p;
            Dense { w: w * EPS, b }
        }
    }

    mind::mind! {
        use self::Dense;
        /// Imports a struct of another block in the same module.
        pub fn transposed<I, O>(p: Dense<I, O>, b: f32[I]) -> Dense<O, I> { Dense { w: p.w.T, b } }
    }
}

/// Two blocks that import from each other.
mod left {
    mind::mind! {
        use super::right::{Right, FOUR};
        pub const TWO: dim = 2;
        pub struct Left { pub a: f32[TWO] }
        pub fn of_right(p: Right) -> f32 { sum(p.b) * FOUR }
    }
}

mod right {
    mind::mind! {
        use super::left::{Left, TWO};
        pub const FOUR: float = 4.0;
        pub struct Right { pub b: f32[3] }
        pub fn of_left(p: Left) -> f32 { sum(p.a) * TWO }
    }
}

/// Structs of structs from another module.
mod nets {
    mind::mind! {
        use super::layers::{Dense, Hidden, WIDTH as W, dense};

        pub const DOUBLE: dim = 2 * W;

        #[derive(Clone, Debug, PartialEq)]
        pub struct Net<N> { pub first: Dense<W, N>, pub last: Dense<N, 2>, pub extra: Hidden, pub wide: f32[DOUBLE] }

        pub fn net<B, N>(x: f32[B, W], p: Net<N>) -> f32[B, 2] {
            dense(relu(dense(x, p.first)), p.last)
        }
    }

    pub use super::layers::Dense as Layer;
}

mind! {
    use layers::{EPS, KEEP, LOWEST, SHIFT, HALF, Hidden, WIDTH};
    use layers::Dense as Affine;
    use nets::Net;

    fn affine<N, I, O>(x: f32[N, I], p: Affine<I, O>) -> f32[N, O] { layers::dense(x, p) }

    fn by_path<N>(x: f32[N, layers::WIDTH], p: layers::Dense<3, 2>) -> f32[N, 2] {
        let layers::Dense { w, b } = p;
        layers::dense(x, layers::Dense { w: w * layers::EPS, b })
    }

    fn through(p: nets::Layer<2, 2>) -> Affine<2, 2> { layers::norm(p) }

    fn numbers(x: f64[WIDTH]) -> (f64[WIDTH], f64, i64, f32, f64[1]) {
        (x * EPS, maximum(x[0], LOWEST), SHIFT + 1, HALF + 1.0, sum(x, axis = 0, keepdims = KEEP))
    }

    fn hide(w: f32[WIDTH, 2]) -> (Hidden, Hidden) {
        let h = layers::hidden(w);
        (h, h * 2.0)
    }

    fn seen<N>(x: f32[N, WIDTH], p: Hidden) -> f32[N, 2] { layers::applied(x, p) }

    #[grad(p)]
    fn loss<N, M>(x: f32[N, WIDTH], y: f32[N, 2], p: Net<M>) -> f32 {
        let miss = nets::net(x, p) - y + sum(layers::applied(x, p.extra)) * 0.0 + sum(p.wide) * 0.0;
        mean(miss * miss)
    }

    fn step<N, M>(x: f32[N, WIDTH], y: f32[N, 2], p: &mut Net<M>, rate: f32) -> f32 {
        let (l, g) = value_and_grad(loss, wrt = p)(x, y, p);
        p -= rate * g;
        l
    }
}

mind! {
    struct Transformer<M> {
        scale1: f32[M], bias1: f32[M], wq: f32[M, M], wk: f32[M, M], wv: f32[M, M], wo: f32[M, M],
        scale2: f32[M], bias2: f32[M], w1: f32[M, 5], b1: f32[5], w2: f32[5, M], b2: f32[M],
    }

    fn transformed<N, S, M>(x: f32[N, S, M], p: Transformer<M>) -> f32[N, S, M] {
        nn::transformer_block_causal(x, p, heads = 1)
    }
}

fn dense() -> layers::Dense<Const<3>, Const<2>> {
    layers::Dense { w: Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), b: Tensor::from([0.5, -0.5]) }
}

#[test]
fn an_imported_struct_is_the_type_of_the_block_that_declares_it() {
    let x = Tensor::from([[1.0, 0.0, -1.0]]);
    let y = affine(&x, &dense());
    assert_eq!(y, layers::dense(&x, &dense()));
    let p: layers::Dense<Const<2>, Const<3>> = layers::transposed(&dense(), &Tensor::from([1.0, 2.0, 3.0]));
    assert_eq!((p.w[[1, 2]], p.b[[2]]), (6.0, 3.0));
    assert_eq!(by_path(&x, &dense()), Tensor::from([[-4.0 * 0.25 + 0.5, -4.0 * 0.25 - 0.5]]));
    let square = layers::Dense { w: Tensor::from([[4.0, 8.0], [0.0, -4.0]]), b: Tensor::from([1.0, 2.0]) };
    let quarter: layers::Dense<Const<2>, Const<2>> = through(&square);
    assert_eq!((quarter.w, quarter.b), (Tensor::from([[1.0, 2.0], [0.0, -1.0]]), Tensor::from([1.0, 2.0])));
}

#[test]
fn constants_keep_their_values_and_are_rust_constants() {
    let (scaled, most, shifted, half, all) = numbers(&Tensor::from([1.0, 2.0, 4.0]));
    assert_eq!((scaled, most, shifted, half), (Tensor::from([0.25, 0.5, 1.0]), 1.0, -1, 1.5));
    assert_eq!(all, Tensor::from([7.0]));
    let (width, eps, keep): (usize, f64, bool) = (layers::WIDTH, layers::EPS, layers::KEEP);
    assert_eq!((width, eps, keep), (3, 0.25, true));
    let (shift, half, lowest): (i64, f32, f64) = (layers::SHIFT, layers::HALF, layers::LOWEST);
    assert_eq!((shift, half, lowest), (-2, 0.5, f64::NEG_INFINITY));
    assert_eq!(nets::DOUBLE, 6);
}

#[test]
fn fields_that_are_private_travel_with_their_struct() {
    let w = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let (one, two) = hide(&w);
    let x = Tensor::from([[1.0, 1.0, 1.0]]);
    assert_eq!(seen(&x, &one), Tensor::from([[18.0, 24.0]]));
    assert_eq!(seen(&x, &two), Tensor::from([[72.0, 96.0]]));
    assert_eq!(one, layers::hidden(&w));
}

#[test]
fn structs_of_imported_structs_are_trained_in_place() {
    let mut p = nets::Net::<Const<4>>::zeros();
    p.first.w = Tensor::from_fn(|[i, j]| ((i * 4 + j) as f32 * 0.7).sin());
    p.last.w = Tensor::from_fn(|[i, j]| ((i * 2 + j) as f32 * 1.3).cos());
    let (x, y) = (Tensor::from([[1.0, -1.0, 0.5], [0.0, 2.0, 1.0]]), Tensor::from([[1.0, 0.0], [0.0, 1.0]]));
    let (value, g) = loss_grad(&x, &y, &p);
    let before = p.clone();
    assert_eq!(step(&x, &y, &mut p, 0.05), value);
    assert_eq!(p.last.b[[0]], before.last.b[[0]] - 0.05 * g.last.b[[0]]);
    let mut last = value;
    for _ in 0..200 {
        last = step(&x, &y, &mut p, 0.05);
    }
    assert!(last < 0.1 * value, "{last} {value}");
    let mut names = Vec::new();
    p.visit(&mut |parameter| names.push(parameter.name.into_owned()));
    let expected = ["first.w", "first.b", "last.w", "last.b", "extra.w", "extra.scale", "wide"];
    assert_eq!(names, expected);
    assert!(loss::CORE_IR.contains("{name=\"p.first.w\"} : f32[3, M]"), "{}", loss::CORE_IR);
}

#[test]
fn blocks_import_structs_from_each_other() {
    let (a, b) = (Tensor::from([1.0, 2.0]), Tensor::from([1.0, 2.0, 3.0]));
    assert_eq!(right::of_left(&left::Left { a }), 6.0);
    assert_eq!(left::of_right(&right::Right { b }), 24.0);
}

#[test]
fn closures_take_imported_structs() {
    let f = mind!(
        use layers::{Dense, EPS};
        |x: f32[2, 3], p: Dense<3, 2>| -> Dense<2, 2> { Dense { w: x @ p.w * EPS, b: p.b } }
    );
    let p = f(&Tensor::full(1.0), &dense());
    let hidden = mind!(use layers::{Hidden, hidden}; |w: f32[3, 2]| (hidden(w * 2.0), 1.0));
    let w = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let (hidden, _): (layers::Hidden, f32) = hidden(&w);
    assert_eq!(hidden, layers::hidden(&w.map(|w| 2.0 * w)));
    assert_eq!((p.w[[1, 1]], p.b[[0]]), (3.0, 0.5));
}

#[test]
fn expressions_read_imported_constants() {
    let x = Tensor::from([1.0f32, 2.0, 3.0]);
    let y: Tensor![f32; 3] = mind!(use layers::{EPS, WIDTH}; (x : f32[WIDTH]) * EPS / WIDTH);
    assert_eq!(y[[2]], 0.25);
}

#[test]
fn templates_read_fields_of_rust_structs_in_expressions() {
    struct Model {
        layer: layers::Dense<Const<3>, Const<2>>,
        rate: f32,
    }
    let model = Model { layer: dense(), rate: 2.0 };
    let x = Tensor::from([[1.0, 0.0, -1.0]]);
    let y: Tensor![f32; 1, 2] = mind!(layers::halved(x, model.layer) * model.rate).into();
    assert_eq!(y, layers::dense(&x, &dense()));
    let y: Tensor![f32; 1, 2] = mind!(layers::halved_by_name(x, model.layer) * model.rate).into();
    assert_eq!(y, layers::dense(&x, &dense()));
    let (value, slope) = mind!(value_and_grad(sum(layers::halved(x, model.layer)), wrt = model.layer.b));
    assert_eq!((value, slope), (-4.0, Tensor::full(0.5)));
    let w: Tensor![f32; 2, 3] = mind!(use layers::Dense; let Dense { w, .. } = model.layer; w.T).into();
    assert_eq!(w[[1, 0]], 2.0);
}

#[test]
fn a_block_of_a_transformer_takes_a_rust_struct_in_expressions() {
    let p = Transformer::<Const<2>>::zeros();
    let x: Tensor![f32; 1, 3, 2] = Tensor::from([[[1.0, 2.0], [3.0, 5.0], [-1.0, 1.0]]]);
    let y: Tensor![f32; 1, 3, 2] = mind!(nn::transformer_block_causal(x, p, heads = 1)).into();
    assert_eq!(y, x);
    let mut p = p;
    p.visit_mut(&mut |parameter| {
        if let Some(numbers) = parameter.into_slice::<f32>() {
            numbers.iter_mut().enumerate().for_each(|(at, number)| *number = (at as f32 * 0.7 + 0.3).sin());
        }
    });
    let y: Tensor![f32; 1, 3, 2] = mind!(nn::transformer_block_causal(x, p, heads = 1)).into();
    assert_eq!(y, transformed(&x, &p));
    assert_ne!(y, x);
}
