//! Orders steps: steps that can fail come first, with the steps that they need. An input is overwritten after its last
//! reader.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::{
    ir::ValueId,
    plan::{Buffer, BufferId, KernelOperand, Location, Nest, Operand, Scalar, Step, View},
};

const MADE: &str = "every number that a step reads is made by one";

/// The constraints on the order of steps.
pub(super) struct Edges {
    /// For each step, the steps that must come after it, such as the readers of its results.
    pub(super) readers: Vec<Vec<usize>>,
}

impl Edges {
    pub(super) fn new(steps: &[Step], buffers: &[Buffer]) -> Self {
        let mut watched = None;
        let mut writers: Vec<Option<usize>> = vec![None; buffers.len()];
        let mut makers = HashMap::new();
        for (position, step) in steps.iter().enumerate() {
            step.for_each_write(|buffer| writers[buffer.0] = Some(position));
            step.for_each_local(|value| _ = makers.insert(value, position));
        }
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
        for (position, step) in steps.iter().enumerate() {
            let mut before: Vec<usize> = Vec::new();
            step.for_each_read(|buffer| match (&buffers[buffer.0].place, writers[buffer.0]) {
                (_, Some(writer)) => before.push(writer),
                (Location::Input(_) | Location::Constant(_), None) => {}
                (Location::Arena { .. } | Location::Result(_) | Location::Part { .. }, None) => {
                    panic!("no step writes what a step reads")
                }
            });
            step.for_each_scalar(|scalar| match scalar {
                Scalar::Local(value) => before.push(*makers.get(value).expect(MADE)),
                Scalar::Constant(_) | Scalar::Input(_) | Scalar::Count { .. } => {}
            });
            if let Step::Watch { .. } = step {
                before.extend(watched.replace(position));
            }
            before.sort_unstable();
            before.dedup();
            before
                .into_iter()
                .filter(|before| *before != position)
                .for_each(|before| readers[before].push(position));
        }
        Self { readers }
    }

    /// Whether one of `targets` must come after `from`.
    fn reaches(&self, from: usize, targets: &[usize]) -> bool {
        let mut seen = HashSet::from([from]);
        let mut next = vec![from];
        while let Some(step) = next.pop() {
            for reader in &self.readers[step] {
                if targets.contains(reader) {
                    return true;
                }
                if seen.insert(*reader) {
                    next.push(*reader);
                }
            }
        }
        false
    }
}

/// Lets steps store new values directly to the inputs that they update, if all other readers of the old value can come
/// before, and orders the steps accordingly. Returns the other updates, which are copied at the end.
pub(super) fn update_in_place(
    buffers: &mut [Buffer],
    steps: &mut Vec<Step>,
    updates: &[(BufferId, usize)],
) -> Vec<(BufferId, usize)> {
    let mut edges = Edges::new(steps, buffers);
    let mut writers: Vec<Option<usize>> = vec![None; buffers.len()];
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); buffers.len()];
    for (position, step) in steps.iter().enumerate() {
        step.for_each_write(|buffer| writers[buffer.0] = Some(position));
        step.for_each_read(|buffer| readers[buffer.0].push(position));
    }
    let mut copied = Vec::new();
    for (from, input) in updates {
        let old = input_buffer(buffers, *input);
        let writer = writers[from.0].filter(|_| matches!(buffers[from.0].place, Location::Arena { .. }));
        let others: Vec<usize> =
            readers[old.0].iter().copied().filter(|reader| Some(*reader) != writer).collect();
        match writer {
            Some(writer) if may_overwrite(&steps[writer], *from, old) && !edges.reaches(writer, &others) => {
                buffers[from.0].place = Location::Input(*input);
                others.into_iter().for_each(|reader| edges.readers[reader].push(writer));
            }
            Some(_) | None => copied.push((*from, *input)),
        }
    }
    sort(steps, buffers, &edges);
    copied
}

/// The buffer that a buffer is a part of, or the buffer itself.
pub(super) fn whole(buffers: &[Buffer], buffer: BufferId) -> BufferId {
    match &buffers[buffer.0].place {
        Location::Part { of, .. } => *of,
        Location::Input(_) | Location::Result(_) | Location::Arena { .. } | Location::Constant(_) => buffer,
    }
}

/// The buffer that is the memory of an input of rank 1 or more.
pub(super) fn input_buffer(buffers: &[Buffer], input: usize) -> BufferId {
    let own = buffers.iter().position(|buffer| buffer.place == Location::Input(input));
    BufferId(own.expect("every input that is not a number has a buffer, before all others that lie there"))
}

