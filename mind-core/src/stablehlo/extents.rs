//! Binds the symbols of a module to extents, and checks that it can run with these.

use std::collections::{BTreeMap, BTreeSet};

use super::Error;
use crate::{
    canon::Canonical,
    diag::Code,
    dim::{Bindings, Dim, Symbol},
    interp::{RunError, check_requirements},
    ir::{Const, Module, Op},
    ty::Shape,
    verify::requirements,
};

/// Returns the extents as bindings, after checking that every dim of the module has a 64-bit value under them.
///
/// # Errors
/// See [`Error`].
pub(super) fn check(module: &Canonical, given: &BTreeMap<Symbol, i64>) -> Result<Bindings, Error> {
    let mut symbols: BTreeSet<Symbol> = BTreeSet::new();
    for dim in module.inputs().flat_map(|(_, ty)| ty.shape.iter()) {
        dim.for_each_symbol(&mut |symbol| {
            symbols.insert(symbol.clone());
        });
    }
    let unknown: Vec<Symbol> = given.keys().filter(|symbol| !symbols.contains(*symbol)).cloned().collect();
    if !unknown.is_empty() {
        return Err(Error::Unknown(unknown));
    }
    symbols.retain(|symbol| !given.contains_key(symbol));
    if !symbols.is_empty() {
        return Err(Error::Open(symbols.into_iter().collect()));
    }
    if let Some((symbol, extent)) = given.iter().find(|(_, extent)| **extent < 1) {
        let message = format!("`{symbol}` is {extent}, needed at least 1");
        return Err(Error::Extents(RunError::new(Code::E3006, message)));
    }
    let bindings: Bindings =
        given.iter().map(|(symbol, extent)| (symbol.clone(), Dim::literal(*extent))).collect();
    check_requirements(&requirements(module), &bindings).map_err(Error::Extents)?;
    all_countable(module, &bindings)?;
    Ok(bindings)
}

/// Returns E6004 if a shape, in loops too, has more elements than 64 bits can count.
fn all_countable(module: &Module, bindings: &Bindings) -> Result<(), Error> {
    for inst in module.insts() {
        countable(&inst.ty.shape, bindings)?;
        if let Op::Const(Const::Count { shape, .. }) = &inst.op {
            countable(shape, bindings)?;
        }
        inst.op.called().map_or(Ok(()), |body| all_countable(body, bindings))?;
    }
    Ok(())
}

/// Returns E6004 for a shape with more elements than 64 bits can count.
fn countable(shape: &Shape, bindings: &Bindings) -> Result<(), Error> {
    let count = shape.iter().try_fold(1_i64, |count, dim| count.checked_mul(dim.evaluate(bindings)?));
    let too_many = || format!("{shape} has more elements than 64 bits can count");
    count.map(|_| ()).ok_or_else(|| Error::Extents(RunError::new(Code::E6004, too_many())))
}
