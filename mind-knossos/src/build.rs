//! Builds bodies instruction by instruction.

use std::sync::Arc;

use crate::{
    ir::{Block, BlockId, Body, Check, Instruction, Loop, Operation, Position, Program, ValueDef, ValueId},
    scalars::Scalar,
    types::{Type, TypeId, Types},
};

/// A body under construction. Open blocks are on a stack, and new instructions go to the innermost one.
#[derive(Debug, Default)]
pub(super) struct Builder {
    values: Vec<ValueDef>,
    blocks: Vec<Block>,
    open: Vec<Block>,
    /// The source position of the following instructions.
    pub place: Position,
}

impl Builder {
    /// Opens a block with parameters of these types.
    pub fn begin(&mut self, parameters: &[TypeId]) -> Vec<ValueId> {
        let parameters: Vec<_> = parameters.iter().map(|ty| self.value(*ty)).collect();
        self.open.push(Block { parameters: parameters.clone(), ..Block::default() });
        parameters
    }

    /// Closes the innermost block.
    pub fn end(&mut self, result: ValueId) -> BlockId {
        let mut block = self.open.pop().expect("a block is open");
        block.result = result;
        self.blocks.push(block);
        BlockId::new(self.blocks.len() - 1)
    }

    /// Closes the outermost block, the body's.
    pub fn finish(mut self, result: ValueId) -> Body {
        let entry = self.end(result);
        Body { values: self.values, blocks: self.blocks, entry }
    }

