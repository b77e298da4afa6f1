use super::*;
use crate::SimdLevel;
use crate::parallel::tests::Threads;
use crate::simd::{run_at_most, simd_level};

const AXES: [PoolAxis; 9] = [
    PoolAxis { extent: 6, positions: 3, size: 2, stride: 2, dilation: 1, before: 0 },
    PoolAxis { extent: 13, positions: 13, size: 3, stride: 1, dilation: 1, before: 1 },
    PoolAxis { extent: 7, positions: 4, size: 3, stride: 2, dilation: 1, before: 1 },
    PoolAxis { extent: 5, positions: 7, size: 2, stride: 1, dilation: 3, before: 3 },
    PoolAxis { extent: 4, positions: 2, size: 1, stride: 3, dilation: 1, before: 0 },
    PoolAxis { extent: 19, positions: 4, size: 5, stride: 4, dilation: 2, before: 2 },
    PoolAxis { extent: 17, positions: 3, size: 4, stride: 6, dilation: 4, before: 3 },
    PoolAxis { extent: 11, positions: 4, size: 3, stride: 3, dilation: 5, before: 4 },
    // Windows that lie outside.
    PoolAxis { extent: 2, positions: 6, size: 2, stride: 1, dilation: 1, before: 3 },
];

/// The places along an axis that a window reads, with the elements of the window.
fn places(axis: &PoolAxis, at: usize) -> Vec<(usize, usize)> {
    let of = |k: usize| Some((k, (at * axis.stride + k * axis.dilation).checked_sub(axis.before)?));
    (0..axis.size).filter_map(of).filter(|(_, place)| *place < axis.extent).collect()
}

#[test]
fn a_window_has_the_elements_inside_of_the_tensor() {
    for axis in AXES {
        for at in 0..axis.positions {
            let (first, count) = axis.taps(at);
            let taps: Vec<usize> = (0..count).map(|k| first + k * axis.dilation).collect();
            let expected: Vec<usize> = places(&axis, at).into_iter().map(|(_, place)| place).collect();
            assert_eq!(taps, expected, "{axis:?} at {at}");
        }
    }
}

/// A line has each pair of an operand and a place that its elements combine, in the order of the operand.
#[test]
fn lines_are_the_windows_and_their_transpose() {
    for axis in AXES {
        for direction in [Direction::Forward, Direction::Backward] {
            let mut seen = vec![false; axis.extents(direction)[1]];
            for line in (0..axis.lines(direction)).map(|first| axis.line(direction, first)) {
                for at in 0..line.count {
                    let element = line.first + at * line.step;
                    let pair = |tap: usize| {
                        let operand = line.origin(at) + (tap * line.tap_step) as isize;
                        (operand as usize, line.place.wrapping_add_signed(tap as isize * line.place_step))
                    };
                    let found: Vec<_> = line.taps(at).map(pair).collect();
                    let expected: Vec<_> = match direction {
                        Direction::Forward => {
                            places(&axis, element).into_iter().map(|(k, x)| (x, k)).collect()
                        }
                        Direction::Backward => (0..axis.positions)
                            .flat_map(|i| places(&axis, i).into_iter().map(move |(k, x)| (i, k, x)))
                            .filter(|(_, _, x)| *x == element)
                            .map(|(i, k, _)| (i, k))
                            .collect(),
                    };
                    assert_eq!(found, expected, "{axis:?} {direction:?} at {element}");
                    if line.taps > 0 {
                        assert_eq!(line.inside(0..line.taps).contains(&at), found.len() == line.taps);
                    }
                    assert!(!std::mem::replace(&mut seen[element], true));
                }
            }
            assert!(seen.into_iter().all(|seen| seen), "{axis:?} {direction:?}");
        }
    }
}

