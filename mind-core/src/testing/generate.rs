//! Random well-typed modules.

use mind_shape::match_dtype;

use super::Random;
use crate::{
    build::Builder,
    data::TensorData,
    dim::{Bindings, Dim},
    ir::{
        Arrange, Const, Convolution, Cumulation, Effect, Fourier, Join, Made, Module, Op, Padding, Part,
        Pool, Pooling, Product, Reduction, Rows, Slice, ValueId, Window, Windows,
    },
    map::{Map, Row, ShapeRule},
    ops::{Attribute, Attributes, FieldKind, OpInfo, Profile, TABLE},
    reduce::{ArgReduce, Reduce},
    ty::{DType, MAX_RANK, Shape, Type},
};

/// The most elements a value has when every symbol is 5.
const MAX_ELEMENTS: i64 = 2000;

/// A module that verifies, of about `size` operations of both profiles on known and symbolic extents.
///
/// Its symbols are `N` and `M` at most, and inputs determine each symbol that it uses.
pub fn random_module(seed: u64, size: usize) -> Module {
    generate(Random::new(seed), size, Profile::Extended)
}

/// As [`random_module`], with choices made by the bytes, which a fuzzer varies.
pub fn module_from_bytes(bytes: &[u8]) -> Module {
    generate(Random::from_bytes(bytes), 5 + bytes.len() / 8 % 40, Profile::Extended)
}

/// A module of loops that the bytes choose. Their results are the results of the module.
pub fn loops_from_bytes(bytes: &[u8]) -> Module {
    let random = Random::from_bytes(bytes);
    let mut generator = Generator { random, builder: Builder::new(), profile: Profile::Extended, depth: 0 };
    let outputs = generator.loops();
    generator.builder.finish(outputs)
}

/// As [`random_module`], with operations of Core v1 only.
pub fn random_core_v1_module(seed: u64, size: usize) -> Module {
    generate(Random::new(seed), size, Profile::CoreV1)
}

fn generate(random: Random, size: usize, profile: Profile) -> Module {
    let mut generator = Generator { random, builder: Builder::new(), profile, depth: 0 };
    generator.inputs();
    let mut left = size;
    // Proposals that break a rule are dropped. The bound ends a search without valid proposals.
    for _ in 0..size * 20 {
        if left == 0 {
            break;
        }
        left -= usize::from(generator.step());
    }
    generator.finish()
}

pub(super) struct Generator {
    pub(super) random: Random,
    pub(super) builder: Builder,
    pub(super) profile: Profile,
    /// The number of modules around the one that is generated.
    pub(super) depth: usize,
}

/// An operation with its operands, which may break a rule.
pub(super) type Proposal = (Op, Vec<ValueId>);

impl Generator {
    fn inputs(&mut self) {
        let float = *self.random.pick(&[DType::F32, DType::F32, DType::F64]);
        let count = 2 + self.random.below(3);
        for position in 0..count {
            let integers = match self.profile {
                Profile::CoreV1 => &[DType::I32, DType::I64][..],
                Profile::Extended => &[DType::U8, DType::I32, DType::I64],
            };
            let dtype = if self.random.once_in(5) { *self.random.pick(integers) } else { float };
            let rank = *self.random.pick(&[0, 1, 1, 2, 2, 2, 3]);
            let shape = (0..rank).map(|_| self.extent()).collect();
            self.input(format!("x{position}"), Type::new(dtype, shape));
        }
        if self.random.once_in(4) {
            let batch = self.extent();
            let spatial = if self.random.once_in(4) { Dim::symbol("N") } else { Dim::literal(5) };
            self.input("image".into(), Type::new(float, Shape::new([batch, spatial, 4.into(), 2.into()])));
            self.input("filter".into(), Type::new(float, Shape::literal(&[2, 3, 2, 2])));
        }
        // A derived extent needs an input that determines its symbol.
        let uses = |builder: &Builder, name: &str| {
            let mut dims = builder.insts().iter().flat_map(|inst| inst.ty.shape.iter());
            dims.any(|dim| dim.as_symbol().is_some_and(|symbol| **symbol == *name))
        };
        if uses(&self.builder, "N") && self.random.once_in(2) {
            let derived = Dim::symbol("N").mul(&2.into()).and_then(|dim| dim.add_literal(1));
            let shape = Shape::new([derived.expect("small coefficients")]);
            self.input("derived".into(), Type::new(float, shape));
        }
    }

