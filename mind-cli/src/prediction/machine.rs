//! The measured limits of a machine, and the text file that holds them.
//!
//! The file has one entry per line: a name, a colon, and values. `#` begins a comment line. Limits of several threads
//! have one value for each number of threads in the line `threads`.

use std::{collections::BTreeMap, fmt, path::Path};

use crate::{
    report::{Failure, Outcome},
    source::{name_of, reason},
};

/// The first line of a file.
const HEADER: &str = "mind machine 1";

/// The limits of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// The bytes of a vector at the SIMD level in use: 16, 32 or 64.
    pub vector_bytes: usize,
    /// The bytes of the caches of a core, and of the shared cache if there is one.
    pub caches: Caches,
    /// The measured numbers of threads, ascending, from 1 on.
    pub threads: Vec<usize>,
    /// The values of each quantity: one for each number of threads, or one for a core.
    pub values: BTreeMap<Quantity, Vec<f64>>,
}

/// The sizes of caches in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// The first level, per core.
    pub l1: usize,
    /// The second level, per core.
    pub l2: usize,
    /// The third level, which is shared, if there is one.
    pub l3: Option<usize>,
}

/// A measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Multiply-adds from registers.
    Peak(Float),
    /// Bytes read from or written to a level of memory.
    Memory(MemoryUse, Level),
    /// The time to give each thread an empty part and to wait for all threads.
    Fork,
    /// The time of one core for loops over elements.
    Element(ElementWork, Float),
    /// The rate of one core for a product of these extents.
    Product(ProductShape, Float),
}

/// The element type of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Float {
    F32,
    F64,
}

/// The kind of memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryUse {
    Read,
    Write,
    /// Counts both the bytes that are read and the bytes that are written.
    Copy,
}

/// The level of memory that contains the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    L1,
    L2,
    L3,
    Memory,
}

/// A part of the work of a loop over elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ElementWork {
    /// An exponential of an element in the first cache.
    Function,
    /// A division of elements in the first cache.
    Division,
    /// An addition of an element in the first cache to a sum.
    Fold,
    /// The end of a sum over a row.
    Row,
}

/// The extents of a measured product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProductShape {
    /// No extent is short.
    Large,
    /// There are few rows.
    FewRows,
    /// Sums are short.
    ShortSums,
    /// There are few columns.
    FewColumns,
}

impl Float {
    pub const ALL: [Self; 2] = [Self::F32, Self::F64];

    /// The number of bytes of an element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

impl Level {
    pub const ALL: [Self; 4] = [Self::L1, Self::L2, Self::L3, Self::Memory];

    /// The fastest level that can hold `bytes` bytes, if each thread has separate first and second levels.
    pub fn of(bytes: usize, caches: &Caches, threads: usize) -> Self {
        if bytes <= caches.l1.saturating_mul(threads) {
            Self::L1
        } else if bytes <= caches.l2.saturating_mul(threads) {
            Self::L2
        } else if caches.l3.is_some_and(|l3| bytes <= l3) {
            Self::L3
        } else {
            Self::Memory
        }
    }

    /// Whether every core has a cache of this level.
    pub const fn is_private(self) -> bool {
        match self {
            Self::L1 | Self::L2 => true,
            Self::L3 | Self::Memory => false,
        }
    }
}

impl ProductShape {
    pub const ALL: [Self; 4] = [Self::Large, Self::FewRows, Self::ShortSums, Self::FewColumns];

