//! The sequence of phases, from a lowered function to its plan.

use crate::{
    canon::{Canonical, canonicalise_mapped},
    checkpoint,
    diag::{Code, Diag, Site},
    dim::{Bindings, Dim},
    grad::{Cotangent, GradientOptions, differentiate},
    ir::ValueId,
    ops::Profile,
    opt::optimise,
    plan::{Plan, Update, Watching, peak, plan_watching},
    stats,
    surface::lower::{Function, GradientRequest, GradientTarget, Origin, Structure, moved, of_gradient},
    text::{core_ir, mic},
    verify::{Verified, verify},
};

/// A function that is ready to be emitted.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The plan that runs.
    pub plan: Plan,
    /// The canonical module as text.
    pub core_ir: String,
    /// The canonical module as MIC.
    pub mic: String,
    /// The number of arithmetic operations of a call.
    pub flops: Dim,
    /// For each value of the planned module, the value of the lowered module that it comes from, if known.
    pub origins: Vec<Option<ValueId>>,
    /// The origin of each value of the planned module, if known.
    pub sources: Vec<Option<Origin>>,
}

/// The plan of a function. `None` if a mistake in it has been reported.
///
/// # Errors
/// A fault of the compiler: the lowered module does not verify.
pub fn compile(function: &Function) -> Option<Result<Compiled, Diag>> {
    compile_watching(function, Watching::Shown)
}

/// As [`compile`], with steps that watch values.
///
/// # Errors
/// As [`compile`].
pub fn compile_watching(function: &Function, watching: Watching) -> Option<Result<Compiled, Diag>> {
    let source = function.program.as_ref()?;
    let results = source.module.outputs().len() - function.updates.len();
    let updates = function.updates.iter().enumerate();
    let updates: Vec<_> =
        updates.map(|(position, input)| Update { output: results + position, input: *input }).collect();
    let sources = (0..source.module.insts().len()).map(|value| Some(source.origin(ValueId::new(value))));
    let sources: Vec<_> = sources.collect();
    let finished = verified(function).map(|verified| finish(verified, &updates, watching, &sources));
    Some(finished.and_then(|compiled| bounded(function, &format!("`{}`", function.name), compiled)))
}

/// The plan of the gradient that `#[grad(…)]` requests. [`gradient_result`] is the structure of its result.
///
/// # Errors
/// The reason why the function has no such gradient.
pub fn compile_gradient(function: &Function, request: &GradientRequest) -> Option<Result<Compiled, Diag>> {
    compile_gradient_watching(function, request, Watching::Shown)
}

/// As [`compile_gradient`], with steps that watch values.
///
/// # Errors
/// As [`compile_gradient`].
pub fn compile_gradient_watching(
    function: &Function,
    request: &GradientRequest,
    watching: Watching,
) -> Option<Result<Compiled, Diag>> {
    let source = function.program.as_ref()?;
    Some(verified(function).and_then(|verified| {
        let (module, became) = canonicalise_mapped(verified);
        let origins = (0..became.len()).map(|value| Some(source.origin(ValueId::new(value))));
        let primal = Primal { origins: moved(&origins.collect::<Vec<_>>(), &became), module };
        let of = Gradient { function, request, watching };
        let compiled = of.compiled(&primal)?;
        let compiled =
            if excess(function, &compiled) == 0 { compiled } else { of.with_less_memory(&primal, compiled) };
        bounded(function, &format!("the gradient of `{}`", function.name), compiled)
    }))
}

/// A module that is differentiated, with the origins of its values.
struct Primal {
    module: Canonical,
    origins: Vec<Option<Origin>>,
}

/// A gradient that a function requests.
struct Gradient<'f> {
    function: &'f Function,
    request: &'f GradientRequest,
    watching: Watching,
}

