use mind::mind;

mind! {
    fn f(x: f32[3, 4]) -> f32[3, 4] {
        x[.., 1..5]
    }
}

fn main() {}
