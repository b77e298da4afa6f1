use mind::mind;

mind! {
    fn f(x: f32[3], y: f32[4]) -> f32[3] {
        let a = x + z;
        let b = x * y;
        a - b
    }
}

fn main() {}
