//! Recorded gradient modules, for review: `golden.txt`.
//!
//! With `MIND_BLESS` set, the file is rewritten with the current output; review the difference.

use mind_core::{
    canon::Canonical,
    dim::Dim,
    grad::{GradientOptions, differentiate},
    ir::{Op, Part, Product, Reduction, Rows, Slice},
    map::Map,
    reduce::Reduce,
    text::core_ir,
    ty::{DType, Shape, Type},
};

use super::{
    determinism::network,
    support::{PROFILES, every_float, scalar_options, single},
};

#[test]
fn gradient_modules_are_what_the_golden_file_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gradient_checks/golden.txt");
    let found = texts();
    if std::env::var_os("MIND_BLESS").is_some() {
        std::fs::write(path, &found).expect("the file can be written");
    }
    let wanted = std::fs::read_to_string(path).expect("the file can be read");
    for (found, wanted) in found.split("====\n").zip(wanted.split("====\n")) {
        assert_eq!(found, wanted);
    }
    assert_eq!(found.len(), wanted.len());
}

fn texts() -> String {
    let mut text = String::new();
    for (title, module) in cases() {
        for profile in PROFILES {
            let options = every_float(&module, profile);
            text += &gradient_text(&format!("{title}, {profile:?}"), &module, &options);
        }
    }
    for profile in PROFILES {
        let title = format!("the loss of a network by its weights, {profile:?}");
        text += &gradient_text(&title, &network(), &scalar_options(&[2, 3, 4, 5], profile));
    }
    text
}

fn gradient_text(title: &str, module: &Canonical, options: &GradientOptions) -> String {
    let gradient = differentiate(module, options).expect("a differentiable module");
    let pairs: Vec<_> = gradient.gradients.iter().map(|(value, of)| format!("{value}: {of}")).collect();
    format!("{title}\n{}gradients: {}\n====\n", core_ir::print(&gradient.module), pairs.join(", "))
}

fn cases() -> Vec<(&'static str, Canonical)> {
    let known = |extents: &[i64]| Type::new(DType::F32, Shape::literal(extents));
    let batch = |last: i64| Type::new(DType::F32, Shape::new([Dim::symbol("N"), last.into()]));
    let rows = || Reduction { axes: vec![0], keepdims: false };
    let slice = Slice { starts: vec![0.into(), 1.into()], ends: vec![2.into(), 5.into()], steps: vec![1, 2] };
    let indices = Type::new(DType::I32, Shape::literal(&[4]));
    vec![
        ("a sum with a row", single(&Op::Map(Map::Add), &[known(&[2, 3]), known(&[1, 3])])),
        ("a sum with a column of unknown length", single(&Op::Map(Map::Add), &[known(&[2, 1, 3]), batch(1)])),
        ("a product", single(&Op::Map(Map::Mul), &[known(&[2]), known(&[2])])),
        ("a total of known extents", single(&Op::Reduce(Reduce::Sum, rows()), &[known(&[2, 3])])),
        ("a total over an unknown extent", single(&Op::Reduce(Reduce::Sum, rows()), &[batch(3)])),
        ("a mean of known extents", single(&Op::Reduce(Reduce::Mean, rows()), &[known(&[2, 3])])),
        ("a mean over an unknown extent", single(&Op::Reduce(Reduce::Mean, rows()), &[batch(3)])),
        (
            "an element",
            single(&Op::Part(Part::Index { indices: vec![1.into(), 0.into()] }), &[known(&[2, 3])]),
        ),
        ("a slice", single(&Op::Part(Part::Slice(Box::new(slice))), &[known(&[2, 5])])),
        ("rows gathered", single(&Op::Rows(Rows::Gather), &[known(&[3, 2]), indices])),
        ("an outer product's sum", single(&Op::Product(Product::Dot), &[known(&[2, 3]), known(&[3])])),
        (
            "matrices, one of them in a batch",
            single(&Op::Product(Product::MatMul), &[known(&[2, 2, 3]), known(&[3, 2])]),
        ),
        ("a positive part", single(&Op::Map(Map::Relu), &[known(&[2])])),
        ("a logarithm", single(&Op::Map(Map::Log), &[known(&[2])])),
    ]
}
