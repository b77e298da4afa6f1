//! The memory limit of runs.

use mind_core::{
    build::Builder,
    diag::Code,
    interp::{Array, Options, RunError, run_with},
    ir::{Arrange, Op, Product},
    map::Map,
    ops::Profile,
    ty::{DType, Shape, Type},
    verify::{Verified, verify},
};

fn float(extents: &[i64]) -> Type {
    Type::new(DType::F32, Shape::literal(extents))
}

fn run(module: &Verified, inputs: &[Array], most_bytes: u64) -> Result<Vec<Array>, RunError> {
    run_with(module, inputs, &Options { most_bytes })
}

/// The sum `x + x + … + x`.
fn chain(additions: usize) -> Verified {
    let mut builder = Builder::new();
    let x = builder.input("x", float(&[100])).unwrap();
    let sum = (0..additions).fold(x, |sum, _| builder.push(Op::Map(Map::Add), &[sum, x]).unwrap());
    verify(builder.finish([sum]), Profile::Extended).unwrap()
}

#[test]
fn inputs_values_and_results_are_counted_together_while_they_are_needed() {
    let x = [Array::new([100], vec![1.0f32; 100])];
    // Memory holds the input, the current sum and the next one, however many additions the program has.
    assert_eq!(run(&chain(50), &x, 1200).unwrap(), [Array::new([100], vec![51.0f32; 100])]);
    let error = run(&chain(50), &x, 1199).unwrap_err();
    assert_eq!(
        error.to_string(),
        "[E6004] `Add` to f32[100]: 1200 bytes are needed in all, more than the limit of 1199"
    );
    let error = run(&chain(50), &x, 399).unwrap_err();
    assert_eq!(
        error.to_string(),
        "[E6004] input `x`, f32[100]: 400 bytes are needed in all, more than the limit of 399"
    );
}

#[test]
fn a_result_that_is_given_twice_is_there_twice() {
    let mut builder = Builder::new();
    let x = builder.input("x", float(&[100])).unwrap();
    let y = builder.push(Op::Map(Map::Exp), &[x]).unwrap();
    let module = verify(builder.finish([y, x, y]), Profile::Extended).unwrap();
    let x = [Array::new([100], vec![0.0f32; 100])];
    let results = run(&module, &x, 1600).unwrap();
    assert_eq!((&results[0], &results[1]), (&results[2], &x[0]));
    assert_eq!(run(&module, &x, 1599).unwrap_err().code, Code::E6004);
}

#[test]
fn sizes_beyond_all_memory_are_errors() {
    let mut builder = Builder::new();
    let x = builder.input("x", Type::new(DType::F32, Shape::new(["N".into(), 1.into()]))).unwrap();
    let y = builder.input("y", Type::new(DType::F32, Shape::new([1.into(), "N".into()]))).unwrap();
    let product = builder.push(Op::Product(Product::MatMul), &[x, y]).unwrap();
    let square = builder.push(Op::Product(Product::MatMul), &[product, product]).unwrap();
    let module = verify(builder.finish([square]), Profile::Extended).unwrap();
    let n = 60_000;
    let inputs = [Array::new([n, 1], vec![0.0f32; n]), Array::new([1, n], vec![0.0f32; n])];
    let error = run(&module, &inputs, 4 << 30).unwrap_err();
    let expected = "`MatMul` to f32[60000, 60000]: 43200480000 bytes are needed in all, more than the limit of 4294967296";
    assert_eq!((error.code, &*error.message), (Code::E6004, expected));

    // The number of bytes exceeds 64 bits.
    let mut builder = Builder::new();
    let x = builder.input("x", float(&[1])).unwrap();
    let op = Op::Arrange(Arrange::BroadcastTo { shape: Shape::literal(&[1 << 31, (1 << 31) - 1]) });
    let y = builder.push(op, &[x]).unwrap();
    let module = verify(builder.finish([y]), Profile::Extended).unwrap();
    let error = run(&module, &[Array::new([1], vec![0.0f32])], u64::MAX).unwrap_err();
    assert_eq!(error.code, Code::E6004, "{error}");
}
