//! Resolution of written types and dimensions.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use proc_macro2::Ident;

use super::names::{nearest, undefined};
use super::states;
use super::structure::{
    Defined, Definitions, MAX_LEAVES, StructType, Structure, ident, position, stack_name,
};
use crate::diag::{Code, Diag, Diags, Site};
use crate::dim::{Dim, Overflow, Symbol};
use crate::ops::{OpError, check_input};
use crate::surface::ast::{
    Callee, DimExpr, DimOperator, DimStepKind, FieldPattern, NumberValue, Plain, TypeExpr, TypeKind,
};
use crate::surface::habits;
use crate::ty::{DType, Shape, Type};

/// The names that types may contain.
#[derive(Clone, Debug, Default)]
pub(crate) struct DimNames {
    pub(crate) constants: Arc<BTreeMap<String, Dim>>,
    pub(crate) symbols: Vec<Symbol>,
    /// The element types of the type variables of a template.
    pub(crate) elements: Arc<BTreeMap<String, DType>>,
    /// The dimensions of the packs of a template; `None` where an error hides them.
    pub(crate) packs: Arc<BTreeMap<String, Option<Vec<Dim>>>>,
    /// The constants that are not dimensions.
    pub(crate) plain: Arc<BTreeMap<String, Plain>>,
    pub(crate) structs: Rc<Definitions>,
    /// The names of items whose errors have been reported. They have no value, and using them reports nothing.
    pub(crate) unread: Arc<Vec<String>>,
    /// Whether a struct may be written without its dimensions, because only Rust knows them.
    pub(crate) may_be_open: bool,
}

/// The place to declare a missing dimension.
#[derive(Clone, Copy)]
pub(crate) enum Undeclared<'a> {
    /// At the function of this name.
    OfFunction(&'a Ident),
    /// Nowhere: a closure has no symbols.
    OfClosure,
}

/// The names in the dimensions of a type, except those that name a struct.
fn names_in(written: &TypeExpr) -> Vec<(&Callee, Site)> {
    let (mut names, mut rest) = (Vec::new(), vec![written]);
    while let Some(ty) = rest.pop() {
        let dims = match &ty.kind {
            TypeKind::Struct { name, over: None, .. } if states::is_path(name) => continue,
            TypeKind::Struct { dims, over, stacked, .. } => {
                rest.extend(over.as_deref());
                [&dims[..], stacked]
            }
            TypeKind::Tensor { dims, .. } => [&dims[..], &[]],
            TypeKind::Tuple(elements) => {
                rest.extend(elements.iter().rev());
                continue;
            }
        };
        for step in dims.into_iter().flatten().flat_map(|dim| &dim.steps) {
            if let DimStepKind::Name(name) = &step.kind {
                names.push((name, step.site));
            }
        }
    }
    names
}

/// The reason that a dimension has no value: an error, or `None` if the error has been reported.
pub(crate) type Unknown = Option<Diag>;

impl DimNames {
    /// The dimension of a symbol or constant; `None` for any other name.
    pub(crate) fn get(&self, name: &str) -> Option<Dim> {
        match self.symbols.iter().find(|symbol| ***symbol == *name) {
            Some(symbol) => Some(Dim::symbol(symbol.clone())),
            None => self.constants.get(name).cloned(),
        }
    }

    pub(crate) fn is_unread(&self, name: &str) -> bool {
        self.unread.iter().any(|unread| unread == name)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.symbols.iter().map(|symbol| &**symbol).chain(self.constants.keys().map(String::as_str))
    }

    /// Evaluates a dimension.
    pub(crate) fn dim(&self, written: &DimExpr) -> Result<Dim, Unknown> {
        let mut operands: Vec<Dim> = Vec::new();
        for step in &written.steps {
            let dim = match &step.kind {
                DimStepKind::Integer(value) => Dim::literal(*value),
                DimStepKind::Name(name) => self.named(name, step.site)?,
                DimStepKind::Operator(operator) => {
                    let rhs = operands.pop().expect("each operator follows two operands");
                    let lhs = operands.pop().expect("each operator follows two operands");
                    operate(*operator, &lhs, &rhs).map_err(|fault| fault.at(step.site))?
                }
            };
            operands.push(dim);
        }
        Ok(operands.pop().expect("a dimension evaluates to one value"))
    }

