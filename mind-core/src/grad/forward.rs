//! Static forward-mode autodiff: from a canonical module to the module of its directional derivative.
//!
//! Each value on a differentiable path from a parameter has a tangent of its own type. A rule computes the tangent of a
//! result from those of the operands:
//!
//! - A linear operation is applied to the tangents.
//! - An elementwise function, a product or a reduction uses the formula of reverse mode: it is linear in the cotangent,
//!   so it maps tangents as well.
//! - A loop becomes a loop whose carries, elements and results include the tangents. It needs no limit on its steps.
//! - Any other operation uses its transposed reverse rule. This includes custom derivatives.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    build::Builder,
    canon::Canonical,
    dim::{Dim, Symbol},
    grad::{
        AutodiffError, Cotangent, Gradient, GradientOptions, GradientOrigin, Wrt, accumulate,
        activity::{self, Activity},
        canonical, differentiate,
        magnitude::Magnitudes,
        primal, push, typed, zeros,
    },
    ir::{self, Inst, Module, Nested, Op, Reduction, Scan, ValueId},
    map::{Calculus, DerivativeInputs, Map, evaluate},
    ops::{Derivative, OpError, Profile, results_of_pullback},
    reduce::{self, Reduce},
    symbols::bindable,
    ty::{DType, Type},
};

type Tangent = Result<Option<ValueId>, AutodiffError>;

/// The module that computes the results of `module` and their tangents.
///
/// Its inputs are those of `module`, then a tangent of each input in `wrt`. Its outputs are those of `module`, then a
/// tangent of each. It exists in [`Profile::Extended`] only.
///
/// ```
/// use mind_core::{
///     build::Builder, canon::canonicalise, grad::{Wrt, push_forward}, ir::Op, map::Map, ops::Profile,
///     text::core_ir, ty::{DType, Type}, verify::verify,
/// };
/// let mut b = Builder::new();
/// let x = b.input("x", Type::scalar(DType::F64))?;
/// let y = b.push(Op::Map(Map::Sin), &[x])?;
/// let module = canonicalise(verify(b.finish([y]), Profile::Extended).expect("it is valid"));
/// let pushed = push_forward(&module, &[Wrt { input: x, zero_ok: false }])?;
/// assert_eq!(
///     core_ir::print(&pushed.module),
///     "%0 = Input () {name=\"x\"} : f64\n\
///      %1 = Input () {name=\"tangent\"} : f64\n\
///      %2 = Sin (%0) : f64\n\
///      %3 = Cos (%0) : f64\n\
///      %4 = MulKeepZero (%1, %3) : f64\n\
///      outputs: %2, %4\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`AutodiffError`].
pub fn push_forward(module: &Canonical, wrt: &[Wrt]) -> Result<Gradient, AutodiffError> {
    let primal: &Module = module;
    primal::check_outputs(primal, Cotangent::Input)?;
    primal::check_parameters(primal, wrt)?;
    check_reach(primal, wrt)?;
    let mut inputs = Inputs::new(primal);
    (0..primal.inputs().len()).try_for_each(|at| inputs.copy(at))?;
    wrt.iter().try_for_each(|wrt| inputs.tangent(wrt.input.index()))?;
    let mut forward = inputs.forward();
    forward.run()?;
    let outputs = primal.outputs();
    let copies = outputs.iter().map(|output| forward.copies[output.index()]).collect::<Vec<_>>();
    let tangents = outputs.iter().map(|output| forward.tangent_or_zeros(*output));
    let tangents = tangents.collect::<Result<Vec<_>, _>>()?;
    let Forward { builder, made, .. } = forward;
    let made: Vec<_> =
        made.into_iter().map(Some).chain(std::iter::repeat(None)).take(builder.insts().len()).collect();
    let pairs: Vec<_> = copies.iter().copied().zip(tangents.iter().copied()).collect();
    let module = builder.finish([copies, tangents].concat());
    super::finish(module, (&pairs, &made), Profile::Extended, |_, _| {
        unreachable!("the extended profile refuses no value")
    })
}

