//! Parameters as parts, as one row of numbers, and as bytes.

use std::fmt;

use mind_rt::{DType, Elements, ElementsMut, Parameters};

/// What is known of a part beside its elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub name: String,
    pub dtype: DType,
    pub dims: Vec<usize>,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.name.is_empty() { "" } else { " " };
        write!(f, "{}{space}{}{:?}", self.name, self.dtype, self.dims)
    }
}

/// Every part in order.
pub fn layout(parameters: &impl Parameters) -> Vec<Part> {
    let mut parts = Vec::new();
    parameters.visit(&mut |part| {
        parts.push(Part { name: part.name.to_string(), dtype: part.dtype(), dims: part.dims.to_vec() });
    });
    parts
}

/// Where two lists are no longer the same: what the first has, and the second.
pub fn difference(found: &[String], needed: &[String]) -> (String, String) {
    let same = found.iter().zip(needed).take_while(|(a, b)| a == b).count();
    let told = |list: &[String]| list.get(same).map_or("nothing more".into(), |line| format!("`{line}`"));
    (told(found), told(needed))
}

/// Whether some part is of `f64`.
pub fn any_f64(parameters: &impl Parameters) -> bool {
    let mut any = false;
    parameters.visit(&mut |part| any |= part.dtype() == DType::F64);
    any
}

/// A type in which gradients are added up. `f64` holds every number of both.
pub trait Float: Copy {
    const ZERO: Self;
    fn from_f64(x: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl Float for f32 {
    const ZERO: Self = 0.0;
    fn from_f64(x: f64) -> Self {
        x as Self
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Float for f64 {
    const ZERO: Self = 0.0;
    fn from_f64(x: f64) -> Self {
        x
    }
    fn to_f64(self) -> Self {
        self
    }
}

/// How many floats there are.
pub fn count_floats(parameters: &impl Parameters) -> usize {
    let mut count = 0;
    parameters.visit(&mut |part| match part.elements {
        Elements::F32(_) | Elements::F64(_) => count += part.elements.len(),
        Elements::I32(_) | Elements::I64(_) | Elements::Bool(_) => {}
    });
    count
}

/// Writes all floats to `row`, behind what is there. Integers and truth values have no gradients and stay out.
pub fn floats<T: Float>(parameters: &impl Parameters, row: &mut Vec<T>) {
    parameters.visit(&mut |part| match part.elements {
        Elements::F32(elements) => row.extend(elements.iter().map(|x| T::from_f64((*x).into()))),
        Elements::F64(elements) => row.extend(elements.iter().map(|x| T::from_f64(*x))),
        Elements::I32(_) | Elements::I64(_) | Elements::Bool(_) => {}
    });
}

/// Takes what [`floats`] wrote from the front of `row`, which has as many.
pub fn set_floats<T: Float>(parameters: &mut impl Parameters, row: &[T]) {
    let mut row = row.iter();
    let mut next = || *row.next().expect("the row has a number for each element");
    parameters.visit_mut(&mut |part| match part.elements {
        ElementsMut::F32(elements) => elements.fill_with(|| next().to_f64() as f32),
        ElementsMut::F64(elements) => elements.fill_with(|| next().to_f64()),
        ElementsMut::I32(_) | ElementsMut::I64(_) | ElementsMut::Bool(_) => {}
    });
}

/// All elements, little-endian, a byte for each truth value.
pub fn bytes(parameters: &impl Parameters) -> Vec<u8> {
    let mut bytes = Vec::new();
    parameters.visit(&mut |part| match part.elements {
        Elements::F32(elements) => elements.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        Elements::F64(elements) => elements.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        Elements::I32(elements) => elements.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        Elements::I64(elements) => elements.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
        Elements::Bool(elements) => bytes.extend(elements.iter().map(|x| u8::from(*x))),
    });
    bytes
}

/// Takes what [`bytes`] gave of parameters of the same layout.
pub fn set_bytes(parameters: &mut impl Parameters, mut bytes: &[u8]) {
    fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
        let (first, rest) = bytes.split_first_chunk().expect("the bytes are of the same layout");
        *bytes = rest;
        *first
    }
    parameters.visit_mut(&mut |part| match part.elements {
        ElementsMut::F32(elements) => elements.fill_with(|| f32::from_le_bytes(take(&mut bytes))),
        ElementsMut::F64(elements) => elements.fill_with(|| f64::from_le_bytes(take(&mut bytes))),
        ElementsMut::I32(elements) => elements.fill_with(|| i32::from_le_bytes(take(&mut bytes))),
        ElementsMut::I64(elements) => elements.fill_with(|| i64::from_le_bytes(take(&mut bytes))),
        ElementsMut::Bool(elements) => elements.fill_with(|| take::<1>(&mut bytes) != [0]),
    });
}
