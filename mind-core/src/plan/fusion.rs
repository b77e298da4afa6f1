//! Decides which operations share a nest, and which become part of a product's or convolution's store.
//!
//! Merging is greedy, in this order:
//!
//! 1. A product absorbs the operation that is its only reader, and so on along the chain. It still stores one tensor,
//!    and nothing is loaded again.
//! 2. An operation joins the operations whose results it reads at its own index, or as numbers that are computed once
//!    per row.
//! 3. A nest that only stores elements becomes part of the store of the last product that it reads.
//! 4. Nests that read the same tensor in the same way are merged.
//!
//! Two clusters merge only if one index space fits both, with the same row axes, and no other cluster lies between
//! them.

use crate::{
    dim::Dim,
    plan::{
        View,
        graph::{Graph, Item, ItemId, ItemOperand, Work},
        partition::Partition,
        view::row_major,
    },
    ty::Shape,
};

/// The most operations in one nest or loop: rustc's time and memory grow faster than the length of a function.
pub(crate) const LONGEST: usize = 128;

/// The cost in additions up to which a nest may have more than [`LONGEST`] operations: those of a Jacobian of short
/// vectors, whose values would otherwise be written and read between nests. Functions such as `exp` are expanded to many
/// instructions, so few of them fill a nest.
const MOST_ADDITIONS: usize = 512;

/// The index space of items that are computed together.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// The product or convolution whose elements the other items process.
    pub(super) kernel: Option<ItemId>,
    /// The index space, without axes of extent 1.
    pub(super) extents: Vec<Dim>,
    /// The number of row axes, if a sum over the other axes determines it.
    pub(super) row_axes: Option<usize>,
    /// The sums.
    sums: Vec<ItemId>,
    feeds_check: bool,
}

/// The clusters of a graph, and the space of each cluster that loops.
pub(super) struct Fusion<'g> {
    pub(super) graph: &'g Graph,
    pub(super) partition: Partition<'g>,
    /// The space of each cluster; `None` for a cluster that is neither a nest nor a product.
    spaces: Vec<Option<Space>>,
}

pub(super) fn fuse<'g>(graph: &'g Graph) -> Fusion<'g> {
    let spaces = (0..graph.items.len()).map(|item| Space::of(graph, item)).collect();
    let mut fusion = Fusion { graph, partition: Partition::new(graph), spaces };
    fusion.chains_after_kernels();
    fusion.producers_with_consumers();
    fusion.nests_into_kernels();
    fusion.readers_of_one_tensor();
    fusion
}

impl Space {
    fn of(graph: &Graph, id: ItemId) -> Option<Self> {
        let item = &graph.items[id];
        let (kernel, extents) = if item.has_finish() {
            (Some(id), item.stripped())
        } else if item.is_looped() {
            (None, item.space.clone())
        } else {
            return None;
        };
        let (row_axes, sums) = match item.work.reduced() {
            Some(reduced) => (row_axes(reduced), vec![id]),
            None => (None, Vec::new()),
        };
        Some(Self { kernel, extents, row_axes, sums, feeds_check: item.feeds_check })
    }

    /// The space of the rows alone.
    pub(super) fn of_rows(&self, graph: &Graph, row_axes: usize) -> Self {
        let extents = self.extents[..row_axes].to_vec();
        let sums = self.sums.iter().copied().filter(|sum| graph.items[*sum].space == extents).collect();
        Self { extents, row_axes: None, sums, ..self.clone() }
    }

    /// The number of row axes: the axes before those that a sum reduces, or enough axes for sums over rows.
    pub(super) fn rows(&self, graph: &Graph) -> usize {
        let last = |item: &ItemId| {
            let reduced = graph.items[*item].work.reduced().filter(|reduced| reduced.contains(&false))?;
            reduced.iter().rposition(|reduced| *reduced).map(|last| last + 1)
        };
        let free = || self.sums.iter().filter_map(last).max().unwrap_or(0);
        self.row_axes.unwrap_or_else(free)
    }
}

/// The number of row axes, if the innermost axes are summed over and some others are not.
fn row_axes(reduced: &[bool]) -> Option<usize> {
    let kept = reduced.iter().rposition(|reduced| !reduced)?;
    (kept + 1 < reduced.len()).then_some(kept + 1)
}

