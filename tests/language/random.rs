//! `random`, and `nn::dropout`: in kernels as JAX draws them, in loops, transforms, expressions and gradients.

use mind::{Const, Tensor, mind};

mind! {
    fn uniform_like<N>(key: i64, x: f32[N]) -> f32[N] { x + random::uniform(key, [N]) }

    fn normal(key: i64) -> f32[2, 3] { random::normal(key, [2, 3]) }
}

/// Kernels draw many bits of a row at once. `random::fold_in` draws the bits of one position alone.
#[test]
fn bits_that_are_drawn_ahead_are_those_of_each_position() {
    mind! {
        fn one(key: i64, at: i64) -> i64 { random::fold_in(key, at) }

        fn row<N>(key: i64, x: i64[N]) -> i64[N] { x + random::bits(key, [N], dtype = i64) }

        fn sums<N, M>(key: i64, x: i64[N, M]) -> i64[N] {
            sum(x + random::bits(key, [N, M], dtype = i64), axis = 1)
        }

        fn by_row<N, M>(keys: i64[N], x: i64[N, M]) -> i64[N, M] { vmap(row, over = (key, x))(keys, x) }

        fn known(key: i64) -> i64[3, 70] {
            random::bits(key, [3, 70], dtype = i64) + iota(3)[.., _] * 0
        }
    }
    let zeros = |shape| Tensor::<i64, _>::from_fn_with(shape, |_| 0);
    for len in [1, 7, 8, 31, 32, 33, 63, 64, 100, 255, 256, 257, 300, 1000, 70_000] {
        let found = row(42, &Tensor::<i64, _>::from_fn_with((len,), |_| 0));
        for (at, found) in found.as_slice().iter().enumerate().step_by(1 + len / 2000) {
            assert_eq!(*found, one(42, at as i64), "{at} of {len}");
        }
    }
    for (rows, columns) in [(3, 40), (5, 64), (4, 100), (3, 300), (70, 1000)] {
        let alone = |row: usize, column: usize| one(-7, (row * columns + column) as i64);
        let sums = sums(-7, &zeros((rows, columns)));
        for (row, found) in sums.as_slice().iter().enumerate().step_by(1 + rows / 5) {
            let expected = (0..columns).map(|column| alone(row, column));
            assert_eq!(*found, expected.fold(0, i64::wrapping_add), "row {row} of {columns}");
        }
        let keys = Tensor::<i64, _>::from_fn_with((rows,), |[row]| row as i64 - 2);
        let found = by_row(&keys, &zeros((rows, columns)));
        for (at, found) in found.as_slice().iter().enumerate().step_by(1 + rows * columns / 500) {
            assert_eq!(*found, one((at / columns) as i64 - 2, (at % columns) as i64), "{at} of {columns}");
        }
    }
    for (at, found) in known(9).as_slice().iter().enumerate() {
        assert_eq!(*found, one(9, at as i64));
    }
}

/// The numbers are those of `jax.random` with the key 42.
#[test]
fn kernels_draw_what_jax_draws() {
    mind! {
        #[allow(deprecated)]
        fn drawn(key: i64) -> (f32[3, 2], f64[2], i32[4], i64[2], u8[3]) {
            (
                random::uniform(key, [3, 2]),
                random::uniform(key, [2], dtype = f64),
                random::bits(key, 4),
                random::bits(key, [2], dtype = i64),
                random::bits(key, [3], dtype = u8),
            )
        }

        #[allow(deprecated)]
        fn integers(key: i64, low: i64) -> (i32[5], i64[5], i64[2], i64) {
            (
                random::randint(key, 5, 1, 7),
                random::randint(key, 5, low, 1000000000000, dtype = i64),
                random::split(key),
                random::fold_in(key, 7),
            )
        }
    }
    let (narrow, wide, bits, long, short) = drawn(42);
    assert_eq!(
        narrow,
        Tensor::from([[0.488_709_57, 0.679_797_2], [0.616_271_5, 0.561_016_1], [0.450_644_6, 0.585_865_86]])
    );
    assert_eq!(wide, Tensor::from([0.426_727_566_649_909_1, 0.015_010_069_515_314_584]));
    assert_eq!(bits, Tensor::from([2_098_992_034, -1_375_260_455, -1_648_100_871, -1_885_421_097]));
    assert_eq!(long, Tensor::from([7_871_734_211_187_709_741, 276_886_910_877_598_708]));
    assert_eq!(short, Tensor::from([162, 217, 249]));
    let (dice, far, keys, seventh) = integers(42, -3);
    assert_eq!(dice, Tensor::from([1, 1, 4, 2, 6]));
    assert_eq!(
        far,
        Tensor::from([464_009_632_837, 604_949_196_429, 848_941_566_607, 550_045_718_998, 100_466_800_411])
    );
    assert_eq!(keys, Tensor::from([7_871_734_211_187_709_741, 276_886_910_877_598_708]));
    assert_eq!(seventh, -7_507_406_917_103_292_001);
}

