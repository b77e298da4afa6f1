//! What is known of an array beside its elements.

use std::collections::BTreeMap;
use std::fmt;

/// An element type and extents. Displays as in the language: `f32[2, 3]`.
///
/// The element type is its name in the language, `f32`, `f64`, `i32`, `i64` or `bool`; of types that the language has not,
/// a name in the same manner, as `f16`, `bf16`, `u8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The name of the element type.
    pub dtype: String,
    /// The extents, outermost first; none for a number.
    pub dims: Vec<usize>,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.dtype, self.dims)
    }
}

/// An array with its name. Displays as `first.w f32[2, 3]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name; empty for a tensor by itself.
    pub name: String,
    /// What it is.
    pub layout: Layout,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.name.is_empty() { "" } else { " " };
        write!(f, "{}{space}{}", self.name, self.layout)
    }
}

/// The arrays that a file holds, by name.
pub type Arrays = BTreeMap<String, Layout>;
