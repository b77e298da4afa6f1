//! What the values of a program are called in Rust, and of which types they are.

use mind_core::{
    open::{Check, CheckKind, Class, ClassId, LeafId, Location, NodeId, Op, Plan, Program},
    ty::{DType, Type},
};

use crate::emit::literal;

/// The names and types of a program's values.
pub(super) struct Values<'a> {
    program: &'a Program,
    plan: &'a Plan,
    /// What each result is.
    pub(super) results: Results,
}

/// What each result is, in order.
pub(super) struct Results(Vec<ResultType>);

/// What a result is in Rust.
pub(super) enum ResultType {
    /// A number, whatever the leaves' types are.
    Number,
    /// A tensor whose shape is inferred: the one of this position in the table.
    Inferred(usize),
    /// The same, but that its shape is broadcast from those of these leaves, whose types may decide it.
    Broadcast(usize, Vec<LeafId>),
    /// Of the type that is written.
    Written(Type),
    /// Of the type that this leaf owns: a gradient by it, or what elementwise operations make of it.
    Like(LeafId),
}

impl Results {
    /// What a result is.
    pub(super) fn kind(&self, position: usize) -> &ResultType {
        &self.0[position]
    }

    /// Which of the shapes that are asked is that of a result, if it is one of these.
    pub(super) fn shape(&self, position: usize) -> Option<usize> {
        let is_asked =
            |kind: &ResultType| matches!(kind, ResultType::Inferred(_) | ResultType::Broadcast(..));
        is_asked(self.kind(position)).then(|| self.0[..position].iter().filter(|kind| is_asked(kind)).count())
    }

    /// The nodes of those whose rank only the leaves tell.
    pub(super) fn asked(&self, program: &Program) -> Vec<NodeId> {
        let nodes = program.result.nodes().into_iter().zip(&self.0);
        nodes
            .filter(|(_, kind)| matches!(kind, ResultType::Inferred(_) | ResultType::Broadcast(..)))
            .map(|(node, _)| node)
            .collect()
    }
}

impl<'a> Values<'a> {
    pub(super) fn new(program: &'a Program, plan: &'a Plan) -> Self {
        let mut results = Vec::new();
        let written = program.annotation.as_ref().map(|annotation| annotation.structure.leaves());
        for (position, node) in program.result.nodes().into_iter().enumerate() {
            let written = written.as_ref().and_then(|types| types.get(position));
            results.push(match written {
                Some(ty) => ResultType::Written((*ty).clone()),
                None => result_type(program, position, node),
            });
        }
        Self { program, plan, results: Results(results) }
    }

    /// `T0: rt::Datum, S0: rt::Shape, ` for each leaf; the names alone where there is to be no bound.
    pub(super) fn generics(&self, bound: &str) -> String {
        let [element, shape] = if bound.is_empty() { ["", ""] } else { ["rt::Datum", "rt::Shape"] };
        (0..self.program.leaves.len())
            .map(|leaf| format!("T{leaf}{bound}{element}, S{leaf}{bound}{shape}, "))
            .collect()
    }

    /// The names of the shapes that are parameters of the function that runs.
    pub(super) fn result_shapes(&self) -> Vec<usize> {
        let entries = self.results.0.iter().map(|kind| match kind {
            ResultType::Inferred(entry) | ResultType::Broadcast(entry, _) => Some(*entry),
            ResultType::Number | ResultType::Written(_) | ResultType::Like(_) => None,
        });
        entries.flatten().collect()
    }

    /// What the Rust types tell of each leaf.
    pub(super) fn known(&self) -> String {
        (0..self.program.leaves.len()).map(|leaf| format!("rt::type_of::<T{leaf}, S{leaf}>(), ")).collect()
    }

    /// The leaves as parameters.
    pub(super) fn parameters(&self) -> String {
        (0..self.program.leaves.len())
            .map(|leaf| format!("view_{leaf}: rt::TensorView<'_, T{leaf}, S{leaf}>, "))
            .collect()
    }

    /// The types of the results, each followed by a comma.
    pub(super) fn result_types(&self) -> String {
        (0..self.results.0.len())
            .map(|position| {
                let (element, shape) = self.result_type(position);
                match shape {
                    Some(shape) => format!("rt::Tensor<{element}, {shape}>, "),
                    None => format!("{element}, "),
                }
            })
            .collect()
    }

    /// The element and the shape type of a result; no shape of one that is a number.
    pub(super) fn result_type(&self, position: usize) -> (String, Option<String>) {
        let node = self.program.result.nodes()[position];
        match &self.results.0[position] {
            ResultType::Number => (self.told(self.program.node(node).class), None),
            ResultType::Inferred(entry) | ResultType::Broadcast(entry, _) => {
                (self.told(self.program.node(node).class), Some(format!("R{entry}")))
            }
            ResultType::Written(ty) if ty.rank() == 0 => (ty.dtype.name().to_string(), None),
            ResultType::Written(ty) => {
                let dims: String = ty.shape.iter().map(|dim| format!("rt::Const<{dim}>, ")).collect();
                (ty.dtype.name().to_string(), Some(format!("({dims})")))
            }
            ResultType::Like(leaf) => (format!("T{}", leaf.index()), Some(format!("S{}", leaf.index()))),
        }
    }

