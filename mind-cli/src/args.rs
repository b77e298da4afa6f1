//! The command line: its arguments and their help.

mod engines;
mod ks;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mind_core::ops;

pub use self::{engines::*, ks::*};
use crate::memory;

/// The arguments of the command.
#[derive(Debug, Parser)]
#[command(
    name = "mind",
    version,
    about = "Create projects; check, format, convert, differentiate, run, measure and draw tensor programs",
    after_help = TOP_EXAMPLES,
    after_long_help = TOP_NOTES,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
    /// When to colour output; `NO_COLOR` in the environment turns `auto` off.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: When,
}

const TOP_EXAMPLES: &str = "\
Examples:
  mind new moons                         a project that trains
  mind check net.mic                     every mistake in a file, with the line
  mind convert net.mic --to core-ir      the same program in another form
  mind run net.mic --input x=x.npy       its results
  mind graph net.mic -o net.svg          a picture of it
  mind explain E3003                     what an error means and how to fix it";

const TOP_NOTES: &str = "\
Examples:
  mind new moons                         a project that trains
  mind check net.mic                     every mistake in a file, with the line
  mind convert net.mic --to core-ir      the same program in another form
  mind grad net.mic --wrt w,b            its gradient, as another program
  mind run net.mic --input x=x.npy       its results
  mind graph net.mic -o net.svg          a picture of it
  mind explain E3003                     what an error means and how to fix it

Memory:
  The memory of `run`, `ks run` and `ks grad` is limited; --memory sets the limit. A run that
  exceeds it fails with E6004.

Files:
  The form of a file follows from its extension (.mic: MIC; .ir: Core IR text; .json: JSON; .mind:
  the language of `mind!`), otherwise from its first line; --from overrides both. `-` is standard
  input or output. A program has at most 10 MiB; for a larger one, E1008 names the line that
  passes the limit.

Exit codes:
  0  success
  1  the program has mistakes, differs from its format (fmt --check), or failed while it ran
  2  wrong use of the command, or a file that cannot be read or written";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a project that trains a network
    New(NewArguments),
    /// Verify programs and report every mistake
    Check(CheckArguments),
    /// Rewrite programs in canonical form, and format .mind files like rustfmt
    Fmt(FmtArguments),
    /// Write a program in another form
    Convert(ConvertArguments),
    /// Differentiate a program: write the program that computes its gradient
    Grad(GradArguments),
    /// Run a program, in the reference interpreter or on XLA
    Run(RunArguments),
    /// Count operations, parameters, arithmetic and memory
    Stats(StatsArguments),
    /// Draw a program
    Graph(GraphArguments),
    /// Measure this machine's limits, and compare programs with them
    Bench(BenchArguments),
    /// Check, run and differentiate programs in Knossos
    Ks(KsArguments),
    /// Show the devices of an XLA plugin
    Xla(XlaArguments),
    /// Explain an error code, with an example and a fix
    Explain(ExplainArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
}

/// `mind new`.
#[derive(Debug, Args)]
#[command(after_help = "\
The project is a crate with a network of two layers that learns in less than a second, a test of
its gradient, and a profile that optimises debug builds. If the folder exists, nothing is written.

Examples:
  mind new moons
  mind new moons --path ../mind          with the library's checkout in ../mind")]
pub struct NewArguments {
    /// The folder to create; its last part is the name of the crate
    #[arg(value_name = "NAME")]
    pub folder: PathBuf,
    /// Depend on the checkout of the library in DIR instead of the version in the registry
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
}

/// A program to read.
#[derive(Debug, Args)]
pub struct Input {
    /// The file with the program, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub reading: Reading,
}

/// Options for reading programs.
#[derive(Clone, Debug, Args)]
pub struct Reading {
    /// The form of the input [default: by the file's extension, else by its beginning]
    #[arg(long, value_name = "FORM")]
    pub from: Option<Form>,
    /// The function of a .mind file [default: its only function]
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Whether calls of a .mind file stay calls instead of being inlined
    #[arg(skip)]
    pub keeps_calls: bool,
}

