//! Error bounds of the results of loops.

use super::{RoundedOperand, bounds};
use crate::{
    dim::{Bindings, Dim},
    interp::{Array, RunError, trace_within},
    ir::{Access, Guard, Scan, ValueId},
    ty::Type,
};

/// The error bounds of each result of a loop.
pub(super) fn bounds_of_loop(
    scan: &Scan,
    operands: &[RoundedOperand<'_>],
    bindings: &Bindings,
) -> Result<Vec<Vec<f64>>, RunError> {
    let accesses = scan.accesses(operands.iter().map(|operand| operand.value.shape.len()));
    let steps = Scan::counted(&accesses).map(|counted| operands[counted].value.shape[0]);
    let carries = scan.carry_count();
    let start = operands[..carries].iter().map(|carry| (carry.value.clone(), carry.bounds.to_vec()));
    let mut carried: Vec<(Array, Vec<f64>)> = start.collect();
    // For each step, the bounds of its results after the carries; `None` for a step that does not run.
    let mut given: Vec<Option<Vec<Vec<f64>>>> = Vec::new();
    for at in scan.visited(steps.unwrap_or(usize::MAX)) {
        let (guard, bound) = match scan.guard {
            Guard::Always => (true, 0.0),
            Guard::Carry => (carried[0].0.elements.integer(0) != 0, carried[0].1[0]),
            Guard::Operand => {
                let at = if accesses[carries] == Access::Element { at } else { 0 };
                (operands[carries].value.elements.integer(at) != 0, operands[carries].bounds[at])
            }
        };
        if bound != 0.0 {
            return Ok(bounds_of_any(scan, steps, bindings));
        }
        if !guard && steps.is_none() {
            break;
        }
        if !guard {
            given.push(None);
            continue;
        }
        let mut inputs = carried;
        for (operand, access) in operands.iter().zip(&accesses).skip(carries) {
            inputs.push(if *access == Access::Element {
                let count = operand.bounds.len() / operand.value.shape[0];
                (operand.value.element(at), operand.bounds[at * count..][..count].to_vec())
            } else {
                (operand.value.clone(), operand.bounds.to_vec())
            });
        }
        let (inputs, of_inputs): (Vec<_>, Vec<_>) = inputs.into_iter().unzip();
        let values = trace_within(&scan.body, &inputs, bindings)?;
        let bounds = bounds(&scan.body, &values, &of_inputs, bindings)?;
        let results = scan.body.outputs().iter().map(|output| output.index());
        carried = results
            .clone()
            .take(carries)
            .map(|output| (values[output].clone(), bounds[output].clone()))
            .collect();
        given.push(Some(results.skip(carries).map(|output| bounds[output].clone()).collect()));
    }
    if scan.reverse {
        given.reverse();
    }
    let of_results = scan.body.outputs()[carries..].iter().enumerate();
    let stacked = of_results.map(|(result, output)| {
        let zeros = vec![0.0; element_count(scan.body.ty(*output), bindings)];
        let all = given.iter().flat_map(|results| results.as_ref().map_or(&zeros, |all| &all[result]));
        all.copied().collect()
    });
    let stacked: Vec<Vec<f64>> = stacked.collect();
    Ok(carried.into_iter().map(|(_, bounds)| bounds).chain(stacked).collect())
}

/// Infinite bounds of all results, for a loop in which another engine may run other steps.
fn bounds_of_any(scan: &Scan, steps: Option<usize>, bindings: &Bindings) -> Vec<Vec<f64>> {
    let of_result = |(at, output): (usize, &ValueId)| {
        let count = element_count(scan.body.ty(*output), bindings);
        let times = if at < scan.carry_count() { 1 } else { steps.unwrap_or(0) };
        vec![f64::INFINITY; count * times]
    };
    scan.body.outputs().iter().enumerate().map(of_result).collect()
}

fn element_count(ty: &Type, bindings: &Bindings) -> usize {
    let extent = |dim: &Dim| dim.evaluate(bindings).and_then(|extent| usize::try_from(extent).ok());
    let extents: Option<Vec<usize>> = ty.shape.iter().map(extent).collect();
    extents.expect("the extents have been evaluated before anything runs").iter().product()
}
