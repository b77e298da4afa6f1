//! Compares `einsum` with its definition, a sum over all values of all indices: results and gradients, in functions with
//! known and symbolic extents, and in expressions. All numbers are small integers, so results are exact.

use std::collections::BTreeMap;

use mind_core::{interp::Array, surface, testing::Random};

use crate::{
    library::support::{compiled, expression, floats, run, with_gradients},
    sample::some,
};

/// A call of `einsum`, with the extents of its operands.
#[derive(Clone, Debug)]
struct Case {
    text: String,
    shapes: Vec<Vec<usize>>,
}

impl Case {
    fn new(text: &str, shapes: &[&[usize]]) -> Self {
        Self { text: text.to_owned(), shapes: shapes.iter().map(|shape| shape.to_vec()).collect() }
    }
}

/// The definition: the shape of the output, and its elements. An axis of `...` is a digit that counts the axes after it.
fn defined(case: &Case, operands: &[Vec<f64>]) -> (Vec<usize>, Vec<f64>) {
    let text = case.text.replace(' ', "");
    let (terms, output) = match text.split_once("->") {
        Some((terms, output)) => (terms, Some(output)),
        None => (text.as_str(), None),
    };
    let named = |term: &str, axes: usize| -> Vec<char> {
        let digits = ('0'..='9').take(axes).collect::<Vec<_>>().into_iter().rev();
        term.replace("...", &digits.collect::<String>()).chars().collect()
    };
    let mut most = 0;
    let terms: Vec<Vec<char>> = terms
        .split(',')
        .zip(&case.shapes)
        .map(|(term, shape)| {
            let axes = shape.len() - term.replace("...", "").len();
            most = most.max(axes);
            named(term, axes)
        })
        .collect();
    let mut extents: BTreeMap<char, usize> = BTreeMap::new();
    for (term, shape) in terms.iter().zip(&case.shapes) {
        for (index, extent) in term.iter().zip(shape) {
            let known = extents.entry(*index).or_insert(1);
            assert!(*known == 1 || *extent == 1 || known == extent, "{case:?}");
            *known = *extent.max(known);
        }
    }
    let output: Vec<char> = match output {
        Some(output) => named(output, most),
        None => {
            let times = |index: char| terms.iter().flatten().filter(|other| **other == index).count();
            let letters = extents.keys().copied().filter(|index| index.is_alphabetic() && times(*index) == 1);
            named("...", most).into_iter().chain(letters).collect()
        }
    };
    let shape: Vec<usize> = output.iter().map(|index| extents[index]).collect();
    let mut result = vec![0.0; shape.iter().product()];
    let total: usize = extents.values().product();
    for number in 0..total {
        let (mut rest, mut at) = (number, BTreeMap::new());
        for (index, extent) in &extents {
            at.insert(*index, rest % extent);
            rest /= extent;
        }
        let flat = |term: &[char], shape: &[usize]| {
            let axes = term.iter().zip(shape);
            axes.fold(0, |flat, (index, extent)| flat * extent + if *extent == 1 { 0 } else { at[index] })
        };
        let factors = terms.iter().zip(&case.shapes).zip(operands);
        let product: f64 = factors.map(|((term, shape), operand)| operand[flat(term, shape)]).product();
        result[flat(&output, &shape)] += product;
    }
    (shape, result)
}

fn integers(count: usize, random: &mut Random) -> Vec<f64> {
    (0..count).map(|_| random.below(7) as f64 - 3.0).collect()
}

