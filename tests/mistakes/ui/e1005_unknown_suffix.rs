use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32[3] {
        x * 1.0_f16
    }
}

fn main() {}
