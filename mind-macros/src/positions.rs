//! Selects the kind of tokens: those of rustc, or those of `proc_macro2`, whose spans are positions in a parsed text.
//!
//! Tokens that rustc lexes from a text have the span of the macro call. A file is therefore compiled with the tokens of
//! `proc_macro2`, as outside of rustc, and rustc receives only the text of the expansion. The two kinds cannot be
//! mixed. The kind is selected for the whole process, so a lock protects it for hosts that expand macros on several
//! threads.

use std::sync::{PoisonError, RwLock};

static TOKENS: RwLock<()> = RwLock::new(());

/// Runs code that uses rustc's tokens. Every entry point calls this function.
pub(crate) fn in_rustc<T>(expand: impl FnOnce() -> T) -> T {
    let _shared = TOKENS.read().unwrap_or_else(PoisonError::into_inner);
    expand()
}

/// Runs code that uses the tokens of `proc_macro2`. No token may enter or leave `expand`. Must not be called within
/// [`in_rustc`].
///
/// `expand` runs on a new thread. rustc's tokens are not available there, and the end of the thread frees the texts
/// that spans refer to.
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
