//! Help for calls and names of other libraries, from the tables of [`habits`].

use proc_macro2::Ident;

use super::Builtin;
use super::foreign_arguments::{is_axis, is_none};
use super::foreign_reductions::ForeignReductions;
use crate::diag::{Code, Diag, Site};
use crate::standard;
use crate::surface::ast::{Argument, Callee, ExprId, NodeKind, NumberValue};
use crate::surface::habits::{self, Replacement};
use crate::surface::lower::builtins;
use crate::surface::lower::declarations::names::{is_misspelt, nearest, undefined};
use crate::surface::lower::values::{Stop, Value};
use crate::ty::MAX_RANK;

/// The meaning of names and calls of other libraries in this language.
pub(crate) trait ForeignNames: ForeignReductions {
    /// Whether no item and no variable of the program has this name.
    fn is_unbound(&self, name: &str) -> bool;

    /// Whether a function of the program has this name.
    fn is_own_function(&self, name: &str) -> bool;

    /// Whether the receiver of a method call is a library, as `np` of `np.sum(x)`.
    fn is_call_of_library(&self, callee: &Callee, arguments: &[Argument]) -> bool;

    /// Whether an expression is `np`, or `jax.nn`.
    fn is_library(&self, expr: ExprId) -> bool {
        let name = self.body().path(expr).map(|path| path.name.to_string());
        name.is_some_and(|name| habits::is_library(&name) && self.is_unbound(&name))
    }

    /// Whether the error of the call around an expression covers the errors in it. The call is then one of another
    /// library's function, or the expression is an argument that has to be left out.
    fn is_reported_by_its_call(&self, expr: ExprId) -> bool {
        let body = self.body();
        let Some(user) = body.user(expr) else { return false };
        match &body[user].kind {
            NodeKind::Call { callee, arguments, method } => {
                let name = callee.to_string();
                let of_library = *method && self.is_library(arguments[0].value);
                let is_needless = |argument: &Argument| {
                    let name = argument.name.as_ref().map(ToString::to_string);
                    argument.value == expr && name.is_some_and(|name| habits::is_needless_argument(&name))
                };
                if builtins::is_builtin(&name)
                    && !self.is_own_function(&name)
                    && arguments.iter().any(is_needless)
                {
                    return true;
                }
                let foreign = !builtins::is_builtin(&name) && !self.is_own_function(&name);
                // An undefined receiver is itself reported, in place of the method.
                let is_receiver = *method && arguments[0].value == expr;
                of_library || foreign && !is_receiver && habits::function(&name).is_some()
            }
            NodeKind::Member { .. } => self.is_library(expr),
            NodeKind::Array(_) | NodeKind::Tuple(_) => self.is_reported_by_its_call(user),
            _ => false,
        }
    }

    /// Whether an undefined function is ndarray's `Axis` as an argument of another undefined function.
    fn is_reported_with_its_call(&self, callee: &Callee, expr: ExprId) -> bool {
        let body = self.body();
        let user = body.user(expr).map(|user| &body[user].kind);
        matches!(user, Some(NodeKind::Call { callee: outer, .. })
            if is_axis(callee) && !builtins::is_builtin(&outer.to_string()) && !self.is_own_function(&outer.to_string()))
    }

    /// The error E2002 for `np` in `np.sum(x)`. Its help is the call in this language.
    fn library_called(&self, callee: &Callee, arguments: &[Argument], expr: ExprId) -> Diag {
        let library = arguments[0].value;
        let diag = Diag::new(
            Code::E2002,
            self.site(library),
            format!("undefined name `{}`", self.body().text(library)),
        );
        let name = callee.to_string();
        let arguments = &arguments[1..];
        match (builtins::find(&name), habits::function(&name)) {
            (Some(builtin), _) => diag.help(format!(
                "functions have no path: write `{}`",
                self.written_call(builtin, arguments, false)
            )),
            (None, Some(Replacement::Library { file: "num", name: name @ ("var" | "std") })) => {
                let is_unbiased = self.body().text(library).starts_with("torch");
                diag.help(self.moment(name, arguments, Some(is_unbiased)))
            }
            (None, Some(way)) => diag.help(self.replacement_help(way, arguments, false, expr)),
            (None, None) => match nearest(&name, builtins::names()) {
                Some(near) => diag.help(format!("functions have no path: write `{near}(…)`")),
                None => diag.help(format!("there is no `{name}` in the language: {}", NO_SUCH)),
            },
        }
    }

