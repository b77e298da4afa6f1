//! The tokens of texts, and the errors for texts that cannot be lexed.

use proc_macro2::TokenTree;

use super::*;
use crate::surface::golden;

/// Each error with its site, then the tokens.
fn lexed(text: &str) -> String {
    let (tokens, diags) = lex(text);
    let lines = diags.as_slice().iter().map(|diag| format!("{}: {diag}\n", diag.site));
    lines.collect::<String>() + &tokens.to_string()
}

#[test]
fn every_mistake_is_named_where_it_stands() {
    golden::check("lex.txt", lexed);
}

#[test]
fn what_is_behind_a_mistake_keeps_its_place() {
    let (tokens, diags) = lex("\u{feff}× \"é\\q\n\" /* × */ 0b2 last\r\n( × b");
    assert_eq!(diags.as_slice().len(), 5);
    let mut places = Vec::new();
    for tree in tokens.into_iter() {
        match tree {
            TokenTree::Group(group) => {
                places.extend(group.stream().into_iter().map(|tree| (tree.to_string(), tree.span().start())));
            }
            tree => places.push((tree.to_string(), tree.span().start())),
        }
    }
    let at = |line, column| LineColumn { line, column };
    let expected = [("0", at(1, 2)), ("0", at(2, 10)), ("last", at(2, 14)), ("b", at(3, 4))];
    assert_eq!(places, expected.map(|(text, at)| (text.to_owned(), at)));
}

#[test]
fn any_text_is_lexed_and_a_mended_one_is_made_of_tokens() {
    const PARTS: &[&str] = &[
        "fn f(x: f32[3]) { x }",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "\"s\"",
        "'",
        "'a",
        "'b'",
        "b",
        "r",
        "c",
        "r#\"",
        "\"#",
        "#",
        "\\",
        "\\n",
        "\\x7F",
        "\\xZZ",
        "\\u{41}",
        "\\u{",
        "/",
        "*",
        "/*",
        "*/",
        "//",
        "\n",
        "\r\n",
        "0x",
        "0b2",
        "1.5",
        "1e",
        "_",
        "é",
        "×",
        "π",
        "\u{0}",
        "\u{feff}",
        " ",
        "-",
        ">",
        "=",
        "日本",
    ];
    // xorshift64*: the same texts in every run.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        usize::try_from(state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % below
    };
    let (mut right, mut unnamed) = (0, 0);
    for _ in 0..20_000 {
        let text: String = (0..random(12)).map(|_| PARTS[random(PARTS.len())]).collect();
        let (tokens, diags) = lex(&text);
        match (text.parse::<TokenStream>(), diags.is_empty()) {
            (Ok(expected), true) => {
                right += 1;
                assert_eq!(tokens.to_string(), expected.to_string(), "{text:?}");
            }
            (Ok(_), false) => panic!("{text:?} is made of tokens\n{}", lexed(&text)),
            (Err(_), false) => {
                let first = &diags.as_slice()[0];
                unnamed += usize::from(first.message.starts_with("found what is no token"));
            }
            (Err(_), true) => panic!("{text:?} is not made of tokens"),
        }
    }
    assert!(right > 1_000, "{right}");
    assert!(unnamed < 1_000, "{unnamed} of the mistakes have no code of their own");
}

#[test]
fn long_and_deep_texts_take_no_stack_and_little_time() {
    let n = 100_000;
    for text in
        ["(".repeat(n) + &"]".repeat(n), "/*".repeat(n), "×".repeat(n), "\"\\q".repeat(n), "'".repeat(n)]
    {
        let (_, diags) = lex(&text);
        assert!(!diags.is_empty() && diags.as_slice().len() <= MAX_REPORTED + 1);
    }
    let (tokens, diags) = lex(&("(".repeat(n) + &")".repeat(n)));
    assert!(diags.is_empty() && !tokens.is_empty());
}
