//! Gradients of random open programs equal those of the Core IR that the programs are compiled to.

use mind_core::{
    canon::canonicalise,
    grad::{AutodiffError, Cotangent, GradientOptions, Wrt, differentiate},
    interp::{Array, Elements},
    ir::ValueId,
    ops::Profile,
    testing::{Random, RandomExpression, random_expression, same},
    ty::DType,
    verify::verify,
};

use super::support::{arguments_of, evaluate, module, program, results, sampled};
use crate::sample::sample;

#[test]
fn gradients_are_those_of_the_instantiated_program() {
    let (mut equal, mut unsupported) = (0, 0);
    let seeds = sample("random expressions", 0..2_000);
    let count = seeds.len();
    for seed in seeds {
        let dtype = if seed % 2 == 0 { DType::F64 } else { DType::F32 };
        let expression = random_expression(seed, 1 + (seed % 9) as usize, dtype);
        match compare(seed, &expression) {
            Ok(is_equal) => equal += usize::from(is_equal),
            Err(AutodiffError::UnsupportedOp { .. }) => unsupported += 1,
            Err(error) => panic!("{seed}: {error}\n{expression:?}"),
        }
    }
    // Core IR removes operations without effect before it differentiates, which can change the order of a sum.
    assert!(
        equal * 40 >= count * 39,
        "{equal} are equal to the bit; {unsupported} have no derivative in Core IR"
    );
}

/// Differentiates the program in both forms, by every float leaf that it reads. Returns whether the gradients are equal
/// bit for bit; otherwise they must be equal up to rounding.
fn compare(seed: u64, expression: &RandomExpression) -> Result<bool, AutodiffError> {
    let RandomExpression { statements, values, leaves } = expression;
    let names: String = values.iter().map(|(name, _)| format!("{name}, ")).collect();
    let primal = program(&format!("{{ {statements} ({names}) }}"));
    let mut types = leaves.clone();
    types.extend(values.iter().enumerate().map(|(i, (_, ty))| (format!("dy{i}"), ty.clone())));
    let arguments = sampled(&types, &mut Random::new(seed));

    let instantiated = module(&primal, &types);
    let canonical = canonicalise(verify(instantiated, Profile::Extended).unwrap());
    let floats = canonical.inputs().enumerate().filter(|(_, (_, ty))| ty.dtype.is_float());
    let wrt: Vec<_> = floats.map(|(input, _)| Wrt { input: ValueId::new(input), zero_ok: true }).collect();
    let read: Vec<_> = wrt.iter().map(|wrt| primal.leaves[wrt.input.index()].text.clone()).collect();
    if read.is_empty() {
        return Ok(true);
    }
    let (cotangent, profile) = (Cotangent::Input, Profile::Extended);
    let gradient = differentiate(&canonical, &GradientOptions { wrt, cotangent, profile })?;
    let mut inputs = arguments_of(&primal, &arguments);
    let cotangents = arguments.iter().filter(|(name, _)| name.starts_with("dy"));
    inputs.extend(cotangents.map(|(_, value)| value.clone()));
    let wanted = results(gradient.module.into_verified().into_module(), &inputs);

    let places: String = read.iter().map(|name| format!("zero_ok {name}, ")).collect();
    let seeds: String = (0..values.len()).map(|i| format!("dy{i}, ")).collect();
    let source = format!("vjp({{ {statements} ({names}) }}, wrt = ({places}))(({seeds}))");
    let found = evaluate(&source, &types, &arguments);
    let wanted = &wanted[values.len()..];
    for ((name, found), wanted) in read.iter().zip(&found).zip(wanted) {
        assert!(
            close(found, wanted),
            "{seed}: by {name}\n{source}\n{}found {found:?}\nwanted {wanted:?}",
            program(&source)
        );
    }
    Ok(found.iter().zip(wanted).all(|(found, wanted)| same(found, wanted)))
}

/// Whether two values are equal up to rounding.
fn close(found: &Array, wanted: &Array) -> bool {
    let numbers = |value: &Array| -> Vec<f64> {
        match &value.elements {
            Elements::F32(elements) => elements.iter().copied().map(f64::from).collect(),
            Elements::F64(elements) => elements.clone(),
            elements => panic!("a gradient is of floats, not {elements:?}"),
        }
    };
    let tolerance = if found.dtype() == DType::F32 { 1e-5 } else { 1e-13 };
    let pairs = numbers(found).into_iter().zip(numbers(wanted));
    let is_close = |(found, wanted): (f64, f64)| {
        found == wanted
            || found.is_nan() && wanted.is_nan()
            || (found - wanted).abs() <= tolerance * wanted.abs().max(1.0)
    };
    found.shape == wanted.shape && found.dtype() == wanted.dtype() && pairs.into_iter().all(is_close)
}