/// Returns E5005 for a parameter that reaches no output.
fn check_reach(primal: &Module, wrt: &[Wrt]) -> Result<(), AutodiffError> {
    let mut reaches = vec![None; primal.insts().len()];
    for output in primal.outputs() {
        reaches[output.index()] = Some(*output);
    }
    for (value, inst) in primal.iter().rev() {
        if reaches[value.index()].is_some() {
            // The derivative of a function that its author wrote takes the place of that of its operations.
            let own = inst.op.as_pullback().map_or(0, |of| results_of_pullback(of, inst.operands.len()));
            for (position, operand) in inst.operands.iter().enumerate().skip(own) {
                if activity::flows(inst, position) {
                    reaches[operand.index()] = Some(*operand);
                }
            }
        }
    }
    let activity = Activity::new(primal, wrt.iter().map(|wrt| wrt.input));
    let has_no_rule =
        |value: ValueId, inst: &Inst| reaches[value.index()].is_some() && activity.has_no_rule(inst);
    if let Some((value, _)) = primal.iter().find(|(value, inst)| has_no_rule(*value, inst)) {
        return Err(activity.unsupported(value));
    }
    let is_lost =
        |wrt: &&Wrt| !wrt.zero_ok && reaches[wrt.input.index()].is_none() && !activity.is_flat(wrt.input);
    match wrt.iter().find(is_lost) {
        Some(wrt) => Err(activity.unreached(wrt.input, &reaches)),
        None => Ok(()),
    }
}

/// A module during forward differentiation.
struct Forward<'a> {
    primal: &'a Module,
    builder: Builder,
    magnitudes: Magnitudes,
    /// The copy of each primal value so far.
    copies: Vec<ValueId>,
    /// The tangent of each primal value so far that has one.
    tangents: Vec<Option<ValueId>>,
    /// The results of each instruction that has several, with their tangents.
    several: BTreeMap<ValueId, Vec<CopiedResult>>,
    /// The origin of each value of the builder after the inputs.
    made: Vec<GradientOrigin>,
}

/// A result of an instruction that has several.
#[derive(Clone, Copy)]
struct CopiedResult {
    copy: ValueId,
    tangent: Option<ValueId>,
}

