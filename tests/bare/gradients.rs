//! Gradients of expressions compared with central differences, by each of their leaves.

use mind::{StaticShape, Tensor, mind};

use crate::support::sample;

/// Panics unless `gradient` is the gradient of `value` at `x` in every direction.
#[track_caller]
fn assert_slopes<S: StaticShape>(
    gradient: &Tensor<f64, S>,
    x: &Tensor<f64, S>,
    value: impl Fn(&Tensor<f64, S>) -> f64,
) {
    for at in 0..x.len() {
        let moved = |by: f64| {
            let mut x = x.clone();
            x.as_mut_slice()[at] += by;
            value(&x)
        };
        let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        let found = gradient.as_slice()[at];
        assert!((found - slope).abs() <= 1e-6 * slope.abs().max(1.0), "at {at}: {found}, expected {slope}");
    }
}

/// `slopes!([x: [2, 3], w: [3, 2]] sum(x @ w))` checks the gradients by `x` and by `w`, for static and for dynamic
/// shapes. With `MIND_TESTS=all` it also checks the gradients by each leaf alone.
macro_rules! slopes {
    ([$($name:ident: [$($dim:literal),*]),*] $($body:tt)*) => {{
        let mut seed = 0;
        $(
            seed += 1;
            let $name: Tensor![f64; $($dim),*] = sample(seed);
        )*
        let value = |$($name: &Tensor![f64; $($dim),*]),*| mind!($($body)* : f64);
        let fixed = mind!(grad($($body)*, wrt = ($($name,)*)));
        let at = ($($name.clone(),)*);
        slopes!(@each value fixed at [$($name)*] [$($name)*] $($body)*);
        $(let $name = $name.as_dyn();)*
        let dynamic = mind!(grad($($body)*, wrt = ($($name,)*)));
        assert_eq!(format!("{dynamic:?}"), format!("{fixed:?}"));
    }};
    (@each $value:ident $fixed:ident $at:ident $all:tt [] $($body:tt)*) => {};
    (@each $value:ident $fixed:ident $at:ident $all:tt [$name:ident $($rest:ident)*] $($body:tt)*) => {
        slopes!(@one $name $value $fixed $at $all $($body)*);
        slopes!(@each $value $fixed $at $all [$($rest)*] $($body)*);
    };
    (@one $name:ident $value:ident $fixed:ident $at:ident [$($all:ident)*] $($body:tt)*) => {{
        #[allow(unused_variables, reason = "it takes one of several gradients")]
        let gradient = { let ($($all,)*) = &$fixed; $name };
        let ($($all,)*) = &$at;
        assert_slopes(gradient, $name, |$name| $value($($all),*));
        #[cfg(every_case)]
        {
            let alone: Tensor<f64, _> = mind!(grad($($body)*, wrt = $name));
            assert_slopes(&alone, $name, |$name| $value($($all),*));
        }
    }};
}

#[test]
fn of_arithmetic() {
    slopes!([x: [2, 3], y: [3]] sum(x * y + x / y - exp(y - x)));
    slopes!([x: [2, 1], y: [4]] mean(log(x) * relu(y - 1.0) + 0.5 * x));
    slopes!([x: [2, 3]] sum(relu(x - 1.0) * x));
    slopes!([x: [3], y: [3, 1, 1]] sum((x + y) * (x + y)));
}

#[test]
fn beside_positions() {
    slopes!([x: [2, 3], y: [3]] sum(where(iota([2, 1]) <= iota(3), x * x, y) * f64(iota(3))));
    slopes!([x: [2, 3]] sum(one_hot([2, 0], 3, dtype = f64) * exp(x)));
}

#[test]
fn of_picked_elements() {
    slopes!([x: [2, 3], y: [2, 2]] sum(take_along(x * x, [[2, 2], [0, 1]], axis = 1) * y));
    slopes!([x: [2, 3]] sum(exp(take_along(x, [[1, 0, 1], [1, 1, 0], [0, 0, 0]], axis = 0))));
    slopes!([x: [3]] sum(grad(sum(take_along(x * x * x, [2, 0, 2], axis = 0)), wrt = x) * x));
}

#[test]
fn of_running_sums() {
    slopes!([x: [2, 3], y: [2, 3]] sum(cumsum(x * x, axis = 0) * y));
    slopes!([x: [2, 3], y: [3]] sum(exp(cumsum(x * y, axis = -1, reverse = true, exclusive = true))));
    slopes!([x: [3]] sum(grad(sum(cumsum(x * x, 0) * cumsum(x, 0, exclusive = true)), wrt = x)));
    slopes!([x: [2, 3], y: [3]] sum(cumprod(x * y, axis = -1) * y));
    slopes!([x: [2, 3], y: [3]] sum(sort(x * x) * y));
    slopes!([x: [2, 3]] sum(cummax(x, axis = 1) * cummin(x, axis = 0, reverse = true)));
    slopes!([x: [3]] sum(grad(sum(cumprod(x, 0, exclusive = true, reverse = true) * x), wrt = x)));
}

