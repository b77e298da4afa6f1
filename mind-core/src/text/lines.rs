//! The line numbers of a sequence of items.

/// Line numbers in the order of the items. No list is allocated while each item is on the line after the previous one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    first: u32,
    count: usize,
    /// All line numbers; empty while they are consecutive.
    listed: Vec<u32>,
}

impl Lines {
    #[inline]
    pub(super) fn push(&mut self, line: u32) {
        if self.count == 0 {
            self.first = line;
        }
        if self.listed.is_empty() && line.wrapping_sub(self.first) as usize == self.count {
            self.count += 1;
        } else {
            self.list(line);
        }
    }

    #[cold]
    fn list(&mut self, line: u32) {
        if self.listed.is_empty() {
            self.listed.extend((self.first..).take(self.count));
        }
        self.listed.push(line);
        self.count += 1;
    }

    pub(super) fn get(&self, position: usize) -> Option<u32> {
        if self.listed.is_empty() {
            return (position < self.count).then(|| self.first + position as u32);
        }
        self.listed.get(position).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_whether_or_not_they_follow_each_other() {
        for expected in [vec![], vec![7], vec![3, 4, 5], vec![3, 4, 9, 10, 12], vec![5, 5]] {
            let mut lines = Lines::default();
            expected.iter().for_each(|line| lines.push(*line));
            let found: Vec<_> = (0..lines.count).map_while(|position| lines.get(position)).collect();
            assert_eq!((found, lines.get(expected.len())), (expected, None));
        }
    }
}
