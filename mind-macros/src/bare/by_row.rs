//! Emits groups of reductions and loops: for each a struct whose `block` computes a few rows of all its nodes.

use std::{collections::BTreeSet, fmt::Write};

use mind_core::open::{ByRow, Fused, NodeId, Op, Plan, Program, Step};
use mind_core::reduce;

use super::{
    elements::Elements,
    fused::{expression, is_literal},
    values::{Values, constant},
};

/// The statement that binds the `Rows` of a group, or `None` at run time if its shapes do not consist of rows.
pub(super) fn rows(program: &Program, plan: &Plan, step: usize, group: &ByRow) -> String {
    let [known, found] = ["P::NODES", "__nodes"].map(|nodes| rows_of(program, plan, group, nodes));
    format!(
        "let rows_{step} = if const {{ rt::all_static(P::KNOWN) }} {{ const {{ {known} }} }} else {{ {found} }};\n\
         let rows_{step} = rows_{step}.map(|rows| rows.shared({}));\n",
        group.cost(program)
    )
}

fn rows_of(program: &Program, plan: &Plan, group: &ByRow, types: &str) -> String {
    let list = |nodes: BTreeSet<NodeId>| listed(nodes, |node| node.index().to_string());
    let [alike, inputs, scalars] =
        [group.nodes_of_one_shape(program), inputs(program, plan, group), group.scalars.clone()].map(list);
    format!("rt::by_row::Rows::new({types}, &{:?}, &[{alike}], [{inputs}], &[{scalars}])", group.axes)
}

/// The call that runs a group row by row, or its steps one by one.
pub(super) fn call(
    program: &Program,
    plan: &Plan,
    values: &Values<'_>,
    step: &str,
    group: &ByRow,
    apart: &str,
) -> String {
    let inputs = listed(inputs(program, plan, group), |node| values.slice(node));
    let scalars = listed(group.scalars.clone(), |node| format!("({})[0]", values.slice(node)));
    let elements = listed(group.elements(), |node| {
        let target = if group.kept.contains(&node) { "Whole" } else { "Block" };
        format!("rt::by_row::Target::{target}({})", values.target(node))
    });
    let numbers = listed(kept_numbers(group), |node| values.target(node));
    let known = rows_of(program, plan, group, "P::NODES");
    // If the Rust types determine all extents, only one of the two branches is instantiated.
    let open = "!rt::all_static(P::KNOWN)";
    format!(
        "if const {{ {open} || {known}.is_some() }} {{\n\
         if let ::core::option::Option::Some(rows) = &rows_{step} {{\n\
         rt::by_row::run(Block{step}, rows, [{inputs}], [{scalars}], [{elements}], [{numbers}], spread_{step});\n}}\n}}\n\
         if const {{ {open} || {known}.is_none() }} {{\nif rows_{step}.is_none() {{\n{apart}}}\n}}\n"
    )
}

fn listed(nodes: impl IntoIterator<Item = NodeId>, text: impl Fn(NodeId) -> String) -> String {
    nodes.into_iter().map(|node| format!("{}, ", text(node))).collect()
}

/// The tensors that a group reads along its rows and does not compute.
fn inputs(program: &Program, plan: &Plan, group: &ByRow) -> BTreeSet<NodeId> {
    let read = group.loops().flat_map(|fused| &fused.inputs).copied().chain(group.reduced(program));
    let is_outside = |node: &NodeId| {
        !group.stores(*node) && !group.scalars.contains(node) && !is_literal(program, plan, *node)
    };
    read.filter(is_outside).collect()
}

/// The stored nodes that are one number per row.
fn kept_numbers(group: &ByRow) -> impl Iterator<Item = NodeId> + '_ {
    group.numbers.iter().copied().filter(|node| group.kept.contains(node))
}

