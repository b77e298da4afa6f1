use mind::mind;

mind! {
    fn sum(x: f32[2]) -> f32[2] { x + "h" }
}

mind! {
    fn bytes(x: f32[2]) -> f32[2] { inspect(x, b"h") }
}

fn main() {}
