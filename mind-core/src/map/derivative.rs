//! Derivatives of elementwise functions, and other formulas, as text.
//!
//! A text is an expression over the names of the operands, the result `y` and its cotangent `dy`, such as
//! `dy * (1.0 - y * y)`. It contains numbers, `+ - * /`, a minus sign, parentheses and calls of other rows by their
//! mnemonics. `like(dy, x)` is `dy` converted to the element type of `x`. A [`Calculus`] evaluates the text from left
//! to right.
//!
//! A derivative is linear in `dy`. A cotangent of 0 contributes 0 even where a factor is infinite or NaN, so that an
//! element that a mask excludes does not change a gradient. For this reason a product or quotient with a factor that
//! depends on `dy` uses the function that [keeps zeros](super::Row::keeps_zeros).

use super::{Map, Row, Tightness};

/// Makes the values of a formula, such as instructions of a module.
pub trait Calculus {
    /// A value.
    type Value: Copy + PartialEq;
    /// The reason why a value cannot be made.
    type Error;

    /// Applies a function to values.
    ///
    /// # Errors
    /// If the value cannot be made.
    fn apply(&mut self, map: Map, operands: &[Self::Value]) -> Result<Self::Value, Self::Error>;

    /// A single number of the element type of the value `like`.
    ///
    /// # Errors
    /// If the value cannot be made.
    fn number(&mut self, number: f64, like: Self::Value) -> Result<Self::Value, Self::Error>;

    /// Whether all elements of a value are known to be finite and not 0, as in most constants.
    fn is_finite_nonzero(&mut self, value: Self::Value) -> bool;

    /// Converts `value` to the element type of `other`.
    ///
    /// # Errors
    /// If the value cannot be made.
    fn like(&mut self, value: Self::Value, other: Self::Value) -> Result<Self::Value, Self::Error>;
}

/// The values that a derivative is computed from.
#[derive(Clone, Copy)]
pub struct DerivativeInputs<'a, V> {
    /// The function.
    pub row: &'a Row,
    /// Its operands.
    pub operands: &'a [V],
    /// Its result.
    pub y: V,
    /// The cotangent of the result.
    pub dy: V,
}

/// The contribution of `dy` to the cotangent of the operand at `position`.
///
/// # Errors
/// The errors of the calculus.
///
/// # Panics
/// If the text of the row cannot be read, which a test of all rows excludes.
pub fn evaluate<C: Calculus>(
    calculus: &mut C,
    given: DerivativeInputs<'_, C::Value>,
    position: usize,
) -> Result<C::Value, C::Error> {
    let DerivativeInputs { row, operands, y, dy } = given;
    let formals = row.formals.iter().copied().zip(operands.iter().copied());
    let names: Vec<_> = [("dy", dy), ("y", y)].into_iter().chain(formals).collect();
    adjoint(calculus, row.derivative[position], &names)
}

/// The value of a formula that is linear in the name `dy`. It is 0 where `dy` is 0. Its numbers have the element type
/// of the first name.
///
/// # Errors
/// The errors of the calculus.
///
/// # Panics
/// If the text cannot be read or names something else.
pub fn adjoint<C: Calculus>(
    calculus: &mut C,
    text: &'static str,
    names: &[(&str, C::Value)],
) -> Result<C::Value, C::Error> {
    Ok(adjoint_of(calculus, text, names, &["dy"])?.0)
}

/// As [`adjoint`], with several names that are linear in the cotangent. Also returns whether the value depends on them.
///
/// # Errors
/// The errors of the calculus.
///
/// # Panics
/// If the text cannot be read or names something else.
pub fn adjoint_of<C: Calculus>(
    calculus: &mut C,
    text: &'static str,
    names: &[(&str, C::Value)],
    linear: &[&str],
) -> Result<(C::Value, bool), C::Error> {
    let FormulaTerm { value, is_linear } = evaluate_text(calculus, text, names, linear)?;
    Ok((value, is_linear))
}

