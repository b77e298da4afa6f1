//! Decides which items are stored, and which are computed again where they are read.

use std::collections::BTreeSet;

use crate::{
    dim::Dim,
    plan::{
        fusion::{Fusion, InPlace, reads_in_place},
        graph::{ItemId, ItemOperand, Work},
        view::row_major,
    },
    ty::Shape,
};

/// The most operations that are computed again to avoid storing an item.
const MOST_REPEATED: usize = 3;

/// The decision for each item.
pub(super) struct Storage {
    /// Whether each item is written to memory, or is in memory from the start.
    pub(super) is_stored: Vec<bool>,
    /// For each item that its readers compute again, the operations that compute it, ending with itself.
    pub(super) repeated: Vec<Option<Vec<ItemId>>>,
}

/// Stores the items that are read outside of their cluster.
///
/// An operation is computed again by its readers, rather than stored, if these are nests and finishes that read it at
/// their own index, and if a few cheap operations (no exponential, logarithm or quotient) compute it from items that
/// are in memory anyway. At most one of these items may have as many elements as the operation. Then nothing more is
/// read, and nothing is written.
pub(super) fn decide(fusion: &Fusion<'_>) -> Storage {
    let graph = fusion.graph;
    let count = graph.items.len();
    // The items that must be in memory, whatever is computed again.
    let mut is_stored = vec![false; count];
    let mut is_read_outside = vec![false; count];
    for (id, item) in graph.items.iter().enumerate() {
        is_stored[id] |= !item.is_written() && item.shape.rank() > 0;
        // A loop writes all of its results, even those that nothing reads.
        is_stored[id] |= matches!(item.work, Work::Loop(_) | Work::LoopBuffer);
        is_stored[id] |= fusion.is_delivered(id) && item.shape.rank() > 0;
        for read in &item.reads {
            let Some(read_item) = read.item() else { continue };
            if fusion.partition.of(id) != fusion.partition.of(read_item) {
                is_read_outside[read_item] = true;
                is_stored[read_item] |= !is_in_place(fusion, id, read, read_item)
                    || !matches!(graph.items[read_item].work, Work::Elementwise(_));
            }
        }
    }
    let mut repeated = vec![None; count];
    for id in 0..count {
        if is_read_outside[id] && !is_stored[id] {
            repeated[id] = repeated_operations(fusion, id, &is_stored);
            is_stored[id] = repeated[id].is_none();
        }
    }
    Storage { is_stored, repeated }
}

/// Whether an item of another cluster reads an element at its own index.
fn is_in_place(fusion: &Fusion<'_>, reader: ItemId, read: &ItemOperand, item: ItemId) -> bool {
    let (Some(space), ItemOperand::View(view)) = (fusion.space(fusion.partition.of(reader)), read) else {
        return false;
    };
    let of_reader = &fusion.graph.items[reader];
    of_reader.is_looped()
        && reads_in_place(fusion.graph, of_reader, view, item, space) == Some(InPlace::Element)
}

/// The operations that compute a value from at most one tensor in memory. `None` if they are more than `most`, or read
/// several tensors. `reads` returns the operations and the tensors that an operation reads, or `None` for an operation
/// that is not computed again.
pub(crate) fn repetition<Operation: Copy + Ord, Tensor: Copy + PartialEq>(
    value: Operation,
    most: usize,
    reads: impl Fn(Operation) -> Option<(Vec<Operation>, Vec<Tensor>)>,
) -> Option<BTreeSet<Operation>> {
    let (mut operations, mut unseen, mut only) = (BTreeSet::from([value]), vec![value], None);
    while let Some(operation) = unseen.pop() {
        let (repeated, tensors) = reads(operation)?;
        unseen.extend(repeated.into_iter().filter(|operand| operations.insert(*operand)));
        let reads_another = tensors.into_iter().any(|tensor| *only.get_or_insert(tensor) != tensor);
        if reads_another || operations.len() > most {
            return None;
        }
    }
    Some(operations)
}

/// The operations that compute an item from stored items, if they are few and cheap and read little, and if the readers
/// of the item can read the stored items too.
fn repeated_operations(fusion: &Fusion<'_>, item: ItemId, is_stored: &[bool]) -> Option<Vec<ItemId>> {
    let graph = fusion.graph;
    let space = &graph.items[item].space;
    let operations = repetition(item, MOST_REPEATED, |operation| {
        let operation = &graph.items[operation];
        if !matches!(operation.work, Work::Elementwise(op) if !op.row().cost.is_worth_keeping()) {
            return None;
        }
        let (mut repeated, mut large) = (Vec::new(), Vec::new());
        for read in &operation.reads {
            let (ItemOperand::View(view), Some(of)) = (read, read.item()) else { continue };
            if is_stored[of] {
                large.extend((!view.strides.contains(&Dim::ZERO)).then_some(read));
            } else if graph.items[of].space == *space && view.strides == row_major(&Shape::from_slice(space))
            {
                repeated.push(of);
            } else {
                return None;
            }
        }
        Some((repeated, large))
    })?;
    let fits = graph.readers[item].iter().all(|reader| {
        let space = fusion.space(fusion.partition.of(*reader));
        let has_kernel = space.filter(|space| space.kernel.is_some());
        has_kernel.is_none_or(|space| {
            let mut reads = operations.iter().flat_map(|operation| &graph.items[*operation].reads);
            reads.all(|read| match read {
                ItemOperand::View(view) => fusion.as_matrix(view, space).is_some(),
                ItemOperand::Scalar(_) => true,
            })
        })
    });
    fits.then(|| operations.into_iter().collect())
}
