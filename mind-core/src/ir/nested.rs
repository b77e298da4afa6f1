//! Modules within instructions.

use std::{fmt, ops::Deref, sync::Arc};

use super::{Module, Op, Own};

/// What Core IR alone has: functions of Rust, and what holds modules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// The results of the module, run on the operands; an extension.
    Call(Nested),
    /// The first operands, through which a derivative does not pass: the module tells what flows back to the others; an
    /// extension.
    Pullback(Nested),
    /// A module run once for each element along the leading axis of some operands; an extension.
    Scan(Scan),
    /// A result behind the first of the instruction that is the operand; an extension.
    Result {
        /// Which one, counted from 0, which is the instruction's own value.
        position: i64,
    },
}

/// A loop: its operands are the first carries, then those that are iterated or captured, in any order.
///
/// The body's inputs are the operands, but of one that is iterated the element along the leading axis that the step is at. It gives
/// the next carries, and behind them what is stacked along a new leading axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scan {
    /// The module that each step runs.
    pub body: Nested,
    /// The number of carries.
    pub carries: i64,
    /// Whether the first step is at the last element.
    pub reverse: bool,
    /// Which steps run.
    pub guard: Guard,
}

/// Which steps of a loop run. A step that does not run leaves the carries as they are, and its stacked results are zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guard {
    /// All steps run.
    Always,
    /// Steps run while the first carry, a `bool`, is true. Nothing need be iterated. If something is, the first carry must be false
    /// after the last step.
    Carry,
    /// A step runs if the first operand behind the carries is true: a `bool` for all steps, or one for each.
    Operand,
}

/// How the steps of a loop read an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The first step reads the operand. Each later step reads a result of the step before it.
    Carry,
    /// Each step reads its own element along the leading axis.
    Element,
    /// Each step reads all of it.
    Whole,
}

impl Scan {
    /// The number of carries, which verification has compared with the operands.
    pub fn carry_count(&self) -> usize {
        usize::try_from(self.carries).unwrap_or(usize::MAX)
    }

    /// How the steps read each operand, by the ranks of the operands: one that is iterated has one axis more than the body's input.
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

    /// The operand whose leading extent is the number of steps: the first that is iterated. Only a loop that a carry ends may iterate
    /// over none.
    pub fn counted(accesses: &[Access]) -> Option<usize> {
        accesses.iter().position(|access| *access == Access::Element)
    }

    /// The positions of the elements that are visited, in the order of the steps.
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
    /// The module that it holds.
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
    /// Whether running it does something besides its result, so that it is kept if nothing reads the result, and equal ones are not
    /// merged.
    pub fn has_effect(&self) -> bool {
        self.is_effect() || self.called().is_some_and(|nested| nested.0.has_effect)
    }

    /// The module that is run where it is.
    pub(crate) const fn called(&self) -> Option<&Nested> {
        match self {
            Self::Own(Own::Nesting(Nesting::Call(nested) | Nesting::Scan(Scan { body: nested, .. }))) => {
                Some(nested)
            }
            _ => None,
        }
    }

    /// The operation that reads a result behind the first of an instruction, by its position among all results.
    ///
    /// # Panics
    /// If the position exceeds 63 bits.
    pub(crate) fn further_result(position: usize) -> Self {
        let position = i64::try_from(position).expect("an instruction has a bounded number of results");
        Self::Own(Own::Nesting(Nesting::Result { position }))
    }

    /// The loop that it is.
    pub const fn as_loop(&self) -> Option<&Scan> {
        if let Self::Own(Own::Nesting(Nesting::Scan(scan))) = self { Some(scan) } else { None }
    }

    /// The module that it holds.
    pub const fn nested(&self) -> Option<&Nested> {
        if let Self::Own(Own::Nesting(nesting)) = self { nesting.nested() } else { None }
    }

    /// The same operation on another module than the one that it holds.
    ///
    /// # Panics
    /// If it holds none.
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
    /// The same operation on what another form of the module is that it holds, if it holds one. The other form is no deeper and no
    /// larger.
    pub(crate) fn map_nested(self, change: impl FnOnce(&Module) -> Module) -> Self {
        match self.nested() {
            None => self,
            Some(nested) => {
                let changed = Nested::new(change(nested)).expect("it is no deeper and no larger than it was");
                self.with_nested(changed)
            }
        }
    }
}

/// A module within an instruction, without free variables: its inputs are the operands, in order. Symbols mean what they
/// mean around it. Clones share it.
///
/// It is as deep as [`Self::MAX_DEPTH`] at most, so that a function that calls itself for what a module holds is safe.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Nested(Arc<Content>);

#[derive(PartialEq, Eq, Hash)]
struct Content {
    module: Module,
    /// How many modules stand in each other, itself among them.
    depth: usize,
    /// The instructions of all of them, inputs too.
    size: usize,
    /// Whether running it does something besides its results.
    has_effect: bool,
}

/// Why a module is not held by an instruction: E1008.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NestingFault {
    /// Too many modules stand in each other.
    #[error("modules nest deeper than the limit of {}", Nested::MAX_DEPTH)]
    Depth,
    /// There are too many instructions.
    #[error("a module has more instructions than the limit of {}", Nested::MAX_SIZE)]
    Size,
}

impl Nested {
    /// How many modules may stand in each other.
    pub const MAX_DEPTH: usize = 16;

    /// How many instructions they may have in all.
    pub const MAX_SIZE: usize = 1 << 20;

    /// The module, within an instruction.
    ///
    /// # Errors
    /// If it holds modules that are too deep, or all of them are too large.
    pub fn new(module: Module) -> Result<Self, NestingFault> {
        let depth = 1 + module.nested().map(Self::depth).max().unwrap_or(0);
        let size = module.size();
        match (depth > Self::MAX_DEPTH, size > Self::MAX_SIZE) {
            (true, _) => Err(NestingFault::Depth),
            (false, true) => Err(NestingFault::Size),
            (false, false) => {
                let has_effect = module.insts().iter().any(|inst| inst.op.has_effect());
                Ok(Self(Arc::new(Content { module, depth, size, has_effect })))
            }
        }
    }

    /// How many modules stand in each other, itself among them.
    pub fn depth(&self) -> usize {
        self.0.depth
    }

    /// The instructions of the module and of all that it holds.
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
    /// The modules that its instructions hold.
    pub fn nested(&self) -> impl Iterator<Item = &Nested> {
        self.insts().iter().filter_map(|inst| inst.op.nested())
    }

    /// Its instructions and those of all modules that they hold.
    pub fn size(&self) -> usize {
        self.nested().fold(self.insts().len(), |size, nested| size.saturating_add(nested.size()))
    }
}
