//! Transforms of functions: the callee is transformed and the result is called.

use super::lowering::BodyLowering;
use crate::build::free_names;
use crate::diag::{Code, Diag, Site};
use crate::dim::{Dim, Overflow, Symbol};
use crate::grad::{Cotangent, GradientOptions};
use crate::jacobian::{Mode, Side};
use crate::ops::Profile;
use crate::surface::ast::{Argument, Callee, ExprId, GradientKind, Transform, TransformKind};
use crate::surface::lower::callees::callable::{Callable, Formal, TransformStep, TransformStepKind};
use crate::surface::lower::declarations::lowered::GradientTarget;
use crate::surface::lower::declarations::signature::{gradient_targets, listed_targets, not_pure};
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::ty::{DType, Type};

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
            let uses = "can be transformed";
            return Err(not_pure(&name, update, function.site(), uses).into());
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
    let name = format!("{}({})", transform.kind.name(), callable.name);
    let transformed = match transform.kind {
        TransformKind::Gradient(kind) => reverse(callable, transform, kind),
        TransformKind::Jvp => forward(callable, transform, Pushed::Function),
        TransformKind::Jacobian { mode } => jacobian(callable, transform, mode),
        TransformKind::Hessian => {
            jacobian(reverse(callable, transform, GradientKind::Grad)?, transform, Some(Mode::Forward))
        }
        TransformKind::Hvp => {
            forward(reverse(callable, transform, GradientKind::Grad)?, transform, Pushed::Gradient)
        }
        TransformKind::Vmap { axis, out } => batched(callable, transform, axis, out),
        TransformKind::AssociativeScan { reverse } => associative_scan(callable, transform, reverse),
        TransformKind::Checkpoint => {
            let mut callable = callable;
            callable.add(transform, TransformStepKind::Checkpoint, 0, Vec::new());
            Ok(callable)
        }
    };
    transformed.map(|callable| Callable { name, ..callable })
}

/// The parameters that a transform lists.
fn targets(callable: &Callable<'_>, transform: &Transform) -> Result<Vec<GradientTarget>, Diag> {
    let parameters = callable.formals.iter().map(|formal| (formal.name.as_str(), &formal.structure));
    match transform.kind {
        TransformKind::Vmap { .. } => listed_targets(&transform.wrt, parameters),
        _ => gradient_targets(&transform.wrt, parameters),
    }
}

impl Callable<'_> {
    /// Adds a step with these targets.
    fn add(
        &mut self,
        transform: &Transform,
        kind: TransformStepKind,
        dropped: usize,
        targets: Vec<GradientTarget>,
    ) {
        let (label, function, site) = (transform.kind.name(), self.name.clone(), transform.site);
        self.steps.push(TransformStep { kind, dropped, label, function, site, targets });
    }

    /// Adds a dimension, with the first free name among `name`, `name1`, ….
    fn add_symbol(&mut self, name: &str) -> Dim {
        let is_taken = |name: &str| self.symbols.iter().any(|symbol| **symbol == *name);
        let symbol = free_names(name, is_taken).map(Symbol::from).next().expect("names do not run out");
        self.symbols.push(symbol.clone());
        Dim::symbol(symbol)
    }

    /// Adds a parameter after the others, with the first free name among `name`, `name1`, ….
    fn add_parameter(&mut self, name: &str, structure: Structure) {
        let is_taken = |name: &str| self.formals.iter().any(|formal| formal.name == name);
        let name = free_names(name, is_taken).next().expect("names do not run out");
        let written = structure.to_string();
        self.formals.push(Formal { name, update: false, structure, written, site: Site::Nowhere });
    }
}

/// The function that computes an associative scan.
fn associative_scan<'a>(
    mut callable: Callable<'a>,
    transform: &Transform,
    reverse: bool,
) -> Result<Callable<'a>, Diag> {
    let parts = match &callable.result {
        Structure::Tuple(parts) if !parts.is_empty() => parts.clone(),
        result => vec![result.clone()],
    };
    let taken = callable.formals.iter().map(|formal| &formal.structure);
    if !taken.eq(parts.iter().chain(&parts)) {
        let formals: Vec<_> = callable.formals.iter().map(|formal| formal.structure.to_string()).collect();
        let message = format!(
            "`associative_scan` takes a function of two values that returns one of the same type, found `{}`: ({}) -> {}",
            callable.name,
            formals.join(", "),
            callable.result
        );
        let help = "declare it as `fn f(a: f32[3], b: f32[3]) -> f32[3]`, or for pairs as \
            `fn f(a: f32, b: f32, c: f32, d: f32) -> (f32, f32)`";
        return Err(Diag::new(Code::E2001, transform.site, message).help(help));
    }
    let extent = callable.add_symbol("Steps");
    callable.formals.truncate(parts.len());
    let site = transform.site;
    for formal in &mut callable.formals {
        let what = format!("`{}`", formal.name);
        formal.structure = with_axis(&formal.structure, &extent, 0, &what, site, &mut |_| ())?;
        (formal.written, formal.site) = (formal.structure.to_string(), Site::Nowhere);
    }
    callable.result = with_axis(&callable.result, &extent, 0, "the result", site, &mut |_| ())?;
    callable.add(transform, TransformStepKind::AssociativeScan { extent, reverse }, 0, Vec::new());
    Ok(callable)
}

