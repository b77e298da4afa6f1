use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32 {
        let total = sum(x);
    }
}

fn main() {}
