//! Emits the function that runs an expression: buffers, then the steps of the plan in order.

use std::{collections::BTreeSet, fmt::Write};

use mind_core::ir::ValueId;
use mind_core::open::{ByRow, Location, NodeId, Op, Plan, Program, Step, sort_of};
use mind_core::plan::Search;
use mind_core::written::{Texts, check_text, kernel_text};

use crate::{emit::WatchedText, watch};

use super::{
    by_row, fused,
    rules::RULES,
    values::{Values, constant, is_filled},
};

/// The body of `run`.
pub(super) fn body(program: &Program, plan: &Plan, values: &Values<'_>) -> String {
    let mut text = types(program);
    for (position, leaf) in program.leaves.iter().enumerate() {
        _ = leaf;
        let node = NodeId::new(position);
        let element = values.element_of(node);
        let _ = writeln!(
            text,
            "let elements_{position}: &[{element}] = <T{position} as rt::Datum>::cast(view_{position}.as_slice());"
        );
    }
    if plan.each().any(|step| matches!(step, Step::Watch(node) if !program.node(*node).op.is_effect())) {
        let (_, place) = watch::source_text(program.site);
        let _ =
            writeln!(text, "let __watched = rt::watch::begin({:?});", format!("the expression at {place}"));
    }
    let results = program.result.nodes();
    for (position, node) in results.iter().enumerate() {
        let (element, shape) = values.result_type(position);
        let _ = match shape {
            Some(shape) => writeln!(
                text,
                "let mut result_{position} = rt::allocate::<F, {element}, {shape}>(__form, &__nodes[{}]);",
                node.index()
            ),
            None => writeln!(
                text,
                "let mut result_{position} = [<{element} as ::core::default::Default>::default()];"
            ),
        };
        let slice = if values.result_type(position).1.is_some() { ".as_mut_slice()" } else { "[..]" };
        let borrow = if slice == "[..]" { "&mut " } else { "" };
        let _ = writeln!(
            text,
            "let out_{position}: &mut [{}] = <{element} as rt::Datum>::cast_mut({borrow}result_{position}{slice});",
            values.element_of(*node)
        );
    }
    for node in filled(program, plan) {
        let element = values.element_of(node);
        let number = constant(program, node, &element);
        let _ = writeln!(
            text,
            "let constant_{0} = rt::full::<{element}>({number}[0], &__nodes[{0}]);",
            node.index()
        );
    }
    let mut steps = String::new();
    for (position, step) in plan.steps.iter().enumerate() {
        if let Step::ByRow(group) = step {
            text.push_str(&by_row::rows(program, plan, position, group));
        }
        self::step(program, plan, values, &position.to_string(), step, &mut steps);
    }
    for (position, node) in results.iter().enumerate() {
        if is_filled(program, *node) {
            let number = constant(program, *node, &values.element_of(*node));
            let _ =
                writeln!(steps, "rt::filled(&__nodes[{}], {number}[0], &mut *out_{position});", node.index());
        } else if plan.places[node.index()] != Some(Location::Result(position)) {
            let _ = writeln!(steps, "rt::copy({}, &mut *out_{position});", values.value(*node));
        }
    }
    text.push_str(&with_slots(program, plan, values, &steps));
    let results: String = (0..results.len())
        .map(|position| match values.result_type(position).1 {
            Some(_) => format!("result_{position}, "),
            None => format!("result_{position}[0], "),
        })
        .collect();
    let _ = writeln!(text, "({results})");
    text
}

/// The call of a step. `name` contains the position of the step.
fn step(program: &Program, plan: &Plan, values: &Values<'_>, name: &str, step: &Step, text: &mut String) {
    match step {
        Step::Fused(nodes) => text.push_str(&fused::call(program, plan, values, (name, 0), nodes)),
        Step::Alike { same, fused, apart } => {
            let loops = (&same[..], fused, &apart[..]);
            text.push_str(&fused::loop_if_same_shapes(program, plan, values, name, loops));
        }
        Step::Kernel(node) => kernel(program, values, *node, text),
        Step::Watch(node) => watched(program, values, *node, text),
        Step::ByRow(group) => {
            let mut apart = String::new();
            for (position, inner) in group.steps.iter().enumerate() {
                self::step(program, plan, values, &format!("{name}_{position}"), inner, &mut apart);
            }
            text.push_str(&by_row::call(program, plan, values, name, group, &apart));
        }
    }
}

