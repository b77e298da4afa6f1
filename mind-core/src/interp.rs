//! The reference interpreter. It uses naive loops and shares no code with the kernels that are compared with it.
//!
//! Each operation rounds its result to the element type. Functions of `f32` are computed in `f64` and rounded. Sums of
//! floats (in `Sum`, `Mean`, `CumSum`, `Dot`, `MatMul`, the convolutions, `ScatterAdd` and `AddAlong`) are kept with
//! twice the digits of `f64`, added in row-major order, and rounded once. Integers wrap.

mod bind;
mod evaluate;
mod fourier;
mod matrices;
mod nan;
mod number;

pub use bind::{bind, check_requirements};
pub(crate) use evaluate::{Concrete, evaluate};
pub use nan::{NanSearch, WentNan};
use number::{Element, Float, Number, with_float, with_number};

use std::{borrow::Cow, collections::BTreeMap};

use mind_shape::{element_types, match_dtype, match_elements};

use crate::{
    diag::Code,
    dim::{Bindings, Dim},
    ir::{Access, Guard, Inst, Module, Nesting, Op, Own, Scan, ValueId},
    memory::{self, Budget},
    ops::{WorkClass, results_of_pullback},
    ty::{DType, Type},
    verify::{Verified, requirements},
};

/// Options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most bytes that the run holds at once for inputs, intermediate values and results. The default is
    /// [`memory::DEFAULT`].
    pub most_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_bytes: memory::DEFAULT }
    }
}

/// Runs a module on these values, one per input in order, with the default [`Options`]. Returns its results.
///
/// # Errors
/// E2007 and E2001 if the inputs differ from the declared number, element type or rank; E3006 for an extent of 0 or a
/// dimension that the extents make less than 1; E6009 for extents that contradict the declared ones; E6001 for an index
/// out of range; E6004 for more memory than the options allow; E6010 for an integer divided by 0 and for a call of an
/// external function.
pub fn run(module: &Verified, inputs: &[Array]) -> Result<Vec<Array>, RunError> {
    run_with(module, inputs, &Options::default())
}

/// As [`run`], with these options.
///
/// # Errors
/// As [`run`].
pub fn run_with(module: &Verified, inputs: &[Array], options: &Options) -> Result<Vec<Array>, RunError> {
    Run::new(module, inputs, options)?.all(module)
}

/// A value that a run has computed.
pub struct Observed<'a> {
    /// The depth of the nested module that it is in; 0 in the outermost module.
    pub depth: usize,
    /// The value in its module.
    pub value: ValueId,
    /// The instruction that computes it.
    pub inst: &'a Inst,
    /// The value itself, or the first of several results.
    pub result: &'a Array,
}

/// A function that is called with each value when it is computed. An error ends the run.
pub type Observer<'o> = dyn FnMut(Observed<'_>) -> Result<(), RunError> + 'o;

/// As [`run_with`], and calls `observer` with each value, including inputs.
///
/// ```
/// use mind_core::{build::Builder, interp::{Array, Options, run_observed}, ir::Op, map::Map};
/// use mind_core::{ops::Profile, ty::{DType, Type}, verify::verify};
/// let mut b = Builder::new();
/// let x = b.input("x", Type::scalar(DType::F32))?;
/// let y = b.push(Op::Map(Map::Exp), &[x])?;
/// let module = verify(b.finish([y]), Profile::CoreV1).expect("it is valid");
/// let mut names = Vec::new();
/// let inputs = [Array::new([], vec![0.0_f32])];
/// run_observed(&module, &inputs, &Options::default(), &mut |seen| {
///     names.push(seen.inst.op.info().name);
///     Ok(())
/// })?;
/// assert_eq!(names, ["Input", "Exp"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`run`], and the errors of the observer.
pub fn run_observed(
    module: &Verified,
    inputs: &[Array],
    options: &Options,
    observer: &mut Observer<'_>,
) -> Result<Vec<Array>, RunError> {
    let mut run = Run::new(module, inputs, options)?;
    run.observer = Some((0, observer));
    run.all(module)
}

/// The values of a run.
#[cfg(feature = "testing")]
pub(crate) struct Trace {
    /// The value of each instruction.
    pub(crate) values: Vec<Array>,
    /// The extent of each symbol.
    pub(crate) bindings: Bindings,
}

