use mind::mind;

mind! {
    fn f<N>(x: f32[N + 1], y: f32[N]) -> f32[N] {
        x / y
    }
}

fn main() {}
