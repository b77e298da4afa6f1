//! Conversion of arguments to the syntax of this language: lists, numbers and truth values that other libraries write
//! differently.

use crate::surface::ast::{Callee, ExprId, NodeKind, Number, NumberValue};
use crate::surface::habits;
use crate::surface::lower::values::expressions::Expressions;

/// The maximum length of the text of an argument in a help; longer texts are shortened.
const MAX_TEXT: usize = 60;

/// The text that a help shows for an argument.
pub(crate) trait ForeignArguments: Expressions {
    /// The text of an argument as a list of integers.
    fn list(&self, expr: ExprId) -> String {
        let text = self.full_text(expr);
        let kind = &self.body()[expr].kind;
        if let NodeKind::Tuple(_) = kind {
            let inside = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(&text);
            return format!("[{}]", inside.trim_end_matches([',', ' ']));
        }
        if let NodeKind::Array(_) = kind { text } else { format!("[{text}]") }
    }

    /// An integer literal written as a float; `None` for any other expression.
    fn float(&self, expr: ExprId) -> Option<String> {
        let NodeKind::Number(number) = &self.body()[expr].kind else { return None };
        match (&number.value, number.suffix) {
            (NumberValue::Integer(value), None) => Some(format!("{value}.0")),
            (NumberValue::Integer(_) | NumberValue::Float(_), _) => None,
        }
    }

    /// The text of an expression, shortened if it is long. For ndarray's `Axis(1)`, only the number.
    fn full_text(&self, expr: ExprId) -> String {
        if let NodeKind::Call { callee, arguments, .. } = &self.body()[expr].kind
            && let [number] = &arguments[..]
            && is_axis(callee)
        {
            return self.full_text(number.value);
        }
        let text = self.body().text(expr);
        if text.chars().count() > MAX_TEXT { self.body().short_text(expr) } else { text }
    }

    /// The text of an argument in the form that its formal takes.
    fn written_argument(&self, formal: &str, expr: ExprId) -> String {
        let text = self.full_text(expr);
        match (formal, &self.body()[expr].kind) {
            ("keepdims", _) => match text.as_str() {
                "1" | "True" => "true".to_owned(),
                "0" | "False" => "false".to_owned(),
                _ => text,
            },
            ("strides", NodeKind::Number(_)) => format!("[{text}, {text}]"),
            ("padding", NodeKind::Number(_)) => format!("[[{text}, {text}], [{text}, {text}]]"),
            ("padding", NodeKind::Tuple(parts)) if parts.len() == 2 => {
                let pair = |part: &ExprId| {
                    if let NodeKind::Number(number) = &self.body()[*part].kind {
                        return format!("[{0}, {0}]", number.text);
                    }
                    self.list(*part)
                };
                format!("[{}, {}]", pair(&parts[0]), pair(&parts[1]))
            }
            (
                "shape" | "permutation" | "starts" | "ends" | "steps",
                NodeKind::Number(Number { value: NumberValue::Integer(_), .. }) | NodeKind::Tuple(_),
            )
            | ("axes" | "strides", NodeKind::Tuple(_)) => self.list(expr),
            (_, NodeKind::Member { .. }) => match text.split_once('.') {
                Some((library, "float32")) if habits::is_library(library) => "f32".to_owned(),
                Some((library, "float64" | "double")) if habits::is_library(library) => "f64".to_owned(),
                Some((library, dtype @ ("int32" | "int64"))) if habits::is_library(library) => {
                    dtype.replace("int", "i")
                }
                _ => text,
            },
            _ => text,
        }
    }
}

impl<T: Expressions + ?Sized> ForeignArguments for T {}

/// Whether a function is the `Axis` of ndarray.
pub(crate) fn is_axis(callee: &Callee) -> bool {
    callee.path.is_empty() && callee.name == "Axis"
}

pub(crate) fn is_none(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Name(name) if name == "None")
}
