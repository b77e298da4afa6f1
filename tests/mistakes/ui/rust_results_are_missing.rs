use mind::{Tensor, mind};

mind! {
    pub fn squares(x: f32[3]) -> f32[3] { x * x }
}

fn main() {
    squares_into(&Tensor::from([1.0, 2.0, 3.0])).expect("it is called");
}
