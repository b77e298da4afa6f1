//! Inlined templates: what the call gives is held against what the template takes, and mistakes inside are told at it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::attributes::Attributes;
use super::expressions::Expressions;
use super::lowering::{BodyLowering, Frame};
use super::table::Scope;
use super::types::DimNames;
use super::values::{Binding, Lowered, Names, Stop, Value};
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::surface::ast::{
    DeclaredKind, DimExpr, DimStepKind, ElementClass, ElementPattern, ExprId, Formal, Home, Pack, Template,
    TemplateParameter, TensorPattern,
};
use crate::ty::{DType, Type};

impl Formal {
    pub(crate) fn pattern(&self) -> Option<&TensorPattern> {
        match self {
            Self::Tensor(pattern) => Some(pattern),
            Self::Any | Self::Constant { .. } => None,
        }
    }
}

pub(crate) fn declared_dims(template: &Template) -> impl Iterator<Item = String> {
    let dims = template.declared.iter().filter(|declared| declared.kind == DeclaredKind::Dim);
    dims.map(|declared| declared.name.to_string())
}

/// What the names of a template stand for in a call, and the argument that told it.
#[derive(Default)]
struct Told {
    dims: BTreeMap<String, (Dim, ExprId)>,
    packs: BTreeMap<String, (Vec<Dim>, ExprId)>,
    elements: BTreeMap<String, (DType, ExprId)>,
}

impl<'a> BodyLowering<'a> {
    /// Binds the arguments of a template, none of which is known while the template is checked by itself.
    pub(super) fn enter_template(&mut self, template: &Template, arguments: &[Option<ExprId>], site: Site) {
        let mut told = Told::default();
        let mut values = Vec::new();
        let is_call = !arguments.is_empty() || template.parameters.is_empty();
        let mut sound = is_call;
        for (parameter, argument) in template.parameters.iter().zip(arguments) {
            let argument = argument.expect("what has no argument has a default");
            match self.passed(template, parameter, argument, &mut told) {
                Ok(value) => values.push(value),
                Err(stop) => {
                    self.report(stop);
                    sound = false;
                }
            }
        }
        let (table, known) = self.home(template.home);
        let mut dims = DimNames { symbols: Vec::new(), ..known };
        if sound {
            let bound = told.dims.iter().map(|(name, (dim, _))| (name.clone(), dim.clone()));
            Arc::make_mut(&mut dims.constants).extend(bound);
            let checked = self.computed_dims(template, arguments, &dims);
            sound = checked.map_err(|stop| self.report(stop)).is_ok();
        }
        if !sound {
            Arc::make_mut(&mut dims.unread).extend(declared_dims(template));
        }
        let mut names = Names::default();
        let mut values = values.into_iter();
        for parameter in &template.parameters {
            let value = values.next().filter(|_| sound).unwrap_or(Value::Poison);
            names.bind(parameter.name.to_string(), Binding::Local(value));
        }
        let outside = std::mem::replace(&mut self.names, names);
        let site = is_call.then_some(site);
        let table = std::mem::replace(&mut self.table, table);
        self.frames.push(Frame {
            name: template.full_name(),
            home: template.home,
            site,
            outside,
            table,
            dims,
        });
    }

    pub(super) fn leave_template(&mut self, tail: Option<ExprId>) -> Value {
        let frame = self.frames.pop().expect("a body of a template is left once it was entered");
        (self.names, self.table) = (frame.outside, frame.table);
        tail.map_or_else(Value::unit, |tail| self.values[tail.index()].clone())
    }

    /// The functions and the names in dimensions that a template sees.
    fn home(&self, home: Home) -> (Scope<'a>, DimNames) {
        // The one around all templates.
        let table = self.frames.first().map_or(self.table, |frame| frame.table);
        match home {
            Home::Here => (table, self.signature.dims.clone()),
            Home::Library(_) => (table.of_library(), DimNames::default()),
            Home::Elsewhere(home) => {
                let (table, dims) = table.of_home(home);
                (table, dims.clone())
            }
        }
    }

