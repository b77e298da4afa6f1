//! Finishes of products and convolutions as Rust text: a struct of what they read and write, which kernels give blocks of
//! sums while these are in cache.

use std::fmt::Write;

use mind_core::plan::{BufferId, Finish, Nest, Operand, Pass, View};

use super::{
    Body,
    captures::{Captures, Field, Kind},
    grouped, list,
    loops::{Frame, row},
};
use crate::emit::extent::symbol_variable;

/// Where the sums go, if they are stored as they are and nothing else becomes of them.
pub(in crate::emit) fn stored(body: &Body<'_>, finish: &Finish) -> Option<BufferId> {
    let [store] = &finish.stores[..] else { return None };
    let buffer = store.target.buffer()?;
    let len = body.plan.buffers[buffer.0].ty.shape.element_count();
    let whole = store.target.is_contiguous() && store.target.shape.element_count() == len;
    (whole && finish.nodes.is_empty() && store.operand == Operand::Sum).then_some(buffer)
}

/// An expression that makes the epilogue; what it writes begins here.
pub(in crate::emit) fn epilogue(body: &mut Body<'_>, finish: &Finish) -> String {
    let nest = &nest(finish);
    let captures = Captures::new(body, nest, None);
    let rows = row(body, nest, &captures, Frame::Block);
    let store = finish.stores[0].target.buffer().expect("targets are memory");
    let dtype = body.plan.buffers[store.0].ty.dtype;
    let symbols: Vec<_> = body.plan.symbols.iter().map(ToString::to_string).collect();
    let bounds: Vec<_> = symbols.iter().map(|symbol| format!("{symbol}: rt::Dim")).collect();
    let [mut declaration, mut names, mut construction, mut sizes] = [(); 4].map(|()| String::new());
    let [mut parameters, mut arguments, mut first, mut later, mut cuts] = [(); 5].map(|()| String::new());
    if !symbols.is_empty() {
        let _ = write!(declaration, "sizes: ({}), ", list(&symbols));
        for text in [&mut names, &mut construction, &mut first, &mut later] {
            text.push_str("sizes, ");
        }
    }
    for (position, symbol) in symbols.iter().enumerate() {
        let variable = symbol_variable(symbol);
        let _ = write!(sizes, "let {variable} = sizes.{position}.extent(); ");
        let _ = write!(parameters, "{variable}: usize, ");
        let _ = write!(arguments, "{variable}, ");
    }
    for field in &captures.fields {
        let Field { name, value, kind, .. } = field;
        let _ = write!(declaration, "{name}: {}, ", field.ty("'a "));
        let _ = write!(names, "{name}, ");
        let _ = match name == value {
            true => write!(construction, "{name}, "),
            false => write!(construction, "{name}: {value}, "),
        };
        let _ = write!(parameters, "{name}: {}, ", field.ty(""));
        match kind {
            Kind::Target(_) => {
                let mut stores = finish.stores.iter().map(|store| &store.target);
                let view = stores.find(|view| captures.target(view) == name);
                let stride = &view.expect("a target is the target of something").strides[0];
                let stride = grouped(&body.extent(stride));
                let _ = write!(cuts, "let {name} = {name}.split_at_mut((row - first) * {stride}); ");
                let _ = write!(first, "{name}: {name}.0, ");
                let _ = write!(later, "{name}: {name}.1, ");
                let _ = write!(arguments, "{name}, ");
            }
            Kind::Load(_) | Kind::Number | Kind::Steps => {
                let _ = write!(first, "{name}, ");
                let _ = write!(later, "{name}, ");
                let _ = write!(arguments, "*{name}, ");
            }
        }
    }
    let destination = destination(body, finish, &captures);
    let list_of = |lifetime: &str, rest: &[String]| {
        let all: Vec<_> = [lifetime.to_string()].into_iter().chain(rest.iter().cloned()).collect();
        all.join(", ")
    };
    // As in a nest, a function that takes slices tells LLVM that they do not overlap.
    format!(
        "{{ struct Finish<{declared}> {{ first: usize, {declaration}}}\n\
         impl<{bounds}> rt::Finish<{dtype}> for Finish<{of_any}> {{\n\
         fn split(self, row: usize) -> (Self, Self) {{ let Self {{ first, {names}}} = self; {sizes}{cuts}\n\
         (Self {{ first, {first}}}, Self {{ first: row, {later}}}) }}\n\
         fn destination(&self, row: usize, column: usize) -> rt::Destination<{dtype}> {{\n\
         let Self {{ first, {names}}} = self; {sizes}{destination} }}\n\
         #[inline(always)] fn block(&mut self, block: rt::Block<'_, {dtype}>) {{\n\
         #[inline(always)] fn rows({parameters}first: usize, block: rt::Block<'_, {dtype}>) {{\n\
         let rt::Block {{ row, column, rows, columns, sums, stride }} = block;\n\
         for i0 in row..row + rows {{ let sums = &sums[(i0 - row) * stride..][..columns];\n{rows} }} }}\n\
         let Self {{ first, {names}}} = self; {sizes}rows({arguments}*first, block) }} }}\n\
         rt::Finished(Finish {{ first: 0, {construction}}}) }}",
        declared = list_of("'a", &bounds),
        of_any = list_of("'_", &symbols),
        bounds = bounds.join(", "),
    )
}

