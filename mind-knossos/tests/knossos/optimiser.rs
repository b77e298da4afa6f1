//! The optimiser's output for small programs: as IR in `tests/ks/optimised`, as Rust in `tests/ks/emitted`.

use mind_core::diag::Site;
use mind_knossos::{
    check,
    emit::{Options, Request, compile, emit},
    ir::Derivative,
    print, verify,
};

use super::corpus::{check_folder, comments};

#[test]
fn programs_become_the_ir_that_is_recorded() {
    check_folder("optimised", |name, source| {
        let mut program = check(source).expect("the program has no mistake");
        program.optimise();
        program.inline_base_cases();
        assert_eq!(verify(&program), Ok(()), "{name}");
        "optimised\n".to_owned() + &comments(&print(&program))
    });
}

/// A file `reverse_of_f.ks` exports the reverse derivative of `f`.
#[test]
fn programs_become_the_rust_that_is_recorded() {
    check_folder("emitted", |name, source| {
        let request = match name.strip_prefix("reverse_of_") {
            Some(function) => {
                let function = function.trim_end_matches(".ks").to_owned();
                Request {
                    export: Some(Vec::new()),
                    grad: vec![(vec![Derivative::Rev], function, Site::Nowhere)],
                }
            }
            None => Request::default(),
        };
        let (program, exports) = compile(source, &[], &request).expect("the program has no mistake");
        assert_eq!(verify(&program), Ok(()), "{name}");
        let rust = emit(&program, &exports, &Options::default());
        format!("rust\n{}", comments(&inner_functions(&rust)))
    });
}

/// The functions that users do not call, indented by their braces.
fn inner_functions(rust: &str) -> String {
    let mut found = String::new();
    let mut depth = 0_usize;
    let own = rust.lines().skip_while(|line| !line.starts_with("fn f"));
    for line in own.take_while(|line| !line.starts_with("#[doc")) {
        let closed = line.chars().take_while(|c| *c == '}').count();
        found += &format!("{:1$}{line}\n", "", 2 * depth.saturating_sub(closed));
        depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
    }
    found
}
