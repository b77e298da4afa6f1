//! Splits the digits into training and test data, and augments them by small rotations and shifts.

use mind::Rng;

use crate::digits::{Digit, PIXELS, SIDE};

impl Digit {
    /// The digit turned by up to 0.2 radians and moved by up to 0.6 pixels, so that the network learns shapes instead
    /// of pixels.
    pub fn askew(&self, random: &mut Random) -> [f32; PIXELS] {
        let (sin, cos) = (0.2 * random.symmetric()).sin_cos();
        let (down, right) = (0.6 * random.symmetric(), 0.6 * random.symmetric());
        let centre = (SIDE as f32 - 1.0) / 2.0;
        std::array::from_fn(|pixel| {
            let (y, x) = ((pixel / SIDE) as f32 - centre, (pixel % SIDE) as f32 - centre);
            self.ink_at(cos * y - sin * x + centre + down, sin * y + cos * x + centre + right)
        })
    }

    /// The ink between pixels, by bilinear interpolation; 0 outside the picture.
    fn ink_at(&self, y: f32, x: f32) -> f32 {
        let pixel = |row: f32, column: f32| {
            let inside = |at: f32| (0.0..SIDE as f32).contains(&at);
            if inside(row) && inside(column) {
                self.pixels[row as usize * SIDE + column as usize]
            } else {
                0.0
            }
        };
        let (top, left) = (y.floor(), x.floor());
        let (below, right) = (y - top, x - left);
        let upper = (1.0 - right) * pixel(top, left) + right * pixel(top, left + 1.0);
        let lower = (1.0 - right) * pixel(top + 1.0, left) + right * pixel(top + 1.0, left + 1.0);
        (1.0 - below) * upper + below * lower
    }
}

/// Shuffles the digits and returns four fifths for training and one fifth for the test.
pub fn split(mut digits: Vec<Digit>, random: &mut Random) -> (Vec<Digit>, Vec<Digit>) {
    random.shuffle(&mut digits);
    let test = digits.split_off(digits.len() * 4 / 5);
    (digits, test)
}

/// The generator SplitMix64: the same numbers on every machine.
pub struct Random(pub u64);

impl Rng for Random {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl Random {
    /// A uniform pseudorandom number from -1 to 1.
    pub fn symmetric(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    /// Shuffles the items. All orders are equally likely, except for a bias below 2^-50.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, (self.next_u64() % (last as u64 + 1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::digits;

    #[test]
    fn the_split_is_fixed_disjoint_and_complete() {
        let digits = || digits::load(Path::new(digits::SHIPPED)).expect("the file is there");
        let (train, test) = split(digits(), &mut Random(1));
        assert_eq!((train.len(), test.len()), (1437, 360));
        assert_eq!((train.clone(), test.clone()), split(digits(), &mut Random(1)));
        let key = |digit: &Digit| (digit.pixels.map(f32::to_bits), digit.label);
        let (mut all, mut parts): (Vec<_>, Vec<_>) =
            (digits().iter().map(key).collect(), train.iter().chain(&test).map(key).collect());
        all.sort_unstable();
        parts.sort_unstable();
        assert_eq!(all, parts);
    }

    #[test]
    fn a_digit_askew_keeps_most_of_its_ink() {
        let digit =
            Digit { pixels: std::array::from_fn(|i| f32::from(u8::from((27..=36).contains(&i)))), label: 0 };
        let mut random = Random(5);
        for _ in 0..100 {
            let ink: f32 = digit.askew(&mut random).iter().sum();
            assert!((7.0..=10.5).contains(&ink), "{ink}");
        }
    }
}
