use mind::mind;

mind! {
    #[jit]
    fn f(x: f32[3]) -> f32 {
        sum(x)
    }
}

fn main() {}
