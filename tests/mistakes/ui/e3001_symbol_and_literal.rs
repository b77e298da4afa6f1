use mind::mind;

mind! {
    fn f<N>(x: f32[N], y: f32[3]) -> f32[N] {
        x - y
    }
}

fn main() {}
