//! How far the functions of elements are from the exact ones, in units in the last place: on floats of 32 bits, beside the
//! reference of their rows, and on recorded numbers of 64 bits, beside exact results. `ci/ulp` builds and runs it.

use std::{
    fmt,
    fs::{File, OpenOptions, read_to_string},
    io::{self, Write as _, stdout},
    path::{Path, PathBuf},
};

use clap::Parser;
use mind::__private::{FUNCTIONS, Function};
use mind_core::map::{Map, Row, Rust};

/// Prints the largest error of each function of one operand by separate multiplications and additions, and by fused ones.
#[derive(Parser)]
#[command(name = "ci/ulp")]
struct Options {
    /// Only this function; may be given again.
    #[arg(long, value_parser = function)]
    function: Vec<String>,
    /// Try one in so many of the 2^32 floats.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Try the i-th of n shards, as 2/8.
    #[arg(long, value_parser = shard, default_value = "1/1")]
    shard: (u32, u32),
    /// Append what is done to this file, and do nothing again that is there.
    #[arg(long)]
    record: Option<PathBuf>,
    /// Instead, try the numbers of 64 bits of a file that ci/exact wrote.
    #[arg(long)]
    table: Option<PathBuf>,
    /// What `cargo bench` says.
    #[arg(long, hide = true)]
    bench: bool,
}

/// What is recorded at once: the floats of the same uppermost bits.
const CHUNKS: u32 = 64;

fn main() -> io::Result<()> {
    let options = Options::parse();
    let wanted =
        |row: &&Row| options.function.is_empty() || options.function.iter().any(|name| name == row.mnemonic);
    match &options.table {
        Some(table) => {
            let table = read_to_string(table)?;
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

/// The rows that have kernels, with these.
fn kernels() -> impl Iterator<Item = (&'static Row, &'static Function)> {
    Map::ALL.iter().map(|map| map.row()).filter_map(|row| match row.rust {
        Rust::By(name) | Rust::Function(name) => {
            Some((row, FUNCTIONS.iter().find(|function| function.name == name)?))
        }
        Rust::Identity | Rust::Operator { .. } | Rust::Sign(_) => None,
    })
}

/// The errors of a function of floats of 32 bits.
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

/// The errors of a function at the numbers of 64 bits of a table.
fn wide(row: &Row, function: &Function, table: &str) {
    let (mut worst, mut count) = ([Worst::default(); 2], 0);
    for line in table.lines().filter(|line| line.split(' ').next() == Some(row.mnemonic)) {
        let numbers: Vec<f64> = line.split(' ').skip(1).map(number).collect();
        let [operands @ .., exact, rest] = &numbers[..] else { panic!("no line of ci/exact: {line}") };
        for (worst, kernel) in worst.iter_mut().zip(function.f64) {
            worst.join(Worst { error: wide_error(kernel(operands), *exact, *rest), at: operands[0] });
        }
        count += 1;
    }
    if count > 0 {
        println!("{:8} f64, {count} numbers: separate {}, fused {}", row.mnemonic, worst[0], worst[1]);
    }
}

/// The largest error, and where.
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

/// What has been done, a line a chunk.
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
        // A line that was cut short is done again.
        let [a, at_a, b, at_b] = numbers[..] else { return None };
        Some([Worst { error: a, at: at_a }, Worst { error: b, at: at_b }])
    }

    fn add(&mut self, key: &str, [a, b]: [Worst; 2]) -> io::Result<()> {
        writeln!(self.file, "{key}: {:?} {:?} {:?} {:?}", a.error, a.at, b.error, b.at)
    }
}

/// In units in the last place of `f32`.
fn narrow_error(found: f32, exact: f64) -> f64 {
    let same = f64::from(found) == exact || found.is_nan() && exact.is_nan();
    if same || found.is_infinite() && found == exact as f32 {
        return 0.0;
    }
    let error = (f64::from(found) - exact).abs() / 2f64.powi(exponent(exact, f32::MIN_POSITIVE.into()) - 23);
    if error.is_nan() { f64::INFINITY } else { error }
}

/// In units in the last place of `f64`, of a result that has so many of these more than the nearest float.
fn wide_error(found: f64, exact: f64, rest: f64) -> f64 {
    if found == exact && !exact.is_finite() || found.is_nan() && exact.is_nan() {
        return 0.0;
    }
    let exponent = exponent(exact, f64::MIN_POSITIVE);
    // Scaled so that a unit is a normal number.
    let scale = if exponent < 0 { 2f64.powi(500) } else { 1.0 };
    let unit = 2f64.powi(exponent) * scale * f64::EPSILON;
    let error = ((found * scale - exact * scale) / unit - rest).abs();
    if error.is_nan() { f64::INFINITY } else { error }
}

/// That of the power of 2 below a number, or of the least normal one.
fn exponent(x: f64, least: f64) -> i32 {
    (x.abs().max(least).to_bits() >> 52) as i32 - 1023
}

/// Bits, or what a result lacks.
fn number(text: &str) -> f64 {
    let bits = text.strip_prefix("0x").map(|bits| u64::from_str_radix(bits, 16).map(f64::from_bits).ok());
    let number = bits.unwrap_or_else(|| text.parse().ok());
    number.unwrap_or_else(|| panic!("no number of ci/exact: {text}"))
}

fn function(name: &str) -> Result<String, String> {
    let all: Vec<_> = kernels().map(|(row, _)| row.mnemonic).collect();
    if all.contains(&name) { Ok(name.to_owned()) } else { Err(format!("there are {}", all.join(", "))) }
}

fn shard(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| (1..=*n).contains(i)).ok_or_else(|| "needed i/n, as 2/8".to_owned())
}
