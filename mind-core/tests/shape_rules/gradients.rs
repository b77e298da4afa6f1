//! Compares the rules of gradients with the types that the compiler's differentiation produces.

use mind_core::{
    dim::Dim,
    ir,
    ir::{Arrange, Op, Part, Rows, Window},
    map::Map,
    ops, ty,
};
use mind_shape::rules::{
    self, Padding, Takes, broadcast_like, conv2d_grad_filter, conv2d_grad_input, gather_back,
    product_grad_lhs, product_grad_rhs, reshape_like, same_shape_binary, scatter_slice, scatter_subscript,
    sum_like,
};
use mind_shape::{Context, DType, Operand, Type, TypeResult};

use super::support::{f32s, lists, lists_up_to, samples, shapes, shapes_of_rank, without_help};

/// The type in the compiler's representation.
fn compiled(ty: &Type) -> ty::Type {
    let dtype = ty.dtype();
    ty::Type::new(dtype, ty::Shape::literal(ty.dims()))
}

fn shape(ty: &Type) -> ty::Shape {
    compiled(ty).shape
}

/// The type that the compiler infers, or the error code, as text.
fn inferred(op: &Op, operands: &[Type]) -> Result<String, String> {
    let operands: Vec<_> = operands.iter().map(compiled).collect();
    let answer = ops::infer(op, &operands.iter().collect::<Vec<_>>());
    answer.map(|ty| ty.to_string()).map_err(|error| error.code.to_string())
}

fn answered(answer: TypeResult<'_>) -> Result<String, String> {
    answer.map(|ty| ty.text().to_string()).map_err(|failure| failure.code().to_owned())
}

/// The compiler's message for an operation on operands named `a`, `b`, `c` of these types.
fn told(op: &Op, operands: &[Type]) -> Option<String> {
    let types: Vec<_> = operands.iter().map(compiled).collect();
    let error = ops::infer(op, &types.iter().collect::<Vec<_>>()).err()?;
    let name = |position: usize| ["a", "b", "c"][position];
    let message = error.message(|position| format!("{} is {}", name(position), types[position]));
    Some(format!("[{}] {message}", error.code))
}

#[test]
fn relu_passes_back_what_has_its_shape() {
    let types = DType::ALL.into_iter().flat_map(|dtype| {
        let shapes = if dtype == DType::F32 { shapes() } else { samples() };
        shapes.into_iter().map(move |shape| Type::new(dtype, &shape))
    });
    let types: Vec<_> = types.collect();
    for dy in &types {
        for x in &types {
            let answer = same_shape_binary(Takes::Floats, *dy, *x);
            assert_eq!(answered(answer), inferred(&Op::Map(Map::ReluGrad), &[*dy, *x]), "{dy} of {x}");
            let operands = [Operand::name("a", *dy), Operand::name("b", *x)];
            let context = Context { label: "relu_grad", operands: &operands };
            let message = answer.err().map(|failure| without_help(&failure.message(&context).to_string()));
            assert_eq!(message, told(&Op::Map(Map::ReluGrad), &[*dy, *x]));
        }
    }
}

#[test]
fn likeness_is_broadcasting_and_reshaping() {
    for v in shapes() {
        for like in shapes() {
            let (v, like) = (f32s(&v), f32s(&like));
            let to = |ty: &Type| Op::Arrange(Arrange::BroadcastTo { shape: shape(ty) });
            let broadcasts = inferred(&to(&like), &[v]).ok();
            assert_eq!(answered(broadcast_like(v, like)).ok(), broadcasts, "{v} like {like}");
            let sums = inferred(&to(&v), &[like]).map(|_| like.text().to_string()).ok();
            assert_eq!(answered(sum_like(v, like)).ok(), sums, "{v} like {like}");
            let reshapes = inferred(&Op::Arrange(Arrange::Reshape { shape: shape(&like) }), &[v]).ok();
            assert_eq!(answered(reshape_like(v, like)).ok(), reshapes, "{v} like {like}");
        }
    }
}

/// Checks that only a cotangent with the result's shape and element type is accepted.
fn takes_only(result: Type, to: Type, rule: impl Fn(Type) -> Result<Type, String>) {
    let other_dtype = |dtype| result.with_dtype(dtype);
    assert_eq!(rule(result), Ok(to), "{result} to {to}");
    assert_eq!(rule(other_dtype(DType::F64)), Ok(to.with_dtype(DType::F64)));
    for dy in samples().iter().map(|shape| f32s(shape)).chain([f32s(&[3]), f32s(&[1, 1, 1, 1])]) {
        let expected = if dy == result { Ok(to) } else { Err("E3003".to_owned()) };
        assert_eq!(rule(dy), expected, "{dy} where {result} goes to {to}");
    }
}

fn code(answer: TypeResult<'_>) -> Result<Type, String> {
    answer.map_err(|failure| failure.code().to_owned())
}

#[test]
fn operations_pass_back_what_has_the_shape_of_their_result() {
    for x in shapes().iter().map(|shape| f32s(shape)) {
        for indices in shapes_of_rank(1).iter().chain(&samples()) {
            let indices = Type::new(DType::I64, indices);
            if let Ok(result) = rules::gather(x, indices) {
                takes_only(result, x, |dy| code(gather_back(dy, indices, x)));
            }
        }
        let ends: Vec<_> = x.dims().iter().map(|extent| (extent + 1) / 2).collect();
        let starts = vec![0; x.rank()];
        let result = rules::slice(x, &starts, &ends, None).unwrap();
        takes_only(result, x, |dy| code(scatter_slice(dy, x, &starts, &ends, None)));
        if x.rank() > 0 {
            let subscripts = [rules::Subscript::At(-1)];
            let result = rules::subscript(x, &subscripts).unwrap();
            takes_only(result, x, |dy| code(scatter_subscript(dy, x, &subscripts)));
        }
    }
}

