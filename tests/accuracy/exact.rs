//! Sums with twice the digits, and the distance of results from them.

use mind::Element;

/// A sum of `f64` and its rounding error.
#[derive(Clone, Copy, Default)]
pub struct Exact {
    sum: f64,
    lost: f64,
    /// The sum of magnitudes.
    pub magnitude: f64,
}

impl Exact {
    /// Adds a number without loss, by Knuth's algorithm.
    pub fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        let of_x = sum - self.sum;
        self.lost += (self.sum - (sum - of_x)) + (x - of_x);
        self.sum = sum;
        self.magnitude += x.abs();
    }

    /// Adds a product. The fused operation gives its rounding error.
    pub fn add_product(&mut self, x: f64, y: f64) {
        let product = x * y;
        let magnitude = self.magnitude + product.abs();
        self.add(product);
        self.add(x.mul_add(y, -product));
        self.magnitude = magnitude;
    }

    /// The distance of `found` from the sum divided by `count`.
    pub fn distance(&self, found: f64, count: f64) -> f64 {
        ((found * count - self.sum) - self.lost).abs() / count
    }
}

/// A floating-point type.
pub trait Real: Element + Into<f64> {
    /// The distance from 1 to the next number.
    const EPSILON: f64;

    fn of(x: f64) -> Self;
}

impl Real for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;

    fn of(x: f64) -> Self {
        x as f32
    }
}

impl Real for f64 {
    const EPSILON: f64 = f64::EPSILON;

    fn of(x: f64) -> Self {
        x
    }
}

/// The numbers that tests add up.
#[derive(Clone, Copy, Debug)]
pub enum Numbers {
    /// All numbers are 0.1. Every rounding errs to the same side until the sum has twice as many binary digits.
    Constant,
    /// Random numbers of both signs, with magnitudes from almost 0 to 1.
    Random(u64),
}

impl Numbers {
    pub fn take<T: Real>(self, count: usize) -> Vec<T> {
        match self {
            Self::Constant => vec![T::of(0.1); count],
            Self::Random(seed) => {
                let mut random = Random(seed);
                (0..count).map(|_| T::of(random.number())).collect()
            }
        }
    }
}

/// The generator SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn number(&mut self) -> f64 {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        uniform * (1.0 / f64::from(1 << (self.next() % 8) as u32))
    }
}
