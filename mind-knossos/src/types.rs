//! The types of Knossos programs, interned.

use std::collections::HashMap;

/// The id of a type in a [`Types`]. Equal ids are equal types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(u32);

impl TypeId {
    /// A 64-bit integer, two's complement, wrapping.
    pub const INTEGER: Self = Self(0);
    /// `f64`, or `f32` if a program is run or compiled in that precision.
    pub const FLOAT: Self = Self(1);
    /// `true` and `false`.
    pub const BOOL: Self = Self(2);
    /// A text, for `print`.
    pub const STRING: Self = Self(3);
    /// `(Tuple)`: also the tangent and the shape of types that have none.
    pub const UNIT: Self = Self(4);
    /// [`Type::Tape`].
    pub const TAPE: Self = Self(5);
    /// `(Vec Float)`.
    pub const VECTOR: Self = Self(7);
    /// `(Tensor 2 Float)`.
    pub const MATRIX: Self = Self(9);
}

/// The structure of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// [`TypeId::INTEGER`].
    Integer,
    /// [`TypeId::FLOAT`].
    Float,
    /// [`TypeId::BOOL`].
    Bool,
    /// [`TypeId::STRING`].
    String,
    /// A tensor with this rank, from 1 to [`MAX_RANK`], and element type. Elements that are tensors may differ in size.
    Tensor(u32, TypeId),
    /// A tuple of values of different types.
    Tuple(Box<[TypeId]>),
    /// A lambda; it occurs only in declarations.
    Lambda(TypeId, TypeId),
    /// A linear map; it occurs only in declarations.
    LinearMap(TypeId, TypeId),
    /// The values that the forward half of a reverse derivative passes to the reverse half, with the types of a
    /// [`Layout`](super::ir::Layout). Programs pass a tape on but cannot access its values.
    Tape,
    /// An accumulator for values of the given tangent type. It occurs only in generated derivatives.
    Accumulator(TypeId),
}

/// The maximum rank of a tensor.
pub const MAX_RANK: u32 = 8;

/// The maximum number of parts in the type of an expression, see [`Types::parts`]. Nested tuples that repeat a variable
/// grow exponentially, beyond any machine's memory.
pub const MAX_PARTS: u32 = 1_000;

/// The types of a program.
#[derive(Clone, Debug)]
pub struct Types {
    rows: Vec<Row>,
    ids: HashMap<Type, TypeId>,
}

#[derive(Clone, Debug)]
struct Row {
    ty: Type,
    tangent: TypeId,
    structure: TypeId,
    active: bool,
    parts: u32,
}

impl Default for Types {
    fn default() -> Self {
        let mut types = Self { rows: Vec::new(), ids: HashMap::new() };
        let scalar = |ty, tangent, structure, active| Row { ty, tangent, structure, active, parts: 1 };
        let unit = TypeId::UNIT;
        for row in [
            scalar(Type::Integer, unit, unit, false),
            scalar(Type::Float, TypeId::FLOAT, unit, true),
            scalar(Type::Bool, unit, unit, false),
            scalar(Type::String, unit, unit, false),
            scalar(Type::Tuple(Box::new([])), unit, unit, false),
            scalar(Type::Tape, TypeId::TAPE, TypeId::TAPE, true),
        ] {
            types.insert(row);
        }
        for rank in [1, 2] {
            types.tensor(rank, unit);
            types.tensor(rank, TypeId::FLOAT);
        }
        types
    }
}

