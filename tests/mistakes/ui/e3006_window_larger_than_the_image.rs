use mind::mind;

mind! {
    fn f(x: f32[1, 4, 4, 1], k: f32[5, 5, 1, 1]) -> f32[1, 1, 1, 1] {
        conv2d(x, k)
    }
}

fn main() {}
