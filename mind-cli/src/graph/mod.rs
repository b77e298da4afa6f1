//! Draws a module: first boxes and arrows, then their coordinates, then SVG or the language of Graphviz.

pub mod dot;
mod layers;
mod order;
mod place;
pub mod svg;

use std::fmt::Write;

use crate::numbers;
use mind_core::{
    ir::{Inst, Module, Padding, Slice, ValueId},
    ops::Attribute,
    text::core_ir,
    ty::Type,
};

/// The boxes and arrows of a picture, in the order of the module.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The title of the picture.
    pub title: String,
    /// The boxes.
    pub nodes: Vec<Node>,
    /// The arrows. Each points to a later node.
    pub edges: Vec<Edge>,
}

/// A box.
#[derive(Clone, Debug)]
pub struct Node {
    /// The kind of the value.
    pub kind: Kind,
    /// The text in the box: the name, then details.
    pub lines: Vec<String>,
    /// The type of the value, which is written at the start of its arrows.
    pub ty: Option<String>,
    /// Whether only gradients need it.
    pub gradient: bool,
    /// The full description, which is shown when the pointer is over the box.
    pub tooltip: String,
}

/// The kind of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An input.
    Input,
    /// A constant.
    Constant,
    /// An operation.
    Operation,
    /// A result.
    Output,
    /// A value whose box is too far away for an arrow.
    Reference,
}

/// An arrow.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The start, as an index into [`Picture::nodes`].
    pub from: usize,
    /// The end, as an index into [`Picture::nodes`].
    pub to: usize,
    /// The position of the operand.
    pub operand: usize,
    /// The number of operands of the end.
    pub of: usize,
}

/// The information that a picture shows besides the instructions of a module.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// The title of the picture.
    pub title: String,
    /// The position of the first output that is a gradient.
    pub primal_outputs: Option<usize>,
    /// The name of each output. An output without a name is shown by its number.
    pub output_names: Vec<String>,
}

/// The maximum length of a line in a box, in characters.
const WIDEST: usize = 30;

impl Picture {
    /// The picture of a module. A constant that is a single number has a separate box for each use, since arrows from
    /// one box to all uses would cross everything else.
    pub fn of(module: &Module, subject: &Subject) -> Self {
        let is_gradient = gradients(module, subject);
        let mut picture = Self { title: subject.title.clone(), ..Self::default() };
        let mut boxes: Vec<Option<usize>> = Vec::with_capacity(module.insts().len());
        for (value, inst) in module.iter() {
            if is_single_constant(inst) {
                boxes.push(None);
                continue;
            }
            let node = node(module, value, is_gradient[value.index()]);
            let arrows = picture.arrows(module, &boxes, &inst.operands, &is_gradient);
            boxes.push(Some(picture.add(node, &arrows)));
        }
        for (position, output) in module.outputs().iter().enumerate() {
            let numbered = || format!("output {position}");
            let node = Node {
                kind: Kind::Output,
                lines: vec![shorten(subject.output_names.get(position).cloned().unwrap_or_else(numbered))],
                ty: None,
                gradient: subject.primal_outputs.is_some_and(|primal| position >= primal),
                tooltip: format!("output {position} is {output}: {}", module.ty(*output)),
            };
            let arrows = picture.arrows(module, &boxes, &[*output], &is_gradient);
            picture.add(node, &arrows);
        }
        picture
    }

    /// The boxes of operands. Creates the boxes of constants that are single numbers.
    fn arrows(
        &mut self,
        module: &Module,
        boxes: &[Option<usize>],
        operands: &[ValueId],
        is_gradient: &[bool],
    ) -> Vec<usize> {
        let mut from = Vec::with_capacity(operands.len());
        for operand in operands {
            let existing = boxes.get(operand.index()).copied().flatten();
            from.push(match existing {
                Some(position) => position,
                None => self.add(node(module, *operand, is_gradient[operand.index()]), &[]),
            });
        }
        from
    }

    fn add(&mut self, node: Node, operands: &[usize]) -> usize {
        self.nodes.push(node);
        let to = self.nodes.len() - 1;
        let arrow = |(operand, from): (usize, &usize)| Edge { from: *from, to, operand, of: operands.len() };
        self.edges.extend(operands.iter().enumerate().map(arrow));
        to
    }
}

/// For each value, whether only outputs that are gradients need it.
fn gradients(module: &Module, subject: &Subject) -> Vec<bool> {
    let count = module.insts().len();
    let Some(primal) = subject.primal_outputs else { return vec![false; count] };
    let needed = |outputs: &[ValueId]| {
        let mut needed = vec![false; count];
        outputs.iter().for_each(|output| needed[output.index()] = true);
        for (value, inst) in module.iter().rev() {
            if needed[value.index()] {
                inst.operands.iter().for_each(|operand| needed[operand.index()] = true);
            }
        }
        needed
    };
    let (primal, gradients) = module.outputs().split_at(primal.min(module.outputs().len()));
    let (primal, gradients) = (needed(primal), needed(gradients));
    let is_input = module.insts().iter().map(|inst| inst.op.is_input());
    primal
        .iter()
        .zip(&gradients)
        .zip(is_input)
        .map(|((primal, gradient), input)| *gradient && !primal && !input)
        .collect()
}

