//! Every operation has the same result in the bare form as in the closure form.

use mind::{Const, Tensor, mind};

use crate::{same, support::assert_close};

#[test]
fn a_layer() {
    same!([x: f32[2, 3], w: f32[3, 4], b: f32[4]] relu(x @ w - b));
    same!(dynamic [x: f32[70, 3], w: f32[3, 300], b: f32[300]] relu(x @ w - b));
}

#[test]
fn arithmetic() {
    same!([x: f32[2, 3], y: f32[3]] x + y);
    same!(dynamic [x: f64[2, 3], y: f64[2, 1]] x - y);
    same!([x: i32[2, 3], y: i32[3]] -(x * y) - 2);
    same!(dynamic [x: i64[2, 1], y: i64[4]] x * y + 1 - x);
    same!([x: f32[2, 3], y: f32[4, 1, 1]] x / y);
    same!(dynamic [x: i32[2, 3], y: i32[4, 1, 1]] (x + 100) / (y * y + 1) % 7);
    same!([x: i64[300], y: i64[300]] x % (y * y + 3) - rem(x, -5) / 2);
    same!(dynamic [x: f32[100]] exp(-(x * x)) * x + x * 0.5 - 1.0);
    same!([x: f64[5], y: f64[5]] log(x) * neg(y) + relu(x - y));
    same!(dynamic [x: f32[1, 1], y: f32[4]] x * 2.0 + y * 1e-3);
    same!([x: f32[2, 3]] x * [1.0, 2.0, 3.0] + [[0.5], [0.25]]);
    same!(dynamic [x: f32[3]] stop_gradient(x) * x);
}

#[test]
fn loops_of_equal_and_of_smaller_shapes() {
    // The choice of loops depends on whether the shapes are equal. The result does not.
    same!([x: f32[200], y: f32[200]] exp(-(x * x)) * y + x * 0.5 - 1.0);
    same!(dynamic [x: f32[200], y: f32[3, 200]] exp(-(x * x)) * y + x * 0.5 - 1.0);
    same!([x: f64[2, 1], y: f64[3], z: f64[2, 3]] log(x) + exp(y * z) / exp(z));
}

#[test]
fn products() {
    same!([x: f32[3], y: f32[3]] x @ y + 1.0);
    same!(dynamic [x: f32[2, 3], y: f32[3]] x @ y);
    same!([x: f32[3], y: f32[3, 2]] dot(x, y));
    same!(dynamic [x: f64[5, 2, 3], y: f64[3, 4]] x @ y);
    same!([x: f32[5, 1, 2, 3], y: f32[6, 3, 4]] matmul(x, y));
    same!(dynamic [x: i64[2, 3], y: i64[4, 3]] x @ y.T);
    same!([x: f32[2, 3], y: f32[3, 2]] (x @ y) @ (x @ y));
}

#[test]
fn reductions() {
    same!([x: f32[2, 3, 4]] sum(x));
    same!(dynamic [x: f32[2, 3, 4]] sum(x, axes = [0, -1]));
    same!([x: f64[2, 3, 4]] mean(x, axis = 1, keepdims = true));
    same!(dynamic [x: f64[2, 3, 4]] x.mean() * 2.0);
    same!([x: i32[2, 3, 4]] sum(x, axes = [1, 2], keepdims = true) + x);
    same!(dynamic [z: f32[4, 5]] z - log(sum(exp(z), axes = [1], keepdims = true)));
}

#[test]
fn positions() {
    same!([x: f32[2, 3]] x * f32(iota(3)) + f32(iota([2, 3])));
    same!(dynamic [x: i64[2, 3]] iota([2, 3], axis = 1) * x + iota([2, 1], -2));
    same!([x: i32[2, 2]] one_hot(x, 2));
    same!(dynamic [x: i64[2], y: f32[2, 3]] where(one_hot(x, 3, dtype = bool), y, 0.0));
    same!([x: f32[2, 3], y: i64[4]] sum(x) + f32(one_hot(y, 2 * extent(x, 1))));
    same!(dynamic [x: f32[3, 2]] where(iota(extent(x, 0))[.., _] >= iota(extent(x, 1)), x, 0.0));
    same!([x: i64[3]] sum(one_hot(x, 4, dtype = f64), axis = 0));
    same!(dynamic [x: f32[3, 3]] where(iota(3)[.., _] >= iota(3), x, 0.0));
}

#[test]
fn picked_elements() {
    same!([x: f32[2, 3]] take_along(x, [[2], [0]], axis = 1));
    same!(dynamic [x: f64[2, 3]] x.take_along([[1, 0, 1]], 0) * 2.0);
    same!([x: f32[3, 2], y: f32[3, 2]] take_along(x * y, argmax(y, axis = -1, keepdims = true), axis = -1));
}

