//! Computes the mean of a loss over the tokens of all ranks. The loss ignores some tokens. The ranks are threads; with
//! MPI, call `mind_mpi::run` instead of `threads::run`.

use mind::{Const, Tensor, mind};
use mind_mpi::{DataParallel, Error, threads};

mind! {
    struct Model { w: f32[2, 4] }

    /// The mean over the tokens whose class is not -1.
    fn loss<N>(x: f32[N, 2], class: i64[N], model: Model) -> f32 {
        nn::cross_entropy_ignoring(x @ model.w, class, -1)
    }

    fn gradient<N>(x: f32[N, 2], class: i64[N], model: Model) -> (f32, Model) {
        value_and_grad(loss, wrt = model)(x, class, model)
    }
}

/// The class of each token. With two ranks, rank 0 has three tokens that count, and rank 1 has one.
const CLASSES: [i64; 8] = [0, 2, 1, -1, -1, -1, 3, -1];

/// The loss of a step on `ranks` ranks.
fn step(ranks: usize, by_tokens: bool) -> Result<f64, Error> {
    let losses = threads::run(ranks, |rank| -> Result<f64, Error> {
        let mut model = Model { w: Tensor::from_fn(|[i, j]| (4 * i + j) as f32 / 8.0) };
        let mut team = DataParallel::new(rank, "tokens", &mut model)?;
        let share = team.share(CLASSES.len())?;
        let (first, rows) = (share.rows().start, share.rows().len());
        let x: Tensor![f32; ?, 2] =
            Tensor::from_fn_with((rows, Const), |[i, j]| (((first + i) * 3 + j) % 5) as f32);
        let class = Tensor::from_fn_with((rows,), |[i]| CLASSES[first + i]);
        let (loss, mut slope) = gradient(&x, &class, &model);
        let counted = CLASSES[share.rows()].iter().filter(|class| **class != -1).count();
        let share = if by_tokens { share.counting(counted) } else { share };
        let loss = team.mean(&mut slope, loss, &share)?;
        team.finish()?;
        Ok(loss)
    })?;
    Ok(losses[0])
}

fn main() -> Result<(), Error> {
    println!("on one rank:              {:.4}", step(1, false)?);
    println!("on two, weighed by rows:  {:.4}", step(2, false)?);
    println!("on two, by tokens:        {:.4}", step(2, true)?);
    Ok(())
}
