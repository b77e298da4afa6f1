mod layers {
    mind::mind! {
        pub struct Dense { pub weights: f32[2, 3] }
    }
}

mind::mind! {
    use layers::Dense as Layer;
    fn net<N>(x: f32[N, 2], p: Layer) -> f32[N, 3] { x @ p.weigths }
}

fn main() {}