    fn named(&self, name: &Callee, site: Site) -> Result<Dim, Unknown> {
        let name = name.to_string();
        match self.get(&name) {
            Some(dim) => Ok(dim),
            None if self.plain.contains_key(&name) => {
                let message = format!("`{name}` is {}, expected a dimension", self.plain[&name].kind());
                let help = format!("declare it as `const {name}: dim = …;`");
                Err(Some(Diag::new(Code::E2001, site, message).help(help)))
            }
            None if self.is_unread(&name) => Err(None),
            None => {
                let diag = undefined("dimension", &name, site, self.all());
                let help = || {
                    format!(
                        "declare it, as in `fn f<{name}>(…)`, or define `const {name}: dim = …;` in the block"
                    )
                };
                Err(Some(if diag.help.is_some() { diag } else { diag.help(help()) }))
            }
        }
    }

    /// Reports each undefined dimension in `types` once. Names that look like typing errors are reported one by one.
    /// The others are reported in one error whose help declares them together.
    pub(crate) fn report_undefined<'t>(
        &mut self,
        types: impl Iterator<Item = &'t TypeExpr>,
        place: Undeclared<'_>,
        diags: &mut Diags,
    ) {
        let mut undefined: Vec<(String, Site)> = Vec::new();
        let is_known = |ty: &&TypeExpr| match &ty.kind {
            TypeKind::Struct { name, .. } => !self.is_unread(&name.to_string()),
            TypeKind::Tensor { .. } | TypeKind::Tuple(_) => true,
        };
        for (name, site) in types.filter(is_known).flat_map(names_in) {
            let name = name.to_string();
            let known = self.get(&name).is_some() || self.is_unread(&name) || self.plain.contains_key(&name);
            if !known && undefined.iter().all(|(first, _)| *first != name) {
                undefined.push((name, site));
            }
        }
        Arc::make_mut(&mut self.unread).extend(undefined.iter().map(|(name, _)| name.clone()));
        let is_slip = |name: &str| nearest(name, self.all()).is_some();
        let (slips, new): (Vec<_>, Vec<_>) = undefined.into_iter().partition(|(name, _)| is_slip(name));
        diags.extend(
            slips.into_iter().map(|(name, site)| self::undefined("dimension", &name, site, self.all())),
        );
        let Some((first, site)) = new.first() else { return };
        let names: Vec<_> = new.iter().map(|(name, _)| format!("`{name}`")).collect();
        let message = match &names[..] {
            [name] => format!("undefined dimension {name}"),
            [names @ .., last] => format!("undefined dimensions {} and {last}", names.join(", ")),
            [] => return,
        };
        let all: Vec<_> = { self.symbols.iter().map(ToString::to_string) }
            .chain(new.iter().map(|(name, _)| name.clone()))
            .collect();
        let help = match place {
            Undeclared::OfFunction(_) if matches!(first.as_str(), "None" | "Any" | "dynamic" | "any") => {
                "an unknown dimension is a symbol, declared as `<N>` after the function's name".to_owned()
            }
            Undeclared::OfFunction(function) => format!(
                "declare {}: `fn {function}<{}>(…)`, or define `const {first}: dim = …;` in the block",
                if new.len() == 1 { "it" } else { "them" },
                all.join(", ")
            ),
            Undeclared::OfClosure => format!(
                "the dimensions of a closure are numbers: write a number in place of `{first}`, as in `f32[3]`"
            ),
        };
        diags.push(Diag::new(Code::E2002, *site, message).help(help));
    }

    /// Resolves a type.
    pub(crate) fn structure(&self, written: &TypeExpr) -> Result<Structure, Unknown> {
        match &written.kind {
            TypeKind::Tensor { .. } => self.tensor(written).map(Structure::Value),
            TypeKind::Tuple(elements) => {
                let (mut parts, mut leaves) = (Vec::new(), 0);
                for element in elements {
                    let part = self.structure(element)?;
                    leaves += part.leaves().len();
                    if leaves > MAX_LEAVES {
                        let message = format!("the type exceeds the limit of {MAX_LEAVES} values in all");
                        return Err(Some(Diag::new(Code::E1008, written.site, message)));
                    }
                    parts.push(part);
                }
                Ok(Structure::Tuple(parts))
            }
            TypeKind::Struct { name, dims, over, stacked } => {
                let ty = match (self.state(name), over) {
                    (Some(state), over) => {
                        let over = states::over(name, dims, over.as_deref()).ok_or(&dims[..]);
                        let ty = self.state_type(name, state, over, written.site)?;
                        self.stacked_type(ty, stacked, written.site)
                    }
                    (None, None) => self.struct_type(name, dims, stacked, written.site),
                    (None, Some(over)) => {
                        let Defined { definition, .. } = self.definition(name)?;
                        let message = format!("`{}` takes dimensions, found {over}", definition.name);
                        Err(Some(Diag::new(Code::E2001, over.site, message)))
                    }
                };
                ty.map(Structure::Struct)
            }
        }
    }

    /// Resolves the type of a tensor and checks that a value may have it.
    pub(crate) fn tensor(&self, written: &TypeExpr) -> Result<Type, Unknown> {
        let TypeKind::Tensor { dtype, dims } = &written.kind else {
            let message = format!("found {written}, expected the type of a tensor");
            return Err(Some(Diag::new(Code::E2001, written.site, message)));
        };
        let shape = dims.iter().map(|dim| self.dim(dim)).collect::<Result<Shape, _>>()?;
        let ty = Type::new(*dtype, shape);
        let bad = ty.shape.iter().position(|dim| dim.as_literal().is_some_and(|extent| extent < 1));
        let site = bad.map_or(written.site, |axis| dims[axis].site);
        check_tensor(&ty, site).map_err(Some)?;
        Ok(ty)
    }
}

