//! Help for reductions of other libraries: variances with another divisor, norms of another order, and functions that
//! reduce all axes where ours reduce the last one.

use super::foreign_arguments::{ForeignArguments, is_none};
use crate::surface::ast::{Argument, NodeKind, Number, NumberValue};
use crate::surface::habits;

/// The text that a help shows for reductions of other libraries.
pub(crate) trait ForeignReductions: ForeignArguments {
    /// `num::norm(…)` for a norm of other libraries, which take the order of the norm before the axis.
    fn norm(&self, arguments: &[Argument]) -> String {
        let is_order = |(position, argument): &(usize, &Argument)| {
            let name = argument.name.as_ref().map(ToString::to_string);
            name.map_or(*position == 1, |name| name == "ord" || name == "p")
        };
        let order = arguments.iter().enumerate().find(is_order).map(|(position, _)| position);
        let mut kept = arguments.to_vec();
        if let Some(position) = order {
            let text = self.full_text(kept.remove(position).value);
            if !["2", "2.0", "None", "\"fro\""].contains(&text.as_str()) {
                return "`num::norm` is the Euclidean norm: write out any other norm, as in `sum(abs(x), axis = 1)`"
                    .to_owned();
            }
        }
        format!("write {}", self.library_call("num::norm", &kept))
    }

    /// The help for a variance or a standard deviation. `default` is whether the other library divides by one less than
    /// the number of elements, if that is known.
    fn moment(&self, name: &str, arguments: &[Argument], default: Option<bool>) -> String {
        // ndarray takes the argument that sets the divisor as a float.
        let is_divisor = |argument: &Argument| match &argument.name {
            Some(name) => DIVISORS.contains(&name.to_string().as_str()),
            None => matches!(
                &self.body()[argument.value].kind,
                NodeKind::Number(Number { value: NumberValue::Float(_), .. })
            ),
        };
        let (divisors, kept): (Vec<_>, Vec<_>) = arguments.iter().cloned().partition(is_divisor);
        let given = divisors
            .first()
            .map(|divisor| ["1", "1.0", "True", "true"].contains(&self.full_text(divisor.value).as_str()));
        let written = |ending: &str| self.library_call(&format!("num::{name}{ending}"), &kept);
        match given.or(default) {
            Some(false) => format!("write {}", written("")),
            Some(true) => format!("write {}", written("_unbiased")),
            None => format!("write {}, or {} to divide by n - 1", written(""), written("_unbiased")),
        }
    }

    /// The text of a call of the library. If functions of this name reduce all axes in other libraries, it shows both a
    /// call for a vector and a call for all axes.
    fn library_call(&self, function: &str, arguments: &[Argument]) -> String {
        let written = self.library_arguments(arguments);
        let is_axis = |argument: &&Argument| {
            let name = argument.name.as_ref().map(ToString::to_string);
            let is_named = name.is_none_or(|name| ["axis", "axes", "dim", "dims"].contains(&name.as_str()));
            is_named && !is_none(&self.body()[argument.value].kind)
        };
        if !OVER_ALL.contains(&function) || arguments.iter().skip(1).any(|argument| is_axis(&argument)) {
            return format!("`{function}({written})`");
        }
        let operand = arguments.first().map_or_else(|| "x".to_owned(), |first| self.full_text(first.value));
        let all = written.replacen(&operand, &format!("reshape({operand}, [-1])"), 1);
        format!("`{function}({written})` for a vector, `{function}({all})` for all axes")
    }

    /// The text of the arguments of a call of the library, where axes are named `axis`.
    fn library_arguments(&self, arguments: &[Argument]) -> String {
        let mut texts = Vec::new();
        for argument in arguments {
            let text = self.full_text(argument.value);
            let name = argument.name.as_ref().map(ToString::to_string);
            match name.as_deref() {
                None => texts.push(text),
                Some(name)
                    if habits::is_needless_argument(name) || is_none(&self.body()[argument.value].kind) => {}
                Some("dim" | "axes" | "dims") => texts.push(format!("axis = {text}")),
                Some("keepdim" | "keep_dims" | "keepdims") => {
                    let text = self.written_argument("keepdims", argument.value);
                    texts.push(format!("keepdims = {text}"));
                }
                Some(name) => texts.push(format!("{name} = {text}")),
            }
        }
        texts.join(", ")
    }
}

impl<T: ForeignArguments + ?Sized> ForeignReductions for T {}

/// The names that other libraries give to the argument of a variance that sets its divisor.
const DIVISORS: &[&str] = &["unbiased", "ddof", "correction"];

/// Functions of the library that reduce the last axis, while those of the same name in other libraries reduce all axes.
const OVER_ALL: &[&str] =
    &["num::var", "num::var_unbiased", "num::std", "num::std_unbiased", "num::norm", "nn::logsumexp"];
