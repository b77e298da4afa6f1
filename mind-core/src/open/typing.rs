//! Computes the types of the nodes from the types of the leaves, by the rules that expansions evaluate in constants.

use mind_shape::{
    Context, DType as RuleDType, Failure, Operand, Type as RuleType, TypeResult, UNKNOWN, Written,
    rules::{self, Fit, Literal},
};

use super::classes::{Holds, gives, takes};
use super::{Check, CheckKind, Class, Constant, Contract, Demand, Misfit, Node, NodeId, Op, Program, Spot};
use crate::{
    diag::{Code, Diag, Site},
    dim::Dim,
    ty::{DType, Shape, Type},
    written::{RuleArgument, TypedOperands, rule},
};

/// The type of each node.
///
/// ```
/// use mind_core::{open, surface::parse_expression, ty::{DType, Shape, Type}};
/// let (expression, _) = parse_expression("x @ w".parse().unwrap());
/// let program = open::lower(&expression.unwrap()).0.unwrap();
/// let leaf = |extents: &[i64]| Type::new(DType::F32, Shape::literal(extents));
/// let types = open::types(&program, &[leaf(&[2, 3]), leaf(&[3, 4])]).unwrap();
/// assert_eq!(types[2].to_string(), "f32[2, 4]");
/// let diag = open::types(&program, &[leaf(&[2, 3]), leaf(&[4, 3])]).unwrap_err();
/// assert!(diag.to_string().starts_with("[E3003] `@`: inner dimensions differ, 3 and 4: x is f32[2, 3]"));
/// ```
///
/// # Errors
/// The first broken rule or check, with the message of [`mind_shape`].
///
/// # Panics
/// If the number of types is not the number of leaves, or an extent is a symbol.
pub fn types(program: &Program, leaves: &[Type]) -> Result<Vec<Type>, Diag> {
    assert_eq!(program.leaves.len(), leaves.len(), "one type a leaf");
    assert!(leaves.iter().all(|ty| ty.shape.as_literals().is_some()), "every extent of a leaf is known");
    let mut types: Vec<RuleType> = Vec::with_capacity(program.nodes.len());
    let mut checks: Vec<&Check> = program.checks.iter().collect();
    checks.sort_by_key(|check| check.after());
    let mut checks = checks.into_iter().peekable();
    for (id, node) in program.iter() {
        let known = TypedNode { types: &types, node, leaves };
        types.push(known.result()?);
        while let Some(check) = checks.next_if(|check| check.after() == id) {
            self::check(check, &types)?;
        }
    }
    Ok(types.iter().map(from_rule).collect())
}

/// Checks that no operation takes truth values as numbers, or numbers as truth values, as far as that is known without
/// types.
///
/// # Errors
/// E2005 for the first such operation.
pub fn check_truths(program: &Program) -> Result<(), Diag> {
    // The operation that makes a node takes precedence over the operations that read it.
    let mut made: Vec<Holds> = Vec::with_capacity(program.nodes.len());
    for (_, node) in program.iter() {
        let of_operands = match node.op.elements() {
            TypedOperands::All => node.operands.first(),
            TypedOperands::Only(operand) | TypedOperands::From(operand) => node.operands.get(operand),
            TypedOperands::Except(indices) => node.operands.get(usize::from(indices == 0)),
            TypedOperands::Own(_) => None,
        };
        let known = of_operands.map_or(Holds::Anything, |operand| made[operand.index()]);
        made.push(match gives(&node.op) {
            Holds::Anything if node.op.is_input() => Holds::Anything,
            Holds::Anything if takes(&node.op, 0) == Holds::Numbers => Holds::Numbers,
            Holds::Anything => known,
            given => given,
        });
    }
    let of_class = |node: NodeId| match (made[node.index()], program.class(node)) {
        (known @ (Holds::Truths | Holds::Numbers), _) => known,
        (Holds::Anything, Class::Of(_)) => Holds::Anything,
        (Holds::Anything, Class::TRUTHS) => Holds::Truths,
        (Holds::Anything, Class::NumbersOf(_) | Class::Fixed(_)) => Holds::Numbers,
    };
    let by_operation = program.iter().find_map(|(_, node)| mistaken(node, |operand| made[operand.index()]));
    match by_operation.or_else(|| program.iter().find_map(|(_, node)| mistaken(node, of_class))) {
        Some(diag) => Err(diag),
        None => Ok(()),
    }
}

