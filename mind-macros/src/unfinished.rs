//! Tests of incomplete programs, as editors pass them: cut off, or in the middle of an edit. No expansion panics,
//! complete functions keep their signatures, and names keep their places.

use proc_macro2::{Delimiter, Group, LineColumn, TokenStream, TokenTree};

use crate::{angle, expand::expand, sample::sample};

const PROGRAM: &str = r#"
pub const H: dim = 4;

/// Two layers.
#[must_use]
pub fn net<N>(x: f32[N, 3], w: f32[3, H], v: f32[H]) -> f32[N] {
    let h = relu(x @ w);
    h @ v
}

#[grad(w, v)]
fn loss<N>(x: f32[N, 3], y: f32[N], w: f32[3, H], v: f32[H]) -> f32 {
    let (miss, _) = (net(x, w, v) - y, 2.0);
    -mean(miss * miss, axes = [-1])
}

pub(crate) fn step<N>(x: f32[N, 3], y: f32[N], w: &mut f32[3, H], v: &mut f32[H], rate: f32) -> (f32, f32[N + 1]) {
    let (l, (dw, dv)) = value_and_grad(later, wrt = (w, v))(x, y, w, v);
    w -= rate * dw;
    v -= { let scaled = rate * dv; scaled };
    (l, zeros([N + 1]))
}

fn later<N>(x: f32[N, 3], y: f32[N], w: f32[3, H], v: f32[H]) -> f32 {
    let h = x[.., 0..3; 1] @ w;
    let z = exp(h.T[0]) + y;
    sum(z * 1.5e-1 - net(x, w, v))
}
"#;

const FUNCTIONS: [&str; 4] = ["net", "loss", "step", "later"];

/// A token, or one end of a bracket.
#[derive(Clone)]
enum Piece {
    Leaf(TokenTree),
    Open(Group),
    Close,
}

fn pieces(stream: TokenStream, found: &mut Vec<Piece>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                found.push(Piece::Open(group.clone()));
                pieces(group.stream(), found);
                found.push(Piece::Close);
            }
            leaf => found.push(Piece::Leaf(leaf)),
        }
    }
}

/// The tokens of the pieces. Open brackets are closed at the end, and unmatched closing brackets are left out.
fn join(pieces: &[Piece]) -> TokenStream {
    let mut open: Vec<(Option<Group>, Vec<TokenTree>)> = vec![(None, Vec::new())];
    let closings = std::iter::repeat_n(&Piece::Close, pieces.len());
    for piece in pieces.iter().chain(closings) {
        match piece {
            Piece::Leaf(tree) => open.last_mut().unwrap().1.push(tree.clone()),
            Piece::Open(group) => open.push((Some(group.clone()), Vec::new())),
            Piece::Close if open.len() > 1 => {
                let (original, trees) = open.pop().unwrap();
                let original = original.unwrap();
                let mut group = Group::new(original.delimiter(), trees.into_iter().collect());
                group.set_span(original.span());
                open.last_mut().unwrap().1.push(TokenTree::Group(group));
            }
            Piece::Close => {}
        }
    }
    open.pop().unwrap().1.into_iter().collect()
}

/// The tokens between `fn name` and the body, if the outermost level defines the function.
fn signature(expansion: &TokenStream, name: &str) -> Option<String> {
    let mut trees = expansion.clone().into_iter().peekable();
    while let Some(tree) = trees.next() {
        let is_fn = matches!(&tree, TokenTree::Ident(word) if word == "fn");
        if is_fn && matches!(trees.peek(), Some(TokenTree::Ident(found)) if found == name) {
            let body = |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            return Some(trees.take_while(|tree| !body(tree)).collect::<TokenStream>().to_string());
        }
    }
    None
}

/// The signatures of all functions that are generated from a function.
fn signatures(expansion: &TokenStream, name: &str) -> Vec<String> {
    let grad = (name == "loss").then(|| format!("{name}_grad"));
    let names = [Some(name.to_owned()), Some(format!("{name}_into")), Some(format!("try_{name}")), grad];
    names.iter().flatten().map(|name| signature(expansion, name).unwrap_or_default()).collect()
}

/// For each function of the program, the number of pieces up to the end of its body.
fn ends(pieces: &[Piece]) -> Vec<usize> {
    let mut depth = 0_usize;
    let mut ends = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Open(_) => depth += 1,
            Piece::Close => {
                depth -= 1;
                let is_body = pieces[..at].iter().rev().scan(0_usize, |inner, piece| {
                    match piece {
                        Piece::Close => *inner += 1,
                        Piece::Open(group) if *inner == 0 => return Some(Some(group.delimiter())),
                        Piece::Open(_) => *inner -= 1,
                        Piece::Leaf(_) => {}
                    }
                    Some(None)
                });
                if depth == 0 && is_body.flatten().next() == Some(Delimiter::Brace) {
                    ends.push(at + 1);
                }
            }
            Piece::Leaf(_) => {}
        }
    }
    ends
}

