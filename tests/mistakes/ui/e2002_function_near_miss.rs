use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32[3] {
        rleu(x)
    }
}

fn main() {}
