//! Fused loops as Rust text: a struct of what the loop captures, whose `run` the dispatcher compiles for each SIMD level.

use std::fmt::Write;

use mind_core::{
    dim::Dim,
    plan::{BufferId, Nest, Operand, Place, Scalar, ScalarOp, View},
    ty::DType,
};

use super::{
    body::{Body, expression},
    extent::{grouped, symbol_variable},
    names::Names,
    single::{Fold, FoldTarget, Loop, Sink},
};

/// Below this many elements, known ahead, a loop runs where it stands: choosing a SIMD level would cost more.
const WORTH_DISPATCHING: i64 = 64;

pub(super) fn emit(body: &mut Body<'_>, nest: &Nest) {
    let nest = &Loop::new(nest, body.plan);
    if let Some((from, to)) = transposition(nest) {
        return copy(body, nest, from, to);
    }
    let mut kernel = Kernel::new(body, nest);
    kernel.nest();
    let Kernel { fields, text, dtype, result_name, .. } = kernel;
    let small =
        nest.extents.iter().try_fold(1i64, |product, extent| product.checked_mul(extent.as_literal()?));
    let dispatched = small.is_none_or(|elements| elements > WORTH_DISPATCHING);
    let (output, is_scalar) = match &nest.sink {
        Sink::Fold(Fold { target: FoldTarget::Scalar(_), .. }) => (dtype.name(), true),
        Sink::Fold(Fold { target: FoldTarget::Buffer(_), .. }) | Sink::Store(_) => ("()", false),
    };
    let symbols: Vec<_> = body.plan.symbols.iter().map(ToString::to_string).collect();
    let bounds: Vec<_> = symbols.iter().map(|symbol| format!("{symbol}: rt::Dim")).collect();
    let borrows = fields.iter().any(|field| field.ty.starts_with('&'));
    let [mut declaration, mut pattern, mut construction, mut sizes] = [(); 4].map(|()| String::new());
    if !symbols.is_empty() {
        let _ = write!(declaration, "sizes: ({}), ", list(&symbols));
        pattern.push_str("sizes, ");
        construction.push_str("sizes, ");
    }
    for (position, symbol) in symbols.iter().enumerate() {
        let _ = writeln!(sizes, "let {} = sizes.{position}.extent();", symbol_variable(symbol));
    }
    for Field { name, ty, value } in &fields {
        let _ = write!(declaration, "{name}: {ty}, ");
        let _ = write!(pattern, "{name}, ");
        let shorthand = name == value;
        let _ = if shorthand {
            write!(construction, "{name}, ")
        } else {
            write!(construction, "{name}: {value}, ")
        };
    }
    let construction = format!("Kernel {{ {construction}}}");
    let call = if dispatched {
        format!("rt::dispatch({construction})")
    } else {
        format!("rt::Kernel::run({construction})")
    };
    let generics = |lifetime: &str, rest: &[String]| {
        let lifetime = borrows.then(|| lifetime.to_string());
        format!("<{}>", lifetime.into_iter().chain(rest.iter().cloned()).collect::<Vec<_>>().join(", "))
    };
    let block = format!(
        "{{ struct Kernel{} {{ {declaration}}}\n\
         impl<{}> rt::Kernel for Kernel{} {{ type Output = {output};\n\
         #[inline(always)] fn run(self) -> {output} {{ let Self {{ {pattern}}} = self;\n{sizes}{text} }} }}\n\
         {call} }}",
        generics("'a", &bounds),
        bounds.join(", "),
        generics("'_", &symbols),
    );
    let _ = match (is_scalar, result_name) {
        (true, Some(name)) => writeln!(body.text, "let {name} = {block};"),
        (true, None) | (false, _) => writeln!(body.text, "{block}"),
    };
}

/// What is read and where it is stored, if the loop does nothing but copy elements that do not follow each other.
fn transposition(nest: &Loop) -> Option<(&View, BufferId)> {
    let ([from], [node], Sink::Store(target)) = (&nest.loads[..], &nest.body[..], &nest.sink) else {
        return None;
    };
    let strided = matches!(Along::of(from, nest.extents.len() - 1), Along::Strided);
    let copies = node.op == ScalarOp::Copy && node.operands == [Operand::Load(0)];
    if strided && copies { Some((from, target.buffer()?)) } else { None }
}

