//! Prints plans for people: the steps, the fused operations, and the locations of buffers.

use std::{collections::BTreeSet, fmt::Write};

use super::order::whole;
use crate::{
    data::TensorData,
    dim::{Bindings, Dim},
    ir::{Access, External, Guard, Slice, ValueId},
    map::{Map, Notation},
    ops::Attribute,
    plan::{
        Buffer, BufferId, Condition, Conv2d, ConvKind, Finish, Fold, Integers, KernelCall, KernelOperand,
        Location, LoopStep, MatMul, Nest, Node, Operand, Plan, Scalar, ScalarStep, Seen, Source, Step, Store,
        Strips, Target, View, Watch,
    },
    ty::Type,
};

/// A plan, and the way to show it.
pub struct Listing<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The user's name of a value of the planned module. A value without a name is shown as `%` and its number.
    pub value_name: &'a dyn Fn(ValueId) -> Option<String>,
    /// Extents to show as numbers.
    pub bindings: &'a Bindings,
}

/// Lists the steps in order, with every operation that was fused into them; then the buffers with their locations,
/// bytes and lifetimes; then the memory of temporaries.
///
/// In a step, `name <- value` is a store. A nest shows the extents that count rows before `|`, and those of a row after
/// it.
pub fn listing(listing: &Listing<'_>) -> String {
    let mut text = String::new();
    for (position, step) in listing.plan.steps.iter().enumerate() {
        for (line, words) in listing.step(step).into_iter().enumerate() {
            if line == 0 {
                put(&mut text, &format!("{:>3}  {words}", position + 1));
            } else {
                put(&mut text, &format!("     {words}"));
            }
        }
    }
    if !listing.plan.buffers.is_empty() {
        put(&mut text, "");
        listing.buffers(&mut text);
    }
    for arena in &listing.plan.arenas {
        let bytes = arena.len.mul(&Dim::literal(arena.dtype.bytes() as i64));
        let bytes = bytes.map_or_else(|_| "too many".to_owned(), |bytes| listing.dim(&bytes));
        put(&mut text, &format!("  {bytes} bytes of {} for temporaries", arena.dtype));
    }
    text
}

