//! Tiles of up to 4 rows by 2 vectors of 128 bits, which every x86-64 processor has. A product is rounded before it is
//! added.

use std::arch::x86_64::{
    __m128, __m128d, _mm_add_pd, _mm_add_ps, _mm_loadu_pd, _mm_loadu_ps, _mm_movehl_ps, _mm_movelh_ps,
    _mm_mul_pd, _mm_mul_ps, _mm_set1_pd, _mm_set1_ps, _mm_setzero_pd, _mm_setzero_ps, _mm_storeu_pd,
    _mm_storeu_ps, _mm_unpackhi_pd, _mm_unpackhi_ps, _mm_unpacklo_pd, _mm_unpacklo_ps,
};

use super::{
    Micro, RowSums, Scattered, Straight, Table, Tile, TileFn, Vector, by_vector, micro, transpose,
    vector_128::vector_128, whole,
};

vector_128!(__m128, f32, 4, _mm_setzero_ps(), _mm_set1_ps, _mm_loadu_ps, _mm_storeu_ps, |sum, x, y| {
    _mm_add_ps(sum, _mm_mul_ps(x, y))
});
vector_128!(__m128d, f64, 2, _mm_setzero_pd(), _mm_set1_pd, _mm_loadu_pd, _mm_storeu_pd, |sum, x, y| {
    _mm_add_pd(sum, _mm_mul_pd(x, y))
});

micro!(F32: __m128, f32, "sse2", [1 2 3 4] by [1 2],
    scattered [4 4 4 4 8 8 8 8], [2 2 4 4], Some(transpose_f32));
micro!(F64: __m128d, f64, "sse2", [1 2 3 4] by [1 2],
    scattered [4 4 4 4 8 8 8 8], [2 2 4 4], Some(transpose_f64));

transpose!(transpose_f32: __m128, f32, "sse2", 4, |square| {
    let [a, b, c, d] = square;
    let (ab, cd) = (
        [_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b)],
        [_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d)],
    );
    [
        _mm_movelh_ps(ab[0], cd[0]),
        _mm_movehl_ps(cd[0], ab[0]),
        _mm_movelh_ps(ab[1], cd[1]),
        _mm_movehl_ps(cd[1], ab[1]),
    ]
});

transpose!(transpose_f64: __m128d, f64, "sse2", 2, |square| {
    let [a, b] = square;
    [_mm_unpacklo_pd(a, b), _mm_unpackhi_pd(a, b)]
});
