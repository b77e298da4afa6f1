//! Random initial weights for training.

use crate::element::ElementsMut;
use crate::parameters::Parameters;
use crate::random::Rng;

/// A distribution of initial weights, with mean 0 and a variance that keeps the scale of signals from layer to layer.
///
/// The variance depends on the fans of a tensor, counted as in Keras and JAX:
///
/// - For a matrix `[in, out]` the fans are `in` and `out`.
/// - For a filter `[kh, kw, cin, cout]` they are `kh * kw * cin` and `kh * kw * cout`. Any leading extents multiply
///   both.
/// - The leading axes of a stack of structs, such as `Block[12]`, do not count.
///
/// Numbers, tensors of rank 1 and tensors without floats are set to zero, since biases start at zero.
///
/// A normal distribution is cut off at two standard deviations, then scaled to the stated variance. Each element takes
/// one 64-bit random number.
///
/// ```
/// use mind_rt::{Initialiser, Tensor, Xoshiro256};
///
/// let mut w: Tensor![f64; 30, 70] = Tensor::zeros();
/// Initialiser::GlorotNormal.fill(&mut w, &mut Xoshiro256::new(1));
/// let variance = w.iter().map(|w| w * w).sum::<f64>() / w.len() as f64;
/// assert!((variance / (2.0 / 100.0) - 1.0).abs() < 0.1, "{variance}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Initialiser {
    /// Uniform within `±sqrt(6 / (fan_in + fan_out))`: for tanh and the logistic function
    /// (X. Glorot, Y. Bengio, 2010, <https://proceedings.mlr.press/v9/glorot10a.html>).
    GlorotUniform,
    /// Normal with variance `2 / (fan_in + fan_out)`.
    GlorotNormal,
    /// Uniform within `±sqrt(6 / fan_in)`: for relu (K. He et al., 2015, <https://arxiv.org/abs/1502.01852>).
    HeUniform,
    /// Normal with variance `2 / fan_in`.
    HeNormal,
}

/// The standard deviation of a standard normal variable cut off at ±2.
const DEVIATION_CUT: f64 = 0.879_625_661_034_239_8;
/// The probability that a standard normal variable is below -2.
const BELOW_CUT: f64 = 0.022_750_131_948_179_21;

impl Initialiser {
    /// Draws new values for all elements.
    pub fn fill<P: Parameters + ?Sized, R: Rng + ?Sized>(self, parameters: &mut P, random: &mut R) {
        parameters.visit_mut(&mut |part| {
            let variance = self.variance(part.dims.get(part.stacked..).unwrap_or_default());
            match (part.elements, variance) {
                (ElementsMut::F32(elements), Some(variance)) => {
                    elements.iter_mut().for_each(|element| *element = self.draw_f32(variance, random));
                }
                (ElementsMut::F64(elements), Some(variance)) => {
                    elements.iter_mut().for_each(|element| *element = self.draw_f64(variance, random));
                }
                (elements, _) => elements.clear(),
            }
        });
    }

    /// The variance for these extents; `None` for ranks below 2, and for fans of 0.
    fn variance(self, dims: &[usize]) -> Option<f64> {
        let [leading @ .., inputs, outputs] = dims else { return None };
        let field: f64 = leading.iter().map(|extent| *extent as f64).product();
        let (fan_in, fan_out) = (field * *inputs as f64, field * *outputs as f64);
        let fans = match self {
            Self::GlorotUniform | Self::GlorotNormal => fan_in + fan_out,
            Self::HeUniform | Self::HeNormal => fan_in,
        };
        (fans > 0.0).then_some(2.0 / fans)
    }

