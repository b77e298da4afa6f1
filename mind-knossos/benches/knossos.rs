//! Knossos: reading, checking and differentiating a thousand definitions.
//!
//! `cargo bench -p mind-knossos --bench knossos`

use divan::{Bencher, black_box};
use mind_knossos::check;

fn main() {
    divan::main();
}

/// Definitions that each call the previous one. With `gdef`, each also has its reverse derivative.
fn program(definitions: usize, gdef: bool) -> String {
    let mut text = String::from("(def f0 Float ((v : Vec Float) (x : Float)) (mul x (sum v)))\n");
    for i in 1..definitions {
        let before = i - 1;
        text += &format!(
            "(def f{i} Float ((v : Vec Float) (x : Float))
              (let ((m (max v)) (y (if (gt x m) (mul x m) (sin x))))
                (add (f{before} v y)
                     (sumbuild (size v) (lam (i : Integer) (exp (mul y (index i v))))))))\n"
        );
    }
    for i in (0..definitions).filter(|_| gdef) {
        text += &format!("(gdef rev [f{i} (Tuple (Vec Float) Float)])\n");
    }
    text
}

#[divan::bench]
fn check_1000_definitions(bencher: Bencher<'_, '_>) {
    let text = program(1_000, false);
    bencher.bench_local(|| check(black_box(&text)).expect("the program is right"));
}

#[divan::bench]
fn check_and_differentiate_1000_definitions(bencher: Bencher<'_, '_>) {
    let text = program(1_000, true);
    bencher.bench_local(|| check(black_box(&text)).expect("the program is right"));
}
