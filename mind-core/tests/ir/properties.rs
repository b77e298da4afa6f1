//! Properties that hold for every module, tested on random ones.

use std::collections::BTreeSet;

use mind_core::{
    canon::canonicalise,
    definitions::Definition,
    interp::run,
    ir::Module,
    ops::{OpInfo, Profile, TABLE},
    testing::{random_core_v1_module, random_inputs, random_module, same, shrink},
    text::core_ir,
    verify::verify,
};

use super::support::verified;

const MODULES: u64 = 300;

fn modules() -> impl Iterator<Item = (u64, Module)> {
    (0..MODULES).map(module)
}

fn module(seed: u64) -> (u64, Module) {
    (seed, random_module(seed, 5 + (seed % 40) as usize))
}

#[test]
fn random_modules_verify() {
    for (seed, module) in modules() {
        let result = verify(module.clone(), Profile::Extended);
        assert!(result.is_ok(), "seed {seed}: {result:?}\n{module}");
    }
    for seed in 0..MODULES {
        let module = random_core_v1_module(seed, 20);
        let result = verify(module.clone(), Profile::CoreV1);
        assert!(result.is_ok(), "seed {seed}: {result:?}\n{module}");
    }
}

#[test]
fn random_modules_are_a_function_of_the_seed() {
    assert_eq!(random_module(7, 30), random_module(7, 30));
    assert_ne!(random_module(7, 30), random_module(8, 30));
}

#[test]
fn random_modules_use_every_operation() {
    // Some operations are rare, and these modules are only made.
    let modules = (0..4 * MODULES).map(module);
    let used: BTreeSet<&str> =
        modules.flat_map(|(_, module)| module.into_parts().0).map(|inst| inst.op.info().name).collect();
    // External functions are not covered, nor one triangle of a matrix, which occurs in gradients.
    let is_made = |row: &&&OpInfo| row.name != "Triangle" && !row.name.starts_with("Extern");
    let rows = TABLE.iter().filter(is_made);
    let missing: Vec<_> = rows.map(|row| row.name).filter(|name| !used.contains(name)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn most_random_modules_run_to_values_of_their_types() {
    let mut ran = 0;
    for (seed, module) in modules() {
        let module = verified(module);
        let Some(inputs) = random_inputs(&module, seed) else { continue };
        let Ok(results) = run(&module, &inputs) else { continue };
        ran += 1;
        for (output, result) in module.outputs().iter().zip(&results) {
            let ty = module.ty(*output);
            assert_eq!((ty.dtype, ty.rank()), (result.dtype(), result.shape.len()), "seed {seed}");
            if let Some(extents) = ty.shape.as_literals() {
                assert!(extents.iter().zip(&result.shape).all(|(a, b)| *a == *b as i64), "seed {seed}");
            }
        }
    }
    assert!(ran > MODULES * 4 / 5, "{ran} of {MODULES} ran");
}

#[test]
fn canonical_form_is_a_fixed_point() {
    for (seed, module) in modules() {
        let once = canonicalise(verified(module));
        let twice = canonicalise(once.clone().into_verified());
        assert_eq!(once, twice, "seed {seed}:\n{}", core_ir::print(&once));
    }
}

#[test]
fn canonical_form_computes_the_same_to_the_bit() {
    for (seed, module) in modules() {
        let module = verified(module);
        let Some(inputs) = random_inputs(&module, seed) else { continue };
        let canonical = canonicalise(module.clone());
        // A dead gather that would fail may have been removed.
        if let Ok(expected) = run(&module, &inputs) {
            let found = run(&canonical, &inputs).unwrap();
            let equal = expected.iter().zip(&found).all(|(a, b)| same(a, b));
            assert!(equal && expected.len() == found.len(), "seed {seed}:\n{}", core_ir::print(&module));
        }
    }
}

#[test]
fn definitions_with_other_numbers_make_the_same_module() {
    for (_, module) in modules().take(50) {
        let number = |position: usize| 3 * position as u64 + 5;
        let definitions = module.iter().map(|(value, inst)| Definition {
            id: number(value.index()),
            op: inst.op.clone(),
            operands: inst.operands.iter().map(|operand| number(operand.index())).collect(),
            ty: inst.ty.clone(),
        });
        let outputs: Vec<u64> = module.outputs().iter().map(|output| number(output.index())).collect();
        assert_eq!(Module::from_definitions(definitions.collect(), &outputs, "N").as_ref(), Ok(&module));
    }
}

#[test]
fn shrinking_ends_at_the_operation_that_matters() {
    let has_matmul = |module: &Module| module.insts().iter().any(|inst| inst.op.info().name == "MatMul");
    let mut shrunk = 0;
    for (_, module) in modules().filter(|(_, module)| has_matmul(module)).take(10) {
        let mut smallest = module;
        while let Some(smaller) = shrink(&smallest).into_iter().find(has_matmul) {
            smallest = smaller;
        }
        let operations = smallest.insts().len() - smallest.inputs().len();
        assert_eq!(operations, 1, "{smallest}");
        shrunk += 1;
    }
    assert_eq!(shrunk, 10);
}
