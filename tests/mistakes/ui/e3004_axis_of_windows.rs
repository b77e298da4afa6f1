use mind::mind;

mind! {
    fn f(x: f32[1, 4, 4, 1]) -> f32[1, 2, 2, 1] {
        unfold(x, 3, axes = 4)
    }
}

fn main() {}
