//! The style of the library's source: every function is documented with the same parts in the same order, and its
//! example holds.

use mind_core::{interp::Elements, standard::FILES, surface::ast::Template};
use proc_macro2::{TokenStream, TokenTree};

use super::support::{compiled, floats, run, templates};

/// The parts of a function's documentation after its first paragraph, and whether each is required.
const PARTS: [(&str, bool); 6] = [
    ("Formula", true),
    ("Shapes", true),
    ("Stability", true),
    ("Derivative", false),
    ("Example", true),
    ("Source", false),
];

/// The structs of examples: `Block` is the type of the `p` in examples that end in "with `p` of zeros". `Net` and `Mat`
/// are parameters of optimisers.
const STRUCTS: &str = "struct Block {
    scale1: f32[2], bias1: f32[2], wq: f32[2, 2], wk: f32[2, 2], wv: f32[2, 2], wo: f32[2, 2],
    scale2: f32[2], bias2: f32[2], w1: f32[2, 3], b1: f32[3], w2: f32[3, 2], b2: f32[2],
}
struct Net { w: f32[1] }
struct Mat { w: f32[1, 1] }";

/// The maximum number of columns of a line, as elsewhere in the project: for code as in Rust, for comments as in
/// Markdown.
const COLUMNS: [usize; 2] = [110, 120];

