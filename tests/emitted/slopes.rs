//! Derivatives of elementwise functions, emitted and compiled as by the macro, compared with exact ones by mpmath.
//!
//! `slopes.txt` holds the exact derivatives. A line of `slope_bounds.txt` holds a derivative, such as `hypot.1`, and
//! its bounds in `f32` and `f64`. `docs/ops.md` shows them. `ci/ulp --slopes COUNT` tries more numbers, and records the
//! bounds with `MIND_BLESS=1`.

use std::{
    collections::BTreeMap,
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use mind_core::{
    build::Builder,
    canon::{Canonical, canonicalise},
    dim::Dim,
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    ir::{Op, ValueId},
    map::{Map, Row},
    ops::Profile,
    opt::optimise,
    plan::{Plan, plan},
    ty::{DType, Type},
    verify::verify,
};
use mind_tests::{Exact, Line, Worst, bound, narrow_error, wide_error};

use super::{emit, items};

/// The environment variable that names another table of exact derivatives.
const TABLE: &str = "MIND_SLOPES";

/// The element types, in the order of the columns of bounds.
const FLOATS: [DType; 2] = [DType::F32, DType::F64];

/// The SIMD levels at which the program runs. For levels above its own, a processor uses its highest one.
pub const LEVELS: [&str; 3] = ["portable", "avx2", "avx512"];

/// The gradient of a row for an element type, by every operand that has one, and the lines with the numbers to try.
pub struct Slopes<'a> {
    row: &'static Row,
    dtype: DType,
    plan: Plan,
    lines: BTreeMap<usize, Vec<&'a Line>>,
}

/// The exact derivatives, from the tests' table or from the table that the environment names.
pub fn exact() -> Exact {
    let path = env::var_os(TABLE).map_or_else(|| file("slopes.txt"), Into::into);
    Exact::read(&fs::read_to_string(path).expect("the table of exact derivatives can be read"))
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("accuracy").join(name)
}

/// All gradients that have exact derivatives.
pub fn all(exact: &Exact) -> Vec<Slopes<'_>> {
    let rows = Map::ALL.iter().copied().filter(|map| is_compared(map.row()));
    let all = rows.flat_map(|map| FLOATS.map(|dtype| Slopes::of(map, dtype, exact)));
    all.filter(|slopes| !slopes.lines.is_empty()).collect()
}

/// The names of all derivatives that must have a bound.
fn names() -> impl Iterator<Item = String> {
    Map::ALL
        .iter()
        .map(|map| map.row())
        .filter(|row| is_compared(row))
        .flat_map(|row| flows(row).map(|position| format!("{}.{position}", row.mnemonic)))
}

/// Checks that the tables of the tests contain every derivative.
pub fn check_tables() {
    let kept = Exact::read(&fs::read_to_string(file("slopes.txt")).expect("the table can be read"));
    for name in names() {
        for dtype in FLOATS {
            let count = lines(&name, dtype, &kept).len();
            assert!(
                count >= 40,
                "`{name}` has {count} exact results of {dtype}; `ci/exact --keep` writes them"
            );
        }
    }
    let bounds = fs::read_to_string(file("slope_bounds.txt")).expect("the bounds are recorded");
    let recorded = bounds.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned());
    assert_eq!(recorded.collect::<Vec<_>>(), names().collect::<Vec<_>>(), "see CONTRIBUTING.md, Blessing");
}

/// Whether derivatives of a row are compared. Conversions only pass the cotangent on.
fn is_compared(row: &'static Row) -> bool {
    let is_float = |dtype| row.takes(dtype) && row.result(dtype) == dtype;
    FLOATS.into_iter().all(is_float) && flows(row).next().is_some()
}

/// The operands that have a derivative.
fn flows(row: &'static Row) -> impl Iterator<Item = usize> {
    (0..row.arity()).filter(|position| row.flows_to(*position))
}

impl<'a> Slopes<'a> {
    fn of(map: Map, dtype: DType, exact: &'a Exact) -> Self {
        let row = map.row();
        let of = |position| lines(&format!("{}.{position}", row.mnemonic), dtype, exact);
        let lines =
            flows(row).map(|position| (position, of(position))).filter(|(_, lines)| !lines.is_empty());
        Self { row, dtype, plan: plan(&optimise(&gradient(map, dtype)), &[]), lines: lines.collect() }
    }

    fn name(&self) -> String {
        format!("{}_{}", self.row.mnemonic, self.dtype)
    }

    /// The Rust code of the function.
    fn item(&self) -> String {
        items(&self.name(), &self.plan, emit::Lengths::DEFAULT)
    }
}

