//! The table of measurements, as Markdown that is also readable in a terminal.

use super::{
    limits::Limit,
    machine::{Caches, Machine},
};

/// All measurements.
#[derive(Debug)]
pub struct Table {
    pub machine: Machine,
    /// The number of threads of each column.
    pub threads: Vec<usize>,
    pub limits: Vec<LimitRow>,
    pub programs: Vec<ProgramRow>,
}

/// A limit, for all threads of a column together.
#[derive(Debug)]
pub struct LimitRow {
    pub limit: Limit,
    /// The value for each column, in the unit of the limit. `None` if it could not be measured.
    pub values: Vec<Option<f64>>,
}

/// A program with its measurements for each column.
#[derive(Debug)]
pub struct ProgramRow {
    pub name: &'static str,
    pub figures: Vec<Figures>,
}

/// The measurement of a program, and the limit that bounds it.
#[derive(Debug)]
pub struct Figures {
    /// The least time of a call, in seconds.
    pub seconds: f64,
    /// The rate, in the unit of the limit.
    pub rate: f64,
    pub limit: Limit,
    /// The rate divided by the limit.
    pub of_limit: f64,
}

/// The warning about figures of a build with assertions.
pub const DEBUG: &str = "this is a debug build, so the measurements are meaningless: build with --release";

impl Table {
    /// The whole table, with a line feed at the end.
    pub fn markdown(&self) -> String {
        let debug = cfg!(debug_assertions).then(|| format!("**{DEBUG}**\n"));
        let limits = (!self.limits.is_empty()).then(|| self.limits());
        let programs = (!self.programs.is_empty()).then(|| self.programs());
        debug.into_iter().chain([self.machine()]).chain(limits).chain(programs).collect::<Vec<_>>().join("\n")
    }

    fn machine(&self) -> String {
        let machine = &self.machine;
        let load = machine.load.map_or_else(|| "unknown".to_owned(), |load| format!("{load:.2} before"));
        let build = if cfg!(debug_assertions) { "debug" } else { "release" };
        let rows = [
            ("processor", machine.processor.clone()),
            ("caches", machine.caches.text()),
            ("SIMD level", machine.simd.clone()),
            ("processors", machine.processors.to_string()),
            ("system", machine.system.clone()),
            ("load", load),
            ("mind", format!("{}, {build} build", env!("CARGO_PKG_VERSION"))),
        ];
        let head = vec![String::new(), String::new()];
        let rows = rows.map(|(name, value)| vec![name.to_owned(), value]);
        markdown(&[Align::Left; 2], [head].into_iter().chain(rows).collect())
    }

    fn limits(&self) -> String {
        let head = ["limits".to_owned()].into_iter().chain(self.threads.iter().map(|count| threads(*count)));
        let rows = self.limits.iter().map(|row| {
            let values = row.values.iter().map(|value| value.map_or_else(|| "–".to_owned(), shown));
            [row.limit.to_string()].into_iter().chain(values).chain([row.limit.unit().to_owned()]).collect()
        });
        let mut align = vec![Align::Right; self.threads.len() + 2];
        align[0] = Align::Left;
        align[self.threads.len() + 1] = Align::Left;
        markdown(&align, [head.chain([String::new()]).collect()].into_iter().chain(rows).collect())
    }

    fn programs(&self) -> String {
        let head =
            self.threads.iter().flat_map(|count| [threads(*count), String::new(), "of limit".to_owned()]);
        let rows = self.programs.iter().map(|row| {
            let figures = row.figures.iter().flat_map(|figures| {
                let Figures { seconds, rate, limit, of_limit } = figures;
                let rate = format!("{} {}", shown(*rate), limit.unit());
                [time(*seconds), rate, format!("{:.0} % {limit}", 100.0 * of_limit)]
            });
            [row.name.to_owned()].into_iter().chain(figures).collect()
        });
        let mut align = vec![Align::Left];
        align.extend(self.threads.iter().flat_map(|_| [Align::Right, Align::Right, Align::Left]));
        let head = ["programs".to_owned()].into_iter().chain(head).collect();
        markdown(&align, [head].into_iter().chain(rows).collect())
    }
}

/// A table of predicted and measured times, in seconds, of each program for each number of threads.
pub fn comparison(threads_of_columns: &[usize], rows: &[(&str, Vec<(f64, f64)>)]) -> String {
    let head = threads_of_columns.iter().flat_map(|count| {
        [format!("{}: predicted", threads(*count)), "measured".to_owned(), "ratio".to_owned()]
    });
    let head = ["programs".to_owned()].into_iter().chain(head).collect();
    let rows = rows.iter().map(|(name, times)| {
        let cells = times.iter().flat_map(|(predicted, measured)| {
            [time(*predicted), time(*measured), format!("{:.2}", predicted / measured)]
        });
        [(*name).to_owned()].into_iter().chain(cells).collect()
    });
    let mut align = vec![Align::Right; 3 * threads_of_columns.len() + 1];
    align[0] = Align::Left;
    markdown(&align, [head].into_iter().chain(rows).collect())
}

