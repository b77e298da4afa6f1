//! A Kalman filter tracks an object from noisy measurements of its position. Two noise levels, of the measurements and
//! of the motion, are fitted by the gradient of the likelihood through all measurements.
//!
//! ```text
//! cargo run --release --example kalman
//! ```

#[path = "support/program.rs"]
mod program;
#[path = "support/svg.rs"]
mod svg;

use std::path::Path;
use std::process::ExitCode;

use mind::{Const, Tensor, Xoshiro256, mind, optim::Adam};

use program::Outcome;
use svg::{Anchor, Chart, Drawing, GREY, INK, RED};

mind! {
    /// The logarithms of the standard deviations of the acceleration during a step, and of a measurement.
    #[derive(Clone)]
    struct Noise { motion: f64, sensor: f64 }

    /// A normal distribution of the state: the means of place and speed, and in each direction the variance of the
    /// place, the covariance of place and speed, and the variance of the speed.
    struct Belief { place: f64[2], speed: f64[2], vp: f64, cov: f64, vs: f64 }

    /// The belief after a step of time 1. The acceleration is constant during a step.
    fn predict(b: Belief, noise: Noise) -> Belief {
        let q = exp(2.0 * noise.motion);
        Belief {
            place: b.place + b.speed,
            speed: b.speed,
            vp: b.vp + 2.0 * b.cov + b.vs + 0.25 * q,
            cov: b.cov + b.vs + 0.5 * q,
            vs: b.vs + q,
        }
    }

    /// The belief after a measurement, and the log density of the measurement under the belief before.
    fn correct(b: Belief, noise: Noise, seen: f64[2]) -> (Belief, f64) {
        let miss = seen - b.place;
        let variance = b.vp + exp(2.0 * noise.sensor);
        let (gain_p, gain_s) = (b.vp / variance, b.cov / variance);
        let after = Belief {
            place: b.place + gain_p * miss,
            speed: b.speed + gain_s * miss,
            vp: (1.0 - gain_p) * b.vp,
            cov: (1.0 - gain_p) * b.cov,
            vs: b.vs - gain_s * b.cov,
        };
        (after, sum(stats::normal_logpdf(miss, 0.0, sqrt(variance))))
    }

    /// The expected place after each measurement, and the log density of each given those before it.
    fn track<T>(noise: Noise, seen: f64[T, 2]) -> (f64[T, 2], f64[T]) {
        let first = Belief { place: [0.0, 0.0], speed: [0.0, 0.0], vp: 4.0, cov: 0.0, vs: 1.0 };
        let (_, all) = scan belief = first for seen in seen {
            let (belief, density) = correct(predict(belief, noise), noise, seen);
            (belief, (belief.place, density))
        };
        all
    }

    /// The mean negative log density of a measurement.
    #[grad(noise)]
    fn loss<T>(noise: Noise, seen: f64[T, 2]) -> f64 {
        let (_, densities) = track(noise, seen);
        -mean(densities)
    }

    fn slope<T>(noise: Noise, seen: f64[T, 2], along: Noise) -> f64 {
        let g = grad(loss, wrt = noise)(noise, seen);
        g.motion * along.motion + g.sensor * along.sensor
    }

    /// The Hessian of the loss times a direction.
    fn bend<T>(noise: Noise, seen: f64[T, 2], along: Noise) -> Noise {
        grad(slope, wrt = noise)(noise, seen, along)
    }

    /// One step of Adam, in place; returns the loss before it.
    fn improve<T>(noise: &mut Noise, state: &mut optim::Adam<Noise>, seen: f64[T, 2], rate: f64) -> f64 {
        let (l, gradient) = value_and_grad(loss, wrt = noise)(noise, seen);
        let (new, next) = optim::adam_step(noise, gradient, state, rate);
        noise = new;
        state = next;
        l
    }
}

type Places = Tensor![f64; ?, 2];