#[test]
fn every_function_is_documented_by_the_same_parts() {
    let mut wrong = String::new();
    for (file, _) in FILES {
        for template in templates(file) {
            if let Err(why) = parts(&documentation(&template)) {
                wrong += &format!("{file}::{}: {why}\n", template.name);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn parts_that_are_missing_or_out_of_order_are_told() {
    let whole =
        "What it is.\n\n- **Formula**: a.\n- **Shapes**: b.\n- **Stability**: c.\n- **Example**: d.\n";
    assert!(parts(whole).is_ok());
    let without = |line: &str| parts(&whole.replace(line, "")).map(|_| ()).expect_err("a part is missing");
    assert_eq!(without("- **Stability**: c.\n"), "its part Stability is missing");
    assert_eq!(without("What it is.\n\n"), "it has no parts");
    assert_eq!(without("What it is."), "it does not begin with what it is");
    let swapped = whole.replace("Formula", "1").replace("Shapes", "Formula").replace('1', "Shapes");
    assert_eq!(parts(&swapped).expect_err("out of order"), "its part Formula is missing");
}

#[test]
fn every_example_holds() {
    let mut wrong = String::new();
    for (file, _) in FILES {
        for template in templates(file) {
            let parts = parts(&documentation(&template)).expect("tried by the test above");
            let (_, example) = parts.into_iter().find(|(part, _)| *part == "Example").expect("each has one");
            if let Err(why) = holds(file, &template.name.to_string(), &example) {
                wrong += &format!("{file}::{}: {why}\n", template.name);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn an_example_that_does_not_hold_is_told() {
    let told = |example: &str| holds("nn", "relu6", example).expect_err("it is wrong");
    assert_eq!(told("`relu6([-1.0, 8.0])` is `[0.0, 5.0]`."), "`relu6([-1.0, 8.0])` is not `[0.0, 5.0]`");
    assert_eq!(told("`silu([0.0])` is `[0.0]`."), "its example does not call it");
}

#[test]
fn the_text_is_laid_out_as_the_rest_of_the_project() {
    let mut wrong = String::new();
    for (file, text) in FILES {
        assert!(text.ends_with("}\n"), "standard/{file}.mind ends with one new line");
        for (at, line) in text.lines().enumerate() {
            let is_comment = line.starts_with("//");
            let indent = line.len() - line.trim_start().len();
            let columns = COLUMNS[usize::from(is_comment)];
            let wide = line.chars().count() > columns;
            if wide || line.ends_with(' ') || line.contains('\t') || !indent.is_multiple_of(4) {
                wrong += &format!("standard/{file}.mind:{}: {line}\n", at + 1);
            }
        }
        assert!(!text.contains("\n\n\n"), "standard/{file}.mind has two empty lines in a row");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The doc comments of a function as Markdown.
pub fn documentation(template: &Template) -> String {
    let mut text = String::new();
    for tree in template.attributes.clone() {
        let TokenTree::Group(group) = tree else { continue };
        let mut inside = group.stream().into_iter();
        let (Some(TokenTree::Ident(name)), Some(_), Some(TokenTree::Literal(line))) =
            (inside.next(), inside.next(), inside.next())
        else {
            continue;
        };
        if name == "doc" {
            let line: syn::LitStr =
                syn::parse2(TokenStream::from(TokenTree::Literal(line))).expect("a string");
            text += line.value().strip_prefix(' ').unwrap_or(&line.value());
            text.push('\n');
        }
    }
    text
}

/// The parts after the first paragraph, each on one line. Returns an error unless they are complete and in order.
fn parts(documentation: &str) -> Result<Vec<(&'static str, String)>, String> {
    let (first, list) = documentation.split_once("\n\n").ok_or("it has no parts")?;
    if first.starts_with("- ") || first.is_empty() || !first.ends_with('.') {
        return Err("it does not begin with what it is".into());
    }
    let list = list.trim_end().replace("\n  ", " ");
    let mut lines = list.lines().peekable();
    let mut found = Vec::new();
    for (part, needed) in PARTS {
        let text = lines.peek().and_then(|line| line.strip_prefix(&format!("- **{part}**: ")));
        match text {
            Some(text) if text.ends_with('.') => {
                found.push((part, text.to_owned()));
                lines.next();
            }
            Some(_) => return Err(format!("its part {part} does not end with a full stop")),
            None if needed => return Err(format!("its part {part} is missing")),
            None => {}
        }
    }
    lines.next().map_or(Ok(found), |line| Err(format!("`{line}` is no part, or out of order")))
}

/// Checks an example `` `CALL` is `VALUE` ``, to the digits shown. For several results the value is a tuple.
fn holds(file: &str, name: &str, example: &str) -> Result<(), String> {
    let texts: Vec<&str> = example.split('`').collect();
    let (call, value, parameter) = match texts[..] {
        ["", call, " is ", value, "."] => (call, value, ""),
        ["", call, " is ", value, " with ", "p", " of zeros."] => (call, value, "p: Block"),
        _ => return Err("its example is not written as `CALL` is `VALUE`".into()),
    };
    if !call.starts_with(&format!("{name}(")) {
        return Err("its example does not call it".into());
    }
    let is_tuple = value.starts_with('(');
    let values = if is_tuple { elements(&value[1..value.len() - 1]) } else { vec![value] };
    let conditions = values.iter().enumerate().map(|(at, value)| {
        let found = if is_tuple { format!("found.{at}") } else { "found".to_owned() };
        // The difference of equal infinities is NaN. Integers are compared exactly.
        match value.contains('.') {
            true => format!("all(where({found} == {value}, true, abs({found} - {value}) <= 0.00005001))"),
            false => format!("all({found} == {value})"),
        }
    });
    let conditions: Vec<String> = conditions.collect();
    let program = format!(
        "{STRUCTS} fn example({parameter}) -> bool {{ let found = {call}; {} }}",
        conditions.join(" && ")
    );
    let module = compiled(file, &program);
    let zeros = module.inputs().map(|(_, ty)| {
        let extents = ty.shape.as_literals().expect("every extent is written");
        let extents: Vec<usize> = extents.iter().map(|extent| *extent as usize).collect();
        floats(ty.dtype, &extents, &vec![0.0; extents.iter().product()])
    });
    match &run(&module, &zeros.collect::<Vec<_>>())[0].elements {
        Elements::Bool(truth) if truth[..] == [true] => Ok(()),
        _ => Err(format!("`{call}` is not `{value}`")),
    }
}

/// The text between the commas outside of brackets.
fn elements(text: &str) -> Vec<&str> {
    let (mut all, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                all.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    all.push(text[start..].trim());
    all
}
