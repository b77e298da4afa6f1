//! Functions that a program declares and Rust defines.
//!
//! A binding makes a declared function [`Definition::Bound`]. A binding of a derivative creates two functions. The
//! first is the derivative, with a derivative's parameters. It calls the second, the Rust function, whose parameters
//! are those that a Rust programmer would write: the function's parameters one by one, and tangents only for those that
//! have one.

use mind_core::{
    diag::{Code, Diag, Diags, Site},
    surface::lower::undefined,
};

use crate::{
    build::{Builder, gather, spread},
    emit::names::{rust_name, type_name},
    ir::{Definition, Derivative, Function, FunctionId, Operation, Program, ValueId},
    types::{Type, TypeId},
};

/// Binds a Rust function to a function of a program, or to a derivative of one. `x …` are the parameters.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The role of the Rust function.
    pub role: Role,
    /// The name of the function in the program or in Rust. Every overload without a definition is bound.
    pub name: String,
    /// The position of the binding.
    pub site: Site,
}

/// The role of a Rust function for a function `f(x …)` of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `f(x …)` itself.
    Function,
    /// `[fwd f]`: maps `(x …, dx …)` to the tangent of the result, with a `dx` for each parameter that has a tangent.
    Fwd,
    /// `[rev f]`: maps `(x …, d_result)` to the cotangent of each parameter that has one: a bare value for one
    /// parameter, else a tuple.
    Rev,
    /// For a result that is a Float: maps `(x …)` to `(value, gradients)`, with the gradients as for [`Role::Rev`].
    /// `#[grad]` in `mind!` creates such functions.
    Grad,
}

impl Role {
    /// The keyword before a function's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Function => "",
            Self::Fwd => "fwd",
            Self::Rev => "rev",
            Self::Grad => "grad",
        }
    }
}

impl Program {
    /// Binds functions. The Rust function of a binding is identified by its index.
    ///
    /// # Errors
    /// E2002 for a name that the program does not declare, E2008 for a function that is already bound or defined, E2001
    /// for types that Rust does not have, E5004 for the gradient of a result that is not a Float.
    pub(super) fn bind(&mut self, bindings: &[Binding]) -> Result<(), Diags> {
        let mut diags = Diags::new();
        let (functions, derivatives): (Vec<_>, Vec<_>) =
            bindings.iter().enumerate().partition(|(_, binding)| binding.role == Role::Function);
        for (number, binding) in functions {
            if let Err(diag) = self.bind_function(number, binding) {
                diags.push(diag);
            }
        }
        for (number, binding) in derivatives {
            if let Err(diag) = self.bind_derivative(number, binding) {
                diags.push(diag);
            }
        }
        self.follow_forward(bindings);
        diags.into_result(())
    }

    /// Every overload of the binding's name.
    fn bindable(&self, binding: &Binding) -> Result<Vec<FunctionId>, Diag> {
        let named = |id: &FunctionId, name: &str| {
            let plain = rust_name(name);
            let typed = format!("{plain}_{}", type_name(&self.types, self.function(*id).argument));
            (plain, typed)
        };
        let all: Vec<_> = self
            .function_names()
            .flat_map(|name| self.overloads(name).iter().map(move |id| (*id, named(id, name))))
            .collect();
        let of = |wanted: &dyn Fn(&(String, String)) -> bool| -> Vec<FunctionId> {
            all.iter().filter(|(_, names)| wanted(names)).map(|(id, _)| *id).collect()
        };
        let mut found = of(&|(plain, _)| *plain == binding.name);
        if found.is_empty() {
            found = of(&|(_, typed)| *typed == binding.name);
        }
        if found.is_empty() {
            let known = all.iter().map(|(_, (plain, _))| plain.as_str());
            return Err(undefined("function", &binding.name, binding.site, known));
        }
        Ok(found)
    }

    fn bind_function(&mut self, number: usize, binding: &Binding) -> Result<(), Diag> {
        let found = self.bindable(binding)?;
        let declared = |id: &&FunctionId| matches!(self.function(**id).definition, Definition::Declared);
        let open: Vec<_> = found.iter().filter(declared).copied().collect();
        if open.is_empty() {
            return Err(self.is_there(binding, found[0]));
        }
        for id in open {
            self.can_be_bound(id, binding.site)?;
            self.functions[id.index()].definition = Definition::Bound(number);
        }
        Ok(())
    }

