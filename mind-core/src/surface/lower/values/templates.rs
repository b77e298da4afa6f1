//! Inlined templates: the arguments of a call are matched against the parameters of the template, and the body is
//! lowered at the call.
//!
//! Where the types of arguments are not known, each demand becomes a check that runs as soon as they are.

use std::collections::BTreeMap;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use mind_shape::rules::{Elements, Takes};

use super::attributes::Attributes;
use super::by_field::{Fields, ReadFields};
use super::demand::Demand;
use super::literals::LiteralId;
use super::lower::Lower;
use super::params::{ParameterRef, Params, ReadParams, TakesParams};
use super::patterns::{declared_names, packs, symbol};
use super::{Binding, Lowered, Record, Stop, Value, VariableScopes, Word};
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::surface::ast::{
    Body, ElementClass, ElementPattern, ExprId, Formal, NodeKind, Pack, Template, TemplateParameter,
    TensorPattern,
};
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::declarations::types::DimNames;
use crate::ty::{DType, Type};

/// The body of a template that is being lowered.
pub(crate) struct Frame<T, FormData> {
    pub(crate) template: Rc<Template>,
    /// One argument per parameter; empty while the template is checked without a call.
    pub(crate) arguments: Vec<ExprId>,
    /// The node that begins the body, after the arguments.
    pub(crate) enter: ExprId,
    /// The call; `None` while the template is checked without a call.
    pub(crate) site: Option<Site>,
    /// The value of each parameter; poison where an error hides it.
    pub(crate) values: Vec<Value<T>>,
    /// The variables in scope around the call.
    pub(crate) outside: VariableScopes<T>,
    /// The names that dimensions in the body may use.
    pub(crate) dims: DimNames,
    /// The element types of the template's type variables.
    pub(crate) elements: BTreeMap<String, Word>,
    /// The state of a call that is lowered once for each field of a struct.
    pub(crate) fields: Option<Fields<T>>,
    /// Further data of a call in this form of the language.
    pub(crate) form_data: FormData,
}

impl<T, FormData> Frame<T, FormData> {
    pub(crate) fn name(&self) -> String {
        self.template.full_name()
    }

    /// The parameters with their values, as they are before the body shadows any of them.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&TemplateParameter, &Value<T>)> {
        self.template.parameters.iter().zip(&self.values)
    }
}

/// The site of the argument that a parameter of the innermost template stands for, in the outermost call that passes
/// it on.
pub(crate) fn argument_site<T, D>(frames: &[Frame<T, D>], body: &Body, expr: ExprId) -> Option<Site> {
    let passed = frames.iter().rev().try_fold(expr, |expr, frame| {
        let NodeKind::Name(name) = &body[expr].kind else { return Err(expr) };
        let position = frame.template.parameters.iter().position(|parameter| parameter.name == *name);
        position.and_then(|position| frame.arguments.get(position)).copied().ok_or(expr)
    });
    let (Ok(argument) | Err(argument)) = passed;
    (argument != expr).then_some(body[argument].site)
}

/// An argument that a name of a template is deduced from.
#[derive(Clone, Copy)]
pub(crate) struct DeducedFrom<T> {
    pub(crate) tensor: T,
    pub(crate) argument: ExprId,
    /// The number of axes that its pattern lists.
    pub(crate) last: usize,
}

/// The meaning of the names of a template in a call, and the argument from which each is deduced.
pub(crate) struct Deduced<T> {
    dims: BTreeMap<String, (Dim, DeducedFrom<T>)>,
    /// `None` for a pack to which only numbers were passed: they have no dimensions.
    packs: BTreeMap<String, Option<DeducedFrom<T>>>,
    elements: BTreeMap<String, DeducedFrom<T>>,
    /// The default element types of literals, for type variables that no tensor determines.
    literals: BTreeMap<String, DType>,
    params: BTreeMap<String, GivenParams<T>>,
    /// The axes whose extent is not a single name.
    computed: Vec<Computed<T>>,
}

impl<T> Default for Deduced<T> {
    fn default() -> Self {
        Self {
            dims: BTreeMap::new(),
            packs: BTreeMap::new(),
            elements: BTreeMap::new(),
            literals: BTreeMap::new(),
            params: BTreeMap::new(),
            computed: Vec::new(),
        }
    }
}

