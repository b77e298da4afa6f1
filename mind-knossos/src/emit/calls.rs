//! Finds the functions that are reachable, that count their calls, and that can print.

use std::collections::HashSet;

use crate::ir::{Body, Definition, FunctionId, LayoutId, Operation, Program, Projection};

/// The functions that a program needs.
pub(super) struct Reached {
    /// In the order of their ids.
    pub order: Vec<FunctionId>,
    /// The functions whose calls are counted, see [`Reached::is_counted`].
    counted: HashSet<FunctionId>,
    /// The functions that may print, directly or in a call.
    printing: HashSet<FunctionId>,
    /// The layouts of tapes that are created or read.
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
        let cycles = cycles(&graph, roots);
        // A Rust function may print.
        let prints = |id: &FunctionId| {
            matches!(program.function(*id).definition, Definition::Bound(_))
                || body(*id).is_some_and(prints_itself)
        };
        let (mut counted, mut printing, mut layouts) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut heights = vec![0; graph.len()];
        for cycle in &cycles {
            let below = || cycle.iter().flat_map(|id| &graph[id.index()]);
            let height = 1 + below().map(|id| heights[id.index()]).max().unwrap_or(0);
            let is_recursive = cycle.len() > 1 || below().any(|id| *id == cycle[0]);
            if is_recursive || height > UNCOUNTED {
                counted.extend(cycle);
            }
            if cycle.iter().any(prints) || below().any(|id| printing.contains(id)) {
                printing.extend(cycle);
            }
            for id in cycle {
                heights[id.index()] = height;
                layouts.extend(body(*id).into_iter().flat_map(used_layouts));
            }
        }
        let mut order: Vec<_> = cycles.into_iter().flatten().collect();
        order.sort_unstable();
        let mut layouts: Vec<_> = layouts.into_iter().collect();
        layouts.sort_unstable();
        Self { order, counted, printing, layouts }
    }

    /// Whether a function takes the number of active calls as a parameter. This holds for recursive functions and for
    /// long call chains. They reach a limit or continue on a new stack, and so never overflow one.
    pub fn is_counted(&self, id: FunctionId) -> bool {
        self.counted.contains(&id)
    }

    pub fn prints(&self, id: FunctionId) -> bool {
        self.printing.contains(&id)
    }
}

/// The maximum length of a call chain without counting. Such a chain fits on a small stack.
const UNCOUNTED: usize = 64;

/// The reachable functions, grouped by the cycles of their call graph, with callees before callers (Tarjan, Depth-first
/// search and linear graph algorithms, 1972).
fn cycles(graph: &[Vec<FunctionId>], roots: impl Iterator<Item = FunctionId>) -> Vec<Vec<FunctionId>> {
    /// Marks a function whose cycle is complete.
    const DONE: usize = usize::MAX;
    // For each function: the lowest discovery number known in its cycle, or 0 before its discovery.
    let mut lowest = vec![0; graph.len()];
    let (mut met, mut open, mut cycles) = (0, Vec::new(), Vec::new());
    // The functions on the current path, each with its discovery number and the number of calls already followed.
    let mut path: Vec<(FunctionId, usize, usize)> = Vec::new();
    for root in roots {
        let mut next = (lowest[root.index()] == 0).then_some(root);
        loop {
            if let Some(id) = next.take() {
                met += 1;
                lowest[id.index()] = met;
                open.push(id);
                path.push((id, met, 0));
            }
            let Some((id, own, followed)) = path.last_mut() else { break };
            if let Some(callee) = graph[id.index()].get(*followed) {
                *followed += 1;
                match lowest[callee.index()] {
                    0 => next = Some(*callee),
                    DONE => {}
                    low => lowest[id.index()] = lowest[id.index()].min(low),
                }
                continue;
            }
            let (id, own) = (*id, *own);
            path.pop();
            if lowest[id.index()] == own {
                let first =
                    open.iter().rposition(|other| *other == id).expect("it is open until its cycle is known");
                let cycle = open.split_off(first);
                cycle.iter().for_each(|id| lowest[id.index()] = DONE);
                cycles.push(cycle);
            } else if let Some((caller, ..)) = path.last() {
                lowest[caller.index()] = lowest[caller.index()].min(lowest[id.index()]);
            }
        }
    }
    cycles
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
                Projection::Taped(layout, _) => Some(*layout),
                Projection::Member(_) | Projection::Element => None,
            });
            taped.collect()
        }
        _ => Vec::new(),
    });
    used.collect()
}
