//! Reports matrices that are singular or not positive definite, in functions that return errors.

use std::cell::Cell;

use crate::error::Error;

thread_local! {
    static REPORTS: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f`, in which such matrices are errors: the `try_` form of a function. In all others their results are NaN.
pub fn reporting<R>(f: impl FnOnce() -> R) -> R {
    /// Restores the previous setting, also if `f` panics.
    struct Restore(bool);

    impl Drop for Restore {
        fn drop(&mut self) {
            REPORTS.set(self.0);
        }
    }

    let _restore = Restore(REPORTS.replace(true));
    f()
}

/// The largest number of matrices that a message lists.
const LISTED: usize = 8;

/// Returns E6010 with the matrices for which `is_refused`, of `count` matrices, if they are to be reported.
pub(crate) fn check(
    function: &'static str,
    problem: &'static str,
    count: usize,
    is_refused: impl Fn(usize) -> bool,
) -> Result<(), Error> {
    if !REPORTS.get() {
        return Ok(());
    }
    let mut refused = (0..count).filter(|matrix| is_refused(*matrix));
    let listed: Vec<usize> = refused.by_ref().take(LISTED).collect();
    if listed.is_empty() {
        return Ok(());
    }
    let more = refused.count();
    Err(Error::Matrices { function, problem, listed, more, count })
}
