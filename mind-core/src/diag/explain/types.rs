//! E2xxx: names and types.

use super::explanation::{Example, Explanation};

pub(super) const E2001: Explanation = Explanation {
    text: "A value has a different type than declared: the result of a function, an argument of a call, a `let` with \
           a type, or an input of a run.",
    example: Example::Program {
        wrong: "fn f(x: f32[32, 784], w: f32[784, 256]) -> f32[32, 784] {\n    relu(x @ w)\n}",
        right: "fn f(x: f32[32, 784], w: f32[784, 256]) -> f32[32, 256] {\n    relu(x @ w)\n}",
    },
    fix: "Declare the type that the value has, or compute a value of the declared type.",
};

pub(super) const E2002: Explanation = Explanation {
    text: "This name is not defined here. It is not a parameter, a `let`, a function of the block or a function of \
           the language; on the command line, it is not an input of the program.",
    example: Example::Program {
        wrong: "fn f(logits: f32[32, 10]) -> f32 {\n    sum(exp(logit))\n}",
        right: "fn f(logits: f32[32, 10]) -> f32 {\n    sum(exp(logits))\n}",
    },
    fix: "Correct the name; the message lists similar names.",
};

pub(super) const E2003: Explanation = Explanation {
    text: "A type cannot be inferred. Usually a symbolic dimension appears in the result but in no parameter, so a \
           call cannot determine it. `mind convert --to stablehlo` needs an extent for each symbol.",
    example: Example::Program {
        wrong: "fn f<N>(x: f32[3]) -> f32[N] {\n    zeros([N])\n}",
        right: "fn f<N>(x: f32[N]) -> f32[N] {\n    zeros([N])\n}",
    },
    fix: "Use the symbol as a dimension of a parameter, or write a number instead. On the command line, give `--dim \
          N=32`.",
};

pub(super) const E2004: Explanation = Explanation {
    text: "The operands have different element types. A tensor is converted only by an explicit conversion, as in \
           `f32(n)`. A literal takes its type from the other operand, but `2` is an integer and `2.0` a float.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32[3] {\n    x * 2\n}",
        right: "fn f(x: f32[3]) -> f32[3] {\n    x * 2.0\n}",
    },
    fix: "Write the literal in the tensor's element type, or convert an operand, as in `f32(n)`.",
};

pub(super) const E2005: Explanation = Explanation {
    text: "The operation does not support this element type. For example, `mean`, `relu`, `exp` and `log` need \
           floats.",
    example: Example::Program {
        wrong: "fn f(x: i64[3]) -> i64 {\n    mean(x)\n}",
        right: "fn f(x: f64[3]) -> f64 {\n    mean(x)\n}",
    },
    fix: "Use a float tensor, or another operation.",
};

pub(super) const E2006: Explanation = Explanation {
    text: "A function of Knossos has several overloads, which differ in the types of their arguments, and none \
           accepts these types. There are no implicit conversions: `(add x 1)` with a Float `x` needs `1.0`.",
    example: Example::Knossos {
        wrong: "(def scale Float ((x : Float) (n : Integer))\n  (add x n))",
        right: "(def scale Float ((x : Float) (n : Integer))\n  (add x (to_float n)))",
    },
    fix: "Call it with argument types that an overload accepts; the message lists the overloads.",
};

pub(super) const E2007: Explanation = Explanation {
    text: "A call has too few or too many arguments, names an argument that the function does not have, or gives one \
           twice.",
    example: Example::Program {
        wrong: "fn dense(x: f32[2, 3], w: f32[3, 4], b: f32[4]) -> f32[2, 4] {\n    x @ w + b\n}\n\n\
                fn f(x: f32[2, 3], w: f32[3, 4]) -> f32[2, 4] {\n    dense(x, w)\n}",
        right: "fn dense(x: f32[2, 3], w: f32[3, 4], b: f32[4]) -> f32[2, 4] {\n    x @ w + b\n}\n\n\
                fn f(x: f32[2, 3], w: f32[3, 4], b: f32[4]) -> f32[2, 4] {\n    dense(x, w, b)\n}",
    },
    fix: "Give each argument once, by position or by name.",
};

pub(super) const E2008: Explanation = Explanation {
    text: "A name is defined twice where names must be unique: parameters, functions of a block, the names in one \
           pattern, the inputs to differentiate with respect to. A struct with the name of another type, such as \
           `Vec`, is also an error.",
    example: Example::Program {
        wrong: "fn f(x: f32[3], x: f32[4]) -> f32 {\n    sum(x)\n}",
        right: "fn f(x: f32[3], y: f32[4]) -> f32 {\n    sum(x) + sum(y)\n}",
    },
    fix: "Rename one of them.",
};

pub(super) const E2009: Explanation = Explanation {
    text: "Every call is inlined, and inlining a cycle would never end, so recursion is not supported.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32[3] {\n    f(x) * 2.0\n}",
        right: "fn g(x: f32[3]) -> f32[3] {\n    exp(x)\n}\n\nfn f(x: f32[3]) -> f32[3] {\n    g(x) * 2.0\n}",
    },
    fix: "Break the cycle that the message shows.",
};

pub(super) const E2010: Explanation = Explanation {
    text: "The target of an assignment is not a `&mut` parameter. Values are immutable; only parameters declared \
           `&mut` have a new value after a call.",
    example: Example::Program {
        wrong: "fn f(x: f32[3]) -> f32[3] {\n    let y = x + x;\n    y += x;\n    y\n}",
        right: "fn f(x: f32[3]) -> f32[3] {\n    let y = x + x;\n    let y = y + x;\n    y\n}",
    },
    fix: "Shadow the name with another `let`, or declare the parameter `&mut`.",
};

pub(super) const E2011: Explanation = Explanation {
    text: "Functions of Knossos are not values: a lambda may only be an argument of a primitive that takes one, such \
           as `build`, `fold` or `map`.",
    example: Example::Knossos {
        wrong: "(def f Integer (y : Integer)\n  (let (twice (lam (x : Integer) (add x x)))\n    (twice y)))",
        right: "(def twice Integer (x : Integer) (add x x))\n(def f Integer (y : Integer) (twice y))",
    },
    fix: "Define a function instead.",
};
