//! The operand as it is, and something beside that is done with it.

use super::{
    Attribute, Derivative, Field, FieldKind, KERNEL, Make, OpInfo, Profile,
    fields::not_these_fields,
    rules::foreign,
    sample::{Case, Sampling},
};
use crate::ir::{Effect, Op};

rows! {
    Effect:
    Effect::Inspect { .. } => INSPECT,
}

/// `Inspect(x; label)`: the operand, which whoever runs the program is shown; an extension.
///
/// - **Shape**: that of the operand.
/// - **Dtype**: that of the operand.
/// - **Semantics**: the operand to the bit. Each time that the program runs, label, shape and elements are passed on: by a
///   compiled program to the callback of the thread, or printed; by the interpreter to its caller. Instructions that show
///   do so in their order, each as often as it is there: none is left out, whether its result is needed or not, and no two
///   are one. A derivative begins with a copy of the primal, so that it shows what the primal shows, once.
/// - **Error**: none: the value to the bit.
/// - **Derivative**: the cotangent as it is, which is not shown.
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
        let Op::Effect(Effect::Inspect { label }) = op else { foreign(op) };
        [Some(Attribute::Text(label.clone())), None, None]
    },
    make: Make::Of(|attributes| {
        let [Some(Attribute::Text(label)), None, None] = attributes else { not_these_fields() };
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
