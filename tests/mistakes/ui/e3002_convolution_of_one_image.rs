use mind::mind;

mind! {
    fn f(image: f32[28, 28, 1], filters: f32[3, 3, 1, 8]) -> f32[26, 26, 8] {
        conv2d(image, filters)
    }
}

fn main() {}
