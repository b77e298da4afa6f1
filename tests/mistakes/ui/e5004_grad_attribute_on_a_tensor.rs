use mind::mind;

mind! {
    #[grad(x)]
    fn f(x: f32[3]) -> f32[3] {
        x * x
    }
}

fn main() {}
