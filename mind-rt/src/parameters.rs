//! The named tensors and numbers of a struct, for saving, loading and optimisers.

use std::borrow::Cow;

use crate::element::{DType, Element, Elements, ElementsMut};
use crate::shape::{Dims, Shape};
use crate::tensor::storage::{Tensor, TensorRef};

/// A type whose parts are named tensors and numbers. `mind!` implements it for its structs: fields come in order, and
/// fields of nested structs have names such as `first.w`.
///
/// [`Tensor`](struct@Tensor) and `Vec` implement it too, so an implementation by hand can combine them:
///
/// ```
/// use mind_rt::{Parameter, ParameterMut, Parameters, Tensor};
///
/// struct Model {
///     table: Tensor![f32; 5, 2],
///     layers: Vec<Tensor![f32; 2, 2]>,
/// }
///
/// impl Parameters for Model {
///     fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Parameter<'a>)) {
///         self.table.visit(&mut |part| visitor(part.under("table")));
///         self.layers.visit(&mut |part| visitor(part.under("layers")));
///     }
///     fn visit_mut<'a>(&'a mut self, visitor: &mut dyn FnMut(ParameterMut<'a>)) {
///         self.table.visit_mut(&mut |part| visitor(part.under("table")));
///         self.layers.visit_mut(&mut |part| visitor(part.under("layers")));
///     }
/// }
///
/// let mut model = Model { table: Tensor::full(1.0), layers: vec![Tensor::zeros(), Tensor::full(2.0)] };
/// let names: Vec<_> = model.parameters().into_iter().map(|part| part.name).collect();
/// assert_eq!(names, ["table", "layers.0", "layers.1"]);
/// assert_eq!(model.element_count(), 10 + 4 + 4);
/// for part in model.parameters_mut() {
///     part.into_slice::<f32>().expect("all are f32").iter_mut().for_each(|x| *x *= 0.5);
/// }
/// assert_eq!(model.layers[1], Tensor::full(1.0));
/// ```
pub trait Parameters {
    /// Calls `visitor` with each part, in an order that never changes.
    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Parameter<'a>));

    /// Calls `visitor` with each part, mutable, in the order of [`visit`](Self::visit).
    fn visit_mut<'a>(&'a mut self, visitor: &mut dyn FnMut(ParameterMut<'a>));

    /// All parts, in order.
    fn parameters(&self) -> Vec<Parameter<'_>> {
        let mut parts = Vec::new();
        self.visit(&mut |part| parts.push(part));
        parts
    }

    /// All parts, mutable, in order.
    fn parameters_mut(&mut self) -> Vec<ParameterMut<'_>> {
        let mut parts = Vec::new();
        self.visit_mut(&mut |part| parts.push(part));
        parts
    }

    /// The number of elements in all parts.
    fn element_count(&self) -> usize {
        let mut count = 0;
        self.visit(&mut |part| count += part.elements.len());
        count
    }
}

/// A tensor or number that is a part of [`Parameters`].
#[derive(Clone, Debug)]
pub struct Parameter<'a> {
    /// The name, as in `w` or `first.w`; empty for a single tensor.
    pub name: Cow<'static, str>,
    /// The extents; empty for a number.
    pub dims: Dims,
    /// The elements in row-major order.
    pub elements: Elements<'a>,
}

/// A tensor or number that is a part of [`Parameters`], mutable.
#[derive(Debug)]
pub struct ParameterMut<'a> {
    /// The name, as in `w` or `first.w`; empty for a single tensor.
    pub name: Cow<'static, str>,
    /// The extents; empty for a number.
    pub dims: Dims,
    /// The elements in row-major order.
    pub elements: ElementsMut<'a>,
    /// The number of leading axes along which equal structs are stacked. The part of each struct has the other axes.
    pub stacked: usize,
}

impl<'a> Parameter<'a> {
    /// The part for a tensor.
    #[must_use]
    pub fn tensor<T: Element, S: Shape>(
        name: impl Into<Cow<'static, str>>,
        tensor: &'a TensorRef<T, S>,
    ) -> Self {
        let elements = T::elements(tensor.as_slice());
        Self { name: name.into(), dims: tensor.shape().dims(), elements }
    }

