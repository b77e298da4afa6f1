//! A MIC text is either rejected, or read as a module whose printed text reads back as the same module.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_core::testing::properties;

fuzz_target!(|bytes: &[u8]| properties::mic_text_is_read_or_refused(bytes));
