//! Random expressions over Rust variables are compiled by the macro and rustc, run, and compared with the interpreter.
//! They cover values and gradients, static and dynamic extents, and arrays of ndarray.
//!
//! All expressions are in one crate, which is built beside those of the workspace.

use std::fmt::Write;

use mind_core::{
    canon::canonicalise,
    interp::{self, Array, Elements},
    open,
    ops::Profile,
    testing::{Random, RandomExpression, leaf_types, open_program, random_expression},
    ty::{DType, Type},
    verify::verify,
};
use mind_tests::{Project, is_in_gate, sample};

/// The number of expressions if all are tried, and the number of further expressions whose reductions run row by row.
/// Such expressions are rare.
const EXPRESSIONS: usize = 60;
const BY_ROW: usize = 15;

#[test]
fn expressions_compute_what_the_interpreter_does() {
    if !is_in_gate("random expressions") {
        return;
    }
    let mut seeds = (0..).filter_map(case);
    let mut cases = sample("random expressions", seeds.by_ref().take(EXPRESSIONS));
    cases.extend(sample("of reductions", seeds.filter(|case| case.is_by_row).take(BY_ROW)));
    let project = Project::new(env!("CARGO_TARGET_TMPDIR"), "expressions", &["knossos"]);
    project.write("src/main.rs", program(&cases));
    let output = project.cargo(&["run"], &[]);
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    assert!(text.contains(&format!("{} expressions agree", cases.len())), "{text}");
}

/// An expression with values for its leaves, and the interpreter's results.
struct Case {
    seed: u64,
    source: String,
    /// The variables.
    variables: Vec<(String, Array, Variable)>,
    expected: Vec<Array>,
    /// The results in order: a list, or for a gradient the value and a tuple.
    results: Vec<String>,
    /// Whether some reductions run row by row with the operations before and after them, for suitable shapes.
    is_by_row: bool,
    /// Whether some elements of the variables are zeros, infinities and NaN.
    is_special: bool,
}

/// The Rust type of a variable.
#[derive(Clone, Copy)]
enum Variable {
    /// A tensor with static extents.
    Static,
    /// A tensor whose extents are `usize`.
    Dynamic,
    /// An array of ndarray.
    Array,
    /// A view of an array that is not row-major.
    Turned,
}

/// The expression of a seed. Every other one has its gradient, and half of these a second derivative. Returns `None` if
/// it reads no float.
fn case(seed: u64) -> Option<Case> {
    let dtype = if seed.is_multiple_of(3) { DType::F64 } else { DType::F32 };
    let expression = random_expression(seed ^ 0xba3e, 2 + (seed % 9) as usize, dtype);
    let (source, results) = source(seed, &expression)?;
    let program = open_program(&source).ok()?;
    let types = leaf_types(&program, &expression.leaves).expect("the leaves are those of the expression");
    let module = open::instantiate(&program, &types).expect("random expressions keep the rules");
    let canonical = canonicalise(verify(module, Profile::Extended).expect("instantiated modules verify"));
    let mut random = Random::new(seed);
    let is_special = seed % 5 == 4;
    let values: Vec<Array> = types.iter().map(|ty| value(ty, is_special, &mut random)).collect();
    let expected = interp::run(&canonical, &values).ok()?;
    let variables = program.leaves.iter().zip(values);
    let arrays = random.once_in(3);
    // `squeeze` removes no axes whose extent rustc does not know. Products, `concat` and others then reject the rank.
    let needs_ranks = source.contains("squeeze(");
    let variables = variables.map(|(leaf, value)| {
        let variable = match (arrays, random.once_in(3)) {
            _ if needs_ranks => Variable::Static,
            (false, false) => Variable::Static,
            (false, true) => Variable::Dynamic,
            (true, false) => Variable::Array,
            (true, true) => Variable::Turned,
        };
        (leaf.text.clone(), value, variable)
    });
    let variables = variables.collect();
    let is_by_row = open::plan(&program).groups().next().is_some();
    Some(Case { seed, source, variables, expected, results, is_by_row, is_special })
}

