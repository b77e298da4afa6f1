//! Resolution of signatures.

use proc_macro2::Ident;

use super::lowered::{GradientRequest, GradientTarget, Parameter};
use super::names::undefined;
use super::structure::{MAX_LEAVES, Structure};
use super::types::{DimNames, Undeclared};
use crate::diag::{Code, Diag, Diags, Site};
use crate::dim::Symbol;
use crate::surface::ast;
use crate::ty::Type;

/// The signature of a function, as its callers and its body use it.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// The name in messages.
    pub(crate) name: String,
    pub(crate) is_closure: bool,
    pub(crate) dims: DimNames,
    pub(crate) parameters: Vec<SignatureParameter>,
    /// The parameters as inputs of the module; each field of a struct is an input.
    pub(crate) inputs: Vec<SignatureInput>,
    /// The declared result; `None` where it is inferred.
    pub(crate) result: Option<Structure>,
    pub(crate) gradient: Option<GradientRequest>,
    pub(crate) site: Site,
}

/// A parameter as its function declares it.
#[derive(Clone, Debug)]
pub(crate) struct SignatureParameter {
    pub(crate) name: String,
    pub(crate) update: bool,
    pub(crate) structure: Structure,
    /// The type as written.
    pub(crate) written: String,
    pub(crate) site: Site,
}

/// A parameter, or a field of one, as an input of the module.
#[derive(Clone, Debug)]
pub(crate) struct SignatureInput {
    /// `x`, `p.first.w`
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// The type as written. For a field, its type with the dimensions of the struct.
    pub(crate) written: String,
    /// The site from which each axis gets its extent: the declaration of the parameter or of a field.
    pub(crate) axes: Vec<Site>,
    /// The declaration of the parameter.
    pub(crate) site: Site,
}

impl Signature {
    /// The declared symbols, as types contain them.
    pub(crate) fn symbols(&self) -> &[Symbol] {
        &self.dims.symbols
    }
}

/// Resolves the signature of a function; `None` where an error in it has been reported.
pub(crate) fn function_signature(
    function: &ast::Function,
    dims: &DimNames,
    diags: &mut Diags,
) -> Option<Signature> {
    let symbols = function.symbols.iter().map(|symbol| Symbol::from(symbol.to_string())).collect();
    let mut dims = DimNames { symbols, ..dims.clone() };
    let types = function.parameters.iter().map(|parameter| &parameter.ty).chain(&function.result);
    dims.report_undefined(types, Undeclared::OfFunction(&function.name), diags);
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
            let message =
                format!("cannot infer `{symbol}`: no parameter has `{symbol}` itself as a dimension");
            diags.push(
                Diag::new(Code::E2003, Site::token(symbol.span()), message)
                    .help(format!("declare a parameter with this dimension, such as `x: f32[{symbol}]`")),
            );
        }
    }
    let gradient = function.gradient.as_ref();
    let gradient = gradient.and_then(|wrt| gradient_request(wrt, &function.name, &parameters, diags));
    let inputs = inputs(&parameters);
    if inputs.len() > MAX_LEAVES {
        let message =
            format!("the parameters of `{}` exceed the limit of {MAX_LEAVES} values in all", function.name);
        diags.push(Diag::new(Code::E1008, function.site, message));
        return None;
    }
    inferable.then(|| Signature {
        name: function.name.to_string(),
        is_closure: false,
        dims,
        inputs,
        parameters,
        result: Some(result),
        gradient,
        site: function.site,
    })
}

