//! Emits fused loops: for each a struct whose `row` computes the chain of operations along slices.

use std::fmt::Write;

use mind_core::map::{Gives, Rust};
use mind_core::open::{Class, Fused, Location, NodeId, Op, Own, Plan, Program, Step};

use super::{
    by_row,
    elements::Elements,
    values::{Values, constant, is_uniform},
};

/// The structs of all loops.
pub(super) fn rows(program: &Program, plan: &Plan) -> String {
    let mut text = String::new();
    for (step, known) in plan.steps.iter().enumerate() {
        rows_of(program, plan, &step.to_string(), known, &mut text);
    }
    text
}

/// The structs of the loops of a step. `step` contains the position of the step.
fn rows_of(program: &Program, plan: &Plan, step: &str, known: &Step, text: &mut String) {
    match known {
        Step::Fused(fused) => row(program, plan, &name(step, 0), fused, text),
        Step::Alike { fused, apart, .. } => {
            for (part, fused) in [fused].into_iter().chain(apart).enumerate() {
                row(program, plan, &name(step, part), fused, text);
            }
        }
        Step::Kernel(_) | Step::Watch(_) => {}
        Step::ByRow(group) => {
            for (position, inner) in group.steps.iter().enumerate() {
                rows_of(program, plan, &format!("{step}_{position}"), inner, text);
            }
            by_row::block(program, plan, step, group, text);
        }
    }
}

/// The name of the struct of a loop of a step.
fn name(step: &str, part: usize) -> String {
    format!("Row{step}_{part}")
}

/// A call of one loop if these shapes are equal, otherwise calls of several loops.
pub(super) fn loop_if_same_shapes(
    program: &Program,
    plan: &Plan,
    values: &Values<'_>,
    step: &str,
    (same, fused, apart): (&[NodeId], &Fused, &[Fused]),
) -> String {
    let same: String = same.iter().map(|node| format!("{}, ", node.index())).collect();
    let shape = fused.outputs.last().expect("a loop stores something").index();
    let together = call(program, plan, values, (step, 0), fused);
    let apart = apart.iter().enumerate();
    let apart: String =
        apart.map(|(part, fused)| call(program, plan, values, (step, part + 1), fused)).collect();
    // If the Rust types determine all extents, only one of the two branches is instantiated.
    let open = "!rt::all_static(P::KNOWN)";
    format!(
        "{{\nconst SAME: &[::core::primitive::usize] = &[{same}];\n\
         if const {{ {open} || rt::have_one_shape(P::NODES, SAME, {shape}) }} {{\n\
         if rt::have_one_shape(__nodes, SAME, {shape}) {{\n{together}}}\n}}\n\
         if const {{ {open} || !rt::have_one_shape(P::NODES, SAME, {shape}) }} {{\n\
         if !rt::have_one_shape(__nodes, SAME, {shape}) {{\n{apart}}}\n}}\n}}\n"
    )
}

/// The call that runs a loop.
pub(super) fn call(
    program: &Program,
    plan: &Plan,
    values: &Values<'_>,
    (step, part): (&str, usize),
    fused: &Fused,
) -> String {
    let ([inputs, truths], [outputs, masks]) = sides(program, plan, fused);
    let read = |nodes: &[NodeId]| nodes.iter().map(|node| format!("{}, ", values.value(*node))).collect();
    let written = |nodes: &[NodeId]| nodes.iter().map(|node| format!("{}, ", values.target(*node))).collect();
    let [inputs, truths]: [String; 2] = [&inputs, &truths].map(|nodes| read(nodes));
    let [outputs, masks]: [String; 2] = [&outputs, &masks].map(|nodes| written(nodes));
    let shape = fused.outputs.last().expect("a loop stores something").index();
    let row = name(step, part);
    let element = of_type(program, fused).map_or("bool".to_string(), |node| values.element_of(node));
    format!(
        "rt::fused::<{element}, _, _, _, _, _>({row}, &__nodes[{shape}], [{inputs}], [{outputs}], [{truths}], [{masks}]);\n"
    )
}

/// A node of the loop that is not of truth values. All such nodes of a loop have the same element type.
fn of_type(program: &Program, fused: &Fused) -> Option<NodeId> {
    fused.nodes.iter().chain(&fused.inputs).copied().find(|node| !program.is_of_truths(*node))
}

/// The inputs and the outputs of a loop, each separated into those of its element type and those of truth values.
fn sides(program: &Program, plan: &Plan, fused: &Fused) -> ([Vec<NodeId>; 2], [Vec<NodeId>; 2]) {
    let apart = |nodes: &mut dyn Iterator<Item = &NodeId>| {
        let (truths, others) = nodes.copied().partition(|node| program.is_of_truths(*node));
        [others, truths]
    };
    (apart(&mut read(program, plan, fused)), apart(&mut fused.outputs.iter()))
}

/// Whether an input is a uniform constant of the program, which the code of the loop contains.
pub(super) fn is_literal(program: &Program, plan: &Plan, input: NodeId) -> bool {
    is_uniform(program, input) && plan.places[input.index()] == Some(Location::Constant)
}