/// A struct of parameters: an argument, or a field of one.
pub(crate) struct GivenParams<T> {
    record: Record<T>,
    text: String,
    argument: ExprId,
}

/// An axis whose extent is written as arithmetic on names: the position of its parameter, and its position in the
/// pattern.
pub(crate) struct Computed<T> {
    parameter: usize,
    position: usize,
    from: DeducedFrom<T>,
}

/// Calls of templates.
pub(crate) trait Templates: Lower + Attributes + ReadFields + ReadParams {
    /// Further data of a call in this form of the language.
    type FormData;

    /// The templates whose bodies are being lowered, innermost last.
    fn frames(&self) -> &Vec<Frame<Self::Tensor, Self::FormData>>;

    /// Mutable access to [`Self::frames`].
    fn frames_mut(&mut self) -> &mut Vec<Frame<Self::Tensor, Self::FormData>>;

    /// Lowers a node other than the end of a template body.
    fn node(&mut self, expr: ExprId) -> Lowered<Value<Self::Tensor>>;

    /// Makes the further data of a call whose arguments have been lowered.
    fn form_data(&mut self, template: &Template, arguments: &[ExprId]) -> Self::FormData;

    /// Switches from the functions that are visible at a call to those that are visible in the template, or back.
    fn change_scope(&mut self, _form_data: &mut Self::FormData) {}

    /// The value of a call whose body has been lowered to this value.
    fn called(
        &mut self,
        _frame: &Frame<Self::Tensor, Self::FormData>,
        value: Value<Self::Tensor>,
        _leave: ExprId,
    ) -> Value<Self::Tensor> {
        value
    }

    /// The binding of a parameter that is not bound to the value of its argument.
    fn bound_otherwise(_form_data: &Self::FormData, _parameter: usize) -> Option<Binding<Self::Tensor>> {
        None
    }

    /// The names that dimensions in a template may use.
    fn home(&self, template: &Template) -> DimNames;

    /// Converts a literal to a tensor that the pattern accepts. `first` is the first argument with the same type
    /// variable, if any.
    fn given_literal(
        &mut self,
        literal: (LiteralId, ExprId),
        pattern: &TensorPattern,
        first: Option<DeducedFrom<Self::Tensor>>,
    ) -> Lowered<Self::Tensor>;

    /// Checks a demand of a parameter on its argument, which may refer to other arguments. Returns an error if the
    /// demand does not hold; emits a check if that is not known.
    fn demand(
        &mut self,
        param: ParameterRef<'_>,
        from: DeducedFrom<Self::Tensor>,
        demand: Demand,
        others: &[DeducedFrom<Self::Tensor>],
    ) -> Lowered<()>;

    /// The element type of an argument.
    fn element_type(&self, from: DeducedFrom<Self::Tensor>) -> Word;

    /// The extent of an axis of an argument. Axes count from the last, which is 1.
    fn extent(&mut self, name: &str, from: DeducedFrom<Self::Tensor>, axis: usize) -> Dim;

    /// The leading extents of an argument: those before the axes that its pattern lists.
    fn leading(&mut self, name: &str, from: DeducedFrom<Self::Tensor>) -> Vec<Dim>;

    /// Converts the result of a call for one field to a tensor of this type. It has the extents of the corresponding
    /// field of an argument, `like`.
    fn result_of_field(
        &mut self,
        result: &Value<Self::Tensor>,
        ty: Type,
        label: String,
        expr: ExprId,
        like: (Self::Tensor, &str),
    ) -> Lowered<Self::Tensor>;

    /// Lowers every node.
    fn lower_nodes(&mut self) {
        let mut index = 0;
        while let Some(node) = self.body().nodes.get(index) {
            let expr = ExprId(u32::try_from(index).expect("the parser numbered this node"));
            let value = match &node.kind {
                NodeKind::Leave { tail, .. } => {
                    let tail = *tail;
                    self.leave_template(tail, expr)
                }
                _ => self.node(expr).map(Some),
            };
            let Some(value) = value.transpose() else {
                // The body is lowered again, for the next field of a struct.
                let frame = self.frames().last().expect("fields are lowered one by one in a template only");
                index = frame.enter.index() + 1;
                self.values_mut().truncate(index);
                continue;
            };
            let value = self.value_or_poison(value);
            self.values_mut().push(value);
            index += 1;
        }
    }

