//! The pullback after the body of a function: `pullback(y, dy) { … }`.

use proc_macro2::{Delimiter, Ident};

use super::items::defined_twice;
use super::parser::Parser;
use crate::diag::Diag;
use crate::surface::ast::{Body, Pattern};

impl Parser<'_> {
    /// Reads the pullback of a function with these parameters, if one follows. Returns the body with it.
    ///
    /// Returns `None` if the body is missing or the pullback has an error, which has been reported.
    pub(super) fn with_pullback(&mut self, body: Option<Body>, parameters: &[&Ident]) -> Option<Body> {
        let start = self.current_site();
        let Some(word) = self.take_word("pullback") else { return body };
        let names = self.group(
            Delimiter::Parenthesis,
            "`(y, dy)`: names of the result and of its cotangent",
            |parser| {
                let value = parser.pullback_name()?;
                parser.expect(",").map_err(two_names)?;
                let cotangent = parser.pullback_name()?;
                parser.take(",");
                parser.expect_end("`)`").map_err(two_names)?;
                Ok([value, cotangent])
            },
        );
        let site = start.to(self.before());
        let names = names.map_err(|diag| self.diags.push(diag)).ok();
        let mut are_clear = true;
        if let Some((names, _)) = &names {
            let mut known: Vec<&Ident> = parameters.to_vec();
            for name in names.iter().flat_map(Pattern::names) {
                match known.iter().find(|first| **first == name) {
                    Some(first) => {
                        let diag = defined_twice("name", name, first);
                        self.diags.push(diag);
                        are_clear = false;
                    }
                    None => known.push(name),
                }
            }
        }
        let inner = self.group(Delimiter::Brace, "`{` and the cotangents of the parameters", |parser| {
            Ok(parser.block_body())
        });
        let inner = inner.map_err(|diag| self.diags.push(diag)).ok()?.0;
        if self.at_word("pullback") {
            let diag = self.unexpected("the next item");
            self.diags.push(diag.help(format!("a function has at most one `{word}`")));
            self.skip_item();
        }
        let ((names, _), body, inner) = (names?, body?, inner?);
        are_clear.then(|| body.with_pullback(names, site, inner))
    }

    fn pullback_name(&mut self) -> Result<Pattern, Diag> {
        match self.at_end() {
            true => Err(two_names(self.unexpected("a name"))),
            false => self.pattern(),
        }
    }
}

fn two_names(diag: Diag) -> Diag {
    diag.help("name the result and its cotangent: `pullback(y, dy)`")
}