/// Evaluates a verified operation on operands. The result has this element type and these extents. Symbols have the
/// extents in `bindings`.
///
/// # Errors
/// E6001 for an index out of range, E6010 for an integer divided by 0 and for an external function.
#[cfg(feature = "testing")]
pub fn apply(
    op: &Op,
    operands: &[Array],
    dtype: DType,
    shape: &[usize],
    bindings: &Bindings,
) -> Result<Array, RunError> {
    let operands: Vec<&Array> = operands.iter().collect();
    evaluate(op, &operands, &Concrete { dtype, shape, bindings })
}

/// Runs every instruction and keeps every value. Errors are those of [`run`].
#[cfg(feature = "testing")]
pub(crate) fn trace(module: &Verified, inputs: &[Array]) -> Result<Trace, RunError> {
    let mut run = Run::new(module, inputs, &Options::default())?;
    module.insts().iter().try_for_each(|inst| run.step(inst))?;
    let values = run.values.into_iter().map(Cow::into_owned).collect();
    Ok(Trace { values, bindings: run.bindings })
}

/// As [`trace`], for a nested module.
#[cfg(feature = "testing")]
pub(crate) fn trace_within(
    module: &Module,
    inputs: &[Array],
    bindings: &Bindings,
) -> Result<Vec<Array>, RunError> {
    let mut run = Run::of(module, inputs, bindings.clone(), Budget::new(Options::default().most_bytes));
    module.insts().iter().try_for_each(|inst| run.step(inst))?;
    Ok(run.values.into_iter().map(Cow::into_owned).collect())
}

/// The state of a run.
struct Run<'a, 'o> {
    /// The observer, with the depth of this run.
    observer: Option<(usize, &'a mut Observer<'o>)>,
    inputs: &'a [Array],
    bindings: Bindings,
    budget: Budget,
    /// The values of the instructions so far. A value that nothing needs any more is replaced by an empty one.
    values: Vec<Cow<'a, Array>>,
    /// The results after the first of the instructions that have several.
    further: BTreeMap<usize, Vec<Array>>,
}

