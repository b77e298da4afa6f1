//! No expression makes the compiler panic, whatever its tokens and the types of its leaves are.

use mind_core::{
    diag::Code,
    open::{self, Program},
    ops::Profile,
    surface::parse_expression,
    testing::{Random, random_expression},
    ty::{DType, Shape, Type},
    verify::verify,
};
use proc_macro2::{TokenStream, TokenTree};

use crate::sample::sample;

const WORDS: &[&str] = &[
    "x",
    "y",
    "self",
    "late",
    "wrt",
    "zero_ok",
    "axes",
    "axis",
    "keepdims",
    "padding",
    "same",
    "true",
    "let",
    "relu",
    "exp",
    "sum",
    "mean",
    "reshape",
    "transpose",
    "squeeze",
    "expand_dims",
    "slice",
    "gather",
    "conv2d",
    "dot",
    "matmul",
    "zeros",
    "ones_like",
    "full",
    "broadcast_to",
    "stop_gradient",
    "grad",
    "value_and_grad",
    "vjp",
    "f32",
    "i64",
    "T",
    "w",
    "0",
    "1",
    "-1",
    "2.5",
    "1e300",
    "3_f64",
    "0.1",
    "+",
    "-",
    "*",
    "/",
    "@",
    ".",
    ",",
    ";",
    ":",
    "=",
    "..",
    "_",
];
const BRACKETS: &[(&str, &str)] = &[("(", ")"), ("[", "]"), ("{", "}")];

#[test]
fn no_tokens_make_the_compiler_panic() {
    let mut random = Random::new(1);
    for round in 0..6_000 {
        let mut source = ["", "sum(", "{ let a = ", "grad(sum(x * "][round % 4].to_owned();
        let mut open: Vec<&str> = match round % 4 {
            0 => vec![],
            1 => vec![")"],
            2 => vec!["}"],
            _ => vec![", wrt = x)", ")"],
        };
        for _ in 0..random.below(24) {
            match random.below(9) {
                0 => {
                    let (opening, closing) = *random.pick(BRACKETS);
                    source += opening;
                    open.push(closing);
                }
                1 => source += open.pop().unwrap_or(""),
                _ => source += WORDS[random.below(WORDS.len())],
            }
            source += " ";
        }
        source.extend(open.into_iter().rev());
        if let Ok(tokens) = source.parse() {
            compile(tokens, &mut random);
        }
    }
}

#[test]
fn no_change_to_a_program_makes_the_compiler_panic() {
    let mut random = Random::new(2);
    let mut whole = 0;
    let seeds = sample("random expressions", 0..3_000);
    let count = seeds.len();
    for seed in seeds {
        let expression = random_expression(seed, 1 + (seed % 6) as usize, DType::F32);
        let names: Vec<_> = expression.values.iter().map(|(name, _)| format!("sum({name})")).collect();
        let value = names.join(" + ");
        let source = match seed % 3 {
            0 => format!("{{ {} {value} }}", expression.statements),
            1 => format!("grad({{ {} {value} }}, wrt = (x0, zero_ok x1))", expression.statements),
            _ => format!("vjp({{ {} {value} }}, wrt = zero_ok x0)(2.0) : f32[2, 3]", expression.statements),
        };
        let tokens: TokenStream = source.parse().unwrap();
        whole += usize::from(compile(tokens.clone(), &mut random));
        for _ in 0..2 {
            compile(changed(tokens.clone(), &mut random), &mut random);
        }
    }
    assert!(whole * 3 > count, "{whole} programs were compiled");
}

/// Compiles tokens up to code generation. Returns whether they are a program.
fn compile(tokens: TokenStream, random: &mut Random) -> bool {
    let (expression, diags) = parse_expression(tokens);
    let _ = diags.into_iter().map(|diag| diag.to_string()).collect::<Vec<_>>();
    let Some(expression) = expression else { return false };
    let (program, diags) = open::lower(&expression);
    let _ = diags.into_iter().map(|diag| diag.to_string()).collect::<Vec<_>>();
    let Some(program) = program else { return false };
    let _ = open::check_annotated(&program);
    let _ = (open::plan(&program), program.to_string());
    for _ in 0..3 {
        match open::instantiate(&program, &types(&program, random)) {
            Ok(module) => assert!(verify(module, Profile::Extended).is_ok(), "{program}"),
            // This code indicates a compiler bug.
            Err(diag) => assert_ne!(diag.code, Code::E5002, "{program}\n{diag}"),
        }
    }
    true
}

/// Random types of the leaves, except for declared ones.
fn types(program: &Program, random: &mut Random) -> Vec<Type> {
    let mut drawn = || {
        let extents: Vec<i64> = (0..random.below(4)).map(|_| 1 + random.below(3) as i64).collect();
        let dtype = *random.pick(&[
            DType::F32,
            DType::F32,
            DType::F32,
            DType::F64,
            DType::I64,
            DType::I32,
            DType::U8,
        ]);
        Type::new(dtype, Shape::literal(&extents))
    };
    let written = |leaf: &open::Leaf| leaf.annotation.as_ref().map(|(ty, _)| ty.clone());
    program.leaves.iter().map(|leaf| written(leaf).unwrap_or_else(&mut drawn)).collect()
}

/// Drops, duplicates or replaces one token, at any depth.
fn changed(tokens: TokenStream, random: &mut Random) -> TokenStream {
    let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
    if trees.is_empty() {
        return TokenStream::new();
    }
    let at = random.below(trees.len());
    if let TokenTree::Group(group) = &trees[at]
        && !random.once_in(4)
    {
        let inside = changed(group.stream(), random);
        trees[at] = proc_macro2::Group::new(group.delimiter(), inside).into();
        return trees.into_iter().collect();
    }
    match random.below(3) {
        0 => drop(trees.remove(at)),
        1 => trees.insert(at, trees[at].clone()),
        _ => {
            let word: TokenStream = WORDS[random.below(WORDS.len())].parse().unwrap();
            trees.splice(at..=at, word);
        }
    }
    trees.into_iter().collect()
}