/// The standard deviations of the acceleration and of a measurement in the simulation, and those first assumed.
const TRUE: [f64; 2] = [0.1, 3.0];
const ASSUMED: [f64; 2] = [1.0, 0.5];
/// The number of measurements.
const COUNT: usize = 200;
const SEED: u64 = 1;
/// The number of steps of Adam, and its rate.
const ROUNDS: usize = 1000;
const RATE: f64 = 0.05;
/// The largest accepted slope of the loss after that.
const FLAT: f64 = 1e-5;
/// The largest accepted differences from the true logarithms, in standard errors, and the largest accepted error of the
/// track, as a fraction of the error of the measurements.
const SIDES: f64 = 3.0;
const REMAINDER: f64 = 0.6;
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/kalman/track.svg");

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let (places, seen) = simulate(TRUE, COUNT);
    let mut noise = logarithms(ASSUMED);
    let assumed = rms(&track(&noise, &seen).0, &places);
    let mut state = Adam::zeros_like(&noise);
    for round in 0..=ROUNDS {
        let loss = improve(&mut noise, &mut state, &seen, RATE);
        if round % 200 == 0 {
            println!("round {round:>4}: log density {:.4} per measurement", -loss);
        }
    }

    let (_, slope) = loss_grad(&noise, &seen);
    let steepest = slope.motion.abs().max(slope.sensor.abs());
    println!("steepest slope left: {steepest:.0e}");

    let found = [noise.motion.exp(), noise.sensor.exp()];
    let errors = standard_errors(&noise, &seen)?;
    println!("\nstandard deviation     true   found   standard error");
    let mut off = 0.0_f64;
    for (at, name) in ["of accelerations", "of measurements"].into_iter().enumerate() {
        println!("{name:<18} {:>8.3} {:>7.3} {:>10.3}", TRUE[at], found[at], found[at] * errors[at]);
        off = off.max((found[at] / TRUE[at]).ln().abs() / errors[at]);
    }
    let (path, _) = track(&noise, &seen);
    let [raw, tracked] = [rms(&seen, &places), rms(&path, &places)];
    println!("\nroot of the mean squared distance from the true places");
    println!("  of the measurements:                          {raw:.3}");
    println!("  of the track, with the noise first assumed:   {assumed:.3}");
    println!("  of the track, with the noise found:           {tracked:.3}");
    println!(
        "  of the track, with the true noise:            {:.3}",
        rms(&track(&logarithms(TRUE), &seen).0, &places)
    );

    let picture = Path::new(PICTURE);
    draw(&places, &seen, &path).save(picture)?;
    println!("track: {}", program::shown(picture));
    if steepest > FLAT {
        return Err(format!("the likelihood still rises with a slope of {steepest:e}").into());
    }
    if off > SIDES {
        return Err(format!("the noise found is {off:.1} standard errors from the true one").into());
    }
    if tracked > REMAINDER * raw {
        return Err(
            format!("the track has {:.0} % of the error of the measurements", 100.0 * tracked / raw).into()
        );
    }
    Ok(())
}

fn logarithms([motion, sensor]: [f64; 2]) -> Noise {
    Noise { motion: motion.ln(), sensor: sensor.ln() }
}

/// True places, and noisy measurements of them.
fn simulate([motion, sensor]: [f64; 2], count: usize) -> (Places, Places) {
    let mut random = Xoshiro256::new(SEED);
    let (pushes, blurs): (Places, Places) =
        (Tensor::randn_with((count, Const), &mut random), Tensor::randn_with((count, Const), &mut random));
    let (mut place, mut speed) = ([0.0; 2], [1.0, -0.5]);
    let mut places = Tensor::zeros_with((count, Const));
    for at in 0..count {
        for axis in 0..2 {
            let push = motion * pushes[[at, axis]];
            place[axis] += speed[axis] + 0.5 * push;
            speed[axis] += push;
            places[[at, axis]] = place[axis];
        }
    }
    let seen = mind!(places + sensor * blurs);
    (places, seen)
}

/// The standard errors of the logarithms: the roots of the diagonal of the inverse Hessian of the loss of all
/// measurements.
fn standard_errors(noise: &Noise, seen: &Places) -> Outcome<[f64; 2]> {
    let [count, _] = seen.dims();
    let by_motion = bend(noise, seen, &Noise { motion: 1.0, sensor: 0.0 });
    let by_sensor = bend(noise, seen, &Noise { motion: 0.0, sensor: 1.0 });
    let determinant = by_motion.motion * by_sensor.sensor - by_motion.sensor * by_sensor.motion;
    if determinant <= 0.0 || by_motion.motion <= 0.0 {
        return Err("the likelihood has no maximum there".into());
    }
    Ok([by_sensor.sensor, by_motion.motion].map(|bend| (bend / determinant / count as f64).sqrt()))
}

