//! Partitions items into clusters that are computed together, and keeps the clusters in order.

use crate::plan::graph::{Graph, ItemId};

/// The most clusters that a search may visit, so that planning stays near-linear in long programs.
const FARTHEST: usize = 2048;

/// Items in clusters, without cycles between clusters.
///
/// The order is kept as clusters merge, as in Pearce and Kelly, "A dynamic topological sort algorithm for directed
/// acyclic graphs" (2006): only clusters between the two that merge change places.
pub(super) struct Partition<'g> {
    graph: &'g Graph,
    /// The cluster of each item, named by one of its items.
    cluster_of: Vec<ItemId>,
    /// The items of each cluster, ascending.
    members: Vec<Vec<ItemId>>,
    /// The place of each cluster in the order.
    places: Vec<usize>,
    /// For each cluster, the last search that visited it.
    seen: Vec<usize>,
    searches: usize,
}

impl<'g> Partition<'g> {
    /// Puts each item into a separate cluster.
    pub(super) fn new(graph: &'g Graph) -> Self {
        let count = graph.items.len();
        Self {
            graph,
            cluster_of: (0..count).collect(),
            members: (0..count).map(|item| vec![item]).collect(),
            places: (0..count).collect(),
            seen: vec![0; count],
            searches: 0,
        }
    }

    /// The cluster that an item is in.
    pub(super) fn of(&self, item: ItemId) -> ItemId {
        self.cluster_of[item]
    }

    /// The items of a cluster, ascending.
    pub(super) fn members(&self, cluster: ItemId) -> &[ItemId] {
        &self.members[cluster]
    }

    /// The clusters in an order in which each comes after those that it needs.
    pub(super) fn in_order(&self) -> Vec<ItemId> {
        let mut clusters: Vec<ItemId> =
            (0..self.members.len()).filter(|cluster| !self.members[*cluster].is_empty()).collect();
        clusters.sort_unstable_by_key(|cluster| self.places[*cluster]);
        clusters
    }

    /// Merges two clusters and returns the merged one. Returns `None` if another cluster must come between the two, or
    /// if the search takes too long.
    pub(super) fn merge(&mut self, a: ItemId, b: ItemId) -> Option<ItemId> {
        let (first, second) = if self.places[a] < self.places[b] { (a, b) } else { (b, a) };
        let after = self.search(first, second, Direction::After)?;
        let before = self.search(second, first, Direction::Before)?;
        let mut places: Vec<usize> = after
            .iter()
            .chain(&before)
            .chain([&first, &second])
            .map(|cluster| self.places[*cluster])
            .collect();
        places.sort_unstable();
        let (kept, given) = if self.members[first].len() >= self.members[second].len() {
            (first, second)
        } else {
            (second, first)
        };
        let order = before.into_iter().chain([kept]).chain(after);
        order.zip(places).for_each(|(cluster, place)| self.places[cluster] = place);
        let given = std::mem::take(&mut self.members[given]);
        given.iter().for_each(|item| self.cluster_of[*item] = kept);
        let members = &mut self.members[kept];
        members.extend(given);
        members.sort_unstable();
        Some(kept)
    }

    /// The clusters between `from` and `to` in the order that depend on `from`, or that `from` depends on, in order.
    /// `None` if a path leads to `to` through one of them, or if they are too many.
    fn search(&mut self, from: ItemId, to: ItemId, direction: Direction) -> Option<Vec<ItemId>> {
        self.searches += 1;
        self.seen[from] = self.searches;
        let (low, high) = {
            let [a, b] = [from, to].map(|cluster| self.places[cluster]);
            (a.min(b), a.max(b))
        };
        let mut found = vec![from];
        let mut next = 0;
        while let Some(cluster) = found.get(next).copied() {
            next += 1;
            for position in 0..self.members[cluster].len() {
                let item = self.members[cluster][position];
                let neighbours = match direction {
                    Direction::After => &self.graph.readers[item],
                    Direction::Before => &self.graph.items[item].needs,
                };
                for neighbour in neighbours {
                    let neighbour = self.cluster_of[*neighbour];
                    if neighbour == to {
                        if cluster != from {
                            return None;
                        }
                        continue;
                    }
                    let between = low < self.places[neighbour] && self.places[neighbour] < high;
                    if between && self.seen[neighbour] != self.searches {
                        self.seen[neighbour] = self.searches;
                        found.push(neighbour);
                        if found.len() > FARTHEST {
                            return None;
                        }
                    }
                }
            }
        }
        found.remove(0);
        found.sort_unstable_by_key(|cluster| self.places[*cluster]);
        Some(found)
    }
}

#[derive(Clone, Copy)]
enum Direction {
    After,
    Before,
}