    /// Rows, steps of the contraction, and columns.
    pub const fn extents(self) -> [usize; 3] {
        match self {
            Self::Large => [384, 384, 384],
            Self::FewRows => [8, 384, 384],
            Self::ShortSums => [384, 8, 384],
            Self::FewColumns => [384, 384, 8],
        }
    }
}

impl Quantity {
    /// All quantities of a machine, with or without a third level of cache, in the order of the file.
    pub fn all(has_l3: bool) -> Vec<Self> {
        const ELEMENTS: [ElementWork; 4] =
            [ElementWork::Function, ElementWork::Division, ElementWork::Fold, ElementWork::Row];
        let levels = Level::ALL.into_iter().filter(|level| has_l3 || *level != Level::L3);
        let memory = levels.flat_map(|level| {
            [MemoryUse::Read, MemoryUse::Write, MemoryUse::Copy].map(|way| Self::Memory(way, level))
        });
        let of_core = |float: Float| {
            let elements = ELEMENTS.map(|work| Self::Element(work, float));
            elements.into_iter().chain(ProductShape::ALL.map(|shape| Self::Product(shape, float)))
        };
        let peaks = Float::ALL.map(Self::Peak);
        peaks
            .into_iter()
            .chain(memory)
            .chain([Self::Fork])
            .chain(Float::ALL.into_iter().flat_map(of_core))
            .collect()
    }

    /// Whether the quantity has one value for each measured number of threads. Others have one value.
    pub const fn is_per_threads(self) -> bool {
        match self {
            Self::Peak(_) | Self::Memory(..) | Self::Fork => true,
            Self::Element(..) | Self::Product(..) => false,
        }
    }

    /// The unit of its values.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Peak(_) | Self::Product(..) => "GFLOP/s",
            Self::Memory(..) => "GB/s",
            Self::Fork => "µs",
            Self::Element(..) => "ns",
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Peak(float) => write!(f, "peak {float}"),
            Self::Memory(way, level) => write!(f, "{way} {level}"),
            Self::Fork => f.write_str("fork"),
            Self::Element(work, float) => {
                let work = match work {
                    ElementWork::Function => "function",
                    ElementWork::Division => "division",
                    ElementWork::Fold => "fold",
                    ElementWork::Row => "row",
                };
                write!(f, "{work} {float}")
            }
            Self::Product(shape, float) => {
                let [m, k, n] = shape.extents();
                write!(f, "product {float} {m}x{k}x{n}")
            }
        }
    }
}

impl fmt::Display for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
        })
    }
}

impl fmt::Display for MemoryUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
        })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::L3 => "L3",
            Self::Memory => "memory",
        })
    }
}

impl Machine {
    /// Reads a file.
    ///
    /// # Errors
    /// Wrong use if the file cannot be read or a line is wrong.
    pub fn read(file: &Path) -> Outcome<Self> {
        let name = name_of(file);
        let text = std::fs::read_to_string(file).map_err(|error| {
            Failure::with_help(
                format!("cannot read {name}: {}", reason(&error)),
                "`mind bench --save FILE` measures this machine and writes such a file",
            )
        })?;
        Self::parse(&text, &name)
    }