fn put(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

impl Listing<'_> {
    fn step(&self, step: &Step) -> Vec<String> {
        let line = match step {
            Step::Scalar(ScalarStep { result, op, operands, .. }) => {
                let operands: Vec<_> = operands.iter().map(|operand| self.scalar(operand)).collect();
                format!("number   {} = {}", self.name(*result), operation(*op, &operands))
            }
            Step::Load { result, from } => {
                format!("number   {} = one element of {}", self.name(*result), self.view(from))
            }
            Step::Nest(nest) => return self.nest(nest),
            Step::MatMul(MatMul { lhs, rhs, batch, extents, finish }) => {
                let batch: String = batch.iter().map(|dim| format!("{} of ", self.dim(dim))).collect();
                let head = format!(
                    "matmul   {} @ {}  ({batch}{})",
                    self.view(lhs),
                    self.view(rhs),
                    self.extents(extents)
                );
                return self.finish(head, finish);
            }
            Step::Dot { result, operands: [lhs, rhs] } => {
                format!(
                    "dot      {} = {} · {}  ({})",
                    self.name(*result),
                    self.view(lhs),
                    self.view(rhs),
                    self.extents(&lhs.shape)
                )
            }
            Step::Check { integers, must: Condition::BeBelow(extent) } => {
                format!("check    {} is below {}", self.integers(integers), self.dim(extent))
            }
            Step::Check { integers, must: Condition::Divide } => {
                format!("check    {} is not 0", self.integers(integers))
            }
            Step::Call(call) => self.call(call),
            Step::Loop(of) => return self.repeated(of),
            Step::Conv2d(Conv2d { kind, operands: [first, second], finish, filter, .. }) => {
                let kind = match kind {
                    ConvKind::Forward => "",
                    ConvKind::GradInput => ", derivative by its input",
                    ConvKind::GradFilter => ", derivative by its filter",
                };
                let (first, second) = (self.buffer(*first), self.buffer(*second));
                let head = format!("conv2d   {first} by {second}{kind}  (filter {})", self.extents(filter));
                return self.finish(head, finish);
            }
            Step::Strips(strips) => return self.strips(strips),
            Step::Watch { watch: Watch::Show(label), argument } => {
                format!("show     {} as {label:?}", self.argument(argument))
            }
            Step::Watch { watch: Watch::Search(_), argument } => {
                format!("search   {} for NaN", self.argument(argument))
            }
            Step::Update { from, to } => format!("update   {} <- {}", self.buffer(*to), self.buffer(*from)),
            Step::UpdateScalar { from, input } => {
                format!("update   {} <- {}", self.plan.inputs[*input].name, self.scalar(from))
            }
        };
        vec![line]
    }

    /// `loop     h, hs <- h0, x[i]  (3 steps)`, with the steps of the body indented.
    fn repeated(&self, of: &LoopStep) -> Vec<String> {
        let results = of.carries.iter().map(|carry| &carry.last).chain(&of.stacked);
        let results: Vec<_> = results.map(|result| self.buffer(*result)).collect();
        let operands = of.operands.iter().map(|(operand, access)| match access {
            Access::Element => format!("{}[i]", self.argument(operand)),
            Access::Carry | Access::Whole => self.argument(operand),
        });
        let (results, operands) = (results.join(", "), operands.collect::<Vec<_>>().join(", "));
        let back = if of.reverse { ", from the last to the first" } else { "" };
        let guard = match of.guard {
            Guard::Always => String::new(),
            Guard::Carry => format!(", while {}", self.buffer(of.carries[0].last)),
            Guard::Operand => format!(", if {}", self.argument(&of.operands[of.carries.len()].0)),
        };
        let steps = of.steps.as_ref().map_or_else(|| "any number of".to_owned(), |steps| self.dim(steps));
        let mut lines = vec![format!("loop     {results} <- {operands}  ({steps} steps{back}{guard})")];
        let inner = Listing { plan: &of.body, value_name: &|_| None, bindings: self.bindings };
        lines.extend(of.body.steps.iter().flat_map(|step| inner.step(step)).map(|line| format!("  {line}")));
        lines
    }

    fn argument(&self, argument: &KernelOperand) -> String {
        match argument {
            KernelOperand::Tensor(buffer, _) => self.buffer(*buffer),
            KernelOperand::Scalar(scalar, _) => self.scalar(scalar),
        }
    }

    /// `cumsum   y <- x  (axis 1, reverse)`.
    fn call(&self, call: &KernelCall) -> String {
        let result = self.buffer(call.result);
        let operands: Vec<_> = call.operands.iter().map(|operand| self.argument(operand)).collect();
        let operands = operands.join(", ");
        match call.external() {
            Some(External::Call { function, .. }) => {
                return format!("call     {result} <- {function}({operands})");
            }
            Some(External::Grad { function, order }) => {
                let derivative = "derivative of ".repeat(usize::try_from(*order).unwrap_or(0));
                return format!("call     {result} <- {derivative}{function}({operands})");
            }
            None => {}
        }
        let (row, arrow) = (call.op.info(), if operands.is_empty() { "" } else { " <- " });
        let attributes = (row.attributes)(&call.op);
        let named = row.fields.iter().zip(attributes.iter().flatten());
        let attributes: Vec<_> =
            named.filter_map(|(field, attribute)| self.attribute(field.name, attribute)).collect();
        let attributes = match &attributes[..] {
            [] => String::new(),
            all => format!("  ({})", all.join(", ")),
        };
        format!("{:<8} {result}{arrow}{operands}{attributes}", row.mnemonic)
    }

    /// The text of an attribute; `None` for a flag that is not set.
    fn attribute(&self, name: &str, attribute: &Attribute) -> Option<String> {
        let dims = |dims: &[Dim]| dims.iter().map(|dim| self.dim(dim)).collect::<Vec<_>>().join(", ");
        match attribute {
            Attribute::Flag(is_set) => is_set.then(|| name.to_owned()),
            Attribute::I64(value) => Some(format!("{name} {value}")),
            Attribute::Integers(values) => Some(format!("{name} {values:?}")),
            Attribute::Dims(shape) => Some(format!("{name} [{}]", dims(shape))),
            Attribute::Slice(slice) => {
                let Slice { starts, ends, steps } = &**slice;
                Some(format!("starts [{}], ends [{}], steps {steps:?}", dims(starts), dims(ends)))
            }
            _ => None,
        }
    }

    fn strips(&self, strips: &Strips) -> Vec<String> {
        let outer: String =
            strips.outer.iter().map(|walk| format!("{} × ", self.dim(&walk.extent))).collect();
        let mut lines =
            vec![format!("strips   {outer}{} by {} at a time", self.dim(&strips.cut.extent), strips.most)];
        if let Some(Seen { len, ahead, columns, finite }) = &strips.seen {
            let ahead = match ahead {
                0 => String::new(),
                1.. => format!(" + {ahead}"),
                _ => format!(" - {}", ahead.unsigned_abs()),
            };
            let finite: Vec<String> = finite.iter().map(|buffer| self.buffer(*buffer)).collect();
            let finite = finite.into_iter().reduce(|all, one| format!("{all}, {one}"));
            let condition = finite.map(|all| format!(", if {all} is finite")).unwrap_or_default();
            lines.push(format!("    {len} of {columns}: up to the last row of the strip{ahead}{condition}"));
        }
        let sums = strips.sums.iter().map(|sum| format!("    {} <- 0.0", self.buffer(*sum)));
        lines.extend(sums);
        let inner = strips.steps.iter().flat_map(|step| self.step(step));
        lines.extend(inner.map(|line| format!("    {line}")));
        lines
    }

    fn nest(&self, nest: &Nest) -> Vec<String> {
        let (rows, elements) = nest.extents.split_at(nest.row_axes);
        let rows = if rows.is_empty() { String::new() } else { format!("{} | ", self.extents(rows)) };
        let mut lines = vec![format!("nest     ({rows}{})", self.extents(elements))];
        for (number, pass) in nest.passes.iter().enumerate() {
            if nest.passes.len() > 1 {
                lines.push(format!("    pass {}", number + 1));
            }
            let operand = |operand: &Operand| self.operand(operand, &nest.loads, &pass.elements);
            let number = |operand: &Operand| self.operand(operand, &nest.loads, &pass.numbers);
            lines.extend(pass.elements.iter().map(|node| self.node(node, &operand)));
            lines.extend(pass.stores.iter().map(|store| self.store(store, &operand)));
            lines.extend(pass.folds.iter().map(|fold| self.fold(fold, &operand)));
            lines.extend(
                pass.numbers.iter().map(|node| format!("{}, once per row", self.node(node, &number))),
            );
            lines.extend(pass.row_stores.iter().map(|store| self.store(store, &number)));
            lines.extend(pass.row_folds.iter().map(|fold| self.fold(fold, &number)));
        }
        lines
    }

    fn finish(&self, head: String, finish: &Finish) -> Vec<String> {
        let operand = |operand: &Operand| self.operand(operand, &finish.loads, &finish.nodes);
        let nodes = finish.nodes.iter().map(|node| self.node(node, &operand));
        let stores = finish.stores.iter().map(|store| self.store(store, &operand));
        [head].into_iter().chain(nodes).chain(stores).collect()
    }

    fn node(&self, node: &Node, operand: &dyn Fn(&Operand) -> String) -> String {
        let operands: Vec<_> = node.operands.iter().map(operand).collect();
        format!("    {} = {}", self.name(node.value), operation(node.op, &operands))
    }

    fn store(&self, store: &Store, operand: &dyn Fn(&Operand) -> String) -> String {
        format!("    {} <- {}", self.view(&store.target), operand(&store.operand))
    }

    fn fold(&self, fold: &Fold, operand: &dyn Fn(&Operand) -> String) -> String {
        let sum = if fold.count.is_some() { "mean" } else { fold.monoid.label };
        let operand = operand(&fold.operand);
        match &fold.target {
            Target::Number(value) => format!("    {} = {sum} of {operand}, over the row", self.name(*value)),
            Target::Memory(view) => format!("    {} <- {sum} of {operand}, over rows", self.view(view)),
            Target::Total(value) => format!("    {} = {sum} of {operand}", self.name(*value)),
        }
    }

    fn operand(&self, operand: &Operand, loads: &[View], nodes: &[Node]) -> String {
        match operand {
            Operand::Load(load) => self.view(&loads[*load]),
            Operand::Node(node) => self.name(nodes[*node].value),
            Operand::Number(value) => self.name(*value),
            Operand::Scalar(scalar) => self.scalar(scalar),
            Operand::Product => "product".to_owned(),
        }
    }

    /// Lists the buffers. A buffer that holds one strip of rows is shown with the size of the longest strip. Parts of
    /// other buffers are left out.
    fn buffers(&self, text: &mut String) {
        let strips = || self.plan.steps.iter().filter_map(Step::strips);
        let row = |id: BufferId| match strips().find(|strips| strips.local.contains(&id)) {
            Some(strips) => {
                let mut bindings = self.bindings.clone();
                bindings.extend(strips.longest());
                Listing { bindings: &bindings, ..*self }.row(id)
            }
            None => self.row(id),
        };
        let parts: BTreeSet<BufferId> =
            strips().flat_map(|strips| &strips.parts).map(|part| part.buffer).collect();
        // A buffer may be unused: if strips compute its elements again, nothing may read the first ones.
        let mut used = BTreeSet::new();
        self.plan.steps.iter().for_each(|step| step.for_each_buffer(|buffer| _ = used.insert(buffer)));
        let is_shown = |id: &BufferId| {
            let is_temporary = matches!(self.plan.buffers[id.0].place, Location::Arena { .. });
            !parts.contains(id) && (used.contains(id) || !is_temporary)
        };
        let all = (0..self.plan.buffers.len()).map(BufferId).filter(is_shown);
        let rows: Vec<[String; 5]> = all.map(row).collect();
        let mut widths = [0; 5];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in &rows {
            let mut line = String::from("  ");
            for (cell, width) in row.iter().zip(widths) {
                write!(line, "{cell:<width$}  ").expect("writing to a string cannot fail");
            }
            put(text, &line);
        }
    }

    /// The name, type, bytes, location and lifetime of a buffer.
    fn row(&self, id: BufferId) -> [String; 5] {
        let Buffer { place, ty, .. } = &self.plan.buffers[id.0];
        let place = match place {
            Location::Input(input) if self.name_of_input(id) => format!("input {input}"),
            Location::Input(input) => format!("in place of {}", self.plan.inputs[*input].name),
            Location::Result(result) => format!("result {result}"),
            Location::Arena { offset } => {
                let bytes =
                    offset.mul(&Dim::literal(ty.dtype.bytes() as i64)).map_or(offset.clone(), |bytes| bytes);
                format!("at {}", self.dim(&bytes))
            }
            Location::Constant(data) => format!("constant {}", constant(data)),
            Location::Part { of, .. } => format!("part of {}", self.buffer(*of)),
        };
        let shape = ty.shape.substitute(self.bindings).unwrap_or_else(|_| ty.shape.clone());
        let bytes = shape.element_count().and_then(|count| count.mul(&Dim::literal(ty.dtype.bytes() as i64)));
        let bytes = bytes.map_or_else(|_| "?".to_owned(), |bytes| bytes.to_string());
        let mut uses = Vec::new();
        for (position, step) in self.plan.steps.iter().enumerate() {
            let mut used = false;
            step.for_each_buffer(|other| used |= other == id || whole(&self.plan.buffers, other) == id);
            if used {
                uses.push(position + 1);
            }
        }
        let life = match (uses.first(), uses.last()) {
            (Some(first), Some(last)) if first == last => format!("step {first}"),
            (Some(first), Some(last)) => format!("steps {first} to {last}"),
            _ => "not used".to_owned(),
        };
        [self.buffer(id), Type::new(ty.dtype, shape).to_string(), format!("{bytes} bytes"), place, life]
    }

    /// Whether a buffer holds the original value of an input.
    fn name_of_input(&self, id: BufferId) -> bool {
        let Buffer { place, value, .. } = &self.plan.buffers[id.0];
        matches!(place, Location::Input(input) if value.index() == *input)
    }

    pub(crate) fn name(&self, value: ValueId) -> String {
        let input = self.plan.inputs.get(value.index()).map(|input| input.name.to_string());
        input.or_else(|| (self.value_name)(value)).unwrap_or_else(|| value.to_string())
    }

    pub(crate) fn buffer(&self, buffer: BufferId) -> String {
        self.name(self.plan.buffers[buffer.0].value)
    }

    fn view(&self, view: &View) -> String {
        match &view.source {
            Source::Scalar(scalar) => self.scalar(scalar),
            Source::Buffer(buffer) => self.buffer(*buffer),
            Source::Positions(_) => "positions".to_owned(),
        }
    }

    fn integers(&self, integers: &Integers) -> String {
        match integers {
            Integers::Buffer(buffer) => self.buffer(*buffer),
            Integers::Scalar(scalar, _) => self.scalar(scalar),
        }
    }

    pub(crate) fn scalar(&self, scalar: &Scalar) -> String {
        match scalar {
            Scalar::Constant(data) => constant(data),
            Scalar::Input(input) => self.plan.inputs[*input].name.to_string(),
            Scalar::Local(value) => self.name(*value),
            Scalar::Count { count, .. } => self.dim(count),
        }
    }

    fn extents(&self, extents: &[Dim]) -> String {
        extents.iter().map(|dim| self.dim(dim)).collect::<Vec<_>>().join(" × ")
    }

    pub(crate) fn dim(&self, dim: &Dim) -> String {
        let dim = dim.substitute(self.bindings).unwrap_or_else(|_| dim.clone());
        if dim.terms().len() > 1 { format!("({dim})") } else { dim.to_string() }
    }
}

pub(crate) fn operation(op: Map, operands: &[String]) -> String {
    let row = op.row();
    match row.notation {
        Notation::Infix(_) | Notation::Named(..) => operands.join(&format!(" {} ", row.label)),
        Notation::Prefix(_) => format!("{}{}", row.label, operands.join(", ")),
        _ if row.is_identity() => operands.join(", "),
        Notation::Function | Notation::Never => format!("{}({})", row.mnemonic, operands.join(", ")),
    }
}

/// The first few elements.
fn constant(data: &TensorData) -> String {
    const SHOWN: usize = 3;
    let elements = data.texts(SHOWN);
    let more = if data.stored() > SHOWN { ", …" } else { "" };
    match &elements[..] {
        [one] if data.stored() == 1 => one.clone(),
        _ => format!("[{}{more}]", elements.join(", ")),
    }
}
