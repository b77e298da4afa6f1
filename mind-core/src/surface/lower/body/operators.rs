//! Operators.

use super::lowering::BodyLowering;
use super::report::Spot;
use crate::diag::{Code, Diag};
use crate::surface::ast::{ExprId, Transposed};
use crate::surface::lower::values::expressions::{Expressions, transposed};
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Value};
use crate::written::resolve;

impl BodyLowering<'_> {
    /// `x.T` and `x.mT`: reverses all axes, or swaps the last two.
    pub(crate) fn transpose(&mut self, base: ExprId, axes: Transposed, expr: ExprId) -> Lowered<Value> {
        let operand = self.tensor(base, None)?;
        let ty = self.builder.ty(operand);
        let rank = ty.rank();
        if axes == Transposed::Matrices && rank < 2 {
            let (label, text) = (axes.symbol(), self.text(base));
            let message = format!("`{label}`: operand of rank {rank}, needed rank 2 or more: {text} is {ty}");
            return Err(Diag::new(Code::E3002, self.site(expr), message).into());
        }
        let ops = resolve(&transposed(axes), &[ty]).expect("the rank has been looked at");
        self.emit_each(&Spot::of(expr), ops, vec![(operand, base)]).map(Value::Tensor)
    }
}
