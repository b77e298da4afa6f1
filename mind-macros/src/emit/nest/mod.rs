//! Nests as Rust text: a struct of what the loops capture, whose `run` the run time compiles for each SIMD level and, where
//! there is enough to do, cuts for several threads.

mod captures;
mod chains;
pub(super) mod finish;
mod loops;
mod split;

use std::fmt::Write;

use mind_core::{
    dim::Dim,
    map::{Map, Rust},
    plan::{BufferId, Nest, Operand, Plan, Target, View},
    ty::DType,
};

use super::{
    body::Body,
    extent::{grouped, symbol_variable},
};
use captures::{Captures, Field, Total};
use split::Cut;

/// Below this many elements, known ahead, a nest runs where it stands: choosing a SIMD level would cost more.
const WORTH_DISPATCHING: i64 = 64;

pub(super) fn emit(body: &mut Body<'_>, nest: &Nest) {
    if let Some((from, to)) = transposition(nest) {
        return copy(body, nest, from, to);
    }
    let cut = Cut::of(nest);
    let captures = Captures::new(body, nest, cut.as_ref());
    let text = loops::text(body, nest, &captures);
    let call = Call { body, nest, cut: cut.as_ref(), captures: &captures };
    let item = call.item(&text);
    let _ = writeln!(body.text, "{item}");
    for Total { name, dtype, count, .. } in &captures.totals {
        if let Some(count) = count {
            let count = grouped(&body.extent(count));
            let _ = writeln!(body.text, "let {name} = {name} / ({count} as {dtype});");
        }
    }
}

/// The lengths of the scratch memory that sums of a nest are gathered in, and their element types.
pub(super) fn scratch(nest: &Nest, plan: &Plan) -> Vec<(DType, Dim)> {
    let sums = chains::in_scratch(nest, Cut::of(nest).map(|cut| cut.axis));
    let lens = sums.map(|sum| {
        let buffer = sum.view.buffer().expect("sums in memory have a buffer");
        let len = plan.buffers[buffer.0].ty.shape.element_count();
        (sum.fold.dtype, len.expect("a verified type has a countable number of elements"))
    });
    lens.collect()
}

/// The struct of a nest, and what runs it.
struct Call<'a, 'p> {
    body: &'a Body<'p>,
    nest: &'a Nest,
    cut: Option<&'a Cut>,
    captures: &'a Captures,
}

impl Call<'_, '_> {
    fn item(&self, loops: &str) -> String {
        let symbols: Vec<_> = self.body.plan.symbols.iter().map(ToString::to_string).collect();
        let bounds: Vec<_> = symbols.iter().map(|symbol| format!("{symbol}: rt::Dim")).collect();
        let fields = &self.captures.fields;
        let borrows = fields.iter().any(Field::is_borrow);
        let generics = |lifetime: &str, rest: &[String]| {
            let lifetime = borrows.then(|| lifetime.to_string());
            let all: Vec<_> = lifetime.into_iter().chain(rest.iter().cloned()).collect();
            if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
        };
        let (declared, of_any, bounds) =
            (generics("'a", &bounds), generics("'_", &symbols), bounds.join(", "));
        let totals = &self.captures.totals;
        let part = |total: &Total| format!("rt::Folded<rt::{}, {}>", total.monoid.rust, total.dtype);
        let output = tuple(&totals.iter().map(part).collect::<Vec<_>>());
        let mut sizes = String::new();
        let [mut declaration, mut names, mut construction, mut parameters] = [(); 4].map(|()| String::new());
        if !symbols.is_empty() {
            let _ = write!(declaration, "sizes: ({}), ", list(&symbols));
            names.push_str("sizes, ");
            construction.push_str("sizes, ");
        }
        let mut arguments = String::new();
        for (position, symbol) in symbols.iter().enumerate() {
            let variable = symbol_variable(symbol);
            let _ = write!(sizes, "let {variable} = sizes.{position}.extent(); ");
            let _ = write!(parameters, "{variable}: usize, ");
            let _ = write!(arguments, "{variable}, ");
        }
        for field in fields {
            let Field { name, value, .. } = field;
            let _ = write!(declaration, "{name}: {}, ", field.ty("'a "));
            let _ = write!(names, "{name}, ");
            let _ = match name == value {
                true => write!(construction, "{name}, "),
                false => write!(construction, "{name}: {value}, "),
            };
            let _ = write!(parameters, "{name}: {}, ", field.ty(""));
            let _ = write!(arguments, "{name}, ");
        }
        let split = self.cut.map(|_| {
            let implementation = split::implementation(self.body, fields, &names, &sizes);
            format!("impl<{bounds}> rt::Split for Kernel{of_any} {{ {implementation} }}\n")
        });
        let run = format!("#[inline(always)] fn run(self) -> {output}");
        // What has `exp` or `ln` is told how the SIMD level computes products and sums. Symbols begin
        // with capital letters, or Rust warns of them.
        let (run, by, turbofish) = match has_functions(self.nest) {
            false => (run, "", ""),
            true => (
                format!(
                    "{run} {{ self.run_by::<rt::Separate>() }}\n\
                     #[inline(always)] fn run_by<by: rt::MultiplyAdd>(self) -> {output}"
                ),
                "<by: rt::MultiplyAdd>",
                "::<by>",
            ),
        };
        // A function that takes slices tells LLVM that they do not overlap, which a struct does not.
        format!(
            "{binding}{{ struct Kernel{declared} {{ {declaration}}}\n\
             impl<{bounds}> rt::Kernel for Kernel{of_any} {{ type Output = {output};\n\
             {run} {{\n\
             #[inline(always)] fn nest{by}({parameters}) -> {output} {{\n{loops}}}\n\
             let Self {{ {names}}} = self; {sizes}nest{turbofish}({arguments}) }} }}\n\
             {split}{call} }};",
            binding = match totals.is_empty() {
                true => String::new(),
                false => format!(
                    "let {} = ",
                    tuple(
                        &totals
                            .iter()
                            .map(|total| format!("rt::Folded {{ value: {}, .. }}", total.name))
                            .collect::<Vec<_>>()
                    )
                ),
            },
            split = split.unwrap_or_default(),
            call = self.call(&format!("Kernel {{ {construction}}}")),
        )
    }