/// The destination of a program.
#[derive(Debug, Args)]
pub struct Output {
    /// The file to write, or `-` for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// `mind check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mind check net.mic
  mind check --profile core-v1 *.mic
  cat net.mic | mind check -")]
pub struct CheckArguments {
    /// The files, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    /// The allowed operations
    #[arg(long, value_name = "PROFILE", default_value = "extended")]
    pub profile: Profile,
    /// Print mistakes only
    #[arg(short, long)]
    pub quiet: bool,
}

/// `mind fmt`.
#[derive(Debug, Args)]
#[command(after_help = "\
Files are rewritten in place, as by rustfmt. Standard input is formatted to standard output. The
canonical form of a module computes the same to the bit. It omits values that no output needs, and
keeps comments above their instructions. A program in the language of mind! is laid out in the
style of rustfmt, in lines of 110 characters. Its tokens and comments do not change, except for
commas before a closing bracket.

Examples:
  mind fmt net.mic                       rewrite the file
  mind fmt --check *.mic *.mind          only show the differences
  mind fmt - < net.mic > new.mic")]
pub struct FmtArguments {
    /// The files, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The form of the input [default: by the file's extension, else by its beginning]
    #[arg(long, value_name = "FORM")]
    pub from: Option<Form>,
    /// Write nothing; print the changes, and exit with 1 if there are any
    #[arg(long, conflicts_with = "stdout")]
    pub check: bool,
    /// Print to standard output instead of rewriting the file
    #[arg(long)]
    pub stdout: bool,
}

/// `mind convert`.
#[derive(Debug, Args)]
#[command(after_help = "\
MIC is written in canonical form, as by `mind fmt`, since the specification requires it. The other
forms, and MIC with `--as-is`, keep the program instruction by instruction. `--to dot` is for
Graphviz.

`--to stablehlo` is for XLA and other compilers of StableHLO. All extents must be known, so each
symbol needs a `--dim`. `&mut` parameters are donated. Errors that stop a program here do not stop
it there: an index out of range is clamped, and an integer divided by 0 gives an arbitrary number.
Programs that call Rust functions are rejected. With `--mesh` the text is for several devices;
each device holds the whole of an input that no `--shard` splits.

Examples:
  mind convert net.mic --to core-ir
  mind convert net.mic --to json -o net.json
  mind convert step.mind --function step --to mic | less
  mind convert step.mind --to stablehlo --dim N=32 -o step.mlir
  mind convert step.mind --to stablehlo --dim N=32 --mesh d=4,m=2 --shard x=d,_ --shard w=_,m
  mind convert step.mind --to stablehlo --dim N=32 --precision bf16")]
pub struct ConvertArguments {
    #[command(flatten)]
    pub input: Input,
    /// The form to write
    #[arg(long, value_name = "FORM")]
    pub to: OutputForm,
    /// Write MIC instruction by instruction too, instead of in canonical form
    #[arg(long)]
    pub as_is: bool,
    #[command(flatten)]
    pub engine: EngineOptions,
    #[command(flatten)]
    pub output: Output,
}

/// `mind grad`.
#[derive(Debug, Args)]
#[command(after_help = "\
The result has the inputs of the program, and its outputs followed by one gradient for each name,
in that order.

Examples:
  mind grad loss.mic --wrt w,b
  mind grad loss.mic --wrt w,b --profile core-v1 -o loss_grad.mic
  mind grad layer.mic --wrt w --cotangent     for outputs that are not a single number")]
pub struct GradArguments {
    #[command(flatten)]
    pub input: Input,
    /// The inputs to differentiate with respect to, by name, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', required = true)]
    pub wrt: Vec<String>,
    #[command(flatten)]
    pub gradient: GradientOptions,
    /// The form to write [default: by the output's extension, else the input's form]
    #[arg(long, value_name = "FORM", alias = "output-format")]
    pub to: Option<OutputForm>,
    #[command(flatten)]
    pub engine: EngineOptions,
    #[command(flatten)]
    pub output: Output,
}

/// Options for gradients.
#[derive(Clone, Debug, Args)]
pub struct GradientOptions {
    /// The operations that the gradient may use
    #[arg(long, value_name = "PROFILE", default_value = "extended")]
    pub profile: Profile,
    /// Add an input for the cotangent of each output, instead of using 1
    #[arg(long)]
    pub cotangent: bool,
    /// Give zeros instead of E5005 for an input that the output does not depend on
    #[arg(long)]
    pub zero_ok: bool,
}

/// `mind run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each input is a .npy file (of an element type of the language, in either byte order, in C or
Fortran order), elements in brackets, or a number. Symbols such as N get their extents from the
inputs. The interpreter is the reference implementation, and it is slow.

