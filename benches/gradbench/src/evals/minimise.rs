//! The gradient descent of the evals `particle` and `saddle`, whose step length grows and shrinks.

/// The point near `start` at which a function of `N` numbers is least.
pub fn minimum<const N: usize>(
    start: [f64; N],
    value: impl Fn([f64; N]) -> f64,
    gradient: impl Fn([f64; N]) -> [f64; N],
) -> [f64; N] {
    let length = |x: [f64; N]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (mut x, mut fx, mut slope) = (start, value(start), gradient(start));
    // The number of steps of this length so far.
    let (mut eta, mut steps) = (1e-5, 0);
    while length(slope) > 1e-5 {
        if steps == 10 {
            (eta, steps) = (2.0 * eta, 0);
            continue;
        }
        let next = std::array::from_fn(|at| x[at] - eta * slope[at]);
        if length(std::array::from_fn(|at| x[at] - next[at])) <= 1e-5 {
            break;
        }
        let below = value(next);
        if below < fx {
            (x, fx, slope, steps) = (next, below, gradient(next), steps + 1);
        } else {
            (eta, steps) = (eta / 2.0, 0);
        }
    }
    x
}
