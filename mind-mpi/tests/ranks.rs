//! Data-parallel training over threads: losses, equality of bits, numbers of messages, and errors on disagreement.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use mind::optim::Adam;
use mind::{Const, Tensor, mind};
use mind_mpi::{AllReduce, DataParallel, Error, MAX_ROWS, threads};

mind! {
    #[derive(Clone, Debug, PartialEq)]
    struct Net { w: f32[3, 8], b: f32[8], out: f32[8] }

    #[derive(Clone, Debug, PartialEq)]
    struct Learner { net: Net, adam: optim::Adam<Net> }

    fn loss<N>(x: f32[N, 3], y: f32[N], net: Net) -> f32 {
        let miss = tanh(nn::dense(x, net.w, net.b)) @ net.out - y;
        mean(miss * miss)
    }

    fn gradient<N>(x: f32[N, 3], y: f32[N], net: Net) -> (f32, Net) {
        value_and_grad(loss, wrt = net)(x, y, net)
    }

    /// Takes exactly four rows.
    fn gradient_of_4(x: f32[4, 3], y: f32[4], net: Net) -> (f32, Net) {
        value_and_grad(loss, wrt = net)(x, y, net)
    }

    fn descend(net: &mut Net, gradient: Net, rate: f32) {
        net = optim::sgd(net, gradient, rate);
    }

    fn adam(learner: &mut Learner, gradient: Net) {
        let (net, adam) = optim::adam_step(learner.net, gradient, learner.adam, 0.01);
        learner = Learner { net: net, adam: adam };
    }

    /// Rows of class -1 are padding.
    fn of_tokens<N>(x: f32[N, 3], class: i64[N], w: f32[3, 4]) -> (f32, f32[3, 4]) {
        value_and_grad(mean_of_tokens, wrt = w)(x, class, w)
    }

    fn mean_of_tokens<N>(x: f32[N, 3], class: i64[N], w: f32[3, 4]) -> f32 {
        nn::cross_entropy_ignoring(x @ w, class, -1)
    }

    #[derive(Clone, Debug, PartialEq)]
    struct Mixed { slope: f64, height: f32, count: i64 }

    #[derive(Clone, Debug, PartialEq)]
    struct Line { slope: f32, height: f32 }
    #[derive(Clone, Debug, PartialEq)]
    struct Bent { slope: f32, bend: f32 }
}

/// Deterministic pseudo-random numbers between -1 and 1.
fn number(position: usize) -> f32 {
    (position as f32 * 12.9898).sin()
}

fn net() -> Net {
    Net {
        w: Tensor::from_fn(|[i, j]| number(8 * i + j)),
        b: Tensor::zeros(),
        out: Tensor::from_fn(|[i]| number(100 + i)),
    }
}

type Inputs = Tensor![f32; ?, 3];
type Outputs = Tensor![f32; ?];

/// The rows of a batch, taken from an endless table.
fn rows(from: usize, count: usize) -> (Inputs, Outputs) {
    let x = Tensor::from_fn_with((count, Const), |[i, j]| number(1000 + 3 * (from + i) + j));
    let y =
        Tensor::from_fn_with((count,), |[i]| number(1000 + 3 * (from + i)) * number(1001 + 3 * (from + i)));
    (x, y)
}

/// Trains as one of several ranks, on batches of `batch` rows. Returns the losses and the network.
fn train(rank: impl AllReduce, batch: usize) -> Result<(Vec<f64>, Net), Error> {
    let mut net = net();
    let mut team = DataParallel::new(rank, "net", &mut net)?;
    let mut losses = Vec::new();
    for step in 0..40 {
        let share = team.share(batch)?;
        let (x, y) = rows(step * batch + share.rows().start, share.rows().len());
        let (loss, mut slope) = gradient(&x, &y, &net);
        losses.push(team.mean(&mut slope, loss, &share)?);
        descend(&mut net, &slope, 0.1);
    }
    team.agree(&net)?;
    team.finish()?;
    Ok((losses, net))
}

fn bits(losses: &[f64]) -> Vec<u64> {
    losses.iter().map(|loss| loss.to_bits()).collect()
}

