use mind::mind;

mind! {
    fn f(x: f32[4294967296, 4294967296]) -> f32 {
        sum(x)
    }
}

fn main() {}
