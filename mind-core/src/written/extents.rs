//! Attributes that are made of the extents of operands: a dim over symbols each of which names an axis of an operand.

use std::cell::OnceCell;

use mind_shape::{Type, rules};

use super::arguments::{Argument, Text, Texts};
use super::resolve::position;
use crate::dim::{Atom, Bindings, Dim, Overflow, Symbol, Term};
use crate::ty;

/// The extent of an axis of an operand; a negative one counts from the end.
pub(crate) fn extent(operand: usize, axis: i64) -> Dim {
    Dim::symbol(format!("{operand}[{axis}]").as_str())
}

/// The operand and the axis that a symbol names; nothing for a symbol of a program.
fn place(symbol: &Symbol) -> Option<(usize, i64)> {
    let (operand, axis) = symbol.strip_suffix(']')?.split_once('[')?;
    Some((operand.parse().ok()?, axis.parse().ok()?))
}

/// The same in an expression, which has no symbols of a program.
fn named(symbol: &Symbol) -> (usize, i64) {
    place(symbol).expect("dims of expressions are over extents of operands")
}

/// The operands whose extents are in dims: up to the last of them.
pub(crate) fn operands(dims: &[Dim]) -> usize {
    let mut count = 0;
    for dim in dims {
        dim.for_each_symbol(&mut |symbol| {
            count = count.max(place(symbol).map_or(0, |(operand, _)| operand + 1));
        });
    }
    count
}

impl Text for Dim {
    fn text(&self, at: &Texts<'_>) -> String {
        let path = at.rules;
        let number = |number: i64| format!("::core::option::Option::Some({number})");
        let atom = |atom: &Atom| match atom {
            Atom::Symbol(symbol) => {
                let (operand, axis) = named(symbol);
                // A kernel has references to types, a rule has types.
                let ty = at.operands[operand].trim_start_matches('&');
                format!("{path}::extent_of(&{ty}, {axis})")
            }
            Atom::Floor(inner, by) => format!("{path}::floored({}, {by})", inner.text(at)),
        };
        let term = |Term { factors, coefficient }: &Term| {
            let atoms = factors.iter().flat_map(|(factor, power)| vec![atom(factor); *power as usize]);
            let factors =
                atoms.chain((*coefficient != 1 || factors.is_empty()).then(|| number(*coefficient)));
            factors.reduce(|a, b| format!("{path}::times({a}, {b})")).expect("a term has a factor")
        };
        let terms = self.terms();
        let sum = terms.iter().map(term).reduce(|a, b| format!("{path}::sum({a}, {b})"));
        sum.unwrap_or_else(|| number(0))
    }
}

/// Nothing while an extent is unknown.
impl Argument for Dim {
    type Value<'v> = Option<i64>;

    fn value(&self, operands: &[Type]) -> Option<i64> {
        let atom = |atom: &Atom| match atom {
            Atom::Symbol(symbol) => {
                let (operand, axis) = named(symbol);
                rules::extent_of(&operands[operand], axis)
            }
            Atom::Floor(inner, by) => rules::floored(inner.value(operands), *by),
        };
        let term = |Term { factors, coefficient }: &Term| {
            let power = |(factor, power): &(Atom, u32)| {
                (0..*power).try_fold(1, |product, _| rules::times(Some(product), atom(factor)))
            };
            factors
                .iter()
                .try_fold(*coefficient, |product, factor| rules::times(Some(product), power(factor)))
        };
        self.terms().iter().try_fold(0, |sum, own| rules::sum(Some(sum), term(own)))
    }
}

/// A written shape as rules take it.
pub(super) struct Sizes<'d> {
    dims: &'d [Dim],
    values: OnceCell<Vec<i64>>,
}

pub(super) fn sizes(dims: &[Dim]) -> Sizes<'_> {
    Sizes { dims, values: OnceCell::new() }
}

impl Text for Sizes<'_> {
    fn text(&self, at: &Texts<'_>) -> String {
        let size = |dim: &Dim| match dim.as_literal() {
            Some(size) => size.to_string(),
            None => format!("{}::as_extent({})", at.rules, dim.text(at)),
        };
        format!("&[{}]", self.dims.iter().map(size).collect::<Vec<_>>().join(", "))
    }
}

impl Argument for Sizes<'_> {
    type Value<'v>
        = &'v [i64]
    where
        Self: 'v;

    fn value<'v>(&'v self, operands: &'v [Type]) -> &'v [i64] {
        let size = |dim: &Dim| dim.as_literal().unwrap_or_else(|| rules::as_extent(dim.value(operands)));
        self.values.get_or_init(|| self.dims.iter().map(size).collect())
    }
}

/// Dims where the types of the operands are known.
pub(super) fn known(dims: &[Dim], operands: &[&ty::Type]) -> Result<Vec<Dim>, Overflow> {
    let mut bindings = Bindings::new();
    for dim in dims {
        dim.for_each_symbol(&mut |symbol| {
            if let Some((operand, axis)) = place(symbol) {
                let shape = &operands[operand].shape;
                let axis = if axis < 0 { axis + position(shape.len()) } else { axis };
                bindings.insert(
                    symbol.clone(),
                    shape[usize::try_from(axis).expect("its check has passed")].clone(),
                );
            }
        });
    }
    dims.iter().map(|dim| dim.substitute(&bindings)).collect()
}
