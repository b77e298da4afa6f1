//! Templates, from the library and from blocks, called by expressions over Rust variables.

use mind::{Tensor, mind};

mod layers {
    mind::mind! {
        const WIDTH: dim = 3;

        /// Its names have the meaning of this block, not that of the caller.
        pub fn scaled<N>(x: num[.., N]) { x * WIDTH / N }

        pub fn dense<I, O>(x: float[.., I], w: float[I, O], b: float[O]) { activation(x @ w + b) }

        fn activation(x: float[..]) { nn::silu(x) }

        /// Joins rows in pairs.
        pub fn paired<N, K>(x: float[N, K]) { reshape(x, [N / 2, 2 * K]) }

        pub fn gates<I, H>(x: float[.., I], w: float[I, 4 * H], h: float[.., H]) { (x @ w)[.., 0] + sum(h, axis = -1) + H }

        pub fn same<..B, T: float>(x: T[..B, 2], y: T[..B, 3]) { (sum(x) + sum(y), x) }

        pub fn grown<N>(x: float[N]) { ones([N + 1, N]) @ x }

        /// Swaps the halves of each row and negates the new first one.
        pub fn turned<H>(x: float[.., H], const pairs: dim = 2) {
            concat([-x[.., H / pairs..H], x[.., ..H / 2]], axis = -1)
        }

        /// The result has the element type of `y`; `x` may have any.
        pub fn weighed<T: float>(x: bool[..], y: T[..]) { cast(x, T) * y + cast(3, T) } pullback(_, dy) { cast(x, T) * dy }

        pub fn hot<T: num>(i: int[..], like: T[..], const count: dim) { one_hot(i, count, dtype = T) }

        /// Uses a type parameter and a written element type.
        pub fn picked<N, T: float>(i: int[], x: T[N]) {
            (sum(one_hot(i, N, dtype = T) * x), one_hot(i, N, dtype = i32), cast(iota(N), T) * x)
        }

        pub fn converted<T: num>(x, y: T[..]) { cast(x, T) }

        /// Joins the last two axes.
        pub fn merged<..B, H, D>(x: num[..B, H, D]) { reshape(x, [..B, H * D]) }

        pub fn parted<..B, N>(x: num[..B, N], y: num[..B], const parts: dim) {
            reshape(x, [..B, parts, -1]) + broadcast_to(y[.., _, _], [..B, parts, N / parts])
        }

        pub fn made<..B, N>(x: float[..B, N]) {
            let shape = [N, ..B];
            (ones([..B, 2]) + zeros([..B, 1]), full([2, ..B], sum(x)), iota([..B], axis = -1), reshape(x, shape))
        }

        pub fn outer<..A, ..B>(x: float[..A], y: float[..B]) {
            reshape(reshape(x, [-1, 1]) * reshape(y, [-1]), [..A, ..B])
        }

        /// Works for an `x` without axes too.
        pub fn beside<..B, T: float>(x: T[..B], y: T[2]) { ones([..B, 2]) * y + x }

        /// Takes as many of the last rows as the mask has elements. The first row may be known at run time only.
        pub fn tail<N, K, D>(x: float[N, D], mask: bool[K]) { slice(x, [N - K, 0], [N, D]) }
    }
}

#[test]
fn the_library_is_called_among_variables() {
    let x = Tensor::from([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]]);
    let y: Tensor![f64; 2, 3] = mind!(nn::softmax(x, axis = 0) + nn::silu(2.0 * x)).into();
    for (i, j) in [(0, 0), (0, 2), (1, 1)] {
        let softmax = x[[i, j]].exp() / (x[[0, j]].exp() + x[[1, j]].exp());
        let silu = 2.0 * x[[i, j]] / (1.0 + (-2.0 * x[[i, j]]).exp());
        assert!((y[[i, j]] - softmax - silu).abs() < 1e-12);
    }
    let imported: Tensor![f64; 2, 3] =
        mind! { use nn::{softmax, silu as swish}; softmax(x, axis = 0) + swish(2.0 * x) }.into();
    assert_eq!(imported, y);
}

