use mind::mind;

mind! {
    fn f(x: f32[2, 3]) -> f32[2] {
        sum(x, axes = [1], axes = [1])
    }
}

fn main() {}
