//! The dimension algebra. An extent is an integer or a polynomial over symbols, kept in a normal form.
//!
//! Two dims are equal exactly when their normal forms are equal. A normal form is a sum of terms. Each term is an
//! integer coefficient times a product of atoms. An atom is a symbol (an unknown extent, at least 1) or a floored
//! quotient by a positive integer that does not divide out. Every operation checks for overflow of 64 bits.
//!
//! A polynomial can double in size with every operation, so its size is limited. The extents of a type have narrow
//! limits ([`Dim::product`]); dims that are computed from them have wider ones. Each product is compared with the
//! limits before it is computed.

mod display;
mod limits;
mod order;
mod terms;

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use limits::{Measure, PRODUCTS, TERMS, within};
pub(crate) use order::Order;
use terms::{Monomial, divide_factors, order};

/// An extent, or a quantity computed from extents.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dim(Repr);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Literal(i64),
    Polynomial(Arc<Polynomial>),
}

/// Terms in their order. At least one of them has a factor.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Polynomial {
    terms: Vec<Term>,
    /// The number of symbols and integers in its written form.
    size: usize,
    /// The depth of nested divisions.
    depth: usize,
}

/// A coefficient times a product of atoms. The constant term has no factors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    /// The atoms and their powers, in ascending order; empty for the constant term.
    pub factors: Arc<[(Atom, u32)]>,
    /// The coefficient, which is not 0.
    pub coefficient: i64,
}

/// A variable of the polynomials.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// An unknown extent, at least 1.
    Symbol(Symbol),
    /// `numerator / denominator`, rounded down, if it does not divide out.
    Floor(Dim, i64),
}

/// The name of an unknown extent.
pub type Symbol = Arc<str>;

/// The dim that each symbol stands for: a dim of the caller, or an extent at run time.
pub type Bindings = BTreeMap<Symbol, Dim>;

/// The result of dim arithmetic, or the limit that it exceeds.
pub type DimResult = Result<Dim, Overflow>;

/// A limit of dims that an operation exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Overflow {
    /// A coefficient or an extent is outside 64 bits.
    #[error("a dimension exceeds the range of 64-bit integers")]
    Range,
    /// The dim is too large. Its size is counted after it is multiplied out and before like terms are added.
    #[error("a dimension of {found} {what} exceeds the limit of {limit}")]
    Large {
        /// The things that are counted.
        what: &'static str,
        /// Their number.
        found: usize,
        /// The largest number allowed.
        limit: usize,
    },
}

impl Dim {
    /// The factor by which the limits of computed dims exceed those of the extents of a type.
    pub const LEEWAY: usize = 4;
    /// The most factors per term in the product of the extents of a type.
    pub const MAX_DEGREE: usize = 256;
    /// The greatest depth of nested divisions in a type: 64 halvings reduce 64 bits to 0.
    pub const MAX_DEPTH: usize = 64;
    /// The most products of terms that one substitution computes.
    pub const MAX_PRODUCTS: usize = 1 << 16;
    /// The most symbols and integers in the written form of the product of the extents of a type.
    pub const MAX_SIZE: usize = 1 << 15;
    /// The most terms in the product of the extents of a type.
    pub const MAX_TERMS: usize = 1 << 12;
    /// The extent 1.
    pub const ONE: Self = Self(Repr::Literal(1));
    /// The quantity 0.
    pub const ZERO: Self = Self(Repr::Literal(0));

    /// A known extent.
    pub const fn literal(value: i64) -> Self {
        Self(Repr::Literal(value))
    }

    /// An unknown extent.
    pub fn symbol(name: impl Into<Symbol>) -> Self {
        Self::atom(Atom::Symbol(name.into())).expect("a symbol is one term of one factor")
    }

    fn atom(atom: Atom) -> DimResult {
        Self::sum(vec![Term { factors: Arc::new([(atom, 1)]), coefficient: 1 }])
    }

    /// The dim with these terms, which are in their order. Checks the limits.
    fn sum(terms: Vec<Term>) -> DimResult {
        match &terms[..] {
            [] => return Ok(Self::ZERO),
            [Term { factors, coefficient }] if factors.is_empty() => return Ok(Self::literal(*coefficient)),
            _ => {}
        }
        let (mut size, mut depth) = (0usize, 0);
        for Term { factors, .. } in &terms {
            size = size.saturating_add(1);
            for (atom, power) in factors.iter() {
                let (atom_size, atom_depth) = match atom {
                    Atom::Symbol(_) => (1, 0),
                    Atom::Floor(inner, _) => (inner.size().saturating_add(1), inner.depth() + 1),
                };
                size = size.saturating_add(atom_size.saturating_mul(*power as usize));
                depth = depth.max(atom_depth);
            }
        }
        let dim = Self(Repr::Polynomial(Arc::new(Polynomial { terms, size, depth })));
        Measure::of(&dim).check(Self::LEEWAY)?;
        Ok(dim)
    }

