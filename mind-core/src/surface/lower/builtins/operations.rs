//! Lowering of operators and of calls of the language's functions. Literals combine to literals, tensors are operands
//! of operations, and structs are taken field by field.

use super::Builtin;
use super::arranging::{arranged, meshgrid};
use super::calls::{BuiltinCall, CallArguments, ReadCalls};
use super::convolving::convolved;
use super::einsum::{NamedAxis, einsum};
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::ir::Made;
use crate::map::Map;
use crate::surface::ast::{Argument, BinaryOp, ExprId};
use crate::surface::lower::declarations::lowered::EinsumOrder;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::by_field::in_field;
use crate::surface::lower::values::expressions::operation_of;
use crate::surface::lower::values::literals::LiteralId;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::ty::{DType, Shape};
use crate::written::einsum::Term;
use crate::written::{CompositeOp, Constant, Op, Own, reshaped_to, spread};

/// An operand of an operation that decides the element type of a literal beside it.
#[derive(Clone, Copy)]
pub(crate) struct TypedOperand<T> {
    pub(crate) other: T,
    pub(crate) other_expr: ExprId,
    /// The label of the operation.
    pub(crate) label: &'static str,
    pub(crate) site: Site,
    pub(crate) is_operator: bool,
}

/// A struct type, and the result for each of its tensors.
type ByField<T> = (Structure, Vec<Value<T>>);

/// Operands, and the extents that their merged axes have in the result, if there are any.
pub(crate) type MergedOperands<T> = (Vec<(T, ExprId)>, Option<Dim>);

/// Operations in a body.
pub(crate) trait Operations: ReadCalls + Tensors {
    /// Converts a literal to a tensor of the element type of the operand beside it.
    fn literal_beside(
        &mut self,
        literal: (LiteralId, ExprId),
        typed: TypedOperand<Self::Tensor>,
    ) -> Lowered<Self::Tensor>;

    /// Emits an operation of a call. Messages show the operands `shown`.
    fn emit_call(
        &mut self,
        given: &CallArguments,
        op: Op,
        operands: &[(Self::Tensor, ExprId)],
        shown: &[ExprId],
    ) -> Lowered<Self::Tensor>;

    /// The extent of an axis; a negative axis counts from the end. Returns an error if the axis does not exist; emits a
    /// check if that is not known.
    fn extent_of(&mut self, given: &CallArguments, x: (Self::Tensor, ExprId), axis: i64) -> Lowered<Dim>;

    /// The value of which `part` is a part, with that part replaced by `value`.
    fn replaced(&mut self, part: ExprId, value: ExprId, expr: ExprId) -> Lowered<Value<Self::Tensor>>;

    /// The operands of an einsum, with the axes of `...` merged into one axis where their number is not known. Also
    /// returns the extents that these axes have in the result.
    fn merged_ellipses(
        &mut self,
        _given: &CallArguments,
        _equation: ExprId,
        _terms: &[Term],
        operands: &[(Self::Tensor, ExprId)],
    ) -> Lowered<MergedOperands<Self::Tensor>> {
        Ok((operands.to_vec(), None))
    }

    /// The extents of an operand of an einsum, whose axes of `...` may be merged. Returns an error, or emits a check, if
    /// its rank is not that of its term.
    fn extents_of_term(
        &mut self,
        equation: ExprId,
        term: &Term,
        x: (Self::Tensor, ExprId),
        merged: Self::Tensor,
    ) -> Lowered<Vec<Dim>>;

    /// Requires that two axes that an einsum names alike have the same extent. Returns an error, or emits a check, if
    /// they differ.
    fn same_extent(&mut self, equation: ExprId, axes: [&NamedAxis<Self::Tensor>; 2]) -> Lowered<()>;

    /// Notes the order of the products of an einsum.
    fn note_einsum(&mut self, _order: EinsumOrder) {}

    /// The extents of a tensor that has as many axes as the list of an argument. Returns an error, or emits a check, if
    /// it has another rank.
    fn extents_of_list(
        &mut self,
        given: &CallArguments,
        x: (Self::Tensor, ExprId),
        list: ExprId,
        count: usize,
    ) -> Lowered<Vec<Dim>>;

