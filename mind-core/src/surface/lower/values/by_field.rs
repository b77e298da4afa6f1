//! Calls of templates with structs in place of tensors: the arguments, field by field.

use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::Ident;

use super::expressions::Expressions;
use super::params::ParameterRef;
use super::{Lowered, Stop, Value};
use crate::diag::{Code, Diag};
use crate::ir::ValueId;
use crate::surface::ast::{ExprId, Formal, Template};
use crate::surface::lower::declarations::structure::{Leaf, StructType, Structure};

/// A call of a template with structs in place of tensors. The body is lowered once for each field.
pub(crate) struct Fields<T = ValueId> {
    /// The type of the struct, which these arguments and the results share.
    pub(crate) structure: Structure,
    /// The paths of its tensor fields.
    pub(crate) names: Vec<String>,
    /// The tensors of each struct argument, by the position of the argument.
    pub(crate) tensors: BTreeMap<usize, Vec<T>>,
    /// The results of the body for the fields that have been lowered.
    pub(crate) results: Vec<Value<T>>,
}

impl<T: Copy> Fields<T> {
    /// The tensor of the current field for a parameter, if its argument is a struct.
    pub(crate) fn tensor(&self, parameter: usize) -> Option<T> {
        self.tensors.get(&parameter).map(|tensors| tensors[self.results.len()])
    }
}

/// Detection of calls that are lowered field by field.
pub(crate) trait ReadFields: Expressions {
    /// The fields for which a call is lowered, if a struct is passed for a tensor.
    fn fields(&self, template: &Template, arguments: &[ExprId]) -> Lowered<Option<Fields<Self::Tensor>>> {
        let mut found: Option<(Fields<Self::Tensor>, ExprId, Rc<StructType>)> = None;
        for (position, (parameter, argument)) in template.parameters.iter().zip(arguments).enumerate() {
            let value = self.value(*argument).clone();
            let (Formal::Tensor(_), Value::Struct(record)) = (&parameter.takes, &value) else { continue };
            record.sound()?;
            let leaves = value.leaves();
            match &mut found {
                None => {
                    let structure = Structure::Struct((*record.ty).clone());
                    let names = structure.named_leaves().iter().map(Leaf::text).collect();
                    let tensors = BTreeMap::from([(position, leaves)]);
                    let fields = Fields { structure, names, tensors, results: Vec::new() };
                    found = Some((fields, *argument, record.ty.clone()));
                }
                Some((fields, first, of_first)) => {
                    if !self.is_same_struct(of_first, &record.ty) {
                        let message = format!(
                            "{}: expected `{}`, the type of {}, found {}",
                            ParameterRef { template, parameter }.label(),
                            fields.structure,
                            self.text(*first),
                            self.type_text(&value)
                        );
                        let help = "a template applied to each field needs structs of one type";
                        return Err(Diag::new(Code::E2001, self.site(*argument), message).help(help).into());
                    }
                    fields.tensors.insert(position, leaves);
                }
            }
        }
        Ok(found.map(|(fields, ..)| fields))
    }
}

impl<E: Expressions> ReadFields for E {}

/// Adds a note that names the field to an error.
pub(crate) fn in_field(stop: Stop, name: &Ident) -> Stop {
    stop.map(|diag| diag.note(format!("in field `{name}`")))
}
