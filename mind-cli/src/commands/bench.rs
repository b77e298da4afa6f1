//! `mind bench`: measures the limits of the machine, and programs.

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    time::Duration,
};

use crate::{
    args::BenchArguments,
    bench::{
        calibration::{self, Probe},
        check,
        limits::{self, Limit, Refused},
        machine::{Caches, Machine},
        programs::{self, Cost, Program},
        table::{self, DEBUG, Figures, LimitRow, ProgramRow, Table},
    },
    output::{print, write},
    prediction::{
        self,
        machine::{Level, MemoryUse},
    },
    report::{Failure, Outcome},
    style::Style,
};

/// The number of measurements of each row. Rounds over all rows spread a temporary disturbance over the rows.
const ROUNDS: u32 = 3;

/// Measures the machine and prints the table.
pub fn run(arguments: &BenchArguments, err: &Style) -> Outcome {
    let machine = Machine::detect();
    if let Some(file) = &arguments.save {
        warn(err);
        return save(arguments, &machine, file);
    }
    if let Some(file) = &arguments.check {
        let limits = prediction::machine::Machine::read(file)?;
        warn(err);
        return compare(arguments, machine, &limits);
    }
    let caches = machine.caches;
    let (wanted, programs) = choose(&arguments.words, &caches)?;
    warn(err);
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
        time: time_of_row(arguments),
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

/// Measures the limits that predictions need, with one thread and with all, and writes them to a file.
fn save(arguments: &BenchArguments, machine: &Machine, file: &Path) -> Outcome {
    let mut threads = vec![1, arguments.threads.map_or_else(mind::threads, usize::from)];
    threads.dedup();
    let probes = Probe::all(machine);
    let mut measured: Vec<(Probe, Vec<Option<f64>>)> = probes
        .into_iter()
        .map(|probe| (probe, vec![None; if probe.is_per_threads() { threads.len() } else { 1 }]))
        .collect();
    let rows: usize = measured.iter().map(|(_, values)| values.len()).sum();
    let mut progress = Progress { done: 0, all: ROUNDS as usize * rows };
    for _ in 0..ROUNDS {
        for (column, count) in threads.iter().enumerate() {
            mind::set_threads(*count);
            for (probe, values) in measured.iter_mut().filter(|(_, values)| column < values.len()) {
                let name = probe.name();
                progress.show_next(&name);
                let value = probe.measure(machine, *count, time_of_row(arguments));
                let value = value.map_err(|refused| unmeasured(&name, &refused))?;
                values[column] = probe.better(values[column], value);
            }
        }
    }
    drop(progress);
    let mut all = Vec::new();
    for (probe, values) in measured {
        let columns = values.iter().zip(&threads).map(|(value, count)| match value {
            Some(value) => Ok(*value),
            // One thread starts no other.
            None if *count == 1 => Ok(0.0),
            None => Err(Failure::with_help(
                format!("cannot measure `{}` with {count} threads: they do not all start at once", probe.name()),
                "close other programs, or give fewer threads, as in `mind bench --save machine.txt --threads 2`",
            )),
        });
        all.push((probe, columns.collect::<Outcome<Vec<f64>>>()?));
    }
    write(file, &calibration::limits_of(machine, threads, &all).to_string())
}

/// Compares the predicted times of programs with measured ones, and prints a table.
fn compare(arguments: &BenchArguments, machine: Machine, limits: &prediction::machine::Machine) -> Outcome {
    let mut seconds = vec![vec![f64::INFINITY; limits.threads.len()]; check::ALL.len()];
    let mut progress = Progress { done: 0, all: ROUNDS as usize * limits.threads.len() * seconds.len() };
    for _ in 0..ROUNDS {
        for (column, count) in limits.threads.iter().enumerate() {
            mind::set_threads(*count);
            for (check, seconds) in check::ALL.iter().zip(&mut seconds) {
                progress.show_next(check.name);
                let least = (check.prepare)()
                    .and_then(|mut call| limits::least(time_of_row(arguments), &mut call))
                    .map_err(|error| unmeasured(check.name, &error.into()))?;
                seconds[column] = seconds[column].min(least);
            }
        }
    }
    drop(progress);
    let mut rows = Vec::new();
    for (check, measured) in check::ALL.iter().zip(seconds) {
        rows.push((check.name, check::predicted(check, limits)?.into_iter().zip(measured).collect()));
    }
    let head = Table { machine, threads: Vec::new(), limits: Vec::new(), programs: Vec::new() };
    print(&(head.markdown() + "\n" + &table::comparison(&limits.threads, &rows)))
}

/// The time for one row in one round.
fn time_of_row(arguments: &BenchArguments) -> Duration {
    Duration::from_millis(if arguments.quick { 30 } else { 300 }) / ROUNDS
}

/// Warns if the command is a debug build.
fn warn(err: &Style) {
    if cfg!(debug_assertions) {
        // If standard error is closed, the warning cannot be printed anywhere.
        _ = writeln!(io::stderr(), "{}: {DEBUG}", err.strong("warning"));
    }
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
    let level = |bytes| Level::of(bytes, &caches.sizes(), threads);
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
