//! The canonical form.

use mind_core::{
    build::Builder,
    canon::{Canonical, canonicalise},
    data::TensorData,
    dim::Dim,
    ir::{Arrange, Const, Module, Op, Part, Product, Reduction, Slice, ValueId},
    map::Map,
    ops::OpError,
    reduce::Reduce,
    text::core_ir,
    ty::Shape,
};

use super::support::{shape, ty, verified};

type Built = Result<Vec<ValueId>, Box<OpError>>;

fn canonical(build: impl FnOnce(&mut Builder) -> Built) -> Canonical {
    let mut b = Builder::new();
    let outputs = build(&mut b).unwrap();
    canonicalise(verified(b.finish(outputs)))
}

/// The text after the inputs.
fn lines(module: &Module) -> String {
    let text = core_ir::print(module);
    let operations = text.lines().filter(|line| !line.contains(" = Input "));
    operations.collect::<Vec<_>>().join("\n")
}

#[test]
fn operands_of_commutative_operations_ascend() {
    let module = canonical(|b| {
        let (x, y) = (b.input("x", ty("f32"))?, b.input("y", ty("f32"))?);
        let sum = b.push(Op::Map(Map::Add), &[y, x])?;
        let product = b.push(Op::Map(Map::Mul), &[sum, x])?;
        Ok(vec![b.push(Op::Map(Map::Sub), &[product, x])?])
    });
    let expected = "%2 = Add (%0, %1) : f32\n%3 = Mul (%0, %2) : f32\n%4 = Sub (%3, %0) : f32\noutputs: %4";
    assert_eq!(lines(&module), expected);
}

#[test]
fn dot_of_matrices_is_matmul() {
    let module = canonical(|b| {
        let (x, v) = (b.input("x", ty("f32[N, N]"))?, b.input("v", ty("f32[N]"))?);
        let square = b.push(Op::Product(Product::Dot), &[x, x])?;
        Ok(vec![b.push(Op::Product(Product::Dot), &[square, v])?])
    });
    assert_eq!(lines(&module), "%2 = MatMul (%0, %0) : f32[N, N]\n%3 = Dot (%2, %1) : f32[N]\noutputs: %3");
}

#[test]
fn single_numbers_have_their_own_constants() {
    let module = canonical(|b| {
        let constant = |data: TensorData| Op::Const(Const::Tensor { data, shape: Shape::scalar() });
        ["f32", "f64", "i64", "i32"]
            .map(|dtype| match dtype {
                "f32" => constant(vec![-0.0f32].into()),
                "f64" => constant(vec![f64::INFINITY].into()),
                "i64" => constant(vec![3i64].into()),
                _ => constant(vec![3i32].into()),
            })
            .into_iter()
            .map(|op| b.push(op, &[]))
            .collect()
    });
    let expected = "%0 = ConstF32 () {value=-0.0} : f32\n%1 = ConstF64 () {value=inf} : f64\n\
                    %2 = ConstI64 () {value=3} : i64\n%3 = ConstTensor () {data=3, dtype=i32, shape=[]} : i32\n\
                    outputs: %0, %1, %2, %3";
    assert_eq!(lines(&module), expected);
}

#[test]
fn reductions_name_their_axes() {
    let module = canonical(|b| {
        let x = b.input("x", ty("f32[2, 3]"))?;
        let reduce = |axes: &[i64], keepdims| Reduction { axes: axes.to_vec(), keepdims };
        let all = b.push(Op::Reduce(Reduce::Sum, reduce(&[], true)), &[x])?;
        let kept = b.push(Op::Reduce(Reduce::Mean, reduce(&[1, 0], true)), &[x])?;
        Ok(vec![all, kept])
    });
    let expected = "%1 = Sum (%0) {axes=[0, 1], keepdims=false} : f32\n\
                    %2 = Mean (%0) {axes=[0, 1], keepdims=true} : f32[1, 1]\noutputs: %1, %2";
    assert_eq!(lines(&module), expected);
}

#[test]
fn axes_ascend() {
    let module = canonical(|b| {
        let x = b.input("x", ty("f32[3]"))?;
        let expanded = b.push(Op::Arrange(Arrange::ExpandDims { axes: vec![2, 0] }), &[x])?;
        Ok(vec![b.push(Op::Arrange(Arrange::Squeeze { axes: vec![2, 0] }), &[expanded])?])
    });
    let expected = "%1 = ExpandDims (%0) {axes=[0, 2]} : f32[1, 3, 1]\n%2 = Squeeze (%1) {axes=[0, 2]} : f32[3]\n\
                    outputs: %2";
    assert_eq!(lines(&module), expected);
}