    /// The extents before an axis, and those from the axis on. Returns an error if it is not known which these are.
    fn extents_from(
        &mut self,
        given: &CallArguments,
        x: (Self::Tensor, ExprId),
        axis: i64,
    ) -> Lowered<(Vec<Dim>, Vec<Dim>)>;

    /// Requires that a number of parts divides an extent. The extents are that of the axis, and that of all parts.
    fn divides(
        &mut self,
        given: &CallArguments,
        x: (Self::Tensor, ExprId),
        axis: i64,
        extents: (&Dim, &Dim),
        parts: (i64, ExprId),
    ) -> Lowered<()>;

    /// The part of a tensor between two positions of an axis; without a position, from the start or to the end.
    fn part_of_axis(
        &mut self,
        given: &CallArguments,
        x: (Self::Tensor, ExprId),
        axis: i64,
        bounds: (Option<&Dim>, Option<&Dim>),
        at: ExprId,
    ) -> Lowered<Self::Tensor>;

    /// Whether a value beside a struct is a single number. Emits a check if that is not known.
    fn is_number(&mut self, op: BinaryOp, operator: Site, value: &Value<Self::Tensor>, expr: ExprId) -> bool;

    /// Whether an operand is known to be a tensor of floats.
    fn is_float(&self, _expr: ExprId) -> bool {
        false
    }

    /// Renames an expression in messages while a field takes its place.
    fn rename(&mut self, _expr: ExprId, _text: String) {}

    /// The tensor of an operand, with its expression. A literal gets its default element type.
    fn operand(&mut self, expr: ExprId) -> Lowered<(Self::Tensor, ExprId)> {
        Ok((self.tensor(expr, None)?, expr))
    }

    /// Lowers a prefix operator.
    fn prefix(
        &mut self,
        map: Map,
        operand: ExprId,
        operator: Site,
        expr: ExprId,
    ) -> Lowered<Value<Self::Tensor>> {
        let label = map.row().label;
        let fields =
            self.by_field(label, &[operand], &mut |lowering| lowering.prefix(map, operand, operator, expr))?;
        if let Some(fields) = fields {
            return Ok(assembled(fields));
        }
        if let Value::Literal(id) = *self.value(operand)
            && let Some(literal) = self.literals_mut().prefixed(map, id, expr)
        {
            return Ok(Value::Literal(literal));
        }
        let operand = self.operand(operand)?;
        self.emit_operator((Op::Map(map), label), Some(operator), &[operand], expr).map(Value::Tensor)
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        operator: Site,
        (lhs, rhs): (ExprId, ExprId),
        expr: ExprId,
    ) -> Lowered<Value<Self::Tensor>> {
        if let Some(fields) = self.fieldwise(op, operator, (lhs, rhs), expr)? {
            return Ok(fields);
        }
        let is_power = op == BinaryOp::Map(Map::BitXor) && (self.is_float(lhs) || self.is_float(rhs));
        self.binary_values(op, operator, (lhs, rhs), expr).map_err(|stop| match stop {
            Stop::Mistake(diag) if is_power => {
                diag.help(power(&self.operand_text(lhs), &self.operand_text(rhs))).into()
            }
            stop => stop,
        })
    }

    /// Lowers a binary operator on values that are not structs.
    fn binary_values(
        &mut self,
        op: BinaryOp,
        operator: Site,
        (lhs, rhs): (ExprId, ExprId),
        expr: ExprId,
    ) -> Lowered<Value<Self::Tensor>> {
        if let Value::Literal(by) = *self.value(rhs) {
            self.check_written(op, lhs, (by, rhs))?;
        }
        if let (Value::Literal(a), Value::Literal(b), true) =
            (self.value(lhs), self.value(rhs), op.keeps_literals())
        {
            return self.binary_literal(op, (*a, *b), operator, expr);
        }
        let operands = self.same_dtype_operands(op.symbol(), Some(operator), &[lhs, rhs])?;
        let operation = (operation_of(op), op.symbol());
        self.emit_operator(operation, Some(operator), &operands, expr).map(Value::Tensor)
    }

