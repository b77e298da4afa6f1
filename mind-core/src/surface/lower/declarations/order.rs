//! The order in which items that refer to each other are resolved.

/// An order in which each node follows its dependencies, and the cycles that prevent one.
pub(crate) struct Order {
    /// All nodes. A node follows its dependencies, except those in a cycle with it.
    pub(crate) nodes: Vec<usize>,
    /// The cycles, each with its nodes in the order of the references. A cycle that shares a node with an earlier one
    /// is left out.
    pub(crate) cycles: Vec<Vec<usize>>,
}

/// Orders nodes by the dependencies `needs` of each. Nodes with lower indices come first where the order is free.
pub(crate) fn order(needs: &[Vec<usize>]) -> Order {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        Open,
        Visited,
    }
    let mut states = vec![Visit::New; needs.len()];
    let mut found = Order { nodes: Vec::new(), cycles: Vec::new() };
    for root in 0..needs.len() {
        if states[root] != Visit::New {
            continue;
        }
        states[root] = Visit::Open;
        // The path from the root: each node, with the number of its dependencies that have been followed.
        let mut path = vec![(root, 0)];
        while let Some((node, followed)) = path.last_mut() {
            let node = *node;
            match needs[node].get(*followed) {
                None => {
                    states[node] = Visit::Visited;
                    found.nodes.push(node);
                    path.pop();
                }
                Some(&next) => {
                    *followed += 1;
                    match states[next] {
                        Visit::New => {
                            states[next] = Visit::Open;
                            path.push((next, 0));
                        }
                        Visit::Open => {
                            let start = path.iter().position(|(open, _)| *open == next).unwrap_or_default();
                            let cycle: Vec<_> = path[start..].iter().map(|(node, _)| *node).collect();
                            if !found.cycles.iter().flatten().any(|node| cycle.contains(node)) {
                                found.cycles.push(cycle);
                            }
                        }
                        Visit::Visited => {}
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn needs_come_first_and_cycles_are_found_once() {
        let order_of = |needs: &[&[usize]]| {
            let found = order(&needs.iter().map(|needs| needs.to_vec()).collect::<Vec<_>>());
            (found.nodes, found.cycles)
        };
        assert_eq!(order_of(&[&[1, 2], &[2], &[]]), (vec![2, 1, 0], vec![]));
        assert_eq!(order_of(&[&[0]]), (vec![0], vec![vec![0]]));
        assert_eq!(order_of(&[&[1, 1], &[2], &[0, 1]]).1, [[0, 1, 2]]);
        assert_eq!(order_of(&[&[1], &[0], &[3], &[2]]).1, [[0, 1], [2, 3]]);
    }
}
