//! Names for what generated functions hold: the user's where there is one.

use std::collections::HashMap;

use proc_macro2::{Ident, Span};

/// Names already given out in one function.
#[derive(Clone, Default)]
pub(super) struct Names {
    /// With how often each was wished for, so that the next is found at once.
    taken: HashMap<String, usize>,
}

impl Names {
    /// None but those the emitter uses itself.
    pub(super) fn new() -> Self {
        // What stands in the module of a function, and the locals that are named by hand.
        let own = [
            "rt",
            "check",
            "call",
            "into",
            "run",
            "lens",
            "params",
            "flops",
            "peak_bytes",
            // Constants, which a pattern of the name would mean.
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

    /// A name like `wish` that no other has.
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

/// The token of a name that [`Names::fresh`] or [`identifier`] gave.
pub(super) fn ident(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(name) => Ident::new_raw(name, Span::call_site()),
        None => Ident::new(name, Span::call_site()),
    }
}

/// A name of the language as one of Rust: raw where that has it as a keyword.
pub(crate) fn raw(name: &Ident) -> Ident {
    let mut raw = ident(&identifier(&name.to_string()));
    raw.set_span(name.span());
    raw
}

/// A Rust identifier like `wish`, raw where it is a keyword.
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
