//! E4xxx: modules and the rules of single operations.

use super::explanation::{Example, Explanation};
use crate::profile::Profile;

pub(super) const E4001: Explanation = Explanation {
    text: "An instruction reads a value that is not defined above it, or a symbol or type that is not in its table. A \
           program is read from top to bottom, so each value must be defined before it is used.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 add N1 N9 T0\nO N2\n",
        right: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 add N1 N1 T0\nO N2\n",
        profile: Profile::Extended,
    },
    fix: "Correct the reference, or move the definition up.",
};

pub(super) const E4002: Explanation = Explanation {
    text: "A number is defined twice, or is defined after a larger one. Numbers must increase; gaps are allowed.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 exp N1 T0\nN2 neg N1 T0\nO N2\n",
        right: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 exp N1 T0\nN3 neg N2 T0\nO N3\n",
        profile: Profile::Extended,
    },
    fix: "Give the second definition a new, larger number; `mind fmt` renumbers a text.",
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
    text: "An input declaration is invalid: the input has no name, the same name as another input or a type that no \
           value can have, or it comes after an operation. The inputs are the interface of the module, so they come \
           first and keep their order.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 input S0 T0\nN3 add N1 N2 T0\nO N3\n",
        right: "mic@1\nS0 \"x\"\nS1 \"y\"\nT0 [f32;3]\nN1 input S0 T0\nN2 input S1 T0\nN3 add N1 N2 T0\nO N3\n",
        profile: Profile::Extended,
    },
    fix: "Give each input a unique name, and declare it before the first operation.",
};

pub(super) const E4005: Explanation = Explanation {
    text: "A constant has the wrong number of elements for its shape, a shape that is not known, or a number that \
           does not fit its element type.",
    example: Example::Mic {
        wrong: "mic@1\nT0 [f32;3]\nN1 const.tensor [1.0,2.0] T0\nO N1\n",
        right: "mic@1\nT0 [f32;3]\nN1 const.tensor [1.0,2.0,3.0] T0\nO N1\n",
        profile: Profile::Extended,
    },
    fix: "Give as many elements as the shape has, or a single number without brackets, which fills the shape.",
};

pub(super) const E4006: Explanation = Explanation {
    text: "The number of indices is not the number of dimensions. In the language there may be fewer indices than \
           dimensions, but not more; in Core IR and MIC there is exactly one for each dimension.",
    example: Example::Program {
        wrong: "fn f(x: f32[3, 4]) -> f32 {\n    x[0, 1, 2]\n}",
        right: "fn f(x: f32[3, 4]) -> f32 {\n    x[0, 1]\n}",
    },
    fix: "Give one index for each dimension.",
};

pub(super) const E4007: Explanation = Explanation {
    text: "`slice` takes one start, one end and one step for each dimension, and one of the lists has another length.",
    example: Example::Program {
        wrong: "fn f(x: f32[3, 4]) -> f32[2, 4] {\n    slice(x, starts = [0], ends = [2, 4])\n}",
        right: "fn f(x: f32[3, 4]) -> f32[2, 4] {\n    slice(x, starts = [0, 0], ends = [2, 4])\n}",
    },
    fix: "Give every list one entry for each dimension, or write `x[0..2]`.",
};

pub(super) const E4008: Explanation = Explanation {
    text: "The step of a slice, as in `x[..;2]`, must not be 0. In `slice`, in Core IR and in MIC it must be at least \
           1.",
    example: Example::Program {
        wrong: "fn f(x: f32[6]) -> f32[6] {\n    x[..;0]\n}",
        right: "fn f(x: f32[6]) -> f32[3] {\n    x[..;2]\n}",
    },
    fix: "Use another step. A negative one, as in `x[..;-1]`, goes back from the end of the range.",
};

pub(super) const E4009: Explanation = Explanation {
    text: "The image and the filter of a convolution have different numbers of channels. An image is `[batch, height, \
           width, channels]`, a filter `[height, width, channels, filters]`.",
    example: Example::Program {
        wrong: "fn f(image: f32[1, 28, 28, 3], filters: f32[3, 3, 1, 8]) -> f32[1, 26, 26, 8] {\n    \
                conv2d(image, filters)\n}",
        right: "fn f(image: f32[1, 28, 28, 3], filters: f32[3, 3, 3, 8]) -> f32[1, 26, 26, 8] {\n    \
                conv2d(image, filters)\n}",
    },
    fix: "Make the last dimension of the image equal to the third of the filter.",
};

pub(super) const E4010: Explanation = Explanation {
    text: "A convolution needs two strides of at least 1 and, for each of its two dimensions, padding of at least 0. \
           `pad` needs an amount of at least 0 for each axis. A probability is a number from 0 to 1. \
           The parameter of `random::gamma` is above 0, and the lower \
           bound of `random::truncated_normal` is below the upper one.",
    example: Example::Program {
        wrong: "fn f(image: f32[1, 28, 28, 1], filters: f32[3, 3, 1, 8]) -> f32[1, 26, 26, 8] {\n    \
                conv2d(image, filters, strides = [1, 0])\n}",
        right: "fn f(image: f32[1, 28, 28, 1], filters: f32[3, 3, 1, 8]) -> f32[1, 26, 26, 8] {\n    \
                conv2d(image, filters, strides = [1, 1])\n}",
    },
    fix: "Give two strides of at least 1, and padding `valid`, `same` or `[[top, bottom], [left, right]]`. Give `pad` \
          one amount for each axis.",
};

pub(super) const E4011: Explanation = Explanation {
    text: "The indices of `gather`, `take_along`, `one_hot` and `x[i]` must be integers, and these have another \
           element type.",
    example: Example::Program {
        wrong: "fn f(table: f32[10, 3], rows: f32[5]) -> f32[5, 3] {\n    gather(table, rows)\n}",
        right: "fn f(table: f32[10, 3], rows: i64[5]) -> f32[5, 3] {\n    gather(table, rows)\n}",
    },
    fix: "Declare the indices with an integer type, such as `i64`.",
};

pub(super) const E4012: Explanation = Explanation {
    text: "The type that a text declares for a value differs from the type inferred from its operands. Declared types \
           are always checked, so a reader of the text can rely on them.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;2,3]\nT1 f32\nN1 input S0 T0\nN2 exp N1 T1\nO N2\n",
        right: "mic@1\nS0 \"x\"\nT0 [f32;2,3]\nN1 input S0 T0\nN2 exp N1 T0\nO N2\n",
        profile: Profile::Extended,
    },
    fix: "Declare the inferred type that the message names.",
};

pub(super) const E4013: Explanation = Explanation {
    text: "The operation is an extension of this project, or an attribute has a value that Core v1 does not allow, \
           and the program is checked against Core v1.",
    example: Example::Mic {
        wrong: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 div N1 N1 T0\nO N2\n",
        right: "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 mul N1 N1 T0\nO N2\n",
        profile: Profile::CoreV1,
    },
    fix: "Check against the profile `extended`, or use only operations of Core v1.",
};

pub(super) const E4014: Explanation = Explanation {
    text: "The program has no result: a module without an output, or a function that returns nothing and assigns to \
           no `&mut` parameter.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) {\n    let y = x + x;\n}",
        right: "fn f(x: f32[3]) -> f32[3] {\n    let y = x + x;\n    y\n}",
    },
    fix: "Return a value, or assign to a `&mut` parameter.",
};
