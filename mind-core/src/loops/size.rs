//! The whole numbers that loops count and address with.

use crate::{dim::Dim, loops::Var};

/// A whole number that is not negative.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// An extent or a stride.
    Dim(Dim),
    /// The value of a variable.
    Var(Var),
    /// The sum of two or more sizes.
    Plus(Vec<Size>),
    /// The product of two sizes.
    Times(Box<[Size; 2]>),
    /// The first size minus the second, which is no greater.
    Minus(Box<[Size; 2]>),
    /// A quotient, rounded down.
    Over(Box<Size>, usize),
    /// The lesser of two sizes.
    Least(Box<[Size; 2]>),
    /// The quotient of a number by a size, limited to 1 to `most`.
    Share {
        /// The dividend.
        of: usize,
        /// The divisor.
        by: Box<Size>,
        /// The greatest result. The least result is 1.
        most: usize,
    },
}

impl Size {
    /// A number that is known.
    pub fn known(size: usize) -> Self {
        Self::Dim(Dim::literal(i64::try_from(size).expect("lanes, rows and chains are few")))
    }

    /// The number, if it is known.
    pub fn literal(&self) -> Option<usize> {
        let Self::Dim(dim) = self else { return None };
        dim.as_literal().and_then(|size| usize::try_from(size).ok())
    }

    /// The sum of sizes, with sums among them flattened.
    pub(super) fn sum(parts: Vec<Self>) -> Self {
        let parts = parts.into_iter().flat_map(|part| match part {
            Self::Plus(parts) => parts,
            part => vec![part],
        });
        let mut parts: Vec<_> = parts.collect();
        if parts.len() > 1 {
            return Self::Plus(parts);
        }
        parts.pop().unwrap_or_else(|| Self::known(0))
    }

    pub(super) fn times(self, other: Self) -> Self {
        if other.literal() == Some(1) {
            return self;
        }
        Self::Times(Box::new([self, other]))
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self::Minus(Box::new([self, other]))
    }

    pub(super) fn over(self, by: usize) -> Self {
        Self::Over(Box::new(self), by)
    }
}

impl From<&Dim> for Size {
    fn from(dim: &Dim) -> Self {
        Self::Dim(dim.clone())
    }
}

impl From<Var> for Size {
    fn from(var: Var) -> Self {
        Self::Var(var)
    }
}