With `--on xla` a PJRT plugin compiles and runs the program, in the form that
`mind convert --to stablehlo` writes, on its first device or split over the devices of --mesh.
Errors that stop a program here do not stop it there: an index out of range is clamped, and an
integer divided by 0 gives an arbitrary number. `inspect` shows nothing. The plugin is a shared
library, named by --plugin or by the variable MIND_PJRT_PLUGIN; `mind xla --help` says where to
get one. Compiling takes longer than most runs; --cache keeps compiled programs in a folder, of
which only the user may have rights, and at most 1 GiB of them.

With --processes the devices of several processes form the mesh. Each process runs the command with
the same program and inputs, and with its own --process. The plugin must be able to join devices:
that for CUDA is, that for CPUs is not.

--trace records the run of the compiled program, without compiling it, if the plugin has a
profiler. The plugin for CPUs has none. TensorBoard with XProf, started with `--logdir log`,
shows the file log/plugins/profile/RUN/HOST.xplane.pb, where RUN and HOST are any names.

Examples:
  mind run loss.mic --input x=x.npy --input y=y.npy --input rate=0.1
  mind run loss.mic -i 'x=[[1, 2], [3, 4]]' -i y=[1,0] -i rate=0.1
  mind run net.mic --input x=x.npy --output-dir out/       writes out/output0.npy, …
  mind run net.mic --input x=x.npy --check nan             E6010 where a result is NaN
  mind run net.mic --input x=x.npy --memory 4G             E6004 if it takes more
  mind run net.mic --input x=x.npy --on xla --plugin xla_cpu_pjrt.so
  mind run net.mic --input x=x.npy --on xla --devices 8 --mesh d=8 --shard x=d,_
  mind run net.mic --input x=x.npy --on xla --cache ~/.cache/mind
  mind run net.mic --input x=x.npy --on xla --trace log/plugins/profile/1/host.xplane.pb
  mind run net.mic -i x=x.npy --on xla --mesh d=16 --shard x=d,_ \\
      --processes 2 --process 0 --address 10.0.0.1:8476    and on another machine --process 1")]
pub struct RunArguments {
    #[command(flatten)]
    pub input: Input,
    /// An input: a .npy file, elements such as [1,2,3], or a number for an input that is a single number
    #[arg(long = "input", short = 'i', value_name = "NAME=VALUE")]
    pub values: Vec<String>,
    /// Arguments after the file, which are an error
    #[arg(hide = true, value_name = "MISPLACED")]
    pub misplaced: Vec<String>,
    /// Write each output to DIR/output0.npy, DIR/output1.npy, …; the folder is created if needed
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Print every element instead of a summary
    #[arg(long)]
    pub full: bool,
    /// Stop if a result is NaN, and name the first value that is NaN
    #[arg(long, value_name = "PROPERTY")]
    pub check: Option<Check>,
    /// The engine that runs the program
    #[arg(long, value_name = "ENGINE", default_value = "interpreter")]
    pub on: Engine,
    #[command(flatten)]
    pub plugin: PluginOptions,
    #[command(flatten)]
    pub lowering: LoweringOptions,
    #[command(flatten)]
    pub compile: CompileOptions,
    #[command(flatten)]
    pub processes: ProcessOptions,
    /// With --on xla, a file for a trace of what the devices do, in the format XPlane; its folder is created if needed
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    #[command(flatten)]
    pub memory: Memory,
}

