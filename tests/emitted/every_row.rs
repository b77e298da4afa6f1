//! Tests every elementwise function and every reduction for every element type in every loop in which it can occur, and
//! every operation with its own kernel. If the Rust code of a row does not type-check, it fails here and not in a
//! user's crate.

use std::collections::BTreeMap;

use mind_core::{
    build::Builder,
    canon::{Canonical, canonicalise},
    dim::Dim,
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::{Array, Elements},
    ir::{Op, Product, Reduction, ValueId},
    map::{Domain, Map, Notation, Takes},
    ops::{self, OpInfo, Profile, WorkClass, sample::Case as Sampled},
    opt::optimise,
    plan::plan,
    reduce::Reduce,
    testing::run_bounded,
    ty::{DType, Shape, Type},
    verify::verify,
};

use super::{Bare, Case};

/// The extents and axes of reductions: long, short, few and many rows and columns, both ends, the middle.
const REDUCED: [(&[usize], &[i64]); 9] = [
    (&[3, 1300], &[1]),
    (&[70, 10], &[1]),
    (&[70, 3], &[0]),
    (&[70, 40], &[0]),
    (&[40, 300], &[0]),
    (&[30, 50], &[0, 1]),
    (&[5, 6, 7], &[0, 2]),
    (&[5, 40, 3], &[1]),
    (&[4], &[0]),
];

/// A program per row and element type, and the gradient of each for `f32`.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for map in Map::ALL {
        for dtype in types(map.row().takes) {
            cases.extend(of_function(*map, dtype));
        }
    }
    for reduce in Reduce::ALL {
        for dtype in types(reduce.row().takes) {
            cases.extend(of_reduction(*reduce, dtype));
        }
    }
    for row in ops::TABLE.iter().filter(|row| row.class == WorkClass::Kernel) {
        for dtype in DType::ALL {
            let all = row.cases(dtype).into_iter().enumerate();
            cases.extend(all.flat_map(|(at, case)| of_kernel(row, dtype, at, &case)));
        }
    }
    cases
}

fn types(takes: Takes) -> Vec<DType> {
    DType::ALL.into_iter().filter(|dtype| takes.admits(*dtype)).collect()
}

/// Applies a function in four ways. The first two are also tested as expressions.
///
/// - to few elements, where nothing is dispatched
/// - to many elements, where blocks are padded
/// - to the sums of a kernel
/// - to the sums of a product that is computed inside the loops
fn of_function(map: Map, dtype: DType) -> Vec<Case> {
    let row = map.row();
    let mut b = Builder::new();
    let mut operands: Vec<Vec<ValueId>> = Vec::new();
    // Inputs with elements of a domain, or with ones.
    let mut drawn: Vec<(Vec<usize>, Option<Domain>, DType)> = Vec::new();
    let mut input = |b: &mut Builder, dtype: DType, extents: &[usize], domain: Option<Domain>| {
        let name = format!("x{}", drawn.len());
        drawn.push((extents.to_vec(), domain, dtype));
        b.input(name.as_str(), Type::new(dtype, shape(extents))).expect("each has a name of its own")
    };
    for extents in [&[3][..], &[5, 77]] {
        let operand =
            |position: usize| input(&mut b, row.operand(position, dtype), extents, Some(row.domain));
        operands.push((0..row.arity().max(2)).map(operand).collect());
    }
    // Each sum is one element times 1.
    let sizes = [[33, 20], [3, 4]].into_iter().filter(|_| dtype != DType::Bool);
    let factors: Vec<_> = sizes
        .map(|[rows, columns]| {
            let ones = input(&mut b, dtype, &[rows, 1], None);
            let line = input(&mut b, dtype, &[1, columns], Some(row.domain));
            let operand = |position: usize| match position == row.leading() {
                true => None,
                false => {
                    Some(input(&mut b, row.operand(position, dtype), &[rows, columns], Some(row.domain)))
                }
            };
            let others: Vec<Option<ValueId>> = (0..row.arity().max(2)).map(operand).collect();
            ([ones, line], others)
        })
        .collect();
    for (factors, others) in factors {
        let sums = b.push(Op::Product(Product::MatMul), &factors).expect("all numbers have products");
        operands.push(others.into_iter().map(|other| other.unwrap_or(sums)).collect());
    }
    let results: Vec<ValueId> = operands
        .iter()
        .map(|operands| b.push(Op::Map(map), &operands[..row.arity()]).expect("the row takes these"))
        .collect();
    let name = format!("{}_{dtype}", row.mnemonic);
    let inputs = drawn.iter().enumerate().map(|(at, (extents, domain, dtype))| match domain {
        Some(domain) => draw(extents, *domain, *dtype, at),
        None => filled(extents, *dtype, |_| 1.0),
    });
    let mut cases = programs(&name, b, results, inputs.collect());
    let expression = |operands: &[String]| match row.notation {
        Notation::Infix(_) | Notation::Named(..) => Some(operands.join(&format!(" {} ", row.label))),
        Notation::Prefix(_) => Some(format!("{}{}", row.label, operands[0])),
        Notation::Function => Some(format!("{}({})", row.label, operands.join(", "))),
        // The function occurs only in gradients of others.
        Notation::Never => None,
    };
    let arity = row.arity().max(2);
    let bare = (0..2).filter_map(|output| {
        let operands: Vec<String> =
            (0..row.arity()).map(|at| format!("input_{}", output * arity + at)).collect();
        Some(Bare { expression: expression(&operands)?, output })
    });
    cases[0].bare = bare.collect();
    cases
}

