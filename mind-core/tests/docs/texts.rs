//! `docs/mic.md` and `docs/core-ir.md`: their lists of operations match the table, and their examples are read as
//! stated.
#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing fails, as it should")]

use std::{env, fmt::Write, fs, path::Path};

use mind_core::{
    diag::{Diags, Site},
    ops::{FieldKind, InMic, OpInfo, Profile, TABLE, VARIADIC},
    text::{Document, Limits, core_ir, mic},
};

#[test]
fn the_nodes_of_the_mic_page_are_those_of_the_table() {
    check_section("mic.md", "nodes", &listed(mic_line));
}

#[test]
fn the_instructions_of_the_core_ir_page_are_those_of_the_table() {
    check_section("core-ir.md", "instructions", &listed(core_ir_line));
}

#[test]
fn the_examples_of_the_mic_page_are_read_as_it_says() {
    let examples = examples("mic.md", "mic");
    assert!(examples.len() >= 10, "{}", examples.len());
    for example in &examples {
        example.check(
            |text| mic::parse_document(text, &Limits::default()),
            |document| mic::print(&document.module),
        );
    }
}

#[test]
fn the_examples_of_the_core_ir_page_are_read_as_it_says() {
    let examples = examples("core-ir.md", "core-ir");
    assert!(examples.len() >= 5, "{}", examples.len());
    for example in &examples {
        example.check(
            |text| core_ir::parse_document(text, &Limits::default()),
            |document| core_ir::print(&document.module),
        );
    }
}

/// A fenced block: the words after its language, and its text.
struct Example {
    words: Vec<String>,
    text: String,
}

impl Example {
    /// With `canonical`, the text prints as itself. With a code and a position, exactly this error is reported there.
    /// Without words, it verifies.
    fn check(&self, parse: impl Fn(&str) -> Result<Document, Diags>, print: impl Fn(&Document) -> String) {
        let Self { words, text } = self;
        let document = parse(text);
        if words.first().is_some_and(|word| word == "canonical") {
            assert_eq!(print(document.as_ref().unwrap()), *text);
        }
        let verified = document.and_then(|document| document.verify(Profile::Extended));
        match &words[..] {
            [code, place] => {
                let errors = verified.expect_err(text);
                let [error] = errors.as_slice() else { panic!("{errors:?}\n{text}") };
                let Site::Text { line, column } = error.site else { panic!("{error:?}") };
                let found = if place.contains(':') { format!("{line}:{column}") } else { line.to_string() };
                assert_eq!((error.code.to_string(), found), (code.clone(), place.clone()), "{error}\n{text}");
            }
            _ => assert!(verified.is_ok(), "{verified:?}\n{text}"),
        }
    }
}

fn page(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)
}

fn examples(name: &str, language: &str) -> Vec<Example> {
    let page = fs::read_to_string(page(name)).unwrap().replace("\r\n", "\n");
    let mut examples = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let mut words = line.strip_prefix("```").unwrap_or_default().split_whitespace();
        if words.next() == Some(language) {
            let text = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n"));
            examples.push(Example { text: text.collect(), words: words.map(Into::into).collect() });
        }
    }
    examples
}

/// Compares the section between two comments of a page, or writes it.
#[track_caller]
fn check_section(name: &str, section: &str, needed: &str) {
    let text = fs::read_to_string(page(name)).unwrap().replace("\r\n", "\n");
    let (before, rest) = text.split_once(&format!("<!-- {section} -->\n")).unwrap();
    let (found, after) = rest.split_once(&format!("<!-- /{section} -->")).unwrap();
    if env::var_os("MIND_BLESS").is_some() {
        let text = format!("{before}<!-- {section} -->\n{needed}<!-- /{section} -->{after}");
        fs::write(page(name), text).unwrap();
    } else {
        assert_eq!(found, needed, "docs/{name} is not current: bless it");
    }
}

fn listed(line: fn(&OpInfo) -> String) -> String {
    let mut table = String::from("| line | profile |\n| --- | --- |\n");
    for row in TABLE {
        let profile = match row.profile {
            Profile::CoreV1 => "Core v1",
            Profile::Extended => "extension",
        };
        writeln!(table, "| `{}` | {profile} |", line(row)).unwrap();
    }
    table
}

/// The number of operands shown; one stands for any number.
fn shown_operands(row: &OpInfo) -> usize {
    if row.arity == VARIADIC { 1 } else { row.arity }
}

fn mic_line(row: &OpInfo) -> String {
    let mut line = format!("N… {}", row.mnemonic);
    line.push_str(&" N…".repeat(shown_operands(row)));
    for field in row.fields {
        if field.kind == FieldKind::Module {
            return line + " T…`, and below it `  N… …`, `  O N…";
        }
        let value = match field.kind {
            FieldKind::Text => "S…".into(),
            FieldKind::Flag => "0".into(),
            FieldKind::I64 => "integer".into(),
            FieldKind::F32 | FieldKind::F64 => "number".into(),
            FieldKind::DType => "dtype".into(),
            FieldKind::Data => "data".into(),
            FieldKind::Integers | FieldKind::Dims => format!("[{}]", field.name),
            FieldKind::Slice => "start:end:step,…".into(),
            FieldKind::Padding => "valid".into(),
            FieldKind::LeadingAxis => "0".into(),
            FieldKind::Module => unreachable!("it is alone"),
        };
        match field.mic {
            InMic::Type => {}
            InMic::Place => write!(line, " {value}").unwrap(),
            InMic::Key(key) => write!(line, " {key}={value}").unwrap(),
        }
    }
    line + " T…"
}

fn core_ir_line(row: &OpInfo) -> String {
    let operands = vec!["%…"; shown_operands(row)].join(", ");
    let attributes: Vec<String> = row
        .fields
        .iter()
        .filter_map(|field| {
            let value = match field.kind {
                FieldKind::Text => "\"…\"",
                FieldKind::Flag => "false",
                FieldKind::I64 => "integer",
                FieldKind::F32 | FieldKind::F64 => "number",
                FieldKind::DType => "dtype",
                FieldKind::Data => "data",
                FieldKind::Integers | FieldKind::Dims => "[…]",
                FieldKind::Slice => return Some("starts=[…], ends=[…], steps=[…]".into()),
                FieldKind::Padding => "valid",
                FieldKind::LeadingAxis | FieldKind::Module => return None,
            };
            Some(format!("{}={value}", field.name))
        })
        .collect();
    let attributes =
        if attributes.is_empty() { String::new() } else { format!(" {{{}}}", attributes.join(", ")) };
    let holds = row.fields.iter().any(|field| field.kind == FieldKind::Module);
    let module = if holds { " { … }" } else { "" };
    format!("%… = {} ({operands}){attributes} : type{module}", row.name)
}