/// The root of the mean squared distance between places.
fn rms(left: &Places, right: &Places) -> f64 {
    mind!(sqrt(mean(sum((left - right) * (left - right), axis = 1))))
}

/// Draws the true places, the measurements and the track, to scale.
fn draw(places: &Places, seen: &Places, path: &Places) -> Drawing {
    let range = |axis: usize| {
        let values = seen.as_slice().iter().skip(axis).step_by(2);
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(*x), high.max(*x)])
    };
    let [x, y] = [range(0), range(1)].map(|[low, high]| [low - 2.0, high + 2.0]);
    let scale = (820.0 / (x[1] - x[0])).min(820.0 / (y[1] - y[0]));
    let size = [scale * (x[1] - x[0]), scale * (y[1] - y[0])];
    let mut drawing = Drawing::new(size[0] + 80.0, size[1] + 100.0);
    let map = Chart { corner: [60.0, 60.0], size, x, y };
    let spacing = 20.0;
    map.axes(&mut drawing, "", [spacing, spacing]);
    for (at, (text, colour)) in
        [("true path", INK), ("measurements", GREY), ("track", RED)].into_iter().enumerate()
    {
        drawing.text([60.0 + 140.0 * at as f64, 30.0], Anchor::Start, text, colour);
    }
    let points =
        |places: &Places| places.as_slice().chunks(2).map(|place| [place[0], place[1]]).collect::<Vec<_>>();
    for point in points(seen) {
        drawing.disc(map.at(point), 2.0, GREY);
    }
    map.curve(&mut drawing, points(places), 1.5, INK);
    map.curve(&mut drawing, points(path), 1.5, RED);
    drawing
}

#[cfg(test)]
mod tests {
    use mind::gradcheck;

    use super::*;

    /// The filter multiplies conditional densities. Their product is the joint density of all measurements, which has
    /// one covariance matrix.
    #[test]
    fn the_likelihood_is_the_joint_density() {
        let ([motion, sensor], count) = ([0.3, 0.7], 20);
        let (_, seen) = simulate([motion, sensor], count);
        // The place at time `i + 1` has this share of the acceleration in step `k`.
        let share = |i: usize, k: usize| if k <= i { (i - k) as f64 + 0.5 } else { 0.0 };
        let covariance = |i: usize, j: usize| {
            let shares: f64 = (0..count).map(|k| share(i, k) * share(j, k)).sum();
            let times = ((i + 1) * (j + 1)) as f64;
            4.0 + times + motion * motion * shares + if i == j { sensor * sensor } else { 0.0 }
        };
        // Cholesky's factor, and the measurements divided by it.
        let mut factor = vec![vec![0.0; count]; count];
        let mut log_density = -(count as f64) * std::f64::consts::TAU.ln();
        let mut whitened = vec![[0.0; 2]; count];
        for i in 0..count {
            for j in 0..=i {
                let rest: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
                let left = covariance(i, j) - rest;
                factor[i][j] = if i == j { left.sqrt() } else { left / factor[j][j] };
            }
            for axis in 0..2 {
                let rest: f64 = (0..i).map(|k| factor[i][k] * whitened[k][axis]).sum();
                whitened[i][axis] = (seen[[i, axis]] - rest) / factor[i][i];
                log_density -= 0.5 * whitened[i][axis].powi(2) + factor[i][i].ln();
            }
        }
        let found = -loss(&logarithms([motion, sensor]), &seen) * count as f64;
        assert!((found - log_density).abs() < 1e-9, "{found} for {log_density}");
    }

    #[test]
    fn gradients_and_hessians_are_those_of_the_likelihood() {
        let (_, seen) = simulate(TRUE, 20);
        let mut noise = logarithms(ASSUMED);
        let (_, gradient) = loss_grad(&noise, &seen);
        gradcheck(&mut noise, &gradient, |noise| loss(noise, &seen)).expect("the gradient is right");
        let along = Noise { motion: 0.6, sensor: -0.8 };
        let bend = bend(&noise, &seen, &along);
        gradcheck(&mut noise, &bend, |noise| slope(noise, &seen, &along)).expect("the Hessian is right");
    }

    #[test]
    fn the_noise_is_found_and_the_track_is_better_than_the_measurements() {
        run().expect("the track is better");
    }
}
