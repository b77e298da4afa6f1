//! Orders the boxes of each row so that few arrows cross.

use super::Picture;

/// A picture in rows. An arrow that passes a row has a place in it too, so that no box is in its way.
#[derive(Clone, Debug)]
pub struct Layered {
    /// The places of each row, from left to right.
    pub rows: Vec<Vec<usize>>,
    /// For each arrow the places from its first box to its last. A place below the length of [`Picture::nodes`] is a
    /// box.
    pub paths: Vec<Vec<usize>>,
    /// For each place its links to the row above.
    pub above: Vec<Vec<Link>>,
    /// For each place its links to the row below.
    pub below: Vec<Vec<Link>>,
}

/// A link to another place by an arrow.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The other place.
    pub place: usize,
    /// The position where the arrow ends on the lower of the two places, from -0.5 at its left to 0.5 at its right.
    pub port: f64,
}

/// The number of passes over the rows.
const SWEEPS: usize = 24;

/// The picture in rows with few crossings.
pub fn arrange(picture: &Picture, rows: &[usize]) -> Layered {
    let mut layered = layer(picture, rows);
    let mut position = positions(&layered);
    let mut best = layered.rows.clone();
    let mut fewest = crossings(&layered, &position);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let count = layered.rows.len();
        for step in 1..count {
            let downwards = sweep % 2 == 0;
            let row = if downwards { step } else { count - 1 - step };
            sort_row(&mut layered, &mut position, row, downwards);
        }
        exchange_neighbours(&mut layered, &mut position);
        let crossed = crossings(&layered, &position);
        if crossed < fewest {
            (fewest, best) = (crossed, layered.rows.clone());
        }
    }
    layered.rows = best;
    layered
}

/// The port of an operand of a node with `of` operands.
pub fn port(operand: usize, of: usize) -> f64 {
    (operand as f64 + 1.0) / (of as f64 + 1.0) - 0.5
}

fn layer(picture: &Picture, row_of: &[usize]) -> Layered {
    let mut layered = Layered {
        rows: vec![Vec::new(); row_of.iter().max().map_or(0, |last| last + 1)],
        paths: Vec::with_capacity(picture.edges.len()),
        above: vec![Vec::new(); picture.nodes.len()],
        below: vec![Vec::new(); picture.nodes.len()],
    };
    for edge in &picture.edges {
        let mut path = vec![edge.from];
        for _ in row_of[edge.from] + 1..row_of[edge.to] {
            path.push(layered.above.len());
            layered.above.push(Vec::new());
            layered.below.push(Vec::new());
        }
        path.push(edge.to);
        for (step, pair) in path.windows(2).enumerate() {
            let port = if step + 2 == path.len() { port(edge.operand, edge.of) } else { 0.0 };
            layered.below[pair[0]].push(Link { place: pair[1], port });
            layered.above[pair[1]].push(Link { place: pair[0], port });
        }
        layered.paths.push(path);
    }
    seed(picture, row_of, &mut layered);
    layered
}

/// The initial order: from each end of the program back to the nodes that it needs, operand by operand.
fn seed(picture: &Picture, row_of: &[usize], layered: &mut Layered) {
    let mut row = vec![0; layered.above.len()];
    row[..row_of.len()].copy_from_slice(row_of);
    for (edge, path) in picture.edges.iter().zip(&layered.paths) {
        for (step, place) in path.iter().enumerate().skip(1) {
            row[*place] = row_of[edge.from] + step;
        }
    }
    let mut seen = vec![false; row.len()];
    let ends = (0..picture.nodes.len()).filter(|node| layered.below[*node].is_empty());
    let mut waiting: Vec<usize> = ends.collect();
    waiting.reverse();
    while let Some(place) = waiting.pop() {
        if std::mem::replace(&mut seen[place], true) {
            continue;
        }
        layered.rows[row[place]].push(place);
        waiting.extend(layered.above[place].iter().rev().map(|link| link.place));
    }
}

fn positions(layered: &Layered) -> Vec<usize> {
    let mut position = vec![0; layered.above.len()];
    for row in &layered.rows {
        row.iter().enumerate().for_each(|(at, place)| position[*place] = at);
    }
    position
}

/// Sorts the places of a row by the mean position of their links. Places without links stay.
fn sort_row(layered: &mut Layered, position: &mut [usize], row: usize, downwards: bool) {
    let mean = |place: &usize| -> Option<f64> {
        let links = if downwards { &layered.above[*place] } else { &layered.below[*place] };
        let at = |link: &Link| position[link.place] as f64 + if downwards { 0.0 } else { link.port * 0.5 };
        (!links.is_empty()).then(|| links.iter().map(at).sum::<f64>() / links.len() as f64)
    };
    let means: Vec<_> = layered.rows[row].iter().map(mean).collect();
    let mut movable: Vec<(f64, usize)> =
        layered.rows[row].iter().zip(&means).filter_map(|(place, mean)| Some(((*mean)?, *place))).collect();
    movable.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut movable = movable.into_iter();
    for (place, mean) in layered.rows[row].iter_mut().zip(means) {
        if mean.is_some() {
            (_, *place) = movable.next().expect("each node with a mean is in the list");
        }
    }
    layered.rows[row].iter().enumerate().for_each(|(at, place)| position[*place] = at);
}

/// Swaps neighbours as long as this reduces crossings.
fn exchange_neighbours(layered: &mut Layered, position: &mut [usize]) {
    for _ in 0..8 {
        let mut improved = false;
        for row in 0..layered.rows.len() {
            for left in 0..layered.rows[row].len().saturating_sub(1) {
                let (a, b) = (layered.rows[row][left], layered.rows[row][left + 1]);
                let [mut kept, mut exchanged] = [0, 0];
                for links in [&layered.above, &layered.below] {
                    let (a, b) = (keys(&links[a], position), keys(&links[b], position));
                    kept += inversions(&a, &b);
                    exchanged += inversions(&b, &a);
                }
                if exchanged < kept {
                    layered.rows[row].swap(left, left + 1);
                    (position[a], position[b]) = (left + 1, left);
                    improved = true;
                }
            }
        }
        if !improved {
            break;
        }
    }
}

/// The positions of a place's links, in thousandths of a place.
fn keys(links: &[Link], position: &[usize]) -> Vec<i64> {
    links.iter().map(|link| position[link.place] as i64 * 1000 + (link.port * 500.0) as i64).collect()
}

/// The number of pairs in which an arrow of the left place ends to the right of an arrow of the right place.
fn inversions(left: &[i64], right: &[i64]) -> usize {
    left.iter().map(|a| right.iter().filter(|b| a > b).count()).sum()
}

/// The number of pairs of arrows that cross, counted with a Fenwick tree over the ends.
fn crossings(layered: &Layered, position: &[usize]) -> usize {
    let mut total = 0;
    for row in &layered.rows {
        let mut ends: Vec<i64> = Vec::new();
        for place in row {
            let mut own = keys(&layered.below[*place], position);
            own.sort_unstable();
            ends.extend(own);
        }
        let mut sorted = ends.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let mut tree = vec![0usize; sorted.len() + 1];
        for (before, end) in ends.iter().enumerate() {
            let rank = sorted.partition_point(|other| other < end) + 1;
            let (mut at, mut not_above) = (rank, 0);
            while at > 0 {
                not_above += tree[at];
                at &= at - 1;
            }
            total += before - not_above;
            at = rank;
            while at < tree.len() {
                tree[at] += 1;
                at += at & at.wrapping_neg();
            }
        }
    }
    total
}