    /// Lowers `p + g`, `p * s` and so on field by field; `None` if neither operand is a struct.
    fn fieldwise(
        &mut self,
        op: BinaryOp,
        operator: Site,
        (lhs, rhs): (ExprId, ExprId),
        expr: ExprId,
    ) -> Lowered<Option<Value<Self::Tensor>>> {
        let (a, b) = (self.value(lhs).clone(), self.value(rhs).clone());
        let is_sound = match (&a, &b) {
            (Value::Poison, _) | (_, Value::Poison) => return Err(Stop::Poisoned),
            (Value::Struct(x), Value::Struct(y)) => op != BinaryOp::At && self.is_same_struct(&x.ty, &y.ty),
            (Value::Struct(_), _) => op != BinaryOp::At && self.is_number(op, operator, &b, rhs),
            (_, Value::Struct(_)) => op != BinaryOp::At && self.is_number(op, operator, &a, lhs),
            (Value::Tensor(_) | Value::Literal(_) | Value::Tuple(_) | Value::Word(_), _) => return Ok(None),
        };
        if !is_sound {
            return Err(self.unlike_structs(op, operator, (&a, lhs), (&b, rhs)).into());
        }
        let fields = self.by_field(op.symbol(), &[lhs, rhs], &mut |lowering| {
            lowering.binary(op, operator, (lhs, rhs), expr)
        })?;
        Ok(fields.map(assembled))
    }

    /// Converts operands to tensors of one element type: a literal gets that of the first operand that is a tensor. If
    /// it does not fit, the error is at the operator, or at the literal of a call.
    fn same_dtype_operands(
        &mut self,
        label: &'static str,
        operator: Option<Site>,
        operands: &[ExprId],
    ) -> Lowered<Vec<(Self::Tensor, ExprId)>> {
        let known = operands.iter().find_map(|operand| Some((self.value(*operand).tensor()?, *operand)));
        let operand = |operand: &ExprId| match (self.value(*operand), known) {
            (Value::Literal(literal), Some((other, other_expr))) => {
                let (literal, site) = (*literal, operator.unwrap_or(self.site(*operand)));
                let typed = TypedOperand { other, other_expr, label, site, is_operator: operator.is_some() };
                Ok((self.literal_beside((literal, *operand), typed)?, *operand))
            }
            (_, _) => self.operand(*operand),
        };
        operands.iter().map(operand).collect()
    }

    /// Lowers a call of a function of the language.
    fn call_builtin(
        &mut self,
        builtin: &'static Builtin,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<Value<Self::Tensor>> {
        let (call, given) = self.read_call(builtin, arguments, expr)?;
        match self.over_fields(&call, &given)? {
            Some(value) => Ok(value),
            None => self.value_of_call(call, &given),
        }
    }

    /// The value of an array: a literal, a list that its call takes, or the tensor of its elements, as `stack` makes it.
    fn array_of_values(&mut self, elements: &[ExprId], expr: ExprId) -> Lowered<Value<Self::Tensor>> {
        let stop = match self.array(elements, expr) {
            Ok(literal) => return Ok(literal),
            Err(_) if self.is_list_of_call(expr) => return Ok(Value::unit()),
            Err(_) if self.is_reported_by_its_call(expr) => return Err(Stop::Poisoned),
            Err(stop) => stop,
        };
        if elements.iter().any(|element| matches!(self.value(*element), Value::Poison)) {
            return Err(Stop::Poisoned);
        }
        let is_tensor = |element: &ExprId| matches!(self.value(*element), Value::Tensor(_));
        let is_literal = |element: &ExprId| matches!(self.value(*element), Value::Literal(_));
        let can_be_stacked = elements.iter().all(|each| is_tensor(each) || is_literal(each));
        if !can_be_stacked || !elements.iter().any(is_tensor) {
            return Err(stop);
        }
        self.operation(&CallArguments::array(expr), Op::Own(Own::Stack { axis: 0 }), elements)
    }

