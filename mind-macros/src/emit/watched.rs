//! The description of a value that is searched for NaN.

use std::fmt::Write;

use mind_core::plan::Search;

/// The description of a value in messages.
#[derive(Default)]
pub struct WatchedText {
    /// The value's source text.
    pub text: String,
    /// The value's name in the program, or an empty string.
    pub name: String,
    /// The value's place, such as `src/main.rs:12:5`, or an empty string.
    pub place: String,
    /// Whether the value is the derivative of the value at that place.
    pub derivative: bool,
}

impl WatchedText {
    /// The expression `rt::watch::Watched { … }` for a search for NaN.
    pub fn watched(&self, search: &Search, is_given: bool) -> String {
        let Self { text, name, place, derivative } = self;
        let origin = match (is_given, derivative) {
            (true, _) => "Argument",
            (false, true) => "Derived",
            (false, false) => "Computed",
        };
        let mut made_of = String::new();
        for value in &search.made_of {
            write!(made_of, "{}, ", value.index()).expect("writing to a string does not fail");
        }
        format!(
            "rt::watch::Watched {{ value: {}, made_of: &[{made_of}], text: {text:?}, name: {name:?}, place: {place:?}, \
             origin: rt::watch::Origin::{origin}, delivered: {} }}",
            search.value.index(),
            search.delivered
        )
    }
}