fn program() -> (Vec<Piece>, Vec<usize>, Vec<Vec<String>>) {
    let tokens: TokenStream = PROGRAM.parse().unwrap();
    let whole = expand(tokens.clone());
    assert_eq!(whole.to_string().matches("compile_error").count(), 0, "{whole}");
    let mut found = Vec::new();
    pieces(tokens, &mut found);
    let ends = ends(&found);
    assert_eq!(ends.len(), FUNCTIONS.len());
    let expected = FUNCTIONS.map(|name| signatures(&whole, name)).to_vec();
    assert!(expected.iter().flatten().all(|signature| !signature.is_empty()));
    (found, ends, expected)
}

#[test]
fn a_function_before_the_end_of_the_input_keeps_its_signature() {
    let (pieces, ends, expected) = program();
    for cut in sample("cuts of a program", 0..pieces.len()) {
        let expansion = expand(join(&pieces[..cut]));
        for (function, end) in ends.iter().enumerate().filter(|(_, end)| **end <= cut) {
            let found = signatures(&expansion, FUNCTIONS[function]);
            assert_eq!(found, expected[function], "{end} {}", join(&pieces[..cut]));
        }
    }
}

#[test]
fn a_function_whose_body_is_still_to_be_written_has_its_signature() {
    let whole = "fn f<N>(x: f32[N, 3]) -> f32[N] { sum(x, axes = [1]) }";
    let expected = signature(&expand(whole.parse().unwrap()), "f");
    let head = whole.split_once('{').unwrap().0;
    for rest in ["", ";", "= x", "fn g(x: f32) -> f32 { x }", "let y = x; fn g(x: f32) -> f32 { x }"] {
        let expansion = expand(format!("{head}{rest}").parse().unwrap());
        assert_eq!(signature(&expansion, "f"), expected, "{rest}");
        assert_eq!(signature(&expansion, "g").is_some(), rest.contains("fn g"), "{rest}");
        assert_eq!(expansion.to_string().matches("compile_error").count(), 1, "{rest}");
    }
}

#[test]
fn a_struct_before_the_end_of_the_input_keeps_its_fields_and_their_places() {
    let program = "
        /// What is trained.
        pub struct Layer<N> { pub w: f32[3, N], b: f32[N] }
        pub fn run(x: f32[3], p: Layer<4>) -> f32[4] { relu(x @ p.w + p.b) }
        struct Net { first: Layer<4>, last: Layer<5> }";
    let tokens: TokenStream = program.parse().unwrap();
    let mut found = Vec::new();
    pieces(tokens.clone(), &mut found);
    let definition = |expansion: &TokenStream, name: &str| {
        let trees: Vec<_> = expansion.clone().into_iter().collect();
        let is = |tree: &TokenTree, word: &str| matches!(tree, TokenTree::Ident(found) if found == word);
        let start = trees.windows(2).position(|pair| is(&pair[0], "struct") && is(&pair[1], name))?;
        let is_body = |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        let body = trees[start..].iter().position(is_body)?;
        Some(trees[start..=start + body].iter().cloned().collect::<TokenStream>())
    };
    let whole = expand(tokens);
    assert!(!whole.to_string().contains("compile_error"), "{whole}");
    let whole = definition(&whole, "Layer").expect("the struct is emitted");
    let end = ends(&found)[0];
    for cut in end..found.len() {
        let emitted = definition(&expand(join(&found[..cut])), "Layer").map(|tokens| tokens.to_string());
        assert_eq!(emitted.as_ref(), Some(&whole.to_string()), "{}", join(&found[..cut]));
    }
    let mut emitted = Vec::new();
    words(whole, &mut emitted);
    for (name, column) in [("Layer", 19), ("N", 25), ("w", 34), ("b", 48)] {
        let at = emitted.iter().find(|(word, _)| word == name).expect(name).1;
        assert_eq!((at.line, at.column), (3, column), "{name}");
    }
}

#[test]
fn an_edit_of_one_function_leaves_the_others_their_signatures() {
    let (pieces, ends, expected) = program();
    let [plus, comma] =
        ["+", ","].map(|text| text.parse::<TokenStream>().unwrap().into_iter().next().unwrap());
    let starts: Vec<_> = std::iter::once(0).chain(ends.iter().copied()).collect();
    // Signatures depend on the constant, which ends here.
    let semicolon = |piece: &Piece| matches!(piece, Piece::Leaf(tree) if tree.to_string() == ";");
    let constant = pieces.iter().position(semicolon).unwrap() + 1;
    for at in 0..constant {
        expand(join(&[&pieces[..at], &pieces[at + 1..]].concat()));
    }
    let form = expand(join(&[&[Piece::Leaf(plus.clone())], &pieces[..]].concat()));
    assert_eq!(FUNCTIONS.map(|name| signatures(&form, name)).to_vec(), expected);
    for at in sample("places of an edit", constant..pieces.len()) {
        let edited = starts.iter().rposition(|start| *start <= at).unwrap();
        let (before, piece, after) = (&pieces[..at], &pieces[at..=at], &pieces[at + 1..]);
        let with = |tree: &TokenTree| [before, &[Piece::Leaf(tree.clone())], piece, after].concat();
        let edits =
            [[before, after].concat(), with(&plus), with(&comma), [before, piece, piece, after].concat()];
        // Every second kind of edit at each piece, since all kinds take long in a build without optimisation.
        for edit in edits.iter().skip(at % 2).step_by(2) {
            // If an end of a bracket is missing or doubled, the functions after it change too.
            let takes_along = !matches!(pieces[at], Piece::Leaf(_));
            let expansion = expand(join(edit));
            for function in (0..FUNCTIONS.len()).filter(|function| *function != edited) {
                if takes_along && function > edited {
                    continue;
                }
                assert_eq!(signatures(&expansion, FUNCTIONS[function]), expected[function], "{}", join(edit));
            }
        }
    }
}