impl Gradient<'_> {
    fn compiled(&self, primal: &Primal) -> Result<Compiled, Diag> {
        let Self { function, request, watching } = *self;
        let options = GradientOptions {
            wrt: request.targets.iter().flat_map(GradientTarget::wrt).collect(),
            // The first part of a tuple is the loss.
            cotangent: match &function.result {
                Structure::Tuple(parts) if parts.len() > 1 => Cotangent::First,
                _ => Cotangent::One,
            },
            profile: Profile::Extended,
        };
        let gradient = differentiate(&primal.module, &options).map_err(|error| {
            let name = format!("`#[grad]` of `{}`", function.name);
            GradientTarget::diag(&request.targets, &error, &name, request.site)
        })?;
        let sources: Vec<_> =
            gradient.made.iter().map(|made| of_gradient((*made)?, &primal.origins)).collect();
        Ok(finish(gradient.module.into_verified(), &[], watching, &sources))
    }

    /// The gradient that computes values of the function again to need less memory than `kept`, the gradient that keeps
    /// them: the first within the bound of the function, else the one that needs least.
    fn with_less_memory(&self, primal: &Primal, kept: Compiled) -> Compiled {
        let mut least = kept;
        for (module, origins) in checkpoint::variants(&primal.module) {
            let Ok(verified) = verify(module, Profile::Extended) else { continue };
            let (module, became) = canonicalise_mapped(verified);
            let origins = origins.into_iter().map(|value| primal.origins.get(value?.index()).copied()?);
            let origins = moved(&origins.collect::<Vec<_>>(), &became);
            if let Ok(compiled) = self.compiled(&Primal { module, origins })
                && excess(self.function, &compiled) < excess(self.function, &least)
            {
                least = compiled;
            }
            if excess(self.function, &least) == 0 {
                break;
            }
        }
        least
    }
}

/// The bytes of temporaries above the bound of the function, as far as the compiler knows them.
fn excess(function: &Function, compiled: &Compiled) -> u64 {
    let known = function.memory.as_ref().zip(peak(&compiled.plan, &Bindings::new()));
    known.map_or(0, |(bound, peak)| peak.bytes.saturating_sub(bound.bytes))
}

/// The most values at the peak that a message lists.
const MOST_VALUES: usize = 3;

/// Returns an error if the compiler knows that the memory for temporaries exceeds the bound of the function.
fn bounded(function: &Function, name: &str, compiled: Compiled) -> Result<Compiled, Diag> {
    let Some((bound, peak)) = function.memory.as_ref().zip(peak(&compiled.plan, &Bindings::new())) else {
        return Ok(compiled);
    };
    if peak.bytes <= bound.bytes {
        return Ok(compiled);
    }
    let message = format!(
        "{name} needs {} bytes for temporaries, {} more than {} ({} bytes)",
        peak.bytes,
        peak.bytes - bound.bytes,
        bound.text,
        bound.bytes
    );
    let mut diag = Diag::new(Code::E6011, bound.site, message);
    for (bytes, buffer) in peak.largest.iter().take(MOST_VALUES) {
        let source = compiled.sources.get(buffer.value.index()).copied().flatten();
        let text = format!("{bytes} bytes at the peak are {}", buffer.ty);
        diag = match source {
            Some(Origin { site, derivative: false }) => diag.note_at(site, text),
            Some(Origin { site, derivative: true }) => {
                diag.note_at(site, format!("{text}, for the derivative"))
            }
            None => diag.note(text),
        };
    }
    if name.starts_with("the gradient") {
        diag = diag.note("it already recomputes values of the function, where that needs fewer bytes");
    }
    Err(diag.help("work on smaller parts, or raise the bound"))
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

fn finish(
    verified: Verified,
    updates: &[Update],
    watching: Watching,
    sources: &[Option<Origin>],
) -> Compiled {
    let (canonical, map) = canonicalise_mapped(verified);
    let mut sources = moved(sources, &map);
    sources.resize(canonical.insts().len(), None);
    // The instructions of an inlined call have no source, except for the last one. An instruction without a source
    // takes that of the next one.
    for value in (1..sources.len()).rev() {
        sources[value - 1] = sources[value - 1].or(sources[value]);
    }
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
    let sources = optimised.origins().iter().map(|value| sources[value.index()]).collect();
    let plan = plan_watching(&optimised, updates, watching);
    Compiled { plan, core_ir, mic, flops, origins, sources }
}