    fn bind_derivative(&mut self, number: usize, binding: &Binding) -> Result<(), Diag> {
        for of in self.bindable(binding)? {
            self.can_be_bound(of, binding.site)?;
            let derivative = match binding.role {
                Role::Fwd => Derivative::Fwd,
                Role::Function | Role::Rev | Role::Grad => Derivative::Rev,
            };
            if let Some(id) = self.existing_derivative(derivative, of)
                && matches!(self.function(id).definition, Definition::Defined(_) | Definition::Wrong)
            {
                return Err(self.is_there(binding, id));
            }
            let result = self.function(of).result;
            if binding.role == Role::Grad && result != TypeId::FLOAT {
                let (name, result) = (self.function(of).name.clone(), self.types.show(result));
                let message = format!(
                    "`{name}` returns {result}, but only a function that returns Float has a gradient"
                );
                return Err(Diag::new(Code::E5004, binding.site, message).help(format!(
                    "bind `rev {}`, which also takes the cotangent of the result",
                    binding.name
                )));
            }
            self.define_by(derivative, of, |program, b, operands, change| match binding.role {
                Role::Function | Role::Fwd => program.call_fwd(b, number, of, operands, change),
                Role::Rev => program.call_rev(b, number, of, operands, change),
                Role::Grad => program.call_grad(b, number, of, operands, change),
            });
        }
        Ok(())
    }

    /// Defines the forward derivative of functions with a Float result by the reverse derivative: the dot product of
    /// the change and the gradient.
    fn follow_forward(&mut self, bindings: &[Binding]) {
        for binding in bindings.iter().filter(|binding| matches!(binding.role, Role::Rev | Role::Grad)) {
            for of in self.bindable(binding).unwrap_or_default() {
                let is_bound = matches!(self.function(of).definition, Definition::Bound(_));
                let has_forward = self.written_derivative(Derivative::Fwd, of).is_some();
                let Some(rev) = self.written_derivative(Derivative::Rev, of) else { continue };
                if !is_bound || has_forward || self.function(of).result != TypeId::FLOAT {
                    continue;
                }
                self.define_by(Derivative::Fwd, of, |program, b, operands, change| {
                    let argument = gather(b, program, operands);
                    let one = b.float(1.0);
                    let taken = program.function(rev).parameters.len();
                    let given = match taken {
                        1 => vec![b.tuple(&mut program.types, &[argument, one])],
                        _ => vec![argument, one],
                    };
                    let gradient = b.emit(Operation::Call(rev), given, program.function(rev).result);
                    b.emit(Operation::Dot, [gradient, change], TypeId::FLOAT)
                });
            }
        }
    }

    /// Defines a derivative. `body` computes the result from the operands of the function and the last argument.
    fn define_by(
        &mut self,
        derivative: Derivative,
        of: FunctionId,
        body: impl FnOnce(&mut Self, &mut Builder, &[ValueId], ValueId) -> ValueId,
    ) {
        let id = self.derivative(derivative, of);
        let parameters = self.function(id).parameters.clone();
        let count = self.function(of).parameters.len();
        let mut b = Builder::at(self.function(of).place);
        let mut given = b.begin(&parameters);
        // A declaration may take both arguments as one tuple.
        if let [both] = given[..] {
            given = b.members(&self.types, both);
        }
        let operands = spread(&mut b, self, given[0], count);
        let result = body(self, &mut b, &operands, given[1]);
        self.functions[id.index()].definition = Definition::Defined(b.finish(result));
        self.set_derivative(derivative, of, id);
    }

    /// Calls `rust(x …, dx …)`.
    fn call_fwd(
        &mut self,
        b: &mut Builder,
        number: usize,
        of: FunctionId,
        operands: &[ValueId],
        change: ValueId,
    ) -> ValueId {
        let changes = spread(b, self, change, operands.len());
        let mut given = operands.to_vec();
        given.extend(self.active(b, operands).map(|position| changes[position]));
        let result = self.types.tangent(self.function(of).result);
        self.call_rust(b, number, of, Role::Fwd, &given, result)
    }