fn source(seed: u64, expression: &RandomExpression) -> Option<(String, Vec<String>)> {
    let RandomExpression { statements, values, .. } = expression;
    if seed.is_multiple_of(2) {
        let names: String = values.iter().map(|(name, _)| format!("{name}, ")).collect();
        let results = (0..values.len()).map(|position| format!("results.{position}")).collect();
        return Some((format!("{{ {statements} ({names}) }}"), results));
    }
    let sums: Vec<String> = values.iter().map(|(name, _)| format!("sum({name} * {name})")).collect();
    let loss = format!("{{ {statements} {} }}", sums.join(" + "));
    let read: Vec<String> = open_program(&loss).ok()?.leaves.into_iter().map(|leaf| leaf.text).collect();
    let floats: Vec<_> = read.into_iter().filter(|name| name != "i").collect();
    let wrt: String = floats.iter().map(|name| format!("zero_ok {name}, ")).collect();
    let gradients = (0..floats.len()).map(|position| format!("results.1.{position}"));
    let results = ["results.0".to_owned()].into_iter().chain(gradients).collect();
    let first = floats.first()?;
    let differentiated = if seed % 4 == 1 {
        loss
    } else {
        format!("{{ let slope = grad({loss}, wrt = zero_ok {first}); sum(slope * slope) }}")
    };
    Some((format!("value_and_grad({differentiated}, wrt = ({wrt}))"), results))
}

fn value(ty: &Type, is_special: bool, random: &mut Random) -> Array {
    const SPECIAL: [f64; 5] = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let extents = ty.shape.as_literals().expect("every extent is known");
    let shape: Vec<usize> = extents.iter().map(|extent| *extent as usize).collect();
    let count: usize = shape.iter().product();
    let mut float = || {
        let number = random.below(401) as f64 / 100.0 - 2.0;
        if is_special && random.once_in(4) { *random.pick(&SPECIAL) } else { number }
    };
    let elements: Elements = match ty.dtype {
        DType::F32 => (0..count).map(|_| float() as f32).collect::<Vec<_>>().into(),
        DType::F64 => (0..count).map(|_| float()).collect::<Vec<_>>().into(),
        DType::U8 | DType::I32 | DType::I64 | DType::Bool => vec![0_i64; count].into(),
    };
    Array::new(shape, elements)
}

fn program(cases: &[Case]) -> String {
    let mut text = String::from(PRELUDE);
    for case in cases {
        text.push_str(&check(case));
    }
    text.push_str("fn main() {\n");
    for case in cases {
        let _ = writeln!(text, "    check_{}();", case.seed);
    }
    let _ = writeln!(text, "    println!(\"{} expressions agree\");\n}}", cases.len());
    text
}

/// A function that evaluates the expression and compares each result.
fn check(case: &Case) -> String {
    let mut text = format!("fn check_{}() {{\n", case.seed);
    for (name, value, variable) in &case.variables {
        let elements = list(&value.elements);
        if value.shape.is_empty() {
            let _ = writeln!(text, "    let {name} = {elements}[0];");
            continue;
        }
        let dims = |dim: fn(&usize) -> String| value.shape.iter().map(dim).collect::<String>();
        let open = dims(|extent| format!("{extent}_usize, "));
        let value = match variable {
            Variable::Static => {
                let dims = dims(|extent| format!("Const::<{extent}>, "));
                format!("Tensor::from_vec(({dims}), {elements}.to_vec()).unwrap()")
            }
            Variable::Dynamic => format!("Tensor::from_vec(({open}), {elements}.to_vec()).unwrap()"),
            Variable::Array => format!("Array::from_shape_vec([{open}], {elements}.to_vec()).unwrap()"),
            Variable::Turned => {
                format!("turned(Array::from_shape_vec([{open}], {elements}.to_vec()).unwrap())")
            }
        };
        let _ = writeln!(text, "    let {name} = {value};");
    }
    let _ = writeln!(text, "    let results = mind!({});", case.source);
    for (position, (found, value)) in case.results.iter().zip(&case.expected).enumerate() {
        let tolerance = if matches!(value.elements, Elements::F32(_)) { "1e-4" } else { "1e-11" };
        let expected: Vec<String> = value
            .elements
            .to_f64()
            .into_iter()
            .map(|v| format!("f64::from_bits({:#x})", v.to_bits()))
            .collect();
        let expected = expected.join(", ");
        let _ = writeln!(
            text,
            "    agree({:?}, {position}, &{found}, &[{expected}], {tolerance}, {});",
            format!("{}: {}", case.seed, case.source),
            case.is_special
        );
    }
    text.push_str("}\n\n");
    text
}