    /// The call of the outermost template that is being lowered.
    pub(super) fn call_site(&self) -> Option<Site> {
        self.frames.first().and_then(|frame| frame.site)
    }

    /// A mistake inside of templates, told at the call that led there.
    pub(super) fn at_call(&self, diag: Diag) -> Diag {
        self.frames.iter().rev().fold(diag, |diag, frame| {
            let Some(site) = frame.site else { return diag };
            let (inside, message) = (diag.site, format!("in `{}`: {}", frame.name, diag.message));
            let diag = Diag { site, message, ..diag };
            match frame.home {
                Home::Here | Home::Elsewhere(_) => {
                    diag.note_at(inside, format!("it stands in `{}`", frame.name))
                }
                // The library's text has no place that the user could look at.
                Home::Library(_) => diag,
            }
        })
    }

    /// The value of an argument, if it is what the parameter takes.
    fn passed(
        &mut self,
        template: &Template,
        parameter: &TemplateParameter,
        argument: ExprId,
        told: &mut Told,
    ) -> Lowered<Value> {
        let value = self.values[argument.index()].clone();
        if matches!(value, Value::Poison) {
            return Err(Stop::Poisoned);
        }
        match &parameter.takes {
            Formal::Any => Ok(value),
            Formal::Constant { kind, .. } => {
                let read = self.constant_attribute(*kind, argument);
                read.map(|()| value).map_err(|stop| match stop {
                    Stop::Mistake(diag) => {
                        let message = format!(
                            "argument `{}` of `{}`: {}",
                            parameter.name,
                            template.full_name(),
                            diag.message
                        );
                        declared(Diag { message, ..*diag }, template, parameter).into()
                    }
                    Stop::Poisoned => Stop::Poisoned,
                })
            }
            Formal::Tensor(pattern) => {
                let class = pattern.class(template);
                if let (Value::Literal(id), Some(class)) = (&value, class)
                    && self.literals.is_number(*id)
                    && self.literals.fits(*id, class.default_dtype())
                    && pattern.dims.is_empty()
                {
                    return Ok(value);
                }
                let fixed = match pattern.elements {
                    ElementPattern::Fixed(dtype) => Some(dtype),
                    ElementPattern::Class(_) | ElementPattern::Variable(_) => None,
                };
                if let Value::Tuple(_) | Value::Struct(_) | Value::Word(_) = value {
                    return Err(self.unlike(template, parameter, argument, pattern).into());
                }
                let tensor = self.tensor(argument, fixed)?;
                let ty = self.builder.ty(tensor).clone();
                match self.matches(template, pattern, &ty, argument, told) {
                    Ok(()) => Ok(Value::Tensor(tensor)),
                    Err(notes) => {
                        let diag = self.unlike(template, parameter, argument, pattern);
                        Err(notes
                            .into_iter()
                            .fold(diag, |diag, (site, note)| diag.note_at(site, note))
                            .into())
                    }
                }
            }
        }
    }

