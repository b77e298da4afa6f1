//! Parameters as one row of numbers.

use mind_rt::{DType, Elements, ElementsMut, Parameters};

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
    parameters.visit(&mut |part| {
        if part.dtype().is_float() {
            count += part.elements.len();
        }
    });
    count
}

/// Writes all floats to `row`, behind what is there. Integers and truth values have no gradients and stay out.
pub fn floats<T: Float>(parameters: &impl Parameters, row: &mut Vec<T>) {
    parameters.visit(&mut |part| match part.elements {
        Elements::F32(elements) => row.extend(elements.iter().map(|x| T::from_f64((*x).into()))),
        Elements::F64(elements) => row.extend(elements.iter().map(|x| T::from_f64(*x))),
        _ => {}
    });
}

/// Takes what [`floats`] wrote from the front of `row`, which has as many.
pub fn set_floats<T: Float>(parameters: &mut impl Parameters, row: &[T]) {
    let mut row = row.iter();
    let mut next = || *row.next().expect("the row has a number for each element");
    parameters.visit_mut(&mut |part| match part.elements {
        ElementsMut::F32(elements) => elements.fill_with(|| next().to_f64() as f32),
        ElementsMut::F64(elements) => elements.fill_with(|| next().to_f64()),
        _ => {}
    });
}
