//! Threefry-2x32 with 20 rounds (Salmon et al., *Parallel Random Numbers: As Easy as 1, 2, 3*, 2011), without a loop, so
//! that LLVM computes a register of counters at a time, in lanes of 32 bits.

/// The bits of a counter. The upper half of each operand is the first word of the algorithm.
#[inline(always)]
pub(super) fn bits(key: u64, counter: u64) -> u64 {
    let keys = [(key >> 32) as u32, key as u32];
    let [first, second] = words(keys, [(counter >> 32) as u32, counter as u32]);
    u64::from(first) << 32 | u64::from(first ^ second)
}

#[inline(always)]
fn words([k0, k1]: [u32; 2], [c0, c1]: [u32; 2]) -> [u32; 2] {
    let k2 = 0x1bd1_1bda ^ k0 ^ k1;
    let words = [c0.wrapping_add(k0), c1.wrapping_add(k1)];
    let words = inject(even(words), k1, k2.wrapping_add(1));
    let words = inject(odd(words), k2, k0.wrapping_add(2));
    let words = inject(even(words), k0, k1.wrapping_add(3));
    let words = inject(odd(words), k1, k2.wrapping_add(4));
    inject(even(words), k2, k0.wrapping_add(5))
}

/// The even groups of rounds.
#[inline(always)]
fn even(words: [u32; 2]) -> [u32; 2] {
    round(round(round(round(words, 13), 15), 26), 6)
}

/// The odd groups of rounds.
#[inline(always)]
fn odd(words: [u32; 2]) -> [u32; 2] {
    round(round(round(round(words, 17), 29), 16), 24)
}

#[inline(always)]
fn round([a, b]: [u32; 2], by: u32) -> [u32; 2] {
    let a = a.wrapping_add(b);
    [a, b.rotate_left(by) ^ a]
}

/// Adds words of the key.
#[inline(always)]
fn inject([a, b]: [u32; 2], to_a: u32, to_b: u32) -> [u32; 2] {
    [a.wrapping_add(to_a), b.wrapping_add(to_b)]
}
