//! The time of the work of steps on a number of threads, and its limit.
//!
//! - Arithmetic: each kind of operation at the measured time of one core. A product has the measured rate of a large
//!   one, divided by `1 + h / extent` for each of its extents. Here `h` is the extent of half the rate, from measured
//!   products with one short extent (Hockney and Jesshope, Parallel Computers, 1981: n½).
//! - Memory: the bytes of each operand at the measured rate of the level that still holds it. This is the level as large
//!   as all bytes that the program touches between two uses of the operand (Mattson and others, 1970: stack distances).
//! - A core computes while it waits for memory. So a step takes the longer of both times, and the time to start threads.
//!   A total also takes the time to end the sums of its leaves, and starts threads for several parts each.

use mind_shape::{
    loops::{FEWEST_COLUMNS, LEAF, WIDEST_COLUMNS, WORTH_SPLITTING},
    threads::{self, COLUMN_SIZES, Cut},
};

use super::{
    machine::{ElementWork, Float, Level, Machine, MemoryUse, ProductShape, Quantity},
    work::{Arithmetic, Axis, Parts, Split, StepWork, Traffic, Work, distances},
};

/// The predicted time of a step or of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// The time in seconds.
    pub seconds: f64,
    /// The limit that accounts for most of the time.
    pub limit: Limit,
    /// The number of threads that have a part.
    pub threads: usize,
}

/// The limits of the time of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The arithmetic of the cores.
    Arithmetic,
    /// The bytes per second of a level of memory.
    Memory(Level),
    /// Starting threads.
    Fork,
    /// The arithmetic of fewer cores than there are threads, because smaller parts would not pay.
    FewParts,
    /// The step runs on one thread, because another would not pay.
    TooLittle,
    /// The step runs on one thread, because it cannot be split.
    OneThread,
    /// A function of Rust, whose time is unknown and counts as 0.
    Unknown,
}

/// The times of all steps, and of all of them together.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    pub steps: Vec<Time>,
    pub total: Time,
    /// The share of the total time that steps with the same limit take.
    pub share: f64,
}

/// Predicts the time of steps that run again and again on `threads` threads.
pub fn predict(steps: &[StepWork], machine: &Machine, threads: usize) -> Prediction {
    let times = times(steps, machine, threads);
    let seconds: f64 = times.iter().map(|time| time.seconds).sum();
    let of_limit = |limit: Limit| -> f64 {
        times.iter().filter(|time| time.limit == limit).map(|time| time.seconds).sum()
    };
    // The first of equal limits, so that the result does not depend on the order of steps.
    let mut limits: Vec<Limit> = times.iter().map(|time| time.limit).collect();
    limits.sort();
    limits.reverse();
    let limit = limits.into_iter().max_by(|one, other| of_limit(*one).total_cmp(&of_limit(*other)));
    let limit = limit.unwrap_or(Limit::Arithmetic);
    let used = times.iter().map(|time| time.threads).max().unwrap_or(1);
    let share = if seconds > 0.0 { of_limit(limit) / seconds } else { 1.0 };
    Prediction { total: Time { seconds, limit, threads: used }, share, steps: times }
}

fn times(steps: &[StepWork], machine: &Machine, threads: usize) -> Vec<Time> {
    let once = |step: &StepWork| if let StepWork::Once(work) = step { Some(work.clone()) } else { None };
    let works: Vec<Work> = steps.iter().filter_map(once).collect();
    let mut distances = distances(&works.iter().collect::<Vec<_>>()).into_iter();
    let time = |step: &StepWork| match step {
        StepWork::Once(work) => {
            let distances = distances.next().expect("there is one list for each work");
            of_work(work, &distances, machine, threads)
        }
        StepWork::Repeated(times, body) => {
            let Time { seconds, limit, threads } = predict(body, machine, threads).total;
            Time { seconds: times * seconds, limit, threads }
        }
        StepWork::Unknown => Time { seconds: 0.0, limit: Limit::Unknown, threads: 1 },
    };
    steps.iter().map(time).collect()
}

