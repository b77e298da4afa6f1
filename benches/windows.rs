//! Times the kernels of convolutions and pools, with their derivatives, for the layers of known networks.
//!
//! Run `cargo bench -p mind-benches --bench windows`. Words after `--` select rows. The environment variable `THREADS` sets
//! the number of threads, which is 1 otherwise. `peers/windows.py` has the same rows in PyTorch and JAX. Times are in
//! milliseconds, and each is the shortest of many.

use std::time::{Duration, Instant};

use mind::__private::bare::rules::{self, Padding, Pooling, pool};
use mind::__private::bare::{
    Argument, DType, Type, conv2d, conv2d_grad_filter, conv2d_grad_input, depthwise, depthwise_grad_filter,
    depthwise_grad_input, max_pool, max_pool_grad, sum_pool, sum_pool_grad,
};

/// The time for which each call is repeated.
const PATIENCE: Duration = Duration::from_millis(400);

/// The layers of MobileNet: the extent and the channels.
const LAYERS: [[i64; 2]; 5] = [[112, 32], [56, 128], [28, 256], [14, 512], [7, 1024]];

/// A convolution of an image.
struct Convolution {
    /// The extents of the image, and its channels.
    image: [i64; 3],
    /// The extents of the filter, and the channels of the result.
    filter: [i64; 3],
    strides: [i64; 2],
    pad: i64,
}

/// Layers of ResNet-50 and of the feature extractor of wav2vec 2.0, whose images have one row.
const CONVOLUTIONS: [Convolution; 12] = [
    layer([224, 224, 3], [7, 7, 64], [2, 2], 3),
    layer([56, 56, 64], [1, 1, 256], [1, 1], 0),
    layer([56, 56, 64], [3, 3, 64], [1, 1], 1),
    layer([28, 28, 128], [3, 3, 128], [1, 1], 1),
    layer([28, 28, 512], [1, 1, 128], [1, 1], 0),
    layer([14, 14, 256], [3, 3, 256], [1, 1], 1),
    layer([14, 14, 1024], [1, 1, 256], [1, 1], 0),
    layer([7, 7, 512], [3, 3, 512], [1, 1], 1),
    layer([7, 7, 512], [1, 1, 2048], [1, 1], 0),
    layer([1, 4000, 1], [1, 10, 512], [1, 5], 0),
    layer([1, 799, 512], [1, 3, 512], [1, 2], 0),
    layer([1, 99, 512], [1, 2, 512], [1, 2], 0),
];

const fn layer(image: [i64; 3], filter: [i64; 3], strides: [i64; 2], pad: i64) -> Convolution {
    Convolution { image, filter, strides, pad }
}

