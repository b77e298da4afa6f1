//! The part that the lowerings of both forms of the language share: the values of nodes, and their descriptions in
//! messages.

use std::rc::Rc;

use super::literals::Literals;
use super::{Lowered, Record, Stop, Value, Word};
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{
    BinaryOp, Body, Callee, ExprId, FieldPattern, FieldValue, NodeKind, Number, NumberValue, Pattern,
    Transposed,
};
use crate::surface::lower::declarations::states::OptimiserState;
use crate::surface::lower::declarations::structure::{Defined, Definition, StructType};
use crate::surface::lower::declarations::types::DimNames;
use crate::ty::DType;
use crate::written::{Op, Own, Permutation, permuted_by};
use proc_macro2::Ident;

/// A body that is being lowered. The types of its tensors may be known or unknown.
pub(crate) trait Expressions {
    /// The handle of a tensor.
    type Tensor: Copy + PartialEq;

    /// The body.
    fn body(&self) -> &Body;

    /// The value of a node that has been lowered.
    fn value(&self, expr: ExprId) -> &Value<Self::Tensor>;

    /// The literals of the body.
    fn literals(&self) -> &Literals;

    /// Mutable access to [`Self::literals`].
    fn literals_mut(&mut self) -> &mut Literals;

    /// The type of a tensor, where it is known.
    fn tensor_type(&self, tensor: Self::Tensor) -> Option<String>;

    /// Whether a value is a tensor whose type only Rust knows.
    fn is_of_rust(&self, value: &Value<Self::Tensor>) -> bool {
        value.tensor().is_some_and(|tensor| self.tensor_type(tensor).is_none())
    }

    /// The names that dimensions may use at the current node.
    fn dims(&self) -> &DimNames;

    /// Whether the body of a template is being lowered.
    fn is_in_template(&self) -> bool;

    /// `..B`, in a list.
    fn pack(&self, name: &Ident, expr: ExprId) -> Lowered<Value<Self::Tensor>> {
        let (message, help) = match (self.dims().packs.get(&name.to_string()), self.is_in_template()) {
            (Some(Some(_)), _) => return Ok(Value::Word(Word::Pack)),
            (Some(None), _) => return Err(Stop::Poisoned),
            (None, true) => (
                format!("no parameter has the leading dimensions `..{name}`"),
                format!(
                    "declare them, and use them in a parameter, as in `fn f<..{name}>(x: float[..{name}])`"
                ),
            ),
            (None, false) => (
                format!("found `..{name}` outside of a template; only parameters of a template define it"),
                "write the extents, as in `[2, 3]`".to_owned(),
            ),
        };
        Err(Diag::new(Code::E2002, self.site(expr), message).help(help).into())
    }

    /// An expression on one line, shortened if it is long.
    fn short_text(&self, expr: ExprId) -> String {
        self.body().short_text(expr)
    }

    /// [`Self::short_text`] as the operand of a postfix form: in parentheses if it needs them.
    fn operand_text(&self, expr: ExprId) -> String {
        self.body().in_parentheses(expr, self.short_text(expr))
    }

    /// The site of an expression.
    fn site(&self, expr: ExprId) -> Site {
        self.body()[expr].site
    }

    /// An expression as a message names it: a variable bare, anything else in backquotes.
    fn text(&self, expr: ExprId) -> String {
        let body = self.body();
        if let NodeKind::Assign { target, part, .. } = &body[expr].kind {
            // It refers to the old value of what is assigned.
            return part.map_or_else(|| target.to_string(), |part| self.text(part));
        }
        let text = self.short_text(expr);
        if body.is_place(expr) { text } else { format!("`{text}`") }
    }

