use mind::mind;

mind! {
    fn f(x: f32[99999999999999999999]) -> f32 {
        sum(x)
    }
}

fn main() {}
