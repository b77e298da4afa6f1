//! Short notations for types, values and instructions.

use mind_core::{
    build::Builder,
    diag::Code,
    dim::Dim,
    interp::{Array, run},
    ir::{Module, Op, ValueId},
    ops::{Inferred, OpError, Profile, infer},
    ty::{DType, Shape, Type},
    verify::{Verified, verify},
};

/// Reads a dimension: `N`, `M`, … or integers, combined with `+`, `-`, `*` from left to right: `2*N+1`.
pub fn dim(text: &str) -> Dim {
    let (mut result, mut sign) = (Dim::ZERO, 1);
    for term in text.split_inclusive(['+', '-']) {
        let product = term.trim_end_matches(['+', '-']).trim();
        if !product.is_empty() {
            let product = product.split('*').fold(Dim::literal(sign), |product, factor| {
                let factor = factor.trim();
                let factor = factor.parse::<i64>().map_or_else(|_| Dim::symbol(factor), Dim::literal);
                product.mul(&factor).unwrap()
            });
            result = result.add(&product).unwrap();
        }
        sign = if term.ends_with('-') { -1 } else { 1 };
    }
    result
}

/// The shape `[2, N]` from `"2, N"`.
pub fn shape(text: &str) -> Shape {
    text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(dim).collect()
}

/// The type from `"f32[2, N]"` or `"f32"`.
pub fn ty(text: &str) -> Type {
    let (dtype, dims) = text.split_once('[').unwrap_or((text, "]"));
    Type::new(DType::from_name(dtype).unwrap(), shape(dims.strip_suffix(']').unwrap()))
}

/// The inferred type for operands of these types, or the error.
pub fn infer_types(op: &Op, operands: &[&str]) -> Inferred {
    let operands: Vec<Type> = operands.iter().map(|text| ty(text)).collect();
    infer(op, &operands.iter().collect::<Vec<_>>())
}

/// The error of an instruction that violates a rule.
#[track_caller]
pub fn refused(op: &Op, operands: &[&str]) -> Box<OpError> {
    infer_types(op, operands).expect_err("the instruction breaks a rule")
}

#[track_caller]
pub fn code(op: &Op, operands: &[&str]) -> Code {
    refused(op, operands).code
}

/// The inferred type, as text.
#[track_caller]
pub fn inferred(op: &Op, operands: &[&str]) -> String {
    infer_types(op, operands).unwrap().to_string()
}

/// A module of one operation on inputs of these types.
pub fn single(op: &Op, operands: &[Type]) -> Module {
    let mut b = Builder::new();
    let inputs: Vec<ValueId> = operands
        .iter()
        .enumerate()
        .map(|(position, ty)| b.input(format!("x{position}"), ty.clone()).unwrap())
        .collect();
    let result = b.push(op.clone(), &inputs).unwrap();
    b.finish([result])
}

pub fn verified(module: Module) -> Verified {
    verify(module, Profile::Extended).unwrap()
}

/// The result of one operation on these values.
pub fn evaluate(op: Op, operands: &[Array]) -> Array {
    let types: Vec<Type> = operands
        .iter()
        .map(|value| {
            let extents: Vec<i64> = value.shape.iter().map(|extent| *extent as i64).collect();
            Type::new(value.dtype(), Shape::literal(&extents))
        })
        .collect();
    run(&verified(single(&op, &types)), operands).unwrap().remove(0)
}

pub fn f32s(shape: &[usize], elements: &[f32]) -> Array {
    Array::new(shape, elements.to_vec())
}

pub fn i64s(shape: &[usize], elements: &[i64]) -> Array {
    Array::new(shape, elements.to_vec())
}
