use mind::mind;

mind! {
    fn f(x: f32[4294967296, 1], y: f32[4294967296]) -> f32 {
        sum(x * y)
    }
}

fn main() {}
