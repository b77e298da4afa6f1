use mind::mind;

mind! {
    fn f(x: f32[1, 4, 4], f: f64[3, 4, 6]) -> f32[1, 2, 2, 6] {
        conv1d(x, f)
    }
}

fn main() {}