    /// The error E2002 for `np.pi`.
    fn library_read(&self, name: &Ident, expr: ExprId) -> Diag {
        let text = name.to_string();
        let diag =
            Diag::new(Code::E2002, self.site(expr), format!("undefined name `{}`", self.body().text(expr)));
        diag.help(
            habits::name(&text)
                .unwrap_or("a block can only use its own functions and parameters and imported functions"),
        )
    }

    /// The help for a subscript that is a tensor. `gather` picks rows by index; elements are not picked by a condition.
    fn picked_help(&self, base: ExprId, place: ExprId) -> String {
        let (table, rows) = (self.short_text(base), self.short_text(place));
        let ty = match self.value(place) {
            Value::Tensor(tensor) => self.tensor_type(*tensor).unwrap_or_default(),
            _ => String::new(),
        };
        if ty.starts_with("bool") || is_condition(&self.body()[place].kind) {
            return self.assigned_by_mask(place, &rows).unwrap_or_else(|| no_choice(&rows, &table));
        }
        if ty.starts_with('f') {
            return format!("convert it: write `{table}[i64({rows})]`");
        }
        format!("to select rows by a tensor, write `gather({table}, {rows})`")
    }

    /// The help for `x[mask] = value` and `x[mask] += value`, if an assignment has this subscript.
    fn assigned_by_mask(&self, place: ExprId, mask: &str) -> Option<String> {
        let body = self.body();
        let of = body.user(place)?;
        let NodeKind::Assign { target, part: Some(part), op, value, .. } = &body[body.user(of)?].kind else {
            return None;
        };
        let value = match op {
            Some(op) => format!("{target} {} {}", op.symbol(), body.operand_text(*value)),
            None => body.text(*value),
        };
        (*part == of).then(|| format!("write `{target} = where({mask}, {value}, {target})`"))
    }

    /// Adds help to the error of a subscript that is a list or a tuple.
    fn not_a_list(&self, base: ExprId, place: ExprId, stop: Stop) -> Stop {
        match stop {
            Stop::Mistake(diag) if matches!(self.body()[place].kind, NodeKind::Array(_)) => {
                diag.help(self.picked_help(base, place)).into()
            }
            Stop::Mistake(diag) if matches!(self.body()[place].kind, NodeKind::Tuple(_)) => {
                let places = self.list(place);
                diag.help(format!("write `{}{places}`", self.body().operand_text(base))).into()
            }
            stop => stop,
        }
    }

    /// The error E2002 for an undefined function. Its help is the equivalent in this language, if that is known.
    fn no_function<'a>(
        &self,
        callee: &Callee,
        (arguments, method): (&[Argument], bool),
        expr: ExprId,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Diag {
        let (name, site) = (callee.to_string(), callee.site());
        let without_path = |builtin: &Builtin| {
            format!("functions have no path: write `{}`", self.written_call(builtin, arguments, method))
        };
        if let [file] = &callee.path[..]
            && callee.of_library
        {
            if let Some(builtin) = builtins::find(&callee.name.to_string()) {
                let diag = Diag::new(Code::E2002, site, format!("undefined function `{name}`"));
                return diag.help(without_path(builtin));
            }
            let diag = no_function_of(&file.to_string(), &name, site);
            return match habits::function(&callee.name.to_string()) {
                // The reason why there is no such function is better than the nearest name.
                Some(Replacement::Words(reason)) if file == "linalg" => diag.help(reason),
                Some(way) if diag.help.is_none() => {
                    diag.help(self.replacement_help(way, arguments, method, expr))
                }
                Some(_) | None if diag.help.is_some() => diag,
                Some(_) | None => diag.help(format!(
                    "the documentation of `mind` lists the library's functions under `{file}`"
                )),
            };
        }
        // The library in `torch::sigmoid` is ignored.
        let of_library = callee.path.first().is_some_and(|first| habits::is_library(&first.to_string()));
        let alone = if of_library { callee.name.to_string() } else { name.clone() };
        let diag = Diag::new(Code::E2002, site, format!("undefined function `{name}`"));
        let way = if method { habits::method(&alone) } else { habits::function(&alone) };
        match (way, builtins::find(&alone)) {
            (Some(way), _) => diag.help(self.replacement_help(way, arguments, method, expr)),
            (None, Some(builtin)) if of_library => diag.help(without_path(builtin)),
            (None, _) => self.undefined_call((callee, arguments), diag, known),
        }
    }

