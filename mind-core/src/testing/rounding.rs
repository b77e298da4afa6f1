//! Error bounds of results that are added in another order and rounded at other places.
//!
//! This is a running error analysis (N. J. Higham, Accuracy and Stability of Numerical Algorithms, section 3.3). Each
//! value has a bound on its distance from the result of any other evaluation that uses the same operations. Another
//! evaluation may add in another order and may fuse a product with a sum. The bound of a result is the sum of the
//! operation's own roundings and of the operands' bounds, as far as the operation magnifies these. A difference of
//! large numbers that nearly cancel has a large bound, and other values have small ones.

mod loops;
mod matrices;

use std::collections::BTreeMap;

use mind_shape::match_dtype;

use crate::{
    canon::canonicalise,
    cumulate::{Combine, Cumulate},
    dim::Bindings,
    interp::{Array, Concrete, Elements, RunError, Trace, broadcast_offset, evaluate, positions, trace},
    ir::{
        Cumulation, Fourier, Inst, Matrix, Module, Nesting, Op, Own, Part, Pool, Product, Reorder, Rows,
        Window,
    },
    map::{Exactness, Row},
    ops::{Profile, position, seen_through},
    opt::unoptimised,
    reduce::Reduce,
    ty::DType,
    verify::{Verified, verify},
};

/// A result of the interpreter, with error bounds for other evaluations.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// The result of the interpreter.
    pub value: Array,
    /// The largest distance from each element. It is 0 for integers and truth values, unless they depend on floats with
    /// errors. It is infinite where no bound is known: where the element is not finite, after a sum that may overflow,
    /// after a division by a number that may be 0, and after the logarithm of such a number.
    pub bounds: Vec<f64>,
}

