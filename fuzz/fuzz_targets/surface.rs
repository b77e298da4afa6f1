//! A text is refused as a program of the surface language, or compiles; it is formatted without a loss.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_core::testing::properties;

fuzz_target!(|bytes: &[u8]| {
    properties::surface_text_is_read_or_refused(bytes);
    properties::surface_text_is_formatted_or_refused(bytes);
    // Else the texts that spans refer to would be kept for good.
    proc_macro2::extra::invalidate_current_thread_spans();
});
