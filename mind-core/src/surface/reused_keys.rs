//! Random keys that a body draws with twice, for warnings.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::ast::{Argument, Body, Callee, ExprId, NodeKind, Pattern, Scope, Subscript, SubscriptKind};
use crate::diag::Site;
use crate::standard;

/// A use of a key whose numbers depend on those of an earlier use.
#[derive(Clone, Debug)]
pub struct ReusedKey {
    /// The key at its second use.
    pub site: Site,
    /// The message, in lower case and one line, without a final full stop.
    pub message: String,
    /// The fix, in the imperative.
    pub help: String,
}

impl fmt::Display for ReusedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  help: {}", self.message, self.help)
    }
}

/// The keys that a body passes to two functions of the library which draw, and those that it draws with in every
/// iteration of a loop.
///
/// Two calls of `fold_in` use a key twice only if their numbers are the same too. Two branches of an `if`, and a
/// function and its pullback, do not count as two uses. A key is a variable, an element or a field of one, or a number:
/// nothing is known of other expressions.
///
/// ```
/// use mind_core::surface::{ast::Program, parse, reused_keys::reused_keys};
/// let text = "fn f(key: i64) -> f32[2] { random::normal(key, [2]) + random::uniform(key, [2]) }";
/// let (Program::Block(block), _) = parse(text.parse().unwrap()) else { panic!("a block") };
/// let [reused] = &reused_keys(block.functions[0].body.as_ref().unwrap())[..] else { panic!("one use") };
/// assert!(reused.message.starts_with("`random::uniform` draws with `key`, as `random::normal` on line 1 does"));
/// ```
pub fn reused_keys(body: &Body) -> Vec<ReusedKey> {
    let mut keys = Keys::new(body);
    for (index, node) in body.nodes.iter().enumerate() {
        match &node.kind {
            NodeKind::Call { callee, arguments, .. } => keys.call(callee, arguments),
            NodeKind::Let { pattern, value, .. } => keys.bind_to(pattern, *value),
            NodeKind::Assign { target, .. } => keys.assign(&target.name.to_string()),
            NodeKind::If { .. } => keys.branches.push((index, false)),
            NodeKind::Else { .. } => {
                if let Some((_, is_other)) = keys.branches.last_mut() {
                    *is_other = true;
                }
            }
            NodeKind::Branched { .. } => _ = keys.branches.pop(),
            kind => match kind.scope() {
                Some(Scope::Begins { patterns, repeats }) => {
                    if let NodeKind::Pullback { .. } = kind {
                        // A pullback may draw again what the function drew.
                        keys.known.clear();
                    }
                    keys.open(repeats);
                    patterns.into_iter().for_each(|pattern| keys.bind(pattern));
                }
                Some(Scope::Ends) => keys.close(),
                None => {}
            },
        }
    }
    keys.reused
}

/// The argument that a function of the library takes as its key.
fn key_of(callee: &Callee, arguments: &[Argument]) -> Option<ExprId> {
    let ([file], true) = (&callee.path[..], callee.of_library) else { return None };
    let (_, text) = standard::function(&file.to_string(), &callee.name.to_string())?;
    let position = parameters(text).position(|parameter| parameter == "key: i64")?;
    let is_key = |argument: &&Argument| argument.name.as_ref().is_some_and(|name| name == "key");
    let by_place = || arguments.get(position).filter(|argument| argument.name.is_none());
    arguments.iter().find(is_key).or_else(by_place).map(|argument| argument.value)
}

/// The parameters in the text of a function.
fn parameters(text: &str) -> impl Iterator<Item = &str> {
    let list = text.split_once('(').map_or("", |(_, list)| list);
    let mut depth = 0;
    let parts = list.split(move |character| {
        depth += match character {
            '(' | '[' => 1,
            ')' | ']' => -1,
            _ => 0,
        };
        depth < 0 || depth == 0 && character == ','
    });
    parts.map(str::trim)
}