/// One structure for each target: a tuple if the list is one.
fn by_target(transform: &Transform, mut parts: Vec<Structure>) -> Structure {
    match transform.wrt.tuple || parts.len() > 1 {
        true => Structure::Tuple(parts),
        false => parts.remove(0),
    }
}

/// The function that computes a gradient.
fn reverse<'a>(
    mut callable: Callable<'a>,
    transform: &Transform,
    kind: GradientKind,
) -> Result<Callable<'a>, Diag> {
    let (label, result) = (transform.kind.name(), callable.result.clone());
    let targets = targets(&callable, transform)?;
    let cotangent = match kind {
        GradientKind::Grad | GradientKind::ValueAndGrad => {
            let has_parts = kind == GradientKind::ValueAndGrad && is_loss_and_more(&result);
            if !is_float_scalar(&result) && !has_parts {
                let name = &callable.name;
                let message = format!("`{label}`: `{name}` returns {result}, needed a single f32 or f64");
                let diag = Diag::new(Code::E5004, transform.site, message);
                return Err(match transform.kind {
                    TransformKind::Gradient(_) => {
                        diag.help("reduce the result, as in `mean(…)`, or give a cotangent with `vjp`")
                    }
                    _ => diag.help("reduce the result, as in `mean(…)`, or use `jacobian`"),
                });
            }
            if has_parts { Cotangent::First } else { Cotangent::One }
        }
        GradientKind::Vjp => {
            callable.add_parameter("cotangent", result.clone());
            Cotangent::Input
        }
    };
    let options = GradientOptions {
        wrt: targets.iter().flat_map(GradientTarget::wrt).collect(),
        cotangent,
        profile: Profile::Extended,
    };
    let values = result.leaves().len();
    let gradient = by_target(transform, targets.iter().map(|target| target.structure.clone()).collect());
    let dropped = match kind {
        GradientKind::ValueAndGrad => {
            callable.result = Structure::Tuple(vec![result, gradient]);
            0
        }
        GradientKind::Grad | GradientKind::Vjp => {
            callable.result = gradient;
            values
        }
    };
    callable.add(transform, TransformStepKind::Reverse(options), dropped, targets);
    Ok(callable)
}

/// The function whose tangent a transform computes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pushed {
    /// The function itself. The result is its value and the tangent of the value.
    Function,
    /// The gradient of the function. The result is the tangent of the gradient.
    Gradient,
}

/// The function that computes tangents. The tangents of the targets are further parameters.
fn forward<'a>(
    mut callable: Callable<'a>,
    transform: &Transform,
    pushed: Pushed,
) -> Result<Callable<'a>, Diag> {
    let mut targets = targets(&callable, transform)?;
    for target in &targets {
        callable.add_parameter("tangent", target.structure.clone());
    }
    let result = callable.result.clone();
    let dropped = match pushed {
        Pushed::Function => {
            callable.result = Structure::Tuple(vec![result.clone(), result]);
            0
        }
        Pushed::Gradient => {
            allow_zeros(&mut targets);
            result.leaves().len()
        }
    };
    callable.add(transform, TransformStepKind::Forward, dropped, targets);
    Ok(callable)
}

/// A gradient may depend on no parameter: the gradient of a linear function is constant.
fn allow_zeros(targets: &mut [GradientTarget]) {
    targets.iter_mut().for_each(|target| target.zero_ok = true);
}

/// The function that computes the derivatives of all elements of the result.
fn jacobian<'a>(
    mut callable: Callable<'a>,
    transform: &Transform,
    mode: Option<Mode>,
) -> Result<Callable<'a>, Diag> {
    let mut targets = targets(&callable, transform)?;
    if transform.kind == TransformKind::Hessian {
        allow_zeros(&mut targets);
    }
    let mut results = Vec::new();
    let refused = |overflow: Overflow| Diag::new(Code::E1008, transform.site, overflow.to_string());
    callable.result = blocks(&callable.result, transform, &targets, &mut results).map_err(refused)?;
    callable.add(transform, TransformStepKind::Jacobian { results, mode }, 0, targets);
    Ok(callable)
}

