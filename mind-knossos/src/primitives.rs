//! The primitives that take values. Those that take a lambda are in `elaborate`.

use crate::{
    build::Builder,
    ir::{Operation, ValueId},
    prelude::{self, same_size},
    scalars::Scalar,
    types::{Type, TypeId, Types},
};

/// The primitives with their usage.
pub(super) const PRIMITIVES: &[(&str, &str)] = &[
    ("build", "(build size (lam (i : index) element)), where size is an Integer or a tuple of Integers"),
    ("sumbuild", "(sumbuild size (lam (i : index) term)), where size is an Integer or a tuple of Integers"),
    ("fold", "(fold (lam (acc_x : (Tuple A T)) A) A (Vec T))"),
    ("map", "(map (lam (x : T) U) (Tensor n T))"),
    ("map2", "(map2 (lam (xy : (Tuple S T)) U) (Tensor n S) (Tensor n T))"),
    ("diag", "(diag Integer Integer (lam (i : Integer) T))"),
    ("buildFromSparse", "(buildFromSparse shape count (lam (i : index) (tuple index T)))"),
    (
        "buildFromSparseTupled",
        "(buildFromSparseTupled shapes count (lam (i : index) (tuple (tuple index T) …)))",
    ),
    ("$check", "($check (lam (s : S) T) (lam (s_dt : (Tuple S dT)) dS) S dS dT)"),
    ("index", "(index index (Tensor n T)), where index is an Integer (n = 1) or a tuple of n Integers"),
    ("size", "(size (Tensor n T))"),
    ("shape", "(shape T)"),
    ("sum", "(sum (Tensor n T)), where T consists of numbers"),
    ("constVec", "(constVec size T)"),
    ("deltaVec", "(deltaVec size index T)"),
    ("delta", "(delta index index T)"),
    ("Vec_init", "(Vec_init T T …), with at least one T"),
    ("unzip", "(unzip (Tensor n (Tuple T …)))"),
    ("ts_add", "(ts_add T dT), where dT is the tangent type of T"),
    ("ts_scale", "(ts_scale Float T), where T consists of Floats"),
    ("ts_dot", "(ts_dot T T), where T consists of Floats"),
    ("ts_neg", "(ts_neg T), where T consists of Floats"),
    ("eq", "(eq T T)"),
    ("ne", "(ne T T)"),
    ("print", "(print T …)"),
    ("$inline", "($inline T)"),
    ("$copydown", "($copydown T)"),
    ("$trace", "($trace T)"),
    ("$dummy", "($dummy T)"),
    ("assert", "(assert Bool T)"),
    ("tuple", "(tuple T …)"),
    ("if", "(if Bool T T)"),
    ("let", "(let (name value) body)"),
    ("lam", "(lam (x : T) body)"),
    ("lambda", "(lambda (x : T) body)"),
];

/// The primitives that take a lambda.
pub(super) const TAKE_LAMBDAS: [&str; 9] = [
    "build",
    "sumbuild",
    "fold",
    "map",
    "map2",
    "diag",
    "buildFromSparse",
    "buildFromSparseTupled",
    "$check",
];

/// The usage of a primitive.
pub(super) fn usage(name: &str) -> Option<&'static str> {
    PRIMITIVES.iter().find(|(own, _)| *own == name).map(|(_, usage)| *usage)
}

/// Whether this is the name of a primitive.
pub(super) fn is_primitive(name: &str) -> bool {
    usage(name).is_some() || name.starts_with("get$")
}

/// Whether a primitive has its own syntax, unlike a call with values. Programs cannot redefine it.
pub(super) fn has_own_syntax(name: &str) -> bool {
    const FORMS: [&str; 7] = ["assert", "tuple", "if", "let", "lam", "lambda", "$dummy"];
    TAKE_LAMBDAS.contains(&name) || FORMS.contains(&name) || name.starts_with("get$")
}