impl<'g> Fusion<'g> {
    /// The space of a cluster; `None` if it is a single item that is neither a nest nor a product.
    pub(super) fn space(&self, cluster: ItemId) -> Option<&Space> {
        self.spaces[cluster].as_ref()
    }

    fn chains_after_kernels(&mut self) {
        for kernel in 0..self.graph.items.len() {
            if !self.graph.items[kernel].has_finish() {
                continue;
            }
            let mut last = kernel;
            while let [reader] = self.graph.readers[last][..] {
                let is_operation = matches!(self.graph.items[reader].work, Work::Elementwise(_));
                if !is_operation || self.is_delivered(last) || !self.merge(kernel, reader) {
                    break;
                }
                last = reader;
            }
        }
    }

    fn producers_with_consumers(&mut self) {
        for consumer in 0..self.graph.items.len() {
            if !self.graph.items[consumer].is_looped() {
                continue;
            }
            for producer in &self.graph.items[consumer].needs {
                let is_nest = |fusion: &Self, item| {
                    fusion.spaces[fusion.partition.of(item)]
                        .as_ref()
                        .is_some_and(|space| space.kernel.is_none())
                };
                if is_nest(self, consumer) && is_nest(self, *producer) {
                    self.merge(consumer, *producer);
                }
            }
        }
    }

    fn nests_into_kernels(&mut self) {
        for kernel in (0..self.graph.items.len()).rev() {
            if !self.graph.items[kernel].has_finish() {
                continue;
            }
            // Operations that became part of the store may have further readers.
            let mut next = 0;
            loop {
                let members = self.partition.members(self.partition.of(kernel));
                let own = self.partition.of(kernel);
                let readers = members.iter().flat_map(|item| &self.graph.readers[*item]);
                let mut clusters: Vec<ItemId> = readers.map(|reader| self.partition.of(*reader)).collect();
                clusters.retain(|cluster| *cluster != own);
                clusters.dedup();
                let Some(cluster) = clusters.get(next) else { break };
                if self.merge(kernel, *cluster) {
                    next = 0;
                } else {
                    next += 1;
                }
            }
        }
    }

    fn readers_of_one_tensor(&mut self) {
        for item in 0..self.graph.items.len() {
            let readers = &self.graph.readers[item];
            for pair in readers.windows(2) {
                let &[a, b] = pair else { continue };
                let [of_a, of_b] = [a, b].map(|reader| self.partition.of(reader));
                let loops = |cluster: ItemId| {
                    self.spaces[cluster].as_ref().is_some_and(|space| space.kernel.is_none())
                };
                if of_a != of_b && loops(of_a) && loops(of_b) && self.read_alike(item, a, b) {
                    self.merge(a, b);
                }
            }
        }
    }

    /// Whether two items read a third item through the same view, which has a different element at each index.
    fn read_alike(&self, item: ItemId, a: ItemId, b: ItemId) -> bool {
        let views = |reader: ItemId| {
            self.graph.items[reader].reads.iter().filter_map(move |read| match read {
                ItemOperand::View(view) if read.item() == Some(item) => Some(view),
                ItemOperand::View(_) | ItemOperand::Scalar(_) => None,
            })
        };
        views(a).any(|view| !view.strides.contains(&Dim::ZERO) && views(b).any(|other| other == view))
    }

    /// Whether an item is a result or the new value of an input.
    pub(super) fn is_delivered(&self, item: ItemId) -> bool {
        self.graph.delivered[item]
    }

    /// Merges the clusters of two items if possible. Returns whether they are one cluster.
    fn merge(&mut self, a: ItemId, b: ItemId) -> bool {
        let [a, b] = [a, b].map(|item| self.partition.of(item));
        if a == b {
            return true;
        }
        let Some(space) = self.common(a, b) else { return false };
        let Some(merged) = self.partition.merge(a, b) else { return false };
        self.spaces[merged] = Some(space);
        true
    }

    /// The cost of items in additions, at least one for each.
    fn additions(&self, items: &[ItemId]) -> usize {
        let cost = |item: &ItemId| match &self.graph.items[*item].work {
            Work::Elementwise(map) => map.row().cost.additions().max(1),
            _ => 1,
        };
        items.iter().map(cost).sum()
    }

