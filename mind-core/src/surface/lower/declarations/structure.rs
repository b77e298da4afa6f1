//! The types of expressions: a tensor, a tuple or a struct whose dimensions are known.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use proc_macro2::Ident;

use super::names::nearest;
use crate::diag::{Code, Diag, Site};
use crate::dim::{Bindings, Dim, Overflow, Symbol};
use crate::ty::Type;

/// The maximum nesting depth of structs.
const MAX_DEPTH: usize = 32;

/// The maximum number of tensors and numbers in a type.
pub(crate) const MAX_LEAVES: usize = 4096;

/// The type of an expression: a tensor, a tuple of types or a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure {
    /// A tensor.
    Value(Type),
    /// A tuple; an empty one if there is no result.
    Tuple(Vec<Structure>),
    /// A struct.
    Struct(StructType),
}

/// A struct whose dimensions are known: `Dense<64, N>`.
#[derive(Clone, Debug)]
pub struct StructType {
    /// The name, with the span of its use.
    pub name: Ident,
    /// `64`, `N`
    pub dims: Vec<Dim>,
    /// The types of the fields, with these dimensions.
    pub fields: Vec<Structure>,
    /// The Rust name of an imported struct.
    pub(crate) alias: Option<Ident>,
    pub(crate) definition: Rc<Definition>,
}

/// The definition of a struct, in terms of its own symbols.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: Ident,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) fields: Vec<Field>,
    pub(crate) depth: usize,
    pub(crate) leaves: usize,
    /// The file of the library that defines it, if any. A library struct is generic over parameters, and the first
    /// struct among its fields has their type.
    pub(crate) library: Option<&'static str>,
}

/// A field of a [`Definition`].
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Ident,
    pub(crate) structure: Structure,
    /// Whether its visibility is `pub` without a path, such as `pub(crate)` has.
    pub(crate) is_public: bool,
    pub(crate) site: Site,
}

/// A tensor or number in a [`Structure`].
#[derive(Clone, Debug)]
pub struct Leaf<'a> {
    /// The names of the fields that contain it, outermost first. Positions in tuples are left out.
    pub path: Vec<&'a Ident>,
    /// Its type.
    pub ty: &'a Type,
    /// The origins of the extents of its axes.
    pub axes: Vec<Axis>,
}

/// The origin of an extent of a [`Leaf`].
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Whether the Rust type decides it: it is an integer or a symbol at every level of the type, and not computed.
    pub typed: bool,
    /// The site of the field whose declaration gives it; `None` where the type itself does.
    pub site: Option<Site>,
}

/// The structs of a block by name or path; `None` where an error in one has been reported.
pub(crate) type Definitions = BTreeMap<String, Option<Defined>>;

/// A struct that a program names.
#[derive(Clone, Debug)]
pub(crate) struct Defined {
    pub(crate) definition: Rc<Definition>,
    /// As in [`StructType::alias`].
    pub(crate) alias: Option<Ident>,
}

impl Leaf<'_> {
    /// The path of fields to it: `hidden.w`.
    pub(crate) fn text(&self) -> String {
        self.path.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
    }
}

impl Structure {
    /// The type of an expression without a result, `()`.
    pub const UNIT: Self = Self::Tuple(Vec::new());

    /// The types of the tensors in it, in order.
    pub fn leaves(&self) -> Vec<&Type> {
        let (mut leaves, mut rest) = (Vec::new(), vec![self]);
        while let Some(structure) = rest.pop() {
            match structure {
                Self::Value(ty) => leaves.push(ty),
                Self::Tuple(elements) => rest.extend(elements.iter().rev()),
                Self::Struct(ty) => rest.extend(ty.fields.iter().rev()),
            }
        }
        leaves
    }

    /// Replaces symbols by dimensions.
    pub(crate) fn substitute(&self, bindings: &Bindings) -> Result<Self, Overflow> {
        match self {
            Self::Value(ty) => ty.substitute(bindings).map(Self::Value),
            Self::Tuple(elements) => elements
                .iter()
                .map(|part| part.substitute(bindings))
                .collect::<Result<_, _>>()
                .map(Self::Tuple),
            Self::Struct(ty) => {
                let dims = ty.dims.iter().map(|dim| dim.substitute(bindings)).collect::<Result<_, _>>()?;
                let defined = Defined { definition: ty.definition.clone(), alias: ty.alias.clone() };
                StructType::new(ty.name.clone(), dims, defined).map(Self::Struct)
            }
        }
    }

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

    /// The part at a path of fields, and the range of its leaves. `name` is the name of the whole in messages.
    pub(crate) fn part(&self, name: &Ident, fields: &[Ident]) -> Result<(&Self, Range<usize>), Diag> {
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

/// As in the surface language, `(f32, f32[N, 3])`.
impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(ty) => ty.fmt(f),
            Self::Tuple(elements) => {
                f.write_str("(")?;
                for (i, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(if elements.len() == 1 { ",)" } else { ")" })
            }
            Self::Struct(ty) => ty.fmt(f),
        }
    }
}

impl StructType {
    /// Its name in the generated Rust.
    pub fn rust_name(&self) -> &Ident {
        self.alias.as_ref().unwrap_or(&self.name)
    }

