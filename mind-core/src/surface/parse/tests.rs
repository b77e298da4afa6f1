//! What is read, and what is said of what cannot be.

use super::{parse, parse_block, parse_closure};
use crate::diag::{Code, Diags};
use crate::surface::ast::{Block, NodeKind, Program};

/// Every message with its place and help, a line each.
fn report(diags: &Diags) -> String {
    let lines = diags.as_slice().iter().map(|diag| format!("{}: {diag}\n", diag.site)).collect::<String>();
    // Only line and column: the name counts the strings parsed before.
    lines.split("<parsed string ").enumerate().map(|(i, part)| part.split_once(">:").filter(|_| i > 0).map_or(part, |(_, rest)| rest)).collect()
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

/// What is wrong with `source`.
fn wrong(source: &str) -> String {
    let (_, diags) = parse(source.parse().unwrap());
    report(&diags)
}

/// What is wrong with the statements of a function.
fn wrong_body(statements: &str) -> String {
    wrong(&format!("fn f() {{\n{statements}\n}}"))
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
            NodeKind::Neg { operand, .. } => format!("(-{})", texts[operand.index()]),
            NodeKind::Transpose(base) => format!("({}.T)", texts[base.index()]),
            NodeKind::Field { base, index, .. } => format!("({}.{index})", texts[base.index()]),
            _ => body.text(crate::surface::ast::ExprId(u32::try_from(i).unwrap())),
        };
        texts.push(text);
    }
    texts.pop().unwrap()
}

#[test]
fn dbg() {
    for s in [
"x ** 2", "let y = x % 2; let z = y == 1; z", "if x { 1.0 } else { 2.0 }\nlet y = 3 as f32;\n y", "for i in 0..3 { w -= 1.0; }\nlet a = b c;\na",
"let mut x = 1.0; x", "return x;", "let x = 1.0\nlet y = 2.0;\n y", "let x = 1.0", "let 3 = x; q % q", "let (a, (b, a)) = x; a", "let x: usize = 3; x",
"x[0] = 3.0; x.0 += 2.0; w -= ; w =", "f(&x)?", "let a = &x; a", "f(a = 1, b)", "f(a b)", "f(a, , b)", "x.shape; x.t; x.await", "x[]; x[.., 0, ..]; x[1:2]; x[0..=3]; x[1..2..3]; x[..;]",
"f(x)(y)", "grad(f)(x)", "grad(f, wrt = x)", "grad(f(x), wrt = x)", "grad(f, wrt = (x, x))(x)", "grad(f, wrt = 3)(x)", "grad(f, x)(x)", "grad(f, wrt = ())(x)", "value_and_grad(|x| x, wrt = x)(x)", 
"\"text\"; 'a'; b\"a\"", "1.0_f16; 99999999999999999999; 3000000000_i32; 1e999; 1e39_f32; 1.5_i32; 2u8", "-9223372036854775808; 9223372036854775808", "std::f32::consts::PI * x", "#[allow(x)] let a = 3; a", "(1, 2", "+ x", "x +", "let x", "let x =", "{ let a = b % c; a } + { d e }", "x.0.a.1; x.0x1; x.1.5; x.0e1", "_", "_ = f(x);", "fn g() {}", "x = = y;", "let (a, b, = c;", "let (a, 3) = c;","!x","a < b", "x as f32", "|x| x", "let f = |x| x;", "a.0.1.T", "let = 3;", "1.0.relu; 1.T", "x.relu::<f32>()", "vec![1.0]", "loop { }", "a @= b;"] {
        println!("## {s}\n{}", if s.parse::<proc_macro2::TokenStream>().is_ok() {wrong_body(s)} else {"lexerr".into()});
    }
}
#[test]
fn dbg2() {
    for s in [
"", "x + y", "async fn f() { x } fn g() { a b }", "#![allow(x)] fn f() {}", "#[foo] fn f() {x}", "#[grad()] fn f() {x}", "#[grad] fn f() {x}", "#[grad(a, a)] #[grad(b)] fn f() {x}", "#[grad(a)] const H: dim = 3;",
"fn f<const N: usize>() {}", "fn f<N: Dim>() {}", "fn f<'a>() {}", "fn f<N, N>() {}", "fn f<N M>() {}", "fn f(mut x: f32) {}", "fn f(&self) {}", "fn f(self) {}","fn f(x) {}", "fn f(x: f32, x: f32) {}", "fn f<N>(N: f32[N]) {}",
"fn f(x: &f32[3]) {}", "fn f(x: Tensor<f32>) {}", "fn f(x: [f32; 3]) {}", "fn f(x: usize) {}", "fn f(x: f32[?, 3]) {}", "fn f(x: f32[_, 3]) {}", "fn f(x: f32[-1]) {}", "fn f(x: f32[2.0]) {}", "fn f(x: f32[2usize]) {}", "fn f(x: f32[N M]) {}", "fn f(x: f32[N % 2]) {}", "fn f(x: (f32, f32)) {}", "fn f(x: f32 y: f32) {}", "fn f(x: f32) -> {}", "fn f(x: f32) where N: Dim {}", "fn f(x: f32);", "fn (x: f32) {}", "fn f {}", "fn grad(x: f32) {}", "fn f() {} fn f() {}", "const H: dim = 1; const H: dim = 2;", "const H: usize = 1;", "const H = 1;", "const H: dim = 1 fn f() {}", "const H: dim = x + ; fn f() { a % b }", "const N: dim = 3; fn f<N>() {}", "const fn f() {} fn g() { a b }", "struct X; fn g() { a b }", "fn f() {} x", "|x: f32| x y", "|x| x", "|x: f32, x: f32| x", "|x: f32 x", "|| 1.0", "move |x: f32| x", "|x: f32| -> f32[3] { let a = b % c; a }", "pub(crate) fn f() {}; fn g() {}", "fn if() {}", "let x = 3;", "use foo::bar; fn f() { a b }", "fn f(x: f32[N, 3) {}", "fn f(#[foo] x: f32) {}", "fn f(x: f32, ..) {}", "fn f(x: f64[N][M]) {}", "fn f(x: f32[99999999999999999999]) {}"] {
        println!("## {s}\n{}", if s.parse::<proc_macro2::TokenStream>().is_ok() {wrong(s)} else {"lexerr".into()});
    }
}
