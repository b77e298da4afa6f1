//! Which functions are reached, and which of them call themselves.

use std::collections::HashSet;

use crate::knossos::ir::{Body, Definition, FunctionId, LayoutId, Operation, Program, Step};

/// The functions that a program needs.
pub(super) struct Reached {
    /// In order of their position.
    pub order: Vec<FunctionId>,
    /// Those from which a call leads back to them.
    recursive: HashSet<FunctionId>,
    /// The layouts of tapes that are made or read.
    pub layouts: Vec<LayoutId>,
}

impl Reached {
    pub fn from(program: &Program, roots: impl Iterator<Item = FunctionId>) -> Self {
        let callees = |id: FunctionId| match &program.function(id).definition {
            Definition::Defined(body) => callees(body),
            Definition::Declared | Definition::Bound(_) | Definition::Pending(..) | Definition::Wrong => {
                Vec::new()
            }
        };
        let graph: Vec<Vec<FunctionId>> =
            (0..program.functions.len()).map(|position| callees(FunctionId::new(position))).collect();
        let mut order: Vec<_> = reach(&graph, roots.collect()).into_iter().collect();
        order.sort_unstable();
        let leads_back = |id: &FunctionId| reach(&graph, graph[id.index()].clone()).contains(id);
        let recursive = order.iter().copied().filter(leads_back).collect();
        let mut layouts = HashSet::new();
        for id in &order {
            if let Definition::Defined(body) = &program.function(*id).definition {
                layouts.extend(used_layouts(body));
            }
        }
        let mut layouts: Vec<_> = layouts.into_iter().collect();
        layouts.sort_unstable();
        Self { order, recursive, layouts }
    }

    pub fn is_recursive(&self, id: FunctionId) -> bool {
        self.recursive.contains(&id)
    }
}

fn reach(graph: &[Vec<FunctionId>], mut left: Vec<FunctionId>) -> HashSet<FunctionId> {
    let mut found = HashSet::new();
    while let Some(id) = left.pop() {
        if found.insert(id) {
            left.extend(&graph[id.index()]);
        }
    }
    found
}

fn callees(body: &Body) -> Vec<FunctionId> {
    let instructions = body.blocks.iter().flat_map(|block| &block.instructions);
    let called = instructions.filter_map(|instruction| match instruction.operation {
        Operation::Call(id) => Some(id),
        _ => None,
    });
    called.collect()
}

fn used_layouts(body: &Body) -> Vec<LayoutId> {
    let instructions = body.blocks.iter().flat_map(|block| &block.instructions);
    let used = instructions.flat_map(|instruction| match &instruction.operation {
        Operation::Pack(layout) | Operation::Unpack(layout, _) => vec![*layout],
        Operation::AddTo(steps) | Operation::Part(steps) => {
            let taped = steps.iter().filter_map(|step| match step {
                Step::Taped(layout, _) => Some(*layout),
                Step::Member(_) | Step::Element => None,
            });
            taped.collect()
        }
        _ => Vec::new(),
    });
    used.collect()
}
