//! The properties that the fuzzers test, on a fixed number of seeded cases.
//!
//! The texts are those of random modules in which a few bytes are changed, removed, repeated or copied from elsewhere,
//! so that most lines are still well formed.
#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing fails, as it should")]

use mind_core::{
    ir::Module,
    testing::{Random, properties, random_module},
    text::{core_ir, mic},
};

use crate::{changes::change, sample::sample};

const TEXTS: u64 = 3_000;
const MODULES: u64 = 2_000;

#[test]
fn core_ir_text_is_read_or_refused() {
    for seed in sample("texts", 0..TEXTS) {
        properties::core_ir_text_is_read_or_refused(&mutated(seed, core_ir::print));
    }
}

#[test]
fn mic_text_is_read_or_refused() {
    for seed in sample("texts", 0..TEXTS) {
        properties::mic_text_is_read_or_refused(&mutated(seed, mic::print));
    }
}

#[test]
fn every_phase_takes_what_the_one_before_makes() {
    for seed in sample("texts of modules", 0..MODULES) {
        let text = if seed % 2 == 0 { mutated(seed, mic::print) } else { mutated(seed, core_ir::print) };
        properties::every_phase_takes_what_the_one_before_makes(&text);
    }
}

#[test]
fn modules_keep_their_meaning() {
    let mut random = Random::new(4);
    for _ in sample("modules", 0..MODULES) {
        let bytes: Vec<u8> = (0..8 + random.below(200)).map(|_| random.bits() as u8).collect();
        properties::modules_keep_their_meaning(&bytes);
        properties::masked_elements_do_not_count(&bytes);
    }
}

#[test]
fn gradients_of_loops_keep_their_meaning() {
    let mut random = Random::new(5);
    for _ in sample("modules of loops", 0..MODULES / 4) {
        let bytes: Vec<u8> = (0..8 + random.below(200)).map(|_| random.bits() as u8).collect();
        properties::gradients_of_loops_keep_their_meaning(&bytes);
    }
}

#[test]
fn surface_text_is_read_or_refused() {
    const SOURCES: &[&str] = &[
        "const H: dim = 2;\nstruct P<I, O> { w: f32[I, O], b: f32[O] }\n\
         fn net<N>(x: f32[N, 3], p: P<3, H>) -> f32[N, H] { relu(x @ p.w + p.b) }\n\
         #[grad(p)]\nfn loss<N>(x: f32[N, 3], p: P<3, H>) -> f32 { let y = net(x, p); mean(y * y) }\n\
         fn step<N>(x: f32[N, 3], p: &mut P<3, H>) -> f32 { let (l, d) = value_and_grad(loss, wrt = p)(x, p); p -= 0.1 * d; l }",
        "fn twice(x: f32[3]) -> f32[3] { once(x) + once(x) }\nfn once(x: f32[3]) -> f32[3] { exp(x[..]) }\x0c\
         use crate::{twice as two, once};\nfn f(x: f32[3]) -> f32 { sum(two(x) * once(x), axes = [-1]) }",
        "fn once(x: f32[3]) -> f32[3] { x.T }\x0cuse super::a::once;\n|x: f32[3]| grad(|y| sum(once(y)), wrt = y)(x)",
        "{ let a = x @ w; let (b, c) = (a + 1.0, stop_gradient(a)); sum(b * c, axes = [0], keepdims = true) }",
        "let z = x - y; grad({ let q = z * z; sum(q) / 2.0 }, wrt = (x, zero_ok y))",
        "|x: f32[2, 4], i: i64[5]| conv2d(reshape(gather(x, i), [1, 5, -1, 1]), [[[[0.5]]]], padding = same)[0, .., 1..3, 0]",
    ];
    for seed in sample("texts", 0..TEXTS) {
        let mut random = Random::new(seed ^ 0x7375_7266);
        let mut text = random.pick(SOURCES).as_bytes().to_vec();
        for _ in 0..random.below(5) {
            change(&mut text, &mut random);
        }
        properties::surface_text_is_read_or_refused(&text);
        properties::surface_text_is_formatted_or_refused(&text);
    }
}

/// The text of a random module after up to four changes.
fn mutated(seed: u64, print: fn(&Module) -> String) -> Vec<u8> {
    let mut random = Random::new(seed ^ 0x6d69_6e64);
    let mut text = print(&random_module(seed, 1 + random.below(12))).into_bytes();
    for _ in 0..random.below(5) {
        change(&mut text, &mut random);
    }
    text
}
