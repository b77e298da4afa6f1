//! E5xxx: gradients.

use super::explanation::{Example, Explanation};
use crate::profile::Profile;

const CONVOLUTION: &str =
    "fn loss(x: f32[1, 4, 4, 1], w: f32[3, 3, 1, 1]) -> f32 {\n    sum(conv2d(x, w))\n}";

pub(super) const E5001: Explanation = Explanation {
    text: "An operation between the parameter and the output has no derivative in the profile of the gradient. Core \
           v1 has no derivative for division and convolution, which need operations that Core v1 lacks. It has none \
           for `stop_gradient` of a value that depends on an input: Core v1 does not have that operation, so \
           differentiating the gradient again would not stop at it. A module with `bool` or `u8` values has no \
           gradient in Core v1, which lacks these types. In every profile, a `while` without a limit on its steps has \
           no derivative, because the gradient keeps values of each step. In Knossos, a function without a body has \
           none.",
    example: Example::Gradient {
        wrong: (CONVOLUTION, Profile::CoreV1),
        right: (CONVOLUTION, Profile::Extended),
        wrt: "w",
    },
    fix: "Take the gradient in the profile `extended`, or use other operations. Give a `while` a limit, as in \
          `at most = 100`.",
};

pub(super) const E5002: Explanation = Explanation {
    text: "The generated gradient breaks a rule of the IR. This is a bug in the compiler, not in the program.",
    example: Example::Words("No program should report this code."),
    fix: "Report it, with the program.",
};

pub(super) const E5003: Explanation = Explanation {
    text: "While the gradient was constructed, a derivative rule used an axis that its value does not have.",
    example: Example::Words(
        "No verified program should report this code, unless an operation added by another crate has a wrong rule.",
    ),
    fix: "Correct the derivative rule of the operation that the message names.",
};

pub(super) const E5004: Explanation = Explanation {
    text: "Only a single number has a gradient. Here the output is a tensor, or there are several outputs, and no \
           cotangent is given. In Core v1, the code also means that the derivative of `slice` or `gather` does \
           not support a shape: the shape is symbolic, or the sliced or gathered axis has more than 2^24 positions, \
           which the derivative would have to list in a constant.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32[3] {\n    x * x\n}\n\nfn df(x: f32[3]) -> f32[3] {\n    grad(f, wrt = x)(x)\n}",
        right: "fn f(x: f32[3]) -> f32 {\n    sum(x * x)\n}\n\nfn df(x: f32[3]) -> f32[3] {\n    grad(f, wrt = x)(x)\n}",
    },
    fix: "Reduce the output to a number, or give a cotangent: `vjp(f, wrt = x)(x, c)`, `mind grad --cotangent`. For \
          an unsupported shape, use the profile `extended`.",
};

pub(super) const E5005: Explanation = Explanation {
    text: "The parameter is an integer, or the output does not depend on it in a differentiable way. The gradient \
           would be all zeros, which is rarely intended.",
    example: Example::Program {
        wrong: "fn loss(w: f32[3]) -> f32 {\n    sum(stop_gradient(w))\n}\n\n\
                fn f(w: f32[3]) -> f32[3] {\n    grad(loss, wrt = w)(w)\n}",
        right: "fn loss(w: f32[3]) -> f32 {\n    sum(w)\n}\n\nfn f(w: f32[3]) -> f32[3] {\n    grad(loss, wrt = w)(w)\n}",
    },
    fix: "Remove the parameter from `wrt`, use it, or ask for zeros: `wrt = (zero_ok w)`, `mind grad --zero-ok`.",
};