    fn draw_f32<R: Rng + ?Sized>(self, variance: f64, random: &mut R) -> f32 {
        match self {
            Self::GlorotUniform | Self::HeUniform => {
                let even = (random.next_u64() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0;
                (3.0 * variance).sqrt() as f32 * even
            }
            Self::GlorotNormal | Self::HeNormal => normal(variance, random) as f32,
        }
    }

    fn draw_f64<R: Rng + ?Sized>(self, variance: f64, random: &mut R) -> f64 {
        match self {
            Self::GlorotUniform | Self::HeUniform => {
                let even = (random.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
                (3.0 * variance).sqrt() * even
            }
            Self::GlorotNormal | Self::HeNormal => normal(variance, random),
        }
    }
}

/// A random number from a normal distribution cut off at two of its standard deviations. `variance` is the variance
/// after the cut.
fn normal<R: Rng + ?Sized>(variance: f64, random: &mut R) -> f64 {
    let even = ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let probability = BELOW_CUT + even * (1.0 - 2.0 * BELOW_CUT);
    variance.sqrt() / DEVIATION_CUT * quantile(probability)
}

/// Converts random bits to a number from the standard normal distribution.
pub(crate) fn standard_normal(bits: u64) -> f64 {
    // Both tails use the lower half of the quantiles: near 1 floats are less dense than near 0.
    let half = ((bits >> 12) as f64 + 0.5) / (1_u64 << 53) as f64;
    if bits & 1 == 0 { quantile(half) } else { -quantile(half) }
}

/// The quantile of the standard normal distribution, to about 16 digits, for a probability other than 0 and 1.
/// Algorithm AS 241 (M. Wichura, 1988, <https://doi.org/10.2307/2347330>).
fn quantile(probability: f64) -> f64 {
    const INNER: [[f64; 8]; 2] = [
        [
            3.387_132_872_796_366_5,
            1.331_416_678_917_843_8e2,
            1.971_590_950_306_551_3e3,
            1.373_169_376_550_946e4,
            4.592_195_393_154_987e4,
            6.726_577_092_700_87e4,
            3.343_057_558_358_813e4,
            2.509_080_928_730_122_7e3,
        ],
        [
            1.0,
            4.231_333_070_160_091e1,
            6.871_870_074_920_579e2,
            5.394_196_021_424_751e3,
            2.121_379_430_158_659_7e4,
            3.930_789_580_009_271e4,
            2.872_908_573_572_194_3e4,
            5.226_495_278_852_854e3,
        ],
    ];
    const OUTER: [[f64; 8]; 2] = [
        [
            1.423_437_110_749_683_5,
            4.630_337_846_156_546,
            5.769_497_221_460_691,
            3.647_848_324_763_204_5,
            1.270_458_252_452_368_4,
            2.417_807_251_774_506e-1,
            2.272_384_498_926_918_4e-2,
            7.745_450_142_783_414e-4,
        ],
        [
            1.0,
            2.053_191_626_637_759,
            1.676_384_830_183_803_8,
            6.897_673_349_851e-1,
            1.481_039_764_274_800_8e-1,
            1.519_866_656_361_645_7e-2,
            5.475_938_084_995_345e-4,
            1.050_750_071_644_416_9e-9,
        ],
    ];
    const OUTERMOST: [[f64; 8]; 2] = [
        [
            6.657_904_643_501_104,
            5.463_784_911_164_114,
            1.784_826_539_917_291_3,
            2.965_605_718_285_048_7e-1,
            2.653_218_952_657_612_3e-2,
            1.242_660_947_388_078_4e-3,
            2.711_555_568_743_487_6e-5,
            2.010_334_399_292_288_1e-7,
        ],
        [
            1.0,
            5.998_322_065_558_88e-1,
            1.369_298_809_227_358e-1,
            1.487_536_129_085_061_5e-2,
            7.868_691_311_456_133e-4,
            1.846_318_317_510_054_8e-5,
            1.421_511_758_316_446e-7,
            2.044_263_103_389_939_8e-15,
        ],
    ];
    let ratio = |[above, below]: &[[f64; 8]; 2], at: f64| {
        let polynomial = |terms: &[f64; 8]| terms.iter().rev().fold(0.0, |sum, term| sum * at + term);
        polynomial(above) / polynomial(below)
    };
    let middle = probability - 0.5;
    if middle.abs() <= 0.425 {
        return middle * ratio(&INNER, 0.180_625 - middle * middle);
    }
    let tail = (-probability.min(1.0 - probability).ln()).sqrt();
    let size = if tail <= 5.0 { ratio(&OUTER, tail - 1.6) } else { ratio(&OUTERMOST, tail - 5.0) };
    size.copysign(middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tensor, Xoshiro256};

    const ALL: [Initialiser; 4] = [
        Initialiser::GlorotUniform,
        Initialiser::GlorotNormal,
        Initialiser::HeUniform,
        Initialiser::HeNormal,
    ];

    /// The probability that a standard normal variable is below `x`, by Simpson's rule from 0.
    fn probability(x: f64) -> f64 {
        let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        let (steps, h) = (2000, x / 2000.0);
        let weight = |i: usize| if i == 0 || i == steps { 1.0 } else { [2.0, 4.0][i % 2] };
        0.5 + h / 3.0 * (0..=steps).map(|i| weight(i) * density(i as f64 * h)).sum::<f64>()
    }

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        assert!((probability(-2.0) - BELOW_CUT).abs() < 1e-14);
        for i in 0..=1000 {
            let p = BELOW_CUT + (1.0 - 2.0 * BELOW_CUT) * f64::from(i) / 1000.0;
            let error = (probability(quantile(p)) - p).abs();
            assert!(error < 1e-13, "{p}: {error:e}");
        }
    }

    #[test]
    fn quantiles_of_the_tails_are_those_of_the_normal_distribution() {
        // The probability of values above x, by the continued fraction of Mills' ratio.
        let beyond = |x: f64| {
            let fraction = (1..=200).rev().fold(x, |below, i| x + f64::from(i) / below);
            (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt() / fraction
        };
        for i in 30..=180 {
            let p = 0.5_f64.powf(f64::from(i) * 0.3);
            let error = beyond(-quantile(p)) / p - 1.0;
            assert!(error.abs() < 1e-13, "{p:e}: {error:e}");
            assert!((quantile(p) + quantile(1.0 - p)).abs() < 1e-3 || p < 1e-12);
        }
    }

    #[test]
    fn variances_and_bounds_are_those_of_the_papers() {
        for (initialiser, variance) in
            ALL.into_iter().zip([2.0 / 300.0, 2.0 / 300.0, 2.0 / 100.0, 2.0 / 100.0])
        {
            let mut w = Tensor::<f64, _>::zeros_with((100, 200));
            let mut v = Tensor::<f32, _>::zeros_with((100, 200));
            let mut random = Xoshiro256::new(3);
            initialiser.fill(&mut w, &mut random);
            initialiser.fill(&mut v, &mut random);
            let n = w.len() as f64;
            for values in [w.into_vec(), v.map(f64::from).into_vec()] {
                let mean = values.iter().sum::<f64>() / n;
                let found = values.iter().map(|w| w * w).sum::<f64>() / n;
                assert!(mean.abs() < 4.0 * (variance / n).sqrt(), "{initialiser:?}: mean {mean}");
                assert!((found / variance - 1.0).abs() < 0.03, "{initialiser:?}: variance {found}");
                let uniform = matches!(initialiser, Initialiser::GlorotUniform | Initialiser::HeUniform);
                let bound = if uniform { 3.0_f64.sqrt() } else { 2.0 / DEVIATION_CUT } * variance.sqrt();
                let largest = values.iter().fold(0.0, |largest: f64, w| largest.max(w.abs()));
                assert!(largest <= bound * (1.0 + 1e-6) && largest > 0.99 * bound, "{largest}, {bound}");
            }
        }
    }

    #[test]
    fn fans_of_filters_count_their_extent() {
        let filter = [3, 5, 4, 8];
        assert_eq!(Initialiser::HeNormal.variance(&filter), Some(2.0 / 60.0));
        assert_eq!(Initialiser::GlorotUniform.variance(&filter), Some(2.0 / (60.0 + 120.0)));
        assert_eq!(Initialiser::HeUniform.variance(&[0, 3]), None);
        assert_eq!(Initialiser::HeUniform.variance(&[3]), None);
    }

    #[test]
    fn biases_and_integers_start_at_zero_whatever_they_were() {
        let mut b = Tensor::<f32, _>::full_with((4,), 3.0);
        let mut n = Tensor::<i64, _>::full_with((4, 4), 3);
        let mut random = || 0_u64;
        Initialiser::HeNormal.fill(&mut b, &mut random);
        Initialiser::HeNormal.fill(&mut n, &mut random);
        assert_eq!((b, n), (Tensor::zeros_with((4,)), Tensor::zeros_with((4, 4))));
    }

    #[test]
    fn the_extremes_of_a_generator_are_finite() {
        for bits in [0, u64::MAX] {
            for initialiser in ALL {
                let mut w = Tensor::<f64, _>::zeros_with((2, 2));
                initialiser.fill(&mut w, &mut || bits);
                assert!(w.iter().all(|w| w.is_finite() && *w != 0.0), "{initialiser:?}: {w}");
            }
        }
    }
}
