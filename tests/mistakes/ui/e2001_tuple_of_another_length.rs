use mind::mind;

mind! {
    fn f(x: f32[3]) -> (f32, f32, f32[3]) {
        (sum(x), x)
    }
}

fn main() {}
