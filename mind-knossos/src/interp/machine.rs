//! The machine: the active calls and blocks. It executes one instruction after the other.

use std::{collections::HashSet, sync::Arc};

use mind_core::{diag::Code, memory::Budget};

use super::{
    Failure, Options, Outcome, Style, Value,
    accumulators::Accumulators,
    outcome::{Fault, fault},
    scalar,
    structure::{
        float, greatest, integers, members, nothing, position, size_value, structure, sum, tensor, zero,
    },
    value::{HEAD, PART, Tape, Tensor},
};
use crate::{
    ir::{Block, Body, Check, Definition, FunctionId, Instruction, Loop, Operation, Program, ValueId},
    types::Type,
};

/// Runs a function. The arguments must have the types of its parameters.
pub(super) fn run(
    program: &Program,
    function: FunctionId,
    arguments: Vec<Value>,
    options: &Options,
) -> Result<Outcome, Failure> {
    let mut machine = Machine {
        program,
        options,
        calls: Vec::new(),
        tasks: Vec::new(),
        accumulators: Accumulators::default(),
        budget: Budget::new(options.most_bytes),
        printed: String::new(),
        steps: 0,
    };
    let outcome = machine.call(function, arguments, None).and_then(|()| machine.run());
    outcome.map_err(|(code, message)| {
        let running = machine.calls.last().map_or(function, |call| call.function);
        let task = machine.tasks.last();
        let instruction = task.and_then(|task| task.block.instructions.get(task.next.checked_sub(1)?));
        let name = &program.function(running).name;
        let place = instruction.map_or(program.function(running).place, |instruction| instruction.place);
        let printed = std::mem::take(&mut machine.printed);
        Failure { code, message, place, function: name.to_string(), printed }
    })
}

struct Machine<'p> {
    program: &'p Program,
    options: &'p Options,
    calls: Vec<Call<'p>>,
    tasks: Vec<Task<'p>>,
    accumulators: Accumulators,
    /// The bytes that were in use when they were last measured, plus the bytes allocated since.
    budget: Budget,
    printed: String,
    steps: u64,
}

/// An active call. It holds a slot for every value of the body; slots of undefined values hold arbitrary values.
struct Call<'p> {
    function: FunctionId,
    body: &'p Body,
    values: Vec<Value>,
}

/// An active block.
struct Task<'p> {
    block: &'p Block,
    next: usize,
    then: Continuation<'p>,
}

/// The use of a block's result.
enum Continuation<'p> {
    /// The result of the run.
    Finish,
    /// The result of a call, for this value in the calling body.
    Return(ValueId),
    /// The result of a branch.
    Set(ValueId),
    /// The result of a loop iteration.
    Turn(Turns<'p>),
}

/// An active loop.
struct Turns<'p> {
    instruction: &'p Instruction,
    form: Loop,
    block: &'p Block,
    size: Vec<usize>,
    total: usize,
    done: usize,
    elements: Vec<Value>,
    carried: Option<Value>,
}

impl<'p> Machine<'p> {
    fn run(&mut self) -> Result<Outcome, Fault> {
        loop {
            let task = self.tasks.last_mut().expect("the first block is there until it ends");
            if let Some(instruction) = task.block.instructions.get(task.next) {
                task.next += 1;
                self.charge(instruction)?;
                self.step(instruction)?;
                continue;
            }
            let task = self.tasks.pop().expect("it was there above");
            let result = self.get(task.block.result).clone();
            match task.then {
                Continuation::Finish => {
                    self.charge_for(&[&result])?;
                    // Room for the copy without tapes, which shares nothing, and for printing it.
                    let bytes = result.bytes_up_to(self.options.most_bytes);
                    self.allocate(bytes.saturating_mul(2), "the result")?;
                    let value = without_tapes(result);
                    return Ok(Outcome {
                        value,
                        printed: std::mem::take(&mut self.printed),
                        steps: self.steps,
                    });
                }
                Continuation::Return(value) => {
                    self.calls.pop();
                    self.set(value, result);
                }
                Continuation::Set(value) => self.set(value, result),
                Continuation::Turn(turns) => self.end_turn(turns, result)?,
            }
        }
    }

