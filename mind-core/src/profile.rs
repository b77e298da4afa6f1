//! Which operations a module may use.

/// A set of operations a module may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// The operations of the specification.
    CoreV1,
    /// Those and this project's extensions.
    Extended,
}
