//! A text is either rejected as a program of the surface language or compiles. Formatting it loses nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_core::testing::properties;

fuzz_target!(|bytes: &[u8]| {
    properties::surface_text_is_read_or_refused(bytes);
    properties::surface_text_is_formatted_or_refused(bytes);
    // Without this the texts that spans refer to would never be freed.
    proc_macro2::extra::invalidate_current_thread_spans();
});
