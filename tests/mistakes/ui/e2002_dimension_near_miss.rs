use mind::mind;

mind! {
    const HIDDEN: dim = 256;

    fn f(x: f32[HIDEN, 3]) -> f32 {
        sum(x)
    }
}

fn main() {}