    /// The part for a number.
    #[must_use]
    pub fn number<T: Element>(name: impl Into<Cow<'static, str>>, number: &'a T) -> Self {
        Self { name: name.into(), dims: ().dims(), elements: T::elements(std::slice::from_ref(number)) }
    }

    /// The element type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.elements.dtype()
    }

    /// The elements, if they are of type `T`.
    #[must_use]
    pub fn as_slice<T: Element>(&self) -> Option<&'a [T]> {
        T::slice(self.elements)
    }

    /// The same part, named as a part of `whole`.
    #[must_use]
    pub fn under(self, whole: &str) -> Self {
        Self { name: under(self.name, whole), ..self }
    }
}

impl<'a> ParameterMut<'a> {
    /// The part for a tensor.
    #[must_use]
    pub fn tensor<T: Element, S: Shape>(
        name: impl Into<Cow<'static, str>>,
        tensor: &'a mut TensorRef<T, S>,
    ) -> Self {
        let dims = tensor.shape().dims();
        Self { name: name.into(), dims, elements: T::elements_mut(tensor.as_mut_slice()), stacked: 0 }
    }

    /// The part for a number.
    #[must_use]
    pub fn number<T: Element>(name: impl Into<Cow<'static, str>>, number: &'a mut T) -> Self {
        let elements = T::elements_mut(std::slice::from_mut(number));
        Self { name: name.into(), dims: ().dims(), elements, stacked: 0 }
    }

    /// The same part, with `stacked` leading axes along which equal structs are stacked.
    #[must_use]
    pub fn stacked(self, stacked: usize) -> Self {
        Self { stacked, ..self }
    }

    /// The element type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.elements.dtype()
    }

    /// The elements, if they are of type `T`.
    #[must_use]
    pub fn into_slice<T: Element>(self) -> Option<&'a mut [T]> {
        T::slice_mut(self.elements)
    }

    /// The same part, named as a part of `whole`.
    #[must_use]
    pub fn under(self, whole: &str) -> Self {
        Self { name: under(self.name, whole), ..self }
    }
}

fn under(name: Cow<'static, str>, whole: &str) -> Cow<'static, str> {
    if name.is_empty() { whole.to_owned().into() } else { format!("{whole}.{name}").into() }
}

impl<T: Element, S: Shape> Parameters for Tensor<T, S> {
    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Parameter<'a>)) {
        visitor(Parameter::tensor("", self));
    }

    fn visit_mut<'a>(&'a mut self, visitor: &mut dyn FnMut(ParameterMut<'a>)) {
        visitor(ParameterMut::tensor("", self));
    }
}

/// Parts are named by position: `0.w`, `1.w`.
impl<P: Parameters> Parameters for Vec<P> {
    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Parameter<'a>)) {
        for (position, parts) in self.iter().enumerate() {
            parts.visit(&mut |part| visitor(part.under(&position.to_string())));
        }
    }

    fn visit_mut<'a>(&'a mut self, visitor: &mut dyn FnMut(ParameterMut<'a>)) {
        for (position, parts) in self.iter_mut().enumerate() {
            parts.visit_mut(&mut |part| visitor(part.under(&position.to_string())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_say_what_they_are() {
        let (x, mut n) = (Tensor::from([[1.0_f64, 2.0]]), 7_i32);
        let part = Parameter::tensor("x", &x);
        assert_eq!((&*part.name, part.dtype(), &part.dims[..]), ("x", DType::F64, &[1, 2][..]));
        assert_eq!(part.as_slice::<f64>(), Some(&[1.0, 2.0][..]));
        assert_eq!(part.as_slice::<f32>(), None);
        let part = ParameterMut::number("n", &mut n).under("m");
        assert_eq!((&*part.name, part.dtype(), part.dims.len()), ("m.n", DType::I32, 0));
        part.into_slice::<i32>().expect("it is i32")[0] += 1;
        assert_eq!(n, 8);
        assert_eq!(Parameter::number("n", &3_i64).elements, Elements::I64(&[3]));
    }
}
