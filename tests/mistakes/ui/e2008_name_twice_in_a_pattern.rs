use mind::mind;

mind! {
    fn pair(x: f32[3]) -> (f32, f32[3]) {
        (sum(x), x)
    }

    fn f(x: f32[3]) -> f32 {
        let (a, a) = pair(x);
        a
    }
}

fn main() {}
