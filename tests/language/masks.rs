//! Gradients behind masks: elements that are not selected contribute nothing, however far the selection is from the
//! values it masks.

use mind::{Tensor, mind};

/// Tests the gradient of a loss of `x` at three numbers, one test per name, of a function and of an expression. With
/// `MIND_TESTS=all` it is tested in every form of the language and both floating-point types.
macro_rules! gradients {
    (of $x:ident: $($name:ident at $at:expr => $right:expr, of $loss:tt)+) => {$(
        #[test]
        fn $name() {
            mind! {
                #[grad(x)]
                fn wide(x: f64[3]) -> f64 { $loss }
            }
            let wide_x = Tensor::from($at);
            let right: Tensor![f64; 3] = Tensor::from($right);
            let close = |found: &Tensor![f64; 3], within: f64| {
                found.as_slice().iter().zip(right.as_slice()).all(|(a, b)| (a - b).abs() <= within * b.abs())
            };
            let found = wide_grad(&wide_x).1;
            assert!(close(&found, 1e-14), "function: {found:?} is not {right:?}");
            let $x = &wide_x;
            let bare = mind!(grad($loss, wrt = $x) : f64[3]);
            assert!(close(&bare, 1e-14), "bare: {bare:?} is not {right:?}");
            #[cfg(every_case)]
            gradients!(other forms of $x at $at, close, right, $loss);
        }
    )+};
    (other forms of $x:ident at $at:expr, $close:ident, $right:ident, $loss:tt) => {
        {
            fn as_wide(x: Tensor![f32; 3]) -> Tensor![f64; 3] {
                Tensor::from_fn(|i: [usize; 1]| f64::from(x[i]))
            }
            mind! {
                fn shared(x: float[..]) { $loss }
                #[grad(x)]
                fn narrow(x: f32[3]) -> f32 { $loss }
                fn wide(x: f64[3]) -> f64 { $loss }
                #[grad(x)]
                fn by_template(x: f64[3]) -> f64 { shared(x) }
                fn by_vjp(x: f64[3]) -> f64[3] { vjp(wide, wrt = x)(x, 1.0) }
            }
            let narrow_x = Tensor::from($at.map(|x: f64| x as f32));
            for (form, found) in [by_template_grad($x).1, by_vjp($x)].iter().enumerate() {
                assert!($close(found, 1e-14), "form {form}: {found:?} is not {:?}", $right);
            }
            let found = as_wide(narrow_grad(&narrow_x).1);
            assert!($close(&found, 1e-6), "f32: {found:?} is not {:?}", $right);
        }
    };
}

const AT: [f64; 3] = [0.0, 1.0, 4.0];

gradients! {
    of x:
    a_sum_under_a_number at AT => [0.0; 3], of (where(min(x) > 0.0, sum(log(x)), 0.0))
    a_mean_under_a_number at AT => [0.0; 3], of (where(min(x) > 0.0, mean(log(x)), 0.0))
    a_maximum_under_a_number at AT => [0.0; 3], of (where(min(x) > 0.0, max(-log(x)), 0.0))
    an_element at AT => [0.0; 3], of (where(x[0] > 0.0, log(x)[0], 0.0))
    a_slice at AT => [0.0; 3], of (where(x[0] > 0.0, sum(log(x)[0..2]), 0.0))
    a_running_sum at AT => [0.0; 3], of (where(min(x) > 0.0, sum(cumsum(log(x), axis = 0)), 0.0))
    a_product_with_finite_numbers at AT => [0.0; 3], of (where(min(x) > 0.0, sqrt(x) @ [1.0, 2.0, 3.0], 0.0))
    a_product_of_all at AT => [0.0; 3], of (where(min(x) > 0.0, prod(log(x)), 0.0))
    another_order at AT => [0.0, 1.0, 0.25], of (
        sum(where(reshape(x > 0.0, [3, 1]), reshape(log(x), [3, 1]), 0.0))
    )
    other_axes at AT => [0.0, 1.0, 0.25], of (sum(where((x > 0.0)[_, ..].T, log(x)[_, ..].T, 0.0)))
    rows_by_their_indices at AT => [0.0, 1.0, 0.25], of (
        sum(where(gather(x, [2, 0, 1]) > 0.0, gather(log(x), [2, 0, 1]), 0.0))
    )
    parts_one_after_the_other at AT => [0.0, 2.0, 0.5], of (
        sum(where(concat([x, x], axis = 0) > 0.0, concat([log(x), log(x)], axis = 0), 0.0))
    )
    rows_that_repeat at AT => [0.0, 2.0, 0.5], of (sum(where(x > 0.0, broadcast_to(log(x), [2, 3]), 0.0)))
    a_value_used_twice at AT => [0.0, 2.0, 3.25], of (
        sum(where(x > 0.0, sqrt(x) + sqrt(x) * sqrt(x) * sqrt(x), 0.0))
    )
    factors_and_quotients_of_nan at [-1.0, 1.0, 4.0] => [0.0, 1.0, 4_f64.ln() + 1.0], of (
        sum(where(x > 0.0, log(x) * x / 1.0, 0.0))
    )
    a_quotient_by_what_is_nan at [-1.0, 1.0, 4.0] => [0.0, 0.5, 0.25], of (
        sum(where(x > 0.0, -1.0 / (1.0 / sqrt(x)) + 2.0 * sqrt(x), 0.0))
    )
    a_pullback_of_nan at [-1.0, 1.0, 4.0] => [0.0, 0.25, 0.04], of (
        sum(where(x > 0.0, nn::sigmoid(log(x)), 0.0))
    )
    a_lower_bound at AT => [0.0, 0.5, 0.25], of (sum(maximum(sqrt(x), 0.5)))
    an_upper_bound at [1000.0, -1.0, -2.0] => [0.0, (-1_f64).exp(), (-2_f64).exp()], of (
        sum(minimum(exp(x), 1.0))
    )
    two_bounds at AT => [0.0, 0.5, 0.25], of (sum(num::clamp(sqrt(x), 0.5, 10.0)))
    a_rectifier at AT => [0.0, 0.0, 0.25], of (sum(relu(log(x))))
    the_largest_of_all at AT => [0.0, 0.0, 0.25], of (max(concat([sqrt(x), log(x)], axis = 0)))
    a_factor_of_zero at AT => [0.0, 0.0, 0.5], of (sum([0.0, 0.0, 2.0] * log(x)))
}

