use mind::{Tensor, mind};

struct Layer {
    w: Tensor![f32; 2, 3],
}

mod layers {
    mind::mind! {
        pub fn dense(x, p) { x @ p.w + p.b }
    }
}

fn main() {
    let (x, layer): (Tensor![f32; 4, 2], _) = (Tensor::zeros(), Layer { w: Tensor::zeros() });
    let _ = mind!(layers::dense(x, layer));
}