    /// Whether a type is one of a pattern; if not, what is to be said of the names that other arguments told.
    fn matches(
        &self,
        template: &Template,
        pattern: &TensorPattern,
        ty: &Type,
        argument: ExprId,
        told: &mut Told,
    ) -> Result<(), Vec<(Site, String)>> {
        let because = |name: &str, is: String, giver: ExprId| {
            let note = format!(
                "`{name}` is {is} because {} is {}",
                self.text(giver),
                self.type_text(self.value(giver))
            );
            vec![(self.body[giver].site, note)]
        };
        let fits = match &pattern.elements {
            ElementPattern::Fixed(dtype) => ty.dtype == *dtype,
            ElementPattern::Class(_) | ElementPattern::Variable(_) => {
                pattern.class(template).is_some_and(|class| class.has(ty.dtype))
            }
        };
        let Some(leading) = ty.rank().checked_sub(pattern.dims.len()).filter(|_| fits) else {
            return Err(Vec::new());
        };
        if leading > 0 && pattern.pack.is_none() {
            return Err(Vec::new());
        }
        if let ElementPattern::Variable(name) = &pattern.elements {
            let (dtype, giver) = *told.elements.entry(name.to_string()).or_insert((ty.dtype, argument));
            if dtype != ty.dtype {
                return Err(because(&name.to_string(), dtype.to_string(), giver));
            }
        }
        let (first, last) = ty.shape.split_at(leading);
        if let Some(Pack::Named(name)) = &pattern.pack {
            let (dims, giver) =
                told.packs.entry(name.to_string()).or_insert_with(|| (first.to_vec(), argument));
            if dims[..] != *first {
                let dims = crate::ty::Shape::new(dims.clone());
                return Err(because(&name.to_string(), dims.to_string(), *giver));
            }
        }
        for (written, dim) in pattern.dims.iter().zip(last) {
            let Some(name) = symbol(template, written) else { continue };
            let (known, giver) = told.dims.entry(name.clone()).or_insert_with(|| (dim.clone(), argument));
            if known != dim {
                return Err(because(&name, known.to_string(), *giver));
            }
        }
        Ok(())
    }

    /// Checks the dimensions that are no names by themselves, once all names are known.
    fn computed_dims(
        &self,
        template: &Template,
        arguments: &[Option<ExprId>],
        dims: &DimNames,
    ) -> Lowered<()> {
        for (parameter, argument) in template.parameters.iter().zip(arguments) {
            let (Some(pattern), Some(argument)) = (parameter.takes.pattern(), *argument) else { continue };
            let Value::Tensor(tensor) = self.values[argument.index()] else { continue };
            let shape = &self.builder.ty(tensor).shape;
            let last = shape.len().saturating_sub(pattern.dims.len());
            for (written, dim) in pattern.dims.iter().zip(&shape[last..]) {
                if symbol(template, written).is_some() {
                    continue;
                }
                let needed = dims.dim(written).map_err(Stop::from)?;
                if needed != *dim {
                    let diag = self.unlike(template, parameter, argument, pattern);
                    let is_number =
                        needed.as_literal().is_some_and(|needed| written.to_string() == needed.to_string());
                    return Err(match is_number {
                        true => diag.into(),
                        false => diag.note(format!("`{written}` is {needed} in this call")).into(),
                    });
                }
            }
        }
        Ok(())
    }

    fn unlike(
        &self,
        template: &Template,
        parameter: &TemplateParameter,
        argument: ExprId,
        pattern: &TensorPattern,
    ) -> Diag {
        let found = self.type_text(self.value(argument));
        let message = format!(
            "argument `{}` of `{}`: expected {pattern}, found {found}",
            parameter.name,
            template.full_name()
        );
        declared(Diag::new(Code::E2001, self.body[argument].site, message), template, parameter)
    }
}

pub(crate) fn declared(diag: Diag, template: &Template, parameter: &TemplateParameter) -> Diag {
    match template.home {
        Home::Here | Home::Elsewhere(_) => diag.note_at(parameter.site, format!("`{parameter}` is declared")),
        Home::Library(_) => diag.note(format!("`{}` declares `{parameter}`", template.full_name())),
    }
}

/// The dimension of the template that a written one is by itself.
pub(crate) fn symbol(template: &Template, written: &DimExpr) -> Option<String> {
    let [step] = &written.steps[..] else { return None };
    let DimStepKind::Name(name) = &step.kind else { return None };
    let name = name.to_string();
    declared_dims(template).find(|declared| *declared == name)
}

impl TensorPattern {
    pub(crate) fn class(&self, template: &Template) -> Option<ElementClass> {
        match &self.elements {
            ElementPattern::Class(class) => Some(*class),
            ElementPattern::Fixed(_) => None,
            ElementPattern::Variable(name) => {
                let declared = template.declared.iter().find(|declared| declared.name == *name)?;
                match declared.kind {
                    DeclaredKind::Elements(class) => Some(class),
                    DeclaredKind::Dim | DeclaredKind::Pack => None,
                }
            }
        }
    }
}
