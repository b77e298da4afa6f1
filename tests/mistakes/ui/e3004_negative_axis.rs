use mind::mind;

mind! {
    fn f(x: f32[2, 3]) -> f32[2] {
        mean(x, axis = -3)
    }
}

fn main() {}
