//! The memory for temporaries of a plan whose extents are known.

use crate::{
    plan::{Buffer, Plan, Step, arena::largest_at_peak},
    ty::DType,
};

/// The memory for temporaries.
#[derive(Clone, Debug)]
pub struct Peak<'p> {
    /// The bytes of all arenas, those of loops included. Kernels can need further bytes.
    pub bytes: u64,
    /// The buffers that live when most bytes do, with their bytes, the largest first. Those in loops are not among
    /// them.
    pub largest: Vec<(u64, &'p Buffer)>,
}

/// The memory for temporaries of a plan; `None` if the compiler does not know it.
#[must_use]
pub fn peak(plan: &Plan) -> Option<Peak<'_>> {
    let mut bytes = DType::ALL.into_iter().map(|dtype| {
        let elements = elements(plan, dtype)?;
        elements.checked_mul(dtype.bytes() as u64)
    });
    let bytes = bytes.try_fold(0_u64, |sum, bytes| sum.checked_add(bytes?))?;
    Some(Peak { bytes, largest: largest_at_peak(plan)? })
}

/// The elements of one type in the arenas of a plan and of its loops, which use the same memory one after the other.
fn elements(plan: &Plan, dtype: DType) -> Option<u64> {
    let mut own = 0_u64;
    for arena in plan.arenas.iter().filter(|arena| arena.dtype == dtype) {
        own = own.checked_add(u64::try_from(arena.len.as_literal()?).ok()?)?;
    }
    let mut of_loops = 0_u64;
    let mut steps: Vec<&Step> = plan.steps.iter().collect();
    while let Some(step) = steps.pop() {
        if let Step::Loop(of) = step {
            of_loops = of_loops.max(elements(&of.body, dtype)?);
        }
        steps.extend(step.strips().into_iter().flat_map(|strips| &strips.steps));
    }
    own.checked_add(of_loops)
}
