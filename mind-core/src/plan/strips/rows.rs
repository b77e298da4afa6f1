//! How steps process rows: the elements that they read and write for each row.

use crate::{
    dim::Dim,
    plan::{Buffer, Finish, Location, MatMul, Nest, Step, Target, View},
};

/// The axes that count rows, and the length of rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    /// The extents of the axes, outermost first: those of a batch, then the rows of its matrices.
    pub(super) axes: Vec<Dim>,
    /// The number of elements in a row of a large tensor.
    pub(super) columns: Dim,
}

/// How a step processes rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Along {
    /// The step computes each row from the same row of its operands. For a nest, each of its axes covers some axes of
    /// rows.
    Rows(Vec<Covered>),
    /// A product that adds up the rows of each matrix.
    Sums,
}

/// The axes of rows that an axis of a nest covers, and the number of positions of the nest's axis for one position of
/// the last of these axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Covered {
    pub(super) axes: std::ops::Range<usize>,
    pub(super) within: Dim,
}

/// A view that a step reads or writes.
pub(super) struct RowView<'s> {
    pub(super) view: &'s View,
    /// Its stride along each axis of rows.
    pub(super) along: Vec<Dim>,
    /// The extents and strides within a row.
    within: Vec<(Dim, Dim)>,
    pub(super) is_written: bool,
}

impl Rows {
    /// The rows of a product.
    pub(super) fn of(product: &MatMul) -> Self {
        let axes = product.batch.iter().chain([&product.extents[0]]).cloned().collect();
        Self { axes, columns: product.extents[2].clone() }
    }

    /// The number of rows for each position of an axis.
    pub(super) fn behind(&self, axis: usize) -> Option<Dim> {
        Dim::product(&self.axes[axis + 1..]).ok()
    }

    fn count(&self) -> Option<Dim> {
        Dim::product(&self.axes).ok()
    }

    /// The length of the rows of a buffer.
    pub(super) fn len_of_row(&self, buffer: &Buffer) -> Option<Dim> {
        buffer.ty.shape.element_count().ok()?.exact_div(&self.count()?).ok()?
    }

    /// The ways in which the extents of a step allow it to process the rows. A product of square matrices may allow
    /// both.
    pub(super) fn along(&self, step: &Step) -> Vec<Along> {
        match step {
            Step::Nest(nest) => self.along_nest(nest).map(Along::Rows).into_iter().collect(),
            Step::MatMul(product) => {
                let (last, batch) = self.axes.split_last().expect("matrices have rows");
                let has_rows = |axis: usize| product.batch == batch && product.extents[axis] == *last;
                let rows = has_rows(0).then(|| Along::Rows(Vec::new()));
                rows.into_iter().chain(has_rows(1).then_some(Along::Sums)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn along_nest(&self, nest: &Nest) -> Option<Vec<Covered>> {
        let mut covered = Vec::with_capacity(nest.extents.len());
        let mut next = 0;
        // A nest has no axes of extent 1.
        let after_ones = |from: usize| {
            let more = self.axes[from..].iter().take_while(|extent| extent.is_one()).count();
            from + more
        };
        for extent in &nest.extents {
            next = after_ones(next);
            let (first, mut product) = (next, Dim::ONE);
            while product != *extent && next < self.axes.len() {
                product = product.mul(&self.axes[next]).ok()?;
                next += 1;
            }
            covered.push(Covered { axes: first..next, within: extent.exact_div(&product).ok()?? });
        }
        if after_ones(next) < self.axes.len() {
            return None;
        }
        let is_whole = |covered: &Covered| covered.axes.is_empty() || covered.within.is_one();
        let rows_count_rows = covered[nest.row_axes..].iter().all(|covered| covered.axes.is_empty())
            && covered.iter().all(is_whole);
        let mut sums_are_of_rows = true;
        let mut has_numbers = false;
        for pass in &nest.passes {
            has_numbers |= !(pass.folds.is_empty() && pass.numbers.is_empty() && pass.row_stores.is_empty());
            sums_are_of_rows &= pass.row_folds.is_empty()
                && pass.folds.iter().all(|fold| matches!(fold.target, Target::Number(_)));
        }
        (sums_are_of_rows && (rows_count_rows || !has_numbers)).then_some(covered)
    }

    /// The views of a step that processes the rows in this way.
    pub(super) fn row_views<'s>(&self, step: &'s Step, along: &Along) -> Option<Vec<RowView<'s>>> {
        match (step, along) {
            (Step::Nest(nest), Along::Rows(covered)) => {
                let loads = nest.loads.iter().map(|view| (view, false));
                let mut targets = Vec::new();
                nest.for_each_target(|target| targets.push((target, true)));
                loads
                    .chain(targets)
                    .map(|(view, is_written)| self.in_nest(view, covered, is_written))
                    .collect()
            }
            (Step::MatMul(product), along) => self.in_product(product, along),
            _ => None,
        }
    }

    fn in_nest<'s>(&self, view: &'s View, covered: &[Covered], is_written: bool) -> Option<RowView<'s>> {
        let mut row_view =
            RowView { view, along: vec![Dim::ZERO; self.axes.len()], within: Vec::new(), is_written };
        for ((stride, extent), covered) in view.strides.iter().zip(view.shape.iter()).zip(covered) {
            let mut step = stride.mul(&covered.within).ok()?;
            for axis in covered.axes.clone().rev() {
                row_view.along[axis] = step.clone();
                step = step.mul(&self.axes[axis]).ok()?;
            }
            let within = if covered.axes.is_empty() { extent } else { &covered.within };
            row_view.within.push((within.clone(), stride.clone()));
        }
        Some(row_view)
    }

