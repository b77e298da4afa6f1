//! Tests rules by running both sides on random arguments.
//!
//! A rule states that its left side can be replaced by its right side. If the left side fails, the rule makes no claim.
//! If the left side returns a value, the right side must return the same value.

use mind_core::diag::{Code, Diag};

use crate::{
    interp::{Failure, Options, Value, run},
    ir::{Definition, Program, Rule},
    sample::Sampler,
};

/// The number of samples for each rule.
const SAMPLES: u64 = 200;

/// The allowed difference of two Floats, relative to the larger magnitude or to 1. The sides may round differently.
const TOLERANCE: f64 = 1e-9;

/// The result of testing a rule.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The sides were equal on this number of samples.
    Holds(usize),
    /// The sides differ.
    Fails(Counterexample),
    /// The left side returned no value on any sample.
    Untested,
}

/// Arguments on which the sides of a rule differ.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The name and value of each parameter of the rule.
    pub arguments: Vec<(String, Value)>,
    /// The value of the left side.
    pub left: Value,
    /// The value or the failure of the right side.
    pub right: Result<Value, Failure>,
}

impl Counterexample {
    /// The error for the program's text.
    pub fn diag(&self, rule: &Rule) -> Diag {
        let message = format!("rule {:?} does not hold", rule.name);
        let mut diag = Diag::new(Code::E6010, rule.place.into(), message);
        for (name, value) in &self.arguments {
            diag = diag.note(format!("where {name} is {value}"));
        }
        let right = match &self.right {
            Ok(value) => format!("the right side gives {value}"),
            Err(failure) => format!("the right side fails: {failure}"),
        };
        diag.note(format!("the left side gives {}", self.left)).note(right)
    }
}

/// Tests a rule of a program on a fixed set of samples. If it fails, returns the counterexample with the shortest text.
///
/// ```
/// use mind_knossos::{check, rules::{Verdict, try_rule}};
///
/// let program = check("(rule \"mul1\" (x : Float) (mul x 1.0) x) (rule \"add1\" (x : Float) (add x 1.0) x)")?;
/// assert!(matches!(try_rule(&program, &program.rules[0]), Verdict::Holds(_)));
/// assert!(matches!(try_rule(&program, &program.rules[1]), Verdict::Fails(_)));
/// # Ok::<(), mind_core::diag::Diags>(())
/// ```
pub fn try_rule(program: &Program, rule: &Rule) -> Verdict {
    let options =
        Options { most_calls: 1_000, most_elements: 4_096, most_steps: 1 << 20, ..Options::default() };
    let parameters = &program.function(rule.left).parameters;
    let mut held = 0;
    let mut worst: Option<(usize, Counterexample)> = None;
    for seed in 0..SAMPLES {
        let mut sampler = Sampler::new(seed);
        let arguments: Option<Vec<_>> =
            parameters.iter().map(|ty| sampler.value(&program.types, *ty)).collect();
        let Some(arguments) = arguments else { continue };
        let Ok(left) = run(program, rule.left, &arguments, &options) else { continue };
        let right = run(program, rule.right, &arguments, &options).map(|outcome| outcome.value);
        if right.as_ref().is_ok_and(|right| agree(&left.value, right)) {
            held += 1;
            continue;
        }
        let length = arguments.iter().map(|argument| argument.to_string().len()).sum();
        if worst.as_ref().is_none_or(|(shortest, _)| length < *shortest) {
            let arguments = names(program, rule).into_iter().zip(arguments).collect();
            worst = Some((length, Counterexample { arguments, left: left.value, right }));
        }
    }
    match worst {
        Some((_, counterexample)) => Verdict::Fails(counterexample),
        None if held > 0 => Verdict::Holds(held),
        None => Verdict::Untested,
    }
}

/// The names of the rule's parameters.
fn names(program: &Program, rule: &Rule) -> Vec<String> {
    let Definition::Defined(body) = &program.function(rule.left).definition else { return Vec::new() };
    let parameters = body.block(body.entry).parameters.iter();
    let name =
        |value: &super::ir::ValueId| body.values[value.index()].name.as_deref().unwrap_or("_").to_owned();
    parameters.map(name).collect()
}

/// Whether two values of one type are equal except for rounding. NaN equals NaN.
pub fn agree(x: &Value, y: &Value) -> bool {
    let all = |x: &[Value], y: &[Value]| x.len() == y.len() && x.iter().zip(y).all(|(x, y)| agree(x, y));
    match (x, y) {
        (Value::Float(x), Value::Float(y)) => {
            let scale = x.abs().max(y.abs()).max(1.0);
            x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= TOLERANCE * scale && scale.is_finite()
        }
        (Value::Tuple(x), Value::Tuple(y)) => all(x, y),
        (Value::Tensor(x), Value::Tensor(y)) => x.size == y.size && all(&x.elements, &y.elements),
        (x, y) => x == y,
    }
}
