//! Loops over a contiguous axis in blocks whose sums stay in registers.

use crate::kernels::number::Number;

/// Runs the body for blocks that cover `0..len`. `$start` is the first position of a block, and the constant `$width`
/// its width: 16 while 16 positions are left, then 4, then 1.
macro_rules! for_each_block {
    ($len:expr, |$start:ident, $width:ident| $body:expr) => {{
        let len: usize = $len;
        let mut $start = 0;
        while $start + 16 <= len {
            const $width: usize = 16;
            $body;
            $start += 16;
        }
        while $start + 4 <= len {
            const $width: usize = 4;
            $body;
            $start += 4;
        }
        while $start < len {
            const $width: usize = 1;
            $body;
            $start += 1;
        }
    }};
}
pub(crate) use for_each_block;

/// `sums += factor * row`, lane by lane.
#[inline(always)]
pub fn multiply_add<T: Number, const W: usize>(sums: &mut [T; W], factor: T, row: &[T; W]) {
    for lane in 0..W {
        sums[lane] = sums[lane].plus(factor.times(row[lane]));
    }
}
