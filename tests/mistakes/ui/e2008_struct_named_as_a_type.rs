use mind::mind;

mind! {
    struct Tensor { w: f32[3] }

    fn weights(x: f32[3]) -> f32[3] { x }
}

fn main() {}
