//! Draws the data, the posterior mean and its band.

use mind::Tensor;

use crate::data::Data;
use crate::svg::{Anchor, BLUE, Chart, Drawing, GREY, INK, RED};
use crate::{Kernel, posterior};

/// The points of the curve.
const POINTS: usize = 200;
const BAND: &str = "#dbeafe";

/// Draws the widths of ones over their leans, the posterior mean, two standard deviations of the mean around it, and two
/// standard deviations of a width with its noise.
pub fn band(data: &Data, kernel: &Kernel) -> Drawing {
    let range = [-0.35, 0.45];
    let lean = |at: usize| range[0] + (range[1] - range[0]) * at as f64 / (POINTS - 1) as f64;
    let (mean, deviation) =
        posterior(&data.x, &data.y, &Tensor::from_fn_with((POINTS,), |[i]| lean(i)), kernel);
    let noise = kernel[[2]].exp();
    let width = |y: f64| data.mean + data.scale * y;
    // The edge of a band that is `sides` deviations above the mean, or below it.
    let edge = |sides: f64, noise: f64| -> Vec<[f64; 2]> {
        let far = |i: usize| deviation[[i]].hypot(noise);
        (0..POINTS).map(|i| [lean(i), width(mean[[i]] + sides * far(i))]).collect()
    };
    let mut drawing = Drawing::new(860.0, 570.0);
    let chart = Chart { corner: [70.0, 80.0], size: [750.0, 450.0], x: range, y: [0.4, 1.8] };
    let labels = [("widths", GREY), ("posterior mean", RED), ("2 deviations of the mean", BLUE)];
    for (at, (text, colour)) in labels.into_iter().enumerate() {
        drawing.text([70.0 + 170.0 * at as f64, 30.0], Anchor::Start, text, colour);
    }
    drawing.text([620.0, 30.0], Anchor::Start, "2 deviations of a width", INK);
    chart.area(&mut drawing, edge(-2.0, 0.0), edge(2.0, 0.0), BAND);
    chart.axes(&mut drawing, "width in pixels, over the lean of a one", [0.1, 0.2]);
    for side in [-2.0, 2.0] {
        chart.curve(&mut drawing, edge(side, 0.0), 1.0, BLUE);
        chart.curve(&mut drawing, edge(side, noise), 1.0, INK);
    }
    for (x, y) in data.x.as_slice().iter().zip(data.y.as_slice()) {
        drawing.disc(chart.at([*x, width(*y)]), 2.5, GREY);
    }
    chart.curve(&mut drawing, edge(0.0, 0.0), 2.0, RED);
    drawing
}
