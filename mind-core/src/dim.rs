//! The dimension algebra: an extent is an integer or a polynomial over symbols, kept in a normal form.
//!
//! Two dims are equal exactly when their normal forms are. A normal form is a sum of terms, each an integer
//! coefficient times a product of atoms; an atom is a symbol (an unknown extent, at least 1) or a floored quotient by a
//! positive integer that does not divide out. Every operation checks for overflow of 64 bits.

use std::{collections::BTreeMap, fmt, sync::Arc};

/// An extent, or a quantity computed from extents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dim(Repr);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Literal(i64),
    Sum(Arc<[Term]>),
}

/// A coefficient times a product of atoms; no factors means the constant term.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    /// The atoms and their powers, ascending; empty for the constant term.
    pub factors: Vec<(Atom, u32)>,
    /// Never zero.
    pub coefficient: i64,
}

/// What a dim is a polynomial over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// An unknown extent, at least 1.
    Symbol(Symbol),
    /// `numerator / denominator`, rounded down, where it does not divide out.
    Floor(Dim, i64),
}

/// The name of an unknown extent.
pub type Symbol = Arc<str>;

/// What each symbol stands for: a dim of the caller, or an extent at run time.
pub type Bindings = BTreeMap<Symbol, Dim>;

/// The result of dim arithmetic; the error is that a coefficient leaves 64 bits, or that there are thousands of terms.
pub type DimResult = Result<Dim, Overflow>;

/// A coefficient or an extent left the range of 64-bit integers, or a product has more terms than any program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a dimension exceeds the range of 64-bit integers")]
pub struct Overflow;

impl Dim {
    /// The extent 1.
    pub const ONE: Self = Self(Repr::Literal(1));
    /// The most products of terms that a multiplication makes, so that no product of sums takes forever.
    const MAX_PRODUCTS: usize = 4096;
    /// The quantity 0.
    pub const ZERO: Self = Self(Repr::Literal(0));

    /// A known extent.
    pub const fn literal(value: i64) -> Self {
        Self(Repr::Literal(value))
    }

    /// An unknown extent.
    pub fn symbol(name: impl Into<Symbol>) -> Self {
        Self::atom(Atom::Symbol(name.into()))
    }

    fn atom(atom: Atom) -> Self {
        Self(Repr::Sum(Arc::new([Term { factors: vec![(atom, 1)], coefficient: 1 }])))
    }

    /// The value, where it is known.
    #[inline]
    pub fn as_literal(&self) -> Option<i64> {
        match &self.0 {
            Repr::Literal(value) => Some(*value),
            Repr::Sum(_) => None,
        }
    }