    fn call(&self, kernel: &str) -> String {
        if let Some(Cut { axis, steps, elements, cost }) = self.cut {
            let run = if *axis == 0 { "run" } else { "run_columns" };
            let (steps, elements) = (self.body.extent(steps), self.body.extent(elements));
            return format!("rt::{run}({kernel}, {steps}, {elements}, {cost})");
        }
        match known(&self.nest.extents) {
            Some(elements) if elements <= WORTH_DISPATCHING => format!("rt::Kernel::run({kernel})"),
            Some(_) | None => format!("rt::dispatch({kernel})"),
        }
    }
}

/// Whether elements or numbers of rows are results of functions that are told how to multiply and add.
fn has_functions(nest: &Nest) -> bool {
    let mut nodes = nest.passes.iter().flat_map(|pass| pass.elements.iter().chain(&pass.numbers));
    nodes.any(|node| matches!(node.op.row().rust, Rust::By(_)))
}

/// What is read and where it is stored, if the nest does nothing but copy elements that do not follow each other.
fn transposition(nest: &Nest) -> Option<(&View, BufferId)> {
    let ([from], [pass]) = (&nest.loads[..], &nest.passes[..]) else { return None };
    let [store] = &pass.stores[..] else { return None };
    let alone = pass.folds.is_empty()
        && pass.numbers.is_empty()
        && pass.row_stores.is_empty()
        && pass.row_folds.is_empty();
    let copies = match (&store.operand, &pass.elements[..]) {
        (Operand::Load(0), []) => true,
        (Operand::Node(0), [node]) => node.op == Map::COPY && node.operands == [Operand::Load(0)],
        _ => false,
    };
    let strided = matches!(Along::of(from, nest.extents.len() - 1), Along::Strided);
    let in_order = store.target.is_contiguous();
    if alone && copies && strided && in_order { Some((from, store.target.buffer()?)) } else { None }
}

/// The run time's blocked copy.
fn copy(body: &mut Body<'_>, nest: &Nest, from: &View, to: BufferId) {
    let source = body.read(from.buffer().expect("loads are of memory"));
    let sizes = |dims: &[Dim]| list(&dims.iter().map(|dim| body.extent(dim)).collect::<Vec<_>>());
    let (extents, strides, offset) = (sizes(&nest.extents), sizes(&from.strides), body.extent(&from.offset));
    let target = body.write(to);
    let _ =
        writeln!(body.text, "rt::copy_strided(&[{extents}], &[{strides}], {offset}, {source}, {target});");
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

/// The operands of everything that a nest computes, stores or sums, and their element types.
fn operands<'n>(body: &Body<'_>, nest: &'n Nest) -> Vec<(&'n Operand, DType)> {
    let mut operands = Vec::new();
    for pass in &nest.passes {
        for node in pass.elements.iter().chain(&pass.numbers) {
            operands.extend(node.operands.iter().map(|operand| (operand, node.dtype)));
        }
        for store in pass.stores.iter().chain(&pass.row_stores) {
            let buffer = store.target.buffer().expect("targets are memory");
            operands.push((&store.operand, body.plan.buffers[buffer.0].ty.dtype));
        }
        operands.extend(pass.folds.iter().chain(&pass.row_folds).map(|fold| (&fold.operand, fold.dtype)));
    }
    operands
}

/// What is written: views of stores and of sums in memory.
fn targets(nest: &Nest) -> impl Iterator<Item = &View> {
    nest.passes.iter().flat_map(|pass| {
        let stores = pass.stores.iter().chain(&pass.row_stores).map(|store| &store.target);
        let folds = pass.folds.iter().chain(&pass.row_folds).filter_map(|fold| match &fold.target {
            Target::Memory(view) => Some(view),
            Target::Number(_) | Target::Total(_) => None,
        });
        stores.chain(folds)
    })
}

/// The number of elements, if it is known.
fn known(extents: &[Dim]) -> Option<i64> {
    extents.iter().try_fold(1i64, |product, extent| product.checked_mul(extent.as_literal()?))
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("{name},")).collect()
}

/// `()`, `a`, or `(a, b)`; more than eight are put together in eights, which is what the run time combines.
fn tuple(parts: &[String]) -> String {
    match parts {
        [] => "()".to_string(),
        [part] => part.clone(),
        parts if parts.len() <= 8 => format!("({})", parts.join(", ")),
        parts => {
            let size = parts.len().div_ceil(8);
            tuple(&parts.chunks(size).map(tuple).collect::<Vec<_>>())
        }
    }
}
