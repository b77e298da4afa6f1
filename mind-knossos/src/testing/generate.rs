//! The generator: functions, scopes, and expressions of a wanted type.

use mind_core::random::Random;

use super::{
    program::{Def, Node, Part, RandomProgram, size},
    types::Ty,
};

/// A program whose functions have about `size` expressions each.
pub fn random_program(seed: u64, size: usize) -> RandomProgram {
    generate(Random::new(seed), size)
}

/// As [`random_program`], with choices made by the bytes, which a fuzzer varies.
pub fn program_from_bytes(bytes: &[u8]) -> RandomProgram {
    generate(Random::from_bytes(bytes), 5 + bytes.len() / 4 % 60)
}

fn generate(random: Random, size: usize) -> RandomProgram {
    let mut generator =
        Generator { random, variables: Vec::new(), functions: Vec::new(), left: 0, derivatives: 1 };
    for _ in 0..generator.random.below(4) {
        generator.helper(size / 2);
    }
    generator.main(size);
    RandomProgram { functions: generator.functions.into_iter().map(|known| known.def).collect() }
}

pub(super) struct Generator {
    pub random: Random,
    /// The variables in scope, the innermost last. A later one hides an earlier one of the same name.
    variables: Vec<(String, Ty)>,
    functions: Vec<Known>,
    /// The number of expressions that the current function may still have.
    left: usize,
    /// The number of derivatives that the program may still call. Each makes the derivatives of the program larger.
    derivatives: usize,
}

/// A function that can be called.
#[derive(Clone, Debug)]
struct Known {
    def: Def,
    /// Whether the function calls itself, with the number of calls as the first argument.
    is_recursive: bool,
}

impl Generator {
    /// Adds the main function. It has at least one Float in its parameters and one in its result.
    fn main(&mut self, size: usize) {
        let mut parameters = self.parameters();
        parameters.push((self.name(), self.float_ty()));
        let result = match self.random.below(3) {
            0 => Ty::pair(self.ty(2), self.float_ty()),
            _ => self.float_ty(),
        };
        self.define(RandomProgram::NAME.into(), parameters, &result, size);
    }

    /// Adds a function that others may call. Some call themselves, and some overload an existing name.
    fn helper(&mut self, size: usize) {
        let (mut parameters, result) = (self.parameters(), self.ty(2));
        let is_recursive = self.random.once_in(4);
        if is_recursive {
            parameters.insert(0, ("count".into(), Ty::Integer));
        }
        let mut name = format!("f{}", self.functions.len());
        if let Some(known) = self.functions.first()
            && self.random.once_in(3)
            && self.functions.iter().all(|known| argument(&known.def.parameters) != argument(&parameters))
        {
            name = known.def.name.clone();
        }
        if !is_recursive {
            return self.define(name, parameters, &result, size);
        }
        let stop = Node::shortest(&result);
        let known = Def { name, parameters, body: stop };
        let body = self.body(&known.parameters, size, |this| {
            let again = this.recursive_call(&known);
            let stop = this.expression(&result, 2);
            let name = this.name();
            let go_on = this.within([(name.clone(), result.clone())], |this| this.expression(&result, 3));
            let step = Node::form(result.clone(), "let", [binding(&name, again), go_on.into()]);
            Node::form(result.clone(), "if", ["(lte count 0)".into(), stop.into(), step.into()])
        });
        self.functions.push(Known { def: Def { body, ..known }, is_recursive });
    }

    fn recursive_call(&mut self, known: &Def) -> Node {
        let rest: Vec<Part> =
            known.parameters[1..].iter().map(|(_, ty)| self.expression(ty, 1).into()).collect();
        let parts = [Part::from("(sub count 1)")].into_iter().chain(rest);
        Node::form(known.body.ty.clone(), &*known.name, parts)
    }

    fn define(&mut self, name: String, parameters: Vec<(String, Ty)>, result: &Ty, size: usize) {
        let body = self.body(&parameters, size, |this| this.expression(result, 6));
        self.functions.push(Known { def: Def { name, parameters, body }, is_recursive: false });
    }

    fn body(
        &mut self,
        parameters: &[(String, Ty)],
        size: usize,
        write: impl FnOnce(&mut Self) -> Node,
    ) -> Node {
        self.left = size;
        self.variables.clear();
        self.within(parameters.iter().cloned(), write)
    }

    fn parameters(&mut self) -> Vec<(String, Ty)> {
        let mut parameters: Vec<(String, Ty)> = Vec::new();
        for position in 0..self.random.below(3) {
            parameters.push((format!("p{position}"), self.ty(2)));
        }
        parameters
    }

    /// A random type, nested at most `depth` levels deep.
    pub fn ty(&mut self, depth: usize) -> Ty {
        match self.random.below(if depth == 0 { 6 } else { 12 }) {
            0 => Ty::Integer,
            1 => Ty::Bool,
            2..6 => Ty::Float,
            6 => Ty::Vector,
            7 | 8 => {
                let count = if self.random.once_in(8) { 0 } else { 1 + self.random.below(3) };
                Ty::Tuple((0..count).map(|_| self.ty(depth - 1)).collect())
            }
            _ => {
                let extents = self.extents();
                Ty::tensor(extents, self.ty(depth - 1))
            }
        }
    }

