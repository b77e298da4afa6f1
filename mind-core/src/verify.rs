//! The verifier: checks every rule of a module. Later phases take only modules that it accepted.

use std::{collections::BTreeSet, fmt, ops::Deref, sync::Arc};

use crate::{
    diag::Code,
    dim::Symbol,
    ir::{Inst, Module, Op, Own, ValueId},
    map::Takes,
    ops::{self, OpError, OpInfo, Profile, Requirement},
    symbols::bindable,
    ty::{DType, is_core_v1},
};

/// A module that keeps every rule of its profile: operands are earlier values, inputs come first, every declared type
/// equals the inferred one, every output is a value, and the inputs determine every symbol.
///
/// Only [`verify`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    module: Module,
    profile: Profile,
}

impl Verified {
    /// The profile that the module was verified against.
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// The module.
    pub fn into_module(self) -> Module {
        self.module
    }

    /// Wraps a module in which [`verify_named`] found no mistake.
    pub(crate) const fn trusted(module: Module, profile: Profile) -> Self {
        Self { module, profile }
    }

    /// The module changed by a pass that keeps every rule.
    ///
    /// # Panics
    /// If the changed module breaks a rule. It would compile to a different program than the one that was written.
    pub(crate) fn rewrite(self, pass: impl FnOnce(Module) -> Module) -> Self {
        let module = pass(self.module);
        assert_eq!(check(&module, self.profile), [], "a pass keeps every rule");
        Self { module, ..self }
    }
}

impl Deref for Verified {
    type Target = Module;
    fn deref(&self) -> &Module {
        &self.module
    }
}

/// A broken rule of a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct VerifyError {
    /// The stable number.
    pub code: Code,
    /// The value of the instruction at fault, or of the one that holds the module at fault. `None` if an output is at
    /// fault.
    pub value: Option<ValueId>,
    /// The path to a fault in a nested module: the value in the module that the instruction holds, then the value in
    /// the next nested module, and so on. A fault of a nested module as a whole has no value for that module.
    pub inner: Vec<ValueId>,
    /// The position of the output at fault, if one is.
    pub output: Option<usize>,
    /// The mistake, with the operands and their types.
    pub message: String,
}

impl VerifyError {
    pub(crate) fn of_value(code: Code, value: ValueId, message: impl Into<String>) -> Self {
        Self { code, value: Some(value), inner: Vec::new(), output: None, message: message.into() }
    }

    pub(crate) fn of_outputs(code: Code, output: Option<usize>, message: impl Into<String>) -> Self {
        Self { code, value: None, inner: Vec::new(), output, message: message.into() }
    }

    /// The same error for the outer module, in which the instruction of `value` holds the module at fault.
    fn within(self, value: ValueId, holder: &str) -> Self {
        let inner = self.value.into_iter().chain(self.inner).collect();
        let message = format!("in the module of `{holder}`: {}", self.message);
        Self { value: Some(value), inner, output: None, message, ..self }
    }
}

