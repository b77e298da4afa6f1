//! Determines where the cotangent of a value is accumulated.
//!
//! Members, elements and taped values are parts of another value, and tuples and tapes consist of their members. A
//! cotangent of such a value is added to the other value, at a path. Adding to an element therefore costs one element,
//! however large the tensor, and a vector with a single nonzero entry is never built. The remaining values are roots. A
//! root has a leaf for each part that is not a tuple. A leaf holds nothing yet, one value, or an accumulator.

use std::collections::VecDeque;

use super::reverse::{Key, Reverse};
use crate::{
    ir::{Instruction, LayoutId, Operation, Position, Projection, ValueId},
    scalars::Scalar,
    types::{Type, TypeId},
};

/// A step from a source value into a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    Member(usize),
    /// An element at an index that is a source value.
    Element(ValueId),
    /// An element at an index that is a value of the new function.
    GeneratedIndex(ValueId),
    Taped(LayoutId, usize),
}

/// The sum of the cotangents that were added to a leaf so far.
#[derive(Clone, Copy, Debug)]
pub(super) enum Leaf {
    /// A single value, defined in the block of the root.
    Whole(ValueId),
    Accumulator(ValueId),
}

/// A root, and the path of members to one of its leaves.
pub(super) type LeafId = (ValueId, Vec<usize>);

/// The destination of a value's cotangent.
enum Root<'p> {
    /// A part of a root. The position is that of the innermost element access in the program, if any.
    Part(ValueId, Vec<At>, Option<Position>),
    /// The operands of the instruction that builds a tuple or a tape, one part for each.
    Members(&'p Instruction),
    /// None, because the value is a constant.
    None,
}

/// A leaf, its type, and the remaining steps below it.
struct LeafPart {
    leaf: LeafId,
    ty: TypeId,
    rest: Vec<At>,
}

impl<'p> Reverse<'p> {
    /// Adds a cotangent to a part of a value.
    pub(super) fn contribute(&mut self, value: ValueId, path: Vec<At>, change: ValueId) {
        if !self.program.types.active(self.b.ty(change)) {
            return;
        }
        let (root, path, place) = match self.root(value, path) {
            Root::Part(root, path, place) => (root, path, place),
            Root::None => return,
            Root::Members(made) => {
                for (member, operand) in made.operands.iter().enumerate() {
                    let part = match made.operation {
                        Operation::Pack(layout) => {
                            let ty = self.program.types.tangent(self.source.ty(*operand));
                            self.b.emit(Operation::Unpack(layout, member), [change], ty)
                        }
                        _ => self.b.get(&self.program.types, change, member),
                    };
                    self.contribute(*operand, Vec::new(), part);
                }
                return;
            }
        };
        let LeafPart { leaf, ty, rest } = self.target(root, path);
        if !self.program.types.active(ty) {
            return;
        }
        if rest.is_empty() && self.program.types.members(ty).is_some() {
            let (root, members) = leaf;
            for (position, part) in self.b.members(&self.program.types, change).into_iter().enumerate() {
                let path = members.iter().copied().chain([position]).map(At::Member).collect();
                self.contribute(root, path, part);
            }
            return;
        }
        if rest.is_empty() && self.b.depth() - 1 == self.depth_of(leaf.0) {
            match self.leaves.get(&leaf) {
                None => {
                    self.leaves.insert(leaf, Leaf::Whole(change));
                    return;
                }
                Some(Leaf::Whole(before)) if ty == TypeId::FLOAT => {
                    let sum = self.b.scalar(Scalar::AddF, &[*before, change]);
                    self.leaves.insert(leaf, Leaf::Whole(sum));
                    return;
                }
                Some(_) => {}
            }
        }
        let accumulator = self.accumulator(leaf, ty);
        let (steps, mut operands) = self.steps(accumulator, &rest);
        operands.push(change);
        self.emit_where(place, Operation::AddTo(steps), operands, TypeId::UNIT);
    }

    /// Emits an instruction that fails at the given position of the program.
    fn emit_where(
        &mut self,
        place: Option<Position>,
        operation: Operation,
        operands: Vec<ValueId>,
        ty: TypeId,
    ) -> ValueId {
        let here = self.b.place;
        self.b.place = place.unwrap_or(here);
        let made = self.b.emit(operation, operands, ty);
        self.b.place = here;
        made
    }

