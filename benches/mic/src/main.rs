//! Measures the size of MIC and the time to read and write it, compared with JSON of the same module in the same run.
//!
//! Run `cargo run --release --manifest-path benches/mic/Cargo.toml`. It fails if a bound is missed.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use mic_bench::chain;
use mind_core::{
    ops::Profile,
    text::{Limits, core_ir, json, mic},
};

/// The layer of the RFC's example with two corrections: a matrix in place of a vector, and no unused nodes.
const LAYER: &str = "mic@1\nS0 \"input\"\nS1 \"weight1\"\nS2 \"bias1\"\nT0 [f32;1,784]\nT1 [f32;784,256]\n\
    T2 [f32;256]\nT3 [f32;1,256]\nN1 input S0 T0\nN2 input S1 T1\nN3 input S2 T2\nN4 matmul N1 N2 T3\n\
    N5 add N3 N4 T3\nN6 relu N5 T3\nO N6\n";

fn main() {
    let limits = Limits { nodes: 1_000_000, ..Limits::default() };
    let mut bounds = Bounds { missed: 0 };
    let layer = mic::parse(LAYER, &limits).expect("the layer is well formed");
    assert_eq!(mic::print(&layer), LAYER);
    let pretty = json::print_pretty(&layer);
    let minified = json::print(&layer);
    let encoding = tiktoken_rs::o200k_base().expect("the vocabulary is part of the tokenizer");
    println!("the layer                     bytes   tokens (o200k_base)");
    for (name, text) in [
        ("MIC", LAYER),
        ("pretty JSON", &*pretty),
        ("minified JSON", &*minified),
        ("Core IR text", &core_ir::print(&layer)),
    ] {
        println!("  {name:<26} {:>6}   {:>6}", text.len(), encoding.encode_ordinary(text).len());
    }
    bounds.at_most("bytes of MIC", LAYER.len() as f64, 209.0);
    bounds.at_least("pretty JSON / MIC", pretty.len() as f64 / LAYER.len() as f64, 5.3);

    let plain: json::Module = serde_json::from_str(&minified).expect("it was just printed");
    let [parse_mic, parse_json, print_mic, print_json, only_parse] = interleaved([
        &mut || {
            let document = mic::parse_document(black_box(LAYER), &limits).expect("well formed");
            black_box(document.verify(Profile::CoreV1).expect("valid"));
        },
        &mut || {
            black_box(serde_json::from_str::<json::Module>(black_box(&minified)).expect("well formed"));
        },
        &mut || {
            black_box(mic::print(black_box(&layer)));
        },
        &mut || {
            black_box(serde_json::to_string(black_box(&plain)).expect("strings and numbers"));
        },
        &mut || {
            black_box(mic::parse(black_box(LAYER), &limits).expect("well formed"));
        },
    ]);
    println!("\nthe layer                          ns");
    for (name, nanoseconds) in [
        ("MIC to a verified module", parse_mic),
        ("  of which parsing", only_parse),
        ("JSON to plain structs", parse_json),
        ("module to MIC", print_mic),
        ("plain structs to JSON", print_json),
    ] {
        println!("  {name:<26} {nanoseconds:>8.0}");
    }
    bounds.at_most("µs from MIC to a verified module", parse_mic / 1000.0, 2.26);
    bounds.at_least("JSON / MIC, reading", parse_json / parse_mic, 2.4);
    bounds.at_least("JSON / MIC, writing", print_json / print_mic, 1.0);

    println!("\nnodes            parse ms   verify ms   print ms");
    for nodes in [1_000, 10_000, 100_000] {
        let module = chain(nodes);
        let text = mic::print(&module);
        let [parse, both, print] = interleaved([
            &mut || {
                black_box(mic::parse(black_box(&text), &limits).expect("well formed"));
            },
            &mut || {
                let document = mic::parse_document(black_box(&text), &limits).expect("well formed");
                black_box(document.verify(Profile::CoreV1).expect("valid"));
            },
            &mut || {
                black_box(mic::print(black_box(&module)));
            },
        ]);
        println!(
            "  {nodes:<14} {:>8.2}    {:>8.2}   {:>8.2}",
            parse / 1e6,
            (both - parse) / 1e6,
            print / 1e6
        );
        if nodes == 100_000 {
            bounds.at_most("ms to parse 100,000 nodes", parse / 1e6, 100.0);
            bounds.at_most("ms to parse and verify 100,000 nodes", both / 1e6, 100.0);
        }
    }
    if bounds.missed > 0 {
        println!("\n{} bounds missed", bounds.missed);
        std::process::exit(1);
    }
}

struct Bounds {
    missed: usize,
}

impl Bounds {
    fn at_most(&mut self, what: &str, found: f64, bound: f64) {
        self.show(what, found, "at most", bound, found <= bound);
    }

    fn at_least(&mut self, what: &str, found: f64, bound: f64) {
        self.show(what, found, "at least", bound, found >= bound);
    }

    fn show(&mut self, what: &str, found: f64, relation: &str, bound: f64, kept: bool) {
        println!("    {what}: {found:.2}, {relation} {bound}: {}", if kept { "kept" } else { "MISSED" });
        self.missed += usize::from(!kept);
    }
}

/// The shortest time of each workload in nanoseconds. The workloads take turns, so that a busy machine affects all
/// alike.
fn interleaved<const N: usize>(mut workloads: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut samples = [const { Vec::new() }; N];
    let mut rounds = [1u32; N];
    for (workload, rounds) in workloads.iter_mut().zip(&mut rounds) {
        while time(workload, *rounds) < Duration::from_micros(200) {
            *rounds *= 2;
        }
    }
    let start = Instant::now();
    while samples[0].len() < 15 || start.elapsed() < Duration::from_secs(4) {
        for ((workload, rounds), samples) in workloads.iter_mut().zip(rounds).zip(&mut samples) {
            samples.push(time(workload, rounds).as_nanos() as f64 / f64::from(rounds));
        }
    }
    samples.map(|samples: Vec<f64>| samples.into_iter().fold(f64::INFINITY, f64::min))
}

fn time(workload: &mut dyn FnMut(), rounds: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..rounds {
        workload();
    }
    start.elapsed()
}