#[test]
fn losses_are_those_of_one_rank_to_6_digits_and_ranks_agree_to_the_bit() {
    // Sizes that most numbers of ranks divide, that most do not divide, and that hardly exceed the number of ranks.
    for batch in [24, 25, 6] {
        let alone = threads::run(1, |rank| train(rank, batch)).expect("one rank trains");
        let expected = &alone[0].0;
        assert!(expected[39] < 0.7 * expected[0], "it learns: {expected:?}");
        for ranks in [2, 3, 4, 5] {
            let all = threads::run(ranks, |rank| train(rank, batch)).expect("they train");
            assert_eq!(all.len(), ranks);
            for (losses, net) in &all {
                assert_eq!(bits(losses), bits(&all[0].0));
                assert_eq!(*net, all[0].1);
                for (loss, expected) in losses.iter().zip(expected) {
                    let apart = ((loss - expected) / expected).abs();
                    assert!(apart < 1e-6, "{ranks} ranks, batches of {batch}: {loss}, needed {expected}");
                }
            }
            let again = threads::run(ranks, |rank| train(rank, batch)).expect("they train");
            assert_eq!(bits(&again[0].0), bits(&all[0].0), "a run is as the last");
        }
    }
}

#[test]
fn a_loss_of_tokens_is_weighed_by_them() {
    // Of 12 rows, six are padding, including the first five. With three ranks, rank 0 has only padding.
    let batch = |rows: std::ops::Range<usize>| -> (Inputs, Tensor![i64; ?], usize) {
        let class = |row: usize| if row < 5 || row == 9 { -1 } else { (row % 4) as i64 };
        let (x, _) = self::rows(rows.start, rows.len());
        let counted = rows.clone().filter(|row| class(*row) >= 0).count();
        (x, Tensor::from_fn_with((rows.len(),), |[i]| class(rows.start + i)), counted)
    };
    let w: Tensor![f32; 3, 4] = Tensor::from_fn(|[i, j]| number(4 * i + j));
    let (x, class, counted) = batch(0..12);
    assert_eq!(counted, 6);
    let (expected, slope) = of_tokens(&x, &class, &w);
    let step = |ranks, counts: bool| {
        threads::run(ranks, |rank| -> Result<_, Error> {
            let mut w = w.clone();
            let mut team = DataParallel::new(rank, "tokens", &mut w)?;
            let share = team.share(12)?;
            let (x, class, counted) = batch(share.rows());
            let (loss, mut slope) = of_tokens(&x, &class, &w);
            let share = if counts { share.counting(counted) } else { share };
            let loss = team.mean(&mut slope, loss, &share)?;
            Ok((loss, slope))
        })
        .expect("they meet")
    };
    for ranks in [1, 2, 3] {
        for (loss, found) in step(ranks, true) {
            assert!((loss - f64::from(expected)).abs() < 1e-6, "{ranks} ranks: {loss}, needed {expected}");
            let pairs = found.as_slice().iter().zip(slope.as_slice());
            assert!(
                pairs.clone().all(|(a, b)| (a - b).abs() < 1e-6),
                "{ranks} ranks: {found}, needed {slope}"
            );
        }
    }
    let by_rows = step(2, false)[0].0;
    assert!((by_rows - f64::from(expected)).abs() > 1e-3, "{by_rows}: rows weigh otherwise");
}

#[test]
fn nothing_is_learnt_where_nothing_is_counted() {
    let all = threads::run(2, |rank| -> Result<_, Error> {
        let mut line = Line { slope: 1.0, height: 2.0 };
        let mut team = DataParallel::new(rank, "line", &mut line)?;
        let share = team.share(4)?.counting(0);
        let mut gradient = Line { slope: f32::NAN, height: f32::NAN };
        let loss = team.mean(&mut gradient, f32::NAN, &share)?;
        Ok((loss, gradient))
    });
    for found in all.expect("they meet") {
        assert_eq!(found, (0.0, Line { slope: 0.0, height: 0.0 }));
    }
}

#[test]
fn ranks_that_do_not_all_count_are_told() {
    let message = told(|rank| {
        let mut team = DataParallel::new(rank, "net", &mut net())?;
        let mut share = team.share(4)?;
        if team.rank() == 1 {
            share = share.counting(3);
        }
        team.mean(&mut net(), 1.0_f32, &share).map(drop)
    });
    assert_eq!(message, "1 of 2 ranks weight their loss by a count, needed all or none");
}

/// A transport that counts its messages.
struct Counting<'a, A>(A, &'a AtomicUsize);

