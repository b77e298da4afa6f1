//! Random well-typed modules with inputs, bounds for the errors of their results, and smaller modules to replace a
//! failing one.
//!
//! Each result depends only on the seed and is the same on every machine.

mod expressions;
mod generate;
mod masks;
mod nesting;
mod patterns;
pub mod properties;
mod rounding;
mod shrink;
mod surface;

pub use crate::random::Random;
pub use expressions::{RandomExpression, leaf_types, open_program, random_expression};
pub use generate::{loops_from_bytes, module_from_bytes, random_core_v1_module, random_module};
pub use masks::zero_cotangents_stay_zero;
pub use rounding::{Bounded, run_bounded};
pub use shrink::shrink;

use std::collections::BTreeSet;

use mind_shape::{match_dtype, match_elements};

use crate::{
    dim::{Bindings, Dim, Symbol},
    interp::{Array, Elements, check_requirements},
    ir::Module,
    plan::Update,
    ty::{DType, Shape, Type},
    verify::{Verified, requirements},
};

/// Inputs on which a module runs: extents from 1 to 5 that meet every requirement, floats from -2 to 2 in steps of 1/8,
/// integers from 0 to 3. `None` if no extents are found.
pub fn random_inputs(module: &Verified, seed: u64) -> Option<Vec<Array>> {
    let mut random = Random::new(seed);
    let bindings = random_extents(module, &mut random)?;
    let input = |(_, ty): (_, &Type)| random_value(ty.dtype, &ty.shape, &bindings, &mut random);
    module.inputs().map(input).collect()
}

/// As [`random_inputs`], with half of the floats replaced by zeros, infinities, NaN, large or subnormal numbers.
///
/// The large numbers are small enough that a product of three does not overflow. Whether a sum of overflowing products
/// is infinite or NaN depends on the order of addition.
pub fn special_inputs(module: &Verified, seed: u64) -> Option<Vec<Array>> {
    const SPECIAL: [f64; 8] = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e12, -1e-40, 1.0];
    let mut random = Random::new(seed);
    let mut draw = || if random.once_in(2) { Some(*random.pick(&SPECIAL)) } else { None };
    let mut inputs = random_inputs(module, seed)?;
    for input in &mut inputs {
        match_elements!(&mut input.elements, Elements(elements) {
            floats => elements.iter_mut().for_each(|element| *element = draw().map_or(*element, |x| x as _)),
            others => {},
        });
    }
    Some(inputs)
}

/// Extents from 1 to 5 that meet the requirements of the module.
fn random_extents(module: &Verified, random: &mut Random) -> Option<Bindings> {
    let mut symbols: BTreeSet<Symbol> = BTreeSet::new();
    for dim in module.inputs().flat_map(|(_, ty)| ty.shape.iter()) {
        dim.for_each_symbol(&mut |symbol| {
            symbols.insert(symbol.clone());
        });
    }
    let needed = requirements(module);
    let mut draws = (0..64).map(|_| -> Bindings {
        symbols.iter().map(|symbol| (symbol.clone(), Dim::literal(1 + random.below(5) as i64))).collect()
    });
    draws.find(|bindings| check_requirements(&needed, bindings).is_ok())
}

fn random_value(dtype: DType, shape: &Shape, bindings: &Bindings, random: &mut Random) -> Option<Array> {
    let extent = |dim: &Dim| usize::try_from(dim.evaluate(bindings)?).ok();
    let shape: Vec<usize> = shape.iter().map(extent).collect::<Option<_>>()?;
    let count: usize = shape.iter().product();
    let mut draw = |choices: usize| random.below(choices);
    let elements: Elements = match_dtype!(dtype, T {
        truths => (0..count).map(|_| draw(2) == 1).collect::<Vec<_>>().into(),
        integers => (0..count).map(|_| draw(4) as T).collect::<Vec<_>>().into(),
        floats => (0..count).map(|_| draw(33) as T / 8.0 - 2.0).collect::<Vec<_>>().into(),
    });
    Some(Array::new(shape, elements))
}

/// Outputs that could update inputs. Each input takes the last output of its type that no other input takes.
pub fn possible_updates(module: &Module) -> Vec<Update> {
    let mut updates: Vec<Update> = Vec::new();
    for (input, (_, ty)) in module.inputs().enumerate() {
        let fits = |output: &usize| {
            module.ty(module.outputs()[*output]) == ty
                && !updates.iter().any(|update| update.output == *output)
        };
        if let Some(output) = (0..module.outputs().len()).rev().find(fits) {
            updates.push(Update { output, input });
        }
    }
    updates
}

/// Whether two values are equal bit for bit, except that every NaN equals every other.
pub fn same(a: &Array, b: &Array) -> bool {
    fn all<T: Copy>(a: &[T], b: &[T], same: impl Fn(T, T) -> bool) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(*a, *b))
    }
    let elements = match (&a.elements, &b.elements) {
        (Elements::F32(a), Elements::F32(b)) => {
            all(a, b, |a, b| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
        }
        (Elements::F64(a), Elements::F64(b)) => {
            all(a, b, |a, b| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
        }
        (a, b) => a == b,
    };
    a.shape == b.shape && elements
}
