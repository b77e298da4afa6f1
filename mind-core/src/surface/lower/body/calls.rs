//! Calls of functions of the block: arguments are matched, dimensions bound, and the callee is inlined.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::lowering::BodyLowering;
use super::records::ParameterPart;
use super::report::Spot;
use crate::diag::{Code, Diag};
use crate::dim::{Bindings, Dim, Symbol};
use crate::ir::{Module, ValueId};
use crate::ops::OpError;
use crate::surface::ast::{Argument, Callee, ExprId, NodeKind, Number, NumberValue};
use crate::surface::lower::builtins::arguments::match_arguments;
use crate::surface::lower::builtins::foreign::ForeignNames;
use crate::surface::lower::builtins::foreign_arguments::ForeignArguments;
use crate::surface::lower::builtins::operations::Operations;
use crate::surface::lower::callees::callable::{
    Callable, Differentiation, Formal, MAX_INSTRUCTIONS, own_instructions, too_many,
};
use crate::surface::lower::declarations::signature::Signature;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::scalars::Scalar;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Binding, Lowered, Stop, Value};
use crate::ty::Type;
use crate::written::{resolve, spread};

/// The help for an undefined function about which nothing else is known.
const NO_FUNCTION: &str =
    "define it in the block, import it with `use`, or compute it in Rust and pass it as a parameter";

