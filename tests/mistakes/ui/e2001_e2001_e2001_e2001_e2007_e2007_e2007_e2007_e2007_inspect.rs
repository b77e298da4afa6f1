use mind::{Tensor, mind};

mind! {
    fn number(x: f32[2]) -> f32[2] { inspect(x, 1) }

    fn value(x: f32[2]) -> f32[2] { inspect(x, x) }

    fn tuple(x: f32[2]) -> f32[2] { inspect((x, x), "both").0 }

    fn no_label(x: f32[2]) -> f32[2] { inspect(x) }

    fn nothing(x: f32[2]) -> f32[2] { x + inspect() }

    fn two_labels(x: f32[2]) -> f32[2] { x.inspect("a", "b") }

    fn other_name(x: f32[2]) -> f32[2] { inspect(x, name = "h") }
}

fn main() {
    let x: Tensor![f32; 2] = Tensor::zeros();
    let _ = mind!(inspect(x, 1));
    let _ = mind!(inspect(x));
}
