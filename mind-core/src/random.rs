//! Random numbers that are the same on every machine.

/// A generator of random numbers: splitmix64, or first the bytes that a fuzzer chose.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    /// What is left of the bytes, the next one last.
    choices: Vec<u8>,
}

impl Random {
    /// The generator that this seed starts.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed, choices: Vec::new() }
    }

    /// The generator whose first choices are these bytes, one each, so that changing a byte changes a choice.
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

    /// One of these.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// True once in `of` times.
    pub fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}
