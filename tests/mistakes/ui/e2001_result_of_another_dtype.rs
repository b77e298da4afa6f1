use mind::mind;

mind! {
    fn f(x: f32[3]) -> f64[3] {
        x + x
    }
}

fn main() {}
