//! The results of lowering programs, and the errors for invalid ones.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::{Function, lower};
use crate::diag::Diags;
use crate::ops::Profile;
use crate::surface::parse::is_keyword;
use crate::surface::{golden, parse};
use crate::text::core_ir;
use crate::verify::verify;

fn report(diags: &Diags) -> String {
    let lines = diags.as_slice().iter().map(|diag| format!("{}: {diag}\n", diag.site)).collect::<String>();
    // Only line and column are kept: the name counts the strings parsed before.
    let parts = lines.split("<parsed string ").enumerate();
    parts.map(|(i, part)| part.split_once(">:").filter(|_| i > 0).map_or(part, |(_, rest)| rest)).collect()
}

/// Every function with its instructions, then every error.
fn lowered(source: &str) -> String {
    let (program, parse_diags) = parse(source.parse().unwrap());
    let (lowered, diags) = lower(&program);
    let mut text = String::new();
    for function in &lowered.functions {
        print(function, &mut text);
    }
    text + &report(&parse_diags) + &report(&diags)
}

fn print(function: &Function, text: &mut String) {
    let Some(source) = &function.program else { return };
    assert_eq!(source.sites.len(), source.module.insts().len());
    writeln!(text, "{} -> {}, updates {:?}", function.name, function.result, function.updates).unwrap();
    text.push_str(&core_ir::print(&source.module));
}

/// Only the errors.
fn wrong(source: &str) -> String {
    let (program, parse_diags) = parse(source.parse().unwrap());
    assert!(parse_diags.is_empty(), "{}", report(&parse_diags));
    report(&lower(&program).1)
}

#[test]
fn programs_lower_to_core_ir() {
    golden::check("lower/programs.txt", lowered);
}

#[test]
fn every_mistake_is_named_where_it_stands() {
    golden::check("lower/errors.txt", wrong);
}

#[test]
fn an_assignment_that_cannot_be_read_has_one_error() {
    for source in [
        "fn f(w: &mut f32[3]) { w = &mut; }",
        "fn f(w: &mut f32[3]) { w[0] = &mut; }",
        "fn f(w: &mut f32[3]) { w[0] -= 3.&mut f32[1]; }",
        "fn f(x: f32[3], w: &mut f32[3]) -> f32[3] { w[0 ..+ 2] = ; w = w + x; w }",
        "fn f() { let x }",
    ] {
        let (program, of_parser) = parse(source.parse().unwrap());
        assert_eq!((of_parser.as_slice().len(), report(&lower(&program).1)), (1, String::new()), "{source}");
    }
}

#[test]
fn transforms_inline_gradients() {
    golden::check("lower/gradients.txt", lowered);
}

/// Lowers a function of one parameter `x` with this body.
fn chain(ty: &str, body: &str) -> (super::Lowered, Diags) {
    let source = format!("fn f(x: {ty}) -> {ty} {{ {body} }}");
    lower(&parse(source.parse().unwrap()).0)
}

#[test]
fn chains_of_any_length_are_lowered() {
    let n = crate::sample::chain(10_000);
    let bodies = [
        "x + ".repeat(n) + "x",
        "x * x + ".repeat(n) + "x",
        "1.0 + ".repeat(n) + "x",
        "- ".repeat(n) + "x",
        "x".to_owned() + &".relu()".repeat(n),
        "let x = x * 2.0;".repeat(n) + "x",
        "let t = (1.0, x); let x = t.1;".repeat(n) + "x",
        format!("x[{}0..]", "1 - 1 + ".repeat(n)),
        format!("let c = 0.5;{} x + c", "let c = c + 0.5;".repeat(n)),
    ];
    for body in bodies {
        let (lowered, diags) = chain("f32[3]", &body);
        assert!(diags.is_empty(), "{}", report(&diags));
        assert!(lowered.functions[0].program.is_some());
    }
}

#[test]
fn what_would_grow_without_bound_is_refused() {
    let deep = "let t = (t,);".repeat(100);
    let (_, diags) = chain("f32[3]", &format!("let t = x; {deep} x"));
    assert_eq!(diags.as_slice().len(), 1);
    assert!(report(&diags).contains("[E1008] a tuple exceeds the limit of 64 levels"), "{}", report(&diags));

    let wide = "let t = (t, t);".repeat(40);
    let (_, diags) = chain("f32[3]", &format!("let t = x; {wide} x"));
    assert_eq!(diags.as_slice().len(), 1);
}

/// Functions that each call the previous one twice. The last would have more instructions than an integer can count.
fn doubling(first: &str, call: impl Fn(&str) -> String) -> String {
    let mut functions = first.to_owned();
    for i in 1..100 {
        functions += &format!("fn f{i}(x: f32) -> f32 {{ {} }}\n", call(&format!("f{}", i - 1)));
    }
    functions
}