fn of_work(work: &Work, distances: &[f64], machine: &Machine, threads: usize) -> Time {
    let share = Share::of(work.split, machine, threads);
    let core = arithmetic(&work.arithmetic, machine) * share.of_arithmetic(&work.arithmetic, machine);
    let levels = Level::ALL.map(|level| {
        memory(&work.traffic, distances, level, machine, share) * share.busiest * share.threads as f64
    });
    let memory: f64 = levels.iter().sum();
    let fork =
        if share.threads == 1 { 0.0 } else { share.forks * machine.value(Quantity::Fork, share.threads) };
    let ends = ends(work.split, machine) * share.busiest;
    let level = Level::ALL
        [(0..levels.len()).rev().max_by(|one, other| levels[*one].total_cmp(&levels[*other])).unwrap_or(0)];
    let busy = core.max(memory);
    let limit = if threads > 1 && share.threads == 1 {
        if share.is_worth { Limit::OneThread } else { Limit::TooLittle }
    } else if fork > busy {
        Limit::Fork
    } else if share.threads < threads && (core >= memory || level.is_private()) {
        Limit::FewParts
    } else if core >= memory {
        Limit::Arithmetic
    } else {
        Limit::Memory(level)
    };
    Time { seconds: busy + ends + fork, limit, threads: share.threads }
}

/// How much of a step its busiest thread has.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    /// The number of threads that have a part.
    threads: usize,
    /// The share of the thread with the largest part.
    busiest: f64,
    /// The kind of the parts.
    parts: Parts,
    /// Whether there is enough work for several threads.
    is_worth: bool,
    /// The number of times that a thread is given a part.
    forks: f64,
}

impl Share {
    /// The whole step on one thread, because there is too little work for more.
    const ALONE: Self = Self { threads: 1, busiest: 1.0, parts: Parts::Rows, is_worth: false, forks: 1.0 };

    /// The parts into which the run time splits a step.
    fn of(split: Split, machine: &Machine, threads: usize) -> Self {
        match split {
            Split::Never => Self { is_worth: true, ..Self::ALONE },
            Split::TooLittle => Self::ALONE,
            Split::Loop { steps, elements, cost, axis } => {
                let of = threads::Axis { steps, elements, cost };
                let cut = match axis {
                    Axis::Rows => Cut::of_writes(of, threads, WORTH_SPLITTING),
                    Axis::Totals => Cut::of_folds(of, threads, WORTH_SPLITTING, LEAF),
                    Axis::Columns => {
                        Cut::of_columns(of, threads, WORTH_SPLITTING, [FEWEST_COLUMNS, WIDEST_COLUMNS])
                    }
                };
                let elements = steps.saturating_mul(elements);
                let is_worth = threads::loop_is_split(threads, elements, cost, WORTH_SPLITTING);
                let share = Self { is_worth, ..Self::of_pieces(steps, cut.alone, threads) };
                let pieces = steps.div_ceil(cut.alone.max(1)) as f64 / share.threads as f64;
                Self { forks: pieces.max(1.0), ..share }
            }
            Split::Product { rows, matrices, k, n, may_pack_left, is_stored } => {
                let worth = threads::worth_waking(machine.vector_bytes) / threads::WAKING;
                let parts = threads::product_parts([rows, k, n], threads, worth, threads::SMALL_PRODUCT);
                if parts == 1 {
                    return Self::ALONE;
                }
                let on_demand =
                    || COLUMN_SIZES.width_on_demand([rows, k, n], parts, may_pack_left).filter(|_| is_stored);
                let columns = if matrices > 1 {
                    None
                } else {
                    COLUMN_SIZES.width_of_few_rows(rows, n, parts).or_else(on_demand)
                };
                match columns {
                    Some(width) => Self { parts: Parts::Columns, ..Self::of_pieces(n, width, parts) },
                    None => Self::of_rows(rows, threads::GRAIN_OF_ROWS, parts),
                }
            }
            Split::Convolution { work, rows } => {
                let parts = threads::convolution_parts(work, threads, threads::WORTH_OF_CONVOLUTION);
                Self { is_worth: parts > 1, ..Self::of_rows(rows, 1, parts) }
            }
        }
    }