impl<A: AllReduce> AllReduce for Counting<'_, A> {
    fn rank(&self) -> usize {
        self.0.rank()
    }
    fn ranks(&self) -> usize {
        self.0.ranks()
    }
    fn sum_f32(&mut self, values: &mut [f32]) -> Result<(), Error> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.sum_f32(values)
    }
    fn sum_f64(&mut self, values: &mut [f64]) -> Result<(), Error> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.sum_f64(values)
    }
    fn broadcast(&mut self, root: usize, bytes: &mut [u8]) -> Result<(), Error> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.broadcast(root, bytes)
    }
}

#[test]
fn a_step_is_one_message() {
    let messages: Vec<_> = threads::run(2, |rank| -> Result<_, Error> {
        let sent = AtomicUsize::new(0);
        let mut net = net();
        let mut team = DataParallel::new(Counting(rank, &sent), "net", &mut net)?;
        let before = sent.load(Ordering::Relaxed);
        for _ in 0..10 {
            let share = team.share(6)?;
            team.mean(&mut net.clone(), 1.0_f32, &share)?;
        }
        assert_eq!(team.times().steps, 10);
        Ok(sent.load(Ordering::Relaxed) - before)
    })
    .expect("they meet");
    assert_eq!(messages, [10, 10]);
}

#[test]
fn sums_are_of_f64_where_a_parameter_is_and_integers_stay() {
    let tiny = 1e-12;
    let all = threads::run(2, |rank| -> Result<_, Error> {
        let mut gradient =
            Mixed { slope: 1.0 + tiny * rank.rank() as f64, height: 2.0, count: rank.rank() as i64 + 7 };
        let mut parameters = Mixed { slope: rank.rank() as f64, height: 0.5, count: rank.rank() as i64 };
        let mut team = DataParallel::new(rank, "mixed", &mut parameters)?;
        let share = team.share(2)?;
        let loss = team.mean(&mut gradient, 1.0 + tiny, &share)?;
        Ok((loss, parameters, gradient))
    })
    .expect("they meet");
    for (rank, (loss, parameters, gradient)) in all.into_iter().enumerate() {
        assert_eq!(loss, 1.0 + tiny);
        assert_eq!(parameters, Mixed { slope: 0.0, height: 0.5, count: 0 }, "they are those of rank 0");
        assert_eq!(gradient, Mixed { slope: 1.0 + tiny / 2.0, height: 2.0, count: rank as i64 + 7 });
    }
}

/// Trains by Adam up to step `until`, with a checkpoint after each step. Returns the losses of the steps that it took.
fn with_checkpoints(path: &Path, until: u64) -> Vec<f64> {
    let all = threads::run(2, |rank| -> Result<_, Error> {
        let net = net();
        let mut learner = Learner { adam: Adam::zeros_like(&net), net };
        let mut team = DataParallel::new(rank, "net by adam", &mut learner.net)?;
        let first = team.resume(path, &mut learner)?.unwrap_or(0);
        let mut losses = Vec::new();
        for step in first..until {
            let share = team.share(9)?;
            let (x, y) = rows(9 * step as usize + share.rows().start, share.rows().len());
            let (loss, mut slope) = gradient(&x, &y, &learner.net);
            losses.push(team.mean(&mut slope, loss, &share)?);
            adam(&mut learner, &slope);
            team.save(path, step + 1, &learner)?;
        }
        team.finish()?;
        Ok(losses)
    });
    all.expect("they train").swap_remove(1)
}

#[test]
fn a_restart_goes_on_with_the_bits_of_a_run_that_was_not_stopped() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let whole = with_checkpoints(&folder.path().join("whole"), 20);
    let path = folder.path().join("stopped");
    let mut parts = with_checkpoints(&path, 7);
    parts.extend(with_checkpoints(&path, 20));
    assert_eq!(bits(&parts), bits(&whole));
    assert_eq!(whole.len(), 20);
}

/// Runs a job of two ranks, both of which must fail with the same message, and returns this message.
fn told(body: impl Fn(threads::Thread) -> Result<(), Error> + Sync) -> String {
    let told = threads::run(2, |rank| Ok::<_, Error>(body(rank).expect_err("they cannot go on").to_string()));
    let mut told = told.expect("each has been told");
    told.dedup();
    assert_eq!(told.len(), 1, "{told:?}");
    told.swap_remove(0)
}

