//! Emits products and convolutions as Rust text: calls of kernels, with the epilogue that the kernel applies to its
//! sums.

use std::fmt::Write;

use mind_core::{
    dim::{Bindings, Dim},
    ir::Padding,
    loops::{Epilogue, Product, epilogue, is_tiny, product, scratch as nest_scratch},
    plan::{Conv2d, ConvKind, Finish, MatMul, Plan, Step, View},
    ty::{DType, Shape},
};

use super::{
    body::Body,
    extent::{Arithmetic, extent, symbol_variable},
    iteration,
    nest::finish::{finished, whole_rows},
};

pub(super) fn matmul(body: &mut Body<'_>, of: &MatMul) {
    let matrix = |view: &View| {
        let rank = view.shape.rank();
        let data = body.read(view.buffer().expect("operands of a product are in memory"));
        let offset = body.extent(&view.offset);
        let [row, column] = [2, 1].map(|back| body.extent(&view.strides[rank - back]));
        format!("rt::MatRef {{ data: {data}, offset: {offset}, row_stride: {row}, col_stride: {column} }}")
    };
    let (lhs, rhs) = (matrix(&of.lhs), matrix(&of.rhs));
    let [m, k, n] = [0, 1, 2].map(|position| body.extent(&of.extents[position]));
    let dtype = dtype(body, &of.finish);
    let epilogue = match product(body.plan, of) {
        Product::Tiny(whole) => {
            let ty = format!("rt::TinyProduct<'_, {dtype}, {m}, {k}, {n}>");
            let rows = whole_rows(body, &whole, &ty, &format!("rt::TinyProduct::new({lhs}, {rhs})"));
            let _ = writeln!(body.text, "{rows};");
            return;
        }
        Product::Kernel(epilogue) => epilogue,
    };
    let mut batch = String::new();
    for (axis, extent) in of.batch.iter().enumerate() {
        let [lhs, rhs] = [&of.lhs, &of.rhs].map(|view| body.extent(&view.strides[axis]));
        let extent = body.extent(extent);
        let _ = write!(batch, "rt::BatchDim {{ extent: {extent}, lhs_stride: {lhs}, rhs_stride: {rhs} }}, ");
    }
    let scratch = &body.scratch[&dtype];
    let call = format!("&[{batch}], [{m}, {k}, {n}], {lhs}, {rhs}, {scratch}, ");
    let _ = match epilogue {
        Epilogue::Stored(buffer) => {
            let result = body.write(buffer);
            writeln!(body.text, "rt::matmul_into({call}{result});")
        }
        Epilogue::Finished(of) => {
            let epilogue = finished(body, &of);
            writeln!(body.text, "rt::matmul_with({call}{epilogue});")
        }
    };
}

pub(super) fn conv2d(body: &mut Body<'_>, convolution: &Conv2d) {
    let function = function(convolution.kind);
    let [first, second] = convolution.operands.map(|operand| body.read(operand));
    let scratch = body.scratch[&dtype(body, &convolution.finish)].clone();
    let geometry = format!("geometry_{}({})", body.convolutions, symbol_variables(body.plan));
    body.convolutions += 1;
    let epilogue = match epilogue(body.plan, &convolution.finish) {
        Epilogue::Stored(buffer) => {
            let result = body.write(buffer);
            let columns = body.extent(&convolution.finish.extents[1]);
            format!("rt::Stored::new({result}, {columns})")
        }
        Epilogue::Finished(of) => finished(body, &of),
    };
    let _ =
        writeln!(body.text, "rt::{function}_with(&{geometry}, {first}, {second}, {scratch}, {epilogue});");
}

fn function(kind: ConvKind) -> &'static str {
    match kind {
        ConvKind::Forward => "conv2d",
        ConvKind::GradInput => "conv2d_grad_input",
        ConvKind::GradFilter => "conv2d_grad_filter",
    }
}

/// The functions `geometry_0`, `geometry_1`, … of the convolutions of a plan.
pub(super) fn geometries(plan: &Plan) -> String {
    let convolutions = plan.steps.iter().filter_map(|step| match step {
        Step::Conv2d(convolution) => Some(convolution),
        _ => None,
    });
    let parameters = super::body::size_parameters(plan);
    let functions = convolutions.enumerate().map(|(position, convolution)| {
        let geometry = geometry(convolution);
        format!(
            "#[allow(unused)] const fn geometry_{position}({parameters}) -> rt::Conv2d {{ {geometry} }}\n"
        )
    });
    functions.collect()
}

