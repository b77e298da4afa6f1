use mind::{Const, Tensor, Xoshiro256, mind};

mind! {
    struct Block { w: f32[32, 32], b: f32[32] }

    struct Net { first: Block, second: Block, third: Block, fourth: Block }

    fn block(x: f32[64, 32], p: Block) -> f32[64, 32] { x + tanh(nn::gelu(x @ p.w + p.b)) }

    #[grad(p)]
    fn loss(x: f32[64, 32], p: Net) -> f32 {
        mean(block(block(block(block(x, p.first), p.second), p.third), p.fourth))
    }

    #[grad(p)]
    fn kept(x: f32[64, 32], p: Net) -> f32 {
        let x = checkpoint(block)(checkpoint(block)(x, p.first), p.second);
        mean(checkpoint(block)(checkpoint(block)(x, p.third), p.fourth))
    }
}

fn main() {
    let mut random = Xoshiro256::new(1);
    let x: Tensor<f32, (Const<64>, Const<32>)> = Tensor::randn(&mut random);
    let p = Net::glorot_normal(&mut random);
    let ((e, g), (e_kept, g_kept)) = (loss_grad(&x, &p), kept_grad(&x, &p));
    println!("{}", e == e_kept && g.first.w == g_kept.first.w && g.fourth.b == g_kept.fourth.b);
    println!("{} and {} bytes", loss_grad::PEAK_BYTES, kept_grad::PEAK_BYTES);
}
