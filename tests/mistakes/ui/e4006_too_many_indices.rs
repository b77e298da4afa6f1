use mind::mind;

mind! {
    fn f(x: f32[3, 4]) -> f32 {
        x[0, 1, 2]
    }
}

fn main() {}
