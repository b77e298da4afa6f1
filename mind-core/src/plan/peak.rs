//! The memory for temporaries of a plan.

use crate::{
    dim::Bindings,
    plan::{Buffer, Plan, Step, arena::live_at_peak},
    ty::DType,
};

/// The memory for temporaries.
#[derive(Clone, Debug)]
pub struct Peak<'p> {
    /// The bytes of all arenas, those of loops included. Kernels can need further bytes.
    pub bytes: u64,
    /// The most bytes that live at the same time, of which no plan with the same steps can need fewer.
    pub live: u64,
    /// The buffers that live when most bytes do, with their bytes, the largest first. Those in loops are not among
    /// them.
    pub largest: Vec<(u64, &'p Buffer)>,
}

/// The memory for temporaries of a plan for the extents of its symbols; `None` if they do not determine it.
#[must_use]
pub fn peak<'p>(plan: &'p Plan, extents: &Bindings) -> Option<Peak<'p>> {
    let mut bytes = DType::ALL.into_iter().map(|dtype| {
        let elements = elements(plan, dtype, extents)?;
        elements.checked_mul(dtype.bytes() as u64)
    });
    let bytes = bytes.try_fold(0_u64, |sum, bytes| sum.checked_add(bytes?))?;
    let (live, largest) = live_at_peak(plan, extents)?;
    Some(Peak { bytes, live, largest })
}

/// The elements of one type in the arenas of a plan and of its loops, which use the same memory one after the other.
fn elements(plan: &Plan, dtype: DType, extents: &Bindings) -> Option<u64> {
    let mut own = 0_u64;
    for arena in plan.arenas.iter().filter(|arena| arena.dtype == dtype) {
        let len = arena.len.substitute(extents).ok()?.as_literal()?;
        own = own.checked_add(u64::try_from(len).ok()?)?;
    }
    let mut of_loops = 0_u64;
    let mut steps: Vec<&Step> = plan.steps.iter().collect();
    while let Some(step) = steps.pop() {
        if let Step::Loop(of) = step {
            of_loops = of_loops.max(elements(&of.body, dtype, extents)?);
        }
        steps.extend(step.strips().into_iter().flat_map(|strips| &strips.steps));
    }
    own.checked_add(of_loops)
}
