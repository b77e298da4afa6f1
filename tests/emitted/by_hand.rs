//! Handwritten plans: nests and finishes that combine all features, which random programs seldom do.

use std::sync::Arc;

use mind_core::{
    data::TensorData,
    dim::Dim,
    interp::{Array, Elements},
    ir::{Convolution, Padding, ValueId},
    map::Map,
    plan::{
        Buffer, BufferId, Conv2d, ConvKind, Finish, Fold, Location, MatMul, Nest, Node, Operand, Parameter,
        Pass, Plan, Returned, Scalar, Step, Store, Target, View,
    },
    reduce::Reduce,
    ty::{DType, Shape, Type},
};

use Operand::{Load, Node as Earlier, Number, Product};

/// Names, plans and inputs.
pub fn plans() -> Vec<(String, Plan, Vec<Array>)> {
    let mut plans = Vec::new();
    for (rows, columns) in [(5, 37), (3, 4), (70, 300), (6, 32)] {
        for symbolic in [false, true] {
            plans.push(softmax(rows, columns, symbolic));
        }
    }
    plans.extend([7, 1000, 40_000].map(chain));
    for (rows, columns) in [(2, 3), (5, 37), (90, 300), (70, 3), (50, 17)] {
        for symbolic in [false, true] {
            plans.push(mixed(rows, columns, symbolic));
        }
    }
    plans.push(sums_of_three_axes());
    for (m, k, n) in [(3, 4, 5), (1, 16, 1), (33, 20, 45), (64, 5, 16), (2, 700, 9)] {
        for symbolic in [false, true] {
            plans.push(product(m, k, n, symbolic));
        }
    }
    plans.push(convolution());
    plans
}

struct Builder {
    plan: Plan,
    inputs: Vec<Array>,
    values: usize,
}

impl Builder {
    fn new() -> Self {
        Self { plan: Plan::default(), inputs: Vec::new(), values: 100 }
    }

    fn value(&mut self) -> ValueId {
        self.values += 1;
        ValueId::new(self.values)
    }

    fn buffer(&mut self, place: Location, ty: Type) -> BufferId {
        let value = self.value();
        self.plan.buffers.push(Buffer { place, ty, value, is_sparse: false });
        BufferId(self.plan.buffers.len() - 1)
    }

    fn input(&mut self, name: &str, extents: &[(&str, usize)], updated: bool) -> View {
        self.input_of(DType::F32, name, extents, updated)
    }

    fn input_of(&mut self, dtype: DType, name: &str, extents: &[(&str, usize)], updated: bool) -> View {
        let shape = shape(extents);
        let ty = Type::new(dtype, shape.clone());
        self.plan.inputs.push(Parameter { name: Arc::from(name), ty: ty.clone(), updated });
        let sizes: Vec<usize> = extents.iter().map(|(_, extent)| *extent).collect();
        let seed = self.inputs.len() * 31;
        let number = |i: usize| (i + seed).wrapping_mul(2_654_435_761) >> 7 & 0xff;
        let numbers = (0..sizes.iter().product()).map(number);
        let elements = match dtype {
            DType::U8 => Elements::U8(numbers.map(|number| number as u8 - 128).collect()),
            DType::I32 => Elements::I32(numbers.map(|number| number as i32 - 128).collect()),
            DType::F32 => Elements::F32(numbers.map(|number| number as f32 / 128.0 - 1.0).collect()),
            DType::F64 => Elements::F64(numbers.map(|number| number as f64 / 128.0 - 1.0).collect()),
            DType::I64 | DType::Bool => panic!("no plan made by hand has it"),
        };
        self.inputs.push(Array { elements, shape: sizes });
        for (symbol, _) in extents.iter().filter(|(symbol, _)| !symbol.is_empty()) {
            if !self.plan.symbols.iter().any(|known| &**known == *symbol) {
                self.plan.symbols.push(Arc::from(*symbol));
            }
        }
        let position = self.plan.inputs.len() - 1;
        View::contiguous(self.buffer(Location::Input(position), ty), &shape)
    }

