use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32 { sum(x * x) }

    fn no_list(x: f32[3]) -> f32[3] { vmap(f)(x) }
    fn gradient_list(x: f32[2, 3]) -> f32[2] { vmap(f, wrt = x)(x) }
    fn zeros(x: f32[2, 3]) -> f32[2] { vmap(f, over = zero_ok x)(x) }
    fn option(x: f32[3]) -> f32[3] { jacobian(f, wrt = x, mode = backward)(x) }
    fn unknown(x: f32[2, 3]) -> f32[2] { vmap(f, over = x, in_axes = 0)(x) }
}

fn main() {}