impl<'a> Run<'a, '_> {
    fn new(module: &Verified, inputs: &'a [Array], options: &Options) -> Result<Self, RunError> {
        let bindings = bind(module, inputs)?;
        check_requirements(&requirements(module), &bindings)?;
        let mut budget = Budget::new(options.most_bytes);
        for ((name, ty), input) in module.inputs().zip(inputs) {
            let too_large = |error| RunError::new(Code::E6004, format!("input `{name}`, {ty}: {error}"));
            budget.take(input.bytes()).map_err(too_large)?;
        }
        Ok(Self::of(module, inputs, bindings, budget))
    }

    fn of(module: &Module, inputs: &'a [Array], bindings: Bindings, budget: Budget) -> Self {
        let values = Vec::with_capacity(module.insts().len());
        Self { observer: None, inputs, bindings, budget, values, further: BTreeMap::new() }
    }

    /// Runs every instruction and returns the results.
    fn all(&mut self, module: &Module) -> Result<Vec<Array>, RunError> {
        let last_uses = last_uses(module);
        for (position, inst) in module.insts().iter().enumerate() {
            self.step(inst)?;
            if let Some((depth, observe)) = &mut self.observer {
                let (value, result) = (ValueId::new(position), &*self.values[position]);
                observe(Observed { depth: *depth, value, inst, result })?;
            }
            let done = inst.operands.iter().map(|operand| operand.index()).chain([position]);
            done.filter(|value| last_uses[*value] == Some(position)).for_each(|value| self.forget(value));
        }
        let mut last = vec![0; module.insts().len()];
        module.outputs().iter().enumerate().for_each(|(position, output)| last[output.index()] = position);
        let results = module.outputs().iter().map(|output| output.index()).enumerate();
        results
            .map(
                |(position, value)| {
                    if last[value] == position { self.last_result(value) } else { self.result(value) }
                },
            )
            .collect()
    }

    fn step(&mut self, inst: &Inst) -> Result<(), RunError> {
        if let Some(input) = self.inputs.get(self.values.len()).filter(|_| inst.op.is_input()) {
            self.values.push(Cow::Borrowed(input));
            return Ok(());
        }
        if let Op::Own(Own::Nesting(nesting)) = &inst.op {
            let mut results = self.nesting(nesting, &inst.operands)?.into_iter();
            self.values.push(Cow::Owned(results.next().expect("a verified module has an output")));
            let further: Vec<_> = results.collect();
            if !further.is_empty() {
                self.further.insert(self.values.len() - 1, further);
            }
            return Ok(());
        }
        let row = inst.op.info();
        let shape = extents(&inst.ty, &self.bindings)?;
        let operands: Vec<&Array> =
            inst.operands.iter().map(|operand| &*self.values[operand.index()]).collect();
        let elements = shape.iter().map(|extent| *extent as u64).product::<u64>();
        let bytes = elements.saturating_mul(inst.ty.dtype.bytes() as u64);
        // The memory in which sums are kept, and the indices as row numbers.
        let scratch = match row.class {
            WorkClass::Reduction | WorkClass::Kernel => {
                let indices = operands.iter().filter(|operand| !operand.dtype().is_float());
                let indices = indices.map(|operand| operand.elements.len() as u64 * 8).sum::<u64>();
                elements.saturating_mul(8).saturating_add(indices)
            }
            WorkClass::Input
            | WorkClass::Constant
            | WorkClass::Elementwise
            | WorkClass::View
            | WorkClass::Module => 0,
        };
        self.budget.take(bytes.saturating_add(scratch)).map_err(|error| {
            let message = format!("`{}` to {}{shape:?}: {error}", row.name, inst.ty.dtype);
            RunError::new(Code::E6004, message)
        })?;
        let to = Concrete { dtype: inst.ty.dtype, shape: &shape, bindings: &self.bindings };
        let value = evaluate(&inst.op, &operands, &to)?;
        self.budget.give_back(scratch);
        self.values.push(Cow::Owned(value));
        Ok(())
    }

    /// All results of an instruction that holds a module, or the one result that `Result` reads.
    fn nesting(&mut self, nesting: &Nesting, operands: &[ValueId]) -> Result<Vec<Array>, RunError> {
        match nesting {
            Nesting::Call(called) => {
                let inputs: Vec<Array> =
                    operands.iter().map(|operand| self.result(operand.index())).collect::<Result<_, _>>()?;
                self.within(called, &inputs)
            }
            Nesting::Scan(scan) => self.scan(scan, operands),
            Nesting::Pullback(pullback) => {
                let results = results_of_pullback(pullback, operands.len());
                operands[..results].iter().map(|result| self.result(result.index())).collect()
            }
            Nesting::Result { position } => {
                let results = &self.further[&operands[0].index()];
                let value = results[crate::ops::position(*position) - 1].clone();
                self.hold(&value)?;
                Ok(vec![value])
            }
        }
    }

    /// The results of a nested module. Its inputs are copies, which are freed afterwards.
    fn within(&mut self, module: &Module, inputs: &[Array]) -> Result<Vec<Array>, RunError> {
        let mut inner = Run::of(module, inputs, self.bindings.clone(), self.budget.clone());
        inner.observer = self.observer.as_mut().map(|(depth, observe)| (*depth + 1, &mut **observe));
        let results = inner.all(module)?;
        self.budget = inner.budget;
        self.budget.give_back(inputs.iter().map(Array::bytes).sum());
        Ok(results)
    }

    /// The results of a loop.
    fn scan(&mut self, scan: &Scan, operands: &[ValueId]) -> Result<Vec<Array>, RunError> {
        let ranks = operands.iter().map(|operand| self.values[operand.index()].shape.len());
        let accesses = scan.accesses(ranks);
        let steps = Scan::counted(&accesses).map(|counted| self.values[operands[counted].index()].shape[0]);
        let (carries, of_steps) = operands.split_at(scan.carry_count());
        let mut carried: Vec<Array> =
            carries.iter().map(|carry| self.result(carry.index())).collect::<Result<_, _>>()?;
        // For each step, its results after the carries; `None` for a step that does not run.
        let mut given: Vec<Option<Vec<Array>>> = Vec::new();
        for at in scan.visited(steps.unwrap_or(usize::MAX)) {
            let runs = match scan.guard {
                Guard::Always => true,
                Guard::Carry => carried[0].elements.integer(0) != 0,
                Guard::Operand => {
                    let is_iterated = accesses[carries.len()] == Access::Element;
                    self.values[of_steps[0].index()].elements.integer(if is_iterated { at } else { 0 }) != 0
                }
            };
            if !runs && steps.is_none() {
                break;
            }
            if !runs {
                given.push(None);
                continue;
            }
            let mut inputs = std::mem::take(&mut carried);
            for (operand, access) in of_steps.iter().zip(&accesses[carries.len()..]) {
                let value = &*self.values[operand.index()];
                let value = if *access == Access::Element { value.element(at) } else { value.clone() };
                self.hold(&value)?;
                inputs.push(value);
            }
            carried = self.within(&scan.body, &inputs)?;
            let of_step = carried.split_off(carries.len());
            if steps.is_some() {
                given.push(Some(of_step));
            }
        }
        if let (Guard::Carry, Some(steps)) = (scan.guard, steps)
            && carried[0].elements.integer(0) != 0
        {
            return Err(RunError::new(
                Code::E6010,
                format!("`while` did not end within its limit of {steps} steps"),
            ));
        }
        if scan.reverse {
            given.reverse();
        }
        for (result, output) in scan.body.outputs()[carries.len()..].iter().enumerate() {
            let ty = scan.body.ty(*output);
            let zeros = Array::zeros(ty.dtype, extents(ty, &self.bindings)?);
            let parts = given.iter().map(|results| results.as_ref().map_or(&zeros, |all| &all[result]));
            carried.push(Array::stacked(&parts.collect::<Vec<_>>()));
        }
        Ok(carried)
    }

    /// Adds a copy of a value to the memory that the run holds.
    fn hold(&mut self, value: &Array) -> Result<(), RunError> {
        let too_large = |error| RunError::new(Code::E6004, format!("a copy of a result: {error}"));
        self.budget.take(value.bytes()).map_err(too_large)
    }

    /// Frees a value that nothing needs any more. Inputs belong to the caller and stay.
    fn forget(&mut self, value: usize) {
        for further in self.further.remove(&value).into_iter().flatten() {
            self.budget.give_back(further.bytes());
        }
        if let Cow::Owned(value) = &mut self.values[value] {
            self.budget.give_back(value.bytes());
            *value = Array::nothing();
        }
    }

    /// A copy of a result that is needed again.
    fn result(&mut self, value: usize) -> Result<Array, RunError> {
        let value = (*self.values[value]).clone();
        self.hold(&value)?;
        Ok(value)
    }

    /// A result that is not needed again. It is moved out, or copied if it is an input.
    fn last_result(&mut self, value: usize) -> Result<Array, RunError> {
        match &mut self.values[value] {
            Cow::Owned(value) => Ok(std::mem::replace(value, Array::nothing())),
            Cow::Borrowed(_) => self.result(value),
        }
    }
}

