//! Extents: `N`, `2 * N + 1`, `(H - K) / 2 + 1`.

use proc_macro2::Delimiter;

use super::literals::number;
use super::parser::Parser;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{DimExpr, DimOperator, DimStep, DimStepKind, NumberValue};

const EXPECTED: &str = "a dimension: an integer, a symbol or a constant";

impl Parser<'_> {
    /// Reads an extent.
    pub(super) fn dim_expr(&mut self) -> Result<DimExpr, Diag> {
        let mut steps = Vec::new();
        let start = self.here();
        self.dim_sum(&mut steps)?;
        Ok(DimExpr { steps, site: start.to(self.before()) })
    }

    fn dim_sum(&mut self, steps: &mut Vec<DimStep>) -> Result<(), Diag> {
        self.dim_product(steps)?;
        while let Some((kind, site)) = self.dim_operator(&[("+", DimOperator::Add), ("-", DimOperator::Sub)]) {
            self.dim_product(steps)?;
            steps.push(DimStep { kind: DimStepKind::Operator(kind), site });
        }
        Ok(())
    }

    fn dim_product(&mut self, steps: &mut Vec<DimStep>) -> Result<(), Diag> {
        self.dim_atom(steps)?;
        while let Some((kind, site)) = self.dim_operator(&[("*", DimOperator::Mul), ("/", DimOperator::Div)]) {
            self.dim_atom(steps)?;
            steps.push(DimStep { kind: DimStepKind::Operator(kind), site });
        }
        Ok(())
    }

    fn dim_operator(&mut self, among: &[(&str, DimOperator)]) -> Option<(DimOperator, Site)> {
        among.iter().find_map(|(symbol, kind)| self.take(symbol).map(|site| (*kind, site)))
    }

    fn dim_atom(&mut self, steps: &mut Vec<DimStep>) -> Result<(), Diag> {
        for delimiter in [Delimiter::None, Delimiter::Parenthesis] {
            if self.at_group(delimiter) {
                return self
                    .group(delimiter, EXPECTED, |parser| {
                        parser.dim_sum(steps)?;
                        parser.expect_end("an operator or `)`")
                    })
                    .map(|_| ());
            }
        }
        if let Some((operator @ ("?" | "_" | "-"), _, _)) = self.peek_operator() {
            let help = match operator {
                "-" => "a dimension is at least 1",
                _ => "declare a symbol for an unknown dimension: `fn f<N>(x: f32[N])`",
            };
            return Err(self.unexpected(EXPECTED).help(help));
        }
        if self.at_word("_") {
            let help = "declare a symbol for an unknown dimension: `fn f<N>(x: f32[N])`";
            return Err(self.unexpected(EXPECTED).help(help));
        }
        let Some((literal, _)) = self.cursor.literal() else {
            let name = self.name(EXPECTED)?;
            let site = Site::token(name.span());
            steps.push(DimStep { kind: DimStepKind::Name(name), site });
            return Ok(());
        };
        let site = Site::token(literal.span());
        match number(literal, false)? {
            number if number.suffix.is_some() => {
                Err(Diag::new(Code::E1007, site, format!("found `{}`, expected {EXPECTED}", number.text))
                    .help("write the integer without a suffix"))
            }
            number => match number.value {
                NumberValue::Integer(value) => {
                    self.take_literal();
                    steps.push(DimStep { kind: DimStepKind::Integer(value), site });
                    Ok(())
                }
                NumberValue::Float(_) => Err(self.unexpected(EXPECTED)),
            },
        }
    }
}