impl DimNames {
    /// Resolves the type `Dense<64, N>` or `Dense<64, N>[12]`.
    pub(crate) fn struct_type(
        &self,
        name: &Callee,
        dims: &[DimExpr],
        stacked: &[DimExpr],
        site: Site,
    ) -> Result<StructType, Unknown> {
        let defined = self.definition(name)?;
        let definition = &defined.definition;
        if self.may_be_open && dims.is_empty() && stacked.is_empty() {
            return Ok(StructType::open(name.name.clone(), defined));
        }
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
        let ty = StructType::new(name.name.clone(), dims, defined).map_err(overflow)?;
        let structure = Structure::Struct(self.stacked_type(ty, stacked, site)?);
        for leaf in structure.named_leaves() {
            if let Err(diag) = check_tensor(leaf.ty, site) {
                let path: Vec<_> = leaf.path.iter().map(ToString::to_string).collect();
                return Err(Some(diag.note(format!("in `{}` of `{structure}`", path.join(".")))));
            }
        }
        let Structure::Struct(ty) = structure else { unreachable!("it was made a struct just above") };
        Ok(ty)
    }

    /// The type of a stack with these leading axes.
    fn stacked_type(
        &self,
        element: StructType,
        counts: &[DimExpr],
        site: Site,
    ) -> Result<StructType, Unknown> {
        let mut ty = element;
        for written in counts.iter().rev() {
            let count = self.dim(written)?;
            if count.as_literal().is_some_and(|count| count < 1) {
                let message = format!("`{}`: a leading axis has {count} elements, needed 1 or more", ty.name);
                return Err(Some(Diag::new(Code::E3006, written.site, message)));
            }
            let overflow =
                |overflow: Overflow| Some(Diag::new(Code::E1008, site, format!("`{}`: {overflow}", ty.name)));
            let level = ty.counts().len() + 1;
            if self.is_unread(&stack_name(&ty.name, level).to_string()) {
                return Err(None);
            }
            let stack = ty.stacked(count).ok_or_else(|| Some(not_stacked(&ty, written.site)))?;
            ty = stack.map_err(overflow)?;
        }
        Ok(ty)
    }

    /// The library struct that a path names, unless the program imports an item by that path.
    pub(crate) fn state(&self, name: &Callee) -> Option<states::OptimiserState> {
        let text = name.to_string();
        let is_imported = self.structs.contains_key(&text) || self.is_unread(&text);
        if is_imported { None } else { states::find(name) }
    }

