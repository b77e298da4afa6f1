//! The parser: reads tokens to an AST, with recovery from errors.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::buffer::TokenBuffer;

use super::ast::{Block, Body, Closure, Expression, Function, Import, Program};
use super::nesting::check_nesting;
use crate::diag::{Diag, Diags, Site};
pub(super) use parser::{OPERATORS, is_keyword};
use parser::{Parser, Unexpected};
use paths::resolve_closure_paths;
pub use paths::resolve_library_calls;

mod bare;
mod brackets;
mod derivatives;
mod dim_expr;
mod expressions;
mod externs;
mod imports;
mod items;
mod levels;
mod literals;
mod loops;
mod machine;
mod memory;
mod parser;
mod paths;
mod pullbacks;
mod rustisms;
mod statements;
mod structs;
mod templates;
mod transforms;
mod types;

#[cfg(test)]
mod tests;

/// Reads the contents of `mind!`: items, a closure or an expression.
///
/// ```
/// use mind_core::surface::{ast::Program, parse};
/// let (program, diags) = parse("fn twice(x: f32[3]) -> f32[3] { x + x }".parse().unwrap());
/// assert!(diags.is_empty());
/// let Program::Block(block) = program else { unreachable!() };
/// assert_eq!(block.functions[0].name, "twice");
/// ```
///
/// # Errors
/// The second element holds every error. The first then holds the part that could be read: an empty block, or an empty
/// expression for a form that is a value.
pub fn parse(tokens: TokenStream) -> (Program, Diags) {
    read(tokens, |parser| {
        let imports = parser.leading_imports();
        match parser.form() {
            Ok(InputForm::Items) => Program::Block(parser.block(imports)),
            Ok(InputForm::Closure) => match parser.closure(imports) {
                Ok(closure) => Program::Closure(closure),
                Err(diag) => parser.give_up(diag, unread_value()),
            },
            Ok(InputForm::Expression) => Program::Expression(parser.expression(imports)),
            Err(diag) => parser.give_up(diag, unread_value()),
        }
    })
    .unwrap_or_else(|diags| (Program::Block(Block::default()), diags))
}

/// The program for a closure that cannot be read. It is an expression, because no item can be at the place of a
/// closure.
fn unread_value() -> Program {
    let (imports, late, body, ty) = (Vec::new(), false, Body::default(), None);
    Program::Expression(Expression { imports, late, body, ty, site: Site::Nowhere })
}

/// Reads a block of functions, constants and structs.
///
/// # Errors
/// As for [`parse`].
pub fn parse_block(tokens: TokenStream) -> (Block, Diags) {
    read(tokens, |parser| parser.block(Vec::new())).unwrap_or_else(|diags| (Block::default(), diags))
}

/// Reads one function, `fn f(x: f32) -> f32 { x }`.
///
/// # Errors
/// The second element holds every error; the first is `None` if the signature cannot be read.
pub fn parse_function(tokens: TokenStream) -> (Option<Function>, Diags) {
    read(tokens, |parser| parser.lone_function()).unwrap_or_else(|diags| (None, diags))
}

/// Reads `|x: f32[2, 3], w: f32[3, 4]| relu(x @ w)`.
///
/// # Errors
/// The second element holds every error; the first is `None` if the parameters cannot be read.
pub fn parse_closure(tokens: TokenStream) -> (Option<Closure>, Diags) {
    read(tokens, |parser| match parser.closure(Vec::new()) {
        Ok(closure) => Some(closure),
        Err(diag) => parser.give_up(diag, None),
    })
    .unwrap_or_else(|diags| (None, diags))
}

/// Reads `relu(x @ w + b) : f32[32, 256]`, an expression among Rust variables.
///
/// Statements may come before it, as in `let h = x * x; sum(h)`, with or without braces around the whole. A block `{ …
/// }` that is the whole expression, or the whole expression that a transform differentiates, is one of the language.
/// Any other braces contain a Rust expression, which is passed on unchanged.
///
/// ```
/// use mind_core::surface::parse_expression;
/// let (expression, diags) = parse_expression("relu(x @ self.w + {bias()})".parse().unwrap());
/// assert!(diags.is_empty());
/// assert_eq!(expression.unwrap().to_string(), "relu(x @ self.w + {bias()})");
/// ```
///
/// # Errors
/// The second element holds every error; the first is `None` if brackets nest too deep.
pub fn parse_expression(tokens: TokenStream) -> (Option<Expression>, Diags) {
    match read(tokens, |parser| parser.expression(Vec::new())) {
        Ok((expression, diags)) => (Some(expression), diags),
        Err(diags) => (None, diags),
    }
}

/// The forms of an input. The first token decides, or an item further on, because the first item may be incomplete
/// while it is written.
enum InputForm {
    Items,
    Closure,
    Expression,
}

impl Parser<'_> {
    fn form(&self) -> Result<InputForm, Diag> {
        match self.found() {
            Unexpected::Word(word) if word == "move" => {
                Err(self.unexpected("`fn`, `const`, `struct` or a closure `|x: f32[3]| …`"))
            }
            Unexpected::Word(word) if begins_item(&word) => Ok(InputForm::Items),
            Unexpected::Operator("#") | Unexpected::End => Ok(InputForm::Items),
            _ if self.an_item_follows() => Ok(InputForm::Items),
            Unexpected::Operator("|" | "||") => Ok(InputForm::Closure),
            Unexpected::Word(_) | Unexpected::Operator(_) | Unexpected::Open(_) | Unexpected::Other(_) => {
                Ok(InputForm::Expression)
            }
        }
    }

    /// Whether `fn` or `struct` follows outside of all brackets; no expression contains one.
    fn an_item_follows(&self) -> bool {
        let mut cursor = self.cursor;
        while let Some((tree, rest)) = cursor.token_tree() {
            if matches!(tree, TokenTree::Ident(word) if word == "fn" || word == "struct") {
                return true;
            }
            cursor = rest;
        }
        false
    }

    fn closure(&mut self, imports: Vec<Import>) -> Result<Closure, Diag> {
        let (parameters, result, site) = self.closure_signature()?;
        let body = self.closure_body().filter(|_| !self.imports_lost);
        let mut closure = Closure { imports, parameters, result, body, site };
        resolve_closure_paths(&mut closure);
        Ok(closure)
    }
}

/// Whether a word begins an item, here or in Rust.
fn begins_item(word: &str) -> bool {
    const ITEMS: &[&str] = &[
        "async", "const", "enum", "extern", "fn", "impl", "macro", "mod", "pub", "static", "struct", "trait",
        "type", "unsafe", "use",
    ];
    ITEMS.contains(&word)
}

/// Runs a parser over tokens that do not nest too deep.
fn read<T>(tokens: TokenStream, run: impl FnOnce(&mut Parser<'_>) -> T) -> Result<(T, Diags), Diags> {
    check_nesting(&tokens).map_err(|diag| {
        let mut diags = Diags::new();
        diags.push(diag);
        diags
    })?;
    let first = tokens.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    let buffer = TokenBuffer::new2(tokens);
    let mut parser = Parser::new(buffer.begin(), first);
    let value = run(&mut parser);
    Ok((value, parser.into_diags()))
}
