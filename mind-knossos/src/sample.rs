//! Random values of types, to test rules and derivatives.

use mind_core::random::Random;

use crate::{
    interp::Value,
    types::{Type, TypeId, Types},
};

/// The maximum number of elements of a tensor, at any rank.
const MOST_ELEMENTS: usize = 64;

/// Draws values. Tensors drawn by one sampler often have equal sizes, so that operations on several tensors are
/// defined. Another sampler draws other sizes.
#[derive(Clone, Debug)]
pub struct Sampler {
    random: Random,
    /// The extents to choose from.
    extents: [usize; 2],
}

impl Sampler {
    /// A sampler with this seed. Extents are from 0 to 3, rarely 0. In about half of the samplers all extents are
    /// equal.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let extent = |random: &mut Random| if random.once_in(12) { 0 } else { 1 + random.below(3) };
        let first = extent(&mut random);
        let second = if random.once_in(2) { first } else { extent(&mut random) };
        Self { random, extents: [first, second] }
    }

    /// A sampler whose tensors all have this extent in each dimension.
    pub fn of_extent(seed: u64, extent: usize) -> Self {
        Self { random: Random::new(seed), extents: [extent; 2] }
    }

    /// A value of a type: Floats from -2 to 2 in steps of 1/8, Integers from -1 to 3. Returns `None` if the type
    /// contains lambdas or tapes, or a tensor has more than 64 elements.
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
