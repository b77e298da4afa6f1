//! Forward mode. Each value is paired with its tangent, or `None` if the tangent is zero.

use super::partials::{needs, partials};
use crate::{
    build::{Builder, gather, is_accumulator},
    ir::{BlockId, Body, Derivative, FunctionId, Instruction, Loop, Operation, Program, ValueId},
    scalars::Scalar,
    types::TypeId,
};

/// Builds the body of a function's dual.
pub(super) fn dual(program: &mut Program, of: FunctionId, source: &Body) -> Body {
    let id = program.derivative(Derivative::Dual, of);
    let parameters = program.function(id).parameters.clone();
    let mut b = Builder::at(program.function(of).place);
    let given = b.begin(&parameters);
    let count = source.values.len();
    let mut forward =
        Forward { program, source, b, values: vec![ValueId::default(); count], tangents: vec![None; count] };
    let own = &source.block(source.entry).parameters;
    for (position, parameter) in own.iter().enumerate() {
        forward.values[parameter.index()] = given[position];
        let active = forward.active(source.ty(*parameter));
        forward.tangents[parameter.index()] = active.then(|| given[own.len() + position]);
    }
    let (value, tangent) = forward.block(source.entry);
    let tangent = forward.tangent_or_zero(value, tangent);
    let pair = forward.b.tuple(&mut forward.program.types, &[value, tangent]);
    forward.b.finish(pair)
}

struct Forward<'p> {
    program: &'p mut Program,
    source: &'p Body,
    b: Builder,
    /// The new value of each value of the source.
    values: Vec<ValueId>,
    tangents: Vec<Option<ValueId>>,
}

/// A value and its tangent, or `None` if the tangent is zero.
type Dual = (ValueId, Option<ValueId>);