/// The last instruction that reads each value, or its own instruction if none does. `None` for a result of the module.
fn last_uses(module: &Module) -> Vec<Option<usize>> {
    let mut last: Vec<Option<usize>> = (0..module.insts().len()).map(Some).collect();
    for (position, inst) in module.insts().iter().enumerate() {
        inst.operands.iter().for_each(|operand| last[operand.index()] = Some(position));
    }
    module.outputs().iter().for_each(|output| last[output.index()] = None);
    last
}

/// A tensor of known values.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The extents.
    pub shape: Vec<usize>,
    /// The elements in row-major order.
    pub elements: Elements,
}

macro_rules! elements {
    ($($element:ident $variant:ident;)*) => {
        /// The elements of a value.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Elements {
            $(#[doc = concat!("`", stringify!($element), "` elements.")] $variant(Vec<$element>),)*
        }

        impl Elements {
            /// The element type.
            pub const fn dtype(&self) -> DType {
                match self {
                    $(Self::$variant(_) => DType::$variant,)*
                }
            }

            /// Appends elements of the same type.
            fn append(&mut self, other: &Self) {
                match (self, other) {
                    $((Self::$variant(own), Self::$variant(others)) => own.extend_from_slice(others),)*
                    _ => unreachable!("the elements of what is stacked are of one type"),
                }
            }
        }

        $(impl From<Vec<$element>> for Elements {
            fn from(elements: Vec<$element>) -> Self {
                Self::$variant(elements)
            }
        })*
    };
}

element_types!(all => elements!);

/// The reason why a program stopped while it ran.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("[{code}] {message}")]
pub struct RunError {
    /// The stable error code.
    pub code: Code,
    /// The description of the failure.
    pub message: String,
}

impl RunError {
    /// An error with its code and description.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl Array {
    /// A tensor with these extents and elements.
    ///
    /// # Panics
    /// If the number of elements differs from that of the shape.
    pub fn new(shape: impl Into<Vec<usize>>, elements: impl Into<Elements>) -> Self {
        let (shape, elements) = (shape.into(), elements.into());
        assert_eq!(
            shape.iter().product::<usize>(),
            elements.len(),
            "shape {shape:?} has another number of elements"
        );
        Self { shape, elements }
    }

