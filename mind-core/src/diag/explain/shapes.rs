//! E3xxx: shapes.

use super::explanation::{Example, Explanation};

pub(super) const E3001: Explanation = Explanation {
    text: "Shapes are aligned at their last dimensions. Two aligned extents must be equal, or one of them must be 1. \
           Two symbols are equal only if they are the same symbol.",
    example: Example::Program {
        wrong: "fn f(x: f32[32, 256], b: f32[255]) -> f32[32, 256] {\n    x + b\n}",
        right: "fn f(x: f32[32, 256], b: f32[256]) -> f32[32, 256] {\n    x + b\n}",
    },
    fix: "Correct the shape that is wrong according to the message, or insert a dimension of 1, as in `x[.., _]`.",
};

pub(super) const E3002: Explanation = Explanation {
    text: "An operand has too many or too few dimensions for the operation.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3], y: f32[3]) -> f32[2] {\n    matmul(x, y)\n}",
        right: "fn f(x: f32[2, 3], y: f32[3]) -> f32[2] {\n    x @ y\n}",
    },
    fix: "Use an operation that accepts this rank (`@` and `dot` accept vectors, `matmul` does not), or change the \
          rank of the operand with `expand_dims`, `squeeze` or `reshape`.",
};

pub(super) const E3003: Explanation = Explanation {
    text: "Two dimensions that must be equal have different extents. For `x @ w` these are the last dimension of `x` \
           and the first of `w`, or the second to last of `w` if `w` has more than two.",
    example: Example::Program {
        wrong: "fn layer<N>(x: f32[N, 784], w: f32[785, 256]) -> f32[N, 256] {\n    x @ w\n}",
        right: "fn layer<N>(x: f32[N, 784], w: f32[784, 256]) -> f32[N, 256] {\n    x @ w\n}",
    },
    fix: "The message says where each extent comes from; check both places. Often a transpose (`w.T`) is missing.",
};

pub(super) const E3004: Explanation = Explanation {
    text: "The tensor does not have this axis. Axes are numbered from 0. In the language, negative axes count from \
           the end; Core IR and MIC do not have negative axes.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3]) -> f32[2] {\n    sum(x, axes = [2])\n}",
        right: "fn f(x: f32[2, 3]) -> f32[2] {\n    sum(x, axes = [1])\n}",
    },
    fix: "Give an axis that is less than the rank.",
};

pub(super) const E3005: Explanation = Explanation {
    text: "The same axis is given twice in a list of axes.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3]) -> f32 {\n    sum(x, axes = [1, 1])\n}",
        right: "fn f(x: f32[2, 3]) -> f32 {\n    sum(x, axes = [0, 1])\n}",
    },
    fix: "Remove one of them, or give the axis that was meant; `1` and `-1` can be the same axis.",
};

pub(super) const E3006: Explanation = Explanation {
    text: "A dimension would be 0 or negative. Tensors inside a program are never empty: a slice selects at least one \
           element, a window fits inside its image, and extents that are only known at run time are at least 1.",
    example: Example::Program {
        wrong: "fn f(x: f32[5]) -> f32 {\n    sum(x[3..3])\n}",
        right: "fn f(x: f32[5]) -> f32 {\n    sum(x[3..4])\n}",
    },
    fix: "Correct the bounds or the extent.",
};

pub(super) const E3007: Explanation = Explanation {
    text: "A reshape must keep the number of elements, and the new shape has a different number. For symbolic shapes, \
           the two products of extents must be equal as polynomials.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3]) -> f32[4] {\n    reshape(x, [4])\n}",
        right: "fn f(x: f32[2, 3]) -> f32[6] {\n    reshape(x, [6])\n}",
    },
    fix: "Correct the shape, or let one extent be inferred: `reshape(x, [-1])`.",
};

pub(super) const E3008: Explanation = Explanation {
    text: "A permutation must contain each axis exactly once.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3, 4]) -> f32[2, 3, 3] {\n    transpose(x, [0, 1, 1])\n}",
        right: "fn f(x: f32[2, 3, 4]) -> f32[2, 4, 3] {\n    transpose(x, [0, 2, 1])\n}",
    },
    fix: "List each axis from 0 to the rank minus 1 once. Without a permutation, `transpose` reverses all axes.",
};

pub(super) const E3009: Explanation = Explanation {
    text: "`squeeze` removes dimensions of extent 1. This dimension has another extent, or is a symbol that can have \
           another value.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 3]) -> f32[3] {\n    squeeze(x, axes = [0])\n}",
        right: "fn f(x: f32[1, 3]) -> f32[3] {\n    squeeze(x, axes = [0])\n}",
    },
    fix: "Give another axis, or remove this one by a reduction (`sum`) or an index.",
};

pub(super) const E3010: Explanation = Explanation {
    text: "The rows of a tensor literal have different lengths, or the literal does not have its declared shape.",
    example: Example::Program {
        wrong: "fn f(x: f32[2, 2]) -> f32[2, 2] {\n    x + [[1.0, 2.0], [3.0]]\n}",
        right: "fn f(x: f32[2, 2]) -> f32[2, 2] {\n    x + [[1.0, 2.0], [3.0, 4.0]]\n}",
    },
    fix: "Give every row the same number of elements.",
};

pub(super) const E3011: Explanation = Explanation {
    text: "An index or a bound of a range is outside its dimension. Indices go from 0 to the extent minus 1; in the \
           language, negative indices count from the end.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32 {\n    x[3]\n}",
        right: "fn f(x: f32[3]) -> f32 {\n    x[2]\n}",
    },
    fix: "Correct the index; the last element is `x[-1]`.",
};
