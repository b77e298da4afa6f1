//! `grad`, `value_and_grad` and `vjp`: the callee is differentiated and the gradient is called.

use std::borrow::Cow;

use proc_macro2::Ident;

use super::body::BodyLowering;
use super::calls::{Callable, Formal};
use super::signature::{not_float, not_pure, wrt_positions};
use super::types::Structure;
use super::values::{Lowered, Stop, Value};
use crate::canon::{Canonical, canonicalise};
use crate::diag::{Code, Diag, Site};
use crate::grad::{AutodiffError, Cotangent, GradientOptions, differentiate};
use crate::ir::Module;
use crate::ops::Profile;
use crate::surface::ast::{Argument, ExprId, Transform, TransformKind};
use crate::ty::Type;
use crate::verify::verify;

impl BodyLowering<'_> {
    /// Lowers the application of a transformed function.
    pub(super) fn transformed(
        &mut self,
        transforms: &[Transform],
        function: &Ident,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<Value> {
        let (name, table) = (function.to_string(), self.table);
        let Some(position) = table.position(&name) else {
            if table.is_unread(&name) {
                return Err(Stop::Poisoned);
            }
            if super::builtins::is_builtin(&name) {
                let message = format!("`{name}` is built in, expected a function of this block");
                return Err(Diag::new(Code::E2002, Site::token(function.span()), message)
                    .help("write a function that calls it")
                    .into());
            }
            return Err(self.undefined_function(function));
        };
        let entry = table.entry(position);
        if let Some(signature) = &entry.signature
            && let Some(update) = signature.parameters.iter().find(|parameter| parameter.update)
        {
            return Err(not_pure(&name, update, Site::token(function.span())).into());
        }
        let mut callable = entry.callable().ok_or(Stop::Poisoned)?;
        for transform in transforms {
            callable = transform_callable(callable, transform)?;
        }
        self.apply(&callable, arguments, expr)
    }
}

/// Makes the function that a transform makes of another.
fn transform_callable<'a>(callable: Callable<'a>, transform: &Transform) -> Result<Callable<'a>, Diag> {
    let Callable { name, symbols, mut formals, result, updates, module } = callable;
    let label = transform.kind.name();
    let wrt = wrt_positions(&transform.wrt, formals.iter().map(|formal| formal.name.as_str()))?;
    let mut gradients = Vec::new();
    for (target, wrt) in transform.wrt.targets.iter().zip(&wrt) {
        let formal = &formals[wrt.input.index()];
        match &formal.structure {
            Structure::Value(ty) if ty.dtype.is_float() => gradients.push(formal.structure.clone()),
            Structure::Value(ty) => return Err(not_float(&formal.name, ty, Site::token(target.name.span()))),
            Structure::Tuple(_) => {
                let message =
                    format!("`{}` is the cotangent: only parameters can be differentiated by", formal.name);
                return Err(Diag::new(Code::E5005, Site::token(target.name.span()), message));
            }
        }
    }
    let cotangent = match transform.kind {
        TransformKind::Grad | TransformKind::ValueAndGrad => {
            if !is_float_scalar(&result) {
                let message = format!("`{label}`: `{name}` gives {result}, needed a single f32 or f64");
                return Err(Diag::new(Code::E5004, transform.site, message)
                    .help("reduce the result, as `mean(…)`, or give a cotangent with `vjp`"));
            }
            Cotangent::One
        }
        TransformKind::Vjp => {
            let site = Site::Nowhere;
            let (written, structure) = (result.to_string(), result.clone());
            formals.push(Formal { name: "cotangent".to_owned(), update: false, structure, written, site });
            Cotangent::Input
        }
    };
    let options =
        GradientOptions { wrt, cotangent, profile: Profile::Extended, verify: cfg!(debug_assertions) };
    let gradient = canonical(module.into_owned())
        .and_then(|module| differentiate(&module, &options))
        .map_err(|error| no_gradient(&error, label, &name, transform))?;
    let (insts, outputs) = Module::clone(&gradient.module).into_parts();
    let values = result.leaves().len();
    let gradient_structure = match transform.wrt.tuple || gradients.len() > 1 {
        true => Structure::Tuple(gradients),
        false => gradients.remove(0),
    };
    let (result, outputs) = match transform.kind {
        TransformKind::ValueAndGrad => (Structure::Tuple(vec![result, gradient_structure]), outputs),
        TransformKind::Grad | TransformKind::Vjp => (gradient_structure, outputs[values..].to_vec()),
    };
    let module = Cow::Owned(Module::from_parts(insts, outputs));
    Ok(Callable { name: format!("{label}({name})"), symbols, formals, result, updates, module })
}

fn is_float_scalar(result: &Structure) -> bool {
    matches!(result, Structure::Value(Type { dtype, shape }) if dtype.is_float() && shape.rank() == 0)
}

/// The canonical form that differentiation takes.
fn canonical(module: Module) -> Result<Canonical, AutodiffError> {
    let verified = verify(module, Profile::Extended).map_err(|errors| {
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        AutodiffError::Verification(errors.join("; "))
    })?;
    Ok(canonicalise(verified))
}

fn no_gradient(error: &AutodiffError, label: &str, function: &str, transform: &Transform) -> Diag {
    let site = match error {
        AutodiffError::NotDifferentiable(_) => transform.wrt.site,
        AutodiffError::UnsupportedOp { .. }
        | AutodiffError::Verification(_)
        | AutodiffError::InvalidAxis { .. }
        | AutodiffError::UnsupportedShape(_) => transform.site,
    };
    Diag::new(error.code(), site, format!("`{label}` of `{function}`: {error}"))
}