/// A stride has no effect with one position, nor a dilation with windows of one element. Products with these strides,
/// dilations and paddings overflow.
#[test]
fn strides_and_dilations_beyond_the_tensor() {
    const FAR: usize = 1 << 62;
    let axis = |extent, positions, size, stride, dilation, before| PoolAxis {
        extent,
        positions,
        size,
        stride,
        dilation,
        before,
    };
    let axes = [
        axis(5, 1, 1, FAR, FAR, 0),
        axis(6, 1, 3, usize::MAX >> 1, 2, 1),
        axis(6, 5, 1, 1, usize::MAX >> 1, 0),
        axis(4, 2, 2, FAR / 2, 1, FAR / 2),
        axis(4, 2, 2, 3, FAR / 2, FAR / 2 - 1),
        axis(5, 3, 2, FAR / 4 + 1, FAR / 4, FAR / 4),
    ];
    for (i, (first, second)) in axes.iter().flat_map(|a| axes.map(|b| (*a, b))).enumerate() {
        for axes in [[PoolAxis::ONE, first, second], [first, second, AXES[1]]] {
            let pool = Pool { outer: 2, axes, channels: [3, 40][i % 2] };
            let case = Case::new(pool, small);
            for (of, expected) in case.each().into_iter().zip(&case.expected) {
                let mut out = vec![f32::NAN; expected.len()];
                super::pool(&pool, of, &mut out);
                assert!(out == *expected, "{of:?} of {pool:?}:\n{out:?}, expected\n{expected:?}");
            }
        }
    }
}

#[test]
fn windows_beyond_the_tensor() {
    for before in [(1 << 61) - 3, 1 << 61] {
        let axis = PoolAxis { extent: 4, positions: 2, size: 1 << 61, stride: 2, dilation: 2, before };
        let pool = Pool { outer: 1, axes: [axis; 3], channels: 3 };
        let (x, dy) = ([1.0_f32; 192], [1.0_f32; 24]);
        let [mut y, mut dx] = [vec![f32::NAN; 24], vec![f32::NAN; 192]];
        super::pool(&pool, PoolOf::Max { x: &x }, &mut y);
        assert_eq!(y, [1.0; 24], "{before}");
        super::pool(&pool, PoolOf::Sum { x: &x }, &mut y);
        // Windows have every second element.
        assert_eq!(y, [8.0; 24], "{before}");
        super::pool(&pool, PoolOf::SumGrad { dy: &dy }, &mut dx);
        let odd = before % 2;
        assert!((0..192).all(|at| dx[at]
            == f32::from(u8::from([at / 48, at / 12 % 4, at / 3 % 4].iter().all(|place| place % 2 == odd)))
                * 8.0));
    }
}

/// The operands of all pools, and the results from their definition.
struct Case<T> {
    pool: Pool,
    x: Vec<T>,
    t: Vec<T>,
    f: Vec<T>,
    dy: Vec<T>,
    expected: [Vec<T>; 8],
}

impl<T: PlusProduct> Case<T> {
    /// `value` makes the elements of `x`.
    fn new(pool: Pool, value: impl Fn(usize) -> T) -> Self {
        let number = |i: usize| (0..i).fold(T::ZERO, |sum, _| sum.plus(T::ONE));
        let product =
            |each: fn(&PoolAxis) -> usize| pool.axes.iter().map(each).product::<usize>() * pool.channels;
        let [whole, result] = [product(|a| a.extent), product(|a| a.positions)].map(|each| each * pool.outer);
        let x: Vec<T> = (0..whole).map(value).collect();
        let t: Vec<T> = (0..whole).map(|i| number(i % 50)).collect();
        let f: Vec<T> = (0..product(|a| a.size)).map(|i| number((i * 5 + i / 7) % 4)).collect();
        let dy: Vec<T> = (0..result).map(|i| number(i % 7).minus(number(3))).collect();
        let [mut max, mut taken, mut sum, mut y] = [(); 4].map(|()| vec![T::ZERO; result]);
        let [mut max_grad, mut sum_grad, mut dx] = [(); 3].map(|()| vec![T::ZERO; whole]);
        let mut df = vec![T::ZERO; f.len()];
        let [a, b, c] = pool.axes;
        for (to, dy) in dy.iter().enumerate() {
            let (place, channel) = (to / pool.channels, to % pool.channels);
            let (place, at_c) = (place / c.positions, place % c.positions);
            let (place, at_b) = (place / b.positions, place % b.positions);
            let (outer, at_a) = (place / a.positions, place % a.positions);
            let mut chosen = None;
            for (u, p) in places(&a, at_a) {
                for (v, q) in places(&b, at_b) {
                    for (w, r) in places(&c, at_c) {
                        let from = (((outer * a.extent + p) * b.extent + q) * c.extent + r) * pool.channels
                            + channel;
                        let factor = ((u * b.size + v) * c.size + w) * pool.channels + channel;
                        sum[to] = sum[to].plus(x[from]);
                        y[to] = y[to].plus(x[from].times(f[factor]));
                        sum_grad[from] = sum_grad[from].plus(*dy);
                        dx[from] = dx[from].plus(dy.times(f[factor]));
                        df[factor] = df[factor].plus(x[from].times(*dy));
                        let is_nan = |at: usize| x[at].partial_cmp(&x[at]).is_none();
                        if chosen.is_none_or(|at: usize| x[from] > x[at] || is_nan(from) && !is_nan(at)) {
                            chosen = Some(from);
                        }
                    }
                }
            }
            max[to] = chosen.map_or(T::LEAST, |from| x[from]);
            if let Some(from) = chosen {
                taken[to] = t[from];
                max_grad[from] = max_grad[from].plus(*dy);
            }
        }
        Self { pool, x, t, f, dy, expected: [max, max_grad, taken, sum, sum_grad, y, dx, df] }
    }

