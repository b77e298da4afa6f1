//! `include_ks!` and `ks!`: Knossos programs in files and in Rust files.

use mind_core::{
    diag::{Code, Diag, Note, Site},
    snippet,
};
use mind_knossos::{
    Binding, Role,
    emit::{self, Options, Request},
    interp::Precision,
    ir::{Derivative, Position},
};
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    ExprPath, Token,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
};

use crate::{
    emit::Root,
    include::{Source, adopt, split_at_comma},
    report::{compile_error, compile_error_at},
};

/// Expands `mind::include_ks!("gmm.ks", grad = [f])`: to the functions of the file, or to the errors with their places
/// in the file.
pub(crate) fn expand_file(input: TokenStream) -> TokenStream {
    let (facade, input) = facade(input);
    let (path, wanted) = split_at_comma(input);
    let opened = Source::open(path).and_then(|opened| Ok((opened, Wanted::read(wanted, INCLUDE)?)));
    let ((source, span), wanted) = match opened {
        Ok(opened) => opened,
        Err(diag) => return compile_error(&diag),
    };
    let text = match source.text() {
        Ok(text) => text,
        Err(diag) => return source.errors(span, &[diag]),
    };
    let options = wanted.options(source.shown(), span);
    match compile(text, &wanted, &options) {
        Ok(items) => {
            let items = adopt(items, &facade, &TokenStream::new(), span.resolved_at(Span::call_site()));
            let items = wanted.with_paths(items);
            let tracking = source.tracking();
            quote! { #tracking #items }
        }
        Err(diags) => {
            let (of_call, of_file) = by_origin(diags);
            let errors: TokenStream = of_call.iter().map(compile_error).collect();
            let in_file = source.errors(span, &of_file);
            quote! { #errors #in_file }
        }
    }
}

/// Expands `mind::ks!(r#"(def …)"#, grad = [f])`.
pub(crate) fn expand_text(input: TokenStream) -> TokenStream {
    let (facade, input) = facade(input);
    let (literal, wanted) = split_at_comma(input);
    let read = InPlace::read(literal).and_then(|text| Ok((text, Wanted::read(wanted, IN_PLACE)?)));
    let (place, wanted) = match read {
        Ok(read) => read,
        Err(diag) => return compile_error(&diag),
    };
    let options = Options { start: place.start, ..wanted.options(&place.file, place.span) };
    match compile(&place.text, &wanted, &options) {
        Ok(items) => {
            let span = place.span.resolved_at(Span::call_site());
            wanted.with_paths(adopt(items, &facade, &TokenStream::new(), span))
        }
        Err(diags) => {
            let (of_call, of_text) = by_origin(diags);
            let errors = of_call.iter().map(compile_error);
            let messages = of_text.into_iter().map(|diag| place.message(diag));
            let span = place.span;
            errors.chain(messages.map(|message| compile_error_at(span, span, &message))).collect()
        }
    }
}

const INCLUDE: &str = "write `include_ks!(\"gmm.ks\", precision = f32, export = [f, g], grad = [f], bind = [h = \
    crate::h])`; all options may be omitted";
const IN_PLACE: &str = "write `ks!(r#\"(def f …)\"#, precision = f32, export = [f, g], grad = [f], bind = [h = \
    crate::h])`; all options may be omitted";

/// The items of a program, with a placeholder for the facade.
fn compile(text: &str, wanted: &Wanted, options: &Options) -> Result<TokenStream, Vec<Diag>> {
    let (program, exports) = emit::compile(text, &wanted.bindings, &wanted.request)
        .map_err(|diags| diags.into_iter().collect::<Vec<_>>())?;
    let items = emit::emit(&program, &exports, options);
    Ok(items.parse().expect("emitted code lexes as tokens"))
}

/// Separates errors in the macro call from errors in the program.
fn by_origin(diags: Vec<Diag>) -> (Vec<Diag>, Vec<Diag>) {
    diags.into_iter().partition(|diag| matches!(diag.site, Site::Tokens { .. }))
}

/// The path of the facade, and the input after it.
fn facade(input: TokenStream) -> (TokenStream, TokenStream) {
    let facade = match input.clone().into_iter().next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => group.stream(),
        _ => quote! { ::mind },
    };
    (facade, Root::take(input).1)
}

/// A program in a Rust file.
struct InPlace {
    text: String,
    span: Span,
    /// The name of the Rust file in messages, or a description of the call if places in the program cannot be mapped to
    /// places in the file.
    file: String,
    /// The place in the file where the program begins.
    start: Position,
    /// The text of the file, if it can be read.
    source: Option<String>,
}

impl InPlace {
    /// Reads `input`, a single string literal.
    ///
    /// # Errors
    /// E1007 if it is anything else.
    fn read(input: TokenStream) -> Result<Self, Diag> {
        const EXPECTED: &str = "expected a program as a string literal such as `r#\"(def f …)\"#`";
        let mut trees = input.into_iter();
        let unexpected = |tree: Option<TokenTree>| {
            let (span, found) = match &tree {
                Some(tree) => (tree.span(), format!("`{tree}`")),
                None => (Span::call_site(), "the end".to_owned()),
            };
            Diag::new(Code::E1007, Site::token(span), format!("found {found}, {EXPECTED}")).help(IN_PLACE)
        };
        let literal = match trees.next() {
            Some(TokenTree::Literal(literal)) => literal,
            // A `$program:literal` of a `macro_rules!` macro arrives in an invisible group.
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => {
                return Self::read(group.stream());
            }
            other => return Err(unexpected(other)),
        };
        let syn::Lit::Str(string) = syn::Lit::new(literal.clone()) else {
            return Err(unexpected(Some(TokenTree::Literal(literal))));
        };
        if let Some(rest) = trees.next() {
            return Err(unexpected(Some(rest)));
        }
        Ok(Self::of(literal, string.value()))
    }

    fn of(literal: Literal, text: String) -> Self {
        let span = literal.span();
        let written = literal.to_string();
        let (line, column) = (span.start().line, span.start().column);
        // In a literal with escapes, places in the program do not correspond to places in the file.
        let quote = written.find('"').filter(|_| written.starts_with('r') || !written.contains('\\'));
        let source = span.local_file().and_then(|file| std::fs::read_to_string(file).ok());
        match quote {
            Some(quote) if line > 0 => {
                let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
                let start = Position { line: number(line), column: number(column + quote + 2) };
                Self { text, span, file: span.file(), start, source }
            }
            _ => {
                let file = format!("`ks!` in {}:{line}", span.file());
                let source = Some(text.clone());
                Self { text, span, file, start: Position { line: 1, column: 1 }, source }
            }
        }
    }

    /// The message of an error, with its place in the file.
    fn message(&self, diag: Diag) -> String {
        let shift = |site: Site| match site {
            Site::Text { line, column } => self.start.of(Position { line, column }).into(),
            Site::Nowhere | Site::Tokens { .. } => site,
        };
        let notes = diag.notes.into_iter().map(|note| Note { site: shift(note.site), ..note }).collect();
        let diag = Diag { site: shift(diag.site), notes, ..diag };
        snippet::render(&diag, &self.file, self.source.as_deref().unwrap_or_default())
    }
}

/// The options after the program.
#[derive(Default)]
struct Wanted {
    precision: Option<Precision>,
    request: Request,
    bindings: Vec<Binding>,
    /// The Rust function of each binding.
    paths: Vec<ExprPath>,
}

/// The placeholder for the path of a binding, which its number follows.
const PATH: &str = "__mind_bound_";

impl Wanted {
    /// # Errors
    /// E1007 for an invalid option.
    fn read(mut input: TokenStream, usage: &str) -> Result<Self, Diag> {
        let mut wanted = Self::default();
        let unexpected =
            |span: Span, what: String| Diag::new(Code::E1007, Site::token(span), what).help(usage);
        while !input.is_empty() {
            let (option, rest) = split_at_comma(input);
            input = rest;
            let mut trees = option.into_iter();
            let (Some(TokenTree::Ident(key)), Some(TokenTree::Punct(equals)), Some(value), None) =
                (trees.next(), trees.next(), trees.next(), trees.next())
            else {
                return Err(unexpected(Span::call_site(), "an option is malformed".into()));
            };
            match (key.to_string().as_str(), equals.as_char(), &value) {
                ("precision", '=', TokenTree::Ident(precision)) if wanted.precision.is_none() => {
                    wanted.precision = Some(match precision.to_string().as_str() {
                        "f32" => Precision::F32,
                        "f64" => Precision::F64,
                        _ => {
                            let message = format!("found `{precision}`, expected `f32` or `f64`");
                            return Err(unexpected(precision.span(), message));
                        }
                    });
                }
                ("export", '=', TokenTree::Group(list)) if wanted.request.export.is_none() => {
                    let names = parsed::<Ident>(list.stream(), usage)?;
                    wanted.request.export =
                        Some(names.iter().map(|name| (name.to_string(), site_of(name))).collect());
                }
                ("grad", '=', TokenTree::Group(list)) if wanted.request.grad.is_empty() => {
                    wanted.request.grad = parsed::<Gradient>(list.stream(), usage)?
                        .into_iter()
                        .map(|Gradient { derivatives, name }| (derivatives, name.to_string(), site_of(&name)))
                        .collect();
                }
                ("bind", '=', TokenTree::Group(list)) if wanted.bindings.is_empty() => {
                    for Bound { role, name, path } in parsed::<Bound>(list.stream(), usage)? {
                        let site = site_of(&name);
                        wanted.bindings.push(Binding { role, name: name.to_string(), site });
                        wanted.paths.push(path);
                    }
                }
                _ => {
                    return Err(unexpected(
                        key.span(),
                        format!("`{key}` is not an option, or is given twice"),
                    ));
                }
            }
        }
        Ok(wanted)
    }

    fn options(&self, file: &str, span: Span) -> Options {
        let start = span.start();
        Options {
            precision: self.precision.unwrap_or(Precision::F64),
            file: file.to_owned(),
            root: format!("{}::__private", Root::PLACEHOLDER),
            module: format!("__mind_ks_{}_{}", start.line, start.column),
            bound: (0..self.paths.len()).map(|number| format!("{PATH}{number}")).collect(),
            ..Options::default()
        }
    }

    /// Replaces the placeholders in calls by the paths of the bindings, with their original spans.
    fn with_paths(&self, tokens: TokenStream) -> TokenStream {
        if self.paths.is_empty() {
            return tokens;
        }
        let mut called = None;
        let place = |tree: TokenTree| match tree {
            TokenTree::Ident(word) => {
                let number =
                    word.to_string().strip_prefix(PATH).and_then(|number| number.parse::<usize>().ok());
                match number.and_then(|number| self.paths.get(number)) {
                    Some(path) => {
                        called = Some(path);
                        from_within(path)
                    }
                    None => word.into_token_stream(),
                }
            }
            TokenTree::Group(group) => {
                let (mut inner, mut span) = (self.with_paths(group.stream()), group.span());
                // The arguments get the span of the path, so that rustc reports errors in them there.
                if let Some(path) = called.take() {
                    span = path.path.segments.last().map_or(span, |last| last.ident.span());
                    inner = at(inner, span);
                    span = span.resolved_at(group.span());
                }
                let mut placed = Group::new(group.delimiter(), inner);
                placed.set_span(span);
                placed.into_token_stream()
            }
            tree @ (TokenTree::Punct(_) | TokenTree::Literal(_)) => tree.into(),
        };
        tokens.into_iter().flat_map(place).collect()
    }
}

/// Rewrites a path relative to the module of the macro call for use in the inner of the two nested modules that the
/// macro generates.
fn from_within(path: &ExprPath) -> TokenStream {
    let first =
        path.path.segments.first().filter(|_| path.qself.is_none() && path.path.leading_colon.is_none());
    match first {
        Some(first) if first.ident == "self" => {
            let rest = path.path.segments.iter().skip(1);
            quote! { super::super #(::#rest)* }
        }
        Some(first) if first.ident == "super" => quote! { super::super::#path },
        _ => path.into_token_stream(),
    }
}

/// The same tokens at `span`, with unchanged hygiene.
fn at(tokens: TokenStream, span: Span) -> TokenStream {
    let moved = tokens.into_iter().map(|mut tree| {
        tree.set_span(span.resolved_at(tree.span()));
        tree
    });
    moved.collect()
}

/// A function with requested derivatives: `f`, `rev f`, `rev rev f`.
struct Gradient {
    derivatives: Vec<Derivative>,
    name: Ident,
}

impl Parse for Gradient {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut derivatives = Vec::new();
        loop {
            let name: Ident = input.parse()?;
            let mut known = [Derivative::Fwd, Derivative::Rev].into_iter();
            match known.find(|one| name == one.name()) {
                Some(derivative) if input.peek(syn::Ident) => derivatives.push(derivative),
                _ => return Ok(Self { derivatives, name }),
            }
        }
    }
}

/// A binding of a function: `f = path`, `rev f = path`.
struct Bound {
    role: Role,
    name: Ident,
    path: ExprPath,
}

impl Parse for Bound {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let first: Ident = input.parse()?;
        let (role, name) = match input.peek(syn::Ident) {
            true => {
                let role = [Role::Fwd, Role::Rev, Role::Grad].into_iter().find(|role| first == role.name());
                let message = || format!("found `{first}`, expected `fwd`, `rev`, `grad` or `=`");
                (role.ok_or_else(|| syn::Error::new(first.span(), message()))?, input.parse()?)
            }
            false => (Role::Function, first),
        };
        input.parse::<Token![=]>()?;
        Ok(Self { role, name, path: input.parse()? })
    }
}

/// Parses a list separated by commas.
///
/// # Errors
/// E1007 if an element is not a `T`.
fn parsed<T: Parse>(list: TokenStream, usage: &str) -> Result<Vec<T>, Diag> {
    match Punctuated::<T, Token![,]>::parse_terminated.parse2(list) {
        Ok(parsed) => Ok(parsed.into_iter().collect()),
        Err(error) => Err(Diag::new(Code::E1007, Site::token(error.span()), error.to_string()).help(usage)),
    }
}

fn site_of(name: &Ident) -> Site {
    Site::token(name.span())
}