    /// The dim with these terms in any order. Adds up like terms.
    fn collect(mut terms: Vec<Term>) -> DimResult {
        terms.sort_by(order);
        let mut sum: Vec<Term> = Vec::with_capacity(terms.len());
        let mut terms = terms.into_iter().peekable();
        while let Some(term) = terms.next() {
            let mut coefficient = i128::from(term.coefficient);
            while let Some(like) = terms.next_if(|next| next.factors == term.factors) {
                coefficient += i128::from(like.coefficient);
            }
            if coefficient != 0 {
                let coefficient = i64::try_from(coefficient).map_err(|_| Overflow::Range)?;
                sum.push(Term { coefficient, ..term });
            }
        }
        Self::sum(sum)
    }

    /// The value, if it is known.
    #[inline]
    pub fn as_literal(&self) -> Option<i64> {
        match &self.0 {
            Repr::Literal(value) => Some(*value),
            Repr::Polynomial(_) => None,
        }
    }

    /// The symbol, if the dim is a single symbol.
    pub fn as_symbol(&self) -> Option<&Symbol> {
        let Repr::Polynomial(sum) = &self.0 else { return None };
        match &sum.terms[..] {
            [Term { factors, coefficient: 1 }] => match &factors[..] {
                [(Atom::Symbol(name), 1)] => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether this is the known extent 1.
    pub fn is_one(&self) -> bool {
        self.as_literal() == Some(1)
    }

    /// The terms, highest degree first and the constant last; none for 0.
    pub fn terms(&self) -> std::borrow::Cow<'_, [Term]> {
        match &self.0 {
            Repr::Literal(0) => (&[][..]).into(),
            Repr::Literal(value) => vec![Term { factors: Arc::new([]), coefficient: *value }].into(),
            Repr::Polynomial(sum) => (&sum.terms[..]).into(),
        }
    }

    fn size(&self) -> usize {
        match &self.0 {
            Repr::Literal(_) => 1,
            Repr::Polynomial(sum) => sum.size,
        }
    }

    fn depth(&self) -> usize {
        match &self.0 {
            Repr::Literal(_) => 0,
            Repr::Polynomial(sum) => sum.depth,
        }
    }

    /// `self + other`.
    pub fn add(&self, other: &Self) -> DimResult {
        match (&self.0, &other.0) {
            (Repr::Literal(a), Repr::Literal(b)) => {
                a.checked_add(*b).map(Self::literal).ok_or(Overflow::Range)
            }
            (Repr::Literal(0), Repr::Polynomial(_)) => Ok(other.clone()),
            (Repr::Polynomial(_), Repr::Literal(0)) => Ok(self.clone()),
            (Repr::Literal(_) | Repr::Polynomial(_), Repr::Literal(_) | Repr::Polynomial(_)) => {
                Self::merge(&self.terms(), &other.terms(), 1)
            }
        }
    }

    /// The sum of all dims, in one pass.
    pub fn sum_of(dims: &[Self]) -> DimResult {
        let mut terms = Vec::new();
        for dim in dims {
            terms.extend_from_slice(&dim.terms());
            // Like terms are added as they are read, so that a long list takes little more memory than its sum.
            if terms.len() > 2 * Self::LEEWAY * Self::MAX_TERMS {
                terms = Self::collect(terms)?.terms().into_owned();
            }
        }
        Self::collect(terms)
    }

    /// `self - other`.
    pub fn sub(&self, other: &Self) -> DimResult {
        if self == other {
            return Ok(Self::ZERO);
        }
        Self::merge(&self.terms(), &other.terms(), -1)
    }

    /// `a + sign * b`, where both have their terms in order.
    fn merge(a: &[Term], b: &[Term], sign: i128) -> DimResult {
        let mut sum = Vec::with_capacity(a.len() + b.len());
        let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
        loop {
            let first = match (a.peek(), b.peek()) {
                (Some(a), Some(b)) => order(a, b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Self::sum(sum),
            };
            let own = if first.is_le() { a.next() } else { None };
            let others = if first.is_ge() { b.next() } else { None };
            let coefficient = |term: Option<&Term>| term.map_or(0, |term| i128::from(term.coefficient));
            let coefficient = coefficient(own) + sign * coefficient(others);
            if let Some(Term { factors, .. }) = own.or(others).filter(|_| coefficient != 0) {
                let coefficient = i64::try_from(coefficient).map_err(|_| Overflow::Range)?;
                sum.push(Term { factors: factors.clone(), coefficient });
            }
        }
    }

    /// `self * other`.
    pub fn mul(&self, other: &Self) -> DimResult {
        let (a, b) = match (&self.0, &other.0) {
            (Repr::Literal(a), Repr::Literal(b)) => {
                return a.checked_mul(*b).map(Self::literal).ok_or(Overflow::Range);
            }
            (Repr::Literal(factor), Repr::Polynomial(sum))
            | (Repr::Polynomial(sum), Repr::Literal(factor)) => {
                return Self::scale(sum, *factor);
            }
            (Repr::Polynomial(a), Repr::Polynomial(b)) => (a, b),
        };
        Measure::of(self).times(Measure::of(other)).check(Self::LEEWAY)?;
        let products = a.terms.iter().flat_map(|a| b.terms.iter().map(|b| a.times(b)));
        Self::collect(products.collect::<Result<_, _>>()?)
    }

    /// The terms times a number, which keeps their order.
    fn scale(sum: &Arc<Polynomial>, factor: i64) -> DimResult {
        match factor {
            0 => return Ok(Self::ZERO),
            1 => return Ok(Self(Repr::Polynomial(sum.clone()))),
            _ => {}
        }
        let scaled = sum.terms.iter().map(|Term { factors, coefficient }| {
            let coefficient = coefficient.checked_mul(factor).ok_or(Overflow::Range)?;
            Ok(Term { factors: factors.clone(), coefficient })
        });
        Self::sum(scaled.collect::<Result<_, _>>()?)
    }

    /// The product of the extents of a type, for which the limits are narrower than for other dims.
    ///
    /// If it succeeds, every product of some of the extents is within the limits too, in any order and whatever terms
    /// cancel.
    ///
    /// # Errors
    /// The limit that the product exceeds. It is checked before anything is multiplied.
    pub fn product(dims: &[Self]) -> DimResult {
        let measure = dims.iter().map(Measure::of).fold(Measure::of(&Self::ONE), Measure::times);
        measure.check(1)?;
        if measure.norm > i64::MAX as u128 {
            return Err(Overflow::Range);
        }
        dims.iter().try_fold(Self::ONE, |product, dim| product.mul(dim))
    }

    /// `self + value`.
    pub fn add_literal(&self, value: i64) -> DimResult {
        self.add(&Self::literal(value))
    }

    /// `self / divisor`, rounded towards negative infinity. It has no [`Atom::Floor`] if the divisor divides every
    /// coefficient.
    ///
    /// # Panics
    /// If `divisor` is not positive.
    pub fn floor_div(&self, divisor: i64) -> DimResult {
        assert!(divisor > 0, "the divisor of a dim is positive");
        let sum = match &self.0 {
            Repr::Literal(value) => return Ok(Self::literal(value.div_euclid(divisor))),
            Repr::Polynomial(sum) => sum,
        };
        // floor((d * q + r) / d) = q + floor(r / d), coefficient by coefficient.
        let each = |part: &dyn Fn(i64) -> i64| {
            let terms =
                sum.terms.iter().map(|term| Term { coefficient: part(term.coefficient), ..term.clone() });
            Self::sum(terms.filter(|term| term.coefficient != 0).collect())
        };
        let remainders = sum.terms.iter().map(|term| term.coefficient.rem_euclid(divisor));
        let common = remainders.fold(divisor, gcd);
        let quotient = each(&|coefficient| coefficient.div_euclid(divisor))?;
        let rest = each(&|coefficient| coefficient.rem_euclid(divisor) / common)?;
        let denominator = divisor / common;
        let floor = match &rest.0 {
            Repr::Literal(value) => Self::literal(value.div_euclid(denominator)),
            Repr::Polynomial(_) if denominator == 1 => rest,
            Repr::Polynomial(sum) => match &sum.terms[..] {
                // floor(floor(a / b) / c) = floor(a / (b * c)).
                [Term { factors, coefficient: 1 }] => match &factors[..] {
                    [(Atom::Floor(inner, by), 1)] => {
                        let by = by.checked_mul(denominator).ok_or(Overflow::Range)?;
                        Self::atom(Atom::Floor(inner.clone(), by))?
                    }
                    _ => Self::atom(Atom::Floor(rest, denominator))?,
                },
                _ => Self::atom(Atom::Floor(rest, denominator))?,
            },
        };
        quotient.add(&floor)
    }

    /// `self / divisor`, rounded up.
    pub fn ceil_div(&self, divisor: i64) -> DimResult {
        self.add_literal(divisor - 1)?.floor_div(divisor)
    }

    /// `self / divisor` if the quotient is a polynomial, else `None`.
    ///
    /// # Errors
    /// If the product of the divisor and the quotient exceeds a limit.
    pub fn exact_div(&self, divisor: &Self) -> Result<Option<Self>, Overflow> {
        let of_divisor: BTreeMap<Monomial, i64> = divisor.monomials();
        let Some((lead, by)) = of_divisor.first_key_value() else { return Ok(None) };
        let (mut rest, mut quotient) = (self.monomials(), Vec::new());
        // The leading term of a product is the product of the leading terms, so each turn finds the next term of the
        // quotient.
        while let Some((monomial, coefficient)) = rest.first_key_value() {
            let (Some(factors), Some(0)) =
                (divide_factors(&monomial.0, &lead.0), coefficient.checked_rem(*by))
            else {
                return Ok(None);
            };
            let coefficient = coefficient.checked_div(*by).ok_or(Overflow::Range)?;
            let step = Term { factors: factors.into(), coefficient };
            quotient.push(step.clone());
            let products = quotient.len().saturating_mul(of_divisor.len());
            within(Self::LEEWAY * Self::MAX_TERMS, products, TERMS)?;
            for (monomial, coefficient) in &of_divisor {
                let Term { factors, coefficient } =
                    step.times(&Term { factors: monomial.0.clone(), coefficient: *coefficient })?;
                let entry = rest.entry(Monomial(factors));
                match entry {
                    std::collections::btree_map::Entry::Vacant(entry) => {
                        entry.insert(coefficient.checked_neg().ok_or(Overflow::Range)?);
                    }
                    std::collections::btree_map::Entry::Occupied(mut entry) => {
                        let left = entry.get().checked_sub(coefficient).ok_or(Overflow::Range)?;
                        if left == 0 {
                            entry.remove();
                        } else {
                            entry.insert(left);
                        }
                    }
                }
            }
        }
        Self::collect(quotient).map(Some)
    }

    fn monomials(&self) -> BTreeMap<Monomial, i64> {
        self.terms().iter().map(|term| (Monomial(term.factors.clone()), term.coefficient)).collect()
    }

    /// A lower bound that holds for all values of the symbols (each at least 1), if one is found.
    pub fn lower_bound(&self) -> Option<i64> {
        // The most products of terms that are computed for a bound.
        let mut products = 1 << 13;
        self.bound(&mut products)
    }

    /// As [`lower_bound`](Self::lower_bound), with at most `products` products of terms. Subtracts those that it
    /// computes.
    fn bound(&self, products: &mut usize) -> Option<i64> {
        let simple = |Term { factors, coefficient }: &Term| {
            *coefficient > 0 && factors.iter().all(|(atom, _)| matches!(atom, Atom::Symbol(_)))
        };
        let terms = self.terms();
        if terms.iter().all(simple) {
            // The least value is the one where every symbol is 1.
            return terms.iter().try_fold(0i64, |sum, term| sum.checked_add(term.coefficient));
        }
        let mut shifted = Vec::new();
        for Term { factors, coefficient } in terms.iter() {
            let mut product = Self::literal(*coefficient);
            for (atom, power) in factors.iter() {
                // atom = rest + bound with rest >= 0.
                let bound = match atom {
                    Atom::Symbol(_) => 1,
                    Atom::Floor(inner, by) => inner.bound(products)?.div_euclid(*by),
                };
                let atom = Self::atom(atom.clone()).and_then(|atom| atom.add_literal(bound)).ok()?;
                for _ in 0..*power {
                    *products = products.checked_sub(product.terms().len() * 2)?;
                    product = product.mul(&atom).ok()?;
                }
            }
            shifted.extend_from_slice(&product.terms());
        }
        let shifted = Self::collect(shifted).ok()?;
        let mut constant = 0;
        for Term { factors, coefficient } in shifted.terms().iter() {
            if factors.is_empty() {
                constant = *coefficient;
            } else if *coefficient < 0 {
                return None;
            }
        }
        Some(constant)
    }

    /// Whether this is proved to be at least `least` for all values of the symbols.
    fn is_at_least(&self, least: i64) -> bool {
        // Most dims for which this does not hold are already too small where every symbol is 1.
        self.at_ones().is_none_or(|value| value >= i128::from(least))
            && self.lower_bound().is_some_and(|bound| bound >= least)
    }

    /// The value where every symbol is 1, if it fits into 128 bits.
    fn at_ones(&self) -> Option<i128> {
        self.terms().iter().try_fold(0i128, |sum, Term { factors, coefficient }| {
            let product =
                factors.iter().try_fold(i128::from(*coefficient), |product, (atom, power)| match atom {
                    Atom::Symbol(_) => Some(product),
                    Atom::Floor(inner, by) => {
                        product.checked_mul(inner.at_ones()?.div_euclid(i128::from(*by)).checked_pow(*power)?)
                    }
                });
            sum.checked_add(product?)
        })
    }

    /// Whether this is proved to be at least 1 for all values of the symbols.
    pub fn is_positive(&self) -> bool {
        self.is_at_least(1)
    }

    /// Whether this is proved to be below 1 for all values of the symbols, and so is never an extent.
    pub fn is_below_one(&self) -> bool {
        match (self.as_literal(), self.as_symbol()) {
            (Some(value), _) => value < 1,
            (None, Some(_)) => false,
            (None, None) => Self::ONE.sub(self).is_ok_and(|gap| gap.is_positive()),
        }
    }

    /// Whether `self <= other` is proved for all values of the symbols.
    pub fn at_most(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Literal(own), Repr::Literal(other)) => own <= other,
            (Repr::Literal(_) | Repr::Polynomial(_), Repr::Literal(_) | Repr::Polynomial(_)) => {
                other.sub(self).is_ok_and(|gap| gap.is_at_least(0))
            }
        }
    }

    /// Replaces every bound symbol.
    pub fn substitute(&self, bindings: &Bindings) -> DimResult {
        let mut products = 0;
        self.replaced(bindings, &mut products)
    }

    /// As [`substitute`](Self::substitute). `products` counts the products of terms so far.
    fn replaced(&self, bindings: &Bindings, products: &mut usize) -> DimResult {
        let Repr::Polynomial(sum) = &self.0 else { return Ok(self.clone()) };
        if bindings.is_empty() {
            return Ok(self.clone());
        }
        let mut replaced = Vec::with_capacity(sum.terms.len());
        for Term { factors, coefficient } in &sum.terms {
            let mut product = Self::literal(*coefficient);
            for (atom, power) in factors.iter() {
                let atom = match atom {
                    Atom::Symbol(name) => match bindings.get(name) {
                        Some(dim) => dim.clone(),
                        None => Self::atom(atom.clone())?,
                    },
                    Atom::Floor(inner, by) => inner.replaced(bindings, products)?.floor_div(*by)?,
                };
                for _ in 0..*power {
                    *products =
                        products.saturating_add(Measure::of(&product).times(Measure::of(&atom)).terms);
                    within(Self::MAX_PRODUCTS, *products, PRODUCTS)?;
                    product = product.mul(&atom)?;
                }
            }
            replaced.extend_from_slice(&product.terms());
        }
        Self::collect(replaced)
    }

    /// The value if `bindings` has a literal for every symbol. `None` if one is missing or the value overflows.
    pub fn evaluate(&self, bindings: &Bindings) -> Option<i64> {
        self.substitute(bindings).ok()?.as_literal()
    }

    /// Calls `visit` with each symbol, in a fixed order. A symbol may be visited more than once.
    #[inline]
    pub fn for_each_symbol(&self, visit: &mut dyn FnMut(&Symbol)) {
        if let Repr::Polynomial(sum) = &self.0 {
            for_each_symbol(&sum.terms, visit);
        }
    }
}

fn for_each_symbol(terms: &[Term], visit: &mut dyn FnMut(&Symbol)) {
    for (atom, _) in terms.iter().flat_map(|term| term.factors.iter()) {
        match atom {
            Atom::Symbol(name) => visit(name),
            Atom::Floor(inner, _) => inner.for_each_symbol(visit),
        }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl From<i64> for Dim {
    fn from(value: i64) -> Self {
        Self::literal(value)
    }
}

/// Makes a symbol.
impl From<&str> for Dim {
    fn from(name: &str) -> Self {
        Self::symbol(name)
    }
}

#[cfg(test)]
mod tests;
