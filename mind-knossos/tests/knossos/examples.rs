//! The examples of error codes that are Knossos programs: the wrong one reports exactly its code, the right one reports
//! none. Tests of mind-core check all other examples.

use mind_core::diag::{Code, Example};
use mind_knossos::{check, interp::run};

#[test]
fn every_example_gives_its_code_and_its_mended_form_none() {
    let mut examples = 0;
    for code in Code::ALL {
        let Example::Knossos { wrong, right } = code.explanation().example else { continue };
        assert_eq!((codes_of(wrong), codes_of(right)), (vec![*code], vec![]), "{code}");
        examples += 1;
    }
    assert!(examples >= 3, "{examples}");
}

/// The codes that checking a program reports, or running it if it has a `main`.
fn codes_of(text: &str) -> Vec<Code> {
    let program = match check(text) {
        Ok(program) => program,
        Err(diags) => return diags.into_iter().map(|diag| diag.code).collect(),
    };
    let main = program.overloads("main").first();
    let failure = main.and_then(|main| run(&program, *main, &[], &Default::default()).err());
    failure.map(|failure| failure.code).into_iter().collect()
}
