use candle_core::{DType, Device, Result, Tensor, Var};
use candle_nn::{Optimizer, SGD, loss::cross_entropy};

fn main() -> Result<()> {
    let cpu = Device::Cpu;
    let x = Tensor::new(&[[1f32, 0., 0.], [0., 1., 1.]], &cpu)?;
    let classes = Tensor::new(&[0u32, 1], &cpu)?;

    let w = Var::zeros((3, 2), DType::F32, &cpu)?;
    let b = Var::zeros(2, DType::F32, &cpu)?;
    let mut sgd = SGD::new(vec![w.clone(), b.clone()], 0.5)?;
    for _ in 0..3 {
        let scores = x.matmul(&w)?.broadcast_add(&b)?;
        let loss = cross_entropy(&scores, &classes)?;
        sgd.backward_step(&loss)?;
        println!("{:.4}", loss.to_scalar::<f32>()?);
    }
    Ok(())
}
