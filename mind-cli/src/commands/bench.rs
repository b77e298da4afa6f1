//! `mind bench`: measures the limits of the machine, and programs.

use std::{
    io::{self, IsTerminal, Write},
    time::Duration,
};

use crate::{
    args::BenchArguments,
    bench::{
        limits::{self, Level, Limit, MemoryUse, Refused},
        machine::{Caches, Machine},
        programs::{self, Cost, Program},
        table::{DEBUG, Figures, LimitRow, ProgramRow, Table},
    },
    output::print,
    report::{Failure, Outcome},
    style::Style,
};

/// The number of measurements of each row. Rounds over all rows spread a temporary disturbance over the rows.
const ROUNDS: u32 = 3;

/// Measures the machine and prints the table.
pub fn run(arguments: &BenchArguments, err: &Style) -> Outcome {
    let machine = Machine::detect();
    let caches = machine.caches;
    let (wanted, programs) = choose(&arguments.words, &caches)?;
    if cfg!(debug_assertions) {
        // If standard error is closed, the warning cannot be printed anywhere.
        _ = writeln!(io::stderr(), "{}: {DEBUG}", err.strong("warning"));
    }
    let mut threads = arguments.threads.map_or_else(|| vec![1, mind::threads()], |count| vec![count.into()]);
    threads.dedup();
    // The shown limits, and other limits with which programs are compared.
    let is_held_against = |limit: &Limit| {
        threads
            .iter()
            .any(|count| programs.iter().any(|program| limit_of(program, &caches, *count) == *limit))
    };
    let needed =
        Limit::all(&caches).into_iter().filter(|limit| wanted.contains(limit) || is_held_against(limit));

    let none = vec![None; threads.len()];
    let mut measured = Measured {
        caches,
        time: Duration::from_millis(if arguments.quick { 30 } else { 300 }) / ROUNDS,
        limits: needed.map(|limit| LimitRow { limit, values: none.clone() }).collect(),
        programs: programs.iter().map(|program| (*program, vec![f64::INFINITY; threads.len()])).collect(),
    };
    let rows = measured.limits.len() + measured.programs.len();
    let mut progress = Progress { done: 0, all: ROUNDS as usize * threads.len() * rows };
    for _ in 0..ROUNDS {
        for (column, count) in threads.iter().enumerate() {
            measured.improve(column, *count, &mut progress)?;
        }
    }
    drop(progress);
    let programs = measured.program_rows(&threads);
    print(&Table { machine, threads, limits: measured.limits, programs }.markdown())
}

/// The best measurements so far. Each column is for a number of threads.
struct Measured {
    caches: Caches,
    /// The time for one row in one round.
    time: Duration,
    limits: Vec<LimitRow>,
    /// The least time of each program in each column, in seconds.
    programs: Vec<(&'static Program, Vec<f64>)>,
}

impl Measured {
    /// Measures a column once more.
    fn improve(&mut self, column: usize, threads: usize, progress: &mut Progress) -> Outcome {
        mind::set_threads(threads);
        for LimitRow { limit, values } in &mut self.limits {
            let name = limit.to_string();
            progress.show_next(&name);
            let value = limits::measure(*limit, &self.caches, threads, self.time);
            let value = value.map_err(|refused| unmeasured(&name, &refused))?;
            values[column] = limit.better(values[column], value);
        }
        for (program, seconds) in &mut self.programs {
            progress.show_next(program.name);
            let least = (program.prepare)()
                .and_then(|mut call| limits::least(self.time, &mut call))
                .map_err(|error| unmeasured(program.name, &error.into()))?;
            seconds[column] = seconds[column].min(least);
        }
        Ok(())
    }

    /// The rows of programs, each with its limit.
    fn program_rows(&self, threads: &[usize]) -> Vec<ProgramRow> {
        let figures = |program: &Program, column: usize, seconds: f64| {
            let limit = limit_of(program, &self.caches, threads[column]);
            let bound = self.limits.iter().find(|row| row.limit == limit).and_then(|row| row.values[column]);
            let rate = amount(program.cost) / seconds * 1e-9;
            let of_limit = rate / bound.expect("it was needed, and only forks are not to be had");
            Figures { seconds, rate, limit, of_limit }
        };
        let row = |(program, seconds): &(&'static Program, Vec<f64>)| {
            let columns = seconds.iter().enumerate();
            let figures = columns.map(|(column, seconds)| figures(program, column, *seconds)).collect();
            ProgramRow { name: program.name, figures }
        };
        self.programs.iter().map(row).collect()
    }
}

/// The rows whose names contain one of the words, or all rows if there are no words.
fn choose(words: &[String], caches: &Caches) -> Outcome<(Vec<Limit>, Vec<&'static Program>)> {
    let limits: Vec<(String, Limit)> =
        Limit::all(caches).into_iter().map(|limit| (limit.to_string(), limit)).collect();
    let programs: Vec<&Program> = programs::all().collect();
    let names: Vec<&str> =
        limits.iter().map(|(name, _)| &**name).chain(programs.iter().map(|program| program.name)).collect();
    let is_in = |word: &str| !word.is_empty() && names.iter().any(|name| name.contains(word));
    if let Some(word) = words.iter().find(|word| !is_in(word)) {
        return Err(Failure::with_help(
            format!("no row has `{word}` in its name"),
            format!("the rows are {}", names.join(", ")),
        ));
    }
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(&**word));
    let limits = limits.iter().filter(|(name, _)| is_wanted(name)).map(|(_, limit)| *limit).collect();
    Ok((limits, programs.into_iter().filter(|program| is_wanted(program.name)).collect()))
}

/// The limit that bounds a program on this number of threads.
fn limit_of(program: &Program, caches: &Caches, threads: usize) -> Limit {
    let level = |bytes| Level::of(bytes, caches, threads);
    match program.cost {
        Cost::Multiply(float, _) => Limit::Peak(float, mind::simd_level()),
        Cost::Read(bytes) => Limit::Memory(MemoryUse::Read, level(bytes)),
        Cost::Move(bytes) => Limit::Memory(MemoryUse::Copy, level(bytes)),
    }
}

/// The number of operations or bytes.
const fn amount(cost: Cost) -> f64 {
    match cost {
        Cost::Multiply(_, flops) => flops,
        Cost::Read(bytes) | Cost::Move(bytes) => bytes as f64,
    }
}

fn unmeasured(name: &str, refused: &Refused) -> Failure {
    Failure::with_help(
        format!("cannot measure `{name}`: {refused}"),
        "give words to select rows that need less memory, as in `mind bench product`",
    )
}

/// Shows the current row on a terminal.
struct Progress {
    done: usize,
    all: usize,
}

impl Progress {
    fn show_next(&mut self, name: &str) {
        self.done += 1;
        Self::show(&format!("{}/{} {name}", self.done, self.all));
    }

    fn show(text: &str) {
        let mut err = io::stderr().lock();
        if err.is_terminal() {
            // If standard error is closed, the progress cannot be shown.
            _ = write!(err, "\r\u{1b}[K{text}").and_then(|()| err.flush());
        }
    }
}

impl Drop for Progress {
    // Clears the line, so that a failure is printed on a new line.
    fn drop(&mut self) {
        Self::show("");
    }
}
