//! Random number generators.

/// A source of random bits. Any closure that returns `u64` is one, so a generator of another crate needs no wrapper:
/// `&mut || rng.next_u64()`.
///
/// ```
/// use mind_rt::{Rng, Xoshiro256};
///
/// let mut one = Xoshiro256::new(7);
/// let mut same = Xoshiro256::new(7);
/// let mut counter = 0;
/// let mut closure = || {
///     counter += 1;
///     counter
/// };
/// assert_eq!(one.next_u64(), same.next_u64());
/// assert_eq!((closure.next_u64(), closure.next_u64()), (1, 2));
/// ```
pub trait Rng {
    /// The next 64 bits, each 0 or 1 with equal probability.
    fn next_u64(&mut self) -> u64;
}

impl<F: FnMut() -> u64> Rng for F {
    fn next_u64(&mut self) -> u64 {
        self()
    }
}

/// A generator of the crate [`rand_core`] as an [`Rng`].
///
/// ```
/// use mind_rt::{RandCore, Tensor};
/// use rand_core::{Infallible, TryRng};
///
/// struct Counter(u64);
///
/// impl TryRng for Counter {
///     type Error = Infallible;
///     fn try_next_u32(&mut self) -> Result<u32, Infallible> { self.try_next_u64().map(|bits| bits as u32) }
///     fn try_next_u64(&mut self) -> Result<u64, Infallible> {
///         self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
///         Ok(self.0)
///     }
///     fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
///         bytes.iter_mut().try_for_each(|byte| Ok(*byte = (self.try_next_u64()? >> 56) as u8))
///     }
/// }
///
/// let x: Tensor![f32; 2, 3] = Tensor::rand(&mut RandCore(Counter(1)));
/// assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
/// ```
#[cfg(feature = "rand_core")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandCore<R>(pub R);

#[cfg(feature = "rand_core")]
impl<R: rand_core::Rng> Rng for RandCore<R> {
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// The generator xoshiro256++ of D. Blackman and S. Vigna (<https://doi.org/10.1145/3460772>). It generates the same
/// numbers on every machine. It is not cryptographically secure.
///
/// ```
/// use mind_rt::{Initialiser, Tensor, Xoshiro256};
///
/// let mut w: Tensor![f32; 64, 32] = Tensor::zeros();
/// Initialiser::HeUniform.fill(&mut w, &mut Xoshiro256::new(1));
/// assert!(w.iter().all(|w| w.abs() <= (6.0_f32 / 64.0).sqrt()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xoshiro256 {
    state: [u64; 4],
}

impl Xoshiro256 {
    /// A generator determined by `seed`, which SplitMix64 expands as the authors recommend.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut at = seed;
        let state = std::array::from_fn(|_| {
            at = at.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (at ^ (at >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        });
        Self { state }
    }
}

impl Rng for Xoshiro256 {
    fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let next = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_reference() {
        // The state and the numbers with which the `rand_xoshiro` crate checks the reference implementation.
        let mut random = Xoshiro256 { state: [1, 2, 3, 4] };
        let expected = [41943041, 58720359, 3588806011781223, 3591011842654386];
        assert_eq!(expected.map(|_| random.next_u64()), expected);
    }

    #[test]
    fn seeds_differ_and_none_is_stuck() {
        assert_ne!(Xoshiro256::new(0).next_u64(), Xoshiro256::new(1).next_u64());
        let mut random = Xoshiro256::new(0);
        let ones: u32 = (0..10_000).map(|_| random.next_u64().count_ones()).sum();
        assert!((319_000..321_000).contains(&ones), "{ones} of 640000");
    }
}