    pub(super) fn input(&mut self, name: String, ty: Type) {
        self.builder.input(name, ty).expect("names and types are fit for inputs");
    }

    fn extent(&mut self) -> Dim {
        match self.random.below(8) {
            0 => Dim::ONE,
            1 | 2 => Dim::literal(2),
            3 | 4 => Dim::literal(3),
            5 => Dim::literal(4),
            6 => Dim::symbol("N"),
            _ => Dim::symbol("M"),
        }
    }

    /// Tries one operation. Returns whether it was added.
    pub(super) fn step(&mut self) -> bool {
        let x = self.value();
        let Some((op, operands)) = self.propose(x) else { return false };
        if op.info().profile > self.profile {
            return false;
        }
        let fits = self.fits(&op, &operands);
        if fits {
            self.builder.push(op, &operands).expect("it was inferred just now");
        }
        fits
    }

    /// Whether an operation keeps the rules and its result is small.
    pub(super) fn fits(&self, op: &Op, operands: &[ValueId]) -> bool {
        crate::ops::infer_among(op, operands, self.builder.insts()).is_ok_and(|ty| is_small(&ty))
    }

    /// A random value, with recent ones more often.
    pub(super) fn value(&mut self) -> ValueId {
        let count = self.builder.insts().len();
        let back = self.random.below(count).min(self.random.below(count));
        ValueId::new(count - 1 - back)
    }

    /// Another value that `fits`, if a few tries find one.
    pub(super) fn partner(&mut self, fits: impl Fn(&Type) -> bool) -> Option<ValueId> {
        let tries = [(); 8].map(|()| self.value());
        tries.into_iter().find(|value| fits(self.builder.ty(*value)))
    }

    /// A random elementwise function, among the wanted ones.
    fn function(&mut self, is_wanted: impl Fn(&Row) -> bool) -> Op {
        let wanted: Vec<Map> = Map::ALL.iter().copied().filter(|map| is_wanted(map.row())).collect();
        Op::Map(*self.random.pick(&wanted))
    }

