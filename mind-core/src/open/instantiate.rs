//! Open programs with types for their leaves, as Core IR.

use mind_shape::rules::{permuted, reduced, subscripted};

use super::typing::{rule_subscripts, to_rule};
use super::{Constant, Extents, Node, NodeId, Op as Open, Own, Program, types};
use crate::{
    build::Builder,
    data::TensorData,
    diag::{Code, Diag, Site},
    dim::Dim,
    grad::{AutodiffError, push, rules::Factor, typed},
    ir::{Const, Module, Op, Reduction, Slice, ValueId},
    ty::{Shape, Type},
};

/// The module that computes what a program does where its leaves have these types: an input a leaf, and an output a node
/// of the result, in order.
///
/// ```
/// use mind_core::{open, surface::parse_expression, text::core_ir, ty::{DType, Type}};
/// let (expression, _) = parse_expression("grad(x * x, wrt = x)".parse().unwrap());
/// let program = open::lower(&expression.unwrap()).0.unwrap();
/// let module = open::instantiate(&program, &[Type::scalar(DType::F32)]).unwrap();
/// assert_eq!(module.ty(module.outputs()[0]).to_string(), "f32");
/// ```
///
/// # Errors
/// As [`types`]; E5002 for a fault of the compiler.
///
/// # Panics
/// As [`types`].
pub fn instantiate(program: &Program, leaves: &[Type]) -> Result<Module, Diag> {
    let types = types(program, leaves)?;
    let mut builder = Builder::new();
    let mut values: Vec<ValueId> = Vec::with_capacity(program.nodes.len());
    for (id, node) in program.iter() {
        let mut emitter = Emitter { program, builder: &mut builder, types: &types, values: &values, node };
        let value = emitter.value(id).map_err(|error| {
            let message = format!("the rules and the compiler differ: [{}] {error}", error.code());
            Diag::new(Code::E5002, node.spot.as_ref().map_or(Site::Nowhere, |spot| spot.site), message)
        })?;
        values.push(value);
    }
    let outputs: Vec<_> = program.result.nodes().iter().map(|node| values[node.index()]).collect();
    Ok(builder.finish(outputs))
}

type Emitted = Result<ValueId, AutodiffError>;

/// One node on its way to instructions.
struct Emitter<'a> {
    program: &'a Program,
    builder: &'a mut Builder,
    types: &'a [Type],
    values: &'a [ValueId],
    node: &'a Node,
}

