//! E3xxx: shapes.

use super::explanation::{Example, Explanation};

pub(super) const E3001: Explanation = Explanation {
    text: "Two shapes do not broadcast. They are aligned at their last dimensions; there, extents must be equal or one of \
           them 1. Two symbols are equal only if they are the same.",
    example: Example::Program {
        wrong: "fn f(x: f32[32, 256], b: f32[255]) -> f32[32, 256] {\n    x + b\n}",
        right: "fn f(x: f32[32, 256], b: f32[256]) -> f32[32, 256] {\n    x + b\n}",
    },
    fix: "Correct the shape that the message shows to be wrong, or insert a dimension of 1, as `x[.., _]`.",
};

pub(super) const E3002: Explanation = Explanation {
    text: "An operand has too many or too few dimensions for the operation.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3], y: f32[3]) -> f32[2] {\n    matmul(x, y)\n}",
        right: "fn f(x: f32[2, 3], y: f32[3]) -> f32[2] {\n    x @ y\n}",
    },
    fix: "Use the operation for this rank (`@` and `dot` take vectors, `matmul` does not), or `expand_dims`, `squeeze` or \
          `reshape` the operand.",
};

pub(super) const E3003: Explanation = Explanation {
    text: "Two dimensions that an operation pairs have different extents: in `x @ w` the last of `x` and the first of `w` \
           (the last but one, where `w` has more).",
    example: Example::Program {
        wrong: "fn layer<N>(x: f32[N, 784], w: f32[785, 256]) -> f32[N, 256] {\n    x @ w\n}",
        right: "fn layer<N>(x: f32[N, 784], w: f32[784, 256]) -> f32[N, 256] {\n    x @ w\n}",
    },
    fix: "Follow both extents to where the message says they come from; a transpose (`w.T`) is often missing.",
};

pub(super) const E3004: Explanation = Explanation {
    text: "An axis is named that the tensor does not have. Axes count from 0; in the language negative ones count from \
           the end, in Core IR and MIC they do not exist.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3]) -> f32[2] {\n    sum(x, axes = [2])\n}",
        right: "fn f(x: f32[2, 3]) -> f32[2] {\n    sum(x, axes = [1])\n}",
    },
    fix: "Name an axis below the rank.",
};

pub(super) const E3005: Explanation = Explanation {
    text: "An axis is named twice where each counts once.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3]) -> f32 {\n    sum(x, axes = [1, 1])\n}",
        right: "fn f(x: f32[2, 3]) -> f32 {\n    sum(x, axes = [0, 1])\n}",
    },
    fix: "Take one of them out, or name the other axis; `1` and `-1` may be the same.",
};

pub(super) const E3006: Explanation = Explanation {
    text: "A dimension would be 0 or less. Tensors inside a program are never empty, so a slice takes something, a window \
           fits its image, and extents that arrive at run time are at least 1.",
    example: Example::Program {
        wrong: "fn f(x: f32[5]) -> f32 {\n    sum(x[3..3])\n}",
        right: "fn f(x: f32[5]) -> f32 {\n    sum(x[3..4])\n}",
    },
    fix: "Correct the bounds or the extent.",
};

pub(super) const E3007: Explanation = Explanation {
    text: "A reshape has to keep the number of elements, and the new shape has another. For symbolic shapes both numbers \
           have to be equal as formulas.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3]) -> f32[4] {\n    reshape(x, [4])\n}",
        right: "fn f(x: f32[2, 3]) -> f32[6] {\n    reshape(x, [6])\n}",
    },
    fix: "Correct the shape, or let one extent be worked out: `reshape(x, [-1])`.",
};

pub(super) const E3008: Explanation = Explanation {
    text: "A permutation has to name each axis once.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3, 4]) -> f32[2, 3, 3] {\n    transpose(x, [0, 1, 1])\n}",
        right: "fn f(x: f32[2, 3, 4]) -> f32[2, 4, 3] {\n    transpose(x, [0, 2, 1])\n}",
    },
    fix: "Name each axis from 0 to the rank less 1 once; without a permutation all axes are reversed.",
};

pub(super) const E3009: Explanation = Explanation {
    text: "`squeeze` removes dimensions of extent 1, and this one is not, or is a symbol that need not be.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3]) -> f32[3] {\n    squeeze(x, axes = [0])\n}",
        right: "fn f(x: f32[1, 3]) -> f32[3] {\n    squeeze(x, axes = [0])\n}",
    },
    fix: "Name another axis, or reduce this one (`sum`, an index).",
};

pub(super) const E3010: Explanation = Explanation {
    text: "The rows of a tensor literal have different lengths, or the literal has not the shape that is declared for it.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 2]) -> f32[2, 2] {\n    x + [[1.0, 2.0], [3.0]]\n}",
        right: "fn f(x: f32[2, 2]) -> f32[2, 2] {\n    x + [[1.0, 2.0], [3.0, 4.0]]\n}",
    },
    fix: "Give every row the same number of elements.",
};

pub(super) const E3011: Explanation = Explanation {
    text: "An index or a bound of a range lies outside its dimension. Indices run from 0 to the extent less 1; in the \
           language negative ones count from the end.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32 {\n    x[3]\n}",
        right: "fn f(x: f32[3]) -> f32 {\n    x[2]\n}",
    },
    fix: "Correct the index; the last element is `x[-1]`.",
};
