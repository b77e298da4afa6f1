use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32 {
        sum(x[4..])
    }
}

fn main() {}