fn geometry(Conv2d { convolution, input, filter, output, .. }: &Conv2d) -> String {
    let at = |shape: &Shape, axis: usize| extent(&shape[axis], Arithmetic::Saturating);
    let [n, h, w, c_in] = [0, 1, 2, 3].map(|axis| at(input, axis));
    let [kh, kw, c_out] = [0, 1, 3].map(|axis| at(filter, axis));
    let [h_out, w_out] = [1, 2].map(|axis| at(output, axis));
    let strides = &convolution.strides;
    let pad = match &convolution.padding {
        Padding::Valid => "[[0, 0], [0, 0]]".to_string(),
        Padding::Same => {
            let [sh, sw] = [strides[0], strides[1]];
            format!("[rt::same_padding({h}, {kh}, {sh}), rt::same_padding({w}, {kw}, {sw})]")
        }
        Padding::Custom(pairs) => format!("{pairs:?}"),
    };
    format!(
        "rt::Conv2d {{ n: {n}, h: {h}, w: {w}, c_in: {c_in}, kh: {kh}, kw: {kw}, c_out: {c_out}, \
         stride: {strides:?}, pad: {pad}, h_out: {h_out}, w_out: {w_out} }}"
    )
}

/// The scratch memory of an element type that a plan needs, as text: the maximum over its steps.
pub(super) fn scratch(plan: &Plan, wanted: DType) -> String {
    let mut scratch = Scratch { plan, wanted, convolutions: 0, loops: 0, needs: Vec::new() };
    plan.steps.iter().for_each(|step| scratch.step(step, &Bindings::new()));
    scratch.needs.dedup();
    match &scratch.needs[..] {
        [] => "0".to_owned(),
        needs => format!("rt::largest(&[{}])", needs.join(", ")),
    }
}

/// The scratch memory that the visited steps need.
struct Scratch<'p> {
    plan: &'p Plan,
    wanted: DType,
    convolutions: usize,
    loops: usize,
    needs: Vec<String>,
}

impl Scratch<'_> {
    /// Adds the scratch memory of a step. `longest` binds the symbols of strips to the length of the longest strip.
    fn step(&mut self, step: &Step, longest: &Bindings) {
        let (plan, wanted) = (self.plan, self.wanted);
        let of_type = |finish: &Finish| element_type(plan, finish) == wanted;
        let size = |dim: &Dim| match dim.substitute(longest) {
            Ok(dim) => extent(&dim, Arithmetic::Saturating),
            Err(_) => "usize::MAX".to_owned(),
        };
        match step {
            Step::MatMul(product) if of_type(&product.finish) && !is_tiny(product) => {
                let [m, k, n] = product.extents.each_ref().map(size);
                let apart = size(product.lhs.strides.last().expect("a matrix has columns"));
                self.needs.push(format!("rt::matmul_scratch::<{wanted}>({m}, {k}, {n}, {apart})"));
            }
            Step::Conv2d(convolution) => {
                if of_type(&convolution.finish) {
                    let function = function(convolution.kind);
                    let (sizes, position) = (symbol_variables(plan), self.convolutions);
                    self.needs
                        .push(format!("rt::{function}_scratch::<{wanted}>(&geometry_{position}({sizes}))"));
                }
                self.convolutions += 1;
            }
            Step::Nest(nest) => {
                // For each sum, its chains and their rounding errors.
                let sums = nest_scratch(plan, nest).into_iter().filter(|(dtype, _)| *dtype == wanted);
                let sums = sums.map(|(_, len)| {
                    format!("rt::chain_scratch::<{wanted}>({}).saturating_mul(2)", size(&len))
                });
                self.needs.extend(sums.reduce(|all, sum| format!("{all}.saturating_add({sum})")));
            }
            Step::Loop(_) => {
                self.needs.push(iteration::len(plan, self.loops, wanted));
                self.loops += 1;
            }
            Step::Strips(strips) => {
                let longest = strips.longest();
                strips.steps.iter().for_each(|step| self.step(step, &longest));
            }
            _ => {}
        }
    }
}

fn symbol_variables(plan: &Plan) -> String {
    plan.symbols.iter().map(|symbol| format!("{}, ", symbol_variable(symbol))).collect()
}

fn dtype(body: &Body<'_>, finish: &Finish) -> DType {
    element_type(body.plan, finish)
}

fn element_type(plan: &Plan, finish: &Finish) -> DType {
    let buffer = finish.stores[0].target.buffer().expect("targets are memory");
    plan.buffers[buffer.0].ty.dtype
}
