//! Values that programs show with `inspect(x, "h")`, and the search for values that are NaN, which the environment of
//! the build enables.

mod nan;
mod shown;
