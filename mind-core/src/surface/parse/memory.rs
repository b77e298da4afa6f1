//! `#[memory(max = "64 MiB")]`.

use proc_macro2::Delimiter;

use super::parser::Parser;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::MemoryBound;

const HELP: &str = "write a bound such as `#[memory(max = \"64 MiB\")]`";
const BOUND: &str = "a whole number of B, KiB, MiB, GiB, KB, MB or GB, at least 1 byte";

impl Parser<'_> {
    /// Reads `(max = "64 MiB")` after the name of the attribute, which is at `start`.
    pub(super) fn memory_attribute(&mut self, start: Site) -> Result<MemoryBound, Diag> {
        if !self.at_group(Delimiter::Parenthesis) {
            return Err(self.unexpected("`(max = …)`").help(HELP));
        }
        let (text, site) = self.group(Delimiter::Parenthesis, "`max = …`", |parser| {
            if parser.take_word("max").is_none() {
                return Err(parser.unexpected("`max = …`").help(HELP));
            }
            parser.expect("=").map_err(|diag| diag.help(HELP))?;
            let (here, literal) = (parser.current_site(), parser.cursor.literal());
            let Some(syn::Lit::Str(text)) = literal.map(|(literal, _)| syn::Lit::new(literal)) else {
                return Err(parser.unexpected("a bound in quotes").help(HELP));
            };
            parser.skip_token();
            parser.separator("`)`")?;
            parser.expect_end("`)`")?;
            Ok((text.value(), here))
        })?;
        let ((text, literal), site) = (text, start.to(site));
        MemoryBound::read(&text, site).ok_or_else(|| {
            let message = format!("found the bound \"{text}\", expected {BOUND}");
            Diag::new(Code::E1007, literal, message).help(HELP)
        })
    }
}

/// The error for a bound that is not before a function.
pub(super) fn misplaced(bound: &MemoryBound, before: &str) -> Diag {
    let message = format!("found `#[memory(…)]` before {before}, expected it before a function");
    Diag::new(Code::E1007, bound.site, message)
}
