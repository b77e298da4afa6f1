//! The builder of modules.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    data::TensorData,
    diag::Code,
    dim::{Bindings, Dim},
    ir::{Const, Inst, Module, Op, Operands, ValueId},
    ops::{OpError, Requirement, check_input, infer_among},
    ty::{DType, Shape, Type},
};

/// A builder of modules. It infers each result type and refuses an instruction that breaks a rule.
///
/// ```
/// use mind_core::{build::Builder, ir::{Op, Product}, ty::{DType, Shape, Type}};
/// let mut b = Builder::new();
/// let x = b.input("x", Type::new(DType::F32, Shape::literal(&[32, 784])))?;
/// let w = b.input("w", Type::new(DType::F32, Shape::literal(&[784, 10])))?;
/// let y = b.push(Op::Product(Product::MatMul), &[x, w])?;
/// assert_eq!(b.ty(y).to_string(), "f32[32, 10]");
/// assert!(b.push(Op::Product(Product::MatMul), &[w, x]).is_err());
/// # Ok::<(), Box<mind_core::ops::OpError>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    insts: Vec<Inst>,
    input_names: BTreeSet<Arc<str>>,
}

impl Builder {
    /// A builder without instructions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an input. Inputs come before all other instructions.
    ///
    /// # Errors
    /// E4004 if the name is empty or taken, or another operation came before; E3006 or E1008 for an invalid type.
    pub fn input(&mut self, name: impl Into<Arc<str>>, ty: Type) -> Result<ValueId, Box<OpError>> {
        let name = name.into();
        let before = self.insts.last().map(|inst| &inst.op);
        check_input(before, self.input_names.contains(&name), &name, &ty)?;
        self.input_names.insert(name.clone());
        Ok(self.add(Op::input(name), &[], ty))
    }

    /// Adds an operation on earlier values and infers the type of its result.
    ///
    /// # Errors
    /// The broken rule of the operation.
    ///
    /// # Panics
    /// If an operand is not a value of this builder, or `op` is an input.
    pub fn push(&mut self, op: Op, operands: &[ValueId]) -> Result<ValueId, Box<OpError>> {
        let ty = infer_among(&op, operands, &self.insts)?;
        Ok(self.add(op, operands, ty))
    }

    /// A value of this type that becomes an input of a module that is [cut out](Self::cut) later.
    pub(crate) fn placeholder(&mut self, ty: Type) -> ValueId {
        self.add(Op::input(Arc::from("placeholder")), &[], ty)
    }

    /// Removes and returns the instructions from position `start` on.
    pub(crate) fn cut(&mut self, start: usize) -> Vec<Inst> {
        self.insts.split_off(start)
    }

    /// Adds instructions that [`Self::cut`] returned, at the position where they were.
    pub(crate) fn restore(&mut self, insts: Vec<Inst>) {
        self.insts.extend(insts);
    }

    fn add(&mut self, op: Op, operands: &[ValueId], ty: Type) -> ValueId {
        let operands =
            Operands::new(operands).expect("inference refuses more operands than any operation takes");
        self.insts.push(Inst { op, operands, ty });
        ValueId::new(self.insts.len() - 1)
    }

    /// Adds a single number as a constant of an element type.
    pub fn constant(&mut self, dtype: DType, value: f64) -> ValueId {
        let constant = Const::new(TensorData::splat(dtype, value), Shape::scalar());
        self.push(Op::Const(constant), &[]).expect("a single number is a valid constant")
    }

    /// Adds the instructions of `module`, with its inputs replaced by `args` and its symbols by `bindings`. Returns its
    /// outputs.
    ///
    /// # Errors
    /// The rule that an instruction breaks with these arguments.
    ///
    /// # Panics
    /// If the number of arguments differs from the number of inputs.
    pub fn inline(
        &mut self,
        module: &Module,
        args: &[ValueId],
        bindings: &Bindings,
    ) -> Result<Vec<ValueId>, Box<OpError>> {
        assert_eq!(module.inputs().len(), args.len(), "one argument an input");
        let mut values = args.to_vec();
        values.reserve(module.insts().len() - args.len());
        for inst in &module.insts()[args.len()..] {
            let op = match inst.op.nested() {
                Some(nested) => {
                    let nested = nested.replaced(specialise(nested, bindings)?);
                    inst.op.clone().with_nested(nested.expect("it is as deep and as large as it was"))
                }
                None => {
                    inst.op.substitute(bindings).map_err(|overflow| OpError::overflow(&inst.op, overflow))?
                }
            };
            let operands = inst.operands.map(|operand| values[operand.index()]);
            values.push(self.push(op, &operands)?);
            if !bindings.is_empty() {
                check_requirements(inst, module, bindings)?;
            }
        }
        Ok(module.outputs().iter().map(|output| values[output.index()]).collect())
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.insts[value.index()].ty
    }

