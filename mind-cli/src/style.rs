//! Colours of the output.

use std::{
    env,
    io::{self, IsTerminal},
};

use crate::args::When;

/// Whether parts of a text are coloured.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    coloured: bool,
}

impl Style {
    /// Without colours.
    pub const fn plain() -> Self {
        Self { coloured: false }
    }

    /// For standard error.
    pub fn of_errors(when: When) -> Self {
        Self::of(when, || io::stderr().is_terminal())
    }

    /// For standard output.
    pub fn of_output(when: When) -> Self {
        Self::of(when, || io::stdout().is_terminal())
    }

    fn of(when: When, is_terminal: impl Fn() -> bool) -> Self {
        let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let coloured = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                !set("NO_COLOR") && env::var_os("TERM").is_none_or(|term| term != "dumb") && is_terminal()
            }
        };
        Self { coloured }
    }

    /// Marks an error.
    pub fn error(&self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Marks the most important text.
    pub fn strong(&self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Marks the frame around a text.
    pub fn frame(&self, text: &str) -> String {
        self.paint("34", text)
    }

    /// Marks success, or added text.
    pub fn good(&self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Marks removed text.
    pub fn bad(&self, text: &str) -> String {
        self.paint("31", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.coloured { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