    /// An expression with its type or kind, for messages: `x of type f32[3]`.
    fn describe(&self, expr: ExprId) -> String {
        let text = self.text(expr);
        match self.value(expr) {
            Value::Poison => text,
            Value::Word(_) => text,
            Value::Tensor(tensor) => match self.tensor_type(*tensor) {
                Some(ty) => format!("{text} of type {ty}"),
                None => format!("{text}, a tensor"),
            },
            Value::Literal(id) => format!("{text}, {}", self.literals().describe(*id)),
            Value::Struct(record) => format!("{text} of type {}", record.ty),
            Value::Tuple(tuple) if tuple.elements.is_empty() => format!("{text}, which is ()"),
            Value::Tuple(tuple) => format!("{text}, a tuple of {}", tuple.elements.len()),
        }
    }

    /// The type of a value as far as it is known, for messages.
    fn type_text(&self, value: &Value<Self::Tensor>) -> String {
        match value {
            Value::Poison => "unknown".to_owned(),
            Value::Word(word) => word.name().to_owned(),
            Value::Tensor(tensor) => self.tensor_type(*tensor).unwrap_or_else(|| "a tensor".to_owned()),
            Value::Literal(id) => self.literals().describe(*id).to_owned(),
            Value::Struct(record) => record.ty.to_string(),
            Value::Tuple(tuple) => {
                let elements: Vec<_> =
                    tuple.elements.iter().take(8).map(|element| self.type_text(element)).collect();
                let more = if tuple.elements.len() > 8 { ", …" } else { "" };
                let comma = if tuple.elements.len() == 1 { "," } else { "" };
                format!("({}{more}{comma})", elements.join(", "))
            }
        }
    }

    /// Returns E2001 for an expression that is not what was expected. Returns poison if an error in it has been
    /// reported.
    fn expected<T>(&self, what: &str, expr: ExprId) -> Lowered<T> {
        if matches!(self.value(expr), Value::Poison) {
            return Err(Stop::Poisoned);
        }
        let message = format!("expected {what}, found {}", self.describe(expr));
        Err(Diag::new(Code::E2001, self.site(expr), message).into())
    }

    /// An element of a tuple.
    fn tuple_element(&self, base: ExprId, index: usize, field: Site) -> Lowered<Value<Self::Tensor>> {
        let value = self.value(base);
        let message = match value {
            Value::Poison => return Err(Stop::Poisoned),
            Value::Tuple(tuple) => match tuple.elements.get(index) {
                Some(element) => return Ok(element.clone()),
                None => format!("no element {index} in {}", self.describe(base)),
            },
            Value::Tensor(_) | Value::Literal(_) | Value::Struct(_) | Value::Word(_) => {
                format!("expected a tuple before `.{index}`, found {}", self.describe(base))
            }
        };
        let diag = Diag::new(Code::E2001, field, message);
        let indexed = matches!(value, Value::Tensor(_));
        let help =
            indexed.then(|| format!("to index a tensor, write `{}[{index}]`", self.operand_text(base)));
        Err(Diag { help, ..diag }.into())
    }

    /// Whether a struct type is that of the struct named `name`.
    fn is_struct(&self, ty: &StructType, name: &Callee) -> bool {
        match self.dims().state(name) {
            Some(state) => state.is(ty),
            None => self.dims().definition(name).is_ok_and(|defined| ty.is_of(&defined.definition)),
        }
    }

    /// Whether two struct types are the same, including their dimensions.
    fn is_same_struct(&self, one: &StructType, other: &StructType) -> bool {
        one == other
    }

