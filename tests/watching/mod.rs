//! Values that programs show, `inspect(x, "h")`, and those that are searched for NaN where the environment of the build asks.

mod nan;
mod shown;