    fn value_of_call(&mut self, call: BuiltinCall, given: &CallArguments) -> Lowered<Value<Self::Tensor>> {
        let expr = given.expr;
        match call {
            BuiltinCall::Operation(op, operands) => self.operation(given, op, &operands),
            BuiltinCall::Map(map, operands) => match self.applied(map, &operands, expr) {
                Some(literal) => Ok(Value::Literal(literal)),
                None => self.operation(given, Op::Map(map), &operands),
            },
            BuiltinCall::Extent { x, axis } => {
                let x = self.operand(x)?;
                let extent = self.extent_of(given, x, axis)?;
                Ok(Value::Literal(self.literals_mut().dim(extent, expr)))
            }
            BuiltinCall::Replace { part, value } => self.replaced(part, value, expr),
            BuiltinCall::Arranged { x, arranging } => arranged(self, given, x, arranging),
            BuiltinCall::Convolved { x, f, with } => convolved(self, given, [x, f], &with),
            BuiltinCall::Einsum { equation, operands } => einsum(self, given, equation, &operands),
            BuiltinCall::Meshgrid { vectors } => meshgrid(self, given, &vectors),
            BuiltinCall::Positions { shape } => self.positions(given, shape),
            BuiltinCall::Argument(value) => Ok(self.value(value).clone()),
            BuiltinCall::Composite(steps, of) => {
                let mut values =
                    of.iter().map(|operand| self.operand(*operand)).collect::<Lowered<Vec<_>>>()?;
                for CompositeOp { op, operands } in steps {
                    let operands: Vec<_> = operands.iter().map(|at| values[*at]).collect();
                    values.push((self.emit_call(given, op, &operands, &of[..1])?, expr));
                }
                Ok(Value::Tensor(values[values.len() - 1].0))
            }
            BuiltinCall::Filled { one, shape } => {
                Ok(Value::Literal(self.literals_mut().zero_or_one(one, Shape::new(shape), expr)))
            }
            BuiltinCall::Full { shape, value } => {
                if let Value::Literal(id) = *self.value(value)
                    && self.literals().is_number(id)
                {
                    return Ok(Value::Literal(self.literals_mut().filled(id, Shape::new(shape), expr)));
                }
                self.operation(given, spread(shape), &[value])
            }
        }
    }

    /// The position of each element of a shape, in row-major order.
    fn positions(&mut self, given: &CallArguments, shape: Vec<Dim>) -> Lowered<Value<Self::Tensor>> {
        let expr = given.expr;
        // The number of elements is counted on a tensor, because a pack may be any number of extents.
        let zero = Constant { dtype: DType::I64, ..Constant::number(0.0) };
        let zero = self.emit_call(given, Op::Const(Box::new(zero)), &[], &[])?;
        let zeros = self.emit_call(given, spread(shape.clone()), &[(zero, expr)], &[])?;
        let flat = self.emit_call(given, reshaped_to(vec![Dim::literal(-1)]), &[(zeros, expr)], &[])?;
        let count = self.extent_of(given, (flat, expr), 0)?;
        let iota = Op::Made(Made::Iota { shape: vec![count], axis: 0 });
        let iota = self.emit_call(given, iota, &[], &[])?;
        self.emit_call(given, reshaped_to(shape), &[(iota, expr)], &[]).map(Value::Tensor)
    }

    /// Lowers an operation on tensors, of which one tuple may hold all. The operands that share an element type are
    /// converted to it.
    fn operation(
        &mut self,
        given: &CallArguments,
        op: Op,
        operands: &[ExprId],
    ) -> Lowered<Value<Self::Tensor>> {
        if let [list] = operands
            && given.list() == Some(*list)
            && let Some(tensors) = self.value(*list).tuple_of_tensors()
        {
            let values: Vec<_> = tensors.into_iter().map(|tensor| (tensor, *list)).collect();
            return self.emit_call(given, op, &values, &vec![*list; values.len()]).map(Value::Tensor);
        }
        let (before, alike) = operands.split_at(op.first_alike(operands.len()));
        let mut values = before.iter().map(|operand| self.operand(*operand)).collect::<Lowered<Vec<_>>>()?;
        values.extend(self.same_dtype_operands(given.name, None, alike)?);
        self.emit_call(given, op, &values, operands).map(Value::Tensor)
    }

