//! Builds the strips of a group of steps.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    dim::Dim,
    plan::{
        Buffer, BufferId, Finish, Location, MatMul, Nest, Node, Operand, Pass, Step, Store, View, arena, view,
    },
    reduce::Reduce,
    ty::{Shape, Type},
};

use super::{
    BufferPart, Limits, Seen, StripSymbols, Strips, Walk,
    group::StepGroup,
    rows::{Along, Covered, RowView, Rows},
    seen::{self, Columns},
};

/// A strip of more rows than this has a multiple of this number of rows, so that tiles of products are whole.
const GRAIN: i64 = 16;

/// Strips, and the steps that process their sums afterwards.
pub(super) struct Cut {
    pub(super) inner: Strips,
    pub(super) after: Vec<Step>,
}

/// The strips of a group; `None` if it cannot be cut into at least two. Buffers change only if it is cut.
pub(super) fn strips(
    buffers: &mut Vec<Buffer>,
    steps: &[Step],
    group: &StepGroup,
    names: &StripSymbols,
    limits: &Limits,
) -> Option<Cut> {
    let before = buffers.len();
    let types: Vec<(BufferId, Type)> =
        group.local.iter().map(|local| (*local, buffers[local.0].ty.clone())).collect();
    let cut = cut(buffers, steps, group, names, limits);
    if cut.is_none() {
        buffers.truncate(before);
        types.into_iter().for_each(|(local, ty)| buffers[local.0].ty = ty);
    }
    cut
}

fn cut(
    buffers: &mut Vec<Buffer>,
    steps: &[Step],
    group: &StepGroup,
    names: &StripSymbols,
    limits: &Limits,
) -> Option<Cut> {
    let bytes = group.local.iter().map(|buffer| buffers[buffer.0].ty.dtype.bytes() as i64).max()?;
    let (axis, most) = place_of_cut(&group.rows, limits.bytes / bytes)?;
    let seen = if axis + 1 == group.rows.axes.len() { seen::find(buffers, steps, group) } else { None };
    let most = if seen.is_some() { place_of_cut(&group.rows, limits.bytes / bytes / 2)?.1 } else { most };
    let walk = |axis: usize| Walk { at: names.place(axis), extent: group.rows.axes[axis].clone() };
    let extent = &group.rows.axes[axis];
    let is_even = extent.as_literal().is_some_and(|extent| extent % most == 0);
    let mut cutter = Cutter {
        rows: &group.rows,
        axis,
        at: (0..=axis).map(|axis| Dim::symbol(names.place(axis))).collect(),
        len: if is_even { Dim::literal(most) } else { Dim::symbol(names.len()) },
        columns: seen.as_ref().map_or(group.rows.columns.clone(), |_| Dim::symbol(names.columns())),
        shortened: seen.as_ref().map(|seen| seen.shortened.clone()).unwrap_or_default(),
        group,
        buffers,
        sums: Vec::new(),
        parts: Vec::new(),
        known: BTreeMap::new(),
        after: Vec::new(),
    };
    for local in &group.local {
        cutter.buffers[local.0].ty = cutter.part_type(*local)?;
    }
    let steps = group.steps.iter().map(|(step, along)| cutter.step(&steps[*step], along));
    let steps = steps.collect::<Option<_>>()?;
    let inner = Strips {
        outer: (0..axis).map(walk).collect(),
        cut: walk(axis),
        most,
        len: cutter.len,
        seen: seen.and_then(|seen| {
            Some(Seen {
                len: names.columns(),
                ahead: seen.ahead,
                columns: group.rows.columns.as_literal()?,
                finite: seen.finite.into_iter().collect(),
            })
        }),
        sums: cutter.sums,
        parts: cutter.parts,
        local: group.local.iter().copied().collect(),
        steps,
    };
    Some(Cut { inner, after: cutter.after })
}

/// The axis of rows to cut, and the number of its positions in a strip, so that a strip of a large tensor has at most
/// `elements` elements if possible. `None` if the whole tensor has no more.
pub(super) fn place_of_cut(rows: &Rows, elements: i64) -> Option<(usize, i64)> {
    let mut axis = rows.axes.len() - 1;
    let mut size = rows.columns.as_literal()?;
    while axis > 0
        && let Some(all) = rows.axes[axis].as_literal().and_then(|extent| size.checked_mul(extent))
        && all <= elements
    {
        size = all;
        axis -= 1;
    }
    let is_of_rows = axis == rows.axes.len() - 1;
    let grain =
        |most: i64| if is_of_rows && most > GRAIN { (most + GRAIN - 1) / GRAIN * GRAIN } else { most };
    let most = (elements / size.max(1)).max(1);
    let Some(extent) = rows.axes[axis].as_literal() else { return Some((axis, most)) };
    // Strips have equal lengths.
    let strips = extent.div_euclid(most) + i64::from(extent % most != 0);
    let most = grain(extent.div_euclid(strips) + i64::from(extent % strips != 0));
    (axis > 0 || most < extent).then_some((axis, most.min(extent)))
}