    fn result(&mut self, extents: &[(&str, usize)]) -> View {
        self.result_of(DType::F32, extents)
    }

    fn result_of(&mut self, dtype: DType, extents: &[(&str, usize)]) -> View {
        let shape = shape(extents);
        let ty = Type::new(dtype, shape.clone());
        let buffer = self.buffer(Location::Result(self.plan.results.len()), ty.clone());
        self.plan.results.push(ty);
        self.plan.returned.push(Returned::Buffer(buffer));
        View::contiguous(buffer, &shape)
    }

    fn total(&mut self) -> Target {
        self.total_of(DType::F32)
    }

    fn total_of(&mut self, dtype: DType) -> Target {
        let value = self.value();
        self.plan.results.push(Type::new(dtype, Shape::scalar()));
        self.plan.returned.push(Returned::Scalar(Scalar::Local(value)));
        Target::Total(value)
    }

    fn node(&mut self, op: Map, operands: &[Operand]) -> Node {
        Node { op, operands: operands.to_vec(), dtype: DType::F32, of: DType::F32, value: self.value() }
    }

    fn done(self, name: String) -> (String, Plan, Vec<Array>) {
        (name, self.plan, self.inputs)
    }
}

fn shape(extents: &[(&str, usize)]) -> Shape {
    extents.iter().map(|extent| dim(*extent)).collect()
}

/// A symbol, or the extent itself if the symbol has no name.
fn dim((symbol, extent): (&str, usize)) -> Dim {
    if symbol.is_empty() { Dim::literal(extent as i64) } else { Dim::symbol(symbol) }
}

fn constant(number: f32) -> Operand {
    Operand::Scalar(Scalar::Constant(TensorData::from(vec![number])))
}

fn fold(operand: Operand, count: Option<Dim>, target: Target) -> Fold {
    Fold { monoid: Reduce::Sum.row().monoid, operand, count, dtype: DType::F32, target }
}

/// The view with an additional axis, first or last, that has stride 0.
fn still(view: &View, axis: usize, extents: &[Dim]) -> View {
    let mut strides = view.strides.clone();
    strides.insert(axis, Dim::ZERO);
    View { strides, shape: Shape::new(extents.to_vec()), ..view.clone() }
}

/// Two passes over rows. Exponentials are stored in the result, which the second pass divides in place. Numbers are
/// stored and summed, columns are averaged, and squares are summed.
fn softmax(rows: usize, columns: usize, symbolic: bool) -> (String, Plan, Vec<Array>) {
    let mut b = Builder::new();
    let (n, m) = if symbolic { (("N", rows), ("M", columns)) } else { (("", rows), ("", columns)) };
    let extents = vec![dim(n), dim(m)];
    let x = b.input("x", &[n, m], false);
    let weight = b.input("weight", &[n], false);
    let (p, logs, means) = (b.result(&[n, m]), b.result(&[n]), b.result(&[m]));
    let (sum, log, inverse) = (b.value(), b.value(), b.value());
    let first = Pass {
        elements: vec![b.node(Map::Exp, &[Load(0)])],
        stores: vec![Store { operand: Earlier(0), target: p.clone() }],
        folds: vec![fold(Earlier(0), Some(dim(m)), Target::Number(sum))],
        numbers: vec![
            Node { value: log, ..b.node(Map::Log, &[Number(sum)]) },
            Node { value: inverse, ..b.node(Map::Div, &[Load(2), Number(sum)]) },
        ],
        row_stores: vec![Store { operand: Number(log), target: still(&logs, 1, &extents) }],
        row_folds: vec![fold(Number(log), Some(dim(n)), b.total())],
    };
    let second = Pass {
        elements: vec![
            b.node(Map::Mul, &[Load(1), Number(inverse)]),
            b.node(Map::Mul, &[Earlier(0), Earlier(0)]),
        ],
        stores: vec![Store { operand: Earlier(0), target: p.clone() }],
        folds: vec![
            fold(Earlier(0), Some(dim(n)), Target::Memory(still(&means, 0, &extents))),
            fold(Earlier(1), None, b.total()),
            fold(Load(0), None, b.total()),
        ],
        ..Pass::default()
    };
    let loads = vec![x, p, still(&weight, 1, &extents)];
    b.plan.steps.push(Step::Nest(Nest { extents, row_axes: 1, loads, passes: vec![first, second] }));
    b.done(format!("softmax_{rows}_{columns}{}", if symbolic { "_symbolic" } else { "" }))
}

