use mind::mind;

mind! {
    fn f(x: f32[2, 3, 4]) -> f32[2, 3, 3] {
        transpose(x, [0, 1, 1])
    }
}

fn main() {}
