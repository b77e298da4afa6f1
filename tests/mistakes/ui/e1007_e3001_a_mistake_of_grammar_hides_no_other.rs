use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32[3] {
        x ** 2.0
    }

    fn g(x: f32[3], y: f32[4]) -> f32[3] {
        x + y
    }
}

fn main() {}