/// A reduction of an input, and of a computed value.
fn of_reduction(reduce: Reduce, dtype: DType) -> Vec<Case> {
    let of_shape = |(at, (extents, axes)): (usize, &(&[usize], &[i64]))| {
        let mut b = Builder::new();
        let x = b.input("x", Type::new(dtype, shape(extents))).expect("there is no other");
        let square = b.push(Op::Map(Map::Mul), &[x, x]).expect("numbers have squares");
        let results = [x, square].map(|of| {
            let reduction = Reduction { axes: axes.to_vec(), keepdims: false };
            b.push(Op::Reduce(reduce, reduction), &[of]).expect("the axes are there")
        });
        // The numbers are so close to 1 that the product of all is finite.
        let input = filled(extents, dtype, |at| match dtype.is_float() {
            true => 1.0 + (spread(at) - 0.5) / 50.0,
            false => sample(Domain::Any, true, at),
        });
        let name = format!("{}_{at}_{dtype}", reduce.row().function);
        let mut cases = programs(&name, b, results.to_vec(), vec![input]);
        let axes = axes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let expression = format!("{}(input_0, axes = [{axes}])", reduce.row().function);
        cases[0].bare.push(Bare { expression, output: 0 });
        cases
    };
    REDUCED.iter().enumerate().flat_map(of_shape).collect()
}

/// An operation with its own kernel, on the samples of its row.
fn of_kernel(row: &OpInfo, dtype: DType, at: usize, sampled: &Sampled) -> Vec<Case> {
    let mut b = Builder::new();
    let names = (0..).map(|position| format!("x{position}"));
    let inputs = names.zip(&sampled.operands);
    let inputs = inputs.map(|(name, ty)| b.input(name.as_str(), ty.clone()).expect("each has its own name"));
    let inputs: Vec<ValueId> = inputs.collect();
    let result = b.push(sampled.op.clone(), &inputs).expect("a row takes what it samples");
    let places = places(sampled, b.ty(result));
    let drawn = sampled.operands.iter().enumerate().map(|(position, ty)| {
        let extents: Vec<usize> = ty.shape.iter().map(known).collect();
        match places {
            Some((indices, places)) if indices == position => {
                filled(&extents, ty.dtype, |at| ((at * 7 + 1) % places) as f64)
            }
            _ => draw(&extents, row.sample.domain, ty.dtype, position + 3),
        }
    });
    let drawn = drawn.collect();
    programs(&format!("{}_{at}_{dtype}", row.mnemonic), b, vec![result], drawn)
}

/// The operand that holds indices, and their upper bound.
fn places(sampled: &Sampled, result: &Type) -> Option<(usize, usize)> {
    let Op::Rows(rows) = &sampled.op else { return None };
    let operands: Vec<&Type> = sampled.operands.iter().collect();
    let extent = rows.extent_of_indices(&operands, result).expect("rows sample small extents");
    Some((rows.indices(), known(&extent)))
}

fn known(extent: &Dim) -> usize {
    extent.as_literal().and_then(|extent| usize::try_from(extent).ok()).expect("rows sample known extents")
}

