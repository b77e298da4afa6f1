//! Fused loops: for each a struct whose `row` is the chain of operations along slices.

use std::fmt::Write;

use mind_core::map::Rust;
use mind_core::open::{Fused, NodeId, Op, Own, Place, Plan, Program, Step};

use super::by_row;
use super::values::{Values, constant, is_uniform};

/// The structs of all loops.
pub(super) fn rows(program: &Program, plan: &Plan) -> String {
    let mut text = String::new();
    for (step, known) in plan.steps.iter().enumerate() {
        rows_of(program, plan, &step.to_string(), known, &mut text);
    }
    text
}

/// Those of a step, whose name is its position.
fn rows_of(program: &Program, plan: &Plan, step: &str, known: &Step, text: &mut String) {
    match known {
        Step::Fused(fused) => row(program, plan, &name(step, 0), fused, text),
        Step::Alike { fused, apart, .. } => {
            for (part, fused) in [fused].into_iter().chain(apart).enumerate() {
                row(program, plan, &name(step, part), fused, text);
            }
        }
        Step::Kernel(_) => {}
        Step::ByRow(group) => {
            for (position, inner) in group.steps.iter().enumerate() {
                rows_of(program, plan, &format!("{step}_{position}"), inner, text);
            }
            by_row::block(program, plan, step, group, text);
        }
    }
}

/// The struct of a loop of a step.
fn name(step: &str, part: usize) -> String {
    format!("Row{step}_{part}")
}

/// One loop where these shapes are alike, else several.
pub(super) fn alike(
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
    // Where the Rust types decide all extents, only one of the two is instantiated.
    let open = "!rt::all_static(P::KNOWN)";
    format!(
        "{{\nconst SAME: &[::core::primitive::usize] = &[{same}];\n\
         if const {{ {open} || rt::alike(P::NODES, SAME, {shape}) }} {{\n\
         if rt::alike(__nodes, SAME, {shape}) {{\n{together}}}\n}}\n\
         if const {{ {open} || !rt::alike(P::NODES, SAME, {shape}) }} {{\n\
         if !rt::alike(__nodes, SAME, {shape}) {{\n{apart}}}\n}}\n}}\n"
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
    let inputs: String =
        read(program, plan, fused).map(|input| format!("{}, ", values.value(*input))).collect();
    let outputs: String =
        fused.outputs.iter().map(|output| format!("{}, ", values.target(*output))).collect();
    let shape = fused.outputs.last().expect("a loop stores something").index();
    let row = name(step, part);
    format!("rt::fused({row}, &__nodes[{shape}], [{inputs}], [{outputs}]);\n")
}

/// Whether an input is one number of the program, which the loop has in itself.
pub(super) fn is_literal(program: &Program, plan: &Plan, input: NodeId) -> bool {
    is_uniform(program, input) && plan.places[input.index()] == Some(Place::Constant)
}

/// The inputs that are handed to the loop.
fn read<'a>(program: &'a Program, plan: &'a Plan, fused: &'a Fused) -> impl Iterator<Item = &'a NodeId> {
    fused.inputs.iter().filter(|input| !is_literal(program, plan, **input))
}

fn row(program: &Program, plan: &Plan, name: &str, fused: &Fused, text: &mut String) {
    let inputs: Vec<usize> = read(program, plan, fused).map(|input| input.index()).collect();
    let [slices, rows] = ["in_", "&in_"].map(|prefix| {
        let row = |node: &usize| {
            if prefix == "in_" { format!("in_{node}, ") } else { format!("&in_{node}[..__len], ") }
        };
        inputs.iter().map(row).collect::<String>()
    });
    let (count, outputs) = (inputs.len(), fused.outputs.len());
    let targets: String = fused.outputs.iter().map(|node| format!("out_{}, ", node.index())).collect();
    // Lints about what is generated are not for the user.
    let _ = writeln!(
        text,
        "#[derive(Clone, Copy)] struct {name};\n\
         #[allow(unused, clippy::all, clippy::pedantic)]\n\
         impl<T: rt::Number> rt::Row<T, {count}, {outputs}> for {name} {{\n\
         #[inline(always)] fn row<A: rt::MultiplyAdd>(self, __len: ::core::primitive::usize, [{slices}]: [&[T]; {count}], [{targets}]: [&mut [T]; {outputs}]) {{"
    );
    let _ = writeln!(text, "let ({slices}) = ({rows});");
    for output in &fused.outputs {
        let _ = writeln!(text, "let out_{0} = &mut out_{0}[..__len];", output.index());
    }
    for input in fused.inputs.iter().filter(|input| is_literal(program, plan, **input)) {
        let _ = writeln!(text, "let c{} = {}[0];", input.index(), constant(program, *input, "T"));
    }
    // It counts by itself, as the loops of functions do (`emit/nest/loops/elements.rs`).
    text.push_str("let mut __j = 0;\nwhile __j < __len {\n");
    for node in &fused.nodes {
        let operand = |position: usize| {
            let operand = program.node(*node).operands[position];
            let index = operand.index();
            if is_literal(program, plan, operand) {
                format!("c{index}")
            } else if fused.inputs.contains(&operand) {
                format!("in_{index}[__j]")
            } else {
                format!("v{index}")
            }
        };
        let _ = writeln!(text, "let v{} = {};", node.index(), expression(&program.node(*node).op, operand));
        if fused.outputs.contains(node) {
            let _ = writeln!(text, "out_{0}[__j] = v{0};", node.index());
        }
    }
    text.push_str("__j += 1;\n}\n}\n}\n");
}

pub(super) fn expression(op: &Op, operand: impl Fn(usize) -> String) -> String {
    match op {
        Op::Map(map) => {
            let row = map.row();
            let operands: Vec<String> = (0..row.arity()).map(&operand).collect();
            let all = operands.join(", ");
            match row.rust {
                Rust::Identity => all,
                Rust::Operator { method, .. } => {
                    format!("{}.{method}({})", operands[0], operands[1..].join(", "))
                }
                Rust::Sign(sign) if operands.len() == 1 => format!("({sign}{all})"),
                Rust::Sign(sign) => format!("({})", operands.join(&format!(" {sign} "))),
                Rust::Function(name) => format!("rt::{name}({all})"),
                Rust::By(name) => format!("A::{name}({all})"),
            }
        }
        Op::Own(Own::FilledLike { one: true }) => "T::ONE".to_string(),
        Op::Own(Own::FilledLike { one: false }) => "T::ZERO".to_string(),
        op if op.is_spread() => operand(0),
        op => unreachable!("a plan fuses elementwise operations, not {op:?}"),
    }
}
