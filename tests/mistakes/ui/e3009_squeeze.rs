use mind::mind;

mind! {
    fn f(x: f32[1, 3]) -> f32[1] {
        squeeze(x, axes = [1])
    }
}

fn main() {}
