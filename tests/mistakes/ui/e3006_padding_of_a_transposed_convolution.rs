use mind::mind;

mind! {
    fn f(x: f32[1, 4, 4, 4], f: f32[3, 3, 4, 6]) -> f32[1, 2, 2, 6] {
        conv_transpose2d(x, f, padding = [[3, 3], [0, 0]])
    }
}

fn main() {}