/// The run time's blocked copy.
fn copy(body: &mut Body<'_>, nest: &Loop, from: &View, to: BufferId) {
    let source = body.read(from.buffer().expect("loads are of memory"));
    let sizes = |dims: &[Dim]| list(&dims.iter().map(|dim| body.extent(dim)).collect::<Vec<_>>());
    let (extents, strides, offset) = (sizes(&nest.extents), sizes(&from.strides), body.extent(&from.offset));
    let target = body.write(to);
    let _ =
        writeln!(body.text, "rt::copy_strided(&[{extents}], &[{strides}], {offset}, {source}, {target});");
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("{name},")).collect()
}

/// Something that the loop captures.
struct Field {
    name: String,
    ty: String,
    value: String,
}

struct Kernel<'b, 'p, 'n> {
    body: &'b mut Body<'p>,
    nest: &'n Loop,
    dtype: DType,
    fields: Vec<Field>,
    /// For each load, the captured slice; the target's where it is the same memory.
    loads: Vec<String>,
    /// For each load, the part of the slice that one run along the inner axis goes over.
    rows: Vec<String>,
    /// For each node, the variable that holds it.
    nodes: Vec<String>,
    target: Option<(String, View)>,
    result_name: Option<String>,
    text: String,
}

impl<'b, 'p, 'n> Kernel<'b, 'p, 'n> {
    fn new(body: &'b mut Body<'p>, nest: &'n Loop) -> Self {
        let dtype = nest.body.last().expect("a loop computes something").dtype;
        let mut names = Names::new();
        for own in ["target", "whole", "start", "lane", "rest", "j"] {
            names.fresh(own);
        }
        body.plan.symbols.iter().for_each(|symbol| _ = names.fresh(&symbol_variable(symbol)));
        (0..nest.extents.len()).for_each(|axis| _ = names.fresh(&format!("i{axis}")));
        let mut fields: Vec<Field> = Vec::new();
        let mut result_name = None;
        let target_view = match &nest.sink {
            Sink::Store(view) | Sink::Fold(Fold { target: FoldTarget::Buffer(view), .. }) => {
                Some(view.clone())
            }
            Sink::Fold(Fold { target: FoldTarget::Scalar(_), .. }) => None,
        };
        let target_buffer = target_view.as_ref().and_then(View::buffer);
        // What is read is named before the target begins, which may take the memory of something read.
        let shares = |buffer: BufferId| {
            target_buffer.is_some_and(|target| {
                let [a, b] = [target, buffer].map(|buffer| &body.plan.buffers[buffer.0].place);
                a == b && !matches!(a, Place::Constant(_))
            })
        };
        let mut loads = Vec::new();
        for load in &nest.loads {
            let buffer = load.buffer().expect("loads are of memory");
            if shares(buffer) {
                loads.push("target".to_string());
                continue;
            }
            let value = body.read(buffer);
            let known = fields.iter().find(|field| field.value == value).map(|field| field.name.clone());
            loads.push(known.unwrap_or_else(|| {
                let name = names.fresh(&body.wish(body.plan.buffers[buffer.0].value));
                let ty = format!("&'a [{}]", body.plan.buffers[buffer.0].ty.dtype);
                fields.push(Field { name: name.clone(), ty, value });
                name
            }));
        }
        for operand in
            nest.body.iter().flat_map(|node| node.operands.iter().map(move |operand| (operand, node.dtype)))
        {
            if let (Operand::Scalar(scalar @ (Scalar::Input(_) | Scalar::Local(_))), dtype) = operand {
                let value = body.scalar_text(scalar);
                if !fields.iter().any(|field| field.value == value) {
                    let name = names.fresh(value.trim_start_matches('*'));
                    fields.push(Field { name, ty: dtype.to_string(), value });
                }
            }
        }
        if let Sink::Fold(Fold { target: FoldTarget::Scalar(value), .. }) = &nest.sink {
            result_name = Some(body.name_local(*value));
        }
        let target = target_view.map(|view| {
            let buffer = view.buffer().expect("targets are memory");
            let value = body.write(buffer);
            let ty = format!("&'a mut [{}]", body.plan.buffers[buffer.0].ty.dtype);
            fields.push(Field { name: "target".to_string(), ty, value });
            ("target".to_string(), view)
        });
        let alone = |name: &String| loads.iter().filter(|other| *other == name).count() == 1;
        let rows =
            loads.iter().map(|name| if alone(name) { name.clone() } else { names.fresh(name) }).collect();
        let nodes = nest.body.iter().map(|node| names.fresh(&body.wish(node.value))).collect();
        Self { body, nest, dtype, fields, loads, rows, nodes, target, result_name, text: String::new() }
    }

