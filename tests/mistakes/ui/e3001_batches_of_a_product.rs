use mind::mind;

mind! {
    fn f(x: f32[2, 4, 5], y: f32[3, 5, 6]) -> f32[2, 4, 6] {
        x @ y
    }
}

fn main() {}
