use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32[3] {
        x * x
    }

    fn df(x: f32[3]) -> f32[3] {
        grad(f, wrt = x)(x)
    }
}

fn main() {}
