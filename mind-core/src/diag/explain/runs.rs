//! E6xxx: errors when programs run.

use super::explanation::{Example, ExampleInput, Explanation, RESERVED};

pub(super) const E6001: Explanation = Explanation {
    text: "An index of `gather`, of `take_along`, of `x[i]` or of a method of `Tensor` such as `row` is negative, or \
           not less than the extent of its axis. Indices are checked before anything is written.",
    example: Example::Run {
        program: "fn pick(i: i64) -> f32 {\n    gather([0.5, 1.5, 2.5], i)\n}",
        wrong: &[ExampleInput { name: "i", shape: &[], value: 7.0 }],
        right: &[ExampleInput { name: "i", shape: &[], value: 2.0 }],
    },
    fix: "Give indices from 0 to the number of rows minus 1.",
};

pub(super) const E6002: Explanation = Explanation {
    text: "The requested backend is not available: `mind run --on xla` found no plugin, a file that is not a plugin, \
           a plugin of another version, or one with fewer devices than the mesh.",
    example: Example::Words("It depends on the machine: `mind run f.mind --on xla` without a plugin."),
    fix: "Give a plugin with `--plugin` or the variable `MIND_PJRT_PLUGIN`. `mind xla --help` says where to get one, \
          and `mind xla devices` lists its devices.",
};

pub(super) const E6003: Explanation = Explanation {
    text: "The backend does not support the operation. The kernels read arrays of `ndarray` without a copy, so such an \
           array must be contiguous and row-major.",
    example: Example::Words(
        "It depends on the array: a function of `mind!` is called with `a.t()` of an `ndarray` matrix.",
    ),
    fix: "Copy the array to standard layout: `a.as_standard_layout()`.",
};

pub(super) const E6004: Explanation = Explanation {
    text: "Memory for a tensor cannot be allocated, or its size overflows a machine word. Other causes are a \
           workspace that is too small, and an interpreter run that exceeds its memory limit.",
    example: Example::Run {
        program: "fn square<N>(x: f32[N]) -> f32[N, N] {\n    broadcast_to(x, [N, N])\n}",
        wrong: &[ExampleInput { name: "x", shape: &[100_000], value: 1.0 }],
        right: &[ExampleInput { name: "x", shape: &[100], value: 1.0 }],
    },
    fix: "Work on smaller parts. Use `Workspace::new()`, which grows, or a workspace of `peak_bytes` bytes. Raise the \
          limit of `mind run` with `--memory 8G`.",
};

pub(super) const E6005: Explanation = Explanation {
    text: "A number overflowed its type in a place that checks for overflow.",
    example: RESERVED,
    fix: "Use a wider type.",
};

pub(super) const E6009: Explanation = Explanation {
    text: "Extents known only at run time contradict the signature: one symbol would have two extents, or an extent \
           differs from a written number or violates a declared bound. Extents are checked before anything is \
           written.",
    example: Example::Run {
        program: "fn product<N>(a: f32[N], b: f32[N]) -> f32 {\n    sum(a * b)\n}",
        wrong: &[
            ExampleInput { name: "a", shape: &[3], value: 1.0 },
            ExampleInput { name: "b", shape: &[4], value: 1.0 },
        ],
        right: &[
            ExampleInput { name: "a", shape: &[3], value: 1.0 },
            ExampleInput { name: "b", shape: &[3], value: 1.0 },
        ],
    },
    fix: "Give tensors with the shapes that the signature requires.",
};

pub(super) const E6010: Explanation = Explanation {
    text: "An integer was divided by zero, a `while` did not end within its limit, or the `try_` form of a function met \
           a matrix that is singular or not positive definite. Nothing was written. `mind run` also reports the code \
           for a call of a Rust function, a NaN that `--check nan` found, and a failure of the plugin of `--on xla`. \
           In Knossos, the code also reports a failed assertion, a recursion that is too deep, a \
           negative size, the maximum of no elements, and a call of a function that is declared but not defined. `mind \
           ks check --rules` reports it if the two sides of a rule differ.",
    example: Example::Knossos {
        wrong: "(def main Integer () (div 1 0))",
        right: "(def main Integer () (div 1 1))",
    },
    fix: "Correct the place that the message names.",
};

pub(super) const E6011: Explanation = Explanation {
    text: "The temporaries of a function or of its gradient need more memory than `#[memory(max = …)]` allows. It is an \
           error of the compiler if all extents are known, and no gradient that recomputes values needs less. \
           Otherwise a call fails before anything is written.",
    example: Example::Program {
        wrong: "#[memory(max = \"1 KiB\")]\nfn f(x: f32[64, 64]) -> f32[64] {\n    sum(x @ x, axis = 0)\n}",
        right: "#[memory(max = \"16 KiB\")]\nfn f(x: f32[64, 64]) -> f32[64] {\n    sum(x @ x, axis = 0)\n}",
    },
    fix: "Raise the bound, or work on smaller parts. If the extents are known at run time only, call parts of a \
          differentiated function as `checkpoint(f)(x)`.",
};
