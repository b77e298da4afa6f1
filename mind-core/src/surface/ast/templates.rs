//! Templates: functions whose parameter types are partly open. A template is inlined and checked at each call.

use proc_macro2::{Ident, TokenStream};

use super::{Body, Callee, DimExpr};
use crate::diag::Site;
use crate::standard;
use crate::ty::DType;

/// `fn softmax(x: float[..], const axis: axis = -1) { … }`
#[derive(Clone, Debug)]
pub struct Template {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub` or empty.
    pub visibility: TokenStream,
    /// `softmax`
    pub name: Ident,
    /// The names declared in `<..B, N, T: float>`.
    pub declared: Vec<Declared>,
    /// The parameters in order.
    pub parameters: Vec<TemplateParameter>,
    /// As for [`super::Function::body`].
    pub body: Option<Body>,
    /// The place that defines it.
    pub home: Home,
    /// From `fn` to the end of the parameters.
    pub site: Site,
    /// From `fn` to the end of the body, as written.
    pub source: TokenStream,
}

impl Template {
    /// The name by which it is called: `nn::softmax`.
    pub fn full_name(&self) -> String {
        match self.home {
            Home::ThisBlock | Home::Elsewhere(_) => self.name.to_string(),
            Home::Library(file) => format!("{file}::{}", self.name),
        }
    }

    /// Whether only the text of the library calls it. Messages do not name it.
    pub(crate) fn is_private(&self) -> bool {
        let Home::Library(file) = self.home else { return false };
        standard::function(file, &self.name.to_string()).is_none()
    }

    /// As for [`super::Function::callees`].
    pub fn callees(&self) -> impl Iterator<Item = (&Callee, Site)> {
        self.body.iter().flat_map(Body::callees)
    }
}

/// The place that defines a template. It decides the meaning of the names in the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In the block that calls it.
    ThisBlock,
    /// In this file of the library.
    Library(&'static str),
    /// In another block, by the number that the lowering gives to that block.
    Elsewhere(usize),
}

/// A name that a template declares in `<…>`.
#[derive(Clone, Debug)]
pub struct Declared {
    /// `N`
    pub name: Ident,
    /// Its meaning.
    pub kind: DeclaredKind,
}

/// The meaning of a name in `<…>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredKind {
    /// `N`: a dimension.
    Dim,
    /// `..B`: any number of leading dimensions.
    Pack,
    /// `T: float`: an element type.
    Elements(ElementClass),
    /// `P: params`: a struct of tensors.
    Params,
}

/// `x: float[..]`
#[derive(Clone, Debug)]
pub struct TemplateParameter {
    /// `x`
    pub name: Ident,
    /// The arguments that it accepts.
    pub takes: Formal,
    /// The whole declaration.
    pub site: Site,
}

/// The arguments that a parameter of a template accepts.
#[derive(Clone, Debug)]
pub enum Formal {
    /// `x`: anything.
    Any,
    /// `x: float[.., N]`
    Tensor(TensorPattern),
    /// `p: P`, declared as `P: params`.
    Params(Ident),
    /// `state: optim::Adam<P>`: a struct of the library over these parameters.
    State {
        /// `optim::Adam`
        name: Callee,
        /// `P`
        over: Ident,
    },
    /// `const axis: axis = -1`
    Constant {
        /// `axis`
        kind: ConstantKind,
        /// `-1`
        default: Option<Body>,
    },
}

/// The tensor types that a parameter accepts.
#[derive(Clone, Debug)]
pub struct TensorPattern {
    /// `float`
    pub elements: ElementPattern,
    /// The leading dimensions that are left open.
    pub pack: Option<Pack>,
    /// The dimensions after those.
    pub dims: Vec<DimExpr>,
    /// Its tokens.
    pub site: Site,
}

/// Leading dimensions that are left open.
#[derive(Clone, Debug)]
pub enum Pack {
    /// `..`
    Any,
    /// `..B`: the same dimensions at each use of `B`.
    Named(Ident),
}

/// The element types that a parameter accepts.
#[derive(Clone, Debug)]
pub enum ElementPattern {
    /// `float`
    Class(ElementClass),
    /// `T`, declared as `T: float`: the same type at each use.
    Variable(Ident),
    /// `f32`
    Fixed(DType),
}

/// Classes of element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementClass {
    /// `float`: element types with fractions.
    Float,
    /// `int`: integer element types.
    Int,
    /// `num`: both.
    Num,
    /// `any`: these and `bool`.
    Any,
}

impl ElementClass {
    /// Every class.
    pub const ALL: [Self; 4] = [Self::Float, Self::Int, Self::Num, Self::Any];

    /// As written in programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Int => "int",
            Self::Num => "num",
            Self::Any => "any",
        }
    }

    /// The class of this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// A representative element type of the class.
    pub const fn default_dtype(self) -> DType {
        match self {
            Self::Float | Self::Num | Self::Any => DType::F64,
            Self::Int => DType::I64,
        }
    }

    /// Whether an element type is one of the class.
    pub fn has(self, dtype: DType) -> bool {
        match self {
            Self::Float => dtype.is_float(),
            Self::Int => !dtype.is_float() && dtype != DType::Bool,
            Self::Num => dtype != DType::Bool,
            Self::Any => true,
        }
    }
}

/// The kind of a constant parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantKind {
    /// `axis`: one axis.
    Axis,
    /// `axes`: one axis or a list of axes.
    Axes,
    /// `dim`: an extent.
    Dim,
    /// `shape`: one extent or a list of extents.
    Shape,
    /// `dtype`: an element type.
    DType,
    /// `int`: an integer.
    Int,
    /// `float`: a number.
    Float,
    /// `fraction`: a number from 0 to 1.
    Fraction,
    /// `bool`: `true` or `false`.
    Bool,
}

impl ConstantKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Axis,
        Self::Axes,
        Self::Dim,
        Self::Shape,
        Self::DType,
        Self::Int,
        Self::Float,
        Self::Fraction,
        Self::Bool,
    ];

    /// As written in programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Axis => "axis",
            Self::Axes => "axes",
            Self::Dim => "dim",
            Self::Shape => "shape",
            Self::DType => "dtype",
            Self::Int => "int",
            Self::Float => "float",
            Self::Fraction => "fraction",
            Self::Bool => "bool",
        }
    }
}
