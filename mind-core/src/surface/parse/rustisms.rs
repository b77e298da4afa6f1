//! Help for syntax of Rust and Python that the language does not have.

/// The help for a keyword.
pub(super) fn word(word: &str) -> Option<&'static str> {
    Some(match word {
        "if" | "else" | "match" => SELECT,
        "loop" | "break" | "continue" => {
            "a loop iterates over an axis or a range, or while a condition holds: `fold h = h0 for x in xs { … }`, \
                `while n = n0 if n < 8 { … }`"
        }
        "as" => "convert with the element type as a function, as in `f32(x)`",
        "mut" => {
            "remove `mut`: bind the new value with another `let` of the same name, or in a loop carry it, as in \
            `fold s = 0.0 for x in xs { s + x }`"
        }
        "in" => "write a comparison, such as `any(x == 0.0)`",
        "return" => "end the body with the value, without `;`",
        "move" | "ref" => "remove it: tensors are borrowed automatically",
        "async" | "unsafe" => "remove it: functions of the block are never `async` or `unsafe`",
        "extern" => "declare `extern` functions directly in the block, next to its functions",
        "struct" => "define structs directly in the block, next to its functions",
        "use" => "put imports directly in the block, next to its functions",
        "mod" => "write a remainder as `x % y`; put Rust items outside the block",
        "enum" | "impl" | "trait" | "type" | "static" | "macro" => "put Rust items outside the block",
        "where" => "dimensions need no bounds: write relations in the types, as in `f32[2 * N]`",
        "_" => "to discard a value, write `let _ = …`",
        _ => return None,
    })
}

/// The help for a word that is not a keyword, after the word `before`.
pub(super) fn words(before: Option<&str>, word: &str) -> Option<&'static str> {
    Some(match (before, word) {
        (_, "and") => "write `&&`, as in `x > 0.0 && x < 1.0`",
        (_, "or") => "write `||`, as in `x < 0.0 || x > 1.0`",
        (_, "xor") => "write `^` between bools, as in `(x > 0.0) ^ (y > 0.0)`",
        (_, "is") => "write `==`, as in `x == 0.0`",
        (_, "not") => "write `!` before the operand, as in `!(x > 0.0)`",
        (Some("not"), _) => "write `!` before the operand, as in `!(x > 0.0)`",
        (Some("def" | "function" | "func" | "fun" | "defn"), _) => "write a function as `fn f(…) -> … { … }`",
        (Some("lambda"), _) => "write a function as `fn g(…) -> … { … }`, directly in the block",
        (Some("class" | "type" | "record"), _) => "write a struct as `struct Dense { w: f32[2, 3] }`",
        (Some("import" | "from" | "using" | "include"), _) => {
            "import functions of other blocks by their paths, as in `use crate::layers::dense;`"
        }
        (Some("var" | "val" | "auto" | "mut" | "float" | "int"), _) => "name a value with `let y = …;`",
        (Some("del" | "print" | "assert" | "raise" | "pass" | "with" | "global"), _) => {
            "remove it: a function only computes its result"
        }
        _ => return None,
    })
}

const SELECT: &str =
    "`where(x > 0.0, …, …)` chooses for each element; `if c { … } else { … }` runs one branch";

/// The help for a keyword in an expression among Rust variables, where it differs from [`word`].
pub(super) fn word_among_rust(word: &str) -> Option<&'static str> {
    match word {
        "match" => Some(
            "`match` is not supported: compute both values and choose one with `where(x > 0.0, …, …)`, or branch in \
                Rust with `if … { mind!(…) } else { mind!(…) }`",
        ),
        "as" => Some(
            "convert with the element type as a function, as in `f32(x)`, and write a Rust number in braces, as in \
                `{n as f32}`",
        ),
        "else" | "for" | "while" | "loop" | "Self" | "crate" | "super" | "unsafe" | "async" => {
            Some(IN_BRACES)
        }
        _ => None,
    }
}

/// The help for a word after the word `before` in an expression among Rust variables, where it differs from [`words`].
pub(super) fn words_among_rust(before: Option<&str>) -> Option<&'static str> {
    (before == Some("lambda")).then_some("a closure needs types, as in `|x: f32[2, 3]| x * 2.0`")
}

