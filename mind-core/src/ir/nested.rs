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
    /// What each step runs.
    pub body: Nested,
    /// How many carries there are.
    pub carries: i64,
    /// Whether the last element is the first to be visited.
    pub reverse: bool,
}

impl Scan {
    /// The number of carries, which verification has compared with the operands.
    pub fn carry_count(&self) -> usize {
        usize::try_from(self.carries).unwrap_or(usize::MAX)
    }

    /// Whether each operand is iterated, by their ranks: one axis more than the body's input has.
    pub fn iterated(&self, ranks: impl Iterator<Item = usize>) -> Vec<bool> {
        let carries = self.carry_count();
        let inputs = self.body.inputs().zip(ranks).enumerate();
        inputs.map(|(at, ((_, input), rank))| at >= carries && rank == input.rank() + 1).collect()
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
    /// The module that is run where it is.
    pub(crate) const fn called(&self) -> Option<&Nested> {
        match self {
            Self::Own(Own::Nesting(Nesting::Call(nested) | Nesting::Scan(Scan { body: nested, .. }))) => {
                Some(nested)
            }
            _ => None,
        }
    }

    /// What reads a result behind the first of an instruction, by its position among them all.
    ///
    /// # Panics
    /// If there cannot be so many.
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
            (false, false) => Ok(Self(Arc::new(Content { module, depth, size }))),
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