impl Emitter<'_> {
    fn operand(&self, position: usize) -> ValueId {
        self.values[self.node.operands[position].index()]
    }

    fn shape(&self, position: usize) -> Shape {
        self.ty(position).shape.clone()
    }

    fn ty(&self, position: usize) -> &Type {
        &self.types[self.node.operands[position].index()]
    }

    fn push(&mut self, op: Op, operands: &[ValueId]) -> Emitted {
        push(self.builder, op, operands)
    }

    fn value(&mut self, id: NodeId) -> Emitted {
        let own = self.types[id.index()].clone();
        match &self.node.op {
            Open::Input { name: leaf } => self.input(leaf.index(), own),
            Open::Const(constant) => self.constant(constant, &own),
            Open::Map(map) => {
                let operands: Vec<_> =
                    (0..map.row().arity()).map(|position| self.operand(position)).collect();
                self.push(Op::Map(*map), &operands)
            }
            Open::Own(Own::At) => self.at(self.operand(0), self.operand(1)),
            Open::MatMul => self.push(Op::MatMul, &[self.operand(0), self.operand(1)]),
            Open::Dot => self.push(Op::Dot, &[self.operand(0), self.operand(1)]),
            Open::Reduce(kind, Reduction { axes, keepdims }) => {
                let axes = self.reduced(0, axes.as_deref());
                let reduction = Reduction { axes, keepdims: *keepdims };
                self.push(Op::Reduce(*kind, reduction), &[self.operand(0)])
            }
            Open::Reshape { .. } => self.push(Op::Reshape { shape: own.shape }, &[self.operand(0)]),
            Open::Transpose { permutation } => {
                let rank = own.rank();
                let permutation = permuted(rank, permutation.as_deref());
                let permutation = permutation[..rank].iter().map(|axis| position(*axis)).collect();
                self.push(Op::Transpose { permutation }, &[self.operand(0)])
            }
            Open::ExpandDims { axes } => {
                let axes = resolved(axes, own.rank());
                self.push(Op::ExpandDims { axes }, &[self.operand(0)])
            }
            Open::Squeeze { axes } => {
                let shape = self.shape(0);
                let axes = match axes {
                    Some(axes) => resolved(axes, shape.rank()),
                    None => (0..shape.rank()).filter(|axis| shape[*axis].is_one()).map(position).collect(),
                };
                if axes.is_empty() {
                    Ok(self.operand(0))
                } else {
                    self.push(Op::Squeeze { axes }, &[self.operand(0)])
                }
            }
            Open::Index { indices: subscripts } => {
                let (slice, dropped) = taken(self.ty(0), subscripts);
                let sliced = self.sliced(self.operand(0), slice)?;
                if dropped.is_empty() {
                    Ok(sliced)
                } else {
                    self.push(Op::Squeeze { axes: dropped }, &[sliced])
                }
            }
            Open::Slice(slice) => self.push(Op::Slice(slice.clone()), &[self.operand(0)]),
            Open::Gather => self.push(Op::Gather, &[self.operand(0), self.operand(1)]),
            Open::Conv2d(convolution) => {
                self.push(Op::Conv2d(convolution.clone()), &[self.operand(0), self.operand(1)])
            }
            Open::BroadcastTo { shape: Extents::Written(_) } => {
                self.push(Op::BroadcastTo { shape: own.shape }, &[self.operand(0)])
            }
            Open::Own(Own::FilledLike { one }) => {
                self.filled(TensorData::splat(own.dtype, f64::from(u8::from(*one))), own.shape)
            }
            Open::Own(Own::CountReduced { axes }) => {
                let shape = self.shape(0);
                let extent = |axis: &i64| shape[index(*axis)].as_literal().expect("every extent is known");
                let count: f64 =
                    self.reduced(0, axes.as_deref()).iter().map(|axis| extent(axis) as f64).product();
                Ok(self.builder.constant(own.dtype, count))
            }
            Open::Own(Own::SumLike) => {
                let summed = typed::sum_to(self.builder, self.operand(0), &own.shape)?;
                Ok(summed.expect("the rule of the operation holds"))
            }
            Open::BroadcastTo { shape: Extents::Like } => self.broadcast_to(self.operand(0), own.shape),
            Open::Own(Own::ProductGradLhs) => self.product_grad(Factor::Lhs),
            Open::Own(Own::ProductGradRhs) => self.product_grad(Factor::Rhs),
            Open::Own(Own::IndexGrad(subscripts)) => {
                let (slice, dropped) = taken(self.ty(1), subscripts);
                let dy = self.operand(0);
                let dy =
                    if dropped.is_empty() { dy } else { self.push(Op::ExpandDims { axes: dropped }, &[dy])? };
                self.push(Op::SliceGrad { shape: own.shape, slice: slice.into() }, &[dy])
            }
            Open::SliceGrad { slice, .. } => {
                self.push(Op::SliceGrad { shape: own.shape, slice: slice.clone() }, &[self.operand(0)])
            }
            Open::ScatterAdd { .. } => {
                self.push(Op::ScatterAdd { shape: own.shape }, &[self.operand(0), self.operand(1)])
            }
            Open::Conv2dGradInput { convolution, .. } => {
                let op = Op::Conv2dGradInput { shape: own.shape, convolution: convolution.clone() };
                self.push(op, &[self.operand(0), self.operand(1)])
            }
            Open::Conv2dGradFilter { convolution, .. } => {
                let op = Op::Conv2dGradFilter { shape: own.shape, convolution: convolution.clone() };
                self.push(op, &[self.operand(0), self.operand(1)])
            }
        }
    }

    /// An input named as its leaf, with a number where another is.
    fn input(&mut self, leaf: usize, ty: Type) -> Emitted {
        let leaves = &self.program.leaves;
        let text = &leaves[leaf].text;
        let before = leaves[..leaf].iter().filter(|other| other.text == *text).count();
        let name = if before == 0 { text.clone() } else { format!("{text}#{before}") };
        let input = self.builder.input(name.as_str(), ty);
        input.map_err(|error| AutodiffError::Verification(error.to_string()))
    }

    fn constant(&mut self, constant: &Constant, own: &Type) -> Emitted {
        let data = constant.values_in(own.dtype).clone();
        self.filled(data.expect("the rules refuse an element type that does not fit"), own.shape.clone())
    }

    fn filled(&mut self, data: TensorData, shape: Shape) -> Emitted {
        self.push(Op::Const(Const::new(data, shape)), &[])
    }

    /// The axes that a reduction of an operand takes away, ascending.
    fn reduced(&self, operand: usize, axes: Option<&[i64]>) -> Vec<i64> {
        let rank = self.ty(operand).rank();
        let reduced = reduced(rank, axes);
        (0..rank).filter(|axis| reduced[*axis]).map(position).collect()
    }

    fn at(&mut self, a: ValueId, b: ValueId) -> Emitted {
        let has_vector = [a, b].iter().any(|value| self.builder.ty(*value).rank() == 1);
        self.push(if has_vector { Op::Dot } else { Op::MatMul }, &[a, b])
    }

    /// The slice, or the value itself where all of it is taken.
    fn sliced(&mut self, value: ValueId, slice: Slice) -> Emitted {
        let shape = &self.builder.ty(value).shape;
        let whole = slice.ends.iter().eq(shape.iter())
            && slice.starts.iter().all(|start| *start == Dim::ZERO)
            && slice.steps.iter().all(|step| *step == 1);
        if whole { Ok(value) } else { self.push(Op::Slice(slice.into()), &[value]) }
    }

    fn broadcast_to(&mut self, value: ValueId, shape: Shape) -> Emitted {
        if self.builder.ty(value).shape == shape {
            return Ok(value);
        }
        self.push(Op::BroadcastTo { shape }, &[value])
    }

    fn product_grad(&mut self, factor: Factor) -> Emitted {
        let [dy, a, b] = [0, 1, 2].map(|position| self.operand(position));
        typed::product_grad(self.builder, factor, dy, [a, b])
    }
}

