//! Undefined names, and suggestions of known names.

use crate::diag::{Code, Diag, Site};

/// The error E2002 for an undefined name, with the nearest known name as help.
pub fn undefined<'a>(what: &str, name: &str, site: Site, known: impl IntoIterator<Item = &'a str>) -> Diag {
    let diag = Diag::new(Code::E2002, site, format!("undefined {what} `{name}`"));
    match nearest(name, known) {
        Some(near) => diag.help(format!("write `{near}`")),
        None => diag,
    }
}

/// The known name with the smallest distance, if the distance is small enough for a typing error; the first among
/// equals.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let distances = known.into_iter().map(|candidate| (distance(name, candidate), candidate));
    let near =
        distances.filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count());
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// Whether a name of at least six letters differs from a known name by one edit. A shorter name may be the function of
/// another library, as `glu` is beside `gelu`.
pub fn is_misspelt(name: &str, known: &str) -> bool {
    name.chars().count() >= 6 && distance(name, known) == 1
}

/// The number of letters to insert, delete, replace or swap with the next letter.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let above = &rows[i - 1];
            let replaced = above[j - 1] + usize::from(!a[i - 1].eq_ignore_ascii_case(&b[j - 1]));
            let mut least = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{is_misspelt, nearest};

    #[test]
    fn only_long_names_are_misspelt_and_by_one_letter() {
        assert!(is_misspelt("sigmiod", "sigmoid"));
        assert!(is_misspelt("sofmax", "softmax"));
        assert!(!is_misspelt("softmin", "softmax"));
        assert!(!is_misspelt("glu", "gelu"));
        assert!(!is_misspelt("softmax", "softmax"));
    }

    #[test]
    fn slips_are_near_and_other_names_are_not() {
        let known = ["logits", "labels", "x", "w1"];
        assert_eq!(nearest("logit", known), Some("logits"));
        assert_eq!(nearest("lgoits", known), Some("logits"));
        assert_eq!(nearest("w2", known), Some("w1"));
        assert_eq!(nearest("y", known), None);
        assert_eq!(nearest("X", known), Some("x"));
        assert_eq!(nearest("hidden", known), None);
    }
}
