//! The subcommands, one file each.

#[cfg(any(test, not(all(feature = "bench", feature = "png", feature = "xla"))))]
mod absent;
#[cfg(feature = "bench")]
mod bench;
mod check;
mod completions;
mod convert;
mod explain;
mod fmt;
mod grad;
mod gradient;
mod graph;
mod ks;
mod new;
mod run;
mod stablehlo;
mod stats;
#[cfg(feature = "xla")]
mod xla;

pub use run::with_help;

use crate::{
    args::{Arguments, Command},
    report::Outcome,
    style::Style,
};

/// Runs the subcommand of the command line.
pub fn run(arguments: &Arguments) -> Outcome {
    let (out, err) = (Style::of_output(arguments.color), Style::of_errors(arguments.color));
    match &arguments.command {
        Command::New(new) => new::run(new),
        Command::Check(check) => check::run(check, &out, &err),
        Command::Fmt(fmt) => fmt::run(fmt, &out, &err),
        Command::Convert(convert) => convert::run(convert),
        Command::Grad(grad) => grad::run(grad),
        Command::Run(run) => run::run(run, &out),
        Command::Stats(stats) => stats::run(stats, &out),
        Command::Graph(graph) => graph::run(graph),
        #[cfg(feature = "bench")]
        Command::Bench(bench) => bench::run(bench, &err),
        #[cfg(not(feature = "bench"))]
        Command::Bench(_) => Err(absent::failure("mind bench", "bench")),
        Command::Ks(ks) => ks::run(ks, &out, &err),
        #[cfg(feature = "xla")]
        Command::Xla(xla) => xla::run(xla, &out),
        #[cfg(not(feature = "xla"))]
        Command::Xla(_) => Err(absent::failure("mind xla", "xla")),
        Command::Explain(explain) => explain::run(explain, &out),
        Command::Completions(completions) => completions::run(completions),
    }
}
