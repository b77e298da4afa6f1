//! How far a result may be off that adds in another order and rounds in other places.
//!
//! A running error analysis (N. J. Higham, Accuracy and Stability of Numerical Algorithms, section 3.3): beside each
//! value stands a bound on its distance from what any other evaluation gives that takes the same operations, adds in an
//! order of its own and may fuse a product with a sum. An operation adds what is rounded in it to what its operands are
//! off by, as far as it magnifies that. So a difference of large numbers that nearly cancel may be off by much, and
//! everything else by little.

use std::collections::BTreeMap;

use mind_shape::match_dtype;

use crate::{
    canon::canonicalise,
    cumulate::{Combine, Cumulate},
    dim::{Bindings, Dim},
    interp::{
        Array, Concrete, Elements, RunError, Trace, broadcast_offset, evaluate, positions, trace,
        trace_within,
    },
    ir::{
        Access, Cumulation, Guard, Inst, Module, Nesting, Op, Own, Product, Reorder, Rows, Scan, ValueId,
        Window,
    },
    map::{Exactness, Row},
    ops::{Profile, position, seen_through},
    opt::unoptimised,
    reduce::Reduce,
    ty::{DType, Type},
    verify::{Verified, verify},
};

/// A result of the interpreter, and how far others may be off.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// What the interpreter gives.
    pub value: Array,
    /// The largest distance from each element: 0 for integers, infinite where nothing can be said. That is where the
    /// element is not finite, and after a sum that may overflow, a divisor that may be 0 or a logarithm of what may be.
    pub bounds: Vec<f64>,
}

impl Bounded {
    /// The first element of `found` that is off by more than it may be, or that the shapes differ.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, found: &Array) -> Result<(), String> {
        if (found.dtype(), &found.shape) != (self.value.dtype(), &self.value.shape) {
            let [found, expected] =
                [found, &self.value].map(|value| format!("{}{:?}", value.dtype(), value.shape));
            return Err(format!("a tensor {found}, expected {expected}"));
        }
        let (found, expected) = (found.elements.to_f64(), self.value.elements.to_f64());
        for (position, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let bound = self.bounds[position];
            let near = found == expected || bound.is_infinite() || (found - expected).abs() <= bound;
            if !near {
                return Err(format!("element {position} is {found}, expected {expected} within {bound:e}"));
            }
        }
        Ok(())
    }
}

/// The results of a module on these inputs with their bounds.
///
/// # Errors
/// As those of [`crate::interp::run`].
pub fn run_bounded(module: &Verified, inputs: &[Array]) -> Result<Vec<Bounded>, RunError> {
    let flat;
    let module = match module.nested().next() {
        None => module,
        Some(_) => {
            let program = (*unoptimised(&canonicalise(module.clone()))).clone();
            flat = verify(program, Profile::Extended).expect("a pass keeps every rule");
            &flat
        }
    };
    let Trace { values, bindings } = trace(module, inputs)?;
    let exact = module.inputs().zip(&values).map(|(_, value)| {
        let bound = |element: &f64| if element.is_finite() { 0.0 } else { f64::INFINITY };
        value.elements.to_f64().iter().map(bound).collect()
    });
    let exact: Vec<Vec<f64>> = exact.collect();
    let bounds = bounds(module, &values, &exact, &bindings)?;
    let bounded = |output: usize| Bounded { value: values[output].clone(), bounds: bounds[output].clone() };
    Ok(module.outputs().iter().map(|output| bounded(output.index())).collect())
}