impl Forward<'_> {
    /// Copies all instructions and computes their tangents.
    fn run(&mut self) -> Result<(), AutodiffError> {
        for (value, inst) in self.primal.iter().skip(self.copies.len()) {
            let CopiedResult { copy, tangent } = self.step(value, inst)?;
            self.made.resize(self.builder.insts().len(), GradientOrigin::Back(value));
            self.made[copy.index()] = GradientOrigin::Copy(value);
            self.copies.push(copy);
            self.tangents.push(tangent);
        }
        Ok(())
    }

    /// The copy of an instruction, and the tangent of its result.
    fn step(&mut self, value: ValueId, inst: &Inst) -> Result<CopiedResult, AutodiffError> {
        if let Some(at) = inst.op.as_further_result() {
            let of = inst.operands[0];
            if let Some(results) = self.several.get(&of) {
                return Ok(results[at]);
            }
            let copy = push(&mut self.builder, inst.op.clone(), &[self.copies[of.index()]])?;
            return Ok(CopiedResult { copy, tangent: None });
        }
        if let Some(scan) = inst.op.as_loop().filter(|_| self.is_active(inst)) {
            let results = self.scan(scan, inst)?;
            let first = results[0];
            self.several.insert(value, results);
            return Ok(first);
        }
        let operands = inst.operands.map(|operand| self.copies[operand.index()]);
        let copy = push(&mut self.builder, inst.op.clone(), &operands)?;
        let tangent = if self.is_active(inst) { self.tangent(value, inst, &operands, copy)? } else { None };
        Ok(CopiedResult { copy, tangent })
    }

    fn is_active(&self, inst: &Inst) -> bool {
        inst.operands.iter().any(|operand| self.tangents[operand.index()].is_some())
    }

    /// The tangent of a result. Some operand has a tangent.
    fn tangent(&mut self, value: ValueId, inst: &Inst, operands: &[ValueId], y: ValueId) -> Tangent {
        let first = self.tangents[inst.operands[0].index()];
        match &inst.op {
            Op::Map(map) => self.function(*map, inst, operands, y),
            Op::Effect(_) => Ok(first),
            Op::Product(_) | Op::Window(_) => self.product(inst, operands),
            Op::Reduce(reduce, reduction) if !reduce.row().adjoint.is_empty() => {
                let dx = first.expect("the only operand has a tangent");
                self.reduced(*reduce, reduction, [operands[0], y, dx]).map(Some)
            }
            op => match op.info().derivative {
                // A function with a derivative of its own may contain an operation that has none.
                Derivative::Zero | Derivative::Unsupported => Ok(None),
                Derivative::Linear => self.linear(inst, operands).map(Some),
                Derivative::Rule => self.transposed(value, inst, operands, y),
            },
        }
    }

    /// Applies an operation that is linear in its floating-point operands to their tangents.
    fn linear(&mut self, inst: &Inst, operands: &[ValueId]) -> Result<ValueId, AutodiffError> {
        let mut given = Vec::new();
        for (operand, copy) in inst.operands.iter().zip(operands) {
            let is_float = self.primal.ty(*operand).dtype.is_float();
            given.push(if is_float { self.tangent_or_zeros(*operand)? } else { *copy });
        }
        push(&mut self.builder, inst.op.clone(), &given)
    }

    /// The tangent by the product rule: a term for each operand, with this operand replaced by its tangent.
    fn product(&mut self, inst: &Inst, operands: &[ValueId]) -> Tangent {
        let mut sum = None;
        for (at, operand) in inst.operands.iter().enumerate() {
            let Some(tangent) = self.tangents[operand.index()] else { continue };
            let mut factors = operands.to_vec();
            factors[at] = tangent;
            let term = push(&mut self.builder, inst.op.clone(), &factors)?;
            accumulate(&mut self.builder, &mut sum, term)?;
        }
        Ok(sum)
    }

    /// The sum of one term per operand: the derivative formula of the row with the tangent in place of the cotangent.
    fn function(&mut self, map: Map, inst: &Inst, operands: &[ValueId], y: ValueId) -> Tangent {
        if !inst.ty.dtype.is_float() {
            return Ok(None);
        }
        if map == Map::SELECTION {
            return self.selection(inst, operands).map(Some);
        }
        let row = map.row();
        let mut sum = None;
        for (at, operand) in inst.operands.iter().enumerate() {
            let Some(mut dy) = self.tangents[operand.index()].filter(|_| row.flows_to(at)) else { continue };
            if self.builder.ty(dy).shape != inst.ty.shape {
                dy = typed::broadcast(&mut self.builder, dy, &inst.ty.shape)?;
            }
            let term = evaluate(self, DerivativeInputs { row, operands, y, dy }, at)?;
            let term = self.like(term, y)?;
            accumulate(&mut self.builder, &mut sum, term)?;
        }
        Ok(sum)
    }

    /// Chooses among the tangents as the operation chooses among the operands.
    fn selection(&mut self, inst: &Inst, operands: &[ValueId]) -> Result<ValueId, AutodiffError> {
        let chosen = self.tangent_or_zeros(inst.operands[1])?;
        let other = self.tangent_or_zeros(inst.operands[2])?;
        push(&mut self.builder, inst.op.clone(), &[operands[0], chosen, other])
    }

    /// The tangent of a reduction. Each result sums the tangents of the elements that it combines, times their
    /// derivatives.
    fn reduced(
        &mut self,
        of: Reduce,
        reduction: &Reduction,
        [x, y, dx]: [ValueId; 3],
    ) -> Result<ValueId, AutodiffError> {
        let y = self.put_back(x, y, reduction)?;
        let terms = reduce::evaluate(self, of.row(), [x, y, dx], |on, reduce, value| {
            let value = push(&mut on.builder, Op::Reduce(reduce, reduction.clone()), &[value])?;
            on.put_back(x, value, reduction)
        })?;
        push(&mut self.builder, Op::Reduce(Reduce::Sum, reduction.clone()), &[terms])
    }

    /// Broadcasts the result of a reduction of `x` to the shape of `x`.
    fn put_back(
        &mut self,
        x: ValueId,
        value: ValueId,
        reduction: &Reduction,
    ) -> Result<ValueId, AutodiffError> {
        let shape = self.builder.ty(x).shape.clone();
        let axes = if reduction.axes.is_empty() {
            (0..shape.rank() as i64).collect()
        } else {
            reduction.axes.clone()
        };
        let value = if reduction.keepdims { value } else { typed::expanded(&mut self.builder, value, axes)? };
        typed::broadcast(&mut self.builder, value, &shape)
    }

    /// The tangent by the transposed reverse rule. The cotangents of the operands are linear in the cotangents of the
    /// results. The transpose of this linear map takes the tangents of the operands to those of the results.
    fn transposed(&mut self, value: ValueId, inst: &Inst, operands: &[ValueId], y: ValueId) -> Tangent {
        let types: Vec<_> = inst.operands.iter().map(|operand| self.primal.ty(*operand)).collect();
        let active = inst.operands.iter().map(|operand| self.tangents[operand.index()]);
        let active: Vec<_> = active.enumerate().filter_map(|(at, tangent)| Some((at, tangent?))).collect();
        let wanted: Vec<_> = active.iter().map(|(at, _)| *at).collect();
        let Transposed { map, symbols, results } = transpose(inst, &types, &wanted)?;
        let mut given = operands.to_vec();
        for symbol in symbols {
            given.push(push(&mut self.builder, positions(&symbol), &[])?);
        }
        let types: Vec<_> = map.inputs().map(|(_, ty)| ty.clone()).collect();
        // The cotangents are inputs of the map too, but it does not depend on them.
        for ty in &types[given.len()..given.len() + results] {
            let zero = self.builder.constant(ty.dtype, 0.0);
            given.push(typed::broadcast(&mut self.builder, zero, &ty.shape)?);
        }
        given.extend(active.iter().map(|(_, tangent)| *tangent));
        let tangents = self.builder.inline(&map, &given, &BTreeMap::new());
        let tangents = tangents.map_err(|error| AutodiffError::Verification(error.to_string()))?;
        if results > 1 {
            let mut placed = vec![CopiedResult { copy: y, tangent: Some(tangents[0]) }];
            for (at, tangent) in tangents.iter().enumerate().skip(1) {
                let copy = push(&mut self.builder, Op::further_result(at), &[y])?;
                placed.push(CopiedResult { copy, tangent: Some(*tangent) });
            }
            self.several.insert(value, placed);
        }
        Ok(Some(tangents[0]))
    }

    fn tangent_or_zeros(&mut self, value: ValueId) -> Result<ValueId, AutodiffError> {
        match self.tangents[value.index()] {
            Some(tangent) => Ok(tangent),
            None => zeros(&mut self.builder, self.copies[value.index()]),
        }
    }

    /// A loop that computes the results of a loop and their tangents. Its carries are the old ones, then their
    /// tangents; its other operands and its stacked results are likewise the old ones, then tangents.
    fn scan(&mut self, scan: &Scan, inst: &Inst) -> Result<Vec<CopiedResult>, AutodiffError> {
        let (carries, body) = (scan.carry_count(), &scan.body);
        let active = self.active_in_loop(scan, inst);
        let reached = Activity::new(body, of_active(&active).map(ValueId::new));
        let (of_carries, of_others) = active.split_at(carries);
        let other = |at: usize| carries + at;

        let mut inner = Inputs::new(body);
        (0..carries).try_for_each(|at| inner.copy(at))?;
        of_active(of_carries).try_for_each(|at| inner.tangent(at))?;
        (carries..active.len()).try_for_each(|at| inner.copy(at))?;
        of_active(of_others).map(other).try_for_each(|at| inner.tangent(at))?;
        let mut forward = inner.forward();
        forward.run()?;
        let (next, stacked) = body.outputs().split_at(carries);
        let mut outputs = Vec::new();
        outputs.extend(next.iter().map(|output| forward.copies[output.index()]));
        for at in of_active(of_carries) {
            outputs.push(forward.tangent_or_zeros(next[at])?);
        }
        outputs.extend(stacked.iter().map(|output| forward.copies[output.index()]));
        for output in stacked.iter().filter(|output| reached.is_active(**output)) {
            outputs.push(forward.tangent_or_zeros(*output)?);
        }
        let body = Nested::new(forward.builder.finish(outputs));
        let body = body.map_err(|fault| AutodiffError::UnsupportedShape(fault.to_string()))?;

        let copy = |on: &Self, at: usize| on.copies[inst.operands[at].index()];
        let mut operands: Vec<_> = (0..carries).map(|at| copy(self, at)).collect();
        for at in of_active(of_carries) {
            operands.push(self.tangent_or_zeros(inst.operands[at])?);
        }
        operands.extend((carries..active.len()).map(|at| copy(self, at)));
        for at in of_active(of_others).map(other) {
            operands.push(self.tangent_or_zeros(inst.operands[at])?);
        }
        let all = carries + of_active(of_carries).count();
        let all = i64::try_from(all).expect("operands are few");
        let first = push(
            &mut self.builder,
            Scan { body, carries: all, residuals: 0, ..scan.clone() }.into(),
            &operands,
        )?;

        let mut position = 0..;
        let mut results = |on: &mut Self, has_tangent: &[bool]| {
            let mut read = || -> Result<ValueId, AutodiffError> {
                match position.next().expect("a range without an end") {
                    0 => Ok(first),
                    at => push(&mut on.builder, Op::further_result(at), &[first]),
                }
            };
            let copies = has_tangent.iter().map(|_| read()).collect::<Result<Vec<_>, _>>()?;
            let placed = copies.into_iter().zip(has_tangent).map(|(copy, has_tangent)| {
                Ok(CopiedResult { copy, tangent: has_tangent.then(&mut read).transpose()? })
            });
            placed.collect::<Result<Vec<_>, AutodiffError>>()
        };
        let of_stacked: Vec<_> = stacked.iter().map(|output| reached.is_active(*output)).collect();
        let carried = results(self, of_carries)?;
        Ok([carried, results(self, &of_stacked)?].concat())
    }

    /// Which operands of a loop have a tangent in some step. A carry has one if its first value has, or if the value of
    /// some later step does.
    fn active_in_loop(&self, scan: &Scan, inst: &Inst) -> Vec<bool> {
        let mut active: Vec<_> =
            inst.operands.iter().map(|operand| self.tangents[operand.index()].is_some()).collect();
        loop {
            let reached = Activity::new(&scan.body, of_active(&active).map(ValueId::new));
            let next = scan.body.outputs().iter().take(scan.carry_count()).enumerate();
            let is_new = |(at, output): &(usize, &ValueId)| !active[*at] && reached.is_active(**output);
            let new: Vec<_> = next.filter(is_new).map(|(at, _)| at).collect();
            if new.is_empty() {
                return active;
            }
            new.into_iter().for_each(|at| active[at] = true);
        }
    }
}