#[test]
fn calls_are_counted_before_they_are_inlined() {
    let first = "fn f0(x: f32) -> f32 { x + x }\n";
    let found = wrong(&doubling(first, |f| format!("{f}({f}(x))")));
    let message = "[E1008] with `f15` inlined the function has 65537 instructions or more, which exceeds the limit \
                   of 65536\n";
    assert_eq!(found, format!("17:25: {message}"));
    // A gradient repeats the computation of its function, and calls of both count.
    let first = "fn f0(x: f32) -> f32 { exp(x) * x }\n";
    let nested = format!("{}f{}(x)", "grad(".repeat(20), ", wrt = x)".repeat(20));
    let programs = [
        doubling(first, |f| format!("{f}(x) + grad({f}, wrt = x)(x)")),
        doubling(first, |f| format!("grad({f}, wrt = x)(x) * grad({f}, wrt = x)(x)")),
        format!("fn f(x: f64) -> f64 {{ exp(exp(x) * exp(x * x)) }}\nfn g(x: f64) -> f64 {{ {nested} }}"),
    ];
    for program in crate::sample::sample("calls of gradients", programs) {
        let found = wrong(&program);
        assert!(found.contains("[E1008] ") && found.lines().count() == 1, "{found}");
    }
}

#[test]
fn no_program_makes_lowering_panic() {
    const LINES: &[&str] = &[
        "let a = x @ w;",
        "let a = w.T @ x;",
        "let (a, b) = (x, w);",
        "let b = a * 2;",
        "let c = a + b;",
        "w -= c;",
        "w = w * 0.5;",
        "let a = [[1.0, 2.0], [3.0, 4.0]];",
        "let b = a[0, -1..];",
        "let c = x[.., 0];",
        "let t = (a, (b, c));",
        "let a = t.1.0;",
        "let b = sum(a, axes = [-1], keepdims = true);",
        "let a = mean(b);",
        "let c = reshape(a, [-1, N]);",
        "let n = N - 1;",
        "let a = x[n..];",
        "let b = g(x, w);",
        "let c = g(a, b);",
        "let d = grad(h, wrt = x)(x);",
        "let (l, d) = value_and_grad(h, wrt = (x,))(a);",
        "let b = zeros([2, N]);",
        "let a = full([2], b);",
        "let b = conv2d(a, b, padding = same);",
        "let i = [0, 1];",
        "let a = gather(x, i);",
        "let a = -i / 2;",
        "let b = { let w = x; w };",
        "u(w, a);",
        "let q = u(w, x);",
        "let b = vjp(g, wrt = x)(x, w, a);",
        "let f = expand_dims(a, axes = [0, 1]);",
        "let a = squeeze(b);",
        "let b = a.0;",
        "let a: f64[2] = [1.0, 2.0];",
        "let a = [];",
        "let b = -[1.0, 2.0];",
        "let c = zeros([2]) + ones([3]);",
        "let a = N * [1, 2];",
        "let a = i + N;",
        "let b = broadcast_to(a, [N, N]);",
        "let a = log(1.0);",
        "let e = ([1, 2], 3.0);",
        "let (i, a) = e;",
    ];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        usize::try_from(state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % below
    };
    for _ in crate::sample::sample("random programs", 0..1_500) {
        let lines: String = (0..random(12)).map(|_| LINES[random(LINES.len())]).collect();
        let tail = ["a", "b", "(a, b)", "sum(c)", ""][random(5)];
        let result = ["-> f32", "-> f32[N]", "-> (f32[2], f32[N, 2])", ""][random(4)];
        let source = format!(
            "fn g<K>(x: f32[K], w: f32[K]) -> f32[K] {{ x * w }} fn h<K>(x: f32[K]) -> f32 {{ sum(x * x) }}
             fn u<K>(w: &mut f32[K], x: f32[K]) {{ w -= x; }}
             fn f<N>(x: f32[N, 2], w: &mut f32[2]) {result} {{ {lines} {tail} }}"
        );
        let (program, _) = parse(source.parse().unwrap());
        let (lowered, diags) = lower(&program);
        let _ = report(&diags);
        for function in lowered.functions {
            let Some(source) = function.program else { continue };
            let errors = verify(source.module, Profile::Extended).err().unwrap_or_default();
            assert!(errors.is_empty(), "{errors:?}");
        }
    }
}

