//! Templates: `fn softmax(x: float[..], const axis: axis = -1) { … }`.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::buffer::Cursor;

use super::items::{ItemHead, defined_twice, tokens_between};
use super::memory::misplaced;
use super::parser::Parser;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{
    ConstantKind, Declared, DeclaredKind, ElementClass, ElementPattern, Formal, Home, Pack, Template,
    TemplateParameter, TensorPattern,
};
use crate::ty::DType;

/// The class of all structs of tensors.
pub(super) const PARAMS: &str = "params";

const PATTERN: &str = "a type such as `float[.., N]`";
/// Help for a struct as the type of a parameter.
const OF_STRUCT: &str = "a template takes any struct of tensors, as `p: P` with `P: params` in `<…>`; a function takes a \
    certain struct if all its parameters have types such as `f32[2, N]`";

impl Parser<'_> {
    /// Whether the tokens after the name of a function make it a template.
    pub(super) fn at_template(&self) -> bool {
        let mut cursor = self.cursor;
        let mut before = None;
        while let Some((tree, rest)) = cursor.token_tree() {
            if let TokenTree::Group(group) = &tree {
                let is_list = group.delimiter() == Delimiter::Parenthesis;
                return is_list && is_open(group.stream());
            }
            if begins_open(before.as_ref(), &tree, &rest) {
                return true;
            }
            before = Some(tree);
            cursor = rest;
        }
        false
    }

    /// Reads a template after its name.
    pub(super) fn template(
        &mut self,
        head: ItemHead,
        name: Ident,
        (start, from): (Site, Cursor<'_>),
    ) -> Result<Template, Diag> {
        if let Some(gradient) = &head.gradient {
            let message =
                format!("found `#[grad(…)]` before the template `{name}`, expected it before a function");
            let help =
                "a template is differentiated where it is called: put `#[grad]` on a function that calls it";
            let diag = Diag::new(Code::E1007, gradient.site, message).help(help);
            self.diags.push(diag);
        }
        if let Some(bound) = &head.memory {
            let diag = misplaced(bound, &format!("the template `{name}`"));
            self.diags.push(diag.help("put it on a function that calls the template"));
        }
        let declared = self.declared()?;
        let (parameters, _) = self.group(Delimiter::Parenthesis, "`(` and parameters", |parser| {
            parser.template_parameters(&declared)
        })?;
        let site = start.to(self.before());
        if self.at("->") {
            let untyped = parameters.iter().find(|parameter| matches!(parameter.takes, Formal::Any));
            let help = match untyped {
                Some(untyped) => {
                    let name = &untyped.name;
                    format!("give the parameter a type, as in `{name}: f32[2, 3]`; for a template, remove the type of \
                        the result, which is inferred from the body")
                }
                None => "the result of a template is inferred from its body: remove the type, or give every parameter \
                    a type such as `f32[2, N]`".to_owned(),
            };
            return Err(self.unexpected("the body of a template").help(help));
        }
        let body = self.group(Delimiter::Brace, "`{` and a body", |parser| Ok(parser.block_body()))?.0;
        let names: Vec<&Ident> = parameters.iter().map(|parameter| &parameter.name).collect();
        let body = self.with_pullback(body, &names);
        let source = tokens_between(from, self.cursor);
        Ok(Template {
            attributes: head.attributes,
            visibility: head.visibility,
            name,
            declared,
            parameters,
            body,
            home: Home::ThisBlock,
            site,
            source,
        })
    }

    /// Reads `<..B, N, T: float>`.
    fn declared(&mut self) -> Result<Vec<Declared>, Diag> {
        let mut all: Vec<Declared> = Vec::new();
        if self.take("<").is_none() {
            return Ok(all);
        }
        while self.take(">").is_none() {
            let is_pack = self.take("..").is_some();
            let name = self.name("the name of a dimension")?;
            let kind = match (is_pack, self.take(":")) {
                (true, _) => DeclaredKind::Pack,
                (false, None) => DeclaredKind::Dim,
                (false, Some(_)) => self.declared_class()?,
            };
            match all.iter().find(|first| first.name == name) {
                Some(first) => {
                    let diag = defined_twice("name", &name, &first.name);
                    self.diags.push(diag);
                }
                None => all.push(Declared { name, kind }),
            }
            if !self.at(">") && self.take(",").is_none() {
                return Err(self.unexpected("`,` or `>`"));
            }
        }
        Ok(all)
    }

    fn declared_class(&mut self) -> Result<DeclaredKind, Diag> {
        const CLASS: &str = "`float`, `int`, `num`, `any` or `params`";
        let here = self.current_site();
        let name = self.name(CLASS)?;
        match ElementClass::of(&name.to_string()) {
            Some(class) => Ok(DeclaredKind::Elements(class)),
            None if name == PARAMS => Ok(DeclaredKind::Params),
            None => Err(Diag::new(Code::E1007, here, format!("found `{name}`, expected {CLASS}"))),
        }
    }

    fn template_parameters(&mut self, declared: &[Declared]) -> Result<Vec<TemplateParameter>, Diag> {
        let mut parameters: Vec<TemplateParameter> = Vec::new();
        while !self.at_end() {
            let parameter = self.template_parameter(declared)?;
            let names = parameters.iter().map(|first| ("parameter", &first.name));
            let mut names = names.chain(declared.iter().map(|first| ("name", &first.name)));
            match names.find(|(_, first)| **first == parameter.name) {
                Some((what, first)) => {
                    let diag = defined_twice(what, &parameter.name, first);
                    self.diags.push(diag);
                }
                None => parameters.push(parameter),
            }
            self.separator("`,` or `)`")?;
        }
        let has_default = |parameter: &TemplateParameter| {
            matches!(&parameter.takes, Formal::Constant { default: Some(_), .. })
        };
        let first = parameters.iter().position(has_default).unwrap_or(parameters.len());
        if let Some(late) = parameters[first..].iter().find(|parameter| !has_default(parameter)) {
            let message = format!(
                "`{}` has no default and follows `{}`, which has one",
                late.name, parameters[first].name
            );
            return Err(Diag::new(Code::E1007, late.site, message).help("put parameters with defaults last"));
        }
        Ok(parameters)
    }

    fn template_parameter(&mut self, declared: &[Declared]) -> Result<TemplateParameter, Diag> {
        const PARAMETER: &str = "a parameter such as `x: float[..]` or `const axis: axis = -1`";
        let start = self.current_site();
        let is_constant = self.take_word("const").is_some();
        let name = self.name(PARAMETER)?;
        let takes = match (is_constant, self.take(":")) {
            (true, None) => {
                let help = format!("give its kind, as in `const {name}: axis = -1`");
                return Err(self.unexpected("`:`").help(help));
            }
            (true, Some(_)) => self.constant_formal()?,
            (false, None) => Formal::Any,
            (false, Some(_)) if self.at("&") => {
                let help = "a template cannot update in place: return the new value, or give every parameter a type \
                    such as `f32[2, N]`";
                return Err(self.unexpected(PATTERN).help(help));
            }
            (false, Some(_)) => match self.params(declared) {
                Some(name) => Formal::Params(name),
                None => match self.state(declared)? {
                    Some(state) => state,
                    None => Formal::Tensor(self.tensor_pattern(declared)?),
                },
            },
        };
        if !is_constant && self.at("=") {
            let help = format!("only constants have defaults, as in `const {name}: axis = -1`");
            return Err(self.unexpected("`,` or `)`").help(help));
        }
        Ok(TemplateParameter { name, takes, site: start.to(self.before()) })
    }

    /// Reads the name of a class of structs.
    fn params(&mut self, declared: &[Declared]) -> Option<Ident> {
        let (name, _) = self.cursor.ident()?;
        let of_structs = |known: &Declared| known.kind == DeclaredKind::Params && known.name == name;
        declared.iter().any(of_structs).then(|| self.name(PATTERN).ok()).flatten()
    }

    /// Reads `optim::Adam<P>`, if a struct with arguments in `<…>` comes next.
    fn state(&mut self, declared: &[Declared]) -> Result<Option<Formal>, Diag> {
        let before = (self.cursor, self.last_span());
        let name = self.name_or_path(PATTERN);
        let (Ok(name), Some(_)) = (name, self.take("<")) else {
            self.advance(before.1, before.0);
            return Ok(None);
        };
        let over = self.params(declared).ok_or_else(|| {
            let help = match name.is_name() {
                true => OF_STRUCT,
                false => "declare it after the name: `<P: params>`",
            };
            self.unexpected("the name of parameters").help(help)
        })?;
        self.end_of_one()?;
        Ok(Some(Formal::State { name, over }))
    }

    /// Reads `axis = -1`.
    fn constant_formal(&mut self) -> Result<Formal, Diag> {
        const KINDS: &str = "`axis`, `axes`, `dim`, `shape`, `dtype`, `int`, `float`, `fraction` or `bool`";
        let here = self.current_site();
        let name = self.name(KINDS)?;
        let kind = ConstantKind::ALL.into_iter().find(|kind| name == kind.name());
        let kind =
            kind.ok_or_else(|| Diag::new(Code::E1007, here, format!("found `{name}`, expected {KINDS}")))?;
        let default = match self.take("=") {
            Some(_) => self.default_value(),
            None => None,
        };
        Ok(Formal::Constant { kind, default })
    }

    /// Reads `float[.., N]`.
    fn tensor_pattern(&mut self, declared: &[Declared]) -> Result<TensorPattern, Diag> {
        let here = self.current_site();
        let name = self.name(PATTERN)?;
        let text = name.to_string();
        let variable = declared.iter().find(|variable| variable.name == name);
        let elements = match (variable, ElementClass::of(&text), DType::from_name(&text)) {
            (Some(Declared { kind: DeclaredKind::Elements(_), .. }), ..) => ElementPattern::Variable(name),
            (_, Some(class), _) => ElementPattern::Class(class),
            (_, None, Some(dtype)) => ElementPattern::Fixed(dtype),
            (_, None, None) => {
                let message = format!("found `{name}`, expected {PATTERN}");
                let help = match text.starts_with(|first: char| first.is_uppercase()) {
                    true => OF_STRUCT,
                    false => {
                        "element types are `float`, `int`, `num`, `any`, those of tensors such as `f32`, and \
                            variables declared as `<T: float>`"
                    }
                };
                return Err(Diag::new(Code::E1007, here, message).help(help));
            }
        };
        let (mut pack, mut dims) = (None, Vec::new());
        if self.at_group(Delimiter::Bracket) {
            self.group(Delimiter::Bracket, PATTERN, |parser| {
                while !parser.at_end() {
                    let here = parser.current_site();
                    if parser.take("..").is_none() {
                        dims.push(parser.dim_expr()?);
                    } else if pack.is_some() || !dims.is_empty() {
                        let what = if pack.is_some() { "a second `..`" } else { "`..` after a dimension" };
                        let message = format!("found {what}, expected `..` once and first");
                        return Err(Diag::new(Code::E1007, here, message));
                    } else {
                        pack = Some(parser.pack(declared)?);
                    }
                    parser.separator("an operator, `,` or `]`")?;
                }
                Ok(())
            })?;
        }
        Ok(TensorPattern { elements, pack, dims, site: here.to(self.before()) })
    }

    /// Reads the tokens after `..`.
    fn pack(&mut self, declared: &[Declared]) -> Result<Pack, Diag> {
        if self.at_end() || self.at(",") {
            return Ok(Pack::Any);
        }
        let here = self.current_site();
        let name = self.name("`,`, `]` or the name of leading dimensions")?;
        match declared.iter().any(|known| known.name == name && known.kind == DeclaredKind::Pack) {
            true => Ok(Pack::Named(name)),
            false => {
                let message = format!("`..{name}` is not declared");
                Err(Diag::new(Code::E2002, here, message)
                    .help(format!("declare it after the name: `<..{name}>`")))
            }
        }
    }
}

