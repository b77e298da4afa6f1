use mind::mind;

mind! {
    fn f(x: f32[1, 4, 4, 4, 2], f: f32[3, 3, 3, 2, 6]) -> f32[1, 2, 2, 6] {
        conv3d(x, f, strides = [1, 1])
    }
}

fn main() {}
