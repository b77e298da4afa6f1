//! `einsum`: its text is matched with the operands, and becomes a composite of other operations.

use std::collections::BTreeMap;

use super::calls::CallArguments;
use super::operations::Operations;
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::surface::ast::{ExprId, NodeKind};
use crate::surface::lower::declarations::lowered::EinsumOrder;
use crate::surface::lower::values::{Lowered, Value};
use crate::ty::MAX_RANK;
use crate::written::einsum::{Contraction, Equation, Fault, Impossible, Index, Operand, contraction};
use crate::written::{CompositeOp, reshaped_to};

/// An axis of an operand, with the index that names it.
#[derive(Clone, Debug)]
pub(crate) struct NamedAxis<T> {
    pub(crate) index: Index,
    /// The position of the operand.
    pub(crate) operand: usize,
    pub(crate) tensor: T,
    pub(crate) expr: ExprId,
    pub(crate) axis: usize,
    /// The axis, counted from the last, which is 1.
    pub(crate) from_last: usize,
    pub(crate) extent: Dim,
    /// Where it is named.
    pub(crate) site: Site,
}

/// The help for a call that is written in another way.
pub(super) const CALL: &str = "write `einsum(\"ij,jk->ik\", x, w)`";

/// Lowers `einsum("ij,jk->ik", x, w)`.
pub(super) fn einsum<L: Operations + ?Sized>(
    lowering: &mut L,
    given: &CallArguments,
    equation: ExprId,
    operands: &[ExprId],
) -> Lowered<Value<L::Tensor>> {
    let text = lowering.text_attribute(equation).map_err(|stop| stop.map(|diag| diag.help(CALL)))?;
    let faulty = |lowering: &L, fault: Fault| {
        let diag = Diag::new(
            fault.code,
            lowering.part_of_text(equation, fault.at),
            format!("`einsum`: {}", fault.message),
        );
        Diag { help: fault.help, ..diag }
    };
    let read = Equation::read(&text).map_err(|fault| faulty(lowering, fault))?;
    if read.terms.len() != operands.len() {
        return Err(miscounted(lowering, equation, &read, operands).into());
    }
    let values = lowering.same_dtype_operands(given.name, None, operands)?;
    let (merged, of_ellipsis) = lowering.merged_ellipses(given, equation, &read.terms, &values)?;
    let mut extents = Vec::new();
    for ((term, value), merged) in read.terms.iter().zip(&values).zip(&merged) {
        extents.push(lowering.extents_of_term(equation, term, *value, merged.0)?);
    }
    let axes = read.terms.iter().zip(&extents).map(|(term, extents)| extents.len() - term.letters());
    let indexed = read.indexed(&axes.collect::<Vec<_>>()).map_err(|fault| faulty(lowering, fault))?;
    let (mut first, mut parts) = (BTreeMap::<Index, NamedAxis<L::Tensor>>::new(), Vec::new());
    for (operand, indices) in indexed.operands.iter().enumerate() {
        for (axis, index) in indices.iter().enumerate() {
            let extent = extents[operand][axis].clone();
            let place = read.terms[operand].place(axis, indices.len());
            let site = lowering.part_of_text(equation, place);
            let from_last = indices.len() - axis;
            // Messages show the operand as it was given if the axis has the same place there.
            let is_behind = indices[axis..].iter().all(|index| !index.is_of_ellipsis());
            let (tensor, expr) = if is_behind { values[operand] } else { merged[operand] };
            let own = NamedAxis { index: *index, operand, tensor, expr, axis, from_last, extent, site };
            match first.get(index) {
                None => _ = first.insert(*index, own),
                Some(other) if other.extent == own.extent => {}
                // An axis of extent 1 is broadcast, but not along another axis of the same operand.
                Some(other) if other.operand != operand && own.extent.is_one() => {}
                Some(other) if other.operand != operand && other.extent.is_one() => {
                    _ = first.insert(*index, own)
                }
                Some(other) => lowering.same_extent(equation, [other, &own])?,
            }
        }
    }
    for (operand, indices) in indexed.operands.into_iter().enumerate() {
        let is_broadcast =
            |axis: &usize| extents[operand][*axis].is_one() && !first[&indices[*axis]].extent.is_one();
        let broadcast = (0..indices.len()).filter(is_broadcast).collect();
        parts.push(Operand { indices, broadcast });
    }
    let known: BTreeMap<Index, Dim> =
        first.iter().map(|(index, axis)| (*index, axis.extent.clone())).collect();
    let Contraction { steps, order, multiplications } = contraction(&parts, &indexed.output, &known)
        .map_err(|impossible| {
            let message = match impossible {
                Impossible::Rank => format!("a product on the way has more than {MAX_RANK} indices"),
                Impossible::Extent(overflow) => overflow.to_string(),
            };
            Diag::new(Code::E1008, lowering.site(given.expr), format!("`einsum`: {message}"))
                .help("merge axes that occur together into one, with `reshape`")
        })?;
    let terms: Vec<String> = read.terms.iter().map(|term| text[term.at.clone()].replace(' ', "")).collect();
    lowering.note_einsum(EinsumOrder {
        equation: text.replace(' ', ""),
        order: in_brackets(&terms, &order),
        multiplications,
    });
    let mut values = merged;
    for CompositeOp { op, operands: of } in steps {
        let of: Vec<_> = of.iter().map(|at| values[*at]).collect();
        let shown: Vec<ExprId> = of.iter().map(|(_, expr)| *expr).collect();
        let expr = shown.first().copied().unwrap_or(operands[0]);
        values.push((lowering.emit_call(given, op, &of, &shown)?, expr));
    }
    let result = values[values.len() - 1];
    let ellipsis = indexed.output.iter().position(|index| index.is_of_ellipsis());
    let (Some(of_ellipsis), Some(at)) = (of_ellipsis, ellipsis) else { return Ok(Value::Tensor(result.0)) };
    let mut shape = Vec::new();
    for (axis, position) in (0..indexed.output.len()).zip(0..) {
        shape.push(match axis == at {
            true => of_ellipsis.clone(),
            false => lowering.extent_of(given, result, position)?,
        });
    }
    Ok(Value::Tensor(lowering.emit_call(given, reshaped_to(shape), &[result], &[result.1])?))
}

