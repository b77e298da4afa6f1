//! Whose tokens are at work: rustc's, or those of `proc_macro2`, which know their places in a text.
//!
//! What rustc lexes from a text has the place of the macro call. So a file is compiled with the tokens of `proc_macro2`, as
//! outside of rustc, and only the text of its expansion is given to rustc. The two kinds do not mix, and which is made is
//! a matter of the whole process; hence the lock, for hosts that expand macros on several threads.

use std::sync::{PoisonError, RwLock};

static TOKENS: RwLock<()> = RwLock::new(());

/// Runs what works with rustc's tokens. Every entry point does.
pub(crate) fn in_rustc<T>(expand: impl FnOnce() -> T) -> T {
    let _shared = TOKENS.read().unwrap_or_else(PoisonError::into_inner);
    expand()
}

/// Runs what works with tokens of texts. No token may come in or go out; not to be called within [`in_rustc`].
///
/// A thread of its own is what rustc's tokens do not reach, and what frees the texts that spans refer to.
pub(crate) fn in_text<T: Send>(expand: impl FnOnce() -> T + Send) -> T {
    struct Restored;
    impl Drop for Restored {
        fn drop(&mut self) {
            proc_macro2::fallback::unforce();
        }
    }
    let _alone = TOKENS.write().unwrap_or_else(PoisonError::into_inner);
    let _restored = Restored;
    proc_macro2::fallback::force();
    std::thread::scope(|scope| match scope.spawn(expand).join() {
        Ok(expansion) => expansion,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
