//! Names for the variables of generated functions. A variable gets the user's name if it has one.

use std::collections::HashMap;

use proc_macro2::{Ident, Span};

/// The names that one function already uses.
#[derive(Clone, Default)]
pub(super) struct Names {
    /// Each name with the last number that was appended to it, so that the next free name is found quickly.
    taken: HashMap<String, usize>,
}

impl Names {
    /// Only the names that the emitter itself uses.
    pub(super) fn new() -> Self {
        // The items in the module of a function, and the local variables with fixed names.
        let own = [
            "rt",
            "check",
            "call",
            "into",
            "run",
            "run_steps",
            "run_of_any_extents",
            "lens",
            "params",
            "flops",
            "peak_bytes",
            // Constants: a pattern with such a name would refer to the constant.
            "CORE_IR",
            "MIC",
            "UPDATES",
            "PLAN",
            "PARAMS",
            "FLOPS",
            "PEAK_BYTES",
            "workspace",
            "sizes",
            "self",
            "lanes",
            "Kernel",
            "Finish",
            "rows",
            "lhs",
            "rhs",
        ];
        Self { taken: own.iter().map(|name| ((*name).to_string(), 1)).collect() }
    }

    /// A unique name similar to `wish`.
    pub(super) fn fresh(&mut self, wish: &str) -> String {
        let wish = identifier(wish);
        let Some(mut number) = self.taken.get(&wish).copied() else {
            self.taken.insert(wish.clone(), 1);
            return wish;
        };
        let name = loop {
            number += 1;
            let name = format!("{}_{number}", wish.trim_start_matches("r#"));
            if !self.taken.contains_key(&name) {
                break name;
            }
        };
        self.taken.insert(wish, number);
        self.taken.insert(name.clone(), 1);
        name
    }
}

/// The token of a name from [`Names::fresh`] or [`identifier`].
pub(super) fn ident(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(name) => Ident::new_raw(name, Span::call_site()),
        None => Ident::new(name, Span::call_site()),
    }
}

/// A name of the language as a Rust identifier: raw if it is a keyword.
pub(crate) fn raw(name: &Ident) -> Ident {
    let mut raw = ident(&identifier(&name.to_string()));
    raw.set_span(name.span());
    raw
}

/// A Rust identifier similar to `wish`, raw if it is a keyword.
pub(super) fn identifier(wish: &str) -> String {
    const KEYWORDS: &[&str] = &[
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
        "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
        "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static",
        "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where",
        "while", "yield",
    ];
    // A field of a struct is `p.w`.
    let name = wish.replace("r#", "").replace('.', "_");
    match name.as_str() {
        "self" | "Self" | "super" | "crate" | "_" | "" => format!("{name}_"),
        _ if KEYWORDS.contains(&name.as_str()) => format!("r#{name}"),
        _ => name,
    }
}