/// Calls a primitive or a function of the prelude. Returns `None` if it does not take these operands.
pub(super) fn call(b: &mut Builder, types: &mut Types, name: &str, operands: &[ValueId]) -> Option<ValueId> {
    let ty = |b: &Builder, position: usize| b.ty(operands[position]);
    match (name, operands) {
        ("index", [index, tensor]) => {
            let (rank, _) = types.element(b.ty(*tensor))?;
            (types.index(rank) == b.ty(*index)).then(|| b.index(types, *index, *tensor))
        }
        ("size", [tensor]) => types.element(ty(b, 0)).map(|_| b.size(types, *tensor)),
        ("shape", [value]) => Some(b.shape(types, *value)),
        ("sum", [tensor]) => {
            let (_, element) = types.element(ty(b, 0))?;
            is_summable(types, element).then(|| {
                let size = b.size(types, *tensor);
                b.sum(types, size, |b, types, i| b.index(types, i, *tensor))
            })
        }
        ("constVec", [size, value]) => {
            types.rank_of_index(ty(b, 0)).map(|_| b.build(types, *size, |_, _, _| *value))
        }
        ("deltaVec", [size, at, value]) => {
            types.rank_of_index(ty(b, 0))?;
            (ty(b, 0) == ty(b, 1))
                .then(|| b.build(types, *size, |b, types, i| value_if_equal(b, types, i, *at, *value)))
        }
        ("delta", [i, j, value]) => {
            types.rank_of_index(ty(b, 0))?;
            (ty(b, 0) == ty(b, 1)).then(|| value_if_equal(b, types, *i, *j, *value))
        }
        ("Vec_init", [first, ..]) => {
            let element = b.ty(*first);
            let ty = types.tensor(1, element);
            operands
                .iter()
                .all(|operand| b.ty(*operand) == element)
                .then(|| b.emit(Operation::VecInit, operands, ty))
        }
        ("unzip", [tensor]) => {
            let (rank, element) = types.element(ty(b, 0))?;
            let members = types.members(element)?.to_vec();
            let tensors: Vec<_> = members.into_iter().map(|member| types.tensor(rank, member)).collect();
            let ty = types.tuple(tensors);
            Some(b.emit(Operation::Unzip, [*tensor], ty))
        }
        ("ts_add", [value, tangent]) => (types.tangent(ty(b, 0)) == ty(b, 1))
            .then(|| b.emit(Operation::Add, [*value, *tangent], b.ty(*value))),
        ("ts_scale", [factor, value]) => (ty(b, 0) == TypeId::FLOAT && is_tangent(types, ty(b, 1)))
            .then(|| b.emit(Operation::Scale, [*factor, *value], b.ty(*value))),
        ("ts_dot", [x, y]) => (ty(b, 0) == ty(b, 1) && is_tangent(types, ty(b, 0)))
            .then(|| b.emit(Operation::Dot, [*x, *y], TypeId::FLOAT)),
        ("ts_neg", [value]) => {
            is_tangent(types, ty(b, 0)).then(|| b.emit(Operation::Negate, [*value], b.ty(*value)))
        }
        ("eq", [x, y]) => (ty(b, 0) == ty(b, 1)).then(|| b.equal(*x, *y)),
        ("ne", [x, y]) => (ty(b, 0) == ty(b, 1)).then(|| {
            let equal = b.equal(*x, *y);
            b.scalar(Scalar::Not, &[equal])
        }),
        ("print", _) => Some(b.emit(Operation::Print, operands, TypeId::INTEGER)),
        ("$inline" | "$copydown" | "$trace", [value]) => Some(*value),
        _ => selected(b, types, name, operands).or_else(|| prelude::call(b, types, name, operands)),
    }
}

/// Calls `get$i$n` on a tuple of n members.
fn selected(b: &mut Builder, types: &Types, name: &str, operands: &[ValueId]) -> Option<ValueId> {
    let (member, count) = selector(name)?;
    let [tuple] = operands else { return None };
    (types.members(b.ty(*tuple))?.len() == count).then(|| b.get(types, *tuple, member - 1))
}

/// The i and n of `get$i$n`, where 1 ≤ i ≤ n.
pub(super) fn selector(name: &str) -> Option<(usize, usize)> {
    let (member, count) = name.strip_prefix("get$")?.split_once('$')?;
    let (member, count) = (member.parse().ok()?, count.parse().ok()?);
    (1..=count).contains(&member).then_some((member, count))
}

fn value_if_equal(b: &mut Builder, types: &mut Types, i: ValueId, j: ValueId, value: ValueId) -> ValueId {
    let equal = b.equal(i, j);
    b.choose(equal, |_| value, |b| nothing_like(b, types, value))
}

/// A value of the same structure in which numbers are zero, truth values false and strings empty.
fn nothing_like(b: &mut Builder, types: &mut Types, value: ValueId) -> ValueId {
    let ty = b.ty(value);
    if types.tangent(ty) == ty {
        return b.zero_like(types, value);
    }
    match types.get(ty).clone() {
        Type::Tensor(..) => {
            let size = b.size(types, value);
            b.build(types, size, |b, types, i| {
                let element = b.index(types, i, value);
                nothing_like(b, types, element)
            })
        }
        Type::Tuple(_) => {
            let members: Vec<_> =
                b.members(types, value).into_iter().map(|member| nothing_like(b, types, member)).collect();
            b.tuple(types, &members)
        }
        _ => dummy(b, types, ty),
    }
}

/// An arbitrary value of a type. Its tensors are empty.
pub(super) fn dummy(b: &mut Builder, types: &mut Types, ty: TypeId) -> ValueId {
    match types.get(ty).clone() {
        Type::Integer => b.integer(0),
        Type::Float => b.float(0.0),
        Type::Bool => b.emit(Operation::Bool(false), [], TypeId::BOOL),
        Type::String => b.emit(Operation::String("".into()), [], TypeId::STRING),
        Type::Tuple(members) => {
            let members: Vec<_> = members.iter().map(|member| dummy(b, types, *member)).collect();
            b.tuple(types, &members)
        }
        Type::Tensor(rank, element) => {
            let nothing = b.integer(0);
            let size = if rank == 1 { nothing } else { b.tuple(types, &vec![nothing; rank as usize]) };
            b.build(types, size, |b, types, _| dummy(b, types, element))
        }
        Type::Tape | Type::Lambda(..) | Type::LinearMap(..) | Type::Accumulator(_) => b.unit(),
    }
}

/// Whether values of a type can be added to each other.
pub(super) fn is_summable(types: &Types, ty: TypeId) -> bool {
    match types.get(ty) {
        Type::Integer | Type::Float => true,
        Type::Tensor(_, element) => is_summable(types, *element),
        Type::Tuple(members) => members.iter().all(|member| is_summable(types, *member)),
        Type::Bool | Type::String | Type::Lambda(..) | Type::LinearMap(..) => false,
        Type::Tape | Type::Accumulator(_) => false,
    }
}

fn is_tangent(types: &Types, ty: TypeId) -> bool {
    types.tangent(ty) == ty && ty != TypeId::TAPE
}

/// The size of two tensors that are iterated together. Asserts that their sizes are equal.
pub(super) fn common_size(b: &mut Builder, types: &mut Types, x: ValueId, y: ValueId) -> ValueId {
    same_size(b, types, "map2", x, y)
}
