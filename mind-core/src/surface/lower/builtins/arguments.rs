//! Matching of the arguments of a call with the formals of the callee.

use crate::diag::{Code, Diag, Site};
use crate::surface::ast::Argument;
use crate::surface::habits;
use crate::surface::lower::declarations::names::nearest;

/// The arguments of a call, by formal.
pub(crate) struct Arguments<'a> {
    /// The argument of each formal; `None` if it is not given.
    pub(crate) given: Vec<Option<&'a Argument>>,
}

/// Matches arguments with formals: in order, then by name.
pub(crate) fn match_arguments<'a>(
    callee: &str,
    formals: &[&str],
    required: usize,
    arguments: &'a [Argument],
    call: Site,
) -> Result<Arguments<'a>, Diag> {
    let mut given: Vec<Option<&Argument>> = vec![None; formals.len()];
    let takes = || {
        let count = match (required, formals.len()) {
            (_, 1) if required == 1 => "1 argument".to_owned(),
            (required, all) if required == all => format!("{all} arguments"),
            (required, all) => format!("{required} to {all} arguments"),
        };
        format!("`{callee}` takes {count}")
    };
    for (next, argument) in arguments.iter().enumerate() {
        let position = match &argument.name {
            None if next < formals.len() => next,
            None => {
                let message = format!("{}, found {}", takes(), arguments.len());
                let diag = Diag::new(Code::E2007, argument.site, message);
                return Err(match habits::with_more_arguments(callee) {
                    Some(help) => diag.help(help),
                    None if formals.is_empty() => diag.help("remove it"),
                    None => diag,
                });
            }
            Some(name) => {
                let text = name.to_string();
                // A single axis may be passed as `axis`.
                let wanted =
                    if text == "axis" && !formals.contains(&"axis") { "axes" } else { text.as_str() };
                match formals.iter().position(|formal| *formal == wanted) {
                    Some(position) => position,
                    None => {
                        let message =
                            format!("`{callee}` has no argument `{text}`, expected {}", list(formals));
                        let diag = Diag::new(Code::E2007, Site::token(name.span()), message);
                        let near = || nearest(&text, formals.iter().copied());
                        return Err(match habits::argument(&text, formals).or_else(near) {
                            Some(near) => diag.help(format!("write `{near}`")),
                            None if habits::is_needless_argument(&text) => diag.help("remove it"),
                            None => diag,
                        });
                    }
                }
            }
        };
        if let Some(first) = given[position] {
            let message = format!("`{}` of `{callee}` is given twice", formals[position]);
            return Err(
                Diag::new(Code::E2007, argument.site, message).note_at(first.site, "it is given first")
            );
        }
        given[position] = Some(argument);
    }
    let missing: Vec<_> =
        (0..required).filter(|position| given[*position].is_none()).map(|i| formals[i]).collect();
    if missing.is_empty() {
        return Ok(Arguments { given });
    }
    let message = format!("{}, found {}: {} missing", takes(), arguments.len(), list(&missing));
    let help = match callee.contains('(') {
        true => format!("the arguments are {}", list(&formals[..required])),
        false => format!("write `{callee}({})`", formals[..required].join(", ")),
    };
    Err(Diag::new(Code::E2007, call, message).help(help))
}

/// `a`, `b`
fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
