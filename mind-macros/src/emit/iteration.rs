//! Emits loops: for each a module with a function that runs the plan of the body, and the code that calls it for each
//! step.

use std::{collections::BTreeSet, fmt::Write};

use mind_core::{
    ir::{Access, Guard},
    plan::{self, BufferId, KernelOperand, LoopStep, Plan, Step},
    ty::{DType, Type},
};

use super::{
    body::Body,
    extent::{Arithmetic, extent, grouped, symbol_variable},
};

/// The loops of a plan, in order. Each has a module, whose name contains the position.
pub(super) fn loops(plan: &Plan) -> impl Iterator<Item = &LoopStep> {
    plan.steps.iter().filter_map(|step| match step {
        Step::Loop(of) => Some(of),
        _ => None,
    })
}

/// The name of the module of the loop at a position.
pub(super) fn module(position: usize) -> String {
    format!("loop_{position}")
}

/// The number of elements of type `dtype` in the workspace of one step of a loop, as text.
pub(super) fn len(plan: &Plan, position: usize, dtype: DType) -> String {
    let sizes: String = plan.symbols.iter().map(|symbol| format!("{}, ", symbol_variable(symbol))).collect();
    format!("{}::lens({sizes}).{dtype}", module(position))
}

/// The element types of the buffers of a plan and of its loops.
pub(super) fn dtypes(plan: &Plan) -> BTreeSet<DType> {
    let own = plan.buffers.iter().map(|buffer| buffer.ty.dtype);
    loops(plan).flat_map(|of| dtypes(&of.body)).chain(own).collect()
}

