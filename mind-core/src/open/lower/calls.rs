//! Operators, calls of functions of the language, and index expressions.

use mind_shape::rules::{Elements, Takes};

use super::lowering::ExpressionLowering;
use super::tensors::DTypeSource;
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::ir::{Part, Reorder};
use crate::open::{Check, CheckKind, Contract, Demand, NodeId, Op, Spot, Subscript};
use crate::surface::ast::{
    self, Argument, BinaryOp, Callee, ExprId, NodeKind, SubscriptKind, Transposed, new_axes,
};
use crate::surface::habits;
use crate::surface::lower::builtins;
use crate::surface::lower::builtins::calls::CallArguments;
use crate::surface::lower::builtins::einsum::NamedAxis;
use crate::surface::lower::builtins::foreign::ForeignNames;
use crate::surface::lower::builtins::operations::{MergedOperands, Operations, TypedOperand};
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::expressions::{Expressions, transposed};
use crate::surface::lower::values::literals::LiteralId;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::ty::MAX_RANK;
use crate::written::einsum::Term;
use crate::written::{ExtentRef, expanded};

impl Operations for ExpressionLowering<'_> {
    fn literal_beside(
        &mut self,
        (literal, _): (LiteralId, ExprId),
        typed: TypedOperand<NodeId>,
    ) -> Lowered<NodeId> {
        self.materialise(literal, DTypeSource::Beside(typed))
    }

    fn emit_call(
        &mut self,
        given: &CallArguments,
        op: Op,
        operands: &[(NodeId, ExprId)],
        shown: &[ExprId],
    ) -> Lowered<NodeId> {
        let nodes: Vec<_> = operands.iter().map(|(node, _)| *node).collect();
        let spot = self.spot_of_call(given, shown);
        Ok(self.emit(op, &nodes, spot))
    }

    fn merged_ellipses(
        &mut self,
        given: &CallArguments,
        equation: ExprId,
        terms: &[Term],
        operands: &[(NodeId, ExprId)],
    ) -> Lowered<MergedOperands<NodeId>> {
        Ok(self.with_merged_ellipses(given, equation, terms, operands))
    }

    fn extents_of_term(
        &mut self,
        equation: ExprId,
        term: &Term,
        (node, x): (NodeId, ExprId),
        merged: NodeId,
    ) -> Lowered<Vec<Dim>> {
        let mut extents = |node, axis| self.extent_symbol("einsum", node, ExtentRef::Axis(axis), x);
        if let Some([before, behind]) = term.around_ellipsis() {
            let axes = (0..).take(before + 1).map(|axis| extents(merged, axis)).collect::<Vec<_>>();
            let behind = i64::try_from(behind).expect("a term is short");
            return Ok(axes.into_iter().chain((-behind..0).map(|axis| extents(node, axis))).collect());
        }
        let extents = (0..).take(term.letters()).map(|axis| extents(node, axis)).collect();
        self.check_rank_of_term(equation, term, (node, x));
        Ok(extents)
    }

    fn same_extent(&mut self, _: ExprId, [first, other]: [&NamedAxis<NodeId>; 2]) -> Lowered<()> {
        let mut others = Vec::new();
        let extent = self.over_operands(&first.extent, 1, &mut others);
        let others = others.into_iter().map(|(node, x)| (node, self.text(x))).collect();
        let contract = Contract {
            label: "operand of `einsum`".to_owned(),
            pattern: format!("equal extents of `{}`", other.index.name()),
            demand: Demand::Extent { axis: other.from_last, name: other.index.name(), extent },
            others,
        };
        let text = self.text(other.expr);
        let kind = CheckKind::Argument(contract.into());
        self.checks.push(Check { kind, node: other.tensor, text, site: other.site });
        Ok(())
    }

    fn extents_of_list(
        &mut self,
        given: &CallArguments,
        (node, x): (NodeId, ExprId),
        list: ExprId,
        count: usize,
    ) -> Lowered<Vec<Dim>> {
        let contract = Contract {
            label: format!("operand of `{}`", given.name),
            pattern: match list == x {
                true => axes_text(count),
                false => format!("{}, as many as {} has numbers", axes_text(count), self.text(list)),
            },
            demand: Demand::Fits { elements: Elements::Of(Takes::All), rank: count, open: false },
            others: Vec::new(),
        };
        let (text, site) = (self.text(x), self.site(list));
        self.checks.push(Check { kind: CheckKind::Argument(contract.into()), node, text, site });
        let axes = (0..).take(count);
        Ok(axes.map(|axis| self.extent_symbol(given.name, node, ExtentRef::Axis(axis), x)).collect())
    }

    fn extents_from(
        &mut self,
        given: &CallArguments,
        (node, x): (NodeId, ExprId),
        axis: i64,
    ) -> Lowered<(Vec<Dim>, Vec<Dim>)> {
        let behind = self.counted_from_end(given, axis)?;
        self.extent_of(given, (node, x), axis)?;
        let leading = self.extent_symbol(given.name, node, ExtentRef::Leading(behind), x);
        let axes = axis..0;
        let last = axes.map(|axis| self.extent_symbol(given.name, node, ExtentRef::Axis(axis), x));
        Ok((vec![leading], last.collect()))
    }

    fn divides(
        &mut self,
        given: &CallArguments,
        (node, x): (NodeId, ExprId),
        axis: i64,
        (_, whole): (&Dim, &Dim),
        (count, at): (i64, ExprId),
    ) -> Lowered<()> {
        let axis = self.counted_from_end(given, axis)?;
        let mut others = Vec::new();
        let extent = self.over_operands(whole, 1, &mut others);
        let others = others.into_iter().map(|(node, x)| (node, self.text(x))).collect();
        let name = format!("the largest multiple of {count}");
        let contract = Contract {
            label: "operand of `split`".to_owned(),
            pattern: format!("an extent that is a multiple of {count}"),
            demand: Demand::Extent { axis, name, extent },
            others,
        };
        let (text, site) = (self.text(x), self.site(at));
        self.checks.push(Check { kind: CheckKind::Argument(contract.into()), node, text, site });
        Ok(())
    }

    fn part_of_axis(
        &mut self,
        given: &CallArguments,
        (node, x): (NodeId, ExprId),
        axis: i64,
        (start, end): (Option<&Dim>, Option<&Dim>),
        _: ExprId,
    ) -> Lowered<NodeId> {
        let range = Subscript::Range { start: start.cloned(), end: end.cloned(), step: None };
        let spot = self.spot_of_call(given, &[x]);
        Ok(self.emit(Op::Part(Part::Index { indices: along(axis, range) }), &[node], spot))
    }

    fn replaced(&mut self, _: ExprId, _: ExprId, expr: ExprId) -> Lowered<Value<NodeId>> {
        let message =
            "`replace` is not known in an expression: the types that it needs are known only in functions";
        Err(Diag::new(Code::E1007, self.site(expr), message)
            .help("write a function: `mind! { fn f(x: f32[4]) -> f32[4] { replace(x[0], 1.0) } }`")
            .into())
    }

    fn extent_of(&mut self, given: &CallArguments, (node, x): (NodeId, ExprId), axis: i64) -> Lowered<Dim> {
        let named = given.named().find(|(name, _)| *name == "axis");
        let site = self.site(named.map_or(given.expr, |(_, argument)| argument));
        let text = self.text(x);
        self.checks.push(Check { kind: CheckKind::Axis(axis), node, text, site });
        Ok(self.extent_symbol("extent", node, ExtentRef::Axis(axis), x))
    }

    fn is_number(&mut self, op: BinaryOp, site: Site, value: &Value<NodeId>, expr: ExprId) -> bool {
        match value {
            Value::Tensor(node) => {
                let contract = Contract {
                    label: format!("`{}` with a struct", op.symbol()),
                    pattern: "a single number, or a struct as in `(p: Net)`".to_owned(),
                    demand: Demand::Fits { elements: Elements::Of(Takes::All), rank: 0, open: false },
                    others: Vec::new(),
                };
                let (kind, text) = (CheckKind::Argument(contract.into()), self.text(expr));
                self.checks.push(Check { kind, node: *node, text, site });
                true
            }
            Value::Literal(id) => self.literals.elements(*id).is_none(),
            Value::Poison | Value::Struct(_) | Value::Tuple(_) | Value::Word(_) => false,
        }
    }

    fn rename(&mut self, expr: ExprId, text: String) {
        self.texts[expr.index()] = text;
    }
}

