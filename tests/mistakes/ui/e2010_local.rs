use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32[3] {
        let y = x + x;
        y += x;
        y
    }
}

fn main() {}
