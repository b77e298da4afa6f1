//! Splits the steps of a long program into several functions, since LLVM's compile time grows faster than the length of
//! a function.

use std::{collections::BTreeSet, fmt::Write};

use mind_core::{
    ir::ValueId,
    plan::{Location, Returned, Scalar, Step},
    ty::DType,
};

use super::{
    body::{Body, extents_of_symbols, generics, input_type, new_value, sizes},
    iteration,
};

/// The limits for the length of generated functions.
#[derive(Clone, Copy)]
pub struct Lengths {
    /// The maximum number of bytes of steps that are emitted as one function.
    pub whole: usize,
    /// The maximum number of bytes of a part if the steps are split. A part has at least one step.
    pub part: usize,
}

impl Lengths {
    /// Calling a part of this length costs as much as a few additions, and LLVM's time for it is still proportional to
    /// the length.
    pub const DEFAULT: Self = Self { whole: 16 * 1024, part: 4 * 1024 };
}

/// A step and its text.
pub(super) struct Emitted<'p> {
    pub(super) step: &'p Step,
    pub(super) text: String,
}

/// The text of all steps. If it is too long, functions that each run some of the steps, and calls of them.
pub(super) fn text(body: &Body<'_>, steps: &[Emitted<'_>], lengths: Lengths) -> String {
    if steps.iter().map(|step| step.text.len()).sum::<usize>() <= lengths.whole {
        return steps.iter().map(|step| &*step.text).collect();
    }
    let parts = cut(steps, lengths.part);
    // The single numbers that the function returns or that a later part reads. Collected from the last part to the
    // first.
    let mut wanted: BTreeSet<ValueId> = body.plan.returned.iter().filter_map(returned_local).collect();
    let mut texts = Vec::new();
    for (position, steps) in parts.iter().enumerate().rev() {
        let uses = Uses::of(body, steps);
        let results: Vec<ValueId> = uses.defined.intersection(&wanted).copied().collect();
        texts.push(part(body, position, steps, &uses, &results));
        wanted.extend(uses.read);
    }
    texts.into_iter().rev().collect()
}

fn cut<'s, 'p>(steps: &'s [Emitted<'p>], most: usize) -> Vec<&'s [Emitted<'p>]> {
    let (mut parts, mut rest) = (Vec::new(), steps);
    while !rest.is_empty() {
        let mut len = 0;
        let fits = |step: &&Emitted<'_>| {
            len += step.text.len();
            len <= most
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (part, later) = rest.split_at(count);
        parts.push(part);
        rest = later;
    }
    parts
}

/// The variables that the steps of a part use.
#[derive(Default)]
struct Uses {
    /// The positions of used inputs and results.
    inputs: BTreeSet<usize>,
    results: BTreeSet<usize>,
    /// The positions of inputs of rank 0 that are updated.
    updated: BTreeSet<usize>,
    /// The element types of used buffers.
    dtypes: BTreeSet<DType>,
    /// The single numbers that earlier parts compute.
    read: BTreeSet<ValueId>,
    /// The single numbers that the part computes.
    defined: BTreeSet<ValueId>,
}

impl Uses {
    fn of(body: &Body<'_>, steps: &[Emitted<'_>]) -> Self {
        let mut uses = Self::default();
        for Emitted { step, .. } in steps {
            step.for_each_buffer(|buffer| {
                let buffer = &body.plan.buffers[buffer.0];
                uses.dtypes.insert(buffer.ty.dtype);
                let whole = match buffer.place {
                    Location::Part { of, .. } => &body.plan.buffers[of.0].place,
                    Location::Input(_)
                    | Location::Result(_)
                    | Location::Arena { .. }
                    | Location::Constant(_) => &buffer.place,
                };
                match whole {
                    Location::Input(input) => _ = uses.inputs.insert(*input),
                    Location::Result(result) => _ = uses.results.insert(*result),
                    Location::Arena { .. } | Location::Constant(_) | Location::Part { .. } => {}
                }
            });
            step.for_each_scalar(|scalar| match scalar {
                Scalar::Input(input) => _ = uses.inputs.insert(*input),
                Scalar::Local(value) if !uses.defined.contains(value) => _ = uses.read.insert(*value),
                Scalar::Local(_) | Scalar::Constant(_) | Scalar::Count { .. } => {}
            });
            if let Step::Loop(of) = step {
                uses.dtypes.extend(iteration::dtypes(&of.body));
            }
            if let Step::UpdateScalar { input, .. } = step {
                uses.updated.insert(*input);
            }
            step.for_each_local(|value| _ = uses.defined.insert(value));
        }
        uses
    }
}

fn returned_local(returned: &Returned) -> Option<ValueId> {
    match returned {
        Returned::Scalar(Scalar::Local(value)) => Some(*value),
        Returned::Scalar(Scalar::Input(_) | Scalar::Constant(_) | Scalar::Count { .. })
        | Returned::Buffer(_) => None,
    }
}

/// The text of a function that runs some steps, followed by its call.
fn part(body: &Body<'_>, position: usize, steps: &[Emitted<'_>], uses: &Uses, results: &[ValueId]) -> String {
    let plan = body.plan;
    let [mut parameters, mut arguments] = [(); 2].map(|()| String::new());
    let mut pass = |name: &str, ty: &str| {
        let _ = write!(parameters, "{name}: {ty}, ");
        let _ = write!(arguments, "{name}, ");
    };
    for input in &uses.inputs {
        pass(&body.inputs[*input], &input_type(&plan.inputs[*input]));
    }
    for input in &uses.updated {
        pass(&new_value(&body.inputs[*input]), &format!("&mut {}", plan.inputs[*input].ty.dtype));
    }
    for result in &uses.results {
        pass(&body.results[*result], &format!("&mut [{}]", plan.results[*result].dtype));
    }
    for dtype in &uses.dtypes {
        let memory = [body.arenas.get(dtype), body.scratch.get(dtype)];
        memory.into_iter().flatten().for_each(|name| pass(name, &format!("&mut [{dtype}]")));
    }
    for (name, dtype) in uses.read.iter().map(|value| &body.locals[value]) {
        pass(name, dtype.name());
    }
    let locals: Vec<_> = results.iter().map(|value| &body.locals[value]).collect();
    let names: String = locals.iter().map(|(name, _)| format!("{name},")).collect();
    let types: String = locals.iter().map(|(_, dtype)| format!("{dtype},")).collect();
    let steps: String = steps.iter().map(|step| &*step.text).collect();
    let (generics, sizes, extents) = (generics(plan), sizes(plan), extents_of_symbols(plan));
    format!(
        "#[inline(never)] fn part_{position}{generics}(sizes: {sizes}, {parameters}) \
         -> ::core::result::Result<({types}), rt::Error> {{\n\
         {extents}{steps}::core::result::Result::Ok(({names}))\n}}\n\
         let ({names}) = part_{position}(sizes, {arguments})?;\n"
    )
}
