//! Operations on the structure of values: parts, zeros and sums.

use std::sync::Arc;

use mind_core::diag::Code;

use super::{
    Precision, Tensor, Value,
    outcome::{Fault, fault},
    value::{Accumulator, Tape},
};
use crate::{
    ir::Program,
    types::{Type, TypeId, Types},
};

/// The sum of two values with equal structures.
pub(super) fn sum(precision: Precision, x: &Value, y: &Value) -> Result<Value, Fault> {
    let mut sum = x.clone();
    add(precision, &mut sum, y)?;
    Ok(sum)
}

/// Adds a tangent, or another value of the same type.
pub(super) fn add(precision: Precision, to: &mut Value, value: &Value) -> Result<(), Fault> {
    match (to, value) {
        (Value::Float(to), Value::Float(value)) => *to = precision.round(*to + value),
        (Value::Integer(to), Value::Integer(value)) => *to = to.wrapping_add(*value),
        (Value::Tuple(to), Value::Tuple(value)) if to.len() == value.len() => {
            let to = Arc::make_mut(to);
            to.iter_mut().zip(&**value).try_for_each(|(to, value)| add(precision, to, value))?;
        }
        (Value::Tensor(to), Value::Tensor(value)) if to.size == value.size => {
            let to = Arc::make_mut(to);
            to.elements
                .iter_mut()
                .zip(&value.elements)
                .try_for_each(|(to, value)| add(precision, to, value))?;
        }
        (Value::Tensor(to), Value::Tensor(value)) => {
            let (to, value) = (size_value(&to.size), size_value(&value.size));
            return fault(Code::E6010, format!("cannot add tensors of sizes {to} and {value}"));
        }
        (Value::Tape(to), Value::Tape(value)) if to.layout == value.layout => {
            let to = Arc::make_mut(&mut to.values);
            to.iter_mut().zip(&*value.values).try_for_each(|(to, value)| add(precision, to, value))?;
        }
        (Value::Tape(_), Value::Tape(_)) => {
            return fault(Code::E6010, "cannot add tapes of different branches");
        }
        // The tangent of an Integer, a Bool or a String is empty.
        (_, _) => {}
    }
    Ok(())
}

/// The zero of a tangent type with this structure.
pub(super) fn zero(program: &Program, ty: TypeId, structure: &Value) -> Value {
    let types = &program.types;
    match (types.get(ty), structure) {
        (Type::Float, _) => Value::Float(0.0),
        (Type::Tuple(members), Value::Tuple(parts)) => {
            Value::Tuple(members.iter().zip(&**parts).map(|(ty, part)| zero(program, *ty, part)).collect())
        }
        (Type::Tensor(_, element), Value::Tensor(parts)) => {
            let elements = parts.elements.iter().map(|part| zero(program, *element, part)).collect();
            Value::tensor(parts.size.clone(), elements)
        }
        (Type::Tape, Value::Tape(tape)) => {
            let layout = &program.layouts[tape.layout.index()];
            let zero_of = |(ty, part): (&TypeId, &Value)| zero(program, types.tangent(*ty), part);
            let values = layout.iter().zip(&*tape.values).map(zero_of).collect();
            Value::Tape(Tape { layout: tape.layout, values })
        }
        _ => Value::unit(),
    }
}

/// The zero of a type that has only one zero.
pub(super) fn nothing(types: &Types, ty: TypeId) -> Option<Value> {
    match types.get(ty) {
        Type::Integer => Some(Value::Integer(0)),
        Type::Float => Some(Value::Float(0.0)),
        Type::Tuple(members) => {
            let members: Option<Arc<[_]>> = members.iter().map(|ty| nothing(types, *ty)).collect();
            members.map(Value::Tuple)
        }
        Type::Bool | Type::String | Type::Tensor(..) | Type::Lambda(..) | Type::LinearMap(..) => None,
        Type::Tape | Type::Accumulator(_) => None,
    }
}

/// The structure of a value, without its numbers.
pub(super) fn structure(value: &Value) -> Value {
    match value {
        Value::Tuple(members) => Value::Tuple(members.iter().map(structure).collect()),
        Value::Tensor(tensor) => {
            Value::tensor(tensor.size.clone(), tensor.elements.iter().map(structure).collect())
        }
        Value::Tape(tape) => {
            Value::Tape(Tape { layout: tape.layout, values: tape.values.iter().map(structure).collect() })
        }
        Value::Integer(_) | Value::Float(_) | Value::Bool(_) | Value::String(_) | Value::Accumulator(_) => {
            Value::unit()
        }
    }
}

/// The first position of the maximum of some Floats.
pub(super) fn greatest(elements: &[Value]) -> Result<Value, Fault> {
    let Some(first) = elements.first() else {
        return fault(Code::E6010, "the maximum of an empty tensor is undefined");
    };
    let mut best = (0, float(first));
    for (position, element) in elements.iter().enumerate() {
        if float(element) > best.1 {
            best = (position, float(element));
        }
    }
    Ok(Value::Integer(best.0 as i64))
}

/// The position of an index among the elements.
pub(super) fn position(index: &Value, size: &[usize]) -> Result<usize, Fault> {
    let mut position = 0;
    for (index_here, extent) in integers(index).into_iter().zip(size) {
        match usize::try_from(index_here) {
            Ok(here) if here < *extent => position = position * extent + here,
            _ => {
                let size = size_value(size);
                return fault(
                    Code::E6001,
                    format!("index {index} is out of range of a tensor of size {size}"),
                );
            }
        }
    }
    Ok(position)
}

/// A size or an index as a value of a program.
pub(super) fn size_value(size: &[usize]) -> Value {
    let integer = |extent: &usize| Value::Integer(*extent as i64);
    match size {
        [one] => integer(one),
        several => Value::Tuple(several.iter().map(integer).collect()),
    }
}

/// The integers of an index or a size.
pub(super) fn integers(value: &Value) -> Vec<i64> {
    let one = |value: &Value| match value {
        Value::Integer(value) => *value,
        other => unreachable!("expected an Integer, found {other}"),
    };
    match value {
        Value::Tuple(members) => members.iter().map(one).collect(),
        value => vec![one(value)],
    }
}

/// The members of a tuple.
pub(super) fn members(value: &Value) -> &[Value] {
    match value {
        Value::Tuple(members) => members,
        other => unreachable!("expected a tuple, found {other}"),
    }
}

pub(super) fn tensor(value: &Value) -> &Tensor {
    match value {
        Value::Tensor(tensor) => tensor,
        other => unreachable!("expected a tensor, found {other}"),
    }
}

pub(super) fn float(value: &Value) -> f64 {
    match value {
        Value::Float(value) => *value,
        other => unreachable!("expected a Float, found {other}"),
    }
}

pub(super) fn accumulator(value: &Value) -> &Accumulator {
    match value {
        Value::Accumulator(accumulator) => accumulator,
        other => unreachable!("expected an accumulator, found {other}"),
    }
}
