use mind::mind;

mind! {
    fn head<N>(x: f32[N]) -> f32[3] {
        x[..3]
    }

    fn f(x: f32[2]) -> f32[3] {
        head(x)
    }
}

fn main() {}