    /// Resolves the type `optim::Adam<Dense<64, N>>`.
    pub(crate) fn state_type(
        &self,
        name: &Callee,
        state: states::OptimiserState,
        over: Result<TypeExpr, &[DimExpr]>,
        site: Site,
    ) -> Result<StructType, Unknown> {
        let over = over.map_err(|dims| {
            let found: Vec<_> = dims.iter().map(ToString::to_string).collect();
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            let message = format!("`{name}` takes a struct of parameters, found {found}");
            let help = format!("write it with your own struct, as in `{name}<Net>`");
            Some(Diag::new(Code::E2007, site, message).help(help))
        })?;
        match self.structure(&over)? {
            Structure::Struct(parameters) => {
                let defined = state.of(&parameters, name, over.site).map_err(Some)?;
                let overflow = |overflow| Some(Diag::new(Code::E1008, site, format!("`{name}`: {overflow}")));
                StructType::new(state.item.name, parameters.dims, defined).map_err(overflow)
            }
            found @ (Structure::Value(_) | Structure::Tuple(_)) => {
                let message = format!("`{name}` takes a struct of parameters, found {found}");
                Err(Some(Diag::new(Code::E2001, over.site, message)))
            }
        }
    }

    /// The errors in a struct pattern for a value that only Rust knows.
    pub(crate) fn pattern_errors(
        &self,
        name: &Callee,
        fields: &[FieldPattern],
        others: bool,
        site: Site,
    ) -> Vec<Diag> {
        let (text, known): (_, Vec<Ident>) = match (self.state(name), self.definition(name)) {
            (Some(state), _) => (name.to_string(), state.item.fields.into_iter().map(|f| f.name).collect()),
            (None, Ok(Defined { definition, .. })) => {
                let names = definition.fields.iter().map(|field| field.name.clone());
                (definition.name.to_string(), names.collect())
            }
            (None, Err(mistake)) => return mistake.into_iter().collect(),
        };
        let wrong: Vec<Diag> =
            fields.iter().filter_map(|field| position(&text, &known, &field.name).err()).collect();
        let is_taken = |known: &Ident| fields.iter().any(|field| field.name == *known);
        let missing = known.iter().filter(|field| !is_taken(field));
        let missing: Vec<_> = missing.map(|field| format!("`{field}`")).collect();
        if others || missing.is_empty() || !wrong.is_empty() {
            return wrong;
        }
        let message = format!("the pattern does not mention {} of `{name}`", missing.join(", "));
        vec![Diag::new(Code::E2007, site, message).help("end the pattern with `..`")]
    }

    /// Sets the Rust names of the structs in an inferred type.
    pub(crate) fn give_aliases(&self, structure: &mut Structure, site: Site) -> Result<(), Diag> {
        match structure {
            Structure::Value(_) => Ok(()),
            Structure::Tuple(elements) => {
                elements.iter_mut().try_for_each(|element| self.give_aliases(element, site))
            }
            // Its name in Rust includes the type over which it is generic.
            Structure::Struct(ty) if ty.over().is_some() => {
                ty.fields.iter_mut().try_for_each(|field| self.give_aliases(field, site))
            }
            Structure::Struct(ty) => {
                let mut known = self.structs.iter().filter_map(|(name, known)| Some((name, known.as_ref()?)));
                match known.find(|(_, known)| ty.definition.base().0.is(&known.definition)) {
                    Some((name, known)) => {
                        let name = name.rsplit("::").next().unwrap_or(name);
                        if ty.name != name {
                            ty.name = ident(name, ty.name.span());
                        }
                        ty.alias.clone_from(&known.alias);
                        Ok(())
                    }
                    None => {
                        let message = format!("the result is a `{ty}`, and `{}` is not imported", ty.name);
                        Err(Diag::new(Code::E2002, site, message)
                            .help(format!("import `{}` with `use` at the start", ty.name)))
                    }
                }
            }
        }
    }

    /// Returns E2002 for a stack whose Rust type a block would have to make, where there is no block.
    pub(crate) fn has_rust_types(&self, structure: &Structure, site: Site) -> Result<(), Diag> {
        let mut rest = vec![structure];
        while let Some(structure) = rest.pop() {
            match structure {
                Structure::Struct(ty) if ty.is_made_here() => {
                    let message = format!("`{ty}` has no Rust type: only a block of items generates one");
                    let help =
                        format!("write a function of a block, or name `{ty}` in the block of `{}`", ty.name);
                    return Err(Diag::new(Code::E2002, site, message).help(help));
                }
                Structure::Struct(ty) if ty.over().is_some() => rest.extend(&ty.fields),
                Structure::Tuple(elements) => rest.extend(elements),
                Structure::Struct(_) | Structure::Value(_) => {}
            }
        }
        Ok(())
    }

