//! `angle!` accepts any tokens. It rewrites blocks in angle brackets, and leaves tokens without such blocks unchanged.
//! Blocks with conditions are split into blocks without conditions.
//!
//! A proc-macro crate exports only its macros, so this compiles its files.
#![no_main]
#![allow(dead_code, reason = "the files of the macros have items that this target does not call")]

use libfuzzer_sys::fuzz_target;
use mind_core::surface::{nesting::check_nesting, parse};
use proc_macro2::{TokenStream, TokenTree};

#[path = "../../mind-macros/src/angle.rs"]
mod angle;
#[path = "../../mind-macros/src/configured.rs"]
mod configured;
#[path = "../../mind-macros/src/report.rs"]
mod report;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Ok(tokens)) = std::str::from_utf8(bytes).map(str::parse) {
        rewrites(tokens);
    }
    // Without this the texts that spans refer to would never be freed.
    proc_macro2::extra::invalidate_current_thread_spans();
});

fn rewrites(tokens: TokenStream) {
    let before = tokens.to_string();
    let rewritten = angle::expand(tokens.clone());
    if !before.contains('<') && check_nesting(&tokens).is_ok() {
        assert_eq!(rewritten.to_string(), before);
    }
    // Rewritten tokens contain no block.
    let after = rewritten.to_string();
    assert_eq!(angle::expand(rewritten.clone()).to_string(), after, "{before}");
    for tree in rewritten {
        if let TokenTree::Group(group) = tree {
            drop(parse(angle::strip(group.stream())));
        }
    }
    drop(parse(angle::strip(tokens.clone())));
    for found in configured::configurations(&tokens).unwrap_or_default() {
        let again = configured::configurations(&found.block).unwrap_or_default();
        assert!(again.is_empty(), "{before}\nstill has conditions: {}", found.block);
        drop(parse(found.block));
    }
}
