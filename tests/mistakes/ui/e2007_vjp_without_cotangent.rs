use mind::mind;

mind! {
    fn double(x: f32[3]) -> f32[3] {
        x + x
    }

    fn f(x: f32[3]) -> f32[3] {
        vjp(double, wrt = x)(x)
    }
}

fn main() {}
