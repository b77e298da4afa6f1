//! The arguments for engines other than the interpreter, such as XLA.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `mind xla`.
#[derive(Debug, Args)]
#[command(after_help = "\
A plugin is a shared library with the PJRT interface, named by --plugin or by the variable
MIND_PJRT_PLUGIN. Python packages contain such libraries: for CPUs
`pip download --no-deps xla-cpu-pjrt` downloads a .whl file, a zip archive that contains
xla_cpu_pjrt.so; jax-cuda12-pjrt is for GPUs and libtpu for TPUs. `mind run --on xla` runs
programs with a plugin.

Plugins log to standard error; TF_CPP_MIN_LOG_LEVEL=3 in the environment silences those of XLA.

Examples:
  mind xla devices --plugin xla_cpu_pjrt.so
  mind xla devices --plugin xla_cpu_pjrt.so --devices 8")]
pub struct XlaArguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: XlaCommand,
}

/// The subcommands of `mind xla`.
#[derive(Debug, Subcommand)]
pub enum XlaCommand {
    /// Show the platform, version and devices of a plugin
    Devices(XlaDevicesArguments),
}

/// `mind xla devices`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mind xla devices --plugin xla_cpu_pjrt.so
  MIND_PJRT_PLUGIN=xla_cpu_pjrt.so mind xla devices --devices 8")]
pub struct XlaDevicesArguments {
    #[command(flatten)]
    pub plugin: PluginOptions,
}

/// The engine that runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// The reference interpreter
    Interpreter,
    /// XLA, through a PJRT plugin
    Xla,
}

/// Options for `--to stablehlo`.
#[derive(Clone, Debug, Default, Args)]
pub struct EngineOptions {
    /// With --to stablehlo, the extent of a symbol, such as N=32; each symbol needs one
    #[arg(long = "dim", value_name = "NAME=EXTENT")]
    pub dims: Vec<String>,
    #[command(flatten)]
    pub lowering: LoweringOptions,
}

/// Options for lowering a program to StableHLO.
#[derive(Clone, Debug, Default, Args)]
pub struct LoweringOptions {
    /// For XLA, devices in a grid of named axes, such as d=4,m=2
    #[arg(long, value_name = "AXIS=COUNT", value_delimiter = ',')]
    pub mesh: Vec<String>,
    /// With --mesh, the axis that splits each dimension of an input, `_` for none, such as x=d,_
    #[arg(long = "shard", value_name = "INPUT=AXES", requires = "mesh")]
    pub shards: Vec<String>,
    /// For XLA, the lowest precision of products and convolutions of f32 [default: highest]
    #[arg(long, value_name = "NAME")]
    pub precision: Option<PrecisionName>,
    /// For XLA, the type in which products and convolutions of f32 are computed [default: f32]
    #[arg(long, value_name = "TYPE")]
    pub compute: Option<ComputeType>,
}

/// The type of the operands of products and convolutions of `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ComputeType {
    /// Operands are not converted
    F32,
    /// Operands are rounded to bfloat16 on every device, and products are accumulated in f32
    #[value(alias = "bfloat16")]
    Bf16,
}

/// A precision of products and convolutions of `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PrecisionName {
    /// f32 throughout
    #[value(alias = "float32")]
    Highest,
    /// Operands rounded to 11 bits where the device can, and accumulated in f32
    #[value(alias = "tensorfloat32")]
    Tf32,
    /// Operands rounded to 8 bits where the device can, and accumulated in f32
    #[value(alias = "bfloat16")]
    Bf16,
}

/// Options for compiling a program by a PJRT plugin.
#[derive(Clone, Debug, Default, Args)]
pub struct CompileOptions {
    /// For XLA, a folder that keeps compiled programs, so that each is compiled once; created if needed
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// For XLA, an option of its compiler, such as xla_gpu_autotune_level=0
    #[arg(long = "xla-option", value_name = "NAME=VALUE")]
    pub xla_options: Vec<String>,
}

/// Options for a mesh over processes, each of which runs the command.
#[derive(Clone, Debug, Default, Args)]
pub struct ProcessOptions {
    /// For XLA, the number of processes whose devices form the mesh; each runs this command
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    #[arg(requires = "process", requires = "address")]
    pub processes: Option<u16>,
    /// With --processes, the number of this process, from 0
    #[arg(long, value_name = "NUMBER", requires = "processes")]
    pub process: Option<u16>,
    /// With --processes, the address at which process 0 listens for the others, such as 10.0.0.1:8476
    #[arg(long, value_name = "HOST:PORT", requires = "processes")]
    pub address: Option<String>,
    /// With --processes, the time in which all of them must have started
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    pub wait: u32,
}

/// Options for the PJRT plugin that runs programs on XLA.
#[derive(Clone, Debug, Default, Args)]
pub struct PluginOptions {
    /// For XLA, the PJRT plugin, a shared library [default: the path in MIND_PJRT_PLUGIN]
    #[arg(long, value_name = "PATH")]
    pub plugin: Option<PathBuf>,
    /// For XLA, the number of devices that a CPU plugin provides [default: the plugin decides]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    pub devices: Option<u16>,
}
