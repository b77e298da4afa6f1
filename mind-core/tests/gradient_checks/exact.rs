//! The derivatives of every elementwise function by the interpreter in `f64`, compared with exact ones from mpmath.
//!
//! `tests/emitted/slopes.rs` tests the derivatives computed by kernels; the gate compiles some of those.

use mind_core::{
    build::Builder,
    canon::canonicalise,
    dim::Dim,
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::{Array, Elements, run},
    ir::{Op, ValueId},
    map::Map,
    ops::Profile,
    ty::{DType, Type},
    verify::verify,
};

#[path = "../../../tests/support/exact.rs"]
mod table;

use table::{Exact, Line, Worst, wide_error};

const EXACT: &str = include_str!("../../../tests/accuracy/slopes.txt");
const BOUNDS: &str = include_str!("../../../tests/accuracy/slope_bounds.txt");

/// The interpreter uses functions of Rust's standard library. Their error is a few units, that of kernels about one.
const UNITS: f64 = 16.0;

/// The interpreter's digamma loses digits near its zero.
const NEAR_ZERO: (&str, f64) = ("lgamma.0", 2000.0);

#[test]
fn derivatives_of_every_row_are_those_of_mpmath() {
    let exact = Exact::read(EXACT);
    let bounds = BOUNDS.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mut wrong = String::new();
    let mut tried = 0;
    for words in bounds {
        let [name, _, bound] = words[..] else { panic!("{words:?}") };
        let (mnemonic, position) = name.split_once('.').expect("a function and an operand");
        let map = Map::ALL.iter().find(|map| map.row().mnemonic == mnemonic).expect("a bound is of a row");
        let position = position.parse().expect("a number of an operand");
        let bound: f64 = bound.parse().expect("a bound is a number");
        let worst = worst(*map, position, exact.of(name));
        tried += 1;
        let units = if name == NEAR_ZERO.0 { NEAR_ZERO.1 } else { UNITS };
        if worst.error > 4.0 * bound + units {
            wrong += &format!("{name}: {}\n", worst.shown());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(tried > 70, "{tried} derivatives");
}

/// The largest error among these lines.
fn worst(map: Map, position: usize, lines: &[Line]) -> Worst {
    let row = map.row();
    let mut b = Builder::new();
    let mut inputs = Vec::new();
    let mut values = Vec::new();
    for (operand, formal) in row.formals.iter().enumerate() {
        let dtype = row.operand(operand, DType::F64);
        let ty = Type::new(dtype, [Dim::literal(lines.len() as i64)].into_iter().collect());
        inputs.push(b.input(*formal, ty).expect("formals differ"));
        let numbers = lines.iter().map(|line| line.operands[operand]);
        let elements = match dtype {
            DType::Bool => Elements::from(numbers.map(|x| x != 0.0).collect::<Vec<_>>()),
            _ => Elements::from(numbers.collect::<Vec<_>>()),
        };
        values.push(Array::new([lines.len()], elements));
    }
    let result = b.push(Op::Map(map), &inputs).expect("the row takes these");
    let module = canonicalise(verify(b.finish([result]), Profile::Extended).expect("it is valid"));
    let wrt = vec![Wrt { input: ValueId::new(position), zero_ok: true }];
    let options = GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended };
    let gradient = differentiate(&module, &options).expect("the row has a derivative").module;
    values.push(Array::new([lines.len()], vec![1.0; lines.len()]));
    let results = run(&gradient, &values).expect("it runs");
    let Elements::F64(found) = &results[1].elements else { panic!("{} has another type", row.mnemonic) };
    let mut worst = None;
    let is_subnormal = |x: f64| x.abs() < f64::MIN_POSITIVE;
    for (found, line) in found.iter().zip(lines) {
        if is_subnormal(*found) && is_subnormal(line.result) {
            continue;
        }
        let error = wide_error(*found, line.result, line.rest);
        Worst { error, at: line.operands.clone(), found: *found, exact: line.result }.join(&mut worst);
    }
    worst.expect("there are numbers")
}
