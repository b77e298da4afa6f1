//! Structs: what their definitions mean, and their types once their dimensions are known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use proc_macro2::{Ident, TokenStream};

use super::names::{nearest, undefined};
use super::order::order;
use super::types::{DimNames, Structure, Unknown};
use crate::diag::{Code, Diag, Diags, Site};
use crate::dim::{Bindings, Dim, Overflow, Symbol};
use crate::surface::ast::{self, DimExpr, TypeKind};
use crate::ty::Type;

/// How deep structs may nest, and how many tensors and numbers one may hold in all.
const MAX_DEPTH: usize = 32;
pub(super) const MAX_LEAVES: usize = 4096;

/// A struct of a block.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub` or nothing.
    pub visibility: TokenStream,
    /// Its name.
    pub name: Ident,
    /// The symbolic dimensions, in the order they are declared.
    pub symbols: Vec<Ident>,
    /// The fields in order.
    pub fields: Vec<StructField>,
    /// Whether it makes sense; if not, a mistake in it has been reported.
    pub sound: bool,
}

/// A field of a struct of a block.
#[derive(Clone, Debug)]
pub struct StructField {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub` or nothing.
    pub visibility: TokenStream,
    /// Its name.
    pub name: Ident,
    /// Its type; nothing where a mistake in it has been reported.
    pub structure: Option<Structure>,
}

/// A struct whose dimensions are known: `Dense<64, N>`.
#[derive(Clone, Debug)]
pub struct StructType {
    /// The name, where it is written.
    pub name: Ident,
    /// `64`, `N`
    pub dims: Vec<Dim>,
    /// The types of the fields, with these dimensions.
    pub fields: Vec<Structure>,
    pub(super) definition: Rc<Definition>,
}

/// What a struct is, over its own symbols.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: Ident,
    pub(super) symbols: Vec<Symbol>,
    pub(super) fields: Vec<Field>,
    depth: usize,
    leaves: usize,
}

/// A field of a [`Definition`].
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: Ident,
    pub(super) structure: Structure,
    pub(super) site: Site,
}

/// A tensor or number in a [`Structure`].
#[derive(Clone, Debug)]
pub struct Leaf<'a> {
    /// The fields that lead to it from outside in; positions in tuples are left out.
    pub path: Vec<&'a Ident>,
    /// Its type.
    pub ty: &'a Type,
    /// What is known of its axes.
    pub axes: Vec<Axis>,
}

/// What is known of an extent of a [`Leaf`].
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Whether the Rust type decides it: it is an integer or a symbol all the way in, and not computed.
    pub typed: bool,
    /// The field whose declaration says it; nothing where the type itself does.
    pub site: Option<Site>,
}

/// The structs of a block by name; nothing where a mistake in one has been reported.
pub(super) type Definitions = BTreeMap<String, Option<Rc<Definition>>>;

impl StructType {
    /// The names of the fields, in order.
    pub fn field_names(&self) -> impl Iterator<Item = &Ident> {
        self.definition.fields.iter().map(|field| &field.name)
    }

    /// The position of a field, or what is said where there is none.
    pub(super) fn position(&self, field: &Ident) -> Result<usize, Diag> {
        self.definition.position(field)
    }

    /// The type with these dimensions.
    pub(super) fn new(name: Ident, dims: Vec<Dim>, definition: Rc<Definition>) -> Result<Self, Overflow> {
        let bindings: Bindings = definition.symbols.iter().cloned().zip(dims.iter().cloned()).collect();
        let fields = definition.fields.iter().map(|field| field.structure.substitute(&bindings));
        let fields = fields.collect::<Result<_, _>>()?;
        Ok(Self { name, dims, fields, definition })
    }

    /// How many tensors and numbers it holds.
    pub(super) fn leaf_count(&self) -> usize {
        self.definition.leaves
    }

    fn leaves<'a>(&'a self, axes: Vec<Axis>, path: &[&'a Ident], leaves: &mut Vec<Leaf<'a>>) {
        let symbols = &self.definition.symbols;
        for (actual, field) in self.fields.iter().zip(&self.definition.fields) {
            let axis = |dim: &Dim| {
                let symbol = dim.as_symbol().and_then(|dim| symbols.iter().position(|symbol| symbol == dim));
                match symbol {
                    Some(symbol) => axes[symbol],
                    None => Axis { typed: dim.as_literal().is_some(), site: Some(field.site) },
                }
            };
            let mut path = path.to_vec();
            path.push(&field.name);
            match (actual, &field.structure) {
                (Structure::Value(ty), Structure::Value(declared)) => {
                    leaves.push(Leaf { path, ty, axes: declared.shape.iter().map(axis).collect() });
                }
                (Structure::Struct(inner), Structure::Struct(declared)) => {
                    inner.leaves(declared.dims.iter().map(axis).collect(), &path, leaves);
                }
                (Structure::Value(_) | Structure::Struct(_) | Structure::Tuple(_), _) => {
                    unreachable!("a field has the structure its definition declares")
                }
            }
        }
    }
}

/// By name and dimensions: a block has one struct of a name.
/// Of equal fields too: two blocks may have structs of one name.
impl PartialEq for StructType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.dims == other.dims
            && (Rc::ptr_eq(&self.definition, &other.definition)
                || self.field_names().eq(other.field_names()) && self.fields == other.fields)
    }
}

impl Eq for StructType {}

/// `Dense<64, N>`
impl fmt::Display for StructType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)?;
        if self.dims.is_empty() {
            return Ok(());
        }
        let dims: Vec<_> = self.dims.iter().map(Dim::to_string).collect();
        write!(f, "<{}>", dims.join(", "))
    }
}

impl Definition {
    /// The position of a field, or what is said where there is none.
    pub(super) fn position(&self, field: &Ident) -> Result<usize, Diag> {
        self.fields.iter().position(|known| known.name == *field).ok_or_else(|| {
            let names: Vec<_> = self.fields.iter().map(|field| field.name.to_string()).collect();
            let message = format!("`{}` has no field `{field}`", self.name);
            let list: Vec<_> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
            let more = if names.len() > 8 { ", …" } else { "" };
            let diag = Diag::new(Code::E2002, Site::token(field.span()), message)
                .note(format!("its fields are {}{more}", list.join(", ")));
            match nearest(&field.to_string(), names.iter().map(String::as_str)) {
                Some(near) => diag.help(format!("write `{near}`")),
                None => diag,
            }
        })
    }
}

impl Structure {
    /// The tensors and numbers in it, in order.
    pub fn named_leaves(&self) -> Vec<Leaf<'_>> {
        let outer =
            |dim: &Dim| Axis { typed: dim.as_literal().is_some() || dim.as_symbol().is_some(), site: None };
        let (mut leaves, mut rest) = (Vec::new(), vec![self]);
        while let Some(structure) = rest.pop() {
            match structure {
                Self::Value(ty) => {
                    leaves.push(Leaf { path: Vec::new(), ty, axes: ty.shape.iter().map(outer).collect() });
                }
                Self::Tuple(elements) => rest.extend(elements.iter().rev()),
                Self::Struct(ty) => ty.leaves(ty.dims.iter().map(outer).collect(), &[], &mut leaves),
            }
        }
        leaves
    }

    /// The part that fields lead to, and which of the leaves it has.
    pub(super) fn part(&self, name: &Ident, fields: &[Ident]) -> Result<(&Self, Range<usize>), Diag> {
        let (mut part, mut start, mut text) = (self, 0, name.to_string());
        for field in fields {
            let Self::Struct(ty) = part else {
                let message = format!("`{text}` is {part}: only structs have fields");
                return Err(Diag::new(Code::E2001, Site::token(field.span()), message));
            };
            let position = ty.position(field)?;
            start += ty.fields[..position].iter().map(|field| field.leaves().len()).sum::<usize>();
            part = &ty.fields[position];
            text = format!("{text}.{field}");
        }
        Ok((part, start..start + part.leaves().len()))
    }
}

impl DimNames {
    /// Works out the type `Dense<64, N>`.
    pub(super) fn struct_type(
        &self,
        name: &Ident,
        dims: &[DimExpr],
        site: Site,
    ) -> Result<StructType, Unknown> {
        let definition = self.definition(name)?;
        if dims.len() != definition.symbols.len() {
            let declared: Vec<_> = definition.symbols.iter().map(|symbol| symbol.to_string()).collect();
            let (count, written) = match &declared[..] {
                [] => ("no dimensions".to_owned(), name.to_string()),
                [one] => ("1 dimension".to_owned(), format!("{name}<{one}>")),
                several => {
                    (format!("{} dimensions", several.len()), format!("{name}<{}>", several.join(", ")))
                }
            };
            let message = format!("`{name}` takes {count}, found {}", dims.len());
            return Err(Some(
                Diag::new(Code::E2007, site, message)
                    .note_at(Site::token(definition.name.span()), format!("`{written}` is declared")),
            ));
        }
        let dims = dims.iter().map(|dim| self.dim(dim)).collect::<Result<Vec<_>, _>>()?;
        let overflow =
            |overflow: Overflow| Some(Diag::new(Code::E1008, site, format!("`{name}`: {overflow}")));
        let ty = StructType::new(name.clone(), dims, definition).map_err(overflow)?;
        let structure = Structure::Struct(ty);
        for leaf in structure.named_leaves() {
            if let Err(diag) = super::types::check_tensor(leaf.ty, site) {
                let path: Vec<_> = leaf.path.iter().map(ToString::to_string).collect();
                return Err(Some(diag.note(format!("in `{}` of `{structure}`", path.join(".")))));
            }
        }
        let Structure::Struct(ty) = structure else { unreachable!("it was made a struct just above") };
        Ok(ty)
    }

    /// The struct of this name.
    pub(super) fn definition(&self, name: &Ident) -> Result<Rc<Definition>, Unknown> {
        let text = name.to_string();
        match self.structs.get(&text) {
            Some(definition) => definition.clone().ok_or(None),
            None if self.is_unread(&text) => Err(None),
            None => {
                let known = self.structs.keys().map(String::as_str).chain(["f32", "f64", "i32", "i64"]);
                let mut diag = undefined("type", &text, Site::token(name.span()), known);
                diag.help.get_or_insert_with(|| {
                    format!(
                        "dtypes are f32, f64, i32 and i64; or define `struct {text} {{ … }}` in the block"
                    )
                });
                Err(Some(diag))
            }
        }
    }
}

/// Works out the structs of a block, which may be defined in any order.
pub(super) fn structs(block: &ast::Block, dims: &mut DimNames, diags: &mut Diags) -> Vec<Struct> {
    let position = |name: &Ident| block.structs.iter().position(|item| item.name == *name);
    let needs = |item: &ast::Struct| -> Vec<usize> {
        let name = |field: &ast::Field| match &field.ty.as_ref()?.kind {
            TypeKind::Struct { name, .. } => position(name),
            TypeKind::Tensor { .. } | TypeKind::Tuple(_) => None,
        };
        item.fields.iter().filter_map(name).collect()
    };
    let order = order(&block.structs.iter().map(needs).collect::<Vec<_>>());
    let mut cyclic = BTreeSet::new();
    for cycle in &order.cycles {
        diags.push(cycle_diag(block, cycle));
        cyclic.extend(cycle.iter().copied());
    }
    let names = cyclic.iter().map(|item: &usize| (block.structs[*item].name.to_string(), None));
    dims.structs = Rc::new(names.collect());
    let mut found: Vec<Option<Struct>> = block.structs.iter().map(|_| None).collect();
    for at in order.nodes {
        let item = &block.structs[at];
        let (public, definition) = one(item, dims, diags);
        let definition = definition.filter(|_| !cyclic.contains(&at)).map(Rc::new);
        Rc::make_mut(&mut dims.structs).insert(item.name.to_string(), definition);
        found[at] = Some(public);
    }
    found.into_iter().flatten().collect()
}

/// Works out a struct whose parts are known.
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
    let depth = structures.iter().map(|structure| match structure {
        Structure::Value(_) | Structure::Tuple(_) => 1,
        Structure::Struct(ty) => ty.definition.depth + 1,
    });
    let depth = depth.max().unwrap_or(1);
    let leaves: usize = structures.iter().map(|structure| structure.leaves().len()).sum();
    if depth > MAX_DEPTH || leaves > MAX_LEAVES {
        let message =
            format!("`{}` exceeds the limit of {MAX_DEPTH} levels and {MAX_LEAVES} values in all", item.name);
        diags.push(Diag::new(Code::E1008, site, message));
        return None;
    }
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
        let message = format!("cannot infer `{symbol}`: no field has it as a dimension of its own");
        diags.push(
            Diag::new(Code::E2003, Site::token(symbol.span()), message)
                .help(format!("declare a field with the dimension, as `b: f32[{symbol}]`")),
        );
    }
    let fields = item.fields.iter().zip(structures).map(|(field, structure)| Field {
        name: field.name.clone(),
        structure,
        site: field.site,
    });
    unused.is_empty().then(|| Definition {
        name: item.name.clone(),
        symbols,
        fields: fields.collect(),
        depth,
        leaves,
    })
}

fn cycle_diag(block: &ast::Block, cycle: &[usize]) -> Diag {
    let item = |i: usize| &block.structs[cycle[i % cycle.len()]];
    let site = |i: usize| {
        let next = &item(i + 1).name;
        let holds = |field: &&ast::Field| {
            let kind = field.ty.as_ref().map(|ty| &ty.kind);
            matches!(kind, Some(TypeKind::Struct { name, .. }) if *name == *next)
        };
        item(i).fields.iter().find(holds).map_or(Site::Nowhere, |field| field.site)
    };
    let message = match cycle {
        [_] => format!("`{}` holds itself", item(0).name),
        _ => {
            let names: Vec<_> = (0..=cycle.len()).map(|i| format!("`{}`", item(i).name)).collect();
            format!("structs hold each other in a cycle: {}", names.join(" -> "))
        }
    };
    let mut diag = Diag::new(Code::E2009, site(0), message);
    for i in 1..cycle.len() {
        diag = diag.note_at(site(i), format!("`{}` holds `{}`", item(i).name, item(i + 1).name));
    }
    diag.help("a struct is as large as its fields: leave the field out")
}
