//! A module that the bytes choose keeps its text and its values in every form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_core::testing::properties;

fuzz_target!(|bytes: &[u8]| properties::modules_keep_their_meaning(bytes));