    /// The space of two clusters merged into one; `None` if they do not fit.
    fn common(&self, a: ItemId, b: ItemId) -> Option<Space> {
        let (of_a, of_b) = (self.spaces[a].as_ref()?, self.spaces[b].as_ref()?);
        let [members_a, members_b] = [a, b].map(|cluster| self.partition.members(cluster));
        let fits = of_a.feeds_check == of_b.feeds_check
            && (members_a.len() + members_b.len() <= LONGEST
                || self.additions(members_a) + self.additions(members_b) <= MOST_ADDITIONS)
            && !(of_a.kernel.is_some() && of_b.kernel.is_some());
        if !fits {
            return None;
        }
        let (elements, (rows, members_of_rows)) = match of_a.extents.len() >= of_b.extents.len() {
            true => (of_a, (of_b, members_b)),
            false => (of_b, (of_a, members_a)),
        };
        let row_axes = if elements.extents == rows.extents {
            match (elements.row_axes, rows.row_axes) {
                (Some(a), Some(b)) if a != b => return None,
                (a, b) => a.or(b),
            }
        } else {
            let count = rows.extents.len();
            let are_rows = count > 0
                && elements.extents[..count] == rows.extents[..]
                && (rows.row_axes.is_none() || self.folds_numbers(members_of_rows))
                && elements.row_axes.is_none_or(|own| own == count);
            Some(count).filter(|_| are_rows)?.into()
        };
        let space = Space {
            kernel: of_a.kernel.or(of_b.kernel),
            row_axes,
            sums: [&of_a.sums[..], &of_b.sums[..]].concat(),
            ..elements.clone()
        };
        let sums_fit = space.sums.iter().all(|sum| self.sum_fits(*sum, &space));
        let members = || members_a.iter().chain(members_b);
        let crossing = |reader: &ItemId| {
            let from = self.partition.of(*reader);
            self.graph.items[*reader].needs.iter().any(|needed| {
                let other = self.partition.of(*needed);
                other != from && (other == a || other == b)
            })
        };
        let reads_fit = || {
            members().filter(|reader| crossing(reader)).all(|reader| self.reads_fit(*reader, [a, b], &space))
        };
        let finish_fits = || {
            space.kernel.is_none()
                || (space.sums.is_empty()
                    && space.row_axes.is_none()
                    && members().all(|item| self.fits_finish(*item, &space)))
        };
        (sums_fit && finish_fits() && reads_fit()).then_some(space)
    }

    /// Whether the items are one fold of numbers that nothing else reads, and that are then not stored. A sum is left
    /// alone: its chains and rounding errors would take more memory than one number per row.
    fn folds_numbers(&self, members: &[ItemId]) -> bool {
        let [fold] = members else { return false };
        let Work::Fold { monoid, .. } = &self.graph.items[*fold].work else { return false };
        let is_read_here = |needed: &ItemId| {
            let is_fold = matches!(self.graph.items[*needed].work, Work::Fold { .. });
            is_fold && self.graph.readers[*needed] == [*fold] && !self.is_delivered(*needed)
        };
        !monoid.is_compensated && self.graph.items[*fold].needs.iter().all(is_read_here)
    }

    /// Whether a sum can be computed in a nest with these rows.
    fn sum_fits(&self, sum: ItemId, space: &Space) -> bool {
        let Work::Fold { reduced, .. } = &self.graph.items[sum].work else { return false };
        match space.row_axes {
            Some(rows) if reduced.len() == space.extents.len() => {
                let elements = &reduced[rows..];
                !elements.contains(&true) || !elements.contains(&false)
            }
            // Sums over rows fit any row axes. Without row axes, the sum itself determines them.
            Some(_) | None => true,
        }
    }

