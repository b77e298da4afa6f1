//! The description of an array: its name, element type and extents.

use std::collections::BTreeMap;
use std::fmt;

/// An element type and extents. Displays as in the language: `f32[2, 3]`.
///
/// The element type is its name in the language: `f32`, `f64`, `u8`, `i32`, `i64` or `bool`. Types that the language
/// does not have are named in the same style, such as `f16`, `bf16` and `u16`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The name of the element type.
    pub dtype: String,
    /// The extents, outermost first. Empty for a number.
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
    /// The name. Empty for a single tensor.
    pub name: String,
    /// The element type and extents.
    pub layout: Layout,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.name.is_empty() { "" } else { " " };
        write!(f, "{}{space}{}", self.name, self.layout)
    }
}

/// The arrays in a file, by name.
pub type Arrays = BTreeMap<String, Layout>;
