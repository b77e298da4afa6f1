use mind::{Const, Error, Tensor, Xoshiro256, mind, optim::Adam};

mind! {
    /// A layer.
    #[derive(Clone)]
    struct Block { w: f32[8, 8], b: f32[8] }

    /// A network of twelve equal layers.
    #[derive(Clone)]
    struct Net { first: f32[2, 8], blocks: Block[12], last: f32[8] }

    fn layer<N>(x: f32[N, 8], p: Block) -> f32[N, 8] { x + 0.1 * tanh(x @ p.w + p.b) }

    fn forward<N>(x: f32[N, 2], p: Net) -> f32[N] {
        let x = fold x = x @ p.first for block in p.blocks { layer(x, block) };
        x @ p.last
    }

    fn loss<N>(x: f32[N, 2], y: f32[N], p: Net) -> f32 { nn::mse(forward(x, p), y) }

    fn step<N>(x: f32[N, 2], y: f32[N], p: &mut Net, state: &mut optim::Adam<Net>) -> f32 {
        let (e, g) = value_and_grad(loss, wrt = p)(x, y, p);
        let (new, next) = optim::adam_step(p, g, state, 0.01);
        p = new;
        state = next;
        e
    }

    /// The largest weight of each layer.
    fn largest<L>(blocks: Block[L]) -> f32[L] { for block in blocks { max(abs(block.w)) } }
}

fn main() -> Result<(), Error> {
    let x = Tensor::from([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]);
    let y = Tensor::from([0.0, 1.0, 1.0, 0.0]);
    let mut net = Net::glorot_normal(&mut Xoshiro256::new(1));
    let mut state = Adam::zeros_like(&net);
    let first = step(&x, &y, &mut net, &mut state);
    let last = (0..500).map(|_| step(&x, &y, &mut net, &mut state)).last();
    println!("{}", last.is_some_and(|last| last < first / 100.0));

    // The first six layers as separate structs.
    let half: Vec<Block> = (0..6).filter_map(|index| net.blocks.get(index)).collect();
    let half: BlockStack<Const<6>> = half.try_into()?;
    println!("{:?} {:?}", half.w.dims(), largest(&half).dims());
    Ok(())
}
