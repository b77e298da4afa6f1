//! `mind!< … >` in `angle!`, and `mind!(< … >)`.
#![deny(warnings)]

use mind::{Tensor, angle, mind};

angle! {
    /// Doubles the positive elements, and replaces the others by 0.
    fn twice(x: &Tensor![f32; 3]) -> Vec<f32> {
        let f = mind!< |x: f32[3]| -> f32[3] relu(x) * 2.0 >;
        let total = (mind::mind!< |x: f32[3]| sum(x) >)(x);
        assert!(total>0.0);
        Vec::<f32>::from(f(x).as_slice())
    }

    mod items {
        mind::mind!< pub fn squares(x: f32[2]) -> f32[2] { x * x } >;
        mind::mind!<
            struct Layer<N> { w: f32[N, 2] }

            pub fn apply<N>(x: f32[N], w: f32[N, 2]) -> f32[2] { through(x, Layer { w }) }

            fn through<N>(x: f32[N], layer: Layer<N>) -> f32[2] { x @ layer.w }
        >
        pub const AFTER: i32 = 1;
    }
}

/// A Rust file that contains blocks.
mod file {
    mind::angle_include!("../files/angle.rs");
}

#[test]
fn items_hold_blocks() {
    assert_eq!(twice(&Tensor::from([1.0, -2.0, 3.0])), [2.0, 0.0, 6.0]);
    assert_eq!(items::squares(&Tensor::from([1.0, -2.0])), Tensor::from([1.0, 4.0]));
    assert_eq!(items::apply(&Tensor::from([1.0, -2.0]), &Tensor::full(1.0)), Tensor::from([-1.0, -1.0]));
    assert_eq!(items::AFTER, 1);
}

#[test]
fn a_file_holds_blocks() {
    let layer = file::Layer::new(Tensor::from([[1.0, 0.0], [0.0, -1.0]]));
    assert_eq!(layer.apply(&Tensor::from([[2.0, 3.0]])), Tensor::from([[2.0, 0.0]]));
    assert_eq!(file::total(&Tensor::from([[2.0, 3.0]])), 5.0);
}

#[test]
fn an_expression_takes_the_variables_around_it() {
    let x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [-3.0, 0.5]]);
    let w: Tensor![f32; 2, 2] = Tensor::from([[1.0, -1.0], [2.0, 0.0]]);
    let b: Tensor![f32; 2] = Tensor::from([0.5, 0.5]);
    angle! {
        let y: Tensor![f32; 2, 2] = mind!< relu(x @ w + b) >.into();
        let shifted = { let total: f32 = mind!< sum(x) >; (total * 2.0) as i32>>1 };
    }
    assert_eq!(y, Tensor::from([[5.5, 0.0], [0.0, 3.5]]));
    assert_eq!(shifted, 0);
}

#[test]
fn statements_hold_blocks() {
    let x = Tensor::from([1.0, 2.0, 3.0]);
    angle! {
        let halves = mind!< |x: f32[3]| x * 0.5 >;
        let halved = halves(&x);
    }
    assert_eq!(halved, Tensor::from([0.5, 1.0, 1.5]));
}

#[test]
fn an_expression_is_a_value() {
    let sum = angle! { mind!< |x: f32[2]| sum(x) > };
    let bits = angle!((mind!<|x: f32[2]| sum(x)>)(&Tensor::from([1.0, 2.0])) as i32>>1);
    assert_eq!((sum(&Tensor::from([1.0, 2.0])), bits), (3.0, 1));
}

#[test]
fn blocks_stand_within_other_macros_and_within_blocks_of_rust() {
    angle! {
        let found = vec![{ let f = mind!< |x: f32[2]| x.T >; f(&Tensor::from([1.0, 2.0])) }];
    }
    assert_eq!(found, [Tensor::from([1.0, 2.0])]);
}

#[test]
fn what_holds_no_block_is_rust_as_it_was() {
    angle! {
        struct Pair<'a, T>(&'a T, T);
        let number = 1 << 3 >> 1;
        let pair = Pair::<u8>(&1, 2);
        let shifted = { let mut shifted = 16; shifted >>= 2; shifted };
    }
    assert_eq!((number, *pair.0 + pair.1, shifted), (4, 3, 4));
}

#[test]
fn round_brackets_hold_angle_brackets() {
    let f = mind!(< |x: f32[2]| -> f32 sum(x) >);
    assert_eq!(f(&Tensor::from([1.0, 2.0])), 3.0);
    mind! {< fn g<N>(x: f32[N]) -> f32[N] { x + x } >}
    assert_eq!(g(&Tensor::from([1.0, 2.0])), Tensor::from([2.0, 4.0]));
}
