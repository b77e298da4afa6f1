use mind::mind;

mind! {
    fn f(x: f32[32, 256], b: f32[255]) -> f32[32, 256] {
        x + b
    }
}

fn main() {}
