//! Derivatives: functions of the IR made of functions of the IR, so that derivatives have derivatives.
//!
//! Forward mode ([`forward`]) carries a tangent beside each value. Reverse mode ([`reverse`]) makes two halves: the
//! first runs the function and keeps on a tape what the second asks for, the second goes backwards and adds into
//! accumulators. [`Derivative`] lists what is made; only what a program asks for is.

mod forward;
mod loops;
mod partials;
mod place;
mod replay;
mod reverse;
mod simplify;

pub(super) use simplify::forward;
use simplify::simplify;

use super::{
    build::{Builder, spread},
    ir::{Body, Definition, Derivative, FunctionId, Operation, Program},
};
use crate::diag::{Code, Diag, Diags};

/// How many instructions the derivatives of a program may have. Each derivative of a derivative has a few times those of what it is
/// of, so a chain of twenty would have more than any machine can hold.
pub const MAX_DERIVED: usize = 1 << 20;

impl Program {
    /// Makes every derivative that was asked for and is not there yet.
    ///
    /// # Errors
    /// E5001 for the derivative of a function that is declared only, or is a Rust function; E1008 where there are more
    /// than [`MAX_DERIVED`] instructions.
    pub fn complete(&mut self) -> Result<(), Diags> {
        let mut diags = Diags::new();
        // Making one may ask for more, which stand behind it.
        let mut next = self.completed;
        while next < self.functions.len() {
            if let Definition::Pending(derivative, of) = self.functions[next].definition {
                let made = self.make(FunctionId::new(next), derivative, of);
                if let Err(diag) = made {
                    self.functions[next].definition = Definition::Wrong;
                    // One function that is declared only may be in the way of many derivatives.
                    if diags.as_slice().iter().all(|other| other.message != diag.message) {
                        diags.push(diag);
                    }
                }
            }
            if self.derived > MAX_DERIVED {
                let function = &self.functions[next];
                let message = format!("derivatives have more instructions than the limit of {MAX_DERIVED}");
                let diag = Diag::new(Code::E1008, function.place.into(), message);
                diags.push(diag.note(format!("the last one that was made is {}", function.name)));
                break;
            }
            next += 1;
        }
        self.completed = next;
        diags.into_result(())
    }

    fn make(&mut self, id: FunctionId, derivative: Derivative, of: FunctionId) -> Result<(), Diag> {
        match derivative {
            Derivative::Fwd => self.make_fwd(id, of),
            Derivative::Shape => self.make_shape(id, of),
            Derivative::Dual => {
                let source = self.source(Derivative::Fwd, of)?;
                let body = forward::dual(self, of, &source);
                self.define(id, body);
            }
            Derivative::Rev => {
                let source = self.source(Derivative::Rev, of)?;
                let body = reverse::reverse(self, of, &source);
                self.define(id, body);
            }
            Derivative::SufFwdPass | Derivative::SufRevPass => {
                self.make_halves(of, [Derivative::SufFwdPass, Derivative::SufRevPass])?;
            }
            Derivative::Taped | Derivative::Pullback => {
                self.make_halves(of, [Derivative::Taped, Derivative::Pullback])?;
            }
        }
        Ok(())
    }

    fn define(&mut self, id: FunctionId, mut body: Body) {
        simplify(&mut body);
        self.derived += body.blocks.iter().map(|block| block.instructions.len()).sum::<usize>();
        self.functions[id.index()].definition = Definition::Defined(body);
    }

    /// The body that a derivative is made of.
    fn source(&self, derivative: Derivative, of: FunctionId) -> Result<Body, Diag> {
        let function = self.function(of);
        let (name, derivative) = (&function.name, derivative.name());
        let (message, help) = match &function.definition {
            Definition::Defined(body) => return Ok(body.clone()),
            Definition::Bound(_) => (
                format!("`{name}` is a Rust function, and nothing says what [{derivative} {name}] is"),
                format!("bind that too, `{derivative} {name} = …`, or define [{derivative} {name}]"),
            ),
            Definition::Declared | Definition::Pending(..) | Definition::Wrong => (
                format!("`{name}` is declared only, so nothing says what its derivative is"),
                format!("define [fwd {name}] and [rev {name}], or declare them too"),
            ),
        };
        Err(Diag::new(Code::E5001, function.place.into(), message).help(help))
    }

    /// The second member of the dual.
    fn make_fwd(&mut self, id: FunctionId, of: FunctionId) {
        let function = self.function(of);
        let count = function.parameters.len();
        let result = function.result;
        let dual = self.derivative(Derivative::Dual, of);
        let mut b = Builder::at(self.function(of).place);
        let parameters = self.function(id).parameters.clone();
        let given = b.begin(&parameters);
        let mut operands = spread(&mut b, self, given[0], count);
        operands.extend(spread(&mut b, self, given[1], count));
        let tangent = self.types.tangent(result);
        let pair = self.types.tuple([result, tangent]);
        let pair = b.emit(Operation::Call(dual), operands, pair);
        let result = b.get(&self.types, pair, 1);
        self.define(id, b.finish(result));
    }

    fn make_shape(&mut self, id: FunctionId, of: FunctionId) {
        let parameters = self.function(id).parameters.clone();
        let result = self.function(of).result;
        let mut b = Builder::at(self.function(of).place);
        let operands = b.begin(&parameters);
        let value = b.emit(Operation::Call(of), operands, result);
        let result = b.shape(&mut self.types, value);
        self.define(id, b.finish(result));
    }

    /// Both halves agree on what the tape holds, so they are made together.
    fn make_halves(&mut self, of: FunctionId, halves: [Derivative; 2]) -> Result<(), Diag> {
        let source = self.source(Derivative::Rev, of)?;
        let ids = halves.map(|half| self.derivative(half, of));
        let bodies = reverse::halves(self, of, &source, halves[1]);
        for (id, body) in ids.into_iter().zip(bodies) {
            if matches!(self.function(id).definition, Definition::Pending(..)) {
                self.define(id, body);
            }
        }
        Ok(())
    }
}
