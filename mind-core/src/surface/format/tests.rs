//! The formatted texts of programs.

use super::*;
use crate::surface::golden;

fn formatted(text: &str) -> String {
    match format(text) {
        Ok(text) => text,
        Err(diags) => diags.into_iter().map(|diag| format!("{}: {diag}\n", diag.site)).collect(),
    }
}

#[test]
fn programs_are_formatted_as_recorded_and_then_stay() {
    golden::check("format/programs.txt", |source| {
        let once = formatted(source);
        assert!(format(source).is_err() || formatted(&once) == once, "{once}became\n{}", formatted(&once));
        once
    });
}

#[test]
fn ends_of_lines_marks_and_literals() {
    assert_eq!(formatted(""), "");
    assert_eq!(formatted(" \n\n"), "");
    assert_eq!(formatted("\n// a\r\n\r\n\r\n\r\n"), "// a\n");
    let windows = "\u{feff}// a \r\n/// b  \r\nfn f( ) { }\r\n";
    assert_eq!(formatted(windows), "\u{feff}// a\n/// b  \nfn f() {}\n");
    let literal = "#[doc = \"a\r\n   b  \\\r\n  c\"]\nconst N: dim = 1;\n";
    assert_eq!(formatted(literal), literal);
}

#[test]
fn long_and_deep_texts_take_no_stack_and_little_space() {
    let n = crate::sample::chain(10_000);
    let wide = |open: &str, part: &str, close: &str| format!("fn f() {{ x{open}{}{close} }}", part.repeat(n));
    let deep = |open: &str, inner: &str, close: &str| {
        format!("fn f() {{ {}{inner}{} }}", open.repeat(250), close.repeat(250))
    };
    let texts = [
        wide("", " + x * y", ""),
        wide("", ".f(x)", ""),
        wide("", "[0]", ""),
        wide(" = [", "1, ", "]"),
        wide(" = [", "name, ", "]"),
        wide("; ", "let a = b; ", ""),
        wide("; ", "; ", ""),
        wide("", " /* c */", ""),
        wide("", " // c\n", ""),
        wide("; ", "{ a } ", ""),
        "use a::b; ".repeat(n),
        deep("[", &"1, ".repeat(n), "]"),
        deep("{", &"a; ".repeat(n), "}"),
        deep("f(", "x", ")"),
        deep("(", "x", ")"),
        deep("-(x + ", "x", ")"),
    ];
    for text in texts {
        let formatted = formatted(&text);
        assert!(formatted.len() < 60 * text.len() + 100_000, "{} of {}", formatted.len(), text.len());
        assert_eq!(essence(&formatted).len(), essence(&text).len(), "{}", &text[..100]);
    }
    let n = 500_000;
    for text in ["(".repeat(n) + &")".repeat(n), "[".repeat(n), "{".repeat(n) + &")".repeat(n)] {
        assert!(format(&text).is_err());
    }
}
