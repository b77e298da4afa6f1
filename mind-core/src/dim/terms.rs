//! Terms and products of atoms: ordering, multiplication and division.

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use super::{Atom, Overflow, Term};

impl Term {
    pub(super) fn times(&self, other: &Self) -> Result<Self, Overflow> {
        let coefficient = self.coefficient.checked_mul(other.coefficient).ok_or(Overflow::Range)?;
        let factors = match (&self.factors[..], &other.factors[..]) {
            ([], _) => other.factors.clone(),
            (_, []) => self.factors.clone(),
            (a, b) => multiply_factors(a, b).into(),
        };
        Ok(Self { factors, coefficient })
    }

    pub(super) fn degree(&self) -> u32 {
        self.factors.iter().map(|(_, power)| *power).sum()
    }
}

/// The order of terms in a normal form.
pub(super) fn order(a: &Term, b: &Term) -> Ordering {
    b.degree().cmp(&a.degree()).then_with(|| a.factors.cmp(&b.factors))
}

/// A product of atoms, ordered by powers, the greatest first. Multiplication preserves this order, but not the order of
/// normal forms.
#[derive(PartialEq, Eq)]
pub(super) struct Monomial(pub(super) Arc<[(Atom, u32)]>);

impl Ord for Monomial {
    fn cmp(&self, other: &Self) -> Ordering {
        for ((own, power), (others, others_power)) in self.0.iter().zip(other.0.iter()) {
            // The smaller atom has a power in one product and none in the other.
            let ordering = own.cmp(others).then_with(|| others_power.cmp(power));
            if ordering.is_ne() {
                return ordering;
            }
        }
        other.0.len().cmp(&self.0.len())
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Multiplies two lists of factors. Both lists ascend, and so does the result.
pub(super) fn multiply_factors(a: &[(Atom, u32)], b: &[(Atom, u32)]) -> Vec<(Atom, u32)> {
    let mut product = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let first = match (a.peek(), b.peek()) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return product,
        };
        let own = if first.is_le() { a.next() } else { None };
        let others = if first.is_ge() { b.next() } else { None };
        let power = |factor: Option<&(Atom, u32)>| factor.map_or(0, |(_, power)| *power);
        let sum = power(own).checked_add(power(others)).expect("powers are within the limit of symbols");
        product.extend(own.or(others).map(|(atom, _)| (atom.clone(), sum)));
    }
}

pub(super) fn divide_factors(a: &[(Atom, u32)], b: &[(Atom, u32)]) -> Option<Vec<(Atom, u32)>> {
    let mut powers: BTreeMap<Atom, u32> = a.iter().cloned().collect();
    for (atom, power) in b {
        let left = powers.get_mut(atom)?;
        *left = left.checked_sub(*power)?;
    }
    Some(powers.into_iter().filter(|(_, power)| *power > 0).collect())
}
