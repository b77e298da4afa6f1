//! `grad(f, wrt = a)(x)`, and the lists of `wrt` and `#[grad(…)]`.

use proc_macro2::{Delimiter, Ident, TokenTree};

use super::levels::Target;
use super::parser::{Parser, is_keyword, is_transform};
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{Callee, Transform, TransformKind, Wrt, WrtTarget};

const EXPECTED: &str = "the name of a parameter";
const FUNCTION: &str = "the name of a function in this block";

/// The help for an expression that is differentiated in place of a function.
fn of_expression(transform: &Ident) -> String {
    format!(
        "`{transform}` takes a function, not an expression: write `fn loss(…) -> f32 {{ … }}` in this block, and \
         `{transform}(loss, wrt = …)(…)`"
    )
}

impl Parser<'_> {
    /// Reads the callee of an application whose outermost transform is `name`, up to the arguments.
    pub(super) fn transformed(&mut self, name: &Ident) -> Result<Target, Diag> {
        let mut transforms = Vec::new();
        let function = self.transform(name, &mut transforms)?;
        if !self.at_group(Delimiter::Parenthesis) {
            let help = format!("call the result: `{name}({function}, wrt = …)(…)`");
            return Err(self.unexpected("`(` and the arguments of the function").help(help));
        }
        Ok(Target::Transformed { transforms, function })
    }

    /// Reads `(f, wrt = a)` after `name`, inner transforms first. Returns `f`.
    fn transform(&mut self, name: &Ident, transforms: &mut Vec<Transform>) -> Result<Callee, Diag> {
        let kind = TransformKind::ALL
            .into_iter()
            .find(|kind| name == kind.name())
            .expect("the caller checked that this is the name of a transform");
        let ((function, wrt), site) = self.group(Delimiter::Parenthesis, "`(`", |parser| {
            let mut function = match parser.path_before(|behind| behind.eof() || behind.punct().is_some()) {
                Some(path) => path,
                None => match parser.name(FUNCTION) {
                    Ok(name) => name.into(),
                    // The error for a closure already has help.
                    Err(diag) if parser.at("|") || parser.at("||") => return Err(diag),
                    Err(diag) => return Err(diag.help(of_expression(name))),
                },
            };
            if parser.at_group(Delimiter::Parenthesis) {
                function = match is_transform(&function.name) {
                    true => parser.transform(&function.name, transforms)?,
                    false => {
                        let help = match parser.at_names() {
                            true => format!("put the arguments last: `{name}({function}, wrt = …)(…)`"),
                            false => of_expression(name),
                        };
                        return Err(parser.unexpected("`,` and `wrt = …`").help(help));
                    }
                };
            }
            if !parser.at(",") && !parser.at_end() {
                return Err(parser.unexpected("`, wrt = …`").help(of_expression(name)));
            }
            let missing = || {
                format!(
                    "name the parameters to differentiate with respect to: `{name}({function}, wrt = \
                …)`"
                )
            };
            if parser.take(",").is_none() || parser.at_end() {
                return Err(parser.unexpected("`, wrt = …`").help(missing()));
            }
            if parser.take_word("wrt").is_none() {
                return Err(parser.unexpected("`wrt = …`").help(missing()));
            }
            parser.expect("=").map_err(|diag| diag.help("name an argument with `=`: write `wrt = …`"))?;
            let wrt = parser.wrt()?;
            parser.separator("`)`")?;
            parser.expect_end("`)`").map_err(|diag| match (&wrt.targets[..], parser.cursor.ident()) {
                ([target], Some((next, _))) if !is_keyword(&next.to_string()) => {
                    let list = format!("wrt = ({}, {next})", target.path);
                    diag.help(format!("write several parameters in parentheses: `{list}`"))
                }
                _ => diag,
            })?;
            Ok((function, wrt))
        })?;
        let site = Site::token(name.span()).to(site);
        transforms.push(Transform { kind, wrt, site });
        Ok(function)
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
        let start = self.here();
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
            let message = format!("`{}` is differentiated with respect to twice", target.path);
            return Err(Diag::new(Code::E2008, target.path.site(), message)
                .note_at(first.path.site(), "it is listed first"));
        }
    }
    Ok(wrt)
}
