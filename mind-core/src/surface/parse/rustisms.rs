//! What to write instead of Rust that is not in the language.

/// For a keyword.
pub(super) fn word(word: &str) -> Option<&'static str> {
    Some(match word {
        "if" | "else" | "match" => {
            "there is no control flow: select with arithmetic, as `m * a + (1.0 - m) * b`"
        }
        "for" | "while" | "loop" | "break" | "continue" => {
            "there are no loops: operate on whole tensors, as `sum(x, axes = [0])`"
        }
        "as" => "dtypes are never converted: declare the parameter with the dtype needed",
        "mut" => "bind the new value with another `let` of the same name",
        "return" => "end the body with the value, without `;`",
        "move" | "ref" => "leave it out: tensors are borrowed by themselves",
        "async" | "unsafe" | "extern" => "leave it out: functions here are plain and safe",
        "struct" => "structs stand beside the functions of the block",
        "use" => "put imports beside the functions of the block",
        "enum" | "impl" | "trait" | "mod" | "type" | "static" | "macro" => "put Rust items outside the block",
        "where" => "dimensions need no bounds: write relations into the types, as `f32[2 * N]`",
        "_" => "to discard a value write `let _ = …`",
        "true" | "false" => "truth values are for named arguments only, as `keepdims = true`",
        _ => return None,
    })
}

/// For a keyword in an expression among Rust variables, where it has another fix.
pub(super) fn word_among_rust(word: &str) -> Option<&'static str> {
    match word {
        "if" | "else" | "match" | "for" | "while" | "loop" | "as" | "Self" | "crate" | "super" | "unsafe"
        | "async" => Some(IN_BRACES),
        _ => None,
    }
}

/// For an operator in an expression among Rust variables, where it has another fix.
pub(super) fn operator_among_rust(operator: &str) -> Option<&'static str> {
    match operator {
        "::" | "?" | "!" | "%" | "==" | "!=" | "<=" | ">=" | "&&" | "||" => Some(IN_BRACES),
        _ => None,
    }
}

const IN_BRACES: &str = "put a Rust expression in braces, as `{a.len() as f32}`";

/// For an operator.
pub(super) fn operator(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "%" | "%=" => "there is no remainder",
        "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||" => {
            "there are no comparisons and truth values: select with arithmetic, as `m * a + (1.0 - m) * b`"
        }
        "!" => "there are no macros and truth values",
        "&" => "write the name alone: tensors are borrowed by themselves",
        "?" => "leave it out: the generated `try_` function returns the `Result`",
        "::" => "put Rust expressions outside the block and pass their values as parameters",
        "..=" => "a range excludes its end: write `a..b` with the end one higher",
        "**" | "^" | "^=" => "there is no power: multiply, as `x * x`",
        "|" => "a closure stands alone in `mind!`; write a function in the block",
        "<<" | ">>" | "<<=" | ">>=" | "~" => "there are no bit operations",
        "@=" => "write `w = w @ x`",
        _ => return None,
    })
}

/// For a literal.
pub(super) fn literal(token: &str) -> Option<&'static str> {
    (token.len() > 1 && token.starts_with(['"', '\'', 'b', 'c', 'r']))
        .then_some("literals are numbers, as `1.0`")
}
