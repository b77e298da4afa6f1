//! Dims as Rust text.

use mind_core::dim::{Atom, Dim, Term};

/// How arithmetic on extents is written.
#[derive(Clone, Copy)]
pub(super) enum Arithmetic {
    /// On `usize`, plainly: what is computed was checked on entry to be positive and to fit.
    Plain,
    /// On `usize`, saturating: for sizes that are compared with what there is.
    Saturating,
    /// On `i64`, saturating: for checks on entry, where a quantity may turn out negative.
    Signed,
}

/// A dim as an expression over the variables of its symbols.
pub(super) fn extent(dim: &Dim, arithmetic: Arithmetic) -> String {
    if let Some(value) = dim.as_literal() {
        return value.to_string();
    }
    let terms = dim.terms();
    let (positive, negative): (Vec<&Term>, Vec<&Term>) = terms.iter().partition(|term| term.coefficient > 0);
    // What is added comes first, so that no partial sum of `usize` falls below zero.
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

/// In parentheses unless it is a single word.
pub(super) fn grouped(text: &str) -> String {
    let word = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if word { text.to_string() } else { format!("({text})") }
}

/// The variable that holds a symbol's extent.
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
            // A dim keeps what it divides without negative coefficients.
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
