//! Programs in files.

use mind::Tensor;

mod model {
    #![deny(warnings)]
    mind::include!("../files/net.mind");
}

mod declared {
    mind::mind! {
        pub const EPS: float = 0.5;
        pub const WIDTH: dim = 3;
        pub struct Dense<I, O> { pub w: f32[I, O], pub b: f32[O] }
    }
}

mod imports {
    mind::include!("../files/imports.mind");

    pub fn doubled(first: super::declared::Dense<mind::Const<3>, mind::Const<2>>) -> Net {
        Net { first, scale: 2.0 }
    }
}

#[test]
fn a_file_imports_structs_and_constants() {
    let dense = declared::Dense { w: Tensor::full(1.0), b: Tensor::from([1.0, 2.0]) };
    let x: Tensor![f32; 1, 3] = Tensor::from([[1.0, 2.0, 3.0]]);
    assert_eq!(imports::net(&x, &imports::doubled(dense)), Tensor::from([[14.5, 16.5]]));
}

#[test]
fn a_file_holds_what_a_block_holds() {
    mind::mind! {
        const H: dim = 3;
        pub fn net<N>(x: f32[N, 2], w1: f32[2, H], w2: f32[H]) -> f32[N] {
            relu(x @ w1) @ w2
        }
    }
    let x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [-3.0, 0.5]]);
    let (w1, w2) = (Tensor::from_fn(|[i, j]| (i + 2 * j) as f32 - 2.5), Tensor::from([1.0, -2.0, 0.25]));
    assert_eq!(model::net(&x, &w1, &w2), net(&x, &w1, &w2));
    assert_eq!(model::net::CORE_IR, net::CORE_IR);

    let y = Tensor::zeros();
    let (value, (dw1, dw2)) = model::loss_grad(&x, &y, &w1, &w2);
    assert_eq!(value, model::loss(&x, &y, &w1, &w2));
    assert_eq!((dw1.dims(), dw2.dims()), ([2, 3], [3]));
    assert_eq!(model::H, 3);
}

#[test]
fn a_file_can_hold_a_closure() {
    let weigh = mind::include!("../files/weigh.mind");
    assert_eq!(weigh(&Tensor::from([2.0, 3.0]), &Tensor::from([10.0, 100.0])), 320.0);
}

#[test]
fn a_macro_can_name_the_file() {
    macro_rules! program {
        ($path:literal) => {
            mind::include!($path)
        };
    }
    let weigh = program!("../files/weigh.mind");
    assert_eq!(weigh(&Tensor::from([1.0, 0.0]), &Tensor::from([0.5, 0.0])), 0.5);
}
