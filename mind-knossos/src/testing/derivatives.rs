//! Comparison of derivatives with differences and with each other.

use mind_core::random::Random;

use crate::{
    FunctionId, Program,
    interp::{Failure, Options, Value, run},
    ir::{Definition, Derivative},
    verify,
};

/// The largest difference between forward and reverse mode, relative to the sum of the magnitudes that they add.
const DOT_TOLERANCE: f64 = 1e-9;

/// The largest difference between a derivative and a finite difference, relative to their magnitude or 1.
const DIFFERENCE_TOLERANCE: f64 = 1e-5;

/// Steps of differences. Curved functions need a short step, and functions with large values need a long one.
const STEPS: [f64; 4] = [1e-4, 1e-5, 1e-6, 1e-7];

/// Checks every form of derivative of a function at a point. The forward derivative is compared with central
/// differences, the reverse one with the forward one by a product, and the value of the first half with the function's
/// value. All must have their types and verify. No derivative is checked if the function fails at the point.
/// Differences are not used if a value is beyond 10⁶.
///
/// # Errors
/// The mistake, with the numbers.
pub fn check_derivatives(
    program: &mut Program,
    id: FunctionId,
    at: &[Value],
    random: &mut Random,
) -> Result<Checked, String> {
    let limits = Options { most_steps: MOST_STEPS, ..Options::default() };
    let call = |program: &Program, id, arguments: &[Value]| -> Result<Value, Failure> {
        run(program, id, arguments, &limits).map(|outcome| outcome.value)
    };
    let Ok(value) = call(program, id, at) else { return Ok(Checked::Undefined) };
    let change: Vec<_> = at.iter().map(|value| tangent(value, random)).collect();
    let cotangent = tangent(&value, random);
    let name = program.function(id).name.to_string();
    let ids = FORMS.map(|derivative| program.derivative(derivative, id));
    program.complete().map_err(|diags| format!("{name}: {:?}", diags.as_slice()))?;
    verify(program).map_err(|faults| faults[0].to_string())?;
    for id in ids {
        let function = program.function(id);
        ensure(matches!(function.definition, Definition::Defined(_)), || {
            format!("{} has no body", function.name)
        })?;
    }
    let derived = |program: &Program, id: FunctionId, arguments: &[Value]| {
        let name = &program.function(id).name;
        let value = call(program, id, arguments).map_err(|failure| format!("{name} fails: {failure}"))?;
        let ty = program.function(id).result;
        ensure(value.is_of(&program.types, ty), || {
            format!("{name} gives {value}, which is no {}", program.types.show(ty))
        })?;
        Ok::<_, String>(value)
    };
    // The halves are only called in texts, since a run cannot return a tape.
    let [fwd, rev, first, _, shape] = ids;
    let shape = derived(program, shape, at)?;
    ensure(shape.floats().is_empty(), || format!("[shape {name}] gives {shape}"))?;
    let forward = derived(program, fwd, &[argument(at), argument(&change)])?;
    let reverse = derived(program, rev, &[argument(at), cotangent.clone()])?;

    let (left, right) = (reverse.floats(), argument(&change).floats());
    ensure(left.len() == right.len(), || format!("[rev {name}] gives {reverse} for {}", argument(at)))?;
    let products: Vec<_> = left.iter().zip(&right).map(|(x, y)| x * y).collect();
    let others: Vec<_> = forward.floats().iter().zip(cotangent.floats()).map(|(x, y)| x * y).collect();
    let (sum, other) = (products.iter().sum::<f64>(), others.iter().sum::<f64>());
    let size = products.iter().chain(&others).map(|product| product.abs()).sum::<f64>().max(1.0);
    let apart = (sum - other).abs() > DOT_TOLERANCE * size && size.is_finite();
    ensure(!apart, || format!("[rev {name}] · dx is {sum}, [fwd {name}] · dy is {other}"))?;

    let pair = derived(program, first, at)?;
    let Value::Tuple(pair) = &pair else { return Err(format!("[suffwdpass {name}] gives {pair}")) };
    ensure(same(&pair[0], &value), || format!("[suffwdpass {name}] gives {}, not {value}", pair[0]))?;
    differences(&forward, |h| {
        let moved: Vec<_> = at.iter().zip(&change).map(|(value, change)| moved(value, change, h)).collect();
        call(program, id, &moved).ok()
    })
    .map_err(|message| format!("[fwd {name}] {message}"))
}

