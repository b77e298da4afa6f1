use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32[3] {
        f(x) * 2.0
    }
}

fn main() {}
