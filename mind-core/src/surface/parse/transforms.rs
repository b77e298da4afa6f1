//! `grad(f, wrt = a)(x)`, `vmap(f, over = a, axis = 1)(x)`, and the lists of `wrt`, `over` and `#[grad(…)]`.

use proc_macro2::{Delimiter, Ident, TokenTree};

use super::levels::CallTarget;
use super::parser::{Parser, is_keyword, is_transform};
use crate::diag::{Code, Diag, Site};
use crate::jacobian::Mode;
use crate::surface::ast::{Callee, Transform, TransformKind, Wrt, WrtTarget};

const EXPECTED: &str = "the name of a parameter";
const FUNCTION: &str = "the name of a function in this block";

/// The help for an expression in place of a function.
fn of_expression(kind: TransformKind) -> String {
    let (name, arguments) = (kind.name(), kind.arguments());
    let (function, called) = match kind {
        TransformKind::AssociativeScan { .. } => ("fn combined(a: f32, b: f32) -> f32 { … }", "combined"),
        TransformKind::Checkpoint => ("fn layer(x: f32[8]) -> f32[8] { … }", "layer"),
        _ => ("fn loss(…) -> f32 { … }", "loss"),
    };
    format!(
        "`{name}` takes a function, not an expression: write `{function}` in this block, and \
         `{name}({called}{arguments})(…)`"
    )
}

/// The transform of a name.
pub(super) fn kind_of(name: &Ident) -> TransformKind {
    let mut kinds = TransformKind::ALL.into_iter();
    kinds.find(|kind| name == kind.name()).expect("the caller checked that this is the name of a transform")
}

