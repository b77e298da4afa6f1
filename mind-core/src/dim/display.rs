//! Formats dims.

use std::fmt;

use super::{Atom, Dim, Term};

/// The same text as [`fmt::Display`]: the fields of a dim add nothing to it.
impl fmt::Debug for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Formats in the syntax of the surface language, `2 * N + 1`; with `{:#}` without spaces, `2*N+1`.
impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if f.alternate() { "" } else { " " };
        let terms = self.terms();
        if terms.is_empty() {
            return f.write_str("0");
        }
        for (i, Term { factors, coefficient }) in terms.iter().enumerate() {
            match (i, *coefficient < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, negative) => write!(f, "{space}{}{space}", if negative { "-" } else { "+" })?,
            }
            let mut first = true;
            if coefficient.unsigned_abs() != 1 || factors.is_empty() {
                write!(f, "{}", coefficient.unsigned_abs())?;
                first = false;
            }
            for (atom, power) in factors.iter() {
                for _ in 0..*power {
                    if !first {
                        write!(f, "{space}*{space}")?;
                    }
                    match atom {
                        Atom::Symbol(name) => f.write_str(name)?,
                        Atom::Floor(inner, by) => {
                            let only = terms.len() == 1 && factors.len() == 1 && first;
                            let quotient = if inner.terms().len() == 1 && inner.as_symbol().is_some() {
                                format!("{inner}{space}/{space}{by}")
                            } else if f.alternate() {
                                format!("({inner:#})/{by}")
                            } else {
                                format!("({inner}) / {by}")
                            };
                            if only || first { f.write_str(&quotient)? } else { write!(f, "({quotient})")? }
                        }
                    }
                    first = false;
                }
            }
        }
        Ok(())
    }
}
