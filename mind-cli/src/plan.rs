//! A plan as people read it.

use std::fmt::Write;

use mind_core::{
    data::TensorData,
    dim::{Bindings, Dim},
    ir::{Op, ValueId},
    opt::Optimised,
    plan::{
        Buffer, BufferId, Conv2d, ConvKind, Finish, Indices, MatMul, Nest, Node, Operand, Place, Plan,
        Scalar, ScalarOp, ScalarStep, Source, Step, Target, View,
    },
    ty::{Shape, Type},
};

use crate::{input::Context, numbers};

/// What the values of a planned module are called in the text that it comes from.
pub struct Names(Vec<String>);

impl Names {
    /// Inputs by their names, others as the text calls them; `map` says what each value of the text became.
    pub fn new(context: &Context, map: &[Option<ValueId>], optimised: &Optimised) -> Self {
        let mut first = vec![None; map.len()];
        for (value, became) in map.iter().enumerate().rev() {
            if let Some(became) = became {
                first[became.index()] = Some(value);
            }
        }
        let name = |(value, origin): (usize, &ValueId)| {
            if let Op::Input { name } = &optimised.insts()[value].op {
                return name.to_string();
            }
            let source = first.get(origin.index()).copied().flatten();
            let name = source.and_then(|value| context.names.get(value));
            name.cloned().unwrap_or_else(|| format!("value {value}"))
        };
        Self(optimised.origins().iter().enumerate().map(name).collect())
    }

    fn of(&self, value: ValueId) -> &str {
        self.0.get(value.index()).map_or("?", |name| name)
    }
}

struct Writer<'a> {
    plan: &'a Plan,
    names: &'a Names,
    bindings: &'a Bindings,
}

