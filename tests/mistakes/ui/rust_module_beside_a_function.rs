mind::mind! {
    fn dense(x: f32[3]) -> f32[3] { x }
}

mod dense {
    pub const WIDTH: usize = 3;
}

fn main() {
    dense(&mind::Tensor::full(dense::WIDTH as f32));
}