fn of_active(active: &[bool]) -> impl Iterator<Item = usize> {
    active.iter().enumerate().filter_map(|(at, active)| active.then_some(at))
}

/// The inputs of a module that computes tangents, while they are added.
struct Inputs<'a> {
    primal: &'a Module,
    builder: Builder,
    copies: Vec<ValueId>,
    tangents: Vec<Option<ValueId>>,
    names: std::vec::IntoIter<Arc<str>>,
}

impl<'a> Inputs<'a> {
    fn new(primal: &'a Module) -> Self {
        let count = primal.inputs().len();
        let names: Vec<_> = primal::names_for(primal, "tangent").take(count).collect();
        let (copies, tangents) = (Vec::with_capacity(count), vec![None; count]);
        Self { primal, builder: Builder::new(), copies, tangents, names: names.into_iter() }
    }

    /// Adds the input at a position of the primal. These are added in order.
    fn copy(&mut self, at: usize) -> Result<(), AutodiffError> {
        let (name, ty) = self.primal.inputs().nth(at).expect("a position of an input");
        self.copies.push(self.builder.input(name.clone(), ty.clone()).map_err(invalid_input)?);
        Ok(())
    }

    /// Adds the tangent of the input at a position.
    fn tangent(&mut self, at: usize) -> Result<(), AutodiffError> {
        let name = self.names.next().expect("one name for each input");
        let ty = self.primal.ty(ValueId::new(at)).clone();
        self.tangents[at] = Some(self.builder.input(name, ty).map_err(invalid_input)?);
        Ok(())
    }

