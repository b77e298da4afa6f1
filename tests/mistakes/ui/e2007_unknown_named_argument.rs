use mind::mind;

mind! {
    fn f(x: f32[2, 3]) -> f32[2, 1] {
        sum(x, axes = [1], keepdim = true)
    }
}

fn main() {}