/// Resolves the signature of a closure; `None` where an error in it has been reported.
pub(crate) fn closure_signature(
    closure: &ast::Closure,
    mut dims: DimNames,
    diags: &mut Diags,
) -> Option<Signature> {
    let types = closure.parameters.iter().map(|parameter| &parameter.ty).chain(&closure.result);
    dims.report_undefined(types, Undeclared::OfClosure, diags);
    let parameters = parameters(&closure.parameters, &dims, diags);
    let result = match &closure.result {
        Some(result) => Some(keep(dims.structure(result), diags)?),
        None => None,
    };
    let (name, site, parameters) = ("closure".to_owned(), closure.site, parameters?);
    for parameter in &parameters {
        diags.keep(dims.has_rust_types(&parameter.structure, parameter.site))?;
    }
    let inputs = inputs(&parameters);
    Some(Signature { name, is_closure: true, dims, parameters, inputs, result, gradient: None, site })
}

fn keep<T>(result: Result<T, Option<Diag>>, diags: &mut Diags) -> Option<T> {
    result.map_err(|diag| diags.extend(diag)).ok()
}

fn parameters(
    written: &[ast::Parameter],
    dims: &DimNames,
    diags: &mut Diags,
) -> Option<Vec<SignatureParameter>> {
    let types: Vec<_> = written.iter().map(|parameter| keep(dims.structure(&parameter.ty), diags)).collect();
    let parameter = |(written, structure): (&ast::Parameter, Option<Structure>)| {
        let update = written.update;
        Some(SignatureParameter {
            name: written.name.to_string(),
            update,
            structure: structure?,
            written: format!("{}{}", if update { "&mut " } else { "" }, written.ty),
            site: written.site,
        })
    };
    written.iter().zip(types).map(parameter).collect()
}

fn inputs(parameters: &[SignatureParameter]) -> Vec<SignatureInput> {
    let mut inputs = Vec::new();
    for parameter in parameters {
        for leaf in parameter.structure.named_leaves() {
            let fields: String = leaf.path.iter().map(|field| format!(".{field}")).collect();
            let whole = leaf.path.is_empty();
            inputs.push(SignatureInput {
                name: format!("{}{fields}", parameter.name),
                ty: leaf.ty.clone(),
                written: if whole { parameter.written.clone() } else { leaf.ty.to_string() },
                axes: leaf.axes.iter().map(|axis| axis.site.unwrap_or(parameter.site)).collect(),
                site: parameter.site,
            });
        }
    }
    inputs
}

/// Whether a symbol alone is an extent of a parameter, so that it can be inferred.
fn gives_extent(parameters: &[SignatureParameter], symbol: &Ident) -> bool {
    parameters.iter().flat_map(|parameter| parameter.structure.named_leaves()).any(|leaf| {
        let mut axes = leaf.ty.shape.iter().zip(&leaf.axes);
        axes.any(|(dim, axis)| axis.typed && dim.as_symbol().is_some_and(|name| *symbol == **name))
    })
}

fn gradient_request(
    wrt: &ast::Wrt,
    function: &Ident,
    parameters: &[SignatureParameter],
    diags: &mut Diags,
) -> Option<GradientRequest> {
    if let Some(update) = parameters.iter().find(|parameter| parameter.update) {
        diags.push(not_pure(&function.to_string(), update, wrt.site, "have gradients"));
        return None;
    }
    let parameters = parameters.iter().map(|parameter| (parameter.name.as_str(), &parameter.structure));
    let targets = diags.keep(gradient_targets(wrt, parameters))?;
    Some(GradientRequest { targets, tuple: wrt.tuple, site: wrt.site })
}

/// Resolves the variables of differentiation that `wrt` lists.
pub(crate) fn gradient_targets<'a>(
    wrt: &ast::Wrt,
    parameters: impl Iterator<Item = (&'a str, &'a Structure)> + Clone,
) -> Result<Vec<GradientTarget>, Diag> {
    let targets = listed_targets(wrt, parameters)?;
    for (listed, target) in wrt.targets.iter().zip(&targets) {
        check_floats(&listed.path, &target.structure, target.site)?;
    }
    Ok(targets)
}

