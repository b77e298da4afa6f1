//! Inlined templates: what the call gives is held against what the template takes, and mistakes inside are reported at the call.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::lowering::{BodyLowering, Frame};
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::surface::ast::{
    DeclaredKind, DimExpr, DimStepKind, ElementClass, ElementPattern, ExprId, Formal, Home, NodeKind, Pack,
    Template, TemplateParameter, TensorPattern,
};
use crate::surface::lower::callees::table::Scope;
use crate::surface::lower::declarations::structure::StructType;
use crate::surface::lower::declarations::types::DimNames;
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::by_field::{Fields, ReadFields};
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::params::{ReadParams, TakesParams, declared};
use crate::surface::lower::values::{Binding, Lowered, Names, Stop, Value};
use crate::ty::{DType, Type};

impl Formal {
    /// Whether floats may be passed as tensors.
    pub(crate) fn may_be_floats(&self, template: &Template) -> bool {
        match self {
            Self::Any | Self::Params(_) | Self::State { .. } => true,
            Self::Constant { .. } => false,
            Self::Tensor(pattern) => match (&pattern.elements, pattern.class(template)) {
                (ElementPattern::Fixed(dtype), _) => dtype.is_float(),
                (_, class) => class.is_none_or(|class| class != ElementClass::Int),
            },
        }
    }

    pub(crate) fn pattern(&self) -> Option<&TensorPattern> {
        match self {
            Self::Tensor(pattern) => Some(pattern),
            Self::Any | Self::Params(_) | Self::State { .. } | Self::Constant { .. } => None,
        }
    }
}

/// The parameters with what they stand for, before the body hides one of them.
fn parameters(template: &Template, names: &Names) -> Vec<(String, Value)> {
    let parameter = |parameter: &TemplateParameter| {
        let name = parameter.name.to_string();
        let value = match names.get(&name) {
            Some(Binding::Local(value)) => value.clone(),
            Some(Binding::Parameter(_)) | None => Value::Poison,
        };
        (name, value)
    };
    template.parameters.iter().map(parameter).collect()
}

pub(crate) fn declared_dims(template: &Template) -> impl Iterator<Item = String> {
    let dims = template.declared.iter().filter(|declared| declared.kind == DeclaredKind::Dim);
    dims.map(|declared| declared.name.to_string())
}

/// The names of a template that stand for dimensions and element types.
fn declared_names(template: &Template) -> impl Iterator<Item = String> {
    let declared = template.declared.iter();
    let declared = declared.filter(|declared| match declared.kind {
        DeclaredKind::Dim | DeclaredKind::Elements(_) => true,
        DeclaredKind::Pack | DeclaredKind::Params => false,
    });
    declared.map(|declared| declared.name.to_string())
}

/// The packs that parameters of a template have.
fn packs(template: &Template) -> impl Iterator<Item = String> {
    let patterns = template.parameters.iter().filter_map(|parameter| parameter.takes.pattern());
    patterns.filter_map(|pattern| match &pattern.pack {
        Some(Pack::Named(name)) => Some(name.to_string()),
        Some(Pack::Any) | None => None,
    })
}

/// Names of which a mistake hides what they stand for.
pub(crate) fn unread(dims: &mut DimNames, template: &Template) {
    Arc::make_mut(&mut dims.unread).extend(declared_names(template));
    dims.packs = Arc::new(packs(template).map(|name| (name, None)).collect());
}

/// What the names of a template stand for in a call, and the argument that it is deduced from.
#[derive(Default)]
struct Deduced {
    dims: BTreeMap<String, (Dim, ExprId)>,
    packs: BTreeMap<String, (Vec<Dim>, ExprId)>,
    elements: BTreeMap<String, (DType, ExprId)>,
    /// What literals are of by themselves, where no tensor tells.
    literals: BTreeMap<String, DType>,
    params: BTreeMap<String, (Rc<StructType>, ExprId)>,
}