/// One axis with a result, an update and three totals, long enough to be cut.
fn chain(len: usize) -> (String, Plan, Vec<Array>) {
    let mut b = Builder::new();
    let n = ("", len);
    let (x, y) = (b.input("x", &[n], false), b.input("y", &[n], true));
    let z = b.result(&[n]);
    let nodes = vec![
        b.node(Map::Exp, &[Load(0)]),
        b.node(Map::Mul, &[Earlier(0), Load(1)]),
        b.node(Map::Sub, &[Load(1), Earlier(1)]),
    ];
    let pass = Pass {
        elements: nodes,
        stores: vec![
            Store { operand: Earlier(1), target: z },
            Store { operand: Earlier(2), target: y.clone() },
        ],
        folds: vec![
            fold(Earlier(2), None, b.total()),
            fold(Load(1), Some(dim(n)), b.total()),
            fold(constant(0.5), None, b.total()),
        ],
        ..Pass::default()
    };
    let nest = Nest { extents: vec![dim(n)], row_axes: 0, loads: vec![x, y], passes: vec![pass] };
    b.plan.steps.push(Step::Nest(nest));
    b.done(format!("chain_{len}"))
}

/// Elements of three types in one nest. Each is stored, and reduced over rows, columns and everything.
fn mixed(rows: usize, columns: usize, symbolic: bool) -> (String, Plan, Vec<Array>) {
    let mut b = Builder::new();
    let (n, m) = if symbolic { (("N", rows), ("M", columns)) } else { (("", rows), ("", columns)) };
    let extents = vec![dim(n), dim(m)];
    let (mut loads, mut pass) = (Vec::new(), Pass::default());
    let types = [
        (DType::F32, "x", Map::Exp, Reduce::Sum),
        (DType::I32, "i", Map::Neg, Reduce::Max),
        (DType::F64, "y", Map::Neg, Reduce::Sum),
    ];
    for (position, (dtype, name, map, reduce)) in types.into_iter().enumerate() {
        loads.push(b.input_of(dtype, name, &[n, m], false));
        let (all, of_rows, of_columns) =
            (b.result_of(dtype, &[n, m]), b.result_of(dtype, &[n]), b.result_of(dtype, &[m]));
        pass.elements.push(Node { dtype, ..b.node(map, &[Load(position)]) });
        pass.stores.push(Store { operand: Earlier(position), target: all });
        let number = b.value();
        let monoid = reduce.row().monoid;
        let fold = |operand: Operand, target: Target| Fold { monoid, operand, count: None, dtype, target };
        pass.folds.push(fold(Earlier(position), Target::Number(number)));
        pass.folds.push(fold(Earlier(position), Target::Memory(still(&of_columns, 0, &extents))));
        pass.folds.push(fold(Load(position), b.total_of(dtype)));
        pass.row_stores.push(Store { operand: Number(number), target: still(&of_rows, 1, &extents) });
        pass.row_folds.push(fold(Number(number), b.total_of(dtype)));
    }
    b.plan.steps.push(Step::Nest(Nest { extents, row_axes: 1, loads, passes: vec![pass] }));
    b.done(format!("mixed_{rows}_{columns}{}", if symbolic { "_symbolic" } else { "" }))
}

