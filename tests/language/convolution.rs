//! `conv2d`.

use mind::{Const, Dim, Tensor, TensorRef, mind};

use crate::support::small_integers;

/// The convolution by its definition. `before` is the padding before the first row and column.
fn convolution<A: Dim, B: Dim, C: Dim, D: Dim, E: Dim, F: Dim, G: Dim>(
    image: &TensorRef<f32, (A, B, C, D)>,
    filter: &TensorRef<f32, (E, F, D, G)>,
    strides: [usize; 2],
    before: [usize; 2],
    extents: [usize; 2],
) -> Vec<f32> {
    let ([n, height, width, channels], [kh, kw, _, filters]) = (image.dims(), filter.dims());
    let mut out = Vec::new();
    for b in 0..n {
        for (i, j) in (0..extents[0]).flat_map(|i| (0..extents[1]).map(move |j| (i, j))) {
            for f in 0..filters {
                let mut sum = 0.0;
                for (di, dj) in (0..kh).flat_map(|di| (0..kw).map(move |dj| (di, dj))) {
                    let (y, x) = (i * strides[0] + di, j * strides[1] + dj);
                    let inside =
                        y >= before[0] && x >= before[1] && y - before[0] < height && x - before[1] < width;
                    for c in (0..channels).filter(|_| inside) {
                        sum += image[[b, y - before[0], x - before[1], c]] * filter[[di, dj, c, f]];
                    }
                }
                out.push(sum);
            }
        }
    }
    out
}

#[test]
fn a_small_one_is_as_worked_out_by_hand() {
    mind! {
        fn f(x: f32[1, 3, 3, 1], k: f32[2, 2, 1, 1]) -> f32[1, 2, 2, 1] {
            conv2d(x, k)
        }
    }
    let x = Tensor::<f32, _>::from_vec((Const, Const, Const, Const), (1..10).map(|i| i as f32).collect())
        .expect("9");
    let k = Tensor::from([[[[1.0]], [[0.0]]], [[[0.0]], [[-1.0]]]]);
    assert_eq!(f(&x, &k).as_slice(), [1.0 - 5.0, 2.0 - 6.0, 4.0 - 8.0, 5.0 - 9.0]);
}

#[test]
fn padding_and_strides_agree_with_the_definition() {
    mind! {
        fn valid(x: f32[2, 7, 8, 3], k: f32[3, 2, 3, 4]) -> f32[2, 5, 7, 4] {
            conv2d(x, k)
        }

        fn valid_strided(x: f32[2, 7, 8, 3], k: f32[3, 2, 3, 4]) -> f32[2, 3, 3, 4] {
            conv2d(x, k, strides = [2, 3], padding = valid)
        }

        fn same(x: f32[2, 7, 8, 3], k: f32[3, 2, 3, 4]) -> f32[2, 7, 8, 4] {
            x.conv2d(k, padding = same)
        }

        fn same_strided(x: f32[2, 7, 8, 3], k: f32[3, 2, 3, 4]) -> f32[2, 4, 3, 4] {
            conv2d(x, k, [2, 3], same)
        }

        fn pairs(x: f32[2, 7, 8, 3], k: f32[3, 2, 3, 4]) -> f32[2, 8, 10, 4] {
            conv2d(x, k, padding = [[2, 1], [0, 3]])
        }

        fn pairs_strided(x: f32[2, 7, 8, 3], k: f32[3, 2, 3, 4]) -> f32[2, 3, 5, 4] {
            conv2d(x, k, padding = [[1, 0], [2, 1]], strides = [2, 2])
        }
    }
    let x = small_integers((Const::<2>, Const::<7>, Const::<8>, Const::<3>), 1);
    let k = small_integers((Const::<3>, Const::<2>, Const::<3>, Const::<4>), 2);
    assert_eq!(valid(&x, &k).as_slice(), convolution(&x, &k, [1, 1], [0, 0], [5, 7]));
    assert_eq!(valid_strided(&x, &k).as_slice(), convolution(&x, &k, [2, 3], [0, 0], [3, 3]));
    // Height: (7 - 1) + 3 - 7 = 2 zeros, 1 before. Width: (8 - 1) + 2 - 8 = 1 zero, 0 before.
    assert_eq!(same(&x, &k).as_slice(), convolution(&x, &k, [1, 1], [1, 0], [7, 8]));
    // Height: 3 * 2 + 3 - 7 = 2 zeros, 1 before. Width: 2 * 3 + 2 - 8 = 0 zeros.
    assert_eq!(same_strided(&x, &k).as_slice(), convolution(&x, &k, [2, 3], [1, 0], [4, 3]));
    assert_eq!(pairs(&x, &k).as_slice(), convolution(&x, &k, [1, 1], [2, 0], [8, 10]));
    assert_eq!(pairs_strided(&x, &k).as_slice(), convolution(&x, &k, [2, 2], [1, 2], [3, 5]));
}

#[test]
fn batch_and_image_may_be_symbolic() {
    mind! {
        fn f<N, H, W>(x: f32[N, H, W, 2], k: f32[3, 3, 2, 5]) -> f32[N, (H - 3) / 2 + 1, (W - 3) / 2 + 1, 5] {
            conv2d(x, k, strides = [2, 2])
        }

        fn g<N, H, W>(x: f32[N, H, W, 2], k: f32[3, 3, 2, 5]) -> f32[N, H, W, 5] {
            relu(conv2d(x, k, padding = same) + 1.0)
        }

        fn h<N, H, W>(x: f32[N, H, W, 2], k: f32[3, 3, 2, 5]) -> f32[N, H, (W + 2) / 3, 5] {
            conv2d(x, k, strides = [1, 3], padding = same)
        }
    }
    let k = small_integers((Const::<3>, Const::<3>, Const::<2>, Const::<5>), 2);
    for (n, height, width) in [(1, 3, 3), (2, 4, 9), (3, 8, 5)] {
        let x = small_integers((n, height, width, Const::<2>), 1);
        let y = f(&x, &k);
        let [_, oh, ow, _] = y.dims();
        assert_eq!([oh, ow], [(height - 3) / 2 + 1, (width - 3) / 2 + 1]);
        assert_eq!(y.as_slice(), convolution(&x, &k, [2, 2], [0, 0], [oh, ow]));
        let expected: Vec<f32> =
            convolution(&x, &k, [1, 1], [1, 1], [height, width]).iter().map(|x| (x + 1.0).max(0.0)).collect();
        assert_eq!(g(&x, &k).as_slice(), expected);
        let columns = width.div_ceil(3);
        // The part of the last window beyond the image. Half of it is on the left.
        let left = (3 * columns - width) / 2;
        assert_eq!(h(&x, &k).as_slice(), convolution(&x, &k, [1, 3], [1, left], [height, columns]));
    }
}