/// The case of a program, and the case of its gradient if it has one.
fn programs(name: &str, b: Builder, results: Vec<ValueId>, inputs: Vec<Array>) -> Vec<Case> {
    let module = b.finish(results.clone());
    let canonical = canonicalise(verify(module, Profile::Extended).expect("a builder makes valid modules"));
    let mut cases = vec![case(name, &canonical, inputs.clone())];
    // Gradients consist of rows, which are tested for every type.
    let is_f32 = |input: &Array| matches!(input.elements, Elements::F32(_) | Elements::I64(_));
    let has_gradient = inputs.iter().all(is_f32) && inputs.iter().any(|input| input.dtype() == DType::F32);
    if let Some(gradient) = has_gradient.then(|| gradient(&canonical)).flatten() {
        let (_, ty) = gradient.inputs().last().expect("the cotangent is the last input");
        let extents: Vec<usize> =
            ty.shape.iter().filter_map(|dim| usize::try_from(dim.as_literal()?).ok()).collect();
        let cotangent = draw(&extents, Domain::Any, ty.dtype, 77);
        let inputs = inputs.into_iter().chain([cotangent]).collect();
        cases.push(case(&format!("{name}_grad"), &gradient, inputs));
    }
    cases
}

/// The gradient of the last result by all inputs.
fn gradient(canonical: &Canonical) -> Option<Canonical> {
    let module = canonical.clone().into_verified().into_module();
    let (insts, outputs) = module.into_parts();
    let module = mind_core::ir::Module::from_parts(insts, outputs.last().copied().into_iter().collect());
    let canonical = canonicalise(verify(module, Profile::Extended).expect("it was verified before"));
    let floats = canonical.inputs().enumerate().filter(|(_, (_, ty))| ty.dtype.is_float());
    let wrt = floats.map(|(at, _)| Wrt { input: ValueId::new(at), zero_ok: true });
    let options =
        GradientOptions { wrt: wrt.collect(), cotangent: Cotangent::Input, profile: Profile::Extended };
    Some(differentiate(&canonical, &options).ok()?.module)
}

fn case(name: &str, canonical: &Canonical, inputs: Vec<Array>) -> Case {
    let expected = run_bounded(canonical, &inputs);
    Case {
        name: name.to_owned(),
        plan: plan(&optimise(canonical), &[]),
        expected: expected.unwrap_or_else(|error| panic!("{name}: {error}")),
        inputs,
        updated: BTreeMap::new(),
        bare: Vec::new(),
    }
}

fn shape(extents: &[usize]) -> Shape {
    extents.iter().map(|extent| (*extent as i64).into()).collect()
}

fn draw(extents: &[usize], domain: Domain, dtype: DType, seed: usize) -> Array {
    filled(extents, dtype, |at| sample(domain, !dtype.is_float(), at * 31 + seed * 7))
}

fn filled(extents: &[usize], dtype: DType, number: impl Fn(usize) -> f64) -> Array {
    let numbers = (0..extents.iter().product()).map(number);
    let elements = match dtype {
        DType::U8 => Elements::U8(numbers.map(|number| number as u8).collect()),
        DType::I32 => Elements::I32(numbers.map(|number| number as i32).collect()),
        DType::I64 => Elements::I64(numbers.map(|number| number as i64).collect()),
        DType::F32 => Elements::F32(numbers.map(|number| number as f32).collect()),
        DType::F64 => Elements::F64(numbers.collect()),
        DType::Bool => Elements::Bool(numbers.map(|number| number > 0.0).collect()),
    };
    Array { shape: extents.to_vec(), elements }
}

fn sample(domain: Domain, integer: bool, at: usize) -> f64 {
    let share = spread(at);
    let away = |from: f64, to: f64| {
        if share < 0.5 { -from - (to - from) * 2.0 * share } else { from + (to - from) * (2.0 * share - 1.0) }
    };
    match (integer, domain) {
        (true, Domain::Positive | Domain::AboveOne) => 1.0 + (share * 7.0).floor(),
        (true, _) => (share * 9.0).floor() - 4.0,
        (false, Domain::Any | Domain::Apart) => 4.0 * share - 2.0,
        (false, Domain::Positive) => 0.5 + 1.5 * share,
        (false, Domain::AboveOne) => 1.2 + 1.8 * share,
        (false, Domain::Unit) => 1.8 * share - 0.9,
        (false, Domain::NonZero) => away(0.1, 2.0),
        (false, Domain::OffHalves) => (share * 8.0).floor() / 2.0 - 2.0 + 0.1 + 0.3 * (share * 8.0).fract(),
    }
}

/// A number from 0 to below 1, the same in every run.
fn spread(at: usize) -> f64 {
    (at.wrapping_mul(2_654_435_761) >> 7 & 0xffff) as f64 / 65536.0
}