    /// Lowers a function that is called with structs. It is applied to each field; a sum, or a largest or smallest
    /// element, is then combined over all fields.
    fn over_fields(
        &mut self,
        call: &BuiltinCall,
        given: &CallArguments,
    ) -> Lowered<Option<Value<Self::Tensor>>> {
        let Some((operands, combine)) = call.by_field() else { return Ok(None) };
        let fields =
            self.by_field(given.name, operands, &mut |lowering| lowering.value_of_call(call.clone(), given))?;
        let Some(fields) = fields else { return Ok(None) };
        let Some(combine) = combine else { return Ok(Some(assembled(fields))) };
        let mut all = fields.1.iter().flat_map(Value::leaves);
        let mut total = all.next().expect("a struct has a field");
        for next in all {
            let both = [total, next].map(|part| (part, operands[0]));
            total = self.emit_call(given, Op::Map(combine), &both, operands)?;
        }
        Ok(Some(Value::Tensor(total)))
    }

    /// Calls `apply` for each field if some operands are structs; `None` if no operand is one. During a call, the
    /// tensor of the field takes the place of the struct.
    fn by_field(
        &mut self,
        label: &str,
        operands: &[ExprId],
        apply: &mut dyn FnMut(&mut Self) -> Lowered<Value<Self::Tensor>>,
    ) -> Lowered<Option<ByField<Self::Tensor>>> {
        let record = |operand: &ExprId| match self.value(*operand) {
            Value::Struct(record) => Some((*operand, record.clone())),
            Value::Poison | Value::Tensor(_) | Value::Literal(_) | Value::Tuple(_) | Value::Word(_) => None,
        };
        let records: Vec<_> = operands.iter().filter_map(record).collect();
        let Some((first, of_first)) = records.first().cloned() else { return Ok(None) };
        for (other, of_other) in &records {
            of_other.sound()?;
            if !self.is_same_struct(&of_first.ty, &of_other.ty) {
                let message = format!(
                    "`{label}`: structs differ: {} is a `{}`, {} is a `{}`",
                    self.text(first),
                    of_first.ty,
                    self.text(*other),
                    of_other.ty
                );
                return Err(Diag::new(Code::E2001, self.site(*other), message).into());
            }
            let (text, other_text) = (self.short_text(first), self.short_text(*other));
            self.check_same(&format!("`{label}`"), (&of_first, &text), (of_other, &other_text), *other);
        }
        let structure = Structure::Struct((*of_first.ty).clone());
        let whole = records.into_iter().map(|(operand, record)| {
            let (value, text) = (Value::Struct(record), self.short_text(operand));
            (operand, value.leaves(), value, text)
        });
        let whole: Vec<_> = whole.collect();
        let mut results = Vec::new();
        for (position, field) in structure.named_leaves().iter().enumerate() {
            for (operand, tensors, _, text) in &whole {
                self.values_mut()[operand.index()] = Value::Tensor(tensors[position]);
                self.rename(*operand, format!("{text}.{}", field.text()));
            }
            let result = apply(self);
            results.push(
                result.map_err(|stop| field.path.iter().rev().fold(stop, |stop, name| in_field(stop, name))),
            );
        }
        for (operand, _, value, text) in whole {
            self.values_mut()[operand.index()] = value;
            self.rename(operand, text);
        }
        Ok(Some((structure, results.into_iter().collect::<Lowered<_>>()?)))
    }
}

/// The struct of results that were computed field by field.
fn assembled<T: Copy>((structure, fields): ByField<T>) -> Value<T> {
    let tensors: Vec<T> = fields.iter().flat_map(Value::leaves).collect();
    Value::rebuilt(&structure, &mut tensors.into_iter())
}

/// The help for `x ^ 2`, which is not a power.
fn power(base: &str, exponent: &str) -> String {
    match exponent {
        "2" | "2.0" => format!("write `{base} * {base}`"),
        "3" | "3.0" => format!("write `{base} * {base} * {base}`"),
        _ => format!("`^` is bitwise: write `pow({base}, {exponent})`"),
    }
}