#[test]
fn of_joined_tensors() {
    slopes!([x: [2, 3], y: [4, 3]] sum(concat([x, y, x * y[0..2]]) * concat([y, x, x])));
    slopes!([x: [2, 3], y: [2, 1]] mean(exp(concat([y, x], axis = -1))));
    slopes!([x: [2, 3], y: [2, 3]] sum(stack([x, y, x * y]) * stack([y, y, x])));
    slopes!([x: [2, 3], y: [2, 3]] mean(exp(stack([x, y], axis = -2)) @ stack([y, x], axis = 2)));
    slopes!([x: [3]] sum(grad(sum(stack([x * x, x], axis = 1) * stack([x, x * x], axis = -1)), wrt = x)));
    slopes!([x: [2, 3], y: [5, 4]] sum(exp(pad(x * x, [1, 0], [2, 1]) * y)));
    slopes!([x: [3], y: [2]] sum(grad(sum(concat([x * x, y, x]) * concat([y, x, x * x])), wrt = x)));
}

#[test]
fn of_products() {
    slopes!([x: [3], y: [3]] (x @ y) * sum(x));
    slopes!([x: [2, 3], y: [3]] sum(exp(x @ y)));
    slopes!([x: [3], y: [3, 2]] sum(exp(x @ y)));
    slopes!([x: [2, 3], w: [3, 2], b: [2]] mean(relu(x @ w - b) * (x @ w)));
    slopes!([x: [5, 2, 3], w: [3, 2]] sum(exp(x @ w)));
    slopes!([x: [2, 3], w: [4, 3, 2]] sum(exp(x @ w)));
    slopes!([x: [4, 1, 2, 3], w: [5, 3, 2]] sum(exp(x @ w)));
    slopes!([x: [2, 3], y: [4, 3]] sum(exp(x @ y.T)));
    slopes!([x: [2, 2, 3], y: [2, 4, 3]] sum(exp(x @ y.mT)));
    slopes!([x: [2, 3], y: [3]] sum(exp(x[.., 1.., _] * y[_, 1.., _])));
}

#[test]
fn of_reductions() {
    slopes!([x: [2, 3, 2]] sum(exp(sum(x, axes = [0, 2]))));
    slopes!([x: [2, 3]] sum(exp(mean(x, axis = -1, keepdims = true)) * x));
    slopes!([z: [2, 3]] sum(z * (z - log(sum(exp(z), axis = 1, keepdims = true)))));
}

#[test]
fn of_parts_and_arrangement() {
    slopes!([x: [4, 3]] sum(exp(x[1..-1, 2])) + x[0, 0] * x[0, 1]);
    slopes!([x: [4, 5]] sum(exp(slice(x, starts = [0, 1], ends = [4, 5], steps = [3, 2]))));
    slopes!([t: [4, 2]] sum(exp(gather(t, [0, 3, 3]))));
    slopes!([x: [2, 3], y: [3, 2]] sum(x.T * y) * sum(reshape(x, [6])));
    slopes!([x: [2, 3, 2], y: [3, 2, 2]] sum(transpose(x, [1, 0, 2]) * y * y));
    slopes!([x: [1, 3], y: [3]] sum(exp(squeeze(x, axes = [0]) * y) + expand_dims(y, axes = [1]) * x));
    slopes!([x: [3, 1]] sum(exp(broadcast_to(x, [2, 3, 2]))));
}

#[test]
fn of_convolutions() {
    slopes!([x: [1, 4, 5, 2], f: [3, 2, 2, 3]] sum(exp(0.1 * conv2d(x, f, strides = [1, 2], padding = same))));
    slopes!([x: [2, 3, 3, 1], f: [2, 2, 1, 2]] sum(exp(0.1 * conv2d(x, f, padding = [[1, 0], [0, 1]]))));
}

#[test]
fn of_gradients() {
    slopes!([x: [3]] sum(x * grad(sum(x * x * exp(x)), wrt = x)));
}

#[test]
fn of_what_is_taken_as_constant() {
    let x: Tensor![f64; 2, 3] = sample(1);
    assert_eq!(mind!(grad(sum(stop_gradient(x) * x), wrt = x)), x);
}

#[test]
fn a_cotangent_is_pulled_back() {
    let x: Tensor![f64; 2, 3] = sample(1);
    let c: Tensor![f64; 2, 2] = sample(2);
    let pulled = mind!(vjp(x @ x.T, wrt = x)(c));
    assert_slopes(&pulled, &x, |x| mind!(sum(x @ x.T * c)));
}