/// Whether a list of parameters is that of a template.
fn is_open(parameters: TokenStream) -> bool {
    let mut depth = 0_usize;
    // Tokens in angle brackets are dimensions of a struct.
    let is_outside = |tree: &TokenTree| match tree {
        TokenTree::Punct(punct) if punct.as_char() == '<' => {
            depth += 1;
            false
        }
        TokenTree::Punct(punct) if punct.as_char() == '>' => {
            depth = depth.saturating_sub(1);
            false
        }
        TokenTree::Punct(_) | TokenTree::Ident(_) | TokenTree::Literal(_) | TokenTree::Group(_) => depth == 0,
    };
    let trees: Vec<TokenTree> = parameters.into_iter().filter(is_outside).collect();
    let is = |at: usize, sign: char| matches!(trees.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
    let ends = |at: usize| at == trees.len() || is(at, ',');
    trees.iter().enumerate().any(|(at, tree)| match tree {
        TokenTree::Ident(word) => {
            let begins = at == 0 || is(at - 1, ',');
            let is_class = at > 0 && is(at - 1, ':') && ElementClass::of(&word.to_string()).is_some();
            begins && (word == "const" || word != "self" && ends(at + 1)) || is_class
        }
        TokenTree::Group(group) => {
            let mut inside = group.stream().into_iter();
            group.delimiter() == Delimiter::Bracket
                && matches!((inside.next(), inside.next()), (Some(a), Some(b)) if is_dot(&a) && is_dot(&b))
        }
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Whether a token in `<…>` declares something other than a dimension.
fn begins_open(before: Option<&TokenTree>, tree: &TokenTree, rest: &Cursor<'_>) -> bool {
    let is_colon = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ':');
    match tree {
        TokenTree::Ident(word) => {
            let word = word.to_string();
            before.is_some_and(is_colon) && (word == PARAMS || ElementClass::of(&word).is_some())
        }
        TokenTree::Punct(_) => is_dot(tree) && rest.punct().is_some_and(|(punct, _)| punct.as_char() == '.'),
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    }
}

fn is_dot(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == '.')
}