    fn in_product<'s>(&self, product: &'s MatMul, along: &Along) -> Option<Vec<RowView<'s>>> {
        let batch = product.batch.len();
        let operand = |view: &'s View, [row, column]: [bool; 2]| {
            let mut row_view = RowView {
                view,
                along: view.strides[..batch].to_vec(),
                within: Vec::new(),
                is_written: false,
            };
            let mut of_rows = Dim::ZERO;
            for (axis, counts) in [(batch, row), (batch + 1, column)] {
                if counts {
                    of_rows = view.strides[axis].clone();
                } else {
                    row_view.within.push((view.shape[axis].clone(), view.strides[axis].clone()));
                }
            }
            row_view.along.push(of_rows);
            row_view
        };
        let (lhs, rhs) = match along {
            Along::Rows(_) => ([true, false], [false, false]),
            Along::Sums => ([false, true], [true, false]),
        };
        let mut all = vec![operand(&product.lhs, lhs), operand(&product.rhs, rhs)];
        let Finish { loads, stores, .. } = &product.finish;
        let loads = loads.iter().map(|view| (view, false));
        for (view, is_written) in loads.chain(stores.iter().map(|store| (&store.target, true))) {
            let [row, column] = [&view.strides[0], &view.strides[1]];
            let mut row_view = RowView { view, along: Vec::new(), within: Vec::new(), is_written };
            row_view.within.push((view.shape[1].clone(), column.clone()));
            let mut step = match along {
                Along::Rows(_) => row.clone(),
                Along::Sums => {
                    row_view.within.push((product.extents[0].clone(), row.clone()));
                    row_view.along.push(Dim::ZERO);
                    row.mul(&product.extents[0]).ok()?
                }
            };
            let axes = self.axes.len() - row_view.along.len();
            for axis in (0..axes).rev() {
                row_view.along.push(step.clone());
                step = step.mul(&self.axes[axis]).ok()?;
            }
            row_view.along.reverse();
            all.push(row_view);
        }
        Some(all)
    }

    /// Whether a buffer is a temporary whose rows are as long as those of large tensors.
    pub(super) fn are_of(&self, buffer: &Buffer) -> bool {
        let is_temporary = matches!(buffer.place, Location::Arena { .. });
        is_temporary && self.len_of_row(buffer).as_ref() == Some(&self.columns)
    }

    /// Whether a view accesses at each row only that row of a buffer.
    pub(super) fn is_row_of(&self, row_view: &RowView<'_>, buffer: &Buffer) -> bool {
        let Some(len) = self.len_of_row(buffer) else { return false };
        let in_order = (0..self.axes.len()).all(|axis| {
            let step = self.behind(axis).and_then(|behind| behind.mul(&len).ok());
            self.axes[axis].is_one() || step.as_ref() == Some(&row_view.along[axis])
        });
        row_view.view.offset == Dim::ZERO && in_order && is_inside(&row_view.within, &len)
    }
}

/// Whether the elements that these extents and strides reach are among the first `len`.
fn is_inside(axes: &[(Dim, Dim)], len: &Dim) -> bool {
    let mut moving: Vec<&(Dim, Dim)> =
        axes.iter().filter(|(extent, stride)| !extent.is_one() && *stride != Dim::ZERO).collect();
    let known = moving.iter().try_fold(0_i64, |reach, (extent, stride)| {
        reach.checked_add((extent.as_literal()? - 1).checked_mul(stride.as_literal()?)?)
    });
    if let (Some(reach), Some(len)) = (known, len.as_literal()) {
        return reach < len;
    }
    // Otherwise the axes must be in order, without gaps.
    let mut step = Dim::ONE;
    while let Some(position) = moving.iter().position(|(_, stride)| *stride == step) {
        let (extent, _) = moving.remove(position);
        let Ok(product) = step.mul(extent) else { return false };
        step = product;
    }
    moving.is_empty() && (step == *len || step.is_one())
}