mind! {
    fn masked_root(x: f64) -> f64 { where(x > 0.0, sqrt(x), 0.0) }
    fn root_of_library(x: f64) -> f64 { num::root(x) }
    fn squared_logarithm(x: f64) -> f64 { let l = log(x); l * l }

    fn first(x: f64) -> (f64, f64, f64) {
        (grad(masked_root, wrt = x)(x), grad(root_of_library, wrt = x)(x), grad(squared_logarithm, wrt = x)(x))
    }
    fn second_of_masked(x: f64) -> f64 { first(x).0 }
    fn second_of_root(x: f64) -> f64 { first(x).1 }
    fn second_of_logarithm(x: f64) -> f64 { first(x).2 }
    fn second(x: f64) -> (f64, f64, f64) {
        (
            grad(second_of_masked, wrt = x)(x),
            grad(second_of_root, wrt = x)(x),
            grad(second_of_logarithm, wrt = x)(x),
        )
    }

    fn squared_norm(x: f64[3]) -> f64 { let n = num::norm(x); n * n }
    fn squared_std(x: f64[3]) -> f64 { let s = num::std(x); s * s }
    fn similarity(x: f64[3]) -> f64 { num::cosine_similarity(x, [1.0, 2.0, 3.0]) }
    fn slope_of_norm(x: f64[3], by: f64[3]) -> f64 { sum(grad(squared_norm, wrt = x)(x) * by) }
    fn slope_of_std(x: f64[3], by: f64[3]) -> f64 { sum(grad(squared_std, wrt = x)(x) * by) }
    fn slope_of_similarity(x: f64[3], by: f64[3]) -> f64 { sum(grad(similarity, wrt = x)(x) * by) }
    fn curvatures(x: f64[3], by: f64[3]) -> (f64[3], f64[3], f64[3]) {
        (
            grad(slope_of_norm, wrt = x)(x, by),
            grad(slope_of_std, wrt = x)(x, by),
            grad(slope_of_similarity, wrt = x)(x, by),
        )
    }
}

#[test]
fn second_derivatives_behind_masks_are_those_of_what_is_selected() {
    let at_zero = second(0.0);
    assert_eq!((at_zero.0, at_zero.1), (0.0, 0.0));
    let at_four = second(4.0);
    assert_eq!((at_four.0, at_four.1), (-1.0 / 32.0, -1.0 / 32.0));
    // At 1 the cotangent of the logarithm is 0, but the derivative of the cotangent is not.
    assert_eq!(second(1.0).2, 2.0);
}

#[test]
fn second_derivatives_of_lengths_are_finite_where_these_are_zero() {
    let (norm, std, similarity) = curvatures(&Tensor::from([0.0; 3]), &Tensor::from([1.0, 0.0, -1.0]));
    for found in
        [norm, curvatures(&Tensor::from([2.0; 3]), &Tensor::from([1.0, 0.0, -1.0])).1, std, similarity]
    {
        assert!(found.as_slice().iter().all(|number| *number == 0.0), "{found:?}");
    }
}
