//! Emitted code for extents of 2^40: no Rust array is as long as a tensor, and the text does not grow with extents.

use std::collections::BTreeMap;

use mind_core::{
    build::Builder,
    canon::{Canonical, canonicalise},
    dim::Dim,
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    ir::ValueId,
    ops::{self, Profile, sample::Case as Sample},
    opt::optimise,
    plan::plan,
    ty::DType,
    verify::verify,
};
use mind_tests::sample;

use super::{Case, emit, extents::variants, items};

/// The longest accepted array on the stack of a kernel. Arrays hold blocks of rows and sums.
const LONGEST_ARRAY: u64 = 1 << 16;

/// The longest accepted text of a function with one operation, and of its gradient, in bytes.
const LONGEST_TEXT: usize = 1 << 16;

#[test]
fn huge_extents_make_no_long_arrays_or_texts() {
    let huge = [const { 1_i64 << 40 }; 7].map(Dim::literal);
    let mut emitted = 0;
    for row in ops::TABLE {
        for dtype in [DType::F32, DType::I64] {
            let cases = row.cases(dtype);
            for case in sample("cases", cases.iter().flat_map(|case| variants(case, &huge))) {
                let Some(module) = module(&case) else { continue };
                for module in [gradient(&module), Some(module)].into_iter().flatten() {
                    check(row.name, &module);
                    emitted += 1;
                }
            }
        }
    }
    assert!(emitted > 200, "{emitted}");
}

fn module(sample: &Sample) -> Option<Canonical> {
    let mut builder = Builder::new();
    let names = ["a", "b", "c"].into_iter().zip(&sample.operands);
    let inputs: Option<Vec<ValueId>> = names.map(|(name, ty)| builder.input(name, ty.clone()).ok()).collect();
    let result = builder.push(sample.op.clone(), &inputs?).ok()?;
    let module = verify(builder.finish([result]), Profile::Extended).ok()?;
    Some(canonicalise(module))
}

/// The gradient by all floating-point inputs, with cotangents as inputs.
fn gradient(module: &Canonical) -> Option<Canonical> {
    let floats = module.inputs().enumerate().filter(|(_, (_, ty))| ty.dtype.is_float());
    let wrt = floats.map(|(position, _)| Wrt { input: ValueId::new(position), zero_ok: true }).collect();
    let options = GradientOptions { wrt, cotangent: Cotangent::Input, ..GradientOptions::default() };
    differentiate(module, &options).ok().map(|gradient| gradient.module)
}

/// Checks that the code emitted for a module is short, and so are its arrays.
fn check(name: &str, module: &Canonical) {
    let case = Case {
        name: "huge".to_owned(),
        plan: plan(&optimise(module), &[]),
        inputs: Vec::new(),
        expected: Vec::new(),
        updated: BTreeMap::new(),
        bare: Vec::new(),
    };
    let text = items(&case.name, &case.plan, emit::Lengths::DEFAULT);
    assert!(text.len() < LONGEST_TEXT, "{name}: {} bytes\n{text}", text.len());
    let longest = array_lengths(&text).max().unwrap_or_default();
    assert!(longest <= LONGEST_ARRAY, "{name}: an array of {longest}\n{text}");
}

/// The lengths in `[…; 16]`, in types and in values.
fn array_lengths(text: &str) -> impl Iterator<Item = u64> {
    text.split(';').skip(1).filter_map(|rest| {
        let (length, _) = rest.split_once(']')?;
        length.trim().trim_end_matches("usize").trim_end_matches('_').parse().ok()
    })
}