/// The property that a run checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// Values that are NaN
    Nan,
}

/// The limit on the memory of a run.
#[derive(Clone, Copy, Debug, Args)]
pub struct Memory {
    /// The maximum memory of inputs, intermediate values and results together, such as 512M or 4G [default: half of the
    /// machine's memory, or less if less is free]
    #[arg(long = "memory", value_name = "BYTES", value_parser = memory::parse)]
    pub bytes: Option<u64>,
}

/// `mind stats`.
#[derive(Debug, Args)]
#[command(after_help = "\
If extents are symbols, costs are formulas in these symbols; --dim sets the value of a symbol.

Examples:
  mind stats net.mic
  mind stats net.mic --dim N=32 --dim M=10
  mind stats net.mic --plan            its steps: fused loops, products, memory
  mind stats net.mic --loops           its loops: rows, blocks, lanes, chains of sums
  mind bench --save machine.txt        measures this machine, once, in about 15 seconds
  mind stats net.mic --plan --threads 1,64 --machine machine.txt --dim N=32

--threads predicts the time of each step, and names its limit: arithmetic, a level of memory, the
start of threads, too little work to split, or a kernel that runs on one thread. All extents must
be known. The program is called again and again, and nothing else runs on the machine. A step
takes the time of its arithmetic or of its bytes, whichever is longer, and the time to start
threads. Work is split as at run time. More threads than were measured have as many cores, with
caches L1 and L2; the rates of L3 and memory stay as measured, and the time to start threads grows
with the logarithm of their number. Functions of Rust count as no time.")]
pub struct StatsArguments {
    #[command(flatten)]
    pub input: Input,
    /// The extent of a symbol, such as N=32
    #[arg(long = "dim", value_name = "NAME=EXTENT")]
    pub dims: Vec<String>,
    /// Also list the plan: steps, the operations fused into them, buffers and their lifetimes
    #[arg(long)]
    pub plan: bool,
    /// Also list the plan with the loops of each step, one statement per line
    #[arg(long)]
    pub loops: bool,
    /// Also predict the time of each step on these numbers of threads, and what limits it
    #[arg(
        long,
        value_name = "COUNTS",
        value_delimiter = ',',
        requires = "plan",
        value_parser = clap::value_parser!(u16).range(1..=256)
    )]
    pub threads: Vec<u16>,
    /// The measured limits for --threads, as `mind bench --save` writes them
    #[arg(long, value_name = "FILE", requires = "threads")]
    pub machine: Option<PathBuf>,
}

/// `mind graph`.
#[derive(Debug, Args)]
#[command(after_help = "\
The extension selects the output: .svg or .png for a picture, .dot for its description for
Graphviz. If Graphviz is installed, its `dot` lays out an SVG, otherwise this command does;
--renderer selects one of the two. A PNG has two pixels for each of the SVG, and needs a build of
`mind` with the feature `png` or --renderer graphviz.

A call of a function, of the library or of the .mind file, is one box with the name of the
function. --expand opens it as it opens loops. A gradient (--wrt) is drawn with its calls inlined.

Examples:
  mind graph net.mic -o net.svg
  mind graph loss.mic --wrt w,b -o loss_grad.svg      with its gradient, coloured
  mind graph lstm.mind -o lstm.svg --expand           with the contents of its loops and calls
  mind graph net.mic -o net.svg --costs --dim N=32    where the work is
  mind graph net.mic -o net.dot")]