#[test]
fn a_text_cut_anywhere_keeps_the_signatures_before_the_cut() {
    let whole = expand(PROGRAM.parse().unwrap());
    for (cut, _) in sample("cuts of a text", PROGRAM.char_indices().step_by(7)) {
        let (tokens, _) = mind_core::surface::lex(&PROGRAM[..cut]);
        let expansion = expand(tokens);
        for name in FUNCTIONS {
            let after = PROGRAM.find(&format!("fn {name}<")).unwrap();
            let end = after + PROGRAM[after..].find("\n}").unwrap() + 2;
            if end <= cut {
                assert_eq!(signatures(&expansion, name), signatures(&whole, name), "{}", &PROGRAM[..cut]);
            }
        }
    }
}

#[test]
fn a_closure_or_wrapper_cut_anywhere_is_expanded() {
    let closure = "|x: f32[2, 3], w: f32[3, 4]| -> f32[2, 4] { let h = x @ w; relu(h) }";
    let wrapper =
        format!("fn g(a: &A) -> B {{ let f = mind::mind!< {closure} >; f(a)>>1 }} fn h() {{ mind!<x>; }}");
    let mut found = Vec::new();
    pieces(closure.parse().unwrap(), &mut found);
    for cut in 0..found.len() {
        let expansion = expand(join(&found[..cut])).to_string();
        assert!(
            expansion.contains("compile_error") || expansion.contains("fn closure (x : &") || cut == 0,
            "{expansion}"
        );
    }
    found.clear();
    pieces(wrapper.parse().unwrap(), &mut found);
    for cut in 0..found.len() {
        let expansion = angle::expand(join(&found[..cut])).to_string();
        assert!(!expansion.contains("mind ! <"), "{expansion}");
    }
}

/// Every identifier with its place.
fn words(stream: TokenStream, found: &mut Vec<(String, LineColumn)>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => words(group.stream(), found),
            TokenTree::Ident(word) => found.push((word.to_string(), word.span().start())),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[test]
fn names_of_functions_parameters_symbols_and_constants_keep_their_places() {
    let mut written = Vec::new();
    let tokens: TokenStream = PROGRAM.parse().unwrap();
    words(tokens.clone(), &mut written);
    let place =
        |name: &str, count: usize| written.iter().filter(|(word, _)| word == name).nth(count).unwrap().1;

    for tokens in [tokens, PROGRAM.replace("relu(x @ w)", "relu(x @ v)").parse().unwrap()] {
        let expansion = expand(tokens);
        // `place` gives the place of a name in the program. Both programs have the same lines, and the same columns in
        // signatures.
        for (function, parameters) in
            [("net", ["N", "x", "w", "v"]), ("loss", ["N", "x", "y", "w"]), ("step", ["N", "y", "v", "rate"])]
        {
            let name = place(function, 0);
            let of_signature: Vec<_> =
                written.iter().filter(|(_, at)| at.line == name.line).cloned().collect();
            let in_signature = |word: &str| of_signature.iter().find(|(found, _)| found == word).unwrap().1;
            for emitted in [function.to_owned(), format!("{function}_into"), format!("try_{function}")] {
                let mut trees = expansion.clone().into_iter();
                let defined = trees.find_map({
                    let mut after_fn = false;
                    move |tree| match tree {
                        TokenTree::Ident(word) if after_fn && word == emitted => Some(word.span().start()),
                        tree => {
                            after_fn = matches!(&tree, TokenTree::Ident(word) if word == "fn");
                            None
                        }
                    }
                });
                let line_and_column = |at: LineColumn| (at.line, at.column);
                assert_eq!(defined.map(line_and_column), Some(line_and_column(name)), "{function}");
                let mut found = Vec::new();
                let until_body = |tree: &TokenTree| !matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
                words(trees.take_while(until_body).collect(), &mut found);
                for parameter in parameters {
                    let first = found.iter().find(|(word, _)| word == parameter).expect(parameter).1;
                    assert_eq!(first, in_signature(parameter), "{parameter} of {function}");
                }
            }
        }
        let mut all = Vec::new();
        words(expansion, &mut all);
        assert!(all.contains(&("H".to_owned(), place("H", 0))));
    }
}
