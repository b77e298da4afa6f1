//! Loops: a function that runs the plan of the body, in a module of its own, and calls of it.

use std::{collections::BTreeSet, fmt::Write};

use mind_core::{
    ir::Access,
    plan::{Argument, BufferId, Loop, Plan, Step},
    ty::{DType, Type},
};

use super::{
    body::Body,
    extent::{Arithmetic, extent, grouped, symbol_variable},
};

/// The loops of a plan, in order. Each has a module named by its position.
pub(super) fn loops(plan: &Plan) -> impl Iterator<Item = &Loop> {
    plan.steps.iter().filter_map(|step| match step {
        Step::Loop(of) => Some(of),
        _ => None,
    })
}

/// The module of the loop at a position.
pub(super) fn module(position: usize) -> String {
    format!("loop_{position}")
}

/// The elements of a type that the memory of a step of a loop has.
pub(super) fn len(plan: &Plan, position: usize, dtype: DType) -> String {
    let sizes: String = plan.symbols.iter().map(|symbol| format!("{}, ", symbol_variable(symbol))).collect();
    format!("{}::lens({sizes}).{dtype}", module(position))
}

/// The element types of what a plan has in memory.
pub(super) fn dtypes(plan: &Plan) -> BTreeSet<DType> {
    let own = plan.buffers.iter().map(|buffer| buffer.ty.dtype);
    loops(plan).flat_map(|of| dtypes(&of.body)).chain(own).collect()
}

/// The loop itself.
pub(super) fn emit(body: &mut Body<'_>, of: &Loop) {
    let module = module(body.loops);
    body.loops += 1;
    let (steps, step, at) = (body.extent(&of.steps), body.names.fresh("step"), body.names.fresh("at"));
    body.text.push_str("{\n");
    let carries: Vec<Carry> = (0..of.carries.len()).map(|position| Carry::new(body, of, position)).collect();
    for ((carry, buffers), (first, _)) in carries.iter().zip(&of.carries).zip(&of.operands) {
        carry.declare(body, *buffers, &steps);
        let now = &carry.now;
        let _ = match first {
            Argument::Tensor(buffer, _) => {
                writeln!(body.text, "{now}.copy_from_slice({});", body.read(*buffer))
            }
            Argument::Scalar(scalar, _) => writeln!(body.text, "{now}[0] = {};", body.scalar_text(scalar)),
        };
    }
    let _ = writeln!(body.text, "for {step} in 0..{steps} {{");
    let _ = match of.reverse {
        true => writeln!(body.text, "let {at} = {steps} - 1 - {step};"),
        false => writeln!(body.text, "let {at} = {step};"),
    };
    let mut arguments = String::from("sizes, ");
    let mut operands = of.operands.iter().enumerate();
    for (position, (operand, access)) in operands.by_ref() {
        let ty = &of.body.inputs[position].ty;
        let text = match (operand, access) {
            (_, Access::Carry) if ty.rank() == 0 => format!("{}[0]", carries[position].now),
            (_, Access::Carry) => format!("&{}[..]", carries[position].now),
            (Argument::Tensor(buffer, _), Access::Element) => element(body, *buffer, ty, &at, "&"),
            (Argument::Tensor(buffer, _), Access::Whole) => format!("&{}[..]", body.read(*buffer)),
            (Argument::Scalar(scalar, _), Access::Element | Access::Whole) => body.scalar_text(scalar),
        };
        let _ = write!(arguments, "{text}, ");
    }
    // Single numbers are returned, all else is written.
    let mut returned = String::new();
    for (position, ty) in of.body.results.iter().enumerate() {
        let text = match (carries.get(position), ty.rank()) {
            (Some(Carry { next, .. }), 0) => format!("{next}[0]"),
            (Some(Carry { next, .. }), _) => format!("&mut {next}[..]"),
            (None, 0) => format!("{}[{at}]", body.write(of.stacked[position - carries.len()])),
            (None, _) => element(body, of.stacked[position - carries.len()], ty, &at, "&mut "),
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
    body.text.push_str("}\n");
    for (carry, [last, _]) in carries.iter().zip(&of.carries) {
        carry.finish(body, *last);
    }
    body.text.push_str("}\n");
}

/// A carry with no more elements than this is kept in arrays.
const MOST_IN_ARRAYS: i64 = 16;

/// A carry of a loop: the variables of its present and its next value.
struct Carry {
    now: String,
    next: String,
    /// The number of elements, if both are arrays, which LLVM can keep in registers. Otherwise they are buffers, which are exchanged after
    /// each step.
    array: Option<i64>,
}

impl Carry {
    fn new(body: &mut Body<'_>, of: &Loop, position: usize) -> Self {
        let [now, next] = ["carry", "next"].map(|name| body.names.fresh(&format!("{name}_{position}")));
        let count = of.body.inputs[position].ty.shape.element_count().ok();
        let array = count.and_then(|count| count.as_literal()).filter(|count| *count <= MOST_IN_ARRAYS);
        Self { now, next, array }
    }

    fn declare(&self, body: &mut Body<'_>, [last, spare]: [BufferId; 2], steps: &str) {
        let Self { now, next, array } = self;
        let value = match array {
            Some(count) => {
                let array = format!("[::core::default::Default::default(); {count}]");
                format!("({array}, {array})")
            }
            None => {
                let (last, spare) = (body.write(last), body.write(spare));
                // The last step writes to where the value belongs.
                format!(
                    "if ({steps}) % 2 == 0 {{ (&mut {last}[..], &mut {spare}[..]) }} else {{ (&mut {spare}[..], &mut {last}[..]) }}"
                )
            }
        };
        let _ = writeln!(body.text, "let (mut {now}, mut {next}) = {value};");
    }

    fn step(&self, body: &mut Body<'_>) {
        let Self { now, next, array } = self;
        let _ = match array {
            Some(_) => writeln!(body.text, "{now} = {next};"),
            None => writeln!(body.text, "::core::mem::swap(&mut {now}, &mut {next});"),
        };
    }

    fn finish(&self, body: &mut Body<'_>, last: BufferId) {
        if self.array.is_some() {
            let last = body.write(last);
            let _ = writeln!(body.text, "{last}.copy_from_slice(&{});", self.now);
        }
    }
}

/// One element along the leading axis.
fn element(body: &Body<'_>, buffer: BufferId, ty: &Type, at: &str, borrow: &str) -> String {
    let whole = body.read(buffer);
    if ty.rank() == 0 {
        return format!("{whole}[{at}]");
    }
    let count = ty.shape.element_count().expect("a verified type has a countable number of elements");
    let count = grouped(&extent(&count, Arithmetic::Plain));
    format!("{borrow}{whole}[{at} * {count}..][..{count}]")
}
