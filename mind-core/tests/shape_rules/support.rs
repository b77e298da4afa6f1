//! Programs with many expressions, and the expected type or message of each.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::sample::sample;
use mind_core::diag::{Diag, Site};
use mind_core::surface::{lower, parse};
use mind_shape::{Context, DType, Failure, Operand, Type};

/// Every shape of a rank with extents 1 to 3.
pub fn shapes_of_rank(rank: usize) -> Vec<Vec<i64>> {
    lists(rank, &[1, 2, 3])
}

/// Every shape of ranks 0 to 4 with extents 1 to 3.
pub fn shapes() -> Vec<Vec<i64>> {
    (0..=4).flat_map(shapes_of_rank).collect()
}

/// One shape per rank, with different extents where possible.
pub fn samples() -> Vec<Vec<i64>> {
    vec![vec![], vec![2], vec![2, 3], vec![2, 1, 3], vec![3, 1, 2, 1]]
}

/// Every list of this length of these elements.
pub fn lists<T: Clone>(length: usize, elements: &[T]) -> Vec<Vec<T>> {
    (0..length).fold(vec![vec![]], |lists, _| {
        let longer = |list: &Vec<T>| {
            elements.iter().map(|element| [list.clone(), vec![element.clone()]].concat()).collect::<Vec<_>>()
        };
        lists.iter().flat_map(longer).collect()
    })
}

/// Every list of these elements of at most this length.
pub fn lists_up_to<T: Clone>(length: usize, elements: &[T]) -> Vec<Vec<T>> {
    (0..=length).flat_map(|length| lists(length, elements)).collect()
}

pub fn f32s(shape: &[i64]) -> Type {
    Type::new(DType::F32, shape)
}

/// From this number of expressions on, only a sample is tested: one in twenty by default, one in ten in the gate.
const MANY: usize = 200;

/// A sample of this number of expressions or more is sampled again. Then one in four hundred of all expressions is
/// tested by default, and one in a hundred in the gate.
const VERY_MANY: usize = 2_000;

/// A closure with a parameter for each type and a `let` for each case.
pub struct Program {
    parameters: Vec<(String, Type)>,
    cases: Vec<Case>,
}

struct Case {
    expression: String,
    /// The type, or the message.
    expected: Result<String, String>,
}

impl Program {
    /// A program with parameters `x0`, `x1`, … of these types.
    pub fn new(types: impl IntoIterator<Item = Type>) -> Self {
        let named = |(position, ty)| (format!("x{position}"), ty);
        Self { parameters: types.into_iter().enumerate().map(named).collect(), cases: Vec::new() }
    }

    /// The names and types of the parameters.
    pub fn parameters(&self) -> Vec<(String, Type)> {
        self.parameters.clone()
    }

    /// Adds an expression with the answer of a rule. `label` and `operands` are the names in messages.
    pub fn case(
        &mut self,
        expression: String,
        answer: Result<Type, Failure<'_>>,
        label: &str,
        operands: &[Operand<'_>],
    ) {
        let expected = answer
            .map(|ty| ty.text().to_string())
            .map_err(|failure| without_help(&failure.message(&Context { label, operands }).to_string()));
        self.cases.push(Case { expression, expected });
    }

    /// Compares the rules' answers with the compiler's, for a sample if there are many expressions. Returns how many
    /// expressions the rules accept and refuse.
    #[track_caller]
    pub fn check(mut self) -> [usize; 2] {
        let mut counts = [0; 2];
        for Case { expected, .. } in &self.cases {
            counts[usize::from(expected.is_err())] += 1;
        }
        if self.cases.len() >= MANY {
            self.cases = sample("expressions", self.cases);
        }
        if self.cases.len() >= VERY_MANY {
            self.cases = sample("of these", self.cases);
        }
        let parameters: Vec<_> = self.parameters.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        let mut source = format!("|{}| {{\n", parameters.join(", "));
        for Case { expression, expected } in &self.cases {
            match expected {
                Ok(ty) => writeln!(source, "let y: {ty} = {expression};").unwrap(),
                Err(_) => writeln!(source, "let y = {expression};").unwrap(),
            }
        }
        source.push_str("x0 }");
        let found = messages(&source);
        for (position, Case { expression, expected }) in self.cases.iter().enumerate() {
            let found = found.get(&(position + 2)).map_or(&[][..], Vec::as_slice);
            let expected_messages = expected.as_ref().err().map(std::slice::from_ref).unwrap_or_default();
            assert!(found == expected_messages, "{}", self.difference(expression, found, expected));
        }
        counts
    }

    fn difference(&self, expression: &str, found: &[String], expected: &Result<String, String>) -> String {
        let words: Vec<_> = expression.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        let used = self.parameters.iter().filter(|(name, _)| words.contains(&name.as_str()));
        let used: Vec<_> = used.map(|(name, ty)| format!("{name}: {ty}")).collect();
        let found = if found.is_empty() { "accepts it with the same type".into() } else { found.join("\n") };
        format!("`{expression}` of {}\nthe rule: {expected:?}\nthe compiler: {found}", used.join(", "))
    }
}

/// A message without its help, which is more detailed in the compiler because it knows the program.
pub(crate) fn without_help(message: &str) -> String {
    message.split("\n  help: ").next().unwrap_or_default().to_owned()
}

/// The messages by line, without notes on the origin of extents and without help.
fn messages(source: &str) -> BTreeMap<usize, Vec<String>> {
    let (program, parse_diags) = parse(source.parse().unwrap());
    let (_, diags) = lower(&program);
    let mut messages: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for Diag { code, message, site, notes: _, help: _ } in parse_diags.into_iter().chain(diags) {
        let Site::Tokens { first, .. } = site else { panic!("a mistake without a place: {message}") };
        messages.entry(first.start().line).or_default().push(format!("[{code}] {message}"));
    }
    messages
}

/// An operand that is a variable.
pub fn name(parameter: &(String, Type)) -> Operand<'_> {
    Operand::name(&parameter.0, parameter.1)
}