    fn each(&self) -> [PoolOf<'_, T>; 8] {
        let Self { x, t, f, dy, .. } = self;
        [
            PoolOf::Max { x },
            PoolOf::MaxGrad { x, dy },
            PoolOf::MaxTake { x, t },
            PoolOf::Sum { x },
            PoolOf::SumGrad { dy },
            PoolOf::Depthwise { x, f },
            PoolOf::DepthwiseGradInput { dy, f },
            PoolOf::DepthwiseGradFilter { x, dy },
        ]
    }

    /// Checks each of `which` at every level, on one thread and in parts.
    fn agrees(&self, which: std::ops::Range<usize>, junk: T) {
        let is_same = |a: &T, b: &T| a == b || a.partial_cmp(a).is_none() && b.partial_cmp(b).is_none();
        for (of, expected) in self.each().into_iter().zip(&self.expected).skip(which.start).take(which.len())
        {
            let agrees = |found: &[T], how: &str| {
                let is_same = found.iter().zip(expected).all(|(a, b)| is_same(a, b));
                assert!(is_same, "{of:?} of {:?} {how}:\n{found:?}, expected\n{expected:?}", self.pool);
            };
            for level in SimdLevel::ALL.into_iter().filter(|level| *level <= simd_level()) {
                for parts in [1, 3, 128].into_iter().filter(|parts| *parts == 1 || level == simd_level()) {
                    let mut out = vec![junk; expected.len()];
                    in_parts(level, &self.pool, of, &mut out, parts);
                    agrees(&out, &format!("at {level:?} in {parts} parts"));
                }
            }
        }
    }
}

/// Computes a pool in parts as threads do.
fn in_parts<T: PlusProduct>(level: SimdLevel, pool: &Pool, of: PoolOf<'_, T>, out: &mut [T], parts: usize) {
    fn cut<K: Split<Output = ()>>(level: SimdLevel, kernel: K, steps: usize, leaf: usize) {
        if steps <= leaf {
            return run_at_most(level, kernel);
        }
        let (first, later) = kernel.split(leaf);
        run_at_most(level, first);
        cut(level, later, steps - leaf, leaf);
    }
    let direction = match of {
        PoolOf::DepthwiseGradFilter { x, dy } => {
            let kernel = FilterGrad::new(pool, x, dy, out);
            let steps = kernel.parts();
            return cut(level, kernel, steps, steps.div_ceil(parts));
        }
        PoolOf::MaxGrad { .. } | PoolOf::SumGrad { .. } | PoolOf::DepthwiseGradInput { .. } => {
            Direction::Backward
        }
        _ => Direction::Forward,
    };
    let (rows, steps) = PoolRows::new(pool, of, direction, out);
    cut(level, rows, steps, steps.div_ceil(parts));
}

/// Small numbers, so that elements are equal and sums are exact.
fn small(i: usize) -> f32 {
    ((i * i + i / 3) % 5) as f32
}

#[test]
fn pools_agree_with_naive_loops() {
    for (i, (first, second)) in AXES.iter().flat_map(|a| AXES.map(|b| (*a, b))).enumerate() {
        let pool = Pool { outer: 2, axes: [PoolAxis::ONE, first, second], channels: [1, 9, 43][i % 3] };
        Case::new(pool, small).agrees(0..8, f32::NAN);
        let value = |i: usize| if i % 31 == 7 { f32::NAN } else { small(i) };
        Case::new(pool, value).agrees(0..4, f32::NAN);
    }
}

