//! The same tokens always expand to the same tokens: in one process, and in processes with differently seeded hash
//! maps.
//!
//! The programs are all those in `tests` and `examples`, including those with errors. They are expanded by the macro's
//! own code, which is compiled into this binary.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;

use mind_tests::{child, programs, sample};

use crate::expand;

/// The file to which a child process writes its expansions.
const CHILD_WRITES: &str = "MIND_DETERMINISM_CHILD_WRITES";

#[test]
fn one_process_expands_a_program_the_same_way_twice() {
    let (programs, mut bytes) = (some_programs(), 0);
    let count = programs.len();
    for program in programs {
        let first = expand::expand(program.clone()).to_string();
        bytes += first.len();
        assert_eq!(first, expand::expand(program).to_string());
    }
    assert!(bytes > 5_000 * count, "{count} programs expand to {bytes} bytes only");
}

#[test]
fn every_process_expands_the_programs_the_same_way() {
    let own = expansions();
    for number in 0..3 {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("expansions-{number}.txt"));
        let status = child(module_path!(), "a_child_process_writes_its_expansions")
            .arg("--quiet")
            .env(CHILD_WRITES, &path)
            .status()
            .expect("the binary can be run again");
        assert!(status.success());
        let found = fs::read_to_string(&path).expect("the child wrote its expansions");
        let differs = own.lines().zip(found.lines()).find(|(own, found)| own != found);
        assert_eq!(differs, None);
        assert_eq!(own.len(), found.len());
    }
}

/// The test that runs in a child process. Without one, it checks that the expansions are not empty.
#[test]
fn a_child_process_writes_its_expansions() {
    let expansions = expansions();
    assert!(expansions.contains("CORE_IR"));
    if let Some(path) = std::env::var_os(CHILD_WRITES) {
        fs::write(path, expansions).expect("the expansions can be written");
    }
}

#[test]
fn equal_functions_of_two_blocks_have_equal_modules() {
    mod first {
        mind::mind! {
            #[grad(w, b)]
            pub fn loss<N>(x: f32[N, 8], w: f32[8, 4], b: f32[4]) -> f32 {
                let y = relu(x @ w + b);
                mean(y * y)
            }
        }
    }
    mod second {
        mind::mind! {
            pub fn unrelated(x: f64) -> f64 {
                exp(x)
            }

            #[grad(w, b)]
            pub fn loss<N>(x: f32[N, 8], w: f32[8, 4], b: f32[4]) -> f32 {
                let y = relu(x @ w + b);
                mean(y * y)
            }
        }
    }
    assert_eq!(first::loss::CORE_IR, second::loss::CORE_IR);
    assert_eq!(first::loss_grad::CORE_IR, second::loss_grad::CORE_IR);
    assert_eq!(first::loss::MIC, second::loss::MIC);
    assert_eq!(first::loss_grad::MIC, second::loss_grad::MIC);
    for n in [1, 2, 100, 10_000] {
        assert_eq!(first::loss_grad::peak_bytes(n), second::loss_grad::peak_bytes(n));
        assert_eq!(first::loss_grad::flops(n), second::loss_grad::flops(n));
    }
}

/// The expansions of the programs, one per line.
fn expansions() -> String {
    let mut text = String::new();
    for program in some_programs() {
        let expansion = expand::expand(program).to_string();
        writeln!(text, "{}", expansion.replace('\n', " ")).expect("strings can be written to");
    }
    text
}

fn some_programs() -> Vec<TokenStream> {
    let programs = programs();
    assert!(programs.len() > 200, "only {} programs found", programs.len());
    sample("programs of the sources", programs)
}