    /// The definition for a struct expression of a library struct. It is determined by `base` or by the fields given.
    fn given_state(
        &self,
        name: &Callee,
        state: &OptimiserState,
        written: &[FieldValue],
        base: Option<ExprId>,
    ) -> Lowered<Defined> {
        if let Some(base) = base {
            return match self.value(base) {
                Value::Struct(record) if state.is(&record.ty) => {
                    Ok(Defined { definition: record.ty.definition.clone(), alias: None })
                }
                Value::Poison => Err(Stop::Poisoned),
                Value::Struct(_)
                | Value::Tensor(_)
                | Value::Literal(_)
                | Value::Tuple(_)
                | Value::Word(_) => {
                    let message = format!("`..`: expected a `{name}`, found {}", self.describe(base));
                    Err(Diag::new(Code::E2001, self.site(base), message).into())
                }
            };
        }
        let Some(given) = state.value_of_parameters(written) else {
            let names: Vec<_> = state.item.fields.iter().map(|field| format!("`{}`", field.name)).collect();
            let message = format!("`{name}` has the fields {}", names.join(", "));
            let site = written.first().map_or(name.site(), |field| Site::token(field.name.span()));
            return Err(Diag::new(Code::E2007, site, message).into());
        };
        match self.value(given.value) {
            Value::Poison => Err(Stop::Poisoned),
            Value::Struct(record) => Ok(state.of(&record.ty, name, self.site(given.value))?),
            Value::Tensor(_) | Value::Literal(_) | Value::Tuple(_) | Value::Word(_) => {
                let message = format!(
                    "field `{}` of `{name}`: expected a struct of parameters, found {}",
                    given.name,
                    self.describe(given.value)
                );
                Err(Diag::new(Code::E2001, self.site(given.value), message).into())
            }
        }
    }

    /// The struct after `..` in a struct expression.
    fn struct_behind_dots(
        &self,
        name: &Callee,
        definition: &Rc<Definition>,
        base: ExprId,
    ) -> Lowered<Record<Self::Tensor>> {
        match self.value(base) {
            Value::Poison => Err(Stop::Poisoned),
            Value::Struct(record) if record.ty.is_of(definition) => Ok(record.clone()),
            Value::Struct(_) | Value::Tensor(_) | Value::Literal(_) | Value::Tuple(_) | Value::Word(_) => {
                let message = format!("`..`: expected a `{name}`, found {}", self.describe(base));
                Err(Diag::new(Code::E2001, self.site(base), message).into())
            }
        }
    }

    /// The error for operands of a binary operator of which one is a struct.
    fn unlike_structs(
        &self,
        op: BinaryOp,
        operator: Site,
        (a, lhs): (&Value<Self::Tensor>, ExprId),
        (b, rhs): (&Value<Self::Tensor>, ExprId),
    ) -> Diag {
        let needed = match op {
            BinaryOp::At => "two tensors",
            BinaryOp::Map(_) => "two values of one struct, or a struct and a single number",
        };
        let message = format!(
            "`{}`: expected {needed}: {} is {}, {} is {}",
            op.symbol(),
            self.text(lhs),
            self.type_text(a),
            self.text(rhs),
            self.type_text(b)
        );
        Diag::new(Code::E2001, operator, message)
    }