#[test]
fn running_sums() {
    same!([x: f32[2, 3]] cumsum(x, axis = 0));
    same!(dynamic [x: f64[2, 3]] cumsum(x * x, -1, reverse = true) + x);
    same!([x: i64[2, 3, 2]] x.cumsum(axis = 1, exclusive = true));
    same!(dynamic [x: i32[5]] cumsum(x, 0, true, true));
    same!([x: f32[2, 3]] cumprod(x, axis = 0, reverse = true) - x);
    same!(dynamic [x: f32[2, 3]] flip(x, axis = -1) + x.flip(0));
    same!([x: f32[2, 3]] roll(x, 1, axis = -1) + x.roll(-4, 0));
    same!(dynamic [x: bool[3], y: f32[3]] where(flip(x, axis = 0), y, -y) + where(x.roll(1, 0), y, 2.0));
    same!([x: f32[2, 3]] sort(x, axis = 0) * f32(argsort(x, descending = true)));
    same!(dynamic [x: f32[2, 3]] cummax(x, axis = 0, reverse = true) * cummin(x, axis = 1));
}

#[test]
fn joining() {
    same!([x: f32[2, 3], y: f32[4, 3]] concat([x, y]));
    same!(dynamic [x: f32[2], y: f32[1]] concat([x, y, x, y, x, y, x, y, x, y, x]));
    same!([x: f32[2, 3], y: f32[2, 1]] concat((x, y * 2.0, x), axis = -1) + 1.0);
    same!(dynamic [x: i64[2, 3]] concat([x.T, [[1, 2]]], 0));
    same!([x: f64[3]] concat([zeros([1]), x, x[1..]]));
    same!(dynamic [x: f32[2, 3], y: f32[2, 3]] stack([x, y * 2.0, x]));
    same!([x: i32[2, 3], y: i32[2, 3]] stack([x, y], axis = -1));
    same!(dynamic [x: f64[2, 3]] stack([x, zeros([2, 3])], axis = 1) * 2.0);
    same!([x: f32[3]] stack([sum(x), x[0], 1.0]));
    same!(dynamic [x: i32[2, 3]] pad(x, low = [1, 0], high = [0, 2]) + 1);
    same!([x: f64[2, 3]] pad(x, [0, 0], [0, 0]));
}

#[test]
fn arrangement() {
    same!([x: f32[2, 6]] reshape(x, [3, -1]));
    same!(dynamic [x: f32[2, 6]] reshape(x + 1.0, [-1]) * 2.0);
    same!([x: f32[2, 3, 4]] x.T);
    same!(dynamic [x: f32[2, 3, 4]] x.mT);
    same!([q: f64[2, 3, 4], k: f64[2, 5, 4]] q @ k.mT);
    same!(dynamic [x: i32[2, 3]] x[.., _] - x[_, 1]);
    same!([x: f32[2, 3]] x[_, .., 1.., _] * x[0, _, 1.., _]);
    same!(dynamic [x: f32[2, 3, 4]] transpose(x, [1, 2, 0]) * 2.0);
    same!([x: f32[2, 3]] expand_dims(x, axes = [0, -1]));
    same!(dynamic [x: f32[1, 3, 1]] squeeze(x, axes = [0]));
    same!([x: f32[3, 1]] broadcast_to(x, [2, 3, 4]));
    same!(dynamic [x: f64[3]] zeros([2, 3]) + x);
    same!([x: f64[3]] ones_like(x) + zeros_like(x) + full([3], 0.5) + ones([3]) * x);
}

#[test]
fn parts() {
    same!([x: f32[4, 5, 6]] x[0, 1..3, .., ]);
    same!(dynamic [x: f32[4, 5, 6]] x[.., -1]);
    same!([x: f32[4, 5, 6]] x[1..-1, ..;2, 2] * 2.0);
    same!(dynamic [x: f32[4, 5]] x[3, 4]);
    same!([x: i64[4, 5]] slice(x, starts = [0, 1], ends = [4, 5], steps = [3, 2]));
    same!(dynamic [t: f32[4, 3], i: i64[5]] gather(t, i));
    same!([t: f64[4], i: i32[2, 2]] gather(t, i) * 2.0);
    same!(dynamic [t: f64[4, 2], i: i32[3]] gather(t, i) * gather(t, [0, 3, 1]));
}