    /// Threads take pieces of `most` of `steps` steps.
    fn of_pieces(steps: usize, most: usize, threads: usize) -> Self {
        let pieces = steps.div_ceil(most.max(1)).max(1);
        let threads = threads.min(pieces);
        let steps_of_one = threads::most_columns(steps, most.max(1), threads).min(steps);
        Self {
            threads,
            busiest: steps_of_one.max(1) as f64 / steps.max(1) as f64,
            is_worth: true,
            ..Self::ALONE
        }
    }

    /// Each thread takes one part of whole grains.
    fn of_rows(rows: usize, grain: usize, threads: usize) -> Self {
        let grains = (rows / grain).max(1);
        let threads = threads.min(grains);
        Self {
            threads,
            busiest: grains.div_ceil(threads) as f64 / grains as f64,
            is_worth: true,
            ..Self::ALONE
        }
    }

    /// The factor from the time of all arithmetic on one core to that of the busiest thread. Cores may be slower if
    /// others compute too.
    fn of_arithmetic(self, arithmetic: &Arithmetic, machine: &Machine) -> f64 {
        let float = if arithmetic.product.is_some_and(|(float, _)| float == Float::F64) {
            Float::F64
        } else {
            Float::F32
        };
        let peak = Quantity::Peak(float);
        let speedup = machine.value(peak, self.threads) / machine.value(peak, 1);
        self.busiest * self.threads as f64 / speedup
    }
}

/// The time to end the sums of the leaves of a total, in seconds. Nothing else is computed meanwhile.
fn ends(split: Split, machine: &Machine) -> f64 {
    match split {
        Split::Loop { steps, elements, axis: Axis::Totals, .. } => {
            let leaves = steps.saturating_mul(elements) / LEAF;
            leaves as f64 * machine.value(Quantity::Element(ElementWork::Row, Float::F32), 1)
        }
        Split::Loop { axis: Axis::Rows | Axis::Columns, .. }
        | Split::Never
        | Split::TooLittle
        | Split::Product { .. }
        | Split::Convolution { .. } => 0.0,
    }
}

/// The time of arithmetic on one core, in seconds.
fn arithmetic(arithmetic: &Arithmetic, machine: &Machine) -> f64 {
    let Arithmetic { additions, divisions, functions, folds, rows, bytes, product } = arithmetic;
    let of_float = |float: Float| {
        let element = |work: ElementWork| machine.value(Quantity::Element(work, float), 1);
        let at = float as usize;
        // A multiply-add counts as two operations of the peak, and an addition takes as long.
        additions[at] * 2.0 / machine.value(Quantity::Peak(float), 1)
            + divisions[at] * element(ElementWork::Division)
            + functions[at] * element(ElementWork::Function)
            + folds[at] * element(ElementWork::Fold)
            + rows[at] * element(ElementWork::Row)
    };
    let elements: f64 = Float::ALL.into_iter().map(of_float).sum();
    let elements = elements.max(bytes / machine.value(Quantity::Memory(MemoryUse::Read, Level::L1), 1));
    let products = product.map_or(0.0, |(float, extents)| {
        2.0 * extents.iter().product::<f64>() / product_rate(extents, float, machine)
    });
    elements + products
}

/// The operations per second of a product on one core.
fn product_rate(extents: [f64; 3], float: Float, machine: &Machine) -> f64 {
    let rate = |shape: ProductShape| machine.value(Quantity::Product(shape, float), 1);
    let large = rate(ProductShape::Large);
    let shapes = [ProductShape::FewRows, ProductShape::ShortSums, ProductShape::FewColumns];
    let (mut of_large, mut of_extents) = (1.0, 1.0);
    for (axis, shape) in shapes.into_iter().enumerate() {
        let [long, short] = [ProductShape::Large, shape].map(|shape| shape.extents()[axis] as f64);
        let ratio = (large / rate(shape)).clamp(1.0, long / short * 0.99);
        // ratio = (1 + half / short) / (1 + half / long)
        let half = (ratio - 1.0) / (1.0 / short - ratio / long);
        of_large *= 1.0 + half / long;
        of_extents *= 1.0 + half / extents[axis];
    }
    large * of_large / of_extents
}