impl Bounded {
    /// Checks that `found` has the same element type and shape, and that its elements are within the bounds.
    ///
    /// # Errors
    /// A message about the types or the first element outside its bound.
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

/// The results of a module on these inputs, with their error bounds.
///
/// # Errors
/// The errors of [`crate::interp::run`].
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

/// The error bounds of each value of a module. `inputs` are the bounds of its inputs.
fn bounds(
    module: &Module,
    values: &[Array],
    inputs: &[Vec<f64>],
    bindings: &Bindings,
) -> Result<Vec<Vec<f64>>, RunError> {
    let mut bounds: Vec<Vec<f64>> = Vec::with_capacity(values.len());
    // The bounds of the results after the first.
    let mut further: BTreeMap<usize, Vec<Vec<f64>>> = BTreeMap::new();
    for ((value, inst), result) in module.iter().zip(values) {
        let operands = inst.operands.iter().map(|operand| RoundedOperand {
            value: &values[operand.index()],
            bounds: &bounds[operand.index()],
        });
        let operands: Vec<RoundedOperand<'_>> = operands.collect();
        let uncertain = operands.iter().any(RoundedOperand::is_uncertain);
        let of_floats = operands.iter().any(|operand| operand.value.dtype().is_float());
        let seen_through = seen_through(module, inst);
        let own = match (Format::of(result.dtype()), &inst.op) {
            _ if inst.op.is_input() => inputs[value.index()].clone(),
            _ if seen_through.is_some() => bounds[seen_through.expect("it is some").index()].clone(),
            (_, Op::Own(Own::Nesting(Nesting::Scan(scan)))) => {
                let mut all = loops::bounds_of_loop(scan, &operands, bindings)?.into_iter();
                let first = all.next().expect("a verified module has an output");
                further.insert(value.index(), all.collect());
                first
            }
            (_, Op::Own(Own::Nesting(Nesting::Result { position: at }))) => {
                further[&inst.operands[0].index()][position(*at) - 1].clone()
            }
            // Integers and truth values that may differ are followed through elementwise functions only.
            (None, Op::Map(map)) if of_floats || uncertain => jumps(map.row(), &operands, result),
            (None, Op::Reorder(_)) if operands.iter().any(RoundedOperand::is_off) => {
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

/// The precision and the range of a float type.
#[derive(Clone, Copy)]
struct Format {
    /// Twice the largest relative error of one rounding: once for this evaluation and once for the other one.
    epsilon: f64,
    smallest: f64,
    largest: f64,
}

impl Format {
    /// Whether the type is `f64`.
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
struct RoundedOperand<'a> {
    value: &'a Array,
    bounds: &'a [f64],
}

/// An element of an operand, with its error bound.
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

/// The error bounds of integers and truth values. The bound is 0 where the result cannot differ. Otherwise it is
/// infinite for an integer and 1 for a truth value.
fn jumps(row: &Row, operands: &[RoundedOperand<'_>], result: &Array) -> Vec<f64> {
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

/// Whether two elements may be equal within their bounds, which are not both 0.
fn may_be_equal(near: &[Near]) -> bool {
    let [a, b] = near else { return false };
    let apart = a.bound + b.bound;
    apart > 0.0 && (a.element - b.element).abs() <= apart
}

/// The sources of an element's error.
struct Error {
    /// The errors of the operands, magnified by the operation.
    inherited: f64,
    /// The sum of the magnitudes that are added up, or the magnitude of the result. Roundings are relative to it.
    magnitude: f64,
    /// The number of roundings.
    roundings: f64,
}

/// One instruction with a floating-point result.
struct RoundedInst<'a> {
    inst: &'a Inst,
    operands: &'a [RoundedOperand<'a>],
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
                // Each element may be any other one of its line.
                let of = |reverse| {
                    let along = Cumulation { axis: *axis, reverse, exclusive: false };
                    self.chosen(&Op::Cumulate(Cumulate::Max, along))
                };
                of(false)?.into_iter().zip(of(true)?).map(|(a, b)| a.max(b)).collect()
            }
            Op::Part(Part::UnfoldGrad { windows, .. }) => {
                let sizes = windows.sizes.iter().map(|size| size.evaluate(self.bindings).unwrap_or(i64::MAX));
                self.sums(sizes.map(|size| size as f64).product::<f64>() + 1.0)?
            }
            Op::Pool(pool) => {
                let taps = pool.pooling().sizes.iter().map(|size| *size as f64).product::<f64>() + 1.0;
                match pool {
                    Pool::Max(_) => self.chosen(&self.inst.op)?,
                    Pool::Total(_)
                    | Pool::SumGrad { .. }
                    | Pool::Depthwise(_)
                    | Pool::DepthwiseGradInput { .. } => self.sums(taps)?,
                    Pool::DepthwiseGradFilter(_) => self.products(self.length(1))?,
                    // Another element may be the largest.
                    Pool::MaxGrad(_) | Pool::MaxTake(_)
                        if self.operands[0].near().any(|near| near.bound != 0.0) =>
                    {
                        vec![f64::INFINITY; self.result.elements.len()]
                    }
                    Pool::MaxTake(_) => self.apply([|x| x.element, |x| x.bound])?,
                    Pool::MaxGrad(_) => {
                        let magnitudes = self.apply([|x| x.element, Near::magnitude])?;
                        let inherited = self.apply([|x| x.element, |x| x.bound])?;
                        let bound = |(magnitude, inherited)| {
                            self.bound(&Error { inherited, magnitude, roundings: taps })
                        };
                        magnitudes.into_iter().zip(inherited).map(bound).collect()
                    }
                }
            }
            Op::Reorder(Reorder::Flip { .. } | Reorder::Roll { .. })
            | Op::Arrange(_)
            | Op::Part(_)
            | Op::Join(_)
            | Op::Rows(
                Rows::Gather
                | Rows::TakeAlong { .. }
                | Rows::DynamicSlice { .. }
                | Rows::DynamicUpdate { .. }
                | Rows::Scatter,
            ) => self.apply([|x: Near| x.bound, |x: Near| x.bound])?,
            Op::Reduce(reduce, reduction) if !reduce.row().monoid.is_compensated => {
                let of = |reduce| Op::Reduce(reduce, reduction.clone());
                let count = (self.length(0) / self.result.elements.len()) as f64;
                match reduce.row().monoid.combine.row().exactness {
                    Exactness::Exact => self.chosen(&of(Reduce::Max))?,
                    _ => self.multiplied(&of(Reduce::Prod), count)?,
                }
            }
            Op::Reduce(..) => {
                // The documented bound, or the one of any order if there are few elements. One more rounding is that of
                // the reference, or of the division of a mean.
                let count = (self.length(0) / self.result.elements.len()) as f64;
                self.sums(count.min(4.0 * count.log2()) + 1.0)?
            }
            Op::Cumulate(cumulate, cumulation) => {
                // The documented bound for the largest number of elements.
                let count = self.shape(0)[position(cumulation.axis)] as f64;
                match cumulate.row().combine {
                    Combine::Monoid(monoid) if monoid.is_compensated => {
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
            Op::Matrix(Matrix::Triangle { .. }) => self.apply([|x: Near| x.bound, |x: Near| x.bound])?,
            Op::Matrix(Matrix::Factor(factorization)) => self.factors(*factorization),
            Op::Matrix(Matrix::SolveTriangular(of)) => self.solutions(*of),
            Op::Fourier(fourier) => self.transforms(fourier),
            // Another evaluation may multiply the padding by elements, which gives NaN for an infinite element.
            Op::Window(_) if !self.is_finite() => vec![f64::INFINITY; self.result.elements.len()],
            Op::Window(Window::Conv2d(_)) => self.products(self.length(1) / self.shape(1)[3])?,
            Op::Window(Window::Conv2dGradInput { .. }) => self.products(self.length(1) / self.shape(1)[2])?,
            Op::Window(Window::Conv2dGradFilter { .. }) => {
                self.products(self.length(1) / self.shape(1)[3])?
            }
            Op::Rows(Rows::ScatterAdd { .. } | Rows::AddAlong { .. }) => self.products(self.length(0))?,
            Op::Rows(Rows::AddRows) => self.recurrence(self.length(1) as f64 + 1.0)?,
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

    /// Bounds of sums with this number of roundings.
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

    /// Bounds of Fourier transforms. The norm of the errors of a row bounds each of them.
    fn transforms(&self, fourier: &Fourier) -> Vec<f64> {
        let shape = match fourier {
            Fourier::Fft { .. } => &self.shape(0)[..self.shape(0).len() - 1],
            Fourier::RealFft => self.shape(0),
            Fourier::RealFftGrad { .. } => &self.result.shape[..],
        };
        let (n, outer) = shape.split_last().expect("it has rows");
        let count: usize = outer.iter().product();
        let near: Vec<Near> = self.operands[0].near().collect();
        let roundings = 16.0 * (2.0 * *n as f64).log2() * (*n as f64).sqrt();
        let of_row = |row: &[Near]| {
            let sum = |of: fn(&Near) -> f64| row.iter().map(of).sum();
            self.bound(&Error { inherited: sum(|x| x.bound), magnitude: sum(|x| x.magnitude()), roundings })
        };
        let bounds = near.chunks_exact(near.len() / count).map(of_row);
        bounds.flat_map(|bound| vec![bound; self.result.elements.len() / count]).collect()
    }

    /// Bounds of a recurrence, or of sums of all operands, with this number of roundings. They are computed by the same
    /// operation on magnitudes with their errors added.
    fn recurrence(&self, roundings: f64) -> Result<Vec<f64>, RunError> {
        let magnitudes = self.apply([Near::magnitude; 2])?;
        let reached = self.apply([|x: Near| x.magnitude() + x.bound; 2])?;
        let bound = |(magnitude, reached): (f64, f64)| {
            self.bound(&Error { inherited: reached - magnitude, magnitude, roundings })
        };
        Ok(magnitudes.into_iter().zip(reached).map(bound).collect())
    }

    /// Bounds of an operation that chooses among elements: the largest bound of these elements. `max` is the operation
    /// that computes the largest of the same elements.
    fn chosen(&self, max: &Op) -> Result<Vec<f64>, RunError> {
        self.evaluate(max, [|x| x.bound; 2])
    }

    /// Bounds of `product`, an operation that multiplies elements, with this number of roundings.
    fn multiplied(&self, product: &Op, roundings: f64) -> Result<Vec<f64>, RunError> {
        let of = |op: &Op, stands_for: fn(Near) -> f64| self.evaluate(op, [stands_for; 2]);
        let magnitudes = of(product, Near::magnitude)?;
        let reached = of(product, |x| x.magnitude() + x.bound)?;
        // Every partial product is between these two.
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

    /// Evaluates the operation on other numbers: `stands_for` gives the number for an element of each floating-point
    /// operand. The operation has to be linear in each operand.
    fn apply(&self, stands_for: [fn(Near) -> f64; 2]) -> Result<Vec<f64>, RunError> {
        self.evaluate(&self.inst.op, stands_for)
    }

    /// Evaluates another operation with the same result type on such numbers.
    fn evaluate(&self, op: &Op, stands_for: [fn(Near) -> f64; 2]) -> Result<Vec<f64>, RunError> {
        // Only operations that move elements, or add all of them, have more than two operands. The last function applies to all further
        // ones.
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

    /// Bounds of an elementwise function. It is evaluated at the corners of the box in which its operands may be, and
    /// at the integers inside. The bound is the largest distance of these values from the result, plus the function's
    /// own roundings. Except at poles, no row has a larger distance elsewhere in the box.
    fn function(&self, row: &Row) -> Vec<f64> {
        let operands: Vec<Vec<Near>> = self.operands.iter().map(|operand| operand.near().collect()).collect();
        let roundings = match row.exactness {
            Exactness::Exact => 0.0,
            Exactness::Rounded => 1.0,
            // The other evaluation is within the bound of the row, and the interpreter within half a unit in the last
            // place.
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
                    // Poles and jumps are at integers.
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
        // Below the smallest normal number errors are absolute and may be as large as the value.
        let underflow =
            if reached > 0.0 && *magnitude < smallest / epsilon { smallest * roundings } else { 0.0 };
        inherited + roundings * epsilon * reached + underflow
    }
}

impl<'a> RoundedOperand<'a> {
    /// Whether it has integers or truth values of which some may differ.
    fn is_uncertain(&self) -> bool {
        !self.value.dtype().is_float() && self.bounds.iter().any(|bound| *bound > 0.0)
    }

    /// Whether any element may differ.
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

    /// The bounds of an operation on these vectors, after one more rounding.
    fn bounds(op: Op, operands: &[&[f32]]) -> Vec<f64> {
        let mut b = Builder::new();
        let extent = |elements: &[f32]| Shape::literal(&[elements.len() as i64]);
        let ids: Vec<_> = (0..operands.len())
            .map(|i| b.input(format!("x{i}"), Type::new(DType::F32, extent(operands[i]))).expect("an input"))
            .collect();
        let result = b.push(op, &ids).expect("the operands fit");
        // One more rounding, which passes the errors on.
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
