//! A generated Knossos program has correct derivatives.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_knossos::testing::properties;

fuzz_target!(|bytes: &[u8]| properties::programs_have_right_derivatives(bytes));
