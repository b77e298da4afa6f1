//! Sums of few columns, over a matrix as one row.
//!
//! A row of few elements is a part of a register, and each row would wait for the sums of the one before. So the matrix is
//! gone through as one long row, in blocks of several rows, and each element of a block has a lane of its own: row `i` of
//! a column goes to lane `i % rows`. In the end the lanes of a column are added up as a tree.

use std::fmt::Write;

use mind_core::{
    dim::Dim,
    plan::{Fold, Nest, Pass, Store, Target, View},
};
use mind_shape::loops::chain_in;

use super::{Body, Captures, Element, Frame, LaneFold, Loops, lanes_of, short_rows::flat_view};
use crate::emit::nest::{WORTH_DISPATCHING, known};

/// The loops of a nest that does nothing but sum few columns, and store elements of the same matrix.
pub(super) fn text(body: &Body<'_>, nest: &Nest, captures: &Captures) -> Option<String> {
    let ([pass], [_, columns]) = (&nest.passes[..], &nest.extents[..]) else { return None };
    let is_little = known(&nest.extents).is_some_and(|elements| elements <= WORTH_DISPATCHING);
    let sums_only = pass.numbers.is_empty() && pass.row_stores.is_empty() && pass.row_folds.is_empty();
    if is_little || nest.row_axes != 1 || !sums_only || captures.is_cut() {
        return None;
    }
    let (dtype, columns) =
        (pass.folds.first()?.dtype, columns.as_literal().and_then(|len| usize::try_from(len).ok())?);
    let rows = (lanes_of(dtype) / columns).next_power_of_two();
    if rows < 2 || pass.folds.iter().any(|fold| fold.dtype != dtype) {
        return None;
    }
    let lanes = rows * columns;
    let flat = flat(body, nest, pass)?;
    let mut loops = Loops::new(body, &flat, captures, Frame::Nest);
    let pass = &flat.passes[0];
    let variables = loops.variables(pass);
    let sums: Vec<LaneFold> = pass
        .folds
        .iter()
        .map(|fold| loops.fold("lanes", Element::of(fold), lanes, chain_in(rows), 0..1))
        .collect();
    loops.still_loads(&variables);
    loops.elements(pass, &variables, &sums.iter().cloned().map(Some).collect::<Vec<_>>());
    for (fold, sum) in nest.passes[0].folds.iter().zip(&sums) {
        let (Target::Memory(view), name) = (&fold.target, sum.in_lanes()) else { return None };
        let target = captures.target(view);
        let _ = writeln!(
            loops.text,
            "{target}[..].copy_from_slice(&rt::combine_columns::<rt::{}, _, {lanes}, {columns}>({name}));",
            fold.monoid.rust
        );
        loops.divide(fold, &format!("&mut {target}[..]"));
    }
    Some(loops.text)
}

/// The nest over all elements as one row, whose sums are numbers; nothing if the elements do not follow each other.
fn flat(body: &Body<'_>, nest: &Nest, pass: &Pass) -> Option<Nest> {
    let len = nest.extents[0].mul(&nest.extents[1]).ok()?;
    let flat = |view: &View| flat_view(view, &nest.extents[1], std::slice::from_ref(&len));
    let folds = pass.folds.iter().map(|fold| {
        let Target::Memory(view) = &fold.target else { return None };
        let is_row = view.offset == Dim::ZERO && view.strides[0] == Dim::ZERO && view.strides[1].is_one();
        let value = body.plan.buffers[view.buffer()?.0].value;
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
