//! Steps of a long program in functions of their own, since LLVM's time grows faster than the length of a function.

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

/// How long the text of a program's steps may be.
#[derive(Clone, Copy)]
pub struct Lengths {
    /// So many bytes are one function.
    pub whole: usize,
    /// If there are more, so many are a part, or one step.
    pub part: usize,
}

impl Lengths {
    /// A call of a part costs as much as a few additions, and LLVM's time for so much is in proportion still.
    pub const DEFAULT: Self = Self { whole: 16 * 1024, part: 4 * 1024 };
}

/// A step and its text.
pub(super) struct Emitted<'p> {
    pub(super) step: &'p Step,
    pub(super) text: String,
}

/// The text of all steps: itself if it is short, else calls of functions that each run some of them.
pub(super) fn text(body: &Body<'_>, steps: &[Emitted<'_>], lengths: Lengths) -> String {
    if steps.iter().map(|step| step.text.len()).sum::<usize>() <= lengths.whole {
        return steps.iter().map(|step| &*step.text).collect();
    }
    let parts = cut(steps, lengths.part);
    // What is returned, and from the last part on what a later one reads.
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

/// What the steps of a part name.
#[derive(Default)]
struct Uses {
    /// The positions of inputs and results.
    inputs: BTreeSet<usize>,
    results: BTreeSet<usize>,
    /// Numbers of rank 0 that get a new value.
    updated: BTreeSet<usize>,
    /// The element types in memory.
    dtypes: BTreeSet<DType>,
    /// The single numbers that earlier parts compute.
    read: BTreeSet<ValueId>,
    /// Those that the part computes.
    defined: BTreeSet<ValueId>,
}

impl Uses {
    fn of(body: &Body<'_>, steps: &[Emitted<'_>]) -> Self {
        let mut uses = Self::default();
        for Emitted { step, .. } in steps {
            step.for_each_buffer(|buffer| {
                let buffer = &body.plan.buffers[buffer.0];
                uses.dtypes.insert(buffer.ty.dtype);
                match buffer.place {
                    Location::Input(input) => _ = uses.inputs.insert(input),
                    Location::Result(result) => _ = uses.results.insert(result),
                    // Of a part the whole is told.
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

/// A function that runs some steps, and its call.
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
