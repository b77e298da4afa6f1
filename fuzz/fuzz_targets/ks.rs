//! A text is refused as a program in Knossos, or checks, verifies and runs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_core::testing::properties;

fuzz_target!(|bytes: &[u8]| properties::knossos_text_is_read_or_refused(bytes));
