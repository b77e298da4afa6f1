use mind::mind;

mind! {
    fn f<N, M>(x: f32[N], y: f32[M]) -> f32[N] {
        x * y
    }
}

fn main() {}
