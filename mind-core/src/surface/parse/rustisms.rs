//! What to write instead of Rust and Python that is not in the language.

/// For a keyword.
pub(super) fn word(word: &str) -> Option<&'static str> {
    Some(match word {
        "if" | "else" | "match" => SELECT,
        "for" | "while" | "loop" | "break" | "continue" => {
            "there are no loops: operate on whole tensors, as `sum(x, axes = [0])`"
        }
        "as" => "write the element type as a function, as `f32(x)`",
        "mut" => "leave out `mut`: bind the new value with another `let` of the same name",
        "return" => "end the body with the value, without `;`",
        "move" | "ref" => "leave it out: tensors are borrowed by themselves",
        "async" | "unsafe" | "extern" => "leave it out: functions here are plain and safe",
        "struct" => "structs stand beside the functions of the block",
        "use" => "put imports beside the functions of the block",
        "mod" => "a remainder is written `x % y`; put Rust items outside the block",
        "enum" | "impl" | "trait" | "type" | "static" | "macro" => "put Rust items outside the block",
        "where" => "dimensions need no bounds: write relations into the types, as `f32[2 * N]`",
        "_" => "to discard a value write `let _ = …`",
        _ => return None,
    })
}

/// For a word that is no keyword, behind another.
pub(super) fn words(before: Option<&str>, word: &str) -> Option<&'static str> {
    Some(match (before, word) {
        (_, "and" | "or" | "not" | "is" | "xor") => SELECT,
        (Some("not" | "and" | "or"), _) => SELECT,
        (Some("def" | "function" | "func" | "fun" | "defn"), _) => {
            "functions are written `fn f(…) -> … { … }`"
        }
        (Some("lambda"), _) => {
            "functions are written `fn g(…) -> … { … }`, and stand in the block one beside the other"
        }
        (Some("class" | "type" | "record"), _) => "structs are written `struct Dense { w: f32[2, 3] }`",
        (Some("import" | "from" | "using" | "include"), _) => {
            "functions of other blocks are imported by their paths, as `use crate::layers::dense;`"
        }
        (Some("var" | "val" | "auto" | "mut" | "float" | "int"), _) => "name a value by `let y = …;`",
        (Some("del" | "print" | "assert" | "raise" | "pass" | "with" | "global"), _) => {
            "leave it out: a function only computes its result"
        }
        _ => return None,
    })
}

const SELECT: &str =
    "there is no control flow: both values are computed and one is chosen, as `where(x > 0.0, …, …)`";

/// For a keyword in an expression among Rust variables, where it has another fix.
pub(super) fn word_among_rust(word: &str) -> Option<&'static str> {
    match word {
        "if" | "match" => Some(
            "there is no control flow: both values are computed and one is chosen, as `where(x > 0.0, …, …)`, or in Rust, \
             as `if … { mind!(…) } else { mind!(…) }`",
        ),
        "else" | "for" | "while" | "loop" | "as" | "Self" | "crate" | "super" | "unsafe" | "async" => {
            Some(IN_BRACES)
        }
        _ => None,
    }
}

/// For an operator in an expression among Rust variables, where it has another fix.
pub(super) fn operator_among_rust(operator: &str) -> Option<&'static str> {
    match operator {
        "::" | "?" => Some(IN_BRACES),
        _ => None,
    }
}

const IN_BRACES: &str = "put a Rust expression in braces, as `{a.len() as f32}`";

/// For an operator.
pub(super) fn operator(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "%" => "a dimension has no remainder: declare another one for it",
        "!" => "there are no macros; of a truth value `!` stands before it, as `!(x > 0.0)`",
        "#" => "a comment begins with `//`",
        "+" => "leave the sign out: `+ x` is `x`",
        "@" => "attributes are written `#[…]`, as `#[grad(x)]` before a function",
        "*" => "leave out the star: arguments are listed one by one",
        "->" => "a result is declared behind the parameters of a function, as `fn f(x: f32[3]) -> f32[3]`",
        "=>" | "=" => "to name a value write `let y = …;`",
        ":" => "a type stands behind the name of a `let`, as `let y: f32[3] = …;`",
        "&" => "write the name alone: tensors are borrowed by themselves",
        "?" => "leave it out: the generated `try_` function returns the `Result`",
        "::" => "put Rust expressions outside the block and pass their values as parameters",
        "..=" => "a range excludes its end: write `a..b` with the end one higher",
        "**" => "powers are a function: write `pow(…, …)`",
        "|" => "a closure stands alone in `mind!`: write a function of the block, `fn g(…) -> … { … }`",
        "<<=" | ">>=" | "^=" => "write `n = n << 1`, with the operator between its operands",
        "~" => "of a truth value and of bits write `!x`",
        "@=" => "write `w = w @ x`",
        _ => return None,
    })
}

/// For a literal.
pub(super) fn literal(token: &str) -> Option<&'static str> {
    (token.len() > 1 && token.starts_with(['"', '\'', 'b', 'c', 'r']))
        .then_some("literals are numbers, as `1.0`")
}
