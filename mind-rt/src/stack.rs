//! The parts of a stack of structs: one tensor for the same part of all of them.

use crate::element::Element;
use crate::error::{Error, describe, fail};
use crate::shape::Shape;
use crate::tensor::storage::Tensor;

/// The tensor that has `parts` along its first axis. `stack` is the name of the struct in errors.
///
/// # Errors
/// E3006 without parts; E6009 if the extents of parts differ, or are not those of the result.
pub fn stacked_tensors<'a, T: Element, S: Shape, R: Shape>(
    stack: &'static str,
    parts: impl Iterator<Item = &'a Tensor<T, S>>,
) -> Result<Tensor<T, R>, Error> {
    let mut parts = parts.peekable();
    let extents = parts.peek().map(|first| first.shape().padded()).unwrap_or_default();
    let extents = &extents[..S::RANK];
    let (mut count, mut elements) = (0, Vec::new());
    for part in parts {
        let found = part.shape().padded();
        if let Some(dimension) = (0..S::RANK).find(|axis| found[*axis] != extents[*axis]) {
            let [found, needed] = [&found[..S::RANK], extents].map(|extents| describe(T::DTYPE, extents));
            return Err(Error::ShapeMismatch { dimension, found, needed });
        }
        elements.extend_from_slice(part.as_slice());
        count += 1;
    }
    of_elements(stack, count, extents, elements)
}

/// The tensor of rank 1 that has these numbers. `stack` is the name of the struct in errors.
///
/// # Errors
/// E3006 without numbers; E6009 if their number is not the extent of the result.
pub fn stacked_numbers<T: Element, R: Shape>(
    stack: &'static str,
    numbers: impl Iterator<Item = T>,
) -> Result<Tensor<T, R>, Error> {
    let elements: Vec<T> = numbers.collect();
    of_elements(stack, elements.len(), &[], elements)
}

fn of_elements<T: Element, R: Shape>(
    stack: &'static str,
    count: usize,
    extents: &[usize],
    elements: Vec<T>,
) -> Result<Tensor<T, R>, Error> {
    if count == 0 {
        return Err(Error::NonPositiveDim { function: stack, what: "a stack", dimension: 0, value: 0 });
    }
    let all = [&[count], extents].concat();
    match R::from_extents(&all) {
        Some(shape) => Tensor::from_vec(shape, elements),
        None => Err(Error::shape_mismatch::<T, R>(&all)),
    }
}

/// The element of a stacked tensor at an index; `None` if the index is out of range.
#[must_use]
#[track_caller]
pub fn tensor_of_stack<T: Element, S: Shape, R: Shape>(
    stack: &Tensor<T, R>,
    index: usize,
) -> Option<Tensor<T, S>> {
    let extents = stack.shape().padded();
    let (count, extents) = extents[..R::RANK].split_first()?;
    if index >= *count {
        return None;
    }
    let shape = S::from_extents(extents)?;
    let len = shape.len();
    let elements = &stack.as_slice()[index * len..][..len];
    Some(Tensor::from_slice(shape, elements).unwrap_or_else(|error| fail(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Const;

    type Two = (usize, Const<2>);

    #[test]
    fn a_stack_has_its_parts_along_the_first_axis() {
        let parts = [Tensor::from([1.0_f64, 2.0]), Tensor::from([3.0, 4.0])];
        let stack: Tensor<f64, Two> = stacked_tensors("S", parts.iter()).expect("the extents are equal");
        assert_eq!(stack.as_slice(), [1.0, 2.0, 3.0, 4.0]);
        for (index, part) in parts.iter().enumerate() {
            assert_eq!(tensor_of_stack::<_, (Const<2>,), _>(&stack, index).as_ref(), Some(part));
        }
        assert_eq!(tensor_of_stack::<_, (Const<2>,), _>(&stack, 2), None);
        let numbers: Tensor<i32, (Const<3>,)> = stacked_numbers("S", [1, 2, 3].into_iter()).unwrap();
        assert_eq!(numbers.as_slice(), [1, 2, 3]);
    }

    #[test]
    fn parts_of_other_extents_and_none_are_refused() {
        let text = |error: Result<Tensor<f32, Two>, Error>| error.expect_err("it is refused").to_string();
        let [two, three] = [2, 3].map(|extent| Tensor::<f32, (usize,)>::zeros_with((extent,)));
        assert_eq!(
            text(stacked_tensors("S", [&two, &three].into_iter())),
            "E6009: dimension 0 differs: got f32[3], needed f32[2]"
        );
        assert_eq!(
            text(stacked_tensors("S", [&three].into_iter())),
            "E6009: dimension 1 differs: got f32[1, 3], needed f32[?, 2]"
        );
        assert_eq!(
            text(stacked_tensors("S", [&two; 0].into_iter())),
            "E3006: `S`: a stack: dimension 0 is 0, needed 1 or more"
        );
    }
}
