//! A cotangent of exactly 0 contributes nothing, whatever the elements are. Tested with random programs on special
//! values.

use mind_core::testing::{random_module, zero_cotangents_stay_zero};

use crate::sample::sample;

#[test]
fn zero_cotangents_give_zero_gradients_to_second_order() {
    let seeds = sample("random programs", 0..4000);
    let is_tried = |seed: &&u64| {
        let module = random_module(**seed, 4 + (**seed % 12) as usize);
        zero_cotangents_stay_zero(module, **seed)
    };
    let (tried, all) = (seeds.iter().filter(is_tried).count(), seeds.len());
    assert!(tried * 4 > all, "{tried} of {all}");
}
