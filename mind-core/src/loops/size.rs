//! Whole numbers that loops count and address by.

use crate::{dim::Dim, loops::Var};

/// A whole number that is not negative.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// An extent or a stride.
    Dim(Dim),
    /// A variable's.
    Var(Var),
    /// All of them, two or more.
    Plus(Vec<Size>),
    /// One times the other.
    Times(Box<[Size; 2]>),
    /// The first without the second, which is no more.
    Minus(Box<[Size; 2]>),
    /// Rounded down.
    Over(Box<Size>, usize),
    /// Of a division of a number by a size, as near as two bounds let it.
    Share {
        /// What is divided.
        of: usize,
        /// By what.
        by: Box<Size>,
        /// At least 1, and at most so many.
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

    /// All of them, sums among them taken apart.
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
