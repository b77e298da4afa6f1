//! Compares the kinds, which are the clusters, with the labels, which learning does not see.

use std::fmt;

use mind::{Const, Tensor};

use crate::digits::{CLASSES, Digit};

/// The number of digits of each label in each kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Kinds(Vec<[usize; CLASSES]>);

impl Kinds {
    /// Counts each digit in its most probable kind.
    pub fn new<const N: usize>(digits: &[Digit], shares: &Tensor<f64, (usize, Const<N>)>) -> Self {
        let mut counts = vec![[0; CLASSES]; N];
        for (digit, shares) in digits.iter().zip(shares.as_slice().chunks(N)) {
            let likeliest = (0..N).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).expect("there are kinds");
            counts[likeliest][digit.label] += 1;
        }
        Self(counts)
    }

    /// For each kind: its most frequent digit, the number of these, and the number of all its digits.
    pub fn summaries(&self) -> impl Iterator<Item = [usize; 3]> {
        self.0.iter().map(|counts| {
            let most =
                (0..CLASSES).max_by_key(|label| (counts[*label], CLASSES - label)).expect("there are ten");
            [most, counts[most], counts.iter().sum()]
        })
    }

    /// The share of digits that equal the most frequent digit of their kind, in percent.
    pub fn purity(&self) -> f64 {
        let [right, total] =
            self.summaries().fold([0, 0], |[right, total], [_, most, all]| [right + most, total + all]);
        100.0 * right as f64 / total as f64
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header: String = (0..CLASSES).map(|label| format!("{label:>5}")).collect();
        writeln!(f, "  kind │{header} │ mostly")?;
        writeln!(f, "───────┼{}─┼───────", "─".repeat(5 * CLASSES))?;
        let mut rows: Vec<_> = self.0.iter().zip(self.summaries()).enumerate().collect();
        rows.sort_by_key(|(_, (_, [most, ..]))| *most);
        for (kind, (counts, [most, ..])) in rows {
            write!(f, "{:>6} │", kind + 1)?;
            for count in counts {
                match count {
                    0 => write!(f, "{:>5}", '·')?,
                    _ => write!(f, "{count:>5}")?,
                }
            }
            writeln!(f, " │ {most:>6}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits::PIXELS;

    #[test]
    fn kinds_are_called_by_what_is_most_frequent_in_them() {
        let digits = [3, 3, 5, 5, 0].map(|label| Digit { pixels: [0.0; PIXELS], label });
        let likeliest = [1, 1, 1, 0, 0];
        let shares: Tensor![f64; ?, 2] =
            Tensor::from_fn_with((5, Const), |[row, kind]| if kind == likeliest[row] { 0.75 } else { 0.25 });
        let kinds = Kinds::new(&digits, &shares);
        assert_eq!(kinds.summaries().collect::<Vec<_>>(), [[0, 1, 2], [3, 2, 3]]);
        assert_eq!(kinds.purity(), 60.0);
        let table = kinds.to_string();
        let rows: Vec<_> = table.lines().collect();
        assert_eq!(rows[3], "     2 │    ·    ·    ·    2    ·    1    ·    ·    ·    · │      3");
        assert_eq!(rows.len(), 4);
    }
}
