//! Calls of functions of the block: arguments are matched, dimensions bound, and the callee is inlined.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::Ident;

use super::block::Entry;
use super::body::BodyLowering;
use super::expressions::Expressions;
use super::foreign::Foreign;
use super::names::nearest;
use super::records::{Place, Record};
use super::scalars::Scalar;
use super::signature::Signature;
use super::transforms::{Differentiation, Step};
use super::types::Structure;
use super::values::{Lowered, Stop, Value};
use crate::diag::{Code, Diag, Site};
use crate::dim::{Bindings, Dim, Symbol};
use crate::ir::{Module, Op, ValueId};
use crate::ops::OpError;
use crate::surface::ast::{Argument, ExprId, NodeKind, Number, NumberValue};
use crate::surface::habits;
use crate::ty::Type;

/// The most instructions a function may come to once what it calls is inlined: as many as an expression has.
const MAX_INSTRUCTIONS: usize = 1 << 16;

/// Where nothing is known of an undefined function.
const NO_FUNCTION: &str =
    "define it in the block, import it with `use`, or compute it in Rust and pass it as a parameter";

/// What is called: a function, or one made of a function by transforms.
pub(super) struct Callable<'a> {
    /// As messages name it.
    pub(super) name: String,
    pub(super) symbols: &'a [Symbol],
    pub(super) formals: Vec<Formal>,
    pub(super) result: Structure,
    /// The inputs whose final versions are outputs behind those of the result.
    pub(super) updates: Vec<usize>,
    pub(super) module: &'a Module,
    /// The transforms that make the function of the module, innermost first.
    pub(super) steps: Vec<Step>,
}

/// What a call must give.
#[derive(Clone)]
pub(super) struct Formal {
    pub(super) name: String,
    pub(super) update: bool,
    pub(super) structure: Structure,
    pub(super) written: String,
    pub(super) site: Site,
}

impl Formal {
    pub(super) fn all(signature: &Signature) -> Vec<Self> {
        let formal = |parameter: &super::signature::SignatureParameter| Self {
            name: parameter.name.clone(),
            update: parameter.update,
            structure: parameter.structure.clone(),
            written: parameter.written.clone(),
            site: parameter.site,
        };
        signature.parameters.iter().map(formal).collect()
    }
}

impl Entry {
    /// The function as something to call by a name; nothing where it has a mistake.
    pub(super) fn callable(&self, name: &str) -> Option<Callable<'_>> {
        let (signature, compiled) = (self.signature.as_ref()?, self.compiled.as_ref()?);
        Some(Callable {
            name: name.to_owned(),
            symbols: signature.symbols(),
            formals: Formal::all(signature),
            result: compiled.result.clone(),
            updates: compiled.updates.clone(),
            module: &compiled.source.module,
            steps: Vec::new(),
        })
    }
}

/// Which argument is which formal.
pub(crate) struct Arguments<'a> {
    /// Each formal's argument.
    pub(crate) given: Vec<Option<&'a Argument>>,
}

