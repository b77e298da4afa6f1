use mind::mind;

mind! {
    fn f(x: f32[3, 4]) -> f32[4] {
        x[3]
    }
}

fn main() {}
