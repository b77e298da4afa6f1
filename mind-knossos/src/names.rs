//! Lookup of functions by name and argument, and of the derivatives of functions.

use std::sync::Arc;

use crate::{
    build::{Builder, gather, spread},
    ir::{Definition, Derivative, Function, FunctionId, Operation, Position, Program},
    primitives,
    types::{Type, TypeId, Types},
};

impl Derivative {
    /// The name that programs write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fwd => "fwd",
            Self::Rev => "rev",
            Self::SufFwdPass => "suffwdpass",
            Self::SufRevPass => "sufrevpass",
            Self::Shape => "shape",
            Self::Dual => "dual",
            Self::Taped => "taped",
            Self::Pullback => "pullback",
            Self::Direct => "direct",
        }
    }
}

impl Program {
    /// A function.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    /// Every overload of a name, in the order of their first mention.
    pub fn overloads(&self, name: &str) -> &[FunctionId] {
        self.names.overloads.get(name).map_or(&[], Vec::as_slice)
    }

    /// Every function name that the program defines or declares.
    pub(super) fn function_names(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<_> = self.names.overloads.keys().map(|name| &**name).collect();
        names.sort_unstable();
        names.into_iter()
    }

    pub(super) fn overload(&self, name: &str, argument: TypeId) -> Option<FunctionId> {
        self.overloads(name).iter().copied().find(|id| self.function(*id).argument == argument)
    }

    pub(super) fn add_overload(&mut self, name: &str, function: Function) -> FunctionId {
        let id = self.add(function);
        self.names.overloads.entry(name.into()).or_default().push(id);
        id
    }

    pub(super) fn add(&mut self, function: Function) -> FunctionId {
        self.functions.push(function);
        FunctionId::new(self.functions.len() - 1)
    }

    /// A function of the prelude, or a primitive as a function, for this argument type. Creates it if necessary.
    pub(super) fn builtin(&mut self, name: &str, argument: TypeId) -> Option<FunctionId> {
        let key = (Arc::<str>::from(name), argument);
        if let Some(id) = self.names.builtins.get(&key) {
            return Some(*id);
        }
        let function = self.of_prelude(name, argument)?;
        let id = self.add(function);
        self.names.builtins.insert(key, id);
        Some(id)
    }

    /// Builds a function of the prelude, or a primitive as a function, for this argument type.
    fn of_prelude(&mut self, name: &str, argument: TypeId) -> Option<Function> {
        if self.types.holds_function(argument) {
            return None;
        }
        // An argument tuple may be several operands or one operand; a tuple with one member is always one operand.
        let members: Option<Box<[TypeId]>> =
            self.types.members(argument).filter(|members| members.len() != 1).map(Into::into);
        members.into_iter().chain([Box::from([argument])]).find_map(|parameters| {
            let mut b = Builder::default();
            let operands = b.begin(&parameters);
            let result = primitives::call(&mut b, &mut self.types, name, &operands)?;
            let ty = b.ty(result);
            let (definition, place) = (Definition::Defined(b.finish(result)), Position::default());
            Some(Function { name: name.into(), parameters, argument, result: ty, place, definition })
        })
    }

    /// Declares a function of the prelude, or a primitive with ordinary call syntax, as a function of the program. All
    /// calls of it are then calls of this function. Returns `None` if no such function exists.
    pub(super) fn declare_of_prelude(&mut self, name: &str, argument: TypeId) -> Option<FunctionId> {
        let function = self.of_prelude(name, argument)?;
        Some(self.add_overload(name, Function { definition: Definition::Declared, ..function }))
    }

    /// Gives the prelude's definitions to functions that are declared but defined neither by the program nor by a
    /// binding.
    pub(super) fn define_by_prelude(&mut self) {
        let names: Vec<String> = self.function_names().map(str::to_owned).collect();
        for name in names {
            for id in self.overloads(&name).to_vec() {
                let Function { definition, argument, result, parameters, .. } = self.function(id);
                if !matches!(definition, Definition::Declared) {
                    continue;
                }
                let (argument, result, parameters) = (*argument, *result, parameters.clone());
                let Some(function) = self.of_prelude(&name, argument).filter(|of| of.result == result) else {
                    continue;
                };
                // A declaration may take a tuple where the prelude takes its members, or the reverse.
                let definition = if function.parameters == parameters {
                    function.definition
                } else {
                    let callee = self.add(function);
                    let mut b = Builder::default();
                    let given = b.begin(&parameters);
                    let count = self.function(callee).parameters.len();
                    let operands = match given[..] {
                        [tuple] => spread(&mut b, self, tuple, count),
                        _ => vec![gather(&mut b, self, &given)],
                    };
                    let made = b.emit(Operation::Call(callee), operands, result);
                    Definition::Defined(b.finish(made))
                };
                self.functions[id.index()].definition = definition;
                self.names.left.insert(id);
            }
        }
    }

