use mind::mind;

mind! {
    const HUGE: dim = 9223372036854775807;

    fn f(x: f32[HUGE + 1]) -> f32 {
        sum(x)
    }
}

fn main() {}
