//! `include_mic!`: functions in MIC files.

use std::collections::{BTreeMap, BTreeSet};

use mind_core::{
    diag::{Code, Diag, Diags, Site},
    ir::{Module, ValueId},
    ops::Profile,
    surface::lower::{self, Function, GradientRequest, GradientTarget, Parameter, Structure, nearest},
    text::{Document, Limits, mic},
    ty::Type,
};
use proc_macro2::{Delimiter, Ident, Literal, Span, TokenStream, TokenTree};
use quote::quote;

use crate::{
    emit::Root,
    expand::lone_items,
    include::{Source, split_at_comma},
    report::{compile_error, compile_errors},
    watch::within,
};

/// Expands `mind::include_mic!("net.mic", grad = (w, b))`: to the function in the file, and to the errors with their
/// places in the file.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let (root, input) = Root::take(input);
    let (path, options) = split_at_comma(input);
    let opened = Source::open(path).and_then(|opened| Ok((opened, Options::read(options)?)));
    let ((source, span), options) = match opened {
        Ok(opened) => opened,
        Err(diag) => return compile_error(&diag),
    };
    let text = match source.text() {
        Ok(text) => text,
        Err(diag) => return source.errors(span, &[diag]),
    };
    let document = match mic::parse_document(text, &Limits::default()) {
        Ok(document) => document,
        Err(diags) => return source.errors(span, diags.as_slice()),
    };
    if let Err(diags) = document.clone().verify(Profile::Extended) {
        return source.errors(span, diags.as_slice());
    }
    let stem = source.stem();
    match function(document, &stem, options, span) {
        Ok(function) => {
            let mut diags = Diags::new();
            let items = within(source.shown(), text, || lone_items(&root, &function, &mut diags));
            let (errors, tracking) = (compile_errors(diags.as_slice()), source.tracking());
            let of_check = crate::watch::tracking();
            quote! { #errors #tracking #of_check #items }
        }
        Err(diag) if matches!(diag.site, Site::Text { .. }) => source.errors(span, &[diag]),
        Err(diag) => compile_error(&diag),
    }
}

/// The options after the path.
#[derive(Default)]
struct Options {
    /// `name = f`
    name: Option<Ident>,
    gradient: Option<Wanted>,
}

/// `grad = (w, zero_ok b)`
struct Wanted {
    /// The parameters, each with a flag: whether the value may not depend on it (`zero_ok`).
    targets: Vec<(Ident, bool)>,
    /// Whether the list is in parentheses, so that the gradients are a tuple.
    tuple: bool,
    /// The place of the list.
    site: Site,
}

impl Options {
    fn read(mut input: TokenStream) -> Result<Self, Diag> {
        let mut options = Self::default();
        while !input.is_empty() {
            let (option, rest) = split_at_comma(input);
            input = rest;
            let mut trees = option.into_iter();
            let (Some(TokenTree::Ident(key)), Some(TokenTree::Punct(equals)), Some(value), None) =
                (trees.next(), trees.next(), trees.next(), trees.next())
            else {
                return Err(unexpected(Span::call_site(), "an option is malformed"));
            };
            match (key.to_string().as_str(), equals.as_char(), value) {
                ("name", '=', TokenTree::Ident(name)) if options.name.is_none() => options.name = Some(name),
                ("grad", '=', value) if options.gradient.is_none() => {
                    let site = Site::token(value.span());
                    let (targets, tuple) = match value {
                        TokenTree::Ident(name) => (vec![(name, false)], false),
                        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                            (targets(group.stream())?, true)
                        }
                        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
                            return Err(unexpected(key.span(), "expected names of parameters after `grad`"));
                        }
                    };
                    options.gradient = Some(Wanted { targets, tuple, site });
                }
                _ => {
                    return Err(unexpected(
                        key.span(),
                        &format!("`{key}` is not an option, or is given twice"),
                    ));
                }
            }
        }
        Ok(options)
    }
}

fn targets(mut list: TokenStream) -> Result<Vec<(Ident, bool)>, Diag> {
    let mut targets = Vec::new();
    while !list.is_empty() {
        let (target, rest) = split_at_comma(list);
        list = rest;
        let words: Vec<TokenTree> = target.into_iter().collect();
        match words.as_slice() {
            [TokenTree::Ident(name)] => targets.push((name.clone(), false)),
            [TokenTree::Ident(zero_ok), TokenTree::Ident(name)] if zero_ok == "zero_ok" => {
                targets.push((name.clone(), true));
            }
            words => {
                let span = words.first().map_or_else(Span::call_site, TokenTree::span);
                return Err(unexpected(span, "expected names of parameters after `grad`"));
            }
        }
    }
    Ok(targets)
}

fn unexpected(span: Span, what: &str) -> Diag {
    Diag::new(Code::E1007, Site::token(span), what).help(
        "write `include_mic!(\"net.mic\", name = net, grad = (w, zero_ok b))`; both options may be omitted",
    )
}