/// The value of a formula over named values. Its numbers have the element type of the first name.
///
/// # Errors
/// The errors of the calculus.
///
/// # Panics
/// If the text cannot be read or names something else.
pub fn formula<C: Calculus>(
    calculus: &mut C,
    text: &'static str,
    names: &[(&str, C::Value)],
) -> Result<C::Value, C::Error> {
    Ok(evaluate_text(calculus, text, names, &[])?.value)
}

fn evaluate_text<C: Calculus>(
    calculus: &mut C,
    text: &'static str,
    names: &[(&str, C::Value)],
    linear: &[&str],
) -> Evaluated<C> {
    let mut evaluator = Evaluator { calculus, names, linear, rest: text };
    let value = evaluator.sum()?;
    assert!(evaluator.rest.is_empty(), "`{}` is left of the formula `{text}`", evaluator.rest);
    Ok(value)
}

/// Reads and evaluates a text in one pass.
struct Evaluator<'a, C: Calculus> {
    calculus: &'a mut C,
    names: &'a [(&'a str, C::Value)],
    /// The names whose zeros are kept.
    linear: &'a [&'a str],
    rest: &'static str,
}

/// A part of a formula.
struct FormulaTerm<V> {
    value: V,
    /// Whether it depends on the cotangent.
    is_linear: bool,
}

/// A part of a formula in this calculus, or the error of the calculus.
type Evaluated<C> = Result<FormulaTerm<<C as Calculus>::Value>, <C as Calculus>::Error>;

