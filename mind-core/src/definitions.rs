//! Modules from definitions with ids of their own, as texts have them.

use std::collections::BTreeMap;

use crate::{
    diag::Code,
    ir::{Inst, Module, Op, Operands, ValueId},
    ty::Type,
    verify::VerifyError,
};

/// An instruction whose value and operands are named by numbers of the writer's choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The number of its value.
    pub id: u64,
    /// The operation with its attributes.
    pub op: Op,
    /// The numbers of earlier values.
    pub operands: Vec<u64>,
    /// The declared type of the result.
    pub ty: Type,
}

impl Module {
    /// The module of definitions whose numbers ascend, with its values numbered densely from 0.
    ///
    /// The value of definition `i` is `%i`, in the module as in the errors; `outputs` are numbers of definitions.
    ///
    /// # Errors
    /// Every independent mistake: E4002 (a number twice, or below one before it), E4001 (an operand that is not an
    /// earlier definition), E4003 (an output that is no definition), E2007 (more operands than any operation takes).
    /// Messages name the writer's numbers with `prefix` before them.
    pub fn from_definitions(
        definitions: Vec<Definition>,
        outputs: &[u64],
        prefix: &str,
    ) -> Result<Self, Vec<VerifyError>> {
        let mut errors = Vec::new();
        let mut places: BTreeMap<u64, ValueId> = BTreeMap::new();
        let later =
            definitions.iter().map(|definition| definition.id).collect::<std::collections::BTreeSet<_>>();
        let mut insts = Vec::with_capacity(definitions.len());
        for (position, Definition { id, op, operands, ty }) in definitions.into_iter().enumerate() {
            let value = ValueId::new(position);
            let mut error = |code, message: String| errors.push(VerifyError::of_value(code, value, message));
            let mut found = Vec::with_capacity(operands.len());
            for operand in &operands {
                match places.get(operand) {
                    Some(operand) => found.push(*operand),
                    None => {
                        let why =
                            if later.contains(operand) { "not defined before it" } else { "never defined" };
                        error(
                            Code::E4001,
                            format!("`{}` reads {prefix}{operand}, which is {why}", op.info().name),
                        );
                    }
                }
            }
            if places.contains_key(&id) {
                error(Code::E4002, format!("{prefix}{id} is defined twice"));
            } else if let Some((last, _)) = places.last_key_value().filter(|(last, _)| **last > id) {
                error(
                    Code::E4002,
                    format!("{prefix}{id} stands after {prefix}{last}, needed ascending numbers"),
                );
            }
            places.entry(id).or_insert(value);
            match Operands::new(&found) {
                Some(operands) => insts.push(Inst { op, operands, ty }),
                None => {
                    let needed = op.info().arity;
                    error(
                        Code::E2007,
                        format!("`{}`: {} operands given, {needed} needed", op.info().name, operands.len()),
                    );
                }
            }
        }
        let mut results = Vec::with_capacity(outputs.len());
        for (position, output) in outputs.iter().enumerate() {
            match places.get(output) {
                Some(value) => results.push(*value),
                None => {
                    let message = format!("output {position} is {prefix}{output}, which is never defined");
                    errors.push(VerifyError::of_outputs(Code::E4003, Some(position), message));
                }
            }
        }
        if errors.is_empty() { Ok(Self::from_parts(insts, results)) } else { Err(errors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ty::DType;

    fn neg(id: u64, operand: u64) -> Definition {
        Definition { id, op: Op::Neg, operands: vec![operand], ty: Type::scalar(DType::F32) }
    }

    fn input(id: u64) -> Definition {
        let op = Op::Input { name: "x".into() };
        Definition { id, op, operands: Vec::new(), ty: Type::scalar(DType::F32) }
    }

    fn codes(definitions: Vec<Definition>, outputs: &[u64]) -> Vec<Code> {
        let errors = Module::from_definitions(definitions, outputs, "N").unwrap_err();
        errors.into_iter().map(|error| error.code).collect()
    }

    #[test]
    fn ascending_numbers_become_dense() {
        let module = Module::from_definitions(vec![input(3), neg(7, 3), neg(20, 7)], &[20, 3], "N").unwrap();
        assert_eq!(module.outputs(), [ValueId::new(2), ValueId::new(0)]);
        assert_eq!(*module.insts()[2].operands, [ValueId::new(1)]);
    }

    #[test]
    fn every_mistake_is_found() {
        assert_eq!(codes(vec![input(1), neg(2, 9)], &[2]), [Code::E4001]);
        assert_eq!(codes(vec![input(1), neg(2, 3), neg(3, 1)], &[3]), [Code::E4001]);
        assert_eq!(codes(vec![input(1), neg(1, 1)], &[1]), [Code::E4002]);
        assert_eq!(codes(vec![input(2), neg(1, 2)], &[1]), [Code::E4002]);
        assert_eq!(codes(vec![input(1), neg(2, 1)], &[5]), [Code::E4003]);
        let many = Definition { operands: vec![1; 4], ..neg(2, 1) };
        assert_eq!(codes(vec![input(1), many, neg(3, 8)], &[9]), [Code::E2007, Code::E4001, Code::E4003]);
    }
}