    fn propose(&mut self, x: ValueId) -> Option<Proposal> {
        let ty = self.builder.ty(x).clone();
        let rank = ty.rank();
        let same_dtype = |other: &Type| other.dtype == ty.dtype;
        Some(match self.random.below(32) {
            0..5 => {
                // Functions that keep zeros occur in gradients, so they are rare here. One of them is a quotient, for
                // which no bound is known near its pole.
                let keeps = self.random.once_in(4);
                let op = self.function(|row| {
                    let is_wanted = row.keeps_zeros.is_none() || keeps;
                    row.arity() == 2 && row.shapes == ShapeRule::Broadcast && row.takes(ty.dtype) && is_wanted
                });
                let partner = self.partner(same_dtype)?;
                if op.info().profile > self.profile {
                    return None;
                }
                let divides = matches!(op, Op::Map(map) if map.row().pole.is_some());
                let partner = if divides && ty.dtype.is_integer() { self.odd(partner)? } else { partner };
                (op, vec![x, partner])
            }
            5 if self.random.once_in(2) => {
                let condition = self.partner(|other| other.dtype == DType::Bool)?;
                (Op::Map(Map::Where), vec![condition, x, self.partner(same_dtype)?])
            }
            5 | 6 => (self.function(|row| row.arity() == 1 && row.takes(ty.dtype)), vec![x]),
            7 | 8 => {
                let axes = self.some_axes(rank);
                let reduction = Reduction { axes, keepdims: self.random.once_in(2) };
                match self.profile {
                    Profile::Extended if rank > 0 && self.random.once_in(6) => self.along(x)?,
                    Profile::Extended if self.random.once_in(8) => {
                        (Op::ArgReduce(*self.random.pick(&ArgReduce::ALL), reduction), vec![x])
                    }
                    _ => (Op::Reduce(*self.random.pick(Reduce::ALL), reduction), vec![x]),
                }
            }
            9 | 10 => (Op::Arrange(Arrange::Reshape { shape: self.reshaped(&ty.shape)? }), vec![x]),
            11 => (Op::Arrange(Arrange::Transpose { permutation: self.permutation(rank) }), vec![x]),
            12 => {
                let added = 1 + self.random.below(2);
                let mut axes = self.permutation(rank + added);
                axes.truncate(added);
                (Op::Arrange(Arrange::ExpandDims { axes }), vec![x])
            }
            13 => {
                let ones = (0..rank as i64).filter(|axis| ty.shape[*axis as usize].is_one()).collect();
                (Op::Arrange(Arrange::Squeeze { axes: ones }), vec![x])
            }
            14 => (
                Op::Part(Part::Index { indices: ty.shape.iter().map(|extent| self.index(extent)).collect() }),
                vec![x],
            ),
            15 | 16 => (Op::Part(Part::Slice(self.slice(&ty.shape).into())), vec![x]),
            17 => {
                let indices = self.indices(ty.shape.first()?)?;
                (Op::Rows(Rows::Gather), vec![x, indices])
            }
            29 if rank > 0 && self.profile == Profile::Extended => {
                let axis = self.random.below(rank);
                let whole: Vec<i64> = ty.shape.as_literals()?.to_vec();
                let mut part = whole.clone();
                part[axis] = 1 + self.random.below(3) as i64;
                if self.random.once_in(2) {
                    let indices = self.constant_indices(&ty.shape[axis], &part)?;
                    return Some((Op::Rows(Rows::TakeAlong { axis: axis as i64 }), vec![x, indices]));
                }
                if self.random.once_in(2)
                    && let Some(op) = self.dynamic(x, axis, &whole)
                {
                    return Some(op);
                }
                let shape = Shape::literal(&part);
                let indices = self.constant_indices(&shape[axis], &whole)?;
                (Op::Rows(Rows::AddAlong { shape, axis: axis as i64 }), vec![indices, x])
            }
            18 => (
                Op::Product(Product::Dot),
                vec![x, self.partner(|other| same_dtype(other) && matches!(other.rank(), 1 | 2))?],
            ),
            19 | 20 => self.product(x)?,
            21 => self.convolution(x)?,
            22 => {
                let mut shape: Vec<Dim> = ty.shape.to_vec();
                let ones = shape.iter_mut().filter(|dim| dim.is_one());
                ones.for_each(|dim| *dim = Dim::literal(1 + self.random.below(3) as i64));
                if self.random.once_in(2) {
                    shape.insert(0, Dim::literal(2));
                }
                (Op::Arrange(Arrange::BroadcastTo { shape: Shape::new(shape) }), vec![x])
            }
            23 => match self.random.below(6) {
                0 => {
                    let op = self.function(|row| row.shapes == ShapeRule::Equal);
                    (op, vec![x, self.partner(|other| *other == ty)?])
                }
                1 => self.slice_grad(x)?,
                2 => self.concat(x)?,
                3 if self.profile == Profile::Extended => self.unfolded(x)?,
                4 if self.profile == Profile::Extended => self.pooled(x)?,
                _ => {
                    let rows = ty.shape.first()?.as_literal()?;
                    let extent = Dim::literal(2 + self.random.below(3) as i64);
                    let indices = self.constant_indices(&extent, &[rows])?;
                    let shape = [extent].into_iter().chain(ty.shape[1..].iter().cloned()).collect();
                    (Op::Rows(Rows::ScatterAdd { shape }), vec![indices, x])
                }
            },
            24..28 => self.pattern(x)?,
            28 if rank > 0 && self.profile == Profile::Extended && self.random.once_in(2) => {
                let axis = self.random.below(rank) as i64;
                (Op::Made(Made::Iota { shape: ty.shape.to_vec(), axis }), Vec::new())
            }
            28 if self.profile == Profile::Extended && self.random.once_in(2) => {
                let label = format!("seen {}", self.random.below(10)).into();
                (Op::Effect(Effect::Inspect { label }), vec![x])
            }
            29 => self.nesting(x)?,
            30 if self.profile == Profile::Extended && self.random.once_in(2) => self.factored(x)?,
            30 if self.profile == Profile::Extended => self.transformed(x)?,
            _ => (self.constant(ty.dtype), Vec::new()),
        })
    }

    /// Integers that are not 0: the lowest bit of each is set.
    fn odd(&mut self, x: ValueId) -> Option<ValueId> {
        let one = TensorData::count(1, self.builder.ty(x).dtype);
        let one = self.builder.push(Op::Const(Const::new(one, Shape::scalar())), &[]).ok()?;
        self.made(Op::Map(Map::BitOr), &[x, one])
    }

    fn some_axes(&mut self, rank: usize) -> Vec<i64> {
        (0..rank as i64).filter(|_| self.random.once_in(2)).collect()
    }

