//! E5xxx: gradients.

use super::explanation::{Example, Explanation};
use crate::profile::Profile;

const CONVOLUTION: &str =
    "fn loss(x: f32[1, 4, 4, 1], w: f32[3, 3, 1, 1]) -> f32 {\n    sum(conv2d(x, w))\n}";

pub(super) const E5001: Explanation = Explanation {
    text: "An operation between the parameter and the output has no derivative in the profile of the gradient. In Core v1 \
           that is division and the convolution, whose derivatives need operations that Core v1 lacks, and `stop_gradient` of \
           what depends on an input: nothing there would stop a derivative of the gradient. A module with `bool` or `u8`, \
           which Core v1 lacks too, has no gradient there.",
    example: Example::Gradient {
        wrong: (CONVOLUTION, Profile::CoreV1),
        right: (CONVOLUTION, Profile::Extended),
        wrt: "w",
    },
    fix: "Take the gradient in the profile `extended`, or write the operation in others.",
};

pub(super) const E5002: Explanation = Explanation {
    text: "The gradient that was made breaks a rule of the IR. That is a fault of the compiler, not of the program.",
    example: Example::Words("No program should give this code."),
    fix: "Report it, with the program.",
};

pub(super) const E5003: Explanation = Explanation {
    text: "While a gradient was made, a rule named an axis that its value does not have.",
    example: Example::Words(
        "No verified program should give this code; rules of operations that others add can.",
    ),
    fix: "Correct the rule of the operation that the message names.",
};

pub(super) const E5004: Explanation = Explanation {
    text: "A gradient is of a single number. The output is a tensor or there are several, and no cotangent says how they \
           count; or, in Core v1, an operation's shape has no derivative in its operations: a symbolic one of `slice` or `gather`, or one \
           with more than 2^24 positions along an axis that they take a part of, since the derivative there lists them in a constant.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32[3] {\n    x * x\n}\n\nfn df(x: f32[3]) -> f32[3] {\n    grad(f, wrt = x)(x)\n}",
        right: "fn f(x: f32[3]) -> f32 {\n    sum(x * x)\n}\n\nfn df(x: f32[3]) -> f32[3] {\n    grad(f, wrt = x)(x)\n}",
    },
    fix: "Reduce the output to a number, or give a cotangent: `vjp(f, wrt = x)(x, c)`, `mind grad --cotangent`. For a shape, \
          take the profile `extended`.",
};

pub(super) const E5005: Explanation = Explanation {
    text: "The parameter is an integer, or the output does not depend on it in a differentiable way. A gradient of zeros \
           would be right and is seldom what was meant.",
    example: Example::Program {
        wrong: "fn loss(w: f32[3]) -> f32 {\n    sum(stop_gradient(w))\n}\n\n\
                fn f(w: f32[3]) -> f32[3] {\n    grad(loss, wrt = w)(w)\n}",
        right: "fn loss(w: f32[3]) -> f32 {\n    sum(w)\n}\n\nfn f(w: f32[3]) -> f32[3] {\n    grad(loss, wrt = w)(w)\n}",
    },
    fix: "Leave the parameter out, use it, or ask for zeros: `wrt = (zero_ok w)`, `mind grad --zero-ok`.",
};
