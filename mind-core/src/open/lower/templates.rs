//! Inlined templates: what the call gives is held against what the template takes as soon as types are known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mind_shape::rules::{Elements, Takes};

use super::constants::Meeting;
use super::lowering::{Frame, Lowering};
use super::roles::key;
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::open::{Check, CheckKind, Contract, Demand, NodeId};
use crate::surface::ast::{
    ElementClass, ElementPattern, ExprId, Formal, Home, Pack, Template, TemplateParameter, TensorPattern,
};
use crate::surface::lower::attributes::Attributes;
use crate::surface::lower::expressions::Expressions;
use crate::surface::lower::templates::{declared, symbol, unread};
use crate::surface::lower::types::DimNames;
use crate::surface::lower::values::{Binding, Lowered, Names, Stop, Value, Word};
use crate::ty::DType;
use crate::written::Lent;

/// An argument and how many axes its pattern writes.
#[derive(Clone, Copy)]
struct Giver {
    node: NodeId,
    argument: ExprId,
    last: usize,
}

/// What the names of a template stand for in a call.
#[derive(Default)]
struct Told {
    dims: BTreeMap<String, Dim>,
    packs: BTreeMap<String, Giver>,
    /// The packs that only numbers were given for, which have no dimensions.
    empty: BTreeSet<String>,
    elements: BTreeMap<String, Giver>,
    /// What literals are of by themselves, where no tensor tells.
    literals: BTreeMap<String, DType>,
    /// The axes that are no names by themselves: what is written, of what, and which it is.
    computed: Vec<Computed>,
}

struct Computed {
    parameter: usize,
    position: usize,
    axis: usize,
    giver: Giver,
}

