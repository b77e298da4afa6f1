//! Random well-typed modules with inputs to run them on, and smaller modules to replace a failing one by.
//!
//! Everything is a function of its seed, on every machine.

mod expressions;
mod generate;
mod patterns;
pub mod properties;
mod shrink;

pub use expressions::{RandomExpression, leaf_types, open_program, random_expression};
pub use generate::{module_from_bytes, random_core_v1_module, random_module};
pub use shrink::shrink;

use std::collections::BTreeSet;

use crate::{
    dim::{Bindings, Dim, Symbol},
    interp::{Elements, Value, check_requirements},
    ty::{DType, Shape, Type},
    verify::{Verified, requirements},
};

/// Inputs that a module runs on: extents from 1 to 5 that keep every requirement, floats from -2 to 2 in steps of 1/8,
/// integers from 0 to 3. Nothing where no extents are found.
pub fn random_inputs(module: &Verified, seed: u64) -> Option<Vec<Value>> {
    let mut random = Random::new(seed);
    let bindings = random_extents(module, &mut random)?;
    let input = |(_, ty): (_, &Type)| random_value(ty.dtype, &ty.shape, &bindings, &mut random);
    module.inputs().map(input).collect()
}

/// Extents from 1 to 5 that keep what the module requires.
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

fn random_value(dtype: DType, shape: &Shape, bindings: &Bindings, random: &mut Random) -> Option<Value> {
    let extent = |dim: &Dim| usize::try_from(dim.evaluate(bindings)?).ok();
    let shape: Vec<usize> = shape.iter().map(extent).collect::<Option<_>>()?;
    let count: usize = shape.iter().product();
    let mut draw = |choices: usize| random.below(choices);
    let elements: Elements = match dtype {
        DType::I32 => (0..count).map(|_| draw(4) as i32).collect::<Vec<_>>().into(),
        DType::I64 => (0..count).map(|_| draw(4) as i64).collect::<Vec<_>>().into(),
        DType::F32 => (0..count).map(|_| draw(33) as f32 / 8.0 - 2.0).collect::<Vec<_>>().into(),
        DType::F64 => (0..count).map(|_| draw(33) as f64 / 8.0 - 2.0).collect::<Vec<_>>().into(),
        DType::Bool => return None,
    };
    Some(Value::new(shape, elements))
}

/// Whether two values are equal to the bit, but that every NaN equals every other.
pub fn same(a: &Value, b: &Value) -> bool {
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

/// A generator of random numbers: splitmix64, or first the bytes that a fuzzer chose.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    /// What is left of the bytes, the next one last.
    choices: Vec<u8>,
}

impl Random {
    /// The generator that this seed starts.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed, choices: Vec::new() }
    }

    /// The generator whose first choices are these bytes, one each, so that changing a byte changes a choice.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { state: 0, choices: bytes.iter().rev().copied().collect() }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        if let Some(choice) = self.choices.pop() {
            return choice.into();
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// One of these.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// True once in `of` times.
    pub fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}
