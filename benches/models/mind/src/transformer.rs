//! The block of both transformers.

mind::mind! {
    /// A transformer block of width `W` whose hidden layer has width `H`, with the fields that
    /// `nn::transformer_block_causal` reads.
    #[derive(Clone)]
    pub struct Block<W, H> {
        pub scale1: f32[W],
        pub bias1: f32[W],
        pub wq: f32[W, W],
        pub wk: f32[W, W],
        pub wv: f32[W, W],
        pub wo: f32[W, W],
        pub scale2: f32[W],
        pub bias2: f32[W],
        pub w1: f32[W, H],
        pub b1: f32[H],
        pub w2: f32[H, W],
        pub b2: f32[W],
    }
}
