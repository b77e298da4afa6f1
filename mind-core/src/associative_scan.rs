//! Associative scans: turns a module that combines two values into a loop over one axis.

use std::sync::Arc;

use crate::{
    build::Builder,
    diag::Code,
    dim::{Bindings, Dim},
    ir::{Arrange, Guard, Made, Module, Nested, Op, Reorder, Scan, Slice, ValueId},
    map::Map,
    ops::OpError,
    ty::{DType, Shape, Type},
};

/// The module that applies `module` along a new leading axis of this extent. Each result combines the previous result
/// with one element, and the first result is the first element. With `reverse` the order is from the last element to
/// the first.
///
/// The first half of the inputs of `module` is the previous result, and the second half is the element. The outputs are
/// the next result, with the same types. The new module has one input per part of a value, with the names of the first
/// half.
///
/// # Errors
/// E1008 if a value would exceed the limits of shapes or of nested modules.
///
/// # Panics
/// If the types of the inputs and outputs are not as above.
pub fn associative_scan(module: &Module, extent: &Dim, reverse: bool) -> Result<Module, Box<OpError>> {
    let parts: Vec<(Arc<str>, Type)> =
        module.inputs().take(module.outputs().len()).map(|(name, ty)| (name.clone(), ty.clone())).collect();
    let types =
        module.inputs().map(|(_, ty)| ty).chain(module.outputs().iter().map(|output| module.ty(*output)));
    assert!(
        types.eq(parts.iter().cycle().take(3 * parts.len()).map(|(_, ty)| ty)),
        "three equal lists of types"
    );
    let mut builder = Builder::new();
    let mut elements = Vec::new();
    for (name, ty) in &parts {
        let shape = std::iter::once(extent).chain(ty.shape.iter()).cloned().collect();
        elements.push(builder.input(name.clone(), ty.with_shape(shape))?);
    }
    let firsts = elements.iter().map(|all| first(&mut builder, *all, extent, reverse));
    let firsts = firsts.collect::<Result<Vec<_>, _>>()?;
    // The first step leaves the carry, which is the first element.
    let combines = combines(&mut builder, extent, reverse)?;
    let operands = [&firsts[..], &[combines], &elements].concat();
    let carries = i64::try_from(parts.len()).expect("a value has a bounded number of parts");
    let scan = Scan { reverse, ..Scan::new(step(module, &parts)?, carries, Guard::Operand) };
    let scan = builder.push(scan.into(), &operands)?;
    let mut outputs = Vec::new();
    for (at, all) in elements.into_iter().enumerate() {
        let combined = builder.push(Op::further_result(parts.len() + at), &[scan])?;
        let axes: Vec<i64> = (1..builder.ty(all).rank() as i64).collect();
        let chosen = match axes.is_empty() {
            true => combines,
            false => builder.push(Op::Arrange(Arrange::expand(axes)), &[combines])?,
        };
        outputs.push(builder.push(Op::Map(Map::SELECTION), &[chosen, combined, all])?);
    }
    Ok(builder.finish(outputs))
}

/// The element that the loop begins with.
fn first(builder: &mut Builder, all: ValueId, extent: &Dim, reverse: bool) -> Result<ValueId, Box<OpError>> {
    let shape = builder.ty(all).shape.clone();
    let at = if reverse { extent.add_literal(-1) } else { Ok(Dim::ZERO) };
    let end = if reverse { Ok(extent.clone()) } else { Ok(Dim::ONE) };
    let bound = |bound: Result<Dim, _>| {
        bound.map_err(|overflow| OpError::overflow(&Op::Arrange(Arrange::reshape(shape.clone())), overflow))
    };
    let (at, end) = (bound(at)?, bound(end)?);
    let inner = || shape[1..].iter();
    let slice = Slice {
        starts: std::iter::once(at).chain(inner().map(|_| Dim::ZERO)).collect(),
        ends: std::iter::once(end).chain(inner().cloned()).collect(),
        steps: vec![1; shape.rank()],
    };
    let first = builder.push(slice.into(), &[all])?;
    builder.push(Op::Arrange(Arrange::reshape(inner().cloned().collect())), &[first])
}

/// For each step, whether it combines its element with a value before it.
fn combines(builder: &mut Builder, extent: &Dim, reverse: bool) -> Result<ValueId, Box<OpError>> {
    let positions = builder.push(Op::Made(Made::Iota { shape: vec![extent.clone()], axis: 0 }), &[])?;
    let combines = builder.push(Op::Map(Map::to(DType::Bool)), &[positions])?;
    match reverse {
        true => builder.push(Op::Reorder(Reorder::Flip { axis: 0 }), &[combines]),
        false => Ok(combines),
    }
}

/// The body of the loop, which also stacks the next value.
fn step(module: &Module, parts: &[(Arc<str>, Type)]) -> Result<Nested, Box<OpError>> {
    let mut builder = Builder::new();
    let mut inputs = Vec::new();
    let named = |prefix: &str, at: usize| format!("{prefix}{at}");
    for (at, (_, ty)) in parts.iter().enumerate() {
        inputs.push(builder.input(named("before", at), ty.clone())?);
    }
    builder.input("combines", Type::new(DType::Bool, Shape::scalar()))?;
    for (at, (_, ty)) in parts.iter().enumerate() {
        inputs.push(builder.input(named("element", at), ty.clone())?);
    }
    let next = builder.inline(module, &inputs, &Bindings::new())?;
    let body = builder.finish([&next[..], &next].concat());
    let op = module.insts().last().map_or(Op::input(Arc::from("x")), |inst| inst.op.clone());
    Nested::new(body).map_err(|fault| OpError::new(&op, Code::E1008).problem(fault.to_string()).into())
}
