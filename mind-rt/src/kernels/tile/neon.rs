//! Tiles of up to 8 rows by 3 vectors of 128 bits: 24 of the 32 registers hold sums.

use std::arch::aarch64::{
    float32x4_t, float64x2_t, vdupq_n_f32, vdupq_n_f64, vfmaq_f32, vfmaq_f64, vld1q_f32, vld1q_f64,
    vst1q_f32, vst1q_f64,
};

use super::{
    Micro, Rows, Scattered, Straight, Table, Tile, TileFn, Vector, by_vector, micro, vector_128::vector_128,
    whole,
};

vector_128!(float32x4_t, f32, 4, vdupq_n_f32(0.0), vdupq_n_f32, vld1q_f32, vst1q_f32, |sum, x, y| vfmaq_f32(
    sum, x, y
));
vector_128!(float64x2_t, f64, 2, vdupq_n_f64(0.0), vdupq_n_f64, vld1q_f64, vst1q_f64, |sum, x, y| vfmaq_f64(
    sum, x, y
));

micro!(F32: float32x4_t, f32, "neon", [1 2 3 4 5 6 7 8] by [1 2 3],
    scattered [2 2 4 4 6 6 8 8 10 10 12 12], [2 2 4 4 6 6 8 8 10 10 12 12], None);
micro!(F64: float64x2_t, f64, "neon", [1 2 3 4 5 6 7 8] by [1 2 3],
    scattered [2 2 4 4 6 6 8 8 10 10 12 12], [2 2 4 4 6 6 8 8 10 10 12 12], None);
