//! Callees: functions of a table, and functions made from them by transforms.

use super::table::Entry;
use crate::associative_scan::associative_scan;
use crate::batch::{Batched, batch_along};
use crate::build::specialise;
use crate::canon::Canonical;
use crate::checkpoint::checkpoint;
use crate::diag::{Code, Diag, Site};
use crate::dim::{Bindings, Dim, Symbol};
use crate::grad::{
    AutodiffError, Gradient, GradientOptions, GradientOrigin, Wrt, canonical, differentiate, push_forward,
};
use crate::ir::{Module, ValueId};
use crate::jacobian::{Mode, Side, jacobian};
use crate::ops::OpError;
use crate::surface::lower::declarations::lowered::{GradientTarget, LoweredModule, Origin};
use crate::surface::lower::declarations::signature::{Signature, SignatureParameter};
use crate::surface::lower::declarations::structure::Structure;

/// The maximum number of instructions of a function after its calls are inlined; the limit of an expression is the
/// same.
pub(crate) const MAX_INSTRUCTIONS: usize = 1 << 16;

/// A callee: a function, or one made from a function by transforms.
pub(crate) struct Callable<'a> {
    /// The name in messages.
    pub(crate) name: String,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) formals: Vec<Formal>,
    pub(crate) result: Structure,
    /// The inputs whose final versions are outputs after those of the result.
    pub(crate) updates: Vec<usize>,
    pub(crate) module: &'a Module,
    /// The source of the module, if it is known.
    pub(crate) source: Option<&'a LoweredModule>,
    /// The transforms to apply to the function of the module, innermost first.
    pub(crate) steps: Vec<TransformStep>,
}

/// A parameter of a callee, for which a call must give an argument.
#[derive(Clone)]
pub(crate) struct Formal {
    pub(crate) name: String,
    pub(crate) update: bool,
    pub(crate) structure: Structure,
    pub(crate) written: String,
    pub(crate) site: Site,
}

/// A transform that makes one function from another.
pub(crate) struct TransformStep {
    pub(crate) kind: TransformStepKind,
    /// The number of leading outputs of the transformed module that are not requested.
    pub(crate) dropped: usize,
    pub(crate) label: &'static str,
    pub(crate) function: String,
    pub(crate) site: Site,
    pub(crate) targets: Vec<GradientTarget>,
}

/// The change that a [`TransformStep`] makes to a module.
pub(crate) enum TransformStepKind {
    /// Appends gradients to the outputs.
    Reverse(GradientOptions),
    /// Appends tangents to the outputs.
    Forward,
    /// Replaces the outputs by their Jacobians.
    Jacobian {
        /// The parts of the result.
        results: Vec<Side>,
        mode: Option<Mode>,
    },
    /// Computes all slices of the targets.
    Batch {
        /// For each input, the axis of its slices.
        axes: Vec<Option<usize>>,
        /// For each output, the axis of the slices.
        out: Vec<usize>,
        /// The number of slices.
        extent: Dim,
    },
    /// Combines all elements along a new leading axis.
    AssociativeScan {
        /// The number of elements.
        extent: Dim,
        reverse: bool,
    },
    /// Computes its values again in derivatives.
    Checkpoint,
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
    /// The function as a callee with a name; `None` if it has an error.
    pub(crate) fn callable(&self, name: &str) -> Option<Callable<'_>> {
        let (signature, compiled) = (self.signature.as_ref()?, self.compiled.as_ref()?);
        Some(Callable {
            name: name.to_owned(),
            symbols: signature.symbols().to_vec(),
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
    /// The module after all transforms. Dimensions that are known in the call are substituted first, because a gradient
    /// with known extents is simpler.
    ///
    /// Also returns the origin of each value, as far as it is known.
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
            let transformed = canonical(module).and_then(|(module, became)| {
                origins = moved(&origins, &became);
                step.run(&module, &known)
            });
            let (whole, made) = transformed.map_err(|error| Differentiation::Gradient(step.diag(&error)))?;
            origins = made.iter().map(|made| of_gradient((*made)?, &origins)).collect();
            module = whole.without_first(step.dropped);
            origins.resize(module.insts().len(), None);
            // The next gradient is several times as large.
            if is_too_large(&module) {
                let diag = too_many(&format!("{}({})", step.label, step.function), module.size(), step.site);
                return Err(Differentiation::Gradient(diag));
            }
        }
        Ok((module, origins))
    }
}