    /// Counts an instruction. If steps are limited, also counts the values that it visits: shared elements use memory
    /// once, but take time for each occurrence.
    fn charge(&mut self, instruction: &Instruction) -> Result<(), Fault> {
        self.steps += 1;
        match &instruction.operation {
            Operation::Equal
            | Operation::Structure
            | Operation::Zero
            | Operation::Accumulator
            | Operation::Add
            | Operation::AddTo(_)
            | Operation::Negate
            | Operation::Scale
            | Operation::Dot
            | Operation::Print => {
                let values = self.calls.last().map_or(&[][..], |call| &call.values);
                let operands: Vec<_> =
                    instruction.operands.iter().map(|operand| values[operand.index()].clone()).collect();
                self.charge_for(&operands.iter().collect::<Vec<_>>())
            }
            _ => self.charge_for(&[]),
        }
    }

    fn charge_for(&mut self, values: &[&Value]) -> Result<(), Fault> {
        let limit = self.options.most_steps;
        if limit < u64::MAX {
            let left = limit.saturating_sub(self.steps);
            self.steps += values.iter().map(|value| value.parts_up_to(left)).sum::<u64>();
        }
        if self.steps > limit {
            return fault(Code::E6010, format!("the program exceeded the limit of {limit} instructions"));
        }
        Ok(())
    }

    fn get(&self, value: ValueId) -> &Value {
        &self.calls.last().expect("a call is under way").values[value.index()]
    }

    fn set(&mut self, value: ValueId, to: Value) {
        self.calls.last_mut().expect("a call is under way").values[value.index()] = to;
    }

    fn call(&mut self, id: FunctionId, arguments: Vec<Value>, result: Option<ValueId>) -> Result<(), Fault> {
        let function = self.program.function(id);
        let body = match &function.definition {
            Definition::Defined(body) => body,
            Definition::Declared => {
                return fault(Code::E6010, format!("`{}` is declared but not defined", function.name));
            }
            Definition::Bound(_) => {
                let message =
                    format!("`{}` is a Rust function, which the interpreter cannot call", function.name);
                return fault(Code::E6010, message);
            }
            Definition::Pending(..) | Definition::Wrong => {
                return fault(Code::E6010, format!("`{}` has no body", function.name));
            }
        };
        if self.calls.len() >= self.options.most_calls {
            let limit = self.options.most_calls;
            return fault(Code::E6010, format!("calls nest deeper than the limit of {limit}"));
        }
        let bytes = size_of::<Call<'_>>() + size_of::<Task<'_>>() + size_of::<Value>() * body.values.len();
        self.allocate(bytes as u64, "a call")?;
        let mut values = vec![Value::Integer(0); body.values.len()];
        let block = body.block(body.entry);
        for (parameter, argument) in block.parameters.iter().zip(arguments) {
            values[parameter.index()] = argument;
        }
        self.calls.push(Call { function: id, body, values });
        self.tasks.push(Task {
            block,
            next: 0,
            then: result.map_or(Continuation::Finish, Continuation::Return),
        });
        Ok(())
    }

    /// Checks an allocation against the limit. If it may exceed the limit, first measures the bytes in use.
    fn allocate(&mut self, bytes: u64, what: &str) -> Result<(), Fault> {
        let limit = self.options.most_bytes;
        let mut nearly_full = None;
        if self.budget.held().saturating_add(bytes) > limit {
            let held = self.measure();
            self.budget.set(held);
            // Fails near the limit, where each allocation would measure the memory again.
            let is_near = held.saturating_add(bytes) <= limit && held > limit - limit / 16;
            nearly_full = is_near.then(|| format!("{held} bytes are in use, near the limit of {limit}"));
        }
        let refused = nearly_full.or_else(|| self.budget.take(bytes).err().map(|error| error.to_string()));
        refused.map_or(Ok(()), |why| fault(Code::E6004, format!("{what}: {why}")))
    }

