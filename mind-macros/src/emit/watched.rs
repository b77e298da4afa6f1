//! What is told of values that are searched for NaN.

use std::fmt::Write;

use mind_core::plan::Search;

/// What is told of a value.
#[derive(Default)]
pub struct WatchedText {
    /// As the program has it.
    pub text: String,
    /// What the program calls it, if anything.
    pub name: String,
    /// `src/main.rs:12:5`, if it is known.
    pub place: String,
    /// Whether it is the derivative of that.
    pub derivative: bool,
}

impl WatchedText {
    /// `rt::watch::Watched { … }` of a search for NaN.
    pub fn watched(&self, search: &Search, is_given: bool) -> String {
        let Self { text, name, place, derivative } = self;
        let comes = match (is_given, derivative) {
            (true, _) => "Given",
            (false, true) => "Derived",
            (false, false) => "Computed",
        };
        let mut made_of = String::new();
        for value in &search.made_of {
            write!(made_of, "{}, ", value.index()).expect("writing to a string does not fail");
        }
        format!(
            "rt::watch::Watched {{ value: {}, made_of: &[{made_of}], text: {text:?}, name: {name:?}, place: {place:?}, \
             comes: rt::watch::Comes::{comes}, delivered: {} }}",
            search.value.index(),
            search.delivered
        )
    }
}
