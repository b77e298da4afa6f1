//! The results of parsing, and the errors for invalid input.

use proc_macro2::{Delimiter, Group, TokenStream};

use super::{parse, parse_block, parse_closure, parse_expression};
use crate::diag::{Diags, Site};
use crate::surface::ast::{Block, NodeKind};
use crate::surface::golden;

/// Every message with its site and help, one per line.
fn report(diags: &Diags) -> String {
    let lines = diags.as_slice().iter().map(|diag| format!("{}: {diag}\n", diag.site)).collect::<String>();
    // Only line and column are kept: the name counts the strings parsed before.
    lines
        .split("<parsed string ")
        .enumerate()
        .map(|(i, part)| part.split_once(">:").filter(|_| i > 0).map_or(part, |(_, rest)| rest))
        .collect()
}

fn read(source: &str) -> Block {
    let (block, diags) = parse_block(source.parse().unwrap());
    assert!(diags.is_empty(), "{source}\n{}", report(&diags));
    block
}

/// The body of a function, printed.
fn body(statements: &str) -> String {
    let text = read(&format!("fn f() {{ {statements} }}")).to_string();
    let inner = text.strip_prefix("fn f() {\n").and_then(|text| text.strip_suffix("}\n")).unwrap();
    inner.lines().map(|line| line.trim_start().to_owned()).collect::<Vec<_>>().join("\n")
}

/// The errors in `source`.
fn wrong(source: &str) -> String {
    let (_, diags) = parse(source.parse().unwrap());
    report(&diags)
}

/// The expression with every operation in parentheses.
fn grouped(expression: &str) -> String {
    let block = read(&format!("fn f() {{ {expression} }}"));
    let body = block.functions[0].body.as_ref().unwrap();
    let mut texts: Vec<String> = Vec::new();
    for (i, node) in body.nodes.iter().enumerate() {
        let text = match &node.kind {
            NodeKind::Binary { op, lhs, rhs, .. } => {
                format!("({} {} {})", texts[lhs.index()], op.symbol(), texts[rhs.index()])
            }
            NodeKind::Prefix { map, operand, .. } => {
                format!("({}{})", map.row().label, texts[operand.index()])
            }
            NodeKind::Transpose { base, axes } => format!("({}{})", texts[base.index()], axes.symbol()),
            NodeKind::Field { base, index, .. } => format!("({}.{index})", texts[base.index()]),
            _ => body.text(crate::surface::ast::ExprId(u32::try_from(i).unwrap())),
        };
        texts.push(text);
    }
    texts.pop().unwrap()
}

#[test]
fn every_mistake_is_named_where_it_stands() {
    golden::check("parse/errors.txt", wrong);
}

#[test]
fn programs_print_as_they_are_written() {
    golden::check("parse/programs.txt", |source| {
        let (program, diags) = parse(source.parse().unwrap());
        assert!(diags.is_empty(), "{source}\n{}", report(&diags));
        let printed = program.to_string();
        let (again, diags) = parse(printed.parse().unwrap());
        assert!(diags.is_empty(), "{printed}\n{}", report(&diags));
        assert_eq!(again.to_string(), printed);
        printed
    });
}

#[test]
fn expressions_print_as_they_are_written() {
    golden::check("parse/expressions.txt", |source| {
        let (expression, diags) = parse_expression(source.parse().unwrap());
        assert!(diags.is_empty(), "{source}\n{}", report(&diags));
        let printed = expression.unwrap().to_string();
        let (again, diags) = parse(printed.parse().unwrap());
        assert!(diags.is_empty(), "{printed}\n{}", report(&diags));
        assert_eq!(again.to_string(), printed);
        printed
    });
}

#[test]
fn every_mistake_of_an_expression_is_named_where_it_stands() {
    golden::check("parse/expression_errors.txt", |source| {
        report(&parse_expression(source.parse().unwrap()).1)
    });
}

#[test]
fn the_tokens_of_a_rust_expression_are_left_as_they_are() {
    let (expression, diags) = parse_expression("x + { f::<3>(&x)?.y }".parse().unwrap());
    assert!(diags.is_empty(), "{}", report(&diags));
    let body = expression.unwrap().body;
    let rust = body.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Rust { tokens, .. } => Some(tokens.clone()),
        _ => None,
    });
    let tokens: TokenStream = "f::<3>(&x)?.y".parse().unwrap();
    assert_eq!(rust.unwrap().to_string(), tokens.to_string());
}

