//! Structs in Rust variables: they are declared where they are named, made, and taken apart field by field.

use mind::{Const, Tensor, mind};

mod nets {
    mind::mind! {
        pub const WIDTH: dim = 3;

        #[derive(Clone, Debug, PartialEq)]
        pub struct Dense<I, O> { pub w: f32[I, O], pub b: f32[O] }

        /// A struct with structs, a number, and a private field whose extent Rust does not know.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Net<N> { pub first: Dense<WIDTH, N>, pub last: Dense<N, 2>, pub scale: f32, wide: f32[2 * N] }

        #[derive(Clone, Debug, PartialEq)]
        pub struct Line { pub a: f64, pub b: f64[2] }

        pub fn decayed<P: params>(p: P, const by: float = 0.5) { p * by }

        pub fn mixed<P: params>(p: P, q: P, t: float) { p * (1.0 - t) + q * t }

        /// Applied to each tensor separately, with its element type and its last axis.
        pub fn centred<..B, N, T: float>(x: T[..B, N], i: int) {
            (x - sum(x, axis = -1, keepdims = true) / N, reshape(x, [..B, N]) * cast(i, T))
        }

        pub fn layer(x, p) { x @ p.w + p.b }

        pub fn net(x, p) { layer(relu(layer(x, p.first)), p.last) * p.scale }

        /// A template that makes the struct itself.
        pub fn turned(p, b) { Dense { w: p.w.T, b } }

        /// The derivative is a different function, which makes a struct.
        pub fn steep(p) { p + p } pullback(_, dp) { Dense { w: dp.w * 3.0, b: dp.b * 4.0 } }

        /// The derivative is a different function.
        pub fn doubled<P: params>(p: P) { p + p } pullback(_, dp) { dp * 3.0 }

        pub fn wide<N>(w: f32[2 * N], n: f32[N]) -> Net<N> {
            let first = Dense { w: zeros([3, N]) + n, b: n };
            Net { first, last: Dense { w: zeros([N, 2]), b: [1.0, 2.0] }, scale: 0.5, wide: w }
        }

        fn squares<N>(p: Net<N>) -> f32 { sum(p * p) }
        #[grad(p)]
        pub fn loss<B, N>(x: f32[B, 3], p: Net<N>) -> f32 { sum(net(x, p)) + squares(p) }

        /// The same in functions.
        pub fn stepped<B, N>(x: f32[B, 3], p: Net<N>, rate: f32) -> Net<N> { p - rate * grad(loss, wrt = p)(x, p) }
        pub fn adam<N>(p: Net<N>, g: Net<N>, m: Net<N>, v: Net<N>, t: f32) -> (Net<N>, Net<N>, Net<N>) {
            optim::adam(p, g, m, v, 0.1, t)
        }
    }
}

use nets::{Dense, Line, Net};

fn dense(by: f32) -> Dense<Const<3>, Const<2>> {
    Dense { w: Tensor::from_fn(|[i, j]| by * (i * 2 + j) as f32), b: Tensor::from([by, -by]) }
}

fn net(by: f32) -> Net<Const<2>> {
    let w = Tensor::from_vec((4,), vec![by, 1.0, -by, 2.0]).expect("there are four numbers");
    let mut net = nets::wide(&w, &Tensor::from([by, 1.0 - by]));
    net.first = dense(by);
    net.last.w = Tensor::from([[0.5 * by, 1.0], [-1.0, by]]);
    net
}

#[test]
fn arithmetic_goes_field_by_field() {
    let (p, g, rate) = (dense(1.0), dense(0.5), 0.5f32);
    let new = mind!(use self::nets::Dense; (p: Dense) - rate * (g: Dense));
    assert_eq!(new, dense(0.75));
    assert_eq!(mind!(use self::nets::Dense; -(p: Dense) / 2.0 + p), dense(0.5));
    let line = Line { a: 4.0, b: Tensor::from([9.0, 16.0]) };
    let roots = mind!((line: self::nets::Line) * 0.0 + sqrt(line));
    assert_eq!(roots, Line { a: 2.0, b: Tensor::from([3.0, 4.0]) });
    assert_eq!(
        mind!(use self::nets::Line; maximum((line: Line), 10.0)),
        Line { a: 10.0, b: Tensor::from([10.0, 16.0]) }
    );
    assert_eq!(mind!(sum((line: self::nets::Line)) + max(line)), 29.0 + 16.0);
    let zero = Line { a: 0.0, b: Tensor::from([0.0; 2]) };
    assert_eq!(mind!(zeros_like((line: self::nets::Line))), zero);
}