/// How far each value of a module may be off, of which the inputs are off by as much as is given.
fn bounds(
    module: &Module,
    values: &[Array],
    inputs: &[Vec<f64>],
    bindings: &Bindings,
) -> Result<Vec<Vec<f64>>, RunError> {
    let mut bounds: Vec<Vec<f64>> = Vec::with_capacity(values.len());
    // Those of the results behind the first.
    let mut further: BTreeMap<usize, Vec<Vec<f64>>> = BTreeMap::new();
    for ((value, inst), result) in module.iter().zip(values) {
        let operands = inst
            .operands
            .iter()
            .map(|operand| Operand { value: &values[operand.index()], bounds: &bounds[operand.index()] });
        let operands: Vec<Operand<'_>> = operands.collect();
        let uncertain = operands.iter().any(Operand::is_uncertain);
        let of_floats = operands.iter().any(|operand| operand.value.dtype().is_float());
        let seen_through = seen_through(module, inst);
        let own = match (Format::of(result.dtype()), &inst.op) {
            _ if inst.op.is_input() => inputs[value.index()].clone(),
            _ if seen_through.is_some() => bounds[seen_through.expect("it is some").index()].clone(),
            (_, Op::Own(Own::Nesting(Nesting::Scan(scan)))) => {
                let mut all = bounds_of_loop(scan, &operands, bindings)?.into_iter();
                let first = all.next().expect("a verified module has an output");
                further.insert(value.index(), all.collect());
                first
            }
            (_, Op::Own(Own::Nesting(Nesting::Result { position: at }))) => {
                further[&inst.operands[0].index()][position(*at) - 1].clone()
            }
            // What integers and truth values are that may be others is followed through functions of elements only.
            (None, Op::Map(map)) if of_floats || uncertain => jumps(map.row(), &operands, result),
            (None, Op::Reorder(_)) if operands.iter().any(Operand::is_off) => {
                vec![f64::INFINITY; result.elements.len()]
            }
            (_, op) if uncertain && !matches!(op, Op::Map(_)) => vec![f64::INFINITY; result.elements.len()],
            (Some(format), _) => {
                RoundedInst { inst, operands: &operands, result, bindings, format }.bounds()?
            }
            (None, _) => vec![0.0; result.elements.len()],
        };
        bounds.push(own);
    }
    Ok(bounds)
}

/// How far each result of a loop may be off.
fn bounds_of_loop(
    scan: &Scan,
    operands: &[Operand<'_>],
    bindings: &Bindings,
) -> Result<Vec<Vec<f64>>, RunError> {
    let accesses = scan.accesses(operands.iter().map(|operand| operand.value.shape.len()));
    let steps = Scan::counted(&accesses).map(|counted| operands[counted].value.shape[0]);
    let carries = scan.carry_count();
    let start = operands[..carries].iter().map(|carry| (carry.value.clone(), carry.bounds.to_vec()));
    let mut carried: Vec<(Array, Vec<f64>)> = start.collect();
    // For each step the bounds of its results behind the carries; none for a step that does not run.
    let mut given: Vec<Option<Vec<Vec<f64>>>> = Vec::new();
    for at in scan.visited(steps.unwrap_or(usize::MAX)) {
        let (guard, bound) = match scan.guard {
            Guard::Always => (true, 0.0),
            Guard::Carry => (carried[0].0.elements.integer(0) != 0, carried[0].1[0]),
            Guard::Operand => {
                let at = if accesses[carries] == Access::Element { at } else { 0 };
                (operands[carries].value.elements.integer(at) != 0, operands[carries].bounds[at])
            }
        };
        if bound != 0.0 {
            return Ok(bounds_of_any(scan, steps, bindings));
        }
        if !guard && steps.is_none() {
            break;
        }
        if !guard {
            given.push(None);
            continue;
        }
        let mut inputs = carried;
        for (operand, access) in operands.iter().zip(&accesses).skip(carries) {
            inputs.push(if *access == Access::Element {
                let count = operand.bounds.len() / operand.value.shape[0];
                (operand.value.element(at), operand.bounds[at * count..][..count].to_vec())
            } else {
                (operand.value.clone(), operand.bounds.to_vec())
            });
        }
        let (inputs, of_inputs): (Vec<_>, Vec<_>) = inputs.into_iter().unzip();
        let values = trace_within(&scan.body, &inputs, bindings)?;
        let bounds = bounds(&scan.body, &values, &of_inputs, bindings)?;
        let results = scan.body.outputs().iter().map(|output| output.index());
        carried = results
            .clone()
            .take(carries)
            .map(|output| (values[output].clone(), bounds[output].clone()))
            .collect();
        given.push(Some(results.skip(carries).map(|output| bounds[output].clone()).collect()));
    }
    if scan.reverse {
        given.reverse();
    }
    let of_results = scan.body.outputs()[carries..].iter().enumerate();
    let stacked = of_results.map(|(result, output)| {
        let zeros = vec![0.0; element_count(scan.body.ty(*output), bindings)];
        let all = given.iter().flat_map(|results| results.as_ref().map_or(&zeros, |all| &all[result]));
        all.copied().collect()
    });
    let stacked: Vec<Vec<f64>> = stacked.collect();
    Ok(carried.into_iter().map(|(_, bounds)| bounds).chain(stacked).collect())
}

/// The bounds of a loop in which another engine may run other steps: none of any result.
fn bounds_of_any(scan: &Scan, steps: Option<usize>, bindings: &Bindings) -> Vec<Vec<f64>> {
    let of_result = |(at, output): (usize, &ValueId)| {
        let count = element_count(scan.body.ty(*output), bindings);
        let times = if at < scan.carry_count() { 1 } else { steps.unwrap_or(0) };
        vec![f64::INFINITY; count * times]
    };
    scan.body.outputs().iter().enumerate().map(of_result).collect()
}

fn element_count(ty: &Type, bindings: &Bindings) -> usize {
    let extent = |dim: &Dim| dim.evaluate(bindings).and_then(|extent| usize::try_from(extent).ok());
    let extents: Option<Vec<usize>> = ty.shape.iter().map(extent).collect();
    extents.expect("the extents have been evaluated before anything runs").iter().product()
}

/// What a float type can hold.
#[derive(Clone, Copy)]
struct Format {
    /// Twice the largest relative error of a rounding: that of this evaluation and that of the other.
    epsilon: f64,
    smallest: f64,
    largest: f64,
}

impl Format {
    /// Whether it is that of `f64`.
    fn is_wide(self) -> bool {
        self.epsilon == f64::EPSILON
    }

    fn of(dtype: DType) -> Option<Self> {
        match_dtype!(dtype, T {
            floats => Some(Self {
                epsilon: T::EPSILON.into(),
                smallest: T::MIN_POSITIVE.into(),
                largest: T::MAX.into(),
            }),
            others => None,
        })
    }
}

#[derive(Clone, Copy)]
struct Operand<'a> {
    value: &'a Array,
    bounds: &'a [f64],
}

