//! Matrix products. An element is a sum of `k` products in any order. Its error is at most `γ(k) = k u / (1 - k u)`
//! times the sum of their magnitudes, where `u` is half of `ε` (Higham, *Accuracy and Stability of Numerical
//! Algorithms*, section 3.1).

use mind::{Const, Tensor};

use super::exact::{Exact, Numbers, Random, Real};

macro_rules! products_of {
    ($name:ident, $ty:ident) => {
        mod $name {
            use super::*;

            mind::mind! {
                fn product<M, K, N>(x: $ty[M, K], y: $ty[K, N]) -> $ty[M, N] { x @ y }
                fn transposed<M, K, N>(x: $ty[K, M], y: $ty[N, K]) -> $ty[M, N] { x.T @ y.T }
                fn by_vector<M, K>(x: $ty[M, K], v: $ty[K]) -> $ty[M] { dot(x, v) }
                fn of_vector<K, N>(v: $ty[K], y: $ty[K, N]) -> $ty[N] { dot(v, y) }
                fn inner<K>(v: $ty[K], w: $ty[K]) -> $ty { dot(v, w) }
                fn image<N>(x: $ty[N, 9, 8, 5], k: $ty[3, 3, 5, 6]) -> $ty[N, 7, 6, 6] {
                    conv2d(x, k, strides = [1, 1], padding = valid)
                }
            }

            #[test]
            fn products_are_within_their_bound_whatever_is_added_up() {
                for k in counts() {
                    for numbers in [Numbers::Constant, Numbers::Random(k as u64)] {
                        let (m, n) = if k > 5000 { (2, 3) } else { (7, 18) };
                        let x: Vec<$ty> = numbers.take(m * k);
                        let y: Vec<$ty> = match numbers {
                            Numbers::Constant => numbers.take(k * n),
                            Numbers::Random(seed) => Numbers::Random(seed + 1).take(k * n),
                        };
                        let x = Tensor::from_vec((m, k), x).expect("as many");
                        let y = Tensor::from_vec((k, n), y).expect("as many");
                        let v = Tensor::from_fn_with((k,), |[l]| x[[0, l]]);
                        let w = Tensor::from_fn_with((k,), |[l]| y[[l, 0]]);
                        let each = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
                        let element = |(i, j)| exact((0..k).map(|l| (x[[i, l]], y[[l, j]])));
                        let all: Vec<Exact> = each.map(element).collect();
                        check("matrices", k, product(&x, &y).as_slice(), &all);
                        let turned = transposed(&turn(&x), &turn(&y));
                        check("transposed matrices", k, turned.as_slice(), &all);
                        check("bare matrices", k, mind::mind!(x @ y).as_slice(), &all);
                        let column: Vec<Exact> = all.iter().step_by(n).copied().collect();
                        check("a matrix by a vector", k, by_vector(&x, &w).as_slice(), &column);
                        check("a vector by a matrix", k, of_vector(&v, &y).as_slice(), &all[..n]);
                        check("vectors", k, &[inner(&v, &w)], &all[..1]);
                    }
                }
            }

            #[test]
            fn convolutions_are_within_their_bound() {
                for numbers in [Numbers::Constant, Numbers::Random(3)] {
                    let x = Tensor::from_vec((4, Const, Const, Const), numbers.take::<$ty>(4 * 360)).expect("as many");
                    let k = Tensor::from_vec((Const, Const, Const, Const), numbers.take::<$ty>(270)).expect("as many");
                    let found = image(&x, &k);
                    let mut all = Vec::new();
                    for [b, i, j, f] in indices([4, 7, 6, 6]) {
                        let window = indices([3, 3, 5, 1]).map(|[p, q, c, _]| (x[[b, i + p, j + q, c]], k[[p, q, c, f]]));
                        all.push(exact(window));
                    }
                    check("an image", 45, found.as_slice(), &all);
                }
            }
        }
    };
}

products_of!(singles, f32);
products_of!(doubles, f64);

/// Small extents, and extents around the blocks of the shared dimension and around lanes.
fn counts() -> Vec<usize> {
    let mut counts: Vec<usize> = (1..=5).chain(31..=33).collect();
    for whole in [64, 128, 512, 1024] {
        counts.extend(whole - 1..=whole + 1);
    }
    let mut random = Random(2);
    counts.extend((0..3).map(|_| random.next() as usize % 4000 + 1));
    counts.push(100_000);
    counts
}

fn exact<T: Real>(factors: impl Iterator<Item = (T, T)>) -> Exact {
    let mut sum = Exact::default();
    factors.for_each(|(x, y)| sum.add_product(x.into(), y.into()));
    sum
}

#[track_caller]
fn check<T: Real>(what: &str, k: usize, found: &[T], all: &[Exact]) {
    assert_eq!(found.len(), all.len(), "{what}");
    let roundings = k as f64 * T::EPSILON / 2.0;
    let most = roundings / (1.0 - roundings);
    for (found, exact) in found.iter().zip(all) {
        let off = exact.distance((*found).into(), 1.0) / exact.magnitude;
        assert!(
            off <= most,
            "{what}, {k} products: off by {off:.2e} of their magnitudes, at most {most:.2e}"
        );
    }
}

fn turn<T: Real>(x: &Tensor<T, (usize, usize)>) -> Tensor<T, (usize, usize)> {
    let [rows, columns] = x.dims();
    Tensor::from_fn_with((columns, rows), |[i, j]| x[[j, i]])
}

fn indices(extents: [usize; 4]) -> impl Iterator<Item = [usize; 4]> {
    (0..extents.iter().product()).map(move |mut at| {
        let mut index = [0; 4];
        for axis in (0..4).rev() {
            (index[axis], at) = (at % extents[axis], at / extents[axis]);
        }
        index
    })
}
