//! Assigns boxes to rows, so that arrows point down and are as short as possible.

use std::collections::VecDeque;

use super::{Edge, Kind, Node, Picture};

/// The row of each node, from 0 at the top.
///
/// Every node starts in the highest row that its arrows allow. Then groups of nodes move down as long as this reduces
/// the total length of the arrows. A group is a node with all nodes that would be in its way, so each move is the best
/// one for that node.
///
/// An arrow of more than [`FARTHEST`] rows is replaced by a reference to its start, just above its end.
pub fn assign(picture: &mut Picture) -> Vec<usize> {
    let mut rows = shortest(picture);
    for position in 0..picture.edges.len() {
        let Edge { from, to, .. } = picture.edges[position];
        if rows[to] - rows[from] <= FARTHEST {
            continue;
        }
        let Node { lines, ty, gradient, tooltip, .. } = picture.nodes[from].clone();
        let lines = lines.into_iter().take(1).map(|name| format!("↑ {name}")).collect();
        let reference =
            Node { kind: Kind::Reference, lines, ty, gradient, tooltip, share: 0.0, inside: None };
        picture.nodes.push(reference);
        rows.push(rows[to] - 1);
        picture.edges[position].from = picture.nodes.len() - 1;
    }
    rows
}

/// The maximum length of an arrow in rows. A gradient uses the first values last. Without a limit, the picture of a
/// chain of 500 operations would be 500 arrows wide.
const FARTHEST: usize = 40;

fn shortest(picture: &Picture) -> Vec<usize> {
    let count = picture.nodes.len();
    let mut incoming = vec![Vec::new(); count];
    let mut outgoing = vec![Vec::new(); count];
    for edge in &picture.edges {
        incoming[edge.to].push(edge.from);
        outgoing[edge.from].push(edge.to);
    }
    let mut rows = vec![0usize; count];
    // Arrows point to later nodes, so one pass suffices.
    for node in 0..count {
        rows[node] = incoming[node].iter().map(|from| rows[*from] + 1).max().unwrap_or(0);
    }
    let mut budget = 200 * count.max(1);
    loop {
        let mut moved = false;
        for node in (0..count).rev() {
            let Some(group) = group(node, &rows, &outgoing, &mut budget) else { continue };
            let inside = |other: &usize| group.binary_search(other).is_ok();
            let gain: isize = group
                .iter()
                .map(|node| outgoing[*node].len() as isize - incoming[*node].len() as isize)
                .sum();
            let slack = group
                .iter()
                .flat_map(|node| outgoing[*node].iter().map(|to| (*node, *to)))
                .filter(|(_, to)| !inside(to))
                .map(|(node, to)| rows[to] - rows[node] - 1)
                .min();
            // If a move makes no difference, nodes of a gradient go below the nodes that they differentiate.
            let late = gain == 0 && group.iter().all(|node| picture.nodes[*node].gradient);
            if let (true, Some(slack @ 1..)) = (gain > 0 || late, slack) {
                group.iter().for_each(|node| rows[*node] += slack);
                moved = true;
            }
        }
        if !moved || budget == 0 {
            break;
        }
    }
    let first = rows.iter().copied().min().unwrap_or(0);
    rows.iter_mut().for_each(|row| *row -= first);
    rows
}

/// The node and all nodes that it pushes when it moves down, in ascending order. `None` after the budget is spent.
fn group(node: usize, rows: &[usize], outgoing: &[Vec<usize>], budget: &mut usize) -> Option<Vec<usize>> {
    let mut group = vec![node];
    let mut waiting = VecDeque::from([node]);
    let mut seen = std::collections::BTreeSet::from([node]);
    while let Some(node) = waiting.pop_front() {
        *budget = budget.checked_sub(1)?;
        for to in &outgoing[node] {
            if rows[*to] == rows[node] + 1 && seen.insert(*to) {
                group.push(*to);
                waiting.push_back(*to);
            }
        }
    }
    group.sort_unstable();
    Some(group)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(count: usize, edges: &[(usize, usize)]) -> Picture {
        let node = Node {
            kind: Kind::Operation,
            lines: vec!["x".into()],
            ty: None,
            gradient: false,
            tooltip: String::new(),
            share: 0.0,
            inside: None,
        };
        let edges = edges.iter().map(|(from, to)| Edge { from: *from, to: *to, operand: 0, of: 1 }).collect();
        Picture { title: String::new(), nodes: vec![node; count], edges }
    }

    #[test]
    fn arrows_lead_down_by_one_row_at_least() {
        let rows = assign(&mut picture(5, &[(0, 1), (1, 2), (0, 3), (3, 4), (2, 4)]));
        assert_eq!(rows[0], 0);
        assert!(rows[1] > rows[0] && rows[2] > rows[1] && rows[4] > rows[2] && rows[4] > rows[3]);
    }

    #[test]
    fn an_arrow_too_long_becomes_a_reference() {
        let mut chain: Vec<_> = (0..60).map(|node| (node, node + 1)).collect();
        chain.push((0, 60));
        let mut picture = picture(61, &chain);
        let rows = assign(&mut picture);
        assert_eq!((picture.nodes.len(), picture.nodes[61].kind), (62, Kind::Reference));
        assert_eq!((picture.edges[60].from, rows[61]), (61, 59));
    }

    #[test]
    fn an_input_stands_just_above_its_first_use() {
        let rows = assign(&mut picture(5, &[(0, 2), (2, 3), (3, 4), (1, 4)]));
        assert_eq!(rows, [0, 2, 1, 2, 3]);
    }

    #[test]
    fn a_chain_that_is_used_late_moves_as_one() {
        let rows = assign(&mut picture(6, &[(0, 2), (2, 3), (1, 4), (3, 5), (4, 5)]));
        assert_eq!(rows, [0, 1, 1, 2, 2, 3]);
    }
}