/// The inputs that are passed to the loop.
fn read<'a>(program: &'a Program, plan: &'a Plan, fused: &'a Fused) -> impl Iterator<Item = &'a NodeId> {
    fused.inputs.iter().filter(|input| !is_literal(program, plan, **input))
}

fn row(program: &Program, plan: &Plan, name: &str, fused: &Fused, text: &mut String) {
    let ([inputs, truths], [outputs, masks]) = sides(program, plan, fused);
    let list = |prefix: &str, nodes: &[NodeId], suffix: &str| -> String {
        nodes.iter().map(|node| format!("{prefix}{}{suffix}, ", node.index())).collect()
    };
    let [n, m, k, l] = [&inputs, &outputs, &truths, &masks].map(Vec::len);
    let [slices, truth_slices] = [&inputs, &truths].map(|nodes| list("in_", nodes, ""));
    let [targets, mask_targets] = [&outputs, &masks].map(|nodes| list("out_", nodes, ""));
    let bound = match of_type(program, fused).map(|node| program.class(node)) {
        Some(Class::NumbersOf(_) | Class::Fixed(_)) => "Number",
        Some(Class::Of(_)) | None => "Datum",
    };
    // Lints must not report generated code to the user.
    let _ = writeln!(
        text,
        "#[derive(Clone, Copy)] struct {name};\n\
         #[allow(unused, clippy::all, clippy::pedantic)]\n\
         impl<T: rt::{bound}> rt::Row<T, {n}, {m}, {k}, {l}> for {name} {{\n\
         const COST: ::core::primitive::usize = {};\n\
         #[inline(always)] fn row<A: rt::MultiplyAdd>(self, __len: ::core::primitive::usize, \
         [{slices}]: [&[T]; {n}], [{targets}]: [&mut [T]; {m}], \
         [{truth_slices}]: [&[::core::primitive::bool]; {k}], [{mask_targets}]: [&mut [::core::primitive::bool]; {l}]) {{",
        fused.cost(program)
    );
    let read: Vec<NodeId> = inputs.into_iter().chain(truths).collect();
    let _ = writeln!(text, "let ({}) = ({});", list("in_", &read, ""), list("&in_", &read, "[..__len]"));
    for output in &fused.outputs {
        let _ = writeln!(text, "let out_{0} = &mut out_{0}[..__len];", output.index());
    }
    for input in fused.inputs.iter().filter(|input| is_literal(program, plan, **input)) {
        let element = if program.is_of_truths(*input) { "bool" } else { "T" };
        let _ = writeln!(text, "let c{} = {}[0];", input.index(), constant(program, *input, element));
    }
    let operand = |node: NodeId, position: usize| {
        let operand = program.node(node).operands[position];
        let index = operand.index();
        if is_literal(program, plan, operand) {
            format!("c{index}")
        } else if fused.inputs.contains(&operand) {
            format!("in_{index}[__j]")
        } else {
            format!("v{index}")
        }
    };
    let place = |node: NodeId| fused.outputs.contains(&node).then(|| format!("out_{}[__j]", node.index()));
    let elements = Elements { program, nodes: &fused.nodes, operand: &operand, place: &place };
    let _ = writeln!(text, "{}}}\n}}", elements.text());
}

/// The expression of a node of a loop. `by` is the path of functions such as `exp`, which use fused multiply-adds at
/// some SIMD levels.
pub(super) fn expression(
    program: &Program,
    node: NodeId,
    by: &str,
    operand: impl Fn(usize) -> String,
) -> String {
    let of_truths = program.is_of_truths(node);
    match &program.node(node).op {
        Op::Map(map) if map.is_conversion() && !of_truths => format!("T::of_truth({})", operand(0)),
        Op::Map(map) => {
            let row = map.row();
            let operands: Vec<String> = (0..row.arity()).map(&operand).collect();
            let all = operands.join(", ");
            match row.rust {
                Rust::Identity => all,
                Rust::Operator { method, .. } => {
                    format!("{}.{method}({})", operands[0], operands[1..].join(", "))
                }
                // The element type is generic, so the operator is a function of a trait.
                Rust::Sign(_) if row.gives == Gives::Operand && !of_truths => {
                    format!("rt::{}({all})", row.mnemonic)
                }
                Rust::Sign(sign) if operands.len() == 1 => format!("({sign}{all})"),
                Rust::Sign(sign) => format!("({})", operands.join(&format!(" {sign} "))),
                Rust::Function(name) => format!("rt::{name}({all})"),
                Rust::By(name) => format!("{by}::{name}({all})"),
            }
        }
        Op::Own(Own::FilledLike { one: true }) => "T::ONE".to_string(),
        Op::Own(Own::FilledLike { one: false }) => "T::ZERO".to_string(),
        op if op.is_spread() => operand(0),
        op => unreachable!("a plan fuses elementwise operations, not {op:?}"),
    }
}
