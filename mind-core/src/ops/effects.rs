//! Operations that return their operand and have an effect.

use super::{
    Attribute, Derivative, Field, FieldKind, KERNEL, Make, OpInfo, Profile,
    fields::{exactly, listed, not_these_fields},
    rules::wrong_row,
    sample::{Case, Sampling},
};
use crate::ir::{Effect, Op};

rows! {
    Effect:
    Effect::Inspect { .. } => INSPECT,
}

/// `Inspect(x; label)`: the operand, which the program also shows when it runs; an extension.
///
/// - **Shape**: the operand's.
/// - **Dtype**: the operand's.
/// - **Semantics**: returns the operand bit for bit and shows its label, shape and elements in each run of the program.
///   A compiled program passes them to the callback of the thread or prints them. The interpreter passes them to its
///   caller. `Inspect` instructions keep their order. None is removed, even if its result is unused, and no two are
///   merged. A derivative begins with a copy of the primal, so it shows the values of the primal once.
/// - **Error**: none: the value is kept bit for bit.
/// - **Derivative**: the cotangent, unchanged. It is not shown.
/// - **Constraints**: none.
/// - **Example**: `%1 = Inspect (%0) {label="h"} : f32[2, 3]`.
static INSPECT: OpInfo = OpInfo {
    name: "Inspect",
    mnemonic: "inspect",
    label: "inspect",
    profile: Profile::Extended,
    infer: |_, operands| Ok(operands[0].clone()),
    origin: |_, _, axis| Some((0, axis)),
    derivative: Derivative::Linear,
    fields: &[Field::place("label", FieldKind::Text)],
    attributes: |op| {
        let Op::Effect(Effect::Inspect { label }) = op else { wrong_row(op) };
        listed([Attribute::Text(label.clone())])
    },
    make: Make::Of(|attributes| {
        let [Attribute::Text(label)] = exactly(attributes) else { not_these_fields() };
        Op::Effect(Effect::Inspect { label })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let op = || Op::Effect(Effect::Inspect { label: "seen".into() });
            [&[][..], &[3], &[2, 1, 2]].map(|shape| Case::new(op(), dtype, &[shape])).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};