    /// Adds help to E2002 for an unknown function: the nearest name of the program, the language and its library.
    fn undefined_call<'a>(
        &self,
        (callee, arguments): (&Callee, &[Argument]),
        diag: Diag,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Diag {
        let name = callee.to_string();
        // A type such as `Net` is not a misspelling of a function such as `neg`.
        let starts_upper = |name: &str| name.starts_with(|first: char| first.is_ascii_uppercase());
        let is_meant =
            |near: &str| !starts_upper(&name) || starts_upper(near) || near.eq_ignore_ascii_case(&name);
        let near = nearest(&name, known).filter(|near| is_meant(near));
        let mut library = standard::FILES.iter().flat_map(|(file, _)| standard::functions(file));
        let of_library = library.find(|own| is_misspelt(&name, own)).and_then(standard::find);
        match (near, of_library) {
            // A name that is one letter off is preferred to one that is two off.
            (near, Some((file, own))) if !near.is_some_and(|near| is_misspelt(&name, near)) => {
                diag.help(format!("write {}", self.library_call(&format!("{file}::{own}"), arguments)))
            }
            (Some(near), _) => diag.help(format!("write `{near}`")),
            (None, _) => diag,
        }
    }

    /// The help for a call of another library's function.
    fn replacement_help(
        &self,
        way: Replacement,
        arguments: &[Argument],
        method: bool,
        expr: ExprId,
    ) -> String {
        match way {
            Replacement::Words(words) => words.to_owned(),
            Replacement::Named(name) => match builtins::find(name) {
                Some(builtin) => format!("write `{}`", self.written_call(builtin, arguments, method)),
                None => format!("write `{name}`"),
            },
            Replacement::Library { file: "num", name: name @ ("var" | "std") } => {
                self.moment(name, arguments, (!method).then_some(false))
            }
            Replacement::Library { file: "num", name: "norm" } => self.norm(arguments),
            Replacement::Library { file, name } => {
                format!("write {}", self.library_call(&format!("{file}::{name}"), arguments))
            }
            Replacement::Formula { text, .. } if text == CLIP => self.clipped(arguments, expr),
            Replacement::Formula { text, when } => self.formula(text, when, arguments, expr),
        }
    }

    /// `minimum(maximum(x, a), b)` for a call of `clip`, whose bounds may be named or left out.
    fn clipped(&self, arguments: &[Argument], expr: ExprId) -> String {
        let (mut operand, mut bounds) = (None, [None, None]);
        let mut positional = 0;
        for argument in arguments {
            let name = argument.name.as_ref().map(ToString::to_string);
            let place = match name.as_deref() {
                Some("min" | "a_min" | "lower" | "clip_value_min" | "min_val" | "min_value") => 1,
                Some("max" | "a_max" | "upper" | "clip_value_max" | "max_val" | "max_value") => 2,
                Some(name) if habits::is_needless_argument(name) => continue,
                Some(_) | None => {
                    positional += 1;
                    positional - 1
                }
            };
            let text = match is_none(&self.body()[argument.value].kind) {
                true => None,
                false => Some(self.float(argument.value).unwrap_or_else(|| self.full_text(argument.value))),
            };
            match place {
                0 => operand = Some(self.full_text(argument.value)),
                1 | 2 => bounds[place - 1] = text,
                _ => {}
            }
        }
        let operand = operand.unwrap_or_else(|| "x".to_owned());
        let written = match bounds {
            [Some(low), Some(high)] => format!("minimum(maximum({operand}, {low}), {high})"),
            [Some(low), None] => format!("maximum({operand}, {low})"),
            [None, Some(high)] => format!("minimum({operand}, {high})"),
            [None, None] => format!("minimum(maximum({operand}, b), c)"),
        };
        format!("write `{}`", self.enclosed(written, expr))
    }