/// The uniform constants that kernels read.
fn filled(program: &Program, plan: &Plan) -> BTreeSet<NodeId> {
    let read = |kernel: NodeId| {
        let node = program.node(kernel);
        let operands = node.operands.iter().enumerate();
        operands.filter(|(position, _)| node.op.reads(*position)).map(|(_, operand)| source(plan, *operand))
    };
    let kernels = plan.each().filter_map(|step| match step {
        Step::Kernel(kernel) => Some(*kernel),
        // Watching a node reads it as a kernel would.
        Step::Watch(node) => Some(*node),
        Step::Fused(_) | Step::Alike { .. } | Step::ByRow(_) => None,
    });
    // Loops and results also read views of constants as kernels do.
    let views = plan.places.iter().enumerate().filter_map(|(node, place)| match place {
        Some(Location::View(_)) => Some(source(plan, NodeId::new(node))),
        _ => None,
    });
    kernels.flat_map(read).chain(views).filter(|node| is_filled(program, *node)).collect()
}

/// The node of which `node` is a view, or `node` itself.
fn source(plan: &Plan, mut node: NodeId) -> NodeId {
    while let Some(Location::View(of)) = plan.places[node.index()] {
        node = of;
    }
    node
}

/// `__nodes`: the types of the nodes. They are constants if the Rust types of the leaves determine every extent.
fn types(program: &Program) -> String {
    let known: String = (0..program.leaves.len()).map(|leaf| format!("rt::known(&view_{leaf}), ")).collect();
    format!(
        "let computed;\n\
         let __nodes: &[rt::Type; {}] = if const {{ rt::all_static(P::KNOWN) }} {{ const {{ &rt::array(P::NODES) }} }} else {{\n\
         computed = nodes([{known}], const {{ P::NODES }}); &computed }};\n",
        program.nodes.len()
    )
}

/// The steps, in a workspace if they need one.
fn with_slots(program: &Program, plan: &Plan, values: &Values<'_>, steps: &str) -> String {
    let groups: Vec<(usize, &ByRow)> = plan.groups().collect();
    if plan.slots.is_empty() && groups.is_empty() {
        return steps.to_string();
    }
    let (mut lens, mut carved) = (String::new(), String::new());
    for (slot, class) in plan.slots.iter().enumerate() {
        let held = plan.places.iter().enumerate().filter(|(_, place)| **place == Some(Location::Slot(slot)));
        let longest = held.fold("0".to_string(), |len, (node, _)| match len.as_str() {
            "0" => held_of(&groups, node),
            len => format!("::core::cmp::max({len}, {})", held_of(&groups, node)),
        });
        let element = values.element(*class);
        let _ = writeln!(lens, "let len_{slot} = {longest};");
        let _ =
            writeln!(carved, "let (slot_{slot}, __memory) = rt::carve::<{element}>(__memory, len_{slot});");
    }
    let mut bytes = plan.slots.iter().enumerate().fold("0_usize".to_string(), |bytes, (slot, class)| {
        format!("{bytes}.saturating_add(rt::slot_bytes::<{}>(len_{slot}))", values.element(*class))
    });
    for (step, group) in groups {
        let element = values.element(group.class(program));
        let _ = writeln!(
            lens,
            "let spread_len_{step} = match &rows_{step} {{ ::core::option::Option::Some(rows) => rows.spread(), ::core::option::Option::None => 0 }};"
        );
        let _ = writeln!(
            carved,
            "let (spread_{step}, __memory) = rt::carve::<{element}>(__memory, spread_len_{step});"
        );
        let _ = write!(bytes, ".saturating_add(rt::slot_bytes::<{element}>(spread_len_{step}))");
    }
    format!("{lens}rt::with_memory({bytes}, &mut |__memory| {{\n{carved}{steps}}});\n")
}

