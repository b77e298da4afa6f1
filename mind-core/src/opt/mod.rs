//! The optimiser: the same results with less work. Only the last three passes may change a bit of a float.

mod algebra;
mod columns;
mod narrow;
mod results;
mod rewritten;
mod sections;
mod segments;
mod single_steps;

use std::{
    collections::{BTreeSet, HashMap},
    ops::Deref,
};

use crate::{
    canon::Canonical,
    dim::Symbol,
    ir::{Arrange, Inst, Module, Op, Operands, ValueId},
    number::KnownNumber,
    ops::{Requirement, seen_through},
    ty::{Shape, Type},
    verify,
};

use algebra::{OptimisedInsts, Rewrite};

/// A module that computes each operation once, and in which each operation contributes to an output or has an effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimised {
    module: Module,
    requirements: Vec<Requirement>,
    origins: Vec<ValueId>,
    symbols: Vec<Symbol>,
}

impl Optimised {
    /// For each value, the value of the canonical module that it computes.
    pub fn origins(&self) -> &[ValueId] {
        &self.origins
    }

    /// The conditions on symbolic extents under which the program can run.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Every symbol in the types of the inputs, ascending.
    pub fn symbols(&self) -> Vec<Symbol> {
        self.symbols.clone()
    }

    /// Runs a pass, and simplifies what it changed. Returns whether it changed anything.
    fn run(&mut self, pass: &Pass<'_>) -> bool {
        let Some((changed, of)) = pass(&self.module) else { return false };
        let (changed, from) = simplified(&changed);
        self.origins = from.iter().map(|value| self.origins[of[value.index()].index()]).collect();
        self.module = changed;
        true
    }
}

impl Deref for Optimised {
    type Target = Module;
    fn deref(&self) -> &Module {
        &self.module
    }
}

/// As [`optimise_exactly`]. Also reduces what is equal along an axis once (`opt/narrow.rs`), computes joined tensors by
/// section (`opt/sections/`) and splits batches of short vectors into columns (`opt/columns/`). All three may round float
/// sums and products differently.
pub fn optimise(module: &Canonical) -> Optimised {
    optimise_by(module, sections::LEAST_ELEMENTS)
}

/// As [`optimise`], with another least number of elements of tensors with sections. Tests lower it.
pub fn optimise_by(module: &Canonical, least_elements: i64) -> Optimised {
    in_parts(optimise_exactly(module), least_elements)
}

/// Removes repeated computations, unneeded values, and the barriers that only differentiation needs. Simplifies
/// operations by rules that change no bit of a result (`opt/algebra.rs`).
///
/// The requirements are those of the whole canonical module: an operation that is optimised away must still be able to
/// run.
pub fn optimise_exactly(module: &Canonical) -> Optimised {
    optimised(module, verify::requirements(module.as_verified()), symbols(module))
}

/// Optimises the body of a loop of an optimised module. `symbols` are the known symbols.
pub(crate) fn of_body(body: &Module, symbols: &[Symbol]) -> Optimised {
    // The requirements of the surrounding module include those of the body.
    in_parts(optimised(body, Vec::new(), symbols.to_vec()), sections::LEAST_ELEMENTS)
}

fn in_parts(mut optimised: Optimised, least_elements: i64) -> Optimised {
    optimised.run(&narrow::narrowed);
    optimised.run(&|module| sections::split(module, least_elements));
    optimised.run(&columns::split);
    optimised
}

/// Every symbol in the types of the inputs, ascending.
fn symbols(module: &Module) -> Vec<Symbol> {
    let mut symbols = BTreeSet::new();
    for (_, ty) in module.inputs() {
        ty.shape.iter().for_each(|dim| dim.for_each_symbol(&mut |symbol| _ = symbols.insert(symbol.clone())));
    }
    symbols.into_iter().collect()
}