/// The help for `!` after the name of a macro.
pub(super) fn macro_call(name: &str) -> Option<&'static str> {
    Some(match name {
        "println" | "print" | "eprintln" | "eprint" | "dbg" | "format" | "trace" | "debug" | "info" => {
            "macros are not supported: to print a value while the program runs, write `inspect(x, \"x\")`"
        }
        "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "ensure" | "panic" | "todo"
        | "unreachable" => {
            "macros are not supported, and a function only computes: remove it, or return the value as a result"
        }
        "vec" | "array" | "arr1" | "arr2" => "macros are not supported: write a list as `[1.0, 2.0]`",
        "s" => "write subscripts in brackets after the tensor, as in `x[.., 1]`",
        _ => return None,
    })
}

/// The help for an operator in an expression among Rust variables, where it differs from [`operator`].
pub(super) fn operator_among_rust(operator: &str) -> Option<&'static str> {
    match operator {
        "::" | "?" => Some(IN_BRACES),
        _ => None,
    }
}

const IN_BRACES: &str = "put a Rust expression in braces, as in `{a.len() as f32}`";

/// The help for an operator.
pub(super) fn operator(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "%" => "`%` is not supported for dimensions: declare another dimension for the remainder",
        "!" => "macros are not supported; to negate a bool, write `!` before it, as in `!(x > 0.0)`",
        "#" => "a comment starts with `//`",
        "+" => "remove the sign: `+ x` is `x`",
        "@" => "write an attribute as `#[…]`, for example `#[grad(x)]` before a function",
        "*" => "remove the star: list the arguments one by one",
        "->" => "declare the result after the parameters of a function, as in `fn f(x: f32[3]) -> f32[3]`",
        "=>" | "=" => "to name a value, write `let y = …;`",
        ":" => "write a type after the name of a `let`, as in `let y: f32[3] = …;`",
        "&" => "write only the name: tensors are borrowed automatically",
        "?" => "remove it: the generated `try_` function returns the `Result`",
        "::" => "put Rust expressions outside the block and pass their values as parameters",
        ".." => {
            "ranges are only allowed after the `in` of a loop and in subscripts, as in `x[.., 0]`; elsewhere write \
            `iota(n)`"
        }
        "..=" => "a range excludes its end: write `a..b` with an end larger by one",
        "**" => "a power is a function call: write `pow(…, …)`",
        "|" => {
            "a closure must be the whole content of `mind!`: write a function of the block, `fn g(…) -> … { … }`"
        }
        "<<=" | ">>=" | "^=" => "write `n = n << 1`, with the operator between its operands",
        "~" => "for bools and bits, write `!x`",
        "@=" => "write `w = w @ x`",
        _ => return None,
    })
}

/// The help for `c ? a : b`.
pub(super) const CHOICE: &str = SELECT;

/// The help for `x++` and `x--`.
pub(super) const INCREMENT: &str = "`++` and `--` are not supported: write `x += 1.0` or `x -= 1.0`";

/// The divisor of a line of `text` that ends in `// 2`. The comment follows the token `before`, and the line below
/// begins with `next`.
///
/// A number, or a single word before `;`, is a divisor. Other comments are not: the statement before them may lack its
/// `;`.
pub(super) fn floor_divisor<'a>(text: &'a str, before: &str, next: &str) -> Option<&'a str> {
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().enumerate().find_map(|(at, line)| {
        let (code, comments) = line.split_once("//")?;
        let comment = comments.split("//").next().unwrap_or_default();
        let below = lines[at + 1..].iter().map(|line| line.trim_start()).find(|line| !line.is_empty())?;
        let divisor = comment.trim().trim_end_matches(';').trim_end();
        let is_number = divisor.starts_with(|first: char| first.is_ascii_digit());
        let is_word =
            divisor.chars().all(|letter| letter == '_' || letter == '.' || letter.is_alphanumeric());
        let is_divisor = !divisor.is_empty() && is_word && (is_number || comment.trim_end().ends_with(';'));
        let is_here = code.trim_end().ends_with(before) && below.starts_with(next);
        (is_divisor && is_here).then_some(divisor)
    })
}

/// The help for a literal.
pub(super) fn literal(token: &str) -> Option<&'static str> {
    (token.len() > 1 && token.starts_with(['"', '\'', 'b', 'c', 'r']))
        .then_some("literals are numbers, such as `1.0`")
}
