//! Extents: `N`, `2 * N + 1`, `(H - K) / 2 + 1`.

use proc_macro2::Delimiter;
use syn::Lit;

use super::parser::Parser;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{DimExpr, DimOperator, DimStep, DimStepKind};

const EXPECTED: &str = "a dimension: an integer, a symbol or a constant";

impl Parser<'_> {
    /// Reads an extent.
    pub(super) fn dim_expr(&mut self) -> Result<DimExpr, Diag> {
        let mut steps = Vec::new();
        let start = self.current_site();
        self.dim_sum(&mut steps)?;
        Ok(DimExpr { steps, site: start.to(self.before()) })
    }

    fn dim_sum(&mut self, steps: &mut Vec<DimStep>) -> Result<(), Diag> {
        self.dim_product(steps)?;
        while let Some((kind, site)) = self.dim_operator(&[("+", DimOperator::Add), ("-", DimOperator::Sub)])
        {
            self.dim_product(steps)?;
            steps.push(DimStep { kind: DimStepKind::Operator(kind), site });
        }
        Ok(())
    }

    fn dim_product(&mut self, steps: &mut Vec<DimStep>) -> Result<(), Diag> {
        self.dim_atom(steps)?;
        while let Some((kind, site)) = self.dim_operator(&[("*", DimOperator::Mul), ("/", DimOperator::Div)])
        {
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
        if self.at("-") {
            return Err(self.unexpected(EXPECTED).help(
                "a dimension is at least 1; an unknown dimension is a symbol, \
                declared as `<N>` after the function's name",
            ));
        }
        if self.at("?") || self.at_word("_") {
            let help = "an unknown dimension is a symbol, declared as `<N>` after the function's name";
            return Err(self.unexpected(EXPECTED).help(help));
        }
        let Some((literal, _)) = self.cursor.literal() else {
            let name = self.name_or_path(EXPECTED)?;
            let site = name.site();
            steps.push(DimStep { kind: DimStepKind::Name(name), site });
            return Ok(());
        };
        let site = Site::token(literal.span());
        let value = match Lit::new(literal) {
            Lit::Int(int) if int.suffix().is_empty() => int.base10_digits().parse(),
            Lit::Int(_) => return Err(self.unexpected(EXPECTED).help("write the integer without a suffix")),
            _ => return Err(self.unexpected(EXPECTED)),
        };
        let literal = self.take_literal();
        let value = value.map_err(|_| {
            let text = literal.map_or_else(String::new, |literal| literal.to_string());
            Diag::new(Code::E1005, site, format!("`{text}` is out of range for i64"))
        })?;
        steps.push(DimStep { kind: DimStepKind::Integer(value), site });
        Ok(())
    }
}