fn list(elements: &Elements) -> String {
    let numbers: Vec<String> = match elements {
        Elements::U8(elements) => elements.iter().map(|v| format!("{v}_u8")).collect(),
        Elements::I32(elements) => elements.iter().map(|v| format!("{v}_i32")).collect(),
        Elements::I64(elements) => elements.iter().map(|v| format!("{v}_i64")).collect(),
        Elements::F32(elements) => {
            elements.iter().map(|v| format!("f32::from_bits({:#x})", v.to_bits())).collect()
        }
        Elements::F64(elements) => {
            elements.iter().map(|v| format!("f64::from_bits({:#x})", v.to_bits())).collect()
        }
        Elements::Bool(elements) => elements.iter().map(|v| v.to_string()).collect(),
    };
    format!("[{}]", numbers.join(", "))
}

const PRELUDE: &str = "#![allow(warnings)]
use mind::{Const, Shape, Tensor, mind};
use ndarray::{Array, Dimension};

/// The same array with its elements column by column.
fn turned<T: Clone, D: Dimension>(array: Array<T, D>) -> Array<T, D> {
    array.reversed_axes().as_standard_layout().into_owned().reversed_axes()
}

trait Flat {
    fn flat(&self) -> Vec<f64>;

    /// Whether its Rust type says how many dimensions it has.
    fn has_rank(&self) -> bool {
        true
    }
}

impl<D: Dimension> Flat for Array<f32, D> {
    fn flat(&self) -> Vec<f64> {
        self.iter().map(|v| f64::from(*v)).collect()
    }

    fn has_rank(&self) -> bool {
        D::NDIM.is_some()
    }
}

impl<D: Dimension> Flat for Array<f64, D> {
    fn flat(&self) -> Vec<f64> {
        self.iter().copied().collect()
    }

    fn has_rank(&self) -> bool {
        D::NDIM.is_some()
    }
}

impl<S: Shape> Flat for Tensor<f32, S> {
    fn flat(&self) -> Vec<f64> {
        self.iter().map(|v| f64::from(*v)).collect()
    }
}

impl<S: Shape> Flat for Tensor<f64, S> {
    fn flat(&self) -> Vec<f64> {
        self.iter().copied().collect()
    }
}

impl Flat for f32 {
    fn flat(&self) -> Vec<f64> {
        vec![f64::from(*self)]
    }
}

impl Flat for f64 {
    fn flat(&self) -> Vec<f64> {
        vec![*self]
    }
}

fn agree(case: &str, output: usize, found: &impl Flat, expected: &[f64], tolerance: f64, is_special: bool) {
    // The rank that `squeeze` leaves depends on extents.
    assert!(found.has_rank() || case.contains(\"squeeze(\"), \"{case}: output {output}\");
    let found = found.flat();
    assert_eq!(found.len(), expected.len(), \"{case}: output {output}\");
    let finite = expected.iter().filter(|v| v.is_finite());
    let largest = finite.fold(1.0, |largest: f64, v| largest.max(v.abs()));
    for (found, expected) in found.iter().zip(expected) {
        let extreme = !found.is_finite() || !expected.is_finite() || largest > 1e30;
        let close = (found - expected).abs() <= tolerance * largest;
        // Elsewhere an overflow may depend on the order of a sum.
        let is_nan_alike = !is_special || found.is_nan() == expected.is_nan();
        assert!(is_nan_alike && (found == expected || extreme || close), \"{case}: output {output}: {found}, expected {expected}\");
    }
}

";
