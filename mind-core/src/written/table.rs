//! The table of the written form, with one statement per operation.

use std::ops::Range;

use mind_shape::{Type as RuleType, TypeResult, rules};

use super::{
    Extents, Op, Own, Permutation, Subscript, Unresolved,
    arguments::{KernelDestination, OperandAt, OperandsFrom, OwnType, RuleArgument, SourceText, Text, Texts},
    calls::{AttributeForm, GivenAttributes, WrittenFunction},
    extents::{bounds, bounds_of, known, operands, sizes, subscripts},
    resolve::{
        index, padded, permuted, reduced, reshaped, resolved_axes, shape_of, sliced, slid, squeezed_axes,
    },
    rows::{Axes, Row, TypedOperands, WorkKind},
};
use crate::{
    cumulate::Cumulate,
    dim::Dim,
    ir::{
        self, Arrange, Convolution, Cumulation, Effect, Factorization, Fourier, Join, Made, Matrix, Padding,
        Part, Pool, Pooling, Product, Reduction, Reorder, Rows, Slice, Triangular, Window, Windows,
    },
    map::{Map, ShapeRule, Takes},
    ops::{place_of_part, position},
    reduce::Reduce,
    ty::{DType, Shape, Type},
};

/// Operations of Core IR, each applied to the result of the one before.
type Core = Result<Vec<ir::Op>, Unresolved>;

/// The operands of an operation.
const X: OperandAt = OperandAt(0);
const Y: OperandAt = OperandAt(1);
const Z: OperandAt = OperandAt(2);

/// The given expression, or else the other one.
macro_rules! given {
    ([$given:expr], $other:expr) => {
        $given
    };
    ([], $other:expr) => {
        $other
    };
}