/// An element of an operand and how far it may be off.
#[derive(Clone, Copy)]
struct Near {
    element: f64,
    bound: f64,
}

impl Near {
    fn magnitude(self) -> f64 {
        self.element.abs()
    }
}

/// How far integers and truth values may be off: not at all, or nothing can be said of an integer, and a truth value may be the
/// other one.
fn jumps(row: &Row, operands: &[Operand<'_>], result: &Array) -> Vec<f64> {
    let near: Vec<Vec<Near>> = operands.iter().map(|operand| operand.near().collect()).collect();
    let off = if result.dtype() == DType::Bool { 1.0 } else { f64::INFINITY };
    let elements = positions(&result.shape).map(|position| {
        let at = |operand: usize| near[operand][broadcast_offset(&operands[operand].value.shape, &position)];
        let near: Vec<Near> = (0..operands.len()).map(at).collect();
        if near.iter().all(|near| near.bound == 0.0) {
            return 0.0;
        }
        if !operands[row.leading()].value.dtype().is_float() || row.jumps_where_equal && may_be_equal(&near) {
            return off;
        }
        let moved = |near: &Near, sign: f64| near.element + sign * near.bound;
        let corners = (0..1_u32 << near.len()).map(|signs| {
            let sign = |operand: usize| if signs >> operand & 1 == 1 { 1.0 } else { -1.0 };
            let corner = near.iter().enumerate().map(|(operand, near)| moved(near, sign(operand)));
            (row.float)(&corner.collect::<Vec<_>>()).trunc()
        });
        let own = (row.float)(&near.iter().map(|near| near.element).collect::<Vec<_>>()).trunc();
        if corners.into_iter().all(|corner| corner == own) { 0.0 } else { off }
    });
    elements.collect()
}

/// Whether two elements that are off by something may be equal.
fn may_be_equal(near: &[Near]) -> bool {
    let [a, b] = near else { return false };
    let apart = a.bound + b.bound;
    apart > 0.0 && (a.element - b.element).abs() <= apart
}

/// What makes an element be off.
struct Error {
    /// What the operands are off by, as the operation magnifies it.
    inherited: f64,
    /// The sum of the magnitudes that are added up, or the magnitude of the result: what roundings are relative to.
    magnitude: f64,
    /// How many roundings there are.
    roundings: f64,
}

/// One instruction with a result of floats.
struct RoundedInst<'a> {
    inst: &'a Inst,
    operands: &'a [Operand<'a>],
    result: &'a Array,
    bindings: &'a Bindings,
    format: Format,
}

