//! Errors at run time.

use std::fmt::Display;

/// An error at run time. Displays its code and a message with the value found and the value needed.
///
/// ```
/// use mind_rt::Tensor;
///
/// let error = Tensor::from_vec((2, 3), vec![1.0_f32; 5]).unwrap_err();
/// assert_eq!(error.code(), "E3007");
/// assert_eq!(error.to_string(), "E3007: f32[2, 3] has 6 elements, got 5");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The rank of a tensor is not the rank needed.
    #[error("E3002: ranks differ: got {found}, needed {needed}")]
    RankMismatch {
        /// The type found, as in `f32[2, 3]`.
        found: String,
        /// The type needed, with `?` for any extent.
        needed: String,
    },
    /// A dimension has extent 0, or an expression in dimensions evaluates to 0 or less.
    #[error("E3006: `{function}`: {what}: dimension {dimension} is {value}, needed 1 or more")]
    NonPositiveDim {
        /// The function called.
        function: &'static str,
        /// The parameter, as `` parameter `x` ``, or the expression's text.
        what: &'static str,
        /// The index of the dimension.
        dimension: usize,
        /// The value of the dimension.
        value: i64,
    },
    /// The number of elements is not the number that the shape has.
    #[error("E3007: {shape} has {needed} elements, got {found}")]
    LengthMismatch {
        /// The shape, as in `f32[2, 3]`.
        shape: String,
        /// The number of elements that the shape has.
        needed: usize,
        /// The number of elements found.
        found: usize,
    },
    /// An index is outside its dimension.
    #[error("E6001: `{what}`: index {index} at position {position} is out of range, needed 0 to {}", *extent as i128 - 1)]
    IndexOutOfRange {
        /// The tensor or operation that holds the index.
        what: &'static str,
        /// The position of the index in the list of indices.
        position: usize,
        /// The index.
        index: i64,
        /// The extent it must be below.
        extent: usize,
    },
    /// The divisor of an integer division is 0.
    #[error("E6010: `{what}`: an integer is divided by 0: the divisor at position {position} is 0")]
    DivisionByZero {
        /// The operation that divides.
        what: &'static str,
        /// The position of the divisor among the divisors.
        position: usize,
    },
    /// A loop would need more steps than its limit.
    #[error("E6010: `{function}`: `while` did not end within its limit of {steps} steps")]
    LoopLimit {
        /// The function called.
        function: &'static str,
        /// The limit.
        steps: usize,
    },
    /// Matrices are singular, or not positive definite.
    #[error("E6010: `{function}`: {}", refused(problem, listed, *more, *count))]
    Matrices {
        /// The function called.
        function: &'static str,
        /// The property of the matrices, as in `singular`.
        problem: &'static str,
        /// The positions of the first such matrices among all of them, in row-major order of the leading axes.
        listed: Vec<usize>,
        /// The number of such matrices that are not listed.
        more: usize,
        /// The number of all matrices.
        count: usize,
    },
    /// An array's elements do not lie one after the other in row-major order, so no view can be made of it.
    #[error(
        "E6003: a tensor view needs a contiguous row-major array, got strides {strides:?} for shape {shape:?}"
    )]
    NotContiguous {
        /// The array's shape.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
    },
    /// Memory could not be allocated.
    #[error("E6004: cannot allocate {shape}: out of memory, or the size overflows")]
    Allocation {
        /// The type to allocate, as in `f32[2, 3]`.
        shape: String,
    },
    /// A workspace of a fixed size is smaller than the function needs.
    #[error(
        "E6004: the workspace has {found} bytes, needed {needed}: write `Workspace::with_bytes({needed})`, or \
         `Workspace::new()`, which grows"
    )]
    WorkspaceTooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes available.
        found: usize,
    },
    /// The temporaries of a call need more memory than the function's `#[memory(max = …)]` allows.
    #[error(
        "E6011: `{function}` needs {needed} bytes for temporaries, {} more than its bound of {max} bytes ({extents})",
        (*needed as u64).saturating_sub(*max)
    )]
    MemoryBound {
        /// The function called.
        function: &'static str,
        /// Bytes needed.
        needed: usize,
        /// The bound.
        max: u64,
        /// The extents of the call, as in `N = 3, M = 4`.
        extents: String,
    },
    /// A dynamic dimension of an argument differs from what the signature requires.
    #[error(
        "E6009: `{function}`: parameter `{parameter}`: dimension {dimension} is {found}, needed {needed} ({why})"
    )]
    DimensionMismatch {
        /// The function called.
        function: &'static str,
        /// The parameter at fault.
        parameter: &'static str,
        /// The index of the dimension.
        dimension: usize,
        /// The extent found.
        found: usize,
        /// The extent needed.
        needed: usize,
        /// The origin of the needed extent, as in ``N, from `x` ``.
        why: &'static str,
    },
    /// A slice or index bound exceeds a dynamic dimension, or an extent exceeds the largest value of the integer type
    /// that it is converted to.
    #[error("E6009: `{function}`: {bound} exceeds {extent}: {bound_value} > {extent_value}")]
    BoundOutsideDim {
        /// The function called.
        function: &'static str,
        /// The bound's text.
        bound: &'static str,
        /// The dimension's text.
        extent: &'static str,
        /// The bound.
        bound_value: i64,
        /// The extent.
        extent_value: i64,
    },
    /// A tensor's extents do not fit the shape that it is converted to.
    #[error("E6009: dimension {dimension} differs: got {found}, needed {needed}")]
    ShapeMismatch {
        /// The first dimension that differs.
        dimension: usize,
        /// The type found, as in `f32[2, 3]`.
        found: String,
        /// The type needed, with `?` for any extent.
        needed: String,
    },
    /// A Knossos program failed at run time.
    #[error("{code}: {file}:{line}:{column}: {message}, in `{function}`")]
    Knossos {
        /// The stable code: E6001 for an index out of range, E6004 for a size that is too large, else E6010.
        code: &'static str,
        /// The description of the failure.
        message: String,
        /// The program's file.
        file: &'static str,
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
        /// The function that was running, as the program writes it.
        function: &'static str,
    },
}