/// Emits the loop that calls the function of the body.
pub(super) fn emit(body: &mut Body<'_>, of: &LoopStep) {
    let module = module(body.loops);
    body.loops += 1;
    let steps = of.steps.as_ref().map(|steps| body.extent(steps));
    let (step, at) = (body.names.fresh("step"), body.names.fresh("at"));
    body.text.push_str("{\n");
    let carries: Vec<Carry> = (0..of.carries.len()).map(|position| Carry::new(body, of, position)).collect();
    for ((carry, buffers), (first, _)) in carries.iter().zip(&of.carries).zip(&of.operands) {
        carry.declare(body, *buffers, steps.as_deref().filter(|_| of.guard == Guard::Always));
        let now = &carry.now;
        let _ = match first {
            KernelOperand::Tensor(buffer, _) => {
                writeln!(body.text, "{now}.copy_from_slice({});", body.read(*buffer))
            }
            KernelOperand::Scalar(scalar, _) => {
                writeln!(body.text, "{now}[0] = {};", body.scalar_text(scalar))
            }
        };
    }
    // Whether an odd number of steps has run.
    let odd = (of.guard != Guard::Always).then(|| body.names.fresh("odd"));
    if let Some(odd) = &odd {
        let _ = writeln!(body.text, "let mut {odd} = false;");
    }
    let _ = match &steps {
        Some(steps) => writeln!(body.text, "for {step} in 0..{steps} {{"),
        None => writeln!(body.text, "loop {{"),
    };
    let _ = match &steps {
        Some(steps) if of.reverse => writeln!(body.text, "let {at} = {steps} - 1 - {step};"),
        Some(_) => writeln!(body.text, "let {at} = {step};"),
        None => Ok(()),
    };
    guard(body, of, &carries, [steps.as_deref().unwrap_or("0"), &step, &at]);
    let mut arguments = String::from("sizes, ");
    let mut operands = of.operands.iter().enumerate();
    for (position, (operand, access)) in operands.by_ref() {
        let ty = &of.body.inputs[position].ty;
        let text = match (operand, access) {
            (_, Access::Carry) if ty.rank() == 0 => format!("{}[0]", carries[position].now),
            (_, Access::Carry) if of.carries[position].second.is_none() => {
                format!("&mut {}[..]", carries[position].now)
            }
            (_, Access::Carry) => format!("&{}[..]", carries[position].now),
            (KernelOperand::Tensor(buffer, _), Access::Element) => element(body, *buffer, ty, &at, "&"),
            (KernelOperand::Tensor(buffer, _), Access::Whole) => format!("&{}[..]", body.read(*buffer)),
            (KernelOperand::Scalar(scalar, _), Access::Element | Access::Whole) => body.scalar_text(scalar),
        };
        let _ = write!(arguments, "{text}, ");
    }
    // The function returns single numbers, and writes tensors into slices.
    let mut returned = String::new();
    let targets = carries.iter().filter_map(|carry| carry.next.as_ref()).map(Target::Next);
    let targets = targets.chain(of.stacked.iter().copied().map(Target::Stacked));
    for (target, ty) in targets.zip(&of.body.results) {
        let text = match (target, ty.rank()) {
            (Target::Next(next), 0) => format!("{next}[0]"),
            (Target::Next(next), _) => format!("&mut {next}[..]"),
            (Target::Stacked(buffer), 0) => format!("{}[{at}]", body.write(buffer)),
            (Target::Stacked(buffer), _) => element(body, buffer, ty, &at, "&mut "),
        };
        let _ = if ty.rank() == 0 { write!(returned, "{text}, ") } else { write!(arguments, "{text}, ") };
    }
    let held = dtypes(&of.body);
    let memory: String = DType::ALL
        .iter()
        .map(|dtype| match body.scratch.get(dtype).filter(|_| held.contains(dtype)) {
            Some(scratch) => format!("{dtype}: &mut *{scratch}, "),
            None => format!("{dtype}: &mut [], "),
        })
        .collect();
    let _ = writeln!(body.text, "({returned}) = {module}::run({arguments}rt::Segments {{ {memory} }})?;");
    carries.iter().for_each(|carry| carry.step(body));
    if let Some(odd) = &odd {
        let _ = writeln!(body.text, "{odd} = !{odd};");
    }
    body.text.push_str("}\n");
    if let (Guard::Carry, Some(steps)) = (of.guard, &steps) {
        let (goes_on, function) = (&carries[0].now, body.function);
        let _ = writeln!(body.text, "rt::check_ended({goes_on}[0], {steps}, {function:?})?;");
    }
    for (carry, buffers) in carries.iter().zip(&of.carries) {
        carry.finish(body, buffers.last, odd.as_deref());
    }
    body.text.push_str("}\n");
}

/// Emits the code that ends the loop, or skips the step, if the step does not run. Stacked results of steps that do not
/// run are zeros.
fn guard(body: &mut Body<'_>, of: &LoopStep, carries: &[Carry], [steps, step, at]: [&str; 3]) {
    let (goes_on, way) = match of.guard {
        Guard::Always => return,
        Guard::Carry => (format!("{}[0]", carries[0].now), "break"),
        Guard::Operand => {
            let position = of.carries.len();
            match &of.operands[position].0 {
                KernelOperand::Scalar(scalar, _) => (body.scalar_text(scalar), "break"),
                KernelOperand::Tensor(buffer, _) => {
                    (element(body, *buffer, &of.body.inputs[position].ty, at, ""), "continue")
                }
            }
        }
    };
    let mut zeros = String::new();
    let next = of.body.results.len() - of.stacked.len();
    for (buffer, ty) in of.stacked.iter().zip(&of.body.results[next..]) {
        let (buffer, count) = (body.write(*buffer), element_count(ty));
        let range = match (way, of.reverse) {
            ("continue", _) => format!("{at} * {count}..({at} + 1) * {count}"),
            (_, false) => format!("{step} * {count}.."),
            (_, true) => format!("..({steps} - {step}) * {count}"),
        };
        let _ = write!(zeros, "{buffer}[{range}].fill(::core::default::Default::default()); ");
    }
    let _ = writeln!(body.text, "if !{goes_on} {{ {zeros}{way}; }}");
}

