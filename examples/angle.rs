//! Programs in angle brackets: inside `angle!`, `mind!< … >` means the same as `mind!( … )`.

use mind::{Tensor, angle, mind};

angle! {
    /// A dense layer, written as a formula.
    fn layer(x: &Tensor![f32; 2, 3], w: &Tensor![f32; 3, 4], b: &Tensor![f32; 4]) -> Tensor![f32; 2, 4] {
        let y = mind!< relu(x @ w + b) >;
        y.into()
    }
}

fn main() {
    let x = Tensor::from([[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]]);
    let w = Tensor::from_fn(|[i, j]| i as f32 - j as f32);
    let b = Tensor::from([0.0, 0.5, 1.0, 1.5]);
    println!("{:.1}", layer(&x, &w, &b));
}

#[test]
fn the_layer_is_what_the_formula_says() {
    let x = Tensor::from([[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]]);
    let w = Tensor::from_fn(|[i, j]| i as f32 - j as f32);
    let b = Tensor::from([0.0, 0.5, 1.0, 1.5]);
    assert_eq!(layer(&x, &w, &b), Tensor::from([[8.0, 2.5, 0.0, 0.0], [2.0, 2.5, 3.0, 3.5]]));
}
