//! Emits the epilogues of products and convolutions as Rust text: a struct with the slices that the epilogue reads and
//! writes. Kernels pass blocks of sums to it while these are in cache.

use std::fmt::Write;

use mind_core::loops::{Captured, Finished, Loops, OfBlock, Whole};

use super::{
    Body,
    captures::{Field, Kind, Scaffold},
    grouped,
    print::Printer,
};

/// An expression that constructs the epilogue. Its slices begin at the first row.
pub(in crate::emit) fn finished(body: &mut Body<'_>, finished: &Finished) -> String {
    let Finished { loops, destination, stride, dtype, joins_rows } = finished;
    let printer = Printer::new(body, loops);
    let (fields, rows) = (Field::all(body, loops, &printer), printer.body());
    let block = Block::of(loops, &printer);
    let Scaffold { declaration, names, construction, sizes, parameters, extents, bounds, symbols } =
        Scaffold::new(body, &fields);
    let (mut arguments, mut cuts) = (extents, String::new());
    let [mut first, mut later] = [if symbols.is_empty() { "" } else { "sizes, " }; 2].map(str::to_owned);
    for Field { name, kind, .. } in &fields {
        match kind {
            Kind::Written(_, stride) => {
                let stride = grouped(&body.extent(stride));
                let _ = write!(cuts, "let {name} = {name}.split_at_mut((row - first) * {stride}); ");
                let _ = write!(first, "{name}: {name}.0, ");
                let _ = write!(later, "{name}: {name}.1, ");
                let _ = write!(arguments, "{name}, ");
            }
            Kind::Read(..) | Kind::Number(_) | Kind::Steps | Kind::Position(_) => {
                let _ = write!(first, "{name}, ");
                let _ = write!(later, "{name}, ");
                let _ = write!(arguments, "*{name}, ");
            }
        }
    }
    let (target, stride) = (printer.name(*destination), body.extent(stride));
    let destination =
        format!("rt::Destination::new({target}, (row - first) * {} + column, {stride})", grouped(&stride));
    let list_of = |lifetime: &str, rest: &[String]| {
        let all: Vec<_> = [lifetime.to_string()].into_iter().chain(rest.iter().cloned()).collect();
        all.join(", ")
    };
    // As in a nest, `by` decides whether functions such as `exp` use fused multiply-adds.
    let head = format!("#[inline(always)] fn block(&mut self, block: rt::Block<'_, {dtype}>)");
    let (head, by, turbofish) = match loops.depends_on_fusing {
        false => (head, "", ""),
        true => (
            format!(
                "{head} {{ self.block_by::<rt::Separate>(block) }}\n\
                 #[inline(always)] fn block_by<by: rt::MultiplyAdd>(&mut self, block: rt::Block<'_, {dtype}>)"
            ),
            "<by: rt::MultiplyAdd>",
            "::<by>",
        ),
    };
    // As in a nest, a function that takes slices tells LLVM that they do not overlap.
    format!(
        "{{ struct Finish<{declared}> {{ first: usize, {declaration}}}\n\
         impl<{bounds}> rt::Finish<{dtype}> for Finish<{of_any}> {{\n\
         const JOINS_ROWS: bool = {joins_rows};\n\
         fn split(self, row: usize) -> (Self, Self) {{ let Self {{ first, {names}}} = self; {sizes}{cuts}\n\
         (Self {{ first, {first}}}, Self {{ first: row, {later}}}) }}\n\
         fn destination(&self, row: usize, column: usize) -> rt::Destination<{dtype}> {{\n\
         let Self {{ first, {names}}} = self; {sizes}{destination} }}\n\
         {head} {{\n\
         #[inline(always)] fn rows{by}({parameters}{starts}: usize, block: rt::Block<'_, {dtype}>) {{\n\
         let rt::Block {{ {block} }} = block;\n{rows} }}\n\
         let Self {{ first, {names}}} = self; {sizes}rows{turbofish}({arguments}*first, block) }} }}\n\
         rt::Finished(Finish {{ first: 0, {construction}}}) }}",
        starts = block.first,
        block = block.pattern,
        declared = list_of("'a", &bounds),
        of_any = list_of("'_", &symbols),
        bounds = bounds.join(", "),
    )
}

/// The variables for the block that a kernel passes.
struct Block {
    first: String,
    pattern: String,
}

impl Block {
    fn of(loops: &Loops, printer: &Printer<'_>) -> Self {
        let mut block = Self { first: String::new(), pattern: String::new() };
        for capture in &loops.captures {
            let Captured::Block(of) = capture.source else { continue };
            let field = match of {
                OfBlock::First => {
                    printer.name(capture.var).clone_into(&mut block.first);
                    continue;
                }
                OfBlock::Row => "row",
                OfBlock::Column => "column",
                OfBlock::Rows => "rows",
                OfBlock::Columns => "columns",
                OfBlock::Sums => "sums",
                OfBlock::Stride => "stride",
            };
            let _ = write!(block.pattern, "{field}: {}, ", printer.name(capture.var));
        }
        block
    }
}

/// Code that computes the rows of a product with small known extents and applies the epilogue to each. `ty` is the type
/// of the product, and `product` the expression that constructs it.
pub(in crate::emit) fn whole_rows(body: &mut Body<'_>, whole: &Whole, ty: &str, product: &str) -> String {
    let printer = Printer::new(body, &whole.loops);
    let (fields, rows) = (Field::all(body, &whole.loops, &printer), printer.body());
    let Scaffold { parameters, extents: mut arguments, .. } = Scaffold::new(body, &fields);
    for Field { value, kind, .. } in &fields {
        let _ = match kind {
            Kind::Written(..) => write!(arguments, "&mut {value}[..], "),
            Kind::Read(..) => write!(arguments, "&{value}[..], "),
            Kind::Number(_) | Kind::Steps | Kind::Position(_) => write!(arguments, "{value}, "),
        };
    }
    // As in a nest, a function that takes slices tells LLVM that they do not overlap.
    format!(
        "{{ #[inline(always)] fn rows(product: {ty}, {parameters}) {{\n{rows} }}\n\
         rows({product}, {arguments}) }}"
    )
}
