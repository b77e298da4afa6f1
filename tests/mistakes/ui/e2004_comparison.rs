use mind::mind;

mind! {
    fn f(x: f32[3], y: f32[3]) -> f32[3] {
        (x < y) * x
    }
}

fn main() {}
