//! Prints the compiler's errors for wrong programs. The programs are strings, which the library `mind-core` compiles
//! when this example runs. In `mind!`, each is a compile error with the same text at the same place.
//!
//! ```text
//! cargo run -p mind-tests --example shape_errors
//! ```

use mind_core::diag::{Diag, Diags, Site};
use mind_core::{pipeline, surface};
use proc_macro2::{LexError, TokenStream};

/// For each program: its mistake, the expected error code, and the text.
const PROGRAMS: &[(&str, &str, &str)] = &[
    (
        "the inner dimensions of a matrix product differ",
        "E3003",
        "
fn layer<N>(x: f32[N, 784], w: f32[785, 256], b: f32[256]) -> f32[N, 256] {
    relu(x @ w + b)
}",
    ),
    (
        "a weight matrix lies the wrong way round",
        "E3003",
        "
fn tied<N>(x: f32[N, 64], w: f32[32, 64]) -> f32[N, 32] {
    x @ w
}",
    ),
    (
        "a bias of another length",
        "E3001",
        "
fn layer<N>(x: f32[N, 8], w: f32[8, 16], b: f32[8]) -> f32[N, 16] {
    let h = x @ w;
    h + b
}",
    ),
    (
        "two symbols where one is meant",
        "E3001",
        "
fn miss<N, M>(predicted: f32[N], wanted: f32[M]) -> f32 {
    let d = predicted - wanted;
    mean(d * d)
}",
    ),
    (
        "an axis that is not there",
        "E3004",
        "
fn total<N>(x: f32[N, 10]) -> f32[N] {
    sum(x, axis = 2)
}",
    ),
    (
        "a reshape that loses elements",
        "E3007",
        "
fn flat<N>(x: f32[N, 8, 8]) -> f32[N, 60] {
    reshape(x, [N, 60])
}",
    ),
    (
        "a result of another shape than declared",
        "E2001",
        "
fn flip<N, M>(x: f32[N, M]) -> f32[M, N] {
    relu(x)
}",
    ),
    (
        "an index outside its dimension",
        "E3011",
        "
fn third(x: f32[3]) -> f32 {
    x[3]
}",
    ),
    (
        "a convolution over the wrong number of channels",
        "E4009",
        "
fn edges<N>(x: f32[N, 28, 28, 3], f: f32[3, 3, 1, 8]) -> f32[N, 26, 26, 8] {
    conv2d(x, f)
}",
    ),
    (
        "an integer beside floats",
        "E2004",
        "
fn double<N>(x: f32[N]) -> f32[N] {
    2 * x
}",
    ),
    (
        "the gradient of what is not a single number",
        "E5004",
        "
fn squares(w: f32[3]) -> f32[3] { w * w }

fn slope(w: f32[3]) -> f32[3] {
    grad(squares, wrt = w)(w)
}",
    ),
    (
        "the gradient by a parameter that the result does not depend on",
        "E5005",
        "
#[grad(w, b)]
fn loss(x: f32[3], w: f32[3], b: f32) -> f32 {
    let unused = x * w + b;
    sum(x * w)
}",
    ),
];

fn main() -> Result<(), LexError> {
    for (position, (what, _, source)) in PROGRAMS.iter().enumerate() {
        let source = source.trim_start();
        println!("{}. {what}\n", position + 1);
        source.lines().for_each(|line| println!("{}", format!("    {line}").trim_end()));
        for diag in mistakes(source)? {
            println!("\n{}", as_rustc_prints(&diag, source));
        }
        println!();
    }
    Ok(())
}

/// All errors that the compiler reports for a `mind!` with this content.
fn mistakes(source: &str) -> Result<Diags, LexError> {
    let (program, mut diags) = surface::parse(source.parse::<TokenStream>()?);
    let (lowered, more) = surface::lower(&program);
    diags.extend(more);
    for function in &lowered.functions {
        if let Some(result) = pipeline::compile(function) {
            diags.keep(result);
        }
        if let Some(result) =
            function.gradient.as_ref().and_then(|it| pipeline::compile_gradient(function, it))
        {
            diags.keep(result);
        }
    }
    Ok(diags)
}

/// The message, the place, and the line with the mistake underlined.
fn as_rustc_prints(diag: &Diag, source: &str) -> String {
    let message = with_file_name(&format!("error: {diag}")).replace('\n', "\n       ");
    let Site::Tokens { first, last } = diag.site else { return message };
    let (start, end) = (first.start(), last.end());
    let line = source.lines().nth(start.line - 1).unwrap_or_default();
    let end_column = if end.line == start.line { end.column } else { line.chars().count() };
    let (number, margin) = (start.line.to_string(), " ".repeat(start.line.to_string().len()));
    let underline = format!("{}{}", " ".repeat(start.column), "^".repeat(end_column - start.column));
    let place = with_file_name(&diag.site.to_string());
    format!("{message}\n{margin}--> {place}\n{margin} |\n{number} | {line}\n{margin} | {underline}")
}

/// Replaces the number that stands for the file of a parsed string by a file name.
fn with_file_name(text: &str) -> String {
    let mut parts = text.split("<parsed string ");
    let start = parts.next().unwrap_or_default().to_owned();
    parts.fold(start, |text, part| text + "program.rs" + part.split_once('>').map_or(part, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_one_mistake_and_it_is_reported_under_its_code() {
        for (what, code, source) in PROGRAMS {
            let found: Vec<_> = mistakes(source)
                .expect("it is made of tokens")
                .into_iter()
                .map(|diag| diag.code.to_string())
                .collect();
            assert_eq!(found, [*code], "{what}");
        }
    }

    #[test]
    fn the_place_is_printed_with_what_is_at_fault_underlined() {
        let source = PROGRAMS[0].2.trim_start();
        let diags = mistakes(source).expect("it is made of tokens");
        let printed = as_rustc_prints(&diags.as_slice()[0], source);
        let end = " --> program.rs:2:12\n  |\n2 |     relu(x @ w + b)\n  |            ^";
        assert!(printed.ends_with(end), "{printed}");
        assert!(printed.starts_with("error: [E3003] `@`: inner dimensions differ"), "{printed}");
        assert!(
            printed.contains("\n         784 comes from `x: f32[N, 784]` at program.rs:1:13\n"),
            "{printed}"
        );
    }
}
