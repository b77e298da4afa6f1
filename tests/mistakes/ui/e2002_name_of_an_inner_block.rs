use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32[3] {
        let y = {
            let inner = x + x;
            inner * x
        };
        y + inner
    }
}

fn main() {}