/// The time in which the threads of a step together move the bytes that lie in a level, in seconds.
fn memory(traffic: &[Traffic], distances: &[f64], level: Level, machine: &Machine, share: Share) -> f64 {
    let bytes = |is_written: bool| -> f64 {
        let moved = traffic.iter().zip(distances).filter(|(traffic, _)| traffic.is_written == is_written);
        let here = moved.filter_map(|(traffic, distance)| {
            let reads = if traffic.read_by_all == Some(share.parts) { share.threads } else { 1 };
            // Every thread needs all of what it reads alone, so that the caches of the others do not help.
            let caches = share.threads / reads;
            let distance = if distance.is_finite() { *distance as usize } else { usize::MAX };
            (Level::of(distance, &machine.caches, caches) == level).then_some(traffic.bytes * reads as f64)
        });
        here.sum()
    };
    let (read, written) = (bytes(false), bytes(true));
    let both = read.min(written);
    let time = |way: MemoryUse, bytes: f64| {
        if bytes > 0.0 { bytes / machine.value(Quantity::Memory(way, level), share.threads) } else { 0.0 }
    };
    time(MemoryUse::Copy, 2.0 * both)
        + time(MemoryUse::Read, read - both)
        + time(MemoryUse::Write, written - both)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine::parse(include_str!("../../../docs/book/listings/machine.txt"), "machine.txt").unwrap()
    }

    /// A step that reads `bytes` bytes and adds as many numbers.
    fn sum(bytes: usize, split: Split) -> Work {
        Work {
            arithmetic: Arithmetic { folds: [bytes as f64 / 4.0, 0.0], ..Arithmetic::default() },
            traffic: vec![Traffic { place: 0, bytes: bytes as f64, is_written: false, read_by_all: None }],
            split,
        }
    }

    fn limit(work: &Work, threads: usize) -> Limit {
        predict(&[StepWork::Once(work.clone())], &machine(), threads).total.limit
    }

    #[test]
    fn the_limit_is_the_level_that_holds_all_bytes() {
        for (bytes, level) in [(1 << 22, Level::L3), (1 << 28, Level::Memory)] {
            assert_eq!(limit(&sum(bytes, Split::Never), 1), Limit::Memory(level), "{bytes}");
        }
        let mut slow = sum(1 << 22, Split::Never);
        slow.arithmetic.functions[0] = (1 << 20) as f64;
        assert_eq!(limit(&slow, 1), Limit::Arithmetic);
    }

    #[test]
    fn threads_are_not_used_where_they_would_not_pay() {
        let of = |steps| Split::Loop { steps, elements: 1, cost: 1, axis: Axis::Rows };
        assert_eq!(limit(&sum(4000, of(1000)), 2), Limit::TooLittle);
        assert_eq!(limit(&sum(4 << 20, Split::Never), 2), Limit::OneThread);
        assert_eq!(limit(&sum(4 << 20, of(1 << 20)), 2), Limit::Memory(Level::L3));
        assert_eq!(limit(&sum(1 << 19, of(1 << 17)), 64), Limit::Fork);
    }

    #[test]
    fn a_measured_product_takes_its_measured_time() {
        let machine = machine();
        for float in Float::ALL {
            for shape in [ProductShape::Large, ProductShape::ShortSums, ProductShape::FewColumns] {
                let rate = product_rate(shape.extents().map(|extent| extent as f64), float, &machine);
                let measured = machine.value(Quantity::Product(shape, float), 1);
                assert!((rate / measured - 1.0).abs() < 1e-9, "{shape:?} {float}: {rate} {measured}");
            }
        }
    }

    #[test]
    fn an_operand_is_in_the_level_that_holds_all_bytes_since_its_last_use() {
        let reads = |place, bytes| Work {
            traffic: vec![Traffic { place, bytes, is_written: false, read_by_all: None }],
            ..Work::default()
        };
        let (one, other) = (reads(0, 100.0), reads(1, 1000.0));
        assert_eq!(distances(&[&one, &one, &other]), [[1100.0], [100.0], [1100.0]]);
        assert_eq!(distances(&[&other]), [[1000.0]]);
    }
}