    fn nest(&mut self) {
        let axes: Vec<usize> = (0..self.nest.extents.len()).collect();
        match &self.nest.sink {
            Sink::Store(_) => self.store(&axes),
            Sink::Fold(fold) => {
                let (reduced, kept): (Vec<usize>, Vec<usize>) =
                    axes.into_iter().partition(|axis| fold.reduced[*axis]);
                let inner_reduced = fold.reduced.last() == Some(&true);
                if inner_reduced {
                    self.fold_rows(fold, &kept, &reduced)
                } else {
                    self.fold_columns(fold, &kept, &reduced)
                }
            }
        }
    }

    fn store(&mut self, axes: &[usize]) {
        let (inner, outer) = axes.split_last().expect("a loop has an axis");
        self.open(outer);
        self.rows(*inner, true);
        let len = self.extent(*inner);
        let _ = writeln!(self.text, "for j in 0..{len} {{");
        let value = self.compute(*inner);
        let target = self.target_element(*inner);
        let _ = writeln!(self.text, "{target} = {value}; }}");
        self.close(outer.len());
    }

    /// The innermost axis is summed: lanes along it, carried over the other summed axes.
    fn fold_rows(&mut self, fold: &Fold, kept: &[usize], reduced: &[usize]) {
        let (inner, outer) = reduced.split_last().expect("a sum reduces an axis");
        let (dtype, len) = (self.dtype, self.extent(*inner));
        let of_type = if dtype.bytes() == 4 { 32 } else { 16 };
        let known = self.nest.extents[*inner].as_literal();
        let (lanes, number) = match known {
            // Lanes that stay 0 change no sum; fewer of them give the same bits.
            Some(len) if len < of_type => {
                let number = len.max(1).cast_unsigned().next_power_of_two().cast_signed();
                (number.to_string(), number)
            }
            Some(_) | None => (format!("rt::LANES_{}", dtype.name().to_uppercase()), of_type),
        };
        self.open(kept);
        let _ = writeln!(self.text, "let mut lanes = [{}; {lanes}];", zero(dtype));
        self.open(outer);
        self.rows(*inner, false);
        let has_blocks = known.is_none_or(|len| len >= number);
        let has_rest = known.is_none_or(|len| len % number != 0);
        let _ = writeln!(self.text, "let whole = {} / {lanes} * {lanes};", grouped(&len));
        if has_blocks {
            let _ = writeln!(self.text, "for start in (0..whole).step_by({lanes}) {{");
            self.add_block(*inner, "lanes", &lanes);
            self.text.push_str("}\n");
        }
        if has_rest {
            // The rest goes to a copy, so that the lanes of the loop above stay in registers.
            self.text.push_str("let mut rest = lanes; let start = whole;\n");
            self.add_block(*inner, "rest", &format!("{} - whole", grouped(&len)));
            self.text.push_str("lanes = rest;\n");
        }
        self.close(outer.len());
        let sum = self.mean(fold, "rt::reduce_lanes(lanes)");
        match &self.target {
            None => {
                let _ = writeln!(self.text, "{sum}");
            }
            Some((name, view)) => {
                let at = self.position(view, None);
                let _ = writeln!(self.text, "{name}[{at}] = {sum};");
            }
        }
        self.close(kept.len());
    }