    /// Begins a template: binds its arguments. They are unknown while the template is checked without a call.
    fn enter_template(&mut self, template: &Rc<Template>, arguments: &[Option<ExprId>], enter: ExprId) {
        let is_call = !arguments.is_empty() || template.parameters.is_empty();
        let given =
            arguments.iter().map(|argument| argument.expect("a parameter without an argument has a default"));
        let arguments: Vec<ExprId> = given.collect();
        let form_data = self.form_data(template, &arguments);
        let fields = self.fields(template, &arguments).map_err(|stop| self.report(stop));
        let is_sound = is_call && fields.is_ok();
        let mut frame = Frame {
            template: template.clone(),
            arguments,
            enter,
            site: is_call.then_some(self.site(enter)),
            values: Vec::new(),
            outside: VariableScopes::default(),
            dims: DimNames::default(),
            elements: BTreeMap::new(),
            fields: fields.ok().flatten(),
            form_data,
        };
        let names = if is_sound { self.bind_arguments(&mut frame) } else { None };
        let names = names.unwrap_or_else(|| self.bind_unknown(&mut frame));
        frame.outside = mem::replace(self.names_mut(), names);
        self.change_scope(&mut frame.form_data);
        self.frames_mut().push(frame);
    }

    /// Ends a template. Returns the value of the call, or `None` if the body has to be lowered again for the next field
    /// of a struct.
    fn leave_template(
        &mut self,
        tail: Option<ExprId>,
        leave: ExprId,
    ) -> Lowered<Option<Value<Self::Tensor>>> {
        let value = tail.map_or_else(Value::unit, |tail| self.value(tail).clone());
        let mut frame = self.frames_mut().pop().expect("a body of a template is left once it was entered");
        // Errors in an argument are reported in the scope of the caller.
        self.change_scope(&mut frame.form_data);
        let Some(fields) = &mut frame.fields else {
            *self.names_mut() = mem::take(&mut frame.outside);
            return Ok(Some(self.called(&frame, value, leave)));
        };
        let is_poison = matches!(value, Value::Poison);
        fields.results.push(value);
        let is_last = fields.results.len() == fields.names.len();
        if !is_poison
            && !is_last
            && let Some(names) = self.bind_arguments(&mut frame)
        {
            *self.names_mut() = names;
            self.change_scope(&mut frame.form_data);
            self.frames_mut().push(frame);
            return Ok(None);
        }
        let name = frame.name();
        *self.names_mut() = mem::take(&mut frame.outside);
        let fields = frame.fields.take().filter(|_| is_last).ok_or(Stop::Poisoned)?;
        let value = self.assembled(&name, &fields, &fields.results, leave)?;
        Ok(Some(self.called(&frame, value, leave)))
    }

    /// Assembles the results of a call that was lowered field by field: one struct, or one struct per element of a
    /// tuple.
    fn assembled(
        &mut self,
        name: &str,
        fields: &Fields<Self::Tensor>,
        results: &[Value<Self::Tensor>],
        expr: ExprId,
    ) -> Lowered<Value<Self::Tensor>> {
        let tuple = |result: &Value<Self::Tensor>| match result {
            Value::Tuple(tuple) => Some(tuple.elements.clone()),
            Value::Poison | Value::Tensor(_) | Value::Literal(_) | Value::Struct(_) | Value::Word(_) => None,
        };
        if let Some(tuples) = results.iter().map(tuple).collect::<Option<Vec<_>>>() {
            let count = tuples.iter().map(|tuple| tuple.len()).min().unwrap_or_default();
            let element = |position: usize| -> Vec<Value<Self::Tensor>> {
                tuples.iter().map(|tuple| tuple[position].clone()).collect()
            };
            let elements = (0..count).map(|position| self.assembled(name, fields, &element(position), expr));
            let elements = elements.collect::<Lowered<Vec<_>>>()?;
            return self.tuple(elements, expr);
        }
        let given = fields.tensors.values().next().expect("a struct is given for a tensor");
        let types: Vec<Type> = fields.structure.leaves().into_iter().cloned().collect();
        let mut tensors = Vec::new();
        for (position, (result, ty)) in results.iter().zip(types).enumerate() {
            let field = &fields.names[position];
            let label = format!("result of `{name}` for field `{field}`");
            tensors.push(self.result_of_field(result, ty, label, expr, (given[position], field))?);
        }
        Ok(Value::rebuilt(&fields.structure, &mut tensors.into_iter()))
    }

