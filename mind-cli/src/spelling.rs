//! Suggestions for misspelled names.

/// The number of edits between two texts: characters inserted, removed, replaced or swapped with the next one.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Whether one name is likely a misspelling of the other. Shorter names may differ in fewer characters.
pub fn is_near(a: &str, b: &str) -> bool {
    distance(a, b) <= (a.chars().count().min(b.chars().count()) / 2).min(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("E3003", "E3030"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("net.mic", "nte.mic"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn single_letters_are_near_nothing() {
        assert!(!is_near("x", "y") && is_near("w1", "w2") && is_near("logits", "logit"));
    }
}