impl Forward<'_> {
    /// Whether values of a type have a tangent. Accumulators have one too: another accumulator.
    fn active(&self, ty: TypeId) -> bool {
        self.program.types.active(ty) || is_accumulator(self.program, ty)
    }

    fn tangent_or_zero(&mut self, value: ValueId, tangent: Option<ValueId>) -> ValueId {
        match tangent {
            Some(tangent) => tangent,
            None => self.b.zero_like(&self.program.types, value),
        }
    }

    /// Emits the instructions of a block and returns its result.
    fn block(&mut self, id: BlockId) -> Dual {
        let source = self.source;
        for instruction in &source.block(id).instructions {
            self.b.place = instruction.place;
            let (value, tangent) = self.instruction(instruction);
            if let Some(name) = &source.values[instruction.result.index()].name {
                self.b.name(value, name.clone());
            }
            self.values[instruction.result.index()] = value;
            self.tangents[instruction.result.index()] = tangent;
        }
        self.dual(source.block(id).result)
    }

    fn dual(&self, value: ValueId) -> Dual {
        (self.values[value.index()], self.tangents[value.index()])
    }

    /// Emits a nested block. `finish` computes its result from the value and the tangent of the source block's result.
    fn nested(
        &mut self,
        id: BlockId,
        parameters: &[TypeId],
        bind: impl FnOnce(&mut Self, &[ValueId]) -> Vec<Dual>,
        finish: impl FnOnce(&mut Self, Dual) -> ValueId,
    ) -> BlockId {
        let given = self.b.begin(parameters);
        let duals = bind(self, &given);
        for (parameter, (value, tangent)) in self.source.block(id).parameters.iter().zip(duals) {
            self.values[parameter.index()] = value;
            self.tangents[parameter.index()] = tangent;
        }
        let result = self.block(id);
        let result = finish(self, result);
        self.b.end(result)
    }

    /// A tuple of a value and its tangent.
    fn pair(&mut self, (value, tangent): Dual) -> ValueId {
        let tangent = self.tangent_or_zero(value, tangent);
        self.b.tuple(&mut self.program.types, &[value, tangent])
    }

    fn unpair(&mut self, pair: ValueId) -> Dual {
        let types = &self.program.types;
        (self.b.get(types, pair, 0), Some(self.b.get(types, pair, 1)))
    }

    fn instruction(&mut self, instruction: &Instruction) -> Dual {
        let Instruction { operation, operands, result, .. } = instruction;
        let ty = self.source.ty(*result);
        let d_ty = self.program.types.tangent(ty);
        let duals: Vec<Dual> = operands.iter().map(|operand| self.dual(*operand)).collect();
        let values: Vec<ValueId> = duals.iter().map(|(value, _)| *value).collect();
        match operation {
            Operation::Integer(_) | Operation::Float(_) | Operation::Bool(_) | Operation::String(_) => {
                (self.b.emit(operation.clone(), values, ty), None)
            }
            Operation::Equal | Operation::Size | Operation::ArgMax => {
                (self.b.emit(operation.clone(), values, ty), None)
            }
            Operation::Assert(_) | Operation::Bounds => (self.b.emit(operation.clone(), values, ty), None),
            Operation::Print | Operation::Structure | Operation::Zero => {
                (self.b.emit(operation.clone(), values, ty), None)
            }
            Operation::Scalar(scalar) => {
                let value = self.b.scalar(*scalar, &values);
                (value, self.scalar(*scalar, &duals, value))
            }
            Operation::Tuple | Operation::VecInit | Operation::Pack(_) => {
                let value = self.b.emit(operation.clone(), values, ty);
                let some = self.active(ty) && duals.iter().any(|(_, tangent)| tangent.is_some());
                let tangent = some.then(|| {
                    let tangents: Vec<_> =
                        duals.iter().map(|(value, tangent)| self.tangent_or_zero(*value, *tangent)).collect();
                    self.b.emit(operation.clone(), tangents, d_ty)
                });
                (value, tangent)
            }
            Operation::Get(_) | Operation::Unzip | Operation::Unpack(..) | Operation::Negate => {
                let value = self.b.emit(operation.clone(), values, ty);
                let tangent = duals[0].1.filter(|_| self.active(ty));
                (value, tangent.map(|tangent| self.b.emit(operation.clone(), [tangent], d_ty)))
            }
            Operation::Index => {
                let value = self.b.emit(Operation::Index, values.clone(), ty);
                let tangent = duals[1].1.filter(|_| self.active(ty));
                (value, tangent.map(|tangent| self.b.emit(Operation::Index, [values[0], tangent], d_ty)))
            }
            Operation::Add => {
                let value = self.b.emit(Operation::Add, values, ty);
                (value, self.sum(duals[0].1, duals[1].1))
            }
            Operation::Scale => {
                let value = self.b.emit(Operation::Scale, values.clone(), ty);
                let first = duals[0].1.map(|d| self.b.emit(Operation::Scale, [d, values[1]], d_ty));
                let second = duals[1].1.map(|d| self.b.emit(Operation::Scale, [values[0], d], d_ty));
                (value, self.sum(first, second))
            }
            Operation::Dot => {
                let value = self.b.emit(Operation::Dot, values.clone(), ty);
                let first = duals[0].1.map(|d| self.b.emit(Operation::Dot, [d, values[1]], ty));
                let second = duals[1].1.map(|d| self.b.emit(Operation::Dot, [values[0], d], ty));
                (value, self.sum(first, second))
            }
            Operation::Loop(form, body) => self.turns(*form, *body, &duals, ty),
            Operation::If(then, otherwise) => self.branch(*then, *otherwise, values[0], ty),
            Operation::Call(id) => self.call(*id, &duals, ty),
            Operation::Accumulator => {
                let mut make = || self.b.emit(Operation::Accumulator, values.clone(), ty);
                (make(), Some(make()))
            }
            Operation::AddTo(_) => {
                let value = self.b.emit(operation.clone(), values.clone(), ty);
                let (last, tangent) = (values.len() - 1, duals[0].1);
                if let (Some(to), Some(change)) = (tangent, duals[last].1) {
                    let mut operands = values;
                    (operands[0], operands[last]) = (to, change);
                    self.b.emit(operation.clone(), operands, ty);
                }
                (value, None)
            }
            Operation::Part(_) | Operation::Read => {
                let value = self.b.emit(operation.clone(), values.clone(), ty);
                let tangent = duals[0].1.map(|tangent| {
                    let mut operands = values;
                    operands[0] = tangent;
                    self.b.emit(operation.clone(), operands, ty)
                });
                (value, tangent)
            }
        }
    }

    fn scalar(&mut self, scalar: Scalar, duals: &[Dual], value: ValueId) -> Option<ValueId> {
        if duals.iter().all(|(_, tangent)| tangent.is_none()) {
            return None;
        }
        let known = needs(scalar).0.iter().all(|operand| *operand < duals.len());
        assert!(known, "a partial derivative needs operands of its operation only");
        let partials = partials(&mut self.b, scalar, &|operand| duals[operand].0, Some(value));
        let mut sum = None;
        for ((_, tangent), partial) in duals.iter().zip(partials) {
            let term = tangent.and_then(|tangent| partial.times(&mut self.b, tangent));
            sum = self.sum(sum, term);
        }
        sum
    }

    fn sum(&mut self, x: Option<ValueId>, y: Option<ValueId>) -> Option<ValueId> {
        let (Some(x), Some(y)) = (x, y) else { return x.or(y) };
        let ty = self.b.ty(x);
        Some(match ty {
            TypeId::FLOAT => self.b.scalar(Scalar::AddF, &[x, y]),
            _ => self.b.emit(Operation::Add, [x, y], ty),
        })
    }

    fn branch(&mut self, then: BlockId, otherwise: BlockId, condition: ValueId, ty: TypeId) -> Dual {
        let active = self.active(ty);
        let finish = |this: &mut Self, dual: Dual| if active { this.pair(dual) } else { dual.0 };
        let then = self.nested(then, &[], |_, _| Vec::new(), finish);
        let otherwise = self.nested(otherwise, &[], |_, _| Vec::new(), finish);
        let operation = Operation::If(then, otherwise);
        if !active {
            return (self.b.emit(operation, [condition], ty), None);
        }
        let d_ty = self.program.types.tangent(ty);
        let pair = self.program.types.tuple([ty, d_ty]);
        let pair = self.b.emit(operation, [condition], pair);
        self.unpair(pair)
    }

    fn turns(&mut self, form: Loop, body: BlockId, duals: &[Dual], ty: TypeId) -> Dual {
        let counter = self.source.ty(self.source.block(body).parameters[0]);
        let size = duals[0].0;
        let result = self.source.ty(self.source.block(body).result);
        let types = &mut self.program.types;
        let (d_ty, d_result) = (types.tangent(ty), types.tangent(result));
        let pair = types.tuple([result, d_result]);
        match form {
            Loop::Build | Loop::Sum if !types.active(result) => {
                let block =
                    self.nested(body, &[counter], |_, given| vec![(given[0], None)], |_, dual| dual.0);
                (self.b.emit(Operation::Loop(form, block), [size], ty), None)
            }
            Loop::Build => {
                let rank = types.rank_of_index(counter).unwrap_or(1);
                let pairs = types.tensor(rank, pair);
                let both = types.tuple([ty, d_ty]);
                let block = self.nested(body, &[counter], |_, given| vec![(given[0], None)], Self::pair);
                let pairs = self.b.emit(Operation::Loop(form, block), [size], pairs);
                let both = self.b.emit(Operation::Unzip, [pairs], both);
                self.unpair(both)
            }
            Loop::Sum => {
                let block = self.nested(body, &[counter], |_, given| vec![(given[0], None)], Self::pair);
                let sums = self.b.emit(Operation::Loop(form, block), [size], pair);
                self.unpair(sums)
            }
            Loop::Fold => {
                let first = self.pair(duals[1]);
                let carried = self.b.ty(first);
                let bind = |this: &mut Self, given: &[ValueId]| vec![(given[0], None), this.unpair(given[1])];
                let block = self.nested(body, &[counter, carried], bind, Self::pair);
                let last = self.b.emit(Operation::Loop(form, block), [size, first], carried);
                self.unpair(last)
            }
            Loop::Scan => {
                let first = self.pair(duals[1]);
                let carried = self.b.ty(first);
                let bind = |this: &mut Self, given: &[ValueId]| vec![(given[0], None), this.unpair(given[1])];
                let mut kept = TypeId::UNIT;
                let block = self.nested(body, &[counter, carried], bind, |this, (value, tangent)| {
                    let tangent = this.tangent_or_zero(value, tangent);
                    let parts = [0, 1].map(|part| {
                        let value = this.b.get(&this.program.types, value, part);
                        let tangent = this.b.get(&this.program.types, tangent, part);
                        this.b.tuple(&mut this.program.types, &[value, tangent])
                    });
                    kept = this.b.ty(parts[1]);
                    this.b.tuple(&mut this.program.types, &parts)
                });
                let types = &mut self.program.types;
                let all = types.tensor(1, kept);
                let scan = types.tuple([carried, all]);
                let scan = self.b.emit(Operation::Loop(form, block), [size, first], scan);
                let (last, all) =
                    (self.b.get(&self.program.types, scan, 0), self.b.get(&self.program.types, scan, 1));
                let types = &mut self.program.types;
                let members: Vec<_> = types.members(kept).map(<[_]>::to_vec).unwrap_or_default();
                let members: Vec<_> = members.into_iter().map(|member| types.tensor(1, member)).collect();
                let both = types.tuple(members);
                let both = self.b.emit(Operation::Unzip, [all], both);
                let parts = [0, 1].map(|part| {
                    let last = self.b.get(&self.program.types, last, part);
                    let kept = self.b.get(&self.program.types, both, part);
                    self.b.tuple(&mut self.program.types, &[last, kept])
                });
                (parts[0], Some(parts[1]))
            }
        }
    }

    fn call(&mut self, id: FunctionId, duals: &[Dual], ty: TypeId) -> Dual {
        let values: Vec<_> = duals.iter().map(|(value, _)| *value).collect();
        let adds = values.iter().any(|value| is_accumulator(self.program, self.b.ty(*value)));
        let changes = self.active(ty) && duals.iter().any(|(_, tangent)| tangent.is_some());
        if !adds && !changes {
            return (self.b.emit(Operation::Call(id), values, ty), None);
        }
        let tangents: Vec<_> =
            duals.iter().map(|(value, tangent)| self.tangent_or_zero(*value, *tangent)).collect();
        let d_ty = self.program.types.tangent(ty);
        if let Some(written) = self.program.written_derivative(Derivative::Fwd, id) {
            let value = self.b.emit(Operation::Call(id), values.clone(), ty);
            let argument = gather(&mut self.b, self.program, &values);
            let change = gather(&mut self.b, self.program, &tangents);
            let operands = self.operands_of(written, argument, change);
            return (value, Some(self.b.emit(Operation::Call(written), operands, d_ty)));
        }
        let dual = self.program.derivative(Derivative::Dual, id);
        let operands: Vec<_> = values.into_iter().chain(tangents).collect();
        let pair = self.program.types.tuple([ty, d_ty]);
        let pair = self.b.emit(Operation::Call(dual), operands, pair);
        self.unpair(pair)
    }

    fn operands_of(&mut self, id: FunctionId, first: ValueId, second: ValueId) -> Vec<ValueId> {
        match self.program.function(id).parameters.len() {
            1 => vec![self.b.tuple(&mut self.program.types, &[first, second])],
            _ => vec![first, second],
        }
    }
}
