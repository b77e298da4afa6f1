use mind::mind;

mind! {
    fn f(x: f32[0, 3]) -> f32 {
        sum(x)
    }
}

fn main() {}
