//! The canonical form that differentiation, optimisation and planning read.
//!
//! - Operands of commutative operations are in ascending order.
//! - `Dot` of two matrices is `MatMul`.
//! - A rank-0 `ConstTensor` of `i64`, `f32` or `f64` is `ConstI64`, `ConstF32` or `ConstF64`.
//! - Reductions, `ExpandDims` and `Squeeze` list their axes in ascending order.
//! - Operations that change neither shape nor elements are removed: an empty `Squeeze` or `ExpandDims`, the identity
//!   permutation, a reshape or broadcast to the operand's own shape, a slice of everything.
//! - Arithmetic on single constants is folded where the result has the same bits as at run time.
//! - A `Call` is replaced by the instructions of its module. Other nested modules are canonical too.
//! - Instructions that no output needs are removed, except for inputs, which keep their order, and for effects.
//! - Values are numbered densely.
//!
//! One pass runs forward and one backward. Each instruction is rewritten after its operands, so one forward pass is
//! enough.

use std::{collections::BTreeMap, ops::Deref};

use crate::{
    ir::{Inst, Module, Nesting, Op, Operands, Own, Reduction, ValueId},
    number::KnownNumber,
    ops::position,
    ty::Type,
    verify::Verified,
};

/// A verified module in canonical form; only [`canonicalise`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical(Verified);

impl Canonical {
    /// The module as a verified one.
    pub fn into_verified(self) -> Verified {
        self.0
    }

    /// The module, verified.
    pub const fn as_verified(&self) -> &Verified {
        &self.0
    }
}

impl Deref for Canonical {
    type Target = Verified;
    fn deref(&self) -> &Verified {
        &self.0
    }
}

/// The canonical form of a module, with the same inputs and bit for bit the same outputs.
///
/// ```
/// use mind_core::{build::Builder, canon::canonicalise, ir::{Op, Product}, map::Map, ops::Profile};
/// use mind_core::{ty::{DType, Shape, Type}, verify::verify};
/// let mut b = Builder::new();
/// let x = b.input("x", Type::new(DType::F32, Shape::literal(&[2, 3])))?;
/// let y = b.input("y", Type::new(DType::F32, Shape::literal(&[3, 2])))?;
/// let unused = b.push(Op::Map(Map::Neg), &[x])?;
/// let product = b.push(Op::Product(Product::Dot), &[x, y])?;
/// let module = canonicalise(verify(b.finish([product]), Profile::CoreV1).expect("it is valid"));
/// assert_eq!(module.insts().len(), 3);
/// assert_eq!(module.insts()[2].op, Op::Product(Product::MatMul));
/// # Ok::<(), Box<mind_core::ops::OpError>>(())
/// ```
pub fn canonicalise(module: Verified) -> Canonical {
    canonicalise_mapped(module).0
}

/// As [`canonicalise`]. Also returns, for each value of `module`, the value of the canonical form that it became, if
/// that is still there.
pub fn canonicalise_mapped(module: Verified) -> (Canonical, Vec<Option<ValueId>>) {
    let mut map = Vec::new();
    let canonical = module.rewrite(|module| {
        let (rewritten, values) = rewrite(&module);
        let (pruned, kept) = prune(rewritten);
        map = values.into_iter().map(|value| kept[value.index()]).collect();
        pruned
    });
    (Canonical(canonical), map)
}

/// The canonical form of a nested module.
pub(crate) fn form(module: &Module) -> Module {
    prune(rewrite(module).0).0
}

/// The forward pass. Also returns the value that each value of `module` became.
fn rewrite(module: &Module) -> (Module, Vec<ValueId>) {
    let mut rewriter = Rewriter { insts: Vec::with_capacity(module.insts().len()) };
    for (name, ty) in module.inputs() {
        let op = Op::input(name.clone());
        rewriter.insts.push(Inst { op, operands: Operands::NONE, ty: ty.clone() });
    }
    let inputs = (0..rewriter.insts.len()).map(ValueId::new).collect();
    let values = rewriter.module(module, inputs);
    let outputs = module.outputs().iter().map(|output| values[output.index()]).collect();
    (Module::from_parts(rewriter.insts, outputs), values)
}

/// Collects the rewritten instructions.
struct Rewriter {
    insts: Vec<Inst>,
}