#[test]
fn parts_at_indices_in_tensors() {
    same!([x: f32[4, 5, 6], i: i64[3]] x[i]);
    same!(dynamic [x: f32[4, 5, 6], i: i32[2, 3]] x[i]);
    same!([x: f32[5, 4], i: i32[2, 3]] x[.., i] * 2.0);
    same!(dynamic [x: f32[5, 4, 6], i: i64[2, 3]] x[0.., i]);
    same!([x: f32[3, 5, 4, 6], i: i64[2, 3]] x[.., i, 1..3]);
    same!(dynamic [x: i64[3, 5, 4, 6], i: i64[3]] x[1.., 0, i, ..;2]);
    same!([x: f32[4, 5], i: i64[3], j: i32[3]] x[i, j]);
    same!(dynamic [x: f32[4, 5, 2], i: i64[3, 1], j: i64[2]] x[i, j]);
    same!([x: f32[2, 4, 5, 3], i: i64[3, 1], j: i32[2]] x[0.., i, j]);
    same!(dynamic [x: f64[2, 3, 4, 5], i: i64[3], j: i32[3]] x[.., i, j]);
    same!([x: f64[4, 3, 5, 2], i: i64[2, 3], j: i32[3]] x[i, .., j, 0..]);
    same!(dynamic [x: f64[4, 3, 5, 6], i: i64[2, 3], j: i32[3], k: i64[3]] x[i, 1, j, k]);
    same!([x: f32[3, 4, 5], i: i64[3]] x[1, .., i] + x[1, 0.., i]);
    same!(dynamic [x: f32[4, 3], i: i64[3]] x[i, _, 1..]);
    same!([x: f32[4, 3], i: i64[3]] x[_, i, 1..]);
    same!([x: bool[4, 3]] x[.., [2, 0, 2]]);
    same!(dynamic [x: f32[4, 5], i: i64[3]] x[..;-1, i]);
}

#[test]
fn a_single_number_is_an_index() {
    let x: Tensor![f32; 3, 4] = Tensor::from_fn(|[row, column]| (10 * row + column) as f32);
    let (n, m, i) = (2_i64, 1_u8, Tensor::from([3, 0]));
    let number: f32 = mind!(x[n, m] : f32);
    assert_eq!(number, 21.0);
    assert_close(&mind!(x[n]), &Tensor::from([20.0, 21.0, 22.0, 23.0]));
    assert_close(&mind!(x[.., n]), &Tensor::from([2.0, 12.0, 22.0]));
    assert_close(&mind!(x[m, i]), &Tensor::from([13.0, 10.0]));
    let rows: Vec<f32> = (0..3).map(|k| mind!(x[{ k as i64 }, 1] : f32)).collect();
    assert_eq!(rows, [1.0, 11.0, 21.0]);
}

#[test]
#[should_panic(expected = "E6001")]
fn an_index_out_of_range_is_an_error() {
    let (x, i): (Tensor![f32; 3, 4], _) = (Tensor::zeros(), Tensor::from([0, 4]));
    let _ = mind!(x[.., i, _] + x[0.., i, _]).dims();
}

#[test]
fn ellipses_of_einsum() {
    same!([x: f64[2, 3, 4], w: f64[4, 5]] einsum("...j,jk->...k", x, w));
    same!(dynamic [x: f64[4], w: f64[4, 5]] einsum("...j,jk->...k", x, w));
    same!([x: f64[2, 1, 2, 3], y: f64[4, 3, 2]] einsum("...ij,...jk->...ik", x, y));
    same!(dynamic [x: f64[2, 3], y: f64[4, 3, 2]] einsum("...ij,...jk", x, y));
    same!([x: f64[3, 2, 4]] einsum("i...->...", x));
    same!(dynamic [x: f64[3, 2, 4, 5], y: f64[4, 5]] einsum("i...j,...j->...i", x, y));
    same!([x: f64[2, 3], y: f64[3], z: f64[4, 1, 1]] einsum("...,...,...", x, y, z));
    same!(dynamic [x: f64[2, 3, 4], y: f64[5, 3, 4]] einsum("i...,j...->i...j", x, y));
    same!([x: i64[2, 3, 3]] einsum("...ii->i...", x));
}

#[test]
fn convolutions() {
    same!([x: f32[2, 6, 5, 3], f: f32[3, 2, 3, 4]] conv2d(x, f));
    same!(dynamic [x: f32[2, 6, 5, 3], f: f32[3, 2, 3, 4]] relu(conv2d(x, f, strides = [2, 1], padding = same)));
    same!([x: f64[1, 6, 5, 1], f: f64[3, 2, 1, 1]] conv2d(x, f, padding = [[1, 0], [0, 2]]));
}

#[test]
fn blocks() {
    same!([x: f32[2, 3], w: f32[3, 4]] {
        let h = relu(x @ w);
        let (a, b) = (h * h, h + 1.0);
        sum(a / b)
    });
}

#[test]
fn constants() {
    same!([x: f64[3, 2]] zeros([2, 3]) @ x + x.T @ full([3, 2], 0.5));
    same!(dynamic [x: f32[2]] ones([2, 2]) @ full([2, 2], 0.5) + x);
    same!([x: f32[2]] reshape(ones([2, 3]), [3, 2]) * x);
    let x = 1.0_f32;
    let (a, (b, c, d), e, f) = mind!((full([2, 3], 0.5), (ones([3]), 2.0, [1, 2]), [0.1, 0.1], x));
    assert_close(&a, &Tensor::<f32, (Const<2>, Const<3>)>::full(0.5));
    assert_close(&b, &Tensor::<f32, (Const<3>,)>::full(1.0));
    assert_eq!((c, f), (2.0_f32, x));
    assert_close(&d, &Tensor::<i64, (Const<2>,)>::from([1, 2]));
    assert_close(&e, &Tensor::<f32, (Const<2>,)>::full(0.1));
}