/// A variable of the body, by its number in the order of binding. A name that is bound again, or assigned to, stands
/// for another variable. Names that the body does not bind, such as parameters, have negative numbers.
type Variable = isize;

/// An expression, written with the numbers of its variables. Equal texts have equal values.
#[derive(Clone, Debug, Default, PartialEq)]
struct Value {
    text: String,
    variables: Vec<Variable>,
}

struct KeyUse {
    key: Value,
    /// The number of a `fold_in`, as far as it is known.
    folded: Option<Option<Value>>,
    expr: ExprId,
    callee: String,
    /// The branches around it: the node of each `if`, and whether it is in the second branch.
    branches: Vec<(usize, bool)>,
}

impl KeyUse {
    fn excludes(&self, other: &Self) -> bool {
        let are_different = match (&self.folded, &other.folded) {
            (Some(Some(one)), Some(Some(two))) => one != two,
            (Some(_), Some(_)) => true,
            (None, _) | (_, None) => false,
        };
        let is_elsewhere = |(node, is_other): &(usize, bool)| other.branches.contains(&(*node, !*is_other));
        are_different || self.branches.iter().any(is_elsewhere)
    }
}

/// A scope that has not ended.
struct OpenScope {
    /// The names that it binds.
    names: Vec<String>,
    /// For the scope of a loop, the number of variables and of uses before it.
    repeats: Option<(Variable, usize)>,
}

struct Keys<'a> {
    body: &'a Body,
    uses: Vec<KeyUse>,
    reused: Vec<ReusedKey>,
    /// The uses of each key.
    known: HashMap<String, Vec<usize>>,
    reported: HashSet<ExprId>,
    /// The next variable that the body binds, and the last one that it does not bind.
    next: Variable,
    free: Variable,
    /// The variable that each visible name stands for, and those that it hides.
    names: HashMap<String, Vec<Variable>>,
    /// The values of variables that are other names of an expression.
    aliases: HashMap<Variable, Value>,
    scopes: Vec<OpenScope>,
    branches: Vec<(usize, bool)>,
    /// The variables that an assignment has replaced.
    replaced: HashSet<Variable>,
}

impl<'a> Keys<'a> {
    fn new(body: &'a Body) -> Self {
        Self {
            body,
            uses: Vec::new(),
            reused: Vec::new(),
            known: HashMap::new(),
            reported: HashSet::new(),
            next: 0,
            free: 0,
            names: HashMap::new(),
            aliases: HashMap::new(),
            scopes: Vec::new(),
            branches: Vec::new(),
            replaced: HashSet::new(),
        }
    }

    fn call(&mut self, callee: &Callee, arguments: &[Argument]) {
        let Some(expr) = key_of(callee, arguments) else { return };
        let Some(key) = self.value(expr) else { return };
        let is_fold = callee.name == "fold_in";
        let data = arguments.iter().map(|argument| argument.value).find(|value| *value != expr);
        let new = KeyUse {
            key,
            folded: is_fold.then(|| data.and_then(|data| self.value(data))),
            expr,
            callee: callee.to_string(),
            branches: self.branches.clone(),
        };
        let known = self.known.entry(new.key.text.clone()).or_default();
        if let Some(first) = known.iter().map(|known| &self.uses[*known]).find(|known| !known.excludes(&new))
        {
            let (shown, callee) = (self.body.short_text(expr), &new.callee);
            let line = match self.body[first.expr].site {
                Site::Tokens { first, .. } => format!(" on line {}", first.start().line),
                Site::Text { line, .. } => format!(" on line {line}"),
                Site::Nowhere => String::new(),
            };
            self.reused.push(ReusedKey {
                site: self.body[expr].site,
                message: format!(
                    "`{callee}` draws with `{shown}`, as `{}`{line} does, so their numbers depend on each other",
                    first.callee
                ),
                help: format!("make a key for each, as `keys[0]` and `keys[1]` of `random::split({shown})`"),
            });
            self.reported.insert(expr);
        }
        if known.len() < MOST {
            known.push(self.uses.len());
        }
        self.uses.push(new);
    }