    pub(super) fn permutation(&mut self, rank: usize) -> Vec<i64> {
        let mut permutation: Vec<i64> = (0..rank as i64).collect();
        for place in (1..rank).rev() {
            permutation.swap(place, self.random.below(place + 1));
        }
        permutation
    }

    /// The shape with two axes merged, one axis split, all axes merged, or an axis of extent 1 added.
    fn reshaped(&mut self, shape: &Shape) -> Option<Shape> {
        let mut dims = shape.to_vec();
        match self.random.below(4) {
            0 => return Some(Shape::new([shape.element_count().ok()?])),
            1 if dims.len() >= 2 => {
                let axis = self.random.below(dims.len() - 1);
                let merged = dims[axis].mul(&dims[axis + 1]).ok()?;
                dims.splice(axis..axis + 2, [merged]);
            }
            2 => {
                let halves = |dim: &Dim| dim.exact_div(&2.into()).ok().flatten();
                let axis = (0..dims.len()).find(|axis| halves(&dims[*axis]).is_some())?;
                let half = halves(&dims[axis])?;
                dims.splice(axis..axis + 1, [Dim::literal(2), half]);
            }
            _ => dims.insert(self.random.below(dims.len() + 1), Dim::ONE),
        }
        Some(Shape::new(dims))
    }

    fn index(&mut self, extent: &Dim) -> Dim {
        match extent.as_literal() {
            Some(extent) => Dim::literal(self.random.below(extent as usize) as i64),
            None if self.random.once_in(2) => extent.add_literal(-1).expect("extents are small"),
            None => Dim::ZERO,
        }
    }

    pub(super) fn slice(&mut self, shape: &Shape) -> Slice {
        let mut slice = Slice { starts: Vec::new(), ends: Vec::new(), steps: Vec::new() };
        for extent in shape.iter() {
            let (start, end) = match extent.as_literal() {
                Some(extent) => {
                    let start = self.random.below(extent as usize) as i64;
                    let end = start + 1 + self.random.below((extent - start) as usize) as i64;
                    (Dim::literal(start), Dim::literal(end))
                }
                None if self.random.once_in(3) => (Dim::ZERO, Dim::ONE),
                None if self.random.once_in(3) => (Dim::ONE, extent.clone()),
                None => (Dim::ZERO, extent.clone()),
            };
            slice.starts.push(start);
            slice.ends.push(end);
            slice.steps.push(1 + self.random.below(2) as i64);
        }
        slice
    }

