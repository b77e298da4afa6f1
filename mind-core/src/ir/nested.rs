//! Modules inside instructions.

use std::{fmt, ops::Deref, sync::Arc};

use super::{Module, Op, Own, ValueId};

/// Instructions that hold a module, and the instruction that reads their further results.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// The results of running the module on the operands; an extension.
    Call(Nested),
    /// Returns its first operands, which are results of a function with a custom derivative. The module computes the
    /// cotangents of the other operands, the function's parameters; an extension.
    Pullback(Nested),
    /// A loop that runs a module once per element along the leading axis of some operands; an extension.
    Scan(Scan),
    /// A result after the first of the instruction that makes the operand; an extension.
    Result {
        /// The position among the results. Position 0 is the operand itself.
        position: i64,
    },
}

/// A loop. Its operands are the carries of the first step, then the operands that are iterated or captured, in any
/// order.
///
/// The body has one input per operand. For an iterated operand the input is the element of the step along the operand's
/// leading axis. The body returns the carries of the next step, then the values that are stacked along a new leading
/// axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scan {
    /// The module that each step runs.
    pub body: Nested,
    /// The number of carries.
    pub carries: i64,
    /// Whether the steps run from the last element to the first.
    pub reverse: bool,
    /// The rule for which steps run.
    pub guard: Guard,
    /// The number of steps between two carries that are kept for derivatives; 0 if the residuals of all steps are kept.
    /// It does not affect results: the optimiser recomputes the steps between kept carries (`opt/segments/`).
    pub checkpoint: i64,
    /// The number of stacked results that only derivatives read. They are the last results.
    pub residuals: i64,
}

/// Decides which steps of a loop run. A step that does not run leaves the carries as they are, and its stacked results
/// are zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guard {
    /// All steps run.
    Always,
    /// Steps run while the first carry, a `bool`, is true. The loop need not iterate over an operand. If it iterates
    /// over one, the first carry must be false after the last step.
    Carry,
    /// A step runs if the first operand after the carries is true: a `bool` for all steps, or one for each.
    Operand,
}

/// How the steps of a loop read an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The first step reads the operand. Each later step reads a result of the step before it.
    Carry,
    /// Each step reads its own element along the leading axis.
    Element,
    /// Each step reads the whole operand.
    Whole,
}

impl Scan {
    /// The `checkpoint` of a loop of one step that the optimiser does not inline, because it computes values again that
    /// are not to be kept: any number above 1.
    pub(crate) const APART: i64 = 2;

    /// A loop from the first element to the last.
    pub const fn new(body: Nested, carries: i64, guard: Guard) -> Self {
        Self { body, carries, reverse: false, guard, checkpoint: 0, residuals: 0 }
    }

    /// The number of carries. Verification checks that it is at most the number of operands.
    pub fn carry_count(&self) -> usize {
        usize::try_from(self.carries).unwrap_or(usize::MAX)
    }

    /// Whether only derivatives read the result at this position.
    pub fn is_residual(&self, result: usize) -> bool {
        let residuals = usize::try_from(self.residuals).unwrap_or(0);
        result + residuals >= self.body.outputs().len()
    }

    /// How the steps read each operand, derived from the ranks of the operands. An iterated operand has one axis more
    /// than the body's input.
    pub fn accesses(&self, ranks: impl Iterator<Item = usize>) -> Vec<Access> {
        let carries = self.carry_count();
        let access =
            |(at, (of_step, rank)): (usize, (usize, usize))| match (at < carries, rank == of_step + 1) {
                (true, _) => Access::Carry,
                (false, true) => Access::Element,
                (false, false) => Access::Whole,
            };
        self.body.inputs().map(|(_, input)| input.rank()).zip(ranks).enumerate().map(access).collect()
    }

    /// The operand that decides whether a step runs.
    pub fn guard(&self) -> Option<usize> {
        match self.guard {
            Guard::Always => None,
            Guard::Carry => Some(0),
            Guard::Operand => Some(self.carry_count()),
        }
    }

    /// The position of the first iterated operand, whose leading extent is the number of steps. `None` for a loop that
    /// only its guard ends.
    pub fn counted(accesses: &[Access]) -> Option<usize> {
        accesses.iter().position(|access| *access == Access::Element)
    }