/// The lines of a derivative whose operands are numbers of the element type.
fn lines<'a>(name: &str, dtype: DType, exact: &'a Exact) -> Vec<&'a Line> {
    let has = |x: &f64| dtype == DType::F64 || f64::from(*x as f32) == *x;
    exact.of(name).iter().filter(|line| line.operands.iter().all(has)).collect()
}

/// The gradient of a function of any number of elements, by all operands that have one.
fn gradient(map: Map, dtype: DType) -> Canonical {
    let row = map.row();
    let mut b = Builder::new();
    let input = |(position, formal): (usize, &&str)| {
        let ty = Type::new(row.operand(position, dtype), [Dim::symbol("len")].into_iter().collect());
        b.input(*formal, ty).expect("formals differ")
    };
    let operands: Vec<_> = row.formals.iter().enumerate().map(input).collect();
    let result = b.push(Op::Map(map), &operands).expect("the row takes these");
    let module = canonicalise(verify(b.finish([result]), Profile::Extended).expect("it is valid"));
    let wrt = flows(row).map(|position| Wrt { input: ValueId::new(position), zero_ok: true }).collect();
    let options = GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended };
    differentiate(&module, &options).expect("the row has a derivative").module
}

/// A program that reads operands from a file, column by column, and writes derivatives to another file.
pub fn program(slopes: &[Slopes<'_>]) -> String {
    let mut text = String::from(PRELUDE);
    let mut main = String::from("fn main() {\n    let mut columns = Columns::read();\n");
    for slopes in slopes {
        let _ = writeln!(text, "{}\n", slopes.item());
        for (output, position) in
            flows(slopes.row).enumerate().filter(|(_, at)| slopes.lines.contains_key(at))
        {
            call(&mut main, slopes, output, position);
        }
    }
    text + &main + "    columns.write();\n}\n"
}

/// Calls a gradient at the numbers for the derivative by one operand.
fn call(text: &mut String, slopes: &Slopes<'_>, output: usize, position: usize) {
    let count = slopes.lines[&position].len();
    let (dtype, mut arguments) = (slopes.dtype, String::new());
    let _ = writeln!(text, "    {{");
    for operand in 0..slopes.row.arity() {
        let element = match slopes.row.operand(operand, dtype) {
            DType::Bool => "x != 0.0".to_owned(),
            dtype => format!("x as {dtype}"),
        };
        let _ = writeln!(text, "        let x{operand} = columns.next({count}, |x| {element});");
        let _ = write!(arguments, "&x{operand}, ");
    }
    let _ = writeln!(
        text,
        "        let ones = Tensor::from_vec(({count},), vec![1 as {dtype}; {count}]).unwrap();"
    );
    let _ = writeln!(text, "        let results = {}({arguments}&ones);", slopes.name());
    let _ =
        writeln!(text, "        columns.found.extend(results.{}.iter().map(|x| f64::from(*x)));", output + 1);
    let _ = writeln!(text, "    }}");
}

const PRELUDE: &str = "\
#![allow(warnings)]
use mind::{Const, Element, Shape, Tensor, TensorRef, mind};

/// The operands that are left, and the derivatives that were found.
struct Columns {
    rest: std::vec::IntoIter<f64>,
    found: Vec<f64>,
}

impl Columns {
    fn read() -> Self {
        let bytes = std::fs::read(std::env::args().nth(1).unwrap()).unwrap();
        let numbers = bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
        Self { rest: numbers.collect::<Vec<_>>().into_iter(), found: Vec::new() }
    }

    fn next<T: Element>(&mut self, count: usize, element: fn(f64) -> T) -> Tensor<T, (usize,)> {
        Tensor::from_vec((count,), self.rest.by_ref().take(count).map(element).collect()).unwrap()
    }

    fn write(self) {
        assert_eq!(self.rest.count(), 0);
        let bytes: Vec<u8> = self.found.iter().flat_map(|x| x.to_le_bytes()).collect();
        std::fs::write(std::env::args().nth(2).unwrap(), bytes).unwrap();
    }
}

";

/// The operands in the order in which the program reads them.
pub fn operands(slopes: &[Slopes<'_>]) -> Vec<u8> {
    let columns = slopes.iter().flat_map(|slopes| {
        let arity = slopes.row.arity();
        slopes.lines.values().flat_map(move |lines| (0..arity).map(move |operand| (lines, operand)))
    });
    let numbers = columns.flat_map(|(lines, operand)| lines.iter().map(move |line| line.operands[operand]));
    numbers.flat_map(f64::to_le_bytes).collect()
}

/// The largest errors of each derivative, in `f32` and `f64`.
#[derive(Default)]
pub struct Errors(BTreeMap<String, [Option<Worst>; 2]>);

impl Errors {
    /// Adds the errors of the program's output.
    pub fn join(&mut self, slopes: &[Slopes<'_>], found: &[u8]) {
        let mut found =
            found.chunks_exact(8).map(|x| f64::from_le_bytes(x.try_into().expect("it has 8 bytes")));
        for slopes in slopes {
            for (position, lines) in &slopes.lines {
                let errors = self.0.entry(format!("{}.{position}", slopes.row.mnemonic)).or_default();
                let worst = &mut errors[usize::from(slopes.dtype == DType::F64)];
                for line in lines {
                    let found = found.next().expect("the program writes all");
                    let error = error(slopes, found, line);
                    Worst { error, at: line.operands.clone(), found, exact: line.result }.join(worst);
                }
            }
        }
        assert_eq!(found.next(), None, "the program writes no more");
    }

    /// Compares the errors with the recorded bounds, or records them.
    pub fn check(&self) {
        for (name, errors) in &self.0 {
            let shown = errors.each_ref().map(|error| error.as_ref().map_or("-".into(), Worst::shown));
            println!("{name}: {}", shown.join("; "));
        }
        let file = file("slope_bounds.txt");
        let known = fs::read_to_string(&file).expect("the bounds can be read");
        let mut known: BTreeMap<_, _> = known.lines().filter_map(bounds).collect();
        // Bounds from the few numbers of the tests would be too small.
        if env::var_os("MIND_BLESS").is_some() && env::var_os(TABLE).is_some() {
            known.extend(self.0.iter().map(|(name, errors)| (name.clone(), errors.each_ref().map(recorded))));
            let line = |name| known.get(&name).map(|[narrow, wide]| format!("{name} {narrow} {wide}\n"));
            fs::write(&file, names().filter_map(line).collect::<String>()).expect("the file can be written");
        }
        let wrong: Vec<_> =
            self.0.iter().filter_map(|(name, errors)| beyond(name, errors, known.get(name))).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// The derivative and the bounds in a line.
fn bounds(line: &str) -> Option<(String, [String; 2])> {
    let mut words = line.split(' ').map(str::to_owned);
    Some((words.next()?, [words.next()?, words.next()?]))
}

/// The bound to record for an error.
fn recorded(worst: &Option<Worst>) -> String {
    bound(worst.as_ref().map_or(0.0, |worst| worst.error))
}

/// The message about errors that exceed their bounds.
fn beyond(name: &str, errors: &[Option<Worst>; 2], bounds: Option<&[String; 2]>) -> Option<String> {
    let Some(bounds) = bounds else { return Some(format!("{name}: no bound is recorded")) };
    let is_beyond =
        |(worst, bound): (&Worst, &String)| worst.error > bound.parse().expect("a bound is a number");
    let mut pairs = errors.iter().zip(bounds).filter_map(|(worst, bound)| Some((worst.as_ref()?, bound)));
    let (worst, bound) = pairs.find(|pair| is_beyond(*pair))?;
    Some(format!("{name}: {}, recorded {bound}", worst.shown()))
}

/// The error in units in the last place of the exact derivative. It is 0 if the derivative is so close to the ends of
/// the range that intermediate results may leave it.
fn error(slopes: &Slopes<'_>, found: f64, line: &Line) -> f64 {
    let Line { operands, result, rest } = line;
    let (least, largest) = match slopes.dtype {
        DType::F32 => (f64::from(f32::MIN_POSITIVE), 2f64.powi(100)),
        _ => (f64::MIN_POSITIVE, 2f64.powi(900)),
    };
    let is_out = *result != 0.0 && !(1.0 / largest..=largest).contains(&result.abs());
    // Subnormal numbers have few digits, and so do their quotients.
    let are_small = operands.len() > 1 && operands.iter().any(|x| *x != 0.0 && x.abs() < least);
    let is_cancelled = cancelled(slopes.row).is_some_and(|most| (found - result).abs() <= most);
    if is_out || are_small || is_cancelled {
        return 0.0;
    }
    match slopes.dtype {
        DType::F32 => narrow_error(found as f32, *result),
        _ => wide_error(found, *result, *rest),
    }
}

/// The accepted absolute error where the derivative crosses 0 and larger terms cancel: the same as for the function
/// that is the derivative.
fn cancelled(row: &Row) -> Option<f64> {
    match row.derivative {
        ["dy * digamma(x)"] => Map::by_mnemonic("digamma").map(|map| map.row().least_error),
        _ => None,
    }
}