/// Resolves the parameters that `wrt` lists, of any element type.
pub(crate) fn listed_targets<'a>(
    wrt: &ast::Wrt,
    parameters: impl Iterator<Item = (&'a str, &'a Structure)> + Clone,
) -> Result<Vec<GradientTarget>, Diag> {
    let target = |target: &ast::WrtTarget| {
        let (path, site) = (&target.path, target.path.site());
        let (name, mut start) = (path.name.to_string(), 0);
        for (parameter, structure) in parameters.clone() {
            if parameter != name {
                start += structure.leaves().len();
                continue;
            }
            let (part, inputs) = structure.part(&path.name, &path.fields)?;
            let inputs = start + inputs.start..start + inputs.end;
            let (structure, zero_ok) = (part.clone(), target.zero_ok);
            return Ok(GradientTarget { structure, inputs, zero_ok, name: path.to_string(), site });
        }
        let site = Site::token(path.name.span());
        let diag = undefined("parameter", &name, site, parameters.clone().map(|(name, _)| name));
        let known: Vec<String> = parameters.clone().map(|(name, _)| format!("`{name}`")).collect();
        Err(match diag.help {
            None => match &known[..] {
                [] => diag,
                [parameter] => diag.help(format!("the only parameter is {parameter}")),
                parameters => diag.help(format!("the parameters are {}", parameters.join(", "))),
            },
            Some(_) => diag,
        })
    };
    wrt.targets.iter().map(target).collect()
}

/// Returns E5005 for a variable that is not floating-point, and for a cotangent, which is not a parameter.
fn check_floats(path: &ast::Path, structure: &Structure, site: Site) -> Result<(), Diag> {
    if let Structure::Tuple(_) = structure {
        let message = format!("`{path}` is the cotangent: a gradient is only with respect to parameters");
        return Err(Diag::new(Code::E5005, site, message));
    }
    let Some(leaf) = structure.named_leaves().into_iter().find(|leaf| !leaf.ty.dtype.is_float()) else {
        return Ok(());
    };
    let fields: String = leaf.path.iter().map(|field| format!(".{field}")).collect();
    let message = format!("`{path}{fields}` is {}: a gradient is only with respect to f32 and f64", leaf.ty);
    let shape = if leaf.ty.rank() == 0 { String::new() } else { leaf.ty.shape.to_string() };
    let diag = Diag::new(Code::E5005, site, message);
    let diag = diag.help(format!("remove it, or declare `{path}{fields}: f32{shape}`"));
    let Structure::Struct(ty) = structure else { return Err(diag) };
    let is_float = |field: &Structure| field.leaves().iter().all(|leaf| leaf.dtype.is_float());
    let floats = ty.field_names().zip(&ty.fields).filter(|(_, field)| is_float(field));
    let floats: Vec<_> = floats.map(|(name, _)| format!("{path}.{name}")).collect();
    Err(match &floats[..] {
        [] => diag,
        [one] => diag.help(format!("differentiate with respect to its float field: `{one}`")),
        [first, ..] => diag.help(format!("differentiate with respect to its float fields: `({first}, …)`")),
    })
}

/// The error E5004 for a function that updates a parameter. `uses` says what only functions without `&mut` do.
pub(crate) fn not_pure(function: &str, update: &SignatureParameter, site: Site, uses: &str) -> Diag {
    let message =
        format!("`{function}` updates `{}` in place: only functions without `&mut` {uses}", update.name);
    Diag::new(Code::E5004, site, message)
        .note_at(update.site, format!("`{}` is declared `&mut`", update.name))
        .help("move the part without the update into a separate function")
}

/// The parameters in the public form that later phases read.
pub(crate) fn public_parameters(written: &[ast::Parameter], signature: &Signature) -> Vec<Parameter> {
    let parameter = |(written, resolved): (&ast::Parameter, &SignatureParameter)| Parameter {
        name: written.name.clone(),
        update: resolved.update,
        structure: resolved.structure.clone(),
        site: written.site,
    };
    written.iter().zip(&signature.parameters).map(parameter).collect()
}
