//! The types of expressions: a tensor, a tuple or a struct whose dimensions are known.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use proc_macro2::{Ident, Span, TokenStream};

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

/// A struct whose dimensions are known: `Dense<64, N>`, `Dense<64, N>[12]`.
#[derive(Clone, Debug)]
pub struct StructType {
    /// The name, with the span of its use.
    pub name: Ident,
    /// `64`, `N`. The first dimension of a stack is its number of elements.
    pub dims: Vec<Dim>,
    /// The types of the fields, with these dimensions.
    pub fields: Vec<Structure>,
    /// The Rust name of an imported struct.
    pub(crate) alias: Option<Alias>,
    pub(crate) definition: Rc<Definition>,
}

/// The Rust name of an imported struct.
#[derive(Clone, Debug)]
pub(crate) struct Alias {
    pub(crate) name: Ident,
    /// The number of leading axes up to which the block of the struct has Rust types for stacks of it.
    pub(crate) stacks: usize,
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
    /// The struct that is stacked, of a stack.
    pub(crate) element: Option<Rc<Definition>>,
    /// The attributes as written.
    pub(crate) attributes: TokenStream,
    /// The visibility as written.
    pub(crate) visibility: TokenStream,
}

/// A field of a [`Definition`].
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Ident,
    pub(crate) structure: Structure,
    /// Whether its visibility is `pub` without a path, such as `pub(crate)` has.
    pub(crate) is_public: bool,
    /// As written.
    pub(crate) visibility: TokenStream,
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
    /// The number of its axes along which structs are stacked. These come first.
    pub stacked: usize,
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
    pub(crate) alias: Option<Alias>,
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
                StructType::new(ty.name.clone(), dims, ty.defined()).map(Self::Struct)
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
                    let axes = ty.shape.iter().map(outer).collect();
                    leaves.push(Leaf { path: Vec::new(), ty, axes, stacked: 0 });
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
    pub fn rust_name(&self) -> Ident {
        let level = self.definition.level();
        match &self.alias {
            Some(alias) if level <= alias.stacks => stack_alias(&alias.name, level),
            Some(_) | None => stack_name(&self.name, level),
        }
    }

    /// Whether it is a stack for which no imported block has a Rust type.
    pub(crate) fn is_made_here(&self) -> bool {
        self.definition.level() > self.alias.as_ref().map_or(0, |alias| alias.stacks)
    }

    /// The number of elements of a stack, and their type.
    pub(crate) fn element(&self) -> Option<(&Dim, Self)> {
        let element = self.definition.element.clone()?;
        let (count, dims) = self.dims.split_first()?;
        let defined = Defined { definition: element, alias: self.alias.clone() };
        let element = Self::new(self.name.clone(), dims.to_vec(), defined);
        Some((count, element.expect("a stack has the extents of its elements")))
    }

    /// The extents of the leading axes of a stack.
    pub fn counts(&self) -> &[Dim] {
        &self.dims[..self.definition.level()]
    }

    /// The struct that is stacked. For a struct that is not a stack, the struct itself.
    pub(crate) fn base(&self) -> Self {
        let mut base = self.clone();
        while let Some((_, element)) = base.element() {
            base = element;
        }
        base
    }

    /// The type of a stack of `count` structs of this type. `None` for a struct that contains one of the library, which
    /// cannot be stacked.
    pub(crate) fn stacked(&self, count: Dim) -> Option<Result<Self, Overflow>> {
        let definition = self.definition.stacked()?.into();
        let dims = [count].into_iter().chain(self.dims.iter().cloned()).collect();
        let alias = self.alias.clone();
        Some(Self::new(self.name.clone(), dims, Defined { definition, alias }))
    }

    /// The definition, and the Rust name of an imported one.
    pub(crate) fn defined(&self) -> Defined {
        Defined { definition: self.definition.clone(), alias: self.alias.clone() }
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
    pub(crate) fn is_of(&self, definition: &Rc<Definition>) -> bool {
        self.definition.is(definition)
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
                    let axes = declared.shape.iter().map(axis).collect();
                    leaves.push(Leaf { path, ty, axes, stacked: self.definition.level() });
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

/// Two struct types are equal if their declared names, dimensions and fields are equal. The fields are compared because
/// two blocks may have structs of one name.
impl PartialEq for StructType {
    fn eq(&self, other: &Self) -> bool {
        let is_one = Rc::ptr_eq(&self.definition, &other.definition);
        let is_alike = || {
            self.definition.name == other.definition.name
                && self.definition.level() == other.definition.level()
                && self.field_names().eq(other.field_names())
                && self.fields == other.fields
        };
        self.dims == other.dims && (is_one || is_alike())
    }
}

impl Eq for StructType {}

/// `Dense<64, N>`, `Dense<64, N>[12]`, `optim::Adam<Dense<64, N>>`
impl fmt::Display for StructType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, parameters)) = self.over() {
            return write!(f, "{file}::{}<{parameters}>", self.name);
        }
        let (counts, dims) = self.dims.split_at(self.definition.level());
        let joined = |dims: &[Dim]| dims.iter().map(Dim::to_string).collect::<Vec<_>>().join(", ");
        self.name.fmt(f)?;
        if !dims.is_empty() {
            write!(f, "<{}>", joined(dims))?;
        }
        if counts.is_empty() { Ok(()) } else { write!(f, "[{}]", joined(counts)) }
    }
}