    /// The bytes of every value that the run can reach.
    fn measure(&self) -> u64 {
        let of_calls = self.calls.iter().map(|call| &call.values[..]);
        let of_loops = self.tasks.iter().flat_map(|task| match &task.then {
            Continuation::Turn(turns) => [&turns.elements[..], turns.carried.as_slice()],
            Continuation::Finish | Continuation::Return(_) | Continuation::Set(_) => [&[][..], &[]],
        });
        let rooms = self.tasks.iter().map(|task| match &task.then {
            Continuation::Turn(turns) => (turns.elements.capacity() - turns.elements.len()) as u64 * PART,
            Continuation::Finish | Continuation::Return(_) | Continuation::Set(_) => 0,
        });
        let mut bytes = rooms.sum::<u64>() + self.printed.capacity() as u64;
        bytes += (self.calls.len() * size_of::<Call<'_>>() + self.tasks.len() * size_of::<Task<'_>>()) as u64;
        let mut seen = HashSet::new();
        let mut open: Vec<_> =
            of_calls.chain(of_loops).chain([self.accumulators.values()]).map(<[Value]>::iter).collect();
        while let Some(values) = open.last_mut() {
            let Some(value) = values.next() else {
                open.pop();
                continue;
            };
            bytes += PART;
            if value.shared().is_none_or(|place| seen.insert(place)) {
                bytes += value.own_bytes();
                if !value.parts().is_empty() {
                    open.push(value.parts().iter());
                }
            }
        }
        bytes
    }

    /// The bytes that an instruction allocates, without the blocks that it runs.
    fn makes(&self, instruction: &Instruction) -> u64 {
        let values = self.calls.last().map_or(&[][..], |call| &call.values);
        let operand = |position: usize| &values[instruction.operands[position].index()];
        let copy = |position: usize| operand(position).bytes_up_to(self.options.most_bytes);
        let several = |count: usize| HEAD + size_of::<Tensor>() as u64 + count as u64 * PART;
        match &instruction.operation {
            Operation::Tuple | Operation::VecInit | Operation::Pack(_) => several(instruction.operands.len()),
            Operation::Size => several(tensor(operand(0)).size.len()),
            Operation::Unzip => {
                let elements = &tensor(operand(0)).elements;
                let count = elements.first().map_or(0, |element| members(element).len());
                several(count) + count as u64 * several(elements.len())
            }
            Operation::Structure
            | Operation::Zero
            | Operation::Add
            | Operation::Negate
            | Operation::Accumulator => copy(0),
            Operation::Scale => copy(1),
            Operation::Dot => copy(0).saturating_add(copy(1)),
            Operation::Print => (0..instruction.operands.len()).map(copy).fold(0, u64::saturating_add),
            Operation::Part(steps) => several(steps.len()),
            Operation::Integer(_)
            | Operation::Float(_)
            | Operation::Bool(_)
            | Operation::String(_)
            | Operation::Scalar(_)
            | Operation::Get(_)
            | Operation::Equal
            | Operation::Index
            | Operation::ArgMax
            | Operation::Loop(..)
            | Operation::If(..)
            | Operation::Assert(_)
            | Operation::Bounds
            | Operation::Call(_)
            | Operation::AddTo(_)
            | Operation::Read
            | Operation::Unpack(..) => 0,
        }
    }