#[test]
fn products_pass_back_what_has_the_shape_of_their_result() {
    for a in shapes().iter().map(|shape| f32s(shape)) {
        for b in shapes().iter().map(|shape| f32s(shape)) {
            if let Ok(result) = rules::at(a, b) {
                takes_only(result, a, |dy| code(product_grad_lhs(dy, a, b)));
                takes_only(result, b, |dy| code(product_grad_rhs(dy, a, b)));
            }
        }
    }
}

#[test]
fn slices_pass_back_as_the_compiler_says() {
    for x in lists_up_to(2, &[1, 2, 3]).iter().map(|shape| f32s(shape)) {
        for triples in
            lists(x.rank(), &[(0, 1, 1), (0, 2, 1), (0, 3, 2), (1, 3, 1), (2, 1, 1), (0, 4, 1), (0, 1, 0)])
        {
            let starts: Vec<i64> = triples.iter().map(|(start, _, _)| *start).collect();
            let ends: Vec<i64> = triples.iter().map(|(_, end, _)| *end).collect();
            let steps: Vec<i64> = triples.iter().map(|(_, _, step)| *step).collect();
            let dims = |bounds: &[i64]| bounds.iter().copied().map(Dim::literal).collect();
            let slice = ir::Slice { starts: dims(&starts), ends: dims(&ends), steps: steps.clone() };
            let op = Op::Part(Part::SliceGrad { shape: shape(&x), slice: slice.into() });
            for dy in lists(x.rank(), &[1, 2, 3]).iter().map(|shape| f32s(shape)) {
                let answer = scatter_slice(dy, x, &starts, &ends, Some(&steps));
                assert_eq!(answered(answer), inferred(&op, &[dy]), "{dy} into {x} by {triples:?}");
            }
        }
    }
}

#[test]
fn gathering_passes_back_as_the_compiler_says() {
    for table in samples().iter().map(|shape| f32s(shape)) {
        let op = Op::Rows(Rows::ScatterAdd { shape: shape(&table) });
        for dtype in DType::ALL {
            for indices in samples().iter().map(|shape| Type::new(dtype, shape)) {
                for dy in shapes().iter().map(|shape| f32s(shape)) {
                    let answer = gather_back(dy, indices, table);
                    let found = inferred(&op, &[indices, dy]);
                    if rules::gather(table, indices).is_ok_and(|result| result.rank() > 4) {
                        assert!(answer.is_err() && found.is_err());
                    } else {
                        assert_eq!(answered(answer), found, "{dy} into {table} by {indices}");
                    }
                }
            }
        }
    }
}

#[test]
fn rows_are_replaced_and_added_as_the_compiler_says() {
    let (scatter, add_rows) = (Op::Rows(Rows::Scatter), Op::Rows(Rows::AddRows));
    for x in samples().iter().map(|shape| f32s(shape)) {
        for dtype in DType::ALL {
            for indices in samples().iter().map(|shape| Type::new(dtype, shape)) {
                for updates in shapes().iter().map(|shape| f32s(shape)) {
                    let answer = rules::scatter(x, indices, updates);
                    let found = inferred(&scatter, &[x, indices, updates]);
                    assert_eq!(answered(answer), found, "{updates} into {x} by {indices}");
                    let answer = rules::add_rows(x, indices, updates);
                    let found = inferred(&add_rows, &[x, indices, updates]);
                    assert_eq!(answered(answer), found, "{updates} added to {x} by {indices}");
                }
            }
        }
    }
}

#[test]
fn convolutions_pass_back_as_the_compiler_says() {
    let images = lists(2, &[1, 3]).into_iter().map(|s| f32s(&[2, s[0], s[1], 1]));
    let images: Vec<_> = images.chain(samples().iter().map(|shape| f32s(shape))).collect();
    let filters = lists(2, &[1, 2]).into_iter().map(|s| f32s(&[s[0], s[1], 1, 2]));
    let filters: Vec<_> = filters
        .chain([f32s(&[1, 1, 2, 2]), f32s(&[2]), f32s(&[1, 1, 1, 2]).with_dtype(DType::F64)])
        .collect();
    let cotangents: Vec<_> = lists(2, &[1, 2, 3]).into_iter().map(|s| f32s(&[2, s[0], s[1], 2])).collect();
    let pairs: &[[i64; 2]] = &[[1, 0], [0, 1]];
    for (x, f) in images.iter().flat_map(|x| filters.iter().map(move |f| (*x, *f))) {
        for strides in [&[1, 1][..], &[2, 1], &[0, 1], &[1]] {
            for (padding, written) in [
                (Padding::Valid, ir::Padding::Valid),
                (Padding::Same, ir::Padding::Same),
                (Padding::Pairs(pairs), ir::Padding::Custom(pairs.to_vec())),
            ] {
                let convolution = ir::Convolution { strides: strides.to_vec(), padding: written };
                let of_input = Op::Window(Window::Conv2dGradInput {
                    shape: shape(&x),
                    convolution: convolution.clone().into(),
                });
                let of_filter = Op::Window(Window::Conv2dGradFilter {
                    shape: shape(&f),
                    convolution: convolution.into(),
                });
                for dy in &cotangents {
                    let input = answered(conv2d_grad_input(*dy, x, f, strides, padding));
                    assert_eq!(input, inferred(&of_input, &[*dy, f]), "{dy} of {x} and {f}");
                    if x.dtype() == f.dtype() {
                        let filter = answered(conv2d_grad_filter(*dy, x, f, strides, padding));
                        assert_eq!(filter, inferred(&of_filter, &[x, *dy]), "{dy} of {x} and {f}");
                    }
                }
            }
        }
    }
}
