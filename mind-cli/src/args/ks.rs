//! The arguments of `mind ks`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Memory;

/// `mind ks`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mind ks check gmm.ks
  mind ks check --rules gmm.ks                    tries its rules on samples
  mind ks run gmm.ks                              runs `main`
  mind ks run gmm.ks square 3.0                   runs (square 3.0)
  mind ks run gmm.ks norm '(Vec_init 3.0 4.0)'    arguments are expressions
  mind ks grad gmm.ks norm '(Vec_init 3.0 4.0)'   the value and the gradient there")]
pub struct KsArguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: KsCommand,
}

/// The subcommands of `mind ks`.
#[derive(Debug, Subcommand)]
pub enum KsCommand {
    /// Report every mistake in Knossos programs
    Check(KsCheckArguments),
    /// Run a function in the reference interpreter
    Run(KsRunArguments),
    /// Run a function and its reverse derivative
    Grad(KsGradArguments),
}

/// `mind ks check`.
#[derive(Debug, Args)]
#[command(after_help = "\
--rules runs both sides of each `(rule \"name\" params left right)` on samples of its parameters.
The results must be equal up to rounding. A sample on which the left side fails is skipped. A rule
that does not hold is a mistake. A rule whose left side fails on every sample is reported as
untested.

Examples:
  mind ks check gmm.ks
  mind ks check --rules algebra.ks
  mind ks check --quiet --print-ir gmm.ks | less")]
pub struct KsCheckArguments {
    /// The files, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print mistakes only, and the IR if requested
    #[arg(short, long)]
    pub quiet: bool,
    /// Try the rules on samples
    #[arg(long)]
    pub rules: bool,
    /// Print the IR of the programs, with every requested derivative
    #[arg(long)]
    pub print_ir: bool,
}

/// `mind ks run`.
#[derive(Debug, Args)]
#[command(after_help = "\
The output of the program comes first, then the value of the function: tuples as `(tuple 1 2.0)`,
tensors in brackets, a Bool as `true` or `false`, a Float with all its digits. `print` writes a
Bool and a Float like a program compiled by ksc. Arguments are expressions of the program's
language.

Examples:
  mind ks run gmm.ks
  mind ks run gmm.ks --print-bools words --print-floats exact
  mind ks run gmm.ks square 3.0
  mind ks run gmm.ks sum '(build 10 (lam (i : Integer) (to_float i)))'")]
pub struct KsRunArguments {
    /// The file, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The function, and the arguments to call it with
    #[arg(value_name = "FUNCTION ARGUMENTS", default_value = "main", allow_negative_numbers = true)]
    pub call: Vec<String>,
    /// The type of a Float
    #[arg(long, value_name = "PRECISION", default_value = "f64")]
    pub precision: KsPrecision,
    /// How `print` writes a Bool
    #[arg(long, value_name = "FORM", default_value = "digits")]
    pub print_bools: KsBools,
    /// How `print` writes a Float
    #[arg(long, value_name = "FORM", default_value = "six")]
    pub print_floats: KsFloats,
    #[command(flatten)]
    pub memory: Memory,
}

/// `mind ks grad`.
#[derive(Debug, Args)]
#[command(after_help = "\
The output is the value of the function and its gradient with respect to each argument: `[rev f]`
of the arguments and 1.0. A function whose result is not a single Float needs --cotangent.

Examples:
  mind ks grad gmm.ks norm '(Vec_init 3.0 4.0)'
  mind ks grad gmm.ks scale 2.0 '(Vec_init 3.0 4.0)' --cotangent '(Vec_init 1.0 0.0)'")]
pub struct KsGradArguments {
    /// The file, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The function
    #[arg(value_name = "FUNCTION")]
    pub function: String,
    /// The arguments to differentiate at, as expressions
    #[arg(value_name = "ARGUMENTS", allow_negative_numbers = true)]
    pub arguments: Vec<String>,
    /// The cotangent of the result, as an expression
    #[arg(long, value_name = "VALUE", default_value = "1.0", allow_negative_numbers = true)]
    pub cotangent: String,
    /// The type of a Float
    #[arg(long, value_name = "PRECISION", default_value = "f64")]
    pub precision: KsPrecision,
    #[command(flatten)]
    pub memory: Memory,
}

/// The type of a Float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KsPrecision {
    /// 64 bits
    F64,
    /// 32 bits
    F32,
}

/// How `print` writes a Bool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KsBools {
    /// 1 and 0, like ksc
    Digits,
    /// true and false
    Words,
}

/// How `print` writes a Float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KsFloats {
    /// Six significant digits, `10` and `0.333333`, like ksc
    Six,
    /// As many digits as identify the number, `10.0` and `0.3333333333333333`
    Exact,
}
