//! `mind explain`: the meaning of an error code, with an example and a fix.

use mind_core::{
    diag::{Arises, Code, CodeInfo, Example, ExampleInput, Explanation},
    ops::Profile,
};

use crate::{
    args::ExplainArguments,
    output,
    report::{Failure, Outcome},
    spelling::distance,
    style::Style,
};

/// Runs the command.
pub fn run(arguments: &ExplainArguments, style: &Style) -> Outcome {
    match &arguments.code {
        None => output::print(&list(style)),
        Some(text) if is_of_rustc(text) => output::print(&of_rustc(style)),
        Some(text) => output::print(&explain(find(text)?, style)),
    }
}

fn list(style: &Style) -> String {
    let line = |code: &Code| format!("{}  {}\n", style.strong(code.info().name), code.info().meaning);
    Code::ALL.iter().map(line).collect::<String>() + "\n`mind explain CODE` explains one code.\n"
}

/// Whether the text is rustc's code for a constant that could not be evaluated. The shape rules of expressions are such
/// constants.
fn is_of_rustc(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits == "0080"
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "[]: ".contains(character))
}

/// The explanation of rustc's code.
fn of_rustc(style: &Style) -> String {
    let mut shown =
        format!("{}: {}\n\n{}\n\n", style.strong("E0080"), style.strong(RUSTC_MEANING), wrapped(RUSTC_TEXT));
    for (title, body) in [("Shown:", indented(RUSTC_SHOWN)), ("How to read it:", wrapped(RUSTC_READ) + "\n")]
    {
        shown.push_str(&format!("{}\n{body}\n", style.strong(title)));
    }
    shown + "Arises: in an expression that uses Rust variables, from rustc.\n"
}

const RUSTC_MEANING: &str = "rustc's code for a constant that could not be evaluated";
const RUSTC_TEXT: &str = "The shapes of an expression such as `mind!(x @ w)` are in the types of its variables, which only rustc \
    knows. The shape rules are therefore constants that rustc evaluates. A broken rule stops the evaluation with a message \
    of `mind!`, located at the operator.";
const RUSTC_SHOWN: &str = "\
error[E0080]: evaluation panicked: [E3003] `@`: inner dimensions differ, 784 and 785: x is f32[32, 784], w is f32[785, 256]
 --> src/main.rs:6:26
  |
6 |     let _ = mind!(relu(x @ w + b));
  |                          ^ evaluation of `…` failed here
";
const RUSTC_READ: &str = "After `evaluation panicked:` come the error code and message of `mind!`; `mind explain E3003` explains the code above. \
    The names after `evaluation of` belong to generated code; ignore them. A `help:` line says what to write.";

/// The code for `E3003`, `e3003`, `3003` or `error[E3003]:`.
fn find(text: &str) -> Outcome<Code> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let name = format!("E{digits}");
    let plain = text.chars().all(|character| character.is_ascii_alphanumeric() || "[]: ".contains(character));
    if let Some(code) = Code::ALL.iter().find(|code| plain && code.info().name == name) {
        return Ok(*code);
    }
    let near = Code::ALL.iter().map(|code| (distance(&name, code.info().name), *code));
    let help = match near.min() {
        Some((1..=2, near)) if !digits.is_empty() => {
            format!("the nearest is {near}: {}", near.info().meaning)
        }
        _ => "`mind explain` without a code lists all codes".into(),
    };
    Err(Failure::with_help(format!("there is no error code `{text}`"), help))
}

fn explain(code: Code, style: &Style) -> String {
    let CodeInfo { name, meaning, arises, .. } = code.info();
    let Explanation { text, example, fix } = code.explanation();
    let places: Vec<_> = arises.iter().map(|place| of_place(*place)).collect();
    let mut shown = format!("{}: {}\n\n{}\n\n", style.strong(name), style.strong(meaning), wrapped(text));
    let mut part = |title: &str, body: &str| shown.push_str(&format!("{}\n{body}\n", style.strong(title)));
    match example {
        Example::Program { wrong, right } => {
            part("Wrong:", &indented(wrong));
            part("Right:", &indented(right));
        }
        Example::Mic { wrong, right, profile } => {
            let of = if profile == Profile::CoreV1 { ", checked with --profile core-v1" } else { "" };
            part(&format!("Wrong, as MIC{of}:"), &indented(wrong));
            part("Right:", &indented(right));
        }
        Example::Gradient { wrong, right, wrt } => {
            part("The program:", &indented(wrong.0));
            let command = |profile: Profile| {
                let profile = if profile == Profile::CoreV1 { "core-v1" } else { "extended" };
                format!("    mind grad loss.mind --wrt {wrt} --profile {profile}\n")
            };
            part("Wrong:", &command(wrong.1));
            if right.0 != wrong.0 {
                part("The fixed program:", &indented(right.0));
            }
            part("Right:", &command(right.1));
        }
        Example::Run { program, wrong, right } => {
            part("The program:", &indented(program));
            part("Wrong:", &format!("    called with {}\n", inputs_text(wrong)));
            part("Right:", &format!("    called with {}\n", inputs_text(right)));
        }
        Example::Knossos { wrong, right } => {
            part("Wrong, in Knossos:", &indented(wrong));
            part("Right:", &indented(right));
        }
        Example::Words(words) => shown.push_str(&format!("{}\n\n", wrapped(words))),
    }
    shown.push_str(&format!(
        "{}\n{}\n\nArises: {}.\n",
        style.strong("To fix it:"),
        wrapped(fix),
        places.join("; ")
    ));
    shown
}

fn of_place(place: Arises) -> &'static str {
    match place {
        Arises::Macro => "in a `mind!` block",
        Arises::File => "in a file in one of the text forms",
        Arises::Command => "in the `mind` command",
        Arises::Library => "from the compiler as a library",
        Arises::Run => "when a program runs",
        Arises::Knossos => "in a Knossos program",
        Arises::Reserved => "nowhere yet",
    }
}

fn inputs_text(inputs: &[ExampleInput]) -> String {
    let one = |given: &ExampleInput| match given.shape {
        [] => format!("{} = {}", given.name, given.value),
        shape => format!("{} of shape {shape:?}", given.name),
    };
    inputs.iter().map(one).collect::<Vec<_>>().join(" and ")
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}

/// The text in lines of at most 100 characters.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= 100 => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}
