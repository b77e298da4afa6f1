//! Derivatives. They are IR functions generated from IR functions, so derivatives can be differentiated again.
//!
//! Forward mode ([`forward`]) carries a tangent with each value. Reverse mode ([`reverse`]) generates two halves. The
//! first half runs the function and saves the values that the second half needs on a tape. The second half runs
//! backwards and adds into accumulators. [`Derivative`] lists the kinds of derivatives. Only the ones that a program
//! requests are generated.

mod forward;
mod linear;
mod loops;
mod partials;
mod place;
mod replay;
mod reverse;
mod simplify;

pub(super) use simplify::forward;
use simplify::simplify;

use mind_core::diag::{Code, Diag, Diags};

use crate::{
    build::{Builder, spread},
    ir::{Body, Definition, Derivative, FunctionId, Operation, Program},
};

/// The maximum number of instructions in a program's derivatives. Each derivative is a few times as large as its
/// function, so a chain of twenty derivatives would exceed any machine's memory.
pub const MAX_DERIVED: usize = 1 << 20;

impl Program {
    /// Generates every derivative that was requested and does not exist yet.
    ///
    /// # Errors
    /// E5001 for the derivative of a function without a body in the program, which is declared or a Rust function.
    /// E1008 for more than [`MAX_DERIVED`] instructions.
    pub fn complete(&mut self) -> Result<(), Diags> {
        let mut diags = Diags::new();
        // Generating a derivative can request more, which are appended.
        let mut next = self.completed;
        while next < self.functions.len() {
            if let Definition::Pending(derivative, of) = self.functions[next].definition {
                let made = self.make(FunctionId::new(next), derivative, of);
                if let Err(diag) = made {
                    self.functions[next].definition = Definition::Wrong;
                    // Several derivatives can depend on the same declared function.
                    if diags.as_slice().iter().all(|other| other.message != diag.message) {
                        diags.push(diag);
                    }
                }
            }
            if self.derived > MAX_DERIVED {
                let function = &self.functions[next];
                let message = format!("derivatives have more instructions than the limit of {MAX_DERIVED}");
                let diag = Diag::new(Code::E1008, function.place.into(), message);
                diags.push(diag.note(format!("the last generated derivative is {}", function.name)));
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
            Derivative::Direct => {
                let source = self.source(Derivative::Rev, of)?;
                let body = reverse::direct(self, of, &source);
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

    /// The body that a derivative is generated from.
    fn source(&self, derivative: Derivative, of: FunctionId) -> Result<Body, Diag> {
        let function = self.function(of);
        let (name, derivative) = (&function.name, derivative.name());
        let (message, help) = match &function.definition {
            Definition::Defined(body) => return Ok(body.clone()),
            Definition::Bound(_) => (
                format!("`{name}` is a Rust function, and [{derivative} {name}] is not defined"),
                format!(
                    "bind the derivative too, `{derivative} {name} = …`, or define [{derivative} {name}]"
                ),
            ),
            Definition::Declared | Definition::Pending(..) | Definition::Wrong => (
                format!("`{name}` is declared but not defined, so it has no derivative"),
                format!("define or declare [fwd {name}] and [rev {name}]"),
            ),
        };
        Err(Diag::new(Code::E5001, function.place.into(), message).help(help))
    }

    /// Generates the forward derivative: the second member of the dual.
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

    /// Generates both halves together, because they must agree on the contents of the tape.
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