    /// The root of a part of a value, and the path to the part.
    fn root(&self, mut value: ValueId, path: Vec<At>) -> Root<'p> {
        let (mut path, mut place) = (VecDeque::from(path), None);
        while let Some(made) = self.made(value) {
            let operands = &made.operands;
            value = match (&made.operation, path.front().copied()) {
                (Operation::Get(member), _) => {
                    path.push_front(At::Member(*member));
                    operands[0]
                }
                (Operation::Unpack(layout, member), _) => {
                    path.push_front(At::Taped(*layout, *member));
                    operands[0]
                }
                (Operation::Index, _) => {
                    path.push_front(At::Element(operands[0]));
                    place = place.or(Some(made.place));
                    operands[1]
                }
                (Operation::Tuple, Some(At::Member(member)))
                | (Operation::Pack(_), Some(At::Taped(_, member))) => {
                    path.pop_front();
                    operands[member]
                }
                (Operation::Tuple | Operation::Pack(_), _) => return Root::Members(made),
                (Operation::Float(_) | Operation::Zero, _) => return Root::None,
                _ => break,
            };
        }
        Root::Part(value, path.into(), place)
    }

    fn target(&self, root: ValueId, path: Vec<At>) -> LeafPart {
        let (mut ty, mut members, mut rest) = (self.source.ty(root), Vec::new(), path.into_iter());
        let left = loop {
            let here = self.program.types.members(ty);
            match (here, rest.next()) {
                (Some(types), Some(At::Member(member))) => {
                    ty = types[member];
                    members.push(member);
                }
                (_, next) => break next.into_iter().chain(rest).collect(),
            }
        };
        LeafPart { leaf: (root, members), ty, rest: left }
    }

    /// The accumulator of a leaf with this type. If necessary, creates it in the block of the leaf's root.
    fn accumulator(&mut self, leaf: LeafId, ty: TypeId) -> ValueId {
        let before = match self.leaves.get(&leaf) {
            Some(Leaf::Accumulator(accumulator)) => return *accumulator,
            Some(Leaf::Whole(value)) => Some(*value),
            None => None,
        };
        let depth = self.depth_of(leaf.0);
        let structure = self.structure_of(&leaf, ty);
        let ty = self.accumulator_type(ty);
        let accumulator = self.b.emit_at(depth, Operation::Accumulator, [structure], ty);
        if let Some(before) = before {
            let add = Operation::AddTo(Box::new([]));
            self.b.emit_at(depth, add, [accumulator, before], TypeId::UNIT);
        }
        self.leaves.insert(leaf, Leaf::Accumulator(accumulator));
        accumulator
    }

    /// The value that a value is, or is a part of, if its cotangent has a single leaf.
    pub(super) fn whole_root(&self, value: ValueId) -> Option<ValueId> {
        match self.root(value, Vec::new()) {
            Root::Part(root, ..) => {
                self.program.types.members(self.source.ty(root)).is_none().then_some(root)
            }
            Root::Members(_) | Root::None => None,
        }
    }

    /// The type of the accumulator of a leaf with this type.
    pub(super) fn accumulator_type(&mut self, ty: TypeId) -> TypeId {
        let tangent = self.program.types.tangent(ty);
        self.program.types.intern(Type::Accumulator(tangent))
    }

    /// Creates the accumulators of a parameter, before the second half of the innermost frame's block.
    pub(super) fn accumulate(&mut self, parameter: ValueId) {
        let mut rest = vec![(Vec::new(), self.source.ty(parameter))];
        while let Some((path, ty)) = rest.pop() {
            if !self.program.types.active(ty) {
                continue;
            }
            match self.program.types.members(ty) {
                Some(members) => rest.extend(
                    members
                        .iter()
                        .enumerate()
                        .map(|(member, ty)| (path.iter().copied().chain([member]).collect(), *ty)),
                ),
                None => _ = self.accumulator((parameter, path), ty),
            }
        }
        self.mark_frame();
    }

    /// The structure of a leaf, computed in the block of its root.
    fn structure_of(&mut self, (root, members): &LeafId, ty: TypeId) -> ValueId {
        let depth = self.depth_of(*root);
        if self.program.types.structure(ty) == TypeId::UNIT {
            return self.b.emit_at(depth, Operation::Tuple, [], TypeId::UNIT);
        }
        let whole = self.need(Key::Structure(*root));
        members.iter().fold(whole, |structure, member| {
            let ty =
                self.program.types.members(self.b.ty(structure)).map_or(TypeId::UNIT, |types| types[*member]);
            self.b.emit_at(depth, Operation::Get(*member), [structure], ty)
        })
    }

    /// Converts a path to steps of the IR, and returns the operands of an instruction that takes them.
    fn steps(&mut self, whole: ValueId, path: &[At]) -> (Box<[Projection]>, Vec<ValueId>) {
        let mut operands = vec![whole];
        let steps = path.iter().map(|at| match at {
            At::Member(member) => Projection::Member(*member),
            At::Taped(layout, member) => Projection::Taped(*layout, *member),
            At::Element(index) => {
                operands.push(self.need(Key::Value(*index)));
                Projection::Element
            }
            At::GeneratedIndex(index) => {
                operands.push(*index);
                Projection::Element
            }
        });
        (steps.collect(), operands)
    }

    /// Removes the accumulated cotangent of a value, which must be complete. Returns `None` for zero.
    pub(super) fn take(&mut self, root: ValueId) -> Option<ValueId> {
        let ty = self.source.ty(root);
        self.take_part(root, &mut Vec::new(), ty)
    }

    fn take_part(&mut self, root: ValueId, members: &mut Vec<usize>, ty: TypeId) -> Option<ValueId> {
        if !self.program.types.active(ty) {
            return None;
        }
        let tangent = self.program.types.tangent(ty);
        let Some(types) = self.program.types.members(ty).map(<[_]>::to_vec) else {
            return match self.leaves.remove(&(root, members.clone()))? {
                Leaf::Whole(value) => Some(value),
                Leaf::Accumulator(accumulator) => Some(self.b.emit(Operation::Read, [accumulator], tangent)),
            };
        };
        let mut parts = Vec::new();
        for (member, ty) in types.iter().enumerate() {
            members.push(member);
            parts.push(self.take_part(root, members, *ty));
            members.pop();
        }
        if parts.iter().all(Option::is_none) {
            return None;
        }
        let parts: Vec<_> = parts
            .into_iter()
            .zip(&types)
            .enumerate()
            .map(|(member, (part, ty))| {
                part.unwrap_or_else(|| {
                    members.push(member);
                    let structure = self.structure_of(&(root, members.clone()), *ty);
                    members.pop();
                    self.b.zero(&self.program.types, self.program.types.tangent(*ty), structure)
                })
            })
            .collect();
        Some(self.b.tuple(&mut self.program.types, &parts))
    }

    /// Like [`Self::take`], but returns an explicit zero.
    pub(super) fn take_or_zero(&mut self, root: ValueId) -> ValueId {
        match self.take(root) {
            Some(cotangent) => cotangent,
            None => {
                let ty = self.source.ty(root);
                let structure = self.structure_of(&(root, Vec::new()), ty);
                self.b.zero(&self.program.types, self.program.types.tangent(ty), structure)
            }
        }
    }

    /// Collects accumulators for an operand of a call: one for each part of its type that has a tangent and is not a
    /// tuple. No two operands of a call may share one. A part whose accumulator is already used gets a new one, and
    /// `later` records the part that it must be added to.
    pub(super) fn parts(
        &mut self,
        value: ValueId,
        path: Vec<At>,
        ty: TypeId,
        given: &mut Vec<ValueId>,
        used: &mut Vec<LeafId>,
        later: &mut Vec<(ValueId, Vec<At>, ValueId)>,
    ) {
        if !self.program.types.active(ty) {
            return;
        }
        if let Some(members) = self.program.types.members(ty).map(<[_]>::to_vec) {
            for (member, ty) in members.into_iter().enumerate() {
                let path = path.iter().copied().chain([At::Member(member)]).collect();
                self.parts(value, path, ty, given, used, later);
            }
            return;
        }
        let accumulator_ty = self.accumulator_type(ty);
        let target = match self.root(value, path.clone()) {
            Root::Part(root, path, place) => Some((self.target(root, path), place)),
            Root::Members(_) | Root::None => None,
        };
        match target {
            Some((LeafPart { leaf, ty, rest }, place))
                if !used.contains(&leaf) && self.program.types.active(ty) =>
            {
                used.push(leaf.clone());
                let whole = self.accumulator(leaf, ty);
                if rest.is_empty() {
                    return given.push(whole);
                }
                let (steps, operands) = self.steps(whole, &rest);
                given.push(self.emit_where(place, Operation::Part(steps), operands, accumulator_ty));
            }
            _ => {
                let mut structure = self.need(Key::Structure(value));
                for at in &path {
                    if let At::Member(member) = at {
                        structure = self.b.get(&self.program.types, structure, *member);
                    }
                }
                let own = self.b.emit(Operation::Accumulator, [structure], accumulator_ty);
                given.push(own);
                later.push((value, path, own));
            }
        }
    }
}