impl TransformStep {
    /// Transforms a module. Also returns the origin of each value, as far as it is known. Extents that are known in the
    /// call are given.
    fn run(
        &self,
        module: &Canonical,
        known: &Bindings,
    ) -> Result<(Module, Vec<Option<GradientOrigin>>), AutodiffError> {
        let refused = |error: &OpError| AutodiffError::of(error, error.to_string());
        let count = |extent: &Dim| {
            let extent = extent.substitute(known);
            extent.map_err(|overflow| AutodiffError::UnsupportedShape(overflow.to_string()))
        };
        let of = |gradient: Gradient| (gradient.module.into_verified().into_module(), gradient.made);
        match &self.kind {
            TransformStepKind::Reverse(options) => differentiate(module, options).map(of),
            TransformStepKind::Forward => push_forward(module, &self.wrt()).map(of),
            TransformStepKind::Jacobian { results, mode } => {
                let side = |target: &GradientTarget| Side {
                    members: target.inputs.clone(),
                    is_flat: matches!(target.structure, Structure::Struct(_)),
                };
                let inputs: Vec<_> = self.targets.iter().map(side).collect();
                let wrt = self.wrt();
                let zero_ok = |input| wrt.iter().any(|wrt| wrt.input.index() == input && wrt.zero_ok);
                Ok((jacobian(module, results, &inputs, zero_ok, *mode)?, Vec::new()))
            }
            TransformStepKind::Batch { axes, out, extent } => {
                let Batched { module, made_for } =
                    batch_along(module, axes, out, &count(extent)?).map_err(|error| refused(&error))?;
                Ok((module, made_for.into_iter().map(|value| Some(GradientOrigin::Copy(value))).collect()))
            }
            TransformStepKind::AssociativeScan { extent, reverse } => {
                let module = associative_scan(module, &count(extent)?, *reverse);
                Ok((module.map_err(|error| refused(&error))?, Vec::new()))
            }
            TransformStepKind::Checkpoint => {
                Ok((checkpoint(module).map_err(|error| refused(&error))?, Vec::new()))
            }
        }
    }

    fn wrt(&self) -> Vec<Wrt> {
        self.targets.iter().flat_map(GradientTarget::wrt).collect()
    }
}

/// The origin of a value of a gradient.
pub(crate) fn of_gradient(made: GradientOrigin, primal: &[Option<Origin>]) -> Option<Origin> {
    match made {
        GradientOrigin::Copy(value) => primal[value.index()],
        GradientOrigin::Back(value) => {
            primal[value.index()].map(|origin| Origin { derivative: true, ..origin })
        }
    }
}

/// The origins of the values that `became` maps the old values to. If several old values became one, it has the first
/// origin.
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

/// The reason that a function has no gradient.
pub(crate) enum Differentiation {
    /// It breaks a rule with the dimensions of the call.
    Rule(Box<OpError>),
    /// It cannot be differentiated.
    Gradient(Diag),
}

impl TransformStep {
    fn diag(&self, error: &AutodiffError) -> Diag {
        GradientTarget::diag(
            &self.targets,
            error,
            &format!("`{}` of `{}`", self.label, self.function),
            self.site,
        )
    }
}

/// The number of instructions that a call copies.
pub(crate) fn own_instructions(module: &Module) -> usize {
    module.size() - module.inputs().len()
}

/// The error E1008 for `count` instructions, which exceed the limit.
pub(crate) fn too_many(callee: &str, count: usize, site: Site) -> Diag {
    let message = format!(
        "with `{callee}` inlined the function has {count} instructions or more, which exceeds the limit of \
         {MAX_INSTRUCTIONS}"
    );
    Diag::new(Code::E1008, site, message)
}

/// Whether a module exceeds the limit of a function.
fn is_too_large(module: &Module) -> bool {
    module.size() > MAX_INSTRUCTIONS
}