    /// The number of open blocks.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    pub fn value(&mut self, ty: TypeId) -> ValueId {
        self.values.push(ValueDef { ty, name: None });
        ValueId::new(self.values.len() - 1)
    }

    pub fn ty(&self, value: ValueId) -> TypeId {
        self.values[value.index()].ty
    }

    /// Gives a value its name in the program, unless it already has one.
    pub fn name(&mut self, value: ValueId, name: impl Into<Arc<str>>) {
        self.values[value.index()].name.get_or_insert_with(|| name.into());
    }

    /// Appends an instruction to the innermost block.
    pub fn emit(&mut self, operation: Operation, operands: impl Into<Vec<ValueId>>, ty: TypeId) -> ValueId {
        let depth = self.depth() - 1;
        self.emit_at(depth, operation, operands, ty)
    }

    /// Appends an instruction to the open block at nesting depth `depth`.
    pub fn emit_at(
        &mut self,
        depth: usize,
        operation: Operation,
        operands: impl Into<Vec<ValueId>>,
        ty: TypeId,
    ) -> ValueId {
        let result = self.value(ty);
        self.place_at(depth, result, operation, operands);
        result
    }

    /// Appends an instruction that defines an existing value.
    pub fn place_at(
        &mut self,
        depth: usize,
        result: ValueId,
        operation: Operation,
        operands: impl Into<Vec<ValueId>>,
    ) {
        let instruction = Instruction { result, operation, operands: operands.into(), place: self.place };
        self.open[depth].instructions.push(instruction);
    }

    /// The number of instructions in the innermost block.
    pub fn mark(&self) -> usize {
        self.open.last().map_or(0, |block| block.instructions.len())
    }

    /// Removes the instructions of the innermost block from a mark on, so that others can be put before them.
    pub fn take(&mut self, mark: usize) -> Vec<Instruction> {
        self.open.last_mut().map(|block| block.instructions.split_off(mark)).unwrap_or_default()
    }

    /// Appends instructions to the innermost block.
    pub fn append(&mut self, instructions: Vec<Instruction>) {
        if let Some(block) = self.open.last_mut() {
            block.instructions.extend(instructions);
        }
    }

    /// A builder that starts at a source position.
    pub fn at(place: Position) -> Self {
        Self { place, ..Self::default() }
    }

    pub fn integer(&mut self, value: i64) -> ValueId {
        self.emit(Operation::Integer(value), [], TypeId::INTEGER)
    }

    pub fn float(&mut self, value: f64) -> ValueId {
        self.emit(Operation::Float(value), [], TypeId::FLOAT)
    }

    pub fn scalar(&mut self, scalar: Scalar, operands: &[ValueId]) -> ValueId {
        self.emit(Operation::Scalar(scalar), operands, scalar.signature().2)
    }

    pub fn unit(&mut self) -> ValueId {
        self.emit(Operation::Tuple, [], TypeId::UNIT)
    }

    pub fn tuple(&mut self, types: &mut Types, members: &[ValueId]) -> ValueId {
        let ty: Vec<_> = members.iter().map(|member| self.ty(*member)).collect();
        let ty = types.tuple(ty);
        self.emit(Operation::Tuple, members, ty)
    }

    /// A member of a tuple, counted from 0.
    pub fn get(&mut self, types: &Types, tuple: ValueId, member: usize) -> ValueId {
        let members = types.members(self.ty(tuple)).expect("only tuples are taken apart");
        self.emit(Operation::Get(member), [tuple], members[member])
    }

    /// Every member of a tuple.
    pub fn members(&mut self, types: &Types, tuple: ValueId) -> Vec<ValueId> {
        let count = types.members(self.ty(tuple)).map_or(0, <[_]>::len);
        (0..count).map(|member| self.get(types, tuple, member)).collect()
    }

    pub fn equal(&mut self, a: ValueId, b: ValueId) -> ValueId {
        self.emit(Operation::Equal, [a, b], TypeId::BOOL)
    }

    pub fn size(&mut self, types: &mut Types, tensor: ValueId) -> ValueId {
        let (rank, _) = types.element(self.ty(tensor)).expect("only tensors have sizes");
        let ty = types.index(rank);
        self.emit(Operation::Size, [tensor], ty)
    }

    pub fn index(&mut self, types: &Types, index: ValueId, tensor: ValueId) -> ValueId {
        let (_, element) = types.element(self.ty(tensor)).expect("only tensors are indexed");
        self.emit(Operation::Index, [index, tensor], element)
    }

    pub fn structure(&mut self, types: &Types, value: ValueId) -> ValueId {
        let ty = types.structure(self.ty(value));
        self.emit(Operation::Structure, [value], ty)
    }

    /// The shape of a value, of type [`Types::shape`].
    pub fn shape(&mut self, types: &mut Types, value: ValueId) -> ValueId {
        match types.get(self.ty(value)).clone() {
            Type::Tensor(_, element) => {
                let size = self.size(types, value);
                if !types.has_size(element) {
                    return size;
                }
                self.build(types, size, |b, types, i| {
                    let element = b.index(types, i, value);
                    b.shape(types, element)
                })
            }
            Type::Tuple(_) => {
                let members = self.members(types, value);
                let shapes: Vec<_> = members.into_iter().map(|member| self.shape(types, member)).collect();
                self.tuple(types, &shapes)
            }
            Type::Tape => self.structure(types, value),
            Type::Integer | Type::Float | Type::Bool | Type::String => self.unit(),
            Type::Lambda(..) | Type::LinearMap(..) | Type::Accumulator(_) => self.unit(),
        }
    }

    /// The structure of values of a type from their shape.
    pub fn structure_of_shape(&mut self, types: &mut Types, shape: ValueId, ty: TypeId) -> ValueId {
        match types.get(ty).clone() {
            Type::Tensor(_, element) if types.has_size(element) => {
                let size = self.size(types, shape);
                self.build(types, size, |b, types, i| {
                    let shape = b.index(types, i, shape);
                    b.structure_of_shape(types, shape, element)
                })
            }
            // The elements' structures hold no information, so any value serves as their shape.
            Type::Tensor(_, element) => {
                self.build(types, shape, |b, types, i| b.structure_of_shape(types, i, element))
            }
            Type::Tuple(members) => {
                let is_sized = types.has_size(ty);
                let structures: Vec<_> = (0..members.len())
                    .map(|member| {
                        let shape = if is_sized { self.get(types, shape, member) } else { shape };
                        self.structure_of_shape(types, shape, members[member])
                    })
                    .collect();
                self.tuple(types, &structures)
            }
            Type::Tape => shape,
            Type::Integer | Type::Float | Type::Bool | Type::String => self.unit(),
            Type::Lambda(..) | Type::LinearMap(..) | Type::Accumulator(_) => self.unit(),
        }
    }

    /// The zero of a tangent type with this structure.
    pub fn zero(&mut self, types: &Types, ty: TypeId, structure: ValueId) -> ValueId {
        if ty == TypeId::FLOAT {
            return self.float(0.0);
        }
        // A tangent without numbers equals its structure. A tape is its own structure type but is not zero.
        if !types.active(ty) {
            return structure;
        }
        self.emit(Operation::Zero, [structure], ty)
    }

    /// The zero tangent of a value.
    pub fn zero_like(&mut self, types: &Types, value: ValueId) -> ValueId {
        if types.tangent(self.ty(value)) == TypeId::UNIT {
            return self.unit();
        }
        let structure = self.structure(types, value);
        self.zero(types, types.tangent(self.ty(value)), structure)
    }

    pub fn assert(&mut self, condition: ValueId, check: Check) {
        self.emit(Operation::Assert(check), [condition], TypeId::UNIT);
    }

    /// A tensor of this size, with each element computed from its index.
    pub fn build(
        &mut self,
        types: &mut Types,
        size: ValueId,
        element: impl FnOnce(&mut Self, &mut Types, ValueId) -> ValueId,
    ) -> ValueId {
        let (body, ty) = self.body(types, size, element);
        let rank = types.rank_of_index(self.ty(size)).expect("sizes are checked");
        let ty = types.tensor(rank, ty);
        self.emit(Operation::Loop(Loop::Build, body), [size], ty)
    }

    /// The sum of a term computed for each index.
    pub fn sum(
        &mut self,
        types: &mut Types,
        size: ValueId,
        term: impl FnOnce(&mut Self, &mut Types, ValueId) -> ValueId,
    ) -> ValueId {
        let (body, ty) = self.body(types, size, term);
        self.emit(Operation::Loop(Loop::Sum, body), [size], ty)
    }

    fn body(
        &mut self,
        types: &mut Types,
        size: ValueId,
        turn: impl FnOnce(&mut Self, &mut Types, ValueId) -> ValueId,
    ) -> (BlockId, TypeId) {
        let counter = self.begin(&[self.ty(size)])[0];
        let result = turn(self, types, counter);
        (self.end(result), self.ty(result))
    }

    /// One of two values, depending on a condition.
    pub fn choose(
        &mut self,
        condition: ValueId,
        then: impl FnOnce(&mut Self) -> ValueId,
        otherwise: impl FnOnce(&mut Self) -> ValueId,
    ) -> ValueId {
        self.begin(&[]);
        let result = then(self);
        let (ty, then) = (self.ty(result), self.end(result));
        self.begin(&[]);
        let result = otherwise(self);
        let otherwise = self.end(result);
        self.emit(Operation::If(then, otherwise), [condition], ty)
    }
}

/// Converts an argument to the operands of a function with `count` parameters.
pub(super) fn spread(b: &mut Builder, program: &Program, argument: ValueId, count: usize) -> Vec<ValueId> {
    if count == 1 { vec![argument] } else { b.members(&program.types, argument) }
}

/// Converts operands to one argument.
pub(super) fn gather(b: &mut Builder, program: &mut Program, operands: &[ValueId]) -> ValueId {
    match operands {
        [one] => *one,
        several => b.tuple(&mut program.types, several),
    }
}

/// Whether this type is an accumulator.
pub(super) fn is_accumulator(program: &Program, ty: TypeId) -> bool {
    matches!(program.types.get(ty), Type::Accumulator(_))
}