impl RoundedInst<'_> {
    fn bounds(&self) -> Result<Vec<f64>, RunError> {
        let bounds = match &self.inst.op {
            Op::Input { .. } | Op::Const(_) => {
                vec![0.0; self.result.elements.len()]
            }
            Op::ArgReduce(..) | Op::Made(_) => unreachable!("positions are no floats"),
            Op::Effect(_) => self.apply([|x: Near| x.bound, |x: Near| x.bound])?,
            Op::Own(_) => {
                unreachable!("no function of Rust is run, and what holds modules is not of floats alone")
            }
            Op::Map(map) => self.function(map.row()),
            Op::Reorder(Reorder::ArgSort { .. }) => unreachable!("positions are no floats"),
            Op::Reorder(Reorder::Sort { axis, .. }) => {
                // Each element may be another of its line.
                let of = |reverse| {
                    let along = Cumulation { axis: *axis, reverse, exclusive: false };
                    self.chosen(&Op::Cumulate(Cumulate::Max, along))
                };
                of(false)?.into_iter().zip(of(true)?).map(|(a, b)| a.max(b)).collect()
            }
            Op::Reorder(Reorder::Flip { .. } | Reorder::Roll { .. })
            | Op::Arrange(_)
            | Op::Part(_)
            | Op::Join(_)
            | Op::Rows(Rows::Gather | Rows::TakeAlong { .. }) => {
                self.apply([|x: Near| x.bound, |x: Near| x.bound])?
            }
            Op::Reduce(reduce, reduction) if !reduce.row().monoid.settles => {
                let of = |reduce| Op::Reduce(reduce, reduction.clone());
                let count = (self.length(0) / self.result.elements.len()) as f64;
                match reduce.row().monoid.combine.row().exactness {
                    Exactness::Exact => self.chosen(&of(Reduce::Max))?,
                    _ => self.multiplied(&of(Reduce::Prod), count)?,
                }
            }
            Op::Reduce(..) => {
                // What is promised of them, and of few in any order; a mean divides, and the reference rounds, once.
                let count = (self.length(0) / self.result.elements.len()) as f64;
                self.sums(count.min(4.0 * count.log2()) + 1.0)?
            }
            Op::Cumulate(cumulate, cumulation) => {
                // What is promised of the most elements.
                let count = self.shape(0)[position(cumulation.axis)] as f64;
                match cumulate.row().combine {
                    Combine::Monoid(monoid) if monoid.settles => {
                        self.sums(count.min(4.0 * count.log2()) + 1.0)?
                    }
                    Combine::Monoid(monoid) if monoid.combine.row().exactness == Exactness::Exact => {
                        self.chosen(&Op::Cumulate(Cumulate::Max, *cumulation))?
                    }
                    Combine::Monoid(_) => {
                        self.multiplied(&Op::Cumulate(Cumulate::Prod, *cumulation), count)?
                    }
                    Combine::Recurrence => self.recurrence(2.0 * count + 1.0)?,
                }
            }
            Op::Product(Product::Dot) | Op::Product(Product::MatMul) => {
                self.products(self.shape(0)[self.shape(0).len() - 1])?
            }
            // Another evaluation may multiply the padding by elements, and an infinite one gives NaN.
            Op::Window(_) if !self.is_finite() => vec![f64::INFINITY; self.result.elements.len()],
            Op::Window(Window::Conv2d(_)) => self.products(self.length(1) / self.shape(1)[3])?,
            Op::Window(Window::Conv2dGradInput { .. }) => self.products(self.length(1) / self.shape(1)[2])?,
            Op::Window(Window::Conv2dGradFilter { .. }) => {
                self.products(self.length(1) / self.shape(1)[3])?
            }
            Op::Rows(Rows::ScatterAdd { .. } | Rows::AddAlong { .. }) => self.products(self.length(0))?,
        };
        let elements = self.result.elements.to_f64();
        let known = |(bound, element): (f64, &f64)| {
            if bound.is_nan() || !element.is_finite() { f64::INFINITY } else { bound }
        };
        Ok(bounds.into_iter().zip(&elements).map(known).collect())
    }

    fn shape(&self, operand: usize) -> &[usize] {
        &self.operands[operand].value.shape
    }

    fn length(&self, operand: usize) -> usize {
        self.operands[operand].value.elements.len()
    }

    /// Whether all elements of all operands are finite.
    fn is_finite(&self) -> bool {
        let elements = self.operands.iter().flat_map(|operand| operand.value.elements.to_f64());
        elements.into_iter().all(f64::is_finite)
    }

    /// Bounds of sums of `count` products in any order, each of which is rounded before it is added.
    fn products(&self, count: usize) -> Result<Vec<f64>, RunError> {
        self.sums(count as f64 + 1.0)
    }

    /// Bounds of sums with so many roundings.
    fn sums(&self, roundings: f64) -> Result<Vec<f64>, RunError> {
        let magnitudes = self.apply([Near::magnitude, Near::magnitude])?;
        let first = self.apply([|x: Near| x.bound, |x: Near| x.magnitude() + x.bound])?;
        let second = match self.float_operands() {
            2 => self.apply([Near::magnitude, |x: Near| x.bound])?,
            _ => vec![0.0; first.len()],
        };
        let inherited = first.into_iter().zip(second).map(|(first, second)| first + second);
        let bound = |(magnitude, inherited)| self.bound(&Error { inherited, magnitude, roundings });
        Ok(magnitudes.into_iter().zip(inherited).map(bound).collect())
    }

    /// Error bounds of a recurrence with this many roundings, by the same recurrence of magnitudes with their errors added.
    fn recurrence(&self, roundings: f64) -> Result<Vec<f64>, RunError> {
        let magnitudes = self.apply([Near::magnitude; 2])?;
        let reached = self.apply([|x: Near| x.magnitude() + x.bound; 2])?;
        let bound = |(magnitude, reached): (f64, f64)| {
            self.bound(&Error { inherited: reached - magnitude, magnitude, roundings })
        };
        Ok(magnitudes.into_iter().zip(reached).map(bound).collect())
    }

    /// Error bounds of an operation that chooses among elements: the largest bound of the elements. `max` is the operation that gives the
    /// largest of the same elements.
    fn chosen(&self, max: &Op) -> Result<Vec<f64>, RunError> {
        self.evaluate(max, [|x| x.bound; 2])
    }

    /// Error bounds of `product`, an operation that multiplies elements with this many roundings.
    fn multiplied(&self, product: &Op, roundings: f64) -> Result<Vec<f64>, RunError> {
        let of = |op: &Op, stands_for: fn(Near) -> f64| self.evaluate(op, [stands_for; 2]);
        let magnitudes = of(product, Near::magnitude)?;
        let reached = of(product, |x| x.magnitude() + x.bound)?;
        // What factors give on the way is between these.
        let most = of(product, |x| (x.magnitude() + x.bound).max(1.0))?;
        let least = of(product, |x| (x.magnitude() - x.bound).clamp(0.0, 1.0))?;
        let Format { epsilon, smallest, largest } = self.format;
        let bounds = (0..magnitudes.len()).map(|at| {
            if most[at] > largest / 2.0 {
                return f64::INFINITY;
            }
            let inherited = reached[at] - magnitudes[at];
            let underflow =
                if least[at] < smallest / epsilon { smallest * roundings * most[at] } else { 0.0 };
            underflow + self.bound(&Error { inherited, magnitude: magnitudes[at], roundings })
        });
        Ok(bounds.collect())
    }

    fn float_operands(&self) -> usize {
        self.operands.iter().filter(|operand| operand.value.dtype().is_float()).count()
    }

    /// The operation on other numbers: what stands for an element of each float operand. It has to be linear in each.
    fn apply(&self, stands_for: [fn(Near) -> f64; 2]) -> Result<Vec<f64>, RunError> {
        self.evaluate(&self.inst.op, stands_for)
    }

    /// Another operation of the same result type on such numbers.
    fn evaluate(&self, op: &Op, stands_for: [fn(Near) -> f64; 2]) -> Result<Vec<f64>, RunError> {
        // Of more operands, which only an operation has that moves them, the last is that of all others.
        let mut stands_for = stands_for.into_iter().chain(std::iter::repeat(stands_for[1]));
        let operands = self.operands.iter().map(|operand| {
            if !operand.value.dtype().is_float() {
                return operand.value.clone();
            }
            let stands_for = stands_for.next().expect("the last is repeated");
            let elements: Vec<f64> = operand.near().map(stands_for).collect();
            Array::new(operand.value.shape.clone(), elements)
        });
        let operands: Vec<Array> = operands.collect();
        let to = Concrete { dtype: DType::F64, shape: &self.result.shape, bindings: self.bindings };
        let value = evaluate(op, &operands.iter().collect::<Vec<_>>(), &to)?;
        let Elements::F64(elements) = value.elements else { unreachable!("the operands are of f64") };
        Ok(elements)
    }

    /// Bounds of a function of elements: as far as the corners of what its operands may be, and the integers between them, are from
    /// the result, and its own roundings. No row is off by more elsewhere, but for poles.
    fn function(&self, row: &Row) -> Vec<f64> {
        let operands: Vec<Vec<Near>> = self.operands.iter().map(|operand| operand.near().collect()).collect();
        let roundings = match row.exactness {
            Exactness::Exact => 0.0,
            Exactness::Rounded => 1.0,
            // Both are within a unit in the last place or two, as the interpreter's are within half of one.
            Exactness::Within([narrow, wide]) => {
                1.0 + f64::from(if self.format.is_wide() { wide } else { narrow })
            }
        };
        let elements = positions(&self.result.shape).map(|position| {
            let near: Vec<Near> = operands
                .iter()
                .enumerate()
                .map(|(operand, elements)| elements[broadcast_offset(self.shape(operand), &position)])
                .collect();
            let at = |signs: u32| {
                let element = |(operand, near): (usize, &Near)| match (signs >> (2 * operand)) & 3 {
                    0 => near.element,
                    1 => near.element - near.bound,
                    2 => near.element + near.bound,
                    // Where poles are, and jumps.
                    _ if (near.element.round() - near.element).abs() <= near.bound => near.element.round(),
                    _ => near.element,
                };
                (row.float)(&near.iter().enumerate().map(element).collect::<Vec<_>>())
            };
            let result = at(0);
            let corners = (1..1 << (2 * near.len())).map(at);
            let far = |most: f64, corner: f64| {
                let distance = (corner - result).abs();
                if distance.is_nan() { f64::INFINITY } else { most.max(distance) }
            };
            let is_zero = |operand: &usize| near[*operand].magnitude() == 0.0 && near[*operand].bound == 0.0;
            if row.keeps_zeros.is_some_and(|keeps| keeps.of.iter().any(is_zero)) {
                return 0.0;
            }
            let crosses = row.pole.is_some_and(|operand| near[operand].magnitude() <= near[operand].bound);
            let jumps = row.jumps_where_equal && may_be_equal(&near);
            let inherited = if crosses || jumps { f64::INFINITY } else { corners.fold(row.least_error, far) };
            let magnitude = if roundings > 0.0 { result.abs() } else { 0.0 };
            self.bound(&Error { inherited, magnitude, roundings })
        });
        elements.collect()
    }

    fn bound(&self, error: &Error) -> f64 {
        let Error { inherited, magnitude, roundings } = error;
        let Format { epsilon, smallest, largest } = self.format;
        let reached = magnitude + inherited;
        if reached > largest / 2.0 {
            return f64::INFINITY;
        }
        // Below the smallest normal number errors are not relative, and may be all there is.
        let underflow =
            if reached > 0.0 && *magnitude < smallest / epsilon { smallest * roundings } else { 0.0 };
        inherited + roundings * epsilon * reached + underflow
    }
}

