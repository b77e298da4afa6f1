//! `docs/knossos.md`: its programs return the results that it states, and it lists the contents of the tables.

use std::{fs, path::Path};

use mind_knossos::{
    MAX_DERIVED, MAX_NESTING, check, function_names,
    interp::{Options, run},
    types::MAX_PARTS,
};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/knossos.md");
    fs::read_to_string(path).expect("the page can be read")
}

#[test]
fn programs_of_the_page_give_what_it_says() {
    let page = page();
    let blocks: Vec<&str> =
        page.split("```lisp\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 3, "{}", blocks.len());
    for block in blocks {
        let program = check(block).unwrap_or_else(|diags| panic!("{:?}\n{block}", diags.as_slice()));
        let outcome = run(&program, program.overloads("main")[0], &[], &Options::default());
        let outcome = outcome.unwrap_or_else(|failure| panic!("{failure}\n{block}"));
        let shown = format!("{}{}", outcome.printed, outcome.value);
        let said: Vec<String> = shown.lines().map(|line| format!("; {line}")).collect();
        assert!(block.ends_with(&format!(")\n{}\n", said.join("\n"))), "{shown}\n{block}");
    }
}

#[test]
fn the_page_names_every_function_and_limit() {
    let page = page();
    let words: Vec<&str> = page
        .split(|c: char| c.is_whitespace() || "()[]`,;|".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let missing: Vec<_> = function_names().filter(|name| !words.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let thousands = |number: usize| format!("{},{:03}", number / 1000, number % 1000);
    assert_eq!(MAX_DERIVED, 1 << 20);
    for limit in [MAX_NESTING.to_string(), thousands(MAX_PARTS as usize), thousands(10_000), "2²⁰".into()]
    {
        assert!(page.contains(&limit), "{limit}");
    }
}