/// Each operation has these entries:
///
/// - `is`: its row.
/// - `rule`: its rule, a function of `mind_shape::rules`, with the arguments. The entry becomes a call for types that
///   are known here, and Rust code of a call for types that only rustc knows. Both use the same rule.
/// - `check`: the function of the run time that checks the operands' elements before the operation runs.
/// - `run`: the function of the run time that computes an operation of the kind [`WorkKind::Kernel`], with the
///   arguments. A witness is passed as its type. The destination of the result is the last argument. Plans of typed
///   programs call the same function.
/// - `core`: the operations of Core IR that it becomes when the types of the operands are known.
macro_rules! statements {
    (|$op:ident, $types:ident| $($pattern:pat $(if $guard:expr)? => {
        is: $row:expr,
        $(rule: $rule:ident($($argument:expr),*),)?
        $(check: $check:expr => ($($checked:expr),*),)?
        $(run: $run:expr => ($($given:expr),*),)?
        core: $core:expr,
    })+) => {
        /// The row of an operation.
        #[allow(unused_variables, reason = "each function reads only some of the names that a pattern binds")]
        fn row($op: &Op) -> Row {
            match $op {
                $($pattern $(if $guard)? => $row,)+
            }
        }

        /// Calls `then` with the result of the operation's rule for operands of these types.
        ///
        /// # Panics
        /// If the operation is an input or a constant, whose types do not follow from operands.
        #[allow(unused_variables, reason = "as above")]
        pub(crate) fn rule<R>(
            $op: &Op,
            operands: &[RuleType],
            then: impl FnOnce(TypeResult<'_>) -> R,
        ) -> R {
            match $op {
                $($pattern $(if $guard)? => {
                    given!([$(then(rules::$rule($(RuleArgument::value(&$argument, operands)),*)))?], none("rule", $op))
                })+
            }
        }

        /// The call of the rule in Rust, as `gather(n0, n1)`.
        ///
        /// # Panics
        /// If the operation is an input or a constant, which have no rule.
        #[allow(unused_variables, reason = "as above")]
        pub fn rule_text($op: &Op, at: &Texts<'_>) -> String {
            match $op {
                $($pattern $(if $guard)? => {
                    given!(
                        [$(call(&format!("{}::{}", at.rules, stringify!($rule)), &[$(&$argument),*], at))?],
                        none("rule", $op)
                    )
                })+
            }
        }

        /// The call in Rust of the function that computes an operation, as `gather(x, i, "i", out)`.
        ///
        /// # Panics
        /// If no function of the run time computes it: it is a view, or loops compute it.
        #[allow(unused_variables, reason = "as above")]
        pub fn kernel_text($op: &Op, at: &Texts<'_>) -> String {
            match $op {
                $($pattern $(if $guard)? => {
                    given!([$(call($run, &[$(&$given,)* &KernelDestination], at))?], none("kernel", $op))
                })+
            }
        }

        /// The call in Rust of the function that checks the operands first, as `check_picked(x, i, 0, "i")`, if the
        /// operation has one.
        #[allow(unused_variables, reason = "as above")]
        pub fn check_text($op: &Op, at: &Texts<'_>) -> Option<String> {
            match $op {
                $($pattern $(if $guard)? => given!([$(Some(call($check, &[$(&$checked),*], at)))?], None),)+
            }
        }

        /// The operations of Core IR that an operation becomes on operands of these types, which include witnesses. The
        /// first one reads the operands that are not witnesses, and each further one reads the result before it. If the
        /// list is empty, the result is the first operand.
        ///
        /// # Panics
        /// If the operation has no such entry: an input, a constant, or an operation of this form that is resolved
        /// elsewhere.
        #[allow(unused_variables, reason = "as above")]
        pub(crate) fn resolve($op: &Op, $types: &[&Type]) -> Core {
            match $op {
                $($pattern $(if $guard)? => $core,)+
            }
        }
    };
}

statements! {
    |op, types|
    Op::Input { .. } => {
        is: Row { axes: None, ..Row::of(WorkKind::Known) },
        core: none("row in Core IR", op),
    }
    Op::Const(constant) => {
        is: Row::of(WorkKind::Known).extents(constant.shape.clone()).witness(0),
        core: none("row in Core IR", op),
    }
    Op::Made(Made::Iota { shape, axis }) => {
        is: Row {
            elements: TypedOperands::Own(DType::I64),
            witnesses: 0..operands(shape),
            extent_witnesses: 0..operands(shape),
            ..Row::kernel().written(shape)
        },
        rule: iota(sizes(shape), axis),
        run: "iota" => (axis, OwnType),
        core: {
            let shape = known(shape, types).map_err(Unresolved::Extent)?;
            let axis = resolved_axes(&[*axis], shape.len())?[0];
            one(ir::Op::Made(Made::Iota { shape, axis }))
        },
    }
    Op::Map(map) if map.is_conversion() => {
        is: Row { kind: WorkKind::Kernel, ..Row::map(*map) },
        rule: unary(map.row().takes, map.row().gives, X),
        run: "converted" => (X),
        core: one(ir::Op::Map(*map)),
    }
    Op::Map(map) if map.row().arity() == 1 => {
        is: Row::map(*map),
        rule: unary(map.row().takes, map.row().gives, X),
        core: one(ir::Op::Map(*map)),
    }
    Op::Map(map) if map.row().shapes == ShapeRule::Broadcast => {
        is: Row::map(*map).axes(Axes::Broadcast),
        rule: binary(map.row().takes, map.row().gives, X, Y),
        core: one(ir::Op::Map(*map)),
    }
    Op::Map(map) if map.row().shapes == ShapeRule::Choice => {
        is: Row::map(*map).axes(Axes::BroadcastAll),
        rule: choice(X, Y, Z),
        core: one(ir::Op::Map(*map)),
    }
    Op::Map(map) => {
        is: Row::map(*map),
        rule: same_shape_binary(map.row().takes, X, Y),
        core: one(ir::Op::Map(*map)),
    }
    Op::Reduce(reduce, Reduction { axes, keepdims }) => {
        is: Row::kernel().axes(reduced_to(axes, *keepdims)),
        rule: reduce(reduce.row().takes, X, axes, *keepdims),
        run: reduce.row().function => (X, axes),
        core: one(ir::Op::Reduce(*reduce, reduced(axes.as_deref(), *keepdims, types[0].rank())?)),
    }
    Op::ArgReduce(arg, Reduction { axes, keepdims }) => {
        is: Row { elements: TypedOperands::Own(DType::I64), ..Row::kernel() }.axes(reduced_to(axes, *keepdims)),
        rule: arg(X, axes, *keepdims),
        run: arg.function() => (X, axes),
        core: one(ir::Op::ArgReduce(*arg, reduced(axes.as_deref(), *keepdims, types[0].rank())?)),
    }
    Op::Cumulate(Cumulate::Recurrence, cumulation @ Cumulation { axis, reverse, exclusive }) => {
        is: Row::kernel().same(),
        rule: recurrence(X, Y, axis),
        run: "recurrence" => (X, Y, axis, reverse, exclusive),
        core: {
            let axis = resolved_axes(&[*axis], types[0].rank())?[0];
            one(ir::Op::Cumulate(Cumulate::Recurrence, Cumulation { axis, ..*cumulation }))
        },
    }
    Op::Cumulate(cumulate, Cumulation { axis, reverse, exclusive }) => {
        is: Row::kernel().same(),
        rule: along(Takes::Numbers, X, axis),
        run: cumulate.row().function => (X, axis, reverse, exclusive),
        core: {
            let axis = resolved_axes(&[*axis], types[0].rank())?[0];
            let cumulation = Cumulation { axis, reverse: *reverse, exclusive: *exclusive };
            one(ir::Op::Cumulate(*cumulate, cumulation))
        },
    }
    Op::Reorder(Reorder::Flip { axis }) => {
        is: Row::kernel().same(),
        rule: along(Takes::All, X, axis),
        run: "flip" => (X, axis),
        core: {
            let axis = resolved_axes(&[*axis], types[0].rank())?[0];
            one(ir::Op::Reorder(Reorder::Flip { axis }))
        },
    }
    Op::Reorder(Reorder::Roll { shift, axis }) => {
        is: Row::kernel().same(),
        rule: along(Takes::All, X, axis),
        run: "roll" => (X, shift, axis),
        core: {
            let axis = resolved_axes(&[*axis], types[0].rank())?[0];
            one(ir::Op::Reorder(Reorder::Roll { shift: *shift, axis }))
        },
    }
    Op::Reorder(Reorder::Sort { axis, descending }) => {
        is: Row::kernel().same(),
        rule: along(Takes::Numbers, X, axis),
        run: "sort" => (X, axis, descending, OwnType),
        core: {
            let axis = resolved_axes(&[*axis], types[0].rank())?[0];
            one(ir::Op::Reorder(Reorder::Sort { axis, descending: *descending }))
        },
    }
    Op::Reorder(Reorder::ArgSort { axis, descending }) => {
        is: Row { elements: TypedOperands::Own(DType::I64), ..Row::kernel().same() },
        rule: positions_along(X, axis),
        run: "argsort" => (X, axis, descending, OwnType),
        core: {
            let axis = resolved_axes(&[*axis], types[0].rank())?[0];
            one(ir::Op::Reorder(Reorder::ArgSort { axis, descending: *descending }))
        },
    }
    Op::Arrange(Arrange::Reshape { shape: Extents::Written(shape) }) => {
        is: Row::of(WorkKind::View).written(shape),
        rule: reshape(X, sizes(shape)),
        core: {
            let shape = known(shape, types).map_err(Unresolved::Extent)?;
            one(ir::Op::Arrange(Arrange::Reshape { shape: reshaped(&shape, types[0])? }))
        },
    }
    Op::Arrange(Arrange::Reshape { shape: Extents::Like }) => {
        is: Row::of(WorkKind::View).like(1),
        rule: reshape_like(X, Y),
        core: one(ir::Op::Arrange(Arrange::Reshape { shape: types[1].shape.clone() })),
    }
    Op::Arrange(Arrange::Transpose { permutation }) => {
        is: Row::kernel(),
        rule: transpose(X, permutation),
        run: "transpose" => (X, permutation),
        core: one(ir::Op::Arrange(Arrange::Transpose {
            permutation: permuted(permutation, types[0].rank())?,
        })),
    }
    Op::Arrange(Arrange::ExpandDims { axes }) => {
        is: Row::of(WorkKind::View).axes(Axes::More(axes.len())),
        rule: expand_dims(X, axes),
        core: one(ir::Op::Arrange(Arrange::ExpandDims {
            axes: resolved_axes(axes, types[0].rank() + axes.len())?,
        })),
    }
    Op::Arrange(Arrange::Squeeze { axes }) => {
        is: Row::of(WorkKind::View).axes(axes.as_ref().map_or(Axes::Any, |axes| Axes::Less(axes.len()))),
        rule: squeeze(X, axes),
        core: Ok(squeeze(squeezed_axes(axes.as_deref(), types[0])?).into_iter().collect()),
    }
    Op::Arrange(Arrange::BroadcastTo { shape: Extents::Written(shape) }) => {
        is: Row::of(WorkKind::Free).written(shape),
        rule: broadcast_to(X, sizes(shape)),
        core: {
            let shape = known(shape, types).map_err(Unresolved::Extent)?;
            one(ir::Op::Arrange(Arrange::BroadcastTo { shape: shape.into_iter().collect() }))
        },
    }
    Op::Arrange(Arrange::BroadcastTo { shape: Extents::Like }) => {
        is: Row::of(WorkKind::Free).like(1),
        rule: broadcast_like(X, Y),
        core: one(ir::Op::Arrange(Arrange::BroadcastTo { shape: types[1].shape.clone() })),
    }
    Op::Part(Part::Index { indices }) => {
        is: Row::kernel().axes(Axes::Less(dropped(indices))).over(bounds_in(indices)),
        rule: subscript(X, subscripts(indices)),
        run: "subscript" => (X, subscripts(indices)),
        core: {
            let (slice, dropped) = index(types, 0, indices);
            Ok(part(slice, dropped, &types[0].shape))
        },
    }
    Op::Part(Part::Slice(slice)) => {
        is: Row::kernel().over(bounds_of_slice(slice)),
        rule: slice(X, bounds(&slice.starts), bounds(&slice.ends), Some(&slice.steps)),
        run: "slice" => (X, bounds(&slice.starts), bounds(&slice.ends), slice.steps),
        core: one(ir::Op::Part(Part::Slice(sliced(slice, types)?))),
    }
    Op::Part(Part::SliceGrad { shape, slice }) => {
        is: Row::kernel().shaped(shape, behind(bounds_of_slice(slice))).over(bounds_of_slice(slice)),
        rule: scatter_slice(
            X,
            OperandAt(behind(bounds_of_slice(slice))),
            bounds(&slice.starts),
            bounds(&slice.ends),
            Some(&slice.steps)
        ),
        run: "slice_grad" => (X, OwnType, bounds(&slice.starts), bounds(&slice.ends), slice.steps),
        core: one(ir::Op::Part(Part::SliceGrad { shape: shape_of(shape, types), slice: sliced(slice, types)? })),
    }
    Op::Part(Part::Unfold(windows)) => {
        is: Row::kernel().axes(Axes::More(windows.axes.len())).over(&windows.sizes),
        rule: unfold(X, sizes(&windows.sizes), &windows.axes, &windows.strides, &windows.dilations),
        run: "unfold" => (X, sizes(&windows.sizes), windows.axes, windows.strides, windows.dilations),
        core: one(ir::Op::Part(Part::Unfold(slid(windows, types, types[0].rank())?))),
    }
    Op::Part(Part::UnfoldGrad { shape, windows }) => {
        is: Row::kernel().shaped(shape, behind(&windows.sizes)).over(&windows.sizes),
        rule: unfold_back(
            X,
            OperandAt(behind(&windows.sizes)),
            sizes(&windows.sizes),
            &windows.axes,
            &windows.strides,
            &windows.dilations
        ),
        run: "unfold_grad" =>
            (X, OwnType, sizes(&windows.sizes), windows.axes, windows.strides, windows.dilations),
        core: {
            let shape = shape_of(shape, types);
            let windows = slid(windows, types, shape.rank())?;
            one(ir::Op::Part(Part::UnfoldGrad { shape, windows }))
        },
    }
    Op::Rows(Rows::Gather) => {
        is: Row::kernel().alone(0).axes(Axes::Picked),
        rule: gather(X, Y),
        check: "check_picked" => (X, Y, 0, SourceText(1)),
        run: "gather" => (X, Y),
        core: one(ir::Op::Rows(Rows::Gather)),
    }
    Op::Rows(Rows::ScatterAdd { shape }) => {
        is: Row::kernel().alone(1).shaped(shape, 2),
        rule: gather_back(Y, X, Z),
        check: "check_added" => (OwnType, X, SourceText(0)),
        run: "gather_grad" => (Y, X, OwnType),
        core: one(ir::Op::Rows(Rows::ScatterAdd { shape: shape_of(shape, types) })),
    }
    Op::Rows(Rows::TakeAlong { axis }) => {
        is: Row::kernel().alone(0).axes(Axes::Of(1)),
        rule: take_along(X, Y, axis),
        check: "check_picked" => (X, Y, axis, SourceText(1)),
        run: "take_along" => (X, Y, axis),
        core: {
            let axis = resolved_axes(&[*axis], types[0].rank())?[0];
            one(ir::Op::Rows(Rows::TakeAlong { axis }))
        },
    }
    Op::Rows(Rows::AddAlong { shape, axis }) => {
        is: Row::kernel().alone(1).shaped(shape, 2),
        rule: take_along_back(Y, X, Z, axis),
        run: "take_along_grad" => (Y, X, OwnType, axis),
        core: {
            let shape = shape_of(shape, types);
            let axis = resolved_axes(&[*axis], shape.rank())?[0];
            one(ir::Op::Rows(Rows::AddAlong { shape, axis }))
        },
    }
    Op::Rows(Rows::DynamicSlice { shape, axis }) => {
        is: Row::kernel().alone(0).shaped(shape, 2),
        rule: dynamic_slice(X, Y, Z, axis),
        run: "dynamic_slice" => (X, Y, OwnType, axis),
        core: one(ir::Op::Rows(Rows::DynamicSlice { shape: shape_of(shape, types), axis: *axis })),
    }
    Op::Rows(Rows::DynamicUpdate { axis }) => {
        is: Row::kernel().alone(0).same(),
        rule: dynamic_update(X, Y, Z, axis),
        run: "dynamic_update" => (X, Y, Z, axis),
        core: one(ir::Op::Rows(Rows::DynamicUpdate { axis: *axis })),
    }
    Op::Rows(Rows::Scatter) => {
        is: Row::kernel().alone(0).same(),
        rule: scatter(X, Y, Z),
        run: "scatter" => (X, Y, Z),
        core: one(ir::Op::Rows(Rows::Scatter)),
    }
    Op::Rows(Rows::AddRows) => {
        is: Row::kernel().except(1).same(),
        rule: add_rows(X, Y, Z),
        check: "check_picked" => (X, Y, 0, SourceText(1)),
        run: "add_rows" => (X, Y, Z),
        core: one(ir::Op::Rows(Rows::AddRows)),
    }
    Op::Join(Join::Concat { axis }) => {
        is: Row::kernel(),
        rule: concat(OperandsFrom(0), axis),
        run: "concat" => (OperandsFrom(0), axis),
        core: {
            let axis = resolved_axes(&[*axis], types[0].rank())?[0];
            Ok(if types.len() == 1 { Vec::new() } else { vec![ir::Op::Join(Join::Concat { axis })] })
        },
    }
    Op::Product(Product::Dot) => {
        is: Row::kernel().axes(Axes::Product),
        rule: dot(X, Y),
        run: "product" => (X, Y),
        core: one(ir::Op::Product(Product::Dot)),
    }
    Op::Product(Product::MatMul) => {
        is: Row::kernel().axes(Axes::Product),
        rule: matmul(X, Y),
        run: "product" => (X, Y),
        core: one(ir::Op::Product(Product::MatMul)),
    }
    Op::Matrix(matrix @ Matrix::Factor(factorization)) if factorization.is_of_square() => {
        is: Row::kernel().axes(Axes::Of(0)),
        rule: factor(X, factorization.extra_rows()),
        run: factorization.function() => (X),
        core: one(ir::Op::Matrix(*matrix)),
    }
    Op::Matrix(matrix @ Matrix::Factor(factorization)) => {
        is: Row::kernel().axes(Axes::Of(0)),
        rule: decompose(X, factorization.extra_rows()),
        run: factorization.function() => (X),
        core: one(ir::Op::Matrix(*matrix)),
    }
    Op::Matrix(matrix @ Matrix::SolveTriangular(Triangular { lower, transposed, unit_diagonal })) => {
        is: Row::kernel().axes(Axes::Of(1)),
        rule: solve_triangular(X, Y),
        run: "solve_triangular" => (X, Y, lower, transposed, unit_diagonal),
        core: one(ir::Op::Matrix(*matrix)),
    }
    Op::Matrix(matrix @ Matrix::Triangle { lower, strict }) => {
        is: Row::kernel().same(),
        rule: triangle(X),
        run: "triangle" => (X, lower, strict),
        core: one(ir::Op::Matrix(*matrix)),
    }
    Op::Fourier(Fourier::Fft { inverse }) => {
        is: Row::kernel().same(),
        rule: fft(X),
        run: "fft" => (X, inverse),
        core: one(ir::Op::Fourier(Fourier::Fft { inverse: *inverse })),
    }
    Op::Fourier(Fourier::RealFft) => {
        is: Row::kernel().axes(Axes::More(1)),
        rule: real_fft(X),
        run: "real_fft" => (X),
        core: one(ir::Op::Fourier(Fourier::RealFft)),
    }
    Op::Fourier(Fourier::RealFftGrad { shape }) => {
        is: Row::kernel().shaped(shape, 1),
        rule: real_fft_back(X, Y),
        run: "real_fft_grad" => (X, OwnType),
        core: one(ir::Op::Fourier(Fourier::RealFftGrad { shape: shape_of(shape, types) })),
    }
    Op::Window(Window::Conv2d(convolution)) => {
        is: Row::kernel(),
        rule: conv2d(X, Y, &convolution.strides, &convolution.padding),
        run: "conv2d" => (X, Y, convolution.strides, convolution.padding, OwnType),
        core: one(ir::Op::Window(Window::Conv2d(convolution.clone()))),
    }
    Op::Window(Window::Conv2dGradInput { shape, convolution }) => {
        is: Row::kernel().shaped(shape, 2),
        rule: conv2d_grad_input(X, Z, Y, &convolution.strides, &convolution.padding),
        run: "conv2d_grad_input" => (X, Z, Y, convolution.strides, convolution.padding),
        core: one(ir::Op::Window(Window::Conv2dGradInput {
            shape: shape_of(shape, types),
            convolution: convolution.clone(),
        })),
    }
    Op::Window(Window::Conv2dGradFilter { shape, convolution }) => {
        is: Row::kernel().shaped(shape, 2),
        rule: conv2d_grad_filter(Y, X, Z, &convolution.strides, &convolution.padding),
        run: "conv2d_grad_filter" => (Y, X, Z, convolution.strides, convolution.padding),
        core: one(ir::Op::Window(Window::Conv2dGradFilter {
            shape: shape_of(shape, types),
            convolution: convolution.clone(),
        })),
    }
    Op::Pool(Pool::Max(p)) => {
        is: Row::kernel(),
        rule: pool(X, p),
        run: "max_pool" => (X, p),
        core: one(ir::Op::Pool(Pool::Max(p.clone()))),
    }
    Op::Pool(Pool::MaxGrad(p)) => {
        is: Row::kernel().same(),
        rule: pool_back(Y, X, p),
        run: "max_pool_grad" => (X, Y, p),
        core: one(ir::Op::Pool(Pool::MaxGrad(p.clone()))),
    }
    Op::Pool(Pool::MaxTake(p)) => {
        is: Row::kernel(),
        rule: pool_take(X, Y, p),
        run: "max_pool_take" => (X, Y, p),
        core: one(ir::Op::Pool(Pool::MaxTake(p.clone()))),
    }
    Op::Pool(Pool::Total(p)) => {
        is: Row::kernel(),
        rule: pool(X, p),
        run: "sum_pool" => (X, p),
        core: one(ir::Op::Pool(Pool::Total(p.clone()))),
    }
    Op::Pool(Pool::SumGrad { shape, pooling: p }) => {
        is: Row::kernel().shaped(shape, 1),
        rule: pool_back(X, Y, p),
        run: "sum_pool_grad" => (X, OwnType, p),
        core: one(ir::Op::Pool(Pool::SumGrad { shape: shape_of(shape, types), pooling: p.clone() })),
    }
    Op::Pool(Pool::Depthwise(p)) => {
        is: Row::kernel(),
        rule: depthwise(X, Y, p),
        run: "depthwise" => (X, Y, p),
        core: one(ir::Op::Pool(Pool::Depthwise(p.clone()))),
    }
    Op::Pool(Pool::DepthwiseGradInput { shape, pooling: p }) => {
        is: Row::kernel().shaped(shape, 2),
        rule: depthwise_grad_input(X, Y, Z, p),
        run: "depthwise_grad_input" => (X, Y, OwnType, p),
        core: one(ir::Op::Pool(Pool::DepthwiseGradInput { shape: shape_of(shape, types), pooling: p.clone() })),
    }
    Op::Pool(Pool::DepthwiseGradFilter(p)) => {
        is: Row::kernel(),
        rule: depthwise_grad_filter(X, Y, p),
        run: "depthwise_grad_filter" => (X, Y, p),
        core: one(ir::Op::Pool(Pool::DepthwiseGradFilter(p.clone()))),
    }
    Op::Effect(effect) => {
        is: Row::of(WorkKind::View),
        rule: like(X),
        core: one(ir::Op::Effect(effect.clone())),
    }
    Op::Own(Own::At) => {
        is: Row::kernel().axes(Axes::Product),
        rule: at(X, Y),
        run: "product" => (X, Y),
        core: one(ir::Op::Product(Product::of(types[0], types[1]))),
    }
    Op::Own(Own::FilledLike { .. }) => {
        is: Row::of(WorkKind::Free).like(0),
        rule: like(X),
        core: none("row in Core IR", op),
    }
    Op::Own(Own::CountReduced { axes }) => {
        is: Row::kernel().axes(Axes::Known(0)).witness(0),
        rule: scalar_like(X),
        run: "count_reduced" => (X, axes),
        core: none("row in Core IR", op),
    }
    Op::Own(Own::Extent { number }) => {
        is: {
            let row = Row::kernel().alone(0).axes(Axes::Known(0)).over([number]);
            Row { witnesses: 0..behind([number]), ..row }
        },
        rule: number_like(X),
        run: "number_like" => (X, number),
        core: none("row in Core IR", op),
    }
    Op::Own(Own::ConvertedLike) => {
        is: Row::kernel().alone(1).witness(1),
        rule: converted_like(X, Y),
        run: "converted" => (X),
        core: Ok(if types[0].dtype == types[1].dtype {
            Vec::new()
        } else {
            vec![ir::Op::Map(Map::to(types[1].dtype))]
        }),
    }
    Op::Own(Own::Truths { all, reduction: Reduction { axes, keepdims } }) => {
        is: Row { elements: TypedOperands::Own(DType::Bool), ..Row::kernel() }.axes(reduced_to(axes, *keepdims)),
        rule: reduce(Takes::All, X, axes, *keepdims),
        run: if *all { "all" } else { "any" } => (X, axes),
        core: Ok(vec![
            ir::Op::Map(Map::ToBool),
            ir::Op::Map(Map::ToI32),
            ir::Op::Reduce(
                if *all { Reduce::Min } else { Reduce::Max },
                reduced(axes.as_deref(), *keepdims, types[0].rank())?,
            ),
            ir::Op::Map(Map::ToBool),
        ]),
    }
    Op::Own(Own::SumLike) => {
        is: Row::kernel().like(1),
        rule: sum_like(X, Y),
        run: "sum_like" => (X, Y),
        core: none("row in Core IR", op),
    }
    Op::Own(Own::Indices) => {
        is: Row { elements: TypedOperands::Own(DType::I64), ..Row::kernel() },
        rule: indices(X),
        run: "converted" => (X),
        core: match types[0].dtype {
            DType::I64 => Ok(Vec::new()),
            dtype if dtype.is_integer() => one(ir::Op::Map(Map::ToI64)),
            _ => Err(Unresolved::NoIndices),
        },
    }
    Op::Own(Own::AsColumns) => {
        is: Row::of(WorkKind::View).witness(1).axes(Axes::AtLeast(2)),
        rule: as_columns(X, Y),
        core: columns(types[0], types[1]),
    }
    Op::Own(Own::AsGiven) => {
        // An axis less for a vector, as in a product with it.
        is: Row::of(WorkKind::View).witness(1).axes(Axes::Product),
        rule: as_given(X, Y),
        core: Ok(if types[1].rank() == 1 {
            squeeze(resolved_axes(&[-1], types[0].rank())?).into_iter().collect()
        } else {
            Vec::new()
        }),
    }
    Op::Own(Own::Stack { axis }) => {
        is: Row::kernel().axes(Axes::More(1)),
        rule: stack(OperandsFrom(0), axis),
        run: "stack" => (OperandsFrom(0), axis),
        core: {
            let axis = resolved_axes(&[*axis], types[0].rank() + 1)?[0];
            Ok(if types.len() == 1 { Vec::new() } else { vec![ir::Op::Join(Join::Concat { axis })] })
        },
    }
    Op::Own(Own::Pad { low, high }) => {
        is: Row::kernel(),
        rule: pad(X, low, high),
        run: "pad" => (X, low, OwnType),
        core: {
            let (shape, slice) = padded(types[0], low, high)?;
            one(ir::Op::Part(Part::SliceGrad { shape, slice: slice.into() }))
        },
    }
    Op::Own(Own::JoinedPart { axis, part }) => {
        is: Row::kernel().like_last(part + 1),
        rule: joined_part(X, OperandsFrom(1), axis),
        run: "joined_part" => (X, OperandsFrom(1), axis),
        core: one(ir::Op::Part(Part::Slice(joined(types, types[part + 1], *axis)?))),
    }
    Op::Own(Own::JoinedPartGrad { axis, part }) => {
        is: Row::kernel().like_last(part + 1),
        rule: joined_part_grad(X, OperandsFrom(1), axis),
        run: "joined_part_grad" => (X, OperandsFrom(1), axis),
        core: one(ir::Op::Part(Part::SliceGrad {
            shape: types[part + 1].shape.clone(),
            slice: joined(types, types[0], *axis)?,
        })),
    }
    Op::Own(Own::ProductGradLhs) => {
        is: Row::kernel().like(1),
        rule: product_grad_lhs(X, Y, Z),
        run: "product_grad_lhs" => (X, Y, Z),
        core: none("row in Core IR", op),
    }
    Op::Own(Own::ProductGradRhs) => {
        is: Row::kernel().like(2),
        rule: product_grad_rhs(X, Y, Z),
        run: "product_grad_rhs" => (X, Y, Z),
        core: none("row in Core IR", op),
    }
    Op::Own(Own::IndexGrad(indices)) => {
        is: Row::kernel().like(behind(bounds_in(indices))).over(bounds_in(indices)),
        rule: scatter_subscript(X, OperandAt(behind(bounds_in(indices))), subscripts(indices)),
        run: "subscript_grad" => (X, OwnType, subscripts(indices)),
        core: {
            let like = behind(bounds_in(indices));
            let (slice, axes) = index(types, like, indices);
            let expand = (!axes.is_empty()).then_some(ir::Op::Arrange(Arrange::ExpandDims { axes }));
            let shape = types[like].shape.clone();
            let put = ir::Op::Part(Part::SliceGrad { shape, slice: slice.into() });
            Ok(expand.into_iter().chain([put]).collect())
        },
    }
}

/// The functions of the language that are one operation, except elementwise functions and reductions.
pub(crate) const FUNCTIONS: &[WrittenFunction] = &[
    WrittenFunction::of("matmul", &["a", "b"], |_| Op::Product(Product::MatMul)),
    WrittenFunction::of("dot", &["a", "b"], |_| Op::Product(Product::Dot)),
    WrittenFunction::of("cast", &["x", "dtype"], |mut given| Op::Map(Map::to(given.dtype(0))))
        .with(&[AttributeForm::DType], 0),
    WrittenFunction::of("reshape", &["x", "shape"], |mut given| {
        Op::Arrange(Arrange::Reshape { shape: Extents::Written(given.dims(0)) })
    })
    .with(&[AttributeForm::Dims], 0),
    WrittenFunction::of("transpose", &["x", "permutation"], |mut given| {
        permuted_by(given.integers(0).map_or(Permutation::Reversed, Permutation::Written))
    })
    .with(&[AttributeForm::Integers], 1),
    WrittenFunction::of("moveaxis", &["x", "from", "to"], |mut given| {
        let (from, to) = (given.integer(0).unwrap_or_default(), given.integer(1).unwrap_or_default());
        permuted_by(Permutation::Moved { from, to })
    })
    .with(&[AttributeForm::Integer, AttributeForm::Integer], 0),
    WrittenFunction::of("expand_dims", &["x", "axes"], |mut given| {
        Op::Arrange(Arrange::ExpandDims { axes: given.integers(0).unwrap_or_default() })
    })
    .with(&[AttributeForm::Axes], 0),
    WrittenFunction::of("squeeze", &["x", "axes"], |mut given| {
        Op::Arrange(Arrange::Squeeze { axes: given.integers(0) })
    })
    .with(&[AttributeForm::Axes], 1),
    WrittenFunction::of("broadcast_to", &["x", "shape"], |mut given| spread(given.dims(0)))
        .with(&[AttributeForm::Shape], 0),
    WrittenFunction::of("slice", &["x", "starts", "ends", "steps"], |mut given| {
        let (starts, ends) = (given.dims(0), given.dims(1));
        let steps = given.integers(2).unwrap_or_else(|| vec![1; starts.len()]);
        Op::Part(Part::Slice(Slice { starts, ends, steps }.into()))
    })
    .with(&[AttributeForm::Bounds, AttributeForm::Bounds, AttributeForm::Integers], 1),
    WrittenFunction::of("unfold", &["x", "sizes", "axes", "strides", "dilations"], |mut given| {
        let axes = given.integers(1).unwrap_or_default();
        // A single number is that of every axis.
        let each = |list: Vec<i64>| if list.len() == 1 { vec![list[0]; axes.len()] } else { list };
        let mut sizes = given.dims(0);
        if sizes.len() == 1 {
            sizes = vec![sizes[0].clone(); axes.len()];
        }
        let [strides, dilations] = [2, 3].map(|at| each(given.integers(at).unwrap_or_else(|| vec![1])));
        Op::Part(Part::Unfold(Windows { axes, sizes, strides, dilations }.into()))
    })
    .with(&[AttributeForm::Shape, AttributeForm::Axes, AttributeForm::Axes, AttributeForm::Axes], 2),
    WrittenFunction::of("concat", &["parts", "axis"], |mut given| {
        Op::Join(Join::Concat { axis: given.integer(0).unwrap_or_default() })
    })
    .with(&[AttributeForm::Integer], 1)
    .of_list(),
    WrittenFunction::of("stack", &["parts", "axis"], |mut given| {
        Op::Own(Own::Stack { axis: given.integer(0).unwrap_or_default() })
    })
    .with(&[AttributeForm::Integer], 1)
    .of_list(),
    WrittenFunction::of("cumsum", &["x", "axis", "reverse", "exclusive"], |given| {
        cumulated(Cumulate::Sum, given)
    })
    .with(CUMULATION, 2),
    WrittenFunction::of("cumprod", &["x", "axis", "reverse", "exclusive"], |given| {
        cumulated(Cumulate::Prod, given)
    })
    .with(CUMULATION, 2),
    WrittenFunction::of("cummax", &["x", "axis", "reverse", "exclusive"], |given| {
        cumulated(Cumulate::Max, given)
    })
    .with(CUMULATION, 2),
    WrittenFunction::of("cummin", &["x", "axis", "reverse", "exclusive"], |given| {
        cumulated(Cumulate::Min, given)
    })
    .with(CUMULATION, 2),
    WrittenFunction::of("flip", &["x", "axis"], |mut given| {
        Op::Reorder(Reorder::Flip { axis: given.integer(0).unwrap_or_default() })
    })
    .with(&[AttributeForm::Integer], 0),
    WrittenFunction::of("roll", &["x", "shift", "axis"], |mut given| {
        let (shift, axis) = (given.integer(0).unwrap_or_default(), given.integer(1).unwrap_or_default());
        Op::Reorder(Reorder::Roll { shift, axis })
    })
    .with(&[AttributeForm::Integer, AttributeForm::Integer], 0),
    WrittenFunction::of("sort", &["x", "axis", "descending"], |mut given| {
        Op::Reorder(Reorder::Sort { axis: given.integer(0).unwrap_or(-1), descending: given.flag(1) })
    })
    .with(SORTING, 2),
    WrittenFunction::of("argsort", &["x", "axis", "descending"], |mut given| {
        Op::Reorder(Reorder::ArgSort { axis: given.integer(0).unwrap_or(-1), descending: given.flag(1) })
    })
    .with(SORTING, 2),
    WrittenFunction::of("iota", &["shape", "axis"], |mut given| {
        let shape = given.dims(0);
        Op::Made(Made::Iota { shape, axis: given.integer(1).unwrap_or_default() })
    })
    .with(&[AttributeForm::Shape, AttributeForm::Integer], 1),
    WrittenFunction::of("gather", &["t", "i"], |_| Op::Rows(Rows::Gather)),
    WrittenFunction::of("take_along", &["x", "indices", "axis"], |mut given| {
        Op::Rows(Rows::TakeAlong { axis: given.integer(0).unwrap_or_default() })
    })
    .with(&[AttributeForm::Integer], 0),
    WrittenFunction::of("max_pool", POOL, |given| Op::Pool(Pool::Max(pooling(given)))).with(POOLING, 2),
    WrittenFunction::of("sum_pool", POOL, |given| Op::Pool(Pool::Total(pooling(given)))).with(POOLING, 2),
    WrittenFunction::of("inspect", &["x", "label"], |mut given| {
        Op::Effect(Effect::Inspect { label: given.text(0) })
    })
    .with(&[AttributeForm::Text], 0),
];

/// The arguments of pools.
const POOL: &[&str] = &["x", "sizes", "strides", "padding", "dilations"];

/// The attributes of pools.
pub(crate) const POOLING: &[AttributeForm] =
    &[AttributeForm::Integers, AttributeForm::Integers, AttributeForm::Padding, AttributeForm::Integers];

pub(super) fn pooling(mut given: GivenAttributes) -> Box<Pooling> {
    let [sizes, strides] = [0, 1].map(|at| given.integers(at).unwrap_or_default());
    let padding = given.padding(2).unwrap_or(Padding::Valid);
    let dilations = given.integers(3).unwrap_or_else(|| vec![1; sizes.len()]);
    Box::new(Pooling { sizes, dilations, slide: Convolution { strides, padding } })
}

/// The functions of single operations that only the text of the library calls.
pub(crate) const PRIVATE_FUNCTIONS: &[WrittenFunction] = &[
    WrittenFunction::of("factor_cholesky", &["a"], |_| Op::Matrix(Matrix::Factor(Factorization::Cholesky))),
    WrittenFunction::of("factor_lu", &["a"], |_| Op::Matrix(Matrix::Factor(Factorization::Lu))),
    WrittenFunction::of("factor_qr", &["a"], |_| Op::Matrix(Matrix::Factor(Factorization::Qr))),
    WrittenFunction::of("factor_eigh", &["a"], |_| Op::Matrix(Matrix::Factor(Factorization::Eigh))),
    WrittenFunction::of("factor_svd", &["a"], |_| Op::Matrix(Matrix::Factor(Factorization::Svd))),
    WrittenFunction::of("complex_transform", &["x", "inverse"], |mut given| {
        Op::Fourier(Fourier::Fft { inverse: given.flag(0) })
    })
    .with(&[AttributeForm::Flag], 1),
    WrittenFunction::of("axis_to_pairs", &["x", "axis"], |mut given| {
        permuted_by(Permutation::Moved { from: before_pairs(given.integer(0)), to: -2 })
    })
    .with(&[AttributeForm::Integer], 0),
    WrittenFunction::of("axis_from_pairs", &["x", "axis"], |mut given| {
        permuted_by(Permutation::Moved { from: -2, to: before_pairs(given.integer(0)) })
    })
    .with(&[AttributeForm::Integer], 0),
    WrittenFunction::of("real_transform", &["x"], |_| Op::Fourier(Fourier::RealFft)),
    WrittenFunction::of("real_transform_back", &["y", "like"], |_| {
        Op::Fourier(Fourier::RealFftGrad { shape: Extents::Like })
    })
    .labelled("irfft"),
    WrittenFunction::of("columns_of", &["b", "a"], |_| Op::Own(Own::AsColumns)).labelled("right-hand side"),
    WrittenFunction::of("shaped_as", &["x", "b"], |_| Op::Own(Own::AsGiven)),
    WrittenFunction::of(
        "triangle_solved",
        &["a", "b", "lower", "transposed", "unit_diagonal"],
        |mut given| {
            let [lower, transposed, unit_diagonal] = [0, 1, 2].map(|flag| given.flag(flag));
            Op::Matrix(Matrix::SolveTriangular(Triangular { lower, transposed, unit_diagonal }))
        },
    )
    .with(&[AttributeForm::Flag, AttributeForm::Flag, AttributeForm::Flag], 3),
];

/// An axis of a tensor of complex numbers, which does not count the last axis of pairs, among all axes.
fn before_pairs(axis: Option<i64>) -> i64 {
    let axis = axis.unwrap_or(-1);
    if axis < 0 { axis.saturating_sub(1) } else { axis }
}

/// The attributes of cumulations.
const CUMULATION: &[AttributeForm] = &[AttributeForm::Integer, AttributeForm::Flag, AttributeForm::Flag];

/// The attributes of sorting.
const SORTING: &[AttributeForm] = &[AttributeForm::Integer, AttributeForm::Flag];

fn cumulated(cumulate: Cumulate, mut given: GivenAttributes) -> Op {
    let axis = given.integer(0).unwrap_or_default();
    Op::Cumulate(cumulate, Cumulation { axis, reverse: given.flag(1), exclusive: given.flag(2) })
}

/// The operation of Core IR that is applied to each operand before those of [`resolve`], if there is one.
pub(crate) fn each(op: &Op, types: &[&Type]) -> Result<Option<ir::Op>, Unresolved> {
    let Op::Own(Own::Stack { axis }) = op else { return Ok(None) };
    let axes = resolved_axes(&[*axis], types[0].rank() + 1)?;
    match types.iter().position(|ty| *ty != types[0]) {
        Some(other) => Err(Unresolved::Unlike(other)),
        None => Ok(Some(ir::Op::Arrange(Arrange::ExpandDims { axes }))),
    }
}

/// `x.T`, `x.mT`: the axes in another order.
pub(crate) fn permuted_by(permutation: Permutation) -> Op {
    Op::Arrange(Arrange::Transpose { permutation })
}

/// `x[.., _]`: new axes at these positions of the result.
pub(crate) fn expanded(axes: Vec<i64>) -> Op {
    Op::Arrange(Arrange::ExpandDims { axes })
}

/// `reshape(x, shape)`
pub(crate) fn reshaped_to(shape: Vec<Dim>) -> Op {
    Op::Arrange(Arrange::Reshape { shape: Extents::Written(shape) })
}

/// `squeeze(x, axes)`
pub(crate) fn squeezed(axes: Vec<i64>) -> Op {
    Op::Arrange(Arrange::Squeeze { axes: Some(axes) })
}

/// `slice(x, starts, ends, steps)`
pub(crate) fn sliced_by(slice: Slice) -> Op {
    Op::Part(Part::Slice(slice.into()))
}

/// `sum(x, axes)`
pub(crate) fn summed(axes: Vec<i64>) -> Op {
    Op::Reduce(Reduce::Sum, Reduction { axes: Some(axes), keepdims: false })
}

/// `matmul(a, b)`
pub(crate) fn multiplied() -> Op {
    Op::Product(Product::MatMul)
}

/// `conv2d(x, f)` without dilations and groups.
pub(crate) fn convolved(convolution: Convolution) -> Op {
    Op::Window(Window::Conv2d(convolution))
}

/// A convolution with a filter for each channel, whose shape is that of a window and the channels.
pub(crate) fn convolved_by_channel(pooling: Pooling) -> Op {
    Op::Pool(Pool::Depthwise(pooling.into()))
}

/// The derivative of a convolution by its image, which has the shape of the last operand.
pub(crate) fn convolved_back(convolution: Convolution) -> Op {
    Op::Window(Window::Conv2dGradInput { shape: Extents::Like, convolution: convolution.into() })
}

/// The sum of overlapping windows, in the shape of the last operand: the derivative of `unfold`.
pub(crate) fn folded(windows: Windows) -> Op {
    Op::Part(Part::UnfoldGrad { shape: Extents::Like, windows: windows.into() })
}

/// `x[.., 0..1]`
pub(super) fn first_channel() -> Op {
    let first = Subscript::Range { start: None, end: Some(Dim::ONE), step: None };
    Op::Part(Part::Index { indices: vec![Subscript::Rest, first] })
}

/// A value broadcast to the shape of the last operand.
pub(super) fn spread_like() -> Op {
    Op::Arrange(Arrange::BroadcastTo { shape: Extents::Like })
}

/// `full(shape, x)` for a tensor `x`: `x` broadcast to a shape.
pub(crate) fn spread(shape: Vec<Dim>) -> Op {
    Op::Arrange(Arrange::BroadcastTo { shape: Extents::Written(shape) })
}

/// The operations of an index expression on a tensor of this shape: an element, or a box from which axes are dropped.
pub(crate) fn part(slice: Slice, dropped: Vec<i64>, shape: &Shape) -> Vec<ir::Op> {
    if !dropped.is_empty() && dropped.len() == shape.rank() {
        return vec![ir::Op::Part(Part::Index { indices: slice.starts })];
    }
    let slice = (!slice.is_whole(shape)).then(|| ir::Op::Part(Part::Slice(slice.into())));
    slice.into_iter().chain(squeeze(dropped)).collect()
}

/// The box of a concatenation that holds `part`, after the operands between the first and the last of `types`.
fn joined(types: &[&Type], part: &Type, axis: i64) -> Result<Box<Slice>, Unresolved> {
    let axis = position(resolved_axes(&[axis], part.rank())?[0]);
    let before = types[1..types.len() - 1].iter().copied();
    place_of_part(before, part, axis).map(Box::new).map_err(Unresolved::Overflow)
}

/// The squeeze of these axes, if there are any.
pub(crate) fn squeeze(axes: Vec<i64>) -> Option<ir::Op> {
    (!axes.is_empty()).then_some(ir::Op::Arrange(Arrange::Squeeze { axes }))
}

/// The operations that make columns of right-hand sides `b`, for systems of the matrices `a`.
fn columns(b: &Type, a: &Type) -> Core {
    let rows = b.rank().checked_sub(if b.rank() == 1 { 1 } else { 2 });
    let needed = &a.shape[a.rank() - 2];
    if rows.is_none_or(|rows| b.shape[rows] != *needed) {
        return Err(Unresolved::Rows(needed.clone()));
    }
    Ok(if b.rank() == 1 { vec![ir::Op::Arrange(Arrange::ExpandDims { axes: vec![1] })] } else { Vec::new() })
}

/// A list of one operation.
fn one(op: ir::Op) -> Core {
    Ok(vec![op])
}

fn none(what: &str, op: &Op) -> ! {
    unreachable!("{op:?} has no {what}")
}

/// A call in Rust.
fn call(function: &str, arguments: &[&dyn Text], at: &Texts<'_>) -> String {
    let arguments: Vec<String> = arguments.iter().map(|argument| argument.text(at)).collect();
    format!("{function}({})", arguments.join(", "))
}

fn bounds_of_slice(slice: &Slice) -> impl Iterator<Item = &Dim> {
    slice.starts.iter().chain(&slice.ends)
}

fn bounds_in(indices: &[Subscript]) -> impl Iterator<Item = &Dim> {
    indices.iter().flat_map(bounds_of)
}

/// The position of the operand that follows the first one and those whose extents occur in dims.
fn behind<'d>(dims: impl IntoIterator<Item = &'d Dim>) -> usize {
    operands(dims).max(1)
}