impl<C: Calculus> Evaluator<'_, C> {
    fn sum(&mut self) -> Evaluated<C> {
        let mut sum = self.product()?;
        while let Some(map) = self.operator(Tightness::Additive) {
            let rhs = self.product()?;
            sum = self.apply(map, &[sum, rhs])?;
        }
        Ok(sum)
    }

    fn product(&mut self) -> Evaluated<C> {
        let mut product = self.factor()?;
        while let Some(map) = self.operator(Tightness::Multiplicative) {
            let rhs = self.factor()?;
            let factors = [product, rhs];
            let map = match map.keeping_zeros() {
                Some(keeping) if self.needs(keeping, &factors) => keeping,
                Some(_) | None => map,
            };
            product = self.apply(map, &factors)?;
        }
        Ok(product)
    }

    /// Whether the function that keeps zeros may differ from the plain one where the cotangent is 0.
    fn needs(&mut self, keeping: Map, factors: &[FormulaTerm<C::Value>]) -> bool {
        let zeros = keeping.row().keeps_zeros.map_or(&[][..], |keeps| keeps.of);
        zeros.iter().any(|at| factors[*at].is_linear)
            && !factors.iter().any(|factor| self.calculus.is_finite_nonzero(factor.value))
    }

    fn apply(&mut self, map: Map, operands: &[FormulaTerm<C::Value>]) -> Evaluated<C> {
        let values: Vec<_> = operands.iter().map(|operand| operand.value).collect();
        let is_linear = operands.iter().any(|operand| operand.is_linear);
        Ok(FormulaTerm { value: self.calculus.apply(map, &values)?, is_linear })
    }

    fn factor(&mut self) -> Evaluated<C> {
        if self.eat("-") {
            let operand = self.factor()?;
            return self.apply(Map::SIGN, &[operand]);
        }
        if self.eat("(") {
            let sum = self.sum()?;
            self.close();
            return Ok(sum);
        }
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number = word.parse().unwrap_or_else(|_| panic!("`{word}` is no number"));
            let value = self.calculus.number(number, self.names[0].1)?;
            return Ok(FormulaTerm { value, is_linear: false });
        }
        if self.eat("(") {
            let mut operands = vec![self.sum()?];
            while self.eat(",") {
                operands.push(self.sum()?);
            }
            self.close();
            if let ("like", [value, other]) = (word, &operands[..]) {
                let converted = self.calculus.like(value.value, other.value)?;
                return Ok(FormulaTerm { value: converted, is_linear: value.is_linear });
            }
            let map = Map::by_mnemonic(word).unwrap_or_else(|| panic!("`{word}` is no row"));
            return self.apply(map, &operands);
        }
        let named = self.names.iter().find(|(name, _)| *name == word);
        let value = named.unwrap_or_else(|| panic!("`{word}` has no value")).1;
        Ok(FormulaTerm { value, is_linear: self.linear.contains(&word) })
    }

    fn operator(&mut self, tightness: Tightness) -> Option<Map> {
        let mut operators = Map::operators().filter(|map| map.row().infix() == Some(tightness));
        operators.find(|map| self.eat(map.row().label))
    }

    fn close(&mut self) {
        assert!(self.eat(")"), "a parenthesis is open before `{}`", self.rest);
    }

    fn eat(&mut self, sign: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(sign) else { return false };
        self.rest = rest.trim_start();
        true
    }

    /// A name or a number.
    fn word(&mut self) -> &'static str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        assert!(!word.is_empty(), "a name or number is missing before `{rest}`");
        self.rest = rest.trim_start();
        word
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Writes formulas as text.
    struct Writer(Vec<String>);

    impl Calculus for Writer {
        type Value = usize;
        type Error = Infallible;

        fn apply(&mut self, map: Map, operands: &[usize]) -> Result<usize, Infallible> {
            assert_eq!(operands.len(), map.row().arity(), "{}", map.row().name);
            let operands: Vec<_> = operands.iter().map(|operand| self.0[*operand].clone()).collect();
            self.0.push(format!("{}({})", map.row().mnemonic, operands.join(", ")));
            Ok(self.0.len() - 1)
        }

        fn is_finite_nonzero(&mut self, value: usize) -> bool {
            self.0[value].parse().is_ok_and(|number: f64| number != 0.0)
        }

        fn like(&mut self, value: usize, other: usize) -> Result<usize, Infallible> {
            self.0.push(format!("like({}, {})", self.0[value], self.0[other]));
            Ok(self.0.len() - 1)
        }

        fn number(&mut self, number: f64, _: usize) -> Result<usize, Infallible> {
            self.0.push(number.to_string());
            Ok(self.0.len() - 1)
        }
    }

    fn written(row: &Row, position: usize) -> String {
        let names = ["y", "dy"].iter().chain(row.formals);
        let mut writer = Writer(names.map(ToString::to_string).collect());
        let operands: Vec<usize> = (2..2 + row.arity()).collect();
        let given = DerivativeInputs { row, operands: &operands, y: 0, dy: 1 };
        let Ok(value) = evaluate(&mut writer, given, position);
        writer.0[value].clone()
    }

    #[test]
    fn every_derivative_can_be_played() {
        for map in Map::ALL {
            let row = map.row();
            assert!(row.derivative.is_empty() || row.derivative.len() == row.arity(), "{}", row.name);
            for position in (0..row.arity()).filter(|position| row.flows_to(*position)) {
                let written = written(row, position);
                assert!(written.contains("dy"), "{}: {written}", row.name);
            }
        }
    }

    #[test]
    fn signs_bind_as_in_the_language() {
        let row = |derivative| Row { derivative, formals: &["x"], ..rows() };
        assert_eq!(written(&row(&["-(dy + y / x)"]), 0), "neg(add(dy, div(y, x)))");
        assert_eq!(written(&row(&["dy - x * 2.5 - -y"]), 0), "sub(sub(dy, mul(x, 2.5)), neg(y))");
        assert_eq!(written(&row(&["relu_grad(dy + y, x)"]), 0), "relu_grad(add(dy, y), x)");
    }

    #[test]
    fn products_with_the_cotangent_keep_its_zeros() {
        let row = |derivative| Row { derivative, formals: &["x"], ..rows() };
        assert_eq!(written(&row(&["dy * (y * x)"]), 0), "mul_keep_zero(dy, mul(y, x))");
        assert_eq!(written(&row(&["x * -dy / y"]), 0), "div_keep_zero(mul_keep_zero(x, neg(dy)), y)");
        assert_eq!(written(&row(&["x / (y * dy)"]), 0), "div(x, mul_keep_zero(y, dy))");
        assert_eq!(written(&row(&["2.0 * dy / 3.0"]), 0), "div(mul(2, dy), 3)");
        assert_eq!(written(&row(&["dy * 0.0"]), 0), "mul_keep_zero(dy, 0)");
    }

    fn rows() -> Row {
        super::super::rows::FLOATS
    }
}
