//! Suggestions for operations that break a rule: changes that make the shapes fit. Each candidate is tested by the
//! inference rules.

use super::lowering::{BodyLowering, LoweredOperand};
use crate::diag::Code;
use crate::dim::Dim;
use crate::ir::{Arrange, Op, Product, ValueId};
use crate::map::Map;
use crate::ops::{OpError, infer};
use crate::surface::ast::{
    Argument, ExprId, NodeKind, NumberValue, Pattern, Subscript, SubscriptKind, Transposed,
};
use crate::surface::lower::builtins;
use crate::surface::lower::builtins::foreign::no_choice;
use crate::surface::lower::builtins::foreign_arguments::ForeignArguments;
use crate::surface::lower::values::Value;
use crate::surface::lower::values::literals::LiteralClass;
use crate::ty::{DType, Shape, Type};
use crate::written::{resolve, spread};

/// The part of an operation that suggestions need if the operation breaks a rule.
pub(crate) enum Tried {
    /// An operation on elements.
    Elementwise(Op),
    /// A product of matrices.
    Product(Op),
    /// A reshape to this shape.
    Reshape(Shape),
    /// A permutation of axes.
    Transpose(Vec<i64>),
    /// Squeezed axes.
    Squeeze(Vec<i64>),
    /// A convolution.
    Convolution(Op),
    /// An operation for which no alternative is tried.
    Other,
}

impl Tried {
    pub(crate) fn of(op: &Op) -> Self {
        match op {
            Op::Map(map) if map.row().infix().is_some() => Self::Elementwise(op.clone()),
            Op::Product(_) => Self::Product(op.clone()),
            Op::Arrange(Arrange::Reshape { shape }) => Self::Reshape(shape.clone()),
            Op::Arrange(Arrange::Transpose { permutation }) => Self::Transpose(permutation.clone()),
            Op::Arrange(Arrange::Squeeze { axes }) => Self::Squeeze(axes.clone()),
            Op::Window(_) => Self::Convolution(op.clone()),
            _ => Self::Other,
        }
    }
}

