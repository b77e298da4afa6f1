//! Programs with a `main` that calls a function at a point, for engines that run programs without arguments.

use mind_core::random::Random;

use crate::{
    Program, check,
    interp::{Options, Value, run},
    types::{Type, TypeId, Types},
};

/// A program with a `main` that returns the value of a function at a point. If the value depends on the point, `main`
/// also returns derivatives up to this order: forward and reverse, then reverse of reverse.
///
/// `None` if the function fails at the point, runs too long, or has a value beyond 10⁶, for which different evaluations
/// do not agree.
pub fn main_at(text: &str, name: &str, at: &[Value], orders: usize, random: &mut Random) -> Option<String> {
    let program = check(text).ok()?;
    let [id] = *program.overloads(name) else { return None };
    let options = Options { most_steps: MOST_STEPS, ..Options::default() };
    let value = run(&program, id, at, &options).ok()?.value;
    if value.floats().iter().any(|float| float.is_nan() || float.abs() > MOST) {
        return None;
    }
    let calls = Calls::new(&program, name, at, &value, random);
    let (types, parts): (Vec<_>, Vec<_>) = calls.up_to(orders).into_iter().unzip();
    Some(format!("{text}(def main (Tuple {}) ()\n  (tuple {}))\n", types.join(" "), parts.join("\n    ")))
}

const MOST_STEPS: u64 = 200_000;
const MOST: f64 = 1e6;

/// The types and expressions for calls of a function and of its derivatives.
struct Calls {
    name: String,
    is_active: bool,
    point: String,
    /// A tangent of the point.
    change: String,
    d_argument: String,
    result: String,
    /// A cotangent of the result.
    cotangent: String,
    d_result: String,
}

impl Calls {
    fn new(program: &Program, name: &str, at: &[Value], value: &Value, random: &mut Random) -> Self {
        let types = &program.types;
        let function = program.function(program.overloads(name)[0]);
        let (argument, result) = (function.argument, function.result);
        let point = match at {
            [one] => one.clone(),
            several => Value::tuple(several),
        };
        let mut tangent = |of: &Value| of.tangent(&mut |_| random.below(17) as f64 / 8.0 - 1.0);
        let (d_argument, d_result) = (types.tangent(argument), types.tangent(result));
        Self {
            name: format!("[{name} {}]", types.show(argument)),
            is_active: types.active(argument) && types.active(result),
            change: expression(types, d_argument, &tangent(&point)),
            cotangent: expression(types, d_result, &tangent(value)),
            point: expression(types, argument, &point),
            d_argument: types.show(d_argument),
            result: types.show(result),
            d_result: types.show(d_result),
        }
    }

    /// The types of the calls, and the calls.
    fn up_to(&self, orders: usize) -> Vec<(String, String)> {
        let Self { name, point, change, d_argument, result, cotangent, d_result, .. } = self;
        let mut calls = vec![(result.clone(), format!("({name} {point})"))];
        if self.is_active && orders >= 1 {
            calls.push((d_result.clone(), format!("([fwd {name}] {point} {change})")));
            calls.push((d_argument.clone(), format!("([rev {name}] {point} {cotangent})")));
        }
        if self.is_active && orders >= 2 {
            let call = format!("([rev [rev {name}]] (tuple {point} {cotangent}) {change})");
            calls.push((format!("(Tuple {d_argument} {d_result})"), call));
        }
        calls
    }
}

/// An expression for a value whose type has no lambdas and tapes.
fn expression(types: &Types, ty: TypeId, value: &Value) -> String {
    match (types.get(ty), value) {
        (Type::Tuple(types_of), Value::Tuple(members)) => {
            let members = types_of.iter().zip(&**members).map(|(ty, member)| expression(types, *ty, member));
            format!("(tuple{})", members.map(|member| format!(" {member}")).collect::<String>())
        }
        (Type::Tensor(_, element), Value::Tensor(tensor)) => {
            let elements: Vec<_> =
                tensor.elements.iter().map(|value| expression(types, *element, value)).collect();
            in_tensor(&tensor.size, &elements, &types.show(*element))
        }
        (_, value) => value.to_string(),
    }
}

fn in_tensor(size: &[usize], elements: &[String], element: &str) -> String {
    let rank = size.len();
    let (extents, at) = match size {
        [extent] => (extent.to_string(), "Integer".to_owned()),
        several => {
            let extents: String = several.iter().map(|extent| format!(" {extent}")).collect();
            (format!("(tuple{extents})"), format!("(Tuple{})", " Integer".repeat(rank)))
        }
    };
    let build = |element: &str| format!("(build {extents} (lam (at : {at}) {element}))");
    match (elements, rank) {
        ([], _) => build(&format!("($dummy {element})")),
        (_, 1) => format!("(Vec_init {})", elements.join(" ")),
        _ => {
            let position = (1..rank).fold(format!("(get$1${rank} at)"), |position, dim| {
                format!("(add (mul {position} {}) (get${}${rank} at))", size[dim], dim + 1)
            });
            build(&format!("(index {position} (Vec_init {}))", elements.join(" ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mains_give_values_and_derivatives() {
        let text = "(def f Float (m : Tensor 2 (Tuple Float Integer)) (sumbuild (size m) (lam (at : Tuple Integer Integer)
            (let ((x n) (index at m)) (mul (mul x x) n)))))\n";
        let element = |x: f64, n: i64| Value::tuple([Value::Float(x), Value::Integer(n)]);
        let at = Value::tensor([1, 3], vec![element(1.0, 1), element(2.0, 2), element(3.0, 3)]);
        let text = main_at(text, "f", &[at], 2, &mut Random::new(1)).expect("it runs");
        let program = check(&text).expect("it is well typed");
        let value =
            run(&program, program.overloads("main")[0], &[], &Options::default()).expect("it runs").value;
        let Value::Tuple(parts) = &value else { panic!("{value}") };
        assert_eq!((parts.len(), &parts[0]), (4, &Value::Float(36.0)));
    }

    #[test]
    fn empty_tensors_have_expressions() {
        let mut types = Types::default();
        let strings = types.tensor(2, TypeId::STRING);
        let text = expression(&types, strings, &Value::tensor([0, 2], Vec::new()));
        assert_eq!(text, "(build (tuple 0 2) (lam (at : (Tuple Integer Integer)) ($dummy String)))");
    }
}