    /// A random type that contains a Float.
    fn float_ty(&mut self) -> Ty {
        match self.random.below(4) {
            0 => Ty::tensor(self.extents(), Ty::Float),
            1 => Ty::pair(self.ty(1), Ty::Float),
            _ => Ty::Float,
        }
    }

    pub fn extents(&mut self) -> Vec<usize> {
        let rank = [1, 1, 1, 2, 3][self.random.below(5)];
        (0..rank).map(|_| 1 + self.random.below(3)).collect()
    }

    pub fn name(&mut self) -> String {
        (*self.random.pick(&["a", "b", "c", "x", "y", "z", "v", "w"])).into()
    }

    /// Calls `write` with these variables in scope.
    pub fn within<T>(
        &mut self,
        variables: impl IntoIterator<Item = (String, Ty)>,
        write: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outside = self.variables.len();
        self.variables.extend(variables);
        let written = write(self);
        self.variables.truncate(outside);
        written
    }

    /// A variable of this type, or a part of one.
    pub fn variable(&mut self, ty: &Ty) -> Option<Node> {
        let hidden = |at: usize, name: &str| self.variables[at + 1..].iter().any(|(other, _)| other == name);
        let visible = self.variables.iter().enumerate().filter(|(at, (name, _))| !hidden(*at, name));
        let mut fitting = Vec::new();
        for (_, (name, own)) in visible {
            parts(Node::word(own.clone(), name.clone()), ty, 2, &mut fitting);
        }
        match fitting.len() {
            0 => None,
            count => Some(fitting.swap_remove(self.random.below(count))),
        }
    }

    /// An expression of a type, nested at most `depth` levels deep.
    pub fn expression(&mut self, ty: &Ty, depth: usize) -> Node {
        if depth == 0 || self.left == 0 {
            return self.leaf(ty);
        }
        self.left -= 1;
        for _ in 0..4 {
            let found = match self.random.below(12) {
                0 => Some(self.leaf(ty)),
                1..5 => self.general(ty, depth - 1),
                _ => self.special(ty, depth - 1),
            };
            if let Some(found) = found {
                return found;
            }
        }
        self.leaf(ty)
    }

    /// A form for values of this type and few others.
    fn special(&mut self, ty: &Ty, depth: usize) -> Option<Node> {
        match ty {
            Ty::Float => self.float(depth),
            Ty::Integer => self.integer(depth),
            Ty::Index(bound) => self.index(*bound, depth),
            Ty::Bool => self.truth(depth),
            Ty::Tuple(members) => self.tuple(members, depth),
            Ty::Tensor(extents, element) => self.tensor(extents, element, depth),
            Ty::Vector => self.vector(depth),
        }
    }

    /// A variable, or a constant expression if there is none.
    pub fn leaf(&mut self, ty: &Ty) -> Node {
        if let Some(variable) = self.variable(ty) {
            return variable;
        }
        match ty {
            Ty::Float => {
                let text = *self.random.pick(&["0.5", "-1.25", "2.0", "+0.75", "-0.3", "1.0", "0.0"]);
                Node::word(Ty::Float, text)
            }
            Ty::Integer => Node::word(Ty::Integer, *self.random.pick(&["0", "1", "2", "+3", "-1"])),
            Ty::Index(bound) => Node::word(ty.clone(), self.random.below((*bound).max(1)).to_string()),
            Ty::Bool => Node::word(Ty::Bool, *self.random.pick(&["true", "false"])),
            Ty::Tuple(members) => {
                let parts: Vec<Part> = members.iter().map(|member| self.leaf(member).into()).collect();
                Node::form(ty.clone(), "tuple", parts)
            }
            Ty::Tensor(extents, element) => {
                let element = self.leaf(element);
                Node::form(ty.clone(), "constVec", [size(extents).into(), element.into()])
            }
            Ty::Vector => {
                let (count, element) = (self.random.below(4), self.leaf(&Ty::Float));
                Node::form(Ty::Vector, "constVec", [count.to_string().into(), element.into()])
            }
        }
    }

    /// A call of a function whose result has this type.
    pub fn call(&mut self, ty: &Ty, depth: usize) -> Option<Node> {
        let fitting: Vec<_> =
            self.functions.iter().filter(|known| known.def.body.ty.fits(ty)).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let known = self.random.pick(&fitting).clone();
        let arguments = self.arguments(&known, depth);
        let ty = known.def.body.ty.clone();
        // `(f (tuple a b))` is the same as `(f a b)`.
        Some(match arguments.len() {
            2.. if self.random.once_in(4) => {
                let tuple = Node::form(Ty::Tuple(Vec::new()), "tuple", arguments);
                Node::form(ty, known.def.name, [Part::from(tuple.to_string())])
            }
            _ => Node::form(ty, known.def.name, arguments),
        })
    }

