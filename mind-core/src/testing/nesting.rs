//! Nested modules in random modules.

use std::mem;

use super::{
    Random,
    generate::{Generator, Proposal},
};
use crate::{
    build::Builder,
    canon::canonicalise,
    dim::Dim,
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    ir::{Const, Guard, Made, Module, Nested, Nesting, Op, Own, Scan, ValueId},
    map::formula,
    ops::Profile,
    ty::{DType, Type},
    verify::verify,
};

/// The largest depth of nested random modules. Derivatives add further modules to them.
const MAX_DEPTH: usize = 2;

impl Generator {
    /// A call of a random module, a loop over one, a further result of either, or a pullback with the true derivative.
    pub(super) fn nesting(&mut self, x: ValueId) -> Option<Proposal> {
        if self.random.once_in(3)
            && let Some(proposal) = self.result()
        {
            return Some(proposal);
        }
        if self.depth == MAX_DEPTH || self.profile < Profile::Extended {
            return None;
        }
        if self.random.below(5) < 2 {
            return self.scan();
        }
        let mut operands = vec![x];
        operands.extend(self.partner(|_| true).filter(|other| *other != x));
        let types: Vec<Type> = operands.iter().map(|operand| self.builder.ty(*operand).clone()).collect();
        let function = self.inner(&types, 0, |_, _| {});
        let nested = Nested::new(function.clone()).ok()?;
        let call = Op::Own(Own::Nesting(Nesting::Call(nested)));
        if self.random.once_in(2) {
            return Some((call, operands));
        }
        let pullback = pullback(&function)?;
        let called = self.builder.push(call, &operands).ok()?;
        let mut results = vec![called];
        for position in 1..function.outputs().len() {
            let result = Op::Own(Own::Nesting(Nesting::Result { position: position as i64 }));
            results.push(self.builder.push(result, &[called]).ok()?);
        }
        results.extend(operands);
        Some((Op::Own(Own::Nesting(Nesting::Pullback(pullback))), results))
    }

    /// Inputs, and up to three loops over them. Returns the results of the loops that may have a derivative, or one
    /// input.
    pub(super) fn loops(&mut self) -> Vec<ValueId> {
        let steps = [Dim::literal(4), Dim::literal(5), Dim::literal(6), Dim::symbol("N")];
        let steps = self.random.pick(&steps).clone();
        let float = *self.random.pick(&[DType::F32, DType::F64]);
        let rows = [steps.clone(), 2.into()];
        let shapes: [&[Dim]; 5] = [&rows, &rows[1..], &rows[..1], &[], &rows[1..]];
        for (position, shape) in shapes.into_iter().enumerate() {
            let shape = shape.iter().cloned().collect();
            self.input(format!("x{position}"), Type::new(float, shape));
        }
        let mut outputs = Vec::new();
        for _ in 0..20 {
            let Some((op, operands)) = self.scan().filter(|(op, operands)| self.fits(op, operands)) else {
                continue;
            };
            let count = op.nested().map_or(1, |body| body.outputs().len());
            let first = self.builder.push(op, &operands).expect("it was inferred just now");
            let further = (1..count).map(|at| self.builder.push(Op::further_result(at), &[first]));
            let further: Vec<_> = further.map(|value| value.expect("the loop has this result")).collect();
            outputs.extend([first].into_iter().chain(further));
            if self.random.once_in(3) {
                break;
            }
        }
        outputs.retain(|output| self.builder.ty(*output).dtype.is_float());
        if outputs.is_empty() { vec![ValueId::new(0)] } else { outputs }
    }

