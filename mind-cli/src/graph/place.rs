//! Computes the coordinates of boxes: each is as near to its linked boxes as its neighbours in the row allow.

use super::{
    Picture,
    order::{Layered, Link},
};

/// A picture with coordinates, in pixels.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The middle of each place, in the order of [`Layered::above`].
    pub x: Vec<f64>,
    /// The top of each row of boxes.
    pub tops: Vec<f64>,
    /// The height of each row of boxes.
    pub heights: Vec<f64>,
    /// The width and height of the whole.
    pub size: (f64, f64),
}

/// The measures of a box.
#[derive(Clone, Copy, Debug)]
pub struct Measures {
    /// The space that it needs to the left of its middle.
    pub left: f64,
    /// The space that it needs to the right of its middle, including the text beside its arrows.
    pub right: f64,
    /// The width of the box itself.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// The space between neighbouring boxes.
const GAP: f64 = 22.0;
/// The space on each side of an arrow that passes a row.
const LANE: f64 = 9.0;
/// The space between rows, for the text beside arrows and for the arrows to turn.
pub const ROW_GAP: f64 = 54.0;
/// The space around the picture.
pub const MARGIN: f64 = 24.0;
/// The number of passes over the rows.
const SWEEPS: usize = 40;

/// The coordinates of every place.
pub fn place(picture: &Picture, layered: &Layered, measures: &[Measures]) -> Placed {
    let room = |place: usize| match measures.get(place) {
        Some(measures) => (measures.left + GAP / 2.0, measures.right + GAP / 2.0),
        None => (LANE, LANE),
    };
    let width = |place: usize| measures.get(place).map_or(0.0, |measures| measures.width);
    let mut x = vec![0.0; layered.above.len()];
    for row in &layered.rows {
        let mut at = 0.0;
        for place in row {
            let (left, right) = room(*place);
            x[*place] = at + left;
            at += left + right;
        }
    }
    let passes = picture.nodes.len();
    for sweep in 0..SWEEPS {
        let last = sweep + 4 >= SWEEPS;
        let downwards = sweep % 2 == 0;
        for step in 0..layered.rows.len() {
            let row = if downwards { step } else { layered.rows.len() - 1 - step };
            let wishes: Vec<(f64, f64)> = layered.rows[row]
                .iter()
                .map(|place| {
                    wish(*place, layered, &x, &width, passes, if last { None } else { Some(downwards) })
                })
                .collect();
            place_row(&layered.rows[row], &wishes, &room, &mut x);
        }
    }
    straighten(layered, &room, &mut x);
    let edge = |place: usize, side: f64| x[place] + side;
    let left = layered.rows.iter().filter_map(|row| row.first()).map(|place| edge(*place, -room(*place).0));
    let left = left.reduce(f64::min).unwrap_or(0.0);
    let right = layered.rows.iter().filter_map(|row| row.last()).map(|place| edge(*place, room(*place).1));
    let right = right.reduce(f64::max).unwrap_or(0.0);
    x.iter_mut().for_each(|x| *x += MARGIN - left);
    let heights: Vec<f64> = layered
        .rows
        .iter()
        .map(|row| {
            row.iter().filter_map(|place| measures.get(*place)).map(|box_| box_.height).fold(0.0, f64::max)
        })
        .collect();
    let mut tops = Vec::with_capacity(heights.len());
    let mut bottom = MARGIN;
    for height in &heights {
        tops.push(bottom);
        bottom += height + ROW_GAP;
    }
    Placed { x, tops, heights, size: (right - left + 2.0 * MARGIN, bottom - ROW_GAP + MARGIN) }
}

/// Aligns places of a chain without branches vertically, as far as their neighbours allow.
fn straighten(layered: &Layered, room: &impl Fn(usize) -> (f64, f64), x: &mut [f64]) {
    let chains = chains(layered);
    let mut beside = vec![(None, None); x.len()];
    for row in &layered.rows {
        for pair in row.windows(2) {
            beside[pair[0]].1 = Some(pair[1]);
            beside[pair[1]].0 = Some(pair[0]);
        }
    }
    for _ in 0..3 {
        for chain in &chains {
            let range = |place: usize, x: &[f64]| {
                let (left, right) = beside[place];
                let low = left.map_or(f64::NEG_INFINITY, |left| x[left] + room(left).1 + room(place).0);
                let high = right.map_or(f64::INFINITY, |right| x[right] - room(right).0 - room(place).1);
                (low, high)
            };
            let mut sorted: Vec<f64> = chain.iter().map(|place| x[*place]).collect();
            sorted.sort_by(f64::total_cmp);
            let ranges = chain.iter().map(|place| range(*place, x));
            let (low, high) = ranges
                .fold((f64::NEG_INFINITY, f64::INFINITY), |(low, high), (l, h)| (low.max(l), high.min(h)));
            let wanted = sorted[sorted.len() / 2];
            let wanted = if low <= high { wanted.clamp(low, high) } else { wanted };
            for place in chain {
                let (low, high) = range(*place, x);
                // Because of rounding the range may be empty. Then the place stays.
                if low <= high {
                    x[*place] = wanted.clamp(low, high);
                }
            }
        }
    }
}

/// The chains of at least two places without branches, longest first.
fn chains(layered: &Layered) -> Vec<Vec<usize>> {
    let next = |place: usize| match (&layered.below[place][..], place) {
        ([only], _) if layered.above[only.place].len() == 1 => Some(only.place),
        _ => None,
    };
    let begins = |place: usize| match &layered.above[place][..] {
        [only] => next(only.place).is_none(),
        _ => true,
    };
    let mut chains: Vec<Vec<usize>> = (0..layered.above.len())
        .filter(|place| begins(*place))
        .map(|place| std::iter::successors(Some(place), |place| next(*place)).collect())
        .filter(|chain: &Vec<usize>| chain.len() > 1)
        .collect();
    chains.sort_by_key(|chain| std::cmp::Reverse(chain.len()));
    chains
}

/// The preferred position of a place and its weight. Arrows that pass rows have large weights, so that they are
/// straight.
fn wish(
    place: usize,
    layered: &Layered,
    x: &[f64],
    width: &impl Fn(usize) -> f64,
    passes: usize,
    downwards: Option<bool>,
) -> (f64, f64) {
    let importance = |other: usize| match (place >= passes, other >= passes) {
        (true, true) => 8.0,
        (true, false) | (false, true) => 2.0,
        (false, false) => 1.0,
    };
    let (mut sum, mut total) = (0.0, 0.0);
    let mut pull = |other: usize, at: f64| {
        sum += importance(other) * at;
        total += importance(other);
    };
    if downwards != Some(false) {
        layered.above[place]
            .iter()
            .for_each(|Link { place: other, port }| pull(*other, x[*other] - port * width(place)));
    }
    if downwards != Some(true) {
        layered.below[place]
            .iter()
            .for_each(|Link { place: other, port }| pull(*other, x[*other] + port * width(*other)));
    }
    if total == 0.0 { (x[place], 0.05) } else { (sum / total, total) }
}

/// Places a row so that the weighted sum of squared distances to the preferred positions is least and no two places
/// overlap. Neighbours whose preferred positions conflict are placed side by side at the mean of these positions.
fn place_row(row: &[usize], wishes: &[(f64, f64)], room: &impl Fn(usize) -> (f64, f64), x: &mut [f64]) {
    // After subtracting the space of all places to the left, only the order of the positions has to be kept.
    let mut offsets = Vec::with_capacity(row.len());
    let mut offset = 0.0;
    for (at, place) in row.iter().enumerate() {
        if at > 0 {
            offset += room(row[at - 1]).1 + room(*place).0;
        }
        offsets.push(offset);
    }
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for ((wish, weight), offset) in wishes.iter().zip(&offsets) {
        let mut block = (wish - offset, *weight, 1);
        while let Some((before, heavy, count)) = blocks.last().copied().filter(|last| last.0 > block.0) {
            let total = heavy + block.1;
            block = ((before * heavy + block.0 * block.1) / total, total, count + block.2);
            blocks.pop();
        }
        blocks.push(block);
    }
    let mut places = row.iter().zip(&offsets);
    for (at, _, count) in blocks {
        for (place, offset) in places.by_ref().take(count) {
            x[*place] = at + offset;
        }
    }
}