    /// Whether the program declares a function without defining it and the prelude defines it.
    pub(super) fn is_left_to_prelude(&self, id: FunctionId) -> bool {
        self.names.left.contains(&id)
    }

    /// A derivative of a function: the one in the program, or one to be generated when it is needed.
    pub fn derivative(&mut self, derivative: Derivative, of: FunctionId) -> FunctionId {
        if let Some(id) = self.existing_derivative(derivative, of) {
            return id;
        }
        let (parameters, result) = self.signature(derivative, of);
        let function = self.function(of);
        let name = format!("[{} {}]", derivative.name(), function.name).into();
        let place = function.place;
        let argument = self.argument(&parameters);
        let definition = Definition::Pending(derivative, of);
        let id = self.add(Function { name, parameters, argument, result, place, definition });
        self.names.derivatives.insert((derivative, of), id);
        id
    }

    pub(super) fn existing_derivative(&self, derivative: Derivative, of: FunctionId) -> Option<FunctionId> {
        self.names.derivatives.get(&(derivative, of)).copied()
    }

    /// The derivative that the program defines or declares.
    pub fn written_derivative(&self, derivative: Derivative, of: FunctionId) -> Option<FunctionId> {
        let id = self.existing_derivative(derivative, of)?;
        self.names.written.contains(&id).then_some(id)
    }

    /// Registers a function of the program as the derivative of another.
    pub(super) fn set_derivative(&mut self, derivative: Derivative, of: FunctionId, id: FunctionId) {
        self.names.derivatives.insert((derivative, of), id);
        self.names.written.insert(id);
    }

    /// The argument type of a parameter list.
    pub(super) fn argument(&mut self, parameters: &[TypeId]) -> TypeId {
        match parameters {
            [one] => *one,
            several => self.types.tuple(several),
        }
    }

    /// The parameters and the result of a derivative.
    pub(super) fn signature(&mut self, derivative: Derivative, of: FunctionId) -> (Box<[TypeId]>, TypeId) {
        let Function { argument, result, parameters, .. } = self.function(of);
        let (argument, result, parameters) = (*argument, *result, parameters.clone());
        let types = &mut self.types;
        let (d_argument, d_result) = (types.tangent(argument), types.tangent(result));
        match derivative {
            Derivative::Fwd => (Box::new([argument, d_argument]), d_result),
            Derivative::Rev => (Box::new([argument, d_result]), d_argument),
            Derivative::SufFwdPass => (parameters, types.tuple([result, TypeId::TAPE])),
            Derivative::SufRevPass => (Box::new([d_result, TypeId::TAPE]), d_argument),
            Derivative::Shape => (parameters, types.shape(result)),
            Derivative::Dual => {
                let tangents = parameters.iter().map(|ty| dual(types, *ty));
                let tangents: Vec<_> = tangents.collect();
                (parameters.iter().copied().chain(tangents).collect(), types.tuple([result, d_result]))
            }
            Derivative::Taped => (parameters, types.tuple([result, TypeId::TAPE])),
            Derivative::Pullback | Derivative::Direct => {
                let direct = derivative == Derivative::Direct;
                let mut all = if direct { parameters.to_vec() } else { vec![TypeId::TAPE] };
                all.push(d_result);
                for parameter in parameters.iter().copied() {
                    match types.get(parameter).clone() {
                        Type::Accumulator(ty) => all.push(ty),
                        _ => leaves(types, parameter, &mut all),
                    }
                }
                (all.into(), if direct { result } else { TypeId::UNIT })
            }
        }
    }
}

/// The type that goes with a parameter in a dual: its tangent, or for an accumulator another accumulator.
fn dual(types: &Types, parameter: TypeId) -> TypeId {
    match types.get(parameter) {
        Type::Accumulator(_) => parameter,
        _ => types.tangent(parameter),
    }
}

/// Adds the accumulators of a parameter: one for each part that has a tangent and is not a tuple.
fn leaves(types: &mut Types, parameter: TypeId, all: &mut Vec<TypeId>) {
    if !types.active(parameter) {
        return;
    }
    match types.members(parameter).map(<[_]>::to_vec) {
        Some(members) => members.into_iter().for_each(|member| leaves(types, member, all)),
        None => {
            let tangent = types.tangent(parameter);
            all.push(types.intern(Type::Accumulator(tangent)));
        }
    }
}