    /// The help that is a formula with the arguments of a call.
    fn formula(&self, text: &str, when: &str, arguments: &[Argument], expr: ExprId) -> String {
        let is_option = |argument: &&Argument| {
            argument.name.as_ref().is_some_and(|name| {
                let name = name.to_string();
                habits::is_needless_argument(&name) || name.starts_with("keep")
            })
        };
        let operands = arguments.iter().filter(|argument| !is_option(argument));
        let scaled =
            arguments.iter().find(|argument| argument.name.as_ref().is_some_and(|name| name == "alpha"));
        if let (Some(scale), "{0} + {1}" | "{0} - {1}", [lhs, rhs, ..]) = (scaled, text, arguments) {
            let tight = |expr: ExprId| self.body().in_parentheses(expr, self.full_text(expr));
            let scale = self.float(scale.value).unwrap_or_else(|| tight(scale.value));
            let sign = &text[4..5];
            let written = format!("{} {sign} {scale} * {}", tight(lhs.value), tight(rhs.value));
            return format!("write `{}`", self.enclosed(written, expr));
        }
        let operands: Vec<_> = operands.map(|argument| argument.value).collect();
        if let Some(product) = self.small_power(text, &operands) {
            return format!("write `{}`", self.enclosed(product, expr));
        }
        // A bias may be left out.
        let text = text.strip_suffix(" + {2}").filter(|_| operands.len() == 2).unwrap_or(text);
        let mut written = text.to_owned();
        for position in 0..4 {
            let plain = operands.get(position).map_or_else(
                || ["a", "b", "c", "d"][position].to_owned(),
                |operand| {
                    let number = self.float(*operand);
                    number.unwrap_or_else(|| self.full_text(*operand))
                },
            );
            let tight = match operands.get(position) {
                Some(operand) => self.body().in_parentheses(*operand, plain.clone()),
                None => plain.clone(),
            };
            let list = operands.get(position).map_or_else(|| "[0]".to_owned(), |operand| self.list(*operand));
            written = written.replace(&format!("{{={position}}}"), &plain);
            written = written.replace(&format!("{{{position}}}"), &tight);
            written = written.replace(&format!("{{#{position}}}"), &list);
            let index =
                operands.get(position).map_or_else(|| "0".to_owned(), |operand| self.full_text(*operand));
            written = written.replace(&format!("{{@{position}}}"), &index);
        }
        format!("write `{}`{when}", self.enclosed(written, expr))
    }

    /// `x * x` for a power of `x` that is a small integer.
    fn small_power(&self, formula: &str, operands: &[ExprId]) -> Option<String> {
        let [base, exponent] = operands else { return None };
        let NodeKind::Number(number) = &self.body()[*exponent].kind else { return None };
        let times = match &number.value {
            NumberValue::Integer(times @ 2..=4) => usize::try_from(*times).ok()?,
            NumberValue::Float(digits) if digits == "2.0" => 2,
            NumberValue::Integer(_) | NumberValue::Float(_) => return None,
        };
        if formula != "pow({=0}, {=1})" {
            return None;
        }
        let base = self.body().in_parentheses(*base, self.full_text(*base));
        Some(vec![base; times].join(" * "))
    }

    /// Puts a replacement in parentheses if it has operators outside of all brackets and the call that it replaces is
    /// an operand.
    fn enclosed(&self, written: String, expr: ExprId) -> String {
        let body = self.body();
        let user = body.user(expr).map(|user| &body[user].kind);
        let is_operand = match user {
            Some(NodeKind::Binary { op, rhs, .. }) if op.symbol() == "+" => {
                *rhs == expr && written.starts_with('-')
            }
            Some(
                NodeKind::Binary { .. }
                | NodeKind::Prefix { .. }
                | NodeKind::Transpose { .. }
                | NodeKind::Subscript { .. }
                | NodeKind::Call { method: true, .. },
            ) => true,
            Some(_) | None => false,
        };
        if is_operand && has_operator(&written) { format!("({written})") } else { written }
    }