    /// The positions of the elements along the leading axis, in the order of the steps.
    pub fn visited(&self, steps: usize) -> impl Iterator<Item = usize> {
        (0..steps).map(move |step| if self.reverse { steps - 1 - step } else { step })
    }
}

impl From<Scan> for Op {
    fn from(scan: Scan) -> Self {
        Self::Own(Own::Nesting(Nesting::Scan(scan)))
    }
}

impl Nesting {
    /// The module that the operation holds, if it holds one.
    pub const fn nested(&self) -> Option<&Nested> {
        match self {
            Self::Call(nested) | Self::Pullback(nested) | Self::Scan(Scan { body: nested, .. }) => {
                Some(nested)
            }
            Self::Result { .. } => None,
        }
    }
}

impl Op {
    /// Whether running the operation has an effect besides its result. Such an operation is kept even if nothing reads
    /// its result, and is never merged with an equal one.
    pub fn has_effect(&self) -> bool {
        self.is_effect() || self.called().is_some_and(|nested| nested.0.has_effect)
    }

    /// The module that the operation runs, if it is a call or a loop.
    pub(crate) const fn called(&self) -> Option<&Nested> {
        match self {
            Self::Own(Own::Nesting(Nesting::Call(nested) | Nesting::Scan(Scan { body: nested, .. }))) => {
                Some(nested)
            }
            _ => None,
        }
    }

    /// Whether it is a Fourier transform, or a call or a loop that runs one.
    pub fn has_transform(&self) -> bool {
        let runs = |module: &Nested| module.insts().iter().any(|inst| inst.op.has_transform());
        self.is_transform() || self.called().is_some_and(runs)
    }

    /// The operation that reads the result at this position of an instruction with several results. The first result is
    /// the instruction's own value, so the position is at least 1.
    ///
    /// # Panics
    /// If the position exceeds 63 bits.
    pub(crate) fn further_result(position: usize) -> Self {
        let position = i64::try_from(position).expect("an instruction has a bounded number of results");
        Self::Own(Own::Nesting(Nesting::Result { position }))
    }

    /// The loop, if the operation is one.
    pub const fn as_loop(&self) -> Option<&Scan> {
        if let Self::Own(Own::Nesting(Nesting::Scan(scan))) = self { Some(scan) } else { None }
    }

    /// The position of the result that the operation reads, if it reads a further result of an instruction.
    ///
    /// # Panics
    /// If the position is negative, which verification excludes.
    pub(crate) fn as_further_result(&self) -> Option<usize> {
        let Self::Own(Own::Nesting(Nesting::Result { position })) = self else { return None };
        Some(usize::try_from(*position).expect("a verified position is 0 or more"))
    }

    /// The module that computes cotangents, if the operation defines a derivative.
    pub(crate) const fn as_pullback(&self) -> Option<&Nested> {
        if let Self::Own(Own::Nesting(Nesting::Pullback(nested))) = self { Some(nested) } else { None }
    }

    /// The module that the operation holds, if it holds one.
    pub const fn nested(&self) -> Option<&Nested> {
        if let Self::Own(Own::Nesting(nesting)) = self { nesting.nested() } else { None }
    }

    /// The same operation with another module in place of the one that it holds.
    ///
    /// # Panics
    /// If it holds no module.
    pub fn with_nested(self, nested: Nested) -> Self {
        const HOLDS: &str = "it holds a module";
        let Self::Own(Own::Nesting(nesting)) = self else { unreachable!("{HOLDS}") };
        Self::Own(Own::Nesting(match nesting {
            Nesting::Call(_) => Nesting::Call(nested),
            Nesting::Pullback(_) => Nesting::Pullback(nested),
            Nesting::Scan(scan) => Nesting::Scan(Scan { body: nested, ..scan }),
            Nesting::Result { .. } => unreachable!("{HOLDS}"),
        }))
    }
}