#[test]
fn a_template_of_a_block_is_called_by_path_or_import() {
    let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let expected = Tensor::from([[1.5f32, 3.0], [4.5, 6.0], [7.5, 9.0]]);
    assert_eq!(mind!(self::layers::scaled(x) : f32[3, 2]), expected);
    assert_eq!(mind!(use self::layers::scaled as by; by(x) : f32[3, 2]), expected);
    let n = Tensor::from([2i64, 4]);
    assert_eq!(mind!(use self::layers; layers::scaled(n) : i64[2]), Tensor::from([3, 6]));
}

#[test]
fn extents_of_arguments_are_numbers_and_parts_of_shapes() {
    let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]);
    assert_eq!(
        mind!(self::layers::paired(x) : f32[2, 4]),
        Tensor::from([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    );
    let v = Tensor::from([1.0f64, 2.0]);
    assert_eq!(mind!(self::layers::grown(v) : f64[3]), Tensor::from([3.0, 3.0, 3.0]));
    // Extents that are known at run time only.
    let open = Tensor::from_vec((4, 2), x.as_slice().to_vec()).unwrap();
    let paired = mind!(self::layers::paired(open));
    assert_eq!((paired.dims(), paired.as_slice()), ([2, 4], x.as_slice()));
    let short = Tensor::from_vec((2,), v.as_slice().to_vec()).unwrap();
    assert_eq!(mind!(self::layers::grown(short)).as_slice(), [3.0, 3.0, 3.0]);
}

#[test]
fn extents_in_arithmetic_are_those_of_the_argument() {
    let (x, h) = (Tensor::from([[1.0f64, 2.0]]), Tensor::from([[10.0f64, 20.0]]));
    let w = Tensor::<f64, (mind::Const<2>, mind::Const<8>)>::from_fn(|[i, j]| (i + j) as f64);
    assert_eq!(mind!(self::layers::gates(x, w, h) : f64[1]), Tensor::from([2.0 + 30.0 + 2.0]));
    let (a, b) = (Tensor::from([[1.0f32, 2.0]]), Tensor::from([[1.0f32, 2.0, 3.0]]));
    let (sum, first) = mind!(self::layers::same(a, b) : (f32, f32[1, 2]));
    assert_eq!((sum, first), (9.0, a));
}

#[test]
fn gradients_go_through_templates() {
    let x = Tensor::from([[1.0f64, -2.0, 3.0], [0.5, 4.0, -1.0]]);
    let w = Tensor::from([[0.1, -0.3], [0.2, 0.4], [-0.5, 0.6]]);
    let b = Tensor::from([0.3, -0.1]);
    let loss = |w: &Tensor![f64; 3, 2]| {
        mind!(sum(nn::softmax(self::layers::dense(x, w, b)) * self::layers::dense(x, w, b)))
    };
    let gradient: Tensor![f64; 3, 2] =
        mind!(grad(sum(nn::softmax(self::layers::dense(x, w, b)) * self::layers::dense(x, w, b)), wrt = w));
    for at in [[0, 0], [1, 1], [2, 0]] {
        let mut near = w.clone();
        near[at] += 1e-6;
        let slope = (loss(&near) - loss(&w)) / 1e-6;
        assert!((slope - gradient[at]).abs() < 1e-4, "{slope} {}", gradient[at]);
    }
    let n: Tensor![f64; 2] = mind!(grad(sum(self::layers::grown(b) * self::layers::grown(b)), wrt = b));
    assert_eq!(n, Tensor::from([1.2, 1.2]));
}

#[test]
fn contracts_are_checked_on_entry_where_extents_are_not_known() {
    let x = Tensor::from_vec((1, 2), vec![1.0f64, 2.0]).unwrap();
    let w = Tensor::from_vec((2, 8), vec![1.0f64; 16]).unwrap();
    let gates = |h: &Tensor<f64, (usize, usize)>| mind!(self::layers::gates(x, w, h)).as_slice().to_vec();
    assert_eq!(gates(&Tensor::from_vec((1, 2), vec![1.0, 1.0]).unwrap()), [3.0 + 2.0 + 2.0]);
    let wrong = Tensor::from_vec((1, 3), vec![1.0; 3]).unwrap();
    let message = std::panic::catch_unwind(|| gates(&wrong)).unwrap_err();
    let message = message.downcast_ref::<String>().expect("a message");
    assert!(
        message.contains(
            "argument `w` of `gates`: expected float[I, 4 * H], found f64[2, 8], but `4 * H` is 12"
        ),
        "{message}"
    );
}

#[test]
fn bounds_are_extents_of_arguments() {
    let x = Tensor::from([[1.0f64, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
    let turned = Tensor::from([[-3.0, -4.0, 1.0, 2.0], [-7.0, -8.0, 5.0, 6.0]]);
    assert_eq!(mind!(self::layers::turned(x) : f64[2, 4]), turned);
    let open = Tensor::from_vec((2, 4), x.as_slice().to_vec()).unwrap();
    assert_eq!(mind!(self::layers::turned(open)).as_slice(), turned.as_slice());
    let mask = Tensor::from([true]);
    assert_eq!(mind!(self::layers::tail(x, mask) : f64[1, 4]), Tensor::from([[5.0, 6.0, 7.0, 8.0]]));
    let some = Tensor::from_vec((1,), vec![false]).unwrap();
    assert_eq!(mind!(self::layers::tail(open, some)).as_slice(), [5.0, 6.0, 7.0, 8.0]);
    // An index, a negative bound, and a bound from two extents.
    let y = Tensor::from([[1.0f64], [2.0], [3.0]]);
    assert_eq!(mind!(x[extent(x, 0) - 1, -extent(y, 0)..] : f64[3]), Tensor::from([6.0, 7.0, 8.0]));
    assert_eq!(mind!(x[0, extent(y, 1)..extent(x, 0) + extent(y, 1)]).as_slice(), [2.0, 3.0]);
    assert_eq!(mind!(slice(y, [0, 0], [extent(x, 0), 1])).as_slice(), [1.0, 2.0]);
}

#[test]
fn gradients_go_through_slices_by_extents() {
    let x = Tensor::from([[1.0f64, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
    let open = Tensor::from_vec((2, 4), x.as_slice().to_vec()).unwrap();
    let w = Tensor::from([1.0f64, 10.0, 100.0, 1000.0]);
    let g = mind!(grad(sum(self::layers::turned(x) * w), wrt = x) : f64[2, 4]);
    assert_eq!(g, Tensor::from([[100.0, 1000.0, -1.0, -10.0]; 2]));
    assert_eq!(mind!(grad(sum(self::layers::turned(open) * w), wrt = open)).as_slice(), g.as_slice());
    // A second derivative, through an index expression and a slice.
    let y = Tensor::from([[1i32], [2], [3]]);
    let second = mind!(grad(sum(grad(sum(x[0, 1..extent(y, 0)] * x[1, ..extent(y, 0) - 1] * x[0, ..2]), wrt = x) * w), wrt = x));
    let third = |a: [[f64; 4]; 2]| {
        // The sum of x0[i + 1] x1[i] x0[i] over two positions i. This is the sum of its gradient times w.
        let w = [1.0, 10.0, 100.0, 1000.0];
        (0..2)
            .map(|i| {
                w[i + 1] * a[1][i] * a[0][i] + w[i] * a[0][i + 1] * a[0][i] + w[i] * a[0][i + 1] * a[1][i]
            })
            .sum::<f64>()
    };
    let at = [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]];
    for (row, column) in (0..2).flat_map(|row| (0..4).map(move |column| (row, column))) {
        let moved = |by: f64| {
            let mut at = at;
            at[row][column] += by;
            third(at)
        };
        let difference = (moved(0.5) - moved(-0.5)) / 1.0;
        assert!((second[[row, column]] - difference).abs() < 1e-9, "{row}, {column}: {second:?}");
    }
    let mask = Tensor::from([true]);
    let tail = mind!(grad(sum(exp(self::layers::tail(x, mask))), wrt = x) : f64[2, 4]);
    assert_eq!(tail[[0, 3]], 0.0);
    assert_eq!(tail[[1, 3]], 8.0f64.exp());
    let both = mind!(grad(sum(grad(sum(exp(self::layers::tail(x, mask))), wrt = x)), wrt = x) : f64[2, 4]);
    assert_eq!(both, tail);
}

#[test]
fn a_variable_of_element_types_is_that_of_its_argument() {
    let (mask, y) = (Tensor::from([true, false]), Tensor::from([1.5f64, 2.5]));
    assert_eq!(mind!(self::layers::weighed(mask, y) : f64[2]), Tensor::from([4.5, 3.0]));
    assert_eq!(mind!(grad(sum(self::layers::weighed(mask, y)), wrt = y) : f64[2]), Tensor::from([1.0, 0.0]));
    let (i, x) = (Tensor::from([3i64, -2]), Tensor::from([1.5f32, -2.5]));
    assert_eq!(mind!(self::layers::converted(i, x) : f32[2]), Tensor::from([3.0, -2.0]));
    assert_eq!(mind!(self::layers::converted(x, i) : i64[2]), Tensor::from([1, -2]));
    assert_eq!(mind!(self::layers::converted(mask, i) : i64[2]), Tensor::from([1, 0]));
    assert_eq!(mind!(self::layers::converted(x, 0.5) : f32[2]), x);
    // The gradient passes through the conversion, back to the element type of `x`.
    let g = mind!(grad(sum(self::layers::converted(x, y) * y), wrt = x) : f32[2]);
    assert_eq!(g, Tensor::from([1.5, 2.5]));
}

#[test]
fn one_hot_is_of_the_element_type_of_an_argument() {
    let i = Tensor::from([1i32, 0]);
    let (x, n) = (Tensor::from([1.5f64, 2.5]), Tensor::from([7i64]));
    assert_eq!(
        mind!(self::layers::hot(i, x, count = 3) : f64[2, 3]),
        Tensor::from([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    );
    assert_eq!(mind!(self::layers::hot(i, n, count = 2) : i64[2, 2]), Tensor::from([[0, 1], [1, 0]]));
    assert_eq!(mind!(self::layers::hot(i, i, count = 2) : i32[2, 2]), Tensor::from([[0, 1], [1, 0]]));
    assert_eq!(
        mind!(self::layers::hot(i, 0.5, count = 2) : f32[2, 2]),
        Tensor::from([[0.0, 1.0], [1.0, 0.0]])
    );
    let at = 1i64;
    let (value, hot, places) = mind!(self::layers::picked(at, x) : (f64, i32[2], f64[2]));
    assert_eq!((value, hot, places), (2.5, Tensor::from([0, 1]), Tensor::from([0.0, 2.5])));
    let g = mind!(use self::layers::picked; let (value, _, places) = picked(at, x); grad(value * value + sum(places), wrt = x) : f64[2]);
    assert_eq!(g, Tensor::from([0.0, 6.0]));
    // The extent is known at run time only.
    let open = Tensor::from_vec((2,), vec![1.5f32, 2.5]).unwrap();
    let (value, _, _) = mind!(self::layers::picked(at, open));
    assert_eq!(value, 2.5);
    assert_eq!(mind!(one_hot(i, 2, dtype = f64) : f64[2, 2]), Tensor::from([[0.0, 1.0], [1.0, 0.0]]));
    assert_eq!(mind!(one_hot(i, 2, dtype = bool) : bool[2, 2]), Tensor::from([[false, true], [true, false]]));
}

#[test]
fn second_derivatives_go_through_conversions() {
    let x = Tensor::from([1.5f32, -2.0]);
    // For x³ in the other type, the first gradient is 3 x². Times x, it is differentiated to 9 x², because both factors
    // count.
    let second = mind!(grad(sum(grad(sum(f64(x) * f64(x) * f64(x)), wrt = x) * x), wrt = x) : f32[2]);
    assert_eq!(second, Tensor::from([9.0 * 2.25, 9.0 * 4.0]));
    assert_eq!(
        mind!(grad(sum(grad(sum(f64(x) * f64(x) * f64(x)), wrt = x)), wrt = x) : f32[2]),
        Tensor::from([9.0, -12.0])
    );
}

#[test]
fn a_pack_stands_in_lists_of_shapes() {
    let x = Tensor::from([[[1.0f64, 2.0], [3.0, 4.0], [5.0, 6.0]]]);
    let flat = Tensor::from([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]);
    assert_eq!(mind!(self::layers::merged(x) : f64[1, 6]), flat);
    let matrix = Tensor::from([[1i32, 2], [3, 4]]);
    assert_eq!(mind!(self::layers::merged(matrix) : i32[4]), Tensor::from([1, 2, 3, 4]));
    let row = Tensor::from([1i64, 2, 3, 4]);
    assert_eq!(
        mind!(self::layers::parted(row, 10, parts = 2) : i64[2, 2]),
        Tensor::from([[11, 12], [13, 14]])
    );
    let y = Tensor::from([[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]]);
    let (ones, sums, places, turned) =
        mind!(self::layers::made(y) : (f32[1, 2, 2], f32[2, 1, 2], i64[1, 2], f32[3, 1, 2]));
    assert_eq!((ones, sums), (Tensor::from([[[1.0; 2]; 2]]), Tensor::from([[[21.0; 2]]; 2])));
    assert_eq!(places, Tensor::from([[0, 1]]));
    assert_eq!(turned, Tensor::from([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]]));
    let (a, b) = (Tensor::from([1.0f32, 2.0]), Tensor::from([[3.0f32], [4.0]]));
    let product: Tensor![f32; 2, 2, 1] = mind!(self::layers::outer(a, b)).into();
    assert_eq!(product, Tensor::from([[[3.0], [4.0]], [[6.0], [8.0]]]));
    assert_eq!(mind!(self::layers::beside(3.0, a) : f32[2]), Tensor::from([4.0, 5.0]));
}

#[test]
fn a_pack_may_be_of_extents_that_run_time_knows() {
    let open = Tensor::from_vec((1, 3, 2), vec![1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let flat = mind!(self::layers::merged(open));
    assert_eq!((flat.dims(), flat.as_slice()), ([1, 6], open.as_slice()));
    let (ones, _, places, turned) = mind!(self::layers::made(open));
    assert_eq!((ones.dims(), places.as_slice()), ([1, 3, 2], &[0i64, 1, 2][..]));
    assert_eq!((turned.dims(), turned.as_slice()), ([2, 1, 3], open.as_slice()));
}

#[test]
fn gradients_go_through_shapes_with_packs() {
    let x = Tensor::from([[[1.0f64, 2.0], [3.0, 4.0], [5.0, 6.0]]]);
    let open = Tensor::from_vec((1, 3, 2), x.as_slice().to_vec()).unwrap();
    let w = Tensor::from([1.0, 1.0, 1.0, 0.0, 0.0, 0.5]);
    let expected = Tensor::from([[[2.0, 4.0], [6.0, 0.0], [0.0, 6.0]]]);
    let g = mind!(grad(sum(self::layers::merged(x) * self::layers::merged(x) @ w), wrt = x) : f64[1, 3, 2]);
    assert_eq!(g, expected);
    let g = mind!(grad(sum(self::layers::merged(open) * self::layers::merged(open) @ w), wrt = open));
    assert_eq!(g.as_slice(), expected.as_slice());
    // A second derivative, through the broadcast.
    let (a, y) = (Tensor::from([1.0f64, 2.0, 3.0, 4.0]), Tensor::from(2.0f64));
    let second: f64 = mind!(
        use self::layers::parted;
        let first = grad(sum(parted(a, y, parts = 2) * parted(a, y, parts = 2)), wrt = a);
        grad(sum(first * a), wrt = y)
    )
    .into();
    assert_eq!(second, 20.0);
}