    /// Adds the elements from `start` on, as many as `width`, each to its lane.
    fn add_block(&mut self, inner: usize, lanes: &str, width: &str) {
        self.blocks(inner, width);
        let _ = writeln!(self.text, "for lane in 0..{width} {{");
        let value = self.compute_at(inner, &Position::Block);
        let sum = add(&format!("{lanes}[lane]"), &value, self.dtype);
        let _ = writeln!(self.text, "{lanes}[lane] = {sum}; }}");
    }

    /// The innermost axis is kept: rows are added up element by element.
    fn fold_columns(&mut self, fold: &Fold, kept: &[usize], reduced: &[usize]) {
        let (inner, outer) = kept.split_last().expect("the innermost axis is kept");
        let (dtype, len) = (self.dtype, self.extent(*inner));
        self.open(outer);
        let (name, view) = self.target.clone().expect("a sum that keeps an axis goes to memory");
        let at = self.position(&view, None);
        let _ = writeln!(self.text, "let target = &mut {name}[{at}..][..{}];", grouped(&len));
        let _ = writeln!(self.text, "target.fill({});", zero(dtype));
        self.open(reduced);
        self.rows(*inner, false);
        let _ = writeln!(self.text, "for j in 0..{len} {{");
        let value = self.compute(*inner);
        let sum = add("target[j]", &value, dtype);
        let _ = writeln!(self.text, "target[j] = {sum}; }}");
        self.close(reduced.len());
        if fold.count.is_some() {
            let mean = self.mean(fold, "target[j]");
            let _ = writeln!(self.text, "for j in 0..{len} {{ target[j] = {mean}; }}");
        }
        self.close(outer.len());
    }

    fn mean(&self, fold: &Fold, sum: &str) -> String {
        match &fold.count {
            Some(count) => format!("{sum} / ({} as {})", grouped(&self.body.extent(count)), self.dtype),
            None => sum.to_string(),
        }
    }

    fn open(&mut self, axes: &[usize]) {
        for axis in axes {
            let extent = self.extent(*axis);
            let _ = writeln!(self.text, "for i{axis} in 0..{extent} {{");
        }
    }

    fn close(&mut self, count: usize) {
        self.text.push_str(&"}\n".repeat(count));
    }

    fn extent(&self, axis: usize) -> String {
        self.body.extent(&self.nest.extents[axis])
    }

    /// The part of each captured slice that one run along the inner axis goes over.
    fn rows(&mut self, inner: usize, with_target: bool) {
        let len = grouped(&self.extent(inner));
        for (position, view) in self.nest.loads.iter().enumerate() {
            let (name, row) = (&self.loads[position], &self.rows[position]);
            let at = self.position_without(view, inner);
            if with_target && name == "target" {
                continue;
            }
            match Along::of(view, inner) {
                Along::Still => {
                    let _ = writeln!(self.text, "let {row} = {name}[{at}];");
                }
                Along::Consecutive => {
                    let _ = writeln!(self.text, "let {row} = &{name}[{}..][..{len}];", grouped(&at));
                }
                Along::Strided => {
                    let _ = writeln!(self.text, "let {row} = &{name}[{}..];", grouped(&at));
                }
            }
        }
        if let (true, Some((name, view))) = (with_target, &self.target) {
            let at = self.position_without(view, inner);
            let _ = writeln!(self.text, "let target = &mut {name}[{}..][..{len}];", grouped(&at));
        }
    }

    /// The part of each row that one block of lanes goes over.
    fn blocks(&mut self, inner: usize, width: &str) {
        for (position, view) in self.nest.loads.iter().enumerate() {
            match Along::of(view, inner) {
                Along::Consecutive => {
                    let row = &self.rows[position];
                    let _ = writeln!(self.text, "let {row} = &{row}[start..][..{}];", grouped(width));
                }
                Along::Still | Along::Strided => {}
            }
        }
    }

