//! Structs of the library that are generic over a struct of parameters: `optim::Adam<Net>`.
//!
//! Each use is expanded to a definition like that of a struct of a block. Its symbols are those of the parameter
//! struct, which its fields hold. Later phases therefore treat it as any other struct; only its name in Rust differs.

use proc_macro2::TokenStream;

use super::names::nearest;
use super::structure::{Defined, Definition, Field, StructType, Structure, measured};
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::standard;
use crate::surface::ast::{self, Callee, DimExpr, DimStepKind, FieldValue, TypeExpr, TypeKind};
use crate::surface::parse_block;
use crate::ty::{Shape, Type};

/// A struct of the library, as parsed from the library's text.
pub(crate) struct OptimiserState {
    file: &'static str,
    pub(crate) item: ast::Struct,
}

/// Whether a path names a library file that contains structs.
pub(crate) fn is_path(name: &Callee) -> bool {
    matches!(&name.path[..], [file] if standard::structs(&file.to_string()).next().is_some())
}

/// The library struct that a path names.
pub(crate) fn find(name: &Callee) -> Option<OptimiserState> {
    let [file] = &name.path[..] else { return None };
    let (file, text) = standard::structure(&file.to_string(), &name.name.to_string())?;
    let block = parse_block(text.parse().expect("the library's text is tokens")).0;
    let item = block.structs.into_iter().next().expect("a struct of the library is one");
    Some(OptimiserState { file, item })
}

/// The type in `<…>` after a library struct. A single name was parsed as a dimension and is converted to a type here.
pub(crate) fn over(name: &Callee, dims: &[DimExpr], over: Option<&TypeExpr>) -> Option<TypeExpr> {
    if let (Some(over), true) = (over, is_path(name)) {
        return Some(over.clone());
    }
    let ([dim], true) = (dims, is_path(name)) else { return None };
    let [step] = &dim.steps[..] else { return None };
    let DimStepKind::Name(name) = &step.kind else { return None };
    let kind = TypeKind::Struct { name: name.clone(), dims: Vec::new(), over: None, stacked: Vec::new() };
    Some(TypeExpr { kind, site: dim.site })
}

/// The error E2002 for a struct that the library does not have.
pub(crate) fn undefined(file: &str, name: &Callee) -> Diag {
    let diag = Diag::new(Code::E2002, name.site(), format!("undefined type `{name}`"));
    match nearest(&name.name.to_string(), standard::structs(file)) {
        Some(near) => diag.help(format!("write `{file}::{near}`")),
        None => {
            let known: Vec<String> =
                standard::structs(file).map(|known| format!("`{file}::{known}`")).collect();
            diag.help(format!("write one of {}", known.join(", ")))
        }
    }
}

impl OptimiserState {
    /// Whether a type is an instance of this struct.
    pub(crate) fn is(&self, ty: &StructType) -> bool {
        ty.over().is_some_and(|(file, _)| file == self.file) && ty.name == self.item.name
    }

    /// The first given value for a field that holds parameters.
    pub(crate) fn value_of_parameters<'w>(&self, written: &'w [FieldValue]) -> Option<&'w FieldValue> {
        let parameters = self.item.fields.iter().filter(|field| self.is_parameters(field));
        parameters.into_iter().find_map(|field| written.iter().find(|given| given.name == field.name))
    }

    /// Whether a field holds parameters, not a number.
    pub(crate) fn is_parameters(&self, field: &ast::Field) -> bool {
        let (Some(ty), Some(over)) = (&field.ty, &self.item.over) else { return false };
        matches!(&ty.kind, TypeKind::Struct { name, .. } if name.is_name() && name.name == *over)
    }

    /// The definition of this struct over a parameter struct; it has the symbols of that struct.
    pub(crate) fn of(&self, over: &StructType, name: &Callee, site: Site) -> Result<Defined, Diag> {
        let parameters = Structure::Struct(over.clone());
        for leaf in parameters.named_leaves() {
            if !leaf.ty.dtype.is_float() {
                let message = format!(
                    "`{name}`: expected float parameters, `{}` of `{over}` is {}",
                    leaf.text(),
                    leaf.ty
                );
                return Err(Diag::new(Code::E2005, site, message));
            }
        }
        let symbols = over.definition.symbols.clone();
        let dims = symbols.iter().cloned().map(Dim::symbol).collect();
        let own = StructType::new(over.name.clone(), dims, over.defined());
        let own = own.expect("symbols in the place of themselves are no larger");
        let fields: Vec<Structure> = self
            .item
            .fields
            .iter()
            .map(|field| match self.is_parameters(field) {
                true => Structure::Struct(own.clone()),
                false => match field.ty.as_ref().map(|ty| &ty.kind) {
                    Some(TypeKind::Tensor { dtype, dims }) if dims.is_empty() => {
                        Structure::Value(Type::new(*dtype, Shape::scalar()))
                    }
                    _ => unreachable!("the fields of a struct of the library are parameters and numbers"),
                },
            })
            .collect();
        let (depth, leaves) = measured(name, site, &fields)?;
        let field = |(field, structure): (&ast::Field, Structure)| Field {
            name: field.name.clone(),
            structure,
            is_public: true,
            visibility: TokenStream::new(),
            site: Site::Nowhere,
        };
        let definition = Definition {
            name: self.item.name.clone(),
            symbols,
            fields: self.item.fields.iter().zip(fields).map(field).collect(),
            depth,
            leaves,
            library: Some(self.file),
            element: None,
            attributes: TokenStream::new(),
            visibility: TokenStream::new(),
        };
        Ok(Defined { definition: definition.into(), alias: None })
    }
}
