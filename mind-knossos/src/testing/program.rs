//! Programs as trees of typed expressions, in which a part can be replaced by a smaller one of its type.

use std::fmt;

use mind_core::random::Random;

use super::types::Ty;
use crate::{check, interp::Value};

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub ty: Ty,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Node(Node),
}

/// A part of a form.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Text(String),
    Node(Node),
    /// The text of a parameter, and the body.
    Lambda(String, Node),
}

impl From<Node> for Part {
    fn from(node: Node) -> Self {
        Self::Node(node)
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl Node {
    /// A variable or a literal.
    pub fn word(ty: Ty, text: impl Into<String>) -> Self {
        Self { ty, pieces: vec![Piece::Text(text.into())] }
    }

    /// `(head part …)`.
    pub fn form(ty: Ty, head: impl Into<String>, parts: impl IntoIterator<Item = Part>) -> Self {
        let mut pieces = vec![Piece::Text(format!("({}", head.into()))];
        for part in parts {
            pieces.push(Piece::Text(" ".into()));
            match part {
                Part::Text(text) => pieces.push(Piece::Text(text)),
                Part::Node(node) => pieces.push(Piece::Node(node)),
                Part::Lambda(parameter, body) => {
                    pieces.push(Piece::Text(format!("(lam {parameter} ")));
                    pieces.push(Piece::Node(body));
                    pieces.push(Piece::Text(")".into()));
                }
            }
        }
        pieces.push(Piece::Text(")".into()));
        Self { ty, pieces }
    }

    /// The shortest expression of a type.
    pub fn shortest(ty: &Ty) -> Self {
        let text = match ty {
            Ty::Integer | Ty::Index(_) => "0",
            Ty::Float => "0.5",
            Ty::Bool => "true",
            Ty::Tuple(members) => {
                let parts = members.iter().map(|member| Self::shortest(member).into());
                return Self::form(ty.clone(), "tuple", parts);
            }
            Ty::Tensor(extents, element) => {
                let parts = [size(extents).into(), Self::shortest(element).into()];
                return Self::form(ty.clone(), "constVec", parts);
            }
            Ty::Vector => "(constVec 2 0.5)",
        };
        Self::word(ty.clone(), text)
    }

    fn parts(&self) -> impl Iterator<Item = &Self> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Node(node) => Some(node),
            Piece::Text(_) => None,
        })
    }

    /// The number of expressions in it, including itself.
    fn count(&self) -> usize {
        1 + self.parts().map(Self::count).sum::<usize>()
    }

    /// Adds the expressions in it that have the type `ty`, outer ones first.
    fn parts_of_type<'n>(&'n self, ty: &Ty, found: &mut Vec<&'n Self>) {
        for part in self.parts() {
            if part.ty.to_string() == ty.to_string() {
                found.push(part);
            }
            part.parts_of_type(ty, found);
        }
    }

    /// Adds copies of this expression in which the expression at `position` is replaced by another one.
    fn replacements(&self, mut position: usize, found: &mut Vec<Self>) {
        if position == 0 {
            let mut of_same_type = Vec::new();
            self.parts_of_type(&self.ty, &mut of_same_type);
            found.push(Self::shortest(&self.ty));
            found.extend(of_same_type.into_iter().take(6).cloned());
            return;
        }
        position -= 1;
        for (at, piece) in self.pieces.iter().enumerate() {
            let Piece::Node(part) = piece else { continue };
            let count = part.count();
            if position < count {
                let mut others = Vec::new();
                part.replacements(position, &mut others);
                found.extend(others.into_iter().map(|other| {
                    let mut whole = self.clone();
                    whole.pieces[at] = Piece::Node(other);
                    whole
                }));
                return;
            }
            position -= count;
        }
    }
}

/// A size as in programs.
pub(super) fn size(extents: &[usize]) -> String {
    match extents {
        [extent] => extent.to_string(),
        several => {
            let extents: String = several.iter().map(|extent| format!(" {extent}")).collect();
            format!("(tuple{extents})")
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            Piece::Text(text) => f.write_str(text),
            Piece::Node(node) => node.fmt(f),
        })
    }
}

/// A function.
#[derive(Clone, Debug)]
pub(super) struct Def {
    pub name: String,
    pub parameters: Vec<(String, Ty)>,
    pub body: Node,
}

impl fmt::Display for Def {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters: Vec<_> =
            self.parameters.iter().map(|(name, ty)| format!("({name} : {ty})")).collect();
        let Self { name, body, .. } = self;
        writeln!(f, "(def {name} {} ({})\n  {body})", body.ty, parameters.join(" "))
    }
}

/// A random program. Its [`Display`](fmt::Display) is its text.
#[derive(Clone, Debug)]
pub struct RandomProgram {
    /// The last one is the main function. The others are called by later ones.
    pub(super) functions: Vec<Def>,
}

impl RandomProgram {
    /// The name of the main function.
    pub const NAME: &str = "program";

    /// One argument for each parameter of the main function.
    pub fn arguments(&self, seed: u64) -> Vec<Value> {
        let mut random = Random::new(seed);
        self.function().parameters.iter().map(|(_, ty)| ty.value(&mut random)).collect()
    }

    /// Whether the result and the arguments have types with derivatives.
    pub fn is_active(&self) -> bool {
        let function = self.function();
        function.body.ty.is_active() && function.parameters.iter().any(|(_, ty)| ty.is_active())
    }

    fn function(&self) -> &Def {
        self.functions.last().expect("a program has a function")
    }

    /// Shorter programs that are accepted: first those without one of the functions, then those with an expression
    /// replaced by another.
    ///
    /// Repeat this with a shorter program that still fails, until there is none.
    pub fn shrink(&self) -> impl Iterator<Item = Self> + use<> {
        let mut candidates = Vec::new();
        for position in 0..self.functions.len() - 1 {
            let mut functions = self.functions.clone();
            functions.remove(position);
            candidates.push(Self { functions });
        }
        for (at, function) in self.functions.iter().enumerate() {
            for position in 0..function.body.count() {
                let mut bodies = Vec::new();
                function.body.replacements(position, &mut bodies);
                candidates.extend(bodies.into_iter().map(|body| {
                    let mut functions = self.functions.clone();
                    functions[at].body = body;
                    Self { functions }
                }));
            }
        }
        let length = self.to_string().len();
        candidates.into_iter().filter(move |candidate| {
            let text = candidate.to_string();
            text.len() < length && check(&text).is_ok()
        })
    }
}

impl fmt::Display for RandomProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.functions.iter().try_for_each(|function| function.fmt(f))
    }
}
