use mind::Tensor;

fn main() {
    let rows: Vec<Vec<f32>> = vec![vec![1.0, 2.0]];
    let _ = Tensor::from(rows);
}