    /// The instruction that makes a value.
    pub fn inst(&self, value: ValueId) -> &Inst {
        &self.insts[value.index()]
    }

    /// The instructions so far.
    pub fn insts(&self) -> &[Inst] {
        &self.insts
    }

    /// Finishes the module with these results.
    pub fn finish(self, outputs: impl Into<Vec<ValueId>>) -> Module {
        Module::from_parts(self.insts, outputs.into())
    }
}

/// Refuses an instruction of a module if these bindings break what it requires. Its result could have another type than
/// in the module.
fn check_requirements(inst: &Inst, module: &Module, bindings: &Bindings) -> Result<(), Box<OpError>> {
    let operands: Vec<&Type> = inst.operands.iter().map(|operand| module.ty(*operand)).collect();
    for needed in (inst.op.info().requirements)(&inst.op, &operands) {
        let Requirement::AtMost(least, most) = needed else { continue };
        let here = |dim: &Dim| dim.substitute(bindings).ok()?.as_literal();
        if let (Some(low), Some(high)) = (here(&least), here(&most))
            && low > high
        {
            let problem = format!("{least} is {low} and {most} is {high}, needed {least} of at most {most}");
            return Err(OpError::new(&inst.op, Code::E3003).problem(problem).into());
        }
    }
    Ok(())
}

/// The names among `name`, `name1`, `name2`, … that are free.
pub(crate) fn free_names<T: Fn(&str) -> bool>(
    name: &str,
    is_taken: T,
) -> impl Iterator<Item = String> + use<T> {
    let name = name.to_owned();
    let numbered = (0_u64..).map(move |number| match number {
        0 => name.clone(),
        _ => format!("{name}{number}"),
    });
    numbered.filter(move |name| !is_taken(name))
}

/// The module with symbols replaced, also in its inputs.
///
/// # Errors
/// The rule that an instruction breaks with these bindings.
pub(crate) fn specialise(module: &Module, bindings: &Bindings) -> Result<Module, Box<OpError>> {
    if bindings.is_empty() {
        return Ok(module.clone());
    }
    let mut builder = Builder::new();
    let mut inputs = Vec::new();
    for (name, ty) in module.inputs() {
        let op = || Op::input(name.clone());
        let ty = ty.substitute(bindings).map_err(|overflow| OpError::overflow(&op(), overflow))?;
        inputs.push(builder.input(name.clone(), ty)?);
    }
    let outputs = builder.inline(module, &inputs, bindings)?;
    Ok(builder.finish(outputs))
}

/// A module made of instructions of another module, in order. `inputs` are values of the other module that become
/// inputs, with their names and types. `outputs` are values of the other module.
///
/// # Panics
/// If an instruction or an output reads a value that is neither an input nor the value of an earlier instruction.
pub(crate) fn extracted<'m>(
    inputs: impl IntoIterator<Item = (ValueId, String, Type)>,
    insts: impl IntoIterator<Item = (ValueId, &'m Inst)>,
    outputs: &[ValueId],
) -> Module {
    const FITS: &str = "it is a part of a module that was built";
    let (mut builder, mut values) = (Builder::new(), BTreeMap::new());
    for (value, name, ty) in inputs {
        values.insert(value, builder.input(name, ty).expect(FITS));
    }
    for (value, inst) in insts {
        let operands: Vec<ValueId> = inst.operands.iter().map(|operand| values[operand]).collect();
        values.insert(value, builder.push(inst.op.clone(), &operands).expect(FITS));
    }
    let outputs: Vec<ValueId> = outputs.iter().map(|output| values[output]).collect();
    builder.finish(outputs)
}