/// Whether a step may store `result` to the memory of `operand`. If it reads the operand, it may read only elements
/// that it stores itself, and none of them after it has stored it.
pub(super) fn may_overwrite(step: &Step, result: BufferId, operand: BufferId) -> bool {
    let is_own = |views: &mut dyn Iterator<Item = &View>, target: &View| {
        let mut loads = views.filter(|load| load.buffer() == Some(operand));
        loads.all(|load| load.offset == target.offset && load.strides == target.strides)
    };
    match step {
        Step::Nest(nest) => {
            let mut stores = nest
                .passes
                .iter()
                .enumerate()
                .flat_map(|(number, pass)| pass.stores.iter().map(move |store| (number, &store.target)));
            let Some((first, target)) = stores.find(|(_, target)| target.buffer() == Some(result)) else {
                return !reads(step, operand) && writes_elements(nest, result);
            };
            is_own(&mut nest.loads.iter(), target)
                && last_load(nest, operand).is_none_or(|last| last <= first)
        }
        Step::MatMul(product) => {
            let of_operand = |view: &View| view.buffer() == Some(operand);
            let target = product.finish.stores.iter().map(|store| &store.target);
            let mut target = target.filter(|target| target.buffer() == Some(result));
            !of_operand(&product.lhs)
                && !of_operand(&product.rhs)
                && target.next().is_some_and(|target| is_own(&mut product.finish.loads.iter(), target))
        }
        Step::Conv2d(convolution) => {
            let target = convolution.finish.stores.iter().map(|store| &store.target);
            let mut target = target.filter(|target| target.buffer() == Some(result));
            !convolution.operands.contains(&operand)
                && target.next().is_some_and(|target| is_own(&mut convolution.finish.loads.iter(), target))
        }
        // The run time updates the memory of the first operand.
        Step::Call(call) if call.op.changes_part() => {
            let is_operand = |argument: &KernelOperand| argument.buffer() == Some(operand);
            call.result == result && !call.operands[1..].iter().any(is_operand)
        }
        _ => false,
    }
}

fn reads(step: &Step, buffer: BufferId) -> bool {
    let mut reads = false;
    step.for_each_read(|other| reads |= other == buffer);
    reads
}

fn writes_elements(nest: &Nest, buffer: BufferId) -> bool {
    let mut writes = false;
    nest.for_each_target(|target| writes |= target.buffer() == Some(buffer));
    writes
}

/// The last pass that loads from a buffer.
fn last_load(nest: &Nest, buffer: BufferId) -> Option<usize> {
    nest.passes.iter().rposition(|pass| {
        let mut loads = false;
        pass.for_each_operand(|operand: &Operand| {
            loads |= matches!(operand, Operand::Load(load) if nest.loads[*load].buffer() == Some(buffer));
        });
        loads
    })
}

/// Sorts steps so that each comes after the steps that it needs.
pub(super) fn sorted(mut steps: Vec<Step>, buffers: &[Buffer]) -> Vec<Step> {
    let edges = Edges::new(&steps, buffers);
    sort(&mut steps, buffers, &edges);
    steps
}

/// Sorts steps by the constraints. Steps that take no memory come as soon as possible, since the lifetimes of their
/// operands may end with them. The others keep their order.
fn sort(steps: &mut Vec<Step>, buffers: &[Buffer], edges: &Edges) {
    let mut missing = vec![0; steps.len()];
    for readers in &edges.readers {
        readers.iter().for_each(|reader| missing[*reader] += 1);
    }
    let takes_memory: Vec<bool> = steps
        .iter()
        .map(|step| {
            let mut takes = false;
            step.for_each_write(|buffer| takes |= matches!(buffers[buffer.0].place, Location::Arena { .. }));
            takes
        })
        .collect();
    let key = |step: usize| (takes_memory[step], step);
    let mut ready: BTreeSet<(bool, usize)> =
        (0..steps.len()).filter(|step| missing[*step] == 0).map(key).collect();
    let mut taken: Vec<Option<Step>> = std::mem::take(steps).into_iter().map(Some).collect();
    while let Some((_, step)) = ready.pop_first() {
        steps.extend(taken[step].take());
        for reader in &edges.readers[step] {
            missing[*reader] -= 1;
            if missing[*reader] == 0 {
                ready.insert(key(*reader));
            }
        }
    }
    assert!(taken.iter().all(Option::is_none), "the order of steps has a cycle");
}

/// Moves the steps that can fail, and the steps that they depend on, before all others. The order is otherwise
/// unchanged. If a step fails, no memory that the caller sees has been written.
pub(super) fn checks_first(steps: Vec<Step>, buffers: &[Buffer]) -> Vec<Step> {
    let needed = before_checks(&steps, buffers);
    let numbered = steps.into_iter().enumerate();
    let (first, rest): (Vec<_>, Vec<_>) = numbered.partition(|(position, _)| needed.contains(position));
    first.into_iter().chain(rest).map(|(_, step)| step).collect()
}

/// The steps that can fail and those that they depend on.
pub(super) fn before_checks(steps: &[Step], buffers: &[Buffer]) -> HashSet<usize> {
    if !steps.iter().any(Step::can_fail) {
        return HashSet::new();
    }
    // Several steps write a buffer of which others are parts.
    let mut writers: HashMap<BufferId, Vec<usize>> = HashMap::new();
    let mut makers: HashMap<ValueId, usize> = HashMap::new();
    let mut needed: HashSet<usize> = HashSet::new();
    for (position, step) in steps.iter().enumerate() {
        step.for_each_write(|buffer| writers.entry(whole(buffers, buffer)).or_default().push(position));
        step.for_each_local(|value| _ = makers.insert(value, position));
    }
    for (position, step) in steps.iter().enumerate().rev() {
        if !needed.contains(&position) && !step.can_fail() {
            continue;
        }
        needed.insert(position);
        step.for_each_read(|buffer| {
            needed.extend(writers.get(&whole(buffers, buffer)).into_iter().flatten())
        });
        step.for_each_scalar(|scalar| match scalar {
            Scalar::Local(value) => _ = needed.insert(*makers.get(value).expect(MADE)),
            Scalar::Constant(_) | Scalar::Input(_) | Scalar::Count { .. } => {}
        });
    }
    needed
}