/// As [`check_derivatives`], for the derivatives of the reverse and of the forward derivative of a function.
///
/// # Errors
/// The mistake, with the numbers.
pub fn check_second_derivatives(
    program: &mut Program,
    id: FunctionId,
    at: &[Value],
    random: &mut Random,
) -> Result<Checked, String> {
    let limits = Options { most_steps: MOST_STEPS, ..Options::default() };
    let Ok(outcome) = run(program, id, at, &limits) else { return Ok(Checked::Undefined) };
    let name = program.function(id).name.to_string();
    let at = argument(at);
    let changes = [tangent(&outcome.value, random), tangent(&at, random)];
    for (derivative, change) in [Derivative::Rev, Derivative::Fwd].into_iter().zip(changes) {
        let derived = program.derivative(derivative, id);
        program.complete().map_err(|diags| format!("{name}: {:?}", diags.as_slice()))?;
        let checked = check_derivatives(program, derived, &[at.clone(), change], random)?;
        if checked != Checked::Right {
            return Ok(checked);
        }
    }
    Ok(Checked::Right)
}

/// The result of a check without a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The derivatives are right.
    Right,
    /// The function fails at the point.
    Undefined,
    /// Differences are too inaccurate here.
    Rough,
}

/// The most instructions that a function may run when its derivatives are checked.
const MOST_STEPS: u64 = 2_000_000;

const FORMS: [Derivative; 5] =
    [Derivative::Fwd, Derivative::Rev, Derivative::SufFwdPass, Derivative::SufRevPass, Derivative::Shape];

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

/// Compares a derivative with central differences of several steps, one of which has to be close. If the differences
/// vary as much as they differ from the derivative, they are too inaccurate to decide.
fn differences(forward: &Value, at: impl Fn(f64) -> Option<Value>) -> Result<Checked, String> {
    let forward = forward.floats();
    let mut before: Option<Vec<f64>> = None;
    let mut steadiest: Option<(f64, f64, String)> = None;
    for h in STEPS {
        let (Some(ahead), Some(behind)) = (at(h), at(-h)) else { return Ok(Checked::Rough) };
        let (ahead, behind) = (ahead.floats(), behind.floats());
        let is_small = |value: &f64| value.abs() < 1e6;
        if ahead.len() != forward.len() || !ahead.iter().chain(&behind).all(is_small) {
            return Ok(Checked::Rough);
        }
        let difference: Vec<_> =
            ahead.iter().zip(&behind).map(|(ahead, behind)| (ahead - behind) / (2.0 * h)).collect();
        let (error, at) = largest_difference(&forward, &difference);
        if error <= DIFFERENCE_TOLERANCE {
            return Ok(Checked::Right);
        }
        if let Some(before) = before.replace(difference.clone()) {
            let (noise, _) = largest_difference(&before, &difference);
            let message =
                format!("gives {}, and the difference of step {h} is {}", forward[at], difference[at]);
            if steadiest.as_ref().is_none_or(|(least, ..)| noise < *least) {
                steadiest = Some((noise, error, message));
            }
        }
    }
    match steadiest {
        Some((noise, error, message)) if error > 20.0 * noise => Err(message),
        _ => Ok(Checked::Rough),
    }
}

/// The largest difference between numbers at the same position, relative to their magnitude or 1, with its position.
/// The difference from NaN is infinite.
fn largest_difference(x: &[f64], y: &[f64]) -> (f64, usize) {
    let mut worst = (0.0, 0);
    for (position, (x, y)) in x.iter().zip(y).enumerate() {
        let error = (x - y).abs() / x.abs().max(y.abs()).max(1.0);
        if error > worst.0 || error.is_nan() {
            worst = (if error.is_nan() { f64::INFINITY } else { error }, position);
        }
    }
    worst
}

/// The arguments as a single value: several become a tuple.
fn argument(arguments: &[Value]) -> Value {
    match arguments {
        [one] => one.clone(),
        several => Value::tuple(several),
    }
}

fn tangent(of: &Value, random: &mut Random) -> Value {
    of.tangent(&mut |_| (random.bits() >> 11) as f64 / (1_u64 << 53) as f64 - 0.5)
}

/// `x + h dx`, for Floats.
fn moved(x: &Value, dx: &Value, h: f64) -> Value {
    let mut changes = dx.floats().into_iter();
    x.map_floats(&mut |value| value + h * changes.next().expect("a tangent has the floats of its value"))
}

/// Whether two values are equal bit for bit, except that every NaN equals every other.
fn same(x: &Value, y: &Value) -> bool {
    let bits = |value: &Value| -> Vec<u64> {
        value.floats().iter().map(|x| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }).collect()
    };
    bits(x) == bits(y) && x.map_floats(&mut |_| 0.0) == y.map_floats(&mut |_| 0.0)
}