    /// An operation with an axis and perhaps flags or integers, on `x` as each operand. An operation on two operands
    /// without further attributes is excluded, since its second operand has indices.
    fn along(&mut self, x: ValueId) -> Option<Proposal> {
        let rank = self.builder.ty(x).rank();
        let is_along = |row: &&&'static OpInfo| match row.fields {
            [axis, others @ ..] => {
                let drawn = |kind| kind == FieldKind::Flag || kind == FieldKind::I64;
                let count = if others.is_empty() { 1..=1 } else { 1..=2 };
                axis.name == "axis"
                    && others.iter().all(|field| drawn(field.kind))
                    && count.contains(&row.arity)
            }
            [] => false,
        };
        let rows: Vec<&OpInfo> = TABLE.iter().filter(is_along).copied().collect();
        let row = *self.random.pick(&rows);
        let mut attributes = Attributes::default();
        for (attribute, field) in attributes.iter_mut().zip(row.fields) {
            *attribute = Some(match field.kind {
                FieldKind::I64 if field.name == "axis" => Attribute::I64(self.random.below(rank) as i64),
                FieldKind::I64 => Attribute::I64(self.random.below(15) as i64 - 7),
                _ => Attribute::Flag(self.random.once_in(2)),
            });
        }
        Some((row.op(attributes), vec![x; row.arity]))
    }

    pub(super) fn cumulation(&mut self, rank: usize) -> Cumulation {
        let axis = self.random.below(rank) as i64;
        Cumulation { axis, reverse: self.random.once_in(2), exclusive: self.random.once_in(2) }
    }

    /// A concatenation of values whose shapes differ along one axis at most.
    fn concat(&mut self, x: ValueId) -> Option<Proposal> {
        let ty = self.builder.ty(x).clone();
        let axis = (ty.rank() > 0).then(|| self.random.below(ty.rank()))?;
        let fits = |other: &Type| {
            let mut extents = ty.shape.iter().zip(other.shape.iter()).enumerate();
            other.dtype == ty.dtype
                && other.rank() == ty.rank()
                && extents.all(|(along, (a, b))| along == axis || a == b)
        };
        let mut parts = vec![x];
        for _ in 0..1 + self.random.below(2) {
            parts.extend(self.partner(fits));
        }
        Some((Op::Join(Join::Concat { axis: axis as i64 }), parts))
    }

    /// A `SliceGrad` whose slice of a larger shape has the operand's shape.
    fn slice_grad(&mut self, x: ValueId) -> Option<Proposal> {
        let taken = self.builder.ty(x).shape.clone();
        let (mut shape, mut slice) =
            (Vec::new(), Slice { starts: Vec::new(), ends: Vec::new(), steps: Vec::new() });
        for extent in taken.iter() {
            let start = self.random.below(2) as i64;
            let end = extent.add_literal(start).ok()?;
            shape.push(end.add_literal(self.random.below(2) as i64).ok()?);
            slice.starts.push(Dim::literal(start));
            slice.ends.push(end);
            slice.steps.push(1);
        }
        Some((Op::Part(Part::SliceGrad { shape: Shape::new(shape), slice: slice.into() }), vec![x]))
    }

    /// Windows along an axis, or the derivative of windows that exist.
    fn unfolded(&mut self, x: ValueId) -> Option<Proposal> {
        let made = self.builder.insts().iter().enumerate().find_map(|(position, inst)| {
            let Op::Part(Part::Unfold(windows)) = &inst.op else { return None };
            Some((ValueId::new(position), windows.clone(), inst.operands[0]))
        });
        if let Some((y, windows, of)) = made.filter(|_| self.random.once_in(2)) {
            let shape = self.builder.ty(of).shape.clone();
            return Some((Op::Part(Part::UnfoldGrad { shape, windows }), vec![y]));
        }
        let ty = self.builder.ty(x).clone();
        let axis = (1..MAX_RANK).contains(&ty.rank()).then(|| self.random.below(ty.rank()))?;
        let extent = usize::try_from(ty.shape[axis].as_literal()?).ok()?;
        let windows = Windows {
            axes: vec![axis as i64],
            sizes: vec![Dim::literal(1 + self.random.below(extent) as i64)],
            strides: vec![1 + self.random.below(2) as i64],
            dilations: vec![1 + self.random.below(2) as i64],
        };
        Some((Op::Part(Part::Unfold(windows.into())), vec![x]))
    }

    /// A Fourier transform of real numbers, its derivative, or a transform of complex numbers.
    fn transformed(&mut self, x: ValueId) -> Option<Proposal> {
        let ty = self.builder.ty(x).clone();
        if !ty.dtype.is_float() || !(1..MAX_RANK).contains(&ty.rank()) {
            return None;
        }
        let half = Op::Fourier(Fourier::RealFft);
        let (of, inverse) = (self.random.below(3), self.random.once_in(2));
        if of == 0 {
            return Some((half, vec![x]));
        }
        let y = self.made(half, &[x])?;
        let back = Fourier::RealFftGrad { shape: ty.shape };
        Some((Op::Fourier(if of == 1 { back } else { Fourier::Fft { inverse } }), vec![y]))
    }

    /// A pool, or a derivative of one.
    fn pooled(&mut self, x: ValueId) -> Option<Proposal> {
        let shape = self.builder.ty(x).shape.clone();
        let count = 1 + self.random.below(2);
        let lead = shape.rank().checked_sub(count + 1)?;
        let mut each = |most: usize| (0..count).map(|_| 1 + self.random.below(most) as i64).collect();
        let (sizes, strides, dilations): (Vec<i64>, _, _) = (each(3), each(2), each(2));
        let padding = match self.random.below(3) {
            0 => Padding::Valid,
            1 => Padding::Same,
            _ => Padding::Custom(vec![[1, 2]; count]),
        };
        if shape[lead..].iter().any(|extent| extent.as_literal().is_none()) {
            return None;
        }
        let pooling = Box::new(Pooling { sizes, dilations, slide: Convolution { strides, padding } });
        if self.random.once_in(3) {
            return self.depthwise(x, pooling);
        }
        let by = if self.random.once_in(2) { Pool::Max } else { Pool::Total };
        let pool = Op::Pool(by(pooling.clone()));
        if self.random.once_in(2) {
            return Some((pool, vec![x]));
        }
        let y = self.made(pool.clone(), &[x])?;
        Some(match pool {
            Op::Pool(Pool::Total(_)) => (Op::Pool(Pool::SumGrad { shape, pooling }), vec![y]),
            _ if self.random.once_in(2) => (Op::Pool(Pool::MaxGrad(pooling)), vec![x, y]),
            _ => (Op::Pool(Pool::MaxTake(pooling)), vec![x, x]),
        })
    }

    /// A depthwise convolution, or a derivative of one. The filter is the derivative of another one.
    fn depthwise(&mut self, x: ValueId, pooling: Box<Pooling>) -> Option<Proposal> {
        let shape = self.builder.ty(x).shape.clone();
        let y = self.made(Op::Pool(Pool::Total(pooling.clone())), &[x])?;
        let filter = self.made(Op::Pool(Pool::DepthwiseGradFilter(pooling.clone())), &[x, y])?;
        if self.random.once_in(3) {
            return Some((Op::Pool(Pool::Depthwise(pooling)), vec![x, filter]));
        }
        let y = self.made(Op::Pool(Pool::Depthwise(pooling.clone())), &[x, filter])?;
        Some(if self.random.once_in(2) {
            (Op::Pool(Pool::DepthwiseGradInput { shape, pooling }), vec![y, filter])
        } else {
            (Op::Pool(Pool::DepthwiseGradFilter(pooling)), vec![x, y])
        })
    }

    /// Indices below an extent: constants, or sometimes another integer value, which may be out of range at run time.
    fn indices(&mut self, extent: &Dim) -> Option<ValueId> {
        if self.random.once_in(8) {
            return self.partner(|ty| ty.dtype.is_integer() && ty.rank() <= 2);
        }
        let shape: Vec<i64> = (0..self.random.below(3)).map(|_| 1 + self.random.below(3) as i64).collect();
        self.constant_indices(extent, &shape)
    }

    fn constant_indices(&mut self, extent: &Dim, shape: &[i64]) -> Option<ValueId> {
        let bound = usize::try_from(extent.as_literal().unwrap_or(1)).ok()?;
        let count: i64 = shape.iter().product();
        let indices: Vec<usize> = (0..count).map(|_| self.random.below(bound)).collect();
        let data: TensorData = if self.random.once_in(2) {
            indices.into_iter().map(|index| index as i32).collect::<Vec<_>>().into()
        } else {
            indices.into_iter().map(|index| index as i64).collect::<Vec<_>>().into()
        };
        self.builder.push(Op::Const(Const::Tensor { data, shape: Shape::literal(shape) }), &[]).ok()
    }

    /// A slice or an update along an axis of extent `whole[axis]`, at a position that the program computes, or rows
    /// that are replaced or added.
    fn dynamic(&mut self, x: ValueId, axis: usize, whole: &[i64]) -> Option<Proposal> {
        let ty = self.builder.ty(x).clone();
        let extent = usize::try_from(whole[axis]).ok()?;
        let count = 1 + self.random.below(extent);
        let start = self.random.below(extent - count + 1) as f64;
        let start = self.builder.constant(DType::I64, start);
        let mut part = whole.to_vec();
        part[axis] = count as i64;
        let shape = Shape::literal(&part);
        let axis = axis as i64;
        if self.random.once_in(2) {
            return Some((Op::Rows(Rows::DynamicSlice { shape, axis }), vec![x, start]));
        }
        let updates = self.partner(|other| *other == ty.with_shape(shape.clone()))?;
        if axis == 0 && self.random.once_in(2) {
            let indices = self.constant_indices(&ty.shape[0], &part[..1])?;
            let adds = ty.dtype != DType::Bool && self.random.once_in(2);
            let rows = if adds { Rows::AddRows } else { Rows::Scatter };
            return Some((Op::Rows(rows), vec![x, indices, updates]));
        }
        Some((Op::Rows(Rows::DynamicUpdate { axis }), vec![x, start, updates]))
    }

    pub(super) fn product(&mut self, x: ValueId) -> Option<Proposal> {
        let ty = self.builder.ty(x).clone();
        let shared = ty.shape.last().filter(|_| ty.rank() >= 2)?;
        let fits = |other: &Type| other.rank() >= 2 && other.shape[other.rank() - 2] == *shared;
        if let Some(partner) = self.partner(|other| other.dtype == ty.dtype && fits(other)) {
            return Some((Op::Product(Product::MatMul), vec![x, partner]));
        }
        // A matrix always fits its own transpose.
        let mut permutation: Vec<i64> = (0..ty.rank() as i64).collect();
        permutation.swap(ty.rank() - 2, ty.rank() - 1);
        let transposed = self.builder.push(Op::Arrange(Arrange::Transpose { permutation }), &[x]).ok()?;
        Some((Op::Product(Product::MatMul), vec![x, transposed]))
    }

    /// A convolution, or a derivative of one that exists.
    fn convolution(&mut self, x: ValueId) -> Option<Proposal> {
        let made = self.builder.insts().iter().enumerate().find_map(|(position, inst)| {
            let Op::Window(Window::Conv2d(convolution)) = &inst.op else { return None };
            Some((ValueId::new(position), convolution.clone(), inst.operands.clone()))
        });
        if let Some((y, convolution, operands)) = made.filter(|_| self.random.once_in(2)) {
            let shape = |operand: usize| self.builder.ty(operands[operand]).shape.clone();
            return Some(if self.random.once_in(2) {
                (
                    Op::Window(Window::Conv2dGradInput { shape: shape(0), convolution: convolution.into() }),
                    vec![y, operands[1]],
                )
            } else {
                (
                    Op::Window(Window::Conv2dGradFilter { shape: shape(1), convolution: convolution.into() }),
                    vec![operands[0], y],
                )
            });
        }
        let padding = match self.random.below(3) {
            0 => Padding::Valid,
            1 => Padding::Same,
            _ => Padding::Custom(vec![[1, 0], [0, 2]]),
        };
        let strides = vec![1 + self.random.below(2) as i64, 1 + self.random.below(2) as i64];
        let image = if self.builder.ty(x).rank() == 4 { x } else { self.input_named("image")? };
        let dtype = self.builder.ty(image).dtype;
        let declared = self.input_named("filter").filter(|_| !self.random.once_in(4));
        let filter = declared.or_else(|| self.partner(|ty| ty.rank() == 4 && ty.dtype == dtype))?;
        Some((Op::Window(Window::Conv2d(Convolution { strides, padding })), vec![image, filter]))
    }

    fn input_named(&self, needed: &str) -> Option<ValueId> {
        let named = |op: &Op| matches!(op, Op::Input { name } if **name == *needed);
        self.builder.insts().iter().position(|inst| named(&inst.op)).map(ValueId::new)
    }

    fn constant(&mut self, dtype: DType) -> Op {
        if dtype != DType::Bool && self.profile == Profile::Extended && self.random.once_in(6) {
            let like = self.value();
            return Op::Const(Const::Count { shape: self.builder.ty(like).shape.clone(), dtype });
        }
        let number = self.random.below(9) as f64 / 2.0 - 2.0;
        match (dtype, self.random.once_in(3)) {
            (DType::F32, false) => Op::Const(Const::F32((number as f32).into())),
            (DType::F64, false) => Op::Const(Const::F64(number.into())),
            (DType::I64, false) => Op::Const(Const::I64(number as i64)),
            _ => {
                let shape: Vec<i64> =
                    (0..self.random.below(3)).map(|_| 1 + self.random.below(3) as i64).collect();
                let count: i64 = shape.iter().product();
                let mut draw = || self.random.below(9) as f64 / 2.0 - 2.0;
                let numbers: Vec<f64> = (0..count).map(|_| draw()).collect();
                let data = match_dtype!(dtype, T {
                    truths => numbers.into_iter().map(|number| number > 0.0).collect::<Vec<_>>().into(),
                    numbers => numbers.into_iter().map(|number| number as T).collect::<Vec<_>>().into(),
                });
                Op::Const(Const::Tensor { data, shape: Shape::literal(&shape) })
            }
        }
    }

    fn finish(mut self) -> Module {
        let last = ValueId::new(self.builder.insts().len() - 1);
        let mut outputs = vec![last];
        for _ in 0..self.random.below(3) {
            outputs.push(self.value());
        }
        self.builder.finish(outputs)
    }
}

/// Whether a value of this type is small if every symbol is at most 5.
fn is_small(ty: &Type) -> bool {
    let bindings: Bindings = ["N", "M"].map(|symbol| (symbol.into(), Dim::literal(5))).into();
    let count = ty.shape.element_count().ok().and_then(|count| count.evaluate(&bindings));
    ty.rank() < MAX_RANK && count.is_some_and(|count| count <= MAX_ELEMENTS)
}