    /// The struct of this name.
    pub(crate) fn definition(&self, name: &Callee) -> Result<Defined, Unknown> {
        let text = name.to_string();
        match self.structs.get(&text) {
            Some(definition) => definition.clone().ok_or(None),
            None if self.is_unread(&text) => Err(None),
            None => {
                if let [file] = &name.path[..]
                    && states::is_path(name)
                {
                    return Err(Some(states::undefined(&file.to_string(), name)));
                }
                let known = self.structs.keys().map(String::as_str).chain(DType::NUMERIC.map(DType::name));
                if self.get(&text).is_some() || self.plain.contains_key(&text) {
                    let message = format!("`{text}` is a constant, expected a struct");
                    return Err(Some(Diag::new(Code::E2001, name.site(), message)));
                }
                let mut diag = undefined("type", &text, name.site(), known);
                if let Some(help) = habits::type_name(&text) {
                    diag.help = Some(help.to_owned());
                }
                diag.help.get_or_insert_with(|| {
                    format!(
                        "dtypes are {}; for a struct, define `struct {text} {{ … }}` in the block or import it with \
                            `use`",
                        mind_shape::names::NUMBERS_THERE_ARE
                    )
                });
                Err(Some(diag))
            }
        }
    }
}

/// The error E2001 for a stack of structs of the library.
pub(crate) fn not_stacked(ty: &StructType, site: Site) -> Diag {
    let (message, help) = match ty.over() {
        Some((file, over)) => (
            format!("`{ty}` has no leading axis: it has a single step counter for all parameters"),
            format!("declare its parameters with one, as in `{file}::{}<{over}[12]>`", ty.name),
        ),
        None => (
            format!("`{ty}` has no leading axis: it contains a struct of the library"),
            "put the state of the optimiser in a separate struct".to_owned(),
        ),
    };
    Diag::new(Code::E2001, site, message).help(help)
}

impl Plain {
    /// Its kind, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Truth(_) => "a truth value",
            Self::Number(number) => match number.value {
                NumberValue::Integer(_) => "an integer",
                NumberValue::Float(_) => "a float",
            },
        }
    }
}

/// Checks that a value may have this type.
fn check_tensor(ty: &Type, site: Site) -> Result<(), Diag> {
    let name: Arc<str> = "x".into();
    check_input(None, false, &name, ty).map_err(|error| {
        let OpError { code, problem, .. } = *error;
        Diag::new(code, site, problem)
    })
}

/// The reason that an operation on dimensions has no value.
pub(crate) enum DimFault {
    /// It exceeds a limit.
    Overflow(Overflow),
    /// The divisor is not known to be at least 1.
    Divisor(Dim),
}

impl DimFault {
    pub(crate) fn at(self, site: Site) -> Diag {
        match self {
            Self::Overflow(overflow) => Diag::new(Code::E1008, site, overflow.to_string()),
            Self::Divisor(divisor) => {
                let message =
                    format!("`/`: the divisor of a dimension is {divisor}, needed an integer of at least 1");
                Diag::new(Code::E3006, site, message)
            }
        }
    }
}

/// Applies an operator to dimensions. Division by an integer rounds down; division by a symbolic dimension must be
/// exact.
pub(crate) fn operate(operator: DimOperator, lhs: &Dim, rhs: &Dim) -> Result<Dim, DimFault> {
    let result = match operator {
        DimOperator::Add => lhs.add(rhs),
        DimOperator::Sub => lhs.sub(rhs),
        DimOperator::Mul => lhs.mul(rhs),
        DimOperator::Div => match rhs.as_literal() {
            Some(divisor) if divisor >= 1 => lhs.floor_div(divisor),
            Some(_) => return Err(DimFault::Divisor(rhs.clone())),
            None => {
                let quotient = lhs.exact_div(rhs).map_err(DimFault::Overflow)?;
                return quotient.ok_or_else(|| DimFault::Divisor(rhs.clone()));
            }
        },
    };
    result.map_err(DimFault::Overflow)
}