    /// Binds the names of a template for a call. Returns `None` if an argument does not match its parameter.
    fn bind_arguments(
        &mut self,
        frame: &mut Frame<Self::Tensor, Self::FormData>,
    ) -> Option<VariableScopes<Self::Tensor>> {
        let template = &*frame.template.clone();
        let (mut deduced, mut is_sound) = (Deduced::default(), true);
        let mut values = vec![Value::Poison; template.parameters.len()];
        let is_literal = |argument: ExprId| matches!(self.value(argument), Value::Literal(_));
        let given = frame.arguments.iter().copied().enumerate();
        // Literals come last: their element types may be determined by the other arguments.
        let (last, first): (Vec<_>, Vec<_>) = given.partition(|(_, argument)| is_literal(*argument));
        for (position, argument) in first.into_iter().chain(last) {
            if Self::bound_otherwise(&frame.form_data, position).is_some() {
                continue;
            }
            let field = frame.fields.as_ref().and_then(|fields| fields.tensor(position));
            let value = field.map_or_else(|| self.value(argument).clone(), Value::Tensor);
            let checked = self.check_argument(template, position, (value, argument), &mut deduced);
            is_sound &= checked.is_ok();
            values[position] = self.value_or_poison(checked);
        }
        if !is_sound {
            return None;
        }
        let mut dims = self.home(template);
        Arc::make_mut(&mut dims.constants)
            .extend(deduced.dims.iter().map(|(name, (dim, _))| (name.clone(), dim.clone())));
        let packs = deduced.packs.iter().map(|(name, from)| {
            let leading = from.map_or_else(Vec::new, |from| self.leading(name, from));
            (name.clone(), Some(leading))
        });
        dims.packs = Arc::new(packs.collect());
        let literals = deduced.literals.into_iter().map(|(name, dtype)| (name, Word::DType(dtype)));
        let elements = deduced.elements.into_iter().map(|(name, from)| (name, self.element_type(from)));
        frame.elements = literals.chain(elements).collect();
        let known = frame.elements.iter().filter_map(|(name, word)| match word {
            Word::DType(dtype) => Some((name.clone(), *dtype)),
            _ => None,
        });
        dims.elements = Arc::new(known.collect());
        for computed in &deduced.computed {
            let checked = self.check_computed_extent(template, computed, &dims);
            checked.map_err(|stop| self.report(stop)).ok()?;
        }
        let mut names = VariableScopes::default();
        for (position, (parameter, value)) in template.parameters.iter().zip(&values).enumerate() {
            let otherwise = Self::bound_otherwise(&frame.form_data, position);
            let binding = otherwise.unwrap_or_else(|| Binding::Local(value.clone()));
            names.bind(Self::key(&parameter.name), binding);
        }
        (frame.values, frame.dims) = (values, dims);
        Some(names)
    }

    /// Binds the names of a template whose arguments are unknown.
    fn bind_unknown(
        &mut self,
        frame: &mut Frame<Self::Tensor, Self::FormData>,
    ) -> VariableScopes<Self::Tensor> {
        let template = &*frame.template;
        let mut names = VariableScopes::default();
        for parameter in &template.parameters {
            names.bind(Self::key(&parameter.name), Binding::Local(Value::Poison));
        }
        frame.values = vec![Value::Poison; template.parameters.len()];
        frame.dims = self.home(template);
        Arc::make_mut(&mut frame.dims.unread).extend(declared_names(template));
        frame.dims.packs = Arc::new(packs(template).map(|name| (name, None)).collect());
        names
    }