    /// The value of a variable, of an element or field of one, or of arithmetic on numbers and variables.
    fn value(&mut self, expr: ExprId) -> Option<Value> {
        let (mut value, mut rest) = (Value::default(), vec![Part::Expr(expr)]);
        while let Some(part) = rest.pop() {
            let expr = match part {
                Part::Text(text) => {
                    value.text += &text;
                    continue;
                }
                Part::Expr(expr) => expr,
            };
            match &self.body[expr].kind {
                NodeKind::Number(number) => value.text += &number.text,
                NodeKind::Name(name) => {
                    let variable = self.variable(&name.to_string());
                    match self.aliases.get(&variable) {
                        Some(alias) => {
                            value.text += &alias.text;
                            value.variables.extend(&alias.variables);
                        }
                        None => {
                            value.text += &format!("v{variable}");
                            value.variables.push(variable);
                        }
                    }
                }
                NodeKind::Field { base, index, .. } => {
                    rest.extend([Part::Text(format!(".{index}")), Part::Expr(*base)]);
                }
                NodeKind::Member { base, name } => {
                    rest.extend([Part::Text(format!(".{name}")), Part::Expr(*base)]);
                }
                NodeKind::Subscript { base, subscripts } => {
                    rest.push(Part::Text("]".to_owned()));
                    for Subscript { kind, .. } in subscripts.iter().rev() {
                        let SubscriptKind::At(at) = kind else { return None };
                        rest.extend([Part::Text(", ".to_owned()), Part::Expr(*at)]);
                    }
                    rest.extend([Part::Text("[".to_owned()), Part::Expr(*base)]);
                }
                NodeKind::Prefix { map, operand, .. } => {
                    let sign = format!("({} ", map.row().label);
                    rest.extend([Part::Text(")".to_owned()), Part::Expr(*operand), Part::Text(sign)]);
                }
                NodeKind::Binary { op, lhs, rhs, .. } => rest.extend([
                    Part::Text(")".to_owned()),
                    Part::Expr(*rhs),
                    Part::Text(format!(" {} ", op.symbol())),
                    Part::Expr(*lhs),
                    Part::Text("(".to_owned()),
                ]),
                _ => return None,
            }
            // Long expressions are not compared, since aliases of aliases may grow without limit.
            if value.text.len() > LONGEST {
                return None;
            }
        }
        Some(value)
    }

    /// The variable that a name stands for. A name that the body does not bind is a parameter or a constant.
    fn variable(&mut self, name: &str) -> Variable {
        let own = self.names.entry(name.to_owned()).or_default();
        if own.is_empty() {
            self.free -= 1;
            own.push(self.free);
        }
        own[own.len() - 1]
    }

    fn fresh(&mut self) -> Variable {
        self.next += 1;
        self.next
    }

    fn bind(&mut self, pattern: &Pattern) {
        pattern.names().into_iter().for_each(|name| _ = self.bind_name(name.to_string()));
    }

    /// Binds a pattern to a value, of which a name is another name.
    fn bind_to(&mut self, pattern: &Pattern, value: ExprId) {
        match (pattern, self.value(value)) {
            (Pattern::Name(name), Some(value)) => {
                let variable = self.bind_name(name.to_string());
                self.aliases.insert(variable, value);
            }
            _ => self.bind(pattern),
        }
    }

