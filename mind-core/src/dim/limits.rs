//! Limits of dims. The bounds of a product are known before it is expanded.

use super::{Dim, Overflow, Repr};

/// Bounds of a product, known before it is computed.
///
/// Each bound of a product is at least that of any part of it. If the product is within the limits, all its parts are
/// too, even though a part can have more terms than a product in which terms cancel.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    pub(super) terms: usize,
    size: usize,
    depth: usize,
    degree: usize,
    /// The sum of the absolute coefficients.
    pub(super) norm: u128,
}

impl Measure {
    pub(super) fn of(dim: &Dim) -> Self {
        let norm = match &dim.0 {
            Repr::Literal(value) => value.unsigned_abs().max(1).into(),
            Repr::Polynomial(sum) => {
                sum.terms.iter().map(|term| u128::from(term.coefficient.unsigned_abs())).sum()
            }
        };
        let (terms, degree) = match &dim.0 {
            Repr::Literal(_) => (1, 0),
            Repr::Polynomial(sum) => (sum.terms.len(), sum.terms[0].degree() as usize),
        };
        Self { terms, size: dim.size(), depth: dim.depth(), degree, norm }
    }

    pub(super) fn times(self, other: Self) -> Self {
        // Each product of two terms has the factors of both and one coefficient.
        let (own, others) = (self.size - self.terms, other.size - other.terms);
        let terms = self.terms.saturating_mul(other.terms);
        let factors = own.saturating_mul(other.terms).saturating_add(others.saturating_mul(self.terms));
        Self {
            terms,
            size: terms.saturating_add(factors),
            depth: self.depth.max(other.depth),
            degree: self.degree.saturating_add(other.degree),
            norm: self.norm.saturating_mul(other.norm),
        }
    }

    /// Checks that all bounds are within `leeway` times the limits.
    pub(super) fn check(self, leeway: usize) -> Result<(), Overflow> {
        within(leeway * Dim::MAX_TERMS, self.terms, TERMS)?;
        within(leeway * Dim::MAX_SIZE, self.size, SIZE)?;
        within(leeway * Dim::MAX_DEGREE, self.degree, DEGREE)?;
        within(leeway * Dim::MAX_DEPTH, self.depth, DEPTH)
    }
}

pub(super) const TERMS: &str = "terms, multiplied out,";
pub(super) const PRODUCTS: &str = "products of terms, multiplied out,";
pub(super) const SIZE: &str = "symbols and integers, multiplied out,";
pub(super) const DEGREE: &str = "factors in a term";
pub(super) const DEPTH: &str = "divisions within each other";

/// Checks that the found number is at most the limit.
pub(super) fn within(limit: usize, found: usize, what: &'static str) -> Result<(), Overflow> {
    if found <= limit { Ok(()) } else { Err(Overflow::Large { what, found, limit }) }
}
