//! E2xxx: names and types.

use super::explanation::{Example, Explanation};

pub(super) const E2001: Explanation = Explanation {
    text: "A value has another type than the one that is declared for it: the result of a function, an argument of a \
           call, a `let` with a type, or an input of a run.",
    example: Example::Program {
        wrong: "fn f(x: f32[32, 784], w: f32[784, 256]) -> f32[32, 784] {\n    relu(x @ w)\n}",
        right: "fn f(x: f32[32, 784], w: f32[784, 256]) -> f32[32, 256] {\n    relu(x @ w)\n}",
    },
    fix: "Declare the type that the value has, or compute what is declared.",
};

pub(super) const E2002: Explanation = Explanation {
    text: "Nothing has this name here: no parameter, `let`, function of the block or function of the language. On the \
           command line, no input of the program.",
    example: Example::Program {
        wrong: "fn f(logits: f32[32, 10]) -> f32 {\n    sum(exp(logit))\n}",
        right: "fn f(logits: f32[32, 10]) -> f32 {\n    sum(exp(logits))\n}",
    },
    fix: "Correct the name; the message names what is near it.",
};

pub(super) const E2003: Explanation = Explanation {
    text: "A type cannot be worked out from what is given. Most often a symbolic dimension stands in the result and in \
           no parameter, so that no call could say what it is. `mind convert --to stablehlo` needs an extent for each symbol.",
    example: Example::Program {
        wrong: "fn f<N>(x: f32[3]) -> f32[N] {\n    zeros([N])\n}",
        right: "fn f<N>(x: f32[N]) -> f32[N] {\n    zeros([N])\n}",
    },
    fix: "Give the symbol as a dimension of a parameter, or write the number; on the command line, give `--dim N=32`.",
};

pub(super) const E2004: Explanation = Explanation {
    text: "The operands have different element types. Tensors are converted only where it is written, as `f32(n)`; \
           literals take their type from what stands beside them, and `2` is an integer.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32[3] {\n    x * 2\n}",
        right: "fn f(x: f32[3]) -> f32[3] {\n    x * 2.0\n}",
    },
    fix: "Write the literal as the tensor's element type asks, or convert an operand, as `f32(n)`.",
};

pub(super) const E2005: Explanation = Explanation {
    text: "The operation does not take this element type: division, `mean`, `relu`, `exp` and `log` are for floats.",
    example: Example::Program {
        wrong: "fn f(x: i64[3]) -> i64 {\n    mean(x)\n}",
        right: "fn f(x: f64[3]) -> f64 {\n    mean(x)\n}",
    },
    fix: "Use a float tensor, or another operation.",
};

pub(super) const E2006: Explanation = Explanation {
    text: "A function of Knossos has several overloads, told apart by the types of their arguments, and none takes these. \
           Nothing is converted: `(add x 1)` of a Float needs `1.0`.",
    example: Example::Knossos {
        wrong: "(def scale Float ((x : Float) (n : Integer))\n  (add x n))",
        right: "(def scale Float ((x : Float) (n : Integer))\n  (add x (to_float n)))",
    },
    fix: "Call it with types that an overload takes; the message lists them.",
};

pub(super) const E2007: Explanation = Explanation {
    text: "A call has too few or too many arguments, names one that the function does not have, or gives one twice.",
    example: Example::Program {
        wrong: "fn dense(x: f32[2, 3], w: f32[3, 4], b: f32[4]) -> f32[2, 4] {\n    x @ w + b\n}\n\n\
                fn f(x: f32[2, 3], w: f32[3, 4]) -> f32[2, 4] {\n    dense(x, w)\n}",
        right: "fn dense(x: f32[2, 3], w: f32[3, 4], b: f32[4]) -> f32[2, 4] {\n    x @ w + b\n}\n\n\
                fn f(x: f32[2, 3], w: f32[3, 4], b: f32[4]) -> f32[2, 4] {\n    dense(x, w, b)\n}",
    },
    fix: "Give each parameter once, by position or by name.",
};

pub(super) const E2008: Explanation = Explanation {
    text: "A name is given twice where each must be its own: parameters, functions of a block, the names of one \
           pattern, the inputs to differentiate with respect to. A struct has the name of another type, such as `Vec`.",
    example: Example::Program {
        wrong: "fn f(x: f32[3], x: f32[4]) -> f32 {\n    sum(x)\n}",
        right: "fn f(x: f32[3], y: f32[4]) -> f32 {\n    sum(x) + sum(y)\n}",
    },
    fix: "Rename one of them.",
};

pub(super) const E2009: Explanation = Explanation {
    text: "Functions call each other in a circle. Calls are replaced by what they call, and a circle would have no end; \
           there is no recursion.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32[3] {\n    f(x) * 2.0\n}",
        right: "fn g(x: f32[3]) -> f32[3] {\n    exp(x)\n}\n\nfn f(x: f32[3]) -> f32[3] {\n    g(x) * 2.0\n}",
    },
    fix: "Break the circle that the message shows.",
};

pub(super) const E2010: Explanation = Explanation {
    text: "Something is assigned to that is no `&mut` parameter. Values never change; only parameters declared `&mut` \
           have a new value after a call.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32[3] {\n    let y = x + x;\n    y += x;\n    y\n}",
        right: "fn f(x: f32[3]) -> f32[3] {\n    let y = x + x;\n    let y = y + x;\n    y\n}",
    },
    fix: "Use `let` again, which may shadow, or declare the parameter `&mut`.",
};

pub(super) const E2011: Explanation = Explanation {
    text: "A lambda of Knossos is called or stored. There are no functions as values: a lambda may only be an argument of \
           a primitive that takes one, such as `build`, `fold` or `map`.",
    example: Example::Knossos {
        wrong: "(def f Integer (y : Integer)\n  (let (twice (lam (x : Integer) (add x x)))\n    (twice y)))",
        right: "(def twice Integer (x : Integer) (add x x))\n(def f Integer (y : Integer) (twice y))",
    },
    fix: "Make it a function.",
};