    /// The machine that a text describes. `name` is the name of its file.
    ///
    /// # Errors
    /// Wrong use if a line is wrong or missing. The message has the number of the line.
    pub fn parse(text: &str, name: &str) -> Outcome<Self> {
        let mistake = |line: usize, message: String| {
            Failure::with_help(
                format!("{name}:{line}: {message}"),
                "`mind bench --save FILE` writes a correct file",
            )
        };
        let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        if lines.next().is_none_or(|(_, line)| line != HEADER) {
            return Err(mistake(1, format!("the first line is not `{HEADER}`")));
        }
        let mut entries: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
        let mut last = 1;
        for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let Some((entry, value)) = line.split_once(':') else {
                return Err(mistake(at, format!("`{line}` has no colon")));
            };
            if let Some((before, _)) = entries.insert(entry.trim(), (at, value.trim())) {
                return Err(mistake(at, format!("`{}` is already on line {before}", entry.trim())));
            }
            last = at;
        }
        let mut take = |entry: &str| entries.remove(entry);
        let missing = |entry: &str| mistake(last + 1, format!("`{entry}` is missing"));
        let (_, processor) = take("processor").ok_or_else(|| missing("processor"))?;
        let size = |entry: &str, found: Option<(usize, &str)>| -> Outcome<Option<usize>> {
            let Some((at, text)) = found else { return Ok(None) };
            let number = text.strip_suffix("bytes").unwrap_or(text).trim();
            let size = number.parse().ok().filter(|size| (1..=1 << 40).contains(size));
            let size =
                size.ok_or_else(|| mistake(at, format!("`{entry}` is `{text}`, needed a number of bytes")))?;
            Ok(Some(size))
        };
        let needed = |entry: &str, found| size(entry, found)?.ok_or_else(|| missing(entry));
        let vector_bytes = needed("vector", take("vector"))?;
        let caches = Caches {
            l1: needed("cache L1", take("cache L1"))?,
            l2: needed("cache L2", take("cache L2"))?,
            l3: size("cache L3", take("cache L3"))?,
        };
        let (at, counts) = take("threads").ok_or_else(|| missing("threads"))?;
        let threads: Option<Vec<usize>> = counts.split_whitespace().map(|count| count.parse().ok()).collect();
        let threads = threads
            .filter(|counts| counts.first() == Some(&1) && counts.is_sorted_by(|one, next| one < next));
        let threads = threads.ok_or_else(|| {
            mistake(at, format!("`threads` is `{counts}`, needed ascending numbers from 1 on, such as 1 2"))
        })?;
        let mut values = BTreeMap::new();
        for quantity in Quantity::all(caches.l3.is_some()) {
            let entry = quantity.to_string();
            let (at, text) = take(&entry).ok_or_else(|| missing(&entry))?;
            let count = if quantity.is_per_threads() { threads.len() } else { 1 };
            let numbers = numbers(text, quantity.unit());
            let is_valid = |(position, value): (usize, &f64)| {
                // One thread starts no other.
                let may_be_zero = quantity == Quantity::Fork && position == 0;
                value.is_finite() && (*value > 0.0 || may_be_zero && *value == 0.0)
            };
            let numbers = numbers.filter(|all| all.len() == count && all.iter().enumerate().all(is_valid));
            let numbers = numbers.ok_or_else(|| {
                let (number, unit) = (if count == 1 { "number" } else { "numbers" }, quantity.unit());
                mistake(
                    at,
                    format!("`{entry}` is `{text}`, needed {count} {number} above 0 and the unit {unit}"),
                )
            })?;
            values.insert(quantity, numbers);
        }
        if let Some((entry, (at, _))) = entries.into_iter().min_by_key(|(_, (at, _))| *at) {
            return Err(mistake(at, format!("there is no entry `{entry}`")));
        }
        Ok(Self { processor: processor.to_owned(), vector_bytes, caches, threads, values })
    }

    /// A rate in units per second, or a time in seconds, of `threads` threads together.
    ///
    /// Between measured numbers of threads it is interpolated. Beyond them, the rates of cores and of their own caches
    /// grow with the threads, other rates stay, and the time of a fork grows with the depth of a tree of threads.
    pub fn value(&self, quantity: Quantity, threads: usize) -> f64 {
        let values = &self.values[&quantity];
        let last = self.threads.len() - 1;
        let scale = match quantity {
            Quantity::Peak(_) | Quantity::Memory(..) | Quantity::Product(..) => 1e9,
            Quantity::Fork => 1e-6,
            Quantity::Element(..) => 1e-9,
        };
        if !quantity.is_per_threads() {
            return values[0] * scale;
        }
        let depth = |threads: usize| (threads as f64).log2();
        let above = self.threads.iter().position(|count| *count >= threads);
        let value = match above {
            Some(0) => values[0],
            Some(at) => {
                let place =
                    |threads: usize| if quantity == Quantity::Fork { depth(threads) } else { threads as f64 };
                let (from, to) = (place(self.threads[at - 1]), place(self.threads[at]));
                let share = (place(threads) - from) / (to - from);
                values[at - 1] + share * (values[at] - values[at - 1])
            }
            None => {
                let most = self.threads[last];
                let growth = match quantity {
                    Quantity::Peak(_) => threads as f64 / most as f64,
                    Quantity::Memory(_, level) if level.is_private() => threads as f64 / most as f64,
                    Quantity::Memory(..) => 1.0,
                    Quantity::Fork if most == 1 => 1.0,
                    Quantity::Fork => depth(threads) / depth(most),
                    Quantity::Element(..) | Quantity::Product(..) => 1.0,
                };
                values[last] * growth
            }
        };
        value * scale
    }

    /// The largest measured number of threads.
    pub fn most_threads(&self) -> usize {
        self.threads[self.threads.len() - 1]
    }
}