#[test]
fn ranks_with_other_parameters_are_told_where_they_begin() {
    let message = told(|rank| match rank.rank() {
        0 => DataParallel::new(rank, "line", &mut Line { slope: 1.0, height: 2.0 }).map(drop),
        _ => DataParallel::new(rank, "line", &mut Bent { slope: 1.0, bend: 2.0 }).map(drop),
    });
    let expected = "rank 1 trains something else than rank 0: found `bend f32[]`, needed `height f32[]`";
    assert_eq!(message, expected);
    let message = told(|rank| {
        let mut weights: Tensor![f32; ?] = Tensor::zeros_with((3 + rank.rank(),));
        DataParallel::new(rank, "weights", &mut weights).map(drop)
    });
    assert_eq!(message, "rank 1 trains something else than rank 0: found `f32[4]`, needed `f32[3]`");
    let message = told(|rank| {
        let mut layers: Vec<Tensor![f32; 2]> = vec![Tensor::zeros(); 2 - rank.rank()];
        DataParallel::new(rank, "layers", &mut layers).map(drop)
    });
    assert_eq!(message, "rank 1 trains something else than rank 0: found nothing more, needed `1 f32[2]`");
}

#[test]
fn ranks_of_other_programs_are_told() {
    let message = told(|rank| {
        let program = ["digits, relu", "digits, tanh"][rank.rank()];
        DataParallel::new(rank, program, &mut net()).map(drop)
    });
    let expected = "found `program digits, tanh`, needed `program digits, relu`";
    assert_eq!(message, format!("rank 1 trains something else than rank 0: {expected}"));
}

#[test]
fn a_rank_that_ends_sooner_is_told_on_all() {
    let message = told(|rank| {
        let (mut net, steps) = (net(), 3 + rank.rank());
        let mut team = DataParallel::new(rank, "net", &mut net)?;
        for _ in 0..steps {
            let share = team.share(4)?;
            team.mean(&mut net, 0.0_f32, &share)?;
        }
        team.finish()
    });
    let calls = "`mean` is called by 1 of 2, `finish` is called by 1 of 2";
    assert_eq!(message, format!("the ranks call different methods: {calls}"));
}

#[test]
fn parameters_that_went_apart_are_told_and_not_saved() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("net");
    let message = told(|rank| {
        let mut net = net();
        let mut team = DataParallel::new(rank, "net", &mut net)?;
        net.b[[3]] = if team.rank() == 1 { -0.0 } else { 0.0 };
        team.save(&path, 1, &net)
    });
    assert_eq!(message, "the ranks no longer agree: the parameters of rank 1 differ from those of rank 0");
    assert!(!path.exists());
}

#[test]
fn batches_that_ranks_cannot_divide_are_told() {
    let message = |rows| {
        told(|rank| {
            let team = DataParallel::new(rank, "net", &mut net())?;
            team.even_share(rows).map(drop)
        })
    };
    assert_eq!(message(33), "the batch has 33 rows, needed a multiple of the 2 ranks");
    assert_eq!(message(0), "the batch has 0 rows, needed at least 1 for each of the 2 ranks");
    assert_eq!(message(MAX_ROWS + 2), "the batch has 16777218 rows, needed at most 16777216");
    // Every rank needs at least one row.
    let message = told(|rank| DataParallel::new(rank, "net", &mut net())?.share(1).map(drop));
    assert_eq!(message, "the batch has 1 rows, needed at least 1 for each of the 2 ranks");
}

#[test]
fn a_program_of_a_fixed_number_of_rows_has_an_even_share() {
    let all = threads::run(2, |rank| -> Result<_, Error> {
        let mut net = net();
        let mut team = DataParallel::new(rank, "net", &mut net)?;
        let share = team.even_share(8)?;
        let from = share.rows().start;
        assert_eq!(share.rows().len(), 4);
        let x = Tensor::from_fn(|[i, j]| number(1000 + 3 * (from + i) + j));
        let y = Tensor::from_fn(|[i]| number(1000 + 3 * (from + i)) * number(1001 + 3 * (from + i)));
        let (loss, mut slope) = gradient_of_4(&x, &y, &net);
        team.mean(&mut slope, loss, &share)
    })
    .expect("they meet");
    let (expected, _) = gradient(&rows(0, 8).0, &rows(0, 8).1, &net());
    let expected = f64::from(expected);
    assert!(((all[0] - expected) / expected).abs() < 1e-6, "{all:?}, needed {expected}");
}