/// Steps, then buffers: what each step computes, what was fused into it, how long each buffer lives.
pub fn describe(plan: &Plan, names: &Names, bindings: &Bindings) -> String {
    let writer = Writer { plan, names, bindings };
    let mut text = String::new();
    for (position, step) in plan.steps.iter().enumerate() {
        writeln!(text, "  {:>3}  {}", position + 1, writer.step(step))
            .expect("writing to a string cannot fail");
    }
    text.push_str("\nbuffers\n");
    let rows: Vec<_> =
        plan.buffers.iter().enumerate().map(|(id, buffer)| writer.buffer(BufferId(id), buffer)).collect();
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second, third) = (widest(0), widest(1), widest(2));
    for [name, ty, place, life] in &rows {
        let line = format!("  {name:<first$}  {ty:<second$}  {place:<third$}  {life}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

impl Writer<'_> {
    fn step(&self, step: &Step) -> String {
        match step {
            Step::Scalar(ScalarStep { result, op, operands, .. }) => {
                let operands: Vec<_> = operands.iter().map(|operand| self.scalar(operand)).collect();
                format!("number    {} = {}", self.names.of(*result), self.operation(*op, &operands))
            }
            Step::Load { result, from } => {
                format!("number    {} = one element of {}", self.names.of(*result), self.view(from))
            }
            Step::Nest(nest) => self.nest(nest),
            Step::MatMul(MatMul { lhs, rhs, batch, extents, finish }) => {
                let batch = batch.iter().map(|dim| format!("{} of ", self.dim(dim))).collect::<String>();
                let extents: Vec<_> = extents.iter().map(|dim| self.dim(dim)).collect();
                let (lhs, rhs) = (self.view(lhs), self.view(rhs));
                format!("product   {} = {lhs} @ {rhs}  ({batch}{})", self.finish(finish), extents.join(" × "))
            }
            Step::Dot { result, operands: [lhs, rhs] } => {
                format!(
                    "product   {} = {} · {}, a number",
                    self.names.of(*result),
                    self.view(lhs),
                    self.view(rhs)
                )
            }
            Step::CheckIndices { indices, extent, .. } => {
                format!("check     {} is below {}", self.indices(indices), self.dim(extent))
            }
            Step::Gather { table, indices, result, row } => {
                let (table, row) = (self.name(*table), self.dim(row));
                format!(
                    "gather    {} = rows of {table} at {}  (rows of {row})",
                    self.name(*result),
                    self.indices(indices)
                )
            }
            Step::ScatterAdd { indices, updates, result, row } => {
                let (updates, row) = (self.name(*updates), self.dim(row));
                format!(
                    "scatter   {} = rows of {updates} added at {}  (rows of {row})",
                    self.name(*result),
                    self.indices(indices)
                )
            }
            Step::SliceGrad { updates, result, .. } => {
                format!("place     {} = {} among zeros", self.name(*result), self.name(*updates))
            }
            Step::Conv2d(Conv2d { kind, operands: [first, second], finish, filter, .. }) => {
                let what = match kind {
                    ConvKind::Forward => "convolution",
                    ConvKind::GradInput => "derivative of a convolution by its input",
                    ConvKind::GradFilter => "derivative of a convolution by its filter",
                };
                let (first, second, filter) = (self.name(*first), self.name(*second), self.shape(filter));
                format!(
                    "conv2d    {} = {what}, of {first} and {second}  (filter {filter})",
                    self.finish(finish)
                )
            }
            Step::Update { from, to } => format!("update    {} = {}", self.name(*to), self.name(*from)),
            Step::UpdateScalar { from, input } => {
                format!("update    {} = {}", self.plan.inputs[*input].name, self.scalar(from))
            }
        }
    }

    fn finish(&self, finish: &Finish) -> String {
        let targets: Vec<_> = finish.stores.iter().map(|store| self.view(&store.target)).collect();
        targets.join(", ")
    }

    /// Fused loops: what they write, over what, and each operation in them.
    fn nest(&self, nest: &Nest) -> String {
        let over: Vec<_> = nest.extents.iter().map(|dim| self.dim(dim)).collect();
        let (mut targets, mut lines, mut sums, mut operations) = (Vec::new(), Vec::new(), "", 0);
        for pass in &nest.passes {
            for (nodes, stores) in [(&pass.elements, &pass.stores), (&pass.numbers, &pass.row_stores)] {
                for node in nodes {
                    let operands: Vec<_> =
                        node.operands.iter().map(|operand| self.operand(operand, nest, nodes)).collect();
                    let value = self.names.of(node.value);
                    lines.push(format!("{value} = {}", self.operation(node.op, &operands)));
                    operations += 1;
                }
                for store in stores {
                    targets.push(self.view(&store.target));
                    if nodes.is_empty() && !matches!(store.operand, Operand::Number(_)) {
                        lines.push(format!("from {}", self.operand(&store.operand, nest, nodes)));
                    }
                }
            }
        }
        for fold in nest.folds() {
            sums = if fold.count.is_some() { ", mean" } else { ", sum" };
            match &fold.target {
                Target::Memory(view) => targets.push(self.view(view)),
                Target::Total(value) => targets.push(self.names.of(*value).to_owned()),
                Target::Number(_) => {}
            }
            if let Operand::Load(load) = fold.operand {
                lines.push(format!("from {}", self.view(&nest.loads[load])));
            }
        }
        let kind = if sums.is_empty() { "loop" } else { "reduce" };
        let fused = if operations > 1 {
            format!(", {} fused", numbers::counted(operations, "operation"))
        } else {
            String::new()
        };
        let head = format!("{kind:<9} {}  ({}{sums}{fused})", targets.join(", "), over.join(" × "));
        lines.iter().fold(head, |text, line| format!("{text}\n                 {line}"))
    }

    fn operand(&self, operand: &Operand, nest: &Nest, nodes: &[Node]) -> String {
        match operand {
            Operand::Load(load) => self.view(&nest.loads[*load]),
            Operand::Node(node) => self.names.of(nodes[*node].value).to_owned(),
            Operand::Number(value) => self.names.of(*value).to_owned(),
            Operand::Scalar(scalar) => self.scalar(scalar),
            Operand::Sum => "the product".to_owned(),
        }
    }

    fn operation(&self, op: ScalarOp, operands: &[String]) -> String {
        let infix = |sign: &str| operands.join(&format!(" {sign} "));
        let call = |name: &str| format!("{name}({})", operands.join(", "));
        match op {
            ScalarOp::Copy => operands.join(", "),
            ScalarOp::Add => infix("+"),
            ScalarOp::Sub => infix("-"),
            ScalarOp::Mul => infix("*"),
            ScalarOp::Div => infix("/"),
            ScalarOp::Neg => format!("-{}", operands.join(", ")),
            ScalarOp::Exp => call("exp"),
            ScalarOp::Log => call("log"),
            ScalarOp::Relu => call("relu"),
            ScalarOp::ReluGrad => call("relu_grad"),
        }
    }

    /// Name, type, place and life of a buffer.
    fn buffer(&self, id: BufferId, buffer: &Buffer) -> [String; 4] {
        let mut uses = Vec::new();
        for (position, step) in self.plan.steps.iter().enumerate() {
            let mut used = false;
            step.for_each_buffer(|other| used |= other == id);
            if used {
                uses.push(position + 1);
            }
        }
        let life = match (uses.first(), uses.last()) {
            (Some(first), Some(last)) if first == last => format!("step {first}"),
            (Some(first), Some(last)) => format!("steps {first} to {last}"),
            _ => "not used".to_owned(),
        };
        let place = match &buffer.place {
            Place::Input(_) => "parameter".to_owned(),
            Place::Result(position) => format!("result {position}"),
            Place::Slot(slot) => format!("slot {slot}"),
            Place::Constant(data) => format!("constant {}", numbers::elements(data, 3)),
        };
        let ty = &buffer.ty;
        let ty = Type::new(ty.dtype, ty.shape.substitute(self.bindings).unwrap_or_else(|_| ty.shape.clone()));
        [self.name(id), ty.to_string(), place, life]
    }

    fn name(&self, buffer: BufferId) -> String {
        let Buffer { place, value, .. } = &self.plan.buffers[buffer.0];
        match place {
            Place::Input(input) => self.plan.inputs[*input].name.to_string(),
            Place::Result(_) | Place::Slot(_) | Place::Constant(_) => self.names.of(*value).to_owned(),
        }
    }

    /// The buffer, and whether it is read in its own order.
    fn view(&self, view: &View) -> String {
        match &view.source {
            Source::Scalar(scalar) => self.scalar(scalar),
            Source::Buffer(buffer) => self.name(*buffer),
        }
    }

    fn indices(&self, indices: &Indices) -> String {
        match indices {
            Indices::Buffer(buffer) => self.name(*buffer),
            Indices::Scalar(scalar, _) => self.scalar(scalar),
        }
    }

    fn scalar(&self, scalar: &Scalar) -> String {
        match scalar {
            Scalar::Constant(data) => self.constant(data),
            Scalar::Input(input) => self.plan.inputs[*input].name.to_string(),
            Scalar::Local(value) => self.names.of(*value).to_owned(),
        }
    }

    fn constant(&self, data: &TensorData) -> String {
        numbers::elements(data, 1)
    }

    fn dim(&self, dim: &Dim) -> String {
        let dim = dim.substitute(self.bindings).unwrap_or_else(|_| dim.clone());
        if dim.terms().len() > 1 { format!("({dim})") } else { dim.to_string() }
    }

    fn shape(&self, shape: &Shape) -> String {
        shape.substitute(self.bindings).unwrap_or_else(|_| shape.clone()).to_string()
    }
}
