//! Inlined templates: what the call gives is held against what the template takes as soon as types are known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mind_shape::rules::{Elements, Takes};

use super::constants::Meeting;
use super::lowering::{Frame, Lowering};
use super::roles::key;
use crate::diag::{Code, Diag};
use crate::dim::Dim;
use crate::open::{Check, CheckKind, Contract, Demand, NodeId};
use crate::surface::ast::{
    ElementClass, ElementPattern, ExprId, Formal, Home, NodeKind, Pack, Template, TemplateParameter,
    TensorPattern,
};
use crate::surface::lower::Structure;
use crate::surface::lower::body::templates::{symbol, unread};
use crate::surface::lower::declarations::types::DimNames;
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::by_field::{Fields, ReadFields};
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::params::{Params, ReadParams, TakesParams, declared};
use crate::surface::lower::values::{Binding, Lowered, Names, Record, Stop, Value, Word};
use crate::ty::{DType, Type};
use crate::written::ExtentRef;

/// An argument and how many axes its pattern writes.
#[derive(Clone, Copy)]
struct DeducedFrom {
    node: NodeId,
    argument: ExprId,
    last: usize,
}

/// What the names of a template stand for in a call.
#[derive(Default)]
struct Deduced {
    dims: BTreeMap<String, Dim>,
    packs: BTreeMap<String, DeducedFrom>,
    /// The packs that only numbers were given for, which have no dimensions.
    empty: BTreeSet<String>,
    elements: BTreeMap<String, DeducedFrom>,
    /// What literals are of by themselves, where no tensor tells.
    literals: BTreeMap<String, DType>,
    params: BTreeMap<String, Given>,
    /// The axes that are no names by themselves: what is written, of what, and which it is.
    computed: Vec<Computed>,
}

/// Parameters that an argument is, or that it holds.
struct Given {
    record: Record<NodeId>,
    text: String,
    argument: ExprId,
}

struct Computed {
    parameter: usize,
    position: usize,
    axis: usize,
    giver: DeducedFrom,
}

