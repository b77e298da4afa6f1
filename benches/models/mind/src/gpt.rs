//! The parameters of the GPT that `gpt` trains and `gpt_generate` runs.

mind::mind! {
    use crate::transformer::Block;

    pub const VOCABULARY: dim = 65;
    /// The length of an input.
    pub const CONTEXT: dim = 64;
    pub const WIDTH: dim = 128;
    /// The width of the hidden layer of each block's feed-forward network.
    pub const INNER: dim = 4 * WIDTH;
    pub const LAYERS: dim = 6;
    pub const HEADS: dim = 4;

    /// Embeddings of tokens and positions, the blocks, a final layer norm and the output layer.
    #[derive(Clone)]
    pub struct Gpt {
        pub tokens: f32[VOCABULARY, WIDTH],
        pub places: f32[CONTEXT, WIDTH],
        pub blocks: Block<WIDTH, INNER>[LAYERS],
        pub scale: f32[WIDTH],
        pub bias: f32[WIDTH],
        pub head: f32[WIDTH, VOCABULARY],
    }
}
