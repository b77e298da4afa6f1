use mind::mind;

mind! {
    fn f(x: f32[6]) -> f32[6] {
        x[0..6;-1]
    }
}

fn main() {}