pub struct GraphArguments {
    #[command(flatten)]
    pub input: Input,
    /// The file to write: .svg, .png or .dot, or `-` for SVG on standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Draw the program with its gradient with respect to these inputs
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub wrt: Vec<String>,
    /// Treat the program as a gradient: colour the boxes that only the outputs after the first COUNT need
    #[arg(long, value_name = "COUNT", conflicts_with = "wrt")]
    pub primal_outputs: Option<usize>,
    /// Draw the contents of loops, conditions and calls inside their boxes, to a depth of LEVELS [default: all levels]
    #[arg(long, value_name = "LEVELS", num_args = 0..=1, require_equals = true, default_missing_value = "16")]
    pub expand: Option<usize>,
    /// Show each operation's share of the arithmetic, and the memory of its result
    #[arg(long)]
    pub costs: bool,
    /// The extent of a symbol, such as N=32, which --costs needs
    #[arg(long = "dim", value_name = "NAME=EXTENT", requires = "costs")]
    pub dims: Vec<String>,
    #[command(flatten)]
    pub gradient: GradientOptions,
    /// The program that lays out the picture
    #[arg(long, value_name = "PROGRAM", default_value = "auto")]
    pub renderer: Renderer,
}

/// `mind bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
Limits are multiply-adds from registers at each SIMD level, bytes per second from and to each
level of memory (a copy counts the bytes read and the bytes written), and the time to give every
thread a part and wait for all, with threads that spin or that sleep. Programs are
compiled as by `mind!`. The least time of many calls of a program is compared with the limit that
bounds it on as many threads: multiply-adds at the level in use, or a read or copy at the level of
memory that holds its data. Small programs run on one thread anyway, and a loop that reads more
than it writes may exceed a copy. MIND_SIMD=avx2 measures a lower level.

It takes about 30 seconds, and memory for four times the last cache, 256M at least. The output is
Markdown. To send us a table, close other programs, build with --release, and paste it.

Examples:
  mind bench
  mind bench --threads 1 product peak      rows whose names have one of these words
  mind bench --quick > table.md
  mind bench --save machine.txt            the limits that `mind stats --threads` reads
  mind bench --check machine.txt           predicted and measured times of programs
  MIND_SIMD=avx2 mind bench product")]
pub struct BenchArguments {
    /// Measure only rows whose names contain one of these words [default: all]
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// The number of threads to measure with [default: 1, and then MIND_NUM_THREADS or all]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Spend a tenth of the time on each row
    #[arg(long)]
    pub quick: bool,
    /// Only measure the limits that `mind stats --threads` needs, and write them to FILE, or to standard output if it
    /// is `-`
    #[arg(long, value_name = "FILE", conflicts_with = "words")]
    pub save: Option<PathBuf>,
    /// Only compare the times of programs with those predicted from FILE, on the numbers of threads in FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["words", "save", "threads"])]
    pub check: Option<PathBuf>,
}

/// `mind explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mind explain             every code with its meaning
  mind explain E3003")]
pub struct ExplainArguments {
    /// The code, such as E3003
    pub code: Option<String>,
}

/// `mind completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mind completions bash > ~/.local/share/bash-completion/completions/mind
  mind completions zsh > ~/.zfunc/_mind
  mind completions fish > ~/.config/fish/completions/mind.fish")]
pub struct CompletionsArguments {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A form in which programs are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// MIC, `mic@1`
    Mic,
    /// Core IR text
    CoreIr,
    /// JSON, as `convert --to json` writes it
    Json,
    /// The language of `mind!`
    Mind,
    /// Knossos, which `mind ks` reads
    #[value(skip)]
    Ks,
}

/// A form in which programs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputForm {
    /// MIC, `mic@1`
    Mic,
    /// Core IR text
    CoreIr,
    /// JSON
    Json,
    /// A graph for Graphviz
    Dot,
    /// StableHLO, for XLA and other engines
    #[value(name = "stablehlo")]
    StableHlo,
}

/// A set of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// The operations of the specification
    CoreV1,
    /// The operations of the specification, and the extensions of this project
    Extended,
}

impl From<Profile> for ops::Profile {
    fn from(profile: Profile) -> Self {
        match profile {
            Profile::CoreV1 => Self::CoreV1,
            Profile::Extended => Self::Extended,
        }
    }
}

/// The program that lays out a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Renderer {
    /// Graphviz if it is installed, otherwise this command
    Auto,
    /// Graphviz
    Graphviz,
    /// This command
    Own,
}