fn threads(count: usize) -> String {
    if count == 1 { "1 thread".to_owned() } else { format!("{count} threads") }
}

impl Caches {
    fn text(&self) -> String {
        let size = |bytes: usize| match bytes >> 20 {
            0 => format!("{} KiB", bytes >> 10),
            mebibytes => format!("{mebibytes} MiB"),
        };
        let guess = if self.is_reported { "" } else { ", assumed: the processor does not report its caches" };
        let l3 = self.l3.map_or_else(|| "none".to_owned(), size);
        format!("L1 {}, L2 {}, L3 {l3}{guess}", size(self.l1), size(self.l2))
    }
}

/// The alignment of text in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

/// A Markdown table. The first row is the header, and each row has a cell for each column.
fn markdown(align: &[Align], rows: Vec<Vec<String>>) -> String {
    let length = |text: &str| text.chars().count();
    // At least three characters, for the line below the header.
    let width = |column: usize| rows.iter().map(|row| length(&row[column])).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = (0..align.len()).map(width).collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells = row.iter().zip(align).zip(&widths).map(|((cell, align), &width)| match align {
                Align::Left => format!("{cell:width$}"),
                Align::Right => format!("{cell:>width$}"),
            });
            line(cells.collect())
        })
        .collect();
    let below = align.iter().zip(&widths).map(|(align, width)| match align {
        Align::Left => "-".repeat(*width),
        Align::Right => "-".repeat(width - 1) + ":",
    });
    lines.insert(1, line(below.collect()));
    lines.concat()
}

/// The value with three digits, or with all digits before the decimal point.
fn shown(value: f64) -> String {
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}")
}

fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        short if short < 1e-6 => (short * 1e9, "ns"),
        middle if middle < 1e-3 => (middle * 1e6, "µs"),
        long if long < 1.0 => (long * 1e3, "ms"),
        longer => (longer, "s"),
    };
    format!("{} {unit}", shown(value))
}

#[cfg(test)]
mod tests {
    use mind::SimdLevel;

    use super::*;
    use crate::{bench::limits::Before, prediction::machine::Float};

    #[test]
    fn figures_have_three_digits() {
        assert_eq!([0.123, 1.234, 12.34, 123.4, 1234.0].map(shown), ["0.12", "1.23", "12.3", "123", "1234"]);
        assert_eq!([2.5e-9, 2.5e-6, 2.5e-3, 12.5].map(time), ["2.50 ns", "2.50 µs", "2.50 ms", "12.5 s"]);
    }

    #[test]
    fn the_table_says_what_was_measured_on_what() {
        let limit = Limit::Peak(Float::F32, SimdLevel::Avx2);
        let table = Table {
            machine: Machine {
                system: "linux x86_64".into(),
                processor: "Some Processor, family 1".into(),
                processors: 8,
                caches: Caches { l1: 48 << 10, l2: 2 << 20, l3: None, is_reported: false },
                simd: "avx2".into(),
                load: None,
            },
            threads: vec![1, 8],
            limits: vec![
                LimitRow { limit, values: vec![Some(118.04), Some(911.0)] },
                LimitRow { limit: Limit::Fork(Before::Looking), values: vec![None, Some(1.5)] },
            ],
            programs: vec![ProgramRow {
                name: "product f32 32x32x32",
                figures: vec![
                    Figures { seconds: 1.5e-6, rate: 43.69, limit, of_limit: 0.37 },
                    Figures { seconds: 1.5e-6, rate: 43.69, limit, of_limit: 0.048 },
                ],
            }],
        };
        let text = table.markdown();
        let tables = "\
| limits        | 1 thread | 8 threads |         |
| ------------- | -------: | --------: | ------- |
| peak f32 avx2 |      118 |       911 | GFLOP/s |
| fork          |        – |      1.50 | µs      |

| programs             | 1 thread |              | of limit           | 8 threads |              | of limit          |
| -------------------- | -------: | -----------: | ------------------ | --------: | -----------: | ----------------- |
| product f32 32x32x32 |  1.50 µs | 43.7 GFLOP/s | 37 % peak f32 avx2 |   1.50 µs | 43.7 GFLOP/s | 5 % peak f32 avx2 |
";
        assert!(text.ends_with(tables), "{text}");
        for line in [
            "| processor  | Some Processor, family 1 ",
            "| caches     | L1 48 KiB, L2 2 MiB, L3 none, assumed: the processor does not report its caches |",
            "| processors | 8 ",
            "| load       | unknown ",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }

    #[test]
    fn a_debug_build_says_so_before_all_else() {
        let machine = Machine::detect();
        let table = Table { machine, threads: vec![1], limits: Vec::new(), programs: Vec::new() };
        assert_eq!(table.markdown().starts_with(&format!("**{DEBUG}**\n\n|")), cfg!(debug_assertions));
    }
}
