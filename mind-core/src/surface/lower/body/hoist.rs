//! Hoisting: a product in a loop that does not depend on the carry becomes one product over all steps before the loop.
//! Lowering does it, so that the interpreter and every engine add in the same order.

use std::collections::{BTreeMap, BTreeSet};

use crate::build::{Builder, extracted};
use crate::ir::{Access, Arrange, Guard, Inst, Module, Nested, Op, Product, Scan, ValueId};
use crate::ops::OpError;
use crate::ty::MAX_RANK;

/// The values on which a value of the body depends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sources {
    /// Captured values alone.
    Captured,
    /// Elements of iterated values, and captured ones.
    Elements,
    /// A carry. Results of inner loops and values shown by `inspect` count as carries, because they stay in the loop.
    Carry,
}

/// Moves the products that do not depend on the carry before the loop. Returns the loop that is left and its operands.
pub(super) fn hoisted(
    builder: &mut Builder,
    scan: Scan,
    operands: Vec<ValueId>,
) -> Result<(Scan, Vec<ValueId>), Box<OpError>> {
    // Steps that do not run compute no product.
    if scan.guard != Guard::Always {
        return Ok((scan, operands));
    }
    let accesses = scan.accesses(operands.iter().map(|operand| builder.ty(*operand).rank()));
    let from = sources(&scan.body, &accesses);
    let products: Vec<(ValueId, Factors)> = scan
        .body
        .iter()
        .filter_map(|(value, inst)| Some((value, factors(&scan.body, inst, &from)?)))
        .collect();
    if products.is_empty() {
        return Ok((scan, operands));
    }
    let inputs = operands.iter().enumerate().filter(|(input, _)| accesses[*input] != Access::Carry);
    let known = inputs.map(|(input, operand)| (ValueId::new(input), *operand)).collect();
    let mut before = Before { builder, body: &scan.body, known };
    // The values that the body now reads as inputs.
    let mut moved = BTreeSet::new();
    for (value, factors) in products {
        moved.insert(value);
        match factors {
            Factors::Captured => _ = before.captured(value)?,
            Factors::Stacked { element, captured, is_right } => {
                before.product(value, element, captured, is_right)?;
                moved.insert(element);
            }
        }
    }
    let (body, inputs) = before.rest(&scan, &accesses, &moved);
    let operand = |input: &ValueId| match accesses.get(input.index()) {
        Some(Access::Carry) => operands[input.index()],
        Some(Access::Element | Access::Whole) | None => before.known[input],
    };
    let operands = inputs.iter().map(operand).collect();
    Ok((Scan { body, ..scan }, operands))
}

/// The sources of each value of a body.
fn sources(body: &Module, accesses: &[Access]) -> Vec<Sources> {
    let mut sources: Vec<Sources> = Vec::with_capacity(body.insts().len());
    for (value, inst) in body.iter() {
        let of_operands = inst.operands.iter().map(|operand| sources[operand.index()]).max();
        sources.push(match accesses.get(value.index()) {
            Some(Access::Carry) => Sources::Carry,
            Some(Access::Element) => Sources::Elements,
            Some(Access::Whole) => Sources::Captured,
            None if inst.op.nested().is_some() || inst.op.has_effect() => Sources::Carry,
            None => of_operands.unwrap_or(Sources::Captured),
        });
    }
    sources
}

/// The factors of a product that does not depend on the carry.
enum Factors {
    /// Both are captured.
    Captured,
    /// One depends on elements. The other is captured, a vector or a matrix.
    Stacked { element: ValueId, captured: ValueId, is_right: bool },
}

fn factors(body: &Module, inst: &Inst, from: &[Sources]) -> Option<Factors> {
    let Op::Product(_) = inst.op else { return None };
    let [left, right] = inst.operands[..] else { return None };
    let rank = |value: ValueId| body.ty(value).rank();
    // A stacked factor has one axis more.
    if rank(left).max(rank(right)) == MAX_RANK {
        return None;
    }
    match (from[left.index()], from[right.index()]) {
        (Sources::Captured, Sources::Captured) => Some(Factors::Captured),
        (Sources::Elements, Sources::Captured) if rank(right) == 2 || rank(left) == 1 => {
            Some(Factors::Stacked { element: left, captured: right, is_right: true })
        }
        // Stacked vectors are the rows of a matrix. Stacked matrices cannot be the right factor of one product.
        (Sources::Captured, Sources::Elements) if rank(left) <= 2 && rank(right) == 1 => {
            Some(Factors::Stacked { element: right, captured: left, is_right: false })
        }
        (Sources::Captured | Sources::Elements | Sources::Carry, _) => None,
    }
}

/// The instructions before the loop.
struct Before<'b> {
    builder: &'b mut Builder,
    body: &'b Module,
    /// For each value of the body, its value before the loop. A value that depends on elements is stacked over all
    /// steps.
    known: BTreeMap<ValueId, ValueId>,
}

