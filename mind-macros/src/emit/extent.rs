//! Emits dims as Rust text.

use mind_core::dim::{Atom, Dim, Term};

/// The kind of arithmetic on extents.
#[derive(Clone, Copy)]
pub(super) enum Arithmetic {
    /// Plain operators on `usize`. The function has checked on entry that the results are positive and fit.
    Plain,
    /// Saturating operations on `usize`, for sizes that are compared with actual extents or with available memory.
    Saturating,
    /// Saturating operations on `i64`, for checks on entry, where a quantity may be negative.
    Signed,
}

/// A dim as an expression over the variables of its symbols.
pub(super) fn extent(dim: &Dim, arithmetic: Arithmetic) -> String {
    if let Some(value) = dim.as_literal() {
        return value.to_string();
    }
    let terms = dim.terms();
    let (positive, negative): (Vec<&Term>, Vec<&Term>) = terms.iter().partition(|term| term.coefficient > 0);
    // Positive terms come first, so that no partial sum of `usize` falls below zero.
    let mut text = String::new();
    for (operator, method, terms) in [('+', "add", positive), ('-', "sub", negative)] {
        for term in terms {
            let product = product(term, arithmetic);
            match (text.is_empty(), arithmetic) {
                (true, _) if operator == '+' => text = product,
                (true, _) => text = format!("0_i64.saturating_sub({product})"),
                (false, Arithmetic::Plain) if operator == '+' => text.push_str(&format!(" + {product}")),
                (false, Arithmetic::Plain) => text.push_str(&format!(" - {}", grouped(&product))),
                (false, Arithmetic::Saturating | Arithmetic::Signed) => {
                    text.push_str(&format!(".saturating_{method}({product})"));
                }
            }
        }
    }
    text
}

/// The text in parentheses, unless it is a single word.
pub(super) fn grouped(text: &str) -> String {
    let word = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if word { text.to_string() } else { format!("({text})") }
}

/// The variable of a symbol's extent.
pub(super) fn symbol_variable(symbol: &str) -> String {
    super::names::identifier(&format!("dim_{}", symbol.trim_start_matches("r#")))
}

fn product(term: &Term, arithmetic: Arithmetic) -> String {
    let mut factors = Vec::new();
    let coefficient = term.coefficient.unsigned_abs();
    for (atom, power) in term.factors.iter() {
        let text = match atom {
            Atom::Symbol(symbol) => match arithmetic {
                Arithmetic::Plain | Arithmetic::Saturating => symbol_variable(symbol),
                Arithmetic::Signed => format!("({} as i64)", symbol_variable(symbol)),
            },
            // The dividend in a dim never has negative coefficients.
            Atom::Floor(inner, by) => format!("({} / {by})", grouped(&extent(inner, arithmetic))),
        };
        factors.extend(std::iter::repeat_n(text, *power as usize));
    }
    if coefficient != 1 || factors.is_empty() {
        match arithmetic {
            Arithmetic::Plain => factors.push(coefficient.to_string()),
            Arithmetic::Saturating => factors.push(format!("{coefficient}_usize")),
            Arithmetic::Signed => factors.push(format!("{coefficient}_i64")),
        }
    }
    let mut factors = factors.into_iter();
    let first = factors.next().expect("a term without factors has its coefficient");
    factors.fold(first, |text, factor| match arithmetic {
        Arithmetic::Plain => format!("{text} * {factor}"),
        Arithmetic::Saturating | Arithmetic::Signed => format!("{text}.saturating_mul({factor})"),
    })
}
