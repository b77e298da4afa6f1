//! A hot plate cools for a while and is then measured, with noise. Gradients through the steps of the heat equation
//! recover the temperatures that it had at first.
//!
//! ```text
//! cargo run --release --example heat
//! ```

#[path = "support/program.rs"]
mod program;
#[path = "support/svg.rs"]
mod svg;

use std::f64::consts::PI;
use std::path::Path;
use std::process::ExitCode;

use mind::{Tensor, Xoshiro256, mind, optim::Adam};

use program::Outcome;
use svg::{Anchor, BLUE, Chart, Drawing, GREY, INK, RED};

mind! {
    /// The number of cells along a side of the plate, and the number of steps for which it cools.
    const SIDE: dim = 32;
    const STEPS: int = 20;
    /// The share of the difference between two neighbours that flows in one step. Explicit steps are stable up to 0.25.
    const FLOW: float = 0.2;
    /// The weight of edges in the loss. Without it, the search amplifies noise that cooling would have removed.
    const EDGES: float = 0.001;

    /// The temperatures of a plate.
    #[derive(Clone)]
    struct Plate { cells: f64[SIDE, SIDE] }

    /// The temperatures at the end. The temperature around the plate is 0.
    fn cooled(plate: Plate) -> f64[SIDE, SIDE] {
        fold t = plate.cells for _ in 0..STEPS {
            let all = pad(t, [1, 1], [1, 1]);
            let beside = all[1..SIDE + 1, ..SIDE] + all[1..SIDE + 1, 2..];
            let above = all[..SIDE, 1..SIDE + 1] + all[2.., 1..SIDE + 1];
            t + FLOW * (beside + above - 4.0 * t)
        }
    }

    /// The sum of squared differences from the measurement, plus the total variation of the plate, which favours areas
    /// of one temperature (Rudin, Osher and Fatemi 1992). The root of `1e-6` rounds its kink at 0.
    #[grad(plate)]
    fn loss(plate: Plate, measured: f64[SIDE, SIDE]) -> f64 {
        let miss = cooled(plate) - measured;
        let all = pad(plate.cells, [1, 1], [1, 1]);
        let down = all[1.., 1..] - all[..SIDE + 1, 1..];
        let right = all[1.., 1..] - all[1.., ..SIDE + 1];
        sum(miss * miss) + EDGES * sum(sqrt(down * down + right * right + 1e-6))
    }

    /// One step of Adam, in place; returns the loss before it. Temperatures below 0, the surroundings', become 0.
    fn improve(plate: &mut Plate, state: &mut optim::Adam<Plate>, measured: f64[SIDE, SIDE], rate: f64) -> f64 {
        let (l, gradient) = value_and_grad(loss, wrt = plate)(plate, measured);
        let (new, next) = optim::adam_step(plate, gradient, state, rate);
        plate.cells = relu(new.cells);
        state = next;
        l
    }
}

type Cells = Tensor![f64; {SIDE}, {SIDE}];

/// The standard deviation of the noise.
const NOISE: f64 = 0.01;
const SEED: u64 = 1;
/// The number of steps of Adam. The rate falls from `RATE` to 0 along a cosine.
const ROUNDS: usize = 1000;
const RATE: f64 = 0.05;
/// The largest accepted error of the result, as a fraction of the error of the measurement.
const REMAINDER: f64 = 0.5;
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/heat/plates.svg");

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let truth = plate();
    let noise: Cells = Tensor::randn(&mut Xoshiro256::new(SEED));
    let clean = cooled(&truth);
    let measured: Cells = mind!(clean + NOISE * noise);

    // The search begins with the measurement.
    let mut found = Plate { cells: measured.clone() };
    let mut state = Adam::zeros_like(&found);
    for round in 0..=ROUNDS {
        let rate = 0.5 * RATE * (1.0 + (PI * round as f64 / ROUNDS as f64).cos());
        let loss = improve(&mut found, &mut state, &measured, rate);
        if round % 200 == 0 {
            let error = apart(&found.cells, &truth.cells);
            println!("round {round:>4}: loss {loss:.4}, error {error:.4}");
        }
    }

    let [before, after] = [&measured, &found.cells].map(|cells| apart(cells, &truth.cells));
    println!("\nroot of the mean squared difference");
    println!("  measured, and at first:             {before:.4}");
    println!("  recovered, and at first:            {after:.4}");
    println!("  recovered and cooled, and measured: {:.4}", apart(&cooled(&found), &measured));
    let path = Path::new(PICTURE);
    draw(&truth.cells, &measured, &found.cells).save(path)?;
    println!("plates: {}", program::shown(path));
    if after > REMAINDER * before {
        return Err(format!("the error is {:.0} % of that of the measurement", 100.0 * after / before).into());
    }
    Ok(())
}

