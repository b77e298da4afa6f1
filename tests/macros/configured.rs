//! `#[cfg(…)]` on items, fields, parameters and statements of a block means the same as in Rust.

use mind::{Tensor, mind};

mod library {
    mind::mind! {
        #[cfg(test)]
        pub fn factor(x: f32[3]) -> f32[3] { 3.0 * x }

        #[cfg(not(test))]
        pub fn factor(x: f32[3]) -> f32[3] { no_such_function(x) }

        #[cfg(any())]
        pub fn never(x: f32[3]) -> f32[4] { x }
    }
}

mind! {
    use library::factor;
    #[cfg(any())]
    use library::never;

    #[cfg(not(any()))]
    const N: dim = 3;
    #[cfg(any())]
    const N: dim = 4;

    #[derive(Debug, PartialEq)]
    struct Layer {
        w: f32[N],
        #[cfg(all())]
        b: f32[N],
        #[cfg(any())]
        c: f32[5],
    }

    #[grad(layer)]
    fn apply(x: f32[N], layer: Layer, #[cfg(any())] y: f32[2]) -> f32 {
        let h = layer.w * factor(x);
        #[cfg(all())]
        let h = h + layer.b;
        #[cfg(any())]
        let h = h + y;
        sum(h)
    }

    fn layer(x: f32[N]) -> Layer {
        Layer { w: x, #[cfg(all())] b: x, #[cfg(any())] c: x }
    }
}

#[test]
fn what_is_configured_is_there_and_nothing_else() {
    let x = Tensor::from([1.0, 2.0, 3.0]);
    let made: Layer = layer(&x);
    assert_eq!(made.b, x);
    let (value, gradient) = apply_grad(&x, &made);
    assert_eq!(value, 3.0 * 14.0 + 6.0);
    assert_eq!(gradient, Layer { w: Tensor::from([3.0, 6.0, 9.0]), b: Tensor::full(1.0) });
}

#[test]
fn a_file_is_configured_as_a_block_is() {
    mind::include!("../files/configured.mind");
    assert_eq!(twice_times(&Tensor::from([1.0, 2.0])), Tensor::from([4.0, 8.0]));
}

#[test]
fn blocks_inside_functions_are_configured() {
    mind! {
        #[cfg(test)]
        fn one(x: f32) -> f32 { x + 1.0 }
        #[cfg(not(test))]
        fn one(x: f32) -> f32 { x + 2.0 }
    }
    assert_eq!(one(1.0), 2.0);
}