impl<'a> BodyLowering<'a> {
    /// Binds the arguments of a template, none of which is known while the template is checked by itself.
    pub(crate) fn enter_template(
        &mut self,
        template: &Template,
        arguments: &[Option<ExprId>],
        enter: ExprId,
    ) -> Lowered<()> {
        let is_call = !arguments.is_empty() || template.parameters.is_empty();
        let fields = self.fields(template, arguments, enter).map_err(|stop| self.report(stop));
        let bound = match &fields {
            Ok(fields) if is_call => self.bound(template, arguments, fields.as_ref()),
            Ok(_) | Err(()) => None,
        };
        let (names, dims) = bound.unwrap_or_else(|| self.unbound(template));
        let parameters = parameters(template, &names);
        let outside = std::mem::replace(&mut self.names, names);
        let site = is_call.then_some(self.site(enter));
        let (table, _) = self.home(template.home);
        let table = std::mem::replace(&mut self.table, table);
        self.frames.push(Frame {
            name: template.full_name(),
            home: template.home,
            parameters,
            site,
            outside,
            table,
            dims,
            fields: fields.ok().flatten(),
        });
        Ok(())
    }

    /// The value of a call, or nothing where the body is to be lowered again, for the next field of a struct.
    pub(crate) fn leave_template(&mut self, tail: Option<ExprId>, leave: ExprId) -> Lowered<Option<Value>> {
        let value = tail.map_or_else(Value::unit, |tail| self.values[tail.index()].clone());
        let mut frame = self.frames.pop().expect("a body of a template is left once it was entered");
        // Mistakes in an argument are reported outside of the body.
        let inside = std::mem::replace(&mut self.table, frame.table);
        if let Some(fields) = &mut frame.fields {
            let is_poison = matches!(value, Value::Poison);
            fields.results.push(value.clone());
            let body = self.body;
            if !is_poison
                && fields.results.len() < fields.names.len()
                && let NodeKind::Enter { template, arguments } = &body[fields.enter].kind
                && let Some((names, dims)) = self.bound(template, arguments, Some(fields))
            {
                frame.parameters = parameters(template, &names);
                frame.dims = dims;
                (self.names, self.table) = (names, inside);
                self.frames.push(frame);
                return Ok(None);
            }
        }
        self.names = frame.outside;
        match frame.fields {
            None => Ok(Some(value)),
            Some(fields) if fields.results.len() < fields.names.len() => Err(Stop::Poisoned),
            Some(fields) => self.assembled(&frame.name, &fields, &fields.results, leave).map(Some),
        }
    }

    /// What the names in a template mean in a call; nothing where an argument is none that it takes.
    fn bound(
        &mut self,
        template: &Template,
        arguments: &[Option<ExprId>],
        fields: Option<&Fields>,
    ) -> Option<(Names, DimNames)> {
        let (mut deduced, mut sound) = (Deduced::default(), true);
        let mut values = vec![Value::Poison; template.parameters.len()];
        let given = arguments.iter().map(|argument| argument.expect("what has no argument has a default"));
        let is_literal = |argument: ExprId| matches!(self.values[argument.index()], Value::Literal(_));
        // Literals come last, with the element types that the others tell.
        let (last, first): (Vec<_>, Vec<_>) =
            given.enumerate().partition(|(_, argument)| is_literal(*argument));
        for (position, argument) in first.into_iter().chain(last) {
            let field = fields.and_then(|fields| fields.tensor(position));
            let value = field.map_or_else(|| self.values[argument.index()].clone(), Value::Tensor);
            let parameter = &template.parameters[position];
            let passed = self.passed(template, parameter, (value, argument), &mut deduced);
            let passed = passed.map_err(|stop| self.of_field(stop, (position, argument), fields));
            sound &= passed.is_ok();
            values[position] = self.value_or_poison(passed);
        }
        if !sound {
            return None;
        }
        let (_, known) = self.home(template.home);
        let mut dims = DimNames { symbols: Vec::new(), ..known };
        let bound = deduced.dims.iter().map(|(name, (dim, _))| (name.clone(), dim.clone()));
        Arc::make_mut(&mut dims.constants).extend(bound);
        let elements = deduced.elements.into_iter().map(|(name, (dtype, _))| (name, dtype));
        dims.elements = Arc::new(deduced.literals.into_iter().chain(elements).collect());
        dims.packs =
            Arc::new(deduced.packs.into_iter().map(|(name, (dims, _))| (name, Some(dims))).collect());
        let checked = self.computed_dims(template, arguments, (&values, fields), &dims);
        checked.map_err(|stop| self.report(stop)).ok()?;
        let mut names = Names::default();
        for (parameter, value) in template.parameters.iter().zip(values) {
            names.bind(parameter.name.to_string(), Binding::Local(value));
        }
        Some((names, dims))
    }

