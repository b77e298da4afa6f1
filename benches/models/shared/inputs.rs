//! Inputs and parameters that are the same in every library; `python/inputs.py` has the same functions.

/// Numbers between -`scale` and `scale`, which fit in 24 bits, so that every library computes the same ones.
pub fn numbers(seed: u32, count: usize, scale: f32) -> Vec<f32> {
    (0..count).map(|at| ((hash(seed, at) >> 8) as f32 / 8_388_608.0 - 1.0) * scale).collect()
}

/// Integers from 0 to `below`, exclusive.
pub fn integers(seed: u32, count: usize, below: u32) -> Vec<u32> {
    (0..count).map(|at| hash(seed, at) % below).collect()
}

/// The pictures of a batch of `vae`: 64 with 64 pixels, which have 17 levels of ink from 0 to 1.
pub fn pictures(number: u32) -> Vec<f32> {
    integers(5000 + number, 64 * 64, 17).into_iter().map(|level| level as f32 / 16.0).collect()
}

/// The noise of a batch of `vae`: 8 numbers for each picture, from a uniform distribution of variance 1.
pub fn noise(number: u32) -> Vec<f32> {
    numbers(6000 + number, 64 * 8, 3_f32.sqrt())
}

/// The elements of the parameter number `index`. Those of a norm's scale and variance are near 1, all others near 0.
pub fn parameter(name: &str, index: u32, count: usize) -> Vec<f32> {
    let field = name.rsplit('.').next().unwrap_or(name);
    let (mean, scale) =
        if field.starts_with("scale") || field == "variance" { (1.0, 0.1) } else { (0.0, 0.08) };
    numbers(index, count, scale).into_iter().map(|number| mean + number).collect()
}

/// The root of the sum of squares of all parameters.
pub fn norm<'a>(parameters: impl IntoIterator<Item = &'a [f32]>) -> f32 {
    let squares = parameters.into_iter().flatten().map(|element| f64::from(*element).powi(2));
    squares.sum::<f64>().sqrt() as f32
}

/// The hash lowbias32 of Chris Wellons, for one element of the sequence that belongs to `seed`.
fn hash(seed: u32, at: usize) -> u32 {
    let mut x = (at as u32).wrapping_add(seed.wrapping_mul(0x9e37_79b9));
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}
