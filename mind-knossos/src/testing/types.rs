//! Types with sizes.

use std::fmt;

use mind_core::random::Random;

use crate::interp::Value;

/// A type, with properties of its values that the generator knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Integer,
    /// An Integer from 0 up to, but not including, this number.
    Index(usize),
    Float,
    Bool,
    Tuple(Vec<Ty>),
    /// A tensor of these extents.
    Tensor(Vec<usize>, Box<Ty>),
    /// A `Vec Float` whose size is not known.
    Vector,
}

/// Writes the type as in programs.
impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer | Self::Index(_) => f.write_str("Integer"),
            Self::Float => f.write_str("Float"),
            Self::Bool => f.write_str("Bool"),
            Self::Tuple(members) => {
                f.write_str("(Tuple")?;
                members.iter().try_for_each(|member| write!(f, " {member}"))?;
                f.write_str(")")
            }
            Self::Tensor(extents, element) => match extents.len() {
                1 => write!(f, "(Vec {element})"),
                rank => write!(f, "(Tensor {rank} {element})"),
            },
            Self::Vector => f.write_str("(Vec Float)"),
        }
    }
}

impl Ty {
    pub fn tensor(extents: impl Into<Vec<usize>>, element: Self) -> Self {
        Self::Tensor(extents.into(), Box::new(element))
    }

    pub fn pair(first: Self, second: Self) -> Self {
        Self::Tuple(vec![first, second])
    }

    /// The type of an index into tensors of these extents.
    pub fn index(extents: &[usize]) -> Self {
        match extents {
            [extent] => Self::Index(*extent),
            several => Self::Tuple(several.iter().copied().map(Self::Index).collect()),
        }
    }

    pub fn tangent(&self) -> Self {
        match self {
            Self::Integer | Self::Index(_) | Self::Bool => Self::Tuple(Vec::new()),
            Self::Float => Self::Float,
            Self::Tuple(members) => Self::Tuple(members.iter().map(Self::tangent).collect()),
            Self::Tensor(extents, element) => Self::tensor(extents.clone(), element.tangent()),
            Self::Vector => Self::Vector,
        }
    }

    pub fn is_tangent(&self) -> bool {
        self.tangent() == *self
    }

    /// Whether the tangent holds a number.
    pub fn is_active(&self) -> bool {
        match self {
            Self::Integer | Self::Index(_) | Self::Bool => false,
            Self::Float | Self::Vector => true,
            Self::Tuple(members) => members.iter().any(Self::is_active),
            Self::Tensor(_, element) => element.is_active(),
        }
    }

    /// Whether the size of every tensor is known.
    pub fn is_sized(&self) -> bool {
        match self {
            Self::Integer | Self::Index(_) | Self::Bool | Self::Float => true,
            Self::Vector => false,
            Self::Tuple(members) => members.iter().all(Self::is_sized),
            Self::Tensor(_, element) => element.is_sized(),
        }
    }

    /// Whether any two values of the type can be added.
    pub fn is_summable(&self) -> bool {
        match self {
            Self::Integer | Self::Float => true,
            Self::Index(_) | Self::Bool | Self::Vector => false,
            Self::Tuple(members) => members.iter().all(Self::is_summable),
            Self::Tensor(_, element) => element.is_summable(),
        }
    }

    /// Whether a variable of this type can be used where `wanted` is needed.
    pub fn fits(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (Self::Index(_), Self::Integer) => true,
            (Self::Index(own), Self::Index(bound)) => own <= bound,
            (Self::Tuple(own), Self::Tuple(wanted)) => {
                own.len() == wanted.len() && own.iter().zip(wanted).all(|(own, wanted)| own.fits(wanted))
            }
            (Self::Tensor(own, x), Self::Tensor(wanted, y)) => own == wanted && x.fits(y),
            (own, wanted) => own == wanted,
        }
    }

    /// A random argument for a program. Floats are between -1.5 and 1.5 and not round numbers.
    pub fn value(&self, random: &mut Random) -> Value {
        match self {
            Self::Integer => Value::Integer(random.below(4) as i64),
            Self::Index(bound) => Value::Integer(random.below((*bound).max(1)) as i64),
            Self::Float => {
                let fraction = (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
                Value::Float(3.0 * fraction - 1.5)
            }
            Self::Bool => Value::Bool(random.once_in(2)),
            Self::Tuple(members) => {
                Value::tuple(members.iter().map(|member| member.value(random)).collect::<Vec<_>>())
            }
            Self::Tensor(extents, element) => {
                let count = extents.iter().product();
                Value::tensor(extents.clone(), (0..count).map(|_| element.value(random)).collect())
            }
            Self::Vector => {
                let extent = random.below(4);
                Value::tensor([extent], (0..extent).map(|_| Self::Float.value(random)).collect())
            }
        }
    }
}