/// The rank of the result of a reduction.
fn reduced_to(axes: &Option<Vec<i64>>, keepdims: bool) -> Axes {
    match axes {
        _ if keepdims => Axes::Of(0),
        Some(axes) => Axes::Less(axes.len()),
        None => Axes::Known(0),
    }
}

/// The number of axes that an index expression drops.
fn dropped(indices: &[Subscript]) -> usize {
    indices.iter().filter(|part| matches!(part, Subscript::At(_))).count()
}

impl Op {
    /// The axis along which a subscript takes the first elements, if it takes all elements along the others.
    pub(crate) fn axis_of_first(&self) -> Option<i64> {
        let Self::Part(Part::Index { indices }) = self else { return None };
        match &indices[..] {
            [Subscript::Range { start: None, step: None, .. }] => Some(0),
            [Subscript::Rest, Subscript::Range { start: None, step: None, .. }] => Some(-1),
            _ => None,
        }
    }

    /// Every dim in the attributes.
    pub(crate) fn dims_mut(&mut self) -> Vec<&mut Dim> {
        fn extents(shape: &mut Extents) -> Vec<&mut Dim> {
            match shape {
                Extents::Written(shape) => shape.iter_mut().collect(),
                Extents::Like => Vec::new(),
            }
        }
        fn of_subscripts(parts: &mut [Subscript]) -> Vec<&mut Dim> {
            let bounds = parts.iter_mut().flat_map(|part| match part {
                Subscript::At(index) => [Some(index), None],
                Subscript::Range { start, end, step: _ } => [start.as_mut(), end.as_mut()],
                Subscript::Rest => [None, None],
            });
            bounds.flatten().collect()
        }
        fn of_slice(slice: &mut Slice) -> impl Iterator<Item = &mut Dim> {
            slice.starts.iter_mut().chain(&mut slice.ends)
        }
        match self {
            Self::Made(Made::Iota { shape, axis: _ }) => shape.iter_mut().collect(),
            Self::Arrange(Arrange::Reshape { shape } | Arrange::BroadcastTo { shape })
            | Self::Rows(
                Rows::ScatterAdd { shape }
                | Rows::AddAlong { shape, axis: _ }
                | Rows::DynamicSlice { shape, axis: _ },
            )
            | Self::Window(
                Window::Conv2dGradInput { shape, convolution: _ }
                | Window::Conv2dGradFilter { shape, convolution: _ },
            ) => extents(shape),
            Self::Part(Part::Index { indices }) | Self::Own(Own::IndexGrad(indices)) => {
                of_subscripts(indices)
            }
            Self::Part(Part::Slice(slice)) => of_slice(slice).collect(),
            Self::Part(Part::SliceGrad { shape, slice }) => {
                extents(shape).into_iter().chain(of_slice(slice)).collect()
            }
            Self::Part(Part::Unfold(windows)) => windows.sizes.iter_mut().collect(),
            Self::Part(Part::UnfoldGrad { shape, windows }) => {
                extents(shape).into_iter().chain(&mut windows.sizes).collect()
            }
            Self::Fourier(fourier) => fourier.shape_mut().map_or_else(Vec::new, extents),
            Self::Pool(pool) => pool.shape_mut().map_or_else(Vec::new, extents),
            Self::Own(Own::Extent { number }) => vec![number],
            Self::Input { .. }
            | Self::Const(_)
            | Self::Effect(_)
            | Self::Map(_)
            | Self::Reduce(..)
            | Self::ArgReduce(..)
            | Self::Cumulate(..)
            | Self::Reorder(_)
            | Self::Arrange(
                Arrange::Transpose { .. } | Arrange::ExpandDims { .. } | Arrange::Squeeze { .. },
            )
            | Self::Rows(
                Rows::Gather
                | Rows::TakeAlong { .. }
                | Rows::DynamicUpdate { .. }
                | Rows::Scatter
                | Rows::AddRows,
            )
            | Self::Join(Join::Concat { .. })
            | Self::Product(Product::Dot | Product::MatMul)
            | Self::Matrix(_)
            | Self::Window(Window::Conv2d(_))
            | Self::Own(
                Own::At
                | Own::FilledLike { .. }
                | Own::CountReduced { .. }
                | Own::Truths { .. }
                | Own::SumLike
                | Own::ConvertedLike
                | Own::Indices
                | Own::AsColumns
                | Own::AsGiven
                | Own::Stack { .. }
                | Own::Pad { .. }
                | Own::JoinedPart { .. }
                | Own::JoinedPartGrad { .. }
                | Own::ProductGradLhs
                | Own::ProductGradRhs,
            ) => Vec::new(),
        }
    }