/// The number of elements of a node in its slot, as text. A node that only its row-by-row group reads needs room for a
/// few rows, or no room if it has one number per row.
fn held_of(groups: &[(usize, &ByRow)], node: usize) -> String {
    let (all, id) = (format!("rt::count(&__nodes[{node}])"), NodeId::new(node));
    let stores = |(_, group): &&(usize, &ByRow)| group.stores(id) && !group.kept.contains(&id);
    let Some((step, group)) = groups.iter().find(stores) else { return all };
    let by_row = if group.elements().any(|element| element == id) { "rows.held()" } else { "0" };
    format!(
        "match &rows_{step} {{ ::core::option::Option::Some(rows) => {by_row}, ::core::option::Option::None => {all} }}"
    )
}

/// The call that watches a node.
fn watched(program: &Program, values: &Values<'_>, node: NodeId, text: &mut String) {
    let (known, value) = (program.node(node), values.value(node));
    if let Op::Effect(effect) = &known.op {
        let _ = writeln!(text, "rt::shown({:?}, {value});", effect.label());
        return;
    }
    let id = |node: NodeId| ValueId::new(node.index());
    let mut made_of: Vec<ValueId> = read_by(program, node).map(id).collect();
    made_of.sort_unstable();
    made_of.dedup();
    let delivered = program.result.nodes().contains(&node);
    let search = Search { value: id(node), made_of, delivered };
    let described = watched_text(program, node);
    let _ = writeln!(text, "rt::searched({value}, {});", described.watched(&search, known.op.is_input()));
}

/// The operands whose elements a node reads.
fn read_by(program: &Program, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let node = program.node(node);
    let operands = node.operands.iter().enumerate();
    operands.filter(|(position, _)| node.op.reads(*position)).map(|(_, operand)| *operand)
}

/// The description of a node in messages.
fn watched_text(program: &Program, node: NodeId) -> WatchedText {
    if let Some(leaf) = program.node(node).op.input_name() {
        let leaf = &program.leaves[leaf.index()];
        return WatchedText { name: leaf.text.clone(), ..WatchedText::default() };
    }
    // For a derivative of any order, the node in the source.
    let mut written = node;
    while let (None, Some(of)) = (&program.node(written).spot, program.node(written).derives) {
        written = of;
    }
    let derivative = written != node;
    let Some(spot) = &program.node(written).spot else {
        return WatchedText { derivative: true, ..WatchedText::default() };
    };
    let operands: Vec<&str> = spot.operands.iter().map(|operand| operand.operand_text.as_str()).collect();
    let text = match (&operands[..], spot.is_operator) {
        ([a, b], true) => format!("{a} {} {b}", spot.label),
        ([a], true) => format!("{}{a}", spot.label),
        (_, _) => watch::source_text(spot.site).0,
    };
    let (_, place) = watch::source_text(spot.site);
    WatchedText { text, name: String::new(), place, derivative }
}

/// The call of a node's kernel.
fn kernel(program: &Program, values: &Values<'_>, node: NodeId, text: &mut String) {
    let known = program.node(sort_of(program, node).unwrap_or(node));
    let ty = |node: NodeId| format!("&__nodes[{}]", node.index());
    let operands = known.operands.iter().enumerate();
    let operands: Vec<String> = operands
        .map(
            |(position, operand)| {
                if known.op.reads(position) { values.value(*operand) } else { ty(*operand) }
            },
        )
        .collect();
    let sources: Vec<&str> = known
        .spot
        .iter()
        .flat_map(|spot| &spot.operands)
        .map(|operand| operand.operand_text.as_str())
        .collect();
    let (own, target) = (ty(node), values.target(node));
    let texts =
        Texts { rules: RULES, operands: &operands, own: &own, target: &target, sources: &sources, dim: None };
    for call in check_text(&known.op, &texts).into_iter().chain([kernel_text(&known.op, &texts)]) {
        let _ = writeln!(text, "rt::{call};");
    }
}
