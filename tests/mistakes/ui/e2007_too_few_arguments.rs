use mind::mind;

mind! {
    fn dense(x: f32[2, 3], w: f32[3, 4], b: f32[4]) -> f32[2, 4] {
        x @ w + b
    }

    fn f(x: f32[2, 3], w: f32[3, 4]) -> f32[2, 4] {
        dense(x, w)
    }
}

fn main() {}