    /// The file of the library that defines it, and the parameters over which it is generic; `None` for a struct of a
    /// block.
    pub fn over(&self) -> Option<(&'static str, &Self)> {
        let file = self.definition.library?;
        self.fields.iter().find_map(|field| match field {
            Structure::Struct(parameters) => Some((file, parameters)),
            Structure::Value(_) | Structure::Tuple(_) => None,
        })
    }

    /// The names of the fields, in order.
    pub fn field_names(&self) -> impl Iterator<Item = &Ident> {
        self.definition.fields.iter().map(|field| &field.name)
    }

    /// The position of a field; an error if the struct does not have it.
    pub(crate) fn position(&self, field: &Ident) -> Result<usize, Diag> {
        self.definition.position(field)
    }

    /// The type whose dimensions only Rust knows. Its dimensions are the symbols of its definition.
    pub(crate) fn open(name: Ident, defined: Defined) -> Self {
        let dims = defined.definition.symbols.iter().cloned().map(Dim::symbol).collect();
        Self::new(name, dims, defined).expect("a definition is within the limits of its own dimensions")
    }

    /// Whether some of its dimensions are not known integers.
    pub(crate) fn is_open(&self) -> bool {
        self.dims.iter().any(|dim| dim.as_literal().is_none())
    }

    /// The type with these dimensions.
    pub(crate) fn new(name: Ident, dims: Vec<Dim>, defined: Defined) -> Result<Self, Overflow> {
        let Defined { definition, alias } = defined;
        let bindings: Bindings = definition.symbols.iter().cloned().zip(dims.iter().cloned()).collect();
        let fields = definition.fields.iter().map(|field| field.structure.substitute(&bindings));
        let fields = fields.collect::<Result<_, _>>()?;
        Ok(Self { name, dims, fields, alias, definition })
    }

    /// Whether it is an instance of a definition, with any dimensions.
    pub(crate) fn is_of(&self, definition: &Definition) -> bool {
        let fields = |definition: &'_ Definition| {
            let field = |field: &Field| (field.name.to_string(), field.structure.clone());
            definition.fields.iter().map(field).collect::<Vec<_>>()
        };
        let own = &*self.definition;
        std::ptr::eq(own, definition)
            || own.name == definition.name
                && own.symbols == definition.symbols
                && fields(own) == fields(definition)
    }

    /// The number of tensors and numbers in it.
    pub(crate) fn leaf_count(&self) -> usize {
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

/// Equal are structs with the same declared name, dimensions and fields. The fields are compared because two blocks may
/// have structs of one name.
impl PartialEq for StructType {
    fn eq(&self, other: &Self) -> bool {
        let is_one = Rc::ptr_eq(&self.definition, &other.definition);
        let is_alike = || {
            self.definition.name == other.definition.name
                && self.field_names().eq(other.field_names())
                && self.fields == other.fields
        };
        self.dims == other.dims && (is_one || is_alike())
    }
}

impl Eq for StructType {}

/// `Dense<64, N>`, `optim::Adam<Dense<64, N>>`
impl fmt::Display for StructType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, parameters)) = self.over() {
            return write!(f, "{file}::{}<{parameters}>", self.name);
        }
        self.name.fmt(f)?;
        if self.dims.is_empty() {
            return Ok(());
        }
        let dims: Vec<_> = self.dims.iter().map(Dim::to_string).collect();
        write!(f, "<{}>", dims.join(", "))
    }
}

impl Definition {
    /// The position of a field; an error if the struct does not have it.
    pub(crate) fn position(&self, field: &Ident) -> Result<usize, Diag> {
        let names: Vec<Ident> = self.fields.iter().map(|field| field.name.clone()).collect();
        let file = self.library.map_or_else(String::new, |file| format!("{file}::"));
        position(&format!("{file}{}", self.name), &names, field)
    }
}

/// The position of a field in a struct with these fields; an error if it is not among them.
pub(crate) fn position(name: &str, fields: &[Ident], field: &Ident) -> Result<usize, Diag> {
    fields.iter().position(|known| known == field).ok_or_else(|| {
        let names: Vec<_> = fields.iter().map(Ident::to_string).collect();
        let list: Vec<_> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
        let more = if names.len() > 8 { ", …" } else { "" };
        let message = format!("`{name}` has no field `{field}`");
        let diag = Diag::new(Code::E2002, Site::token(field.span()), message)
            .note(format!("its fields are {}{more}", list.join(", ")));
        match nearest(&field.to_string(), names.iter().map(String::as_str)) {
            Some(near) => diag.help(format!("write `{near}`")),
            None => diag,
        }
    })
}

/// The depth and the number of leaves of a struct with these fields. Returns E1008 if either exceeds its limit.
pub(crate) fn measured(
    name: &dyn fmt::Display,
    site: Site,
    fields: &[Structure],
) -> Result<(usize, usize), Diag> {
    let depth = fields.iter().map(|field| match field {
        Structure::Value(_) | Structure::Tuple(_) => 1,
        Structure::Struct(ty) => ty.definition.depth + 1,
    });
    let depth = depth.max().unwrap_or(1);
    let leaves: usize = fields.iter().map(|field| field.leaves().len()).sum();
    if depth > MAX_DEPTH || leaves > MAX_LEAVES {
        let message =
            format!("`{name}` exceeds the limit of {MAX_DEPTH} levels and {MAX_LEAVES} values in all");
        return Err(Diag::new(Code::E1008, site, message));
    }
    Ok((depth, leaves))
}