impl BodyLowering<'_> {
    /// Lowers a call by name.
    pub(crate) fn call(&mut self, callee: &Callee, arguments: &[Argument], expr: ExprId) -> Lowered<Value> {
        let name = callee.to_string();
        let table = self.table;
        match table.position(&name) {
            Some(position) => {
                let entry = table.entry(position);
                match (entry.callable(&name), &entry.signature) {
                    (Some(callable), _) => self.apply(&callable, arguments, expr),
                    (None, Some(signature)) => self.check_call(&name, signature, arguments, expr),
                    (None, None) => Err(Stop::Poisoned),
                }
            }
            None if table.is_unread(&name) => Err(Stop::Poisoned),
            None if self.is_call_of_library(callee, arguments) => {
                Err(self.library_called(callee, arguments, expr).into())
            }
            None => match crate::surface::lower::builtins::called(callee) {
                Some(builtin) => self.call_builtin(builtin, arguments, expr),
                None => Err(self.undefined_function(callee, arguments, expr)),
            },
        }
    }

    pub(crate) fn undefined_function(
        &mut self,
        callee: &Callee,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Stop {
        let name = callee.to_string();
        let method = matches!(self.body[expr].kind, NodeKind::Call { method: true, .. });
        let of_mistake = method && matches!(self.values[arguments[0].value.index()], Value::Poison);
        if of_mistake || self.is_reported_with_its_call(callee, expr) {
            return Stop::Poisoned;
        }
        if let Some(stop) = self.no_function_but(&name, callee, arguments) {
            return stop;
        }
        let table = self.table;
        let known = table.names().chain(crate::surface::lower::builtins::names());
        let diag = self.no_function(callee, (arguments, method), expr, known);
        let diag = if diag.help.is_some() { diag } else { diag.help(NO_FUNCTION) };
        self.once(format!("{name}()"), || diag)
    }

    /// The error for a call of a name that is not a function: a variable or a struct.
    fn no_function_but(&self, name: &str, callee: &Callee, arguments: &[Argument]) -> Option<Stop> {
        let help = match self.names.get(name) {
            Some(Binding::Local(Value::Poison)) => return Some(Stop::Poisoned),
            Some(binding) if self.is_struct(binding) => {
                let given = arguments.iter().map(|argument| self.full_text(argument.value));
                let given = given.chain([name.to_owned()]).collect::<Vec<_>>().join(", ");
                format!("`{name}` is a struct: call a function that takes it, as in `forward({given})`")
            }
            Some(Binding::Local(_) | Binding::Parameter(_)) => {
                format!(
                    "`{name}` is a value: select elements with brackets, as in `{name}[0]`, or multiply with `*`"
                )
            }
            None => {
                let defined = self.dims().structs.get(name)?.as_ref()?;
                let fields = defined.definition.fields.iter().enumerate().map(|(position, field)| {
                    let value = arguments.get(position).map(|argument| self.full_text(argument.value));
                    format!("{}: {}", field.name, value.unwrap_or_else(|| "…".to_owned()))
                });
                let fields = fields.collect::<Vec<_>>().join(", ");
                format!("a struct needs the names of its fields: write `{name} {{ {fields} }}`")
            }
        };
        let diag = Diag::new(Code::E2002, callee.site(), format!("undefined function `{name}`"));
        Some(diag.help(help).into())
    }

    fn is_struct(&self, binding: &Binding) -> bool {
        let value = match binding {
            Binding::Local(value) => value,
            Binding::Parameter(position) => &self.versions[*position],
        };
        matches!(value, Value::Struct(_))
    }

    /// Checks a call of a function that itself has an error.
    fn check_call(
        &mut self,
        name: &str,
        signature: &Signature,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<Value> {
        let callable = Callable {
            name: name.to_owned(),
            symbols: signature.symbols().to_vec(),
            formals: Formal::all(signature),
            result: Structure::UNIT,
            updates: Vec::new(),
            module: &Module::default(),
            source: None,
            steps: Vec::new(),
        };
        let bound = self.bind(&callable, arguments, expr)?;
        // The use of the declared result in the caller is checked all the same.
        self.incomplete = true;
        let result = signature.result.as_ref().and_then(|result| result.substitute(&bound.bindings).ok());
        let result = result.ok_or(Stop::Poisoned)?;
        let mut leaves = Vec::new();
        for ty in result.leaves() {
            leaves.push(self.stand_in(ty, expr).ok_or(Stop::Poisoned)?);
        }
        Ok(Value::rebuilt(&result, &mut leaves.into_iter()))
    }

    /// A placeholder of a type: the result of a function with an error.
    fn stand_in(&mut self, ty: &Type, expr: ExprId) -> Option<ValueId> {
        let zero = Number { text: "0".to_owned(), value: NumberValue::Integer(0), suffix: None };
        let zero = self.builder.push(Scalar::written(&zero, ty.dtype).constant(), &[]).ok()?;
        self.made.push(Some(expr));
        let ops = resolve(&spread(ty.shape.to_vec()), &[self.builder.ty(zero)]).ok()?;
        self.emit_each(&Spot::of(expr), ops, vec![(zero, expr)]).ok()
    }

    /// Lowers a call: binds the arguments and inlines the module.
    pub(crate) fn apply(
        &mut self,
        callable: &Callable<'_>,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<Value> {
        let bound = self.bind(callable, arguments, expr)?;
        let site = self.body[expr].site;
        let broken = |error: &OpError| {
            let mut diag = Diag::new(error.code, site, format!("in `{}`: {error}", callable.name));
            for (symbol, dim) in &bound.bindings {
                diag = diag.note(format!("`{symbol}` is {dim} in this call"));
            }
            diag
        };
        let (module, origins) = match callable.steps.is_empty() {
            true => (Cow::Borrowed(callable.module), Vec::new()),
            false => {
                let made = callable.differentiated(&bound.bindings).map_err(|error| match error {
                    Differentiation::Rule(error) => broken(&error),
                    Differentiation::Gradient(diag) => diag,
                });
                let (module, origins) = made?;
                (Cow::Owned(module), origins)
            }
        };
        let count = self.builder.insts().len().saturating_add(own_instructions(&module));
        if count > MAX_INSTRUCTIONS {
            return Err(too_many(&callable.name, count, site).into());
        }
        let first = self.builder.insts().len();
        let inlined = self.builder.inline(&module, &bound.values, &bound.bindings);
        let made = origins.into_iter().skip(bound.values.len()).enumerate();
        let einsums = callable.source.iter().flat_map(|source| &source.einsums);
        self.einsums.extend(einsums.map(|einsum| einsum.substitute(&bound.bindings)));
        self.derived.extend(made.filter_map(|(at, origin)| Some((ValueId::new(first + at), origin?))));
        self.made.resize(self.builder.insts().len(), Some(expr));
        let outputs = inlined.map_err(|error| broken(&error))?;
        let inputs = module.inputs().map(|(name, _)| name.to_string()).zip(bound.values.iter().copied());
        let inputs = inputs.map(|(name, value)| (value, name)).collect();
        let mut outputs = self.kept_call(&callable.name, first, inputs, outputs, expr).into_iter();
        let result = callable.result.substitute(&bound.bindings).map_err(|overflow| {
            Diag::new(Code::E1008, site, format!("result of `{}`: {overflow}", callable.name))
        })?;
        let value = Value::rebuilt(&result, &mut outputs);
        for (inputs, place) in &bound.written {
            let old = self.version(place);
            let mut versions = old.leaves();
            for (at, input) in inputs.clone().enumerate() {
                if callable.updates.contains(&input) {
                    versions[at] = outputs.next().expect("a module has an output for each input it updates");
                    self.updated[place.inputs.start + at] = true;
                }
            }
            let new = Value::rebuilt(&place.structure, &mut versions.into_iter());
            self.write(place, new);
        }
        Ok(value)
    }

    /// The error for a body whose calls alone exceed the limit of instructions. It is detected before a callee is
    /// copied: a function is lowered after its callees, so their sizes are known.
    pub(crate) fn calls_too_much(&self) -> Option<Diag> {
        let mut all = self.signature.inputs.len();
        let mut last = None;
        for (callee, site) in self.body.callees_here() {
            let name = callee.to_string();
            let entry = self.table.position(&name).map(|position| self.table.entry(position));
            if let Some(compiled) = entry.and_then(|entry| entry.compiled.as_ref()) {
                all = all.saturating_add(own_instructions(&compiled.source.module));
                last = Some((name, site));
            }
        }
        let (name, site) = last.filter(|_| all > MAX_INSTRUCTIONS)?;
        Some(too_many(&name, all, site))
    }

    /// Gives a literal the dtype of the expected tensor.
    pub(crate) fn literal_as(&mut self, structure: &Structure, argument: ExprId) -> Lowered<()> {
        if let Structure::Value(ty) = structure
            && let Value::Literal(id) = self.values[argument.index()]
            && self.literals.fits(id, ty.dtype)
        {
            let made = self.materialise(id, ty.dtype)?;
            self.values[argument.index()] = Value::Tensor(made);
        }
        Ok(())
    }

    /// Calls `bind` for each symbol of the expected structure whose dimension an argument determines.
    pub(crate) fn bind_symbols(
        &self,
        structure: &Structure,
        argument: ExprId,
        symbols: &[Symbol],
        bind: &mut dyn FnMut(&Symbol, &Dim),
    ) {
        let (declared, found) = match (structure, &self.values[argument.index()]) {
            (Structure::Value(ty), Value::Tensor(value)) => {
                (&ty.shape[..], &self.builder.ty(*value).shape[..])
            }
            (Structure::Struct(ty), Value::Struct(record)) if record.ty.is_of(&ty.definition) => {
                (&ty.dims[..], &record.ty.dims[..])
            }
            (Structure::Value(_) | Structure::Tuple(_) | Structure::Struct(_), _) => return,
        };
        if declared.len() != found.len() {
            return;
        }
        for (declared, found) in declared.iter().zip(found) {
            if let Some(symbol) = declared.as_symbol().filter(|symbol| symbols.contains(symbol)) {
                bind(symbol, found);
            }
        }
    }

    /// Matches arguments with formals and determines the dimension of each symbol.
    fn bind(
        &mut self,
        callable: &Callable<'_>,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<MatchedArguments> {
        let names: Vec<&str> = callable.formals.iter().map(|formal| formal.name.as_str()).collect();
        let call = self.body[expr].site;
        let matched = match_arguments(&callable.name, &names, names.len(), arguments, call)?;
        let given: Vec<ExprId> =
            matched.given.iter().map(|given| given.expect("every formal is required").value).collect();
        let mut bindings = Bindings::new();
        // The argument that gave each symbol its dimension.
        let mut givers: BTreeMap<Symbol, ExprId> = BTreeMap::new();
        for (formal, argument) in callable.formals.iter().zip(&given) {
            self.literal_as(&formal.structure, *argument)?;
            self.bind_symbols(&formal.structure, *argument, &callable.symbols, &mut |symbol, dim| {
                if !bindings.contains_key(symbol) {
                    bindings.insert(symbol.clone(), dim.clone());
                    givers.insert(symbol.clone(), *argument);
                }
            });
        }
        let mut bound = MatchedArguments { values: Vec::new(), bindings, written: Vec::new() };
        let (mut mistakes, mut start) = (Vec::new(), 0);
        for (formal, argument) in callable.formals.iter().zip(&given) {
            let inputs = start..start + formal.structure.leaves().len();
            start = inputs.end;
            match self.bind_one(callable, formal, *argument, &bound.bindings, &givers) {
                Ok(value) => bound.values.extend(value.leaves()),
                Err(stop) => mistakes.push(stop),
            }
            if formal.update {
                match self.written(formal, *argument, &bound.written) {
                    Ok(place) => bound.written.push((inputs, place)),
                    Err(stop) => mistakes.push(stop),
                }
            }
        }
        if mistakes.is_empty() {
            return Ok(bound);
        }
        if let Some(order) = self.other_order(callable, &given, (arguments, expr))
            && let Some(Stop::Mistake(diag)) =
                mistakes.iter_mut().find(|mistake| matches!(mistake, Stop::Mistake(_)))
        {
            let texts: Vec<_> = order.iter().map(|position| self.full_text(given[*position])).collect();
            let (first, last) = (arguments[0].site, arguments[arguments.len() - 1].site);
            diag.site = first.to(last);
            diag.help = Some(format!("the arguments fit in another order: write `{}`", texts.join(", ")));
            mistakes.retain(|mistake| matches!(mistake, Stop::Mistake(_)));
            mistakes.truncate(1);
        }
        mistakes.into_iter().for_each(|mistake| self.report(mistake));
        Err(Stop::Poisoned)
    }

    /// Another order of the arguments in which each fits its formal, if any. It is the one that moves the fewest
    /// arguments.
    fn other_order(
        &self,
        callable: &Callable<'_>,
        given: &[ExprId],
        (arguments, expr): (&[Argument], ExprId),
    ) -> Option<Vec<usize>> {
        const MOST: usize = 5;
        let is_method = matches!(self.body[expr].kind, NodeKind::Call { method: true, .. });
        let by_name = is_method || arguments.iter().any(|argument| argument.name.is_some());
        if by_name || given.len() > MOST || callable.formals.iter().any(|formal| formal.update) {
            return None;
        }
        let mut fitting: Vec<Vec<usize>> = orders(given.len());
        fitting.retain(|order| self.fits_in_order(callable, given, order));
        let moved = |order: &Vec<usize>| order.iter().enumerate().filter(|(to, from)| to != *from).count();
        fitting.into_iter().min_by_key(moved)
    }

    fn fits_in_order(&self, callable: &Callable<'_>, given: &[ExprId], order: &[usize]) -> bool {
        let mut bindings = Bindings::new();
        for (formal, position) in callable.formals.iter().zip(order) {
            self.bind_symbols(&formal.structure, given[*position], &callable.symbols, &mut |symbol, dim| {
                bindings.entry(symbol.clone()).or_insert_with(|| dim.clone());
            });
        }
        callable.formals.iter().zip(order).all(|(formal, position)| {
            let Ok(expected) = formal.structure.substitute(&bindings) else { return false };
            match (&expected, &self.values[given[*position].index()]) {
                (Structure::Value(ty), Value::Tensor(value)) => self.builder.ty(*value) == ty,
                (Structure::Value(ty), Value::Literal(id)) => {
                    ty.rank() == 0 && self.literals.is_number(*id) && self.literals.fits(*id, ty.dtype)
                }
                (Structure::Struct(ty), Value::Struct(record)) => *ty == *record.ty,
                (Structure::Value(_) | Structure::Tuple(_) | Structure::Struct(_), _) => false,
            }
        })
    }

    fn bind_one(
        &mut self,
        callable: &Callable<'_>,
        formal: &Formal,
        argument: ExprId,
        bindings: &Bindings,
        givers: &BTreeMap<Symbol, ExprId>,
    ) -> Lowered<Value> {
        let value = self.values[argument.index()].clone();
        let what = format!("argument `{}` of `{}`", formal.name, callable.name);
        let site = self.body[argument].site;
        let mut symbols = Vec::new();
        for leaf in formal.structure.leaves() {
            leaf.shape.iter().for_each(|dim| dim.for_each_symbol(&mut |symbol| symbols.push(symbol.clone())));
        }
        let unbound = symbols.iter().any(|symbol| !bindings.contains_key(symbol));
        let expected = formal
            .structure
            .substitute(bindings)
            .map_err(|overflow| Stop::from(Diag::new(Code::E1008, site, format!("{what}: {overflow}"))))?;
        // If a symbol has no dimension, the message shows the type as declared.
        let expected = if unbound { formal.structure.clone() } else { expected };
        match self.coerce(&value, &expected, argument, &what) {
            Ok(value) => Ok(value),
            Err(Stop::Mistake(mut diag)) => {
                let note = format!("`{}: {}` is declared", formal.name, formal.written);
                *diag = diag.note_at(formal.site, note);
                symbols.sort();
                symbols.dedup();
                for symbol in symbols.into_iter().filter(|_| !unbound) {
                    let Some(from) = givers.get(&symbol).filter(|from| **from != argument) else {
                        continue;
                    };
                    let note = format!(
                        "`{symbol}` is {} because {} is {}",
                        bindings[&symbol],
                        self.text(*from),
                        self.type_text(&self.values[from.index()])
                    );
                    *diag = diag.note_at(self.body[*from].site, note);
                }
                Err(Stop::Mistake(diag))
            }
            Err(stop @ (Stop::Poisoned | Stop::Argument(..))) => Err(stop),
        }
    }

    /// The parameter, or the field of one, that a `&mut` argument names.
    fn written(
        &mut self,
        formal: &Formal,
        argument: ExprId,
        before: &[(Range<usize>, ParameterPart)],
    ) -> Lowered<ParameterPart> {
        let site = self.body[argument].site;
        let Some(path) = self.body.path(argument) else {
            let message = format!("`{}` is updated in place, found an expression", formal.name);
            return Err(Diag::new(Code::E2010, site, message)
                .note_at(formal.site, format!("`{}: {}` is declared", formal.name, formal.written))
                .help("pass the name of a `&mut` parameter or of a field of one")
                .into());
        };
        let place = self.writable(&path)?;
        let overlaps = |earlier: &ParameterPart| {
            earlier.inputs.start < place.inputs.end && place.inputs.start < earlier.inputs.end
        };
        if before.iter().any(|(_, earlier)| overlaps(earlier)) {
            let message = format!("`{path}` is passed twice as `&mut`");
            return Err(Diag::new(Code::E2010, site, message).into());
        }
        Ok(place)
    }
}

/// All permutations of `count` items except the identity.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 0..count {
        let longer = orders.iter().flat_map(|order: &Vec<usize>| {
            let rest = (0..count).filter(|next| !order.contains(next));
            rest.map(|next| order.iter().copied().chain([next]).collect()).collect::<Vec<Vec<usize>>>()
        });
        orders = longer.collect();
    }
    orders.split_off(1.min(orders.len()))
}

/// Arguments that match the formals.
struct MatchedArguments {
    /// The tensors of all arguments, in order.
    values: Vec<ValueId>,
    bindings: Bindings,
    /// For each formal that is updated: its inputs, and the part of the caller's parameter that is passed.
    written: Vec<(Range<usize>, ParameterPart)>,
}