/// The function of a verified document.
fn function(document: Document, stem: &str, options: Options, span: Span) -> Result<Function, Diag> {
    let name = match options.name {
        Some(name) => name,
        None => rust_name(document.name.as_deref().unwrap_or(stem), span),
    };
    let sites: Vec<Site> =
        (0..document.module.insts().len()).map(|position| document.site(ValueId::new(position))).collect();
    let parameters = parameters(&document.module, &sites, span);
    let symbols = symbols(&document.module, &sites, span)?;
    let outputs = document.module.outputs().iter();
    let mut outputs: Vec<Structure> =
        outputs.map(|output| Structure::Value(document.module.ty(*output).clone())).collect();
    let result = if outputs.len() == 1 { outputs.remove(0) } else { Structure::Tuple(outputs) };
    let gradient = match options.gradient {
        Some(wanted) => Some(request(&parameters, wanted)?),
        None => None,
    };
    let docs = document.docs.iter().map(|line| {
        let line = Literal::string(&format!(" {line}"));
        quote! { #[doc = #line] }
    });
    let names = parameters.iter().map(|parameter| Some(parameter.name.to_string()));
    let names = names.chain(std::iter::repeat(None)).take(sites.len()).collect();
    Ok(Function {
        seen: Vec::new(),
        locals: Vec::new(),
        attributes: docs.collect(),
        visibility: quote! { pub },
        name,
        symbols,
        result,
        updates: Vec::new(),
        gradient,
        memory: None,
        parameters,
        program: Some(lower::LoweredModule {
            module: document.module,
            sites,
            names,
            derived: BTreeMap::new(),
            einsums: Vec::new(),
        }),
    })
}

fn parameters(module: &Module, sites: &[Site], span: Span) -> Vec<Parameter> {
    let mut taken = BTreeSet::new();
    let inputs = module
        .iter()
        .zip(sites)
        .map_while(|((_, inst), site)| Some((inst.op.input_name()?, inst.ty.clone(), *site)));
    let parameter = |(name, ty, site): (&std::sync::Arc<str>, Type, Site)| {
        let mut name = rust_name(name, span);
        // Names that differ only in characters that Rust does not allow become equal.
        while !taken.insert(name.to_string()) {
            name = rust_name(&format!("{name}_"), span);
        }
        Parameter { name, update: false, structure: Structure::Value(ty), site }
    };
    inputs.map(parameter).collect()
}

/// The symbols in the order of their first use.
///
/// # Errors
/// E2003 if a symbol is not the whole extent of any input, since then no type of the signature determines it.
fn symbols(module: &Module, sites: &[Site], span: Span) -> Result<Vec<Ident>, Diag> {
    let (mut alone, mut used) = (Vec::new(), Vec::new());
    for ((_, ty), site) in module.inputs().zip(sites) {
        for dim in ty.shape.iter() {
            dim.for_each_symbol(&mut |symbol| used.push((symbol.to_string(), *site)));
            alone.extend(dim.as_symbol().map(ToString::to_string));
        }
    }
    if let Some((symbol, site)) = used.iter().find(|(symbol, _)| !alone.contains(symbol)) {
        let message = format!("no input has `{symbol}` itself as a dimension, which a Rust signature needs");
        let help = format!("give an input a dimension that is exactly `{symbol}`");
        return Err(Diag::new(Code::E2003, *site, message).help(help));
    }
    let mut names = Vec::new();
    for symbol in alone {
        if !names.iter().any(|known: &Ident| *known == symbol) {
            names.push(rust_name(&symbol, span));
        }
    }
    Ok(names)
}

fn request(parameters: &[Parameter], wanted: Wanted) -> Result<GradientRequest, Diag> {
    let target = |(name, zero_ok): (Ident, bool)| {
        let position = parameters.iter().position(|parameter| parameter.name == name).ok_or_else(|| {
            let diag =
                Diag::new(Code::E2002, Site::token(name.span()), format!("the file has no input `{name}`"));
            let known: Vec<String> = parameters.iter().map(|parameter| parameter.name.to_string()).collect();
            match nearest(&name.to_string(), known.iter().map(String::as_str)) {
                Some(near) => diag.help(format!("write `{near}`")),
                None => diag,
            }
        })?;
        let structure = parameters[position].structure.clone();
        Ok(GradientTarget {
            structure,
            inputs: position..position + 1,
            zero_ok,
            name: name.to_string(),
            site: Site::token(name.span()),
        })
    };
    let targets = wanted.targets.into_iter().map(target).collect::<Result<_, Diag>>()?;
    Ok(GradientRequest { targets, tuple: wanted.tuple, site: wanted.site })
}

/// A valid Rust name: `_` replaces characters that Rust does not allow, and `r#` precedes a keyword.
fn rust_name(name: &str, span: Span) -> Ident {
    let allowed =
        |character: char| if character.is_alphanumeric() || character == '_' { character } else { '_' };
    let mut word: String = name.chars().map(allowed).collect();
    if word.chars().all(|character| character == '_') {
        word.insert_str(0, "value");
    }
    if !word.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        word.insert(0, '_');
    }
    if ["self", "Self", "super", "crate"].contains(&word.as_str()) {
        word.push('_');
    }
    let plain = syn::parse_str::<Ident>(&word).is_ok();
    if plain { Ident::new(&word, span) } else { Ident::new_raw(&word, span) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_rust_names() {
        let shown = |name: &str| rust_name(name, Span::call_site()).to_string();
        let names = ["w", "p.w1", "2nd", "", "_", "type", "self", "Größe", "a b"].map(shown);
        assert_eq!(
            names,
            ["w", "p_w1", "_2nd", "value", "value_", "r#type", "self_", "Größe", "a_b"].map(String::from)
        );
    }
}