/// The error for an operand of a node that holds truth values where numbers are needed, or the reverse.
fn mistaken(node: &Node, holds: impl Fn(NodeId) -> Holds) -> Option<Diag> {
    let spot = node.spot.as_ref()?;
    let mut operands = node.operands.iter().zip(&spot.operands).enumerate();
    operands.find_map(|(position, (operand, written))| {
        let (found, needed, help) = match (holds(*operand), takes(&node.op, position)) {
            (Holds::Truths, Holds::Numbers) => {
                ("bool", mind_shape::names::NUMBERS, "a bool is not a number: convert it, as in `f32(…)`")
            }
            (Holds::Numbers, Holds::Truths) => {
                ("a number", "bool", "compare it, as in `x > 0.0`, or convert it: `bool(…)`")
            }
            _ => return None,
        };
        let message = format!("`{}`: {} is {found}, allowed {needed}", spot.message_name(), written.text);
        Some(
            Diag::new(
                Code::E2005,
                spot.site_of(|written| written == Written::Attribute("constant")),
                message,
            )
            .help(help),
        )
    })
}

/// Checks a program if all of its leaves have annotated types, as `(x: f32[2, 3])`. Other programs can be checked only
/// when Rust's types are known.
///
/// # Errors
/// The errors of [`types`], and E2001 if the type of the result is not the annotated one.
pub fn check_annotated(program: &Program) -> Result<(), Diag> {
    let written: Option<Vec<Type>> =
        program.leaves.iter().map(|leaf| leaf.annotation.as_ref().map(|(ty, _)| ty.clone())).collect();
    let Some(leaves) = written else { return Ok(()) };
    let types = types(program, &leaves)?;
    let Some(annotation) = &program.annotation else { return Ok(()) };
    for (node, declared) in program.result.nodes().into_iter().zip(annotation.structure.leaves()) {
        let result = rules::expect(to_rule(&types[node.index()]), to_rule(declared));
        let operand = Operand::new("the result", "the result", to_rule(&types[node.index()]));
        result.map_err(|failure| diag(&failure, "the result", &[operand], annotation.site))?;
    }
    Ok(())
}

/// A node with the types of the nodes before it.
struct TypedNode<'a> {
    types: &'a [RuleType],
    node: &'a Node,
    leaves: &'a [Type],
}

impl TypedNode<'_> {
    /// The type of the node, or the error in the user's terms.
    fn result(&self) -> Result<RuleType, Diag> {
        if let Some(leaf) = self.node.op.input_name() {
            return self.diagnose(rules::input(to_rule(&self.leaves[leaf.index()])));
        }
        match &self.node.op {
            Op::Const(constant) => self.constant(constant),
            op => {
                let operands = self.node.operands.iter().map(|operand| self.types[operand.index()]);
                rule(op, &operands.collect::<Vec<_>>(), |result| self.diagnose(result))
            }
        }
    }

    /// The result of a rule, or its failure as a diagnostic in the terms of the program.
    fn diagnose(&self, result: TypeResult<'_>) -> Result<RuleType, Diag> {
        let Some(spot) = &self.node.spot else {
            return result.map_err(|failure| fault(&failure, &self.node.op));
        };
        let operands = spot.operands.iter().zip(&self.node.operands);
        let operands: Vec<_> = operands
            .map(|(operand, node)| {
                Operand::new(&operand.text, &operand.operand_text, self.types[node.index()])
            })
            .collect();
        result.map_err(|failure| at_spot(&failure, spot, &operands))
    }

    /// The type of a constant with a witness, or without one.
    fn constant(&self, constant: &Constant) -> Result<RuleType, Diag> {
        let witness = self.node.operands.first().map(|operand| self.types[operand.index()]);
        let dtype = witness.map_or(rule_dtype(constant.dtype), |witness| witness.dtype());
        let fits = constant.values.each_ref().map(|values| match values {
            Ok(_) => Fit::Yes,
            Err(Misfit::Kind { help }) => Fit::OtherKind { help: help.as_deref().unwrap_or_default() },
            Err(Misfit::Value { code, message }) => Fit::Fault { code: code.info().name, message },
        });
        let literal = Literal { description: constant.describe(), fits };
        let result = rules::literal(literal, dtype, &constant.shape);
        let Some(spot) = &self.node.spot else {
            return result.map_err(|failure| fault(&failure, &self.node.op));
        };
        let own = Operand::new(&constant.text, &constant.text, RuleType::scalar(dtype));
        let other = spot.operands.first().zip(witness);
        let other = other.map(|(other, ty)| Operand::new(&other.text, &other.operand_text, ty));
        let operands: Vec<_> = [own].into_iter().chain(other).collect();
        result.map_err(|failure| at_spot(&failure, spot, &operands))
    }
}

