//! Threefry-2x32 with 20 rounds (Salmon et al., *Parallel Random Numbers: As Easy as 1, 2, 3*, 2011): a function from a
//! key and a counter to random bits.

use super::Named;

/// The rotations of the even and of the odd groups of four rounds.
const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];

/// The parity of the key schedule.
const PARITY: u32 = 0x1bd1_1bda;

/// The reference. The halves of the operands are the words of the algorithm; the halves of the result are the first
/// word, and both words combined by exclusive or.
pub(super) fn reference(key: i64, counter: i64) -> i64 {
    let halves = |number: i64| [(number >> 32) as u32, number as u32];
    let [first, second] = halves(key);
    let keys = [first, second, PARITY ^ first ^ second];
    let mut words = halves(counter);
    words[0] = words[0].wrapping_add(keys[0]);
    words[1] = words[1].wrapping_add(keys[1]);
    for group in 0..5_u32 {
        for rotation in ROTATIONS[group as usize % 2] {
            words[0] = words[0].wrapping_add(words[1]);
            words[1] = words[1].rotate_left(rotation) ^ words[0];
        }
        let key = |after: u32| keys[(group + after) as usize % 3];
        words[0] = words[0].wrapping_add(key(1));
        words[1] = words[1].wrapping_add(key(2)).wrapping_add(group + 1);
    }
    i64::from(words[0]) << 32 | i64::from(words[0] ^ words[1])
}

