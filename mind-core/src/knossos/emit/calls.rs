//! Which functions are reached, which of them call themselves, and which print.

use std::collections::HashSet;

use crate::knossos::ir::{Body, Definition, FunctionId, LayoutId, Operation, Program, Step};

/// The functions that a program needs.
pub(super) struct Reached {
    /// In order of their position.
    pub order: Vec<FunctionId>,
    /// Those from which a call leads back to them.
    recursive: HashSet<FunctionId>,
    /// Those that may print, themselves or in a call.
    printing: HashSet<FunctionId>,
    /// The layouts of tapes that are made or read.
    pub layouts: Vec<LayoutId>,
}

impl Reached {
    pub fn from(program: &Program, roots: impl Iterator<Item = FunctionId>) -> Self {
        let body = |id: FunctionId| match &program.function(id).definition {
            Definition::Defined(body) => Some(body),
            Definition::Declared | Definition::Bound(_) | Definition::Pending(..) | Definition::Wrong => None,
        };
        let ids = (0..program.functions.len()).map(FunctionId::new);
        let graph: Vec<Vec<FunctionId>> = ids.map(|id| body(id).map_or_else(Vec::new, callees)).collect();
        let mut order: Vec<_> = reach(&graph, roots.collect()).into_iter().collect();
        order.sort_unstable();
        // Of a Rust function nothing is known.
        let prints = |id: &FunctionId| {
            matches!(program.function(*id).definition, Definition::Bound(_))
                || body(*id).is_some_and(prints_itself)
        };
        let print_themselves: HashSet<_> = order.iter().copied().filter(prints).collect();
        let (mut recursive, mut printing, mut layouts) = (HashSet::new(), HashSet::new(), HashSet::new());
        for id in &order {
            let below = reach(&graph, graph[id.index()].clone());
            if below.contains(id) {
                recursive.insert(*id);
            }
            if print_themselves.contains(id) || !below.is_disjoint(&print_themselves) {
                printing.insert(*id);
            }
            layouts.extend(body(*id).into_iter().flat_map(used_layouts));
        }
        let mut layouts: Vec<_> = layouts.into_iter().collect();
        layouts.sort_unstable();
        Self { order, recursive, printing, layouts }
    }

    pub fn is_recursive(&self, id: FunctionId) -> bool {
        self.recursive.contains(&id)
    }

    pub fn prints(&self, id: FunctionId) -> bool {
        self.printing.contains(&id)
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

fn prints_itself(body: &Body) -> bool {
    let mut instructions = body.blocks.iter().flat_map(|block| &block.instructions);
    instructions.any(|instruction| instruction.operation == Operation::Print)
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