/// The error for another number of operands than of terms: at the first operand without a term, or at the first term
/// without an operand.
fn miscounted<L: Operations + ?Sized>(
    lowering: &L,
    equation: ExprId,
    read: &Equation,
    operands: &[ExprId],
) -> Diag {
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let message = format!(
        "`einsum`: the text has {}, found {}",
        plural(read.terms.len(), "term"),
        plural(operands.len(), "tensor")
    );
    match operands.get(read.terms.len()) {
        Some(operand) => Diag::new(Code::E2007, lowering.site(*operand), message)
            .help("remove it, or add a term for it, after a comma"),
        None if operands.len() == 1
            && matches!(&lowering.body()[operands[0]].kind, NodeKind::Array(parts) if parts.len() == read.terms.len()) =>
        {
            Diag::new(Code::E2007, lowering.site(operands[0]), message)
                .help("pass the tensors without brackets")
        }
        None => {
            let term = &read.terms[operands.len()];
            Diag::new(Code::E2007, lowering.part_of_text(equation, term.at.clone()), message)
                .help("remove the term, or pass a tensor for it")
        }
    }
}

/// The order of products as text: `((ij,jk),kl)`.
fn in_brackets(terms: &[String], order: &[(usize, usize)]) -> String {
    let mut texts = terms.to_vec();
    for (a, b) in order {
        let [a, b] = [*a, *b].map(|at| std::mem::take(&mut texts[at]));
        texts.push(format!("({a},{b})"));
    }
    texts.pop().unwrap_or_default()
}
