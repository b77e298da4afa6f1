//! `mind xla` and `mind run --on xla`: runs programs on the devices of a PJRT plugin.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{self, PathBuf},
    time::Duration,
};

use mind_core::{
    canon::canonicalise,
    diag::Code,
    dim::Bindings,
    interp::{Array, Elements},
    verify::Verified,
};
use mind_shape::{element_types, match_elements};
use mind_xla::{
    Cache, Cached, Client, ClientOption, Device, Error, Plugin, Processes, Program, Trace, VARIABLE, Values,
};

use super::stablehlo;
use crate::{
    args::{PluginOptions, ProcessOptions, RunArguments, XlaArguments, XlaCommand, XlaDevicesArguments},
    input::Context,
    numbers::grouped,
    output,
    report::{Failure, Mistake, Outcome, Spot, printable},
    style::Style,
};

/// Runs the command.
pub fn run(arguments: &XlaArguments, style: &Style) -> Outcome {
    match &arguments.command {
        XlaCommand::Devices(arguments) => devices(arguments, style),
    }
}

/// The results of a program for these inputs, which determine the extents of symbols.
pub fn results(
    module: Verified,
    context: &Context,
    inputs: &[Array],
    extents: &Bindings,
    arguments: &RunArguments,
) -> Outcome<Vec<Array>> {
    let RunArguments { plugin, lowering, compile, processes, trace, .. } = arguments;
    let path = path(plugin).map_err(|error| failure(error, Some(context)))?;
    let extents = extents.iter().filter_map(|(symbol, dim)| Some((symbol.clone(), dim.as_literal()?)));
    let options = stablehlo::options(context, extents.collect(), lowering)?;
    let names: Vec<_> = module.inputs().map(|(name, _)| name.to_string()).collect();
    let mut program = Program::new(canonicalise(module), options);
    for text in &compile.xla_options {
        let Some((name, value)) = text.split_once('=') else {
            let help = "write --xla-option xla_gpu_autotune_level=0";
            return Err(Failure::with_help(format!("--xla-option {text} has no value"), help));
        };
        program = program.xla_option(name.trim(), value.trim());
    }
    let failed = |error| failure(error, Some(context));
    // Errors in the program are reported before a plugin is loaded.
    program.stablehlo().map_err(failed)?;
    let cache = compile.cache.as_ref().map(Cache::open).transpose().map_err(failed)?;
    let loaded = Plugin::load(path).map_err(failed)?;
    if trace.is_some() && !loaded.has_profiler() {
        return Err(no_profiler(context));
    }
    let run = || {
        let client = client(&loaded, plugin, meet(processes)?.as_ref())?;
        let client = match cache {
            Some(cache) => client.cache(cache),
            None => client,
        };
        let executable = client.compile(&program)?;
        if let Cached::NotStored(reason) = executable.cached() {
            // If standard error is closed, the warning cannot be shown anywhere.
            _ = writeln!(io::stderr(), "warning: the compiled program is not kept: {}", printable(reason));
        }
        let mut call = executable.call();
        for (name, value) in names.iter().zip(inputs) {
            call = call.elements(name, &value.shape, borrowed(&value.elements));
        }
        let started = trace.as_ref().map(|_| loaded.trace()).transpose()?;
        let results = call.run()?;
        let results = results.iter().map(|result| Ok(Array::new(result.dims(), owned(result.read()?))));
        let results: Vec<Array> = results.collect::<Result<_, Error>>()?;
        Ok((results, started.map(Trace::stop).transpose()?))
    };
    let (results, events) = run().map_err(failed)?;
    if let (Some(file), Some(events)) = (trace, events) {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.map_or(Ok(()), fs::create_dir_all).map_err(|error| output::unwritable(file, &error))?;
        output::write_bytes(file, &events)?;
    }
    Ok(results)
}

/// The failure that `--trace` is given with a plugin that cannot trace.
fn no_profiler(context: &Context) -> Failure {
    let mistake = Mistake::new(Code::E6002, "the plugin has no profiler, which --trace needs");
    let help = "run it without --trace; plugins for GPUs have a profiler, and the plugin for CPUs has none";
    Failure::mistake(mistake.at(&context.source, Spot::default()).help(help))
}

macro_rules! conversions {
    ($($element:ident $variant:ident;)*) => {
        const fn borrowed(elements: &Elements) -> mind_rt::Elements<'_> {
            match elements {
                $(Elements::$variant(elements) => mind_rt::Elements::$variant(elements.as_slice()),)*
            }
        }
    };
}

element_types!(all => conversions!);

fn owned(values: Values) -> Elements {
    match_elements!(values, Values(elements) => elements.into())
}

