use mind::mind;

mind! {
    fn f(x: f32[2, 3]) -> f32[4, 1] {
        reshape(x, [4, -1])
    }
}

fn main() {}