/// The Jacobians of a result. Each of its tensors, and each struct as a vector, is a side.
fn blocks(
    result: &Structure,
    transform: &Transform,
    targets: &[GradientTarget],
    results: &mut Vec<Side>,
) -> Result<Structure, Overflow> {
    if let Structure::Tuple(parts) = result {
        let parts = parts.iter().map(|part| blocks(part, transform, targets, results));
        return Ok(Structure::Tuple(parts.collect::<Result<_, _>>()?));
    }
    let start = results.last().map_or(0, |last| last.members.end);
    let members = start..start + result.leaves().len();
    results.push(Side { members, is_flat: matches!(result, Structure::Struct(_)) });
    let rows = side(result)?;
    let dtype = result.leaves().first().map_or(DType::F32, |leaf| leaf.dtype);
    let block = |target: &GradientTarget| {
        let shape = rows.iter().cloned().chain(side(&target.structure)?).collect();
        Ok(Structure::Value(Type::new(dtype, shape)))
    };
    Ok(by_target(transform, targets.iter().map(block).collect::<Result<_, _>>()?))
}

/// The extents of a side of a Jacobian: the extents of a tensor, or the number of elements of a struct.
fn side(structure: &Structure) -> Result<Vec<Dim>, Overflow> {
    if let Structure::Value(ty) = structure {
        return Ok(ty.shape.to_vec());
    }
    let mut count = Dim::ZERO;
    for leaf in structure.leaves() {
        count = count.add(&leaf.shape.element_count()?)?;
    }
    Ok(vec![count])
}

/// The function that computes all slices of the targets.
fn batched<'a>(
    mut callable: Callable<'a>,
    transform: &Transform,
    axis: i64,
    out: i64,
) -> Result<Callable<'a>, Diag> {
    let targets = targets(&callable, transform)?;
    let extent = callable.add_symbol("Batch");
    let mut axes: Vec<Option<usize>> = Vec::new();
    for formal in &mut callable.formals {
        let inputs = axes.len()..axes.len() + formal.structure.leaves().len();
        let Some(target) = targets.iter().find(|target| inputs.contains(&target.inputs.start)) else {
            axes.resize(inputs.end, None);
            continue;
        };
        if target.inputs != inputs {
            let message = format!("`{}` is a field, needed a parameter", target.name);
            return Err(Diag::new(Code::E2001, target.site, message)
                .help("`vmap` maps over whole parameters: pass the field as a separate parameter"));
        }
        let what = format!("`{}`", formal.name);
        formal.structure = with_axis(&formal.structure, &extent, axis, &what, target.site, &mut |axis| {
            axes.push(Some(axis));
        })?;
        (formal.written, formal.site) = (formal.structure.to_string(), Site::Nowhere);
    }
    let (mut outs, what) = (Vec::new(), format!("the result of `{}`", callable.name));
    callable.result = with_axis(&callable.result, &extent, out, &what, transform.site, &mut |axis| {
        outs.push(axis);
    })?;
    callable.add(transform, TransformStepKind::Batch { axes, out: outs, extent }, 0, targets);
    Ok(callable)
}

/// A structure whose tensors have a further axis. Calls `at` with the position of the axis in each.
fn with_axis(
    structure: &Structure,
    extent: &Dim,
    axis: i64,
    what: &str,
    site: Site,
    at: &mut dyn FnMut(usize),
) -> Result<Structure, Diag> {
    match structure {
        Structure::Value(ty) => {
            let rank = ty.rank() as i64;
            let position = if axis < 0 { axis + rank + 1 } else { axis };
            if !(0..=rank).contains(&position) {
                let message = format!("axis {axis} is out of range for the slices of {what}, {ty}");
                let help = format!("write an axis from {} to {rank}", -rank - 1);
                return Err(Diag::new(Code::E3004, site, message).help(help));
            }
            let position = position as usize;
            at(position);
            let mut shape = ty.shape.to_vec();
            shape.insert(position, extent.clone());
            Ok(Structure::Value(ty.with_shape(shape.into_iter().collect())))
        }
        Structure::Tuple(parts) => {
            let parts = parts.iter().map(|part| with_axis(part, extent, axis, what, site, at));
            Ok(Structure::Tuple(parts.collect::<Result<_, _>>()?))
        }
        Structure::Struct(ty) => {
            let refused = |message: String| Diag::new(Code::E2001, site, message);
            if axis != 0 {
                let message = format!("axis {axis} of {what}: the struct {ty} has slices along axis 0 only");
                return Err(refused(message));
            }
            let stacked = ty.stacked(extent.clone()).ok_or_else(|| {
                refused(format!("{what}: the struct {ty} cannot have a leading axis"))
                    .help("use its fields, such as a tuple of them")
            })?;
            let stacked = stacked.map_err(|overflow| Diag::new(Code::E1008, site, overflow.to_string()))?;
            structure.leaves().iter().for_each(|_| at(0));
            Ok(Structure::Struct(stacked))
        }
    }
}

/// Whether a result is a tuple whose first element can be differentiated. The other elements are passed on.
pub(crate) fn is_loss_and_more(result: &Structure) -> bool {
    matches!(result, Structure::Tuple(parts) if parts.first().is_some_and(is_float_scalar))
}

fn is_float_scalar(result: &Structure) -> bool {
    matches!(result, Structure::Value(Type { dtype, shape }) if dtype.is_float() && shape.rank() == 0)
}
