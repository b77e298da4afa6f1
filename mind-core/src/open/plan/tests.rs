//! Tests the content and the consistency of plans.

use std::fmt::Write;

use super::super::needed::read_by;
use super::{Fused, Location, Plan, Step, plan};
use crate::open::{Arrange, ByRow, NodeId, Op, Program, lower};
use crate::surface::{golden, parse_expression};

fn program(source: &str) -> Program {
    let (expression, diags) = parse_expression(source.parse().unwrap());
    assert!(diags.is_empty(), "{source}");
    let (program, diags) = lower(&expression.unwrap());
    program.unwrap_or_else(|| panic!("{source}: {diags:?}"))
}

/// The program, then its steps with the locations of their results.
fn planned(source: &str) -> String {
    let program = program(source);
    let plan = plan(&program);
    check(&program, &plan);
    let list = |nodes: &[NodeId]| nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let stored = |node: &NodeId| format!("{node} -> {:?}", plan.places[node.index()].unwrap());
    let mut text = program.to_string();
    let listing = |fused: &Fused| {
        let outputs: Vec<_> = fused.outputs.iter().map(stored).collect();
        format!("loop over {}: {}; {}", list(&fused.inputs), list(&fused.nodes), outputs.join(", "))
    };
    let tell = |step: &Step, text: &mut String, indent: &str| match step {
        Step::Kernel(node) => writeln!(text, "{indent}kernel {}", stored(node)).unwrap(),
        Step::Watch(node) => writeln!(text, "{indent}watch {node}").unwrap(),
        Step::Fused(fused) => writeln!(text, "{indent}{}", listing(fused)).unwrap(),
        Step::Alike { same, fused, apart } => {
            writeln!(text, "{indent}if {} are alike\n{indent}  {}\n{indent}else", list(same), listing(fused))
                .unwrap();
            apart.iter().for_each(|fused| writeln!(text, "{indent}  {}", listing(fused)).unwrap());
        }
        Step::ByRow(_) => unreachable!("no group stands in another"),
    };
    for step in &plan.steps {
        let Step::ByRow(group) = step else {
            tell(step, &mut text, "");
            continue;
        };
        let ByRow { axes, numbers, scalars, kept, repeated, folded, steps } = group;
        let [numbers, scalars, kept, repeated, folded] = [numbers, scalars, kept, repeated, folded]
            .map(|nodes| list(&Vec::from_iter(nodes.iter().copied())));
        writeln!(
            text,
            "by row of {axes:?}, numbers {numbers}; scalars {scalars}; kept {kept}; repeated {repeated}; folded {folded}"
        )
        .unwrap();
        steps.iter().for_each(|step| tell(step, &mut text, "  "));
    }
    text
}

/// Simulates a plan, with node ids as buffer contents.
pub(crate) fn check(program: &Program, plan: &Plan) {
    let results = program.result.nodes();
    let mut slots: Vec<Option<NodeId>> = vec![None; plan.slots.len()];
    let mut written: Vec<Option<NodeId>> = vec![None; results.len()];
    // A node that is read has been written and not yet overwritten.
    let read = |node: NodeId, slots: &[Option<NodeId>], written: &[Option<NodeId>]| {
        let mut node = node;
        loop {
            match plan.places[node.index()].expect("a node that is read has a place") {
                Location::View(of) => node = of,
                Location::Slot(slot) => return assert_eq!(slots[slot], Some(node)),
                Location::Result(result) => return assert_eq!(written[result], Some(node)),
                Location::Leaf(leaf) => return assert_eq!(leaf.index(), node.index()),
                Location::Constant => return,
                Location::Loop => panic!("{node} lies nowhere"),
            }
        }
    };
    let write = |node: NodeId, slots: &mut [Option<NodeId>], written: &mut [Option<NodeId>]| match plan.places
        [node.index()]
    {
        Some(Location::Slot(slot)) => {
            assert_eq!(plan.slots[slot], program.node(node).class);
            slots[slot] = Some(node);
        }
        Some(Location::Result(result)) => written[result] = Some(node),
        place => panic!("{node} is stored at {place:?}"),
    };
    let run =
        |fused: &Fused, slots: &mut Vec<Option<NodeId>>, written: &mut Vec<Option<NodeId>>, alike: bool| {
            fused.inputs.iter().for_each(|input| read(*input, slots, written));
            let space = program.node(*fused.outputs.last().expect("a loop stores something"));
            for (position, node) in fused.nodes.iter().enumerate() {
                let known = |operand: NodeId| {
                    fused.nodes[..position].contains(&operand) || fused.inputs.contains(&operand)
                };
                assert!(read_by(program, *node).all(known), "{node}");
                let op = &program.node(*node).op;
                let elementwise = matches!(
                    op,
                    Op::Map(_)
                        | Op::Arrange(Arrange::BroadcastTo { .. })
                        | Op::Own(crate::open::Own::FilledLike { .. })
                );
                assert!(elementwise, "{node}");
                // A node that is slower to compute than to read is computed once per element of its shape.
                let is_expensive = matches!(op, Op::Map(map) if map.row().cost.is_series());
                assert!(alike || !is_expensive || program.node(*node).shape == space.shape, "{node}");
            }
            for output in &fused.outputs {
                assert!(fused.nodes.contains(output));
                assert_eq!(program.node(*output).shape, space.shape);
                write(*output, slots, written);
            }
            assert!(fused.nodes.len() <= 256);
        };
    for (_, group) in plan.groups() {
        check_group(program, plan, group);
    }
    for step in plan.each() {
        match step {
            Step::ByRow(_) => unreachable!("the steps of groups stand for them"),
            Step::Kernel(node) => {
                read_by(program, *node).for_each(|operand| read(operand, &slots, &written));
                write(*node, &mut slots, &mut written);
            }
            Step::Watch(node) => read(*node, &slots, &written),
            Step::Fused(fused) => run(fused, &mut slots, &mut written, false),
            Step::Alike { fused, apart, .. } => {
                // The separate loops store the same nodes, and further ones.
                run(fused, &mut slots.clone(), &mut written.clone(), true);
                apart.iter().for_each(|fused| run(fused, &mut slots, &mut written, false));
                let last = apart.last().expect("there are loops apart");
                assert_eq!(last.outputs, fused.outputs);
                let nodes = |fused: &Fused| fused.nodes.clone();
                assert!(
                    fused.nodes.iter().all(|node| apart.iter().flat_map(nodes).any(|other| other == *node))
                );
            }
        }
    }
    for node in &results {
        read(*node, &slots, &written);
    }
}

