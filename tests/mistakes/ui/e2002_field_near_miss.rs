use mind::mind;

mind! {
    struct Mlp { w1: f32[64, 32], b1: f32[32] }

    fn layer<N>(x: f32[N, 64], p: Mlp) -> f32[N, 32] { relu(x @ p.w1 + p.bl) }
}

fn main() {
    // The struct exists in spite of the error.
    let _ = Mlp::zeros();
}
