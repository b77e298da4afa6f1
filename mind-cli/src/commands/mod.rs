//! One file a subcommand.

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
mod xla;

pub use run::with_help;

use crate::{
    args::{Arguments, Command},
    report::Outcome,
    style::Style,
};

/// Does what the command line asks for.
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
        Command::Bench(bench) => bench::run(bench, &err),
        Command::Ks(ks) => ks::run(ks, &out, &err),
        Command::Xla(xla) => xla::run(xla, &out),
        Command::Explain(explain) => explain::run(explain, &out),
        Command::Completions(completions) => completions::run(completions),
    }
}
