//! Epilogues of products and convolutions: loops over blocks of sums while these are in cache.

use crate::{
    dim::Dim,
    loops::{Control, Execution, Holds, Loops, Size, Statement, Subslice, Var},
    plan::{BufferId, Finish, MatMul, Nest, Operand, Pass, Plan, View},
    ty::DType,
};

use super::{
    captures::Captures,
    dtype, has_functions,
    rows::{Columns, NestLowering, NestRows},
    writer::Writer,
};

/// A product of at most this many multiplications, whose extents are known and at most 16 each, is computed inline.
const TINY: i64 = 256;

/// The lowered form of a product.
#[derive(Clone, Debug, PartialEq)]
pub enum Product {
    /// Inline, row by row.
    Tiny(Whole),
    /// By a kernel.
    Kernel(Epilogue),
}

/// Loops over the rows of a small product.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// The loops. [`Statement::ProductRow`] computes a row of the product.
    pub loops: Loops,
    /// The element type.
    pub dtype: DType,
}

/// The use of the sums that a kernel computes.
#[derive(Clone, Debug, PartialEq)]
pub enum Epilogue {
    /// The sums are stored unchanged.
    Stored(BufferId),
    /// Loops run over each block of sums.
    Finished(Finished),
}

/// Loops over a block of the sums of a product.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// The loops, which capture [the properties of a block](crate::loops::OfBlock).
    pub loops: Loops,
    /// The destination of the elements. It is the target that is also read, if there is one.
    pub destination: Var,
    /// The stride between rows of the destination.
    pub stride: Dim,
    /// The element type of the stored elements.
    pub dtype: DType,
    /// Whether a block of whole rows may be passed as one row.
    pub joins_rows: bool,
}

/// Lowers a product.
pub fn product(plan: &Plan, product: &MatMul) -> Product {
    match is_tiny(product) {
        true => Product::Tiny(whole(plan, &product.finish)),
        false => Product::Kernel(epilogue(plan, &product.finish)),
    }
}

/// Lowers the use of the sums that a kernel computes.
pub fn epilogue(plan: &Plan, finish: &Finish) -> Epilogue {
    if let Some(buffer) = stored(plan, finish) {
        return Epilogue::Stored(buffer);
    }
    let (nest, dtype) = (nest(finish), dtype(plan, &finish.stores[0].target));
    let mut out = Writer::default();
    let mut captures = Captures::new(plan, &nest, None, &mut out);
    let [first, row, column, rows, columns, sums, stride] = captures.of_block(finish, dtype, &mut out);
    let frame = NestRows::Block(Columns { column, columns, first: Some(first) });
    let mut lowering = NestLowering::new(plan, &nest, &captures, frame, out);
    let index = lowering.index(0);
    let end = Size::sum(vec![row.into(), rows.into()]);
    lowering.out.open(Control::For { index, from: row.into(), to: end });
    let at = Size::from(index).minus(row.into()).times(stride.into());
    let part = Subslice { of: sums, at: Some(at), len: Some(columns.into()) };
    let sums = lowering.out.derived(sums, "row", Holds::Borrowed(dtype));
    lowering.out.push(Statement::Borrow { var: sums, part, written: false });
    lowering.sums = Some(sums);
    let out = finished(lowering);
    let targets = || finish.stores.iter().map(|store| &store.target);
    let is_read = |target: &&View| captures.loads.iter().any(|load| *load == captures.target(target));
    let target = targets().find(is_read).or_else(|| targets().next()).expect("a finish stores something");
    let (destination, stride) = (captures.target(target), target.strides[0].clone());
    let loops = loops(captures, out, has_functions(&nest));
    let joins_rows = joins_rows(finish);
    Epilogue::Finished(Finished { loops, destination, stride, dtype, joins_rows })
}

/// Whether all operands and results have the layout of the product, so that consecutive rows are one long row.
fn joins_rows(finish: &Finish) -> bool {
    let expected = [finish.extents[1].clone(), Dim::ONE];
    let is_still = |view: &View| view.strides.iter().all(|stride| *stride == Dim::ZERO);
    let targets = finish.stores.iter().map(|store| &store.target);
    targets.chain(&finish.loads).all(|view| view.strides == expected || is_still(view))
}

/// The destination of the sums, if they are stored unchanged and not used otherwise.
fn stored(plan: &Plan, finish: &Finish) -> Option<BufferId> {
    let [store] = &finish.stores[..] else { return None };
    let buffer = store.target.buffer()?;
    let len = plan.buffers[buffer.0].ty.shape.element_count();
    let whole = store.target.is_contiguous() && store.target.shape.element_count() == len;
    (whole && finish.nodes.is_empty() && store.operand == Operand::Product).then_some(buffer)
}

/// Whether a product is so small that it is computed inline.
pub fn is_tiny(product: &MatMul) -> bool {
    let small = |extent: &Dim| extent.as_literal().filter(|extent| *extent <= 16);
    let count = product.extents.iter().try_fold(1, |count, extent| Some(count * small(extent)?));
    product.batch.is_empty() && count.is_some_and(|count| count <= TINY)
}

/// Loops that compute the rows of a product of small known extents and finish each.
fn whole(plan: &Plan, finish: &Finish) -> Whole {
    let (nest, dtype) = (nest(finish), dtype(plan, &finish.stores[0].target));
    let mut out = Writer::default();
    let captures = Captures::new(plan, &nest, None, &mut out);
    let mut lowering = NestLowering::new(plan, &nest, &captures, NestRows::Row, out);
    let index = lowering.index(0);
    lowering.out.open(Control::For { index, from: Size::known(0), to: (&finish.extents[0]).into() });
    let columns = finish.extents[1].as_literal().and_then(|columns| usize::try_from(columns).ok());
    let holds = Holds::Array(dtype, columns.expect("a small product has known extents"));
    let sums = lowering.out.variable(None, "sums", holds);
    lowering.out.push(Statement::ProductRow { var: sums, row: index.into() });
    lowering.sums = Some(sums);
    let out = finished(lowering);
    // The loops are not dispatched, so no SIMD level decides whether multiplication and addition are fused.
    Whole { loops: loops(captures, out, false), dtype }
}

/// Lowers the pass over a row of sums, whose loop is open. The nest has one pass, of stores.
fn finished(mut lowering: NestLowering<'_>) -> Writer {
    let nest = lowering.nest;
    for pass in &nest.passes {
        let mut variables = lowering.variables(pass);
        lowering.still_loads(&mut variables);
        lowering.elements(pass, &variables, &[]);
    }
    lowering.out.close();
    lowering.out
}

fn loops(captures: Captures, out: Writer, depends_on_fusing: bool) -> Loops {
    let (variables, body) = out.finish();
    // A kernel runs the loops at its SIMD level.
    let run = Execution::Inline;
    Loops { captures: captures.all, variables, body, totals: Vec::new(), run, depends_on_fusing }
}

/// Converts a finish to a nest of one pass, whose rows are those of the product.
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
