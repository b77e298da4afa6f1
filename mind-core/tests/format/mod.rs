//! Formatting loses nothing. Tested on every program of the repository, as it is and with blanks and comments inserted
//! between its tokens.
#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing fails, as it should")]

use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use mind_core::{
    surface::format,
    testing::{Random, properties::surface_text_is_formatted_or_refused, random_expression},
    ty::DType,
};
use proc_macro2::{Spacing, TokenStream, TokenTree};

use crate::sample::{in_turn, sample};

/// The files of the repository with this extension, except build output.
fn files(extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut found, mut folders) = (Vec::new(), vec![root]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The contents of `mind! { … }` in a Rust file, including comments.
fn blocks(text: &str) -> Vec<String> {
    let (mut blocks, Ok(tokens)) = (Vec::new(), text.parse::<TokenStream>()) else { return Vec::new() };
    let mut rest = vec![tokens];
    while let Some(tokens) = rest.pop() {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            let TokenTree::Group(group) = tree else { continue };
            let is_word = |back: usize, word: &str| {
                at.checked_sub(back).is_some_and(|before| trees[before].to_string() == word)
            };
            if is_word(2, "mind") && is_word(1, "!") {
                let inside = group.span().source_text().unwrap();
                blocks.push(inside[1..inside.len() - 1].to_owned());
            } else {
                rest.push(group.stream());
            }
        }
    }
    blocks
}

/// The programs to format.
static PROGRAMS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut texts: Vec<String> =
        files("mind").iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
    texts.extend(files("rs").iter().flat_map(|file| blocks(&fs::read_to_string(file).unwrap())));
    for seed in 0..200 {
        let program = random_expression(seed, 12, DType::F32);
        let leaves: Vec<String> = program.leaves.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        let values: Vec<&str> = program.values.iter().map(|(name, _)| name.as_str()).collect();
        let (leaves, statements, values) = (leaves.join(","), program.statements, values.join(","));
        texts.push(format!("fn f({leaves}) {{ {statements} ({values},) }}"));
    }
    let mut texts = sample("programs", texts);
    let all = texts.len();
    texts.retain(|text| format(text).is_ok());
    assert!(texts.len() > all / 4 && all > 50, "{} of {all} programs are formatted", texts.len());
    texts
});

/// The ranges of tokens that can be separated.
fn places(text: &str) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut rest: Vec<TokenTree> = text.parse::<TokenStream>().unwrap().into_iter().collect();
    rest.reverse();
    let mut joint = false;
    let mut add = |range: Range<usize>, is_joint: bool| {
        match places.last_mut() {
            // All tokens of a doc comment have the same range.
            Some(last) if *last == range || joint || range.start < last.end => {
                last.end = last.end.max(range.end)
            }
            Some(_) | None => places.push(range),
        }
        joint = is_joint;
    };
    while let Some(tree) = rest.pop() {
        match tree {
            TokenTree::Group(group) => {
                add(group.span_open().byte_range(), false);
                // The closing token of a group comes after its contents.
                let mut end = proc_macro2::Ident::new("end", group.span_close());
                end.set_span(group.span_close());
                rest.push(end.into());
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                rest.extend(inside.into_iter().rev());
            }
            TokenTree::Punct(punct) => add(punct.span().byte_range(), punct.spacing() == Spacing::Joint),
            tree @ (TokenTree::Ident(_) | TokenTree::Literal(_)) => add(tree.span().byte_range(), false),
        }
    }
    places
}

/// The text with the results of `between` between its tokens. A doc comment is still followed by a new line.
fn apart(text: &str, mut between: impl FnMut() -> &'static str) -> String {
    let mut spread = String::new();
    for place in places(text) {
        let token = &text[place];
        spread += token;
        spread += if token.starts_with("//") { "\n" } else { "" };
        spread += between();
    }
    spread
}

#[test]
fn programs_of_the_repository_lose_nothing() {
    for text in &*PROGRAMS {
        surface_text_is_formatted_or_refused(text.as_bytes());
    }
}

#[test]
fn the_library_is_formatted() {
    let library: Vec<PathBuf> =
        files("mind").into_iter().filter(|file| file.to_string_lossy().contains("/src/standard/")).collect();
    assert!(!library.is_empty());
    for file in library {
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(format(&text).unwrap(), text, "{}", file.display());
    }
}

#[test]
fn comments_stay_wherever_they_are() {
    const BETWEEN: &[&str] = &[
        " ",
        " ",
        " ",
        " ",
        " ",
        " ",
        "\n",
        "\n\n\n",
        "\t",
        " /* c */ ",
        " // c\n",
        "\n/* a\n   b */\n",
        "/* x */// y\n",
        "\r\n // own\r\n",
        "\n\n// apart\n\n",
        "/**/",
        "\n/* l */ ",
        " /* t */\n",
        "/* // */",
    ];
    for (at, text) in PROGRAMS.iter().enumerate() {
        let mut random = Random::new(at as u64);
        for often in in_turn(at, [2, 6, BETWEEN.len(), BETWEEN.len()]) {
            let spread = apart(text, || match random.below(often) {
                0 => *random.pick(BETWEEN),
                _ => " ",
            });
            surface_text_is_formatted_or_refused(spread.as_bytes());
        }
    }
}

#[test]
fn what_is_formatted_does_not_depend_on_blanks() {
    let mut compared = 0;
    for (seed, text) in (0..).zip(&*PROGRAMS) {
        let is_commented = text.contains("/*")
            || text.lines().any(|line| {
                line.contains("//")
                    && !line.trim_start().starts_with("///")
                    && !line.trim_start().starts_with("//!")
            });
        if is_commented {
            continue;
        }
        let mut random = Random::new(seed);
        let spread = apart(text, || *random.pick(&[" ", "\n", "\t ", "   "]));
        let without_blanks = |text: &str| -> Vec<String> {
            let formatted = format(text).unwrap();
            formatted.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
        };
        assert_eq!(without_blanks(&spread), without_blanks(text));
        compared += 1;
    }
    assert!(compared > PROGRAMS.len() / 3, "{compared}");
}
