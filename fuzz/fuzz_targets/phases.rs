//! A text that is a valid module goes through every phase.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_core::testing::properties;

fuzz_target!(|bytes: &[u8]| properties::every_phase_takes_what_the_one_before_makes(bytes));
