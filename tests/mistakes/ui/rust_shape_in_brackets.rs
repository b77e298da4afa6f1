use mind::Tensor;

fn main() {
    let _ = Tensor::from_fn_with([4], |[i]| i as f32);
}
