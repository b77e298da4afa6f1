//! Profiles: sets of operations that a module may use.

/// A set of operations that a module may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// The operations of the specification.
    CoreV1,
    /// The operations of the specification and this project's extensions.
    Extended,
}