#[test]
fn what_changes_nothing_is_gone() {
    let module = canonical(|b| {
        let x = b.input("x", ty("f32[N, 3]"))?;
        let whole = Slice { starts: vec![Dim::ZERO; 2], ends: shape("N, 3").to_vec(), steps: vec![1, 1] };
        let mut y = x;
        for op in [
            Op::Arrange(Arrange::Squeeze { axes: vec![] }),
            Op::Arrange(Arrange::ExpandDims { axes: vec![] }),
            Op::Arrange(Arrange::Transpose { permutation: vec![0, 1] }),
            Op::Arrange(Arrange::Reshape { shape: shape("N, 3") }),
            Op::Arrange(Arrange::BroadcastTo { shape: shape("N, 3") }),
            Op::Part(Part::Slice(whole.clone().into())),
            Op::Part(Part::SliceGrad { shape: shape("N, 3"), slice: whole.into() }),
        ] {
            y = b.push(op, &[y])?;
        }
        Ok(vec![b.push(Op::Map(Map::Neg), &[y])?, y])
    });
    assert_eq!(lines(&module), "%1 = Neg (%0) : f32[N, 3]\noutputs: %1, %0");
}

#[test]
fn a_stop_of_gradients_stays() {
    let module = canonical(|b| {
        let x = b.input("x", ty("f32"))?;
        Ok(vec![b.push(Op::Map(Map::StopGradient), &[x])?])
    });
    assert_eq!(lines(&module), "%1 = StopGradient (%0) : f32\noutputs: %1");
}

fn folded(dtype: &str, op: Op, numbers: &[f64]) -> String {
    let module = canonical(|b| {
        let dtype = ty(dtype).dtype;
        let operands: Vec<_> = numbers.iter().map(|number| b.constant(dtype, *number)).collect();
        Ok(vec![b.push(op, &operands)?])
    });
    lines(&module)
}

#[test]
fn exact_arithmetic_on_constants_is_done() {
    assert_eq!(
        folded("f32", Op::Map(Map::Add), &[0.1, 0.2]),
        "%0 = ConstF32 () {value=0.3} : f32\noutputs: %0"
    );
    let sum = 0.1f64 + 0.2;
    assert_eq!(
        folded("f64", Op::Map(Map::Add), &[0.1, 0.2]),
        format!("%0 = ConstF64 () {{value={sum}}} : f64\noutputs: %0")
    );
    assert_eq!(
        folded("f32", Op::Map(Map::Div), &[1., 0.]),
        "%0 = ConstF32 () {value=inf} : f32\noutputs: %0"
    );
    assert_eq!(folded("f64", Op::Map(Map::Neg), &[0.]), "%0 = ConstF64 () {value=-0.0} : f64\noutputs: %0");
    assert_eq!(folded("f32", Op::Map(Map::Relu), &[-2.]), "%0 = ConstF32 () {value=0.0} : f32\noutputs: %0");
    assert_eq!(folded("i64", Op::Map(Map::Sub), &[2., 5.]), "%0 = ConstI64 () {value=-3} : i64\noutputs: %0");
    let wrapped = "%0 = ConstTensor () {data=-2, dtype=i32, shape=[]} : i32\noutputs: %0";
    assert_eq!(folded("i32", Op::Map(Map::Mul), &[f64::from(i32::MAX), 2.]), wrapped);
}

#[test]
fn what_machines_may_differ_in_is_left() {
    assert!(folded("f32", Op::Map(Map::Exp), &[1.]).contains("Exp"));
    assert!(folded("f32", Op::Map(Map::Log), &[1.]).contains("Log"));
    assert!(folded("f32", Op::Map(Map::Sub), &[f64::INFINITY, f64::INFINITY]).contains("Sub"));
    assert!(folded("f64", Op::Map(Map::Div), &[0., 0.]).contains("Div"));
}

#[test]
fn dead_instructions_go_and_dead_inputs_stay() {
    let module = canonical(|b| {
        let (x, _) = (b.input("x", ty("f32"))?, b.input("unused", ty("f32"))?);
        b.push(Op::Map(Map::Neg), &[x])?;
        let kept = b.push(Op::Map(Map::Exp), &[x])?;
        b.push(Op::Map(Map::Log), &[kept])?;
        Ok(vec![kept])
    });
    assert_eq!(module.inputs().len(), 2);
    assert_eq!(lines(&module), "%2 = Exp (%0) : f32\noutputs: %2");
}

#[test]
fn long_modules_stay_as_long() {
    let mut b = Builder::new();
    let x = b.input("x", ty("f32[N, 3]")).unwrap();
    let mut y = x;
    for step in 0..10_000 {
        y = if step % 2 == 0 {
            b.push(Op::Map(Map::Add), &[y, x]).unwrap()
        } else {
            b.push(Op::Map(Map::Relu), &[y]).unwrap()
        };
    }
    let module = verified(b.finish([y]));
    assert_eq!(canonicalise(module).insts().len(), 10_001);
}
