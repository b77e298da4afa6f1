use mind::{Rng, Tensor, Xoshiro256, mind, optim::Adam};

mind! {
    #[derive(Clone)]
    struct Net { w1: f32[2, 16], b1: f32[16], w2: f32[16, 2], b2: f32[2] }

    /// Scores of two classes, for `N` points.
    fn scores<N>(x: f32[N, 2], p: Net) -> f32[N, 2] {
        nn::dense(relu(nn::dense(x, p.w1, p.b1)), p.w2, p.b2)
    }

    fn loss<N>(x: f32[N, 2], class: i64[N], p: Net) -> f32 {
        nn::cross_entropy(scores(x, p), class)
    }

    /// A step with the rows `chosen` of the data, at a rate that falls from 0.02 to 0.
    fn step<N, B>(
        x: f32[N, 2], class: i64[N], chosen: i64[B],
        p: &mut Net, state: &mut optim::Adam<Net>, progress: f32,
    ) -> f32 {
        let (l, g) = value_and_grad(loss, wrt = p)(gather(x, chosen), gather(class, chosen), p);
        let rate = optim::cosine_decay(progress, 0.02, 1.0);
        let (new, next) = optim::adam_step(p, g, state, rate);
        p = new;
        state = next;
        l
    }

    /// The share of points whose class has the highest score.
    fn accuracy<N>(x: f32[N, 2], class: i64[N], p: Net) -> f32 {
        mean(f32(argmax(scores(x, p), axis = 1) == class))
    }
}

/// Random points in a square.
fn points(rng: &mut Xoshiro256) -> Tensor![f32; 512, 2] {
    Tensor::from_fn(|_| (rng.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0)
}

/// The class of each point: 1 in a disc, 0 outside.
fn classes(x: &Tensor![f32; 512, 2]) -> Tensor![i64; 512] {
    mind!(i64(num::norm(x, axis = 1) < 0.7)).into()
}

fn main() {
    const EPOCHS: usize = 30;
    let mut rng = Xoshiro256::new(1);
    let (x, unseen) = (points(&mut rng), points(&mut rng));
    let class = classes(&x);
    let mut net = Net::he_normal(&mut rng);
    let mut state = Adam::zeros_like(&net);
    let mut order: Vec<i64> = (0..512).collect();

    let mut losses = Vec::new();
    for epoch in 0..EPOCHS {
        // The shuffle of Fisher and Yates: each order is equally likely.
        for last in (1..order.len()).rev() {
            order.swap(last, (rng.next_u64() % (last as u64 + 1)) as usize);
        }
        let mut total = 0.0;
        for batch in order.chunks_exact(32) {
            let chosen: Tensor![i64; 32] = Tensor::from_fn(|[i]| batch[i]);
            let progress = epoch as f32 / EPOCHS as f32;
            total += step(&x, &class, &chosen, &mut net, &mut state, progress);
        }
        losses.push(total);
    }
    println!("the loss fell to a quarter: {}", losses[EPOCHS - 1] < losses[0] / 4.0);
    let right = accuracy(&unseen, &classes(&unseen), &net);
    println!("more than 95 % of unseen points are right: {}", right > 0.95);
}
