//! Measures the errors of elementwise functions in units in the last place. `f32` functions are compared with the
//! reference of their rows, `f64` functions with a table of exact results. `ci/ulp` builds and runs it.

#[path = "../tests/support/exact.rs"]
mod exact;

use std::{
    fmt,
    fs::{File, OpenOptions, read_to_string},
    io::{self, Write as _, stdout},
    path::{Path, PathBuf},
};

use clap::Parser;
use exact::{Exact, Line, narrow_error, wide_error};
use mind::__private::{FUNCTIONS, Function};
use mind_core::map::{Map, Row, Rust};

/// Prints the largest error of each function of one operand, by separate multiplications and additions, and by fused
/// ones.
#[derive(Parser)]
#[command(name = "ci/ulp")]
struct Options {
    /// Only this function; may be repeated.
    #[arg(long, value_parser = function)]
    function: Vec<String>,
    /// Try every n-th of the 2^32 floats.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Try the i-th of n shards, for example 2/8.
    #[arg(long, value_parser = shard, default_value = "1/1")]
    shard: (u32, u32),
    /// Append finished work to this file, and skip the work that it already records.
    #[arg(long)]
    record: Option<PathBuf>,
    /// Instead, try the 64-bit numbers in a file that ci/exact wrote.
    #[arg(long)]
    table: Option<PathBuf>,
    /// Accepted because `cargo bench` passes it.
    #[arg(long, hide = true)]
    bench: bool,
}

/// The number of chunks, each recorded as a whole. The floats of a chunk have the same uppermost bits.
const CHUNKS: u32 = 64;

fn main() -> io::Result<()> {
    let options = Options::parse();
    let wanted =
        |row: &&Row| options.function.is_empty() || options.function.iter().any(|name| name == row.mnemonic);
    match &options.table {
        Some(table) => {
            let table = Exact::read(&read_to_string(table)?);
            kernels().filter(|(row, _)| wanted(row)).for_each(|(row, function)| wide(row, function, &table));
        }
        None => {
            let mut record = options.record.as_deref().map(Record::open).transpose()?;
            for (row, function) in kernels().filter(|(row, _)| wanted(row) && row.arity() == 1) {
                narrow(&options, row, function, record.as_mut())?;
            }
        }
    }
    Ok(())
}

/// The rows that have kernels, each with its kernels.
fn kernels() -> impl Iterator<Item = (&'static Row, &'static Function)> {
    Map::ALL.iter().map(|map| map.row()).filter_map(|row| match row.rust {
        Rust::By(name) | Rust::Function(name) => {
            Some((row, FUNCTIONS.iter().find(|function| function.name == name)?))
        }
        Rust::Identity | Rust::Operator { .. } | Rust::Sign(_) => None,
    })
}

/// Prints the errors of an `f32` function.
fn narrow(
    options: &Options,
    row: &Row,
    function: &Function,
    mut record: Option<&mut Record>,
) -> io::Result<()> {
    let (shard, of) = options.shard;
    let mut worst = [Worst::default(); 2];
    for chunk in (0..CHUNKS).filter(|chunk| chunk % of == shard - 1) {
        let key = format!("{} every {} chunk {chunk}", row.mnemonic, options.every);
        let known = record.as_ref().and_then(|record| record.of(&key));
        let found = known.unwrap_or_else(|| of_chunk(row, function, chunk, options.every));
        if let (None, Some(record)) = (known, &mut record) {
            record.add(&key, found)?;
        }
        worst.iter_mut().zip(found).for_each(|(worst, found)| worst.join(found));
        print!("\r{} {} of {CHUNKS} ", row.mnemonic, chunk + 1);
        stdout().flush()?;
    }
    println!("\r{:8} f32: separate {}, fused {}", row.mnemonic, worst[0], worst[1]);
    Ok(())
}

fn of_chunk(row: &Row, function: &Function, chunk: u32, every: u32) -> [Worst; 2] {
    let mut worst = [Worst::default(); 2];
    let len = 1 << (32 - CHUNKS.ilog2());
    for offset in (0..len).step_by(every as usize) {
        let x = f32::from_bits(chunk * len + offset);
        let exact = (row.float)(&[x.into()]);
        for (worst, kernel) in worst.iter_mut().zip(function.f32) {
            worst.join(Worst { error: narrow_error(kernel(&[x]), exact), at: x.into() });
        }
    }
    worst
}

/// Prints the errors of an `f64` function at the numbers of a table.
fn wide(row: &Row, function: &Function, table: &Exact) {
    let (mut worst, mut count) = ([Worst::default(); 2], 0);
    for Line { operands, result, rest } in table.of(row.mnemonic) {
        for (worst, kernel) in worst.iter_mut().zip(function.f64) {
            worst.join(Worst { error: wide_error(kernel(operands), *result, *rest), at: operands[0] });
        }
        count += 1;
    }
    if count > 0 {
        println!("{:8} f64, {count} numbers: separate {}, fused {}", row.mnemonic, worst[0], worst[1]);
    }
}

/// The largest error, and the operand that gives it.
#[derive(Clone, Copy, Default)]
struct Worst {
    error: f64,
    at: f64,
}

impl Worst {
    fn join(&mut self, other: Self) {
        if other.error > self.error {
            *self = other;
        }
    }
}

impl fmt::Display for Worst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} at {:?}", self.error, self.at)
    }
}

/// A record of finished work, one line per chunk.
struct Record {
    done: String,
    file: File,
}

impl Record {
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { done: read_to_string(path)?, file })
    }

    fn of(&self, key: &str) -> Option<[Worst; 2]> {
        let line = self.done.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))?;
        let numbers: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        // A truncated line is computed again.
        let [a, at_a, b, at_b] = numbers[..] else { return None };
        Some([Worst { error: a, at: at_a }, Worst { error: b, at: at_b }])
    }

    fn add(&mut self, key: &str, [a, b]: [Worst; 2]) -> io::Result<()> {
        writeln!(self.file, "{key}: {:?} {:?} {:?} {:?}", a.error, a.at, b.error, b.at)
    }
}

fn function(name: &str) -> Result<String, String> {
    let all: Vec<_> = kernels().map(|(row, _)| row.mnemonic).collect();
    if all.contains(&name) { Ok(name.to_owned()) } else { Err(format!("there are {}", all.join(", "))) }
}

fn shard(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| (1..=*n).contains(i)).ok_or_else(|| "needed i/n, as 2/8".to_owned())
}
