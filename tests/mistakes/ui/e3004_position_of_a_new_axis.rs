use mind::mind;

mind! {
    fn f(x: f32[2, 3]) -> f32[2, 3, 1] {
        expand_dims(x, axes = [3])
    }
}

fn main() {}
