//! Lowers elementwise functions as their rows say.

use std::convert::Infallible;

use super::{
    tensor::{Tensor, comparison, neutral, number},
    writer::{SsaValue, Writer},
};
use crate::{
    map::{Calculus, Hlo, Map, Named, formula},
    reduce::Neutral,
    ty::{DType, Kind},
};

/// Lowers an elementwise function whose operands broadcast to a shape.
pub(super) fn lower(writer: &mut Writer, map: Map, operands: &[SsaValue], shape: &[i64]) -> SsaValue {
    let operands: Vec<_> = operands.iter().map(|operand| writer.broadcast(*operand, shape)).collect();
    apply(writer, map, &operands)
}

/// Lowers an elementwise function of operands of one shape.
pub(super) fn apply(writer: &mut Writer, map: Map, operands: &[SsaValue]) -> SsaValue {
    let row = map.row();
    let leading = writer.tensor(operands[row.leading()]).clone();
    let to = Tensor::new(row.result(leading.dtype), leading.shape.clone());
    if let Some(value) = of_unsigned(writer, map, operands, &leading, &to) {
        return value;
    }
    let mut names: Vec<_> = row.formals.iter().copied().zip(operands.iter().copied()).collect();
    match row.hlo {
        Hlo::Operand => operands[0],
        Hlo::Operation(operation) => of_elements(writer, operation, operands, to),
        Hlo::Quotient(operation) => quotient(writer, operation, [operands[0], operands[1]], to),
        Hlo::ByType { floats, .. } if leading.dtype.is_float() => all(writer, floats, &mut names),
        Hlo::ByType { integers, .. } => of_elements(writer, integers, operands, to),
        Hlo::Compare(direction) => {
            let (names, types) = (writer.names(operands), writer.types(operands, &to));
            let unsigned = comparison(leading.dtype);
            writer.line(to, format_args!("stablehlo.compare {direction}, {names}{unsigned} : {types}"))
        }
        Hlo::Formula(formulas) => all(writer, formulas, &mut names),
        Hlo::OfEach { floats, integers } => {
            all(writer, if leading.dtype.is_float() { floats } else { integers }, &mut names)
        }
        Hlo::Between { before, operation, of, after } => {
            all(writer, before, &mut names);
            let operands: Vec<_> = of.iter().map(|text| evaluate(writer, text, &names)).collect();
            names.push(("own", of_elements(writer, operation, &operands, to)));
            all(writer, after, &mut names)
        }
    }
}

/// Lowers a function with an unsigned result, if it differs from the function with a signed result; `None` for all
/// others.
fn of_unsigned(
    writer: &mut Writer,
    map: Map,
    operands: &[SsaValue],
    leading: &Tensor,
    to: &Tensor,
) -> Option<SsaValue> {
    if to.dtype.kind() != Kind::Unsigned {
        return None;
    }
    match map {
        Map::Abs => Some(operands[0]),
        Map::Sign => Some(evaluate(writer, "minimum(x, 1.0)", &[("x", operands[0])])),
        Map::Shr => Some(of_elements(writer, "stablehlo.shift_right_logical", operands, to.clone())),
        // Engines convert a float out of range in different ways, except to wide integers. A wide integer is clamped
        // here.
        _ if map == Map::to(to.dtype) && leading.dtype.is_float() => {
            let wide = apply(writer, Map::to(DType::I64), operands);
            let as_wide = writer.tensor(wide).clone();
            let [least, greatest] = [Neutral::Least, Neutral::Greatest]
                .map(|end| writer.constant(&neutral(end, to.dtype), as_wide.clone()));
            let names = [("x", wide), ("least", least), ("greatest", greatest)];
            let cut = evaluate(writer, "maximum(minimum(x, greatest), least)", &names);
            Some(of_elements(writer, "stablehlo.convert", &[cut], to.clone()))
        }
        _ => None,
    }
}

/// Lowers a quotient. If an operand may be a quotient too, XLA would merge both divisions into one, by a product of
/// divisors that overflows or underflows sooner: `1e-10 / 1e-20 / 1e-20` was infinite in `f32`. XLA keeps a product
/// with the reciprocal.
fn quotient(writer: &mut Writer, operation: &str, operands: [SsaValue; 2], to: Tensor) -> SsaValue {
    let [lhs, rhs] = operands;
    if !(to.dtype.is_float() && operands.iter().any(|operand| writer.is_quotient(*operand))) {
        let result = of_elements(writer, operation, &operands, to);
        writer.mark_quotient(result);
        return result;
    }
    // The scale is 2^-64 where the reciprocal would be subnormal, since engines flush subnormal numbers to 0.
    let scale = evaluate(
        writer,
        "where(gt(abs(rhs), 1e30), 0.000000000000000000054210108624275222, 1.0)",
        &[("rhs", rhs)],
    );
    let one = writer.constant(&number(1.0, to.dtype), to.clone());
    let scaled = evaluate(writer, "rhs * scale", &[("rhs", rhs), ("scale", scale)]);
    let reciprocal = of_elements(writer, operation, &[one, scaled], to);
    let names = [("lhs", lhs), ("scale", scale), ("reciprocal", reciprocal)];
    let result = evaluate(writer, "lhs * scale * reciprocal", &names);
    writer.mark_quotient(result);
    result
}

/// Emits formulas in order and returns the value of the last. Each formula may use the names of the formulas before it.
fn all(
    writer: &mut Writer,
    formulas: &'static [Named],
    names: &mut Vec<(&'static str, SsaValue)>,
) -> SsaValue {
    for (name, text) in formulas {
        let value = evaluate(writer, text, names);
        names.push((name, value));
    }
    names.last().expect("a function has operands").1
}

/// Writes `%1 = stablehlo.add %0, %arg0 : tensor<3xf32>` if all types are equal. A selection has three operands and is
/// written in full, since MLIR requires the type of its condition.
pub(super) fn of_elements(
    writer: &mut Writer,
    operation: &str,
    operands: &[SsaValue],
    to: Tensor,
) -> SsaValue {
    let is_one = operands.len() < 3 && operands.iter().all(|operand| *writer.tensor(*operand) == to);
    if operation.starts_with("stablehlo.") && is_one {
        let line = format!("{operation} {} : {to}", writer.names(operands));
        let result = writer.line(to, format_args!("{line}"));
        writer.follow_quotient(operation, operands, result);
        return result;
    }
    writer.operation(operation, operands, format_args!(""), to)
}

/// Emits a formula and returns its value.
pub(super) fn evaluate(writer: &mut Writer, text: &'static str, names: &[(&str, SsaValue)]) -> SsaValue {
    let Ok(value) = formula(writer, text, names);
    value
}

impl Calculus for Writer {
    type Value = SsaValue;
    type Error = Infallible;

    fn apply(&mut self, map: Map, operands: &[SsaValue]) -> Result<SsaValue, Infallible> {
        Ok(apply(self, map, operands))
    }

    fn number(&mut self, value: f64, like: SsaValue) -> Result<SsaValue, Infallible> {
        let to = self.tensor(like).clone();
        Ok(self.constant(&number(value, to.dtype), to))
    }

    fn is_finite_nonzero(&mut self, _: Self::Value) -> bool {
        false
    }

    fn like(&mut self, value: SsaValue, other: SsaValue) -> Result<SsaValue, Infallible> {
        let dtype: DType = self.tensor(other).dtype;
        Ok(apply(self, Map::to(dtype), &[value]))
    }
}
