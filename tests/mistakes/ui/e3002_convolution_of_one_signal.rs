use mind::mind;

mind! {
    fn f(x: f32[4, 4], f: f32[3, 4, 6]) -> f32[1, 2, 2, 6] {
        conv1d(x, f)
    }
}

fn main() {}
