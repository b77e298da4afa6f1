//! E6xxx: errors when programs run.

use super::explanation::{Example, Explanation, Given, RESERVED};

pub(super) const E6001: Explanation = Explanation {
    text: "An index of `gather`, of `take_along` or of a method of `Tensor` as `row` is negative, or not below the extent that it is along. It is checked before anything is written.",
    example: Example::Run {
        program: "fn pick(i: i64) -> f32 {\n    gather([0.5, 1.5, 2.5], i)\n}",
        wrong: &[Given { name: "i", shape: &[], value: 7.0 }],
        right: &[Given { name: "i", shape: &[], value: 2.0 }],
    },
    fix: "Give indices from 0 to the number of rows less 1.",
};

pub(super) const E6002: Explanation = Explanation {
    text: "The backend that was asked for is not there: `mind run --on xla` was told of no plugin, of what is none, of a plugin \
           of another version, or of one with fewer devices than the mesh has.",
    example: Example::Words(
        "It depends on the machine: `mind run f.mind --on xla` where no plugin is named.",
    ),
    fix: "Name a plugin by `--plugin` or the variable `MIND_PJRT_PLUGIN`; `mind xla --help` says where to get one, and `mind xla \
          devices` shows what it has.",
};

pub(super) const E6003: Explanation = Explanation {
    text: "The backend does not have the operation.",
    example: RESERVED,
    fix: "Use another backend, or write the operation in others.",
};

pub(super) const E6004: Explanation = Explanation {
    text: "Memory for a tensor cannot be had, or its size does not fit a machine word; or a workspace that was given is \
           too small; or a run of an interpreter would take more than it may.",
    example: Example::Run {
        program: "fn square<N>(x: f32[N]) -> f32[N, N] {\n    broadcast_to(x, [N, N])\n}",
        wrong: &[Given { name: "x", shape: &[100_000], value: 1.0 }],
        right: &[Given { name: "x", shape: &[100], value: 1.0 }],
    },
    fix: "Work on smaller parts; give `Workspace::new()`, which grows, or a workspace of `peak_bytes` bytes; let `mind run` \
          take more with `--memory 8G`.",
};

pub(super) const E6005: Explanation = Explanation {
    text: "A number left the range of its type where that is checked.",
    example: RESERVED,
    fix: "Use a wider type.",
};

pub(super) const E6009: Explanation = Explanation {
    text: "Extents that only run time knows contradict the declaration: one symbol would have two extents, or a written \
           extent or a bound is not kept. It is checked before anything is written.",
    example: Example::Run {
        program: "fn product<N>(a: f32[N], b: f32[N]) -> f32 {\n    sum(a * b)\n}",
        wrong: &[Given { name: "a", shape: &[3], value: 1.0 }, Given { name: "b", shape: &[4], value: 1.0 }],
        right: &[Given { name: "a", shape: &[3], value: 1.0 }, Given { name: "b", shape: &[3], value: 1.0 }],
    },
    fix: "Give tensors of the shapes that the signature asks for.",
};

pub(super) const E6010: Explanation = Explanation {
    text: "An integer was divided by zero, or the plugin of `mind run --on xla` failed. Nothing was written. In Knossos an \
           assertion, too deep a recursion, a negative size, the maximum of nothing and a function that is declared and not \
           defined fail so too. So does `mind ks check --rules` where the sides of a rule differ.",
    example: Example::Knossos {
        wrong: "(def main Integer () (div 1 0))",
        right: "(def main Integer () (div 1 1))",
    },
    fix: "See what the message names.",
};
