//! Tests that `angle!` rewrites its blocks and leaves all other tokens unchanged.

use mind_core::surface::nesting::MAX_NESTING;

use super::*;

/// Every token in order: its text, spacing or delimiter.
fn tokens(stream: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                found.push(format!("open {:?}", group.delimiter()));
                found.extend(tokens(group.stream()));
                found.push("close".to_owned());
            }
            TokenTree::Punct(punct) => found.push(format!("{} {:?}", punct.as_char(), punct.spacing())),
            TokenTree::Ident(_) | TokenTree::Literal(_) => found.push(tree.to_string()),
        }
    }
    found
}

/// Every token with its span; brackets with the spans of both ends.
fn places(stream: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                found.push(format!("group {:?}", (group.span(), group.span_open(), group.span_close())));
                found.extend(places(group.stream()));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
                found.push(format!("{tree} {:?}", tree.span()));
            }
        }
    }
    found
}

fn lex(source: &str) -> TokenStream {
    source.parse().unwrap()
}

/// Checks that `source` is rewritten to the tokens of `expected`.
fn check(source: &str, expected: &str) {
    assert_eq!(tokens(expand(lex(source))), tokens(lex(expected)), "{source}");
}

#[test]
fn a_block_becomes_a_call_wherever_it_stands() {
    check("mind!< relu(x @ w + b) >", "mind!(relu(x @ w + b))");
    check("let y = mind!<x>;", "let y = mind!(x);");
    check("mind!<>", "mind!()");
    check("mind! < x >", "mind!(x)");
    check(
        "pub fn g(x: &T) -> U { if c { [mind!< x.T >, 1] } else { h(|v| mind!< v >) } } struct S<T>(T);",
        "pub fn g(x: &T) -> U { if c { [mind!(x.T), 1] } else { h(|v| mind!(v)) } } struct S<T>(T);",
    );
    check("mind!< a > + mind!< b >.sum()", "mind!(a) + mind!(b).sum()");
    check("m! { mind!< a > } #[a(mind!< b >)] c", "m! { mind!(a) } #[a(mind!(b))] c");
}

#[test]
fn the_path_stays_as_it_is_written() {
    check("mind::mind!< x >", "mind::mind!(x)");
    check("::mind::mind!< x >", "::mind::mind!(x)");
    check("crate::tensor::mind!< x >", "crate::tensor::mind!(x)");
    check("other!< x > + y", "other!< x > + y");
    check("r#mind!< x > + y", "r#mind!< x > + y");
    check("a.mind < b > c", "a.mind < b > c");
    check("mind != b > c", "mind != b > c");
}

#[test]
fn a_block_ends_at_the_first_closer_of_its_level() {
    check("mind!< |x: f32[2]| -> f32[2] relu(x) >", "mind!(|x: f32[2]| -> f32[2] relu(x))");
    check("mind!< a => b > > c", "mind!(a => b) > c");
    check("mind!< (a > b) + [c > d] > e", "mind!((a > b) + [c > d]) e");
    check("mind!< {Vec::<f32>::new()} >", "mind!({Vec::<f32>::new()})");
    check("mind!< a - > b", "mind!(a -) b");
}

#[test]
fn a_block_of_items_is_an_item() {
    check("mind!< fn f(x: f32) -> f32 { x } > struct S;", "mind! { fn f(x: f32) -> f32 { x } } struct S;");
    check(
        "mind!< pub fn f(x: f32) -> f32 { x } >; struct S;",
        "mind!( pub fn f(x: f32) -> f32 { x } ); struct S;",
    );
    check("{ mind!< fn f() { 1 } > a; }", "{ mind! { fn f() { 1 } } a; }");
    check(
        "mind!< #[grad(w)] fn f<N, M>(x: f32[N]) -> S<N, M> { x } struct S<A, B> { a: T<A> } >",
        "mind! { #[grad(w)] fn f<N, M>(x: f32[N]) -> S<N, M> { x } struct S<A, B> { a: T<A> } }",
    );
    check("mind!< use a::b; |x: f32| b(x) > ;", "mind!( use a::b; |x: f32| b(x) );");
}