/// A name as written, which may begin with `r#`.
pub(crate) fn ident(text: &str, span: Span) -> Ident {
    match text.strip_prefix("r#") {
        Some(text) => Ident::new_raw(text, span),
        None => Ident::new(text, span),
    }
}

/// The Rust name of a stack with `level` leading axes of a struct of this name.
pub fn stack_name(name: &Ident, level: usize) -> Ident {
    named_as(name, level, "Stack")
}

/// The Rust name by which a block imports such a stack, from the alias of the struct.
pub fn stack_alias(alias: &Ident, level: usize) -> Ident {
    named_as(alias, level, "_stack")
}

fn named_as(name: &Ident, level: usize, suffix: &str) -> Ident {
    match level {
        0 => name.clone(),
        _ => {
            let text = name.to_string();
            let plain = text.strip_prefix("r#").unwrap_or(&text);
            Ident::new(&format!("{plain}{}", suffix.repeat(level)), name.span())
        }
    }
}

impl Definition {
    /// The definition of a stack of such structs: each field has one leading axis more. `None` if a struct of the
    /// library is among them.
    pub(crate) fn stacked(self: &Rc<Self>) -> Option<Self> {
        let names = ["L".to_owned()].into_iter().chain((2..).map(|number| format!("L{number}")));
        let mut names = names.map(|name| Symbol::from(name.as_str()));
        // In Rust the symbol hides a struct of its name.
        let hides = |name: &Symbol| {
            let fields = self.fields.iter().filter_map(|field| match &field.structure {
                Structure::Struct(ty) => Some(&ty.name),
                Structure::Value(_) | Structure::Tuple(_) => None,
            });
            fields.chain([&self.name]).any(|known| *known == **name)
        };
        let is_free = |name: &Symbol| !self.symbols.contains(name) && !hides(name);
        let count = names.find(is_free).expect("there are names without end");
        let field = |field: &Field| {
            let structure = match &field.structure {
                Structure::Value(ty) => {
                    let shape = [Dim::symbol(count.clone())].into_iter().chain(ty.shape.iter().cloned());
                    Structure::Value(ty.with_shape(shape.collect()))
                }
                Structure::Struct(ty) => {
                    let stack = ty.stacked(Dim::symbol(count.clone()))?;
                    Structure::Struct(stack.expect("a symbol is as large as itself"))
                }
                Structure::Tuple(_) => unreachable!("the fields of a struct are no tuples"),
            };
            Some(Field {
                name: field.name.clone(),
                structure,
                visibility: field.visibility.clone(),
                ..*field
            })
        };
        let fields =
            self.fields.iter().map(field).collect::<Option<_>>().filter(|_| self.library.is_none())?;
        Some(Self {
            name: self.name.clone(),
            symbols: [count.clone()].into_iter().chain(self.symbols.iter().cloned()).collect(),
            fields,
            depth: self.depth,
            leaves: self.leaves,
            library: None,
            element: Some(self.clone()),
            attributes: self.attributes.clone(),
            visibility: self.visibility.clone(),
        })
    }

    /// The struct that is stacked, and the number of leading axes. For a struct that is not a stack, the struct itself.
    pub(crate) fn base(self: &Rc<Self>) -> (&Rc<Self>, usize) {
        let (mut base, mut level) = (self, 0);
        while let Some(element) = &base.element {
            (base, level) = (element, level + 1);
        }
        (base, level)
    }

    fn level(self: &Rc<Self>) -> usize {
        self.base().1
    }

    /// Whether two definitions are the same. Two blocks may have the same struct.
    pub(crate) fn is(self: &Rc<Self>, other: &Rc<Self>) -> bool {
        let fields = |definition: &'_ Self| {
            let field = |field: &Field| (field.name.to_string(), field.structure.clone());
            definition.fields.iter().map(field).collect::<Vec<_>>()
        };
        Rc::ptr_eq(self, other)
            || self.name == other.name
                && self.level() == other.level()
                && self.symbols == other.symbols
                && fields(self) == fields(other)
    }

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
