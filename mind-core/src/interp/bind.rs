//! Binds the symbols to the extents of a run, and checks the requirements of the module.

use super::{Array, RunError};
use crate::{
    diag::Code,
    dim::{Bindings, Dim},
    ir::Module,
    ops::Requirement,
    symbols::{linear, solve},
};

/// Returns the extent of each symbol, as determined by the extents of the inputs.
///
/// A symbol is bound by a dimension that is the symbol, or by one that is linear in it once all other symbols are bound
/// (`2 * N + 1`).
///
/// # Errors
/// The errors of [`run`](super::run) about inputs; E2003 if no dimension determines a symbol.
pub fn bind(module: &Module, inputs: &[Array]) -> Result<Bindings, RunError> {
    let declared: Vec<_> = module.inputs().collect();
    if declared.len() != inputs.len() {
        let message = format!("{} inputs given, {} needed", inputs.len(), declared.len());
        return Err(RunError::new(Code::E2007, message));
    }
    let mut open = Vec::new();
    for ((name, ty), input) in declared.iter().zip(inputs) {
        if (input.dtype(), input.shape.len()) != (ty.dtype, ty.rank()) {
            let message = format!("`{name}` is {} of rank {}, needed {ty}", input.dtype(), input.shape.len());
            return Err(RunError::new(Code::E2001, message));
        }
        for (axis, (dim, extent)) in ty.shape.iter().zip(&input.shape).enumerate() {
            if *extent == 0 {
                let message = format!("dimension {axis} of `{name}` is 0, needed {dim} of at least 1");
                return Err(RunError::new(Code::E3006, message));
            }
            let extent = i64::try_from(*extent).map_err(|_| {
                RunError::new(Code::E6009, format!("dimension {axis} of `{name}` exceeds 64 bits"))
            })?;
            open.push((*name, axis, dim, extent));
        }
    }
    let mut bindings = Bindings::new();
    for (_, _, dim, extent) in &open {
        if let Some(symbol) = dim.as_symbol() {
            bindings.entry(symbol.clone()).or_insert_with(|| Dim::literal(*extent));
        }
    }
    // Each round binds at least one symbol or is the last.
    loop {
        let before = bindings.len();
        for (_, _, dim, extent) in &open {
            if let Some((symbol, value)) = solve(dim, *extent, &bindings) {
                bindings.insert(symbol, Dim::literal(value));
            }
        }
        if bindings.len() == before {
            break;
        }
    }
    for (name, axis, dim, extent) in open {
        match dim.evaluate(&bindings) {
            Some(needed) if needed == extent => {}
            Some(needed) => {
                let needed = with_value(dim, needed);
                let message = format!("dimension {axis} of `{name}` is {extent}, needed {needed}");
                return Err(RunError::new(Code::E6009, message));
            }
            None => {
                let unsolved = linear(dim, &bindings).is_some();
                return Err(if unsolved {
                    let message = format!(
                        "dimension {axis} of `{name}` is {extent}, but no extents make {dim} equal to {extent}"
                    );
                    RunError::new(Code::E6009, message)
                } else {
                    let message =
                        format!("no dimension of an input determines the symbols of {dim} in `{name}`");
                    RunError::new(Code::E2003, message)
                });
            }
        }
    }
    Ok(bindings)
}

/// Checks every requirement for these extents.
///
/// # Errors
/// E3006 for a dimension below 1, E6009 for a bound that does not hold.
pub fn check_requirements(requirements: &[Requirement], bindings: &Bindings) -> Result<(), RunError> {
    for requirement in requirements {
        let value = |dim: &Dim| {
            let message = || format!("the symbols of {dim} are not bound, or it exceeds 64 bits");
            dim.evaluate(bindings).ok_or_else(|| RunError::new(Code::E6009, message()))
        };
        match requirement {
            Requirement::Positive(dim) => {
                let extent = value(dim)?;
                if extent < 1 {
                    return Err(RunError::new(Code::E3006, format!("{dim} is {extent}, needed at least 1")));
                }
            }
            Requirement::AtMost(low, high) => {
                let (a, b) = (value(low)?, value(high)?);
                if a > b {
                    let message = format!("{} exceeds {}", with_value(low, a), with_value(high, b));
                    return Err(RunError::new(Code::E6009, message));
                }
            }
        }
    }
    Ok(())
}

/// `2 * N + 1 = 7`, or the number alone for a literal.
fn with_value(dim: &Dim, value: i64) -> String {
    match dim.as_literal() {
        Some(_) => value.to_string(),
        None => format!("{dim} = {value}"),
    }
}
