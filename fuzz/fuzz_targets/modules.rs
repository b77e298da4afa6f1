//! A generated module keeps its text and its values in every form, and its gradients ignore masked elements.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_core::testing::properties;

fuzz_target!(|bytes: &[u8]| {
    properties::modules_keep_their_meaning(bytes);
    properties::masked_elements_do_not_count(bytes);
    properties::gradients_of_loops_keep_their_meaning(bytes);
});
