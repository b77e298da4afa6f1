//! Transforms of expressions among Rust variables: `grad(a * self.b, wrt = (a, self.b))`.

use proc_macro2::{Delimiter, Ident};

use super::levels::{LevelKind, OpenDerivative, ParsedOperand, State};
use super::parser::Parser;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{Derivative, GradientKind, NodeKind, WrtPlace};

const PLACE: &str = "a variable or a field";

impl Parser<'_> {
    /// Enters the parentheses after the name of a transform.
    pub(super) fn enter_derivative(&mut self, name: &Ident) -> Result<State, Diag> {
        let Some(kind) = GradientKind::ALL.into_iter().find(|kind| name == kind.name()) else {
            let message = format!("found `{name}`, which is only allowed in functions");
            let help = "write a function of a block that calls it, `mind! { fn … }`, or a closure";
            return Err(Diag::new(Code::E1007, Site::token(name.span()), message).help(help));
        };
        let open = OpenDerivative { kind, start: Site::token(name.span()) };
        Ok(self.enter(Delimiter::Parenthesis, LevelKind::Derivative(open)))
    }

    /// Reads `, wrt = …` after the differentiated expression, and leaves the parentheses.
    pub(super) fn behind_differentiated(&mut self, value: ParsedOperand) -> Result<State, Diag> {
        let LevelKind::Derivative(OpenDerivative { kind, start }) = self.level().kind else {
            unreachable!("the caller has seen the transform")
        };
        let help =
            format!("name the variables to differentiate with respect to: `{}(…, wrt = …)`", kind.name());
        if self.take(",").is_none() || self.take_word("wrt").is_none() {
            return Err(self.unexpected("`, wrt = …`").help(help));
        }
        self.expect("=")?;
        let (wrt, tuple, wrt_site) = self.wrt_places()?;
        self.separator("`)`")?;
        self.expect_end("`)`").map_err(|diag| diag.help("write several in parentheses: `wrt = (…, …)`"))?;
        let site = start.to(self.leave().1.expect("a transform has parentheses"));
        let value = value.id;
        let derivative = Derivative { kind, value, wrt, tuple, wrt_site, cotangent: None, site };
        let called = self.at_group(Delimiter::Parenthesis);
        match kind {
            GradientKind::Vjp if called => {
                Ok(self.enter(Delimiter::Parenthesis, LevelKind::Cotangent(derivative)))
            }
            GradientKind::Vjp => {
                let help = "give the cotangent: `vjp(…, wrt = …)(cotangent)`";
                Err(self.unexpected("`(` and the cotangent").help(help))
            }
            GradientKind::Grad | GradientKind::ValueAndGrad if called => {
                let help = "a gradient of an expression takes no arguments: remove them";
                Err(self.unexpected("an operator").help(help))
            }
            GradientKind::Grad | GradientKind::ValueAndGrad => {
                Ok(State::Behind(self.add(NodeKind::Derivative(derivative), site)))
            }
        }
    }

    /// Leaves the parentheses around a cotangent.
    pub(super) fn behind_cotangent(&mut self, cotangent: ParsedOperand) -> Result<State, Diag> {
        self.separator("an operator or `)`")?;
        self.expect_end("`)`").map_err(|diag| diag.help("write several cotangents as one tuple"))?;
        let (kind, site) = self.leave();
        let (LevelKind::Cotangent(derivative), Some(site)) = (kind, site) else {
            unreachable!("the caller has seen the parentheses of the cotangent")
        };
        let whole = derivative.site.to(site);
        let derivative = Derivative { cotangent: Some(cotangent.id), ..derivative };
        Ok(State::Behind(self.add(NodeKind::Derivative(derivative), whole)))
    }

    /// Reads `a`, `zero_ok self.a` or `(a, self.b)`.
    fn wrt_places(&mut self) -> Result<(Vec<WrtPlace>, bool, Site), Diag> {
        if !self.at_group(Delimiter::Parenthesis) {
            let start = self.current_site();
            let place = self.wrt_place()?;
            return Ok((vec![place], false, start.to(self.before())));
        }
        let ((places, comma), site) = self.group(Delimiter::Parenthesis, PLACE, |parser| {
            let (mut places, mut comma) = (vec![parser.wrt_place()?], false);
            while !parser.at_end() {
                comma |= parser.at(",");
                parser.separator("`.`, `,` or `)`")?;
                if !parser.at_end() {
                    places.push(parser.wrt_place()?);
                }
            }
            Ok((places, comma))
        })?;
        Ok((places, comma, site))
    }

    fn wrt_place(&mut self) -> Result<WrtPlace, Diag> {
        let literal = self.cursor.literal().map(|(literal, _)| literal.to_string());
        let first = self.place_name(PLACE).map_err(|diag| match literal {
            Some(text) if text.starts_with('"') => {
                diag.help(format!("write variables without quotes: `{}`", text.trim_matches('"')))
            }
            Some(_) => diag.help("`wrt` takes names of variables: write `wrt = x`"),
            None => diag,
        })?;
        // `zero_ok` alone may be a variable's name.
        if first == "zero_ok" && !self.at_end() && !self.at(",") && !self.at(".") {
            let name = self.place_name(PLACE)?;
            return Ok(WrtPlace { place: self.place(name)?.id, zero_ok: true });
        }
        Ok(WrtPlace { place: self.place(first)?.id, zero_ok: false })
    }

    /// Reads the fields after a name.
    fn place(&mut self, name: Ident) -> Result<ParsedOperand, Diag> {
        let site = Site::token(name.span());
        let mut place = self.add(NodeKind::Name(name), site);
        while self.take(".").is_some() {
            place = match self.tuple_fields(place)? {
                Some(place) => place,
                None => {
                    let name = self.name("a field")?;
                    self.member(place, name)?
                }
            };
        }
        Ok(place)
    }
}