#[test]
fn what_was_joined_to_the_closer_is_what_rustc_would_lex() {
    check("Vec::<_>::from(mind!< x >)>>1", "Vec::<_>::from(mind!(x))>>1");
    check("mind!<x>>1", "mind!(x)>1");
    check("mind!<x>>>1", "mind!(x)>>1");
    check("a = mind!<x>>>= 1", "a = mind!(x)>>= 1");
    check("mind!<x>>= 1", "mind!(x)>= 1");
    check("mind!<x>= 1", "mind!(x)= 1");
    check("mind!<x>==y", "mind!(x)==y");
    check("f::<A<mind!<x>>>()", "f::<A<mind!(x)>>()");
    check("mind!<x>..mind!<y>", "mind!(x)..mind!(y)");
    check("mind!<x>?;", "mind!(x)?;");
    check("mind!<x;>;", "mind!(x;);");
    check("mind!<-x>->y", "mind!(-x)->y");
}

#[test]
fn blocks_in_brackets_of_a_block_are_rewritten_too() {
    check("mind!< relu({ f(mind!< x >) }) >", "mind!(relu({ f(mind!(x)) }))");
}

#[test]
fn every_token_keeps_its_span() {
    let source = "fn f(a: A) { let (b, c) = (g(a)[0], mind!< x + [y] >); [b] }";
    let before = lex(source);
    let after = places(expand(before.clone()));
    let before = places(before);
    let leaves = |places: &[String]| {
        let leaves = places.iter().filter(|place| !place.starts_with("group") && !place.contains(['<', '>']));
        leaves.cloned().collect::<Vec<_>>()
    };
    assert_eq!(leaves(&after), leaves(&before));
    let gone: Vec<_> =
        before.iter().filter(|place| !after.contains(place)).map(|place| &place[..1]).collect();
    assert_eq!(gone, ["<", ">"]);
    let new = after.iter().filter(|place| !before.contains(place));
    assert!(new.eq(["group (bytes(42..43), bytes(42..43), bytes(42..43))"]));
}

#[test]
fn what_holds_no_block_is_as_it_was() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources: Vec<_> =
        ["lib.rs", "angle.rs", "include.rs", "expand.rs", "emit/module.rs", "emit/body.rs"]
            .iter()
            .map(|file| std::fs::read_to_string(folder.join(file)).unwrap())
            .collect();
    let mut random = random();
    for _ in 0..2_000 {
        sources.push(soup(
            &mut random,
            &["a", "mind", "!", "!=", "->", "=>", "=", ">", ">>=", "::", "1.5", "'a"],
        ));
    }
    let mut compared = 0;
    for source in sources {
        if source.contains("mind!<") || source.contains("mind ! <") {
            continue;
        }
        let before = lex(&source);
        let after = expand(before.clone());
        assert_eq!(after.to_string(), before.to_string());
        assert_eq!(places(after), places(before));
        compared += 1;
    }
    assert!(compared > 2_000, "{compared}");
}

#[test]
fn a_bracket_without_blocks_is_handed_on_itself() {
    // A new group would lose the spans of its ends in rustc.
    let end = |source: &str| {
        let mut level = Level::new(None, TokenStream::new());
        for tree in lex(source) {
            level.read(tree);
        }
        level.end().1
    };
    assert!(matches!(end("a = b >> c -> d; mind ! = x < y"), Inside::Kept(_)));
    assert!(matches!(end("a mind!< b >"), Inside::Changed(_)));
}

