//! Measures the limits that predictions need, and saves them.

use std::{hint::black_box, time::Duration};

use mind::{__private::roofline, Error, Workspace, mind};

use super::{
    limits::{self, Before, Limit, Refused},
    machine::Machine,
    programs::{Call, Cost, Program, operand, programs, result},
};
use crate::prediction::machine::{self, ElementWork, Float, ProductShape, Quantity};

/// A measured time of a program that computes elements, or a limit of the machine.
#[derive(Clone, Copy)]
pub enum Probe {
    Limit(Quantity, Limit),
    Program(&'static Program),
}

impl Probe {
    /// All probes for a machine.
    pub fn all(machine: &Machine) -> Vec<Self> {
        let limit = |quantity: Quantity| match quantity {
            Quantity::Peak(float) => Some(Limit::Peak(float, mind::simd_level())),
            Quantity::Memory(way, level) => Some(Limit::Memory(way, level)),
            Quantity::Fork => Some(Limit::Fork(Before::Looking)),
            Quantity::Element(..) | Quantity::Product(..) => None,
        };
        let limits = Quantity::all(machine.caches.l3.is_some()).into_iter();
        let limits = limits.filter_map(|quantity| Some(Self::Limit(quantity, limit(quantity)?)));
        limits.chain(PROBES.iter().map(Self::Program)).collect()
    }

    /// Its name, for progress and messages.
    pub fn name(self) -> String {
        match self {
            Self::Limit(_, limit) => limit.to_string(),
            Self::Program(program) => program.name.to_owned(),
        }
    }

    /// Measures with `threads` threads in about `time`: a value in the unit of the limit, or seconds of a program.
    /// `None` if it cannot be measured.
    pub fn measure(self, machine: &Machine, threads: usize, time: Duration) -> Result<Option<f64>, Refused> {
        match self {
            Self::Limit(_, limit) => limits::measure(limit, &machine.caches, threads, time),
            Self::Program(program) => Ok(Some(limits::least(time, &mut (program.prepare)()?)?)),
        }
    }

    /// The better of two measurements.
    pub fn better(self, one: Option<f64>, other: Option<f64>) -> Option<f64> {
        match self {
            Self::Limit(_, limit) => limit.better(one, other),
            Self::Program(_) => [one, other].into_iter().flatten().reduce(f64::min),
        }
    }

    /// Whether it is measured with each number of threads. Others are measured with one.
    pub const fn is_per_threads(self) -> bool {
        match self {
            Self::Limit(..) => true,
            Self::Program(_) => false,
        }
    }
}

/// The lengths of the rows whose sums are timed, and the numbers of such rows.
const ROWS: [[usize; 2]; 2] = [[8, 256], [2, 1024]];

/// The machine with these measured values, one list for each probe.
pub fn limits_of(machine: &Machine, threads: Vec<usize>, measured: &[(Probe, Vec<f64>)]) -> machine::Machine {
    let seconds = |name: &str| {
        let found = measured
            .iter()
            .find(|(probe, _)| matches!(probe, Probe::Program(program) if program.name == name));
        found.map(|(_, values)| values[0]).expect("every program was measured")
    };
    let of_float = |name: &str, float: Float| seconds(&format!("{name} {float}"));
    let value = |quantity: Quantity| -> Vec<f64> {
        match quantity {
            Quantity::Peak(_) | Quantity::Memory(..) | Quantity::Fork => {
                let found = measured
                    .iter()
                    .find(|(probe, _)| matches!(probe, Probe::Limit(measured, _) if *measured == quantity));
                found.map(|(_, values)| values.clone()).expect("every limit was measured")
            }
            Quantity::Element(work, float) => {
                let row = ROWS.map(|[rows, len]| of_float(&format!("rows {len}"), float) / rows as f64);
                let [short, long] = ROWS.map(|[_, len]| len as f64);
                let fold = (row[1] - row[0]) / (long - short);
                let seconds = match work {
                    ElementWork::Function => of_float("function", float) / 1000.0,
                    ElementWork::Division => of_float("division", float) / 1000.0,
                    ElementWork::Fold => fold,
                    ElementWork::Row => row[0] - fold * short,
                };
                // A disturbed measurement may differ by less than nothing.
                vec![(seconds * 1e9).max(0.001)]
            }
            Quantity::Product(shape, float) => {
                let flops = 2.0 * shape.extents().map(|extent| extent as f64).iter().product::<f64>();
                vec![flops / of_float(product(shape), float) * 1e-9]
            }
        }
    };
    let quantities = Quantity::all(machine.caches.l3.is_some()).into_iter();
    machine::Machine {
        processor: machine.processor.clone(),
        vector_bytes: roofline::vector_bytes(),
        caches: machine.caches.sizes(),
        threads,
        values: quantities.map(|quantity| (quantity, value(quantity))).collect(),
    }
}

const fn product(shape: ProductShape) -> &'static str {
    match shape {
        ProductShape::Large => "large",
        ProductShape::FewRows => "few rows",
        ProductShape::ShortSums => "short sums",
        ProductShape::FewColumns => "few columns",
    }
}

/// Programs that measure one core need no bound of their time.
const NONE: Cost = Cost::Read(0);

programs! { PROBES:
    function_f32 "function f32" NONE;
    (x: f32[1000]) -> (f32[1000]) { exp(x) }
    function_f64 "function f64" NONE;
    (x: f64[1000]) -> (f64[1000]) { exp(x) }

    division_f32 "division f32" NONE;
    (x: f32[1000], yy: f32[1000]) -> (f32[1000]) { x / yy }
    division_f64 "division f64" NONE;
    (x: f64[1000], yy: f64[1000]) -> (f64[1000]) { x / yy }

    short_f32 "rows 256 f32" NONE;
    (x: f32[8, 256]) -> (f32[8]) { sum(x * x, axes = [1]) }
    short_f64 "rows 256 f64" NONE;
    (x: f64[8, 256]) -> (f64[8]) { sum(x * x, axes = [1]) }

    long_f32 "rows 1024 f32" NONE;
    (x: f32[2, 1024]) -> (f32[2]) { sum(x * x, axes = [1]) }
    long_f64 "rows 1024 f64" NONE;
    (x: f64[2, 1024]) -> (f64[2]) { sum(x * x, axes = [1]) }

    large_f32 "large f32" NONE;
    (x: f32[384, 384], y: f32[384, 384]) -> (f32[384, 384]) { x @ y }
    large_f64 "large f64" NONE;
    (x: f64[384, 384], y: f64[384, 384]) -> (f64[384, 384]) { x @ y }

    few_rows_f32 "few rows f32" NONE;
    (x: f32[8, 384], y: f32[384, 384]) -> (f32[8, 384]) { x @ y }
    few_rows_f64 "few rows f64" NONE;
    (x: f64[8, 384], y: f64[384, 384]) -> (f64[8, 384]) { x @ y }

    short_sums_f32 "short sums f32" NONE;
    (x: f32[384, 8], y: f32[8, 384]) -> (f32[384, 384]) { x @ y }
    short_sums_f64 "short sums f64" NONE;
    (x: f64[384, 8], y: f64[8, 384]) -> (f64[384, 384]) { x @ y }

    few_columns_f32 "few columns f32" NONE;
    (x: f32[384, 384], y: f32[384, 8]) -> (f32[384, 8]) { x @ y }
    few_columns_f64 "few columns f64" NONE;
    (x: f64[384, 384], y: f64[384, 8]) -> (f64[384, 8]) { x @ y }
}
