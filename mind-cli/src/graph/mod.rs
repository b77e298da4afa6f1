//! Draws a module: first boxes and arrows, then their coordinates, then SVG, PNG or the language of Graphviz.

pub mod costs;
pub mod dot;
mod drawing;
mod layers;
mod look;
mod order;
mod place;
#[cfg(feature = "png")]
pub mod png;
pub mod svg;

use std::fmt::Write;

use costs::Costs;

use crate::numbers;
use mind_core::{
    dim::Dim,
    ir::{Access, Guard, Inst, Module, Nested, Nesting, Op, Own, Padding, Scan, Slice, ValueId},
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
    /// Its part of the arithmetic of the program, from 0 to 1, which darkens the box.
    pub share: f64,
    /// The module in the box, if it is drawn.
    pub inside: Option<Box<Picture>>,
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
    /// The lines in the boxes of the inputs of a nested module. Inputs that nothing reads are left out there.
    pub inputs_in_loop: Option<Vec<Vec<String>>>,
    /// The levels of nested modules that are drawn inside their boxes.
    pub expand: usize,
    /// The costs of the operations, if boxes show them.
    pub costs: Option<Costs>,
}

/// The maximum length of a line in a box, in characters.
const WIDEST: usize = 30;

impl Picture {
    /// The picture of a module. A constant that is a single number has a separate box for each use, since arrows from
    /// one box to all uses would cross everything else.
    pub fn of(module: &Module, subject: &Subject) -> Self {
        let is_gradient = gradients(module, subject);
        let mut picture = Self { title: subject.title.clone(), ..Self::default() };
        let is_read = read(module);
        let mut boxes: Vec<Option<usize>> = Vec::with_capacity(module.insts().len());
        for (value, inst) in module.iter() {
            let lines = subject.inputs_in_loop.as_ref().and_then(|lines| lines.get(value.index()));
            let is_hidden = lines.is_some() || is_result_of_call(module, inst);
            if is_single_constant(inst) || (is_hidden && !is_read[value.index()]) {
                boxes.push(None);
                continue;
            }
            let mut node = node(module, value, is_gradient[value.index()]);
            if let Some(lines) = lines {
                node.lines.clone_from(lines);
            }
            if let Some(cost) = subject.costs.as_ref().filter(|_| node.kind == Kind::Operation) {
                let cost = cost.cost(module, inst);
                node.lines.push(shorten(cost.line()));
                node.share = cost.share;
            }
            let arrows = picture.arrows(module, &boxes, &inst.operands, &is_gradient);
            node.inside = picture.inside(module, inst, &arrows, subject).map(Box::new);
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
                share: 0.0,
                inside: None,
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

    /// The picture of the module that an instruction holds, if it is to be drawn. `operands` are the boxes of the
    /// operands. Inputs and outputs in the picture say what they are in the loop.
    fn inside(&self, module: &Module, inst: &Inst, operands: &[usize], subject: &Subject) -> Option<Self> {
        let expand = subject.expand.checked_sub(1)?;
        let nested = inst.op.nested()?;
        let costs = subject.costs.as_ref().map(|costs| costs.inside(module, inst));
        let is_one = steps(module, inst).is_some_and(|steps| steps.as_literal() == Some(1));
        let carries = inst.op.as_loop().map_or(0, Scan::carry_count);
        let accesses = inst.op.as_loop().map(|scan| accesses(module, inst, scan)).unwrap_or_default();
        let parameters = nested.function().map(|_| nested.inputs());
        let mut parameters = parameters.into_iter().flatten().map(|(name, _)| name.to_string());
        let inputs = operands.iter().enumerate().map(|(position, operand)| {
            if let Some(parameter) = parameters.next() {
                return vec![shorten(parameter)];
            }
            let outer = &self.nodes[*operand];
            let name = (outer.kind == Kind::Input).then(|| outer.lines[0].clone());
            let role = match accesses.get(position) {
                Some(Access::Carry) if is_one => None,
                Some(Access::Carry) => Some(format!("state {position}")),
                Some(Access::Element) if !is_one => Some("of this step".to_owned()),
                _ => None,
            };
            let lines: Vec<_> = name.into_iter().chain(role).collect();
            if lines.is_empty() { vec![outer.lines[0].clone()] } else { lines }
        });
        let inputs: Vec<_> = inputs.collect();
        let output = |position| match (inst.op.as_loop(), is_one) {
            (Some(_), false) if position < carries => format!("next state {position}"),
            (Some(_), false) => "of each step".to_owned(),
            _ => format!("output {position}"),
        };
        let output_names = (0..nested.outputs().len()).map(output).collect();
        let inside =
            Subject { expand, costs, output_names, inputs_in_loop: Some(inputs), ..Subject::default() };
        Some(Self::of(nested, &inside))
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
    let function = called(inst).and_then(|function| function.function()).map(|name| format!("{name}: "));
    let mut tooltip = function.unwrap_or_default() + &core_ir::line(value, inst);
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
    let ty = (!is_single_constant(inst)).then(|| match called(inst) {
        Some(function) if function.outputs().len() > 1 => {
            let results = function.outputs().iter().map(|output| shape(function.ty(*output)));
            shorten(results.collect::<Vec<_>>().join(" "))
        }
        _ => shape(&inst.ty),
    });
    let lines = lines(module, inst).into_iter().map(shorten).collect();
    Node { kind, lines, ty, gradient, tooltip, share: 0.0, inside: None }
}

/// For each value, whether an instruction or an output reads it.
fn read(module: &Module) -> Vec<bool> {
    let mut is_read = vec![false; module.insts().len()];
    let operands = module.insts().iter().flat_map(|inst| inst.operands.iter());
    operands.chain(module.outputs()).for_each(|value| is_read[value.index()] = true);
    is_read
}

fn accesses(module: &Module, inst: &Inst, scan: &Scan) -> Vec<Access> {
    scan.accesses(inst.operands.iter().map(|operand| module.ty(*operand).rank()))
}

/// The number of steps of a loop over operands.
fn steps<'a>(module: &'a Module, inst: &Inst) -> Option<&'a Dim> {
    let counted = Scan::counted(&accesses(module, inst, inst.op.as_loop()?))?;
    Some(&module.ty(inst.operands[counted]).shape[0])
}

/// The text in the box of a loop, a conditional or a call: what it is, how often it runs and how much it holds.
fn lines_of_nested(module: &Module, inst: &Inst, nested: &Nested) -> Vec<String> {
    let count = nested.insts().iter().filter(|inst| !inst.op.is_input() && !is_single_constant(inst)).count();
    let operations = format!("{count} operation{}", if count == 1 { "" } else { "s" });
    let Some(scan) = inst.op.as_loop() else {
        let name = nested.function().unwrap_or(inst.op.info().name);
        return vec![name.to_owned(), operations];
    };
    let steps = steps(module, inst);
    let is_one = steps.is_some_and(|steps| steps.as_literal() == Some(1));
    let name = match scan.guard {
        Guard::Always => "loop",
        Guard::Carry => "while",
        Guard::Operand if is_one => "if",
        Guard::Operand => "loop with a condition",
    };
    let mut details = Vec::new();
    if let Some(steps) = steps.filter(|_| !is_one) {
        let most = if scan.guard == Guard::Always { "" } else { "at most " };
        details.push(format!("{most}{steps:#} steps"));
    }
    if scan.reverse && !is_one {
        details.push("in reverse".to_owned());
    }
    if scan.checkpoint > 0 {
        details.push(format!("checkpoint {}", scan.checkpoint));
    }
    let details = (!details.is_empty()).then(|| details.join(", "));
    [name.to_owned()].into_iter().chain(details).chain([operations]).collect()
}

/// The body of the function that an instruction calls, if its name is known.
fn called(inst: &Inst) -> Option<&Nested> {
    inst.op.nested().filter(|nested| nested.function().is_some())
}

/// Whether an instruction reads a further result of a call of a named function.
fn is_result_of_call(module: &Module, inst: &Inst) -> bool {
    let is_result = matches!(inst.op, Op::Own(Own::Nesting(Nesting::Result { .. })));
    is_result && called(module.inst(inst.operands[0])).is_some()
}

/// The type as text for arrows: without spaces, to save space.
fn shape(ty: &Type) -> String {
    if ty.rank() == 0 { ty.dtype.to_string() } else { format!("{}{:#}", ty.dtype, ty.shape) }
}

/// The text in the box of an instruction: its name, and attributes that its type and operands do not show.
fn lines(module: &Module, inst: &Inst) -> Vec<String> {
    if let Some(nested) = inst.op.nested() {
        return lines_of_nested(module, inst, nested);
    }
    if let Op::Own(Own::Nesting(Nesting::Result { position })) = &inst.op {
        return vec![format!("result {position}")];
    }
    let row = inst.op.info();
    let mut details = Vec::new();
    for (field, attribute) in row.fields.iter().zip((row.attributes)(&inst.op).into_iter().flatten()) {
        let name = field.name;
        match attribute {
            Attribute::Text(name) => return vec![name.to_string()],
            Attribute::I64(value) if name == "value" => return vec![value.to_string()],
            Attribute::I64(value) => details.push(format!("{name} {value}")),
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