#[test]
fn shares_of_other_batches_are_told() {
    let message = threads::run(2, |rank| -> Result<(), Error> {
        let mut net = net();
        let mut team = DataParallel::new(rank, "net", &mut net)?;
        let share = team.share([8, 12][team.rank()])?;
        team.mean(&mut net, 0.0_f32, &share).map(drop)
    })
    .expect_err("the shares are of two batches")
    .to_string();
    let needed = ["but rank 0 expects 8", "but rank 1 expects 12"];
    assert!(
        needed.iter().any(|needed| message == format!("the ranks have 10 rows together, {needed}")),
        "{message}"
    );
}

#[test]
fn a_gradient_of_other_parameters_is_told() {
    let message = threads::run(1, |rank| {
        let mut team = DataParallel::new(rank, "line", &mut Line { slope: 1.0, height: 2.0 })?;
        let share = team.share(1)?;
        team.mean(&mut Bent { slope: 1.0, bend: 2.0 }, 0.0_f32, &share).map(drop)
    })
    .expect_err("it is another struct")
    .to_string();
    assert_eq!(
        message,
        "the gradient does not fit the parameters: found `bend f32[]`, needed `height f32[]`"
    );
}

#[test]
fn a_checkpoint_of_another_program_or_a_damaged_one_is_told_on_all_and_loads_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("net");
    let resume = |program: &'static str| {
        let told = threads::run(2, |rank| -> Result<_, Error> {
            let mut other = Line { slope: 8.0, height: 9.0 };
            let mut team = DataParallel::new(rank, program, &mut other)?;
            let message =
                team.resume(&path, &mut other).expect_err("it is not a checkpoint of these").to_string();
            assert_eq!(other, Line { slope: 8.0, height: 9.0 });
            // The ranks can still communicate.
            team.agree(&other)?;
            Ok(message)
        });
        let told = told.expect("they go on");
        assert_eq!(told[1], format!("rank 0: {}", told[0]));
        told[0].clone()
    };
    threads::run(2, |rank| {
        let mut bent = Bent { slope: 1.0, bend: 2.0 };
        DataParallel::new(rank, "bent", &mut bent)?.save(&path, 3, &bent)
    })
    .expect("it is written");
    let file = path.display();
    assert_eq!(
        resume("line"),
        format!("{file}: the checkpoint is of another program: found `bent`, needed `line`")
    );
    assert_eq!(
        resume("bent"),
        format!(
            "{file}: the checkpoint does not match the parameters: `height` f32[] is missing; `bend` f32[] is unexpected"
        )
    );
    let bytes = std::fs::read(&path).expect("it is there");
    std::fs::write(&path, &bytes[..bytes.len() - 1]).expect("it is written");
    let message = resume("bent");
    let truncated = format!("got {} bytes, needed {}", bytes.len() - 1, bytes.len());
    assert_eq!(message, format!("{file}: the checkpoint is truncated: {truncated}"));
    std::fs::write(&path, &bytes[..40]).expect("it is written");
    let message = resume("bent");
    assert!(
        message.starts_with(&format!("{file}: the checkpoint is truncated: got 40 bytes, needed ")),
        "{message}"
    );
}

#[test]
fn a_rank_that_fails_or_panics_ends_the_job_with_its_reason() {
    let body = |rank: threads::Thread| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let fails = rank.rank() == 1;
        let mut net = net();
        let mut team = DataParallel::new(rank, "net", &mut net)?;
        for step in 0..5 {
            if fails && step == 3 {
                return Err("the disk is gone".into());
            }
            let share = team.share(4)?;
            team.mean(&mut net, 0.0_f32, &share)?;
        }
        Ok(team.finish()?)
    };
    assert_eq!(threads::run(3, body).expect_err("a rank fails").to_string(), "the disk is gone");
    let panic = std::panic::catch_unwind(|| {
        threads::run(2, |mut rank| match rank.rank() {
            0 => rank.sum_f32(&mut [1.0]),
            _ => panic!("a mistake"),
        })
    });
    let panic = panic.expect_err("a rank panics");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a mistake"));
}

#[test]
fn ranks_that_call_a_transport_differently_are_told() {
    let message = told(|mut rank| match rank.rank() {
        0 => rank.sum_f32(&mut [1.0]),
        _ => rank.sum_f32(&mut [1.0, 2.0]),
    });
    let reason = "the ranks call different methods, or pass different numbers of values";
    assert_eq!(message, format!("cannot reach the other ranks: {reason}"));
}
