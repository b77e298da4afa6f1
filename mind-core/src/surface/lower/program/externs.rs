//! Functions that are declared here and defined elsewhere. Each is a module of one instruction, and its calls are
//! inlined as any other.

use std::collections::BTreeMap;

use crate::build::Builder;
use crate::diag::{Code, Diag, Diags, Site};
use crate::ir::{External, Op, Own};
use crate::ops::MOST_OF_EXTERN;
use crate::surface::ast::Extern;
use crate::surface::lower::callees::table::{Compiled, Entry, Table};
use crate::surface::lower::declarations::lowered::LoweredModule;
use crate::surface::lower::declarations::signature::{Signature, function_signature};
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::declarations::types::DimNames;
use crate::ty::Type;

/// Adds the functions to a table.
pub(crate) fn add_externs(table: &mut Table, externs: &[Extern], dims: &DimNames, diags: &mut Diags) {
    for item in externs {
        let signature = function_signature(&item.function, dims, diags);
        let compiled = signature.as_ref().and_then(|signature| match compile(item, signature) {
            Ok(compiled) => Some(compiled),
            Err(diag) => {
                diags.push(*diag);
                None
            }
        });
        let position = table.entries.len();
        table.own().insert(item.function.name.to_string(), position);
        table.entries.push(Entry { signature, compiled, ..Entry::default() });
    }
}

fn compile(item: &Extern, signature: &Signature) -> Result<Compiled, Box<Diag>> {
    let name = &item.function.name;
    let mut builder = Builder::new();
    let mut values = Vec::new();
    for parameter in &signature.parameters {
        let ty = tensor(&parameter.structure).ok_or_else(|| {
            let message = format!("`{name}` takes a {}, expected a tensor or a number", parameter.written);
            Diag::new(Code::E2001, parameter.site, message)
        })?;
        let value = builder.input(parameter.name.as_str(), ty.clone());
        values.push(value.expect("the signature has distinct names and types that values may have"));
    }
    // The derivative also takes the cotangent.
    let most = MOST_OF_EXTERN - 1;
    if values.len() > most {
        let message = format!("`{name}` has {} parameters, more than the limit of {most}", values.len());
        return Err(Diag::new(Code::E1008, signature.site, message).into());
    }
    let result = signature.result.as_ref().and_then(tensor).ok_or_else(|| {
        let message = format!("`{name}` returns several values, expected one tensor or number");
        Diag::new(Code::E2001, signature.site, message).help(
            "declare a function for each of them; in Knossos: `(def first Float (x : Float) (get$1$2 (both x)))`",
        )
    })?;
    let op = Op::Own(Own::External(External::Call {
        function: item.path.as_str().into(),
        shape: result.shape.clone(),
    }));
    let value = builder.push(op, &values).map_err(|error| {
        let of = |position: usize| {
            let parameter = &signature.parameters[position];
            format!("{} is {}", parameter.name, parameter.written)
        };
        let message = format!("`{name}`: {}", error.message(of));
        Diag::new(error.code, signature.site, message).help(PRECISION)
    })?;
    let found = builder.ty(value).dtype;
    if found != result.dtype {
        let message = format!("`{name}` returns {result}, but its parameters are {found}");
        return Err(Diag::new(Code::E2004, signature.site, message).help(PRECISION).into());
    }
    let sites: Vec<Site> = signature.inputs.iter().map(|input| input.site).chain([signature.site]).collect();
    let names = vec![None; sites.len()];
    let source = LoweredModule {
        module: builder.finish([value]),
        sites,
        names,
        derived: BTreeMap::new(),
        einsums: Vec::new(),
    };
    Ok(Compiled { source, result: Structure::Value(result.clone()), updates: Vec::new(), seen: Vec::new() })
}

const PRECISION: &str = "declare all floats of the function as f64, or all as f32, and its integers as i64";

fn tensor(structure: &Structure) -> Option<&Type> {
    match structure {
        Structure::Value(ty) => Some(ty),
        Structure::Tuple(_) | Structure::Struct(_) => None,
    }
}