    /// An array without elements, which replaces a freed value.
    fn nothing() -> Self {
        Self { shape: vec![0], elements: Elements::F32(Vec::new()) }
    }

    /// Zeros; for truth values false.
    fn zeros(dtype: DType, shape: Vec<usize>) -> Self {
        let count = shape.iter().product();
        let elements = match_dtype!(dtype, T => Elements::from(vec![T::default(); count]));
        Self { shape, elements }
    }

    /// One element along the leading axis.
    pub(crate) fn element(&self, at: usize) -> Self {
        let shape = &self.shape[1..];
        let count: usize = shape.iter().product();
        let elements = match_elements!(&self.elements, Elements(elements) => {
            Elements::from(elements[at * count..(at + 1) * count].to_vec())
        });
        Self::new(shape, elements)
    }

    /// Stacks values of the same type along a new leading axis.
    pub(crate) fn stacked(parts: &[&Self]) -> Self {
        let shape: Vec<usize> = [parts.len()].into_iter().chain(parts[0].shape.iter().copied()).collect();
        let mut elements = parts[0].elements.clone();
        for part in &parts[1..] {
            elements.append(&part.elements);
        }
        Self::new(shape, elements)
    }

    /// The size of the elements in bytes.
    pub fn bytes(&self) -> u64 {
        self.elements.len() as u64 * self.dtype().bytes() as u64
    }

    /// The element type.
    pub const fn dtype(&self) -> DType {
        self.elements.dtype()
    }
}

impl Elements {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match_elements!(self, Self(elements) => elements.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A floating-point element as `f64`, or a truth value as 1 or 0.
    ///
    /// # Panics
    /// If the elements are integers.
    pub(crate) fn float(&self, at: usize) -> f64 {
        match_elements!(self, Self(elements) {
            truths => elements[at].into(),
            integers => unreachable!("verification asks for floats here"),
            floats => elements[at].into(),
        })
    }

    /// An integer element as `i64`, or a truth value as 1 or 0.
    ///
    /// # Panics
    /// If the elements are floats.
    pub(crate) fn integer(&self, at: usize) -> i64 {
        match_elements!(self, Self(elements) {
            truths => elements[at].into(),
            integers => elements[at].into(),
            floats => unreachable!("verification asks for integers here"),
        })
    }

    /// Every element as the nearest `f64`, for comparisons with a tolerance. Truth values are 1 and 0.
    pub fn to_f64(&self) -> Vec<f64> {
        match_elements!(self, Self(elements) {
            truths => elements.iter().map(|element| f64::from(*element)).collect(),
            numbers => elements.iter().map(|element| *element as f64).collect(),
        })
    }
}

/// The extents of a type. Fails if the size in bytes does not fit into 64 bits.
fn extents(ty: &Type, bindings: &Bindings) -> Result<Vec<usize>, RunError> {
    let extent = |dim: &Dim| usize::try_from(dim.evaluate(bindings)?).ok();
    let extents: Option<Vec<_>> = ty.shape.iter().map(extent).collect();
    let fits = extents.filter(|extents| {
        let bytes = extents.iter().try_fold(ty.dtype.bytes(), |bytes, extent| bytes.checked_mul(*extent));
        // Includes the memory in which sums are kept.
        bytes.and_then(|bytes| bytes.checked_mul(2 * size_of::<f64>())).is_some()
    });
    fits.ok_or_else(|| {
        RunError::new(Code::E6004, format!("a tensor of type {ty} has more bytes than 64 bits can count"))
    })
}

/// Every position of a shape in row-major order.
pub(crate) fn positions(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let count: usize = shape.iter().product();
    (0..count).map(move |mut offset| {
        let mut position = vec![0; shape.len()];
        for (at, extent) in position.iter_mut().zip(shape).rev() {
            (*at, offset) = (offset % extent, offset / extent);
        }
        position
    })
}

/// The offset of a position in row-major order.
pub(crate) fn offset(shape: &[usize], position: &[usize]) -> usize {
    shape.iter().zip(position).fold(0, |offset, (extent, at)| offset * extent + at)
}

/// The offset in a broadcast operand that a position of the result reads: aligned at the last dimensions, and 0 along
/// extents of 1.
pub(crate) fn broadcast_offset(shape: &[usize], position: &[usize]) -> usize {
    let aligned = &position[position.len() - shape.len()..];
    shape
        .iter()
        .zip(aligned)
        .fold(0, |offset, (extent, at)| offset * extent + if *extent == 1 { 0 } else { *at })
}