    /// The symbol, where the dim is one and nothing else.
    pub fn as_symbol(&self) -> Option<&Symbol> {
        let Repr::Sum(terms) = &self.0 else { return None };
        match &terms[..] {
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

    /// The terms, of highest degree first, the constant last; none for 0.
    pub fn terms(&self) -> std::borrow::Cow<'_, [Term]> {
        match &self.0 {
            Repr::Literal(0) => (&[][..]).into(),
            Repr::Literal(value) => vec![Term { factors: Vec::new(), coefficient: *value }].into(),
            Repr::Sum(terms) => (&terms[..]).into(),
        }
    }

    fn from_map(map: BTreeMap<Vec<(Atom, u32)>, i64>) -> Self {
        let mut terms: Vec<Term> = map
            .into_iter()
            .filter(|(_, coefficient)| *coefficient != 0)
            .map(|(factors, coefficient)| Term { factors, coefficient })
            .collect();
        match &terms[..] {
            [] => return Self::ZERO,
            [Term { factors, coefficient }] if factors.is_empty() => return Self::literal(*coefficient),
            _ => {}
        }
        let degree = |term: &Term| term.factors.iter().map(|(_, power)| *power).sum::<u32>();
        terms.sort_by(|a, b| degree(b).cmp(&degree(a)).then_with(|| a.factors.cmp(&b.factors)));
        Self(Repr::Sum(terms.into()))
    }

    fn to_map(&self) -> BTreeMap<Vec<(Atom, u32)>, i64> {
        self.terms().iter().map(|term| (term.factors.clone(), term.coefficient)).collect()
    }

    /// `self + other`.
    pub fn add(&self, other: &Self) -> DimResult {
        if let (Repr::Literal(a), Repr::Literal(b)) = (&self.0, &other.0) {
            return a.checked_add(*b).map(Self::literal).ok_or(Overflow);
        }
        let mut map = self.to_map();
        for Term { factors, coefficient } in other.terms().iter() {
            let entry = map.entry(factors.clone()).or_insert(0);
            *entry = entry.checked_add(*coefficient).ok_or(Overflow)?;
        }
        Ok(Self::from_map(map))
    }

    /// `self - other`.
    pub fn sub(&self, other: &Self) -> DimResult {
        if self == other {
            return Ok(Self::ZERO);
        }
        self.add(&other.mul(&Self::literal(-1))?)
    }

    /// `self * other`.
    pub fn mul(&self, other: &Self) -> DimResult {
        match (&self.0, &other.0) {
            (Repr::Literal(a), Repr::Literal(b)) => {
                return a.checked_mul(*b).map(Self::literal).ok_or(Overflow);
            }
            (Repr::Literal(factor), Repr::Sum(terms)) | (Repr::Sum(terms), Repr::Literal(factor)) => {
                return Self::scale(terms, *factor);
            }
            (Repr::Sum(a), Repr::Sum(b)) if a.len().saturating_mul(b.len()) > Self::MAX_PRODUCTS => {
                return Err(Overflow);
            }
            (Repr::Sum(_), Repr::Sum(_)) => {}
        }
        let mut map = BTreeMap::new();
        for a in self.terms().iter() {
            for b in other.terms().iter() {
                let entry = map.entry(multiply_factors(&a.factors, &b.factors)).or_insert(0i64);
                let product = a.coefficient.checked_mul(b.coefficient).ok_or(Overflow)?;
                *entry = entry.checked_add(product).ok_or(Overflow)?;
            }
        }
        Ok(Self::from_map(map))
    }

    /// The terms times a number: their order stays.
    fn scale(terms: &Arc<[Term]>, factor: i64) -> DimResult {
        match factor {
            0 => return Ok(Self::ZERO),
            1 => return Ok(Self(Repr::Sum(terms.clone()))),
            _ => {}
        }
        let scaled = terms.iter().map(|Term { factors, coefficient }| {
            let coefficient = coefficient.checked_mul(factor).ok_or(Overflow)?;
            Ok(Term { factors: factors.clone(), coefficient })
        });
        Ok(Self(Repr::Sum(scaled.collect::<Result<_, _>>()?)))
    }

    /// `self + value`.
    pub fn add_literal(&self, value: i64) -> DimResult {
        self.add(&Self::literal(value))
    }

    /// `self / divisor` rounded towards negative infinity; exact where every coefficient divides.
    ///
    /// # Panics
    /// If `divisor` is not positive.
    pub fn floor_div(&self, divisor: i64) -> DimResult {
        assert!(divisor > 0, "the divisor of a dim is positive");
        if let Repr::Literal(value) = self.0 {
            return Ok(Self::literal(value.div_euclid(divisor)));
        }
        // floor((d * q + r) / d) = q + floor(r / d), coefficient by coefficient.
        let (mut quotient, mut rest) = (BTreeMap::new(), BTreeMap::new());
        let mut common = divisor;
        for Term { factors, coefficient } in self.terms().iter() {
            quotient.insert(factors.clone(), coefficient.div_euclid(divisor));
            let remainder = coefficient.rem_euclid(divisor);
            common = gcd(common, remainder);
            rest.insert(factors.clone(), remainder);
        }
        for remainder in rest.values_mut() {
            *remainder /= common;
        }
        let rest = Self::from_map(rest);
        let denominator = divisor / common;
        let floor = match (&rest.0, denominator) {
            (Repr::Literal(value), _) => Self::literal(value.div_euclid(denominator)),
            (Repr::Sum(_), 1) => rest,
            (Repr::Sum(terms), _) => match &terms[..] {
                // floor(floor(a / b) / c) = floor(a / (b * c)).
                [Term { factors, coefficient: 1 }] => match &factors[..] {
                    [(Atom::Floor(inner, by), 1)] => {
                        let by = by.checked_mul(denominator).ok_or(Overflow)?;
                        Self::atom(Atom::Floor(inner.clone(), by))
                    }
                    _ => Self::atom(Atom::Floor(rest, denominator)),
                },
                _ => Self::atom(Atom::Floor(rest, denominator)),
            },
        };
        Self::from_map(quotient).add(&floor)
    }

    /// `self / divisor` rounded up.
    pub fn ceil_div(&self, divisor: i64) -> DimResult {
        self.add_literal(divisor - 1)?.floor_div(divisor)
    }

    /// `self / divisor` where that is a polynomial again, else nothing.
    pub fn exact_div(&self, divisor: &Self) -> Option<Self> {
        let lead = divisor.terms().first()?.clone();
        let (mut rest, mut quotient) = (self.clone(), Self::ZERO);
        // A quotient has at most as many terms as this; the bound stops a division that does not come out.
        let mut steps = 64;
        while let Some(term) = rest.terms().first().cloned() {
            steps -= 1;
            if steps == 0 || term.coefficient % lead.coefficient != 0 {
                return None;
            }
            let factors = divide_factors(&term.factors, &lead.factors)?;
            let step = Self::from_map([(factors, term.coefficient / lead.coefficient)].into());
            rest = rest.sub(&step.mul(divisor).ok()?).ok()?;
            quotient = quotient.add(&step).ok()?;
        }
        Some(quotient)
    }

    /// A bound that holds whatever the symbols are (each at least 1), if one is found.
    pub fn lower_bound(&self) -> Option<i64> {
        let simple = |Term { factors, coefficient }: &Term| {
            *coefficient > 0 && factors.iter().all(|(atom, _)| matches!(atom, Atom::Symbol(_)))
        };
        let terms = self.terms();
        if terms.iter().all(simple) {
            // The least value is where every symbol is 1.
            return terms.iter().try_fold(0i64, |sum, term| sum.checked_add(term.coefficient));
        }
        let mut shifted = Self::ZERO;
        for Term { factors, coefficient } in self.terms().iter() {
            let mut product = Self::literal(*coefficient);
            for (atom, power) in factors {
                // atom = rest + bound with rest >= 0.
                let bound = match atom {
                    Atom::Symbol(_) => 1,
                    Atom::Floor(inner, by) => inner.lower_bound()?.div_euclid(*by),
                };
                let atom = Self::atom(atom.clone()).add_literal(bound).ok()?;
                for _ in 0..*power {
                    product = product.mul(&atom).ok()?;
                }
            }
            shifted = shifted.add(&product).ok()?;
        }
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

    /// Whether this is at least 1 whatever the symbols are.
    pub fn is_positive(&self) -> bool {
        self.lower_bound().is_some_and(|bound| bound >= 1)
    }

    /// Whether this is below 1 whatever the symbols are: no extent.
    pub fn is_below_one(&self) -> bool {
        match (self.as_literal(), self.as_symbol()) {
            (Some(value), _) => value < 1,
            (None, Some(_)) => false,
            (None, None) => Self::ONE.sub(self).is_ok_and(|gap| gap.is_positive()),
        }
    }

    /// Whether `self <= other` whatever the symbols are.
    pub fn at_most(&self, other: &Self) -> bool {
        other.sub(self).ok().and_then(|gap| gap.lower_bound()).is_some_and(|bound| bound >= 0)
    }

    /// With every bound symbol replaced.
    pub fn substitute(&self, bindings: &Bindings) -> DimResult {
        let Repr::Sum(terms) = &self.0 else { return Ok(self.clone()) };
        if bindings.is_empty() {
            return Ok(self.clone());
        }
        let mut sum = Self::ZERO;
        for Term { factors, coefficient } in terms.iter() {
            let mut product = Self::literal(*coefficient);
            for (atom, power) in factors {
                let atom = match atom {
                    Atom::Symbol(name) => {
                        bindings.get(name).cloned().unwrap_or_else(|| Self::atom(atom.clone()))
                    }
                    Atom::Floor(inner, by) => inner.substitute(bindings)?.floor_div(*by)?,
                };
                for _ in 0..*power {
                    product = product.mul(&atom)?;
                }
            }
            sum = sum.add(&product)?;
        }
        Ok(sum)
    }

    /// The value where `bindings` gives every symbol a literal; nothing where one is missing or it overflows.
    pub fn evaluate(&self, bindings: &Bindings) -> Option<i64> {
        self.substitute(bindings).ok()?.as_literal()
    }

    /// Calls `visit` with each symbol, in a fixed order, possibly more than once.
    #[inline]
    pub fn for_each_symbol(&self, visit: &mut dyn FnMut(&Symbol)) {
        if let Repr::Sum(terms) = &self.0 {
            for_each_symbol(terms, visit);
        }
    }
}

fn for_each_symbol(terms: &[Term], visit: &mut dyn FnMut(&Symbol)) {
    for (atom, _) in terms.iter().flat_map(|term| &term.factors) {
        match atom {
            Atom::Symbol(name) => visit(name),
            Atom::Floor(inner, _) => inner.for_each_symbol(visit),
        }
    }
}

fn multiply_factors(a: &[(Atom, u32)], b: &[(Atom, u32)]) -> Vec<(Atom, u32)> {
    let mut powers: BTreeMap<Atom, u32> = a.iter().cloned().collect();
    for (atom, power) in b {
        *powers.entry(atom.clone()).or_insert(0) += power;
    }
    powers.into_iter().collect()
}

fn divide_factors(a: &[(Atom, u32)], b: &[(Atom, u32)]) -> Option<Vec<(Atom, u32)>> {
    let mut powers: BTreeMap<Atom, u32> = a.iter().cloned().collect();
    for (atom, power) in b {
        let left = powers.get_mut(atom)?;
        *left = left.checked_sub(*power)?;
    }
    Some(powers.into_iter().filter(|(_, power)| *power > 0).collect())
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl From<i64> for Dim {
    fn from(value: i64) -> Self {
        Self::literal(value)
    }
}

/// A symbol.
impl From<&str> for Dim {
    fn from(name: &str) -> Self {
        Self::symbol(name)
    }
}

/// As in the surface language, `2 * N + 1`; with `{:#}` without spaces, `2*N+1`.
impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if f.alternate() { "" } else { " " };
        let terms = self.terms();
        if terms.is_empty() {
            return f.write_str("0");
        }
        for (i, Term { factors, coefficient }) in terms.iter().enumerate() {
            match (i, *coefficient < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, negative) => write!(f, "{space}{}{space}", if negative { "-" } else { "+" })?,
            }
            let mut first = true;
            if coefficient.unsigned_abs() != 1 || factors.is_empty() {
                write!(f, "{}", coefficient.unsigned_abs())?;
                first = false;
            }
            for (atom, power) in factors {
                for _ in 0..*power {
                    if !first {
                        write!(f, "{space}*{space}")?;
                    }
                    match atom {
                        Atom::Symbol(name) => f.write_str(name)?,
                        Atom::Floor(inner, by) => {
                            let only = terms.len() == 1 && factors.len() == 1 && first;
                            let quotient = if inner.terms().len() == 1 && inner.as_symbol().is_some() {
                                format!("{inner}{space}/{space}{by}")
                            } else if f.alternate() {
                                format!("({inner:#})/{by}")
                            } else {
                                format!("({inner}) / {by}")
                            };
                            if only || first { f.write_str(&quotient)? } else { write!(f, "({quotient})")? }
                        }
                    }
                    first = false;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
