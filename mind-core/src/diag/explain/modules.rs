//! E4xxx: modules and the rules of single operations.

use super::explanation::{Example, Explanation};
use crate::profile::Profile;

pub(super) const E4001: Explanation = Explanation {
    text: "An instruction reads a value that does not stand above it, or a symbol or type that its table does not have. \
           Programs are read from above, so each value is defined before it is used.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 add N1 N9 T0\nO N2\n",
        right: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 add N1 N1 T0\nO N2\n",
        profile: Profile::Extended,
    },
    fix: "Correct the reference, or move the definition up.",
};

pub(super) const E4002: Explanation = Explanation {
    text: "A number is defined twice, or after a greater one. Numbers ascend and may leave gaps.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 exp N1 T0\nN2 neg N1 T0\nO N2\n",
        right: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 exp N1 T0\nN3 neg N2 T0\nO N3\n",
        profile: Profile::Extended,
    },
    fix: "Give the second one a greater number of its own; `mind fmt` numbers anew.",
};

pub(super) const E4003: Explanation = Explanation {
    text: "An output names a value that is not defined.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 exp N1 T0\nO N3\n",
        right: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 exp N1 T0\nO N2\n",
        profile: Profile::Extended,
    },
    fix: "Name a value of the program.",
};

pub(super) const E4004: Explanation = Explanation {
    text: "An input is declared wrongly: it has no name, the name of another, a type that no value can have, or stands \
           below an operation. Inputs are the interface, so they come first and keep their order.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 input S0 T0\nN3 add N1 N2 T0\nO N3\n",
        right: "mic@1\nS0 \"x\"\nS1 \"y\"\nT0 [f32;3]\nN1 input S0 T0\nN2 input S1 T0\nN3 add N1 N2 T0\nO N3\n",
        profile: Profile::Extended,
    },
    fix: "Give each input a name of its own, before the first operation.",
};

pub(super) const E4005: Explanation = Explanation {
    text: "A constant has not as many elements as its shape, a shape that is not known, or a number that its element \
           type does not hold.",
    example: Example::Mic {
        wrong: "mic@1\nT0 [f32;3]\nN1 const.tensor [1.0,2.0] T0\nO N1\n",
        right: "mic@1\nT0 [f32;3]\nN1 const.tensor [1.0,2.0,3.0] T0\nO N1\n",
        profile: Profile::Extended,
    },
    fix: "Give as many elements as the shape holds, or a single number without brackets to fill it.",
};

pub(super) const E4006: Explanation = Explanation {
    text: "There are not as many indices as dimensions. In the language there may be fewer, never more; in Core IR and \
           MIC there is one for each.",
    example: Example::Program {
        wrong: "fn f(x: f32[3, 4]) -> f32 {\n    x[0, 1, 2]\n}",
        right: "fn f(x: f32[3, 4]) -> f32 {\n    x[0, 1]\n}",
    },
    fix: "Give one index a dimension.",
};

pub(super) const E4007: Explanation = Explanation {
    text: "`slice` takes a start, an end and a step for each dimension, and a list has another length.",
    example: Example::Program {
        wrong: "fn f(x: f32[3, 4]) -> f32[2, 4] {\n    slice(x, starts = [0], ends = [2, 4])\n}",
        right: "fn f(x: f32[3, 4]) -> f32[2, 4] {\n    slice(x, starts = [0, 0], ends = [2, 4])\n}",
    },
    fix: "Give every list one entry a dimension, or write `x[0..2]`.",
};

pub(super) const E4008: Explanation = Explanation {
    text: "A slice steps by 0 or backwards.",
    example: Example::Program {
        wrong: "fn f(x: f32[6]) -> f32[6] {\n    x[..;0]\n}",
        right: "fn f(x: f32[6]) -> f32[3] {\n    x[..;2]\n}",
    },
    fix: "Step by 1 or more; reversing is not supported.",
};

pub(super) const E4009: Explanation = Explanation {
    text: "The image and the filter of a convolution have different numbers of channels. Images are `[batch, height, \
           width, channels]`, filters `[height, width, channels, filters]`.",
    example: Example::Program {
        wrong: "fn f(image: f32[1, 28, 28, 3], filters: f32[3, 3, 1, 8]) -> f32[1, 26, 26, 8] {\n    \
                conv2d(image, filters)\n}",
        right: "fn f(image: f32[1, 28, 28, 3], filters: f32[3, 3, 3, 8]) -> f32[1, 26, 26, 8] {\n    \
                conv2d(image, filters)\n}",
    },
    fix: "Make the last dimension of the image and the third of the filter equal.",
};

pub(super) const E4010: Explanation = Explanation {
    text: "A convolution has a stride below 1, a padding below 0, or not two of each; or `pad` has not an amount of at least 0 for \
           each axis.",
    example: Example::Program {
        wrong: "fn f(image: f32[1, 28, 28, 1], filters: f32[3, 3, 1, 8]) -> f32[1, 26, 26, 8] {\n    \
                conv2d(image, filters, strides = [1, 0])\n}",
        right: "fn f(image: f32[1, 28, 28, 1], filters: f32[3, 3, 1, 8]) -> f32[1, 26, 26, 8] {\n    \
                conv2d(image, filters, strides = [1, 1])\n}",
    },
    fix: "Give two strides of at least 1, and padding `valid`, `same` or `[[top, bottom], [left, right]]`; to `pad` as many amounts as axes.",
};

pub(super) const E4011: Explanation = Explanation {
    text: "`gather`, `take_along` and `one_hot` go by integers, and the indices are of another element type.",
    example: Example::Program {
        wrong: "fn f(table: f32[10, 3], rows: f32[5]) -> f32[5, 3] {\n    gather(table, rows)\n}",
        right: "fn f(table: f32[10, 3], rows: i64[5]) -> f32[5, 3] {\n    gather(table, rows)\n}",
    },
    fix: "Declare indices of integers, as `i64`.",
};

pub(super) const E4012: Explanation = Explanation {
    text: "The type that a text declares for a value is not the one that follows from its operands. Declared types are \
           always checked, so a text can be trusted without working them out.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;2,3]\nT1 f32\nN1 input S0 T0\nN2 exp N1 T1\nO N2\n",
        right: "mic@1\nS0 \"x\"\nT0 [f32;2,3]\nN1 input S0 T0\nN2 exp N1 T0\nO N2\n",
        profile: Profile::Extended,
    },
    fix: "Declare the inferred type that the message names.",
};

pub(super) const E4013: Explanation = Explanation {
    text: "The operation is an extension of this project, or an attribute has a value that Core v1 does not have, and \
           the program is checked against Core v1.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 div N1 N1 T0\nO N2\n",
        right: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 mul N1 N1 T0\nO N2\n",
        profile: Profile::CoreV1,
    },
    fix: "Check against the profile `extended`, or write it with the operations of Core v1.",
};

pub(super) const E4014: Explanation = Explanation {
    text: "The program computes nothing that anyone sees: it has no output, or the function no result and no `&mut` \
           parameter that it assigns to.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) {\n    let y = x + x;\n}",
        right: "fn f(x: f32[3]) -> f32[3] {\n    let y = x + x;\n    y\n}",
    },
    fix: "Return something, or update a `&mut` parameter.",
};
