//! Emits the loops of nests as Rust text: a struct with their captures. The run time compiles its `run` for each SIMD
//! level and, if there is enough work, splits it for several threads.

mod captures;
pub(super) mod finish;
mod print;
mod split;

use std::fmt::Write;

use mind_core::{
    dim::Dim,
    loops::{Cut, Execution, Loops, LoweredNest, Total, nest},
    plan::{BufferId, Nest, View},
};

use super::{
    body::Body,
    extent::{grouped, symbol_variable},
};
use captures::{Field, Scaffold};
use print::Printer;

pub(super) fn emit(body: &mut Body<'_>, of: &Nest) {
    let loops = match nest(body.plan, of) {
        LoweredNest::Looped(loops) => loops,
        LoweredNest::Copied { from, to } => return copy(body, &from, to),
    };
    let printer = Printer::new(body, &loops);
    let fields = Field::all(body, &loops, &printer);
    let totals = loops.totals.iter().map(|total| body.name_local(total.value, total.dtype)).collect();
    let item = Item { body, loops: &loops, printer: &printer, fields: &fields, totals }.text();
    let _ = writeln!(body.text, "{item}");
    for Total { value, count, dtype, .. } in &loops.totals {
        if let Some(count) = count {
            let (name, count) = (body.locals[value].0.clone(), grouped(&body.extent(count)));
            let _ = writeln!(body.text, "let {name} = {name} / ({count} as {dtype});");
        }
    }
}

/// The struct of a nest, and the call that runs it.
struct Item<'a, 'p> {
    body: &'a Body<'p>,
    loops: &'a Loops,
    printer: &'a Printer<'a>,
    fields: &'a [Field],
    /// The name of each total in later steps.
    totals: Vec<String>,
}

impl Item<'_, '_> {
    fn text(&self) -> String {
        let (fields, loops) = (self.fields, self.printer.body());
        let Scaffold { declaration, names, construction, sizes, parameters, extents, bounds, symbols } =
            Scaffold::new(self.body, fields);
        let borrows = fields.iter().any(Field::is_borrow);
        let generics = |lifetime: &str, rest: &[String]| {
            let lifetime = borrows.then(|| lifetime.to_string());
            let all: Vec<_> = lifetime.into_iter().chain(rest.iter().cloned()).collect();
            if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
        };
        let (declared, of_any, bounds) =
            (generics("'a", &bounds), generics("'_", &symbols), bounds.join(", "));
        let totals = &self.loops.totals;
        let ty = |total: &Total| format!("rt::Folded<rt::{}, {}>", total.monoid.rust, total.dtype);
        let output = tuple(&totals.iter().map(ty).collect::<Vec<_>>());
        // The totals of two parts are combined by the monoid that combines elements.
        let part = |total: &Total| format!("rt::Folded::new({})", self.printer.value(&total.part));
        let given = tuple(&totals.iter().map(part).collect::<Vec<_>>());
        let arguments =
            fields.iter().fold(extents, |arguments, field| arguments + &format!("{}, ", field.name));
        let split = match &self.loops.run {
            Execution::Cut(_) => {
                let implementation = split::implementation(self.body, fields, &names, &sizes);
                format!("impl<{bounds}> rt::Split for Kernel{of_any} {{ {implementation} }}\n")
            }
            Execution::Inline | Execution::Dispatched => String::new(),
        };
        let run = format!("#[inline(always)] fn run(self) -> {output}");
        // A nest with functions such as `exp` takes the type parameter `by`, which decides whether they use fused
        // multiply-adds. The name cannot be that of a symbol, since symbols begin with capital letters (otherwise Rust
        // warns).
        let (run, by, turbofish) = match self.loops.depends_on_fusing {
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
        // LLVM knows that slices in parameters of a function do not overlap. It does not know this of slices in a
        // struct.
        format!(
            "{binding}{{ struct Kernel{declared} {{ {declaration}}}\n\
             impl<{bounds}> rt::Kernel for Kernel{of_any} {{ type Output = {output};\n\
             {run} {{\n\
             #[inline(always)] fn nest{by}({parameters}) -> {output} {{\n{loops}{given} }}\n\
             let Self {{ {names}}} = self; {sizes}nest{turbofish}({arguments}) }} }}\n\
             {split}{call} }};",
            binding = match &self.totals[..] {
                [] => String::new(),
                totals => {
                    let value = |name: &String| format!("rt::Folded {{ value: {name}, .. }}");
                    format!("let {} = ", tuple(&totals.iter().map(value).collect::<Vec<_>>()))
                }
            },
            call = self.call(&format!("Kernel {{ {construction}}}")),
        )
    }

    fn call(&self, kernel: &str) -> String {
        match &self.loops.run {
            Execution::Cut(Cut { axis, steps, elements, cost }) => {
                let run = if *axis == 0 { "run" } else { "run_columns" };
                let (steps, elements) = (self.body.extent(steps), self.body.extent(elements));
                format!("rt::{run}({kernel}, {steps}, {elements}, {cost})")
            }
            Execution::Inline => format!("rt::Kernel::run({kernel})"),
            Execution::Dispatched => format!("rt::dispatch({kernel})"),
        }
    }
}

/// Emits a call of the blocked copy of the run time.
fn copy(body: &mut Body<'_>, from: &View, to: BufferId) {
    let source = body.read(from.buffer().expect("a copied view is in memory"));
    let sizes = |dims: &[Dim]| list(&dims.iter().map(|dim| body.extent(dim)).collect::<Vec<_>>());
    let (extents, strides, offset) = (sizes(&from.shape), sizes(&from.strides), body.extent(&from.offset));
    let target = body.write(to);
    let _ =
        writeln!(body.text, "rt::copy_strided(&[{extents}], &[{strides}], {offset}, {source}, {target});");
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("{name},")).collect()
}

/// `()`, `a`, or `(a, b)`. More than eight parts are nested in tuples of at most eight, the longest that the run time
/// combines.
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
