//! Derivatives of functions of elements, and other formulas, as text.
//!
//! A text is an expression over the operands by their names, the result `y` and its cotangent `dy`: numbers, `+ - * /`, a sign,
//! parentheses and calls of other rows by their mnemonics, as `dy * (1.0 - y * y)`; `like(dy, x)` is `dy` in the element type
//! of `x`. It is played from left to right on whatever makes values.
//!
//! A derivative is linear in `dy`, and a cotangent of 0 contributes 0 even where a factor is infinite or NaN: an element that
//! a mask leaves out does not change a gradient. So a product or quotient with a factor that depends on `dy` is played as
//! the function that [keeps zeros](super::Row::keeps_zeros).

use super::{Map, Row, Tightness};

/// What makes the values of a derivative.
pub trait Calculus {
    /// A value.
    type Value: Copy + PartialEq;
    /// Why a value cannot be made.
    type Error;

    /// A function of values.
    ///
    /// # Errors
    /// Where there is none.
    fn apply(&mut self, map: Map, operands: &[Self::Value]) -> Result<Self::Value, Self::Error>;

    /// A single number of the element type of a value.
    ///
    /// # Errors
    /// Where there is none.
    fn number(&mut self, number: f64, like: Self::Value) -> Result<Self::Value, Self::Error>;

    /// Whether all elements of a value are known to be finite and not 0, as those of most constants.
    fn is_finite_nonzero(&mut self, value: Self::Value) -> bool;

    /// A value converted to the element type of another.
    ///
    /// # Errors
    /// Where there is none.
    fn like(&mut self, value: Self::Value, other: Self::Value) -> Result<Self::Value, Self::Error>;
}

/// What the values of a derivative are made from.
#[derive(Clone, Copy)]
pub struct Given<'a, V> {
    /// The function.
    pub row: &'a Row,
    /// Its operands.
    pub operands: &'a [V],
    /// Its result.
    pub y: V,
    /// The cotangent of the result.
    pub dy: V,
}

/// What a cotangent adds to that of an operand.
///
/// # Errors
/// As the calculus.
///
/// # Panics
/// If the text of the row cannot be read, which a test of all rows excludes.
pub fn play<C: Calculus>(
    calculus: &mut C,
    given: Given<'_, C::Value>,
    position: usize,
) -> Result<C::Value, C::Error> {
    let Given { row, operands, y, dy } = given;
    let formals = row.formals.iter().copied().zip(operands.iter().copied());
    let names: Vec<_> = [("dy", dy), ("y", y)].into_iter().chain(formals).collect();
    adjoint(calculus, row.derivative[position], &names)
}

/// The value of a formula that is linear in `dy`, one of the names, and 0 where `dy` is 0. Its numbers have the element type of
/// the first name.
///
/// # Errors
/// As the calculus.
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

/// The same where several names are linear in the cotangent, and whether the value is.
///
/// # Errors
/// As the calculus.
///
/// # Panics
/// If the text cannot be read or names something else.
pub fn adjoint_of<C: Calculus>(
    calculus: &mut C,
    text: &'static str,
    names: &[(&str, C::Value)],
    linear: &[&str],
) -> Result<(C::Value, bool), C::Error> {
    let Part { value, is_linear } = played(calculus, text, names, linear)?;
    Ok((value, is_linear))
}

/// The value of a formula over named values. Its numbers have the element type of the first.
///
/// # Errors
/// As the calculus.
///
/// # Panics
/// If the text cannot be read or names something else.
pub fn formula<C: Calculus>(
    calculus: &mut C,
    text: &'static str,
    names: &[(&str, C::Value)],
) -> Result<C::Value, C::Error> {
    Ok(played(calculus, text, names, &[])?.value)
}

fn played<C: Calculus>(
    calculus: &mut C,
    text: &'static str,
    names: &[(&str, C::Value)],
    linear: &[&str],
) -> Played<C> {
    let mut player = Player { calculus, names, linear, rest: text };
    let value = player.sum()?;
    assert!(player.rest.is_empty(), "`{}` is left of the formula `{text}`", player.rest);
    Ok(value)
}

/// A text that is read and played in one go.
struct Player<'a, C: Calculus> {
    calculus: &'a mut C,
    names: &'a [(&'a str, C::Value)],
    /// The names whose zeros are kept.
    linear: &'a [&'a str],
    rest: &'static str,
}

/// A part of a formula.
struct Part<V> {
    value: V,
    /// Whether it depends on the cotangent.
    is_linear: bool,
}

/// A part of a formula in this calculus, or why it cannot be made.
type Played<C> = Result<Part<<C as Calculus>::Value>, <C as Calculus>::Error>;

impl<C: Calculus> Player<'_, C> {
    fn sum(&mut self) -> Played<C> {
        let mut sum = self.product()?;
        while let Some(map) = self.operator(Tightness::Additive) {
            let rhs = self.product()?;
            sum = self.apply(map, &[sum, rhs])?;
        }
        Ok(sum)
    }

    fn product(&mut self) -> Played<C> {
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

    /// Whether a function that keeps zeros may differ, where the cotangent is 0, from the one that does not.
    fn needs(&mut self, keeping: Map, factors: &[Part<C::Value>]) -> bool {
        let zeros = keeping.row().keeps_zeros.map_or(&[][..], |keeps| keeps.of);
        zeros.iter().any(|at| factors[*at].is_linear)
            && !factors.iter().any(|factor| self.calculus.is_finite_nonzero(factor.value))
    }

    fn apply(&mut self, map: Map, operands: &[Part<C::Value>]) -> Played<C> {
        let values: Vec<_> = operands.iter().map(|operand| operand.value).collect();
        let is_linear = operands.iter().any(|operand| operand.is_linear);
        Ok(Part { value: self.calculus.apply(map, &values)?, is_linear })
    }

    fn factor(&mut self) -> Played<C> {
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
            return Ok(Part { value, is_linear: false });
        }
        if self.eat("(") {
            let mut operands = vec![self.sum()?];
            while self.eat(",") {
                operands.push(self.sum()?);
            }
            self.close();
            if let ("like", [value, other]) = (word, &operands[..]) {
                let converted = self.calculus.like(value.value, other.value)?;
                return Ok(Part { value: converted, is_linear: value.is_linear });
            }
            let map = Map::by_mnemonic(word).unwrap_or_else(|| panic!("`{word}` is no row"));
            return self.apply(map, &operands);
        }
        let named = self.names.iter().find(|(name, _)| *name == word);
        let value = named.unwrap_or_else(|| panic!("`{word}` has no value")).1;
        Ok(Part { value, is_linear: self.linear.contains(&word) })
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

    /// Writes what is played.
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
        let given = Given { row, operands: &operands, y: 0, dy: 1 };
        let Ok(value) = play(&mut writer, given, position);
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
