//! Converts open programs to Core IR, given the types of their leaves.

use mind_shape::rules::reduced;

use super::typing::to_rule;
use super::{Constant, Node, NodeId, Op as Open, Own, Program, types};
use crate::{
    build::Builder,
    data::TensorData,
    diag::{Code, Diag, Site},
    grad::{AutodiffError, push, rules::Factor, typed},
    ir::{Const, Module, Op, ValueId},
    ty::{Shape, Type},
    written::{RuleArgument, each, resolve},
};

/// Returns the module that computes a program whose leaves have these types. It has one input per leaf, and one output
/// per node of the result, in order.
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
/// The errors of [`types`]; E5002 for a bug of the compiler.
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

/// The conversion of one node to instructions.
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
        if let Some(leaf) = self.node.op.input_name() {
            return self.input(leaf.index(), own);
        }
        match &self.node.op {
            Open::Const(constant) => self.constant(constant, &own),
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
            Open::Own(Own::Extent { number }) => {
                let types: Vec<_> =
                    (0..self.node.operands.len()).map(|position| to_rule(self.ty(position))).collect();
                let number = number.value(&types).expect("every extent is known");
                Ok(self.builder.constant(own.dtype, number as f64))
            }
            Open::Own(Own::SumLike) => {
                let summed = typed::sum_to(self.builder, self.operand(0), &own.shape)?;
                Ok(summed.expect("the rule of the operation holds"))
            }
            Open::Own(Own::ProductGradLhs) => self.product_grad(Factor::Lhs),
            Open::Own(Own::ProductGradRhs) => self.product_grad(Factor::Rhs),
            op => {
                let types: Vec<_> = (0..self.node.operands.len()).map(|position| self.ty(position)).collect();
                let resolved = resolve(op, &types);
                let each = each(op, &types).expect("the rule of the operation holds");
                let read = (0..types.len()).filter(|position| op.reads(*position));
                let mut operands: Vec<_> = read.map(|position| self.operand(position)).collect();
                if let Some(each) = each {
                    let made = operands.iter().map(|operand| self.push(each.clone(), &[*operand]));
                    operands = made.collect::<Result<_, _>>()?;
                }
                for op in resolved.expect("the rule of the operation holds") {
                    operands = vec![self.push(op, &operands)?];
                }
                Ok(operands[0])
            }
        }
    }

    /// Adds an input named after its leaf. If an earlier leaf has the same name, a number is appended.
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

    /// The axes of an operand that a reduction reduces, ascending.
    fn reduced(&self, operand: usize, axes: Option<&[i64]>) -> Vec<i64> {
        let rank = self.ty(operand).rank();
        let reduced = reduced(rank, axes);
        (0..rank).filter(|axis| reduced[*axis]).map(position).collect()
    }

    fn product_grad(&mut self, factor: Factor) -> Emitted {
        let [dy, a, b] = [0, 1, 2].map(|position| self.operand(position));
        typed::product_grad(self.builder, factor, dy, [a, b])
    }
}

fn position(axis: usize) -> i64 {
    i64::try_from(axis).expect("a rank is at most 8")
}

fn index(axis: i64) -> usize {
    usize::try_from(axis).expect("axes are resolved")
}