#[test]
fn templates_that_grow_beyond_bounds_are_refused() {
    let chain = |calls: &str, count: usize| {
        let next = |at: usize| {
            format!("fn t{}(x: float[..]) {{ {} }}", at + 1, calls.replace('t', &format!("t{at}")))
        };
        let all: Vec<String> = (0..count).map(next).collect();
        format!("fn t0(x: float[..]) {{ x }} {} fn f(x: f32[2]) -> f32[2] {{ t{count}(x) }}", all.join(" "))
    };
    let codes = |source: String| {
        let (program, _) = parse(source.parse().unwrap());
        let (_, diags) = lower(&program);
        diags.into_iter().map(|diag| diag.code.info().name.to_owned()).collect::<Vec<_>>()
    };
    assert!(codes(chain("t(x)", 63)).is_empty());
    assert_eq!(codes(chain("t(x)", 64)), ["E1008"]);
    assert_eq!(codes(chain("t(x) + t(x)", 10)), [""; 0]);
    assert_eq!(codes(chain("t(x) + t(x)", 40)), ["E1008"]);
}

/// Every quoted word in the source of the surface language or of element types, and some that are not in it.
fn words() -> BTreeSet<String> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/surface")];
    let mut sources = vec![folders[0].with_file_name("ty.rs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it is there") {
            let path = entry.expect("it is there").path();
            if path.is_dir() { folders.push(path) } else { sources.push(path) }
        }
    }
    let mut words: BTreeSet<String> =
        ["Layer", "Option", "String", "T", "_x", "r#u8"].map(String::from).into();
    for source in sources.iter().filter(|source| source.extension().is_some_and(|end| end == "rs")) {
        let text = fs::read_to_string(source).expect("it is there");
        let is_word = |text: &&str| {
            let mut letters = text.chars();
            letters.next().is_some_and(|first| first == '_' || first.is_ascii_alphabetic())
                && letters.all(|letter| letter == '_' || letter.is_ascii_alphanumeric())
        };
        words.extend(text.split('"').filter(is_word).map(String::from));
    }
    words.into_iter().filter(|word| !is_keyword(word)).collect()
}

#[test]
fn a_struct_is_refused_exactly_where_its_name_could_not_be_a_type() {
    let report = |source: &str| {
        let (program, parse_diags) = parse(source.parse().unwrap());
        report(&parse_diags) + &report(&lower(&program).1)
    };
    let (mut refused, mut accepted) = (Vec::new(), Vec::new());
    for word in words() {
        let definition = format!("struct {word} {{ w: f32[2] }}");
        let alone = report(&format!("{definition} fn apply_(x: f32[2]) -> f32[2] {{ x }}"));
        let undefined = report(&format!("fn apply_(x: {word}) -> f32[2] {{ x.w }}"));
        if !undefined.contains("[E2002] undefined type `") {
            let found =
                format!("[E2008] `{word}` is the name of another type, expected another struct name\n");
            assert!(alone.ends_with(&found), "{word}: {alone}{undefined}");
            refused.push(word);
            continue;
        }
        assert_eq!(alone, "", "{word}");
        accepted.push((word, definition));
    }
    for (word, definition) in crate::sample::sample("words", accepted) {
        for (items, function) in [
            ("", format!("fn apply_(x: {word}) -> f32[2] {{ x.w }}")),
            ("", format!("fn apply_(x: f32[2]) -> {word} {{ {word} {{ w: x }} }}")),
            ("", format!("fn apply_(x: &mut {word}) {{ x.w = x.w * 2.0; }}")),
            ("", format!("fn apply_(x: {word}) -> ({word}, f32[2]) {{ let y: {word} = x; (y, x.w) }}")),
            ("struct Outer_ { inner: W }", "fn apply_(x: Outer_) -> f32[2] { x.inner.w }".into()),
            (
                "struct Run_ { state: optim::Adam<W> }",
                "fn apply_(x: Run_) -> f32[2] { x.state.mean.w }".into(),
            ),
        ] {
            let source = format!("{} {definition} {function}", items.replace('W', &word));
            assert_eq!(report(&source), "", "{source}");
        }
    }
    for word in
        ["Array", "Tensor", "TensorRef", "Vec", "bool", "double", "f16", "f32", "int", "num", "u8", "usize"]
    {
        assert!(refused.iter().any(|refused| refused == word), "{word}");
    }
}

#[test]
fn the_uses_of_a_struct_that_is_refused_are_no_mistakes_of_their_own() {
    let report = |source: &str| {
        let (program, parse_diags) = parse(source.parse().unwrap());
        report(&parse_diags) + &report(&lower(&program).1)
    };
    let function = "fn f(x: Vec, y: f32[2]) -> Vec { let z: Vec = x; Vec { w: z.w + y } }";
    let definition = "struct Vec { w: f32[2] }";
    for source in [format!("{definition} {function}"), format!("{function} {definition}")] {
        let report = report(&source);
        assert_eq!(report.lines().count(), 1, "{report}");
        assert!(report.contains("[E2008] `Vec` is the name of another type"), "{report}");
    }
}
