//! Declarations: `def`, `edef`, `gdef` and `rule`.

use mind_core::{
    diag::{Code, Diag},
    surface::lower::undefined,
};

use super::{
    Elaborator, Found,
    function_names::{Name, names_builtin},
};
use crate::{
    build::Builder,
    ir::{Definition, Derivative, Function, FunctionId, Operation, Rule, ValueId},
    primitives::has_own_syntax,
    read::{Form, FormId},
    types::{Type, TypeId},
};

/// A parameter: its name and its type.
type Parameter<'a> = (&'a str, TypeId);

impl<'a> Elaborator<'_, 'a> {
    pub(super) fn declarations(&mut self) {
        for form in &self.forms.top {
            self.predeclare(*form);
        }
        for form in &self.forms.top {
            self.declaration(*form);
        }
    }

    /// Declares a function of the prelude in advance if the program declares it, defines it or defines a derivative of
    /// it, so that earlier calls also refer to the program's function. Errors are dropped here and reported when the
    /// form is read.
    fn predeclare(&mut self, form: FormId) {
        let Some(&[head, name, ty, parameters, ..]) = self.forms.list(form) else { return };
        let keyword = self.forms.name(head);
        if !matches!(keyword, Some("def" | "edef")) || self.is_old_derivative(name) {
            return;
        }
        let mut unsaid = std::mem::take(self.diags);
        self.predeclare_function(keyword == Some("def"), form, name, ty, parameters);
        std::mem::swap(self.diags, &mut unsaid);
    }

    fn predeclare_function(
        &mut self,
        is_defined: bool,
        at: FormId,
        name: FormId,
        ty: FormId,
        parameters: FormId,
    ) -> Found<()> {
        let name = self.name(name).filter(|name| names_builtin(name.base))?;
        let parameters: Vec<_> = match is_defined {
            true => self.parameters(parameters)?.into_iter().map(|(_, ty)| ty).collect(),
            false => self.argument_types(parameters)?,
        };
        let argument = self.program.argument(&parameters);
        if !name.derivatives.is_empty() {
            let argument = self.base_argument(&name, Some(argument))?;
            let base = self.unsuffixed(name.base, argument);
            if !has_own_syntax(base) && self.program.overload(base, argument).is_none() {
                self.program.declare_of_prelude(base, argument)?;
            }
            return Some(());
        }
        let result = self.ty(ty)?;
        let base = self.unsuffixed(name.base, argument);
        if self.is_builtin(base, argument)
            && !has_own_syntax(base)
            && self.program.overload(base, argument).is_none()
        {
            let (name, place) = (base.into(), self.forms.place(at));
            let (parameters, definition) = (parameters.into(), Definition::Declared);
            let function = Function { name, parameters, argument, result, place, definition };
            self.program.add_overload(base, function);
        }
        Some(())
    }

    fn declaration(&mut self, form: FormId) -> Found<()> {
        const WHAT: &str = "a declaration such as `(def name type params body)`";
        let Some([head, rest @ ..]) = self.forms.list(form) else {
            self.unexpected(form, WHAT);
            return None;
        };
        let Some(keyword) = self.forms.name(*head) else {
            self.unexpected(*head, "`def`, `edef`, `gdef` or `rule`");
            return None;
        };
        let usage = match keyword {
            "def" => "(def name type params body)",
            "edef" => "(edef name type argument-type)",
            "gdef" => "(gdef derivative name)",
            "rule" => "(rule \"name\" params left right)",
            _ => {
                let known = ["def", "edef", "gdef", "rule"];
                self.diags.push(undefined("declaration", keyword, self.forms.place(*head).into(), known));
                return None;
            }
        };
        match (keyword, rest) {
            ("def", [name, ty, parameters, body]) => self.define(form, *name, *ty, *parameters, *body),
            ("edef", [name, ty, argument]) => self.declare(form, *name, *ty, *argument),
            ("gdef", [derivative, name]) => self.generate(form, *derivative, *name),
            ("rule", [name, parameters, left, right]) => self.rule(form, *name, *parameters, *left, *right),
            _ => {
                // A part with a syntax error explains the missing part.
                if rest.iter().all(|part| *self.forms.get(*part) != Form::Wrong) {
                    self.wrong_parts(form, usage, keyword, rest.len());
                }
                None
            }
        }
    }

    fn define(
        &mut self,
        at: FormId,
        name: FormId,
        ty: FormId,
        parameters: FormId,
        body: FormId,
    ) -> Found<()> {
        let name_form = name;
        let (name, result, parameters) = (self.name(name), self.ty(ty), self.parameters(parameters));
        let (Some(name), Some(result), Some(parameters)) = (name, result, parameters) else {
            return None;
        };
        for (name, ty) in &parameters {
            if matches!(self.program.types.get(*ty), Type::Lambda(..) | Type::LinearMap(..)) {
                let message =
                    format!("parameter `{name}` is a lambda: lambdas are only arguments of primitives");
                self.report(Code::E2011, at, message);
                return None;
            }
        }
        let types: Vec<_> = parameters.iter().map(|(_, ty)| *ty).collect();
        let id = self.register(at, name_form, &name, result, types, Definition::Wrong)?;
        let found = self.body(id, &parameters, body);
        if let Some(found) = found
            && self.same(body, "the body", result, self.b.ty(found))
        {
            let body = std::mem::take(&mut self.b).finish(found);
            self.program.functions[id.index()].definition = Definition::Defined(body);
        }
        Some(())
    }

    fn declare(&mut self, at: FormId, name: FormId, ty: FormId, argument: FormId) -> Found<()> {
        let name_form = name;
        let result = self.ty(ty);
        let parameters = self.argument_types(argument);
        // Declarations of linear maps in the old style refer to functions that do not exist here.
        if self.is_old_derivative(name) {
            return None;
        }
        let name = self.name(name)?;
        self.register(at, name_form, &name, result?, parameters?, Definition::Declared)?;
        Some(())
    }

    /// Reads the type of an argument, or a list of types.
    fn argument_types(&mut self, form: FormId) -> Found<Vec<TypeId>> {
        match self.forms.list(form) {
            Some([]) => Some(Vec::new()),
            Some([head, ..]) if self.forms.name(*head).is_some_and(is_constructor) => {
                Some(vec![self.ty(form)?])
            }
            Some(members) => {
                let types: Vec<_> = members.iter().map(|member| self.ty(*member)).collect();
                types.into_iter().collect()
            }
            None => Some(vec![self.ty(form)?]),
        }
    }

    fn generate(&mut self, at: FormId, derivative: FormId, name: FormId) -> Found<()> {
        let name = self.derived(derivative, name)?;
        let id = self.base_of(at, &name, None)?;
        self.derive(at, &name.derivatives, id).map(|_| ())
    }

    fn rule(
        &mut self,
        at: FormId,
        name: FormId,
        parameters: FormId,
        left: FormId,
        right: FormId,
    ) -> Found<()> {
        let name = match self.forms.get(name) {
            Form::String(name) => Some(name.clone()),
            _ => {
                self.unexpected(name, "the name of the rule as a string");
                None
            }
        };
        let parameters = self.parameters(parameters)?;
        let sides = [left, right].map(|side| self.function_of(at, "rule", &parameters, side));
        let [Some(left_id), Some(right_id)] = sides else { return None };
        let (first, second) = (self.program.function(left_id).result, self.program.function(right_id).result);
        let name = name?;
        if self.same(right, "the sides of a rule", first, second) {
            let place = self.forms.place(at);
            self.program.rules.push(Rule { name, place, left: left_id, right: right_id });
        }
        Some(())
    }

    /// Adds an expression as a function of parameters.
    pub(super) fn function_of(
        &mut self,
        at: FormId,
        name: &str,
        parameters: &[Parameter<'a>],
        body: FormId,
    ) -> Found<FunctionId> {
        let types: Box<[_]> = parameters.iter().map(|(_, ty)| *ty).collect();
        let argument = self.program.argument(&types);
        let place = self.forms.place(at);
        let definition = Definition::Wrong;
        let name = name.into();
        let function =
            Function { name, parameters: types, argument, result: TypeId::UNIT, place, definition };
        let id = self.program.add(function);
        let result = self.body(id, parameters, body)?;
        let ty = self.b.ty(result);
        let body = std::mem::take(&mut self.b).finish(result);
        let function = &mut self.program.functions[id.index()];
        (function.result, function.definition) = (ty, Definition::Defined(body));
        Some(id)
    }

    /// Builds the body of a function with these parameter names.
    fn body(&mut self, id: FunctionId, parameters: &[Parameter<'a>], body: FormId) -> Found {
        self.b = Builder::default();
        self.b.place = self.forms.place(body);
        let taken = self.program.function(id).parameters.clone();
        let given = self.b.begin(&taken);
        let values = self.spread(&given, parameters.len());
        self.variables.clear();
        for ((name, _), value) in parameters.iter().zip(values) {
            self.b.name(value, *name);
            self.variables.push((name, Some(value)));
        }
        self.expression(body)
    }

    /// Converts the given operands to `wanted` operands of the same argument.
    pub(super) fn spread(&mut self, given: &[ValueId], wanted: usize) -> Vec<ValueId> {
        let types = &mut self.program.types;
        match given {
            _ if given.len() == wanted => given.to_vec(),
            [tuple] => self.b.members(types, *tuple),
            several => vec![self.b.tuple(types, several)],
        }
    }

    /// Registers a function with this name and argument: a new one, or one that was declared.
    fn register(
        &mut self,
        at: FormId,
        name_form: FormId,
        name: &Name<'a>,
        result: TypeId,
        parameters: Vec<TypeId>,
        definition: Definition,
    ) -> Found<FunctionId> {
        let argument = self.program.argument(&parameters);
        if let Some(ty) = name.ty.filter(|_| name.derivatives.is_empty())
            && !self.same(name_form, "the argument type in the name", ty, argument)
        {
            return None;
        }
        let place = self.forms.place(at);
        let shown = name.to_string().into();
        let function =
            Function { name: shown, parameters: parameters.into(), argument, result, place, definition };
        if name.derivatives.is_empty() {
            let base = self.unsuffixed(name.base, argument);
            if has_own_syntax(base) {
                let message = format!("`{}` is built in and cannot be redefined", name.base);
                self.report(Code::E2008, name_form, message);
                return None;
            }
            return match self.program.overload(base, argument) {
                Some(id) => self.redefine(name_form, id, function),
                None => Some(self.program.add_overload(base, function)),
            };
        }
        // A derivative: find its function.
        let (derivative, of) = self.derivative_of(name_form, name, argument)?;
        let expected = self.program.signature(derivative, of);
        let expected_argument = self.program.argument(&expected.0);
        // The two halves can have any types.
        let halves = [Derivative::SufFwdPass, Derivative::SufRevPass];
        if !halves.contains(&derivative) {
            let what = format!("the argument of `{name}`");
            if !self.same(name_form, &what, expected_argument, argument)
                || !self.same(name_form, &format!("the result of `{name}`"), expected.1, result)
            {
                return None;
            }
        }
        match self.program.existing_derivative(derivative, of) {
            Some(id) => {
                let id = self.redefine(name_form, id, function)?;
                self.program.set_derivative(derivative, of, id);
                Some(id)
            }
            None => {
                let id = self.program.add(function);
                self.program.set_derivative(derivative, of, id);
                Some(id)
            }
        }
    }

    /// Defines a function that was declared, or a derivative that the program has not defined yet.
    fn redefine(&mut self, at: FormId, id: FunctionId, function: Function) -> Found<FunctionId> {
        let known = self.program.function(id);
        let (place, name) = (known.place, known.name.clone());
        if self.is_defined(id) && !matches!(function.definition, Definition::Declared) {
            let types = &self.program.types;
            let argument = types.show(function.argument);
            let message = format!("`{name}` is defined twice for {argument}");
            let diag = Diag::new(Code::E2008, self.forms.place(at).into(), message);
            self.diags.push(diag.note_at(place.into(), "first defined"));
            return None;
        }
        let expected = known.result;
        if !self.same(
            at,
            &format!("the result of `{name}` differs from its declaration"),
            expected,
            function.result,
        ) {
            return None;
        }
        if !matches!(function.definition, Definition::Declared) {
            // The parameters of the declaration are kept, because existing calls match them.
            self.program.functions[id.index()].definition = function.definition;
            self.program.functions[id.index()].place = function.place;
        } else if matches!(self.program.function(id).definition, Definition::Pending(..)) {
            self.program.functions[id.index()].definition = Definition::Declared;
        }
        Some(id)
    }

    fn parameters(&mut self, form: FormId) -> Found<Vec<Parameter<'a>>> {
        const WHAT: &str = "parameters such as `((x : Float) (n : Integer))`";
        let Some(members) = self.forms.list(form) else {
            self.unexpected(form, WHAT);
            return None;
        };
        let is_single = members.first().is_some_and(|first| self.forms.list(*first).is_none());
        let single = [form];
        let members = if is_single { &single[..] } else { members };
        let found: Vec<_> = members.iter().map(|member| self.parameter(*member)).collect();
        let parameters: Vec<Parameter<'a>> = found.into_iter().collect::<Option<_>>()?;
        for (position, (name, _)) in parameters.iter().enumerate() {
            if parameters[..position].iter().any(|(other, _)| other == name) {
                self.report(Code::E2008, members[position], format!("duplicate parameter `{name}`"));
                return None;
            }
        }
        Some(parameters)
    }

    /// Reads `(x : type)`, where the parentheses of the type are optional.
    pub(super) fn parameter(&mut self, form: FormId) -> Found<Parameter<'a>> {
        const WHAT: &str = "a parameter such as `(x : Float)`";
        match self.forms.list(form) {
            Some([name, colon, ty @ ..]) if self.forms.name(*colon) == Some(":") && !ty.is_empty() => {
                match self.forms.name(*name) {
                    Some(name) => Some((name, self.type_of(ty, form)?)),
                    None => {
                        self.unexpected(*name, "the name of a parameter");
                        None
                    }
                }
            }
            Some([_, second, ..]) if self.forms.name(*second) != Some(":") => {
                self.unexpected(*second, "`:` and a type, as in `(x : Float)`");
                None
            }
            _ => {
                self.unexpected(form, WHAT);
                None
            }
        }
    }

    /// Calls a function with the operands of an argument.
    pub(super) fn call(&mut self, id: FunctionId, operands: &[ValueId]) -> ValueId {
        let function = self.program.function(id);
        let (count, result) = (function.parameters.len(), function.result);
        let operands = self.spread(operands, count);
        self.b.emit(Operation::Call(id), operands, result)
    }
}

fn is_constructor(name: &str) -> bool {
    ["Vec", "Tensor", "Tuple", "Lam", "LM"].contains(&name)
}
