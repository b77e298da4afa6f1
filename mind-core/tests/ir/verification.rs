//! Verification of modules that were not made by the builder.

use mind_core::{
    diag::Code::{self, *},
    ir::{Inst, Module, Op, Operands, Product, Rows, ValueId},
    map::Map,
    ops::{Profile, Requirement},
    verify::{VerifyError, requirements, verify},
};

use super::support::{dim, single, ty, verified};

fn inst(op: Op, operands: &[usize], declared: &str) -> Inst {
    let operands: Vec<_> = operands.iter().copied().map(ValueId::new).collect();
    Inst { op, operands: Operands::new(&operands).unwrap(), ty: ty(declared) }
}

fn input(name: &str, declared: &str) -> Inst {
    inst(Op::Input { name: name.into() }, &[], declared)
}

fn errors(insts: Vec<Inst>, outputs: &[usize]) -> Vec<VerifyError> {
    let outputs = outputs.iter().copied().map(ValueId::new).collect();
    verify(Module::from_parts(insts, outputs), Profile::Extended).err().unwrap_or_default()
}

fn found(insts: Vec<Inst>, outputs: &[usize]) -> Vec<(Code, Option<usize>)> {
    errors(insts, outputs).into_iter().map(|error| (error.code, error.value.map(ValueId::index))).collect()
}

#[test]
fn operands_are_earlier_values() {
    let insts = vec![
        input("x", "f32"),
        inst(Op::Map(Map::Neg), &[2], "f32"),
        inst(Op::Map(Map::Neg), &[9], "f32"),
        inst(Op::Map(Map::Neg), &[3], "f32"),
        inst(Op::Map(Map::Neg), &[3], "f32"),
    ];
    assert_eq!(found(insts, &[4]), [(E4001, Some(1)), (E4001, Some(2)), (E4001, Some(3))]);
}

#[test]
fn outputs_are_values() {
    let errors = errors(vec![input("x", "f32")], &[0, 7]);
    assert_eq!(errors.len(), 1);
    assert_eq!((errors[0].code, errors[0].output), (E4003, Some(1)));
    assert_eq!(errors[0].to_string(), "[E4003] output 1 is %7, which no instruction defines");
    assert_eq!(found(vec![input("x", "f32")], &[1]), [(E4003, None)], "one past the last");
}

#[test]
fn a_module_has_an_output() {
    assert_eq!(found(vec![input("x", "f32")], &[]), [(E4014, None)]);
}

#[test]
fn inputs_come_first_and_have_names_of_their_own() {
    let insts = vec![
        input("x", "f32"),
        input("x", "f32"),
        input("", "f32"),
        inst(Op::Map(Map::Neg), &[0], "f32"),
        input("y", "f32"),
    ];
    assert_eq!(found(insts, &[0]), [(E4004, Some(1)), (E4004, Some(2)), (E4004, Some(4))]);
}

#[test]
fn inputs_have_no_operands() {
    let bad = Inst { operands: Operands::new(&[ValueId::new(0)]).unwrap(), ..input("y", "f32") };
    assert_eq!(found(vec![input("x", "f32"), bad], &[1]), [(E2007, Some(1))]);
}

#[test]
fn declared_types_are_the_inferred_ones() {
    let insts = vec![input("x", "f32[2, 3]"), inst(Op::Map(Map::Neg), &[0], "f32[3, 2]")];
    let errors = errors(insts, &[1]);
    assert_eq!(
        errors[0].to_string(),
        "[E4012] %1: `-`: declared f32[3, 2], inferred f32[2, 3]: %0 is f32[2, 3]"
    );
}

#[test]
fn extensions_are_refused_in_core_v1() {
    let module = single(&Op::Map(Map::Div), &[ty("f32"), ty("f32")]);
    let errors = verify(module.clone(), Profile::CoreV1).unwrap_err();
    assert_eq!(errors[0].to_string(), "[E4013] %2: `Div` is an extension and not in Core v1");
    assert_eq!(verify(module, Profile::Extended).unwrap().profile(), Profile::Extended);
}