    /// A mistake in an argument, with the field that is given if it is a struct.
    fn of_field(&self, stop: Stop, (position, argument): (usize, ExprId), fields: Option<&Fields>) -> Stop {
        match (stop, fields.filter(|fields| fields.tensor(position).is_some())) {
            (Stop::Mistake(diag), Some(fields)) => {
                let (field, text) = (fields.current(), self.text(argument));
                diag.note(format!("it is `{field}` of {text}, which is taken field by field")).into()
            }
            (stop, _) => stop,
        }
    }

    /// The names in a template of which nothing is known.
    fn unbound(&self, template: &Template) -> (Names, DimNames) {
        let mut names = Names::default();
        for parameter in &template.parameters {
            names.bind(parameter.name.to_string(), Binding::Local(Value::Poison));
        }
        let mut dims = DimNames { symbols: Vec::new(), ..self.home(template.home).1 };
        unread(&mut dims, template);
        (names, dims)
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
    pub(crate) fn call_site(&self) -> Option<Site> {
        self.frames.first().and_then(|frame| frame.site)
    }

    /// A mistake inside of templates, reported at the outermost call.
    pub(crate) fn at_call(&self, diag: Diag) -> Diag {
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
        (value, argument): (Value, ExprId),
        deduced: &mut Deduced,
    ) -> Lowered<Value> {
        if matches!(value, Value::Poison) {
            return Err(Stop::Poisoned);
        }
        match &parameter.takes {
            Formal::Any => Ok(value),
            Formal::Params(class) => {
                let takes = TakesParams { template, parameter, class, state: None };
                self.given_params(takes, (value, argument), deduced)
            }
            Formal::State { name, over } => {
                let takes = TakesParams { template, parameter, class: over, state: Some(name) };
                self.given_params(takes, (value, argument), deduced)
            }
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
                    if let ElementPattern::Variable(name) = &pattern.elements {
                        deduced.literals.entry(name.to_string()).or_insert(self.literals.default_dtype(*id));
                    }
                    if let Some(Pack::Named(name)) = &pattern.pack {
                        deduced.packs.entry(name.to_string()).or_insert((Vec::new(), argument));
                    }
                    return Ok(value);
                }
                let fixed = match &pattern.elements {
                    ElementPattern::Fixed(dtype) => Some(*dtype),
                    ElementPattern::Variable(name) => {
                        deduced.elements.get(&name.to_string()).map(|(dtype, _)| *dtype)
                    }
                    ElementPattern::Class(_) => None,
                };
                if let Value::Tuple(_) | Value::Struct(_) | Value::Word(_) = value {
                    return Err(self.unlike(template, parameter, (&value, argument), pattern).into());
                }
                let tensor = match value {
                    Value::Tensor(tensor) => tensor,
                    _ => self.tensor(argument, fixed)?,
                };
                let ty = self.builder.ty(tensor).clone();
                match self.matches(template, pattern, &ty, argument, deduced) {
                    Ok(()) => Ok(Value::Tensor(tensor)),
                    Err(notes) => {
                        let value = Value::Tensor(tensor);
                        let diag = self.unlike(template, parameter, (&value, argument), pattern);
                        Err(notes
                            .into_iter()
                            .fold(diag, |diag, (site, note)| diag.note_at(site, note))
                            .into())
                    }
                }
            }
        }
    }

    /// A struct of parameters, or one of the library over them.
    fn given_params(
        &self,
        takes: TakesParams<'_>,
        (value, argument): (Value, ExprId),
        deduced: &mut Deduced,
    ) -> Lowered<Value> {
        let class = takes.class.to_string();
        let known = deduced.params.get(&class).map(|(ty, giver)| (&**ty, *giver));
        let (_, names) = self.home(takes.template.home);
        let found = self.params(takes, (&value, argument), known, &names)?;
        if let Some(first) = found.first() {
            deduced.params.entry(class).or_insert_with(|| (first.record.ty.clone(), argument));
        }
        Ok(value)
    }

    /// Whether a type is one of a pattern; if not, the names that other arguments decided, for the message.
    fn matches(
        &self,
        template: &Template,
        pattern: &TensorPattern,
        ty: &Type,
        argument: ExprId,
        deduced: &mut Deduced,
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
            let (dtype, giver) = *deduced.elements.entry(name.to_string()).or_insert((ty.dtype, argument));
            if dtype != ty.dtype {
                return Err(because(&name.to_string(), dtype.to_string(), giver));
            }
        }
        let (first, last) = ty.shape.split_at(leading);
        if let Some(Pack::Named(name)) = &pattern.pack {
            let (dims, giver) =
                deduced.packs.entry(name.to_string()).or_insert_with(|| (first.to_vec(), argument));
            if dims[..] != *first {
                let dims = crate::ty::Shape::new(dims.clone());
                return Err(because(&name.to_string(), dims.to_string(), *giver));
            }
        }
        for (written, dim) in pattern.dims.iter().zip(last) {
            let Some(name) = symbol(template, written) else { continue };
            let (known, giver) = deduced.dims.entry(name.clone()).or_insert_with(|| (dim.clone(), argument));
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
        (values, fields): (&[Value], Option<&Fields>),
        dims: &DimNames,
    ) -> Lowered<()> {
        let parameters = template.parameters.iter().zip(arguments).zip(values).enumerate();
        for (position, ((parameter, argument), value)) in parameters {
            let (Some(pattern), Some(argument)) = (parameter.takes.pattern(), *argument) else { continue };
            let Value::Tensor(tensor) = *value else { continue };
            let shape = &self.builder.ty(tensor).shape;
            let last = shape.len().saturating_sub(pattern.dims.len());
            for (written, dim) in pattern.dims.iter().zip(&shape[last..]) {
                if symbol(template, written).is_some() {
                    continue;
                }
                let needed = dims.dim(written).map_err(Stop::from)?;
                if needed != *dim {
                    let diag = self.unlike(template, parameter, (value, argument), pattern);
                    let is_number =
                        needed.as_literal().is_some_and(|needed| written.to_string() == needed.to_string());
                    let diag = match is_number {
                        true => diag,
                        false => diag.note(format!("`{written}` is {needed} in this call")),
                    };
                    return Err(self.of_field(diag.into(), (position, argument), fields));
                }
            }
        }
        Ok(())
    }

    fn unlike(
        &self,
        template: &Template,
        parameter: &TemplateParameter,
        (value, argument): (&Value, ExprId),
        pattern: &TensorPattern,
    ) -> Diag {
        let found = self.type_text(value);
        let message = format!(
            "argument `{}` of `{}`: expected {pattern}, found {found}",
            parameter.name,
            template.full_name()
        );
        declared(Diag::new(Code::E2001, self.body[argument].site, message), template, parameter)
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
                    DeclaredKind::Dim | DeclaredKind::Pack | DeclaredKind::Params => None,
                }
            }
        }
    }
}
