//! The precision of products and convolutions, and the type in which they are computed.

use crate::ty::DType;

/// The lowest precision in which an engine may compute matrix products and convolutions of `f32`.
///
/// Sums are accumulated in `f32`, and results are `f32`. Products of other element types and all other operations are
/// not affected. The attributes are those that JAX writes for its precisions of the same names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// `f32` throughout: `HIGHEST`.
    #[default]
    Highest,
    /// Operands may be rounded to 11 significant bits, as TF32 does: `HIGH`. JAX's `tensorfloat32`.
    Tf32,
    /// Operands may be rounded to 8 significant bits, as bfloat16 does: `DEFAULT`, and for matrix products the
    /// algorithm of JAX's preset `BF16_BF16_F32`. JAX's `bfloat16` is without the algorithm, which NVIDIA GPUs need
    /// to use bfloat16.
    Bf16,
}

/// The type of the operands of matrix products and convolutions of `f32`.
///
/// Arguments, sums and all other operations stay `f32`, as in training with mixed precision. Products of other element
/// types are not affected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compute {
    /// Operands stay `f32`. [`Precision`] says whether an engine may round them.
    #[default]
    F32,
    /// Operands are rounded to bfloat16 on every engine, and products are accumulated in `f32`.
    Bf16,
}

impl Precision {
    /// The name of the precision of an operand of this element type.
    pub(super) const fn of_operand(self, dtype: DType) -> &'static str {
        match (self, dtype) {
            (Self::Tf32, DType::F32) => "HIGH",
            (Self::Bf16, DType::F32) => "DEFAULT",
            (Self::Highest | Self::Tf32 | Self::Bf16, _) => "HIGHEST",
        }
    }

    /// The attribute with the algorithm of a matrix product, or nothing.
    pub(super) const fn algorithm(self, dtype: DType) -> &'static str {
        match (self, dtype) {
            (Self::Bf16, DType::F32) => {
                ", algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, \
                 lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, \
                 allow_imprecise_accumulation = false>"
            }
            (Self::Highest | Self::Tf32 | Self::Bf16, _) => "",
        }
    }
}
