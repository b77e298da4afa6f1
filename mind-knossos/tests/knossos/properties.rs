//! The properties that the fuzzers test, on a fixed number of seeded cases.

use mind_core::random::Random;
use mind_knossos::testing::{properties, random_program};

use crate::{changes::change, sample::sample};

#[test]
fn text_is_read_or_refused() {
    for seed in sample("texts in Knossos", 0..750) {
        let mut random = Random::new(seed ^ 0x6b73);
        let mut text = random_program(seed, 1 + random.below(20)).to_string().into_bytes();
        text.extend_from_slice(b"(def main Float () ([rev sin] 1.0 2.0))");
        for _ in 0..random.below(5) {
            change(&mut text, &mut random);
        }
        properties::text_is_read_or_refused(&text);
    }
}