pub(super) fn axes_text(count: usize) -> String {
    if count == 1 { "1 axis".to_owned() } else { format!("{count} axes") }
}

/// The axis of the result that the subscript at a position takes. It is counted from the end if `..` is before it.
fn axis_taken(subscripts: &[Subscript], at: usize) -> i64 {
    let kept = |subscripts: &[Subscript]| {
        let kept = subscripts.iter().filter(|part| matches!(part, Subscript::Range { .. })).count();
        i64::try_from(kept).expect("a list of subscripts is short")
    };
    match subscripts[..at].contains(&Subscript::Rest) {
        true => -kept(&subscripts[at..]),
        false => kept(&subscripts[..at]),
    }
}

/// The subscripts that take a range of one axis; a negative axis counts from the end.
fn along(axis: i64, range: Subscript) -> Vec<Subscript> {
    let whole = Subscript::Range { start: None, end: None, step: None };
    let (axes, is_last) = (axis.unsigned_abs().min(MAX_RANK as u64) as usize, axis < 0);
    let wholes = vec![whole; if is_last { axes - 1 } else { axes }];
    match is_last {
        true => [vec![Subscript::Rest, range], wholes].concat(),
        false => [wholes, vec![range]].concat(),
    }
}

/// The subscripts that take the first element of each of this number of last axes.
pub(super) fn first_of_last(axes: usize) -> Op {
    let first = vec![Subscript::At(Dim::ZERO); axes];
    Op::Part(Part::Index { indices: [Subscript::Rest].into_iter().chain(first).collect() })
}

