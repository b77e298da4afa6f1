use super::parts::SplitRows;
use super::*;
use crate::SimdLevel::{Avx2, Avx512, Portable};
use crate::kernels::epilogue::Block;

/// A convolution of small whole numbers, so that every order of summing gives the same float.
struct Case<T> {
    g: Conv2d,
    input: Vec<T>,
    filter: Vec<T>,
    cotangent: Vec<T>,
}

impl<T: Tested> Case<T> {
    /// `None` if the window is larger than the padded image.
    fn new(
        [n, h, w, c_in]: [usize; 4],
        [kh, kw, c_out]: [usize; 3],
        stride: [usize; 2],
        pad: [[usize; 2]; 2],
    ) -> Option<Self> {
        let out = |extent: usize, kernel: usize, stride: usize, pad: [usize; 2]| {
            Some((extent + pad[0] + pad[1]).checked_sub(kernel)? / stride + 1)
        };
        let (h_out, w_out) = (out(h, kh, stride[0], pad[0])?, out(w, kw, stride[1], pad[1])?);
        let g = Conv2d { n, h, w, c_in, kh, kw, c_out, stride, pad, h_out, w_out };
        let small = |len: usize, seed: usize| {
            let number = |i: usize| (0..(i * 7 + i / 5 + seed) % 6).fold(T::ZERO, |x, _| x.plus(T::ONE));
            (0..len).map(number).collect()
        };
        Some(Self {
            g,
            input: small(n * h * w * c_in, 1),
            filter: small(kh * kw * c_in * c_out, 2),
            cotangent: small(n * h_out * w_out * c_out, 3),
        })
    }

    /// The output and both derivatives, from their definition.
    fn expected(&self) -> [Vec<T>; 3] {
        let Self { g, input, filter, cotangent } = self;
        let [mut y, mut dx, mut df] = [cotangent, input, filter].map(|like| vec![T::ZERO; like.len()]);
        let mut add = |x: usize, f: usize, at: usize| {
            y[at] = y[at].plus(input[x].times(filter[f]));
            dx[x] = dx[x].plus(cotangent[at].times(filter[f]));
            df[f] = df[f].plus(cotangent[at].times(input[x]));
        };
        for pixel in 0..g.n * g.h_out * g.w_out {
            let (n, i, j) = (pixel / (g.h_out * g.w_out), pixel / g.w_out % g.h_out, pixel % g.w_out);
            for place in 0..g.kh * g.kw {
                let row = (i * g.stride[0] + place / g.kw).checked_sub(g.pad[0][0]).filter(|row| *row < g.h);
                let column = (j * g.stride[1] + place % g.kw).checked_sub(g.pad[1][0]).filter(|at| *at < g.w);
                let (Some(row), Some(column)) = (row, column) else { continue };
                for c in 0..g.c_in {
                    for f in 0..g.c_out {
                        let x = ((n * g.h + row) * g.w + column) * g.c_in + c;
                        add(x, (place * g.c_in + c) * g.c_out + f, pixel * g.c_out + f);
                    }
                }
            }
        }
        [y, dx, df]
    }

    /// The output and both derivatives by some kernels, split into at most `parts` parts.
    fn results(&self, kernels: Kernels, parts: usize, junk: T) -> [Vec<T>; 3] {
        let Self { g, input, filter, cotangent } = self;
        let scratch = |depth, columns| vec![junk; panel_len(g.kh, g.kw, depth, columns)];
        [
            collect([g.n * g.h_out * g.w_out, g.w_out], g.c_out, parts, junk, |parts| {
                let of = Convolution::Forward { input, filter };
                T::convolve_by(kernels, g, of, &mut scratch(g.c_in, g.c_out), parts);
            }),
            collect([g.n * g.h * g.w, g.w], g.c_in, parts, junk, |parts| {
                let of = Convolution::GradInput { cotangent, filter };
                T::convolve_by(kernels, g, of, &mut scratch(g.c_out, g.c_in), parts);
            }),
            collect([g.kh * g.kw * g.c_in, 1], g.c_out, parts, junk, |parts| {
                let of = Convolution::GradFilter { input, cotangent };
                T::convolve_by(kernels, g, of, &mut scratch(g.c_in, g.c_out), parts);
            }),
        ]
    }
}

