//! The length of the emitted text of long programs.

use mind_core::{pipeline, surface};

use mind_tests::sample;

use super::{Case, emit::Lengths, items};

/// The statements to repeat, as in an unrolled body.
const STATEMENTS: [(&str, &str); 3] = [
    ("layers", "let v = relu(v @ w + b);"),
    ("steps of a simulation", "let d = v[1..] - v[..3]; let v = v - 0.01 * sum(d * d) * v;"),
    ("elements", "let v = v * x - relu(v);"),
];

/// Build times are proportional to the program if the emitted text is, and if no single function grows.
#[test]
fn what_is_emitted_is_in_proportion_to_the_program() {
    for (name, statement) in sample("statements", STATEMENTS) {
        let [short, long] = [100, 400].map(|times| emitted(statement, times));
        let each = [short.len() / 100, long.len() / 400];
        assert!(each[1] * 10 <= each[0] * 11, "{name}: {each:?} bytes for each repetition");
        let [short, long] = [short, long].map(|text| longest_part(&text));
        assert!(long * 10 <= short * 11, "{name}: the longest part has {short} and {long} bytes");
    }
}

/// The emitted items of the gradient of a function that repeats a statement.
fn emitted(statement: &str, times: usize) -> String {
    let body = statement.repeat(times);
    let text = format!(
        "#[grad(x)] fn f(x: f32[4, 16], w: f32[16, 16], b: f32[16]) -> f32 {{ let v = x; {body} sum(x * v) }}"
    );
    let (program, errors) = surface::parse(text.parse().expect("the text is made of tokens"));
    assert!(errors.is_empty(), "{errors:?}");
    let (lowered, errors) = surface::lower(&program);
    assert!(errors.is_empty(), "{errors:?}");
    let function = &lowered.functions[0];
    let request = function.gradient.as_ref().expect("a gradient is asked for");
    let compiled = pipeline::compile_gradient(function, request).expect("nothing is in error");
    let plan = compiled.expect("lowered modules have gradients").plan;
    let (name, inputs) = ("long".to_owned(), Vec::new());
    let case =
        Case { name, plan, inputs, expected: Vec::new(), updated: Default::default(), bare: Vec::new() };
    items(&case.name, &case.plan, Lengths::DEFAULT)
}

fn longest_part(text: &str) -> usize {
    let parts = text.split("fn part_").skip(1).map(str::len);
    // The last part also contains the rest of the module.
    let count = parts.clone().count();
    assert!(count > 2, "a long program is in parts");
    parts.take(count - 1).max().expect("there are parts")
}