fn main() {
    let threads = std::env::var("THREADS").ok().and_then(|threads| threads.parse().ok());
    mind::set_threads(threads.unwrap_or(1));
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let print = |name: String, times: &mut dyn FnMut() -> Vec<f64>| {
        if words.is_empty() || words.iter().any(|word| name.contains(word)) {
            let times: Vec<String> = times().into_iter().map(|time| format!("{time:.3}")).collect();
            println!("| {name} | {} |", times.join(" | "));
        }
    };
    println!("| convolution | forward | by the input | by the filter |");
    for Convolution { image, filter, strides, pad } in CONVOLUTIONS {
        let ([h, w, c], [kh, kw, features], [_, stride]) = (image, filter, strides);
        print(format!("{h}×{w}×{c}, {kh}×{kw} to {features}, stride {stride}"), &mut || {
            let pads = [[pad; 2]; 2];
            let padding = Padding::Pairs(&pads);
            let (x_ty, f_ty) = (of(&[1, h, w, c]), of(&[kh, kw, c, features]));
            let y_ty = rules::conv2d(x_ty, f_ty, &strides, padding).expect("it fits");
            let [x, dy, f] = [&x_ty, &y_ty, &f_ty].map(Numbers::new);
            let [mut dx, mut y, mut df] = [&x_ty, &y_ty, &f_ty].map(Numbers::new);
            let [x, dy, f] =
                [(&x, &x_ty), (&dy, &y_ty), (&f, &f_ty)].map(|(x, ty)| Argument::new(x.get(), ty));
            vec![
                least(|| conv2d(x, f, &strides, padding, &y_ty, y.get_mut())),
                least(|| conv2d_grad_input(dy, &x_ty, f, &strides, padding, dx.get_mut())),
                least(|| conv2d_grad_filter(dy, x, &f_ty, &strides, padding, df.get_mut())),
            ]
        });
    }
    println!("| depthwise 3×3 | forward | by the input | by the filter |");
    for ([extent, channels], stride) in LAYERS.iter().flat_map(|layer| [1, 2].map(|stride| (*layer, stride)))
    {
        print(format!("depthwise {extent}×{extent}×{channels}, stride {stride}"), &mut || {
            let [sizes, strides] = [[3; 2], [stride; 2]];
            let by = padded(&sizes, &strides, &[[1, 1]; 2]);
            let x_ty = of(&[1, extent, extent, channels]);
            let (y_ty, f_ty) = (pool(x_ty, by).expect("it fits"), of(&[3, 3, channels]));
            let [x, dy, f] = [&x_ty, &y_ty, &f_ty].map(Numbers::new);
            let [mut dx, mut y, mut df] = [&x_ty, &y_ty, &f_ty].map(Numbers::new);
            let [x, dy, f] =
                [(&x, &x_ty), (&dy, &y_ty), (&f, &f_ty)].map(|(x, ty)| Argument::new(x.get(), ty));
            vec![
                least(|| depthwise(x, f, by, y.get_mut())),
                least(|| depthwise_grad_input(dy, f, &x_ty, by, dx.get_mut())),
                least(|| depthwise_grad_filter(x, dy, by, df.get_mut())),
            ]
        });
    }
    println!("| pool | max | gradient | sum | gradient |");
    for (size, pad) in [(2, 0), (3, 1)] {
        for [images, extent] in [[1, 112], [8, 56]] {
            print(format!("pool {size}×{size} of {images}×{extent}×{extent}×64, stride 2"), &mut || {
                let [sizes, strides, pads] = [[size; 2], [2; 2], [pad; 2]];
                let pads = [pads; 2];
                let by = padded(&sizes, &strides, &pads);
                let x_ty = of(&[images, extent, extent, 64]);
                let y_ty = pool(x_ty, by).expect("it fits");
                let [x, dy] = [&x_ty, &y_ty].map(Numbers::new);
                let [mut dx, mut y] = [&x_ty, &y_ty].map(Numbers::new);
                let [x, dy] = [(&x, &x_ty), (&dy, &y_ty)].map(|(x, ty)| Argument::new(x.get(), ty));
                vec![
                    least(|| max_pool(x, by, y.get_mut())),
                    least(|| max_pool_grad(x, dy, by, dx.get_mut())),
                    least(|| sum_pool(x, by, y.get_mut())),
                    least(|| sum_pool_grad(dy, &x_ty, by, dx.get_mut())),
                ]
            });
        }
    }
}

fn of(extents: &[i64]) -> Type {
    Type::new(DType::F32, extents)
}

fn padded<'a>(sizes: &'a [i64], strides: &'a [i64], pads: &'a [[i64; 2]]) -> Pooling<'a> {
    Pooling { sizes, strides, dilations: &[1, 1], padding: Padding::Pairs(pads) }
}

/// Numbers that begin at a cache line, as those of tensors do.
struct Numbers {
    all: Vec<f32>,
    first: usize,
    len: usize,
}

impl Numbers {
    const LINE: usize = 16;

    fn new(ty: &Type) -> Self {
        let len = (0..ty.rank()).map(|axis| ty.extent(axis) as usize).product::<usize>();
        let number = |i: usize| (i.wrapping_mul(2_654_435_761) >> 7 & 0xffff) as f32 / 65536.0 - 0.5;
        let all: Vec<f32> = (0..len + Self::LINE).map(number).collect();
        let first = all.as_ptr().align_offset(Self::LINE * size_of::<f32>());
        Self { all, first, len }
    }

    fn get(&self) -> &[f32] {
        &self.all[self.first..][..self.len]
    }

    fn get_mut(&mut self) -> &mut [f32] {
        &mut self.all[self.first..][..self.len]
    }
}

/// The shortest time of a call, in milliseconds.
fn least(mut call: impl FnMut()) -> f64 {
    let (start, mut least) = (Instant::now(), Duration::MAX);
    while start.elapsed() < PATIENCE {
        let start = Instant::now();
        call();
        least = least.min(start.elapsed());
    }
    least.as_secs_f64() * 1e3
}