    fn step(&mut self, instruction: &'p Instruction) -> Result<(), Fault> {
        let bytes = self.makes(instruction);
        if bytes > 0 {
            self.allocate(bytes, "a value")?;
        }
        let call = self.calls.last().expect("a call is under way");
        let operands: Vec<&Value> =
            instruction.operands.iter().map(|operand| &call.values[operand.index()]).collect();
        let ty = call.body.ty(instruction.result);
        let value = match &instruction.operation {
            Operation::Integer(value) => Value::Integer(*value),
            Operation::Float(value) => Value::Float(self.options.precision.round(*value)),
            Operation::Bool(value) => Value::Bool(*value),
            Operation::String(value) => Value::String(value.clone()),
            Operation::Scalar(scalar) => match scalar::evaluate(*scalar, &operands) {
                Some(Value::Float(value)) => Value::Float(self.options.precision.round(value)),
                Some(value) => value,
                None => return fault(Code::E6010, format!("cannot divide {} by zero", operands[0])),
            },
            Operation::Tuple => Value::Tuple(operands.into_iter().cloned().collect()),
            Operation::Get(member) => members(operands[0])[*member].clone(),
            Operation::Equal => Value::Bool(operands[0] == operands[1]),
            Operation::Size => size_value(&tensor(operands[0]).size),
            Operation::Index => {
                let tensor = tensor(operands[1]);
                tensor.elements[position(operands[0], &tensor.size)?].clone()
            }
            Operation::VecInit => Value::tensor([operands.len()], operands.into_iter().cloned().collect()),
            Operation::ArgMax => greatest(&tensor(operands[0]).elements)?,
            Operation::Unzip => {
                let tensor = tensor(operands[0]);
                let count = self.program.types.members(ty).map_or(0, <[_]>::len);
                let part = |member: usize| {
                    let elements = tensor.elements.iter().map(|element| members(element)[member].clone());
                    Value::tensor(tensor.size.clone(), elements.collect())
                };
                Value::Tuple((0..count).map(part).collect())
            }
            Operation::Structure => structure(operands[0]),
            Operation::Zero => zero(self.program, ty, operands[0]),
            Operation::Add => sum(self.options.precision, operands[0], operands[1])?,
            Operation::Negate => operands[0].map_floats(&mut |value| -value),
            Operation::Scale => {
                let factor = float(operands[0]);
                let precision = self.options.precision;
                operands[1].map_floats(&mut |value| precision.round(factor * value))
            }
            Operation::Dot => {
                let (x, y) = (operands[0].floats(), operands[1].floats());
                if x.len() != y.len() {
                    return fault(Code::E6010, "the values of `ts_dot` have different sizes");
                }
                let precision = self.options.precision;
                let products = x.iter().zip(y).map(|(x, y)| precision.round(x * y));
                Value::Float(products.fold(0.0, |sum, product| precision.round(sum + product)))
            }
            Operation::Loop(form, body) => {
                return self.begin_loop(instruction, *form, call.body.block(*body));
            }
            Operation::If(then, otherwise) => {
                let block = if *operands[0] == Value::Bool(true) { then } else { otherwise };
                let block = call.body.block(*block);
                self.tasks.push(Task { block, next: 0, then: Continuation::Set(instruction.result) });
                return Ok(());
            }
            Operation::Assert(check) => match (check, operands[0]) {
                (_, Value::Bool(true)) => Value::unit(),
                (Check::Written, _) => return fault(Code::E6010, "the assertion failed"),
                (Check::Sizes(name), _) => {
                    return fault(Code::E6010, format!("the tensors of `{name}` have different sizes"));
                }
            },
            Operation::Bounds => {
                let size = self.checked_size(operands[0])?;
                if let Some(index) = operands.get(1) {
                    position(index, &size)?;
                }
                Value::unit()
            }
            Operation::Print => {
                let Options { precision, bools, floats, .. } = *self.options;
                let style = Style { precision, bools, floats };
                let text: String = operands.iter().map(|operand| operand.print(style)).collect();
                let count = operands.len();
                self.printed += &text;
                Value::Integer(count as i64)
            }
            Operation::Call(id) => {
                let arguments = operands.into_iter().cloned().collect();
                return self.call(*id, arguments, Some(instruction.result));
            }
            Operation::Accumulator => {
                let tangent = match self.program.types.get(ty) {
                    Type::Accumulator(tangent) => *tangent,
                    _ => unreachable!("an accumulator is of its type"),
                };
                let zero = zero(self.program, tangent, operands[0]);
                self.accumulators.make(zero)
            }
            Operation::AddTo(steps) => {
                let (value, indices) = operands[1..].split_last().expect("there is what is added");
                let part = self.accumulators.part(operands[0], steps, indices)?;
                self.accumulators.add_to(self.options.precision, &part, value)?;
                Value::unit()
            }
            Operation::Part(steps) => {
                Value::Accumulator(self.accumulators.part(operands[0], steps, &operands[1..])?)
            }
            Operation::Read => self.accumulators.read(operands[0]),
            Operation::Pack(layout) => {
                Value::Tape(Tape { layout: *layout, values: operands.into_iter().cloned().collect() })
            }
            Operation::Unpack(layout, member) => match operands[0] {
                Value::Tape(tape) if tape.layout == *layout => tape.values[*member].clone(),
                _ => return fault(Code::E6010, "the tape belongs to another function"),
            },
        };
        self.set(instruction.result, value);
        Ok(())
    }