impl<'a> Operand<'a> {
    /// Whether it is of integers or truth values of which some may be others.
    fn is_uncertain(&self) -> bool {
        !self.value.dtype().is_float() && self.bounds.iter().any(|bound| *bound > 0.0)
    }

    /// Whether any element may be another.
    fn is_off(&self) -> bool {
        self.bounds.iter().any(|bound| *bound > 0.0)
    }

    fn near(self) -> impl Iterator<Item = Near> + 'a {
        let elements = self.value.elements.to_f64();
        elements.into_iter().zip(self.bounds).map(|(element, bound)| Near { element, bound: *bound })
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        build::Builder,
        ir::Reduction,
        map::Map,
        ops::Profile,
        reduce::Reduce,
        ty::{Shape, Type},
        verify::verify,
    };

    use super::*;

    /// What an operation on vectors gives for these.
    fn bounds(op: Op, operands: &[&[f32]]) -> Vec<f64> {
        let mut b = Builder::new();
        let extent = |elements: &[f32]| Shape::literal(&[elements.len() as i64]);
        let ids: Vec<_> = (0..operands.len())
            .map(|i| b.input(format!("x{i}"), Type::new(DType::F32, extent(operands[i]))).expect("an input"))
            .collect();
        let result = b.push(op, &ids).expect("the operands fit");
        // Off by one rounding, so that errors are passed on.
        let one = b.constant(DType::F32, 1.0);
        let off = b.push(Op::Map(Map::Mul), &[result, one]).expect("a number fits");
        let module = verify(b.finish([off]), Profile::Extended).expect("it is valid");
        let inputs: Vec<_> = operands.iter().map(|x| Array::new([x.len()], x.to_vec())).collect();
        run_bounded(&module, &inputs).expect("it runs").remove(0).bounds
    }

    const EPSILON: f64 = f32::EPSILON as f64;

    #[test]
    fn roundings_are_relative_to_results_and_add_up() {
        let bounds = bounds(Op::Map(Map::Add), &[&[1.0, 1e8, 0.0], &[2.0, -1e8, 0.0]]);
        assert!((bounds[0] / (6.0 * EPSILON) - 1.0).abs() < 1e-6, "{bounds:?}");
        assert_eq!(bounds[1..], [0.0, 0.0]);
    }

    #[test]
    fn sums_may_be_off_by_what_cancels() {
        let all = Reduction { axes: vec![], keepdims: false };
        let [cancelling, plain] = [[1e6, -1e6, 1.0], [1.0, 1.0, 1.0]]
            .map(|x| bounds(Op::Reduce(Reduce::Sum, all.clone()), &[&x])[0]);
        assert!(cancelling > 2e6 * EPSILON && cancelling < 1e7 * EPSILON, "{cancelling}");
        assert!(plain < 20.0 * EPSILON, "{plain}");
    }

    #[test]
    fn nothing_is_said_of_what_is_not_finite() {
        let bounds = bounds(Op::Map(Map::Div), &[&[1.0, 0.0, 1.0, 3e38], &[0.0, 0.0, 2.0, 0.9]]);
        assert_eq!(
            bounds.iter().map(|bound| bound.is_infinite()).collect::<Vec<_>>(),
            [true, true, false, true]
        );
    }

    #[test]
    fn an_element_is_wrong_beyond_its_bound() {
        let bounded =
            Bounded { value: Array::new([2], vec![1.0_f32, 5.0]), bounds: vec![0.5, f64::INFINITY] };
        let check = |elements: Vec<f32>| bounded.check(&Array::new([elements.len()], elements));
        assert_eq!(check(vec![1.5, f32::NAN]), Ok(()));
        for wrong in [vec![1.6, 5.0], vec![f32::NAN, 5.0], vec![f32::INFINITY, 5.0], vec![1.0, 5.0, 5.0]] {
            assert!(check(wrong.clone()).is_err(), "{wrong:?}");
        }
        assert!(bounded.check(&Array::new([2], vec![1.0, 5.0])).is_err(), "of f64");
    }
}