    /// Calls `rust(x …, d_result)`.
    fn call_rev(
        &mut self,
        b: &mut Builder,
        number: usize,
        of: FunctionId,
        operands: &[ValueId],
        change: ValueId,
    ) -> ValueId {
        let given: Vec<_> = operands.iter().copied().chain([change]).collect();
        let ty = self.cotangents(b, operands);
        let changes = self.call_rust(b, number, of, Role::Rev, &given, ty);
        self.with_zeros(b, operands, changes)
    }

    /// Computes `d_result · rust(x …).1`.
    fn call_grad(
        &mut self,
        b: &mut Builder,
        number: usize,
        of: FunctionId,
        operands: &[ValueId],
        change: ValueId,
    ) -> ValueId {
        let ty = self.cotangents(b, operands);
        let both = self.types.tuple([TypeId::FLOAT, ty]);
        let both = self.call_rust(b, number, of, Role::Grad, operands, both);
        let gradients = b.get(&self.types, both, 1);
        let changes = b.emit(Operation::Scale, [change, gradients], ty);
        self.with_zeros(b, operands, changes)
    }

    fn call_rust(
        &mut self,
        b: &mut Builder,
        number: usize,
        of: FunctionId,
        role: Role,
        operands: &[ValueId],
        result: TypeId,
    ) -> ValueId {
        let function = self.function(of);
        let (name, place) = (format!("[{} {}]", role.name(), function.name).into(), function.place);
        let parameters: Box<[_]> = operands.iter().map(|operand| b.ty(*operand)).collect();
        let argument = self.argument(&parameters);
        let definition = Definition::Bound(number);
        let rust = self.add(Function { name, parameters, argument, result, place, definition });
        b.emit(Operation::Call(rust), operands, result)
    }

    /// The positions of operands that have tangents.
    fn active(&self, b: &Builder, operands: &[ValueId]) -> impl Iterator<Item = usize> + use<> {
        let active: Vec<_> = operands.iter().map(|operand| self.types.active(b.ty(*operand))).collect();
        (0..active.len()).filter(move |position| active[*position])
    }

    /// The type of the cotangents of the operands that have one: a bare type for one operand, else a tuple.
    fn cotangents(&mut self, b: &Builder, operands: &[ValueId]) -> TypeId {
        let tangent = |position: usize| self.types.tangent(b.ty(operands[position]));
        let tys: Vec<_> = self.active(b, operands).map(tangent).collect();
        self.argument(&tys)
    }

    /// The cotangent of the argument, from the cotangents of the operands that have one.
    fn with_zeros(&mut self, b: &mut Builder, operands: &[ValueId], changes: ValueId) -> ValueId {
        let count = self.active(b, operands).count();
        let mut changes = spread(b, self, changes, count).into_iter();
        let all: Vec<_> = operands
            .iter()
            .map(|operand| match self.types.active(b.ty(*operand)) {
                true => changes.next().expect("one for each operand that has one"),
                false => b.zero_like(&self.types, *operand),
            })
            .collect();
        gather(b, self, &all)
    }

    fn can_be_bound(&self, id: FunctionId, site: Site) -> Result<(), Diag> {
        let function = self.function(id);
        let tys = function.parameters.iter().chain([&function.result]);
        for ty in tys {
            if !self.has_rust_type(*ty) {
                let ty = self.types.show(*ty);
                let message =
                    format!("`{}` uses the type {ty}, which Rust functions cannot use", function.name);
                return Err(Diag::new(Code::E2001, site, message).note_at(function.place.into(), "declared"));
            }
        }
        Ok(())
    }

    fn has_rust_type(&self, ty: TypeId) -> bool {
        match self.types.get(ty) {
            Type::Integer | Type::Float | Type::Bool | Type::String => true,
            Type::Tensor(_, element) => self.has_rust_type(*element),
            Type::Tuple(members) => members.iter().all(|member| self.has_rust_type(*member)),
            Type::Lambda(..) | Type::LinearMap(..) | Type::Tape | Type::Accumulator(_) => false,
        }
    }

    fn is_there(&self, binding: &Binding, id: FunctionId) -> Diag {
        let function = self.function(id);
        let how = match function.definition {
            Definition::Bound(_) => "is already bound",
            _ => "is already defined: only functions that `edef` declares can be bound",
        };
        Diag::new(Code::E2008, binding.site, format!("`{}` {how}", function.name))
    }
}
