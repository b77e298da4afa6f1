//! The functions of the language and of the library as Rust functions, which rust-analyzer shows and completes in
//! blocks.
//!
//! Their documentation comes from the pages of the facade, which are read when rust-analyzer expands the macro.

use std::fmt::Write;
use std::path::Path;

use mind_core::standard::{FILES, documented};
use mind_core::surface::{function_names, parameter_names};
use proc_macro2::TokenStream;

const HEAD: &str = "\
/// Any value of the language.
pub struct Any;
";

/// The functions, with documentation from the pages in the facade's folder. A missing page is treated as empty.
pub(crate) fn items(facade: &Path) -> TokenStream {
    let page = |name: &str| std::fs::read_to_string(facade.join(name)).unwrap_or_default();
    let text = text(&page("src/lib.rs"), &page("docs/ops.md"));
    text.parse().expect("names are identifiers, and documentation is in comments")
}

fn text(language: &str, operations: &str) -> String {
    let mut text = HEAD.to_owned();
    let rows = rows_of_language(language);
    let mut names: Vec<&str> = function_names().collect();
    names.sort_unstable();
    for name in names {
        let parameters = parameter_names(name).unwrap_or_default();
        push(&mut text, name, &documentation(name, &rows, operations), parameters);
    }
    for (file, library) in FILES {
        let _ = write!(
            text,
            "/// The functions of the library's file `{file}`.\npub mod {file} {{\n    use super::Any;\n"
        );
        for function in documented(library) {
            push(&mut text, function.name(), &function.words, &function.parameters());
        }
        text.push_str("}\n");
    }
    text
}

fn push(text: &mut String, name: &str, words: &str, parameters: &[&str]) {
    for line in words.trim_end().lines() {
        let _ = writeln!(text, "/// {line}");
    }
    let raw = |name: &str| if name == "where" { format!("r#{name}") } else { name.to_owned() };
    let parameters: Vec<String> = parameters.iter().map(|name| format!("{}: Any", raw(name))).collect();
    let _ = writeln!(text, "pub fn {}({}) -> Any {{ Any }}", raw(name), parameters.join(", "));
}

/// The rows of the table of operations in the language's documentation: the syntax and its meaning.
fn rows_of_language(language: &str) -> Vec<(String, String)> {
    let operations = language.split_once("//! # Operations\n").map_or("", |(_, rest)| rest);
    let operations = operations.split_once("//! # ").map_or(operations, |(operations, _)| operations);
    let rows = operations.lines().filter_map(|line| {
        let cells = line.strip_prefix("//! | ")?.strip_suffix(" |")?;
        cells.split_once(" | ").filter(|(written, _)| *written != "---" && *written != "written")
    });
    rows.map(|(written, means)| (written.replace("\\|", "|"), means.replace("\\|", "|"))).collect()
}

/// The meaning of a function's operation, and the row of the language's table that names the function.
fn documentation(name: &str, rows: &[(String, String)], operations: &str) -> String {
    let names = |text: &str| text.split('`').skip(1).step_by(2).any(|code| is_call(code, name));
    let row = rows.iter().find(|(written, means)| names(written) || names(means));
    let row = row.map_or_else(String::new, |(written, means)| {
        // The links point to other parts of that page, so only their text is kept.
        let means = means.replace("[shown](#debugging)", "shown");
        let means = means.replace("[derivative of its own](#custom-derivatives)", "derivative of its own");
        format!("{written}: {means}.")
    });
    let called = format!("`{name}(…)`");
    // | [`Abs`](#abs) | `abs` | 1 | extension | `abs(…)` | the absolute value |
    let meaning = operations.lines().find_map(|line| {
        let mut cells = line.strip_prefix("| [`")?.strip_suffix(" |")?.rsplitn(3, " | ");
        let (meaning, written) = (cells.next()?, cells.next()?);
        written.split(", ").any(|written| written.ends_with(&called)).then_some(meaning)
    });
    let meaning = meaning.map_or_else(String::new, |meaning| format!("{}.\n\n", capitalised(meaning)));
    meaning + &row
}

/// Whether a piece of code is the name of a function or a call of it.
fn is_call(code: &str, name: &str) -> bool {
    code.split_once('(').map_or(code, |(called, _)| called) == name
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facade() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
    }

    fn page() -> String {
        let page = |name: &str| std::fs::read_to_string(facade().join(name)).unwrap();
        text(&page("src/lib.rs"), &page("docs/ops.md"))
    }

    #[test]
    fn a_function_has_the_meaning_of_its_operation_and_its_row_of_the_language() {
        assert!(page().contains(
            "/// The absolute value.\n/// \n/// `neg` `abs` `sign` `maximum` `minimum` `fmax` `fmin`: elementwise, on all numbers; \
             `fmax` and `fmin` ignore NaN.\npub fn abs(x: Any) -> Any { Any }\n"
        ));
        assert!(page().contains("pub fn r#where("));
    }

    #[test]
    fn every_function_is_there_with_documentation_that_links_nowhere() {
        let page = page();
        let of_library = FILES.iter().flat_map(|(file, _)| mind_core::standard::functions(file));
        for name in function_names().chain(of_library) {
            let written = if name == "where" { "r#where" } else { name };
            let head = format!("\npub fn {written}(");
            let (before, _) = page.split_once(&head).unwrap_or_else(|| panic!("there is no {name}"));
            let above = before.lines().last().unwrap_or_default();
            assert!(above.starts_with("/// ") && above.len() > 5, "{name}: {above}");
        }
        let dead = page.lines().find(|line| line.contains("](#"));
        assert_eq!(dead, None);
    }

    #[test]
    fn items_parse_with_the_pages_and_without() {
        let with = items(facade());
        let without = items(Path::new("there is none"));
        let functions = |tokens: &TokenStream| tokens.to_string().matches("pub fn ").count();
        assert_eq!(functions(&with), functions(&without));
        assert!(functions(&with) > 150, "{}", functions(&with));
        assert!(with.to_string().len() > without.to_string().len() + 10_000);
    }
}
