use mind::mind;

mind! {
    const H: dim = 3;

    fn f(x: f32[H - 4]) -> f32 {
        sum(x)
    }
}

fn main() {}
