//! E1xxx: malformed text.

use super::explanation::{Example, Explanation};
use crate::profile::Profile;

pub(super) const E1001: Explanation = Explanation {
    text: "A file or standard input contains bytes that are not valid UTF-8. Usually the file is not a text file, or \
           was saved in another encoding. The message gives the offset of the first invalid byte.",
    example: Example::Words("Reading a file that contains the byte 0xff reports this code."),
    fix: "Save the file as UTF-8, or name the file that you meant.",
};

pub(super) const E1002: Explanation = Explanation {
    text: "A name contains a character that is not allowed in names. Names of symbolic dimensions and of attributes \
           start with a letter or `_`, followed by letters, digits and `_`.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;n\u{2013}1]\nN1 input S0 T0\nN2 neg N1 T0\nO N2\n",
        right: "mic@1\nS0 \"x\"\nT0 [f32;n]\nN1 input S0 T0\nN2 neg N1 T0\nO N2\n",
        profile: Profile::Extended,
    },
    fix: "Remove the character. A common cause is an editor that replaced a hyphen or a quote by a typographic one.",
};

pub(super) const E1003: Explanation = Explanation {
    text: "A string starts with `\"` and is not closed on the same line.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\nT0 f32\nN1 input S0 T0\nO N1\n",
        right: "mic@1\nS0 \"x\"\nT0 f32\nN1 input S0 T0\nO N1\n",
        profile: Profile::Extended,
    },
    fix: "Close the string. Write a line break inside it as `\\n`.",
};

pub(super) const E1004: Explanation = Explanation {
    text: "A backslash in a string starts an escape sequence, and this sequence does not exist. The escape sequences \
           are `\\\\`, `\\\"`, `\\n`, `\\t`, `\\r` and `\\u{hex}`.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"a\\b\"\nT0 f32\nN1 input S0 T0\nO N1\n",
        right: "mic@1\nS0 \"a\\\\b\"\nT0 f32\nN1 input S0 T0\nO N1\n",
        profile: Profile::Extended,
    },
    fix: "Write a backslash as `\\\\`.",
};

pub(super) const E1005: Explanation = Explanation {
    text: "A number is malformed, or does not fit its element type. A literal takes its element type from its \
           context.",
    example: Example::Program {
        wrong: "fn f(x: i32[3]) -> i32[3] {\n    x + 3000000000\n}",
        right: "fn f(x: i64[3]) -> i64[3] {\n    x + 3000000000\n}",
    },
    fix: "Choose an element type that can hold the number, or correct the number.",
};

pub(super) const E1006: Explanation = Explanation {
    text: "A block comment starts with `/*` and is never closed. Comments nest: each `/*` needs its own `*/`.",
    example: Example::Program {
        wrong: "/* the layer\nfn f(x: f32[3]) -> f32[3] {\n    relu(x)\n}",
        right: "/* the layer */\nfn f(x: f32[3]) -> f32[3] {\n    relu(x)\n}",
    },
    fix: "Close the comment.",
};

pub(super) const E1007: Explanation = Explanation {
    text: "The grammar does not allow this token here. The message says what was found and what was expected.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32[3] {\n    let y = x + x\n    let z = y * y;\n    z\n}",
        right: "fn f(x: f32[3]) -> f32[3] {\n    let y = x + x;\n    let z = y * y;\n    z\n}",
    },
    fix: "Write what the message asks for; here, a semicolon after the `let`.",
};

pub(super) const E1008: Explanation = Explanation {
    text: "A program exceeds a limit: brackets nested more than 256 deep, a rank over 8, an element count that does \
           not fit in 63 bits, a product of extents that expands to more than 4096 terms, more than 2^16 instructions \
           after calls are inlined, or a text that has more bytes, lines or instructions than its reader allows. The \
           limits keep any input from exhausting memory or the stack.",
    example: Example::Program {
        wrong: "fn f(x: f32[1, 1, 1, 1, 1, 1, 1, 1, 3]) -> f32 {\n    sum(x)\n}",
        right: "fn f(x: f32[1, 1, 1, 1, 1, 1, 1, 3]) -> f32 {\n    sum(x)\n}",
    },
    fix: "Make the program smaller: merge dimensions, name subexpressions with `let`, split a file. Readers in the \
          library accept other limits for texts.",
};

pub(super) const E1009: Explanation = Explanation {
    text: "The first line of a MIC text names a version of the format that this reader does not know.",
    example: Example::Mic {
        wrong: "mic@2\nS0 \"x\"\nT0 f32\nN1 input S0 T0\nO N1\n",
        right: "mic@1\nS0 \"x\"\nT0 f32\nN1 input S0 T0\nO N1\n",
        profile: Profile::Extended,
    },
    fix: "Write the text as `mic@1`, or read it with the version of the tools that wrote it.",
};
