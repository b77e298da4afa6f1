//! A generated Knossos program has correct derivatives.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_core::testing::properties;

fuzz_target!(|bytes: &[u8]| properties::knossos_programs_have_right_derivatives(bytes));
