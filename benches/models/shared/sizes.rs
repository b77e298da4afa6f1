//! The sizes and parameters of both transformers, for libraries in which structs have no shapes.

/// The sizes of a transformer.
pub struct Sizes {
    /// The name of the table of tokens.
    pub tokens: &'static str,
    pub symbols: usize,
    pub places: usize,
    pub width: usize,
    pub inner: usize,
    pub layers: usize,
    pub heads: usize,
    /// The number of positions at the end of a text whose next token is scored.
    pub last: usize,
}

pub const GPT: Sizes = Sizes {
    tokens: "tokens",
    symbols: 65,
    places: 64,
    width: 128,
    inner: 512,
    layers: 6,
    heads: 4,
    last: 64,
};

pub const ADDITION: Sizes =
    Sizes { tokens: "symbols", symbols: 12, places: 11, width: 64, inner: 256, layers: 2, heads: 4, last: 4 };

impl Sizes {
    /// The names and extents of the parameters, in order. Those of blocks have a leading axis of blocks.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (width, inner) = (self.width, self.inner);
        let block: [(&str, &[usize]); 12] = [
            ("scale1", &[width]),
            ("bias1", &[width]),
            ("wq", &[width, width]),
            ("wk", &[width, width]),
            ("wv", &[width, width]),
            ("wo", &[width, width]),
            ("scale2", &[width]),
            ("bias2", &[width]),
            ("w1", &[width, inner]),
            ("b1", &[inner]),
            ("w2", &[inner, width]),
            ("b2", &[width]),
        ];
        let mut shapes = vec![
            (self.tokens.to_owned(), vec![self.symbols, width]),
            ("places".to_owned(), vec![self.places, width]),
        ];
        for (name, dims) in block {
            shapes.push((format!("blocks.{name}"), [&[self.layers], dims].concat()));
        }
        shapes.push(("scale".to_owned(), vec![width]));
        shapes.push(("bias".to_owned(), vec![width]));
        shapes.push(("head".to_owned(), vec![width, self.symbols]));
        shapes
    }
}

/// The texts of a batch without their last token, and without their first, in row-major order.
pub fn gpt_batch(number: u32) -> (Vec<u32>, Vec<u32>) {
    let texts = crate::inputs::integers(1000 + number, 8 * 65, 65);
    let from = |first: usize| texts.chunks(65).flat_map(|text| &text[first..first + 64]).copied().collect();
    (from(0), from(1))
}

/// Texts such as `123+456=975`, without the last symbol, and the answers, whose digits are in reverse order.
pub fn addition_batch(number: u32) -> (Vec<u32>, Vec<u32>) {
    let numbers = |seed| crate::inputs::integers(seed + number, 256, 1000);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for (a, b) in numbers(3000).into_iter().zip(numbers(4000)) {
        let digits = |n: u32| [n / 100, n / 10 % 10, n % 10];
        let sum = a + b;
        let answer = [sum % 10, sum / 10 % 10, sum / 100 % 10, sum / 1000];
        x.extend(digits(a));
        x.push(10);
        x.extend(digits(b));
        x.push(11);
        x.extend(&answer[..3]);
        y.extend(answer);
    }
    (x, y)
}

/// The learning rate of `addition` at step `t`: `optim::warmup_cosine(t, 3e-3, 50, 800)`.
pub fn addition_rate(t: f64) -> f64 {
    if t < 50.0 {
        3e-3 * t / 50.0
    } else {
        1.5e-3 * (1.0 + (std::f64::consts::PI * ((t - 50.0) / 750.0).min(1.0)).cos())
    }
}