/// Collects the result, every element of which must be passed exactly once.
fn collect<T: Number>(
    [rows, grain]: [usize; 2],
    columns: usize,
    parts: usize,
    junk: T,
    f: impl FnOnce(SplitRows<'_, '_, T>),
) -> Vec<T> {
    let (mut elements, mut seen) = (vec![junk; rows * columns], vec![false; rows * columns]);
    let collect = Collect { elements: &mut elements, seen: &mut seen, first: 0, columns };
    with_parts(parts, [rows, grain], collect, f);
    assert!(seen.iter().all(|seen| *seen), "an element is missing");
    elements
}

struct Collect<'a, T> {
    elements: &'a mut [T],
    seen: &'a mut [bool],
    first: usize,
    columns: usize,
}

impl<T: Number> Epilogue<T> for Collect<'_, T> {
    fn split(self, row: usize) -> (Self, Self) {
        let at = (row - self.first) * self.columns;
        let ((elements, later), (seen, seen_later)) =
            (self.elements.split_at_mut(at), self.seen.split_at_mut(at));
        (Self { elements, seen, ..self }, Self { elements: later, seen: seen_later, first: row, ..self })
    }

    fn block(&mut self, block: Block<'_, T>) {
        assert!(block.column + block.columns <= self.columns && block.columns <= block.stride);
        for row in 0..block.rows {
            for column in 0..block.columns {
                let at = (block.row + row - self.first) * self.columns + block.column + column;
                assert!(!std::mem::replace(&mut self.seen[at], true), "an element is handed over twice");
                self.elements[at] = block.sums[row * block.stride + column];
            }
        }
    }
}

/// The kernels that compute a convolution.
#[derive(Clone, Copy, Debug)]
enum Kernels {
    Level(SimdLevel),
    /// Tiles of arrays, which other architectures use.
    Arrays,
}

fn all_kernels() -> impl Iterator<Item = Kernels> {
    let levels = [Portable, Avx2, Avx512].into_iter().filter(|level| *level <= simd_level());
    levels.map(Kernels::Level).chain([Kernels::Arrays])
}

trait Tested: Number {
    fn convolve_by(
        kernels: Kernels,
        g: &Conv2d,
        of: Convolution<'_, Self>,
        scratch: &mut [Self],
        to: SplitRows<'_, '_, Self>,
    );
}

macro_rules! tested {
    ($($ty:ty: |$g:ident, $of:ident, $scratch:ident, $to:ident| $arrays:expr),*) => {
        $(impl Tested for $ty {
            fn convolve_by(
                kernels: Kernels,
                $g: &Conv2d,
                $of: Convolution<'_, $ty>,
                $scratch: &mut [$ty],
                $to: SplitRows<'_, '_, $ty>,
            ) {
                match kernels {
                    Kernels::Level(level) => <$ty>::convolve(level, $g, $of, $scratch, $to),
                    Kernels::Arrays => $arrays,
                }
            }
        })*
    };
}

tested!(
    f32: |g, of, scratch, to| by_tiles_of(&tile::portable::F32, g, of, scratch, to),
    f64: |g, of, scratch, to| by_tiles_of(&tile::portable::F64, g, of, scratch, to),
    i32: |g, of, scratch, to| naively(Portable, g, of, scratch, to),
    i64: |g, of, scratch, to| naively(Portable, g, of, scratch, to)
);

fn agrees<T: Tested>(case: &Case<T>, junk: T) {
    let expected = case.expected();
    for kernels in all_kernels() {
        for parts in [1, 3] {
            let results = case.results(kernels, parts, junk);
            for (what, (result, expected)) in
                ["forward", "by the input", "by the filter"].iter().zip(results.iter().zip(&expected))
            {
                assert!(result == expected, "{what} by {kernels:?} in {parts} parts: {:?}", case.g);
            }
        }
    }
}

