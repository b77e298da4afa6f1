//! Cases of the table of operations, with other extents.

use mind_core::{
    build::Builder,
    dim::Dim,
    ir::{Arrange, Op, Part, Rows, Window},
    ops::sample::Case,
    ty::Shape,
};

/// Valid variants of a case, with other extents from `dims`. First each extent above 1 is replaced alone, wherever it
/// occurs, then all at once.
pub fn variants(case: &Case, dims: &[Dim]) -> Vec<Case> {
    let mut extents: Vec<i64> = case
        .operands
        .iter()
        .flat_map(|ty| ty.shape.iter().filter_map(Dim::as_literal))
        .filter(|e| *e > 1)
        .collect();
    extents.sort_unstable();
    extents.dedup();
    let every: Vec<(i64, Dim)> = extents.into_iter().zip(dims.iter().cloned()).collect();
    let alone = every.iter().map(|pair| vec![pair.clone()]);
    let variants = alone.chain((every.len() > 1).then(|| every.clone()));
    variants
        .map(|others| {
            let replace = |shape: &Shape| -> Shape {
                let other = |dim: &Dim| others.iter().find(|(extent, _)| dim.as_literal() == Some(*extent));
                shape.iter().map(|dim| other(dim).map_or(dim, |(_, other)| other).clone()).collect()
            };
            let op = match case.op.clone() {
                Op::Arrange(Arrange::Reshape { shape }) => {
                    Op::Arrange(Arrange::Reshape { shape: replace(&shape) })
                }
                Op::Arrange(Arrange::BroadcastTo { shape }) => {
                    Op::Arrange(Arrange::BroadcastTo { shape: replace(&shape) })
                }
                Op::Rows(Rows::ScatterAdd { shape }) => Op::Rows(Rows::ScatterAdd { shape: replace(&shape) }),
                Op::Rows(Rows::AddAlong { shape, axis }) => {
                    Op::Rows(Rows::AddAlong { shape: replace(&shape), axis })
                }
                Op::Rows(Rows::DynamicSlice { shape, axis }) => {
                    Op::Rows(Rows::DynamicSlice { shape: replace(&shape), axis })
                }
                Op::Part(Part::SliceGrad { shape, slice }) => {
                    Op::Part(Part::SliceGrad { shape: replace(&shape), slice })
                }
                Op::Window(Window::Conv2dGradInput { shape, convolution }) => {
                    Op::Window(Window::Conv2dGradInput { shape: replace(&shape), convolution })
                }
                Op::Window(Window::Conv2dGradFilter { shape, convolution }) => {
                    Op::Window(Window::Conv2dGradFilter { shape: replace(&shape), convolution })
                }
                op => op,
            };
            Case { op, operands: case.operands.iter().map(|ty| ty.with_shape(replace(&ty.shape))).collect() }
        })
        .filter(|case| {
            let mut builder = Builder::new();
            let named = case.operands.iter().zip(["a", "b", "c"]);
            // A shape may have too many elements.
            let inputs: Result<Vec<_>, _> = named.map(|(ty, name)| builder.input(name, ty.clone())).collect();
            inputs.is_ok_and(|inputs| builder.push(case.op.clone(), &inputs).is_ok())
        })
        .collect()
}