impl Error {
    /// The stable code, such as `E6009`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::RankMismatch { .. } => "E3002",
            Self::NonPositiveDim { .. } => "E3006",
            Self::LengthMismatch { .. } => "E3007",
            Self::IndexOutOfRange { .. } => "E6001",
            Self::DivisionByZero { .. } | Self::LoopLimit { .. } | Self::Matrices { .. } => "E6010",
            Self::NotContiguous { .. } => "E6003",
            Self::Allocation { .. } | Self::WorkspaceTooSmall { .. } => "E6004",
            Self::MemoryBound { .. } => "E6011",
            Self::DimensionMismatch { .. } | Self::BoundOutsideDim { .. } | Self::ShapeMismatch { .. } => {
                "E6009"
            }
            Self::Knossos { code, .. } => code,
        }
    }
}

/// The message for matrices that are refused.
fn refused(problem: &str, listed: &[usize], more: usize, count: usize) -> String {
    let all: Vec<String> = listed.iter().map(usize::to_string).collect();
    match (&all[..], more) {
        _ if count == 1 => format!("the matrix is {problem}"),
        ([only], 0) => format!("matrix {only} of {count} is {problem}"),
        ([first @ .., last], 0) => {
            format!("matrices {} and {last} of {count} are {problem}", first.join(", "))
        }
        _ => format!("matrices {} and {more} more of {count} are {problem}", all.join(", ")),
    }
}

/// A type as text, as in `f32[2, 3]`.
pub(crate) fn describe(dtype: impl Display, extents: &[usize]) -> String {
    format!("{dtype}{extents:?}")
}

/// Panics with the error's message, for the functions whose fallible variant returns the error.
#[cold]
#[inline(never)]
#[track_caller]
pub fn fail(error: Error) -> ! {
    panic!("{error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Const;

    #[test]
    fn messages_begin_with_their_code() {
        let errors = [
            Error::RankMismatch { found: "f32[2]".into(), needed: "f32[2, ?]".into() },
            Error::NonPositiveDim { function: "f", what: "parameter `x`", dimension: 0, value: 0 },
            Error::LengthMismatch { shape: "f32[2]".into(), needed: 2, found: 1 },
            Error::IndexOutOfRange { what: "f", position: 0, index: -1, extent: 2 },
            Error::DivisionByZero { what: "f", position: 0 },
            Error::LoopLimit { function: "f", steps: 3 },
            Error::Matrices { function: "f", problem: "singular", listed: vec![1, 3], more: 0, count: 4 },
            Error::NotContiguous { shape: vec![2], strides: vec![2] },
            Error::Allocation { shape: "f32[2]".into() },
            Error::WorkspaceTooSmall { needed: 2, found: 1 },
            Error::ShapeMismatch { dimension: 0, found: "f32[2]".into(), needed: "f32[3]".into() },
        ];
        for error in errors {
            let text = error.to_string();
            assert!(text.starts_with(&format!("{}: ", error.code())), "{text}");
            assert!(!text.ends_with('.'), "{text}");
        }
    }

    #[test]
    fn a_dimension_mismatch_says_where_the_need_comes_from() {
        let error = Error::DimensionMismatch {
            function: "loss",
            parameter: "y",
            dimension: 0,
            found: 31,
            needed: 32,
            why: "N, from `x`",
        };
        assert_eq!(
            error.to_string(),
            "E6009: `loss`: parameter `y`: dimension 0 is 31, needed 32 (N, from `x`)"
        );
        assert_eq!(error.code(), "E6009");
    }

    #[test]
    fn refused_matrices_are_listed() {
        let message = |listed: &[usize], more, count| {
            let listed = listed.to_vec();
            Error::Matrices { function: "f", problem: "singular", listed, more, count }.to_string()
        };
        assert_eq!(message(&[0], 0, 1), "E6010: `f`: the matrix is singular");
        assert_eq!(message(&[2], 0, 5), "E6010: `f`: matrix 2 of 5 is singular");
        assert_eq!(message(&[0, 2, 3], 0, 5), "E6010: `f`: matrices 0, 2 and 3 of 5 are singular");
        assert_eq!(message(&[0, 2], 7, 20), "E6010: `f`: matrices 0, 2 and 7 more of 20 are singular");
    }

    #[test]
    fn an_index_error_names_index_and_range() {
        let error = Error::IndexOutOfRange { what: "ids", position: 3, index: -7, extent: 10 };
        assert_eq!(error.to_string(), "E6001: `ids`: index -7 at position 3 is out of range, needed 0 to 9");
    }

    #[test]
    fn a_shape_mismatch_names_both_types() {
        let error = Error::shape_mismatch::<f32, (usize, Const<784>)>(&[3, 783]);
        assert_eq!(error.to_string(), "E6009: dimension 1 differs: got f32[3, 783], needed f32[?, 784]");
        let error = Error::shape_mismatch::<i64, (usize,)>(&[3, 783]);
        assert_eq!(error.to_string(), "E3002: ranks differ: got i64[3, 783], needed i64[?]");
    }
}
