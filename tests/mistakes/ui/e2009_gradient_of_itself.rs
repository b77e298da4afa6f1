use mind::mind;

mind! {
    fn f(x: f32) -> f32 {
        x * grad(f, wrt = x)(x)
    }
}

fn main() {}
