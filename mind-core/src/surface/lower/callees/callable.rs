//! What is called: a function of a table, or one made of it by transforms.

use super::table::Entry;
use crate::build::specialise;
use crate::canon::{Canonical, canonicalise_mapped};
use crate::diag::{Code, Diag, Site};
use crate::dim::{Bindings, Symbol};
use crate::grad::{AutodiffError, GradientOptions, Made, differentiate};
use crate::ir::{Module, ValueId};
use crate::ops::{OpError, Profile};
use crate::surface::lower::declarations::lowered::{GradientTarget, Origin, Source};
use crate::surface::lower::declarations::signature::{Signature, SignatureParameter};
use crate::surface::lower::declarations::structure::Structure;
use crate::verify::verify;

/// The most instructions a function may come to once what it calls is inlined: as many as an expression has.
pub(crate) const MAX_INSTRUCTIONS: usize = 1 << 16;

/// What is called: a function, or one made of a function by transforms.
pub(crate) struct Callable<'a> {
    /// As messages name it.
    pub(crate) name: String,
    pub(crate) symbols: &'a [Symbol],
    pub(crate) formals: Vec<Formal>,
    pub(crate) result: Structure,
    /// The inputs whose final versions are outputs behind those of the result.
    pub(crate) updates: Vec<usize>,
    pub(crate) module: &'a Module,
    /// What the module is of, where that is known.
    pub(crate) source: Option<&'a Source>,
    /// The transforms that make the function of the module, innermost first.
    pub(crate) steps: Vec<GradientStep>,
}

/// What a call must give.
#[derive(Clone)]
pub(crate) struct Formal {
    pub(crate) name: String,
    pub(crate) update: bool,
    pub(crate) structure: Structure,
    pub(crate) written: String,
    pub(crate) site: Site,
}

/// A differentiation that makes one function of another.
pub(crate) struct GradientStep {
    pub(crate) options: GradientOptions,
    /// How many outputs of the gradient module are the function's own and not asked for.
    pub(crate) dropped: usize,
    pub(crate) label: &'static str,
    pub(crate) function: String,
    pub(crate) site: Site,
    pub(crate) targets: Vec<GradientTarget>,
}

impl Formal {
    pub(crate) fn all(signature: &Signature) -> Vec<Self> {
        let formal = |parameter: &SignatureParameter| Self {
            name: parameter.name.clone(),
            update: parameter.update,
            structure: parameter.structure.clone(),
            written: parameter.written.clone(),
            site: parameter.site,
        };
        signature.parameters.iter().map(formal).collect()
    }
}

impl Entry {
    /// The function as something to call by a name; nothing where it has a mistake.
    pub(crate) fn callable(&self, name: &str) -> Option<Callable<'_>> {
        let (signature, compiled) = (self.signature.as_ref()?, self.compiled.as_ref()?);
        Some(Callable {
            name: name.to_owned(),
            symbols: signature.symbols(),
            formals: Formal::all(signature),
            result: compiled.result.clone(),
            updates: compiled.updates.clone(),
            module: &compiled.source.module,
            source: Some(&compiled.source),
            steps: Vec::new(),
        })
    }
}

impl Callable<'_> {
    /// The module that the transforms make of the function's. Dimensions that the call makes known are put in first:
    /// a gradient of known extents is simpler.
    ///
    /// Also where each value comes from, as far as that is known.
    pub(crate) fn differentiated(
        &self,
        bindings: &Bindings,
    ) -> Result<(Module, Vec<Option<Origin>>), Differentiation> {
        let known = bindings.iter().filter(|(_, dim)| dim.as_literal().is_some());
        let known: Bindings = known.map(|(symbol, dim)| (symbol.clone(), dim.clone())).collect();
        let mut module = specialise(self.module, &known).map_err(Differentiation::Rule)?;
        let mut origins: Vec<Option<Origin>> =
            (0..module.insts().len()).map(|value| Some(self.source?.origin(ValueId::new(value)))).collect();
        for step in &self.steps {
            let gradient = canonical(module).and_then(|(module, became)| {
                origins = moved(&origins, &became);
                differentiate(&module, &step.options)
            });
            let gradient = gradient.map_err(|error| Differentiation::Gradient(step.diag(&error)))?;
            origins = gradient.made.iter().map(|made| of_gradient((*made)?, &origins)).collect();
            let (insts, outputs) = gradient.module.into_verified().into_module().into_parts();
            module = Module::from_parts(insts, outputs[step.dropped..].to_vec());
            // The next gradient is several times as large.
            if is_too_large(&module) {
                let diag = too_many(&format!("{}({})", step.label, step.function), module.size(), step.site);
                return Err(Differentiation::Gradient(diag));
            }
        }
        Ok((module, origins))
    }
}

/// Where a value of a gradient comes from.
pub(crate) fn of_gradient(made: Made, primal: &[Option<Origin>]) -> Option<Origin> {
    match made {
        Made::Copy(value) => primal[value.index()],
        Made::Back(value) => primal[value.index()].map(|origin| Origin { derivative: true, ..origin }),
    }
}

/// Where values come from, by what they became: of several that became one the first.
pub(crate) fn moved(origins: &[Option<Origin>], became: &[Option<ValueId>]) -> Vec<Option<Origin>> {
    let count = became.iter().flatten().map(|value| value.index() + 1).max().unwrap_or_default();
    let mut moved = vec![None; count];
    for (origin, became) in origins.iter().zip(became) {
        if let (Some(origin), Some(became)) = (origin, became) {
            moved[became.index()].get_or_insert(*origin);
        }
    }
    moved
}

/// Why a function has no gradient.
pub(crate) enum Differentiation {
    /// With the dimensions of the call it breaks a rule.
    Rule(Box<OpError>),
    /// It cannot be differentiated.
    Gradient(Diag),
}

/// The canonical form that differentiation takes.
fn canonical(module: Module) -> Result<(Canonical, Vec<Option<ValueId>>), AutodiffError> {
    let verified = verify(module, Profile::Extended).map_err(|errors| {
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        AutodiffError::Verification(errors.join("; "))
    })?;
    Ok(canonicalise_mapped(verified))
}

impl GradientStep {
    fn diag(&self, error: &AutodiffError) -> Diag {
        GradientTarget::diag(
            &self.targets,
            error,
            &format!("`{}` of `{}`", self.label, self.function),
            self.site,
        )
    }
}

/// How many instructions a call copies.
pub(crate) fn own_instructions(module: &Module) -> usize {
    module.size() - module.inputs().len()
}

/// E1008 where so many instructions are made or would be.
pub(crate) fn too_many(callee: &str, count: usize, site: Site) -> Diag {
    let message = format!(
        "with `{callee}` inlined the function has {count} instructions or more, which exceeds the limit of \
         {MAX_INSTRUCTIONS}"
    );
    Diag::new(Code::E1008, site, message)
}

/// Whether a module is as large as a function may be.
fn is_too_large(module: &Module) -> bool {
    module.size() > MAX_INSTRUCTIONS
}