/// The struct of a group.
pub(super) fn block(program: &Program, plan: &Plan, step: &str, group: &ByRow, text: &mut String) {
    let inputs = inputs(program, plan, group);
    let elements: Vec<NodeId> = group.elements().collect();
    let counts = [inputs.len(), group.scalars.len(), elements.len(), kept_numbers(group).count()];
    let [n, s, m, k] = counts;
    let names = |prefix: &str, nodes: &mut dyn Iterator<Item = NodeId>| {
        listed(nodes, |node| format!("{prefix}{}", node.index()))
    };
    let _ = writeln!(
        text,
        "#[derive(Clone, Copy)] struct Block{step};\n\
         #[allow(unused, clippy::all, clippy::pedantic)]\n\
         impl<T: rt::Number> rt::by_row::Block<T, {n}, {s}, {m}, {k}> for Block{step} {{\n\
         #[inline(always)] fn block<A: rt::MultiplyAdd>(self, __rows: ::core::primitive::usize, __len: ::core::primitive::usize, \
         [{}]: [(&[T], ::core::primitive::usize); {n}], [{}]: [T; {s}], [{}]: [&mut [T]; {m}], [{}]: [&mut [T]; {k}]) {{",
        names("in_", &mut inputs.iter().copied()),
        names("s", &mut group.scalars.iter().copied()),
        names("out_", &mut elements.iter().copied()),
        names("kept_", &mut kept_numbers(group)),
    );
    let literals: BTreeSet<NodeId> = group.loops().flat_map(|fused| &fused.inputs).copied().collect();
    for literal in literals.into_iter().filter(|input| is_literal(program, plan, *input)) {
        let element = if program.is_of_truths(literal) { "bool" } else { "T" };
        let _ = writeln!(text, "let c{} = {}[0];", literal.index(), constant(program, literal, element));
    }
    if !group.folded.is_empty() {
        text.push_str("let __are_long = rt::by_row::are_long::<T>(__len);\n");
    }
    let block = Block { program, plan, group, inputs: &inputs };
    for step in &group.steps {
        match step {
            Step::Fused(fused) | Step::Alike { fused, .. } => {
                block.numbers(fused, text);
                block.elements(fused, text);
            }
            Step::Kernel(node) => block.reduction(*node, text),
            Step::ByRow(_) | Step::Watch(_) => unreachable!("a group is made of reductions and loops"),
        }
    }
    for node in kept_numbers(group) {
        let _ = writeln!(text, "kept_{0}.copy_from_slice(&n{0}[..__rows]);", node.index());
    }
    text.push_str("}\n}\n");
}

/// A value from which the elements of a row are computed.
struct Along {
    name: String,
    ty: &'static str,
    /// Whether the value is a row. Otherwise it is a single number.
    is_row: bool,
    /// The statement that binds the value for a row.
    found: String,
}

struct Block<'a> {
    program: &'a Program,
    plan: &'a Plan,
    group: &'a ByRow,
    inputs: &'a BTreeSet<NodeId>,
}