#[test]
fn nested_private_and_open_fields_travel_with_their_struct() {
    let (p, g) = (net(1.0), net(0.25));
    let new = mind!(use self::nets::Net; (p: Net) - 2.0 * (g: Net));
    let ones = Tensor::from([[1.0f32, -1.0, 0.5]]);
    assert_eq!(new.last.w, Tensor::from([[0.25, -1.0], [1.0, 0.5]]));
    assert_eq!((new.scale, new.first), (-0.5, dense(0.5)));
    // This compares `wide` too, which cannot be named here.
    let w = Tensor::from_vec((4,), vec![0.5, -1.0, -0.5, -2.0]).unwrap();
    let same = nets::wide(&w, &Tensor::from([0.5, 0.5]));
    let mut both = same;
    (both.first, both.last, both.scale) = (dense(0.5), new.last.clone(), -0.5);
    assert_eq!(
        nets::loss(&ones, &mind!(use self::nets::Net; (p: Net) - 2.0 * (g: Net))),
        nets::loss(&ones, &both)
    );
}

#[test]
fn a_struct_is_given_for_params_and_for_tensors() {
    let (p, q, t) = (dense(1.0), dense(3.0), 0.5f32);
    assert_eq!(mind!(use self::nets::Dense; self::nets::decayed((p: Dense))), dense(0.5));
    assert_eq!(mind!(use self::nets::Dense; neg((p: Dense))), dense(-1.0));
    assert_eq!(mind!(use self::nets::Dense; self::nets::mixed((p: Dense), (q: Dense), t)), dense(2.0));
    let line = Line { a: 4.0, b: Tensor::from([9.0, 16.0]) };
    assert_eq!(mind!(self::nets::decayed((line: self::nets::Line), by = 2.0)).a, 8.0);
    let i = 2i64;
    let (centred, scaled) = mind!(use self::nets::{Dense, centred}; centred((p: Dense), i));
    assert_eq!(centred.w, Tensor::from([[-0.5, 0.5]; 3]));
    assert_eq!((centred.b, scaled), (Tensor::from([1.0, -1.0]), dense(2.0)));
}

#[test]
fn steps_of_optimisers_take_structs() {
    let (p, g, zero) = (net(1.0), net(0.5), net(0.0));
    let t = 1.0f32;
    let (m, v) = (mind!((zero: self::nets::Net) * 0.0), mind!((zero: self::nets::Net) * 0.0));
    let found = mind!(
        use self::nets::Net;
        optim::adam((p: Net), (g: Net), (m: Net), (v: Net), 0.1, t)
    );
    assert_eq!(found, nets::adam(&p, &g, &m, &v, t));
}

#[test]
fn a_gradient_by_a_struct_is_such_a_struct() {
    let (p, x) = (net(1.0), Tensor::from([[1.0f32, -1.0, 0.5], [0.0, 2.0, 1.0]]));
    let (value, g) = mind!(
        use self::nets::{Net, net};
        value_and_grad(sum(net(x, (p: Net))) + sum(p * p), wrt = p)
    );
    assert_eq!((value, g.clone()), nets::loss_grad(&x, &p));
    let rate = 0.1f32;
    let stepped = mind!(
        use self::nets::{Net, net};
        let p: Net = p;
        p - rate * grad(sum(net(x, p)) + sum(p * p), wrt = p)
    );
    assert_eq!(stepped, nets::stepped(&x, &p, rate));
    // Gradients by a field, and by a struct in it.
    let last: Dense<Const<2>, Const<2>> = mind!(
        use self::nets::{Dense, Net, net};
        grad(sum(net(x, (p: Net))), wrt = p.last)
    );
    assert_eq!(last.w, mind!(grad(sum(self::nets::net(x, p)), wrt = p.last.w)));
    let d = dense(1.0);
    let custom = mind!(use self::nets::{Dense, doubled}; grad(sum(doubled((d: Dense))), wrt = d));
    assert_eq!(custom.b, Tensor::from([3.0; 2]));
    for custom in [
        mind!(use self::nets::{Dense, steep}; grad(sum(steep((d: Dense))), wrt = d)),
        mind!(use self::nets::{Dense, steep}; grad(sum(steep((d: Dense<3, 2>))), wrt = d)),
    ] {
        assert_eq!((custom.w, custom.b), (Tensor::from([[3.0; 2]; 3]), Tensor::from([4.0; 2])));
    }
}