/// The maximum number of elements of a carry that is kept in arrays.
const MOST_IN_ARRAYS: i64 = 16;

/// The place of a result of a step.
enum Target<'a> {
    /// The next value of a carry.
    Next(&'a String),
    /// An element along the leading axis of a buffer.
    Stacked(BufferId),
}

/// A carry of a loop, as the variables of its current and its next value.
struct Carry {
    now: String,
    /// `None` if a step updates the current value.
    next: Option<String>,
    /// The number of elements if the variables are arrays, which LLVM can keep in registers. `None` if they are
    /// buffers, which are swapped after each step.
    array: Option<i64>,
}

impl Carry {
    fn new(body: &mut Body<'_>, of: &LoopStep, position: usize) -> Self {
        let mut fresh = |name: &str| body.names.fresh(&format!("{name}_{position}"));
        let now = fresh("carry");
        let next = of.carries[position].second.map(|_| fresh("next"));
        let count = of.body.inputs[position].ty.shape.element_count().ok();
        let array = count.and_then(|count| count.as_literal()).filter(|count| *count <= MOST_IN_ARRAYS);
        Self { now, next, array }
    }

    /// Declares the values. `steps` is the number of steps that run, if it is known.
    fn declare(&self, body: &mut Body<'_>, buffers: plan::Carry, steps: Option<&str>) {
        let Self { now, next, array } = self;
        let last = body.write(buffers.last);
        let array = array.map(|count| format!("[::core::default::Default::default(); {count}]"));
        let (Some(next), Some(second)) = (next, buffers.second) else {
            let _ = match array {
                Some(array) => writeln!(body.text, "let mut {now} = {array};"),
                None => writeln!(body.text, "let {now} = &mut {last}[..];"),
            };
            return;
        };
        let second = body.write(second);
        let value = match (array, steps) {
            (Some(array), _) => format!("({array}, {array})"),
            // The number of steps decides which buffer is first, so that the last step writes to the final buffer.
            (None, Some(steps)) => format!(
                "if ({steps}) % 2 == 0 {{ (&mut {last}[..], &mut {second}[..]) }} else {{ (&mut {second}[..], &mut {last}[..]) }}"
            ),
            (None, None) => format!("(&mut {last}[..], &mut {second}[..])"),
        };
        let _ = writeln!(body.text, "let (mut {now}, mut {next}) = {value};");
    }

    fn step(&self, body: &mut Body<'_>) {
        let Self { now, next: Some(next), array } = self else { return };
        let _ = match array {
            Some(_) => writeln!(body.text, "{now} = {next};"),
            None => writeln!(body.text, "::core::mem::swap(&mut {now}, &mut {next});"),
        };
    }

    /// Copies the last value to its final buffer, if it is in another one.
    fn finish(&self, body: &mut Body<'_>, last: BufferId, odd: Option<&str>) {
        let Self { now, next, array } = self;
        let _ = match (array, odd, next) {
            (Some(_), _, _) => {
                let last = body.write(last);
                writeln!(body.text, "{last}.copy_from_slice(&{now});")
            }
            (None, Some(odd), Some(next)) => {
                writeln!(body.text, "if {odd} {{ {next}.copy_from_slice({now}); }}")
            }
            (None, _, _) => Ok(()),
        };
    }
}

/// The element of a buffer at index `at` of its leading axis.
fn element(body: &Body<'_>, buffer: BufferId, ty: &Type, at: &str, borrow: &str) -> String {
    let whole = body.read(buffer);
    if ty.rank() == 0 {
        return format!("{whole}[{at}]");
    }
    let count = element_count(ty);
    format!("{borrow}{whole}[{at} * {count}..][..{count}]")
}

fn element_count(ty: &Type) -> String {
    let count = ty.shape.element_count().expect("a verified type has a countable number of elements");
    grouped(&extent(&count, Arithmetic::Plain))
}
