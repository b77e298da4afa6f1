//! Refuses loops and branches in expressions over Rust variables. They need types, which are not known while the macro
//! runs.

use super::lowering::ExpressionLowering;
use crate::diag::{Code, Diag};
use crate::surface::ast::{ExprId, Loop, Pattern};
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::{Lowered, Stop, Value};

impl ExpressionLowering<'_> {
    /// Binds the names of a loop to poison.
    pub(super) fn enter_loop(&mut self, of: &Loop) {
        self.names.enter();
        let carry = of.carry.as_ref().map(|(pattern, first)| (pattern, *first));
        for (pattern, expr) in carry.into_iter().chain([(&of.element, of.over)]) {
            self.bind(pattern, Value::Poison, expr);
        }
    }

    /// Binds the names of a `while` to poison.
    pub(super) fn enter_while(&mut self, carry: &Pattern, first: ExprId) {
        self.names.enter();
        self.bind(carry, Value::Poison, first);
    }

    /// Returns E1007 for the loop.
    pub(super) fn leave_loop(&mut self, head: ExprId) -> Lowered<Value<crate::open::NodeId>> {
        self.names.leave();
        Err(self.in_functions_only("a loop", head))
    }

    /// E1007 for a part of the language that needs types.
    pub(super) fn in_functions_only(&mut self, what: &str, expr: ExprId) -> Stop {
        let message = format!("found {what}, which is only allowed in functions");
        let help = match what {
            "an `if`" => {
                "write `where(x > 0.0, …, …)` to choose for each element, or use Rust's `if` around `mind!(…)`"
            }
            _ => "write a function in a `mind!` block, and call it from Rust",
        };
        let diag = Diag::new(Code::E1007, self.site(expr), message).help(help);
        // A template may have several, of which its call has one error.
        match self.frames.first() {
            Some(call) => self.once(format!("{what} in the call {}", call.enter.0), || diag),
            None => Stop::from(diag),
        }
    }
}