/// Returns an error if a check does not hold.
fn check(check: &Check, types: &[RuleType]) -> Result<(), Diag> {
    let ty = |node: NodeId| types[node.index()];
    let own = ty(check.node);
    let base = check.text.trim_matches('`');
    let mut operands = vec![Operand::new(&check.text, base, own)];
    let (result, label) = match &check.kind {
        CheckKind::Argument(contract) => {
            let others = contract.others.iter();
            operands
                .extend(others.map(|(other, text)| Operand::new(text, text.trim_matches('`'), ty(*other))));
            let types: Vec<RuleType> = operands.iter().map(|operand| operand.ty).collect();
            (contract.holds(&types), contract.label.as_str())
        }
        CheckKind::Scalar(kind) => (rules::seed(own), kind.name()),
        CheckKind::Differentiable => (rules::differentiable(own), "grad"),
        CheckKind::CotangentOf(output) => (rules::expect(own, ty(*output)), "argument `cotangent` of `vjp`"),
        CheckKind::Axis(axis) => (rules::has_axis(own, *axis), "extent"),
        CheckKind::Is(declared) => (rules::expect(own, to_rule(declared)), check.text.as_str()),
    };
    result.map(drop).map_err(|failure| diag(&failure, label, &operands, check.site))
}

impl Contract {
    /// Checks the types of the argument, which come first, and of the other arguments.
    fn holds(&self, types: &[RuleType]) -> TypeResult<'_> {
        let tie = |name| rules::Tie { text: &self.pattern, name };
        match &self.demand {
            Demand::Fits { elements, rank, open } => {
                let (text, elements, rank, open) = (&*self.pattern, *elements, *rank, *open);
                rules::matches(types[0], rules::Pattern { text, elements, rank, open })
            }
            Demand::Extent { axis, name, extent } => {
                rules::has_extent(types[0], *axis, extent.value(types), tie(name))
            }
            Demand::Leading { name, last } => rules::same_leading(types[0], types[1], *last, tie(name)),
            Demand::Type => rules::expect(types[0], types[1]),
            Demand::Elements { name } => rules::same_elements(types[0], types[1], tie(name)),
        }
    }
}

/// The error for a broken rule, in the user's terms.
pub(super) fn diag(failure: &Failure<'_>, label: &str, operands: &[Operand<'_>], site: Site) -> Diag {
    let text = failure.message(&Context { label, operands });
    let code = code(failure);
    let text = text.as_str();
    let text = text.strip_prefix(&format!("[{code}] ")).unwrap_or(text);
    let (message, help) = match text.split_once("\n  help: ") {
        Some((message, help)) => (message, Some(help.to_owned())),
        None => (text, None),
    };
    Diag { help, ..Diag::new(code, site, message) }
}

/// The error for a broken rule of a written node.
fn at_spot(failure: &Failure<'_>, spot: &Spot, operands: &[Operand<'_>]) -> Diag {
    let rank = operands.first().map_or(0, |operand| operand.ty.rank());
    diag(failure, &spot.message_name(), operands, spot.site_of(|written| failure.is_about(written, rank)))
}

/// The error for a gradient that breaks a rule which its program keeps: a bug of the compiler.
fn fault(failure: &Failure<'_>, op: &Op) -> Diag {
    Diag::new(Code::E5002, Site::Nowhere, format!("{op:?} of a gradient breaks a rule, {}", code(failure)))
}

fn code(failure: &Failure<'_>) -> Code {
    let named = Code::ALL.iter().find(|code| code.info().name == failure.code());
    *named.expect("the rules' codes are those of the table")
}

/// Converts a type for the rules. A symbol becomes an unknown extent: it is a dimension of a struct that is named
/// without its dimensions, so only Rust knows it.
pub(super) fn to_rule(ty: &Type) -> RuleType {
    let extents: Vec<i64> = ty.shape.iter().map(|dim| dim.as_literal().unwrap_or(UNKNOWN)).collect();
    RuleType::new(rule_dtype(ty.dtype), &extents)
}

fn rule_dtype(dtype: DType) -> RuleDType {
    dtype
}

fn from_rule(ty: &RuleType) -> Type {
    Type::new(ty.dtype(), ty.dims().iter().copied().map(Dim::literal).collect::<Shape>())
}
