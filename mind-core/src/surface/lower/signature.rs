//! Signatures, worked out.

use proc_macro2::Ident;

use super::names::undefined;
use super::types::{DimNames, Structure};
use super::{GradientRequest, Parameter};
use crate::diag::{Code, Diag, Diags, Site};
use crate::dim::{Dim, Symbol};
use crate::grad::Wrt;
use crate::ir::ValueId;
use crate::surface::ast;
use crate::ty::Type;

/// What callers and the body of a function know of it.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    /// As messages name it.
    pub(super) name: String,
    pub(super) dims: DimNames,
    pub(super) parameters: Vec<SignatureParameter>,
    /// The declared result; nothing where it is inferred.
    pub(super) result: Option<Structure>,
    pub(super) gradient: Option<GradientRequest>,
    pub(super) site: Site,
}

/// A parameter as its function declares it.
#[derive(Clone, Debug)]
pub(super) struct SignatureParameter {
    pub(super) name: String,
    pub(super) update: bool,
    pub(super) ty: Type,
    /// The type as it is written.
    pub(super) written: String,
    pub(super) site: Site,
}

impl Signature {
    /// The symbols, as they stand in types.
    pub(super) fn symbols(&self) -> &[Symbol] {
        &self.dims.symbols
    }
}

/// Works out the signature of a function; nothing where a mistake in it has been reported.
pub(super) fn function_signature(
    function: &ast::Function,
    dims: &DimNames,
    diags: &mut Diags,
) -> Option<Signature> {
    let symbols = function.symbols.iter().map(|symbol| Symbol::from(symbol.to_string())).collect();
    let dims = DimNames { symbols, ..dims.clone() };
    let parameters = parameters(&function.parameters, &dims, diags);
    let result = match &function.result {
        Some(result) => keep(dims.structure(result), diags),
        None => Some(Structure::UNIT),
    };
    let (parameters, result) = (parameters?, result?);
    let mut inferable = true;
    for symbol in &function.symbols {
        if !gives_extent(&parameters, symbol) {
            inferable = false;
            let message = format!("cannot infer `{symbol}`: no parameter has it as a dimension of its own");
            diags.push(
                Diag::new(Code::E2003, Site::token(symbol.span()), message)
                    .help(format!("declare a parameter with the dimension, as `x: f32[{symbol}]`")),
            );
        }
    }
    let gradient = function.gradient.as_ref();
    let gradient = gradient.and_then(|wrt| gradient_request(wrt, &function.name, &parameters, diags));
    inferable.then(|| Signature {
        name: function.name.to_string(),
        dims,
        parameters,
        result: Some(result),
        gradient,
        site: function.site,
    })
}

/// Works out the signature of a closure.
pub(super) fn closure_signature(closure: &ast::Closure, diags: &mut Diags) -> Option<Signature> {
    let dims = DimNames::default();
    let parameters = parameters(&closure.parameters, &dims, diags);
    let result = match &closure.result {
        Some(result) => Some(keep(dims.structure(result), diags)?),
        None => None,
    };
    let (name, site) = ("closure".to_owned(), closure.site);
    Some(Signature { name, dims, parameters: parameters?, result, gradient: None, site })
}

fn keep<T>(result: Result<T, Option<Diag>>, diags: &mut Diags) -> Option<T> {
    result.map_err(|diag| diags.extend(diag)).ok()
}

fn parameters(
    written: &[ast::Parameter],
    dims: &DimNames,
    diags: &mut Diags,
) -> Option<Vec<SignatureParameter>> {
    let types: Vec<_> = written.iter().map(|parameter| keep(dims.tensor(&parameter.ty), diags)).collect();
    let parameter = |(written, ty): (&ast::Parameter, Option<Type>)| {
        let update = written.update;
        Some(SignatureParameter {
            name: written.name.to_string(),
            update,
            ty: ty?,
            written: format!("{}{}", if update { "&mut " } else { "" }, written.ty),
            site: written.site,
        })
    };
    written.iter().zip(types).map(parameter).collect()
}

/// Whether a symbol is an extent of a parameter by itself.
fn gives_extent(parameters: &[SignatureParameter], symbol: &Ident) -> bool {
    let is_symbol = |dim: &Dim| dim.as_symbol().is_some_and(|name| *symbol == **name);
    parameters.iter().any(|parameter| parameter.ty.shape.iter().any(is_symbol))
}

fn gradient_request(
    wrt: &ast::Wrt,
    function: &Ident,
    parameters: &[SignatureParameter],
    diags: &mut Diags,
) -> Option<GradientRequest> {
    if let Some(update) = parameters.iter().find(|parameter| parameter.update) {
        diags.push(not_pure(&function.to_string(), update, wrt.site));
        return None;
    }
    let targets = wrt_positions(wrt, parameters.iter().map(|parameter| parameter.name.as_str()));
    let targets = diags.keep(targets)?;
    for (target, wrt) in wrt.targets.iter().zip(&targets) {
        let parameter = &parameters[wrt.input.index()];
        if !parameter.ty.dtype.is_float() {
            diags.push(not_float(&parameter.name, &parameter.ty, Site::token(target.name.span())));
            return None;
        }
    }
    Some(GradientRequest { wrt: targets, tuple: wrt.tuple, site: wrt.site })
}

/// The parameters that `wrt` lists.
pub(super) fn wrt_positions<'a>(
    wrt: &ast::Wrt,
    parameters: impl Iterator<Item = &'a str> + Clone,
) -> Result<Vec<Wrt>, Diag> {
    let position = |target: &ast::WrtTarget| {
        let name = target.name.to_string();
        match parameters.clone().position(|parameter| parameter == name) {
            Some(position) => Ok(Wrt { input: ValueId::new(position), zero_ok: target.zero_ok }),
            None => Err(undefined("parameter", &name, Site::token(target.name.span()), parameters.clone())),
        }
    };
    wrt.targets.iter().map(position).collect()
}

/// E5005 for a parameter of integers.
pub(super) fn not_float(name: &str, ty: &Type, site: Site) -> Diag {
    let message = format!("`{name}` is {ty}: only f32 and f64 can be differentiated by");
    Diag::new(Code::E5005, site, message)
}

/// E5004 for a function that updates a parameter.
pub(super) fn not_pure(function: &str, update: &SignatureParameter, site: Site) -> Diag {
    let message = format!(
        "`{function}` updates `{}` in place: only functions without `&mut` have gradients",
        update.name
    );
    Diag::new(Code::E5004, site, message)
        .note_at(update.site, format!("`{}` is declared `&mut`", update.name))
        .help("move what is to be differentiated into a function of its own")
}

/// The parameters as callers of the compiler see them.
pub(super) fn public_parameters(written: &[ast::Parameter], signature: &Signature) -> Vec<Parameter> {
    let parameter = |(written, resolved): (&ast::Parameter, &SignatureParameter)| Parameter {
        name: written.name.clone(),
        update: resolved.update,
        ty: resolved.ty.clone(),
        site: written.site,
    };
    written.iter().zip(&signature.parameters).map(parameter).collect()
}