/// JAX gives these numbers in `f64`, rounded here.
#[test]
fn kernels_draw_normal_numbers_as_jax() {
    let expected = [-0.028_304_616_f32, 0.467_131_85, 0.295_702_96, 0.153_545_92];
    for (found, expected) in normal(42).as_slice().iter().zip(expected) {
        assert!((found - expected).abs() <= 4.0 * f32::EPSILON * expected.abs(), "{found}, JAX {expected}");
    }
}

/// Parts for threads, blocks and the rest of a row draw the numbers of their positions.
#[test]
fn the_number_at_a_position_depends_on_nothing_else() {
    let long = uniform_like(42, &Tensor::from_fn_with((1_000_003,), |_| 0.0));
    for extent in [1, 15, 16, 17, 31, 33, 100, 1000] {
        let short = uniform_like(42, &Tensor::from_fn_with((extent,), |_| 0.0));
        assert_eq!(short.as_slice(), &long.as_slice()[..extent], "{extent}");
    }
    let mean = long.as_slice().iter().map(|u| f64::from(*u)).sum::<f64>() / 1_000_003.0;
    assert!((mean - 0.5).abs() < 2e-3, "{mean}");
}

#[test]
fn keys_may_be_batched_and_carried() {
    mind! {
        fn numbers(key: i64) -> f32[5] { random::uniform(key, [5]) }

        fn batched(keys: i64[3]) -> f32[3, 5] { vmap(numbers, over = key)(keys) }

        fn walk(key: i64) -> f32[3, 5] {
            let (_, steps) = scan k = key for step in 0..3 { (random::fold_in(k, step), numbers(k)) };
            steps
        }

        fn next(key: i64, step: i64) -> i64 { random::fold_in(key, step) }
    }
    let keys = [42, -1, 1 << 40];
    let rows = batched(&Tensor::from(keys));
    for (row, key) in keys.into_iter().enumerate() {
        assert_eq!(rows.as_slice()[5 * row..][..5], *numbers(key).as_slice());
    }
    let (steps, mut key) = (walk(42), 42);
    for row in 0..3 {
        assert_eq!(steps.as_slice()[5 * row..][..5], *numbers(key).as_slice());
        key = next(key, row as i64);
    }
}

#[test]
fn expressions_draw_the_same_numbers() {
    let (key, x) = (42_i64, Tensor::from([[1.0_f32, 0.0, 0.0], [0.0, 0.0, 9.0]]));
    let found: Tensor<f32, (Const<2>, Const<3>)> = mind!(random::normal(key, [2, 3])).into();
    assert_eq!(found, normal(42));
    let wide: Tensor<f32, (Const<3>, Const<3>)> =
        mind!(random::uniform(key, [extent(x, 0) + 1, extent(x, 1)])).into();
    assert_eq!(wide.as_slice()[..6], *uniform_like(42, &Tensor::from([0.0; 6])).as_slice());
    mind! {
        #[allow(deprecated)]
        fn chosen(key: i64, x: f32[2, 3]) -> (i64[2], f32[2, 3]) {
            (random::categorical(key, x), nn::dropout(x + 1.0, key, 0.25))
        }
    }
    let (of, kept) = chosen(42, &x);
    assert_eq!(of, mind!(random::categorical(key, x) : i64[2]));
    assert_eq!(kept, mind!(nn::dropout(x + 1.0, key, 0.25) : f32[2, 3]));
}

/// The gradient draws the mask of the function again, and noise is a constant.
#[test]
fn gradients_pass_through_what_is_drawn() {
    mind! {
        #[grad(x)]
        fn dropped<N>(x: f64[N], key: i64) -> f64 { sum(nn::dropout(x, key, 0.5)) }

        fn mask<N>(x: f64[N], key: i64) -> f64[N] { nn::dropout(x * 0.0 + 1.0, key, 0.5) }

        #[grad(mu, sigma)]
        fn moved(mu: f64, sigma: f64, key: i64) -> f64 {
            sum(mu + sigma * random::normal(key, [4], dtype = f64))
        }

        fn noise(key: i64) -> f64[4] { random::normal(key, [4], dtype = f64) }
    }
    let x: Tensor<f64, (Const<100>,)> = Tensor::from_fn(|[i]| i as f64);
    let (_, slopes) = dropped_grad(&x, 7);
    assert_eq!(slopes, mask(&x, 7));
    let kept = slopes.as_slice().iter().filter(|slope| **slope == 2.0).count();
    assert!((30..70).contains(&kept), "{kept}");
    let (_, (by_mu, by_sigma)) = moved_grad(0.5, 2.0, 9);
    assert_eq!(by_mu, 4.0);
    assert!((by_sigma - noise(9).as_slice().iter().sum::<f64>()).abs() < 1e-12);
}