/// The file of the plugin that the options or the environment name. It is made absolute, since the system searches only
/// its library folders for a name without folders.
fn path(options: &PluginOptions) -> Result<PathBuf, Error> {
    let of_environment = || env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let named = options.plugin.clone().or_else(of_environment).ok_or(Error::Unnamed)?;
    Ok(if named.is_file() { path::absolute(&named).unwrap_or(named) } else { named })
}

fn client(plugin: &Plugin, options: &PluginOptions, processes: Option<&Processes>) -> Result<Client, Error> {
    let count = options.devices.map(|count| ("cpu_device_count", ClientOption::Int(count.into())));
    match processes {
        None => plugin.client(count.as_slice()),
        Some(processes) => plugin.client_among(processes, count.as_slice()),
    }
}

/// Meets the other processes, if the options have several.
fn meet(options: &ProcessOptions) -> Result<Option<Processes>, Error> {
    let (Some(count), Some(process), Some(address)) = (options.processes, options.process, &options.address)
    else {
        return Ok(None);
    };
    let limit = Duration::from_secs(options.wait.into());
    Processes::meet(address, process.into(), count.into(), limit).map(Some)
}

/// The failure for an error in a plugin, a program or a run.
fn failure(error: Error, context: Option<&Context>) -> Failure {
    let at = |mistake: Mistake| match context {
        Some(context) => mistake.at(&context.source, Spot::default()),
        None => mistake,
    };
    if let (Error::Text(error), Some(context)) = (&error, context) {
        return stablehlo::refused(error, context);
    }
    let unavailable = |help: &str| at(Mistake::new(Code::E6002, printable(&error.to_string()))).help(help);
    Failure::mistake(match &error {
        Error::Unnamed => {
            let message = "no PJRT plugin is given";
            let help = format!(
                "give its file with --plugin PATH or the variable {VARIABLE}; `mind xla --help` says where to get one"
            );
            at(Mistake::new(Code::E6002, message)).help(help)
        }
        Error::Load { .. } | Error::NoPlugin { .. } | Error::Version { .. } | Error::Lacks { .. } => {
            unavailable("`mind xla --help` says where to get a plugin")
        }
        Error::Devices { needed, .. } => {
            unavailable(&format!("--devices {needed} asks a CPU plugin for that many devices"))
        }
        Error::Cache { .. } | Error::Processes { .. } => {
            return Failure::usage(printable(&error.to_string()));
        }
        _ => at(Mistake::new(Code::E6010, printable(&error.to_string()))),
    })
}

/// Prints the platform and version of a plugin, and a table of its devices.
fn devices(arguments: &XlaDevicesArguments, style: &Style) -> Outcome {
    let query = || {
        let plugin = Plugin::load(path(&arguments.plugin)?)?;
        let client = client(&plugin, &arguments.plugin, None)?;
        Ok((plugin.version(), client.platform()?, client.platform_version()?, client.devices()?))
    };
    let (interface, platform, version, devices) = query().map_err(|error| failure(error, None))?;
    let (platform, version) = (line(&platform), line(&version));
    let table = table(&devices, style);
    let (major, minor) = interface;
    output::print(&format!(
        "platform: {platform}\nversion: {version}\ninterface: PJRT {major}.{minor}\n\n{table}"
    ))
}

/// A text from a plugin, on one line.
fn line(text: &str) -> String {
    printable(text.trim()).replace('\n', " ")
}

fn table(devices: &[Device], style: &Style) -> String {
    let rows =
        devices.iter().map(|device| [device.id.to_string(), line(&device.kind), line(&memory(device))]);
    let rows: Vec<[String; 3]> = rows.collect();
    let width = |column: usize, title: &str| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([title.len()]).max().unwrap_or_default()
    };
    let (id, kind) = (width(0, "id"), width(1, "kind"));
    let mut text = style.strong(&format!("{:>id$}  {:<kind$}  memory", "id", "kind")) + "\n";
    for [number, name, memory] in &rows {
        text.push_str(&format!("{number:>id$}  {name:<kind$}  {memory}\n"));
    }
    text
}

/// The memory of a device: `device, pinned_host; 1,024 bytes of 4,096 in use`.
fn memory(device: &Device) -> String {
    let kinds: Vec<&str> = device.memories.iter().map(|memory| &*memory.kind).collect();
    let kinds = if kinds.is_empty() { "unknown".to_owned() } else { kinds.join(", ") };
    match device.stats {
        None => kinds,
        Some(stats) => {
            let limit = stats.limit.map(|limit| format!(" of {}", grouped(limit))).unwrap_or_default();
            format!("{kinds}; {} bytes{limit} in use", grouped(stats.in_use))
        }
    }
}
