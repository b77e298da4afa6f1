//! Static reverse-mode autodiff: from a canonical module to the module of its gradient.
//!
//! The gradient module begins with a copy of the primal. The rules (`rules.rs`) then process the primal's instructions
//! in reverse order. The rule of an instruction reads the cotangent of its result and contributes to the cotangents of
//! its operands. Each value has one cotangent: the sum of its contributions, in the order in which the rules make them.
//! Only values on a differentiable path from a parameter to an output take part.
//!
//! Two profiles exist:
//!
//! - [`Profile::Extended`] uses this project's extensions where they are faster.
//! - [`Profile::CoreV1`] uses the specification's operations alone, so that any tool that reads Core v1 reads the
//!   gradient.
//!
//! No operation of Core v1 can express [`StopGradient`](crate::map::Map::StopGradient). Its operand replaces it where
//! no derivative of any order would reach it. Elsewhere a gradient of the gradient would no longer stop there, so
//! differentiation reports E5001.

mod activity;
mod core_v1;
mod error;
mod forward;
mod legal;
pub(crate) mod magnitude;
mod options;
mod primal;
mod pullback;
pub(crate) mod rules;
mod scan;
pub(crate) mod typed;

use std::collections::BTreeMap;

use crate::{
    build::Builder,
    canon::{Canonical, canonicalise_mapped},
    ir::{Module, Op, ValueId},
    map::{Calculus, Map, formula},
    ops::Profile,
    verify::{VerifyError, verify},
};

pub use error::AutodiffError;
pub(crate) use error::push;
pub use forward::push_forward;
pub use options::{Cotangent, GradientOptions, Wrt};

use activity::Activity;
use magnitude::Magnitudes;
use primal::Copy;
use pullback::Pullback;

/// A module that computes the results of the primal and the gradients.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// Inputs: the primal's, then the requested cotangents. Outputs: the primal's, then the gradients in `wrt` order.
    pub module: Canonical,
    /// Pairs of a differentiated primal value and its gradient, both as values of `module`, ascending. Only gradients
    /// that the outputs need are listed.
    pub gradients: Vec<(ValueId, ValueId)>,
    /// The origin of each value of `module`. It is `None` where it is not known, and always in Core v1.
    pub made: Vec<Option<GradientOrigin>>,
}

/// The origin of a value of a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientOrigin {
    /// The value is the copy of this value of the primal.
    Copy(ValueId),
    /// The rule of this value of the primal emitted the value.
    Back(ValueId),
}

/// The module that computes the gradient of `module`.
///
/// ```
/// use mind_core::{
///     canon::canonicalise,
///     grad::{Cotangent, GradientOptions, Wrt, differentiate},
///     build::Builder, ir::{Op, Product},
///     ops::Profile,
///     text::core_ir,
///     ty::{DType, Shape, Type},
///     verify::verify,
/// };
/// let mut b = Builder::new();
/// let x = b.input("x", Type::new(DType::F32, Shape::literal(&[3])))?;
/// let square = b.push(Op::Product(Product::Dot), &[x, x])?;
/// let module = canonicalise(verify(b.finish([square]), Profile::CoreV1).expect("it is valid"));
/// let options = GradientOptions {
///     wrt: vec![Wrt { input: x, zero_ok: false }],
///     cotangent: Cotangent::One,
///     profile: Profile::CoreV1,
/// };
/// let gradient = differentiate(&module, &options)?;
/// assert_eq!(
///     core_ir::print(&gradient.module),
///     "%0 = Input () {name=\"x\"} : f32[3]\n\
///      %1 = Dot (%0, %0) : f32\n\
///      %2 = ConstF32 () {value=1.0} : f32\n\
///      %3 = Mul (%0, %2) : f32[3]\n\
///      %4 = Mul (%0, %2) : f32[3]\n\
///      %5 = Add (%3, %4) : f32[3]\n\
///      outputs: %1, %5\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`AutodiffError`].
pub fn differentiate(module: &Canonical, options: &GradientOptions) -> Result<Gradient, AutodiffError> {
    let primal: &Module = module;
    primal::check_outputs(primal, options.cotangent)?;
    primal::check_parameters(primal, &options.wrt)?;
    let Backward { builder, outputs, activity, copies, cotangents, made_for } = backward(primal, options)?;
    let recorded =
        copies.iter().zip(&cotangents).filter_map(|(copy, cotangent)| Some((*copy, (*cotangent)?)));
    let recorded: Vec<_> = recorded.collect();
    let fault = |made: ValueId, fault| {
        legal::refused(&activity, made_for.get(made.index()).copied().flatten(), fault)
    };
    let mut made: Vec<Option<GradientOrigin>> =
        made_for.iter().map(|value| value.map(GradientOrigin::Back)).collect();
    made.resize(builder.insts().len(), None);
    for (value, copy) in copies.iter().enumerate() {
        made[copy.index()].get_or_insert(GradientOrigin::Copy(ValueId::new(value)));
    }
    finish(builder.finish(outputs), (&recorded, &made), options.profile, fault)
}

