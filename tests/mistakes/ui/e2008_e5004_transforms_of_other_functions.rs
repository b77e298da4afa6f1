use mind::mind;

mind! {
    fn hessian(x: f32) -> f32 { x }
    fn f(x: f32[3]) -> f32[3] { x * x }

    fn vector(x: f32[3]) -> f32[3, 3] { hessian(f, wrt = x)(x) }
}

fn main() {}
