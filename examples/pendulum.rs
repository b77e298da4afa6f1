//! A pendulum hangs from a cart. Gradients through 500 steps of their motion find the forces on the cart that swing the
//! pendulum up and keep it there.
//!
//! ```text
//! cargo run --release --example pendulum
//! ```
//!
//! The search begins without any force. Its result is checked in a second simulation, which is written in Rust and has
//! steps ten times shorter.

#[path = "support/program.rs"]
mod program;
#[path = "support/svg.rs"]
mod svg;

use std::f64::consts::PI;
use std::path::Path;
use std::process::ExitCode;

use mind::{Tensor, mind, optim::Adam};

use program::Outcome;
use svg::{Anchor, BLUE, Chart, Drawing, FAINT, INK};

mind! {
    /// The mass of the cart and of the bob in kg, the length of the rod in m, and the acceleration of gravity.
    const CART: float = 1.0;
    const BOB: float = 0.3;
    const ROD: float = 0.5;
    const GRAVITY: float = 9.81;
    /// The length of a step in s, and the largest force in N.
    const STEP: float = 0.01;
    const LIMIT: float = 6.0;
    /// The number of steps, and the step from which on the pendulum should stand.
    const STEPS: dim = 500;
    const UP: dim = 400;

    /// The place and speed of the cart, the angle of the pendulum from hanging, and its angular speed.
    #[derive(Clone, Copy, Debug)]
    struct State { place: f64, speed: f64, angle: f64, spin: f64 }

    /// Forces on the cart before the limit is applied, each for five steps.
    #[derive(Clone)]
    struct Control { effort: f64[STEPS / 5] }

    /// The derivative of the state by time (Tedrake, *Underactuated Robotics*, section 3.2).
    fn motion(s: State, force: f64) -> State {
        let (sine, cosine) = (sin(s.angle), cos(s.angle));
        let pull = BOB * sine * (ROD * s.spin * s.spin + GRAVITY * cosine);
        let acceleration = (force + pull) / (CART + BOB * sine * sine);
        let turn = -(acceleration * cosine + GRAVITY * sine) / ROD;
        State { place: s.speed, speed: acceleration, angle: s.spin, spin: turn }
    }

    /// The state after a step of the method of Runge and Kutta.
    fn next(s: State, force: f64) -> State {
        let a = motion(s, force);
        let b = motion(s + 0.5 * STEP * a, force);
        let c = motion(s + 0.5 * STEP * b, force);
        let d = motion(s + STEP * c, force);
        s + STEP / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    }

    fn forces(control: Control) -> f64[STEPS] {
        let held = broadcast_to(control.effort[.., _], [STEPS / 5, 5]);
        LIMIT * tanh(reshape(held, [STEPS]))
    }

    /// Place, speed, angle and angular speed after each step, from rest.
    fn path(force: f64[STEPS]) -> (f64[STEPS], f64[STEPS], f64[STEPS], f64[STEPS]) {
        let rest = State { place: 0.0, speed: 0.0, angle: 0.0, spin: 0.0 };
        let (_, path) = scan s = rest for force in force {
            let s = next(s, force);
            (s, (s.place, s.speed, s.angle, s.spin))
        };
        path
    }

    /// Mean squares of the differences from standing still in the middle, over the last second. Penalties also keep the
    /// cart near the middle before that, and the forces small.
    #[grad(control)]
    fn loss(control: Control) -> f64 {
        let force = forces(control);
        let (place, speed, angle, spin) = path(force);
        let lean = angle[UP..] - 3.141592653589793;
        let (x, v, w) = (place[UP..], speed[UP..], spin[UP..]);
        mean(10.0 * lean * lean + w * w + x * x + v * v) + mean(place * place) + 0.0001 * mean(force * force)
    }

    /// One step of Adam, in place; returns the loss before it.
    fn improve(control: &mut Control, state: &mut optim::Adam<Control>, rate: f64) -> f64 {
        let (l, gradient) = value_and_grad(loss, wrt = control)(control);
        let (new, next) = optim::adam_step(control, optim::clip_by_global_norm(gradient, 1.0), state, rate);
        control = new;
        state = next;
        l
    }
}

/// The number of steps of Adam. The rate falls from `RATE` to 0 along a cosine.
const ROUNDS: usize = 3000;
const RATE: f64 = 0.05;
/// The largest accepted angle from standing in the last half second, in degrees.
const LEAN: f64 = 10.0;
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/pendulum/swing.svg");

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let mut control = Control { effort: Tensor::zeros() };
    let mut state = Adam::zeros_like(&control);
    for round in 0..=ROUNDS {
        let rate = 0.5 * RATE * (1.0 + (PI * round as f64 / ROUNDS as f64).cos());
        let loss = improve(&mut control, &mut state, rate);
        if round % 500 == 0 {
            println!("round {round:>4}: loss {loss:>8.4}");
        }
    }

    let force = forces(&control);
    let (place, _, angle, _) = path(&force);
    println!("\ntime    force    place    angle");
    for step in (49..STEPS).step_by(50) {
        let degrees = angle[[step]].to_degrees();
        println!("{:.1} s {:>6.2} N {:>6.2} m {degrees:>6.1} °", time(step), force[[step]], place[[step]]);
    }
    let tried = simulate(force.as_slice());
    let apart = largest(angle.as_slice().iter().zip(&tried).map(|(angle, tried)| angle - tried));
    println!("\nanother simulation differs by {:.1e} degrees at most", apart.to_degrees());
    let lean = largest(tried[450..].iter().map(|angle| angle - PI)).to_degrees();
    println!("largest angle from standing in the last half second: {lean:.1} degrees");

    let path = Path::new(PICTURE);
    draw(place.as_slice(), angle.as_slice(), force.as_slice()).save(path)?;
    println!("swing: {}", program::shown(path));
    if lean > LEAN {
        return Err(format!("the pendulum leans by more than {LEAN} degrees").into());
    }
    Ok(())
}