/// Returns the unverified gradient of a module that an instruction holds. The copies of the values in `kept` are
/// appended to its outputs.
fn raw(primal: &Module, options: &GradientOptions, kept: &[ValueId]) -> Result<Module, AutodiffError> {
    let Backward { builder, mut outputs, copies, .. } = backward(primal, options)?;
    outputs.extend(kept.iter().map(|value| copies[value.index()]));
    Ok(builder.finish(outputs))
}

/// A gradient as the rules make it, before it is verified.
struct Backward<'a> {
    builder: Builder,
    outputs: Vec<ValueId>,
    activity: Activity<'a>,
    /// The copy of each primal value.
    copies: Vec<ValueId>,
    /// The cotangent of each primal value that has one.
    cotangents: Vec<Option<ValueId>>,
    /// For each value of the gradient, the primal value whose rule emitted it. Other values, such as the copies, have
    /// none.
    made_for: Vec<Option<ValueId>>,
}

/// Applies the rules of a module's instructions, from its results to its inputs.
fn backward<'a>(primal: &'a Module, options: &GradientOptions) -> Result<Backward<'a>, AutodiffError> {
    let activity = Activity::new(primal, options.wrt.iter().map(|wrt| wrt.input));
    let Copy { mut builder, values: copies, seeds, loops } = primal::copy(primal, options, &activity)?;

    let starts = if options.cotangent == Cotangent::First { 1 } else { primal.outputs().len() };
    assert_eq!(seeds.len(), starts, "the derivative starts at the first output, or at every one");
    let mut cotangents = vec![None; primal.insts().len()];
    let (mut further, mut magnitudes) = (Further::new(), Magnitudes::default());
    for (output, seed) in primal.outputs().iter().zip(seeds) {
        if activity.is_active(*output) {
            accumulate(&mut builder, &mut cotangents[output.index()], seed)?;
        }
    }
    let mut made_for: Vec<Option<ValueId>> = Vec::new();
    for (value, inst) in primal.iter().rev() {
        let is_further = further.range((value, 0)..).next().is_some_and(|((of, _), _)| *of == value);
        if cotangents[value.index()].is_none() && is_further {
            cotangents[value.index()] = Some(zeros(&mut builder, copies[value.index()])?);
        }
        let Some(mut cotangent) = cotangents[value.index()] else { continue };
        if activity.has_no_rule(inst) {
            return Err(activity.unsupported(value));
        }
        // Core v1 has no operation that joins.
        if options.profile == Profile::Extended {
            cotangent = typed::joined(&mut builder, cotangent)?;
            cotangents[value.index()] = Some(cotangent);
        }
        made_for.resize(builder.insts().len(), None);
        let (builder, cotangents, further) = (&mut builder, &mut cotangents[..], &mut further);
        let mut pullback = Pullback {
            activity: &activity,
            value,
            inst,
            cotangent,
            builder,
            magnitudes: &mut magnitudes,
            copies: &copies,
            cotangents,
            further,
            loops: &loops,
        };
        rules::step(&mut pullback, &inst.op)?;
        made_for.resize(pullback.builder.insts().len(), Some(value));
    }

    let mut outputs: Vec<_> = primal.outputs().iter().map(|output| copies[output.index()]).collect();
    for Wrt { input, zero_ok } in &options.wrt {
        outputs.push(match cotangents[input.index()] {
            Some(cotangent) => cotangent,
            None if *zero_ok || activity.is_flat(*input) => zeros(&mut builder, copies[input.index()])?,
            None => return Err(activity.unreached(*input, &cotangents)),
        });
    }
    Ok(Backward { builder, outputs, activity, copies, cotangents, made_for })
}

/// The cotangents so far of the results after the first, by the instruction and the position of the result.
type Further = BTreeMap<(ValueId, usize), ValueId>;

/// Adds a contribution to the cotangent of one value.
fn accumulate(
    builder: &mut Builder,
    cotangent: &mut Option<ValueId>,
    contribution: ValueId,
) -> Result<(), AutodiffError> {
    *cotangent = Some(match *cotangent {
        Some(sum) => formula(builder, "sum + more", &[("sum", sum), ("more", contribution)])?,
        None => contribution,
    });
    Ok(())
}

/// Zeros of the type of `like`.
fn zeros(builder: &mut Builder, like: ValueId) -> Result<ValueId, AutodiffError> {
    let ty = builder.ty(like).clone();
    if ty.shape.as_literals().is_some() {
        return core_v1::filled(builder, &ty, 0.0);
    }
    let zero = builder.constant(ty.dtype, 0.0);
    typed::broadcast(builder, zero, &ty.shape)
}