/// A hot ring and a warm square.
fn plate() -> Plate {
    let cells = Tensor::from_fn(|[row, column]| {
        let radius = (row as f64 - 20.0).hypot(column as f64 - 20.0);
        if radius > 3.5 && radius < 8.5 {
            1.0
        } else if (4..13).contains(&row) && (4..12).contains(&column) {
            0.6
        } else {
            0.0
        }
    });
    Plate { cells }
}

/// The root of the mean squared difference.
fn apart(left: &Cells, right: &Cells) -> f64 {
    mind!(sqrt(nn::mse(left, right)))
}

/// Draws the three plates, and their temperatures along a row.
fn draw(truth: &Cells, measured: &Cells, found: &Cells) -> Drawing {
    let (top, cell) = (50.0, 8.0);
    let mut drawing = Drawing::new(900.0, 560.0);
    let plates = [
        ("at first", truth, GREY),
        ("measured", measured, BLUE),
        ("recovered from the measurement", found, RED),
    ];
    let section =
        Chart { corner: [50.0, 370.0], size: [828.0, 150.0], x: [0.0, (SIDE - 1) as f64], y: [-0.2, 1.2] };
    section.axes(&mut drawing, "temperatures along the row that is marked", [5.0, 0.2]);
    let row = 20;
    for (position, (title, cells, colour)) in plates.into_iter().enumerate() {
        let left = 50.0 + 286.0 * position as f64;
        drawing.text([left, top - 12.0], Anchor::Start, title, INK);
        for (at, temperature) in cells.as_slice().iter().enumerate() {
            let corner = [left + cell * (at % SIDE) as f64, top + cell * (at / SIDE) as f64];
            drawing.rectangle(corner, cell, cell, &shade(*temperature));
        }
        let middle = top + cell * (row as f64 + 0.5);
        drawing.curve([[left - 8.0, middle], [left - 2.0, middle]], 3.0, colour);
        let points = (0..SIDE).map(|column| [column as f64, cells[[row, column]]]);
        section.curve(&mut drawing, points, 2.0, colour);
    }
    drawing
}

/// From white at 0 through orange to dark red at 1.
fn shade(temperature: f64) -> String {
    let share = temperature.clamp(0.0, 1.0);
    let [from, to, share] = if share < 0.5 {
        [[255.0, 255.0, 255.0], [251.0, 146.0, 60.0], [2.0 * share; 3]]
    } else {
        [[251.0, 146.0, 60.0], [127.0, 29.0, 29.0], [2.0 * share - 1.0; 3]]
    };
    let [red, green, blue] =
        std::array::from_fn(|channel| (from[channel] + share[channel] * (to[channel] - from[channel])) as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use mind::gradcheck_some;

    use super::*;

    #[test]
    fn waves_cool_as_they_do_on_paper() {
        // A product of sines is an eigenvector of a step.
        let turn = PI / (SIDE + 1) as f64;
        let wave = |count: f64, at: usize| (turn * count * (at + 1) as f64).sin();
        let plate = Plate { cells: Tensor::from_fn(|[row, column]| wave(2.0, row) * wave(5.0, column)) };
        let loss = |count: f64| 2.0 - 2.0 * (turn * count).cos();
        let left = (1.0 - FLOW * (loss(2.0) + loss(5.0))).powi(STEPS as i32);
        let cells = &plate.cells;
        assert!(apart(&cooled(&plate), &mind!(left * cells)) < 1e-14);
    }

    #[test]
    fn gradients_go_through_all_steps() {
        let measured = cooled(&plate());
        let mut guess = Plate { cells: measured.clone() };
        let (_, gradient) = loss_grad(&guess, &measured);
        gradcheck_some(&mut guess, &gradient, 20, |guess| loss(guess, &measured))
            .expect("the gradient is right");
    }

    #[test]
    fn the_temperatures_are_recovered() {
        run().expect("they are recovered");
    }
}
