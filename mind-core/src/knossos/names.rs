//! Which function a name and an argument stand for, and which derivative belongs to which function.

use std::sync::Arc;

use super::{
    build::{Builder, gather, spread},
    ir::{Definition, Derivative, Function, FunctionId, Operation, Position, Program},
    primitives,
    types::{Type, TypeId, Types},
};

impl Derivative {
    /// As programs write it.
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

    /// Every name that the program gives a function.
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

    /// A function of the prelude or a primitive, on this argument, as a function.
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

    /// A function of the prelude or a primitive, on this argument.
    fn of_prelude(&mut self, name: &str, argument: TypeId) -> Option<Function> {
        if self.types.holds_function(argument) {
            return None;
        }
        // Several operands are one argument, the tuple of them; a tuple may also be one operand, and one of one member is.
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

    /// Makes a function of the prelude, or a primitive that is called as functions are, one that the program declares:
    /// all calls of it are then calls of what the program says it is. Nothing where there is no such function.
    pub(super) fn declare_of_prelude(&mut self, name: &str, argument: TypeId) -> Option<FunctionId> {
        let function = self.of_prelude(name, argument)?;
        Some(self.add_overload(name, Function { definition: Definition::Declared, ..function }))
    }

    /// Gives the functions that the program declares, and neither it nor a binding defines, the definitions of the prelude.
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
                // A declaration may take members as one, or one tuple as its members.
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

    /// Whether the program leaves a function that it declares to the prelude.
    pub(super) fn is_left_to_prelude(&self, id: FunctionId) -> bool {
        self.names.left.contains(&id)
    }

    /// A derivative of a function: the one that the program wrote, or one that is made when it is needed.
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

    /// The derivative that the program itself defines or declares.
    pub fn written_derivative(&self, derivative: Derivative, of: FunctionId) -> Option<FunctionId> {
        let id = self.existing_derivative(derivative, of)?;
        self.names.written.contains(&id).then_some(id)
    }

    /// Makes a function that the program wrote the derivative of another.
    pub(super) fn set_derivative(&mut self, derivative: Derivative, of: FunctionId, id: FunctionId) {
        self.names.derivatives.insert((derivative, of), id);
        self.names.written.insert(id);
    }

    /// The one argument that parameters make.
    pub(super) fn argument(&mut self, parameters: &[TypeId]) -> TypeId {
        match parameters {
            [one] => *one,
            several => self.types.tuple(several),
        }
    }

    /// The parameters and result of a derivative.
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
            Derivative::Pullback => {
                let mut all = vec![TypeId::TAPE, d_result];
                for parameter in parameters.iter().copied() {
                    match types.get(parameter).clone() {
                        Type::Accumulator(ty) => all.push(ty),
                        _ => leaves(types, parameter, &mut all),
                    }
                }
                (all.into(), TypeId::UNIT)
            }
        }
    }
}

/// What goes beside a parameter in a dual: its tangent, beside an accumulator another.
fn dual(types: &Types, parameter: TypeId) -> TypeId {
    match types.get(parameter) {
        Type::Accumulator(_) => parameter,
        _ => types.tangent(parameter),
    }
}

/// The accumulators for a parameter: one for each part that is no tuple and has a tangent.
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
