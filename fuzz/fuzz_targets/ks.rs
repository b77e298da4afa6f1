//! A text is either rejected as a Knossos program, or checks, verifies and runs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_knossos::testing::properties;

fuzz_target!(|bytes: &[u8]| properties::text_is_read_or_refused(bytes));