#[test]
fn pools_over_three_axes_and_one() {
    for [a, b, c] in
        [[0, 1, 2], [2, 3, 5], [1, 4, 1], [3, 6, 0]].map(|axes| axes.map(|axis: usize| AXES[axis]))
    {
        Case::new(Pool { outer: 2, axes: [a, b, c], channels: 3 }, small).agrees(0..8, f32::NAN);
        Case::new(Pool { outer: 3, axes: [PoolAxis::ONE, PoolAxis::ONE, c], channels: 17 }, small)
            .agrees(0..8, f32::NAN);
    }
}

#[test]
fn every_number_of_channels() {
    let pool = |channels| Pool { outer: 1, axes: [PoolAxis::ONE, AXES[2], AXES[1]], channels };
    for channels in (1..=18).chain([31, 32, 33, 63, 64, 65, 96, 130]) {
        Case::new(pool(channels), small).agrees(0..8, f32::NAN);
        Case::new(pool(channels), |i| f64::from(small(i))).agrees(0..8, f64::NAN);
        Case::new(pool(channels), |i| small(i) as i32).agrees(0..8, -1);
    }
    Case::new(pool(40), |i| small(i) as i64).agrees(0..8, -1);
    Case::new(pool(170), |i| small(i) as u8).agrees(0..8, 99);
}

/// Rows of positions of every length, with windows of sizes around those that have a loop of their own.
#[test]
fn every_size_of_rows_and_windows() {
    for (size, extent) in (1..=7).flat_map(|size| (size..13).map(move |extent| (size, extent))) {
        for (stride, dilation, before) in
            [(1, 1, 0), (1, 1, size / 2), (2, 1, 1), (1, 2, size - 1), (3, 2, size - 1)]
        {
            let padded: usize = extent + 2 * before;
            let Some(left) = padded.checked_sub((size - 1) * dilation + 1) else { continue };
            let axis = PoolAxis { extent, positions: left / stride + 1, size, stride, dilation, before };
            let pool = Pool { outer: 1, axes: [PoolAxis::ONE, AXES[0], axis], channels: 34 };
            Case::new(pool, small).agrees(0..8, f32::NAN);
        }
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let axis = |extent| PoolAxis {
        extent,
        positions: extent.div_ceil(2),
        size: 3,
        stride: 2,
        dilation: 1,
        before: 1,
    };
    let pool = Pool { outer: 2, axes: [PoolAxis::ONE, axis(31), axis(30)], channels: 75 };
    let mut case = Case::new(pool, |i| ((i * 2_654_435_761) % 1000) as f32 / 7.0 - 60.0);
    for (i, number) in case.f.iter_mut().chain(&mut case.dy).enumerate() {
        *number = ((i * 2_654_435_761) % 1009) as f32 / 9.0 - 50.0;
    }
    let results = |threads| {
        let _threads = Threads::set(threads);
        [0, 1, 2, 3, 4, 5, 6, 7].map(|at| {
            let mut out = vec![f32::NAN; case.expected[at].len()];
            super::pool(&pool, case.each()[at], &mut out);
            out.into_iter().map(f32::to_bits).collect::<Vec<_>>()
        })
    };
    let alone = results(1);
    for threads in [2, 3, 8, 128] {
        assert!(results(threads) == alone, "{threads} threads");
    }
}

#[test]
fn nothing_to_pool() {
    let pool = Pool { outer: 0, axes: [PoolAxis::ONE, AXES[1], AXES[2]], channels: 3 };
    Case::new(pool, small).agrees(7..8, f32::NAN);
    for (of, len) in [(PoolOf::Max { x: &[] }, 0), (PoolOf::SumGrad { dy: &[] }, 0)] {
        super::pool::<f32>(&pool, of, &mut vec![f32::NAN; len]);
    }
    super::pool::<f32>(&Pool { channels: 0, ..pool }, PoolOf::Sum { x: &[] }, &mut []);
}

#[test]
#[should_panic(expected = "internal error in mind: pool: wrong length")]
fn a_wrong_length_panics() {
    let pool = Pool { outer: 1, axes: [PoolAxis::ONE, PoolAxis::ONE, AXES[0]], channels: 3 };
    super::pool(&pool, PoolOf::Depthwise { x: &[1.0_f32; 18], f: &[1.0; 5] }, &mut [0.0; 9]);
}
