//! MIC is refused, or read as a module that its own text reads back as.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_core::testing::properties;

fuzz_target!(|bytes: &[u8]| properties::mic_text_is_read_or_refused(bytes));