#[test]
fn operators_bind_as_in_rust_and_matmul_like_times() {
    assert_eq!(grouped("a + b * c - d"), "((a + (b * c)) - d)");
    assert_eq!(grouped("a @ b @ c / d * e"), "((((a @ b) @ c) / d) * e)");
    assert_eq!(grouped("-a * b"), "((-a) * b)");
    assert_eq!(grouped("a - -b"), "(a - (-b))");
    assert_eq!(grouped("-a.T @ b"), "((-(a.T)) @ b)");
    assert_eq!(grouped("a * (b + c).T"), "(a * ((b + c).T))");
    assert_eq!(grouped("--2.0 + -1"), "((--2.0) + -1)");
    assert_eq!(grouped("x.0.1 + x.1.T"), "(((x.0).1) + ((x.1).T))");
}

#[test]
fn a_sign_before_a_literal_is_the_literals() {
    assert_eq!(body("x[-1]"), "x[-1]");
    assert_eq!(body("-9223372036854775808"), "-9223372036854775808");
    assert_eq!(body("-2.0.relu()"), "-2.0.relu()");
    assert_eq!(grouped("-2.0.relu()"), "(-2.0.relu())");
}

#[test]
fn long_expressions_are_shortened_in_messages() {
    let block = read("fn f() { relu(first @ second + third @ fourth + fifth @ sixth) }");
    let body = block.functions[0].body.as_ref().unwrap();
    let text = body.short_text(body.tail.unwrap());
    assert_eq!(text, "relu(first @ second + third @ fourth +…");
}

#[test]
fn sites_span_the_expression_and_name_the_operator() {
    let block = read("fn f() { (a + b) @ c.T }");
    let body = block.functions[0].body.as_ref().unwrap();
    let node = &body[body.tail.unwrap()];
    let NodeKind::Binary { operator, .. } = &node.kind else { panic!("{node:?}") };
    let columns = |site: &Site| {
        let Site::Tokens { first, last } = site else { panic!("{site:?}") };
        (first.start().column, last.end().column)
    };
    assert_eq!(columns(operator), (17, 18));
    assert_eq!(columns(&node.site), (9, 22));
}

#[test]
fn attributes_are_passed_on_and_grad_is_read() {
    let block = read(
        "/// Doc.\n#[allow(clippy::all)] #[grad(w, zero_ok b)] #[inline] pub(crate) fn f(w: f32, b: f32) -> f32 { w }",
    );
    let function = &block.functions[0];
    assert_eq!(function.attributes.to_string(), "# [doc = \" Doc.\"] # [allow (clippy :: all)] # [inline]");
    assert_eq!(function.visibility.to_string(), "pub (crate)");
    assert_eq!(function.gradient.as_ref().unwrap().to_string(), "(w, zero_ok b)");
}

#[test]
fn dimensions_of_a_struct_are_no_parameters() {
    let source =
        "struct P<I, J, K> { w: f32[I, J, K] } fn f<I, J, K>(p: P<I, J, K,>, q: f32) -> f32 { sum(p.w) * q }";
    let (block, diags) = parse_block(source.parse().unwrap());
    assert!(diags.is_empty(), "{}", report(&diags));
    assert_eq!((block.functions.len(), block.templates.len()), (1, 0));
}

#[test]
fn a_function_whose_body_is_wrong_keeps_its_signature() {
    let source = "fn f(x: f32[2]) -> f32 { let (a, 3) = x; a } fn g() { let y = 1 ? 2; y } fn h(x: ) {}";
    let (block, diags) = parse_block(source.parse().unwrap());
    assert_eq!(diags.as_slice().len(), 3);
    assert!(block.functions[0].body.is_none());
    assert_eq!(block.functions[0].parameters.len(), 1);
    assert!(matches!(block.functions[1].body.as_ref().unwrap().nodes[0].kind, NodeKind::Unread));
    assert_eq!(block.unread[0], "h");
}

#[test]
fn fragments_of_other_macros_keep_their_grouping() {
    let sum = Group::new(Delimiter::None, "a + b".parse().unwrap());
    let tokens: TokenStream =
        "|x: f32|".parse::<TokenStream>().unwrap().into_iter().chain([sum.into()]).collect();
    let tokens = tokens.into_iter().chain("* c".parse::<TokenStream>().unwrap()).collect();
    let (closure, diags) = parse_closure(tokens);
    assert!(diags.is_empty(), "{}", report(&diags));
    assert_eq!(closure.unwrap().to_string(), "|x: f32| (a + b) * c");
}

