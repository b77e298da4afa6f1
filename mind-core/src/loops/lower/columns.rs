//! Sums of few columns, with the matrix as one row.
//!
//! A row of few elements fills a part of a register, and each row would wait for the sums of the row before. The matrix
//! is therefore processed as one long row, in blocks of several rows. Each element of a block has a separate lane: row
//! `i` of a column goes to lane `i % rows`. In the end the lanes of a column are added up as a tree.

use mind_shape::loops::chain_in;

use crate::{
    dim::Dim,
    loops::{Statement, Subslice},
    plan::{Fold, Nest, Pass, Plan, Store, Target, View},
};

use super::{
    WORTH_DISPATCHING,
    captures::Captures,
    folds::{LaneFold, lanes_of},
    known,
    rows::{FoldElement, NestLowering, NestRows},
    short_rows::flat_view,
    writer::Writer,
};

/// Lowers a nest that only sums few columns, and stores elements of the same matrix. Returns `out` unchanged as the
/// error if the nest does anything else.
pub(super) fn lower(plan: &Plan, nest: &Nest, captures: &Captures, out: Writer) -> Result<Writer, Writer> {
    let Some((flat, lanes, columns)) = flat_of_few(plan, nest, captures) else { return Err(out) };
    let mut lowering = NestLowering::new(plan, &flat, captures, NestRows::Nest, out);
    let pass = &flat.passes[0];
    let mut variables = lowering.variables(pass);
    let folds = pass.folds.iter().map(|fold| {
        let most = chain_in(lanes / columns);
        let Target::Number(value) = fold.target else { unreachable!("flat sums are numbers") };
        lowering.fold(Some(value), FoldElement::of(fold), lanes, most, 0..1)
    });
    let sums: Vec<LaneFold> = folds.collect();
    lowering.still_loads(&mut variables);
    lowering.elements(pass, &variables, &sums.iter().cloned().map(Some).collect::<Vec<_>>());
    for (fold, sum) in nest.passes[0].folds.iter().zip(&sums) {
        let Target::Memory(view) = &fold.target else { unreachable!("sums of columns are in memory") };
        let to = Subslice::whole(captures.target(view));
        let (monoid, lanes) = (fold.monoid, sum.in_lanes());
        lowering.out.push(Statement::Columns { to: to.clone(), monoid, lanes, columns });
        lowering.divide(fold, to);
    }
    Ok(lowering.out)
}

/// The nest as one row, and its numbers of lanes and columns, if it only sums few columns.
fn flat_of_few(plan: &Plan, nest: &Nest, captures: &Captures) -> Option<(Nest, usize, usize)> {
    let ([pass], [_, columns]) = (&nest.passes[..], &nest.extents[..]) else { return None };
    let is_little = known(&nest.extents).is_some_and(|elements| elements <= WORTH_DISPATCHING);
    let sums_only = pass.numbers.is_empty() && pass.row_stores.is_empty() && pass.row_folds.is_empty();
    if is_little || nest.row_axes != 1 || !sums_only || captures.cut.is_some() {
        return None;
    }
    let (dtype, columns) =
        (pass.folds.first()?.dtype, columns.as_literal().and_then(|len| usize::try_from(len).ok())?);
    let rows = (lanes_of(dtype) / columns).next_power_of_two();
    if rows < 2 || pass.folds.iter().any(|fold| fold.dtype != dtype) {
        return None;
    }
    Some((flat(plan, nest, pass)?, rows * columns, columns))
}

/// The nest over all elements as one row, whose sums are numbers; `None` if the elements are not contiguous.
fn flat(plan: &Plan, nest: &Nest, pass: &Pass) -> Option<Nest> {
    let len = nest.extents[0].mul(&nest.extents[1]).ok()?;
    let flat = |view: &View| flat_view(view, &nest.extents[1], std::slice::from_ref(&len));
    let folds = pass.folds.iter().map(|fold| {
        let Target::Memory(view) = &fold.target else { return None };
        let is_row = view.offset == Dim::ZERO && view.strides[0] == Dim::ZERO && view.strides[1].is_one();
        let value = plan.buffers[view.buffer()?.0].value;
        is_row.then(|| Fold { target: Target::Number(value), ..fold.clone() })
    });
    let stores =
        pass.stores.iter().map(|store| Some(Store { target: flat(&store.target)?, ..store.clone() }));
    let pass = Pass {
        elements: pass.elements.clone(),
        stores: stores.collect::<Option<_>>()?,
        folds: folds.collect::<Option<_>>()?,
        ..Pass::default()
    };
    let loads = nest.loads.iter().map(flat).collect::<Option<_>>()?;
    Some(Nest { extents: vec![len], row_axes: 0, loads, passes: vec![pass] })
}