    fn bind_name(&mut self, name: String) -> Variable {
        // A parameter keeps its number: it is visible again when the scope ends.
        self.variable(&name);
        let variable = self.fresh();
        self.names.entry(name.clone()).or_default().push(variable);
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.push(name);
        }
        variable
    }

    fn assign(&mut self, name: &str) {
        let (old, new) = (self.variable(name), self.fresh());
        self.replaced.insert(old);
        if let Some(own) = self.names.get_mut(name).and_then(|own| own.last_mut()) {
            *own = new;
        }
    }

    fn open(&mut self, repeats: bool) {
        let uses = repeats.then_some((self.next, self.uses.len()));
        self.scopes.push(OpenScope { names: Vec::new(), repeats: uses });
    }

    fn close(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        for name in scope.names {
            self.names.get_mut(&name).and_then(Vec::pop);
        }
        if let Some((last, uses)) = scope.repeats {
            self.report_repeated(last, uses);
        }
    }

    /// Reports the keys that were used in a loop and that no iteration changes. The loop began after the variable
    /// `last` and the first `uses` uses.
    fn report_repeated(&mut self, last: Variable, uses: usize) {
        let is_same = |value: &Value| {
            value.variables.iter().all(|variable| *variable <= last && !self.replaced.contains(variable))
        };
        for used in self.uses.get(uses..).unwrap_or_default() {
            let folds_same = used.folded.as_ref().is_none_or(|data| data.as_ref().is_some_and(is_same));
            if !folds_same || !is_same(&used.key) || !self.reported.insert(used.expr) {
                continue;
            }
            let (shown, callee) = (self.body.short_text(used.expr), &used.callee);
            self.reused.push(ReusedKey {
                site: self.body[used.expr].site,
                message: format!("`{callee}` draws the same numbers with `{shown}` in every iteration"),
                help: format!(
                    "make a key for each iteration, as `random::fold_in({shown}, i)` for its number `i`"
                ),
            });
        }
    }
}

/// What is left to write of an expression.
enum Part {
    Expr(ExprId),
    Text(String),
}

/// The most bytes of the text of a value.
const LONGEST: usize = 1000;

