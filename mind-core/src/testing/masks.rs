//! Gradients behind masks: a cotangent of exactly 0 contributes nothing, whatever the elements are.

use mind_shape::match_dtype;

use super::special_inputs;
use crate::{
    canon::{Canonical, canonicalise},
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::{Array, Elements, run},
    ir::{Module, Nesting, Op, Own, ValueId},
    ops::Profile,
    text::core_ir,
    verify::verify,
};

/// Checks a module on random inputs, half of whose floats are special values. Cotangents of 0 must give gradients of 0,
/// and the derivatives of these gradients by the inputs must be 0. Returns whether anything was checked.
///
/// Modules with products, convolutions or pullbacks are not checked. A random pullback is not linear in its cotangent.
pub fn zero_cotangents_stay_zero(module: Module, seed: u64) -> bool {
    if is_excepted(&module) {
        return false;
    }
    let verified = verify(module, Profile::Extended).expect("the generator makes valid modules");
    let Some(inputs) = special_inputs(&verified, seed) else { return false };
    let canonical = canonicalise(verified);
    let Some(first) = gradient(&canonical) else { return false };
    let Ok(results) = run(&canonical, &inputs) else { return false };
    let primal_outputs = results.len();

    let cotangents = results.iter().map(|result| filled(result, 0.0));
    let given: Vec<Array> = inputs.iter().cloned().chain(cotangents).collect();
    let results = run(&first, &given).expect("the gradient of a module that runs runs");
    assert_zero("gradient", &results[primal_outputs..], &first);

    let Some(second) = gradient(&first) else { return true };
    let cotangents = results.iter().enumerate().map(|(position, result)| {
        let is_gradient = position >= primal_outputs;
        filled(result, f64::from(u8::from(is_gradient)))
    });
    let given: Vec<Array> = given.iter().cloned().chain(cotangents).collect();
    let found = run(&second, &given).expect("the gradient of a module that runs runs");
    let by_inputs = inputs.iter().filter(|input| input.dtype().is_float()).count();
    assert_zero("second derivative", &found[results.len()..][..by_inputs], &second);
    true
}

fn is_excepted(module: &Module) -> bool {
    module.insts().iter().any(|inst| {
        matches!(inst.op, Op::Product(_) | Op::Window(_) | Op::Own(Own::Nesting(Nesting::Pullback(_))))
            || inst.op.nested().is_some_and(|nested| is_excepted(nested))
    })
}

/// The gradient by every floating-point input, with one cotangent per output. `None` if it does not exist.
fn gradient(module: &Canonical) -> Option<Canonical> {
    let floats = module.inputs().enumerate().filter(|(_, (_, ty))| ty.dtype.is_float());
    let wrt = floats.map(|(position, _)| Wrt { input: ValueId::new(position), zero_ok: true }).collect();
    let options = GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended };
    differentiate(module, &options).ok().map(|gradient| gradient.module)
}

/// A value with the shape and element type of `like`, filled with one number.
fn filled(like: &Array, number: f64) -> Array {
    let count = like.elements.len();
    let elements: Elements = match_dtype!(like.dtype(), T {
        truths => vec![number != 0.0; count].into(),
        numbers => vec![number as T; count].into(),
    });
    Array::new(like.shape.clone(), elements)
}

fn assert_zero(what: &str, found: &[Array], module: &Module) {
    for value in found {
        let is_zero = value.elements.to_f64().iter().all(|number| *number == 0.0);
        assert!(is_zero, "a {what} of cotangents of 0 is {value:?}:\n{}", core_ir::print(module));
    }
}