/// A block that computes the rows of a product of small known extents and finishes each; the type of the product, and what
/// makes it.
pub(in crate::emit) fn whole_rows(body: &mut Body<'_>, finish: &Finish, ty: &str, product: &str) -> String {
    let nest = &nest(finish);
    let captures = Captures::new(body, nest, None);
    let rows = row(body, nest, &captures, Frame::Row);
    let [mut parameters, mut arguments] = [(); 2].map(|()| String::new());
    for symbol in &body.plan.symbols {
        let variable = symbol_variable(symbol);
        let _ = write!(parameters, ", {variable}: usize");
        let _ = write!(arguments, ", {variable}");
    }
    for field in &captures.fields {
        let Field { name, value, kind, .. } = field;
        let _ = write!(parameters, ", {name}: {}", field.ty(""));
        let _ = match kind {
            Kind::Target(_) => write!(arguments, ", &mut {value}[..]"),
            Kind::Load(_) => write!(arguments, ", &{value}[..]"),
            Kind::Number | Kind::Steps => write!(arguments, ", {value}"),
        };
    }
    let count = body.extent(&finish.extents[0]);
    // As in a nest, a function that takes slices tells LLVM that they do not overlap.
    format!(
        "{{ #[inline(always)] fn rows(product: {ty}{parameters}) {{\n\
         for i0 in 0..{count} {{ let sums = product.row(i0);\n{rows} }} }}\n\
         rows({product}{arguments}) }}"
    )
}

/// Where the elements go: where they are added to what is there, if they are.
fn destination(body: &Body<'_>, finish: &Finish, captures: &Captures) -> String {
    let targets = || finish.stores.iter().map(|store| &store.target);
    let is_read = |target: &&View| captures.loads.iter().any(|load| load == captures.target(target));
    let target = targets().find(is_read).or_else(|| targets().next());
    let target = target.expect("a finish stores something");
    let stride = body.extent(&target.strides[0]);
    let name = captures.target(target);
    format!("rt::Destination::new({name}, (row - first) * {} + column, {stride})", grouped(&stride))
}

/// A finish as a nest of one pass, whose rows are those of the product.
fn nest(finish: &Finish) -> Nest {
    Nest {
        extents: finish.extents.to_vec(),
        row_axes: 1,
        loads: finish.loads.clone(),
        passes: vec![Pass {
            elements: finish.nodes.clone(),
            stores: finish.stores.clone(),
            ..Pass::default()
        }],
    }
}