    /// The Rust type of the elements of a class, as steps have it.
    pub(super) fn element(&self, class: ClassId) -> String {
        match self.program.classes[class.index()] {
            Class::NumbersOf(leaf) => format!("<T{} as rt::Datum>::Number", leaf.index()),
            Class::Of(leaf) => format!("T{}", leaf.index()),
            Class::Fixed(dtype) => dtype.name().to_string(),
        }
    }

    /// The same, as the caller has it.
    fn told(&self, class: ClassId) -> String {
        match self.program.classes[class.index()] {
            Class::NumbersOf(leaf) | Class::Of(leaf) => format!("T{}", leaf.index()),
            Class::Fixed(dtype) => dtype.name().to_string(),
        }
    }

    /// That of the elements of a node.
    pub(super) fn element_of(&self, node: NodeId) -> String {
        self.element(self.program.node(node).class)
    }

    /// The slice in which a node's elements lie, perhaps with others behind them.
    pub(super) fn slice(&self, node: NodeId) -> String {
        match self.plan.places[node.index()] {
            Some(Location::Leaf(leaf)) => format!("elements_{}", leaf.index()),
            Some(Location::Constant) if is_filled(self.program, node) => {
                format!("constant_{}.as_slice()", node.index())
            }
            Some(Location::Constant) => constant(self.program, node, &self.element_of(node)),
            Some(Location::Result(result)) => format!("&*out_{result}"),
            Some(Location::Slot(slot)) => format!("&*slot_{slot}"),
            Some(Location::View(of)) => self.slice(of),
            Some(Location::Loop) | None => unreachable!("a plan reads what it has stored"),
        }
    }

    /// The slice in which a node's elements are to lie.
    pub(super) fn target(&self, node: NodeId) -> String {
        match self.plan.places[node.index()] {
            Some(Location::Result(result)) => format!("&mut *out_{result}"),
            Some(Location::Slot(slot)) => format!("&mut *slot_{slot}"),
            Some(Location::Leaf(_) | Location::Constant | Location::View(_) | Location::Loop) | None => {
                unreachable!("a plan stores to results and slots")
            }
        }
    }

    /// A node as what kernels read.
    pub(super) fn value(&self, node: NodeId) -> String {
        format!("rt::Argument::new({}, &__nodes[{}])", self.slice(node), node.index())
    }
}

/// Whether a constant is a tensor of one number, which is written out only where a kernel reads it.
pub(super) fn is_filled(program: &Program, node: NodeId) -> bool {
    let has_axes = matches!(&program.node(node).op, Op::Const(constant) if !constant.shape.is_empty());
    has_axes && is_uniform(program, node)
}

/// Whether a constant is one number everywhere, in every element type that it can have.
pub(super) fn is_uniform(program: &Program, node: NodeId) -> bool {
    let Op::Const(constant) = &program.node(node).op else { return false };
    constant.values.iter().flatten().all(|data| data.stored() == 1)
}

/// The elements of a constant as a slice of `element`; one where it is uniform.
pub(super) fn constant(program: &Program, node: NodeId, element: &str) -> String {
    let Op::Const(constant) = &program.node(node).op else {
        unreachable!("only constants lie in the program")
    };
    let uniform = is_uniform(program, node);
    // Of a shape with more elements than can be counted the rules have an error.
    let count = constant.shape.iter().fold(1_i64, |count, extent| count.saturating_mul(*extent));
    let of = |dtype: DType| match constant.values_in(dtype) {
        // Rounding can make equal what is not in another element type.
        Ok(data) if data.stored() == 1 && !uniform => format!("&[{}; {count}]", literal::scalar(data)),
        Ok(data) => format!("&{}", literal::elements(data)),
        // The rules have refused this element type.
        Err(_) => "&[]".to_string(),
    };
    match DType::ALL.into_iter().find(|dtype| dtype.name() == element) {
        Some(dtype) => format!("({})", of(dtype)),
        None => {
            format!("<{element} as rt::Number>::pick({})", DType::NUMERIC.map(of).join(", "))
        }
    }
}

/// What a result that nobody wrote a type for is.
fn result_type(program: &Program, position: usize, id: NodeId) -> ResultType {
    let node = program.node(id);
    let is_differentiated = |check: &Check| check.node == id && matches!(check.kind, CheckKind::Scalar(_));
    // What is differentiated is a single number, or a rule says that it is not.
    if node.shape.is_scalar() || program.checks.iter().any(is_differentiated) {
        return ResultType::Number;
    }
    let is_like = |leaf: &LeafId| {
        let own = &program.nodes[leaf.index()];
        own.shape == node.shape && own.class == node.class
    };
    match (0..program.leaves.len()).map(LeafId::new).find(is_like) {
        Some(leaf) => ResultType::Like(leaf),
        None if program.broadcast[position].is_empty() => ResultType::Inferred(position),
        None => ResultType::Broadcast(position, program.broadcast[position].clone()),
    }
}