impl Before<'_> {
    /// Computes a product for all steps.
    fn product(
        &mut self,
        value: ValueId,
        element: ValueId,
        captured: ValueId,
        is_right: bool,
    ) -> Result<(), Box<OpError>> {
        let (elements, mut right) = (self.elements(element)?, self.captured(captured)?);
        if !is_right && self.builder.ty(right).rank() == 2 {
            right = self.builder.push(Op::Arrange(Arrange::transposed()), &[right])?;
        }
        let product = Product::of(self.builder.ty(elements), self.builder.ty(right));
        let product = self.builder.push(Op::Product(product), &[elements, right])?;
        self.known.insert(value, product);
        Ok(())
    }

    /// Computes a value that depends on captured values alone.
    fn captured(&mut self, value: ValueId) -> Result<ValueId, Box<OpError>> {
        let needs = Needs::of(self.body, &[value], |value| self.known.contains_key(&value));
        for needed in needs.computed {
            let inst = self.body.inst(needed);
            let operands: Vec<ValueId> = inst.operands.iter().map(|operand| self.known[operand]).collect();
            let made = self.builder.push(inst.op.clone(), &operands)?;
            self.known.insert(needed, made);
        }
        Ok(self.known[&value])
    }

    /// Stacks a value over all steps, by a loop without a carry if it is not known.
    fn elements(&mut self, value: ValueId) -> Result<ValueId, Box<OpError>> {
        if let Some(known) = self.known.get(&value) {
            return Ok(*known);
        }
        let needs = Needs::of(self.body, &[value], |value| self.known.contains_key(&value));
        let operands: Vec<ValueId> = needs.known.iter().map(|input| self.known[input]).collect();
        let body = part(self.body, &needs.known, &needs.computed, &[value]);
        let stacked = self.builder.push(Scan::new(body, 0, Guard::Always).into(), &operands)?;
        self.known.insert(value, stacked);
        Ok(stacked)
    }

    /// The body whose inputs include the `moved` values, and all its inputs.
    fn rest(&self, scan: &Scan, accesses: &[Access], moved: &BTreeSet<ValueId>) -> (Nested, Vec<ValueId>) {
        let outputs: Vec<ValueId> = self.body.outputs().iter().copied().chain(self.body.effects()).collect();
        let is_input = |value: ValueId| value.index() < accesses.len() || moved.contains(&value);
        let needs = Needs::of(self.body, &outputs, is_input);
        let mut inputs: Vec<ValueId> = (0..scan.carry_count()).map(ValueId::new).collect();
        inputs.extend(needs.known.iter().filter(|input| accesses.get(input.index()) != Some(&Access::Carry)));
        // An iterated operand decides the number of steps.
        let is_iterated = |input: &ValueId| match accesses.get(input.index()) {
            Some(access) => *access == Access::Element,
            None => self.builder.ty(self.known[input]).rank() > self.body.ty(*input).rank(),
        };
        if !inputs.iter().any(is_iterated) {
            let counted = Scan::counted(accesses).expect("a loop without a guard iterates over an operand");
            inputs.push(ValueId::new(counted));
        }
        (part(self.body, &inputs, &needs.computed, self.body.outputs()), inputs)
    }
}

/// The values that outputs depend on.
struct Needs {
    /// The needed values that are known, ascending.
    known: Vec<ValueId>,
    /// The needed values that have to be computed, ascending.
    computed: Vec<ValueId>,
}

impl Needs {
    fn of(body: &Module, outputs: &[ValueId], is_known: impl Fn(ValueId) -> bool) -> Self {
        let mut is_needed = vec![false; body.insts().len()];
        outputs.iter().for_each(|output| is_needed[output.index()] = true);
        let mut needs = Self { known: Vec::new(), computed: Vec::new() };
        for (value, inst) in body.iter().rev() {
            if !is_needed[value.index()] {
                continue;
            }
            if is_known(value) {
                needs.known.push(value);
            } else {
                needs.computed.push(value);
                inst.operands.iter().for_each(|operand| is_needed[operand.index()] = true);
            }
        }
        needs.known.reverse();
        needs.computed.reverse();
        needs
    }
}

/// The part of a body that computes these values from these inputs.
fn part(body: &Module, inputs: &[ValueId], computed: &[ValueId], outputs: &[ValueId]) -> Nested {
    let inputs = inputs.iter().enumerate();
    let inputs = inputs.map(|(at, input)| (*input, format!("x{at}"), body.ty(*input).clone()));
    let insts = computed.iter().map(|value| (*value, body.inst(*value)));
    Nested::new(extracted(inputs, insts, outputs)).expect("it is no larger and no deeper than the body")
}
