//! Which elementwise operations share a loop.

use crate::{
    ir::{Module, ValueId},
    ops::Class,
    ty::Shape,
};

/// The most operations in one loop: rustc's time and memory grow faster than the length of a function, and a loop this
/// long is not bound by memory.
const LONGEST: usize = 128;

/// For each value the loop that computes it, named by the loop's last value.
pub(super) struct Groups {
    roots: Vec<Option<ValueId>>,
    members: Vec<Vec<ValueId>>,
}

impl Groups {
    /// An elementwise value that nothing but one loop over its own index space reads joins that loop; every other one
    /// ends a loop of its own. Reductions end loops over their operand's index space. Single numbers need no loop.
    pub(super) fn new(module: &Module) -> Self {
        let count = module.insts().len();
        let mut readers = vec![Readers::None; count];
        for output in module.outputs() {
            readers[output.index()] = Readers::Several;
        }
        let mut roots: Vec<Option<ValueId>> = vec![None; count];
        let mut sizes = vec![0; count];
        for (value, inst) in module.iter().rev() {
            let own = match readers[value.index()] {
                Readers::Loop(root)
                    if sizes[root.index()] < LONGEST && iteration_shape(module, root) == &inst.ty.shape =>
                {
                    root
                }
                Readers::Loop(_) | Readers::None | Readers::Several => value,
            };
            roots[value.index()] = match inst.op.info().class {
                Class::Elementwise if inst.ty.rank() > 0 => Some(own),
                Class::Reduction if module.ty(inst.operands[0]).rank() > 0 => Some(value),
                Class::Elementwise
                | Class::Reduction
                | Class::Input
                | Class::Constant
                | Class::View
                | Class::Kernel => None,
            };
            if let Some(root) = roots[value.index()] {
                sizes[root.index()] += 1;
            }
            for operand in inst.operands.iter() {
                let reader = roots[value.index()].map_or(Readers::Several, Readers::Loop);
                let known = &mut readers[operand.index()];
                *known = match &*known {
                    Readers::None => reader,
                    Readers::Loop(root) if reader == Readers::Loop(*root) => reader,
                    Readers::Loop(_) | Readers::Several => Readers::Several,
                };
            }
        }
        let mut members = vec![Vec::new(); count];
        for (value, _) in module.iter() {
            if let Some(root) = roots[value.index()] {
                members[root.index()].push(value);
            }
        }
        Self { roots, members }
    }

    /// The last value of the loop that computes `value`; nothing if no loop does.
    pub(super) fn root(&self, value: ValueId) -> Option<ValueId> {
        self.roots[value.index()]
    }

    /// The values that the loop ending in `root` computes, in order, `root` last.
    pub(super) fn members(&self, root: ValueId) -> &[ValueId] {
        &self.members[root.index()]
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Readers {
    None,
    Loop(ValueId),
    Several,
}

/// The index space of the loop that ends in `root`.
pub(super) fn iteration_shape(module: &Module, root: ValueId) -> &Shape {
    let inst = module.inst(root);
    if inst.op.info().class == Class::Reduction { &module.ty(inst.operands[0]).shape } else { &inst.ty.shape }
}
