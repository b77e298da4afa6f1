//! Random numbers that are equal on every machine.

/// A generator of random numbers. It returns the bytes that a fuzzer chose first, if there are any, and then uses
/// splitmix64.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    /// The bytes that are left, the next one last.
    choices: Vec<u8>,
}

impl Random {
    /// A generator with this seed.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed, choices: Vec::new() }
    }

    /// A generator whose first choices are these bytes, one per choice, so that a changed byte changes one choice.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { state: 0, choices: bytes.iter().rev().copied().collect() }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        if let Some(choice) = self.choices.pop() {
            return choice.into();
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// A random element of `choices`.
    ///
    /// # Panics
    /// If `choices` is empty.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// Whether a random number below `of` is 0: true once in `of` times on average.
    pub fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}