    /// The text of a call of a function of the language, whose arguments may be written as in other libraries: separate
    /// numbers in place of a list, tuples, other names, `True`.
    fn written_call(&self, builtin: &Builtin, arguments: &[Argument], method: bool) -> String {
        let (positional, named): (Vec<_>, Vec<_>) =
            arguments.iter().partition(|argument| argument.name.is_none());
        let formal = |position: usize| builtin.formals.get(position).copied().unwrap_or_default();
        let list_at = (0..builtin.formals.len()).find(|position| is_list(formal(*position)));
        let is_number = |argument: &&Argument| {
            matches!(
                self.body()[argument.value].kind,
                NodeKind::Number(_) | NodeKind::Name(_) | NodeKind::Prefix { .. }
            )
        };
        let mut texts: Vec<String> = Vec::new();
        let mut rest = &positional[..];
        let of_integers = arguments.iter().any(|argument| self.is_integer(argument.value));
        // Separate tensors become a list.
        let tensors = positional.iter().take_while(|argument| self.is_written_tensor(argument)).count();
        if builtin.takes_list() && tensors > 1 {
            let list: Vec<_> =
                rest[..tensors].iter().map(|argument| self.full_text(argument.value)).collect();
            texts.push(format!("[{}]", list.join(", ")));
            rest = &rest[tensors..];
        }
        while let [first, behind @ ..] = rest {
            let position = texts.len();
            let numbers = rest.iter().take_while(|argument| is_number(argument)).count();
            if Some(position) == list_at && numbers > 1 {
                let list: Vec<_> =
                    rest[..numbers].iter().map(|argument| self.full_text(argument.value)).collect();
                let list = swapped(builtin, &list).unwrap_or(list);
                texts.push(format!("[{}]", list.join(", ")));
                rest = &rest[numbers..];
                continue;
            }
            if position == 0 && builtin.takes_list() {
                texts.push(match self.body()[first.value].kind {
                    NodeKind::Tuple(_) => self.list(first.value),
                    _ => self.full_text(first.value),
                });
                rest = behind;
                continue;
            }
            let number = self.float(first.value).filter(|_| takes_floats(builtin) && !of_integers);
            texts.push(number.unwrap_or_else(|| self.written_argument(formal(position), first.value)));
            rest = behind;
        }
        for argument in named {
            let name = argument.name.as_ref().map(ToString::to_string).unwrap_or_default();
            let own = match builtin.formals.contains(&name.as_str()) || name == "axis" {
                true => name.as_str(),
                false => habits::argument(&name, builtin.formals).unwrap_or(&name),
            };
            let formal = if own == "axis" { "axes" } else { own };
            if is_none(&self.body()[argument.value].kind) || habits::is_needless_argument(&name) {
                continue;
            }
            texts.push(format!("{own} = {}", self.written_argument(formal, argument.value)));
        }
        let is_last_two = builtin.name == "transpose"
            && matches!(texts.last().map(String::as_str), Some("[-2, -1]" | "[-1, -2]"));
        match (method, arguments.first()) {
            (_, Some(matrix)) if is_last_two => {
                format!("{}.mT", self.body().in_parentheses(matrix.value, self.full_text(matrix.value)))
            }
            (true, Some(receiver)) => {
                let receiver = self.body().in_parentheses(receiver.value, self.full_text(receiver.value));
                format!("{receiver}.{}({})", builtin.name, texts[1..].join(", "))
            }
            (true | false, _) => format!("{}({})", builtin.name, texts.join(", ")),
        }
    }

    /// Whether an argument is neither a list nor a number.
    fn is_written_tensor(&self, argument: &Argument) -> bool {
        !matches!(
            self.body()[argument.value].kind,
            NodeKind::Array(_) | NodeKind::Tuple(_) | NodeKind::Number(_) | NodeKind::Prefix { .. }
        )
    }

    /// Whether a value is known to hold integers.
    fn is_integer(&self, expr: ExprId) -> bool {
        match self.value(expr) {
            Value::Tensor(tensor) => self.tensor_type(*tensor).is_some_and(|ty| ty.starts_with('i')),
            _ => false,
        }
    }