    fn begin_loop(
        &mut self,
        instruction: &'p Instruction,
        form: Loop,
        block: &'p Block,
    ) -> Result<(), Fault> {
        let size = self.get(instruction.operands[0]).clone();
        let size = self.checked_size(&size)?;
        let total: usize = size.iter().product();
        let carried = match form {
            Loop::Fold | Loop::Scan => Some(self.get(instruction.operands[1]).clone()),
            Loop::Build | Loop::Sum => None,
        };
        let mut elements = Vec::new();
        if matches!(form, Loop::Build | Loop::Scan) {
            let bytes = HEAD + size_of::<Tensor>() as u64 + total as u64 * PART;
            self.allocate(bytes, &format!("a tensor of {total} elements"))?;
            elements.reserve_exact(total);
        }
        let turns = Turns { instruction, form, block, size, total, done: 0, elements, carried };
        self.begin_turn(turns)
    }

    /// The extents of a size, which must not be negative or too large.
    fn checked_size(&self, value: &Value) -> Result<Vec<usize>, Fault> {
        let mut total: u128 = 1;
        let mut size = Vec::new();
        for extent in integers(value) {
            let Ok(count) = usize::try_from(extent) else {
                return fault(Code::E6010, format!("the size {extent} is negative"));
            };
            total = total.saturating_mul(count as u128);
            size.push(count);
        }
        if total > self.options.most_elements as u128 {
            let limit = self.options.most_elements;
            return fault(Code::E6004, format!("the size {value} is over the limit of {limit} elements"));
        }
        Ok(size)
    }

    fn begin_turn(&mut self, turns: Turns<'p>) -> Result<(), Fault> {
        if turns.done == turns.total {
            return self.end_loop(turns);
        }
        let mut at = vec![0; turns.size.len()];
        let mut left = turns.done;
        for (position, extent) in at.iter_mut().zip(&turns.size).rev() {
            *position = left % extent;
            left /= extent;
        }
        self.set(turns.block.parameters[0], size_value(&at));
        if let (Some(carried), Some(parameter)) = (&turns.carried, turns.block.parameters.get(1)) {
            let carried = carried.clone();
            self.set(*parameter, carried);
        }
        self.tasks.push(Task { block: turns.block, next: 0, then: Continuation::Turn(turns) });
        Ok(())
    }

    fn end_turn(&mut self, mut turns: Turns<'p>, result: Value) -> Result<(), Fault> {
        turns.done += 1;
        match turns.form {
            Loop::Build => turns.elements.push(result),
            Loop::Sum => {
                self.charge_for(&[&result])?;
                let bytes = result.bytes_up_to(self.options.most_bytes);
                self.allocate(bytes, "a sum")?;
                turns.carried = Some(match turns.carried.take() {
                    Some(before) => sum(self.options.precision, &before, &result)?,
                    None => result,
                });
            }
            Loop::Fold => turns.carried = Some(result),
            Loop::Scan => {
                let members = members(&result);
                turns.carried = Some(members[0].clone());
                turns.elements.push(members[1].clone());
            }
        }
        self.begin_turn(turns)
    }

    fn end_loop(&mut self, turns: Turns<'p>) -> Result<(), Fault> {
        let Turns { instruction, form, size, elements, carried, .. } = turns;
        let value = match (form, carried) {
            (Loop::Build, _) => Value::tensor(size, elements),
            (Loop::Sum | Loop::Fold, Some(carried)) => carried,
            (Loop::Scan, carried) => {
                let carried = carried.unwrap_or_else(Value::unit);
                Value::tuple([carried, Value::tensor(size, elements)])
            }
            (Loop::Sum | Loop::Fold, None) => {
                let ty = self.calls.last().expect("a call is under way").body.ty(instruction.result);
                match nothing(&self.program.types, ty) {
                    Some(zero) => zero,
                    None => {
                        let ty = self.program.types.show(ty);
                        return fault(Code::E6010, format!("an empty sum of {ty} has no known size"));
                    }
                }
            }
        };
        self.set(instruction.result, value);
        Ok(())
    }
}

/// Removes the values of tapes. Tapes nest as deep as calls did, which can exceed the stack of the caller.
fn without_tapes(value: Value) -> Value {
    match value {
        Value::Tape(tape) => Value::Tape(Tape { layout: tape.layout, values: Arc::new([]) }),
        Value::Tuple(members) => Value::Tuple(members.iter().cloned().map(without_tapes).collect()),
        Value::Tensor(tensor) => {
            let elements = tensor.elements.iter().cloned().map(without_tapes).collect();
            Value::tensor(tensor.size.clone(), elements)
        }
        other => other,
    }
}