/// Checks that a group reads its own nodes only after it has stored them, that it stores them apart from all other
/// nodes, and that it computes each number of a row from such numbers.
fn check_group(program: &Program, plan: &Plan, group: &ByRow) {
    let stored: Vec<NodeId> = program.iter().map(|(id, _)| id).filter(|node| group.stores(*node)).collect();
    let places: Vec<_> = stored.iter().map(|node| plan.places[node.index()].unwrap()).collect();
    assert!(places.iter().enumerate().all(|(i, place)| !places[..i].contains(place)), "{places:?}");
    let mut there: Vec<NodeId> = Vec::new();
    for step in &group.steps {
        let (nodes, inputs) = match step {
            Step::Kernel(node) => (vec![*node], vec![program.node(*node).operands[0]]),
            Step::Fused(fused) | Step::Alike { fused, .. } => (fused.nodes.clone(), fused.inputs.clone()),
            Step::ByRow(_) | Step::Watch(_) => unreachable!("no group stands in another, and none watches"),
        };
        for input in inputs {
            assert!(!stored.contains(&input) || there.contains(&input), "{input} is read before it is there");
            assert!(!places.contains(&plan.places[input.index()].unwrap()) || there.contains(&input));
        }
        for node in nodes.iter().filter(|node| group.numbers.contains(node)) {
            let Op::Map(_) = program.node(*node).op else {
                assert!(matches!(program.node(*node).op, Op::Reduce(..)));
                continue;
            };
            for operand in &program.node(*node).operands {
                let is_constant = matches!(program.node(*operand).op, Op::Const(_));
                assert!(is_constant || group.numbers.contains(operand) || group.scalars.contains(operand));
            }
        }
        there.extend(nodes);
    }
    assert!(
        group.kept.iter().all(|node| group.numbers.contains(node) || group.elements().any(|e| e == *node))
    );
    assert!(group.scalars.iter().all(|node| !stored.contains(node)));
}

#[test]
fn elementwise_operations_share_loops_and_memory() {
    golden::check("../open/plans.txt", planned);
}

#[test]
fn long_programs_are_planned_in_loops_of_bounded_length() {
    for source in [
        "x + y * ".repeat(2_000) + "x",
        "x * y - (".repeat(100) + "x" + &")".repeat(100),
        "exp(x * y) + x * y".to_owned(),
        "x + exp(x + w) * ".repeat(500) + "x @ w",
    ] {
        let program = program(&source);
        check(&program, &plan(&program));
    }
}

#[cfg(feature = "testing")]
#[test]
fn plans_of_random_programs_and_their_gradients_hold_together() {
    use crate::testing::random_expression;
    for seed in crate::sample::sample("random expressions", 0..500) {
        let expression = random_expression(seed, 1 + (seed % 12) as usize, crate::ty::DType::F32);
        let values: String = expression.values.iter().map(|(name, _)| format!("{name}, ")).collect();
        let primal = format!("{{ {} ({values}) }}", expression.statements);
        let losses: String =
            expression.values.iter().map(|(name, _)| format!("sum({name}) + ")).collect::<String>();
        let gradient = format!(
            "value_and_grad({{ {} {losses} 0.0 }}, wrt = (zero_ok x0, zero_ok x1))",
            expression.statements
        );
        for source in [primal, gradient] {
            let program = program(&source);
            check(&program, &plan(&program));
        }
    }
}
