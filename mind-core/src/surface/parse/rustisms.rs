//! Help for syntax of Rust and Python that the language does not have.

/// The help for a keyword.
pub(super) fn word(word: &str) -> Option<&'static str> {
    Some(match word {
        "if" | "else" | "match" => SELECT,
        "loop" | "break" | "continue" => {
            "a loop goes over an axis, over a range or while a condition holds: `fold h = h0 for x in xs { … }`, \
             `while n = n0 if n < 8 { … }`"
        }
        "as" => "write the element type as a function, as `f32(x)`",
        "mut" => "leave out `mut`: bind the new value with another `let` of the same name",
        "in" => "write a comparison, as `any(x == 0.0)`",
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

/// The help for a word that is not a keyword, after the word `before`.
pub(super) fn words(before: Option<&str>, word: &str) -> Option<&'static str> {
    Some(match (before, word) {
        (_, "and") => "write `&&`, as `x > 0.0 && x < 1.0`",
        (_, "or") => "write `||`, as `x < 0.0 || x > 1.0`",
        (_, "xor") => "write `^` between truth values, as `(x > 0.0) ^ (y > 0.0)`",
        (_, "is") => "write `==`, as `x == 0.0`",
        (_, "not") => "write `!` before what it negates, as `!(x > 0.0)`",
        (Some("not"), _) => "write `!` before what it negates, as `!(x > 0.0)`",
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

const SELECT: &str = "`where(x > 0.0, …, …)` chooses each element; `if c { … } else { … }` runs one branch";

/// The help for a keyword in an expression among Rust variables, where it differs from [`word`].
pub(super) fn word_among_rust(word: &str) -> Option<&'static str> {
    match word {
        "match" => Some(
            "there is no `match`: both values are computed and one is chosen, as `where(x > 0.0, …, …)`, or in Rust, \
             as `if … { mind!(…) } else { mind!(…) }`",
        ),
        "as" => Some(
            "write the element type as a function, as `f32(x)`, and a number of Rust in braces, as `{n as f32}`",
        ),
        "else" | "for" | "while" | "loop" | "Self" | "crate" | "super" | "unsafe" | "async" => {
            Some(IN_BRACES)
        }
        _ => None,
    }
}

/// The help for a word after the word `before` in an expression among Rust variables, where it differs from [`words`].
pub(super) fn words_among_rust(before: Option<&str>) -> Option<&'static str> {
    (before == Some("lambda")).then_some("a closure is written with types, as `|x: f32[2, 3]| x * 2.0`")
}

/// The help for `!` after the name of a macro.
pub(super) fn macro_call(name: &str) -> Option<&'static str> {
    Some(match name {
        "println" | "print" | "eprintln" | "eprint" | "dbg" | "format" | "trace" | "debug" | "info" => {
            "there are no macros: to see a value as the program runs write `inspect(x, \"x\")`"
        }
        "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "ensure" | "panic" | "todo"
        | "unreachable" => {
            "there are no macros, and a function only computes: leave it out, or give the value as a result"
        }
        "vec" | "array" | "arr1" | "arr2" => "there are no macros: a list is written `[1.0, 2.0]`",
        "s" => "subscripts stand in brackets behind the tensor, as `x[.., 1]`",
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

const IN_BRACES: &str = "put a Rust expression in braces, as `{a.len() as f32}`";

/// The help for an operator.
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
        ".." => "a range stands among the subscripts behind a tensor, as `x[.., 0]`",
        "..=" => "a range excludes its end: write `a..b` with the end one higher",
        "**" => "powers are a function: write `pow(…, …)`",
        "|" => "a closure stands alone in `mind!`: write a function of the block, `fn g(…) -> … { … }`",
        "<<=" | ">>=" | "^=" => "write `n = n << 1`, with the operator between its operands",
        "~" => "of a truth value and of bits write `!x`",
        "@=" => "write `w = w @ x`",
        _ => return None,
    })
}

/// The help for `c ? a : b`.
pub(super) const CHOICE: &str = SELECT;

/// The help for `x++` and `x--`.
pub(super) const INCREMENT: &str = "there is no `++` and no `--`: write `x += 1.0`, or `x -= 1.0`";

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
        .then_some("literals are numbers, as `1.0`")
}
