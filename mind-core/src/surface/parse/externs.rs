//! `extern` items: functions that are defined elsewhere.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::imports::push_separator;
use super::items::{ItemHead, defined_twice};
use super::parser::Parser;
use crate::diag::{Code, Diag};
use crate::surface::ast::{Block, Extern, Function};

const USAGE: &str =
    "declare a function of Rust or of a Knossos program as `extern fn cell(x: f64[8]) -> f64[8];`";

/// Whether all attributes are doc comments.
fn are_docs(attributes: &TokenStream) -> bool {
    attributes.clone().into_iter().all(|tree| match tree {
        TokenTree::Group(attribute) => {
            matches!(attribute.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
        }
        TokenTree::Punct(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => true,
    })
}

impl Parser<'_> {
    /// Reads `extern fn cells::cell(x: f64[8]) -> f64[8];`.
    pub(super) fn external(&mut self, head: &ItemHead, block: &mut Block) -> Result<(), Diag> {
        let start = self.current_site();
        if let Some(gradient) = &head.gradient {
            let message = "found `#[grad(…)]` before `extern`, expected it before `fn`";
            return Err(Diag::new(Code::E1007, gradient.site, message));
        }
        if !are_docs(&head.attributes) || !head.visibility.is_empty() {
            let message = "found attributes or `pub` before `extern`, expected at most a doc comment";
            return Err(Diag::new(Code::E1007, start, message).help(USAGE));
        }
        self.take_word("extern");
        if !self.at_word("fn") {
            let diag = self.unexpected("`fn`").help(USAGE);
            self.diags.push(diag);
            self.skip_token();
        }
        self.take_word("fn");
        let mut path: Vec<TokenTree> = Vec::new();
        let name = loop {
            let segment = self.segment(&path)?;
            path.push(TokenTree::Ident(segment.clone()));
            if self.take("::").is_none() {
                break segment;
            }
            push_separator(&mut path);
        };
        let symbols = self.symbols()?;
        let (parameters, _) = self.group(Delimiter::Parenthesis, "`(` and parameters", |parser| {
            parser.parameters(&symbols, Self::at_end, "`,` or `)`")
        })?;
        let result = self.result()?;
        if result.is_none() {
            return Err(self.unexpected("`->` and the type of the result").help(USAGE));
        }
        let site = start.to(self.before());
        self.expect(";").map_err(|diag| diag.help(USAGE))?;
        if let Some(parameter) = parameters.iter().find(|parameter| parameter.update) {
            let message = format!(
                "`{name}` cannot update `{}`: an `extern` function has no `&mut` parameters",
                parameter.name
            );
            return Err(Diag::new(Code::E2010, parameter.site, message));
        }
        let functions = block.functions.iter().map(|function| &function.name);
        let mut known = functions.chain(block.externs.iter().map(|item| &item.function.name));
        if let Some(first) = known.find(|first| **first == name) {
            let diag = defined_twice("function", &name, first);
            self.diags.push(diag);
            return Ok(());
        }
        let function = Function {
            attributes: head.attributes.clone(),
            gradient: None,
            memory: None,
            visibility: Default::default(),
            name,
            symbols,
            parameters,
            result,
            body: None,
            site,
            source: Default::default(),
        };
        block.externs.push(Extern { path: path.iter().map(ToString::to_string).collect(), function });
        Ok(())
    }
}