impl Rewriter {
    /// Rewrites the instructions of a module whose inputs are these values. Returns the value that each of its values
    /// became.
    fn module(&mut self, module: &Module, inputs: Vec<ValueId>) -> Vec<ValueId> {
        let mut values = inputs;
        // The results of the calls so far.
        let mut called: BTreeMap<ValueId, Vec<ValueId>> = BTreeMap::new();
        for (value, inst) in module.iter().skip(values.len()) {
            let operands = inst.operands.map(|operand| values[operand.index()]);
            values.push(match &inst.op {
                Op::Own(Own::Nesting(Nesting::Call(nested))) => {
                    let inner = self.module(nested, operands.to_vec());
                    let outputs: Vec<_> =
                        nested.outputs().iter().map(|output| inner[output.index()]).collect();
                    let first = outputs[0];
                    called.insert(value, outputs);
                    first
                }
                Op::Own(Own::Nesting(Nesting::Result { position: at }))
                    if called.contains_key(&inst.operands[0]) =>
                {
                    called[&inst.operands[0]][position(*at)]
                }
                op => self.instruction(op, operands, &inst.ty),
            });
        }
        values
    }

    /// Adds an instruction in canonical form, or finds the value that replaces it.
    fn instruction(&mut self, op: &Op, operands: Operands, ty: &Type) -> ValueId {
        let mut operands = operands;
        if op.info().commutative && operands[0] > operands[1] {
            operands = Operands::new(&[operands[1], operands[0]]).expect("two operands fit");
        }
        let types: Vec<&Type> = operands.iter().map(|operand| &self.insts[operand.index()].ty).collect();
        if op.motion().is_some_and(|motion| motion.is_identity(types[0], ty)) {
            return operands[0];
        }
        let inst = match fold(op, &operands, &self.insts) {
            Some(constant) => Inst { op: constant, operands: Operands::NONE, ty: ty.clone() },
            None => Inst { op: normal(op.clone(), &types), operands, ty: ty.clone() },
        };
        self.insts.push(inst);
        ValueId::new(self.insts.len() - 1)
    }
}

/// The canonical form of an operation.
fn normal(op: Op, operands: &[&Type]) -> Op {
    match op {
        Op::Product(product) => Op::Product(product.canonical(operands)),
        Op::Const(constant) => Op::Const(constant.canonical()),
        Op::Reduce(reduce, reduction) => Op::Reduce(reduce, explicit(&reduction, operands[0].rank())),
        Op::ArgReduce(arg, reduction) => Op::ArgReduce(arg, explicit(&reduction, operands[0].rank())),
        Op::Arrange(arrange) => Op::Arrange(arrange.canonical()),
        // These operations have one form only, except for a module that they hold.
        op => op.map_nested(form),
    }
}

fn explicit(reduction: &Reduction, rank: usize) -> Reduction {
    let axes = reduction.positions(rank).into_iter().map(|axis| axis as i64).collect();
    Reduction { axes, keepdims: reduction.keeps() }
}

/// The result of an instruction on constants, if it has the same bits on every machine.
fn fold(op: &Op, operands: &[ValueId], insts: &[Inst]) -> Option<Op> {
    KnownNumber::apply(op, |position| KnownNumber::of(&insts[operands[position].index()]))?.into_op()
}

/// The backward pass: keeps inputs, effects and the values that outputs need. Also returns the value that each value
/// became.
fn prune(module: Module) -> (Module, Vec<Option<ValueId>>) {
    let live = module.live();
    let (insts, outputs) = module.into_parts();
    let mut kept: Vec<Inst> = Vec::with_capacity(insts.len());
    let mut values: Vec<Option<ValueId>> = Vec::with_capacity(insts.len());
    let new = |values: &[Option<ValueId>], value: ValueId| {
        values[value.index()].expect("operands and outputs of live instructions are live")
    };
    for (inst, is_live) in insts.into_iter().zip(live) {
        let needed = is_live || inst.op.is_input();
        values.push(needed.then(|| ValueId::new(kept.len())));
        if needed {
            let operands = inst.operands.map(|operand| new(&values, operand));
            kept.push(Inst { operands, ..inst });
        }
    }
    let outputs = outputs.into_iter().map(|output| new(&values, output)).collect();
    (Module::from_parts(kept, outputs), values)
}
