//! Programs as StableHLO, for `convert`, `grad` and `run`.

use std::collections::BTreeMap;

use mind_core::{
    canon::canonicalise,
    diag::Code,
    dim::Symbol,
    stablehlo::{self, Compute, Error, Mesh, Options, Precision},
    verify::Verified,
};

use crate::{
    args::{ComputeType, EngineOptions, LoweringOptions, OutputForm, PrecisionName},
    dims,
    input::Context,
    report::{Failure, Mistake, Outcome, Spot},
};

/// The StableHLO text of a program.
///
/// # Errors
/// The errors of `--dim` and of [`stablehlo::print`].
pub fn text(module: Verified, context: &Context, options: &EngineOptions) -> Outcome<String> {
    let extents = dims::parse_extents(&module, context, &options.dims)?;
    let options = self::options(context, extents, &options.lowering)?;
    stablehlo::print(&canonicalise(module), &options).map_err(|error| refused(&error, context))
}

/// The options for writing a program with these extents.
///
/// # Errors
/// An invalid layout.
pub fn options(
    context: &Context,
    extents: BTreeMap<Symbol, i64>,
    lowering: &LoweringOptions,
) -> Outcome<Options> {
    let precision = match lowering.precision {
        None | Some(PrecisionName::Highest) => Precision::Highest,
        Some(PrecisionName::Tf32) => Precision::Tf32,
        Some(PrecisionName::Bf16) => Precision::Bf16,
    };
    let compute = match lowering.compute {
        None | Some(ComputeType::F32) => Compute::F32,
        Some(ComputeType::Bf16) => Compute::Bf16,
    };
    let (updates, mesh) = (context.updates.clone(), mesh(context, lowering)?);
    Ok(Options { extents, updates, mesh, precision, compute })
}

/// The failure that a program cannot be written as StableHLO.
pub fn refused(error: &Error, context: &Context) -> Failure {
    let mistake = Mistake::new(error.code(), error.to_string()).at(&context.source, Spot::default());
    Failure::mistake(match error {
        Error::Open(symbols) => {
            let dims: Vec<_> = symbols.iter().map(|symbol| format!("--dim {symbol}=32")).collect();
            mistake.help(format!("give each one, as {}", dims.join(" ")))
        }
        Error::Unknown(_) | Error::Extents(_) | Error::Mesh(_) | Error::External(_) => mistake,
    })
}

/// Rejects options that apply only to StableHLO if the form is another one.
///
/// # Errors
/// Wrong use of the command.
pub fn check_use(form: OutputForm, options: &EngineOptions) -> Outcome {
    let option = match options {
        _ if form == OutputForm::StableHlo => return Ok(()),
        EngineOptions { dims, .. } if !dims.is_empty() => "--dim",
        EngineOptions { lowering, .. } if !lowering.mesh.is_empty() => "--mesh",
        EngineOptions { lowering, .. } if lowering.precision.is_some() => "--precision",
        EngineOptions { lowering, .. } if lowering.compute.is_some() => "--compute",
        EngineOptions { .. } => return Ok(()),
    };
    Err(Failure::with_help(
        format!("{option} works only with --to stablehlo"),
        "the other formats are independent of extents, devices and precision",
    ))
}

/// The devices of `--mesh`, and the splits of inputs by `--shard`.
fn mesh(context: &Context, options: &LoweringOptions) -> Outcome<Option<Mesh>> {
    if options.mesh.is_empty() {
        return Ok(None);
    }
    let mut mesh = Mesh::default();
    for text in &options.mesh {
        let (name, count) = text.split_once('=').unwrap_or((text, ""));
        let Ok(count) = count.trim().parse::<i64>() else {
            return Err(Failure::with_help(
                format!("--mesh {text} has no number of devices"),
                "write --mesh d=4,m=2",
            ));
        };
        mesh.axes.push((name.into(), count));
    }
    for text in &options.shards {
        let Some((input, axes)) = text.split_once('=') else {
            return Err(Failure::with_help(format!("--shard {text} has no axes"), "write --shard x=d,_"));
        };
        // A single number has no axes.
        let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
        let split = axes.map(|axis| (axis != "_").then(|| axis.into())).collect();
        if mesh.shards.insert(input.into(), split).is_some() {
            let mistake = Mistake::new(Code::E2008, format!("`{input}` is given twice in --shard"));
            return Err(Failure::mistake(mistake.at(&context.source, Spot::default())));
        }
    }
    Ok(Some(mesh))
}
