use mind::mind;

mind! {
    fn f(x: f32[1, 2, 1, 2, 1, 2, 1, 2, 1]) -> f32 {
        sum(x)
    }
}

fn main() {}