impl ExpressionLowering<'_> {
    /// A negative axis, counted from the last, which is 1. Returns an error for any other axis: what follows it is not
    /// known.
    fn counted_from_end(&self, given: &CallArguments, axis: i64) -> Lowered<usize> {
        let named = given.named().find(|(name, _)| *name == "axis");
        let at = named.map_or(given.expr, |(_, argument)| argument);
        match usize::try_from(axis.unsigned_abs()) {
            Ok(behind) if axis < 0 && behind <= MAX_RANK => Ok(behind),
            Ok(_) | Err(_) => {
                let message =
                    format!("`{}`: axis {axis} needs an operand of known rank in an expression", given.name);
                let help = "count the axis from the end, as in `axis = -1`, or write a function";
                Err(Diag::new(Code::E2003, self.site(at), message).help(help).into())
            }
        }
    }

    pub(super) fn call(
        &mut self,
        callee: &Callee,
        arguments: &[Argument],
        method: bool,
        expr: ExprId,
    ) -> Lowered<Value<NodeId>> {
        if method && self.is_call_of_library(callee, arguments) {
            return Err(self.library_called(callee, arguments, expr).into());
        }
        if let Some(diag) = self.not_for_expressions(callee, expr) {
            return Err(diag.into());
        }
        let Some(builtin) = builtins::called(callee) else {
            return Err(self.undefined_function(callee, (arguments, method), expr));
        };
        self.call_builtin(builtin, arguments, expr)
    }

    /// The error for a call of a function of a block. Functions declare types, so expressions call templates only.
    fn not_for_expressions(&self, callee: &Callee, expr: ExprId) -> Option<Diag> {
        let text = callee.to_string();
        if let Some(frame) = self.frames.last() {
            let is_function = !callee.of_library && builtins::called(callee).is_none();
            let message = format!("`{text}` is a function of a block, expected a template");
            let help =
                format!("call `{}` in a function of a block, or make `{text}` a template", frame.name());
            return is_function.then(|| Diag::new(Code::E2002, self.site(expr), message).help(help));
        }
        self.table.scope(0).position(&text)?;
        let message = format!("`{text}` is a function of a block, expected a template");
        let help = format!("to call it as a Rust function, write the call in braces, as in `{{{text}(&x)}}`");
        Some(Diag::new(Code::E2002, callee.site(), message).help(help))
    }

    pub(super) fn spot_of_call(&self, given: &CallArguments, operands: &[ExprId]) -> Spot {
        let spot = self.spot(given.name, given.expr, operands);
        given.attributes().fold(spot, |spot, (name, argument)| spot.attribute(name, self.given_at(argument)))
    }

    /// The site of an attribute. In a template it is the site in the outermost call, if that call contains the
    /// attribute.
    fn given_at(&self, argument: ExprId) -> Site {
        let written = match (self.frames.first(), self.value(argument)) {
            (Some(frame), Value::Literal(literal)) => {
                Some(self.literals.expr(*literal)).filter(|expr| expr.0 < frame.enter.0)
            }
            _ => None,
        };
        written.map_or_else(|| self.site(argument), |expr| self.body[expr].site)
    }

    /// The spot of a literal, which may be a call such as `zeros([3])`.
    pub(super) fn spot_of_literal(&self, expr: ExprId) -> Spot {
        let NodeKind::Call { callee, .. } = &self.body[expr].kind else {
            return self.spot("literal", expr, &[]);
        };
        let callee = builtins::find(&callee.to_string());
        self.spot(callee.map_or("literal", |builtin| builtin.name), expr, &[])
    }

    /// The site of the shape in a literal that is a call, such as `zeros([3])`.
    pub(super) fn shape_site(&self, expr: ExprId) -> Option<Site> {
        let NodeKind::Call { arguments, .. } = &self.body[expr].kind else { return None };
        arguments.first().map(|argument| argument.site)
    }

    fn undefined_function(
        &mut self,
        callee: &Callee,
        (arguments, method): (&[Argument], bool),
        expr: ExprId,
    ) -> Stop {
        let of_mistake = method && matches!(self.value(arguments[0].value), Value::Poison);
        if of_mistake || self.is_reported_with_its_call(callee, expr) {
            return Stop::Poisoned;
        }
        let name = callee.to_string();
        let text = self.short_text(expr);
        let diag = self.no_function(callee, (arguments, method), expr, builtins::names());
        let operand = arguments.first().map(|first| self.text(first.value));
        let diag = match self.updates_part(arguments, method) {
            true => diag.help(habits::field("at").unwrap_or_default()),
            false => diag,
        };
        let extent = operand.and_then(|operand| habits::extent_function(&name, operand.trim_matches('`')));
        self.once(format!("{name}()"), || {
            let what = if method { "method" } else { "function" };
            match (extent, &diag.help) {
                (Some(extent), _) => diag.help(extent),
                (None, Some(_)) => diag,
                (None, None) => {
                    diag.help(format!("put a call of a Rust {what} in braces, as in `{{{text}}}`"))
                }
            }
        })
    }

    /// Whether a method is JAX's `x.at[0].set(…)`.
    fn updates_part(&self, arguments: &[Argument], method: bool) -> bool {
        let part = arguments.first().filter(|_| method).map(|receiver| &self.body[receiver.value].kind);
        let Some(NodeKind::Subscript { base, .. }) = part else { return false };
        matches!(&self.body[*base].kind, NodeKind::Member { name, .. } if name == "at")
    }

    pub(super) fn transpose(
        &mut self,
        base: ExprId,
        axes: Transposed,
        expr: ExprId,
    ) -> Lowered<Value<NodeId>> {
        let label = if axes == Transposed::All { "transpose" } else { axes.symbol() };
        let spot = self.spot(label, expr, &[base]);
        let operand = self.tensor(base, None)?;
        Ok(Value::Tensor(self.emit(transposed(axes), &[operand], spot)))
    }

    pub(super) fn subscript(
        &mut self,
        base: ExprId,
        subscripts: &[ast::Subscript],
        expr: ExprId,
    ) -> Lowered<Value<NodeId>> {
        let node = match subscripts.iter().any(|subscript| self.is_pick(subscript)) {
            true => self.picked(base, subscripts, expr)?,
            false => self.part(base, subscripts, expr)?,
        };
        Ok(Value::Tensor(node))
    }

    /// The part that ranges and numbers take.
    pub(super) fn part(
        &mut self,
        base: ExprId,
        subscripts: &[ast::Subscript],
        expr: ExprId,
    ) -> Lowered<NodeId> {
        let operand = self.tensor(base, None)?;
        let spot = self.spot("index", expr, &[base]);
        // The ranges that are taken in reverse order, each with the size of its steps.
        let (mut read, mut sites, mut reversed) = (Vec::new(), Vec::new(), Vec::new());
        for ast::Subscript { kind, site } in subscripts {
            let bound = |bound: Option<ExprId>| bound.map(|bound| self.bound_attribute(bound)).transpose();
            read.push(match *kind {
                SubscriptKind::Rest => Subscript::Rest,
                SubscriptKind::New => continue,
                SubscriptKind::At(place) => Subscript::At(self.index(base, place)?),
                SubscriptKind::Counted { start, count } => {
                    let (first, count) = (self.bound_attribute(start)?, self.bound_attribute(count)?);
                    let end = first
                        .add(&count)
                        .map_err(|overflow| Diag::new(Code::E1008, *site, format!("`index`: {overflow}")))?;
                    Subscript::Range { start: Some(first), end: Some(end), step: None }
                }
                SubscriptKind::Range { start, end, step } => {
                    let step = step.map(|step| self.integer_attribute(step)).transpose()?;
                    let back = step.filter(|step| *step < 0);
                    if let Some(step) = back {
                        reversed.push((read.len(), step.saturating_abs()));
                    }
                    Subscript::Range {
                        start: bound(start)?,
                        end: bound(end)?,
                        step: step.filter(|_| back.is_none()),
                    }
                }
            });
            sites.push((!matches!(kind, SubscriptKind::Rest)).then_some(*site));
        }
        let new = new_axes(subscripts);
        // If all axes are taken whole beside new axes, the operand needs no copy.
        let is_whole = !new.is_empty() && read.iter().all(|part| *part == Subscript::Rest);
        let axes = reversed.into_iter().map(|(at, step)| (axis_taken(&read, at), step)).collect::<Vec<_>>();
        let index = Op::Part(Part::Index { indices: read });
        // Mistakes inside a template are reported at its call.
        let spot = if self.frames.is_empty() { spot.subscripts(&sites) } else { spot };
        let mut taken = if is_whole { operand } else { self.emit(index, &[operand], spot) };
        for (axis, step) in axes {
            let spot = |lowering: &Self| lowering.spot("index", expr, &[base]);
            taken = self.emit(Op::Reorder(Reorder::reversed(axis)), &[taken], spot(self));
            if step != 1 {
                let range = Subscript::Range { start: None, end: None, step: Some(step) };
                let every = Op::Part(Part::Index { indices: along(axis, range) });
                taken = self.emit(every, &[taken], spot(self));
            }
        }
        if new.is_empty() {
            return Ok(taken);
        }
        let spot = self.spot("index", expr, &[base]).attribute("axes", self.site(expr));
        Ok(self.emit(expanded(new), &[taken], spot))
    }

    fn index(&self, base: ExprId, place: ExprId) -> Lowered<Dim> {
        if let Value::Tensor(_) = self.value(place) {
            let message = format!(
                "an index must be an integer or a tensor of integers, found {}",
                self.describe(place)
            );
            return Err(Diag::new(Code::E2001, self.site(place), message)
                .help(self.picked_help(base, place))
                .into());
        }
        self.dim_attribute(place).map_err(|stop| self.not_a_list(base, place, stop))
    }
}