fn optimised(module: &Module, requirements: Vec<Requirement>, symbols: Vec<Symbol>) -> Optimised {
    let (module, origins) = simplified(module);
    let mut optimised = Optimised { module, requirements, origins, symbols };
    optimised.run(&segments::segmented);
    // A step that is inlined may contain loops with checkpoints. Modules have a bounded depth.
    while optimised.run(&single_steps::inlined) {
        optimised.run(&segments::segmented);
    }
    optimised.run(&results::read_results);
    optimised
}

/// Changes a module. Returns it with the origin of each of its values, or `None` if nothing changes.
type Pass<'p> = dyn Fn(&Module) -> Option<(Module, Vec<ValueId>)> + 'p;

/// The module with less work, and the value of `module` that each of its values computes.
fn simplified(module: &Module) -> (Module, Vec<ValueId>) {
    let mut rewriter = Rewriter::with_capacity(module.insts().len());
    let live = module.live();
    let mut replaced: Vec<ValueId> = Vec::with_capacity(module.insts().len());
    for (value, inst) in module.iter() {
        let operands = inst.operands.map(|operand| replaced[operand.index()]);
        let is_input = inst.op.is_input();
        rewriter.origin = value;
        replaced.push(if matches!(inst.op, Op::Map(map) if map.row().is_identity()) {
            operands[0]
        } else if let Some(result) = seen_through(module, inst) {
            replaced[result.index()]
        } else if inst.op.has_effect() {
            let value = rewriter.append(inst.op.clone(), operands.clone(), inst.ty.clone());
            // An effect returns its operand. The other instructions are optimised as if it did not exist.
            if inst.op.is_effect() { operands[0] } else { value }
        } else if live[value.index()] || is_input {
            rewriter.rewrite(&inst.op, operands, &inst.ty)
        } else {
            // Nothing reads this value.
            ValueId::new(0)
        });
    }
    let outputs = module.outputs().iter().map(|output| replaced[output.index()]).collect();
    let rewritten = Module::from_parts(rewriter.insts, outputs);
    without_dead_values(rewritten, &rewriter.origins)
}

/// The canonical module without optimisations. Only the barriers that differentiation needs are removed. Tests compare
/// its results with those of the optimised module.
pub fn unoptimised(module: &Canonical) -> Optimised {
    let (mut insts, mut origins) = (Vec::new(), Vec::new());
    let mut replaced: Vec<ValueId> = Vec::with_capacity(module.insts().len());
    for (value, inst) in module.iter() {
        if let Some(result) = seen_through(module, inst) {
            replaced.push(replaced[result.index()]);
            continue;
        }
        replaced.push(ValueId::new(insts.len()));
        let operands = inst.operands.map(|operand| replaced[operand.index()]);
        insts.push(Inst { operands, ..inst.clone() });
        origins.push(value);
    }
    let outputs = module.outputs().iter().map(|output| replaced[output.index()]).collect();
    let requirements = verify::requirements(module.as_verified());
    // Values that only derivatives read are dead now, and plans have no place for them.
    let canonical = module;
    let (module, origins) = without_dead_values(Module::from_parts(insts, outputs), &origins);
    Optimised { module, requirements, origins, symbols: symbols(canonical) }
}

/// The optimised instructions so far.
struct Rewriter {
    insts: Vec<Inst>,
    /// For each instruction, the number that fills its result, if any.
    filled: Vec<Option<KnownNumber>>,
    /// For each instruction, whether no element of its result is known to be -0.0.
    no_negative_zero: Vec<bool>,
    origins: Vec<ValueId>,
    known: HashMap<(Op, Operands), ValueId>,
    /// The canonical value that is being rewritten.
    origin: ValueId,
}

impl Rewriter {
    fn with_capacity(capacity: usize) -> Self {
        Self {
            insts: Vec::with_capacity(capacity),
            filled: Vec::with_capacity(capacity),
            no_negative_zero: Vec::with_capacity(capacity),
            origins: Vec::with_capacity(capacity),
            known: HashMap::with_capacity(capacity),
            origin: ValueId::new(0),
        }
    }

