//! Threefry-2x32 with 20 rounds (Salmon et al., *Parallel Random Numbers: As Easy as 1, 2, 3*, 2011), in lanes of 32
//! bits.

/// The bits of a counter. The upper half of each operand is the first word of the algorithm. There is no loop, so that
/// LLVM computes a register of counters at a time.
#[inline(always)]
pub(super) fn bits(key: u64, counter: u64) -> u64 {
    let (first, [a, b, c, d, e]) = schedule(key);
    let words = plus(halves(counter), first);
    joined(even(odd(even(odd(even(words, a), b), c), d), e))
}

/// The words of consecutive counters. Each group of rounds is a loop over all of them: a processor then finds enough
/// operations that do not wait for each other, of which a single counter has only two.
#[inline(always)]
pub(in crate::kernels) fn words_of_lanes<const LANES: usize>(
    key: u64,
    counter: u64,
    a: &mut [[u32; LANES]],
    b: &mut [[u32; LANES]],
) {
    let (first, groups) = schedule(key);
    let [upper, lower] = halves(counter);
    for (block, (a, b)) in a.iter_mut().zip(&mut *b).enumerate() {
        for lane in 0..LANES {
            let low = lower.wrapping_add((block * LANES + lane) as u32);
            [a[lane], b[lane]] = plus([upper.wrapping_add(u32::from(low < lower)), low], first);
        }
    }
    let [first, second, third, fourth, fifth] = groups;
    each(a, b, |words| even(words, first));
    each(a, b, |words| odd(words, second));
    each(a, b, |words| even(words, third));
    each(a, b, |words| odd(words, fourth));
    each(a, b, |words| even(words, fifth));
}

#[inline(always)]
fn each<const LANES: usize>(
    a: &mut [[u32; LANES]],
    b: &mut [[u32; LANES]],
    group: impl Fn([u32; 2]) -> [u32; 2],
) {
    for (a, b) in a.iter_mut().zip(b) {
        for (a, b) in a.iter_mut().zip(b) {
            [*a, *b] = group([*a, *b]);
        }
    }
}

/// The result for both words of a counter.
#[inline(always)]
pub(in crate::kernels) fn joined([first, second]: [u32; 2]) -> u64 {
    u64::from(first) << 32 | u64::from(first ^ second)
}

#[inline(always)]
fn halves(words: u64) -> [u32; 2] {
    [(words >> 32) as u32, words as u32]
}

/// The words of the key that are added before the first group of rounds, and after each group.
#[inline(always)]
fn schedule(key: u64) -> ([u32; 2], [[u32; 2]; 5]) {
    let [k0, k1] = halves(key);
    let k2 = 0x1bd1_1bda ^ k0 ^ k1;
    let after = [
        [k1, k2.wrapping_add(1)],
        [k2, k0.wrapping_add(2)],
        [k0, k1.wrapping_add(3)],
        [k1, k2.wrapping_add(4)],
        [k2, k0.wrapping_add(5)],
    ];
    ([k0, k1], after)
}

/// The even groups of rounds.
#[inline(always)]
fn even(words: [u32; 2], after: [u32; 2]) -> [u32; 2] {
    plus(round(round(round(round(words, 13), 15), 26), 6), after)
}

/// The odd groups of rounds.
#[inline(always)]
fn odd(words: [u32; 2], after: [u32; 2]) -> [u32; 2] {
    plus(round(round(round(round(words, 17), 29), 16), 24), after)
}

#[inline(always)]
fn round([a, b]: [u32; 2], by: u32) -> [u32; 2] {
    let a = a.wrapping_add(b);
    [a, b.rotate_left(by) ^ a]
}

#[inline(always)]
fn plus([a, b]: [u32; 2], [c, d]: [u32; 2]) -> [u32; 2] {
    [a.wrapping_add(c), b.wrapping_add(d)]
}
