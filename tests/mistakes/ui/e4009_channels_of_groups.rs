use mind::mind;

mind! {
    fn f(x: f32[1, 4, 4, 4], f: f32[3, 3, 4, 6]) -> f32[1, 2, 2, 6] {
        conv2d(x, f, groups = 2)
    }
}

fn main() {}
