use mind::mind;

mind! {
    fn f<N>(x: f32[N, 3]) -> f32[3] {
        squeeze(x, axis = 0)
    }
}

fn main() {}
