//! The parts of an explanation.

use crate::profile::Profile;

/// What there is to say of a code beyond its row.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    /// What happened and why it is wrong, in full sentences.
    pub text: &'static str,
    /// Something that gives the code.
    pub example: Example,
    /// What mends it, in a full sentence.
    pub fix: &'static str,
}

/// Something that gives a code, and the same mended.
#[derive(Clone, Copy, Debug)]
pub enum Example {
    /// Programs as in `mind!`.
    Program {
        /// Gives the code.
        wrong: &'static str,
        /// Does not.
        right: &'static str,
    },
    /// MIC texts.
    Mic {
        /// Gives the code.
        wrong: &'static str,
        /// Does not.
        right: &'static str,
        /// What they are verified against.
        profile: Profile,
    },
    /// Gradients of programs as in `mind!`.
    Gradient {
        /// The program whose gradient gives the code, and the profile it is taken in.
        wrong: (&'static str, Profile),
        /// The one whose gradient does not.
        right: (&'static str, Profile),
        /// The input to differentiate with respect to.
        wrt: &'static str,
    },
    /// Runs of a program as in `mind!`.
    Run {
        /// The program.
        program: &'static str,
        /// Inputs that give the code.
        wrong: &'static [Given],
        /// Inputs that do not.
        right: &'static [Given],
    },
    /// Programs in Knossos; where there is a `main` it is run.
    Knossos {
        /// Gives the code.
        wrong: &'static str,
        /// Does not.
        right: &'static str,
    },
    /// Why there is nothing to show.
    Words(&'static str),
}

/// An input of a run: a tensor that holds one number everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// The name of the input.
    pub name: &'static str,
    /// The extents; none for a single number.
    pub shape: &'static [usize],
    /// The number.
    pub value: f64,
}

/// Why a code that nothing gives yet has no example.
pub(super) const RESERVED: Example =
    Example::Words("Nothing gives this code yet; its number is kept for a part of the language to come.");