/// The function as formulas on 64-bit integers that hold 32-bit words. Numbers are at most 255, so that every integer
/// type holds them.
pub(super) const FORMULA: &[Named] = &[
    ("s", "to_i64(16)"),
    ("byte", "s * s"),
    ("half", "byte * byte"),
    ("mask", "half * half - to_i64(1)"),
    ("k", "to_i64(key)"),
    ("c", "to_i64(counter)"),
    ("k0", "bit_and(shr(k, to_i64(32)), mask)"),
    ("k1", "bit_and(k, mask)"),
    ("odd", "((to_i64(27) * byte + to_i64(209)) * byte + to_i64(27)) * byte + to_i64(218)"),
    ("k2", "bit_xor(odd, bit_xor(k0, k1))"),
    ("a0", "bit_and(bit_and(shr(c, to_i64(32)), mask) + k0, mask)"),
    ("b0", "bit_and(bit_and(c, mask) + k1, mask)"),
    ("a1", "bit_and(a0 + b0, mask)"),
    ("b1", "bit_xor(bit_and(bit_or(shl(b0, to_i64(13)), shr(b0, to_i64(19))), mask), a1)"),
    ("a2", "bit_and(a1 + b1, mask)"),
    ("b2", "bit_xor(bit_and(bit_or(shl(b1, to_i64(15)), shr(b1, to_i64(17))), mask), a2)"),
    ("a3", "bit_and(a2 + b2, mask)"),
    ("b3", "bit_xor(bit_and(bit_or(shl(b2, to_i64(26)), shr(b2, to_i64(6))), mask), a3)"),
    ("a4", "bit_and(a3 + b3, mask)"),
    ("b4", "bit_xor(bit_and(bit_or(shl(b3, to_i64(6)), shr(b3, to_i64(26))), mask), a4)"),
    ("a5", "bit_and(a4 + k1, mask)"),
    ("b5", "bit_and(b4 + k2 + to_i64(1), mask)"),
    ("a6", "bit_and(a5 + b5, mask)"),
    ("b6", "bit_xor(bit_and(bit_or(shl(b5, to_i64(17)), shr(b5, to_i64(15))), mask), a6)"),
    ("a7", "bit_and(a6 + b6, mask)"),
    ("b7", "bit_xor(bit_and(bit_or(shl(b6, to_i64(29)), shr(b6, to_i64(3))), mask), a7)"),
    ("a8", "bit_and(a7 + b7, mask)"),
    ("b8", "bit_xor(bit_and(bit_or(shl(b7, to_i64(16)), shr(b7, to_i64(16))), mask), a8)"),
    ("a9", "bit_and(a8 + b8, mask)"),
    ("b9", "bit_xor(bit_and(bit_or(shl(b8, to_i64(24)), shr(b8, to_i64(8))), mask), a9)"),
    ("a10", "bit_and(a9 + k2, mask)"),
    ("b10", "bit_and(b9 + k0 + to_i64(2), mask)"),
    ("a11", "bit_and(a10 + b10, mask)"),
    ("b11", "bit_xor(bit_and(bit_or(shl(b10, to_i64(13)), shr(b10, to_i64(19))), mask), a11)"),
    ("a12", "bit_and(a11 + b11, mask)"),
    ("b12", "bit_xor(bit_and(bit_or(shl(b11, to_i64(15)), shr(b11, to_i64(17))), mask), a12)"),
    ("a13", "bit_and(a12 + b12, mask)"),
    ("b13", "bit_xor(bit_and(bit_or(shl(b12, to_i64(26)), shr(b12, to_i64(6))), mask), a13)"),
    ("a14", "bit_and(a13 + b13, mask)"),
    ("b14", "bit_xor(bit_and(bit_or(shl(b13, to_i64(6)), shr(b13, to_i64(26))), mask), a14)"),
    ("a15", "bit_and(a14 + k0, mask)"),
    ("b15", "bit_and(b14 + k1 + to_i64(3), mask)"),
    ("a16", "bit_and(a15 + b15, mask)"),
    ("b16", "bit_xor(bit_and(bit_or(shl(b15, to_i64(17)), shr(b15, to_i64(15))), mask), a16)"),
    ("a17", "bit_and(a16 + b16, mask)"),
    ("b17", "bit_xor(bit_and(bit_or(shl(b16, to_i64(29)), shr(b16, to_i64(3))), mask), a17)"),
    ("a18", "bit_and(a17 + b17, mask)"),
    ("b18", "bit_xor(bit_and(bit_or(shl(b17, to_i64(16)), shr(b17, to_i64(16))), mask), a18)"),
    ("a19", "bit_and(a18 + b18, mask)"),
    ("b19", "bit_xor(bit_and(bit_or(shl(b18, to_i64(24)), shr(b18, to_i64(8))), mask), a19)"),
    ("a20", "bit_and(a19 + k1, mask)"),
    ("b20", "bit_and(b19 + k2 + to_i64(4), mask)"),
    ("a21", "bit_and(a20 + b20, mask)"),
    ("b21", "bit_xor(bit_and(bit_or(shl(b20, to_i64(13)), shr(b20, to_i64(19))), mask), a21)"),
    ("a22", "bit_and(a21 + b21, mask)"),
    ("b22", "bit_xor(bit_and(bit_or(shl(b21, to_i64(15)), shr(b21, to_i64(17))), mask), a22)"),
    ("a23", "bit_and(a22 + b22, mask)"),
    ("b23", "bit_xor(bit_and(bit_or(shl(b22, to_i64(26)), shr(b22, to_i64(6))), mask), a23)"),
    ("a24", "bit_and(a23 + b23, mask)"),
    ("b24", "bit_xor(bit_and(bit_or(shl(b23, to_i64(6)), shr(b23, to_i64(26))), mask), a24)"),
    ("a25", "bit_and(a24 + k2, mask)"),
    ("b25", "bit_and(b24 + k0 + to_i64(5), mask)"),
    ("bits", "bit_or(shl(a25, to_i64(32)), bit_xor(a25, b25))"),
    ("y", "like(bits, key)"),
];

#[cfg(test)]
mod tests {
    use super::reference;

    /// The known answers of Random123, the authors' implementation.
    #[test]
    fn the_reference_gives_the_known_answers() {
        let packed = |words: [u32; 2]| (u64::from(words[0]) << 32 | u64::from(words[1])) as i64;
        for (key, counter, [first, second]) in [
            ([0, 0], [0, 0], [0x6b20_0159, 0x99ba_4efe]),
            ([u32::MAX; 2], [u32::MAX; 2], [0x1cb9_96fc, 0xbb00_2be7]),
            ([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3], [0xc492_3a9c, 0x483d_f7a0]),
        ] {
            assert_eq!(reference(packed(key), packed(counter)), packed([first, first ^ second]));
        }
    }
}