impl BodyLowering<'_> {
    /// The suggestion for an operation that breaks a rule.
    pub(crate) fn advice(
        &self,
        tried: &Tried,
        error: &OpError,
        operands: &[LoweredOperand],
    ) -> Option<String> {
        if matches!(error.code, Code::E2004 | Code::E2005 | Code::E4011) {
            return self.other_element_type(error, operands);
        }
        // No other operation helps against a limit.
        if error.code == Code::E1008 {
            return None;
        }
        match (tried, operands) {
            (Tried::Elementwise(op), [lhs, rhs]) => self.elementwise_advice(op, *lhs, *rhs),
            (Tried::Product(op), [lhs, rhs]) => self.product_advice(op, *lhs, *rhs),
            (Tried::Reshape(shape), [x]) => self.reshape_advice(shape, *x),
            (Tried::Transpose(permutation), [x]) => self.transpose_advice(permutation, *x),
            (Tried::Squeeze(axes), [x]) => self.squeeze_advice(axes, *x),
            (Tried::Convolution(op), [x, f]) => self.convolution_advice(op, *x, *f),
            (
                Tried::Elementwise(_)
                | Tried::Product(_)
                | Tried::Reshape(_)
                | Tried::Transpose(_)
                | Tried::Squeeze(_)
                | Tried::Convolution(_)
                | Tried::Other,
                _,
            ) => None,
        }
    }

    fn ty(&self, operand: LoweredOperand) -> &Type {
        self.builder.ty(operand.0)
    }

    fn operand(&self, operand: LoweredOperand) -> String {
        self.body.in_parentheses(operand.1, self.full_text(operand.1))
    }

    fn elementwise_advice(&self, op: &Op, lhs: LoweredOperand, rhs: LoweredOperand) -> Option<String> {
        let (a, b) = (self.ty(lhs), self.ty(rhs));
        let fits = |a: &Type, b: &Type| infer(op, &[a, b]).is_ok();
        for (operand, is_left) in [(rhs, false), (lhs, true)] {
            let Some((call, kept)) = self.kept(operand.0) else { continue };
            if if is_left { fits(&kept, b) } else { fits(a, &kept) } {
                return Some(format!("write `{call}`"));
            }
        }
        if op.info().label == "*" && infer(&product(a, b), &[a, b]).is_ok() {
            let written = format!("{} @ {}", self.operand(lhs), self.operand(rhs));
            return Some(format!("`*` is elementwise: for the matrix product, write `{written}`"));
        }
        let reversed = |ty: &Type| ty.with_shape(ty.shape.iter().rev().cloned().collect());
        for (operand, is_left) in [(rhs, false), (lhs, true)] {
            let turned = reversed(self.ty(operand));
            let both_matrices = a.rank() == 2 && b.rank() == 2;
            if both_matrices && if is_left { fits(&turned, b) } else { fits(a, &turned) } {
                return Some(format!("write `{}.T`", self.operand(operand)));
            }
        }
        for (operand, whole, is_left) in [(rhs, a, false), (lhs, b, true)] {
            let Some(axes) = axes_behind(&self.ty(operand).shape, &whole.shape) else { continue };
            let ty = expanded(self.ty(operand), &axes)?;
            if if is_left { fits(&ty, b) } else { fits(a, &ty) } {
                let text = self.full_text(operand.1);
                return Some(format!(
                    "shapes are aligned at their last dimensions: write `expand_dims({text}, axes = {axes:?})`"
                ));
            }
        }
        None
    }

    /// The call of a reduction with `keepdims = true`, if the value is that reduction or is computed elementwise from
    /// it. Also the type that the value then has.
    fn kept(&self, value: ValueId) -> Option<(String, Type)> {
        let mut at = value;
        loop {
            let inst = self.builder.inst(at);
            if let Op::Reduce(_, reduction) = &inst.op {
                let operand = self.builder.ty(inst.operands[0]);
                let is_reduced = |axis| reduction.axes.iter().any(|own| usize::try_from(*own) == Ok(axis));
                let extent = |axis| if is_reduced(axis) { Dim::ONE } else { operand.shape[axis].clone() };
                let kept = operand.with_shape((0..operand.rank()).map(extent).collect());
                return if reduction.keepdims { None } else { Some((self.with_kept_axes(at)?, kept)) };
            }
            let is_elementwise = matches!(inst.op, Op::Map(_));
            let same_shape = |operand: &&ValueId| self.builder.ty(**operand).shape == inst.ty.shape;
            at = *inst.operands.iter().filter(|_| is_elementwise).find(same_shape)?;
        }
    }

    /// The text of the call of a reduction with `keepdims = true`.
    fn with_kept_axes(&self, value: ValueId) -> Option<String> {
        let call = self.made[value.index()]?;
        let NodeKind::Call { callee, .. } = &self.body[call].kind else { return None };
        let is_own = self.table.position(&callee.to_string()).is_some();
        if is_own || !builtins::find(&callee.to_string())?.formals.contains(&"keepdims") {
            return None;
        }
        let text = self.full_text(call);
        if text.contains("keepdims = false") {
            return Some(text.replace("keepdims = false", "keepdims = true"));
        }
        let open = text.strip_suffix(')')?;
        let comma = if open.ends_with('(') { "" } else { ", " };
        Some(format!("{open}{comma}keepdims = true)"))
    }

    /// The text of a call or of a transposition of literals, with each of them converted to a type of floats. A
    /// conversion of the result would keep its rounding to f32.
    fn with_converted_literals(&self, expr: ExprId, dtype: DType) -> Option<String> {
        let convertible = |expr: ExprId| match &self.values[expr.index()] {
            Value::Literal(id) => {
                let is_list = self.literals.elements(*id).is_some();
                let is_open =
                    self.literals.class(*id) == LiteralClass::Float && self.literals.suffix(*id).is_none();
                is_list && is_open && dtype.is_float()
            }
            Value::Tensor(_) | Value::Poison | Value::Tuple(_) | Value::Struct(_) | Value::Word(_) => false,
        };
        let converted = |expr: ExprId| format!("{dtype}({})", self.body.text(expr));
        let (callee, arguments) = match &self.body[expr].kind {
            NodeKind::Transpose { base, axes } if convertible(*base) => {
                return Some(format!("{}{}", converted(*base), axes.symbol()));
            }
            NodeKind::Call { callee, arguments, method: false }
            | NodeKind::Leave { callee, arguments, method: false, .. } => (callee, arguments),
            _ => return None,
        };
        let takes_list = builtins::called(callee).is_some_and(|builtin| builtin.takes_list());
        if takes_list || !arguments.iter().any(|argument| convertible(argument.value)) {
            return None;
        }
        let text = |argument: &Argument| {
            let is_converted = convertible(argument.value);
            let text = if is_converted { converted(argument.value) } else { self.body.text(argument.value) };
            argument.name.as_ref().map_or_else(|| text.clone(), |name| format!("{name} = {text}"))
        };
        let arguments: Vec<String> = arguments.iter().map(text).collect();
        Some(format!("{callee}({})", arguments.join(", ")))
    }

    fn product_advice(&self, op: &Op, lhs: LoweredOperand, rhs: LoweredOperand) -> Option<String> {
        let (a, b) = (self.ty(lhs), self.ty(rhs));
        if a.rank() == 0 || b.rank() == 0 {
            return Some(format!("write `{} * {}`", self.operand(lhs), self.operand(rhs)));
        }
        for (operand, is_left) in [(rhs, false), (lhs, true)] {
            let ty = self.ty(operand);
            let rank = ty.rank();
            if rank < 3 {
                continue;
            }
            // For `x.T`, the last two axes of `x` are swapped instead.
            let base = match &self.body[operand.1].kind {
                NodeKind::Transpose { base, axes: Transposed::All } => Some(*base),
                _ => None,
            };
            let from =
                if base.is_some() { ty.shape.iter().rev().cloned().collect() } else { ty.shape.clone() };
            let mut axes: Vec<usize> = (0..rank).collect();
            axes.swap(rank - 2, rank - 1);
            let swapped = ty.with_shape(axes.iter().map(|axis| from[*axis].clone()).collect());
            let pair = if is_left { [&swapped, b] } else { [a, &swapped] };
            if infer(&product(pair[0], pair[1]), &pair).is_ok() || infer(op, &pair).is_ok() {
                let text = self.body.operand_text(base.unwrap_or(operand.1));
                let why = if base.is_some() { "`.T` reverses all axes: " } else { "" };
                return Some(format!("{why}write `{text}.mT`"));
            }
        }
        if broadcasts(a, b) && a.rank() == b.rank() && a.rank() != 2 {
            return Some(format!(
                "for the elementwise product, write `{} * {}`",
                self.operand(lhs),
                self.operand(rhs)
            ));
        }
        None
    }

    fn reshape_advice(&self, shape: &Shape, x: LoweredOperand) -> Option<String> {
        let from = &self.ty(x).shape;
        for axis in (0..shape.rank()).rev() {
            let mut others = shape.to_vec();
            others[axis] = Dim::ONE;
            let count = Shape::new(others.clone()).element_count().ok()?;
            let all = from.element_count().ok()?;
            if all.exact_div(&count).ok()?.is_some_and(|rest| rest.is_positive()) {
                others[axis] = Dim::literal(-1);
                return Some(format!(
                    "write `{}`, where -1 stands for the remaining extent",
                    Shape::new(others)
                ));
            }
        }
        let count = from.element_count().ok()?;
        Some(format!("write `[{count}]`, or extents with that product"))
    }

    fn transpose_advice(&self, permutation: &[i64], x: LoweredOperand) -> Option<String> {
        let rank = self.ty(x).rank();
        let mut axes: Vec<i64> = (0..rank as i64).collect();
        match permutation {
            // Two axes to swap, as other libraries write it.
            [a, b] if rank > 2 => {
                let at = |axis: i64| usize::try_from(axis).ok().filter(|axis| *axis < rank);
                axes.swap(at(*a)?, at(*b)?);
            }
            // An order of the first axes; the remaining axes keep their places.
            order if order.len() < rank && is_permutation(order) => {
                axes.splice(..order.len(), order.iter().copied());
            }
            _ => axes.reverse(),
        }
        Some(format!("list each axis once, as in `{axes:?}`"))
    }

    fn squeeze_advice(&self, axes: &[i64], x: LoweredOperand) -> Option<String> {
        let shape = &self.ty(x).shape;
        let ones: Vec<usize> = (0..shape.rank()).filter(|axis| shape[*axis].is_one()).collect();
        match &ones[..] {
            [] => Some(format!("no axis has extent 1: write only `{}`", self.operand(x))),
            ones if axes.len() == ones.len() => Some(format!("write `{ones:?}`")),
            ones => Some(format!("the axes of extent 1 are `{ones:?}`")),
        }
    }

    fn convolution_advice(&self, op: &Op, x: LoweredOperand, f: LoweredOperand) -> Option<String> {
        let (image, filter) = (self.ty(x), self.ty(f));
        if image.rank() == 3 && filter.rank() == 4 {
            let batch = expanded(image, &[0])?;
            return infer(op, &[&batch, filter]).is_ok().then(|| {
                format!("add a batch axis: write `expand_dims({}, axes = [0])`", self.full_text(x.1))
            });
        }
        if image.rank() != 4 || filter.rank() != 4 {
            return None;
        }
        let permuted = |ty: &Type, axes: [usize; 4]| {
            ty.with_shape(axes.iter().map(|axis| ty.shape[*axis].clone()).collect())
        };
        let (to_image, to_filter) = ([0, 2, 3, 1], [2, 3, 1, 0]);
        let text = |operand: LoweredOperand, axes: [usize; 4]| {
            format!("`transpose({}, {axes:?})`", self.full_text(operand.1))
        };
        let (turned_image, turned_filter) = (permuted(image, to_image), permuted(filter, to_filter));
        if infer(op, &[&turned_image, filter]).is_ok() {
            return Some(format!("images are [batch, height, width, channels]: write {}", text(x, to_image)));
        }
        if infer(op, &[image, &turned_filter]).is_ok() {
            return Some(format!("filters are [height, width, in, out]: write {}", text(f, to_filter)));
        }
        infer(op, &[&turned_image, &turned_filter]).is_ok().then(|| {
            format!(
                "images are [batch, height, width, channels] and filters [height, width, in, out]: write {} and {}",
                text(x, to_image),
                text(f, to_filter)
            )
        })
    }

    /// The suggestion to convert an operand to the needed element type.
    fn other_element_type(&self, error: &OpError, operands: &[LoweredOperand]) -> Option<String> {
        let converted = |operand: LoweredOperand, dtype: DType| {
            let text = self.full_text(operand.1);
            if dtype.is_float()
                && let Some(first) = self.integer_first_carry(&text)
            {
                return Some(format!("begin with a float: write `{text} = {first}.0`"));
            }
            let literal = self.with_converted_literals(operand.1, dtype);
            Some(format!("convert it: write `{}`", literal.unwrap_or_else(|| format!("{dtype}({text})"))))
        };
        if let [old, new] = operands
            && let NodeKind::Assign { target, part, op: Some(op), .. } = &self.body[old.1].kind
        {
            // The assigned variable has its type, so only the value beside it can be converted.
            let target = part.map_or_else(|| target.to_string(), |part| self.body.text(part));
            let (dtype, text) = (self.ty(*old).dtype, self.full_text(new.1));
            let written = format!("{target} {}= {dtype}({text})", op.symbol());
            return (self.ty(*new).dtype != dtype).then(|| format!("convert it: write `{written}`"));
        }
        if error.code == Code::E4011 {
            let indices = *operands.get(*error.operands.first()?)?;
            if self.builder.ty(indices.0).dtype == DType::Bool {
                let table = operands.first().filter(|table| table.0 != indices.0).unwrap_or(&indices);
                return Some(no_choice(&self.body.short_text(indices.1), &self.body.short_text(table.1)));
            }
            return converted(indices, DType::I64);
        }
        if error.code == Code::E2005 {
            // For truth values, the error already has the help.
            let integers = operands.iter().find(|operand| self.ty(**operand).dtype.is_integer());
            return integers.and_then(|operand| converted(*operand, DType::F32));
        }
        let [lhs, rhs] = operands[operands.len().checked_sub(2)?..] else { return None };
        let (a, b) = (self.ty(lhs).dtype, self.ty(rhs).dtype);
        // Convert to the type that loses less: floats before integers, integers before truth values.
        if a < b { converted(lhs, b) } else { converted(rhs, a) }
    }

    /// The integer, as written, with which a carry of this name begins in the loops that are open.
    fn integer_first_carry(&self, name: &str) -> Option<&str> {
        let nodes = self.loops.iter().rev().filter_map(|open| open.carried_from.as_ref());
        let (_, first) =
            { nodes }.find(|(pattern, _)| matches!(pattern, Pattern::Name(carry) if carry == name))?;
        match &self.body[*first].kind {
            NodeKind::Number(number) if matches!(number.value, NumberValue::Integer(_)) => {
                number.suffix.is_none().then_some(&number.text)
            }
            _ => None,
        }
    }

    /// The suggestion for a value whose type is not the expected one.
    pub(crate) fn fitted(&self, value: ValueId, expected: &Type, expr: ExprId) -> Option<String> {
        let found = self.builder.ty(value);
        if found.dtype != expected.dtype {
            return None;
        }
        let text = self.body.in_parentheses(expr, self.full_text(expr));
        let plain = self.full_text(expr);
        if let Some((call, kept)) = self.kept(value)
            && kept == *expected
        {
            return Some(format!("write `{call}`"));
        }
        let inst = self.builder.inst(value);
        if let ("*", NodeKind::Binary { lhs, rhs, .. }, 1..) =
            (inst.op.info().label, &self.body[expr].kind, expected.rank())
        {
            let [a, b] = [inst.operands[0], inst.operands[1]].map(|operand| self.builder.ty(operand));
            if infer(&product(a, b), &[a, b]).is_ok_and(|ty| ty == *expected) {
                let written = format!(
                    "{} @ {}",
                    self.operand((inst.operands[0], *lhs)),
                    self.operand((inst.operands[1], *rhs))
                );
                return Some(format!("`*` is elementwise: for the matrix product, write `{written}`"));
            }
        }
        if expected.rank() == 0 && found.dtype.is_float() {
            return Some(format!("write `mean({plain})` or `sum({plain})`"));
        }
        if found.rank() == 2 && found.shape.iter().rev().eq(expected.shape.iter()) {
            return Some(format!("write `{text}.T`"));
        }
        let ones: Vec<usize> = (0..found.rank()).filter(|axis| found.shape[*axis].is_one()).collect();
        let squeezed = found.shape.iter().filter(|dim| !dim.is_one());
        if !ones.is_empty() && squeezed.eq(expected.shape.iter()) {
            return Some(format!("write `squeeze({plain}, axes = {ones:?})`"));
        }
        let new: Vec<usize> = (0..expected.rank()).filter(|axis| expected.shape[*axis].is_one()).collect();
        if !new.is_empty() && expected.shape.iter().filter(|dim| !dim.is_one()).eq(found.shape.iter()) {
            return Some(format!("write `expand_dims({plain}, axes = {new:?})`"));
        }
        let counts = found.shape.element_count().ok().zip(expected.shape.element_count().ok());
        if counts.is_some_and(|(found, expected)| found == expected) {
            return Some(format!("write `reshape({plain}, {})`", expected.shape));
        }
        let broadcast = resolve(&spread(expected.shape.to_vec()), &[found]).ok()?;
        { broadcast }
            .iter()
            .all(|op| infer(op, &[found]).is_ok())
            .then(|| format!("write `broadcast_to({plain}, {})`", expected.shape))
    }

    /// The suggestion for `x.shape[0]`, where `expr` is `x.shape`.
    pub(crate) fn extent_read(&self, x: ValueId, expr: ExprId) -> Option<String> {
        let user = self.body.user(expr)?;
        let NodeKind::Subscript { subscripts, .. } = &self.body[user].kind else { return None };
        let [Subscript { kind: SubscriptKind::At(at), .. }] = &subscripts[..] else { return None };
        let NodeKind::Number(number) = &self.body[*at].kind else { return None };
        let NumberValue::Integer(axis) = number.value else { return None };
        let shape = &self.builder.ty(x).shape;
        let axis = if axis < 0 { axis + i64::try_from(shape.rank()).ok()? } else { axis };
        let dim = shape.get(usize::try_from(axis).ok()?)?;
        Some(format!("write `{dim}`"))
    }
}

