//! Random values of types: what rules and derivatives are tried on.

use super::{
    interp::Value,
    types::{Type, TypeId, Types},
};
use crate::random::Random;

/// The most elements of one tensor, however high its rank.
const MOST_ELEMENTS: usize = 64;

/// Draws values. Tensors that one sampler draws are often of one size, so that operations on several are defined; a
/// second sampler draws other sizes.
#[derive(Clone, Debug)]
pub struct Sampler {
    random: Random,
    /// The extents to choose from.
    extents: [usize; 2],
}

impl Sampler {
    /// The sampler of a seed. Extents are from 0 to 3, few of them 0; in half of the samplers all are one extent.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let extent = |random: &mut Random| if random.once_in(12) { 0 } else { 1 + random.below(3) };
        let first = extent(&mut random);
        let second = if random.once_in(2) { first } else { extent(&mut random) };
        Self { random, extents: [first, second] }
    }

    /// The sampler whose tensors all have this extent in each dimension.
    pub fn of_extent(seed: u64, extent: usize) -> Self {
        Self { random: Random::new(seed), extents: [extent; 2] }
    }

    /// A value of a type: Floats from -2 to 2 in steps of 1/8, Integers from -1 to 3. Nothing where the type has lambdas,
    /// tapes, or tensors of more than 64 elements.
    pub fn value(&mut self, types: &Types, ty: TypeId) -> Option<Value> {
        Some(match types.get(ty) {
            Type::Integer => Value::Integer(self.random.below(9).div_ceil(2) as i64 - 1),
            Type::Float => Value::Float(self.random.below(33) as f64 / 8.0 - 2.0),
            Type::Bool => Value::Bool(self.random.once_in(2)),
            Type::String => Value::String((*self.random.pick(&["", "a", "b"])).into()),
            Type::Tuple(members) => {
                let members: Option<Vec<_>> = members.iter().map(|ty| self.value(types, *ty)).collect();
                Value::tuple(members?)
            }
            Type::Tensor(rank, element) => {
                let size: Vec<_> = (0..*rank).map(|_| *self.random.pick(&self.extents)).collect();
                let count = size.iter().product();
                if count > MOST_ELEMENTS {
                    return None;
                }
                let elements: Option<_> = (0..count).map(|_| self.value(types, *element)).collect();
                Value::tensor(size, elements?)
            }
            Type::Lambda(..) | Type::LinearMap(..) | Type::Tape | Type::Accumulator(_) => return None,
        })
    }
}