    /// A loop over a value, with up to two carries, another value that is iterated, and one that every step has. Some
    /// of its steps may not run.
    fn scan(&mut self) -> Option<Proposal> {
        let x = self.partner(|ty| ty.rank() > 0)?;
        let steps = self.builder.ty(x).shape.first()?.clone();
        let mut operands: Vec<ValueId> = (0..self.random.below(3)).map(|_| self.value()).collect();
        let carries = operands.len();
        let mut types: Vec<Type> = operands.iter().map(|carry| self.builder.ty(*carry).clone()).collect();
        let mut others = vec![(x, true)];
        if self.random.once_in(3) {
            others.extend(self.partner(|ty| ty.shape.first() == Some(&steps)).map(|other| (other, true)));
        }
        if self.random.once_in(2) {
            others.push((self.value(), false));
        }
        if self.random.once_in(2) {
            others.reverse();
        }
        for (operand, is_iterated) in others {
            let ty = self.builder.ty(operand);
            let element = || ty.with_shape(ty.shape[1..].iter().cloned().collect());
            types.push(if is_iterated { element() } else { ty.clone() });
            operands.push(operand);
        }
        let reverse = self.random.once_in(2);
        match self.random.below(4) {
            0 => self.scan_when(&steps, carries, reverse, types, operands),
            1 => self.scan_while(&steps, carries, reverse, types, operands),
            _ => {
                let body = Nested::new(self.inner(&types, carries, |_, _| {})).ok()?;
                let scan = Scan { reverse, ..Scan::new(body, carries as i64, Guard::Always) };
                Some((self.with_checkpoint(scan).into(), operands))
            }
        }
    }

    /// The loop, which keeps only some carries in half of all cases. Any of its stacked results may be residuals.
    fn with_checkpoint(&mut self, scan: Scan) -> Scan {
        if self.random.once_in(2) {
            return scan;
        }
        let stacked = scan.body.outputs().len() - scan.carry_count();
        let residuals = self.random.below(stacked + 1) as i64;
        Scan { checkpoint: 1 + self.random.below(3) as i64, residuals, ..scan }
    }

    /// A loop of which some steps do not run.
    fn scan_when(
        &mut self,
        steps: &Dim,
        carries: usize,
        reverse: bool,
        mut types: Vec<Type>,
        mut operands: Vec<ValueId>,
    ) -> Option<Proposal> {
        let is_truth = |ty: &Type| ty.dtype == DType::Bool && ty.shape.iter().all(|extent| extent == steps);
        let runs = match self.partner(|ty| is_truth(ty) && ty.rank() < 2) {
            Some(known) => known,
            None => {
                let iota = Op::Made(Made::Iota { shape: vec![steps.clone()], axis: 0 });
                let iota = self.builder.push(iota, &[]).ok()?;
                formula(&mut self.builder, "lt(i, 2.0)", &[("i", iota)]).ok()?
            }
        };
        types.insert(carries, Type::scalar(DType::Bool));
        operands.insert(carries, runs);
        let body = Nested::new(self.inner(&types, carries, |_, _| {})).ok()?;
        let scan = Scan { reverse, ..Scan::new(body, carries as i64, Guard::Operand) };
        Some((self.with_checkpoint(scan).into(), operands))
    }

    /// A loop that ends at the last element or before.
    fn scan_while(
        &mut self,
        steps: &Dim,
        carries: usize,
        reverse: bool,
        mut types: Vec<Type>,
        mut operands: Vec<ValueId>,
    ) -> Option<Proposal> {
        let iota = Op::Made(Made::Iota { shape: vec![steps.clone()], axis: 0 });
        let iota = self.builder.push(iota, &[]).ok()?;
        let goes_on = match self.partner(|ty| ty.dtype == DType::Bool && ty.rank() == 0) {
            Some(known) => known,
            None => {
                let zero = self.builder.constant(DType::I64, 0.0);
                formula(&mut self.builder, "lt(zero, 1.0)", &[("zero", zero)]).ok()?
            }
        };
        types.insert(0, Type::scalar(DType::Bool));
        operands.insert(0, goes_on);
        types.push(Type::scalar(DType::I64));
        operands.push(iota);
        let at = ValueId::new(types.len() - 1);
        let count = Const::Count { shape: [steps.clone()].into_iter().collect(), dtype: DType::I64 };
        let body = self.inner(&types, carries + 1, |builder, outputs| {
            let is_last = if reverse {
                formula(builder, "le(at, 0.0)", &[("at", at)])
            } else {
                let count = builder.push(Op::Const(count), &[]).expect("it has no operands");
                formula(builder, "ge(at + 1.0, count)", &[("at", at), ("count", count)])
            };
            let names = [("goes_on", outputs[0]), ("is_last", is_last.expect("both are single integers"))];
            let goes_on = formula(builder, "and(goes_on, not(is_last))", &names);
            outputs[0] = goes_on.expect("both are single truth values");
        });
        let body = Nested::new(body).ok()?;
        let scan = Scan { reverse, ..Scan::new(body, carries as i64 + 1, Guard::Carry) };
        Some((self.with_checkpoint(scan).into(), operands))
    }