/// The numbers before a unit; `None` if there is another text.
fn numbers(text: &str, unit: &str) -> Option<Vec<f64>> {
    text.strip_suffix(unit)?.split_whitespace().map(|number| number.parse().ok()).collect()
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Caches { l1, l2, l3 } = self.caches;
        let counts: Vec<String> = self.threads.iter().map(usize::to_string).collect();
        writeln!(f, "{HEADER}\n# Written by `mind bench --save`. `mind stats --machine` reads it.")?;
        writeln!(f, "processor: {}\nvector: {} bytes", self.processor, self.vector_bytes)?;
        writeln!(f, "cache L1: {l1} bytes\ncache L2: {l2} bytes")?;
        if let Some(l3) = l3 {
            writeln!(f, "cache L3: {l3} bytes")?;
        }
        writeln!(f, "\n# One value for each of these numbers of threads.\nthreads: {}", counts.join(" "))?;
        let mut is_per_threads = true;
        for (quantity, values) in &self.values {
            if is_per_threads && !quantity.is_per_threads() {
                is_per_threads = false;
                writeln!(f, "\n# One core.")?;
            }
            let values: Vec<String> = values.iter().map(|value| digits(*value)).collect();
            writeln!(f, "{quantity}: {} {}", values.join(" "), quantity.unit())?;
        }
        Ok(())
    }
}

/// The value with four significant digits.
fn digits(value: f64) -> String {
    let before = if value >= 1.0 { value.log10() as usize + 1 } else { 0 };
    format!("{value:.*}", 4_usize.saturating_sub(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = include_str!("../../../docs/book/listings/machine.txt");

    fn machine() -> Machine {
        Machine::parse(MACHINE, "machine.txt").unwrap()
    }

    #[test]
    fn a_machine_is_written_as_it_is_read() {
        assert_eq!(machine().to_string(), MACHINE.replace("\r\n", "\n"));
    }

    #[test]
    fn cores_and_their_caches_grow_beyond_measured_threads_and_shared_levels_stay() {
        let machine = machine();
        let growth = |quantity: Quantity| machine.value(quantity, 64) / machine.value(quantity, 2);
        for level in Level::ALL {
            let expected = if level.is_private() { 32.0 } else { 1.0 };
            assert_eq!(growth(Quantity::Memory(MemoryUse::Read, level)), expected, "{level}");
        }
        assert_eq!(growth(Quantity::Peak(Float::F32)), 32.0);
        assert!((growth(Quantity::Fork) - 6.0).abs() < 1e-9);
        assert_eq!(machine.value(Quantity::Fork, 1), 0.0);
    }

    #[test]
    fn values_between_measured_threads_are_interpolated() {
        let measured = Machine {
            threads: vec![1, 4],
            values: [(Quantity::Peak(Float::F32), vec![100.0, 340.0]), (Quantity::Fork, vec![0.0, 2.0])]
                .into(),
            ..machine()
        };
        assert_eq!(measured.value(Quantity::Peak(Float::F32), 2), 180e9);
        assert_eq!(measured.value(Quantity::Fork, 2), 1e-6);
        assert_eq!(measured.value(Quantity::Peak(Float::F32), 4), 340e9);
    }
}
