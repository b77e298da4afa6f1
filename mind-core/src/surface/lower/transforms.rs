//! `grad`, `value_and_grad` and `vjp`: the callee is differentiated and the gradient is called.

use proc_macro2::Ident;

use super::GradientTarget;
use super::body::BodyLowering;
use super::calls::{Callable, Formal, is_too_large, too_many};
use super::signature::{gradient_targets, not_pure};
use super::types::Structure;
use super::values::{Lowered, Stop, Value};
use crate::build::Builder;
use crate::canon::{Canonical, canonicalise};
use crate::diag::{Code, Diag, Site};
use crate::dim::Bindings;
use crate::grad::{AutodiffError, Cotangent, GradientOptions, differentiate};
use crate::ir::{Module, Op};
use crate::ops::{OpError, Profile};
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
            return Err(self.undefined_function(function, arguments, expr));
        };
        let entry = table.entry(position);
        if let Some(signature) = &entry.signature
            && let Some(update) = signature.parameters.iter().find(|parameter| parameter.update)
        {
            return Err(not_pure(&name, update, Site::token(function.span())).into());
        }
        let mut callable = entry.callable(&name).ok_or(Stop::Poisoned)?;
        for transform in transforms {
            callable = transform_callable(callable, transform)?;
        }
        self.apply(&callable, arguments, expr)
    }
}

/// Makes the function that a transform makes of another.
fn transform_callable<'a>(callable: Callable<'a>, transform: &Transform) -> Result<Callable<'a>, Diag> {
    let Callable { name, symbols, mut formals, result, updates, module, mut steps } = callable;
    let label = transform.kind.name();
    let parameters = formals.iter().map(|formal| (formal.name.as_str(), &formal.structure));
    let targets = gradient_targets(&transform.wrt, parameters)?;
    let mut gradients: Vec<_> = targets.iter().map(|target| target.structure.clone()).collect();
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
    steps.push(Step { options, dropped, label, function: name.clone(), site: transform.site, targets });
    Ok(Callable { name: format!("{label}({name})"), symbols, formals, result, updates, module, steps })
}

/// A differentiation that makes one function of another.
pub(super) struct Step {
    options: GradientOptions,
    /// How many outputs of the gradient module are the function's own and not asked for.
    dropped: usize,
    label: &'static str,
    function: String,
    site: Site,
    targets: Vec<GradientTarget>,
}

impl Callable<'_> {
    /// The module that the transforms make of the function's. Dimensions that the call makes known are put in first:
    /// a gradient of known extents is simpler.
    pub(super) fn differentiated(&self, bindings: &Bindings) -> Result<Module, Differentiation> {
        let known = bindings.iter().filter(|(_, dim)| dim.as_literal().is_some());
        let known: Bindings = known.map(|(symbol, dim)| (symbol.clone(), dim.clone())).collect();
        let mut module = specialise(self.module, &known).map_err(Differentiation::Rule)?;
        for step in &self.steps {
            let gradient = canonical(module).and_then(|module| differentiate(&module, &step.options));
            let gradient = gradient.map_err(|error| Differentiation::Gradient(step.diag(&error)))?;
            let (insts, outputs) = gradient.module.into_verified().into_module().into_parts();
            module = Module::from_parts(insts, outputs[step.dropped..].to_vec());
            // The next gradient is several times as large.
            if is_too_large(&module) {
                let diag =
                    too_many(&format!("{}({})", step.label, step.function), module.insts().len(), step.site);
                return Err(Differentiation::Gradient(diag));
            }
        }
        Ok(module)
    }
}

/// Why a function has no gradient.
pub(super) enum Differentiation {
    /// With the dimensions of the call it breaks a rule.
    Rule(Box<OpError>),
    /// It cannot be differentiated.
    Gradient(Diag),
}

/// The module with symbols replaced, in its inputs too.
fn specialise(module: &Module, bindings: &Bindings) -> Result<Module, Box<OpError>> {
    if bindings.is_empty() {
        return Ok(module.clone());
    }
    let mut builder = Builder::new();
    let mut inputs = Vec::new();
    for (name, ty) in module.inputs() {
        let op = || Op::Input { name: name.clone() };
        let ty = ty.substitute(bindings).map_err(|overflow| OpError::overflow(&op(), overflow))?;
        inputs.push(builder.input(name.clone(), ty)?);
    }
    let outputs = builder.inline(module, &inputs, bindings)?;
    Ok(builder.finish(outputs))
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

impl Step {
    fn diag(&self, error: &AutodiffError) -> Diag {
        GradientTarget::diag(
            &self.targets,
            error,
            &format!("`{}` of `{}`", self.label, self.function),
            self.site,
        )
    }
}