fn nested(open: &str, close: &str, depth: usize) -> String {
    format!("fn f() {{ {}x{} }}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn brackets_nest_to_the_limit_and_no_further() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("-(", ")"), ("x[", "]"), ("x.f(", ")")]
    {
        // The body is a bracket too.
        assert_eq!(wrong(&nested(open, close, 255)), "", "{open}");
        for depth in [256, 10_000] {
            let found = wrong(&nested(open, close, depth));
            assert!(found.contains("[E1008] brackets nest deeper than the limit of 256"), "{found}");
        }
    }
    for (before, open, inner, close, after) in [
        ("fn f(x: f32[", "(", "N", ")", "]) {}"),
        ("fn f() -> ", "(", "f32", ",)", " {}"),
        ("fn f() { let ", "(", "a", ",)", " = x; }"),
        ("fn f() { ", "grad(", "g", ", wrt = x)", "(x) }"),
    ] {
        let nested = |depth| format!("{before}{}{inner}{}{after}", open.repeat(depth), close.repeat(depth));
        assert_eq!(wrong(&nested(29)), "");
        for depth in [40, 200] {
            let found = wrong(&nested(depth));
            assert!(found.contains("[E1008] brackets nest deeper than the limit of 32 for"), "{found}");
        }
    }
}

#[test]
fn chains_of_any_length_are_read_printed_and_dropped() {
    let n = crate::sample::chain(10_000);
    let sources = [
        "x + ".repeat(n) + "x",
        "x @ ".repeat(n) + "x",
        "x + x * ".repeat(n) + "x",
        "- ".repeat(n) + "x",
        "x".to_owned() + &".relu()".repeat(n),
        "x".to_owned() + &".T".repeat(n),
        "x".to_owned() + &"[0]".repeat(n),
        "let x = x;".repeat(n) + "x",
    ];
    for source in sources {
        let block = read(&format!("fn f() {{ {source} }}"));
        let printed = block.to_string();
        assert_eq!(read(&printed).to_string(), printed);
        let body = block.functions[0].body.as_ref().unwrap();
        assert!(body.short_text(body.tail.unwrap()).chars().count() <= 40);
    }
    assert_eq!(wrong(&format!("fn f(x: f32[{}1]) {{}}", "1 + ".repeat(n))), "");
}

#[test]
fn no_tokens_make_the_parser_panic() {
    const WORDS: &[&str] = &[
        "fn",
        "f",
        "x",
        "N",
        "let",
        "mut",
        "const",
        "dim",
        "pub",
        "grad",
        "value_and_grad",
        "vjp",
        "wrt",
        "zero_ok",
        "late",
        "self",
        "f32",
        "i64",
        "T",
        "true",
        "if",
        "_",
        "1",
        "2.5",
        "0.1",
        "-",
        "+",
        "*",
        "/",
        "@",
        "=",
        "==",
        "->",
        "..",
        "..=",
        ";",
        ",",
        ":",
        ".",
        "&",
        "|",
        "||",
        "#",
        "<",
        ">",
        "!",
        "\"s\"",
        "'a",
    ];
    const BRACKETS: &[(&str, &str)] = &[("(", ")"), ("[", "]"), ("{", "}")];
    // xorshift64*: the same streams in every run.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        usize::try_from(state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % below
    };
    for round in crate::sample::sample("lines of tokens", 0..4_000) {
        let mut source =
            ["", "fn f() {", "|x: f32| ", "fn f(x: f32[N]) -> f32 { let a = "][round % 4].to_owned();
        let mut open: Vec<&str> = if source.contains('{') { vec!["}"] } else { vec![] };
        for _ in 0..random(40) {
            match random(8) {
                0 => {
                    let (opening, closing) = BRACKETS[random(3)];
                    source += opening;
                    open.push(closing);
                }
                1 => source += open.pop().unwrap_or(""),
                _ => source += WORDS[random(WORDS.len())],
            }
            source += " ";
        }
        source.extend(open.into_iter().rev());
        let Ok(tokens) = source.parse::<TokenStream>() else { continue };
        let (program, diags) = parse(tokens.clone());
        let _ = (program.to_string(), report(&diags));
        let _ = (parse_block(tokens.clone()), parse_closure(tokens.clone()));
        let (expression, diags) = parse_expression(tokens);
        let _ = (expression.map(|expression| expression.to_string()), report(&diags));
    }
}

#[test]
fn a_body_that_begins_with_a_comparison_is_no_update() {
    for operator in ["<", "<=", ">", ">=", "==", "!="] {
        let text = format!("fn f(x: f32[2], y: f32[2]) -> bool[2] {{ x {operator} y }}");
        let (block, mut diags) = parse(text.parse().unwrap());
        diags.extend(crate::surface::lower(&block).1);
        assert!(diags.is_empty(), "{operator}: {diags:?}");
    }
}

#[test]
fn the_value_of_a_closure_may_stand_in_brackets_behind_its_type() {
    for closure in
        ["|x: f32| -> f32 (x * 2.0)", "|x: f32[2]| -> f32[2] (x * 2.0)", "|x: f32[2]| -> f32[2] [1.0, 2.0]"]
    {
        let (_, diags) = parse(closure.parse().unwrap());
        assert!(diags.is_empty(), "{closure}: {diags:?}");
    }
}
