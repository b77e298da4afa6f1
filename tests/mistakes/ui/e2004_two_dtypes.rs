use mind::mind;

mind! {
    fn f(x: f32[3], y: f64[3]) -> f64[3] {
        x + y
    }
}

fn main() {}