    /// A further result of an instruction that has several.
    fn result(&mut self) -> Option<Proposal> {
        let position = 1 + self.random.below(2) as i64;
        let op = Op::Own(Own::Nesting(Nesting::Result { position }));
        let has = |value: &ValueId| self.fits(&op, &[*value]);
        let found = (0..self.builder.insts().len()).map(ValueId::new).rfind(has)?;
        Some((op, vec![found]))
    }

    /// A random module on inputs of these types, whose first results are of the types of the first inputs. `finish` may
    /// add instructions and change results.
    fn inner(
        &mut self,
        inputs: &[Type],
        carries: usize,
        finish: impl FnOnce(&mut Builder, &mut Vec<ValueId>),
    ) -> Module {
        let random = mem::replace(&mut self.random, Random::new(0));
        let (builder, profile, depth) = (Builder::new(), self.profile, self.depth + 1);
        let mut inner = Self { random, builder, profile, depth };
        for (position, ty) in inputs.iter().enumerate() {
            inner.input(format!("p{position}"), ty.clone());
        }
        for _ in 0..1 + inner.random.below(4) {
            inner.step();
        }
        let count = inner.builder.insts().len();
        let carried = inputs[..carries].iter().map(|ty| {
            let found = (0..count).map(ValueId::new).rfind(|value| inner.builder.ty(*value) == ty);
            found.expect("the input itself is of this type")
        });
        let mut outputs: Vec<ValueId> = carried.collect();
        if outputs.is_empty() || inner.random.once_in(2) {
            outputs.push(ValueId::new(count - 1));
        }
        if inner.random.once_in(2) {
            outputs.push(inner.value());
        }
        self.random = mem::replace(&mut inner.random, Random::new(0));
        finish(&mut inner.builder, &mut outputs);
        inner.builder.finish(outputs)
    }
}

/// A module that computes the cotangents of a module's inputs from its inputs, its results and their cotangents.
fn pullback(function: &Module) -> Option<Nested> {
    let is_float = |ty: &Type| ty.dtype.is_float();
    if !function.outputs().iter().all(|output| is_float(function.ty(*output))) {
        return None;
    }
    // Its symbols are determined by the outer module, so this module may not verify alone.
    let canonical = canonicalise(verify(function.clone(), Profile::Extended).ok()?);
    let inputs = canonical.inputs().enumerate().filter(|(_, (_, ty))| is_float(ty));
    let wrt: Vec<Wrt> = inputs.map(|(at, _)| Wrt { input: ValueId::new(at), zero_ok: true }).collect();
    if wrt.is_empty() {
        return None;
    }
    let options = GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended };
    let gradient = differentiate(&canonical, &options).ok()?.module;
    let mut builder = Builder::new();
    let mut arguments = Vec::new();
    let inputs: Vec<_> = gradient.inputs().collect();
    let parameters = function.inputs().len();
    for (name, ty) in &inputs[..parameters] {
        arguments.push(builder.input((*name).clone(), (*ty).clone()).ok()?);
    }
    for (position, output) in function.outputs().iter().enumerate() {
        builder.input(format!("y{position}"), function.ty(*output).clone()).ok()?;
    }
    for (position, (_, ty)) in inputs[parameters..].iter().enumerate() {
        arguments.push(builder.input(format!("dy{position}"), (*ty).clone()).ok()?);
    }
    let all = builder.inline(&gradient, &arguments, &[].into()).ok()?;
    Nested::new(builder.finish(&all[function.outputs().len()..])).ok()
}