    /// Whether an item reads the results of the two clusters at its own index, or as numbers of its row.
    fn reads_fit(&self, reader: ItemId, clusters: [ItemId; 2], space: &Space) -> bool {
        let item = &self.graph.items[reader];
        let is_inside = |needed: ItemId| clusters.contains(&self.partition.of(needed));
        let views = item.reads.iter().all(|read| match read {
            ItemOperand::View(view) => match read.item() {
                Some(needed) if is_inside(needed) => {
                    reads_in_place(self.graph, item, view, needed, space).is_some()
                }
                Some(_) | None => true,
            },
            ItemOperand::Scalar(_) => true,
        });
        // A scalar that the nest computes is known only after the nest.
        let numbers = item.needs.iter().all(|needed| {
            let viewed = item.reads.iter().any(|read| read.item() == Some(*needed));
            viewed || !is_inside(*needed)
        });
        views && numbers
    }

    /// Whether an item is the kernel, or has the kernel's element type and reads views of a matrix only.
    fn fits_finish(&self, id: ItemId, space: &Space) -> bool {
        let item = &self.graph.items[id];
        let has_type = |kernel: ItemId| self.graph.items[kernel].dtype == item.dtype;
        Some(id) == space.kernel
            || (item.space == space.extents
                && space.kernel.is_none_or(has_type)
                && item.reads.iter().all(|read| match read {
                    ItemOperand::View(view) => self.as_matrix(view, space).is_some(),
                    ItemOperand::Scalar(_) => true,
                }))
    }

    /// A view of a product's index space with all row axes merged into one; `None` if their strides do not allow it.
    pub(super) fn as_matrix(&self, view: &View, space: &Space) -> Option<View> {
        let columns = self.columns(space);
        let row_axes = space.extents.len() - usize::from(!columns.is_one());
        let (mut extent, mut stride) = (Dim::ONE, None);
        for axis in (0..row_axes).rev() {
            let own = &view.strides[axis];
            match &stride {
                None => stride = Some(own.clone()),
                Some(inner) if *own == Dim::mul(inner, &extent).ok()? => {}
                Some(_) => return None,
            }
            extent = extent.mul(&space.extents[axis]).ok()?;
        }
        // Any stride fits an extent of 1. This is the stride of a contiguous matrix.
        let column = if columns.is_one() { Dim::ONE } else { view.strides[row_axes].clone() };
        let strides = vec![stride.unwrap_or_else(|| columns.clone()), column];
        let (source, offset) = (view.source.clone(), view.offset.clone());
        Some(View { source, offset, shape: Shape::new([extent, columns]), strides })
    }

    /// The columns of the matrix that a product or convolution computes.
    fn columns(&self, space: &Space) -> Dim {
        match space.kernel.map(|kernel| &self.graph.items[kernel]) {
            Some(Item { work: Work::MatMul { extents, .. }, .. }) => extents[2].clone(),
            Some(Item { shape, .. }) => shape.last().cloned().unwrap_or(Dim::ONE),
            None => Dim::ONE,
        }
    }
}

/// How one item of a nest reads another item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InPlace {
    /// At the same index.
    Element,
    /// As a number of the row.
    Number,
}

/// How an item in this space reads another item of the space; `None` if neither at its own index nor as a number of its
/// row.
pub(super) fn reads_in_place(
    graph: &Graph,
    reader: &Item,
    view: &View,
    read: ItemId,
    space: &Space,
) -> Option<InPlace> {
    let item = &graph.items[read];
    let made = item.stripped();
    if view.offset != Dim::ZERO {
        return None;
    }
    let in_order = |axes: usize| {
        let expected = row_major(&Shape::from_slice(&made));
        view.strides.len() >= axes
            && view.strides[..axes] == expected[..]
            && view.strides[axes..].iter().all(|stride| *stride == Dim::ZERO)
    };
    let is_element = made == space.extents && !matches!(item.work, Work::Fold { .. });
    if is_element && reader.space == space.extents && in_order(made.len()) {
        return Some(InPlace::Element);
    }
    let rows = space.row_axes?;
    let is_number = match &item.work {
        Work::Fold { reduced, .. } => {
            item.space == space.extents
                && !reduced[..rows].contains(&true)
                && !reduced[rows..].contains(&false)
        }
        _ => item.space == space.extents[..rows],
    };
    let reads_rows = reader.space == space.extents || reader.space == space.extents[..rows];
    (is_number && made == space.extents[..rows] && reads_rows && in_order(rows)).then_some(InPlace::Number)
}