    /// The operands whose extents occur in attributes. They are witnesses, which come after the written operands and
    /// before any others.
    pub(crate) fn extent_witnesses(&self) -> Range<usize> {
        row(self).extent_witnesses
    }

    /// Whether the elements of this operand are read; otherwise it is a witness.
    pub fn reads(&self, position: usize) -> bool {
        !row(self).witnesses.contains(&position)
    }

    /// The operand whose shape the result has, if there is one.
    pub fn like(&self) -> Option<usize> {
        row(self).like
    }

    /// The kind of work.
    pub(crate) fn kind(&self) -> WorkKind {
        row(self).kind
    }

    /// Whether each element is an element of the first operand at another position. Loops read it there.
    pub fn is_spread(&self) -> bool {
        self.kind() == WorkKind::Free && self.reads(0)
    }

    /// The operands that have the element type of the result.
    pub fn elements(&self) -> TypedOperands {
        row(self).elements
    }

    /// The position from which on all operands have the same element type; `operands` is the number of operands.
    pub(crate) fn first_alike(&self, operands: usize) -> usize {
        // The row is not needed for a single operand.
        match operands {
            0 | 1 => 0,
            _ => match self.elements() {
                TypedOperands::All | TypedOperands::Own(_) => 0,
                TypedOperands::From(first) => first,
                TypedOperands::Only(_) | TypedOperands::Except(_) => operands,
            },
        }
    }

    /// The rank of the result. `None` for an input.
    pub fn axes(&self) -> Option<Axes> {
        row(self).axes
    }

    /// The extents of the result, if they are written as literals. One may be -1.
    pub(crate) fn extents(&self) -> Option<Vec<i64>> {
        row(self).extents
    }

    /// Whether a result depends on this operand in a differentiable way.
    pub(crate) fn flows(&self, position: usize) -> bool {
        if let Self::Map(map) = self {
            return map.row().flows_to(position);
        }
        // The result has the element type of a witness, but depends on the first operand.
        if let Self::Own(Own::ConvertedLike) = self {
            return position == 0;
        }
        let has_elements = match self.elements() {
            TypedOperands::All => true,
            TypedOperands::Only(operand) => operand == position,
            TypedOperands::Except(operand) => operand != position,
            TypedOperands::From(first) => first <= position,
            TypedOperands::Own(_) => false,
        };
        self.reads(position) && has_elements
    }
}
