//! Counts the wrong answers by the number of carries and the number of training steps.

use std::fmt;

use crate::sums::Sum;

/// Counts of unseen sums by their number of carries, from 0 to 3.
type ByCarries = [usize; 4];

/// The number of wrong answers to the same sums at several times during training.
#[derive(Clone, Debug, Default)]
pub struct Mistakes {
    asked: ByCarries,
    moments: Vec<(usize, ByCarries)>,
}

impl Mistakes {
    /// Without any test so far.
    pub fn new(sums: &[Sum]) -> Self {
        Self { asked: by_carries(sums.iter().copied()), moments: Vec::new() }
    }

    /// Records the sums that were answered wrong after `steps` training steps.
    pub fn count(&mut self, steps: usize, wrong: impl Iterator<Item = Sum>) {
        self.moments.push((steps, by_carries(wrong)));
    }

    /// The number of sums.
    pub fn total(&self) -> usize {
        self.asked.iter().sum()
    }

    /// The number of sums that were right at the last test, 0 before the first.
    pub fn right(&self) -> usize {
        self.total() - self.moments.last().map_or(self.total(), |(_, wrong)| wrong.iter().sum())
    }

    /// The share of sums that were right at the last test, in percent.
    pub fn accuracy(&self) -> f64 {
        100.0 * self.right() as f64 / self.total() as f64
    }
}

fn by_carries(sums: impl Iterator<Item = Sum>) -> ByCarries {
    let mut counts = ByCarries::default();
    sums.for_each(|sum| counts[sum.carries()] += 1);
    counts
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row =
            |f: &mut fmt::Formatter<'_>, head: &str, asked: usize, wrong: &dyn Fn(&ByCarries) -> usize| {
                write!(f, "{head:>8} │{asked:>6} │")?;
                self.moments.iter().try_for_each(|(_, counts)| match wrong(counts) {
                    0 => write!(f, "{:>7}", '·'),
                    count => write!(f, "{count:>7}"),
                })?;
                writeln!(f)
            };
        writeln!(f, "         │       │ wrong after so many steps")?;
        write!(f, " carries │ asked │")?;
        self.moments.iter().try_for_each(|(steps, _)| write!(f, "{steps:>7}"))?;
        writeln!(f, "\n─────────┼───────┼{}", "─".repeat(7 * self.moments.len()))?;
        for (carries, asked) in self.asked.iter().enumerate() {
            row(f, &carries.to_string(), *asked, &|counts| counts[carries])?;
        }
        row(f, "all", self.total(), &|counts| counts.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_number_of_carries_and_a_column_for_each_moment() {
        let sums = [Sum(1, 2), Sum(5, 5), Sum(6, 6), Sum(999, 1)];
        let mut mistakes = Mistakes::new(&sums);
        assert_eq!((mistakes.right(), mistakes.total()), (0, 4));
        mistakes.count(100, sums[1..].iter().copied());
        mistakes.count(200, sums[3..].iter().copied());
        assert_eq!((mistakes.right(), mistakes.total(), mistakes.accuracy()), (3, 4, 75.0));
        let table = mistakes.to_string();
        let rows: Vec<_> = table.lines().collect();
        assert_eq!(rows[1], " carries │ asked │    100    200");
        assert_eq!(rows[3], "       0 │     1 │      ·      ·");
        assert_eq!(rows[4], "       1 │     2 │      2      ·");
        assert_eq!(rows[7], "     all │     4 │      3      1");
        assert_eq!(rows.len(), 8);
    }
}
