//! Finds nodes whose shapes are equal for all types of the leaves.
//!
//! Broadcasting is a join: it is associative, commutative and idempotent, and scalars are its neutral element. A shape
//! is therefore represented by a set of atoms. A scalar is the empty set, and the shape of a broadcast result is the
//! union. An atom is a shape of which only the operation and the operand shapes are known.

use std::collections::HashMap;

use super::{Op, Own, Reduce};
use crate::written::Axes;

/// The shape of a node, as far as it is known without types. Nodes with equal ids have equal shapes for all types of
/// the leaves. Nodes with different ids may have equal or different shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeId(u32);

impl ShapeId {
    /// Whether this is certainly the shape of a scalar.
    pub fn is_scalar(self) -> bool {
        self == SCALAR
    }
}

pub(super) const SCALAR: ShapeId = ShapeId(0);

/// A set of more atoms than this becomes one atom, so that sets stay small.
const MOST_ATOMS: usize = 32;

/// All shapes so far.
pub(super) struct ShapeTable {
    /// The atoms of each shape, ascending.
    sets: Vec<Vec<u32>>,
    // The maps are never iterated, so their order does not matter.
    set_ids: HashMap<Vec<u32>, ShapeId>,
    atoms: HashMap<AtomOrigin, u32>,
    atom_count: u32,
}

/// The origin of an atom.
#[derive(PartialEq, Eq, Hash)]
enum AtomOrigin {
    /// Written extents.
    Extents(Vec<i64>),
    /// An operation on operands of these shapes.
    Made(Op, Vec<ShapeId>),
    /// The union of these atoms.
    Union(Vec<u32>),
}

impl Default for ShapeTable {
    fn default() -> Self {
        let mut shapes =
            Self { sets: Vec::new(), set_ids: HashMap::new(), atoms: HashMap::new(), atom_count: 0 };
        shapes.set(Vec::new());
        shapes
    }
}

impl ShapeTable {
    /// The shape of the result of an operation.
    pub(super) fn of(&mut self, op: &Op, operands: &[ShapeId]) -> ShapeId {
        if let Some(like) = op.like() {
            return operands[like];
        }
        if let Some(extents) = op.extents().filter(|extents| !extents.contains(&-1)) {
            return self.known(&extents);
        }
        match (op.axes(), op) {
            (Some(Axes::Known(0)), _) => SCALAR,
            (Some(Axes::Broadcast | Axes::BroadcastAll), _) => operands
                .iter()
                .copied()
                .reduce(|a, b| self.union(a, b))
                .expect("an operation that broadcasts has operands"),
            (_, Op::Map(_) | Op::Effect(_) | Op::Own(Own::ConvertedLike | Own::Indices)) => operands[0],
            (Some(Axes::Of(1)), Op::Rows(_)) => operands[1],
            // All reductions over the same axes have results of one shape.
            (_, Op::Reduce(_, reduction) | Op::ArgReduce(_, reduction)) => {
                let sum = Op::Reduce(Reduce::ALL[0], reduction.clone());
                self.atom(AtomOrigin::Made(sum, operands.to_vec()))
            }
            // `@` and the product functions give the same shape where both are valid.
            (_, Op::Product(_) | Op::Own(Own::At)) => {
                self.atom(AtomOrigin::Made(Op::Own(Own::At), operands.to_vec()))
            }
            // Nothing is known of the shapes of other results.
            (_, op) => self.atom(AtomOrigin::Made(op.clone(), operands.to_vec())),
        }
    }

    /// Returns the positions in `others` of the shapes that `shape` is the broadcast of, whatever they are; empty if
    /// these do not make up `shape`.
    pub(super) fn broadcast_from(&self, shape: ShapeId, others: &[ShapeId]) -> Vec<usize> {
        let atoms = |shape: ShapeId| &self.sets[shape.0 as usize];
        let within = |other: &ShapeId| atoms(*other).iter().all(|atom| atoms(shape).contains(atom));
        let parts: Vec<usize> = (0..others.len()).filter(|other| within(&others[*other])).collect();
        let covered = |atom: &u32| parts.iter().any(|part| atoms(others[*part]).contains(atom));
        if atoms(shape).iter().all(covered) { parts } else { Vec::new() }
    }

    /// A shape with these extents.
    pub(super) fn known(&mut self, extents: &[i64]) -> ShapeId {
        if extents.is_empty() { SCALAR } else { self.atom(AtomOrigin::Extents(extents.to_vec())) }
    }

    fn union(&mut self, a: ShapeId, b: ShapeId) -> ShapeId {
        if a == b {
            return a;
        }
        let mut atoms = [&self.sets[a.0 as usize][..], &self.sets[b.0 as usize]].concat();
        atoms.sort_unstable();
        atoms.dedup();
        if atoms.len() > MOST_ATOMS { self.atom(AtomOrigin::Union(atoms)) } else { self.set(atoms) }
    }

    fn atom(&mut self, source: AtomOrigin) -> ShapeId {
        let next = self.atom_count;
        let atom = *self.atoms.entry(source).or_insert(next);
        self.atom_count = self.atom_count.max(atom + 1);
        self.set(vec![atom])
    }

    fn set(&mut self, atoms: Vec<u32>) -> ShapeId {
        if let Some(known) = self.set_ids.get(&atoms) {
            return *known;
        }
        let id =
            ShapeId(u32::try_from(self.sets.len()).expect("a program has few nodes, each with one shape"));
        self.sets.push(atoms.clone());
        self.set_ids.insert(atoms, id);
        id
    }
}
