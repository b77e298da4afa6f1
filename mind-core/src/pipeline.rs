//! The phases in a row: from a lowered function to its plan.

use crate::{
    canon::{canonicalise, canonicalise_mapped},
    diag::{Code, Diag, Site},
    dim::Dim,
    grad::{Cotangent, GradientOptions, differentiate},
    ir::ValueId,
    ops::Profile,
    opt::optimise,
    plan::{Plan, Update, plan},
    stats,
    surface::lower::{Function, GradientRequest, GradientTarget, Structure},
    text::{core_ir, mic},
    verify::{Verified, verify},
};

/// A function that is ready to be emitted.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What runs.
    pub plan: Plan,
    /// The canonical module as text.
    pub core_ir: String,
    /// The same as MIC.
    pub mic: String,
    /// The arithmetic operations of a call.
    pub flops: Dim,
    /// For each value of the planned module the one of the lowered module that it comes from, where it is known.
    pub origins: Vec<Option<ValueId>>,
}

/// The plan of a function; nothing where a mistake in it has been reported.
///
/// # Errors
/// A fault of the compiler: lowering made what does not verify.
pub fn compile(function: &Function) -> Option<Result<Compiled, Diag>> {
    let source = function.program.as_ref()?;
    let results = source.module.outputs().len() - function.updates.len();
    let updates = function.updates.iter().enumerate();
    let updates: Vec<_> =
        updates.map(|(position, input)| Update { output: results + position, input: *input }).collect();
    Some(verified(function).map(|verified| finish(verified, &updates)))
}

/// The plan of the gradient that `#[grad(…)]` asks for; its result is [`gradient_result`].
///
/// # Errors
/// Why the function has no such gradient.
pub fn compile_gradient(function: &Function, request: &GradientRequest) -> Option<Result<Compiled, Diag>> {
    function.program.as_ref()?;
    Some(verified(function).and_then(|verified| {
        let options = GradientOptions {
            wrt: request.targets.iter().flat_map(GradientTarget::wrt).collect(),
            // Of a tuple the first is the loss.
            cotangent: match &function.result {
                Structure::Tuple(parts) if parts.len() > 1 => Cotangent::First,
                _ => Cotangent::One,
            },
            profile: Profile::Extended,
        };
        let gradient = differentiate(&canonicalise(verified), &options).map_err(|error| {
            GradientTarget::diag(
                &request.targets,
                &error,
                &format!("`#[grad]` of `{}`", function.name),
                request.site,
            )
        })?;
        Ok(finish(gradient.module.into_verified(), &[]))
    }))
}

/// The structure of a gradient function's result: the value, then the gradients.
pub fn gradient_result(function: &Function, request: &GradientRequest) -> Structure {
    let mut parts: Vec<_> = request.targets.iter().map(|target| target.structure.clone()).collect();
    let gradients =
        if parts.len() == 1 && !request.tuple { parts.remove(0) } else { Structure::Tuple(parts) };
    Structure::Tuple(vec![function.result.clone(), gradients])
}

fn verified(function: &Function) -> Result<Verified, Diag> {
    let source = function.program.as_ref().expect("asked for functions with a program only");
    verify(source.module.clone(), Profile::Extended).map_err(|errors| {
        let site = errors.first().and_then(|error| error.value).map(|value| source.sites[value.index()]);
        let first = errors.first().map(ToString::to_string).unwrap_or_default();
        let message =
            format!("`{}`: the compiler made a module that does not verify: {first}", function.name);
        Diag::new(Code::E5002, site.unwrap_or(Site::Nowhere), message)
    })
}

fn finish(verified: Verified, updates: &[Update]) -> Compiled {
    let (canonical, map) = canonicalise_mapped(verified);
    let core_ir = core_ir::print(&canonical);
    let mic = mic::print(&canonical);
    let flops = stats::flops(&canonical).unwrap_or(Dim::literal(i64::MAX));
    let optimised = optimise(&canonical);
    let mut origins = vec![None; canonical.insts().len()];
    for (value, became) in map.iter().enumerate().rev() {
        if let Some(became) = became {
            origins[became.index()] = Some(ValueId::new(value));
        }
    }
    let origins = optimised.origins().iter().map(|value| origins[value.index()]).collect();
    Compiled { plan: plan(&optimised, updates), core_ir, mic, flops, origins }
}