    fn forward(self) -> Forward<'a> {
        let made = (0..self.builder.insts().len()).map(|at| GradientOrigin::Copy(ValueId::new(at))).collect();
        Forward {
            primal: self.primal,
            builder: self.builder,
            magnitudes: Magnitudes::default(),
            copies: self.copies,
            tangents: self.tangents,
            several: BTreeMap::new(),
            made,
        }
    }
}

fn invalid_input(error: Box<OpError>) -> AutodiffError {
    AutodiffError::of(&error, error.to_string())
}

/// The linear map from the tangents of some operands of an instruction to those of its results.
struct Transposed {
    /// Its inputs are the operands, a vector for each of the symbols, a cotangent for each result, which it does not
    /// depend on, and the tangents.
    map: Module,
    /// The symbols that the types of the operands do not determine, such as `N` of a single `f32[N / 2]`. The vectors
    /// have these extents, so that the map is a module by itself. It does not read them.
    symbols: Vec<Symbol>,
    /// The number of results.
    results: usize,
}

fn transpose(inst: &Inst, operands: &[&Type], wanted: &[usize]) -> Result<Transposed, AutodiffError> {
    let mut builder = Builder::new();
    let mut inputs = Vec::new();
    for (at, ty) in operands.iter().enumerate() {
        inputs.push(builder.input(format!("x{at}"), (*ty).clone()).map_err(invalid_input)?);
    }
    let symbols = undetermined(inst, operands);
    for (at, symbol) in symbols.iter().enumerate() {
        let vector = Type::new(DType::I64, [Dim::symbol(symbol.clone())].into_iter().collect());
        builder.input(format!("n{at}"), vector).map_err(invalid_input)?;
    }
    let results = inst.op.as_pullback().map_or(1, |nested| results_of_pullback(nested, operands.len()));
    let first = push(&mut builder, inst.op.clone(), &inputs)?;
    let mut outputs = vec![first];
    for at in 1..results {
        outputs.push(push(&mut builder, Op::further_result(at), &[first])?);
    }
    let by = |inputs: Vec<usize>| GradientOptions {
        wrt: inputs.into_iter().map(|input| Wrt { input: ValueId::new(input), zero_ok: true }).collect(),
        cotangent: Cotangent::Input,
        profile: Profile::Extended,
    };
    let gradients = |module: Module, by: &GradientOptions| {
        let (module, _) = canonical(module)?;
        let results = module.outputs().len();
        let gradient = differentiate(&module, by)?.module.into_verified().into_module();
        Ok::<_, AutodiffError>(gradient.without_first(results))
    };
    let pullback = gradients(builder.finish(outputs), &by(wanted.to_vec()))?;
    let first_cotangent = operands.len() + symbols.len();
    let cotangents = first_cotangent..first_cotangent + results;
    Ok(Transposed { map: gradients(pullback, &by(cotangents.collect()))?, symbols, results })
}

