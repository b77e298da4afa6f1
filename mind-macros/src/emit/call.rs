//! Emits calls of kernels: the functions of the run time that expressions over Rust variables call too, by the same
//! table.

use std::fmt::Write;

use mind_core::{
    dim::Dim,
    ir::{Matrix, Op},
    plan::{KernelCall, KernelOperand, Plan, Step},
    ty::Type,
    written::{Texts, kernel_text, of_call},
};

use super::{body::Body, extent::Arithmetic, extent::extent, external, iteration};

pub(super) fn emit(body: &mut Body<'_>, call: &KernelCall) {
    if call.external().is_some() {
        return external::emit(body, call);
    }
    let operands: Vec<String> = call.operands.iter().map(|operand| value(body, operand)).collect();
    let (own, target) = (ty(&call.ty), body.write(call.result));
    let texts = Texts {
        rules: "rt::bare::rules",
        operands: &operands,
        own: &own,
        target: &target,
        sources: &[],
        dim: Some(&signed),
    };
    if let Op::Rows(rows) = &call.op
        && call.op.changes_part()
        && call.operands[0].buffer().is_some_and(|x| body.is_same_memory(x, call.result))
    {
        let [indices, updates] = [&operands[1], &operands[2]];
        let axis = rows.axis().map_or_else(String::new, |axis| format!("{axis}, "));
        let arguments = format!("{own}, {indices}, {updates}, {axis}{target}");
        let _ = writeln!(body.text, "rt::bare::{}_in_place({arguments});", call.op.info().mnemonic);
        return;
    }
    let _ = writeln!(body.text, "rt::bare::{};", kernel_text(&of_call(&call.op), &texts));
    if call.op.refuses_matrices() {
        let result = format!("rt::bare::Argument::new({}, {own})", body.read(call.result));
        let check = match &call.op {
            Op::Matrix(Matrix::SolveTriangular(_)) => {
                format!("check_diagonals({:?}, {})", body.function, operands[0])
            }
            _ => format!("check_factors({:?}, {result})", body.function),
        };
        let _ = writeln!(body.text, "rt::bare::{check}?;");
    }
}

/// Whether a plan or one of its loops factors matrices that may be refused.
pub(super) fn refuses_matrices(plan: &Plan) -> bool {
    let own = |step: &Step| matches!(step, Step::Call(call) if call.op.refuses_matrices());
    plan.steps.iter().any(own) || iteration::loops(plan).any(|of| refuses_matrices(&of.body))
}

/// A `rt::bare::Argument`: the elements of an operand and their type.
fn value(body: &Body<'_>, argument: &KernelOperand) -> String {
    let elements = match argument {
        KernelOperand::Tensor(buffer, _) => body.read(*buffer),
        KernelOperand::Scalar(scalar, _) => format!("&[{}]", body.scalar_text(scalar)),
    };
    format!("rt::bare::Argument::new({elements}, {})", ty(&argument.ty()))
}

/// A reference to a type as a value. It is a constant if every extent is known.
fn ty(ty: &Type) -> String {
    let extents: Vec<String> = ty.shape.iter().map(signed).collect();
    let value = format!("&rt::bare::Type::new(rt::bare::DType::{:?}, &[{}])", ty.dtype, extents.join(", "));
    let is_known = ty.shape.iter().all(|extent| extent.as_literal().is_some());
    if is_known { format!("const {{ {value} }}") } else { value }
}

/// A dim as an `i64`.
fn signed(dim: &Dim) -> String {
    match dim.as_literal() {
        Some(value) => value.to_string(),
        None => format!("({}) as i64", extent(dim, Arithmetic::Plain)),
    }
}