impl Lowering<'_> {
    pub(super) fn enter_template(
        &mut self,
        template: &Template,
        arguments: &[Option<ExprId>],
        site: Site,
    ) -> Lowered<()> {
        let (mut told, mut sound) = (Told::default(), true);
        let mut values = vec![Value::Poison; template.parameters.len()];
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let given = arguments.iter().map(|argument| argument.expect("what has no argument has a default"));
        let is_literal = |argument: ExprId| matches!(self.value(argument), Value::Literal(_));
        // Literals come last, with the element types that the others tell.
        let (last, first): (Vec<_>, Vec<_>) =
            given.enumerate().partition(|(_, argument)| is_literal(*argument));
        for (position, argument) in first.into_iter().chain(last) {
            let parameter = &template.parameters[position];
            if let Some(place) = self.places.remove(&argument) {
                self.passed.push(place);
                places.insert(position, self.passed.len() - 1);
                continue;
            }
            let value = self.passed(template, (position, parameter), argument, &mut told);
            sound &= value.is_ok();
            values[position] = self.value_or_poison(value);
        }
        let mut dims = match template.home {
            Home::Elsewhere(home) => self.table.scope(0).of_home(home).1.clone(),
            Home::Here | Home::Library(_) => DimNames::default(),
        };
        Arc::make_mut(&mut dims.constants).extend(told.dims);
        if sound {
            for computed in &told.computed {
                let demanded = self.computed(template, computed, &dims);
                sound &= demanded.map_err(|stop| self.report(stop)).is_ok();
            }
        }
        let (mut names, mut parameters) = (Names::default(), Vec::new());
        for (position, (parameter, value)) in template.parameters.iter().zip(values).enumerate() {
            let value = if sound { value } else { Value::Poison };
            let binding = match places.get(&position) {
                Some(place) if sound => Binding::Parameter(*place),
                Some(_) | None => Binding::Local(value.clone()),
            };
            names.bind(key(&parameter.name), binding);
            parameters.push((parameter.name.clone(), value, parameter.takes.may_be_floats(template)));
        }
        let elements =
            told.elements.into_iter().map(|(name, giver)| (name, Word::ElementsOf(giver.argument)));
        let literals = told.literals.into_iter().map(|(name, dtype)| (name, Word::DType(dtype)));
        let elements = literals.chain(elements).collect();
        let mut packs: BTreeMap<_, _> = told.empty.into_iter().map(|name| (name, Some(Vec::new()))).collect();
        for (name, giver) in told.packs {
            let leading = self.lent(&name, giver.node, Lent::Leading(giver.last), giver.argument);
            packs.insert(name, Some(vec![leading]));
        }
        dims.packs = Arc::new(packs);
        if !sound {
            unread(&mut dims, template);
        }
        let outside = std::mem::replace(&mut self.names, names);
        self.frames.push(Frame { name: template.full_name(), parameters, site, outside, dims, elements });
        Ok(())
    }

    pub(super) fn leave_template(&mut self, tail: Option<ExprId>) -> Value<NodeId> {
        let frame = self.frames.pop().expect("a body of a template is left once it was entered");
        self.names = frame.outside;
        tail.map_or_else(Value::unit, |tail| self.value(tail).clone())
    }

    /// The value of an argument; what its parameter demands is checked.
    fn passed(
        &mut self,
        template: &Template,
        (position, parameter): (usize, &TemplateParameter),
        argument: ExprId,
        told: &mut Told,
    ) -> Lowered<Value<NodeId>> {
        let value = self.value(argument).clone();
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
                    told.literals.entry(name.to_string()).or_insert(self.literals.default_dtype(*id));
                }
                if let Some(Pack::Named(name)) = &pattern.pack {
                    told.empty.insert(name.to_string());
                }
                Ok(value)
            }
            (Formal::Tensor(pattern), Value::Tensor(_) | Value::Literal(_)) => {
                let node = match (&value, &pattern.elements) {
                    (Value::Literal(id), ElementPattern::Fixed(dtype)) if self.literals.fits(*id, *dtype) => {
                        self.constant_of(*id, *dtype)?
                    }
                    (Value::Literal(id), ElementPattern::Variable(name)) => {
                        match told.elements.get(&name.to_string()) {
                            Some(first) => {
                                let (other, other_expr) = (first.node, first.argument);
                                let (label, site) = ("argument", self.site(argument));
                                let meeting = Meeting { other, other_expr, label, site, is_operator: false };
                                self.beside(*id, meeting)?
                            }
                            None => self.tensor(argument)?,
                        }
                    }
                    (
                        _,
                        ElementPattern::Fixed(_) | ElementPattern::Class(_) | ElementPattern::Variable(_),
                    ) => self.tensor(argument)?,
                };
                let giver = Giver { node, argument, last: pattern.dims.len() };
                self.demand(template, (position, parameter), pattern, giver, told);
                Ok(Value::Tensor(node))
            }
            (Formal::Params(_) | Formal::State { .. }, _) => {
                let message = format!(
                    "{}: expected a struct of tensors, found {}",
                    label(template, parameter),
                    self.describe(argument)
                );
                let help =
                    "expressions among Rust variables have no structs: call it in a function of a block";
                Err(Diag::new(Code::E2001, self.site(argument), message).help(help).into())
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

    /// Checks what a pattern demands of an argument by itself and beside those before it.
    fn demand(
        &mut self,
        template: &Template,
        (position, parameter): (usize, &TemplateParameter),
        pattern: &TensorPattern,
        giver: Giver,
        told: &mut Told,
    ) {
        let elements = match (&pattern.elements, pattern.class(template)) {
            (ElementPattern::Fixed(dtype), _) => Elements::Is(dtype.of_rules()),
            (_, Some(class)) => Elements::Of(takes(class)),
            (_, None) => Elements::Of(Takes::All),
        };
        let fits = Demand::Fits { elements, rank: pattern.dims.len(), open: pattern.pack.is_some() };
        self.check(template, parameter, giver, fits, Vec::new());
        if let ElementPattern::Variable(name) = &pattern.elements {
            let name = name.to_string();
            match told.elements.get(&name).copied() {
                Some(first) => {
                    self.check(template, parameter, giver, Demand::Elements { name }, vec![first]);
                }
                None => _ = told.elements.insert(name, giver),
            }
        }
        if let Some(Pack::Named(name)) = &pattern.pack {
            let name = name.to_string();
            match told.packs.get(&name).copied() {
                Some(first) => {
                    let last = [giver.last, first.last];
                    self.check(template, parameter, giver, Demand::Leading { name, last }, vec![first]);
                }
                None => _ = told.packs.insert(name, giver),
            }
        }
        for (place, written) in pattern.dims.iter().enumerate() {
            let axis = pattern.dims.len() - place;
            match symbol(template, written).filter(|name| !told.dims.contains_key(name)) {
                Some(name) => {
                    let axis = -i64::try_from(axis).expect("a rank is small");
                    let own = self.lent(&name, giver.node, Lent::Axis(axis), giver.argument);
                    told.dims.insert(name, own);
                }
                None => told.computed.push(Computed { parameter: position, position: place, axis, giver }),
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
        let others = others.into_iter().map(|(node, argument)| Giver { node, argument, last: 0 }).collect();
        let demand = Demand::Extent { axis: computed.axis, name: written.to_string(), extent };
        self.check(template, parameter, computed.giver, demand, others);
        Ok(())
    }

    fn check(
        &mut self,
        template: &Template,
        parameter: &TemplateParameter,
        giver: Giver,
        demand: Demand,
        others: Vec<Giver>,
    ) {
        let pattern = parameter.takes.pattern().map(ToString::to_string).unwrap_or_default();
        let others = others.iter().map(|other| (other.node, self.text(other.argument))).collect();
        let contract = Contract { label: label(template, parameter), pattern, demand, others };
        let (text, site) = (self.text(giver.argument), self.site(giver.argument));
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
