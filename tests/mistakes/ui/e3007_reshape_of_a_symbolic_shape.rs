use mind::mind;

mind! {
    fn f<N>(x: f32[N, 4]) -> f32[2 * N + 1, 2] {
        x.reshape([2 * N + 1, 2])
    }
}

fn main() {}