impl Op {
    /// The same operation with its module changed by `change`, if it holds one. The changed module must be no deeper
    /// and no larger.
    pub(crate) fn map_nested(self, change: impl FnOnce(&Module) -> Module) -> Self {
        match self.nested() {
            None => self,
            Some(nested) => {
                let changed =
                    nested.replaced(change(nested)).expect("it is no deeper and no larger than it was");
                self.with_nested(changed)
            }
        }
    }
}

/// A module inside an instruction, without free variables: its inputs are the operands, in order. Symbols have the same
/// meaning as in the module around it. Clones share the module.
///
/// Its depth is at most [`Self::MAX_DEPTH`], so that functions may recurse into nested modules.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Nested(Arc<Content>);

#[derive(PartialEq, Eq, Hash)]
struct Content {
    module: Module,
    /// The depth of nested modules, including this one.
    depth: usize,
    /// The number of instructions in all these modules, including inputs.
    size: usize,
    /// Whether running the module has an effect besides its results.
    has_effect: bool,
    /// The name of the function whose body the module is.
    function: Option<Arc<str>>,
}

/// The reason why an instruction cannot hold a module: E1008.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NestingFault {
    /// Modules are nested too deep.
    #[error("modules nest deeper than the limit of {}", Nested::MAX_DEPTH)]
    Depth,
    /// The modules have too many instructions.
    #[error("a module has more instructions than the limit of {}", Nested::MAX_SIZE)]
    Size,
}

impl Nested {
    /// The largest depth of nested modules.
    pub const MAX_DEPTH: usize = 16;

    /// The most instructions of nested modules in all.
    pub const MAX_SIZE: usize = 1 << 20;

    /// Prepares a module for an instruction that will hold it.
    ///
    /// # Errors
    /// If the modules in it are nested too deep, or have too many instructions in all.
    pub fn new(module: Module) -> Result<Self, NestingFault> {
        Self::of(None, module)
    }

    /// The body of the function of this name, which pictures show. No text form holds the name.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn of_function(name: &str, module: Module) -> Result<Self, NestingFault> {
        Self::of(Some(name.into()), module)
    }

    /// Another module for the same purpose: of the function of the same name, if there is one.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn replaced(&self, module: Module) -> Result<Self, NestingFault> {
        Self::of(self.0.function.clone(), module)
    }

    fn of(function: Option<Arc<str>>, module: Module) -> Result<Self, NestingFault> {
        let depth = 1 + module.nested().map(Self::depth).max().unwrap_or(0);
        let size = module.size();
        match (depth > Self::MAX_DEPTH, size > Self::MAX_SIZE) {
            (true, _) => Err(NestingFault::Depth),
            (false, true) => Err(NestingFault::Size),
            (false, false) => {
                let has_effect = module.insts().iter().any(|inst| inst.op.has_effect());
                Ok(Self(Arc::new(Content { module, depth, size, has_effect, function })))
            }
        }
    }

    /// The name of the function whose body the module is, if it is known.
    pub fn function(&self) -> Option<&str> {
        self.0.function.as_deref()
    }

    /// The depth of nested modules, including this one.
    pub fn depth(&self) -> usize {
        self.0.depth
    }

    /// The number of instructions of the module and of all modules in it.
    pub fn size(&self) -> usize {
        self.0.size
    }
}

impl Deref for Nested {
    type Target = Module;
    fn deref(&self) -> &Module {
        &self.0.module
    }
}

impl fmt::Debug for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.module, f)
    }
}

impl Module {
    /// The modules that the instructions hold.
    pub fn nested(&self) -> impl Iterator<Item = &Nested> {
        self.insts().iter().filter_map(|inst| inst.op.nested())
    }

    /// The instruction and the position among its results, if the value is a result of an instruction that may have
    /// several.
    pub(crate) fn place_of(&self, value: ValueId) -> Option<(ValueId, usize)> {
        let inst = self.inst(value);
        match &inst.op {
            Op::Own(Own::Nesting(Nesting::Result { position })) => {
                Some((inst.operands[0], usize::try_from(*position).ok()?))
            }
            op => op.nested().map(|_| (value, 0)),
        }
    }

    /// The number of instructions of the module and of all modules in it.
    pub fn size(&self) -> usize {
        self.nested().fold(self.insts().len(), |size, nested| size.saturating_add(nested.size()))
    }
}