    /// The chain of operations at one index; gives the name of the last.
    fn compute(&mut self, inner: usize) -> String {
        self.compute_at(inner, &Position::Row)
    }

    fn compute_at(&mut self, inner: usize, position: &Position) -> String {
        let mut last = String::new();
        for (number, node) in self.nest.body.iter().enumerate() {
            let operands: Vec<_> =
                node.operands.iter().map(|operand| self.operand(operand, inner, position)).collect();
            let value = expression(node.op, &operands, node.dtype);
            last.clone_from(&self.nodes[number]);
            let _ = writeln!(self.text, "let {last} = {value};");
        }
        last
    }

    fn operand(&self, operand: &Operand, inner: usize, position: &Position) -> String {
        match operand {
            Operand::Node(node) => self.nodes[*node].clone(),
            Operand::Scalar(scalar) => {
                let value = self.body.scalar_text(scalar);
                let field = self.fields.iter().find(|field| field.value == value);
                field.map_or(value.clone(), |field| field.name.clone())
            }
            Operand::Number(_) | Operand::Sum => unreachable!("a loop of one pass has neither"),
            Operand::Load(load) => {
                let view = &self.nest.loads[*load];
                let stored = matches!(self.nest.sink, Sink::Store(_)) && self.loads[*load] == "target";
                if stored {
                    return self.target_element(inner);
                }
                let row = &self.rows[*load];
                match (Along::of(view, inner), position) {
                    (Along::Still, _) => row.clone(),
                    (Along::Consecutive, Position::Row) => format!("{row}[j]"),
                    (Along::Consecutive, Position::Block) => format!("{row}[lane]"),
                    (Along::Strided, Position::Row) => format!("{row}[j * {}]", self.stride(view, inner)),
                    (Along::Strided, Position::Block) => {
                        format!("{row}[(start + lane) * {}]", self.stride(view, inner))
                    }
                }
            }
        }
    }

    fn target_element(&self, inner: usize) -> String {
        match self.target.as_ref().map(|(_, view)| Along::of(view, inner)) {
            Some(Along::Still) => "target[0]".to_string(),
            Some(Along::Consecutive | Along::Strided) | None => "target[j]".to_string(),
        }
    }

    fn stride(&self, view: &View, axis: usize) -> String {
        grouped(&self.body.extent(&view.strides[axis]))
    }

    fn position_without(&self, view: &View, inner: usize) -> String {
        self.position(view, Some(inner))
    }

    /// Where the element of a view at the current outer indices is; the axes of a sum that the view of the target
    /// stands still along have stride 0 and do not show.
    fn position(&self, view: &View, without: Option<usize>) -> String {
        let mut parts = Vec::new();
        if view.offset != Dim::ZERO {
            parts.push(self.body.extent(&view.offset));
        }
        let inner = self.nest.extents.len() - 1;
        for (axis, stride) in view.strides.iter().enumerate() {
            let skipped = Some(axis) == without || (without.is_none() && axis == inner);
            if *stride == Dim::ZERO || skipped {
                continue;
            }
            parts.push(if stride.is_one() {
                format!("i{axis}")
            } else {
                format!("i{axis} * {}", self.stride(view, axis))
            });
        }
        if parts.is_empty() { "0".to_string() } else { parts.join(" + ") }
    }
}

enum Position {
    /// Index `j` of the row.
    Row,
    /// Index `lane` of the block at `start`.
    Block,
}

/// How a view moves along an axis.
enum Along {
    Still,
    Consecutive,
    Strided,
}

impl Along {
    fn of(view: &View, axis: usize) -> Self {
        match &view.strides[axis] {
            stride if *stride == Dim::ZERO => Self::Still,
            stride if stride.is_one() => Self::Consecutive,
            _ => Self::Strided,
        }
    }
}

fn zero(dtype: DType) -> String {
    if dtype.is_float() { format!("0.0_{dtype}") } else { format!("0_{dtype}") }
}

fn add(sum: &str, value: &str, dtype: DType) -> String {
    if dtype.is_float() { format!("{sum} + {value}") } else { format!("{sum}.wrapping_add({value})") }
}