    /// Adds an operation in its simplest form, and returns its value.
    fn rewrite(&mut self, op: &Op, operands: Operands, ty: &Type) -> ValueId {
        let (mut op, mut operands) = (op.clone(), operands);
        // Each round leaves fewer operations between the inputs and the result, or cheaper ones, so few rounds suffice.
        loop {
            if op.info().commutative && operands[0] > operands[1] {
                operands = Operands::new(&[operands[1], operands[0]]).expect("two operands fit");
            }
            let find = |op: Op, operands: Operands| self.known.get(&(op, operands)).copied();
            let known = OptimisedInsts {
                insts: &self.insts,
                filled: &self.filled,
                no_negative_zero: &self.no_negative_zero,
                find: &find,
            };
            match algebra::rewrite(&op, &operands, ty, &known) {
                Rewrite::Same => return self.push(op, operands, ty.clone()),
                Rewrite::Inst(next, of) if (&next, &of) == (&op, &operands) => {
                    return self.push(op, operands, ty.clone());
                }
                Rewrite::Inst(next, of) => (op, operands) = (next, of),
                Rewrite::Value(value) => return self.broadcast(value, &ty.shape),
                Rewrite::Filled(number) => {
                    let value = self.number(number, ty);
                    return self.broadcast(value, &ty.shape);
                }
                Rewrite::Scaled(product, value, factor) => {
                    let factor = self.number(factor, ty);
                    (op, operands) = (product, Operands::new(&[value, factor]).expect("two operands fit"));
                }
            }
        }
    }

    fn number(&mut self, number: KnownNumber, ty: &Type) -> ValueId {
        let op = number.into_op().expect("rules make no NaN");
        self.push(op, Operands::NONE, Type::scalar(ty.dtype))
    }

    fn broadcast(&mut self, value: ValueId, shape: &Shape) -> ValueId {
        let ty = &self.insts[value.index()].ty;
        if ty.shape == *shape {
            return value;
        }
        let ty = Type::new(ty.dtype, shape.clone());
        let operands = Operands::new(&[value]).expect("one operand fits");
        self.push(Op::Arrange(Arrange::BroadcastTo { shape: shape.clone() }), operands, ty)
    }

    /// Adds an instruction and returns its value. An equal instruction is shared.
    fn push(&mut self, op: Op, operands: Operands, ty: Type) -> ValueId {
        let next = ValueId::new(self.insts.len());
        let value = *self.known.entry((op.clone(), operands.clone())).or_insert(next);
        if value == next {
            self.append(op, operands, ty);
        }
        value
    }

    fn append(&mut self, op: Op, operands: Operands, ty: Type) -> ValueId {
        let value = ValueId::new(self.insts.len());
        let filling = algebra::filling(&op, &operands, &self.filled);
        let no_zero = algebra::has_no_negative_zero(&op, &operands, filling, &self.no_negative_zero);
        self.filled.push(filling);
        self.no_negative_zero.push(no_zero);
        self.insts.push(Inst { op, operands, ty });
        self.origins.push(self.origin);
        value
    }
}

/// Removes values that no output needs. Returns the module and the origin of each remaining value.
fn without_dead_values(module: Module, origins: &[ValueId]) -> (Module, Vec<ValueId>) {
    let live = module.live();
    let (insts, outputs) = module.into_parts();
    let mut kept: Vec<Inst> = Vec::with_capacity(insts.len());
    let mut kept_origins = Vec::with_capacity(insts.len());
    let mut replaced: Vec<ValueId> = Vec::with_capacity(insts.len());
    for (position, inst) in insts.into_iter().enumerate() {
        replaced.push(ValueId::new(kept.len()));
        if live[position] || inst.op.is_input() {
            let operands = inst.operands.map(|operand| replaced[operand.index()]);
            kept.push(Inst { operands, ..inst });
            kept_origins.push(origins[position]);
        }
    }
    let outputs = outputs.into_iter().map(|output| replaced[output.index()]).collect();
    (Module::from_parts(kept, outputs), kept_origins)
}