/// The most uses of a key with which a new one is compared, so that the work grows linearly with the body.
const MOST: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::{ast::Program, parse};

    /// The text of each key that is reported, with the first word of the help's reason.
    fn reported(body: &str) -> Vec<String> {
        let text = format!("fn f(key: i64, keys: i64[9], p: Net, xs: f32[4]) -> f32 {{ {body} }}");
        let (program, diags) = parse(text.parse().unwrap());
        assert!(diags.is_empty(), "{body}: {:?}", diags.as_slice());
        let Program::Block(block) = program else { panic!("a block") };
        let shown = |key: ReusedKey| {
            let quoted: Vec<_> = key.message.split('`').collect();
            let why = if key.message.contains("every iteration") { "always" } else { quoted[5] };
            format!("{} {}: {why}", quoted[1], quoted[3])
        };
        reused_keys(block.functions[0].body.as_ref().unwrap()).into_iter().map(shown).collect()
    }

    #[test]
    fn a_key_of_two_draws_is_reported() {
        for (body, expected) in [
            ("random::normal(key, 1) + random::uniform(key, 1)", "random::uniform key: random::normal"),
            ("let k = random::split(key); random::normal(key, 1)", "random::normal key: random::split"),
            (
                "nn::dropout(xs, key, 0.5) + nn::dropout(xs, rate = 0.5, key = key)",
                "nn::dropout key: nn::dropout",
            ),
            ("random::bits(keys[1], 1) + random::bits(keys[1], 1)", "random::bits keys[1]: random::bits"),
            ("random::bits(p.key, 1) + random::bits(p.key, 1)", "random::bits p.key: random::bits"),
            ("random::bits(42, 1) + random::bits(42, 1)", "random::bits 42: random::bits"),
            ("let k = key; random::bits(k, 1) + random::bits(key, 1)", "random::bits key: random::bits"),
            (
                "let i = 1; random::bits(keys[i + 1], 1) + random::bits(keys[1 + 1], 1)",
                "random::bits keys[1 + 1]: random::bits",
            ),
            ("random::fold_in(key, 3) + random::fold_in(key, 3)", "random::fold_in key: random::fold_in"),
            ("random::fold_in(key, 3) + random::bits(key, 1)", "random::bits key: random::fold_in"),
            (
                "let a = if xs[0] > 0.0 { random::bits(key, 1) } else { 1 }; a + random::bits(key, 1)",
                "random::bits key: random::bits",
            ),
            (
                "let a = { let key = 7; random::bits(key, 1) }; a + random::bits(key, 1) + random::bits(key, 2)",
                "random::bits key: random::bits",
            ),
            (
                "random::bits(key, 1) + random::bits(key, 1) + random::bits(key, 1)",
                "random::bits key: random::bits; random::bits key: random::bits",
            ),
            ("fold h = 0.0 for x in xs { h + random::normal(key, []) }", "random::normal key: always"),
            (
                "for x in xs { let k = key; for y in xs { random::normal(k, []) } }",
                "random::normal k: always",
            ),
            ("while h = 0.0 if h < 9.0 { h + random::normal(key, []) }", "random::normal key: always"),
            ("for x in xs { random::fold_in(key, 3) }", "random::fold_in key: always"),
            (
                "let a = for x in xs { random::bits(key, 1) }; random::bits(key, 1)",
                "random::bits key: always; random::bits key: random::bits",
            ),
        ] {
            assert_eq!(reported(body).join("; "), expected, "{body}");
        }
    }

    #[test]
    fn keys_that_differ_are_not_reported() {
        for body in [
            "random::bits(keys[0], 1) + random::bits(keys[1], 1)",
            "random::bits(keys[0, 1], 1) + random::bits(keys[1, 0], 1)",
            "random::bits(keys[..1], 1) + random::bits(keys[..1], 1)",
            "random::bits(p.a, 1) + random::bits(p.b, 1)",
            "random::fold_in(key, 1) + random::fold_in(key, 2)",
            "for i in 0..4 { random::fold_in(key, i) }",
            "for i in 0..4 { random::normal(keys[i], []) }",
            "for k in keys { random::normal(k, []) }",
            "scan k = key for x in xs { (random::split(k)[0], 0.0) }",
            "while k = key if random::bits(k, []) > 0 { k + 1 }",
            "while k = key if k > 0 { random::split(k)[1] }",
            "let a = if xs[0] > 0.0 { random::bits(key, 1) } else { random::bits(key, 1) + 1 }; a",
            "if xs[0] > 0.0 { random::bits(key, 1) } else if xs[1] > 0.0 { random::bits(key, 1) } else { random::bits(key, 1) }",
            "let a = random::bits(key, 1); let key = 7; random::bits(key, 1) + a",
            "let a = { let key = 7; random::bits(key, 1) }; a + random::bits(key, 1)",
            "let a = random::bits(key, 1); key = 7; random::bits(key, 1) + a",
            "let a = random::bits(p.key, 1); p.key = 7; random::bits(p.key, 1) + a",
            "let (a, b) = (key, key); let k = random::bits(a, 1); k",
            "bits(key, 1) + bits(key, 1)",
            "random::bits(shape = 1, dtype = i32) + random::bits(1, key)",
        ] {
            assert_eq!(reported(body), <[String; 0]>::default(), "{body}");
        }
    }

    /// A pullback draws the mask of its function again.
    #[test]
    fn a_pullback_may_draw_again() {
        let text = "fn f(x: float[..], key: i64) { nn::dropout(x, key, 0.5) } \
            pullback(y, dy) { nn::dropout(dy, key, 0.5) }";
        let (Program::Block(block), _) = parse(text.parse().unwrap()) else { panic!("a block") };
        assert!(reused_keys(block.templates[0].body.as_ref().unwrap()).is_empty());
    }

    #[test]
    fn the_parameters_of_a_function_are_split_at_commas_between_them() {
        let text = "fn f<N, T: float>(key: i64, p: T[N, (2 * N)], const shape: shape = 2) { (key, p) }";
        let found: Vec<_> = parameters(text).take(3).collect();
        assert_eq!(found, ["key: i64", "p: T[N, (2 * N)]", "const shape: shape = 2"]);
    }
}