    /// Adds help to an error in a call of a function of the language. If the arguments are written as in other
    /// libraries, the help is the call in this language.
    fn as_written_here(&self, stop: Stop, builtin: &Builtin, arguments: &[Argument], expr: ExprId) -> Stop {
        let Stop::Mistake(mut diag) = stop else { return stop };
        let method = matches!(self.body()[expr].kind, NodeKind::Call { method: true, .. });
        let written = self.written_call(builtin, arguments, method);
        if diag.help.is_none() && written != self.body().text(expr) {
            diag.help = Some(format!("write `{written}`"));
        }
        Stop::Mistake(diag)
    }
}

/// The formula of `clip`, whose bounds are found by their names.
const CLIP: &str = "minimum(maximum({=0}, {1}), {2})";

const NO_SUCH: &str = "compute the missing part in Rust and pass it as a parameter";

/// The permutation for two axes that `transpose` of other libraries swaps, of the smallest rank that has both axes.
fn swapped(builtin: &Builtin, axes: &[String]) -> Option<Vec<String>> {
    let [first, second] = axes else { return None };
    let (first, second): (usize, usize) = (first.parse().ok()?, second.parse().ok()?);
    let count = first.max(second).checked_add(1).filter(|count| *count <= MAX_RANK)?;
    let mut order: Vec<usize> = (0..count).collect();
    order.swap(first, second);
    (builtin.name == "transpose").then(|| order.iter().map(ToString::to_string).collect())
}

/// Whether a function takes numbers beside tensors. These are mostly floats.
fn takes_floats(builtin: &Builtin) -> bool {
    ["maximum", "minimum", "fmax", "fmin", "pow", "where", "hypot", "atan2", "copysign"]
        .contains(&builtin.name)
}

/// Whether a formal takes a list of numbers that other libraries take as separate arguments.
fn is_list(formal: &str) -> bool {
    matches!(formal, "shape" | "axes" | "permutation")
}

/// Whether a text has an operator outside of all brackets.
fn has_operator(text: &str) -> bool {
    let mut depth = 0usize;
    text.chars().zip(text.chars().skip(1)).any(|(letter, next)| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (letter == ' ' && "+-*/@".contains(next))
    }) || text.starts_with('-')
}

/// The error E2002 for a function that a file of the library does not have.
fn no_function_of(file: &str, name: &str, site: Site) -> Diag {
    let known: Vec<String> = standard::functions(file).map(|known| format!("{file}::{known}")).collect();
    undefined("function", name, site, known.iter().map(String::as_str))
}

/// The help for a selection of elements by a condition: the reason that it is not possible, and an alternative that
/// keeps the shape.
pub(crate) fn no_choice(condition: &str, tensor: &str) -> String {
    format!(
        "a shape cannot depend on the values of elements: `where({condition}, {tensor}, 0.0)` keeps the shape, and \
            `gather({tensor}, num::nonzero({condition}, size = 8))` takes the first 8 rows"
    )
}

/// Whether an expression is a comparison or a logical operation.
pub(crate) fn is_condition(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Binary { op, .. } if ["<", "<=", ">", ">=", "==", "!=", "&&", "||"].contains(&op.symbol()))
}

/// Whether the receiver of a method call can only be a library, because the call is not valid as a method call. This
/// applies where any name may be a Rust variable.
pub(crate) fn makes_no_sense_as_method(
    callee: &Callee,
    arguments: &[Argument],
    kind: impl Fn(ExprId) -> bool,
) -> bool {
    let Some(builtin) = builtins::find(&callee.to_string()) else { return true };
    let takes_tensor = matches!(builtin.formals.get(1), Some(&("b" | "i" | "indices" | "f" | "c")));
    // A receiver cannot be a list of tensors.
    if arguments.len() > builtin.formals.len() || builtin.takes_list() {
        return true;
    }
    let second = arguments.get(1).filter(|argument| argument.name.is_none() && !takes_tensor);
    second.is_some_and(|argument| kind(argument.value))
}

/// Whether a value is a tensor, for [`makes_no_sense_as_method`].
pub(crate) fn is_tensor<T>(value: &Value<T>) -> bool {
    matches!(value, Value::Tensor(_))
}
