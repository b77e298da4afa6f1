//! `grad`, `value_and_grad` and `vjp`: the callee is differentiated and the gradient is called.

use super::lowering::BodyLowering;
use crate::diag::{Code, Diag, Site};
use crate::grad::{Cotangent, GradientOptions};
use crate::ops::Profile;
use crate::surface::ast::{Argument, Callee, ExprId, Transform, TransformKind};
use crate::surface::lower::callees::callable::{Callable, Formal, GradientStep};
use crate::surface::lower::declarations::lowered::GradientTarget;
use crate::surface::lower::declarations::signature::{gradient_targets, not_pure};
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::ty::Type;

impl BodyLowering<'_> {
    /// Lowers the application of a transformed function.
    pub(crate) fn transformed(
        &mut self,
        transforms: &[Transform],
        function: &Callee,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<Value> {
        let (name, table) = (function.to_string(), self.table);
        let Some(position) = table.position(&name) else {
            if table.is_unread(&name) {
                return Err(Stop::Poisoned);
            }
            if crate::surface::lower::builtins::is_builtin(&name) {
                let message = format!("`{name}` is built in, expected a function of this block");
                return Err(Diag::new(Code::E2002, function.site(), message)
                    .help("write a function that calls it")
                    .into());
            }
            return Err(self.undefined_function(function, arguments, expr));
        };
        let entry = table.entry(position);
        if let Some(signature) = &entry.signature
            && let Some(update) = signature.parameters.iter().find(|parameter| parameter.update)
        {
            return Err(not_pure(&name, update, function.site()).into());
        }
        let mut callable = entry.callable(&name).ok_or(Stop::Poisoned)?;
        for transform in transforms {
            callable = transform_callable(callable, transform)?;
        }
        self.apply(&callable, arguments, expr)
    }
}

/// Applies a transform to a function.
fn transform_callable<'a>(callable: Callable<'a>, transform: &Transform) -> Result<Callable<'a>, Diag> {
    let Callable { name, symbols, mut formals, result, updates, module, source, mut steps } = callable;
    let label = transform.kind.name();
    let parameters = formals.iter().map(|formal| (formal.name.as_str(), &formal.structure));
    let targets = gradient_targets(&transform.wrt, parameters)?;
    let mut gradients: Vec<_> = targets.iter().map(|target| target.structure.clone()).collect();
    let cotangent = match transform.kind {
        TransformKind::Grad | TransformKind::ValueAndGrad => {
            let has_parts = transform.kind == TransformKind::ValueAndGrad && is_loss_and_more(&result);
            if !is_float_scalar(&result) && !has_parts {
                let message = format!("`{label}`: `{name}` returns {result}, needed a single f32 or f64");
                return Err(Diag::new(Code::E5004, transform.site, message)
                    .help("reduce the result, as in `mean(…)`, or give a cotangent with `vjp`"));
            }
            if has_parts { Cotangent::First } else { Cotangent::One }
        }
        TransformKind::Vjp => {
            let site = Site::Nowhere;
            let (written, structure) = (result.to_string(), result.clone());
            let taken = formals.iter().filter(|formal| formal.name.starts_with("cotangent")).count();
            let name = if taken == 0 { "cotangent".to_owned() } else { format!("cotangent{taken}") };
            formals.push(Formal { name, update: false, structure, written, site });
            Cotangent::Input
        }
    };
    let options = GradientOptions {
        wrt: targets.iter().flat_map(GradientTarget::wrt).collect(),
        cotangent,
        profile: Profile::Extended,
    };
    let values = result.leaves().len();
    let gradient = match transform.wrt.tuple || gradients.len() > 1 {
        true => Structure::Tuple(gradients),
        false => gradients.remove(0),
    };
    let (result, dropped) = match transform.kind {
        TransformKind::ValueAndGrad => (Structure::Tuple(vec![result, gradient]), 0),
        TransformKind::Grad | TransformKind::Vjp => (gradient, values),
    };
    steps.push(GradientStep {
        options,
        dropped,
        label,
        function: name.clone(),
        site: transform.site,
        targets,
    });
    Ok(Callable {
        name: format!("{label}({name})"),
        symbols,
        formals,
        result,
        updates,
        module,
        source,
        steps,
    })
}

/// Whether a result is a tuple whose first element can be differentiated. The other elements are passed on.
pub(crate) fn is_loss_and_more(result: &Structure) -> bool {
    matches!(result, Structure::Tuple(parts) if parts.first().is_some_and(is_float_scalar))
}

fn is_float_scalar(result: &Structure) -> bool {
    matches!(result, Structure::Value(Type { dtype, shape }) if dtype.is_float() && shape.rank() == 0)
}
