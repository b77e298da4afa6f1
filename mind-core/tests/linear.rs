//! Reading and checking take work proportional to the number of operations. The tests count allocations, which are the
//! same on every machine.

use std::fmt::Write as _;

use mind_core::{
    ops::Profile,
    surface,
    text::{Limits, core_ir, mic},
    verify::verify,
};

/// A program with this number of additions.
fn mic_of(additions: usize) -> String {
    let mut text = String::from("mic@1\nS0 \"x\"\nT0 [f32;N]\nN1 input S0 T0\n");
    (2..additions + 2)
        .for_each(|n| writeln!(text, "N{n} add N{} N1 T0", n - 1).expect("a string takes text"));
    text + &format!("O N{}\n", additions + 1)
}

fn core_ir_of(additions: usize) -> String {
    let mut text = String::from("%0 = Input () {name=\"x\"} : f32[N]\n");
    (1..=additions)
        .for_each(|n| writeln!(text, "%{n} = Add (%{}, %0) : f32[N]", n - 1).expect("a string takes text"));
    text + &format!("outputs: %{additions}\n")
}

fn lets_of(additions: usize) -> String {
    let mut text = String::from("fn f<N>(x: f32[N]) -> f32[N] {\nlet y0 = x;\n");
    (1..=additions).for_each(|n| writeln!(text, "let y{n} = y{} + x;", n - 1).expect("a string takes text"));
    text + &format!("y{additions}\n}}\n")
}

fn chain_of(additions: usize) -> String {
    format!("fn f<N>(x: f32[N]) -> f32[N] {{ x{} }}", " + x".repeat(additions))
}

fn check_mic(text: &str) {
    let document = mic::parse_document(text, &Limits::default()).expect("it is right");
    document.verify(Profile::Extended).expect("it is right");
}

fn check_core_ir(text: &str) {
    let document = core_ir::parse_document(text, &Limits::default()).expect("it is right");
    document.verify(Profile::Extended).expect("it is right");
}

fn check_surface(text: &str) {
    let (tokens, _) = surface::lex(text);
    let (program, _) = surface::parse(tokens);
    let (lowered, diags) = surface::lower(&program);
    assert!(diags.is_empty());
    let program = lowered.functions.into_iter().next().and_then(|function| function.program);
    verify(program.expect("it is right").module, Profile::Extended).expect("it is right");
}

/// The name, a text with a given number of additions, and the function that reads and checks it.
type Case = (&'static str, fn(usize) -> String, fn(&str));

#[test]
fn checking_asks_for_memory_in_proportion_to_the_operations() {
    let cases: [Case; 4] = [
        ("MIC", mic_of, check_mic),
        ("Core IR", core_ir_of, check_core_ir),
        ("a chain", chain_of, check_surface),
        ("statements", lets_of, check_surface),
    ];
    for (name, text_of, check) in cases {
        let [small, large] = [500, 4000].map(|additions| {
            let text = text_of(additions);
            allocation_counter::measure(|| check(&text)).count_total
        });
        // Eight times the operations. Allocations that are made once or a logarithmic number of times only lower the
        // ratio.
        assert!(large <= 8 * small + 100, "{name}: {small} times for 500 additions, {large} for 4000");
        // At most a few allocations per operation. More would mean that operations repeat work for others. A bound name
        // stores its type as text.
        assert!(large <= 60 * 4000, "{name}: {large} times for 4000 additions");
    }
}