fn is_single_constant(inst: &Inst) -> bool {
    inst.operands.is_empty() && !inst.op.is_input() && inst.ty.rank() == 0
}

fn node(module: &Module, value: ValueId, gradient: bool) -> Node {
    let inst = module.inst(value);
    let mut tooltip = core_ir::line(value, inst);
    if tooltip.chars().count() > 200 {
        tooltip = tooltip.chars().take(200).chain("…".chars()).collect();
    }
    let kind = if inst.op.is_input() {
        Kind::Input
    } else if inst.operands.is_empty() {
        Kind::Constant
    } else {
        Kind::Operation
    };
    let ty = (!is_single_constant(inst)).then(|| shape(&inst.ty));
    Node { kind, lines: lines(inst).into_iter().map(shorten).collect(), ty, gradient, tooltip }
}

/// The type as text for arrows: without spaces, to save space.
fn shape(ty: &Type) -> String {
    if ty.rank() == 0 { ty.dtype.to_string() } else { format!("{}{:#}", ty.dtype, ty.shape) }
}

/// The text in the box of an instruction: its name, and attributes that its type and operands do not show.
fn lines(inst: &Inst) -> Vec<String> {
    let row = inst.op.info();
    let mut details = Vec::new();
    for (field, attribute) in row.fields.iter().zip((row.attributes)(&inst.op).into_iter().flatten()) {
        let name = field.name;
        match attribute {
            Attribute::Text(name) => return vec![name.to_string()],
            Attribute::I64(value) => return vec![value.to_string()],
            Attribute::F32(value) => return vec![format!("{value:?}")],
            Attribute::F64(value) => return vec![format!("{value:?}")],
            Attribute::Data(data) if data.stored() == 1 && inst.ty.rank() == 0 => {
                return vec![numbers::elements(&data, 1)];
            }
            Attribute::Data(data) if data.stored() == 1 => {
                return vec![format!("all {}", numbers::elements(&data, 1))];
            }
            Attribute::Data(data) => return vec!["constant".into(), numbers::elements(&data, 4)],
            Attribute::Flag(true) => details.push(name.to_string()),
            // The arrow shows the shape and the element type of the result.
            Attribute::Flag(false) | Attribute::DType(_) | Attribute::LeadingAxis | Attribute::Module(_) => {}
            Attribute::Dims(_) if name.ends_with("shape") => {}
            Attribute::Dims(dims) => details.push(format!("[{}]", joined(&dims))),
            Attribute::Integers(integers) if name == "permutation" => {
                details.push(format!("[{}]", joined(&integers)))
            }
            Attribute::Integers(integers)
                if name == "strides" && integers.iter().all(|stride| *stride == 1) => {}
            Attribute::Integers(integers) => details.push(format!("{name} {}", joined(&integers))),
            Attribute::Slice(slice) => details.push(format!("[{}]", ranges(&slice))),
            Attribute::Padding(Padding::Valid) => {}
            Attribute::Padding(Padding::Same) => details.push("same".into()),
            Attribute::Padding(Padding::Custom(pairs)) => {
                let pairs: Vec<_> = pairs.iter().map(|[before, after]| format!("{before}+{after}")).collect();
                details.push(format!("padding {}", pairs.join(" ")));
            }
        }
    }
    let mut lines = vec![row.name.to_string()];
    if !details.is_empty() {
        lines.push(details.join(" "));
    }
    lines
}

fn joined(items: &[impl std::fmt::Display]) -> String {
    items.iter().map(|item| format!("{item:#}")).collect::<Vec<_>>().join(",")
}

/// The ranges of a slice as in the language: `0..3, 1..N;2`.
fn ranges(slice: &Slice) -> String {
    let mut text = String::new();
    for (axis, (start, end)) in slice.starts.iter().zip(&slice.ends).enumerate() {
        let comma = if axis > 0 { ", " } else { "" };
        let step = slice.steps.get(axis).copied().unwrap_or(1);
        let step = if step == 1 { String::new() } else { format!(";{step}") };
        write!(text, "{comma}{start:#}..{end:#}{step}").expect("writing to a string cannot fail");
    }
    text
}

/// The text on one line, shortened to the maximum length.
fn shorten(text: String) -> String {
    let plain = text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character });
    if text.chars().count() <= WIDEST {
        return plain.collect();
    }
    plain.take(WIDEST - 1).chain(['…']).collect()
}
