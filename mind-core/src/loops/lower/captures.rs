//! The captures of loops.

use crate::{
    dim::Dim,
    ir::ValueId,
    loops::{Capture, Captured, Cut, Holds, OfBlock, Var},
    plan::{Buffer, BufferId, Finish, Location, Nest, Plan, Scalar, Source, View},
    ty::DType,
};

use super::{buffer, chains, operands, targets, writer::Writer};

/// The captures of loops.
pub(super) struct Captures {
    pub(super) all: Vec<Capture>,
    /// The variable of each load.
    pub(super) loads: Vec<Var>,
    /// The captured scalars: element counts, and numbers that an earlier step computed or the caller gave.
    scalars: Vec<(Scalar, Var)>,
    /// The variable of each buffer that is written.
    targets: Vec<(BufferId, Var)>,
    /// The chain and the rounding error of each sum that is accumulated in scratch memory.
    scratch: Vec<(BufferId, [Var; 2])>,
    /// The axis along which the loops are cut, and the number of steps that they process.
    pub(super) cut: Option<(usize, Var)>,
}

impl Captures {
    pub(super) fn new(plan: &Plan, nest: &Nest, cut: Option<&Cut>, out: &mut Writer) -> Self {
        let mut captures = Self {
            all: Vec::new(),
            loads: Vec::new(),
            scalars: Vec::new(),
            targets: Vec::new(),
            scratch: Vec::new(),
            cut: None,
        };
        captures.name_targets(plan, nest, out);
        captures.loads(plan, nest, cut, out);
        captures.scalars(plan, nest, out);
        captures.targets(nest, cut);
        captures.scratch(plan, nest, cut, out);
        if let Some(cut) = cut {
            let steps = out.variable(None, "steps", Holds::Size);
            captures.add(steps, Captured::Steps(cut.steps.clone()), Dim::ZERO);
            captures.cut = Some((cut.axis, steps));
        }
        captures
    }

    fn add(&mut self, var: Var, source: Captured, stride: Dim) {
        self.all.push(Capture { var, source, stride });
    }

    /// Targets are named before loads, since a load may share the memory of a target.
    fn name_targets(&mut self, plan: &Plan, nest: &Nest, out: &mut Writer) {
        for view in targets(nest) {
            let buffer = buffer(view);
            if !self.targets.iter().any(|(known, _)| *known == buffer) {
                let var = elements(plan, buffer, out);
                self.targets.push((buffer, var));
            }
        }
    }

    fn loads(&mut self, plan: &Plan, nest: &Nest, cut: Option<&Cut>, out: &mut Writer) {
        for load in &nest.loads {
            if let Source::Positions(_) = load.source {
                let stride = stride(load, cut);
                let is_it =
                    |capture: &&Capture| capture.source == Captured::Position && capture.stride == stride;
                let known = self.all.iter().find(is_it).map(|capture| capture.var);
                let var = known.unwrap_or_else(|| {
                    let var = out.variable(None, "position", Holds::Size);
                    self.add(var, Captured::Position, stride);
                    var
                });
                self.loads.push(var);
                continue;
            }
            let buffer = buffer(load);
            if let Some((_, target)) =
                self.targets.iter().find(|(target, _)| is_written(plan, *target, buffer))
            {
                self.loads.push(*target);
                continue;
            }
            let stride = stride(load, cut);
            let is_read =
                |source: &Captured| matches!(source, Captured::Read(known) if is_same(plan, *known, buffer));
            let known = self.all.iter().find(|known| is_read(&known.source) && known.stride == stride);
            let var = known.map(|capture| capture.var).unwrap_or_else(|| {
                let var = elements(plan, buffer, out);
                self.add(var, Captured::Read(buffer), stride);
                var
            });
            self.loads.push(var);
        }
    }

    fn scalars(&mut self, plan: &Plan, nest: &Nest, out: &mut Writer) {
        for (operand, dtype) in operands(plan, nest) {
            let Some(scalar) = operand.scalar() else { continue };
            let (value, what) = match scalar {
                Scalar::Constant(_) => continue,
                Scalar::Input(input) => (Some(ValueId::new(*input)), ""),
                Scalar::Local(value) => (Some(*value), ""),
                Scalar::Count { .. } => (None, "count"),
            };
            if !self.scalars.iter().any(|(known, _)| known == scalar) {
                let var = out.variable(value, what, Holds::Number(dtype));
                self.add(var, Captured::Number(scalar.clone()), Dim::ZERO);
                self.scalars.push((scalar.clone(), var));
            }
        }
    }