impl Types {
    /// The id of a type. Adds the type if it is new.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(id) = self.ids.get(&ty) {
            return *id;
        }
        // `None` refers to the type itself: a tensor of units is its own tangent and its own structure.
        let (tangent, structure, active) = match &ty {
            Type::Tensor(rank, element) => {
                let (tangent, structure, active) =
                    (self.tangent(*element), self.structure(*element), self.active(*element));
                let mut of =
                    |part: TypeId| (part != *element).then(|| self.intern(Type::Tensor(*rank, part)));
                (of(tangent), of(structure), active)
            }
            Type::Tuple(members) => {
                let parts =
                    |of: &dyn Fn(TypeId) -> TypeId| members.iter().map(|ty| of(*ty)).collect::<Box<[_]>>();
                let (tangents, structures) = (parts(&|ty| self.tangent(ty)), parts(&|ty| self.structure(ty)));
                let active = members.iter().any(|ty| self.active(*ty));
                let mut of = |parts: Box<[_]>| (parts != *members).then(|| self.intern(Type::Tuple(parts)));
                (of(tangents), of(structures), active)
            }
            Type::Accumulator(_) | Type::Lambda(..) | Type::LinearMap(..) => {
                (Some(TypeId::UNIT), Some(TypeId::UNIT), false)
            }
            Type::Integer | Type::Float | Type::Bool | Type::String | Type::Tape => {
                unreachable!("scalars are there from the beginning")
            }
        };
        let parts = match &ty {
            Type::Tensor(_, element) => self.parts(*element).saturating_add(1),
            Type::Tuple(members) => {
                members.iter().fold(1, |parts, member| self.parts(*member).saturating_add(parts))
            }
            Type::Lambda(from, to) | Type::LinearMap(from, to) => {
                self.parts(*from).saturating_add(self.parts(*to))
            }
            Type::Integer | Type::Float | Type::Bool | Type::String | Type::Tape | Type::Accumulator(_) => 1,
        };
        let id = TypeId(self.rows.len() as u32);
        let (tangent, structure) = (tangent.unwrap_or(id), structure.unwrap_or(id));
        self.insert(Row { ty, tangent, structure, active, parts })
    }

    fn insert(&mut self, row: Row) -> TypeId {
        let id = TypeId(self.rows.len() as u32);
        self.ids.insert(row.ty.clone(), id);
        self.rows.push(row);
        id
    }

    /// The type with this id.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.rows[id.0 as usize].ty
    }

    /// The tangent type of a type: floats are their own tangents, other scalars have `(Tuple)`, and tensors and tuples
    /// have the tangents of their parts.
    pub fn tangent(&self, id: TypeId) -> TypeId {
        self.rows[id.0 as usize].tangent
    }

    /// The type of a value's structure, which is the value without its numbers: `(Tuple)` for scalars; tensors and
    /// tuples have the structures of their parts.
    pub fn structure(&self, id: TypeId) -> TypeId {
        self.rows[id.0 as usize].structure
    }

    /// The type of a value's shape as programs see it: `(Tuple)` for scalars, and a tuple of the members' shapes for
    /// tuples. For tensors it is the type of their size. If the elements have sizes too, it is the tensor of the
    /// elements' shapes.
    pub fn shape(&mut self, id: TypeId) -> TypeId {
        match self.get(id).clone() {
            Type::Tensor(rank, element) if !self.has_size(element) => self.index(rank),
            Type::Tensor(rank, element) => {
                let element = self.shape(element);
                self.tensor(rank, element)
            }
            Type::Tuple(members) => {
                let shapes: Vec<_> = members.iter().map(|member| self.shape(*member)).collect();
                self.tuple(shapes)
            }
            Type::Tape => TypeId::TAPE,
            Type::Integer | Type::Float | Type::Bool | Type::String => TypeId::UNIT,
            Type::Lambda(..) | Type::LinearMap(..) | Type::Accumulator(_) => TypeId::UNIT,
        }
    }

    /// Whether values of a type may differ in size.
    pub fn has_size(&self, id: TypeId) -> bool {
        match self.get(id) {
            Type::Tensor(..) | Type::Tape => true,
            Type::Tuple(members) => members.iter().any(|member| self.has_size(*member)),
            Type::Integer | Type::Float | Type::Bool | Type::String => false,
            Type::Lambda(..) | Type::LinearMap(..) | Type::Accumulator(_) => false,
        }
    }

    /// Whether the tangent contains a number.
    pub fn active(&self, id: TypeId) -> bool {
        self.rows[id.0 as usize].active
    }

    /// Whether it contains a lambda or a linear map, which occur only in declarations.
    pub fn holds_function(&self, id: TypeId) -> bool {
        match self.get(id) {
            Type::Lambda(..) | Type::LinearMap(..) => true,
            Type::Tensor(_, element) => self.holds_function(*element),
            Type::Tuple(members) => members.iter().any(|member| self.holds_function(*member)),
            Type::Integer | Type::Float | Type::Bool | Type::String | Type::Tape | Type::Accumulator(_) => {
                false
            }
        }
    }

    /// The number of types in it, including itself and all repetitions.
    pub fn parts(&self, id: TypeId) -> u32 {
        self.rows[id.0 as usize].parts
    }

    /// The tuple of these types.
    pub fn tuple(&mut self, members: impl Into<Box<[TypeId]>>) -> TypeId {
        self.intern(Type::Tuple(members.into()))
    }

    /// The members of a tuple, or `None` for another type.
    pub fn members(&self, id: TypeId) -> Option<&[TypeId]> {
        match self.get(id) {
            Type::Tuple(members) => Some(members),
            _ => None,
        }
    }

    /// The tensor type with this rank and element type.
    pub fn tensor(&mut self, rank: u32, element: TypeId) -> TypeId {
        self.intern(Type::Tensor(rank, element))
    }

    /// The rank and element type of a tensor, or `None` for another type.
    pub fn element(&self, id: TypeId) -> Option<(u32, TypeId)> {
        match self.get(id) {
            Type::Tensor(rank, element) => Some((*rank, *element)),
            _ => None,
        }
    }

    /// The index type of a tensor of this rank: an Integer, or a tuple of Integers.
    pub fn index(&mut self, rank: u32) -> TypeId {
        if rank == 1 { TypeId::INTEGER } else { self.tuple(vec![TypeId::INTEGER; rank as usize]) }
    }

    /// The rank of the tensors that this type can index.
    pub fn rank_of_index(&self, id: TypeId) -> Option<u32> {
        match self.get(id) {
            Type::Integer => Some(1),
            Type::Tuple(members)
                if (2..=MAX_RANK as usize).contains(&members.len())
                    && members.iter().all(|member| *member == TypeId::INTEGER) =>
            {
                Some(members.len() as u32)
            }
            _ => None,
        }
    }

    /// The type in the syntax of programs.
    pub fn show(&self, id: TypeId) -> String {
        match self.get(id) {
            Type::Integer => "Integer".into(),
            Type::Float => "Float".into(),
            Type::Bool => "Bool".into(),
            Type::String => "String".into(),
            Type::Tensor(rank, element) => format!("(Tensor {rank} {})", self.show(*element)),
            Type::Tuple(members) => {
                let members: String =
                    members.iter().map(|member| format!(" {}", self.show(*member))).collect();
                format!("(Tuple{members})")
            }
            Type::Lambda(from, to) => format!("(Lam {} {})", self.show(*from), self.show(*to)),
            Type::LinearMap(from, to) => format!("(LM {} {})", self.show(*from), self.show(*to)),
            Type::Tape => "Tape".into(),
            Type::Accumulator(ty) => format!("(Accumulator {})", self.show(*ty)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_and_structures_are_kept() {
        let mut types = Types::default();
        let pair = types.tuple([TypeId::FLOAT, TypeId::INTEGER]);
        let nested = types.tensor(1, pair);
        let nested = types.tensor(2, nested);
        assert_eq!(types.show(types.tangent(nested)), "(Tensor 2 (Tensor 1 (Tuple Float (Tuple))))");
        assert_eq!(types.show(types.structure(nested)), "(Tensor 2 (Tensor 1 (Tuple (Tuple) (Tuple))))");
        assert_eq!(types.tangent(types.tangent(nested)), types.tangent(nested));
        assert_eq!(types.structure(types.structure(nested)), types.structure(nested));
        let integers = types.tensor(1, TypeId::INTEGER);
        assert!(types.active(nested) && !types.active(integers));
        assert_eq!(types.intern(Type::Tensor(1, TypeId::INTEGER)), integers);
        assert_eq!(types.tensor(1, TypeId::FLOAT), TypeId::VECTOR);
        assert_eq!(types.tensor(2, TypeId::FLOAT), TypeId::MATRIX);
    }

    #[test]
    fn shapes_are_sizes_where_elements_have_none() {
        let mut types = Types::default();
        let pair = types.tuple([TypeId::FLOAT, TypeId::INTEGER]);
        let pairs = types.tensor(1, pair);
        let nested = types.tensor(2, TypeId::VECTOR);
        let both = types.tuple([TypeId::MATRIX, TypeId::STRING]);
        let mut shape = |ty| {
            let shape = types.shape(ty);
            types.show(shape)
        };
        let shapes = [TypeId::FLOAT, TypeId::VECTOR, TypeId::MATRIX, pairs, nested, both].map(&mut shape);
        let matrix = "(Tuple Integer Integer)";
        let both = "(Tuple (Tuple Integer Integer) (Tuple))";
        assert_eq!(shapes, ["(Tuple)", "Integer", matrix, "Integer", "(Tensor 2 Integer)", both]);
    }
}
