//! The order of steps: whatever can fail, and what it needs, comes first.

use std::collections::{HashMap, HashSet};

use crate::{
    ir::ValueId,
    plan::{BufferId, Scalar, Step},
};

/// The same steps in the same order, but index checks and the steps they depend on before all others, so that nothing
/// the caller sees has been written when a check fails.
pub(super) fn checks_first(steps: Vec<Step>) -> Vec<Step> {
    if !steps.iter().any(|step| matches!(step, Step::CheckIndices { .. })) {
        return steps;
    }
    let mut writers: HashMap<BufferId, usize> = HashMap::new();
    let mut makers: HashMap<ValueId, usize> = HashMap::new();
    let mut needed: HashSet<usize> = HashSet::new();
    for (position, step) in steps.iter().enumerate() {
        step.for_each_write(|buffer| _ = writers.insert(buffer, position));
        step.for_each_local(|value| _ = makers.insert(value, position));
    }
    for (position, step) in steps.iter().enumerate().rev() {
        if !needed.contains(&position) && !matches!(step, Step::CheckIndices { .. }) {
            continue;
        }
        needed.insert(position);
        step.for_each_read(|buffer| needed.extend(writers.get(&buffer)));
        step.for_each_scalar(|scalar| match scalar {
            Scalar::Local(value) => needed.extend(makers.get(value)),
            Scalar::Constant(_) | Scalar::Input(_) => {}
        });
    }
    let numbered = steps.into_iter().enumerate();
    let (first, rest): (Vec<_>, Vec<_>) = numbered.partition(|(position, _)| needed.contains(position));
    first.into_iter().chain(rest).map(|(_, step)| step).collect()
}