    /// Checks that a parameter accepts an argument. Returns the value of the argument.
    fn check_argument(
        &mut self,
        template: &Template,
        position: usize,
        (value, argument): (Value<Self::Tensor>, ExprId),
        deduced: &mut Deduced<Self::Tensor>,
    ) -> Lowered<Value<Self::Tensor>> {
        let param = ParameterRef { template, parameter: &template.parameters[position] };
        match (&param.parameter.takes, &value) {
            (_, Value::Poison) => Err(Stop::Poisoned),
            (Formal::Any, _) => Ok(value),
            (Formal::Params(class), _) => {
                self.given_params(TakesParams { param, class, state: None }, (value, argument), deduced)
            }
            (Formal::State { name, over }, _) => {
                let takes = TakesParams { param, class: over, state: Some(name) };
                self.given_params(takes, (value, argument), deduced)
            }
            (Formal::Constant { kind, .. }, _) => {
                let read = self.constant_attribute(*kind, argument);
                read.map(|()| value).map_err(|stop| match stop {
                    Stop::Mistake(mut diag) => {
                        if self.is_of_rust(self.value(argument)) {
                            let help =
                                "this argument must be known at compile time, and Rust variables are not";
                            diag.help.get_or_insert_with(|| help.to_owned());
                        }
                        let message = format!("{}: {}", param.label(), diag.message);
                        param.declared(Diag { message, ..*diag }).into()
                    }
                    stop @ (Stop::Poisoned | Stop::Argument(..)) => stop,
                })
            }
            (Formal::Tensor(pattern), Value::Literal(id))
                if pattern.dims.is_empty()
                    && self.literals().is_number(*id)
                    && pattern
                        .class(template)
                        .is_some_and(|class| self.literals().fits(*id, class.default_dtype())) =>
            {
                if let ElementPattern::Variable(name) = &pattern.elements {
                    let own = self.literals().default_dtype(*id);
                    deduced.literals.entry(name.to_string()).or_insert(own);
                }
                if let Some(Pack::Named(name)) = &pattern.pack {
                    deduced.packs.entry(name.to_string()).or_insert(None);
                }
                Ok(value)
            }
            (Formal::Tensor(pattern), Value::Tensor(_) | Value::Literal(_)) => {
                let tensor = match &value {
                    Value::Literal(id) => {
                        let first = match &pattern.elements {
                            ElementPattern::Variable(name) => {
                                deduced.elements.get(&name.to_string()).copied()
                            }
                            ElementPattern::Fixed(_) | ElementPattern::Class(_) => None,
                        };
                        self.given_literal((*id, argument), pattern, first)?
                    }
                    value => value.tensor().expect("it is a tensor or a literal"),
                };
                let from = DeducedFrom { tensor, argument, last: pattern.dims.len() };
                self.deduce(param, (position, pattern), from, deduced)?;
                Ok(Value::Tensor(tensor))
            }
            (Formal::Tensor(pattern), Value::Tuple(_) | Value::Struct(_) | Value::Word(_)) => {
                Err(self.unlike(param, pattern, (&value, argument)).into())
            }
        }
    }

    /// The error for an argument that its pattern does not accept.
    fn unlike(
        &self,
        param: ParameterRef<'_>,
        pattern: &TensorPattern,
        (value, argument): (&Value<Self::Tensor>, ExprId),
    ) -> Diag {
        let message = format!("{}: expected {pattern}, found {}", param.label(), self.type_text(value));
        param.declared(Diag::new(Code::E2001, self.site(argument), message))
    }

    /// Checks an argument for a struct of parameters, or for a library struct that is generic over one.
    fn given_params(
        &mut self,
        takes: TakesParams<'_>,
        (value, argument): (Value<Self::Tensor>, ExprId),
        deduced: &mut Deduced<Self::Tensor>,
    ) -> Lowered<Value<Self::Tensor>> {
        let class = takes.class.to_string();
        let known = deduced.params.get(&class).map(|first| (&*first.record.ty, first.argument));
        let names = self.home(takes.param.template);
        let found = self.params(takes, (&value, argument), known, &names).map_err(|stop| match stop {
            Stop::Mistake(diag) if self.is_of_rust(&value) => {
                let text = self.short_text(argument);
                let ty = takes.state.map_or_else(|| "Net".to_owned(), |name| format!("{name}<Net>"));
                let help = format!(
                    "the type of a variable is known only to Rust: import its struct with `use`, and write the type \
                        at the first use, as in `({text}: {ty})`"
                );
                diag.help(help).into()
            }
            stop => stop,
        })?;
        let label = takes.param.label();
        for Params { field, record } in found {
            let text = self.short_text(argument);
            let text = field.map_or_else(|| text.clone(), |field| format!("{text}.{field}"));
            match deduced.params.get(&class) {
                Some(first) => {
                    self.check_same(&label, (&first.record, &first.text), (&record, &text), argument);
                }
                None => _ = deduced.params.insert(class.clone(), GivenParams { record, text, argument }),
            }
        }
        Ok(value)
    }

