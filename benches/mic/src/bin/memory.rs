//! Measures the memory that reading MIC needs in addition to the module. Counting slows down allocation, so this is a
//! separate program.
//!
//! Run `cargo run --release --manifest-path benches/mic/Cargo.toml --bin memory`. It fails if the bound is missed.

use mic_bench::chain;
use mind_core::{
    ops::Profile,
    text::{Limits, mic},
};

/// The accepted number of bytes per node in addition to the module.
const BOUND: f64 = 200.0;

fn main() {
    let limits = Limits::default();
    let mut missed = false;
    for nodes in [1_000, 10_000, 100_000] {
        let text = mic::print(&chain(nodes));
        let mut read = None;
        let reading = allocation_counter::measure(|| {
            let document = mic::parse_document(&text, &limits).expect("well formed");
            read = Some(document.verify(Profile::CoreV1).expect("valid"));
        });
        // The memory still in use is the module.
        let beyond = (reading.bytes_max as f64 - reading.bytes_current as f64) / nodes as f64;
        let kept = if beyond <= BOUND { "kept" } else { "MISSED" };
        let module = reading.bytes_current / nodes as i64;
        println!(
            "{nodes:>7} nodes: module {module} bytes a node, {beyond:.0} beyond it, at most {BOUND}: {kept}"
        );
        missed |= beyond > BOUND;
    }
    if missed {
        std::process::exit(1);
    }
}