/// Writes `[E3003] %2: message`.
impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] ", self.code)?;
        if let Some(value) = self.value {
            write!(f, "{value}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// Checks every rule. The module is unchanged.
///
/// # Errors
/// Every independent mistake, in the order of the instructions and then of the outputs: E4001 (an operand that is not
/// an earlier value), E4003 (an output that is not a value), E4004 (an input after another operation, or without a
/// unique name), E4012 (a declared type that differs from the inferred one), E4013 (an operation outside the profile),
/// E4014 (no output), E2003 (a symbol that no input determines), and the codes of the operations' own rules. After a
/// mistake the declared type is used, so that one mistake causes one error. Nested modules have to keep the same rules.
/// The inputs of the outermost module determine their symbols.
pub fn verify(module: Module, profile: Profile) -> Result<Verified, Vec<VerifyError>> {
    let errors = check(&module, profile);
    if errors.is_empty() { Ok(Verified { module, profile }) } else { Err(errors) }
}

/// The name of a value in messages. The value is of the module itself, or of a nested module that these instructions
/// hold, outermost first.
pub(crate) type Name<'a> = dyn Fn(&[ValueId], ValueId) -> String + 'a;

/// As [`verify`], for a borrowed module, with values named by `name` in messages. The list is empty if the module
/// verifies.
pub(crate) fn verify_named(module: &Module, profile: Profile, name: &Name<'_>) -> Vec<VerifyError> {
    Checker::new(module, profile, name).all()
}

/// The conditions on the symbols under which the module can run, beyond every symbol being at least 1. Sorted, without
/// duplicates.
pub fn requirements(module: &Verified) -> Vec<Requirement> {
    let mut needed = BTreeSet::new();
    require(module, &mut needed);
    needed.into_iter().collect()
}

/// Adds the conditions of a module and of the modules that it runs.
fn require(module: &Module, needed: &mut BTreeSet<Requirement>) {
    for inst in module.insts() {
        if let Some(called) = inst.op.called() {
            require(called, needed);
        }
        let unproved = inst.ty.shape.iter().filter(|dim| !dim.is_positive());
        needed.extend(unproved.cloned().map(Requirement::Positive));
        let operands: Vec<_> = inst.operands.iter().map(|operand| module.ty(*operand)).collect();
        needed.extend((inst.op.info().requirements)(&inst.op, &operands));
    }
}

fn check(module: &Module, profile: Profile) -> Vec<VerifyError> {
    verify_named(module, profile, &|_, value| value.to_string())
}

struct Checker<'a> {
    module: &'a Module,
    profile: Profile,
    name: &'a Name<'a>,
    /// The instructions that hold this module, outermost first.
    holders: Vec<ValueId>,
    /// The outermost module, whose inputs determine the symbols.
    outermost: &'a Module,
    errors: Vec<VerifyError>,
    /// The names of the inputs so far. Empty while the inputs are so few that they are compared one by one.
    input_names: BTreeSet<&'a str>,
    /// The symbols that the inputs determine, and the missing ones that were reported. `None` before the first symbol.
    known_symbols: Option<BTreeSet<Symbol>>,
    /// The values so far whose declared type is invalid. Instructions that read them are not checked.
    impossible: BTreeSet<ValueId>,
    /// The instructions so far that hold a module and have a mistake. Their further results are not checked.
    broken: BTreeSet<ValueId>,
}

impl<'a> Checker<'a> {
    fn new(module: &'a Module, profile: Profile, name: &'a Name<'a>) -> Self {
        Self {
            module,
            profile,
            name,
            holders: Vec::new(),
            outermost: module,
            errors: Vec::new(),
            input_names: BTreeSet::new(),
            known_symbols: None,
            impossible: BTreeSet::new(),
            broken: BTreeSet::new(),
        }
    }

    fn all(mut self) -> Vec<VerifyError> {
        for (value, inst) in self.module.iter() {
            self.instruction(value, inst);
        }
        for (position, output) in self.module.outputs().iter().enumerate() {
            if output.index() >= self.module.insts().len() {
                let message =
                    format!("output {position} is {}, which no instruction defines", self.named(*output));
                self.errors.push(VerifyError::of_outputs(Code::E4003, Some(position), message));
            }
        }
        if self.module.outputs().is_empty() {
            self.errors.push(VerifyError::of_outputs(Code::E4014, None, "the module has no output"));
        }
        self.errors
    }

    fn named(&self, value: ValueId) -> String {
        (self.name)(&self.holders, value)
    }

    fn instruction(&mut self, value: ValueId, inst: &'a Inst) {
        let row = inst.op.info();
        if row.profile > self.profile {
            let message = format!("`{}` is an extension and not in Core v1", row.name);
            self.error(Code::E4013, value, message);
        }
        let dtype = inst.ty.dtype;
        if self.profile == Profile::CoreV1 && row.profile == Profile::CoreV1 && !is_core_v1(dtype) {
            if dtype == DType::Bool {
                let error = OpError::dtype(&inst.op, 0, dtype, Takes::Numbers);
                self.error(Code::E2005, value, error.to_string());
            } else {
                self.error(Code::E4013, value, format!("`{dtype}` is an extension and not in Core v1"));
            }
        }
        let before = self.errors.len();
        let judged = if let Some(name) = inst.op.input_name() {
            self.input(value, inst, name)
        } else if let Some(nested) = inst.op.nested().filter(|_| row.profile <= self.profile) {
            self.check_nested(value, nested, row);
            let judged = self.errors.len() == before && self.operation(value, inst, row);
            if self.errors.len() > before {
                self.broken.insert(value);
            }
            judged
        } else {
            self.operation(value, inst, row)
        };
        // An inferred type is always valid. A declared type may be invalid.
        let inferred = judged && self.errors.len() == before;
        if !inferred && ops::check_type(|| inst.op.clone(), &inst.ty).is_err() {
            self.impossible.insert(value);
        }
        self.symbols(value, inst, row);
    }

    /// Checks the place, the name and the type of an input. Always returns true: the declared type was checked.
    #[inline]
    fn input(&mut self, value: ValueId, inst: &'a Inst, name: &'a Arc<str>) -> bool {
        if !inst.operands.is_empty() {
            self.later_operands(value, inst);
            let message = format!("`Input`: {} operands given, 0 needed", inst.operands.len());
            self.error(Code::E2007, value, message);
        }
        let before = value.index().checked_sub(1).map(|before| &self.module.insts()[before].op);
        let taken = self.is_taken(value, name);
        if let Err(error) = ops::check_input(before, taken, name, &inst.ty) {
            self.error(error.code, value, error.to_string());
        }
        true
    }

    /// Checks the module that an instruction holds.
    #[cold]
    fn check_nested(&mut self, value: ValueId, nested: &'a Module, row: &OpInfo) {
        let mut holders = self.holders.clone();
        holders.push(value);
        let outermost = self.outermost;
        let inner = Checker { holders, outermost, ..Checker::new(nested, self.profile, self.name) };
        self.errors.extend(inner.all().into_iter().map(|error| error.within(value, row.name)));
    }

    /// Checks operands, shapes and element types. Returns whether the declared type could be checked.
    #[inline]
    fn operation(&mut self, value: ValueId, inst: &'a Inst, row: &OpInfo) -> bool {
        if inst.operands.iter().any(|operand| *operand >= value) {
            self.later_operands(value, inst);
            return false;
        }
        if !self.impossible.is_empty()
            && inst.operands.iter().any(|operand| self.impossible.contains(operand))
        {
            return false;
        }
        // Enough for nearly every operation, without an allocation.
        let mut operands = [&inst.ty; 8];
        let holds = matches!(inst.op, Op::Own(Own::Nesting(_)));
        let inferred = match operands.get_mut(..inst.operands.len()).filter(|_| !holds) {
            Some(operands) => {
                for (place, operand) in operands.iter_mut().zip(&*inst.operands) {
                    *place = self.module.ty(*operand);
                }
                ops::infer_by(row, &inst.op, operands)
            }
            None if inst.op.nested().is_none() && inst.operands.iter().any(|of| self.broken.contains(of)) => {
                return false;
            }
            None => ops::infer_among(&inst.op, &inst.operands, self.module.insts()),
        };
        match inferred {
            Ok(inferred) if inferred == inst.ty => {}
            Ok(inferred) => {
                let error = OpError::new(&inst.op, Code::E4012)
                    .problem(format!("declared {}, inferred {inferred}", inst.ty))
                    .operands(&(0..inst.operands.len()).collect::<Vec<_>>());
                self.rule(value, inst, &error);
            }
            Err(error) => self.rule(value, inst, &error),
        }
        true
    }

    /// Reports the operands that are not earlier values.
    #[cold]
    fn later_operands(&mut self, value: ValueId, inst: &Inst) {
        for operand in inst.operands.iter().filter(|operand| **operand >= value) {
            let known = operand.index() < self.module.insts().len();
            let why = if known { "which is not defined before it" } else { "which is never defined" };
            let message = format!("`{}` reads {}, {why}", inst.op.info().name, self.named(*operand));
            self.error(Code::E4001, value, message);
        }
    }

    /// Whether an earlier input has this name.
    fn is_taken(&mut self, value: ValueId, name: &'a str) -> bool {
        const COMPARED: usize = 16;
        let before = &self.module.insts()[..value.index()];
        let names = before.iter().filter_map(|inst| inst.op.input_name().map(|name| &**name));
        if before.len() <= COMPARED {
            return { names }.any(|other| other == name);
        }
        if self.input_names.is_empty() {
            self.input_names.extend(names);
        }
        !self.input_names.insert(name)
    }

    /// Checks that the inputs determine every symbol. Each missing symbol is reported once.
    #[inline]
    fn symbols(&mut self, value: ValueId, inst: &Inst, row: &OpInfo) {
        let known = row.fields.is_empty() || inst.op.is_input();
        if !known || inst.ty.shape.iter().any(|dim| dim.as_literal().is_none()) {
            self.missing_symbols(value, inst);
        }
    }

    fn missing_symbols(&mut self, value: ValueId, inst: &Inst) {
        let mut missing = Vec::new();
        let inputs = || self.outermost.inputs().map(|(_, ty)| ty);
        let known = self.known_symbols.get_or_insert_with(|| bindable(inputs()));
        let mut visit = |symbol: &Symbol| {
            if !known.contains(symbol) {
                known.insert(symbol.clone());
                missing.push(symbol.clone());
            }
        };
        inst.ty.shape.iter().for_each(|dim| dim.for_each_symbol(&mut visit));
        inst.op.for_each_dim(&mut |dim| dim.for_each_symbol(&mut visit));
        for symbol in missing {
            let message = format!("cannot infer `{symbol}`: no input has `{symbol}` itself as a dimension");
            self.error(Code::E2003, value, message);
        }
    }

    fn rule(&mut self, value: ValueId, inst: &Inst, error: &OpError) {
        let message = error.message(|operand| {
            let operand = inst.operands[operand];
            format!("{} is {}", self.named(operand), self.module.ty(operand))
        });
        self.error(error.code, value, message);
    }

    fn error(&mut self, code: Code, value: ValueId, message: impl Into<String>) {
        self.errors.push(VerifyError::of_value(code, value, message));
    }
}
