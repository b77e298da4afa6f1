//! The parts of an explanation.

use crate::profile::Profile;

/// The explanation of a code, beyond its row in the table.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    /// The cause of the error, and why it is an error, in full sentences.
    pub text: &'static str,
    /// An example that reports the code.
    pub example: Example,
    /// How to fix it, in a full sentence.
    pub fix: &'static str,
}

/// An example that reports a code, with a fixed version.
#[derive(Clone, Copy, Debug)]
pub enum Example {
    /// Programs as in `mind!`.
    Program {
        /// The program that reports the code.
        wrong: &'static str,
        /// The fixed program.
        right: &'static str,
    },
    /// MIC texts.
    Mic {
        /// The text that reports the code.
        wrong: &'static str,
        /// The fixed text.
        right: &'static str,
        /// The profile that they are verified against.
        profile: Profile,
    },
    /// Gradients of programs as in `mind!`.
    Gradient {
        /// The program whose gradient reports the code, and the profile for the gradient.
        wrong: (&'static str, Profile),
        /// The program whose gradient reports no error, and its profile.
        right: (&'static str, Profile),
        /// The input to differentiate with respect to.
        wrt: &'static str,
    },
    /// Runs of a program as in `mind!`.
    Run {
        /// The program.
        program: &'static str,
        /// Inputs that report the code.
        wrong: &'static [ExampleInput],
        /// Inputs that report no error.
        right: &'static [ExampleInput],
    },
    /// Programs in Knossos. If `main` exists, it is run.
    Knossos {
        /// The program that reports the code.
        wrong: &'static str,
        /// The fixed program.
        right: &'static str,
    },
    /// The reason for having no example.
    Words(&'static str),
}

/// An input of a run: a tensor filled with one number.
#[derive(Clone, Copy, Debug)]
pub struct ExampleInput {
    /// The name of the input.
    pub name: &'static str,
    /// The extents; empty for a scalar.
    pub shape: &'static [usize],
    /// The number.
    pub value: f64,
}

/// The missing example of a code that is not reported yet.
pub(super) const RESERVED: Example = Example::Words(
    "Nothing reports this code yet. The number is reserved for a planned part of the language.",
);
