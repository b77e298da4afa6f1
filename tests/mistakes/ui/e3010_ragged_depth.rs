use mind::mind;

mind! {
    fn f(x: f32[2, 2]) -> f32[2, 2] {
        x + [[1.0, 2.0], 3.0]
    }
}

fn main() {}