fn count(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// The call, and its operands as parameters with these types.
fn function(case: &Case, result: &str, types: &[String]) -> String {
    let names: Vec<String> = (0..types.len()).map(|at| format!("x{at}")).collect();
    let parameters: Vec<String> = names.iter().zip(types).map(|(name, ty)| format!("{name}: {ty}")).collect();
    let symbols: std::collections::BTreeSet<&str> = types
        .iter()
        .flat_map(|ty| ty.trim_start_matches("f64").split(['[', ']', ',', ' ']))
        .filter(|word| word.starts_with('N'))
        .collect();
    let symbols: Vec<&str> = symbols.into_iter().collect();
    let generics = if symbols.is_empty() { String::new() } else { format!("<{}>", symbols.join(", ")) };
    format!("fn f{generics}({}) -> {result} {{ {} }}", parameters.join(", "), call(case))
}

fn call(case: &Case) -> String {
    let names: Vec<String> = (0..case.shapes.len()).map(|at| format!("x{at}")).collect();
    format!("einsum({:?}, {})", case.text, names.join(", "))
}

fn ty(extents: &[String]) -> String {
    if extents.is_empty() { "f64".to_owned() } else { format!("f64[{}]", extents.join(", ")) }
}

fn literal(shape: &[usize]) -> String {
    ty(&shape.iter().map(usize::to_string).collect::<Vec<_>>())
}

/// Checks results and gradients in a function whose extents are known.
fn check(case: &Case, random: &mut Random) {
    let operands: Vec<Vec<f64>> = case.shapes.iter().map(|shape| integers(count(shape), random)).collect();
    let (shape, expected) = defined(case, &operands);
    let types: Vec<String> = case.shapes.iter().map(|shape| literal(shape)).collect();
    let module = compiled("num", &function(case, &literal(&shape), &types));
    let arrays = |operands: &[Vec<f64>]| -> Vec<Array> {
        case.shapes
            .iter()
            .zip(operands)
            .map(|(shape, operand)| floats(mind_core::ty::DType::F64, shape, operand))
            .collect()
    };
    let cotangent = integers(expected.len(), random);
    let cotangents = [floats(mind_core::ty::DType::F64, &shape, &cotangent)];
    let found = with_gradients(&module, &arrays(&operands), &cotangents);
    assert_eq!(numbers(&found[0]), expected, "{case:?}");
    // The result is linear in each operand, so its change along a direction is the result at that direction.
    for (at, gradient) in found[1..].iter().enumerate() {
        let mut changed = operands.clone();
        changed[at] = integers(changed[at].len(), random);
        let (_, change) = defined(case, &changed);
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        assert_eq!(dot(&numbers(gradient), &changed[at]), dot(&cotangent, &change), "{case:?}, operand {at}");
    }
}

fn numbers(array: &Array) -> Vec<f64> {
    match &array.elements {
        mind_core::interp::Elements::F64(numbers) => numbers.clone(),
        other => panic!("{other:?}"),
    }
}

/// Checks results where extents are symbols, and where no type is known.
fn check_without_extents(case: &Case, random: &mut Random) {
    let operands: Vec<Vec<f64>> = case.shapes.iter().map(|shape| integers(count(shape), random)).collect();
    let (shape, expected) = defined(case, &operands);
    let dims = |shape: &[usize]| shape.iter().map(|extent| format!("N{extent}")).collect::<Vec<_>>();
    let types: Vec<String> = case.shapes.iter().map(|shape| ty(&dims(shape))).collect();
    let arrays: Vec<Array> = case
        .shapes
        .iter()
        .zip(&operands)
        .map(|(shape, operand)| floats(mind_core::ty::DType::F64, shape, operand))
        .collect();
    // A symbol is not broadcast along another one.
    if !case.text.contains("...") {
        let module = compiled("num", &function(case, &ty(&dims(&shape)), &types));
        assert_eq!(numbers(&run(&module, &arrays)[0]), expected, "{case:?} with symbols");
    }
    let leaves: Vec<_> = case
        .shapes
        .iter()
        .enumerate()
        .map(|(at, shape)| {
            let extents: Vec<i64> = shape.iter().map(|extent| *extent as i64).collect();
            (
                format!("x{at}"),
                mind_core::ty::Type::new(mind_core::ty::DType::F64, mind_core::ty::Shape::literal(&extents)),
            )
        })
        .collect();
    let (module, _) = expression("num", &call(case), &leaves).unwrap_or_else(|why| panic!("{case:?}: {why}"));
    assert_eq!(numbers(&run(&module, &arrays)[0]), expected, "{case:?} without types");
}

/// The features that a random call may have.
#[derive(Clone, Copy, PartialEq)]
enum Having {
    Letters,
    Ellipses,
    /// Also axes of letters that are broadcast.
    Broadcasts,
}

/// A random call: up to `most` operands, with repeated and missing indices.
fn random_case(random: &mut Random, most: usize, having: Having) -> Case {
    let letters: Vec<char> = "aBcDefg".chars().take(2 + random.below(6)).collect();
    let extents: BTreeMap<char, usize> =
        letters.iter().map(|letter| (*letter, 1 + random.below(4))).collect();
    let leading: Vec<usize> = (0..random.below(3)).map(|_| 1 + random.below(3)).collect();
    let is_leading = having != Having::Letters && random.once_in(2);
    let (mut terms, mut shapes) = (Vec::new(), Vec::new());
    for _ in 0..1 + random.below(most) {
        let (mut term, mut shape) = (String::new(), Vec::new());
        let count = random.below(4);
        let dots = random.below(count + 1);
        for at in 0..=count {
            if is_leading && at == dots && !random.once_in(4) {
                term += "...";
                let kept = random.below(leading.len() + 1);
                let is_one = random.once_in(4);
                shape.extend(leading[kept..].iter().map(|extent| if is_one { 1 } else { *extent }));
            }
            if at < count {
                let letter = *random.pick(&letters);
                let is_one = having == Having::Broadcasts && random.once_in(8) && !term.contains(letter);
                term.push(letter);
                shape.push(if is_one { 1 } else { extents[&letter] });
            }
        }
        // The axes of a repeated letter have one extent.
        let axes = shape.len() - term.replace("...", "").len();
        let position = term.find("...").unwrap_or(term.len());
        let letters: Vec<char> = term.replace("...", "").chars().collect();
        for (at, letter) in letters.iter().enumerate() {
            if letters.iter().filter(|other| *other == letter).count() > 1 {
                let axis = if at < position { at } else { at + axes };
                shape[axis] = extents[letter];
            }
        }
        terms.push(term);
        shapes.push(shape);
    }
    let mut text = terms.join(if random.once_in(4) { ", " } else { "," });
    if !random.once_in(3) {
        let mut used: Vec<char> = letters.into_iter().filter(|letter| text.contains(*letter)).collect();
        let mut output = String::new();
        for _ in 0..random.below(used.len() + 1) {
            let letter = used.remove(random.below(used.len()));
            output.push(letter);
        }
        if text.contains("...") {
            output.insert_str(random.below(output.len() + 1), "...");
        }
        text = format!("{text}->{output}");
    }
    Case { text, shapes }
}

/// The rank of the result.
fn rank(case: &Case) -> usize {
    let ones: Vec<Vec<f64>> = case.shapes.iter().map(|shape| vec![1.0; count(shape)]).collect();
    defined(case, &ones).0.len()
}

#[test]
fn random_calls_are_as_defined() {
    for seed in some("calls of einsum", 0..600) {
        let mut random = Random::new(seed);
        let case = random_case(&mut random, 4, Having::Broadcasts);
        if rank(&case) <= 8 {
            check(&case, &mut random);
        }
    }
}

#[test]
fn random_calls_without_known_extents_are_as_defined() {
    for seed in some("calls of einsum without extents", 0..400) {
        let mut random = Random::new(seed);
        let having = if seed % 2 == 0 { Having::Letters } else { Having::Ellipses };
        let case = random_case(&mut random, 4, having);
        if rank(&case) <= 8 {
            check_without_extents(&case, &mut random);
        }
    }
}

#[test]
fn calls_of_public_code_are_as_defined() {
    let cases = [
        Case::new("bqhd,bkhd->bhqk", &[&[2, 3, 2, 4], &[2, 5, 2, 4]]),
        Case::new("bhqk,bkhd->bqhd", &[&[2, 2, 3, 5], &[2, 5, 2, 4]]),
        Case::new("bhqd,bhkd->bhqk", &[&[2, 2, 3, 4], &[2, 2, 5, 4]]),
        Case::new("bi,oij,bj->bo", &[&[3, 2], &[4, 2, 5], &[3, 5]]),
        Case::new("...ij,...jk->...ik", &[&[2, 3, 2, 4], &[3, 4, 2]]),
        Case::new("i...->...", &[&[3, 2, 4]]),
        Case::new("ii", &[&[4, 4]]),
        Case::new("iij->ji", &[&[3, 3, 2]]),
        Case::new("iji->j", &[&[3, 2, 3]]),
        Case::new("iiii->i", &[&[3, 3, 3, 3]]),
        Case::new("i,i->", &[&[5], &[1]]),
        Case::new(",ij,->ji", &[&[], &[2, 3], &[]]),
        Case::new("ijk,jil->kl", &[&[2, 3, 4], &[3, 2, 5]]),
        Case::new("ibj,jbk->ibk", &[&[2, 3, 4], &[4, 3, 5]]),
        Case::new("abcde,ce->abd", &[&[2, 3, 2, 17, 3], &[2, 3]]),
        Case::new("ambncd,cdk->kamnb", &[&[2, 17, 3, 2, 2, 3], &[2, 3, 2]]),
        Case::new("abcdefg,gfh->abcdeh", &[&[2, 2, 2, 2, 2, 2, 2], &[2, 2, 2]]),
        Case::new("abcdefgh,abcdefgh->hgfedcba", &[&[2, 1, 2, 2, 1, 2, 2, 2], &[2, 1, 2, 2, 1, 2, 2, 2]]),
        Case::new("abcdefgh,efghabij->abcdij", &[&[2; 8], &[2; 8]]),
    ];
    for (seed, case) in (0..).zip(&cases) {
        check(case, &mut Random::new(seed));
    }
}

#[test]
fn many_operands_are_multiplied_in_a_greedy_order() {
    let letters: Vec<char> = ('a'..='z').collect();
    let pair = |at: usize| format!("{}{}", letters[at], letters[at + 1]);
    let chain: Vec<String> = (0..14).map(pair).collect();
    let case = Case { text: format!("{}->ao", chain.join(",")), shapes: vec![vec![2, 2]; 14] };
    check(&case, &mut Random::new(1));
    let ring = Case { text: "ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,la".to_owned(), shapes: vec![vec![2, 2]; 12] };
    check(&ring, &mut Random::new(2));
}

/// The order of the products of a function with one call of `einsum`.
fn order(program: &str) -> (String, String) {
    let (tokens, _) = surface::lex(program);
    let (parsed, _) = surface::parse(tokens);
    let (lowered, diags) = surface::lower(&parsed);
    assert!(diags.is_empty(), "{program}: {diags:?}");
    let source =
        lowered.functions.last().and_then(|function| function.program.as_ref()).expect("it compiles");
    let einsum = &source.einsums[0];
    (einsum.order.clone(), einsum.multiplications.as_ref().map_or("too many".to_owned(), ToString::to_string))
}

#[test]
fn the_order_has_the_least_cost() {
    let of = |types: [&str; 3], result: &str| {
        let [x, y, z] = types;
        order(&format!(
            "fn f<N>(x: {x}, y: {y}, z: {z}, n: f32[N]) -> {result} {{ einsum(\"ij,jk,kl->il\", x, y, z) }}"
        ))
    };
    let wide = of(["f32[1000, 10]", "f32[10, 1000]", "f32[1000, 10]"], "f32[1000, 10]");
    assert_eq!(wide, ("(ij,(jk,kl))".to_owned(), "200000".to_owned()));
    let tall = of(["f32[10, 1000]", "f32[1000, 10]", "f32[10, 1000]"], "f32[10, 1000]");
    assert_eq!(tall, ("((ij,jk),kl)".to_owned(), "200000".to_owned()));
    // A symbol counts as 128.
    let few = of(["f32[N, 4]", "f32[4, 64]", "f32[64, 4]"], "f32[N, 4]");
    assert_eq!(few, ("(ij,(jk,kl))".to_owned(), "16 * N + 1024".to_owned()));
    // Equal costs: from the left.
    let same = of(["f32[8, 8]", "f32[8, 8]", "f32[8, 8]"], "f32[8, 8]");
    assert_eq!(same.0, "((ij,jk),kl)");
}