    fn targets(&mut self, nest: &Nest, cut: Option<&Cut>) {
        for (buffer, var) in self.targets.clone() {
            let view = targets(nest).find(|view| view.buffer() == Some(buffer));
            let view = view.expect("a target is the target of something");
            self.add(var, Captured::Written(buffer), stride(view, cut));
        }
    }

    /// Captures the scratch memory for chains and rounding errors of sums in memory. It has the size and layout of the
    /// sums.
    fn scratch(&mut self, plan: &Plan, nest: &Nest, cut: Option<&Cut>, out: &mut Writer) {
        for sum in chains::in_scratch(nest, cut.map(|cut| cut.axis)) {
            let of = buffer(sum.view);
            let Buffer { value, ty, .. } = &plan.buffers[of.0];
            let both = ["chain", "lost"].map(|what| {
                let var = out.variable(Some(*value), what, Holds::Borrowed(ty.dtype));
                self.add(var, Captured::Scratch(of), stride(sum.view, cut));
                var
            });
            self.scratch.push((of, both));
        }
    }

    /// Also captures the properties of a block of sums that a product's kernel passes, and cuts the targets along rows.
    pub(super) fn of_block(&mut self, finish: &Finish, dtype: DType, out: &mut Writer) -> [Var; 7] {
        use OfBlock::{Column, Columns, First, Row, Rows, Stride, Sums};

        for capture in &mut self.all {
            let Captured::Written(buffer) = capture.source else { continue };
            let mut stores = finish.stores.iter().map(|store| &store.target);
            let view = stores.find(|view| view.buffer() == Some(buffer));
            capture.stride = view.expect("a target is the target of something").strides[0].clone();
        }
        let named = [
            (First, "first"),
            (Row, "row"),
            (Column, "column"),
            (Rows, "rows"),
            (Columns, "columns"),
            (Sums, "sums"),
            (Stride, "stride"),
        ];
        named.map(|(of, name)| {
            let holds = if of == Sums { Holds::Borrowed(dtype) } else { Holds::Size };
            let var = out.variable(None, name, holds);
            self.add(var, Captured::Block(of), Dim::ZERO);
            var
        })
    }

    /// The chain and the rounding error of a sum in scratch memory.
    pub(super) fn scratch_of(&self, view: &View) -> [Var; 2] {
        let scratch = self.scratch.iter().find(|(known, _)| *known == buffer(view));
        scratch.expect("scratch memory was taken for it").1
    }

    /// The number of steps to process of an axis, if the loops are cut along it.
    pub(super) fn steps(&self, axis: usize) -> Option<Var> {
        self.cut.filter(|(cut, _)| *cut == axis).map(|(_, steps)| steps)
    }

    /// The variable of a captured scalar.
    pub(super) fn scalar(&self, scalar: &Scalar) -> Option<Var> {
        self.scalars.iter().find(|(known, _)| known == scalar).map(|(_, var)| *var)
    }

    /// The variable of a target.
    pub(super) fn target(&self, view: &View) -> Var {
        let target = self.targets.iter().find(|(known, _)| *known == buffer(view));
        target.expect("every target is captured").1
    }
}

/// A variable for the elements of a buffer.
fn elements(plan: &Plan, buffer: BufferId, out: &mut Writer) -> Var {
    let Buffer { value, ty, .. } = &plan.buffers[buffer.0];
    out.variable(Some(*value), "", Holds::Borrowed(ty.dtype))
}

/// The stride, in elements, between steps of the axis along which the loops are cut.
fn stride(view: &View, cut: Option<&Cut>) -> Dim {
    cut.map_or(Dim::ZERO, |cut| view.strides[cut.axis].clone())
}

/// Whether a buffer that is read lies in the memory of one that is written.
fn is_written(plan: &Plan, written: BufferId, read: BufferId) -> bool {
    let [written, read] = [written, read].map(|buffer| &plan.buffers[buffer.0]);
    let is_constant = matches!(written.place, Location::Constant(_));
    !is_constant && written.place == read.place && written.ty.dtype == read.ty.dtype
}

/// Whether two buffers that are read are the same memory.
fn is_same(plan: &Plan, a: BufferId, b: BufferId) -> bool {
    let place = |buffer: BufferId| &plan.buffers[buffer.0].place;
    a == b || (!matches!(place(a), Location::Arena { .. }) && place(a) == place(b))
}
