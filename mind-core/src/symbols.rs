//! Finds the symbols that extents determine. Each extent gives an equation, which is solved if it is linear in one
//! unbound symbol.

use std::collections::BTreeSet;

use crate::{
    dim::{Atom, Bindings, Dim, Symbol, Term},
    ty::Type,
};

/// The symbols that the extents of inputs with these types determine, for all extents.
pub(crate) fn bindable<'a>(inputs: impl Iterator<Item = &'a Type> + Clone) -> BTreeSet<Symbol> {
    let mut bound = Bindings::new();
    let dims = || inputs.clone().flat_map(|ty| ty.shape.iter()).filter(|dim| dim.as_literal().is_none());
    loop {
        let before = bound.len();
        for dim in dims() {
            if let Some((symbol, _, _)) = linear(dim, &bound) {
                bound.insert(symbol, Dim::ONE);
            }
        }
        if bound.len() == before {
            return bound.into_keys().collect();
        }
    }
}

/// The one symbol of `dim` without a binding, and its value if `dim` equals `extent`. `None` if `dim` is not linear in
/// one symbol or the value is not an integer of at least 1.
pub(crate) fn solve(dim: &Dim, extent: i64, bindings: &Bindings) -> Option<(Symbol, i64)> {
    let (symbol, coefficient, constant) = linear(dim, bindings)?;
    let rest = extent.checked_sub(constant)?;
    (rest % coefficient == 0 && rest / coefficient >= 1).then(|| (symbol, rest / coefficient))
}

/// `(s, a, c)` if `dim` is `a * s + c` under the bindings.
pub(crate) fn linear(dim: &Dim, bindings: &Bindings) -> Option<(Symbol, i64, i64)> {
    let rest = dim.substitute(bindings).ok()?;
    let terms = rest.terms();
    let (Term { factors, coefficient }, constant) = match &terms[..] {
        [symbol] => (symbol, 0),
        [symbol, constant] if constant.factors.is_empty() => (symbol, constant.coefficient),
        _ => return None,
    };
    match &factors[..] {
        [(Atom::Symbol(symbol), 1)] => Some((symbol.clone(), *coefficient, constant)),
        _ => None,
    }
}
