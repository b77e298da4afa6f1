//! Copies the floating-point elements of parameters to a flat list and back.

use mind_rt::{DType, Elements, ElementsMut, Parameters};

/// Describes the entries of the two lists at the first position where they differ.
pub fn difference(found: &[String], needed: &[String]) -> (String, String) {
    let same = found.iter().zip(needed).take_while(|(a, b)| a == b).count();
    let shown = |list: &[String]| list.get(same).map_or("nothing more".into(), |line| format!("`{line}`"));
    (shown(found), shown(needed))
}

/// Whether some part has elements of type `f64`.
pub fn any_f64(parameters: &impl Parameters) -> bool {
    let mut any = false;
    parameters.visit(&mut |part| any |= part.dtype() == DType::F64);
    any
}

/// A type in which gradients are summed. Every value of either type is exact in `f64`.
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

/// The number of floating-point elements.
pub fn count_floats(parameters: &impl Parameters) -> usize {
    let mut count = 0;
    parameters.visit(&mut |part| {
        if part.dtype().is_float() {
            count += part.elements.len();
        }
    });
    count
}

/// Appends all floating-point elements to `row`. Integers and booleans have no gradients and are skipped.
pub fn floats<T: Float>(parameters: &impl Parameters, row: &mut Vec<T>) {
    parameters.visit(&mut |part| match part.elements {
        Elements::F32(elements) => row.extend(elements.iter().map(|x| T::from_f64((*x).into()))),
        Elements::F64(elements) => row.extend(elements.iter().map(|x| T::from_f64(*x))),
        _ => {}
    });
}

/// Sets all floating-point elements to the values of `row`, in the order of [`floats`].
pub fn set_floats<T: Float>(parameters: &mut impl Parameters, row: &[T]) {
    let mut row = row.iter();
    let mut next = || *row.next().expect("the row has a number for each element");
    parameters.visit_mut(&mut |part| match part.elements {
        ElementsMut::F32(elements) => elements.fill_with(|| next().to_f64() as f32),
        ElementsMut::F64(elements) => elements.fill_with(|| next().to_f64()),
        _ => {}
    });
}
