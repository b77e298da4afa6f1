//! The Rust names and types of the values of a program.

use mind_core::{
    open::{Check, CheckKind, Class, ClassId, LeafId, Location, NodeId, Op, Plan, Program},
    ty::{DType, Type},
};

use crate::emit::literal;

/// The names and types of a program's values.
pub(super) struct Values<'a> {
    program: &'a Program,
    plan: &'a Plan,
    /// The types of the results.
    pub(super) results: Results,
}

/// The types of the results, in order.
pub(super) struct Results(Vec<ResultType>);

/// The Rust type of a result.
pub(super) enum ResultType {
    /// A number, for all types of the leaves.
    Number,
    /// A tensor with an inferred shape, which is at this position in the table of results.
    Inferred(usize),
    /// The same, with a shape that is broadcast from those of these leaves. The types of the leaves may determine the
    /// shape type.
    Broadcast(usize, Vec<LeafId>),
    /// The type that the program states.
    Written(Type),
    /// The owned type of this leaf: for a gradient with respect to it, or a result of elementwise operations on it.
    Like(LeafId),
}

impl Results {
    /// The type of the result at `position`.
    pub(super) fn kind(&self, position: usize) -> &ResultType {
        &self.0[position]
    }

    /// The position of a result's shape in `__shapes`. `None` if `__shapes` does not contain it.
    pub(super) fn shape(&self, position: usize) -> Option<usize> {
        let is_asked =
            |kind: &ResultType| matches!(kind, ResultType::Inferred(_) | ResultType::Broadcast(..));
        is_asked(self.kind(position)).then(|| self.0[..position].iter().filter(|kind| is_asked(kind)).count())
    }

    /// The nodes of the results whose rank only the types of the leaves determine.
    pub(super) fn inferred_rank_nodes(&self, program: &Program) -> Vec<NodeId> {
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

    /// `T0: rt::Datum, S0: rt::Shape, ` for each leaf. Only the names if `bound` is empty.
    pub(super) fn generics(&self, bound: &str) -> String {
        let [element, shape] = if bound.is_empty() { ["", ""] } else { ["rt::Datum", "rt::Shape"] };
        (0..self.program.leaves.len())
            .map(|leaf| format!("T{leaf}{bound}{element}, S{leaf}{bound}{shape}, "))
            .collect()
    }

    /// The numbers of the shapes that are type parameters of the function `run`.
    pub(super) fn result_shapes(&self) -> Vec<usize> {
        let entries = self.results.0.iter().map(|kind| match kind {
            ResultType::Inferred(entry) | ResultType::Broadcast(entry, _) => Some(*entry),
            ResultType::Number | ResultType::Written(_) | ResultType::Like(_) => None,
        });
        entries.flatten().collect()
    }

    /// For each leaf, the type that its Rust type determines.
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

    /// The element type and the shape type of a result. A number has no shape type.
    pub(super) fn result_type(&self, position: usize) -> (String, Option<String>) {
        let node = self.program.result.nodes()[position];
        match &self.results.0[position] {
            ResultType::Number => (self.caller_element(self.program.node(node).class), None),
            ResultType::Inferred(entry) | ResultType::Broadcast(entry, _) => {
                (self.caller_element(self.program.node(node).class), Some(format!("R{entry}")))
            }
            ResultType::Written(ty) if ty.rank() == 0 => (ty.dtype.name().to_string(), None),
            ResultType::Written(ty) => {
                let dims: String = ty.shape.iter().map(|dim| format!("rt::Const<{dim}>, ")).collect();
                (ty.dtype.name().to_string(), Some(format!("({dims})")))
            }
            ResultType::Like(leaf) => (format!("T{}", leaf.index()), Some(format!("S{}", leaf.index()))),
        }
    }

    /// The Rust type of the elements of a class, in steps.
    pub(super) fn element(&self, class: ClassId) -> String {
        match self.program.classes[class.index()] {
            Class::NumbersOf(leaf) => format!("<T{} as rt::Datum>::Number", leaf.index()),
            Class::Of(leaf) => format!("T{}", leaf.index()),
            Class::Fixed(dtype) => dtype.name().to_string(),
        }
    }

    /// The Rust type of the elements of a class, for the caller.
    fn caller_element(&self, class: ClassId) -> String {
        match self.program.classes[class.index()] {
            Class::NumbersOf(leaf) | Class::Of(leaf) => format!("T{}", leaf.index()),
            Class::Fixed(dtype) => dtype.name().to_string(),
        }
    }

    /// The Rust type of the elements of a node, in steps.
    pub(super) fn element_of(&self, node: NodeId) -> String {
        self.element(self.program.node(node).class)
    }

    /// The slice that contains a node's elements, possibly followed by other elements.
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

    /// The slice into which a node's elements are stored.
    pub(super) fn target(&self, node: NodeId) -> String {
        match self.plan.places[node.index()] {
            Some(Location::Result(result)) => format!("&mut *out_{result}"),
            Some(Location::Slot(slot)) => format!("&mut *slot_{slot}"),
            Some(Location::Leaf(_) | Location::Constant | Location::View(_) | Location::Loop) | None => {
                unreachable!("a plan stores to results and slots")
            }
        }
    }

    /// A node as an argument of kernels.
    pub(super) fn value(&self, node: NodeId) -> String {
        format!("rt::Argument::new({}, &__nodes[{}])", self.slice(node), node.index())
    }
}

/// Whether a constant is a tensor filled with one number. Its elements are stored only if a kernel reads them.
pub(super) fn is_filled(program: &Program, node: NodeId) -> bool {
    let has_axes = matches!(&program.node(node).op, Op::Const(constant) if !constant.shape.is_empty());
    has_axes && is_uniform(program, node)
}

/// Whether all elements of a constant are equal, in every element type that it can have.
pub(super) fn is_uniform(program: &Program, node: NodeId) -> bool {
    let Op::Const(constant) = &program.node(node).op else { return false };
    constant.values.iter().flatten().all(|data| data.stored() == 1)
}

/// The elements of a constant as a slice of `element`. A uniform constant has one element.
pub(super) fn constant(program: &Program, node: NodeId, element: &str) -> String {
    let Op::Const(constant) = &program.node(node).op else {
        unreachable!("only constants lie in the program")
    };
    let uniform = is_uniform(program, node);
    // The rules report an error for a shape with too many elements to count.
    let count = constant.shape.iter().fold(1_i64, |count, extent| count.saturating_mul(*extent));
    let of = |dtype: DType| match constant.values_in(dtype) {
        // Rounding to this element type can make elements equal that differ in another.
        Ok(data) if data.stored() == 1 && !uniform => format!("&[{}; {count}]", literal::scalar(data)),
        Ok(data) => format!("&{}", literal::elements(data)),
        // The rules reject this element type.
        Err(_) => "&[]".to_string(),
    };
    match DType::ALL.into_iter().find(|dtype| dtype.name() == element) {
        Some(dtype) => format!("({})", of(dtype)),
        None => {
            format!("<{element} as rt::Number>::pick({})", DType::NUMERIC.map(of).join(", "))
        }
    }
}

/// The type of a result for which the program states none.
fn result_type(program: &Program, position: usize, id: NodeId) -> ResultType {
    let node = program.node(id);
    let is_differentiated = |check: &Check| check.node == id && matches!(check.kind, CheckKind::Scalar(_));
    // A differentiated value is a single number; otherwise a rule reports an error.
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