/// Whether a list is a permutation of the first `order.len()` axes.
fn is_permutation(order: &[i64]) -> bool {
    (0..order.len()).all(|axis| order.iter().any(|other| usize::try_from(*other) == Ok(axis)))
}

/// Whether some elementwise operator accepts operands of these types.
fn broadcasts(a: &Type, b: &Type) -> bool {
    Map::operators().any(|map| infer(&Op::Map(map), &[a, b]).is_ok())
}

/// The operation of `@` for operands of these types.
fn product(a: &Type, b: &Type) -> Op {
    Op::Product(Product::of(a, b))
}

/// The type with new axes of extent 1 at these positions of the result; `None` if a position is out of range.
fn expanded(ty: &Type, axes: &[usize]) -> Option<Type> {
    let rank = ty.rank() + axes.len();
    let mut dims = ty.shape.iter().cloned();
    let dim = |axis: usize| if axes.contains(&axis) { Some(Dim::ONE) } else { dims.next() };
    let shape: Shape = (0..rank).map_while(dim).collect();
    (shape.rank() == rank).then(|| ty.with_shape(shape))
}

/// The positions of new axes that align a shape with the first axes of another one that have the same extents.
fn axes_behind(part: &Shape, whole: &Shape) -> Option<Vec<usize>> {
    let (mut axes, mut next) = (Vec::new(), 0);
    let mut begun = false;
    for (axis, extent) in whole.iter().enumerate() {
        if next < part.rank() && part[next] == *extent {
            next += 1;
            begun = true;
        } else if begun {
            axes.push(axis);
        }
    }
    let first = whole.iter().position(|extent| part.first() == Some(extent))?;
    let axes: Vec<usize> = axes.into_iter().map(|axis| axis - first).collect();
    (next == part.rank() && !axes.is_empty()).then_some(axes)
}