#[test]
fn every_geometry_of_small_sizes() {
    let mut cases = 0;
    for [h, w] in [[1, 1], [1, 6], [5, 4], [7, 9]] {
        for [kh, kw] in [[1, 1], [2, 3], [3, 3], [4, 1]] {
            for stride in [[1, 1], [2, 1], [3, 2]] {
                for pad in [[[0, 0], [0, 0]], [[1, 1], [1, 1]], [[0, 2], [3, 0]], [[4, 4], [5, 5]]] {
                    for [c_in, c_out] in [[1, 1], [3, 2], [2, 17]] {
                        if let Some(case) = Case::<f32>::new([2, h, w, c_in], [kh, kw, c_out], stride, pad) {
                            agrees(&case, f32::NAN);
                            cases += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(cases > 400, "{cases}");
}

#[test]
fn every_number_of_channels() {
    for few in [1, 2, 4, 5] {
        for many in (1..=20).chain([32, 33, 48]) {
            for [c_in, c_out] in [[few, many], [many, few]] {
                let case = Case::new([1, 4, 5, c_in], [2, 3, c_out], [1, 1], [[1, 0], [0, 1]]);
                agrees(&case.expect("the window fits"), f64::NAN);
                let case = Case::new([1, 3, 6, c_in], [2, 2, c_out], [1, 2], [[0, 0], [0, 0]]);
                agrees(&case.expect("the window fits"), f32::NAN);
            }
        }
    }
}

/// Every extent from 1 to 40 in each place, together with odd ones.
#[test]
fn every_size_up_to_forty() {
    for size in 1..=40 {
        let padded = [[1, 0], [2, 1]];
        let [images, rows, columns] =
            [[size, 3, 3, 2], [1, size, 3, 2], [1, 3, size, 2]].map(|input| (input, [2, 2, 5]));
        let tall = ([1, 41, 3, 1], [size, 1, 3]);
        let wide = ([1, 3, 41, 1], [1, size, 3]);
        let [from, to] = [([1, 3, 5, size], [2, 3, 3]), ([1, 3, 5, 3], [2, 3, size])];
        for (input, filter) in [images, rows, columns, tall, wide, from, to] {
            for stride in [[1, 1], [2, 3]] {
                let case = Case::<f32>::new(input, filter, stride, padded).expect("the window fits");
                agrees(&case, f32::NAN);
            }
        }
    }
}

#[test]
fn both_many_channels() {
    for [c_in, c_out] in [[16, 32], [33, 20], [8, 64]] {
        for pad in [[[0, 0]; 2], [[1, 1]; 2]] {
            agrees(
                &Case::new([2, 6, 5, c_in], [3, 3, c_out], [1, 1], pad).expect("the window fits"),
                f32::NAN,
            );
        }
    }
}

#[test]
fn images_larger_than_a_strip_and_a_chunk() {
    // Rows of 600 pixels are split, and chunks of the gradient have some rows of an image.
    agrees(
        &Case::new([1, 4, 600, 1], [2, 3, 33], [1, 1], [[1, 1], [1, 1]]).expect("the window fits"),
        f32::NAN,
    );
    agrees(
        &Case::new([1, 40, 70, 3], [3, 3, 16], [1, 1], [[1, 1], [1, 1]]).expect("the window fits"),
        f64::NAN,
    );
    agrees(
        &Case::new([5, 12, 13, 1], [3, 3, 16], [1, 1], [[0, 0], [0, 0]]).expect("the window fits"),
        f32::NAN,
    );
}

#[test]
fn integers() {
    agrees(&Case::new([2, 6, 7, 3], [3, 3, 18], [1, 2], [[1, 1], [1, 1]]).expect("the window fits"), -1_i32);
    agrees(&Case::new([1, 6, 7, 20], [3, 2, 34], [1, 1], [[0, 0], [0, 0]]).expect("the window fits"), -1_i64);
}

#[test]
fn the_same_bits_with_any_number_of_parts() {
    let mut case =
        Case::<f32>::new([2, 9, 11, 5], [3, 3, 20], [1, 1], [[1, 1], [1, 1]]).expect("the window fits");
    let numbers = [&mut case.input, &mut case.filter, &mut case.cotangent];
    for (i, number) in numbers.into_iter().flatten().enumerate() {
        *number = ((i * 2_654_435_761) % 1000) as f32 / 7.0 - 60.0;
    }
    for kernels in all_kernels() {
        let whole = case.results(kernels, 1, 0.0);
        for parts in [2, 5, 32] {
            assert!(case.results(kernels, parts, 0.0) == whole, "{kernels:?}, {parts} parts");
        }
    }
}

#[test]
fn empty_extents() {
    let with = |change: fn(&mut Conv2d)| {
        let mut case =
            Case::<f32>::new([2, 3, 3, 2], [2, 2, 3], [1, 1], [[0, 0], [0, 0]]).expect("the window fits");
        change(&mut case.g);
        let g = case.g;
        case.input.truncate(g.n * g.h * g.w * g.c_in);
        case.filter.truncate(g.kh * g.kw * g.c_in * g.c_out);
        case.cotangent.truncate(g.n * g.h_out * g.w_out * g.c_out);
        agrees(&case, f32::NAN);
    };
    with(|g| g.n = 0);
    with(|g| (g.h, g.h_out) = (1, 0));
    with(|g| (g.w, g.w_out) = (1, 0));
    with(|g| (g.kh, g.kw) = (0, 1));
    with(|g| g.c_in = 0);
    with(|g| g.c_out = 0);
}

#[test]
fn padding_is_left_out_rather_than_multiplied() {
    let mut case =
        Case::<f32>::new([1, 1, 1, 1], [3, 3, 1], [1, 1], [[1, 1], [1, 1]]).expect("the window fits");
    case.filter.fill(f32::INFINITY);
    case.filter[4] = 2.0;
    (case.input[0], case.cotangent[0]) = (3.0, f32::INFINITY);
    for kernels in all_kernels() {
        let [y, dx, df] = case.results(kernels, 1, f32::NAN);
        assert_eq!((y[0], dx[0]), (6.0, f32::INFINITY));
        assert_eq!(df, [0.0, 0.0, 0.0, 0.0, f32::INFINITY, 0.0, 0.0, 0.0, 0.0]);
    }
}

/// A stride does not matter if there is one position. It must not overflow in products with positions either.
#[test]
fn strides_beyond_the_image() {
    for stride in [[1 << 62; 2], [usize::MAX >> 1; 2], [6, 9], [7, 1]] {
        for [c_in, c_out] in [[2, 3], [9, 20]] {
            let pad = [[0, 1], [1, 0]];
            let case = Case::<f32>::new([2, 5, 6, c_in], [5, 6, c_out], stride, pad);
            let case = case.expect("the window fits");
            let Case { g, input, filter, cotangent } = &case;
            let [y, dx, df] = case.expected();
            let [mut found_y, mut found_dx, mut found_df] =
                [&y, &dx, &df].map(|like| vec![f32::NAN; like.len()]);
            conv2d(g, input, filter, &mut found_y);
            conv2d_grad_input(g, cotangent, filter, &mut found_dx);
            conv2d_grad_filter(g, input, cotangent, &mut found_df);
            assert!([found_y, found_dx, found_df] == [y, dx, df], "{g:?}");
        }
    }
}

#[test]
fn a_filter_of_one_position_is_a_matrix() {
    let sizes = [1, 3, 16, 33, 130];
    for (c_in, c_out) in sizes.iter().flat_map(|c_in| sizes.map(|c_out| (*c_in, c_out))) {
        for [n, h, w] in [[0, 2, 3], [1, 1, 1], [3, 2, 7], [1, 40, 5]] {
            for stride in [[1, 1], [1, 2], [2, 2]] {
                let case = Case::<f64>::new([n, h, w, c_in], [1, 1, c_out], stride, [[0, 0]; 2]);
                let Case { g, input, filter, cotangent } = case.as_ref().expect("the window fits");
                let [y, dx, df] = case.as_ref().expect("the window fits").expected();
                let mut found = [&y, &dx, &df].map(|like| vec![f64::NAN; like.len()]);
                let [found_y, found_dx, found_df] = &mut found;
                conv2d(g, input, filter, found_y);
                conv2d_grad_input(g, cotangent, filter, found_dx);
                conv2d_grad_filter(g, input, cotangent, found_df);
                assert!(found == [y, dx, df], "{g:?}");
            }
        }
    }
}

#[test]
fn results_are_stored() {
    let case =
        Case::<f32>::new([8, 14, 14, 16], [3, 3, 33], [1, 1], [[1, 1], [1, 1]]).expect("the window fits");
    let [mut y, mut dx, mut df] =
        [&case.cotangent, &case.input, &case.filter].map(|like| vec![f32::NAN; like.len()]);
    conv2d(&case.g, &case.input, &case.filter, &mut y);
    conv2d_grad_input(&case.g, &case.cotangent, &case.filter, &mut dx);
    conv2d_grad_filter(&case.g, &case.input, &case.cotangent, &mut df);
    assert!([y, dx, df] == case.results(Kernels::Level(simd_level()), 1, f32::NAN));
}

#[test]
fn scratch_memory_is_bounded_by_the_extents() {
    let g = Conv2d {
        n: 8,
        h: 28,
        w: 28,
        c_in: 16,
        kh: 3,
        kw: 3,
        c_out: 32,
        stride: [1, 1],
        pad: [[0; 2]; 2],
        h_out: 26,
        w_out: 26,
    };
    assert_eq!(conv2d_scratch::<f32>(&g), 9 * 16 * 32);
    assert_eq!(conv2d_grad_input_scratch::<f32>(&g), 9 * 32 * 16);
    assert_eq!(conv2d_grad_filter_scratch::<f32>(&g), 9 * 16 * 32);
    assert_eq!(conv2d_scratch::<f32>(&Conv2d { kh: usize::MAX, ..g }), usize::MAX);
}

#[test]
#[should_panic(expected = "internal error in mind: conv2d: wrong filter length")]
fn a_wrong_length_panics() {
    let case = Case::<f32>::new([1, 3, 3, 1], [3, 3, 1], [1, 1], [[1, 1], [1, 1]]).expect("the window fits");
    conv2d(&case.g, &case.input, &case.filter[1..], &mut case.cotangent.clone());
}

#[test]
#[should_panic(expected = "internal error in mind: conv2d: too little scratch memory")]
fn too_little_scratch_memory_panics() {
    let case = Case::<f32>::new([1, 3, 3, 1], [3, 3, 1], [1, 1], [[1, 1], [1, 1]]).expect("the window fits");
    let (mut out, mut seen) = ([0.0; 9], [false; 9]);
    let collect = Collect { elements: &mut out, seen: &mut seen, first: 0, columns: 1 };
    conv2d_with(&case.g, &case.input, &case.filter, &mut [], collect);
}

/// Without images, filter positions or channels, the result is zeros or empty, at every level.
#[test]
fn nothing_to_convolve_gives_zeros() {
    let geometry = |n, h, c_in, kh, c_out| {
        let (pad, stride) = ([[1, 1], [0, 0]], [1, 1]);
        Conv2d { n, h, w: 8, c_in, kh, kw: 1, c_out, stride, pad, h_out: h + 3 - kh, w_out: 8 }
    };
    for g in [
        geometry(1, 0, 2, 1, 8),
        geometry(2, 4, 0, 1, 70),
        geometry(1, 3, 2, 0, 70),
        geometry(0, 3, 2, 1, 70),
    ] {
        let input = vec![1.0_f32; g.n * g.h * g.w * g.c_in];
        let filter = vec![1.0_f32; g.kh * g.kw * g.c_in * g.c_out];
        let cotangent = vec![1.0_f32; g.n * g.h_out * g.w_out * g.c_out];
        let case = Case { g, input, filter, cotangent };
        let expected = case.expected();
        for kernels in all_kernels() {
            assert!(case.results(kernels, 1, f32::NAN) == expected, "{kernels:?} {g:?}");
        }
    }
}