/// Emits formulas outside the rules of instructions.
impl Calculus for Builder {
    type Value = ValueId;
    type Error = AutodiffError;

    fn apply(&mut self, map: Map, operands: &[ValueId]) -> Result<ValueId, AutodiffError> {
        push(self, Op::Map(map), operands)
    }

    fn number(&mut self, number: f64, like: ValueId) -> Result<ValueId, AutodiffError> {
        Ok(self.constant(self.ty(like).dtype, number))
    }

    /// Only the rules of instructions evaluate formulas that keep zeros, and these do not use this calculus.
    fn is_finite_nonzero(&mut self, _: ValueId) -> bool {
        false
    }

    fn like(&mut self, value: ValueId, other: ValueId) -> Result<ValueId, AutodiffError> {
        let dtype = self.ty(other).dtype;
        if self.ty(value).dtype == dtype {
            return Ok(value);
        }
        push(self, Op::Map(Map::to(dtype)), &[value])
    }
}

/// Verifies the gradient, canonicalises it in its profile, and renumbers the recorded gradients. `refused` makes the
/// error for a value that Core v1 cannot express.
fn finish(
    module: Module,
    (gradients, made): (&[(ValueId, ValueId)], &[Option<GradientOrigin>]),
    profile: Profile,
    refused: impl Fn(ValueId, legal::Fault) -> AutodiffError,
) -> Result<Gradient, AutodiffError> {
    // The recorded values are outputs until canonicalisation has renumbered them.
    let (insts, mut outputs) = module.into_parts();
    let kept = outputs.len();
    outputs.extend(gradients.iter().flat_map(|(value, gradient)| [value, gradient]));
    let marked = Module::from_parts(insts, outputs);

    let mut verified = verify(marked, Profile::Extended).map_err(|errors| unverified(&errors))?;
    if profile == Profile::CoreV1 {
        let (canonical, became) = canonicalise_mapped(verified);
        let made = |value: ValueId| became.iter().position(|new| *new == Some(value)).map(ValueId::new);
        let legal = legal::legalise(&canonical, |value, fault| refused(made(value).unwrap_or(value), fault))?;
        verified = verify(legal, profile).map_err(|errors| unverified(&errors))?;
    }
    let mut recorded = Vec::new();
    let (canonical, became) = canonicalise_mapped(verified);
    let marked = match profile {
        Profile::Extended => moved(made, &became),
        Profile::CoreV1 => Vec::new(),
    };
    let unmarked = canonical.into_verified().rewrite(|module| {
        let (insts, mut outputs) = module.into_parts();
        recorded = outputs.split_off(kept);
        Module::from_parts(insts, outputs)
    });
    let renumbered = renumbered(&unmarked);
    let new = |value: ValueId| renumbered[value.index()];
    let pairs = recorded.chunks_exact(2);
    let gradients = pairs.filter_map(|pair| Some((new(pair[0])?, new(pair[1])?))).collect();
    let (module, became) = canonicalise_mapped(unmarked);
    let mut made = moved(&marked, &became);
    made.resize(module.insts().len(), None);
    Ok(Gradient { module, gradients, made })
}

/// Assigns the origins of values to the values that they became. Where several values became one, the first origin
/// counts.
fn moved(made: &[Option<GradientOrigin>], became: &[Option<ValueId>]) -> Vec<Option<GradientOrigin>> {
    let count = became.iter().flatten().map(|value| value.index() + 1).max().unwrap_or_default();
    let mut moved = vec![None; count];
    for (made, became) in made.iter().zip(became) {
        if let (Some(made), Some(became)) = (made, became) {
            moved[became.index()].get_or_insert(*made);
        }
    }
    moved
}

/// The number of each value after canonicalisation, for a module that is canonical except that it holds values that no
/// output needs. Canonicalisation removes these, except inputs, and changes nothing else.
fn renumbered(module: &Module) -> Vec<Option<ValueId>> {
    let needed = module.insts().iter().zip(module.live()).map(|(inst, live)| live || inst.op.is_input());
    let mut count = 0;
    let number = |needed: bool| {
        needed.then(|| {
            count += 1;
            ValueId::new(count - 1)
        })
    };
    needed.map(number).collect()
}

/// Converts a module to the canonical form that derivatives take. Also returns what each value became.
pub(crate) fn canonical(module: Module) -> Result<(Canonical, Vec<Option<ValueId>>), AutodiffError> {
    verify(module, Profile::Extended).map(canonicalise_mapped).map_err(|errors| unverified(&errors))
}

fn unverified(errors: &[VerifyError]) -> AutodiffError {
    let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
    AutodiffError::Verification(errors.join("; "))
}