/// Written axes as positions, ascending.
fn resolved(axes: &[i64], rank: usize) -> Vec<i64> {
    let mut axes: Vec<_> =
        axes.iter().map(|axis| if *axis < 0 { axis + position(rank) } else { *axis }).collect();
    axes.sort_unstable();
    axes
}

/// What an index expression takes, and the axes that it drops.
fn taken(ty: &Type, subscripts: &[super::Subscript]) -> (Slice, Vec<i64>) {
    let subscripts = rule_subscripts(subscripts);
    let taken = subscripted(to_rule(ty), &subscripts).expect("the rule of the index expression holds");
    let taken = &taken[..ty.rank()];
    // One past the last place that is taken; the next step may already be outside.
    let end = |axis: usize| {
        let taken = taken[axis];
        let extent = ty.shape[axis].as_literal().expect("every extent is known");
        (taken.start + taken.extent * taken.step).min(extent)
    };
    let slice = Slice {
        starts: taken.iter().map(|taken| Dim::literal(taken.start)).collect(),
        ends: (0..taken.len()).map(|axis| Dim::literal(end(axis))).collect(),
        steps: taken.iter().map(|taken| taken.step).collect(),
    };
    let dropped = (0..taken.len()).filter(|axis| taken[*axis].dropped).map(position).collect();
    (slice, dropped)
}

fn position(axis: usize) -> i64 {
    i64::try_from(axis).expect("a rank is at most 8")
}

fn index(axis: i64) -> usize {
    usize::try_from(axis).expect("axes are resolved")
}
