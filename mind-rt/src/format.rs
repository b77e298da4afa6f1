//! Tensors as text, in the format of ndarray: nested brackets, with long axes shortened unless the alternate form is
//! requested.

use std::fmt::{self, Debug, Display, Formatter, LowerExp};

use mind_shape::write_in_brackets;

use crate::element::Element;
use crate::shape::Shape;
use crate::tensor::storage::{Tensor, TensorRef, TensorView, TensorViewMut};

/// ```
/// use mind_rt::{Const, Tensor};
///
/// mind_rt::dim!(Batch);
/// let x = Tensor::from_vec((Batch(2), Const::<2>), vec![1.0_f32, 2.0, 3.0, 4.0])?;
/// assert_eq!(format!("{x:?}"), "[[1.0, 2.0],\n [3.0, 4.0]], f32[Batch = 2, 2]");
/// assert_eq!(format!("{x}"), "[[1, 2],\n [3, 4]]");
/// # Ok::<(), mind_rt::Error>(())
/// ```
impl<T: Element, S: Shape> Debug for TensorRef<T, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        format_elements(self, f, Debug::fmt)?;
        write!(f, ", {}[", T::DTYPE)?;
        let names = S::names();
        for (axis, extent) in self.shape().dims().iter().enumerate() {
            let comma = if axis == 0 { "" } else { ", " };
            match names[axis] {
                Some(name) => write!(f, "{comma}{name} = {extent}")?,
                None => write!(f, "{comma}{extent}")?,
            }
        }
        f.write_str("]")
    }
}

impl<T: Element, S: Shape> Display for TensorRef<T, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        format_elements(self, f, Display::fmt)
    }
}

impl<T: Element + LowerExp, S: Shape> LowerExp for TensorRef<T, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        format_elements(self, f, LowerExp::fmt)
    }
}

macro_rules! owners {
    ($trait:ident: $($owner:ty),*) => {
        $(impl<T: Element + $trait, S: Shape> $trait for $owner {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                $trait::fmt(&**self, f)
            }
        })*
    };
}

owners!(Debug: Tensor<T, S>, TensorView<'_, T, S>, TensorViewMut<'_, T, S>);
owners!(Display: Tensor<T, S>, TensorView<'_, T, S>, TensorViewMut<'_, T, S>);
owners!(LowerExp: Tensor<T, S>, TensorView<'_, T, S>, TensorViewMut<'_, T, S>);

type FormatElement<T> = fn(&T, &mut Formatter<'_>) -> fmt::Result;

fn format_elements<T: Element, S: Shape>(
    tensor: &TensorRef<T, S>,
    f: &mut Formatter<'_>,
    element: FormatElement<T>,
) -> fmt::Result {
    let elements = tensor.as_slice();
    write_in_brackets(f, &tensor.shape().dims(), &|at, f| element(&elements[at], f))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Const, Tensor};

    crate::dim!(Batch);

    #[test]
    fn low_ranks() {
        assert_eq!(format!("{:?}", Tensor::from(1.5_f32)), "1.5, f32[]");
        assert_eq!(Tensor::from(1.5_f32).to_string(), "1.5");
        assert_eq!(format!("{:?}", Tensor::from([1_i64, 2])), "[1, 2], i64[2]");
        assert_eq!(format!("{:.2}", Tensor::from([1.0_f64, 2.0])), "[1.00, 2.00]");
        assert_eq!(format!("{:e}", Tensor::from([1e10_f64]).view()), "[1e10]");
        let x = Tensor::from([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]);
        assert_eq!(x.to_string(), "[[[1, 2],\n  [3, 4]],\n\n [[5, 6],\n  [7, 8]]]");
        assert_eq!(format!("{:?}", Tensor::<f32, _>::zeros_with((0, 2))), "[[]], f32[0, 2]");
    }

    #[test]
    fn debug_names_dims() {
        let x: Tensor<f32, (Batch, Const<1>)> = Tensor::zeros_with((Batch(2), Const));
        assert_eq!(format!("{x:?}"), "[[0.0],\n [0.0]], f32[Batch = 2, 1]");
    }

    #[test]
    fn long_axes_are_shortened() {
        let x = Tensor::from_fn_with((600,), |[i]| i as i64);
        assert_eq!(x.to_string(), "[0, 1, 2, 3, 4, ..., 595, 596, 597, 598, 599]");
        assert_eq!(format!("{x:#}").matches(',').count(), 599);
        let x = Tensor::from_fn_with((499,), |[i]| i as i64);
        assert!(!x.to_string().contains("..."));
        let x = Tensor::from_fn_with((100, 7), |[i, _]| i as i64);
        let lines: Vec<_> = x.to_string().lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 11);
        assert_eq!(lines[5], " ...,");
        assert_eq!(lines[10], " [99, 99, 99, 99, 99, 99, 99]]");
    }

    #[cfg(feature = "ndarray")]
    #[test]
    fn text_is_as_ndarrays() {
        for dims in [[1, 1, 1], [3, 4, 5], [20, 20, 20], [2, 300, 1], [13, 1, 40], [6, 11, 12]] {
            let ours =
                Tensor::from_fn_with((dims[0], dims[1], dims[2]), |[i, j, k]| (i * j + k) as f64 / 4.0);
            let theirs = ndarray::Array3::from_shape_fn(dims, |(i, j, k)| (i * j + k) as f64 / 4.0);
            assert_eq!(ours.to_string(), theirs.to_string());
            assert_eq!(format!("{ours:.3}"), format!("{theirs:.3}"));
            assert_eq!(format!("{ours:8.1}"), format!("{theirs:8.1}"));
            assert!(
                format!("{theirs:?}").starts_with(format!("{ours:?}").split(", f64[").next().expect("text"))
            );
        }
    }
}
