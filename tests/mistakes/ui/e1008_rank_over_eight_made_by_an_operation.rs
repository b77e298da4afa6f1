use mind::mind;

mind! {
    fn f(x: f32[1, 2, 1, 2, 1, 2, 1, 2]) -> f32 {
        sum(expand_dims(x, axes = [0]))
    }
}

fn main() {}
