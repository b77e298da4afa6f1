use mind::mind;

mind! {
    fn f(x: f32[2, 3], w: i32[3, 4]) -> f32[2, 4] {
        x @ w
    }
}

fn main() {}
