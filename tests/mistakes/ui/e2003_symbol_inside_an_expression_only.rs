use mind::mind;

mind! {
    fn f<N>(x: f32[2 * N]) -> f32[N] {
        x[..N]
    }
}

fn main() {}
