//! Compares methods of `Tensor` with the equivalent expressions.

use mind::{Axis, Shape, Tensor, TensorRef, mind};

/// Numbers whose sums are rounded, with zeros of both signs. If there are seven rows, some of them contain NaN.
fn sample(rows: usize, columns: usize) -> Tensor<f32, (usize, usize)> {
    Tensor::from_fn_with((rows, columns), |[i, j]| match (i * 7919 + j * 104_729) % 1013 {
        0 if rows == 7 && i % 3 == 1 => f32::NAN,
        1 => -0.0,
        2 => 0.0,
        other => other as f32 * 0.137 - 30.0,
    })
}

fn bits<S: Shape>(x: &TensorRef<f32, S>) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn reductions_are_those_of_expressions_to_the_bit() {
    for (rows, columns) in [(1, 1), (3, 5), (1, 40_000), (40_000, 1), (300, 401), (7, 20_003)] {
        let x = sample(rows, columns);
        let single = |x: f32| [x].map(f32::to_bits).to_vec();
        assert_eq!(single(x.sum()), single(mind!(sum(x))), "{rows} {columns}");
        assert_eq!(single(x.mean()), single(mind!(mean(x))));
        assert_eq!(single(x.max()), single(mind!(max(x))));
        assert_eq!(single(x.min()), single(mind!(min(x))));
        assert_eq!(single(x.product()), single(mind!(prod(x))));
        assert_eq!(x.argmax() as i64, mind!(argmax(x)));
        assert_eq!(x.argmin() as i64, mind!(argmin(x)));
        assert_eq!(bits(&x.sum_axis(Axis(0))), bits(&mind!(sum(x, axis = 0))));
        assert_eq!(bits(&x.sum_axis(Axis(1))), bits(&mind!(sum(x, axis = 1))));
        assert_eq!(bits(&x.mean_axis(Axis(0))), bits(&mind!(mean(x, axis = 0))));
        assert_eq!(bits(&x.mean_axis(Axis(1))), bits(&mind!(mean(x, axis = 1))));
        assert_eq!(bits(&x.max_axis(Axis(0))), bits(&mind!(max(x, axis = 0))));
        assert_eq!(bits(&x.min_axis(Axis(1))), bits(&mind!(min(x, axis = 1))));
        assert_eq!(bits(&x.product_axis(Axis(0))), bits(&mind!(prod(x, axis = 0))));
        assert_eq!(x.argmax_axis(Axis(1)).to_vec(), mind!(argmax(x, axis = 1)).to_vec());
        assert_eq!(x.argmin_axis(Axis(0)).to_vec(), mind!(argmin(x, axis = 0)).to_vec());
    }
}

#[test]
fn operators_are_those_of_expressions_to_the_bit() {
    let (x, y) = (sample(300, 401), sample(301, 401).slice((1.., ..)));
    assert_eq!(bits(&(&x + &y)), bits(&mind!(x + y)));
    assert_eq!(bits(&(&x - &y)), bits(&mind!(x - y)));
    assert_eq!(bits(&(&x * 0.3)), bits(&mind!(x * 0.3)));
    assert_eq!(bits(&(1.0 / &x / &y)), bits(&mind!(1.0 / x / y)));
}

#[test]
fn results_of_expressions_have_the_methods_too() {
    let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let product = mind!(x @ x.T);
    assert_eq!(product.as_slice(), [14.0, 32.0, 32.0, 77.0]);
    assert_eq!(product.row(1).as_slice(), [32.0, 77.0]);
    assert_eq!(product.rows().map(|row| row.sum()).collect::<Vec<_>>(), [46.0, 109.0]);
    assert_eq!(product.sum_axis(Axis(0)).as_slice(), [46.0, 109.0]);
    assert_eq!((product.t(), product[(0, 1)], product.argmax()), (product.permuted_axes([1, 0]), 32.0, 3));
    assert_eq!(product.slice((.., 1..)).as_slice(), [32.0, 77.0]);
    assert_eq!(Tensor::stack(Axis(2), &[&product, &product]).dims(), [2, 2, 2]);
    assert_eq!((&product + &product).as_slice(), [28.0, 64.0, 64.0, 154.0]);
}

#[test]
fn what_an_axis_leaves_goes_back_into_expressions() {
    let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let means = x.mean_axis(Axis(0));
    assert_eq!(mind!(x - means).as_slice(), [-1.5, -1.5, -1.5, 1.5, 1.5, 1.5]);
    let best = x.argmax_axis(Axis(1));
    let table: Tensor![f32; 3, 1] = Tensor::from([[0.5], [1.5], [2.5]]);
    assert_eq!(mind!(gather(table, best)).as_slice(), [2.5, 2.5]);
}
