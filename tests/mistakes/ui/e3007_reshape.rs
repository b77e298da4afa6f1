use mind::mind;

mind! {
    fn f(x: f32[2, 3]) -> f32[5] {
        reshape(x, [5])
    }
}

fn main() {}