#[test]
fn one_mistake_gives_one_error() {
    // The product is wrong. The following instructions rely on its declared type.
    let insts = vec![
        input("x", "f32[2, 3]"),
        input("w", "f32[4, 5]"),
        inst(Op::Product(Product::MatMul), &[0, 1], "f32[2, 5]"),
        inst(Op::Map(Map::Relu), &[2], "f32[2, 5]"),
        inst(Op::Map(Map::Add), &[3, 2], "f32[2, 5]"),
    ];
    let errors = errors(insts, &[4]);
    assert_eq!(errors.len(), 1);
    let message = "[E3003] %2: `@`: inner dimensions differ, 3 and 4: %0 is f32[2, 3], %1 is f32[4, 5]";
    assert_eq!(errors[0].to_string(), message);
}

#[test]
fn types_that_no_value_has_are_reported_where_they_start() {
    let insts = vec![
        input("b", "bool[2]"),
        inst(Op::Map(Map::Neg), &[0], "bool[2]"),
        input("z", "f32[0]"),
        inst(Op::Map(Map::Exp), &[2], "f32[0]"),
    ];
    assert_eq!(found(insts, &[1, 3]), [(E2005, Some(1)), (E4004, Some(2))]);
    let insts = vec![
        input("z", "f32[0]"),
        inst(Op::Map(Map::Exp), &[0], "f32[0]"),
        inst(Op::Map(Map::Neg), &[1], "f32[0]"),
    ];
    assert_eq!(found(insts, &[2]), [(E3006, Some(0))]);
}

#[test]
fn independent_mistakes_are_all_found() {
    let insts = vec![
        input("x", "f32[2]"),
        input("i", "i64[2]"),
        inst(Op::Map(Map::Relu), &[1], "i64[2]"),
        inst(Op::Map(Map::Add), &[0, 1], "f32[2]"),
        inst(Op::Rows(Rows::Gather), &[0, 0], "f32[2]"),
    ];
    assert_eq!(found(insts, &[4, 8]), [(E2005, Some(2)), (E2004, Some(3)), (E4011, Some(4)), (E4003, None)]);
}

#[test]
fn inputs_give_every_symbol() {
    use mind_core::ir::Arrange;
    let to = |text| Op::Arrange(Arrange::BroadcastTo { shape: super::support::shape(text) });
    let insts =
        vec![input("x", "f32"), inst(to("K"), &[0], "f32[K]"), inst(Op::Map(Map::Neg), &[1], "f32[K]")];
    assert_eq!(found(insts, &[2]), [(E2003, Some(1))]);
    assert_eq!(found(vec![input("x", "f32[N*N]")], &[0]), [(E2003, Some(0))]);
    assert_eq!(found(vec![input("x", "f32[2*N + 1]")], &[0]), []);
    assert_eq!(found(vec![input("x", "f32[N*M]"), input("y", "f32[M + 1]")], &[0]), []);
}

#[test]
fn requirements_are_sorted_and_unique() {
    use mind_core::ir::{Convolution, Padding, Window};
    let conv = Op::Window(Window::Conv2d(Convolution { strides: vec![1, 1], padding: Padding::Valid }));
    let module = verified(single(&conv, &[ty("f32[1, H, H, 1]"), ty("f32[3, 3, 1, 1]")]));
    assert_eq!(requirements(&module), [Requirement::Positive(dim("H - 2"))]);
}

#[test]
fn verification_changes_nothing() {
    let module = single(&Op::Product(Product::MatMul), &[ty("f32[N, 3]"), ty("f32[3, 4]")]);
    assert_eq!(verified(module.clone()).into_module(), module);
}

#[test]
fn many_inputs_and_instructions_are_checked() {
    let mut insts: Vec<Inst> = (0..10_000).map(|n| input(&format!("x{n}"), "f32[N, 3]")).collect();
    insts.extend((1..10_000).map(|n| inst(Op::Map(Map::Add), &[n, 0], "f32[N, 3]")));
    assert_eq!(found(insts, &[15_000]), []);
}