/// Matches arguments with formals: in order, then by name.
pub(crate) fn match_arguments<'a>(
    callee: &str,
    formals: &[&str],
    required: usize,
    arguments: &'a [Argument],
    call: Site,
) -> Result<Arguments<'a>, Diag> {
    let mut given: Vec<Option<&Argument>> = vec![None; formals.len()];
    let takes = || {
        let count = match (required, formals.len()) {
            (_, 1) if required == 1 => "1 argument".to_owned(),
            (required, all) if required == all => format!("{all} arguments"),
            (required, all) => format!("{required} to {all} arguments"),
        };
        format!("`{callee}` takes {count}")
    };
    for (next, argument) in arguments.iter().enumerate() {
        let position = match &argument.name {
            None if next < formals.len() => next,
            None => {
                let message = format!("{}, found {}", takes(), arguments.len());
                let diag = Diag::new(Code::E2007, argument.site, message);
                return Err(if formals.is_empty() { diag.help("leave it out") } else { diag });
            }
            Some(name) => {
                let text = name.to_string();
                // One axis may be called so.
                let wanted =
                    if text == "axis" && !formals.contains(&"axis") { "axes" } else { text.as_str() };
                match formals.iter().position(|formal| *formal == wanted) {
                    Some(position) => position,
                    None => {
                        let message =
                            format!("`{callee}` has no argument `{text}`, expected {}", list(formals));
                        let diag = Diag::new(Code::E2007, Site::token(name.span()), message);
                        let near = || nearest(&text, formals.iter().copied());
                        return Err(match habits::argument(&text, formals).or_else(near) {
                            Some(near) => diag.help(format!("write `{near}`")),
                            None if habits::is_needless_argument(&text) => diag.help("leave it out"),
                            None => diag,
                        });
                    }
                }
            }
        };
        if let Some(first) = given[position] {
            let message = format!("`{}` of `{callee}` is given twice", formals[position]);
            return Err(
                Diag::new(Code::E2007, argument.site, message).note_at(first.site, "it is given first")
            );
        }
        given[position] = Some(argument);
    }
    let missing: Vec<_> =
        (0..required).filter(|position| given[*position].is_none()).map(|i| formals[i]).collect();
    if missing.is_empty() {
        return Ok(Arguments { given });
    }
    let message = format!("{}, found {}: {} missing", takes(), arguments.len(), list(&missing));
    let help = match callee.contains('(') {
        true => format!("the arguments are {}", list(&formals[..required])),
        false => format!("write `{callee}({})`", formals[..required].join(", ")),
    };
    Err(Diag::new(Code::E2007, call, message).help(help))
}