    /// Checks the demands of a pattern on an argument, alone and together with the arguments before it. Deduces the
    /// names that the pattern is the first to use.
    fn deduce(
        &mut self,
        param: ParameterRef<'_>,
        (parameter, pattern): (usize, &TensorPattern),
        from: DeducedFrom<Self::Tensor>,
        deduced: &mut Deduced<Self::Tensor>,
    ) -> Lowered<()> {
        let elements = match (&pattern.elements, pattern.class(param.template)) {
            (ElementPattern::Fixed(dtype), _) => Elements::Is(*dtype),
            (_, Some(ElementClass::Float)) => Elements::Of(Takes::Floats),
            (_, Some(ElementClass::Int)) => Elements::Of(Takes::Integers),
            (_, Some(ElementClass::Num)) => Elements::Of(Takes::Numbers),
            (_, Some(ElementClass::Any) | None) => Elements::Of(Takes::All),
        };
        let fits = Demand::Fits { elements, rank: pattern.dims.len(), open: pattern.pack.is_some() };
        self.demand(param, from, fits, &[])?;
        if let ElementPattern::Variable(name) = &pattern.elements {
            let name = name.to_string();
            match deduced.elements.get(&name) {
                Some(first) => self.demand(param, from, Demand::Elements { name }, &[*first])?,
                None => _ = deduced.elements.insert(name, from),
            }
        }
        if let Some(Pack::Named(name)) = &pattern.pack {
            let name = name.to_string();
            match deduced.packs.get(&name).copied().flatten() {
                Some(first) => {
                    let last = [from.last, first.last];
                    self.demand(param, from, Demand::Leading { name, last }, &[first])?;
                }
                None => _ = deduced.packs.insert(name, Some(from)),
            }
        }
        for (position, written) in pattern.dims.iter().enumerate() {
            let axis = pattern.dims.len() - position;
            let Some(name) = symbol(param.template, written) else {
                deduced.computed.push(Computed { parameter, position, from });
                continue;
            };
            match deduced.dims.get(&name) {
                Some((extent, first)) => {
                    let demand = Demand::Extent { axis, name, extent: extent.clone() };
                    self.demand(param, from, demand, &[*first])?;
                }
                None => {
                    let extent = self.extent(&name, from, axis);
                    deduced.dims.insert(name, (extent, from));
                }
            }
        }
        Ok(())
    }

    /// Checks an axis with a computed extent, once all names are known.
    fn check_computed_extent(
        &mut self,
        template: &Template,
        computed: &Computed<Self::Tensor>,
        dims: &DimNames,
    ) -> Lowered<()> {
        let parameter = &template.parameters[computed.parameter];
        let pattern = parameter.takes.pattern().expect("only tensors have extents");
        let written = &pattern.dims[computed.position];
        let axis = pattern.dims.len() - computed.position;
        let extent = dims.dim(written).map_err(Stop::from)?;
        let demand = Demand::Extent { axis, name: written.to_string(), extent };
        self.demand(ParameterRef { template, parameter }, computed.from, demand, &[])
    }

    /// The path of the field of a struct argument that a tensor is; `None` if the argument is not a struct.
    fn field_text(&self, tensor: Self::Tensor, argument: ExprId) -> Option<String> {
        let value @ Value::Struct(record) = self.value(argument) else { return None };
        let position = value.leaves().iter().position(|leaf| *leaf == tensor)?;
        Some(Structure::Struct((*record.ty).clone()).named_leaves()[position].text())
    }
}