/// The buffers that a step writes.
fn written(row_views: &[RowView<'_>]) -> Vec<BufferId> {
    row_views
        .iter()
        .filter(|row_view| row_view.is_written)
        .filter_map(|row_view| row_view.view.buffer())
        .collect()
}

struct Cutter<'g> {
    rows: &'g Rows,
    /// The axis that is cut.
    axis: usize,
    /// The current position of each axis up to the cut one.
    at: Vec<Dim>,
    len: Dim,
    /// The number of columns of large tensors in a strip.
    columns: Dim,
    /// The large buffers, if a strip may have fewer columns of them than there are.
    shortened: BTreeSet<BufferId>,
    group: &'g StepGroup,
    buffers: &'g mut Vec<Buffer>,
    sums: Vec<BufferId>,
    parts: Vec<BufferPart>,
    /// The part of each buffer that belongs to the strip.
    known: BTreeMap<BufferId, BufferId>,
    after: Vec<Step>,
}

impl Cutter<'_> {
    fn step(&mut self, step: &Step, along: &Along) -> Option<Step> {
        let row_views = self.rows.row_views(step, along)?;
        match (step, along) {
            (Step::Nest(nest), Along::Rows(covered)) => self.nest(nest, covered, &row_views).map(Step::Nest),
            (Step::MatMul(product), Along::Rows(_)) => self.product(product, &row_views).map(Step::MatMul),
            (Step::MatMul(product), Along::Sums) => self.sums(product, &row_views).map(Step::MatMul),
            _ => None,
        }
    }

    fn nest(&mut self, nest: &Nest, covered: &[Covered], row_views: &[RowView<'_>]) -> Option<Nest> {
        let mut cut = nest.clone();
        for (extent, covered) in cut.extents.iter_mut().zip(covered) {
            if !covered.axes.is_empty() {
                let left = covered.axes.clone().map(|axis| self.extent(axis));
                *extent =
                    left.chain([covered.within.clone()]).try_fold(Dim::ONE, |all, own| all.mul(&own)).ok()?;
            }
        }
        let written = written(row_views);
        let mut moved =
            row_views.iter().map(|row_view| self.view(row_view, &written)).collect::<Option<Vec<_>>>()?;
        match seen::columns_of(self.rows, nest, covered, row_views, &self.shortened)? {
            Columns::None => {}
            Columns::Own(axis) => {
                cut.extents[axis] = self.columns.clone();
                let last = self.rows.axes.len() - 1;
                let of_rows = covered.iter().position(|covered| covered.axes.contains(&last));
                moved.iter_mut().for_each(|view| self.shorten(view, of_rows));
            }
            Columns::WithRows(axis) => cut.extents[axis] = self.len.mul(&self.columns).ok()?,
        }
        let mut moved = moved.into_iter();
        cut.for_each_view_mut(&mut |view| *view = moved.next().expect("a view for each"));
        let mut is_row: Vec<bool> = (0..cut.extents.len()).map(|axis| axis < cut.row_axes).collect();
        let mut extents = std::mem::take(&mut cut.extents);
        let mut views = Vec::new();
        cut.for_each_view_mut(&mut |view| views.push(view.clone()));
        view::collapse(&mut extents, &mut views.iter_mut().collect::<Vec<_>>(), &mut is_row);
        if extents.is_empty() {
            return None;
        }
        let mut views = views.into_iter();
        cut.for_each_view_mut(&mut |view| *view = views.next().expect("a view for each"));
        cut.row_axes = is_row.iter().filter(|is_row| **is_row).count();
        cut.extents = extents;
        (cut.row_axes < cut.extents.len()).then_some(cut)
    }

    /// A product of some rows of each matrix, or of some matrices.
    fn product(&mut self, product: &MatMul, row_views: &[RowView<'_>]) -> Option<MatMul> {
        let rows = self.is_of_rows();
        let mut cut = product.clone();
        let written = written(row_views);
        let [lhs, rhs, others @ ..] = row_views else { return None };
        let lhs_axis = rows.then_some(0);
        (cut.lhs, cut.rhs) = (self.operand(lhs, lhs_axis)?, self.operand(rhs, None)?);
        (cut.batch, cut.extents[0]) =
            (self.batch(), if rows { self.len.clone() } else { cut.extents[0].clone() });
        cut.finish.extents[0] = self.rows_of_strip()?;
        if self.is_shortened(lhs) {
            cut.extents[1] = self.columns.clone();
            self.shorten(&mut cut.lhs, Some(0));
        }
        if others.iter().any(|row_view| row_view.is_written && self.is_shortened(row_view)) {
            cut.extents[2] = self.columns.clone();
            cut.finish.extents[1] = self.columns.clone();
        }
        let [m, k, n] = &cut.extents;
        let batch = cut.batch.iter();
        cut.lhs.shape = batch.clone().chain([m, k]).cloned().collect();
        cut.rhs.shape = batch.chain([k, n]).cloned().collect();
        let mut views = others.iter().map(|row_view| {
            let mut view = self.view(row_view, &written)?;
            self.shorten(&mut view, Some(0));
            Some(View { shape: Shape::from_slice(&cut.finish.extents), ..view })
        });
        let (loads, stores) = (cut.finish.loads.len(), cut.finish.stores.len());
        cut.finish.loads = views.by_ref().take(loads).collect::<Option<_>>()?;
        let targets: Vec<View> = views.by_ref().take(stores).collect::<Option<_>>()?;
        cut.finish.stores.iter_mut().zip(targets).for_each(|(store, target)| store.target = target);
        Some(cut)
    }

    /// A product that adds up rows. Its sums continue from strip to strip, or are those of some matrices.
    fn sums(&mut self, product: &MatMul, row_views: &[RowView<'_>]) -> Option<MatMul> {
        let rows = self.is_of_rows();
        let [lhs, rhs, ..] = row_views else { return None };
        let mut cut = product.clone();
        (cut.lhs, cut.rhs) = (self.operand(lhs, rows.then_some(1))?, self.operand(rhs, rows.then_some(0))?);
        cut.batch = self.batch();
        if rows {
            cut.extents[1] = self.len.clone();
        }
        if self.is_shortened(lhs) {
            cut.extents[0] = self.columns.clone();
            self.shorten(&mut cut.lhs, Some(1));
            cut.lhs.shape = Shape::from_slice(&cut.extents[..2]);
        }
        let of = self.sum_of(product)?;
        // Whatever the target is, the sums have the layout of a product's matrices, one below the other.
        let from = self.from(&row_views.iter().find(|row_view| row_view.is_written)?.along)?;
        let matrices = Dim::product(&cut.batch).ok()?;
        let extents = [matrices.mul(&cut.extents[0]).ok()?, product.extents[2].clone()];
        let shape = Shape::from_slice(&extents);
        let dtype = self.buffers[of.0].ty.dtype;
        let part = self.part(of, from, Type::new(dtype, shape.clone()));
        let target = View::contiguous(part, &shape);
        cut.finish = Finish { extents, loads: Vec::new(), nodes: Vec::new(), stores: Vec::new() };
        let operand = if rows {
            self.sums.push(of);
            let value = self.buffers[of.0].value;
            let operands = vec![Operand::Load(0), Operand::Product];
            cut.finish.loads.push(target.clone());
            cut.finish.nodes.push(Node {
                op: Reduce::Sum.row().monoid.combine,
                operands,
                dtype,
                of: dtype,
                value,
            });
            Operand::Node(0)
        } else {
            Operand::Product
        };
        cut.finish.stores.push(Store { operand, target });
        Some(cut)
    }

    /// The buffer of a product's sums. It is the product's target if the sums are stored unchanged. Otherwise it is a
    /// temporary, which a nest after the strips processes as the product's finish would have.
    fn sum_of(&mut self, product: &MatMul) -> Option<BufferId> {
        let Finish { extents, loads, nodes, stores } = &product.finish;
        if let ([], [], [Store { operand: Operand::Product, target }]) = (&loads[..], &nodes[..], &stores[..])
            && target.is_contiguous()
        {
            return target.buffer();
        }
        let first = stores.first()?.target.buffer()?;
        let Buffer { ty, value, .. } = self.buffers[first.0].clone();
        let shape = Shape::from_slice(extents);
        let sums = BufferId(self.buffers.len());
        let ty = Type::new(ty.dtype, shape.clone());
        self.buffers.push(Buffer { place: arena::UNASSIGNED, ty, value, is_sparse: false });
        let mut loads = loads.clone();
        loads.push(View::contiguous(sums, &shape));
        let of_sums = Operand::Load(loads.len() - 1);
        let operand = |operand: &Operand| match operand {
            Operand::Product => of_sums.clone(),
            other => other.clone(),
        };
        let elements = nodes.iter().map(|node| {
            let operands = node.operands.iter().map(operand).collect();
            Node { operands, ..node.clone() }
        });
        let stored = stores.iter().map(|store| Store { operand: operand(&store.operand), ..store.clone() });
        let pass = Pass { elements: elements.collect(), stores: stored.collect(), ..Pass::default() };
        self.after.push(Step::Nest(Nest {
            extents: extents.to_vec(),
            row_axes: 1,
            loads,
            passes: vec![pass],
        }));
        Some(sums)
    }

    fn is_shortened(&self, row_view: &RowView<'_>) -> bool {
        row_view.view.buffer().is_some_and(|buffer| self.shortened.contains(&buffer))
    }

    /// Sets the stride from row to row of a view whose buffer may have fewer columns.
    fn shorten(&self, view: &mut View, of_rows: Option<usize>) {
        if view.buffer().is_some_and(|buffer| self.shortened.contains(&buffer))
            && let Some(axis) = of_rows
        {
            view.strides[axis] = self.columns.clone();
        }
    }

    fn is_of_rows(&self) -> bool {
        self.axis + 1 == self.rows.axes.len()
    }

    /// The number of positions of an axis in a strip.
    fn extent(&self, axis: usize) -> Dim {
        match axis.cmp(&self.axis) {
            std::cmp::Ordering::Less => Dim::ONE,
            std::cmp::Ordering::Equal => self.len.clone(),
            std::cmp::Ordering::Greater => self.rows.axes[axis].clone(),
        }
    }

    fn batch(&self) -> Vec<Dim> {
        let matrices = self.rows.axes.len() - 1;
        (self.axis..matrices).map(|axis| self.extent(axis)).collect()
    }

    fn rows_of_strip(&self) -> Option<Dim> {
        self.len.mul(&self.rows.behind(self.axis)?).ok()
    }

    /// The distance from the first strip to the current one.
    fn from(&self, along: &[Dim]) -> Option<Dim> {
        let mut places = self.at.iter().zip(along);
        places.try_fold(Dim::ZERO, |from, (at, step)| from.add(&at.mul(step).ok()?).ok())
    }

    /// An operand of a product. If its axis `rows` counts rows, the operand begins at the first row of the strip.
    fn operand(&self, row_view: &RowView<'_>, rows: Option<usize>) -> Option<View> {
        let view = row_view.view;
        let batch = self.rows.axes.len() - 1;
        let outer = self.axis.min(batch);
        let mut cut = self.moved(row_view)?;
        cut.strides.drain(..outer);
        let mut shape: Vec<Dim> = view.shape.iter().skip(outer).cloned().collect();
        for (extent, axis) in shape.iter_mut().zip(outer..batch) {
            *extent = self.extent(axis);
        }
        if let Some(own) = rows {
            shape[batch - outer + own] = self.len.clone();
        }
        cut.shape = Shape::new(shape);
        Some(cut)
    }

    /// A view for the current strip. A view that the step writes is replaced by one of a separate part, from its first
    /// element on.
    fn view(&mut self, row_view: &RowView<'_>, written: &[BufferId]) -> Option<View> {
        let Some(buffer) = row_view.view.buffer().filter(|buffer| written.contains(buffer)) else {
            return self.moved(row_view);
        };
        if self.group.local.contains(&buffer) {
            return Some(row_view.view.clone());
        }
        let part = match self.known.get(&buffer) {
            Some(part) => *part,
            None => {
                let (ty, from) = (self.part_type(buffer)?, self.from(&row_view.along)?);
                self.part(buffer, from, ty)
            }
        };
        Some(row_view.view.of(part))
    }

    fn moved(&self, row_view: &RowView<'_>) -> Option<View> {
        if row_view.view.buffer().is_some_and(|buffer| self.group.local.contains(&buffer)) {
            return Some(row_view.view.clone());
        }
        let offset = row_view.view.offset.add(&self.from(&row_view.along)?).ok()?;
        Some(View { offset, ..row_view.view.clone() })
    }

    fn part(&mut self, of: BufferId, from: Dim, ty: Type) -> BufferId {
        let part = BufferId(self.buffers.len());
        let place = Location::Part { of, from };
        self.buffers.push(Buffer { place, ty, ..self.buffers[of.0].clone() });
        self.parts.push(BufferPart { buffer: part, of });
        self.known.insert(of, part);
        part
    }

    /// The type of the part of a buffer that is in a strip.
    fn part_type(&self, buffer: BufferId) -> Option<Type> {
        let Buffer { ty, .. } = &self.buffers[buffer.0];
        let columns = if self.shortened.contains(&buffer) {
            self.columns.clone()
        } else {
            self.rows.len_of_row(&self.buffers[buffer.0])?
        };
        Some(Type::new(ty.dtype, Shape::new([self.rows_of_strip()?, columns])))
    }
}