impl Lowering<'_> {
    pub(super) fn enter_template(
        &mut self,
        template: &Template,
        arguments: &[Option<ExprId>],
        enter: ExprId,
    ) -> Lowered<()> {
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        for (position, argument) in arguments.iter().enumerate() {
            if let Some(place) = argument.and_then(|argument| self.places.remove(&argument)) {
                self.passed.push(place);
                places.insert(position, self.passed.len() - 1);
            }
        }
        let fields = self.fields(template, arguments, enter).map_err(|stop| self.report(stop));
        let is_sound = fields.is_ok();
        let mut frame = Frame {
            name: template.full_name(),
            parameters: Vec::new(),
            site: self.site(enter),
            enter,
            outside: Names::default(),
            dims: DimNames::default(),
            elements: BTreeMap::new(),
            fields: fields.ok().flatten(),
            places,
        };
        let names = self.bound(template, arguments, &mut frame, is_sound);
        frame.outside = std::mem::replace(&mut self.names, names);
        self.frames.push(frame);
        Ok(())
    }

    /// The value of a call, or nothing where the body is to be lowered again, for the next field of a struct.
    pub(super) fn leave_template(
        &mut self,
        tail: Option<ExprId>,
        index: usize,
    ) -> Lowered<Option<Value<NodeId>>> {
        let value = tail.map_or_else(Value::unit, |tail| self.value(tail).clone());
        let mut frame = self.frames.pop().expect("a body of a template is left once it was entered");
        if let Some(fields) = &mut frame.fields {
            let is_whole = !matches!(value, Value::Poison);
            fields.results.push(value.clone());
            if is_whole
                && fields.results.len() < fields.names.len()
                && let NodeKind::Enter { template, arguments } = &self.body[fields.enter].kind
            {
                self.names = self.bound(template, arguments, &mut frame, true);
                self.frames.push(frame);
                return Ok(None);
            }
        }
        self.names = frame.outside;
        match frame.fields {
            None => Ok(Some(value)),
            Some(fields) if fields.results.len() < fields.names.len() => Err(Stop::Poisoned),
            Some(fields) => {
                let expr = ExprId(u32::try_from(index).expect("the parser numbered this node"));
                self.assembled(&frame.name, &fields, &fields.results, expr).map(Some)
            }
        }
    }

    /// The first node of the body of the template that is lowered again.
    pub(super) fn entered(&self) -> usize {
        let fields = self.frames.last().and_then(|frame| frame.fields.as_ref());
        fields.expect("only what is done field by field is done again").enter.index() + 1
    }

    /// The field that is given this time for an argument of a template that is a struct.
    pub(super) fn current_field(&self, argument: ExprId) -> Option<NodeId> {
        let of_frame = |frame: &Frame| {
            let fields = frame.fields.as_ref()?;
            let NodeKind::Enter { arguments, .. } = &self.body[fields.enter].kind else { return None };
            fields.tensor(arguments.iter().position(|given| *given == Some(argument))?)
        };
        self.frames.iter().rev().find_map(of_frame)
    }

    /// The structs that a call gives which was made field by field: one, or of a tuple one each.
    fn assembled(
        &mut self,
        name: &str,
        fields: &Fields<NodeId>,
        results: &[Value<NodeId>],
        expr: ExprId,
    ) -> Lowered<Value<NodeId>> {
        let tuple = |result: &Value<NodeId>| match result {
            Value::Tuple(tuple) => Some(tuple.elements.clone()),
            Value::Poison | Value::Tensor(_) | Value::Literal(_) | Value::Struct(_) | Value::Word(_) => None,
        };
        if let Some(tuples) = results.iter().map(tuple).collect::<Option<Vec<_>>>() {
            let count = tuples.iter().map(|tuple| tuple.len()).min().unwrap_or_default();
            let element = |position: usize| -> Vec<Value<NodeId>> {
                tuples.iter().map(|tuple| tuple[position].clone()).collect()
            };
            let elements = (0..count).map(|position| self.assembled(name, fields, &element(position), expr));
            let elements = elements.collect::<Lowered<Vec<_>>>()?;
            return self.tuple(elements, expr);
        }
        let like = fields.tensors.values().next().cloned().unwrap_or_default();
        let types: Vec<Type> = fields.structure.leaves().into_iter().cloned().collect();
        let mut nodes = Vec::new();
        for (position, (result, ty)) in results.iter().zip(types).enumerate() {
            let label = format!("result of `{name}` for field `{}`", fields.names[position]);
            let value = self.given(result, &Structure::Value(ty), &label, expr)?;
            let Value::Tensor(node) = value else { return Err(Stop::Poisoned) };
            let others = vec![(like[position], format!("field `{}`", fields.names[position]))];
            let contract = Contract { label, pattern: String::new(), demand: Demand::Type, others };
            let (kind, text) = (CheckKind::Argument(contract.into()), self.text(expr));
            self.checks.push(Check { kind, node, text, site: self.site(expr) });
            nodes.push(node);
        }
        Ok(Value::rebuilt(&fields.structure, &mut nodes.into_iter()))
    }

    /// What the names in a template mean in a call. Where an argument is none that it takes, they stand for nothing.
    fn bound(
        &mut self,
        template: &Template,
        arguments: &[Option<ExprId>],
        frame: &mut Frame,
        mut sound: bool,
    ) -> Names<NodeId> {
        let mut deduced = Deduced::default();
        let mut values = vec![Value::Poison; template.parameters.len()];
        let given = arguments.iter().map(|argument| argument.expect("what has no argument has a default"));
        let is_literal = |argument: ExprId| matches!(self.value(argument), Value::Literal(_));
        // Literals come last, with the element types that the others tell.
        let (last, first): (Vec<_>, Vec<_>) =
            given.enumerate().partition(|(_, argument)| is_literal(*argument));
        for (position, argument) in first.into_iter().chain(last) {
            if frame.places.contains_key(&position) {
                continue;
            }
            let field = frame.fields.as_ref().and_then(|fields| fields.tensor(position));
            let value = field.map_or_else(|| self.value(argument).clone(), Value::Tensor);
            let parameter = &template.parameters[position];
            let value = self.passed(template, (position, parameter), (value, argument), &mut deduced);
            sound &= value.is_ok();
            values[position] = self.value_or_poison(value);
        }
        let mut dims = self.home(template);
        Arc::make_mut(&mut dims.constants).extend(deduced.dims);
        if sound {
            for computed in &deduced.computed {
                let demanded = self.computed(template, computed, &dims);
                sound &= demanded.map_err(|stop| self.report(stop)).is_ok();
            }
        }
        let (mut names, mut parameters) = (Names::default(), Vec::new());
        for (position, (parameter, value)) in template.parameters.iter().zip(values).enumerate() {
            let value = if sound { value } else { Value::Poison };
            let binding = match frame.places.get(&position) {
                Some(place) if sound => Binding::Parameter(*place),
                Some(_) | None => Binding::Local(value.clone()),
            };
            names.bind(key(&parameter.name), binding);
            parameters.push((parameter.name.clone(), value, parameter.takes.may_be_floats(template)));
        }
        let elements =
            deduced.elements.into_iter().map(|(name, giver)| (name, Word::ElementsOf(giver.argument)));
        let literals = deduced.literals.into_iter().map(|(name, dtype)| (name, Word::DType(dtype)));
        frame.elements = literals.chain(elements).collect();
        let mut packs: BTreeMap<_, _> =
            deduced.empty.into_iter().map(|name| (name, Some(Vec::new()))).collect();
        for (name, giver) in deduced.packs {
            let leading =
                self.extent_symbol(&name, giver.node, ExtentRef::Leading(giver.last), giver.argument);
            packs.insert(name, Some(vec![leading]));
        }
        dims.packs = Arc::new(packs);
        if !sound {
            unread(&mut dims, template);
        }
        (frame.parameters, frame.dims) = (parameters, dims);
        names
    }

    /// The names in dimensions that a template sees.
    fn home(&self, template: &Template) -> DimNames {
        match template.home {
            Home::Elsewhere(home) => self.table.scope(0).of_home(home).1.clone(),
            Home::Here | Home::Library(_) => DimNames::default(),
        }
    }

    /// The value of an argument; what its parameter demands is checked.
    fn passed(
        &mut self,
        template: &Template,
        (position, parameter): (usize, &TemplateParameter),
        (value, argument): (Value<NodeId>, ExprId),
        deduced: &mut Deduced,
    ) -> Lowered<Value<NodeId>> {
        match (&parameter.takes, &value) {
            (_, Value::Poison) => Err(Stop::Poisoned),
            (Formal::Any, _) => Ok(value),
            (Formal::Constant { kind, .. }, _) => {
                let read = self.constant_attribute(*kind, argument);
                read.map(|()| value).map_err(|stop| match stop {
                    Stop::Mistake(mut diag) => {
                        if let Value::Tensor(_) = self.value(argument) {
                            let help = "an attribute is known where it is written, as no Rust variable is";
                            diag.help.get_or_insert_with(|| help.to_owned());
                        }
                        let message = format!("{}: {}", label(template, parameter), diag.message);
                        declared(Diag { message, ..*diag }, template, parameter).into()
                    }
                    Stop::Poisoned => Stop::Poisoned,
                })
            }
            (Formal::Tensor(pattern), Value::Literal(id))
                if pattern.dims.is_empty()
                    && self.literals.is_number(*id)
                    && pattern
                        .class(template)
                        .is_some_and(|class| self.literals.fits(*id, class.default_dtype())) =>
            {
                if let ElementPattern::Variable(name) = &pattern.elements {
                    deduced.literals.entry(name.to_string()).or_insert(self.literals.default_dtype(*id));
                }
                if let Some(Pack::Named(name)) = &pattern.pack {
                    deduced.empty.insert(name.to_string());
                }
                Ok(value)
            }
            (Formal::Tensor(pattern), Value::Tensor(_) | Value::Literal(_)) => {
                let node = match (&value, &pattern.elements) {
                    (Value::Literal(id), ElementPattern::Fixed(dtype)) if self.literals.fits(*id, *dtype) => {
                        self.constant_of(*id, *dtype)?
                    }
                    (Value::Literal(id), ElementPattern::Variable(name)) => {
                        match deduced.elements.get(&name.to_string()) {
                            Some(first) => {
                                let (other, other_expr) = (first.node, first.argument);
                                let (label, site) = ("argument", self.site(argument));
                                let meeting = Meeting { other, other_expr, label, site, is_operator: false };
                                self.beside(*id, meeting)?
                            }
                            None => self.tensor(argument)?,
                        }
                    }
                    (Value::Tensor(node), _) => *node,
                    (
                        _,
                        ElementPattern::Fixed(_) | ElementPattern::Class(_) | ElementPattern::Variable(_),
                    ) => self.tensor(argument)?,
                };
                let giver = DeducedFrom { node, argument, last: pattern.dims.len() };
                self.demand(template, (position, parameter), pattern, giver, deduced);
                Ok(Value::Tensor(node))
            }
            (Formal::Params(class), _) => {
                let takes = TakesParams { template, parameter, class, state: None };
                self.given_params(takes, (value, argument), deduced)
            }
            (Formal::State { name, over }, _) => {
                let takes = TakesParams { template, parameter, class: over, state: Some(name) };
                self.given_params(takes, (value, argument), deduced)
            }
            (Formal::Tensor(pattern), Value::Tuple(_) | Value::Struct(_) | Value::Word(_)) => {
                let message = format!(
                    "{}: expected {pattern}, found {}",
                    label(template, parameter),
                    self.type_text(&value)
                );
                let diag = Diag::new(Code::E2001, self.site(argument), message);
                Err(declared(diag, template, parameter).into())
            }
        }
    }

    /// A struct of parameters, or one of the library over them.
    fn given_params(
        &mut self,
        takes: TakesParams<'_>,
        (value, argument): (Value<NodeId>, ExprId),
        deduced: &mut Deduced,
    ) -> Lowered<Value<NodeId>> {
        let class = takes.class.to_string();
        let known = deduced.params.get(&class).map(|first| (&*first.record.ty, first.argument));
        let names = self.home(takes.template);
        let found = self.params(takes, (&value, argument), known, &names).map_err(|stop| match (stop, &value) {
            (Stop::Mistake(diag), Value::Tensor(_)) => {
                let (text, over) = (self.short_text(argument), takes.state);
                let ty = over.map_or_else(|| "Net".to_owned(), |name| format!("{name}<Net>"));
                let help = format!(
                    "only Rust knows what a variable is: import its struct by `use`, and tell it where it is named first, as `({text}: {ty})`"
                );
                diag.help(help).into()
            }
            (stop, _) => stop,
        })?;
        let label = label(takes.template, takes.parameter);
        for Params { field, record } in found {
            let text = self.short_text(argument);
            let text = field.map_or_else(|| text.clone(), |field| format!("{text}.{field}"));
            match deduced.params.get(&class) {
                Some(first) => {
                    self.check_same(&label, (&first.record, &first.text), (&record, &text), argument);
                }
                None => _ = deduced.params.insert(class.clone(), Given { record, text, argument }),
            }
        }
        Ok(value)
    }

    /// Checks what a pattern demands of an argument by itself and beside those before it.
    fn demand(
        &mut self,
        template: &Template,
        (position, parameter): (usize, &TemplateParameter),
        pattern: &TensorPattern,
        giver: DeducedFrom,
        deduced: &mut Deduced,
    ) {
        let elements = match (&pattern.elements, pattern.class(template)) {
            (ElementPattern::Fixed(dtype), _) => Elements::Is(*dtype),
            (_, Some(class)) => Elements::Of(takes(class)),
            (_, None) => Elements::Of(Takes::All),
        };
        let fits = Demand::Fits { elements, rank: pattern.dims.len(), open: pattern.pack.is_some() };
        self.check(template, parameter, giver, fits, Vec::new());
        if let ElementPattern::Variable(name) = &pattern.elements {
            let name = name.to_string();
            match deduced.elements.get(&name).copied() {
                Some(first) => {
                    self.check(template, parameter, giver, Demand::Elements { name }, vec![first]);
                }
                None => _ = deduced.elements.insert(name, giver),
            }
        }
        if let Some(Pack::Named(name)) = &pattern.pack {
            let name = name.to_string();
            match deduced.packs.get(&name).copied() {
                Some(first) => {
                    let last = [giver.last, first.last];
                    self.check(template, parameter, giver, Demand::Leading { name, last }, vec![first]);
                }
                None => _ = deduced.packs.insert(name, giver),
            }
        }
        for (place, written) in pattern.dims.iter().enumerate() {
            let axis = pattern.dims.len() - place;
            match symbol(template, written).filter(|name| !deduced.dims.contains_key(name)) {
                Some(name) => {
                    let axis = -i64::try_from(axis).expect("a rank is small");
                    let own = self.extent_symbol(&name, giver.node, ExtentRef::Axis(axis), giver.argument);
                    deduced.dims.insert(name, own);
                }
                None => deduced.computed.push(Computed { parameter: position, position: place, axis, giver }),
            }
        }
    }

    /// Checks an axis whose extent others tell, once all names are known.
    fn computed(&mut self, template: &Template, computed: &Computed, dims: &DimNames) -> Lowered<()> {
        let parameter = &template.parameters[computed.parameter];
        let pattern = parameter.takes.pattern().expect("only tensors have extents");
        let written = &pattern.dims[computed.position];
        let needed = dims.dim(written).map_err(Stop::from)?;
        let mut others = Vec::new();
        let extent = self.over_operands(&needed, 1, &mut others);
        let others =
            others.into_iter().map(|(node, argument)| DeducedFrom { node, argument, last: 0 }).collect();
        let demand = Demand::Extent { axis: computed.axis, name: written.to_string(), extent };
        self.check(template, parameter, computed.giver, demand, others);
        Ok(())
    }

    /// An argument as messages name it, or the field of it that is given.
    fn giver_text(&self, giver: DeducedFrom) -> String {
        match self.field_text(giver) {
            Some(field) => format!("{}.{field}", self.short_text(giver.argument)),
            None => self.text(giver.argument),
        }
    }

    /// The field that is given, if the argument is a struct.
    fn field_text(&self, giver: DeducedFrom) -> Option<String> {
        let value @ Value::Struct(record) = self.value(giver.argument) else { return None };
        let position = value.leaves().iter().position(|leaf| *leaf == giver.node)?;
        Some(Structure::Struct((*record.ty).clone()).named_leaves()[position].text())
    }

    fn check(
        &mut self,
        template: &Template,
        parameter: &TemplateParameter,
        giver: DeducedFrom,
        demand: Demand,
        others: Vec<DeducedFrom>,
    ) {
        let pattern = parameter.takes.pattern().map(ToString::to_string).unwrap_or_default();
        let others = others.iter().map(|other| (other.node, self.giver_text(*other))).collect();
        let label = match self.field_text(giver) {
            Some(field) => format!("{} for field `{field}`", label(template, parameter)),
            None => label(template, parameter),
        };
        let contract = Contract { label, pattern, demand, others };
        let (text, site) = (self.giver_text(giver), self.site(giver.argument));
        let kind = CheckKind::Argument(Box::new(contract));
        self.checks.push(Check { kind, node: giver.node, text, site });
    }
}

fn label(template: &Template, parameter: &TemplateParameter) -> String {
    format!("argument `{}` of `{}`", parameter.name, template.full_name())
}

fn takes(class: ElementClass) -> Takes {
    match class {
        ElementClass::Float => Takes::Floats,
        ElementClass::Int => Takes::Integers,
        ElementClass::Num => Takes::Numbers,
    }
}