    /// The size of the vector that a function returns, by `[shape f]`.
    pub fn shape_of_call(&mut self, depth: usize) -> Option<Node> {
        let vectors = self.functions.iter().filter(|known| matches!(known.def.body.ty, Ty::Vector));
        let vectors: Vec<_> = vectors.cloned().collect();
        if vectors.is_empty() {
            return None;
        }
        let known = self.random.pick(&vectors).clone();
        let arguments = self.arguments(&known, depth.min(1));
        Some(Node::form(Ty::Integer, format!("[shape {}]", known.def.name), arguments))
    }

    fn arguments(&mut self, known: &Known, depth: usize) -> Vec<Part> {
        let mut arguments = Vec::new();
        for (position, (_, ty)) in known.def.parameters.iter().enumerate() {
            arguments.push(match (position, known.is_recursive) {
                (0, true) => Part::from(self.random.below(4).to_string()),
                _ => self.expression(ty, depth).into(),
            });
        }
        arguments
    }

    /// An expression of this type with a variable that is bound to a derivative of a function.
    pub fn derivative(&mut self, ty: &Ty, depth: usize) -> Option<Node> {
        let sized = |known: &&Known| known.def.body.ty.is_sized() && known.def.name != RandomProgram::NAME;
        let fitting: Vec<_> = self.functions.iter().filter(sized).cloned().collect();
        if fitting.is_empty() || self.derivatives == 0 {
            return None;
        }
        self.derivatives -= 1;
        let known = self.random.pick(&fitting).clone();
        let Def { name, parameters, body } = &known.def;
        let arguments: Vec<_> =
            self.arguments(&known, depth.min(1)).into_iter().map(|part| part_text(&part)).collect();
        let argument = match &arguments[..] {
            [one] => one.clone(),
            several => format!("(tuple{})", several.iter().map(|one| format!(" {one}")).collect::<String>()),
        };
        let tangents: Vec<_> = parameters.iter().map(|(_, ty)| ty.tangent()).collect();
        let d_argument = match &tangents[..] {
            [one] => one.clone(),
            several => Ty::Tuple(several.to_vec()),
        };
        let d_result = body.ty.tangent();
        let (bound, value) = match self.random.below(3) {
            0 => {
                // The tangent of an argument would need the argument's size, which is not known.
                if !d_argument.is_sized() {
                    return None;
                }
                let change = self.expression(&d_argument, 1);
                (d_result, format!("([fwd {name}] {argument} {change})"))
            }
            1 => {
                let change = self.expression(&d_result, 1);
                (d_argument, format!("([rev {name}] {argument} {change})"))
            }
            _ => {
                let change = self.expression(&d_result, 1);
                let tape = format!("(let ((value tape) ([suffwdpass [{name} {}]]", argument_ty(parameters));
                let given: String = arguments.iter().map(|one| format!(" {one}")).collect();
                let pass = format!("([sufrevpass [{name} {}]] {change} tape)", argument_ty(parameters));
                (d_argument, format!("{tape}{given})) {pass})"))
            }
        };
        let name = self.name();
        let body = self.within([(name.clone(), bound.clone())], |this| this.expression(ty, depth));
        let value = Node::word(bound, value);
        Some(Node::form(ty.clone(), "let", [binding(&name, value), body.into()]))
    }
}

/// Adds a value if it fits a type, or else its members and elements that fit, down to a depth.
fn parts(value: Node, ty: &Ty, depth: usize, found: &mut Vec<Node>) {
    if value.ty.fits(ty) {
        return found.push(value);
    }
    match (&value.ty, depth) {
        (_, 0) => {}
        (Ty::Tuple(members), _) => {
            for (position, member) in members.iter().enumerate() {
                let head = format!("get${}${}", position + 1, members.len());
                parts(Node::form(member.clone(), head, [value.clone().into()]), ty, depth - 1, found);
            }
        }
        (Ty::Tensor(extents, element), _) if !extents.contains(&0) => {
            for index in 0..2 {
                let index: Vec<_> = extents.iter().map(|extent| index.min(extent - 1)).collect();
                let index = [size(&index).into(), value.clone().into()];
                parts(Node::form((**element).clone(), "index", index), ty, depth - 1, found);
            }
        }
        (Ty::Vector, _) if *ty == Ty::Float => found.push(Node::form(Ty::Float, "sum", [value.into()])),
        (Ty::Tensor(..) | Ty::Vector | Ty::Integer | Ty::Index(_) | Ty::Float | Ty::Bool, _) => {}
    }
}

/// `(name value)` of a `let`.
pub(super) fn binding(name: &str, value: Node) -> Part {
    Node::form(value.ty.clone(), name, [value.into()]).into()
}

fn part_text(part: &Part) -> String {
    match part {
        Part::Text(text) => text.clone(),
        Part::Node(node) => node.to_string(),
        Part::Lambda(parameter, body) => format!("(lam {parameter} {body})"),
    }
}

/// The text of the argument type, which distinguishes overloads.
fn argument(parameters: &[(String, Ty)]) -> String {
    argument_ty(parameters).to_string()
}

fn argument_ty(parameters: &[(String, Ty)]) -> Ty {
    match parameters {
        [(_, one)] => one.clone(),
        several => Ty::Tuple(several.iter().map(|(_, ty)| ty.clone()).collect()),
    }
}