/// Sums of rows that are summed again along either axis of the rows. The elements of a row have two axes.
fn sums_of_three_axes() -> (String, Plan, Vec<Array>) {
    let mut b = Builder::new();
    let axes = [("", 4), ("", 6), ("", 3), ("", 20)];
    let extents: Vec<Dim> = axes.iter().map(|axis| dim(*axis)).collect();
    let x = b.input("x", &[axes[0], axes[1], axes[3], axes[2]], false);
    let transposed = x.transpose(&[0, 1, 3, 2]);
    let (outer, inner) = (b.result(&[axes[0]]), b.result(&[axes[1]]));
    let over = |view: &View, axis: usize| View {
        strides: (0..4).map(|other| if other == axis { Dim::ONE } else { Dim::ZERO }).collect(),
        shape: Shape::new(extents.clone()),
        ..view.clone()
    };
    let sum = b.value();
    let pass = Pass {
        folds: vec![fold(Load(0), None, Target::Number(sum))],
        row_folds: vec![
            fold(Number(sum), None, Target::Memory(over(&outer, 0))),
            fold(Number(sum), Some(dim(axes[0])), Target::Memory(over(&inner, 1))),
            fold(Number(sum), None, b.total()),
        ],
        ..Pass::default()
    };
    let nest = Nest { extents: extents.clone(), row_axes: 2, loads: vec![transposed], passes: vec![pass] };
    b.plan.steps.push(Step::Nest(nest));
    b.done("sums_of_three_axes".to_string())
}

/// A bias per column and one per row, a rectifier, its mask, a transposed summand and an update in place.
fn finish(b: &mut Builder, rows: (&str, usize), columns: (&str, usize)) -> Finish {
    let extents = [dim(rows), dim(columns)];
    let by_column = b.input("by_column", &[columns], false);
    let by_row = b.input("by_row", &[rows], false);
    let transposed = b.input("other", &[columns, rows], false).transpose(&[1, 0]);
    let updated = b.input("updated", &[rows, columns], true);
    let (relu, plain) = (b.result(&[rows, columns]), b.result(&[rows, columns]));
    let nodes = vec![
        b.node(Map::Add, &[Product, Load(0)]),
        b.node(Map::Add, &[Earlier(0), Load(1)]),
        b.node(Map::Relu, &[Earlier(1)]),
        b.node(Map::ReluGrad, &[Load(2), Earlier(1)]),
        b.node(Map::Sub, &[Load(3), Earlier(3)]),
    ];
    let stores = vec![
        Store { operand: Earlier(2), target: relu },
        Store { operand: Earlier(4), target: updated.clone() },
        Store { operand: Product, target: plain },
    ];
    let loads = vec![still(&by_column, 0, &extents), still(&by_row, 1, &extents), transposed, updated];
    Finish { extents, loads, nodes, stores }
}

fn product(m: usize, k: usize, n: usize, symbolic: bool) -> (String, Plan, Vec<Array>) {
    let mut b = Builder::new();
    let name = format!("product_{m}_{k}_{n}{}", if symbolic { "_symbolic" } else { "" });
    let [m, k, n] =
        [("M", m), ("K", k), ("N", n)].map(|(symbol, extent)| (if symbolic { symbol } else { "" }, extent));
    let (lhs, rhs) = (b.input("lhs", &[m, k], false), b.input("rhs", &[n, k], false).transpose(&[1, 0]));
    let finish = finish(&mut b, m, n);
    let extents = [m, k, n].map(dim);
    b.plan.steps.push(Step::MatMul(MatMul { lhs, rhs, batch: Vec::new(), extents, finish }));
    b.done(name)
}

fn convolution() -> (String, Plan, Vec<Array>) {
    let mut b = Builder::new();
    let [input, filter, output] =
        [[2, 7, 9, 3], [3, 3, 3, 19], [2, 7, 9, 19]].map(|extents| extents.map(|extent| ("", extent)));
    let operands = [b.input("image", &input, false), b.input("filter", &filter, false)];
    let operands = operands.map(|view| view.buffer().expect("inputs are in memory"));
    let finish = finish(&mut b, ("", 2 * 7 * 9), ("", 19));
    b.plan.steps.push(Step::Conv2d(Conv2d {
        kind: ConvKind::Forward,
        convolution: Convolution { strides: vec![1, 1], padding: Padding::Same },
        input: shape(&input),
        filter: shape(&filter),
        output: shape(&output),
        operands,
        finish,
    }));
    b.done("convolution".to_string())
}
