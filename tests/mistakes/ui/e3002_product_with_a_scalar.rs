use mind::mind;

mind! {
    fn f(x: f32[2, 3], y: f32) -> f32[2, 3] {
        x @ y
    }
}

fn main() {}