impl Parser<'_> {
    /// Reads the callee of an application whose outermost transform is `name`, up to the arguments.
    pub(super) fn transformed(&mut self, name: &Ident) -> Result<CallTarget, Diag> {
        let mut transforms = Vec::new();
        let function = self.transform(name, &mut transforms)?;
        if !self.at_group(Delimiter::Parenthesis) {
            let arguments = kind_of(name).arguments();
            let help = format!("call the result: `{name}({function}{arguments})(…)`");
            return Err(self.unexpected("`(` and the arguments of the function").help(help));
        }
        Ok(CallTarget::Transformed { transforms, function })
    }

    /// Reads `(f, wrt = a)` after `name`, inner transforms first. Returns `f`.
    fn transform(&mut self, name: &Ident, transforms: &mut Vec<Transform>) -> Result<Callee, Diag> {
        let mut kind = kind_of(name);
        let ((function, wrt), site) = self.group(Delimiter::Parenthesis, "`(`", |parser| {
            let mut function = match parser.path_before(|behind| behind.eof() || behind.punct().is_some()) {
                Some(path) => path,
                None => match parser.name(FUNCTION) {
                    Ok(name) => name.into(),
                    // The error for a closure already has help.
                    Err(diag) if parser.at("|") || parser.at("||") => return Err(diag),
                    Err(diag) => return Err(diag.help(of_expression(kind))),
                },
            };
            let next = kind.list().map_or_else(|| "`)`".to_owned(), |list| format!("`, {list} = …`"));
            if parser.at_group(Delimiter::Parenthesis) {
                function = match is_transform(&function.name) {
                    true => parser.transform(&function.name, transforms)?,
                    false => {
                        let arguments = kind.arguments();
                        let help = match parser.at_names() {
                            true => format!("put the arguments last: `{name}({function}{arguments})(…)`"),
                            false => of_expression(kind),
                        };
                        let next = kind.list().map(|list| format!("`,` and `{list} = …`"));
                        return Err(parser.unexpected(&next.unwrap_or("`)`".to_owned())).help(help));
                    }
                };
            }
            if !parser.at(",") && !parser.at_end() {
                return Err(parser.unexpected(&next).help(of_expression(kind)));
            }
            let wrt = match kind.list() {
                Some(list) => parser.listed(kind, list, &function)?,
                None => Wrt { targets: Vec::new(), tuple: false, site: Site::Nowhere },
            };
            let behind = match kind.options() {
                [] => "`)`".to_owned(),
                options => format!("`{} = …` or `)`", options.join(" = …`, `")),
            };
            parser.separator(&behind)?;
            while !parser.at_end() && !kind.options().is_empty() {
                kind = parser.option(kind, &behind)?;
                parser.separator(&behind)?;
            }
            parser.expect_end(&behind).map_err(|diag| match (&wrt.targets[..], parser.cursor.ident()) {
                ([target], Some((next, _))) if !is_keyword(&next.to_string()) => {
                    let list = kind.list().unwrap_or_default();
                    diag.help(format!(
                        "write several parameters in parentheses: `{list} = ({}, {next})`",
                        target.path
                    ))
                }
                _ => diag,
            })?;
            Ok((function, wrt))
        })?;
        let site = Site::token(name.span()).to(site);
        transforms.push(Transform { kind, wrt, site });
        Ok(function)
    }

    /// Reads `, wrt = a` after the function of a transform.
    fn listed(&mut self, kind: TransformKind, list: &str, function: &Callee) -> Result<Wrt, Diag> {
        let missing = || {
            let purpose = match kind {
                TransformKind::Vmap { .. } => "map over",
                _ => "differentiate with respect to",
            };
            let name = kind.name();
            format!("name the parameters to {purpose}: `{name}({function}, {list} = …)`")
        };
        if self.take(",").is_none() || self.at_end() {
            return Err(self.unexpected(&format!("`, {list} = …`")).help(missing()));
        }
        if self.take_word(list).is_none() {
            return Err(self.unexpected(&format!("`{list} = …`")).help(missing()));
        }
        let equals = |diag: Diag| diag.help(format!("name an argument with `=`: write `{list} = …`"));
        self.expect("=").map_err(equals)?;
        let wrt = self.wrt()?;
        let zero = wrt.targets.iter().find(|target| target.zero_ok);
        if let (TransformKind::Vmap { .. }, Some(target)) = (kind, zero) {
            let message = "found `zero_ok` in `over`, expected the name of a parameter";
            return Err(Diag::new(Code::E1007, target.path.site(), message)
                .help("`zero_ok` is for parameters to differentiate with respect to"));
        }
        Ok(wrt)
    }

    /// Reads `axis = 1`, `out = 1`, `mode = forward` or `reverse = true`. Returns the transform with this option.
    fn option(&mut self, kind: TransformKind, expected: &str) -> Result<TransformKind, Diag> {
        let mut options = kind.options().iter().copied();
        let Some(option) = options.find(|option| self.take_word(option).is_some()) else {
            return Err(self.unexpected(expected));
        };
        let equals = |diag: Diag| diag.help(format!("name an argument with `=`: write `{option} = …`"));
        self.expect("=").map_err(equals)?;
        Ok(match kind {
            TransformKind::Vmap { out, .. } if option == "axis" => {
                TransformKind::Vmap { axis: self.axis()?, out }
            }
            TransformKind::Vmap { axis, .. } => TransformKind::Vmap { axis, out: self.axis()? },
            TransformKind::Jacobian { .. } => {
                let mut modes = Mode::ALL.into_iter();
                let mode = modes.find(|mode| self.take_word(mode.name()).is_some());
                let names = Mode::ALL.map(|mode| format!("`{}`", mode.name())).join(" or ");
                TransformKind::Jacobian { mode: Some(mode.ok_or_else(|| self.unexpected(&names))?) }
            }
            TransformKind::AssociativeScan { .. } => {
                let reverse = ["true", "false"].into_iter().find(|word| self.take_word(word).is_some());
                let reverse = reverse.ok_or_else(|| self.unexpected("`true` or `false`"))?;
                TransformKind::AssociativeScan { reverse: reverse == "true" }
            }
            TransformKind::Gradient(_)
            | TransformKind::Jvp
            | TransformKind::Hessian
            | TransformKind::Hvp
            | TransformKind::Checkpoint => {
                unreachable!("it has no options")
            }
        })
    }

    /// Reads the number of an axis.
    pub(super) fn axis(&mut self) -> Result<i64, Diag> {
        let is_negative = self.take("-").is_some();
        let number = self.cursor.literal().and_then(|(literal, _)| match syn::Lit::new(literal) {
            syn::Lit::Int(number) => number.base10_parse::<i64>().ok(),
            _ => None,
        });
        let Some(number) = number else { return Err(self.unexpected("the number of an axis")) };
        self.skip_token();
        Ok(if is_negative { -number } else { number })
    }

    /// Whether the next bracket contains only names, as the arguments of a function may.
    fn at_names(&self) -> bool {
        let Some((inside, ..)) = self.cursor.group(Delimiter::Parenthesis) else { return false };
        inside.token_stream().into_iter().all(|token| match token {
            TokenTree::Ident(_) => true,
            TokenTree::Punct(punct) => punct.as_char() == ',',
            TokenTree::Group(_) | TokenTree::Literal(_) => false,
        })
    }

    /// Reads `a`, `zero_ok a` or `(a, zero_ok b)`.
    fn wrt(&mut self) -> Result<Wrt, Diag> {
        if self.at_group(Delimiter::Parenthesis) {
            let ((targets, tuple), site) = self.group(Delimiter::Parenthesis, EXPECTED, Self::wrt_targets)?;
            return checked(Wrt { targets, tuple, site });
        }
        let start = self.current_site();
        let target = self.wrt_target()?;
        Ok(Wrt { targets: vec![target], tuple: false, site: start.to(self.before()) })
    }

    /// Reads the list of `#[grad(a, b)]`, with its parentheses.
    pub(super) fn gradient_attribute(&mut self) -> Result<Wrt, Diag> {
        if !self.at_group(Delimiter::Parenthesis) {
            let diag = self.unexpected("`(` and names of parameters");
            return Err(diag.help(
                "name the parameters to differentiate with respect to, as in `#[grad(x)]` or `#[grad(x, y)]`",
            ));
        }
        let ((targets, tuple), site) =
            self.group(Delimiter::Parenthesis, "names of parameters", |parser| {
                let is_argument = parser.at_word("wrt");
                parser.wrt_targets().map_err(|diag| match is_argument {
                    true => {
                        diag.help("give only the names of parameters, as in `#[grad(x)]` or `#[grad(x, y)]`")
                    }
                    false => diag,
                })
            })?;
        checked(Wrt { targets, tuple, site })
    }

    fn wrt_targets(&mut self) -> Result<(Vec<WrtTarget>, bool), Diag> {
        let (mut targets, mut comma) = (vec![self.wrt_target()?], false);
        loop {
            comma |= self.at(",");
            self.separator("`,` or `)`")?;
            if self.at_end() {
                return Ok((targets, comma));
            }
            targets.push(self.wrt_target()?);
        }
    }

    /// The name in the next token, if that is a string literal that contains one.
    fn quoted_name(&self) -> Option<String> {
        let (literal, _) = self.cursor.literal()?;
        let syn::Lit::Str(text) = syn::Lit::new(literal) else { return None };
        syn::parse_str::<Ident>(&text.value()).ok().map(|name| name.to_string())
    }

    fn wrt_target(&mut self) -> Result<WrtTarget, Diag> {
        // `zero_ok` alone may be a parameter's name.
        let before = (self.cursor, self.last_span());
        let zero_ok = self.take_word("zero_ok").is_some();
        if zero_ok && (self.at_end() || self.at(",") || self.at(".")) {
            self.advance(before.1, before.0);
            return Ok(WrtTarget { path: self.path(EXPECTED)?, zero_ok: false });
        }
        let path = self.path(EXPECTED).map_err(|diag| match diag.help {
            None => diag.help("`wrt` takes names of parameters: write `wrt = x` or `wrt = (x, y)`"),
            Some(_) => diag,
        });
        // `wrt = "x"` means the parameter of that name.
        let path = path.map_err(|diag| match self.quoted_name() {
            Some(name) => diag.help(format!("write parameters without quotes: `{name}`")),
            None => diag,
        })?;
        Ok(WrtTarget { path, zero_ok })
    }
}

/// Returns an error for a parameter that is listed twice.
fn checked(wrt: Wrt) -> Result<Wrt, Diag> {
    for (i, target) in wrt.targets.iter().enumerate() {
        if let Some(first) = wrt.targets[..i].iter().find(|first| first.path.overlaps(&target.path)) {
            let message = format!("`{}` is listed twice", target.path);
            return Err(Diag::new(Code::E2008, target.path.site(), message)
                .note_at(first.path.site(), "it is listed first"));
        }
    }
    Ok(wrt)
}
