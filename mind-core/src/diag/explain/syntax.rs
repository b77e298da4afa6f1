//! E1xxx: malformed text.

use super::explanation::{Example, Explanation};
use crate::profile::Profile;

pub(super) const E1001: Explanation = Explanation {
    text: "A file or standard input holds bytes that are no UTF-8 text. Often it is not a text at all, or was saved in \
           another encoding; the message names the first byte that does not fit.",
    example: Example::Words("Reading a file that holds the byte 0xff gives this code."),
    fix: "Save the file as UTF-8, or name the file that you meant.",
};

pub(super) const E1002: Explanation = Explanation {
    text: "A name holds a character that names cannot have. Names of symbolic dimensions and of attributes begin with a \
           letter or `_` and go on with letters, digits and `_`.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;n\u{2013}1]\nN1 input S0 T0\nN2 neg N1 T0\nO N2\n",
        right: "mic@1\nS0 \"x\"\nT0 [f32;n]\nN1 input S0 T0\nN2 neg N1 T0\nO N2\n",
        profile: Profile::Extended,
    },
    fix: "Take the character out; a dash or quote that an editor made typographic is a frequent cause.",
};

pub(super) const E1003: Explanation = Explanation {
    text: "A string begins with `\"` and does not end on its line.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\nT0 f32\nN1 input S0 T0\nO N1\n",
        right: "mic@1\nS0 \"x\"\nT0 f32\nN1 input S0 T0\nO N1\n",
        profile: Profile::Extended,
    },
    fix: "Close the string; a line break in it is written `\\n`.",
};

pub(super) const E1004: Explanation = Explanation {
    text: "A backslash in a string begins an escape, and what follows it here is none. The escapes are `\\\\`, `\\\"`, \
           `\\n`, `\\t`, `\\r` and `\\u{hex}`.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"a\\b\"\nT0 f32\nN1 input S0 T0\nO N1\n",
        right: "mic@1\nS0 \"a\\\\b\"\nT0 f32\nN1 input S0 T0\nO N1\n",
        profile: Profile::Extended,
    },
    fix: "Write a backslash as `\\\\`.",
};

pub(super) const E1005: Explanation = Explanation {
    text: "A number is not written as numbers are, or does not fit the element type that it takes from what stands \
           beside it.",
    example: Example::Program {
        wrong: "fn f(x: i32[3]) -> i32[3] {\n    x + 3000000000\n}",
        right: "fn f(x: i64[3]) -> i64[3] {\n    x + 3000000000\n}",
    },
    fix: "Choose an element type that holds the number, or correct it.",
};

pub(super) const E1006: Explanation = Explanation {
    text: "A block comment begins with `/*` and never ends. Comments nest: each `/*` has a `*/` of its own.",
    example: Example::Program {
        wrong: "/* the layer\nfn f(x: f32[3]) -> f32[3] {\n    relu(x)\n}",
        right: "/* the layer */\nfn f(x: f32[3]) -> f32[3] {\n    relu(x)\n}",
    },
    fix: "Close the comment.",
};

pub(super) const E1007: Explanation = Explanation {
    text: "Something stands where the grammar has no place for it. The message says what was found and what could stand \
           there.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32[3] {\n    let y = x + x\n    let z = y * y;\n    z\n}",
        right: "fn f(x: f32[3]) -> f32[3] {\n    let y = x + x;\n    let z = y * y;\n    z\n}",
    },
    fix: "Write what the message asks for; here a semicolon after the `let`.",
};

pub(super) const E1008: Explanation = Explanation {
    text: "A program exceeds a limit: brackets nested more than 256 deep, a rank over 8, more elements than 63 bits \
           count, extents whose product has more than 4096 terms once it is multiplied out, more instructions than 2^16 \
           with what is called in place, or a text that is larger or has more lines or instructions than its reader \
           allows. Limits keep any input from exhausting memory or the stack.",
    example: Example::Program {
        wrong: "fn f(x: f32[1, 1, 1, 1, 1, 1, 1, 1, 3]) -> f32 {\n    sum(x)\n}",
        right: "fn f(x: f32[1, 1, 1, 1, 1, 1, 1, 3]) -> f32 {\n    sum(x)\n}",
    },
    fix: "Make it smaller: join dimensions, name inner parts with `let`, split a file. Readers of the library take \
          other limits for texts.",
};

pub(super) const E1009: Explanation = Explanation {
    text: "The first line of a MIC text names a version of the format that this reader does not know.",
    example: Example::Mic {
        wrong: "mic@2\nS0 \"x\"\nT0 f32\nN1 input S0 T0\nO N1\n",
        right: "mic@1\nS0 \"x\"\nT0 f32\nN1 input S0 T0\nO N1\n",
        profile: Profile::Extended,
    },
    fix: "Write the text as `mic@1`, or read it with the version of the tools that made it.",
};
