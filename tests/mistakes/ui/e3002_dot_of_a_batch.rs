use mind::mind;

mind! {
    fn f(x: f32[2, 3, 4], y: f32[4]) -> f32[2, 3] {
        dot(x, y)
    }
}

fn main() {}