#[test]
fn every_block_in_random_tokens_becomes_a_call() {
    let (mut random, mut blocks) = (random(), 0);
    for _ in 0..2_000 {
        let words = ["a", "f32", "+", "-", "->", "=>", "==", ",", ";", "::", "..", "1.5", "@", "|", "&"];
        let around = ["a", "=", ">", ">=", ">>", ">>=", "->", ";", "::", "+", "(mind!<x>)"];
        let inside = soup(&mut random, &words);
        let source = format!("{} mind!<{inside}>", soup(&mut random, &around));
        let behind = soup(&mut random, &around);
        // With and without a space, since the lexer joins adjacent punctuation.
        for space in ["", " "] {
            let expected = source.replace("(mind!<x>)", "(mind!(x))").replace("mind!<", "mind!(");
            let expected = format!("{})", expected.strip_suffix('>').unwrap());
            let (Ok(source), Ok(expected)) = (
                format!("{source}{space}{behind}").parse::<TokenStream>(),
                format!("{expected}{space}{}", behind.replace("(mind!<x>)", "(mind!(x))")).parse(),
            ) else {
                continue;
            };
            // Here the last token of the block and the `>` form an arrow.
            if inside.ends_with(['-', '=']) {
                continue;
            }
            assert_eq!(tokens(expand(source.clone())), tokens(expected), "{source}");
            blocks += 1;
        }
    }
    assert!(blocks > 1_000, "{blocks}");
}

#[test]
fn a_block_that_never_ends_is_an_error_in_its_place() {
    let found = |source: &str| expand(lex(source)).to_string().replace(' ', "");
    let error = r#"::core::compile_error!("[E1007]foundtheend,expected`>`forthis`mind!<`\nhelp:enditwith`>`;the`>`of`->`and`=>`doesnotendit")"#;
    assert_eq!(found("let y = mind!< relu"), format!("lety={error}"));
    assert_eq!(found("let y = mind!< a + b; let z = mind!< c >;"), format!("lety={error};letz=mind!(c);"));
    assert_eq!(
        found("fn f() { return ::mind::mind!< a } fn g() { mind!< b > }"),
        format!("fnf(){{return{error}}}fng(){{mind!(b)}}")
    );
    assert_eq!(found("f(a, crate::mind!< x -> y, z)"), format!("f(a,{error})"));
    assert_eq!(found("mind!< x { mind!< y > }"), error);
}

#[test]
fn a_block_within_another_is_an_error() {
    let found = expand(lex("let y = mind!< a + mind::mind!< b > > + c;")).to_string();
    assert!(found.contains("[E1007] found `mind!<` inside another") && found.ends_with(") + c ;"), "{found}");
    assert_eq!(found.matches("compile_error").count(), 1);
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| format!("{}mind!< x >{}", "{".repeat(depth), "}".repeat(depth));
    assert!(expand(lex(&nested(MAX_NESTING))).to_string().contains("mind ! (x)"));
    let found = expand(lex(&nested(100_000))).to_string();
    assert!(found.contains("[E1008] brackets nest deeper than the limit of 256"), "{found}");
}

#[test]
fn brackets_of_the_input_are_taken_off() {
    let stripped = |source: &str| tokens(strip(lex(source)));
    for (source, expected) in [
        ("< relu(x) >", "relu(x)"),
        ("<fn f<N>(x: f32[N]) -> f32[N] { x }>", "fn f<N>(x: f32[N]) -> f32[N] { x }"),
        ("[root] < |x: f32[2]| -> f32[2] x >", "[root] |x: f32[2]| -> f32[2] x"),
        ("<x;>", "x;"),
        ("<>", ""),
        ("< x", "< x"),
        ("x >", "x >"),
        ("< x ->", "< x ->"),
        ("fn f<N>() {}", "fn f<N>() {}"),
        ("", ""),
        (">", ">"),
        ("[root]", "[root]"),
    ] {
        assert_eq!(stripped(source), tokens(lex(expected)), "{source}");
    }
}

/// Random words with matching brackets.
fn soup(random: &mut impl FnMut(usize) -> usize, words: &[&str]) -> String {
    let (mut source, mut open) = (String::new(), Vec::new());
    for _ in 0..random(12) {
        match random(8) {
            0 => {
                let (opening, closing) = [("(", ")"), ("[", "]"), ("{", "}")][random(3)];
                source += opening;
                open.push(closing);
            }
            1 => source += open.pop().unwrap_or_default(),
            _ => source += words[random(words.len())],
        }
        source += ["", " "][random(2)];
    }
    source.extend(open.into_iter().rev());
    if source.parse::<TokenStream>().is_ok() { source } else { String::new() }
}

/// The generator xorshift64*, with the same numbers in every run.
fn random() -> impl FnMut(usize) -> usize {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    move |below| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        usize::try_from(state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % below
    }
}