/// `a`, `b`
fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl BodyLowering<'_> {
    /// Lowers a call by name.
    pub(super) fn call(&mut self, callee: &Ident, arguments: &[Argument], expr: ExprId) -> Lowered<Value> {
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
            None => match super::builtins::find(&name) {
                Some(builtin) => self.call_builtin(builtin, arguments, expr),
                None => Err(self.undefined_function(callee, arguments, expr)),
            },
        }
    }

    pub(super) fn undefined_function(
        &mut self,
        callee: &Ident,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Stop {
        let name = callee.to_string();
        let table = self.table;
        let known = table.names().chain(super::builtins::names());
        let method = matches!(self.body[expr].kind, NodeKind::Call { method: true, .. });
        let diag = self.no_function(callee, (arguments, method), expr, known);
        let diag = if diag.help.is_some() { diag } else { diag.help(NO_FUNCTION) };
        self.once(format!("{name}()"), || diag)
    }

    /// Checks the call of a function that has a mistake of its own.
    fn check_call(
        &mut self,
        name: &str,
        signature: &Signature,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<Value> {
        let callable = Callable {
            name: name.to_owned(),
            symbols: signature.symbols(),
            formals: Formal::all(signature),
            result: Structure::UNIT,
            updates: Vec::new(),
            module: &Module::default(),
            steps: Vec::new(),
        };
        let bound = self.bind(&callable, arguments, expr)?;
        // What the caller makes of the result that is declared is looked at all the same.
        self.incomplete = true;
        let result = signature.result.as_ref().and_then(|result| result.substitute(&bound.bindings).ok());
        let result = result.ok_or(Stop::Poisoned)?;
        let mut leaves = Vec::new();
        for ty in result.leaves() {
            leaves.push(self.stand_in(ty, expr).ok_or(Stop::Poisoned)?);
        }
        Ok(self.rebuild(&result, &mut leaves.into_iter()))
    }

    /// A value of a type in place of one that a function with a mistake would give.
    fn stand_in(&mut self, ty: &Type, expr: ExprId) -> Option<ValueId> {
        let zero = Number { text: "0".to_owned(), value: NumberValue::Integer(0), suffix: None };
        let zero = self.builder.push(Scalar::of(&zero, ty.dtype).constant(), &[]).ok()?;
        self.made.push(Some(expr));
        let made = self.builder.push(Op::BroadcastTo { shape: ty.shape.clone() }, &[zero]).ok()?;
        self.made.push(Some(expr));
        Some(made)
    }

    /// Calls: binds the arguments and inlines the module.
    pub(super) fn apply(
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
        let module = match callable.steps.is_empty() {
            true => Cow::Borrowed(callable.module),
            false => Cow::Owned(callable.differentiated(&bound.bindings).map_err(|error| match error {
                Differentiation::Rule(error) => broken(&error),
                Differentiation::Gradient(diag) => diag,
            })?),
        };
        let count = self.builder.insts().len().saturating_add(own_instructions(&module));
        if count > MAX_INSTRUCTIONS {
            return Err(too_many(&callable.name, count, site).into());
        }
        let inlined = self.builder.inline(&module, &bound.values, &bound.bindings);
        self.made.resize(self.builder.insts().len(), Some(expr));
        let outputs = inlined.map_err(|error| broken(&error))?;
        let mut outputs = outputs.into_iter();
        let result = callable.result.substitute(&bound.bindings).map_err(|overflow| {
            Diag::new(Code::E1008, site, format!("result of `{}`: {overflow}", callable.name))
        })?;
        let value = self.rebuild(&result, &mut outputs);
        for (inputs, place) in &bound.written {
            let old = self.version(place);
            let mut versions = self.leaves(&old);
            for (at, input) in inputs.clone().enumerate() {
                if callable.updates.contains(&input) {
                    versions[at] = outputs.next().expect("a module has an output for each input it updates");
                    self.updated[place.inputs.start + at] = true;
                }
            }
            let new = self.rebuild(&place.structure, &mut versions.into_iter());
            self.write(place, new);
        }
        Ok(value)
    }

    /// What is wrong where calls alone make too many instructions, each by what it calls: known before one of them is
    /// copied, since functions come after those that they call.
    pub(super) fn calls_too_much(&self) -> Option<Diag> {
        let callees = self.body.nodes.iter().filter_map(|node| Some((node.kind.callee()?, node.site)));
        let mut all = self.signature.inputs.len();
        let mut last = None;
        for (callee, site) in callees {
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

    /// A value of this structure, its tensors taken in order.
    pub(super) fn rebuild(
        &mut self,
        structure: &Structure,
        tensors: &mut dyn Iterator<Item = ValueId>,
    ) -> Value {
        match structure {
            Structure::Value(_) => {
                Value::Tensor(tensors.next().expect("there is a tensor for each leaf of the structure"))
            }
            Structure::Tuple(elements) => {
                let elements = elements.iter().map(|element| self.rebuild(element, tensors)).collect();
                Value::tuple(elements).expect("a written type is within the limits of tuples")
            }
            Structure::Struct(ty) => {
                let fields = ty.fields.iter().map(|field| self.rebuild(field, tensors)).collect();
                Record::value(ty.clone(), fields)
            }
        }
    }

    /// Gives a literal the dtype of the tensor that is expected.
    pub(super) fn literal_as(&mut self, structure: &Structure, argument: ExprId) -> Lowered<()> {
        if let Structure::Value(ty) = structure
            && let Value::Literal(id) = self.values[argument.index()]
            && self.literals.fits(id, ty.dtype)
        {
            let made = self.materialise(id, ty.dtype)?;
            self.values[argument.index()] = Value::Tensor(made);
        }
        Ok(())
    }

    /// What an argument says of the symbols in the structure that is expected.
    pub(super) fn bind_symbols(
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
            (Structure::Struct(ty), Value::Struct(record)) if ty.name == record.ty.name => {
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

    /// Matches arguments with formals and works out what each symbol stands for.
    fn bind(&mut self, callable: &Callable<'_>, arguments: &[Argument], expr: ExprId) -> Lowered<Bound> {
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
            self.bind_symbols(&formal.structure, *argument, callable.symbols, &mut |symbol, dim| {
                if !bindings.contains_key(symbol) {
                    bindings.insert(symbol.clone(), dim.clone());
                    givers.insert(symbol.clone(), *argument);
                }
            });
        }
        let mut bound = Bound { values: Vec::new(), bindings, written: Vec::new() };
        let (mut mistakes, mut start) = (Vec::new(), 0);
        for (formal, argument) in callable.formals.iter().zip(&given) {
            let inputs = start..start + formal.structure.leaves().len();
            start = inputs.end;
            match self.bind_one(callable, formal, *argument, &bound.bindings, &givers) {
                Ok(value) => bound.values.extend(self.leaves(&value)),
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
            diag.help = Some(format!("in another order they fit: write `{}`", texts.join(", ")));
            mistakes.retain(|mistake| matches!(mistake, Stop::Mistake(_)));
            mistakes.truncate(1);
        }
        mistakes.into_iter().for_each(|mistake| self.report(mistake));
        Err(Stop::Poisoned)
    }

    /// The order of the arguments in which each fits its formal, if there is another.
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
            self.bind_symbols(&formal.structure, given[*position], callable.symbols, &mut |symbol, dim| {
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
        // Where a symbol has no dimension the type is told as it is declared.
        let expected = if unbound { formal.structure.clone() } else { expected };
        match self.coerce(&value, &expected, argument, &what) {
            Ok(value) => Ok(value),
            Err(Stop::Mistake(mut diag)) => {
                let note = format!("`{}: {}` is declared", formal.name, formal.written);
                *diag = diag.note_at(formal.site, note);
                symbols.sort();
                symbols.dedup();
                for symbol in symbols.into_iter().filter(|_| !unbound) {
                    let Some(giver) = givers.get(&symbol).filter(|giver| **giver != argument) else {
                        continue;
                    };
                    let note = format!(
                        "`{symbol}` is {} because {} is {}",
                        bindings[&symbol],
                        self.text(*giver),
                        self.type_text(&self.values[giver.index()])
                    );
                    *diag = diag.note_at(self.body[*giver].site, note);
                }
                Err(Stop::Mistake(diag))
            }
            Err(Stop::Poisoned) => Err(Stop::Poisoned),
        }
    }

    /// The parameter, or the field of one, that a `&mut` argument names.
    fn written(
        &mut self,
        formal: &Formal,
        argument: ExprId,
        before: &[(Range<usize>, Place)],
    ) -> Lowered<Place> {
        let site = self.body[argument].site;
        let Some(path) = self.body.path(argument) else {
            let message = format!("`{}` is updated in place, found an expression", formal.name);
            return Err(Diag::new(Code::E2010, site, message)
                .note_at(formal.site, format!("`{}: {}` is declared", formal.name, formal.written))
                .help("pass a `&mut` parameter or a field of one by its name")
                .into());
        };
        let place = self.writable(&path)?;
        let overlaps = |earlier: &Place| {
            earlier.inputs.start < place.inputs.end && place.inputs.start < earlier.inputs.end
        };
        if before.iter().any(|(_, earlier)| overlaps(earlier)) {
            let message = format!("`{path}` is passed twice to be updated in place");
            return Err(Diag::new(Code::E2010, site, message).into());
        }
        Ok(place)
    }
}

/// Every order of so many things but the first.
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

/// How many instructions a call copies.
fn own_instructions(module: &Module) -> usize {
    module.insts().len() - module.inputs().len()
}

/// E1008 where so many instructions are made or would be.
pub(super) fn too_many(callee: &str, count: usize, site: Site) -> Diag {
    let message = format!(
        "with `{callee}` inlined the function has {count} instructions or more, which exceeds the limit of \
         {MAX_INSTRUCTIONS}"
    );
    Diag::new(Code::E1008, site, message)
}

/// Whether a module is as large as a function may be.
pub(super) fn is_too_large(module: &Module) -> bool {
    module.insts().len() > MAX_INSTRUCTIONS
}

/// Arguments that fit.
struct Bound {
    /// The tensors of all of them, in order.
    values: Vec<ValueId>,
    bindings: Bindings,
    /// The inputs of each formal that is updated, with what it is of the caller's.
    written: Vec<(Range<usize>, Place)>,
}
