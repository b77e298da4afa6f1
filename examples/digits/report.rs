//! The quality of the network: its answers, the number of right ones, and the confusion matrix as a table.

use std::fmt;

use crate::digits::{CLASSES, Digit};

/// The network's answer for one digit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The predicted digit.
    pub class: usize,
    /// The probability of that digit, from 0 to 1.
    pub confidence: f32,
}

impl Answer {
    /// The class with the greatest of ten logits, and its probability by softmax.
    pub fn new(scores: &[f32]) -> Self {
        let (class, greatest) = scores
            .iter()
            .copied()
            .enumerate()
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .expect("there are ten scores");
        let total: f32 = scores.iter().map(|score| (score - greatest).exp()).sum();
        Self { class, confidence: 1.0 / total }
    }
}

/// Counts of digits by label (row) and answer (column).
#[derive(Clone, Debug, Default)]
pub struct Confusion([[usize; CLASSES]; CLASSES]);

impl Confusion {
    /// Counts all digits and their answers.
    pub fn new(digits: &[Digit], answers: &[Answer]) -> Self {
        let mut counts = Self::default();
        for (digit, answer) in digits.iter().zip(answers) {
            counts.0[digit.label][answer.class] += 1;
        }
        counts
    }

    /// The share of right answers in percent.
    pub fn accuracy(&self) -> f64 {
        100.0 * self.right() as f64 / self.total() as f64
    }

    /// The number of right answers.
    pub fn right(&self) -> usize {
        (0..CLASSES).map(|class| self.0[class][class]).sum()
    }

    /// The number of digits.
    pub fn total(&self) -> usize {
        self.0.iter().flatten().sum()
    }
}

impl fmt::Display for Confusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header: String = (0..CLASSES).map(|class| format!("{class:>5}")).collect();
        writeln!(f, "       predicted")?;
        writeln!(f, "  true │{header} │ right")?;
        writeln!(f, "───────┼{}─┼────────", "─".repeat(5 * CLASSES))?;
        for (class, row) in self.0.iter().enumerate() {
            write!(f, "{class:>6} │")?;
            for count in row {
                match count {
                    0 => write!(f, "{:>5}", '·')?,
                    _ => write!(f, "{count:>5}")?,
                }
            }
            let total: usize = row.iter().sum();
            match total {
                0 => writeln!(f, " │      –")?,
                _ => writeln!(f, " │ {:>4.0} %", 100.0 * row[class] as f64 / total as f64)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits::PIXELS;

    #[test]
    fn the_answer_is_the_greatest_score_with_its_softmax() {
        let mut scores = [0.0; CLASSES];
        scores[7] = 9.0_f32.ln();
        let answer = Answer::new(&scores);
        assert_eq!(answer.class, 7);
        assert!((answer.confidence - 0.5).abs() < 1e-6, "{}", answer.confidence);
        assert_eq!(Answer::new(&[1000.0, 0.0]).confidence, 1.0);
    }

    #[test]
    fn the_table_has_a_row_for_each_digit_and_counts_what_is_right() {
        let digit = |label| Digit { pixels: [0.0; PIXELS], label };
        let answer = |class| Answer { class, confidence: 1.0 };
        let digits = [digit(3), digit(3), digit(3), digit(8)];
        let confusion = Confusion::new(&digits, &[answer(3), answer(3), answer(8), answer(8)]);
        assert_eq!((confusion.right(), confusion.total(), confusion.accuracy()), (3, 4, 75.0));
        let table = confusion.to_string();
        let rows: Vec<_> = table.lines().collect();
        assert_eq!(rows.len(), 13);
        assert_eq!(rows[6], "     3 │    ·    ·    ·    2    ·    ·    ·    ·    1    · │   67 %");
        assert_eq!(rows[11], "     8 │    ·    ·    ·    ·    ·    ·    ·    ·    1    · │  100 %");
        assert_eq!(rows[3], "     0 │    ·    ·    ·    ·    ·    ·    ·    ·    ·    · │      –");
    }
}