impl Block<'_> {
    /// Emits a reduction of each row.
    fn reduction(&self, node: NodeId, text: &mut String) {
        let known = self.program.node(node);
        let Op::Reduce(reduce, _) = &known.op else { unreachable!("a group has no other kernels") };
        let operand = known.operands[0];
        let (index, from) = (node.index(), operand.index());
        let rows =
            if self.inputs.contains(&operand) { format!("in_{from}.0") } else { format!("out_{from}") };
        let in_memory = format!(
            "rt::by_row::{}(&{rows}[..__rows * __len], __len, &mut n{index}[..__rows]);\n",
            reduce.row().function
        );
        let _ = writeln!(text, "let mut n{index} = [T::ZERO; rt::by_row::ROWS];");
        match self.group.feeding(operand).filter(|_| self.group.folded.contains(&operand)) {
            Some(fused) => {
                text.push_str("if __are_long {\n");
                self.fold(node, reduce.row(), fused, text);
                let _ = writeln!(text, "}} else {{\n{in_memory}}}");
            }
            None => text.push_str(&in_memory),
        }
    }

    /// Emits the nodes of a loop that are one number per row.
    fn numbers(&self, fused: &Fused, text: &mut String) {
        let numbers: Vec<NodeId> = self.of(fused, true);
        if numbers.is_empty() {
            return;
        }
        for node in &numbers {
            let none = if self.program.is_of_truths(*node) { "false" } else { "T::ZERO" };
            let _ = writeln!(text, "let mut n{} = [{none}; rt::by_row::ROWS];", node.index());
        }
        text.push_str("let mut __i = 0;\nwhile __i < __rows {\n");
        for node in &numbers {
            let value = expression(self.program, *node, "A", |position| {
                let operand = self.program.node(*node).operands[position];
                let index = operand.index();
                self.uniform(operand).unwrap_or_else(|| match numbers.contains(&operand) {
                    true => format!("v{index}"),
                    false => format!("n{index}[__i]"),
                })
            });
            let _ = writeln!(text, "let v{0} = {value};\nn{0}[__i] = v{0};", node.index());
        }
        text.push_str("__i += 1;\n}\n");
    }

    /// Emits the remaining nodes of a loop, which are computed for each element.
    fn elements(&self, fused: &Fused, text: &mut String) {
        let (folded, stored) = self.stored(fused);
        self.over_rows(fused, &stored, &[], text);
        if !folded.is_empty() {
            text.push_str("if !__are_long {\n");
            self.over_rows(fused, &folded, &stored, text);
            text.push_str("}\n");
        }
    }

    /// The nodes that a loop stores: those that reductions can compute themselves, and the others.
    fn stored(&self, fused: &Fused) -> (Vec<NodeId>, Vec<NodeId>) {
        self.group.stored(fused).into_iter().partition(|node| self.group.folded.contains(node))
    }

    /// Emits a loop that stores nodes, row after row.
    fn over_rows(&self, fused: &Fused, stored: &[NodeId], in_memory: &[NodeId], text: &mut String) {
        if stored.is_empty() {
            return;
        }
        let nodes = self.with_repeated(self.group.computed(self.program, fused, stored, in_memory));
        text.push_str("let mut __i = 0;\nwhile __i < __rows {\n");
        self.along(&nodes).into_iter().for_each(|along| text.push_str(&along.found));
        for node in stored {
            let _ = writeln!(text, "let w{0} = &mut out_{0}[__i * __len..][..__len];", node.index());
        }
        let operand = |node: NodeId, position: usize| self.operand(&nodes, node, position);
        let place = |node: NodeId| stored.contains(&node).then(|| format!("w{}[__j]", node.index()));
        let in_order: Vec<NodeId> = nodes.iter().copied().collect();
        let elements = Elements { program: self.program, nodes: &in_order, operand: &operand, place: &place };
        let _ = writeln!(text, "{}__i += 1;\n}}", elements.text());
    }

    /// Emits a reduction that computes the elements that it folds. It is a function of one row, with the number of
    /// lanes of the element type.
    fn fold(&self, node: NodeId, reduce: &reduce::Row, fused: &Fused, text: &mut String) {
        let (index, folded) = (node.index(), self.program.node(node).operands[0]);
        let (_, stored) = self.stored(fused);
        let nodes = self.with_repeated(self.group.computed(self.program, fused, &[folded], &stored));
        let along = self.along(&nodes);
        let listed = |part: &dyn Fn(&Along) -> String| along.iter().map(part).collect::<String>();
        let operand = |node: NodeId, position: usize| self.operand(&nodes, node, position);
        let computed: String = nodes
            .iter()
            .map(|node| {
                let value = expression(self.program, *node, "A", |position| operand(*node, position));
                format!("let v{} = {value};\n", node.index())
            })
            .collect();
        let monoid = format!("rt::by_row::{}", reduce.monoid.rust);
        let over = |end: &str| {
            format!(
                "let mut __j = 0;\nwhile __j < {end} {{\n{computed}\
                 __lanes[__j] = <{monoid} as rt::by_row::Monoid<T>>::combine(__lanes[__j], v{});\n__j += 1;\n}}\n",
                folded.index()
            )
        };
        let rows = |text: &dyn Fn(&str) -> String| {
            listed(&|along| if along.is_row { text(&along.name) } else { String::new() })
        };
        let call = |bytes: usize| {
            let lanes = ByRow::lanes(bytes);
            format!("fold_{index}::<T, A, {lanes}>(__len, {})", listed(&|along| format!("{}, ", along.name)))
        };
        let divided = if reduce.divides { ".over(T::count(__len))" } else { "" };
        let _ = writeln!(
            text,
            "#[inline(always)] fn fold_{index}<T: rt::Number, A: rt::MultiplyAdd, const L: ::core::primitive::usize>(\
             __len: ::core::primitive::usize, {parameters}) -> T {{\n{chunks}\
             let (mut __chains, mut __at) = (rt::by_row::Chains::<{monoid}, T, L>::new(), 0);\n\
             while __at < __len / L {{\n\
             let __end = __chains.begin(__at, __len / L);\n\
             let mut __lanes = [<{monoid} as rt::by_row::Monoid<T>>::NEUTRAL; L];\n\
             while __at < __end {{\n{block}{whole}__at += 1;\n}}\n\
             __chains.end(__lanes);\n}}\n\
             let (mut __lanes, __len) = (__chains.last(), __len % L);\n{last}{rest}\
             __chains.fold(__lanes)\n}}\n\
             let mut __i = 0;\nwhile __i < __rows {{\n{found}\
             n{index}[__i] = if const {{ ::core::mem::size_of::<T>() == 4 }} {{ {short} }} else {{ {long} }}{divided};\n\
             __i += 1;\n}}",
            parameters = listed(&|along| format!("{}: {}, ", along.name, along.ty)),
            chunks = rows(&|row| format!("let {row} = {row}.as_chunks::<L>();\n")),
            block = rows(&|row| format!("let {row} = &{row}.0[__at];\n")),
            whole = over("L"),
            last = rows(&|row| format!("let {row} = &{row}.1[..__len];\n")),
            rest = over("__len"),
            found = listed(&|along| along.found.clone()),
            short = call(4),
            long = call(8),
        );
    }

    /// The nodes, and the nodes that they read and that loops recompute.
    fn with_repeated(&self, mut nodes: BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        let read: BTreeSet<NodeId> = nodes.iter().flat_map(|node| self.read(*node)).collect();
        nodes.extend(read.intersection(&self.group.repeated));
        nodes
    }

    /// The values that `nodes` read and that are not among them.
    fn along(&self, nodes: &BTreeSet<NodeId>) -> Vec<Along> {
        let read: BTreeSet<NodeId> = nodes.iter().flat_map(|node| self.read(*node)).collect();
        let each = read.into_iter().filter(|node| !nodes.contains(node)).map(|node| {
            let index = node.index();
            let single = if self.program.is_of_truths(node) { "::core::primitive::bool" } else { "T" };
            if let Some(name) = self.uniform(node) {
                return Along { name, ty: single, is_row: false, found: String::new() };
            }
            if self.group.numbers.contains(&node) {
                let found = format!("let v{index} = n{index}[__i];\n");
                return Along { name: format!("v{index}"), ty: single, is_row: false, found };
            }
            let found = match self.inputs.contains(&node) {
                true => format!("let r{index} = &in_{index}.0[__i * in_{index}.1..][..__len];\n"),
                false => format!("let r{index} = &out_{index}[__i * __len..][..__len];\n"),
            };
            Along { name: format!("r{index}"), ty: "&[T]", is_row: true, found }
        });
        each.collect()
    }

    /// The name of an operand in a loop that computes `nodes`.
    fn operand(&self, nodes: &BTreeSet<NodeId>, node: NodeId, position: usize) -> String {
        let operand = self.program.node(node).operands[position];
        let index = operand.index();
        self.uniform(operand).unwrap_or_else(|| {
            match nodes.contains(&operand) || self.group.numbers.contains(&operand) {
                true => format!("v{index}"),
                false => format!("r{index}[__j]"),
            }
        })
    }

    /// The nodes of a loop that are one number per row, or those that are not.
    fn of(&self, fused: &Fused, numbers: bool) -> Vec<NodeId> {
        fused.nodes.iter().copied().filter(|node| self.group.numbers.contains(node) == numbers).collect()
    }

    /// The operands whose elements a node reads.
    fn read(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let node = self.program.node(node);
        let operands = node.operands.iter().enumerate();
        operands.filter(|(position, _)| node.op.reads(*position)).map(|(_, operand)| *operand)
    }

    /// The name of a node that is one number for all rows. `None` for other nodes.
    fn uniform(&self, node: NodeId) -> Option<String> {
        if is_literal(self.program, self.plan, node) {
            Some(format!("c{}", node.index()))
        } else if self.group.scalars.contains(&node) {
            Some(format!("s{}", node.index()))
        } else {
            None
        }
    }
}