#[test]
fn a_struct_is_made() {
    let (p, g, rate) = (dense(1.0), dense(0.5), 0.5f32);
    let new = mind! { use self::nets::Dense; Dense { w: p.w - rate * g.w, b: p.b - rate * g.b } };
    assert_eq!(new, dense(0.75));
    // If no type determines an extent, it is written.
    let x = Tensor::from([[1.0f32, 2.0, 3.0]]);
    let y = Tensor::from([[1.0f32, -1.0]]);
    let product: Dense<Const<3>, Const<2>> =
        mind!(use self::nets::Dense; Dense { w: x.T @ y, b: sum(y, axis = 0) });
    assert_eq!(product.w, Tensor::from([[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]]));
    assert_eq!(
        mind!(use self::nets::Dense; Dense { w: x.T @ y, b: sum(y, axis = 0) } : Dense<3, 2>),
        product
    );
    let line = mind!(self::nets::Line { a: f64(sum(x)) * 0.0 + 1.0, b: [1.0, 2.0] } : self::nets::Line);
    assert_eq!(line, Line { a: 1.0, b: Tensor::from([1.0, 2.0]) });
}

#[test]
fn the_rest_of_a_struct_is_another() {
    let p = net(1.0);
    let new = mind! { use self::nets::Net; Net { scale: 2.0 * p.scale, ..p } };
    let mut expected = p.clone();
    expected.scale = 1.0;
    assert_eq!(new, expected);
    let new = mind! { use self::nets::{Dense, Net}; Net { last: Dense { b: [3.0, 4.0], ..p.last }, ..p } };
    assert_eq!(new.last, Dense { b: Tensor::from([3.0, 4.0]), ..p.last });
}

#[test]
fn a_struct_is_named_again_and_taken_apart() {
    let (p, x) = (net(1.0), Tensor::from([[1.0f32, -1.0, 0.5]]));
    let (first, b) = mind!(
        use self::nets::{Dense, Net};
        let q: Net = p;
        let twice = q * 2.0;
        let Dense { w, b } = twice.first;
        (Dense { w, b: b * 0.0 }, twice.last.b + p.last.b)
    );
    assert_eq!((first.w, first.b, b), (dense(2.0).w, Tensor::from([0.0; 2]), Tensor::from([3.0, 6.0])));
    struct Model {
        nets: Vec<Net<Const<2>>>,
        own: (Net<Const<2>>,),
    }
    let model = Model { nets: vec![], own: (p.clone(),) };
    let model = &model;
    let half = mind!(use self::nets::Net; (model.own.0: Net) * 0.5);
    assert_eq!((half.scale, model.nets.len()), (0.25, 0));
    let read: Tensor![f32; 1, 2] = mind!(self::nets::net(x, half)).into();
    assert_eq!(mind!(use self::nets::{Net, net}; net(x, (half: Net)) : f32[1, 2]), read);
}

#[test]
fn templates_make_structs() {
    let (p, b) = (dense(1.0), Tensor::from([7.0f32, 8.0, 9.0]));
    let turned: Dense<Const<2>, Const<3>> = mind!(use self::nets::{Dense, turned}; turned((p: Dense), b));
    assert_eq!((turned.w[[1, 2]], turned.b), (5.0, b.clone()));
    let turned: Dense<Const<2>, Const<3>> = mind! { use self::nets::{Dense, turned}; turned(p, b) };
    assert_eq!(turned.w[[1, 2]], 5.0);
}

#[test]
fn generic_functions_take_structs() {
    fn halved<I: mind::Dim>(p: &Dense<I, Const<2>>) -> Dense<I, Const<2>> {
        mind!(use self::nets::Dense; late: (p: Dense) - 0.5 * p)
    }
    assert_eq!(halved(&dense(1.0)), dense(0.5));
}

#[test]
fn templates_read_structs_that_are_told() {
    let (p, x) = (dense(1.0), Tensor::from([[1.0f32, 0.0, -1.0]]));
    let told: Tensor![f32; 1, 2] = mind!(use self::nets::{Dense, layer}; layer(x, (p: Dense))).into();
    let read: Tensor![f32; 1, 2] = mind!(self::nets::layer(x, p)).into();
    assert_eq!(told, read);
}

#[test]
fn extents_may_be_those_that_run_time_knows() {
    let p: Dense<usize, usize> = Dense::zeros_with(3, 2);
    let new = mind!(use self::nets::Dense; (p: Dense) + 1.0);
    assert_eq!((new.w.dims(), new.b.as_slice()), ([3, 2], &[1.0f32, 1.0][..]));
    let other: Dense<usize, usize> = Dense::zeros_with(1, 2);
    let message = std::panic::catch_unwind(|| mind!(use self::nets::Dense; (p: Dense) + (other: Dense)));
    let message = message.unwrap_err();
    let message = message.downcast_ref::<String>().expect("a message");
    assert!(message.contains("`+`: other.w beside p.w: expected f32[3, 2], found f32[1, 2]"), "{message}");
}
