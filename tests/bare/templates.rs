//! Templates, of the library and of blocks, as expressions over Rust variables call them.

use mind::{Tensor, mind};

mod layers {
    mind::mind! {
        const WIDTH: dim = 3;

        /// What the names in it mean here is not what they mean where it is called.
        pub fn scaled<N>(x: num[.., N]) { x * WIDTH / N }

        pub fn dense<I, O>(x: float[.., I], w: float[I, O], b: float[O]) { activation(x @ w + b) }

        fn activation(x: float[..]) { nn::silu(x) }

        /// Rows in pairs.
        pub fn paired<N, K>(x: float[N, K]) { reshape(x, [N / 2, 2 * K]) }

        pub fn gates<I, H>(x: float[.., I], w: float[I, 4 * H], h: float[.., H]) { (x @ w)[.., 0] + sum(h, axis = -1) + H }

        pub fn same<..B, T: float>(x: T[..B, 2], y: T[..B, 3]) { (sum(x) + sum(y), x) }

        pub fn grown<N>(x: float[N]) { ones([N + 1, N]) @ x }

        /// The halves of each row the other way around, the second negated.
        pub fn turned<H>(x: float[.., H], const pairs: dim = 2) {
            concat([-x[.., H / pairs..H], x[.., ..H / 2]], axis = -1)
        }

        /// In the element type of the second, of whatever type the first is.
        pub fn weighed<T: float>(x: bool[..], y: T[..]) { cast(x, T) * y + cast(3, T) } pullback(_, dy) { cast(x, T) * dy }

        pub fn converted<T: num>(x, y: T[..]) { cast(x, T) }

        /// As many of the last rows as there are in the mask, from a row on that run time knows.
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
    // Extents that run time knows.
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
            "argument `w` of `gates`: expected float[I, 4 * H], found f64[2, 8], and `4 * H` is 12"
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
    // An index, a negative bound, and one of two extents.
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
    // Of the second order, through an index expression and a slice.
    let y = Tensor::from([[1i32], [2], [3]]);
    let second = mind!(grad(sum(grad(sum(x[0, 1..extent(y, 0)] * x[1, ..extent(y, 0) - 1] * x[0, ..2]), wrt = x) * w), wrt = x));
    let third = |a: [[f64; 4]; 2]| {
        // The sum of x0[i + 1] x1[i] x0[i] over two places, and its gradient times w, summed.
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
    // A gradient goes through it, back to the element type from which it came.
    let g = mind!(grad(sum(self::layers::converted(x, y) * y), wrt = x) : f32[2]);
    assert_eq!(g, Tensor::from([1.5, 2.5]));
}

#[test]
fn second_derivatives_go_through_conversions() {
    let x = Tensor::from([1.5f32, -2.0]);
    // Of x³ in the other type, first 3 x², times x, then 9 x²: both factors count.
    let second = mind!(grad(sum(grad(sum(f64(x) * f64(x) * f64(x)), wrt = x) * x), wrt = x) : f32[2]);
    assert_eq!(second, Tensor::from([9.0 * 2.25, 9.0 * 4.0]));
    assert_eq!(
        mind!(grad(sum(grad(sum(f64(x) * f64(x) * f64(x)), wrt = x)), wrt = x) : f32[2]),
        Tensor::from([9.0, -12.0])
    );
}
