//! Predicted times as text.

use std::fmt::Write;

use mind_core::plan::{Plan, Step};

use super::{
    machine::{Level, Machine},
    time::{Limit, Prediction, Time},
};

/// The predictions for several numbers of threads, with a line for each step and for the whole program.
pub fn table(plan: &Plan, machine: &Machine, predictions: &[(usize, Prediction)]) -> String {
    let measured: Vec<String> = machine.threads.iter().map(usize::to_string).collect();
    let mut text = format!(
        "\ntime: predicted for {}, measured with {} {}\n",
        machine.processor,
        measured.join(" and "),
        if measured == ["1"] { "thread" } else { "threads" },
    );
    let mut rows = vec![vec![String::new(); 2]];
    for (threads, _) in predictions {
        rows[0].extend([counted(*threads), String::new()]);
    }
    for (position, step) in plan.steps.iter().enumerate() {
        let mut row = vec![(position + 1).to_string(), kind(step)];
        for (threads, prediction) in predictions {
            let time = &prediction.steps[position];
            row.extend([seconds(time.seconds), limit(time, *threads)]);
        }
        rows.push(row);
    }
    let mut total = vec![String::new(), "total".to_owned()];
    for (_, Prediction { total: Time { seconds: time, limit, .. }, share, .. }) in predictions {
        total.extend([seconds(*time), format!("{} {:.0} %", name(*limit), 100.0 * share)]);
    }
    rows.push(total);
    aligned(&mut text, &rows);
    notes(&mut text, machine, predictions);
    text
}

/// Appends rows whose cells have equal widths. Numbers are aligned on the right.
fn aligned(text: &mut String, rows: &[Vec<String>]) {
    let length = |cell: &String| cell.chars().count();
    let width = |column: usize| rows.iter().map(|row| length(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    for row in rows {
        let mut line = String::from(" ");
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let is_number = column.is_multiple_of(2);
            let padded = if is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
            write!(line, " {padded} ").expect("writing to a string cannot fail");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// Explains the limits that occur, and the assumptions.
fn notes(text: &mut String, machine: &Machine, predictions: &[(usize, Prediction)]) {
    let all = || predictions.iter().flat_map(|(_, prediction)| &prediction.steps);
    let mut limits: Vec<Limit> = all().map(|time| time.limit).collect();
    limits.sort();
    limits.dedup();
    text.push_str("\nlimits\n");
    for limit in limits {
        let meaning = match limit {
            Limit::Arithmetic => "the arithmetic of the cores",
            Limit::Memory(Level::L1) => "bytes per second from and to the first cache of a core",
            Limit::Memory(Level::L2) => "bytes per second from and to the second cache of a core",
            Limit::Memory(Level::L3) => "bytes per second from and to the cache that cores share",
            Limit::Memory(Level::Memory) => "bytes per second from and to memory",
            Limit::Fork => "the time to start threads",
            Limit::FewParts => "fewer threads have a part, because smaller parts would not pay",
            Limit::TooLittle => "one thread, because another would not pay",
            Limit::OneThread => "one thread, because the step cannot be split",
            Limit::Unknown => "a function of Rust, which counts as no time",
        };
        writeln!(text, "  {:<16} {meaning}", name(limit)).expect("writing to a string cannot fail");
    }
    let most = machine.most_threads();
    if predictions.iter().any(|(threads, _)| *threads > most) {
        let shared = if machine.caches.l3.is_some() { "L3 and memory have" } else { "memory has" };
        let fork = match most {
            1 => "starting threads takes no time, since it was not measured".to_owned(),
            2 => "starting n threads takes log2(n) times the time for 2".to_owned(),
            _ => format!("starting n threads takes log2(n) / log2({most}) of the time for {most}"),
        };
        write!(
            text,
            "\nassumed beyond {}\n  arithmetic, L1 and L2 grow with the threads: each has a core\n  \
             {shared} the rate of {}, unless the file gives others\n  {fork}\n",
            counted(most),
            counted(most),
        )
        .expect("writing to a string cannot fail");
    }
}

fn limit(time: &Time, threads: usize) -> String {
    let name = name(time.limit);
    match time.limit {
        Limit::Memory(_) | Limit::Fork | Limit::FewParts if time.threads < threads => {
            format!("{name}: {}", time.threads)
        }
        Limit::Arithmetic | Limit::Memory(_) | Limit::Fork | Limit::FewParts => name,
        Limit::TooLittle | Limit::OneThread | Limit::Unknown => name,
    }
}

fn name(limit: Limit) -> String {
    match limit {
        Limit::Arithmetic => "arithmetic".to_owned(),
        Limit::Memory(level) => level.to_string(),
        Limit::Fork => "start".to_owned(),
        Limit::FewParts => "few parts".to_owned(),
        Limit::TooLittle => "too little work".to_owned(),
        Limit::OneThread => "one thread".to_owned(),
        Limit::Unknown => "unknown".to_owned(),
    }
}

/// The word with which the listing of the plan begins the step.
fn kind(step: &Step) -> String {
    match step {
        Step::Scalar(_) | Step::Load { .. } => "number".to_owned(),
        Step::Nest(_) => "nest".to_owned(),
        Step::MatMul(_) => "matmul".to_owned(),
        Step::Dot { .. } => "dot".to_owned(),
        Step::Check { .. } => "check".to_owned(),
        Step::Call(call) if call.external().is_some() => "call".to_owned(),
        Step::Call(call) => call.op.info().mnemonic.to_owned(),
        Step::Loop(_) => "loop".to_owned(),
        Step::Conv2d(_) => "conv2d".to_owned(),
        Step::Watch { .. } => "watch".to_owned(),
        Step::Strips(_) => "strips".to_owned(),
        Step::Update { .. } | Step::UpdateScalar { .. } => "update".to_owned(),
    }
}

fn counted(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// A time with three digits.
pub fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        zero if zero < 5e-12 => return "0 ns".to_owned(),
        short if short < 0.9995e-6 => (short * 1e9, "ns"),
        middle if middle < 0.9995e-3 => (middle * 1e6, "µs"),
        long if long < 0.9995 => (long * 1e3, "ms"),
        longer => (longer, "s"),
    };
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}
