use mind::mind;

mind! {
    fn f(x: f32[2, 3], y: f32[3]) -> f32[2] {
        matmul(x, y)
    }
}

fn main() {}
