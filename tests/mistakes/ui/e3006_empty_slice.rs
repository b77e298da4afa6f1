use mind::mind;

mind! {
    fn f(x: f32[5]) -> f32 {
        sum(x[3..3])
    }
}

fn main() {}