    /// The names that a pattern binds, and the errors in the pattern.
    fn bound_by<'p>(
        &self,
        pattern: &'p Pattern,
        value: Value<Self::Tensor>,
        expr: ExprId,
    ) -> BoundNames<'p, Self::Tensor> {
        let (mut names, mut mistakes) = (Vec::new(), Vec::new());
        let value = match value {
            Value::Word(_) => {
                mistakes.push(self.for_arguments_only(expr));
                Value::Poison
            }
            value => value,
        };
        let mut rest = vec![(pattern, value)];
        while let Some((pattern, value)) = rest.pop() {
            match (pattern, value) {
                (Pattern::Wildcard(_), _) => {}
                (Pattern::Name(name), value) => names.push((name, value)),
                (Pattern::Tuple { elements, .. }, Value::Tuple(tuple))
                    if elements.len() == tuple.elements.len() =>
                {
                    rest.extend(elements.iter().zip(tuple.elements.iter().cloned()).rev());
                }
                (Pattern::Struct { name, fields, rest: others, site }, Value::Struct(record))
                    if self.is_struct(&record.ty, name) =>
                {
                    let parts = destructured(&record, (fields, *others), *site, &mut mistakes);
                    rest.extend(parts.into_iter().rev());
                }
                (Pattern::Struct { name, fields, site, .. }, value) => {
                    if !matches!(value, Value::Poison) {
                        let message = format!(
                            "the pattern expects a `{name}`, {} is {}",
                            self.text(expr),
                            self.type_text(&value)
                        );
                        mistakes.push(Diag::new(Code::E2001, *site, message));
                    }
                    rest.extend(fields.iter().map(|field| (&field.pattern, Value::Poison)).rev());
                }
                (Pattern::Tuple { elements, site }, value) => {
                    if !matches!(value, Value::Poison) {
                        let message = format!(
                            "the pattern {pattern} has {} elements, {} is {}",
                            elements.len(),
                            self.text(expr),
                            self.type_text(&value)
                        );
                        mistakes.push(Diag::new(Code::E2001, *site, message));
                    }
                    rest.extend(elements.iter().map(|element| (element, Value::Poison)).rev());
                }
            }
        }
        BoundNames { names, mistakes }
    }

    /// The error E2001 for a word or truth value where a value is needed.
    fn for_arguments_only(&self, expr: ExprId) -> Diag {
        let message = format!("`{}` is only allowed as the value of a named argument", self.short_text(expr));
        Diag::new(Code::E2001, self.site(expr), message)
    }

    /// The padding word of this name. A variable of the name takes precedence.
    fn padding_word(&self, name: &str) -> Option<Value<Self::Tensor>> {
        [Word::Same, Word::Valid].into_iter().find(|word| word.name() == name).map(Value::Word)
    }

    /// The element type, or the number `inf` or `nan`, of this name. A variable of the name takes precedence.
    fn word(&mut self, name: &str, expr: ExprId) -> Option<Value<Self::Tensor>> {
        if let "inf" | "nan" = name {
            let (text, value) = (name.to_owned(), NumberValue::Float(name.to_owned()));
            let number = Number { text, value, suffix: None };
            return Some(Value::Literal(self.literals_mut().number(number, expr)));
        }
        DType::from_name(name).map(|dtype| Value::Word(Word::DType(dtype)))
    }
}

/// The names that a pattern binds, and the errors in the pattern.
pub(crate) struct BoundNames<'p, T> {
    /// The names with their values; poison where the pattern does not fit.
    pub(crate) names: Vec<(&'p Ident, Value<T>)>,
    /// The errors.
    pub(crate) mistakes: Vec<Diag>,
}

/// Destructures a struct by a pattern. A name that does not fit gets poison.
fn destructured<'p, T: Clone>(
    record: &Record<T>,
    (fields, rest): (&'p [FieldPattern], bool),
    site: Site,
    mistakes: &mut Vec<Diag>,
) -> Vec<(&'p Pattern, Value<T>)> {
    let struct_name = &record.ty.name;
    let (mut taken, mut whole) = (vec![false; record.fields.len()], true);
    let mut parts = Vec::new();
    for FieldPattern { name, pattern } in fields {
        let position = record.ty.position(name).and_then(|position| match taken[position] {
            true => {
                let message = format!("`{name}` of `{struct_name}` occurs twice");
                Err(Diag::new(Code::E2007, Site::token(name.span()), message))
            }
            false => Ok(position),
        });
        parts.push(match position {
            Ok(position) => {
                taken[position] = true;
                (pattern, record.fields[position].clone())
            }
            Err(diag) => {
                whole = false;
                mistakes.push(diag);
                (pattern, Value::Poison)
            }
        });
    }
    let names = record.ty.field_names().zip(&taken).filter(|(_, taken)| !**taken);
    let missing: Vec<_> = names.map(|(name, _)| format!("`{name}`")).collect();
    if !rest && whole && !missing.is_empty() {
        let message = format!("the pattern does not mention {} of `{struct_name}`", missing.join(", "));
        mistakes.push(Diag::new(Code::E2007, site, message).help("end the pattern with `..`"));
    }
    parts
}

/// The operation of `x.T` and `x.mT`.
pub(crate) fn transposed(axes: Transposed) -> Op {
    permuted_by(match axes {
        Transposed::All => Permutation::Reversed,
        Transposed::Matrices => Permutation::Matrices,
    })
}

/// The operation of an operator.
pub(crate) fn operation_of(op: BinaryOp) -> Op {
    match op {
        BinaryOp::Map(map) => Op::Map(map),
        BinaryOp::At => Op::Own(Own::At),
    }
}