/// The time after a step, in s.
fn time(step: usize) -> f64 {
    (step + 1) as f64 * STEP
}

fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |largest, number| largest.max(number.abs()))
}

/// The angle after each step, by ten steps of Heun's method for each force. The accelerations solve Lagrange's
/// equations by Cramer's rule.
fn simulate(forces: &[f64]) -> Vec<f64> {
    let motion = |[_, speed, angle, spin]: [f64; 4], force: f64| {
        let (sine, cosine) = angle.sin_cos();
        // (M + m) x″ + m l cos θ θ″ = u + m l θ′² sin θ and m l cos θ x″ + m l² θ″ = -m l g sin θ
        let arm = BOB * ROD;
        let [a, b, d] = [CART + BOB, arm * cosine, arm * ROD];
        let [right, below] = [force + arm * spin * spin * sine, -arm * GRAVITY * sine];
        let determinant = a * d - b * b;
        [speed, (d * right - b * below) / determinant, spin, (a * below - b * right) / determinant]
    };
    let mut state = [0.0; 4];
    let step = STEP / 10.0;
    forces
        .iter()
        .map(|force| {
            for _ in 0..10 {
                let first = motion(state, *force);
                let second = motion(std::array::from_fn(|i| state[i] + step * first[i]), *force);
                state = std::array::from_fn(|i| state[i] + 0.5 * step * (first[i] + second[i]));
            }
            state[2]
        })
        .collect()
}

/// Draws the cart and the pendulum five times per second, and the angle and the force over time.
fn draw(place: &[f64], angle: &[f64], force: &[f64]) -> Drawing {
    let mut drawing = Drawing::new(920.0, 860.0);
    let scene = Chart { corner: [60.0, 50.0], size: [840.0, 420.0], x: [-1.5, 0.9], y: [-0.6, 0.6] };
    let title = "A cart and its pendulum five times per second, from grey to black, and the path of the bob";
    drawing.text([60.0, 30.0], Anchor::Start, title, INK);
    let bob = |step: usize| [place[step] + ROD * angle[step].sin(), -ROD * angle[step].cos()];
    scene.curve(&mut drawing, [[-1.5, 0.0], [0.9, 0.0]], 1.0, FAINT);
    scene.curve(&mut drawing, (0..place.len()).map(bob), 1.0, BLUE);
    for step in (0..place.len()).step_by(20) {
        let shade = 215 - 180 * step / place.len();
        let colour = format!("#{shade:02x}{shade:02x}{shade:02x}");
        let hinge = [place[step], 0.0];
        scene.curve(&mut drawing, [hinge, bob(step)], 2.0, &colour);
        let [x, y] = scene.at(hinge);
        drawing.rectangle([x - 14.0, y - 6.0], 28.0, 12.0, &colour);
        drawing.disc(scene.at(bob(step)), 7.0, &colour);
    }

    let chart = |top, y| Chart { corner: [60.0, top], size: [840.0, 130.0], x: [0.0, 5.0], y };
    let angles = chart(510.0, [-180.0, 270.0]);
    angles.axes(&mut drawing, "angle from hanging in degrees, over the time in s", [1.0, 90.0]);
    let degrees = angle.iter().enumerate().map(|(step, angle)| [time(step), angle.to_degrees()]);
    angles.curve(&mut drawing, degrees, 2.0, BLUE);
    let forces = chart(700.0, [-6.5, 6.5]);
    forces.axes(&mut drawing, "force on the cart in N, over the time in s", [1.0, 3.0]);
    let newtons = force.iter().enumerate();
    forces.curve(
        &mut drawing,
        newtons.flat_map(|(step, force)| [[time(step) - STEP, *force], [time(step), *force]]),
        2.0,
        BLUE,
    );
    drawing
}

#[cfg(test)]
mod tests {
    use mind::gradcheck_some;

    use super::*;

    #[test]
    fn gradients_go_through_all_steps() {
        let mut control = Control { effort: Tensor::from_fn(|[i]| (0.4 * i as f64).sin()) };
        let (_, gradient) = loss_grad(&control);
        gradcheck_some(&mut control, &gradient, 10, loss).expect("the gradient is right");
    }

    #[test]
    fn both_simulations_give_the_same_angles() {
        let force = Tensor::from_fn(|[i]| 3.0 * (0.05 * i as f64).sin());
        let (_, _, angle, _) = path(&force);
        let tried = simulate(force.as_slice());
        assert!(largest(angle.as_slice().iter().zip(&tried).map(|(angle, tried)| angle - tried)) < 1e-4);
    }

    #[test]
    fn the_pendulum_stands_at_the_end() {
        run().expect("it stands");
    }
}
