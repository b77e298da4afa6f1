//! Resolution of the structs of a block.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

use proc_macro2::{Ident, TokenStream};

use super::order::order;
use super::states;
use super::structure::{Defined, Definition, Field, StructType, Structure, measured};
use super::types::DimNames;
use crate::diag::{Code, Diag, Diags, Site};
use crate::dim::Symbol;
use crate::surface::ast::{self, TypeKind};

/// A struct of a block.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub` or empty.
    pub visibility: TokenStream,
    /// Its name.
    pub name: Ident,
    /// The symbolic dimensions, in the order of their declaration.
    pub symbols: Vec<Ident>,
    /// The fields in order.
    pub fields: Vec<StructField>,
    /// Whether it is valid; if not, an error in it has been reported.
    pub sound: bool,
    /// From `struct` to the end of the fields.
    pub site: Site,
    /// The struct that is stacked, over its own symbols, if it is a stack. These are all symbols but the first.
    pub element: Option<StructType>,
}

/// A field of a struct of a block.
#[derive(Clone, Debug)]
pub struct StructField {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub` or empty.
    pub visibility: TokenStream,
    /// Its name.
    pub name: Ident,
    /// Its type; `None` where an error in it has been reported.
    pub structure: Option<Structure>,
}

/// Resolves the structs of a block, which may be defined in any order, and adds them to `dims`.
pub(crate) fn structs(block: &ast::Block, dims: &mut DimNames, diags: &mut Diags) -> Vec<Struct> {
    let position =
        |name: &ast::Callee| block.structs.iter().position(|item| name.is_name() && item.name == name.name);
    let needs = |item: &ast::Struct| -> Vec<usize> {
        let held = item.fields.iter().filter_map(|field| struct_of_field(field.ty.as_ref()?));
        held.filter_map(|name| position(&name)).collect()
    };
    let order = order(&block.structs.iter().map(needs).collect::<Vec<_>>());
    let mut cyclic = BTreeSet::new();
    for cycle in &order.cycles {
        diags.push(cycle_diag(block, cycle));
        cyclic.extend(cycle.iter().copied());
    }
    let names = cyclic.iter().map(|item: &usize| (block.structs[*item].name.to_string(), None));
    Rc::make_mut(&mut dims.structs).extend(names);
    let mut found: Vec<Option<Struct>> = block.structs.iter().map(|_| None).collect();
    for at in order.nodes {
        let mut item = Cow::Borrowed(&block.structs[at]);
        if let Some(over) = &block.structs[at].over {
            let message = format!(
                "`{}` has a `params` parameter, which only structs of the library may have",
                item.name
            );
            let help = format!("write your struct in place of `{over}`, as in `mean: Net`");
            diags.push(Diag::new(Code::E1007, Site::token(over.span()), message).help(help));
            // The types of its fields are unknown.
            item.to_mut().fields.iter_mut().for_each(|field| field.ty = None);
        }
        let (public, definition) = one(&item, dims, diags);
        let definition = definition.filter(|_| !cyclic.contains(&at)).map(Rc::new);
        let defined = definition.map(|definition| Defined { definition, alias: None });
        Rc::make_mut(&mut dims.structs).insert(item.name.to_string(), defined);
        found[at] = Some(public);
    }
    found.into_iter().flatten().collect()
}

/// The struct that a field of this type holds. For a library struct, the struct over which it is generic.
fn struct_of_field(ty: &ast::TypeExpr) -> Option<ast::Callee> {
    match &ty.kind {
        TypeKind::Struct { name, dims, over, .. } => match states::over(name, dims, over.as_deref()) {
            Some(over) => match over.kind {
                TypeKind::Struct { name, .. } => Some(name),
                TypeKind::Tensor { .. } | TypeKind::Tuple(_) => None,
            },
            None => Some(name.clone()),
        },
        TypeKind::Tensor { .. } | TypeKind::Tuple(_) => None,
    }
}

/// Resolves a struct. The structs in its fields have been resolved.
fn one(item: &ast::Struct, dims: &DimNames, diags: &mut Diags) -> (Struct, Option<Definition>) {
    let symbols: Vec<_> = item.symbols.iter().map(|symbol| Symbol::from(symbol.to_string())).collect();
    let dims = DimNames { symbols: symbols.clone(), ..dims.clone() };
    let structures: Vec<Option<Structure>> = item
        .fields
        .iter()
        .map(|field| dims.structure(field.ty.as_ref()?).map_err(|diag| diags.extend(diag)).ok())
        .collect();
    let public_field = |(field, structure): (&ast::Field, &Option<Structure>)| StructField {
        attributes: field.attributes.clone(),
        visibility: field.visibility.clone(),
        name: field.name.clone(),
        structure: structure.clone(),
    };
    let fields = item.fields.iter().zip(&structures).map(public_field).collect();
    let definition = definition(item, symbols, structures, diags);
    let public = Struct {
        attributes: item.attributes.clone(),
        visibility: item.visibility.clone(),
        name: item.name.clone(),
        symbols: item.symbols.clone(),
        fields,
        sound: definition.is_some(),
        site: item.site,
        element: None,
    };
    (public, definition)
}

fn definition(
    item: &ast::Struct,
    symbols: Vec<Symbol>,
    structures: Vec<Option<Structure>>,
    diags: &mut Diags,
) -> Option<Definition> {
    let structures = structures.into_iter().collect::<Option<Vec<_>>>()?;
    let site = Site::token(item.name.span());
    let measured = measured(&item.name, site, &structures);
    let (depth, leaves) = measured.map_err(|diag| diags.push(diag)).ok()?;
    let gives = |symbol: &Symbol| {
        structures.iter().flat_map(Structure::named_leaves).any(|leaf| {
            leaf.ty
                .shape
                .iter()
                .zip(&leaf.axes)
                .any(|(dim, axis)| axis.typed && dim.as_symbol() == Some(symbol))
        })
    };
    let unused: Vec<_> = item.symbols.iter().zip(&symbols).filter(|(_, symbol)| !gives(symbol)).collect();
    for (symbol, _) in &unused {
        let message = format!("cannot infer `{symbol}`: no field has `{symbol}` itself as a dimension");
        diags.push(
            Diag::new(Code::E2003, Site::token(symbol.span()), message)
                .help(format!("declare a field with this dimension, such as `b: f32[{symbol}]`")),
        );
    }
    let fields = item.fields.iter().zip(structures).map(|(field, structure)| Field {
        name: field.name.clone(),
        structure,
        is_public: is_public(&field.visibility),
        visibility: field.visibility.clone(),
        site: field.site,
    });
    unused.is_empty().then(|| Definition {
        name: item.name.clone(),
        symbols,
        fields: fields.collect(),
        depth,
        leaves,
        library: None,
        element: None,
        attributes: item.attributes.clone(),
        visibility: item.visibility.clone(),
    })
}

fn is_public(visibility: &TokenStream) -> bool {
    let mut tokens = visibility.clone().into_iter();
    tokens.next().is_some() && tokens.next().is_none()
}

fn cycle_diag(block: &ast::Block, cycle: &[usize]) -> Diag {
    let item = |i: usize| &block.structs[cycle[i % cycle.len()]];
    let site = |i: usize| {
        let next = &item(i + 1).name;
        let holds = |field: &&ast::Field| {
            let held = field.ty.as_ref().and_then(struct_of_field);
            held.is_some_and(|name| name.is_name() && name.name == *next)
        };
        item(i).fields.iter().find(holds).map_or(Site::Nowhere, |field| field.site)
    };
    let message = match cycle {
        [_] => format!("`{}` contains itself", item(0).name),
        _ => {
            let names: Vec<_> = (0..=cycle.len()).map(|i| format!("`{}`", item(i).name)).collect();
            format!("structs contain each other in a cycle: {}", names.join(" -> "))
        }
    };
    let mut diag = Diag::new(Code::E2009, site(0), message);
    for i in 1..cycle.len() {
        diag = diag.note_at(site(i), format!("`{}` contains `{}`", item(i).name, item(i + 1).name));
    }
    diag.help("a struct cannot contain itself: remove the field")
}