/// The symbols of an instruction that the types of its operands do not determine, ascending.
fn undetermined(inst: &Inst, operands: &[&Type]) -> Vec<Symbol> {
    let known = bindable(operands.iter().copied());
    let mut symbols = BTreeSet::new();
    let mut visit = |dim: &Dim| {
        dim.for_each_symbol(&mut |symbol| {
            _ = (!known.contains(symbol)).then(|| symbols.insert(symbol.clone()))
        });
    };
    operands.iter().flat_map(|ty| ty.shape.iter()).for_each(&mut visit);
    for_each_dim(&inst.op, &mut visit);
    symbols.into_iter().collect()
}

/// Calls `visit` with each dim of the attributes, and with each dim of the nested modules.
fn for_each_dim(op: &Op, visit: &mut dyn FnMut(&Dim)) {
    op.for_each_dim(visit);
    for inst in op.nested().into_iter().flat_map(|module| module.insts()) {
        inst.ty.shape.iter().for_each(&mut *visit);
        for_each_dim(&inst.op, visit);
    }
}

/// A vector whose extent is a symbol.
fn positions(symbol: &Symbol) -> Op {
    Op::Made(ir::Made::Iota { shape: vec![Dim::symbol(symbol.clone())], axis: 0 })
}

/// Emits formulas.
impl Calculus for Forward<'_> {
    type Value = ValueId;
    type Error = AutodiffError;

    fn apply(&mut self, map: Map, operands: &[ValueId]) -> Result<ValueId, AutodiffError> {
        push(&mut self.builder, Op::Map(map), operands)
    }

    fn number(&mut self, number: f64, like: ValueId) -> Result<ValueId, AutodiffError> {
        Calculus::number(&mut self.builder, number, like)
    }

    fn is_finite_nonzero(&mut self, value: ValueId) -> bool {
        self.magnitudes.is_finite_nonzero_among(self.builder.insts(), value)
    }

    fn like(&mut self, value: ValueId, other: ValueId) -> Result<ValueId, AutodiffError> {
        Calculus::like(&mut self.builder, value, other)
    }
}
