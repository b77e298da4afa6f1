//! Sums and means over every set of axes, in fused loops and in bare expressions.

use mind::{Const, Shape, Tensor, TensorView};
use mind_tests::{every_case, sample};

use super::exact::{Exact, Numbers, Random, Real};

/// Tests the sums of one element type against exact sums.
macro_rules! sums_of {
    ($name:ident, $ty:ident) => {
        mod $name {
            use super::*;

            mind::mind! {
                fn total<N>(x: $ty[N]) -> ($ty, $ty) { (sum(x), mean(x)) }
                fn of_differences<N>(x: $ty[N]) -> $ty { sum(relu(x) - relu(-x)) }
                fn columns<N, C>(x: $ty[N, C]) -> ($ty[C], $ty[C]) { (sum(x, axes = [0]), mean(x, axes = [0])) }
                fn one<N>(x: $ty[N, 1]) -> $ty[1] { sum(x, axes = [0]) }
                fn three<N>(x: $ty[N, 3]) -> ($ty[3], $ty[3]) { (sum(x, axes = [0]), mean(x, axes = [0])) }
                fn forty<N>(x: $ty[N, 40]) -> $ty[40] { sum(x, axes = [0]) }
                fn wide<N>(x: $ty[N, 300]) -> $ty[300] { sum(x, axes = [0]) }
                fn known(x: $ty[70, 3, 90]) -> ($ty[90], $ty[3], $ty[70, 90], $ty[70, 3]) {
                    (sum(x, axes = [0, 1]), sum(x, axes = [0, 2]), sum(x, axes = [1]), sum(x, axes = [2]))
                }
                fn stored<N, C>(x: $ty[N, C]) -> ($ty[N, C], $ty[C], $ty) {
                    let y = x * 2.0;
                    (y, sum(y, axes = [0]), sum(y))
                }
                fn rows<N, C>(x: $ty[N, C]) -> ($ty[N], $ty[N]) { (sum(x, axes = [1]), mean(x, axes = [1])) }
                fn doubled<N, C>(x: $ty[N, C]) -> $ty[N] { sum(x * 2.0, axes = [1]) }
                fn short<N>(x: $ty[N, 100]) -> $ty[N] { sum(x * 2.0, axes = [1]) }
                fn middle<A, B>(x: $ty[A, B, 5]) -> $ty[A, 5] { sum(x, axes = [1]) }
                fn around<A, B>(x: $ty[A, 7, B]) -> $ty[7] { sum(x, axes = [0, 2]) }
                fn alternate<A, C>(x: $ty[A, 6, C, 4]) -> $ty[6, 4] { sum(x, axes = [0, 2]) }
                fn alternate_few<A>(x: $ty[A, 6, 3, 4]) -> $ty[6, 4] { mean(x * 2.0, axes = [0, 2]) }
                fn numbers<N>(x: $ty[N, 4]) -> ($ty, $ty[N]) {
                    let s = sum(x, axes = [1]);
                    (sum(relu(s) - relu(-s)), s)
                }
                fn quotients<N>(x: $ty[N, 3, 4], by: $ty) -> ($ty, $ty[3]) {
                    let s = sum(x, axes = [2]) / by;
                    (sum(s), sum(s, axes = [0]))
                }
                fn columns_of_a_view<N>(x: $ty[N, 8]) -> $ty[3] { sum(x[0.., 1..7;2], axes = [0]) }
                fn transposed<N, C>(x: $ty[N, C]) -> $ty[C] { sum(transpose(x, [1, 0]) * 2.0, axes = [1]) }
                fn broadcast<N>(x: $ty[3], _like: $ty[N, 3]) -> $ty[3] {
                    sum(relu(broadcast_to(x, [N, 3])) * 2.0, axes = [0])
                }
                #[grad(b)]
                fn loss<N>(x: $ty[N, 2], w: $ty[2, 5], b: $ty[5], t: $ty[N, 5]) -> $ty { sum((x @ w + b) * t) }
            }

            #[test]
            fn millions_of_elements() {
                // Each of these is split between threads.
                let n = if every_case() { 10_000_000 } else { 1_000_001 };
                for numbers in sample("kinds of numbers", [Numbers::Random(7), Numbers::Constant]) {
                    let elements = numbers.take::<$ty>(3 * n);
                    let x = TensorView::from_slice((n,), &elements[..n]).expect("as many");
                    let (sum, mean) = total(&x);
                    let all = Kept::of(&elements[..n], &[n], &[false]);
                    all.sums("total", &[sum]);
                    all.means("mean", &[mean]);
                    let x = TensorView::from_slice((n, Const), &elements[..n]).expect("as many");
                    all.sums("one column", one(&x).as_slice());
                    all.sums("bare", &[mind::mind!(sum(x))]);
                    let x = TensorView::from_slice((n, 1), &elements[..n]).expect("as many");
                    all.sums("bare column", mind::mind!(sum(x, axes = [0])).as_slice());
                    let x = TensorView::from_slice((n, Const), &elements[..]).expect("as many");
                    let (sums, means) = three(&x);
                    let columns = Kept::of(&elements, &[n, 3], &[false, true]);
                    columns.sums("three columns", sums.as_slice());
                    columns.means("means of three columns", means.as_slice());
                    let x = TensorView::from_slice((2, n), &elements[..2 * n]).expect("as many");
                    Kept::of(&elements[..2 * n], &[2, n], &[true, false])
                        .sums("long rows", doubled(&x).as_slice().iter().map(|x| x / 2.0).collect::<Vec<_>>().as_slice());
                }
            }

            #[test]
            fn few_elements_and_numbers_around_every_threshold() {
                for n in counts() {
                    for numbers in [Numbers::Constant, Numbers::Random(n as u64)] {
                        sums(n, numbers);
                    }
                }
            }

            fn sums(n: usize, numbers: Numbers) {
                // For large extents, some of the sums are enough.
                let many = n > 3000;
                let all = numbers.take::<$ty>(if many { 33 * n } else { 300 * n.max(70) });
                let halves = |found: &[$ty]| found.iter().map(|x| x / 2.0).collect::<Vec<$ty>>();
                let one_axis = &all[..n];
                let of_all = Kept::of(one_axis, &[n], &[false]);
                let x = of((n,), one_axis);
                let (sum, mean) = total(&x);
                of_all.sums("total", &[sum]);
                of_all.means("mean", &[mean]);
                of_all.sums("differences", &[of_differences(&x)]);
                of_all.sums("bare", &[mind::mind!(sum(x))]);
                of_all.sums("one column", one(&of((n, Const), one_axis)).as_slice());
                for c in [1, 2, 10, 33] {
                    let elements = &all[..n * c];
                    let x = of((n, c), elements);
                    let (columns_of, rows_of) = (
                        Kept::of(elements, &[n, c], &[false, true]),
                        Kept::of(elements, &[c, n], &[true, false]),
                    );
                    let (sums, means) = columns(&x);
                    columns_of.sums("columns", sums.as_slice());
                    columns_of.means("means of columns", means.as_slice());
                    let (y, sums, sum) = stored(&x);
                    columns_of.sums("columns of what is stored", &halves(sums.as_slice()));
                    Kept::of(elements, &[n * c], &[false]).sums("all that is stored", &[sum / 2.0]);
                    assert_eq!(halves(y.as_slice()), elements);
                    columns_of.sums("bare columns", mind::mind!(sum(x, axes = [0])).as_slice());
                    columns_of.means("bare means", mind::mind!(mean(x, axes = [0])).as_slice());
                    columns_of.sums("transposed", &halves(transposed(&x).as_slice()));
                    let x = of((c, n), elements);
                    let (sums, means) = rows(&x);
                    rows_of.sums("rows", sums.as_slice());
                    rows_of.means("means of rows", means.as_slice());
                    rows_of.sums("computed rows", &halves(doubled(&x).as_slice()));
                    rows_of.sums("bare rows", mind::mind!(sum(x, axes = [1])).as_slice());
                }
                if many {
                    return;
                }
                let elements = &all[..n * 3];
                let (sums, means) = three(&of((n, Const), elements));
                let kept = Kept::of(elements, &[n, 3], &[false, true]);
                kept.sums("three columns", sums.as_slice());
                kept.means("means of three columns", means.as_slice());
                let elements = &all[..n * 40];
                Kept::of(elements, &[n, 40], &[false, true])
                    .sums("forty columns", forty(&of((n, Const), elements)).as_slice());
                let elements = &all[..n * 300];
                Kept::of(elements, &[n, 300], &[false, true])
                    .sums("wide columns", wide(&of((n, Const), elements)).as_slice());
                let elements = &all[..n * 8];
                let x = of((n, Const), elements);
                let kept = Kept::of(elements, &[n, 8], &[false, true]);
                kept.only(&[1, 3, 5]).sums("columns of a view", columns_of_a_view(&x).as_slice());
                let elements = &all[..n * 4];
                let (sum, s) = numbers_of(n, elements);
                Kept::of(s.as_slice(), &[n], &[false]).sums("numbers of rows", &[sum]);
                let elements = &all[..n * 12];
                let x = of((n, Const, Const), elements);
                let (sum, sums) = quotients(&x, 1.0);
                Kept::of(elements, &[n * 12], &[false]).sums("all quotients", &[sum]);
                Kept::of(elements, &[n, 3, 4], &[false, true, false]).sums("quotients", sums.as_slice());
                let x = of((Const,), &all[..3]);
                let repeated: Vec<$ty> = (0..n).flat_map(|_| all[..3].iter().map(|x| x.max(0.0))).collect();
                Kept::of(&repeated, &[n, 3], &[false, true])
                    .sums("broadcast", &halves(broadcast(&x, &Tensor::zeros_with((n, Const))).as_slice()));
                let t = of((n, Const), &all[..n * 5]);
                let zeros = Tensor::zeros_with((n, Const));
                let (_, db) = loss_grad(&zeros, &Tensor::zeros(), &Tensor::zeros(), &t);
                Kept::of(t.as_slice(), &[n, 5], &[false, true]).sums("gradient of a bias", db.as_slice());
                for (a, b) in [(n, 3), (3, n), (n.div_ceil(6), 6)] {
                    let elements = &all[..a * b * 5];
                    Kept::of(elements, &[a, b, 5], &[true, false, true])
                        .sums("middle axis", middle(&of((a, b, Const), elements)).as_slice());
                    let elements = &all[..a * b * 7];
                    let x = of((a, Const, b), elements);
                    let kept = Kept::of(elements, &[a, 7, b], &[false, true, false]);
                    kept.sums("axes around one", around(&x).as_slice());
                    kept.sums("bare axes around one", mind::mind!(sum(x, axes = [0, 2])).as_slice());
                    let elements = &all[..a * b * 24];
                    let x = of((a, Const, b, Const), elements);
                    let kept = Kept::of(elements, &[a, 6, b, 4], &[false, true, false, true]);
                    kept.sums("every other axis", alternate(&x).as_slice());
                    kept.sums("bare every other axis", mind::mind!(sum(x, axes = [0, 2])).as_slice());
                    kept.sums("bare every other axis", mind::mind!(sum(x, axes = [-4, -2])).as_slice());
                }
                let elements = &all[..n * 72];
                Kept::of(elements, &[n, 6, 3, 4], &[false, true, false, true])
                    .means("every other of few", &halves(alternate_few(&of((n, Const, Const, Const), elements)).as_slice()));
                let elements = &all[..70 * 270];
                let x = of((Const, Const, Const), elements);
                let (first, second, third, fourth) = known(&x);
                let kept = |kept: [bool; 3]| Kept::of(elements, &[70, 3, 90], &kept);
                kept([false, false, true]).sums("known over 0 and 1", first.as_slice());
                kept([false, true, false]).sums("known over 0 and 2", second.as_slice());
                kept([true, false, true]).sums("known over 1", third.as_slice());
                kept([true, true, false]).sums("known over 2", fourth.as_slice());
                let elements = &all[..n * 100];
                Kept::of(elements, &[n, 100], &[true, false])
                    .sums("rows of known length", &halves(short(&of((n, Const), elements)).as_slice()));
            }

            /// Sums of rows that are exact, because each row has one nonzero element.
            fn numbers_of(n: usize, elements: &[$ty]) -> ($ty, Tensor<$ty, (usize,)>) {
                let x = Tensor::from_fn_with((n, Const), |[i, j]| if j == 0 { elements[i] } else { 0.0 });
                numbers(&x)
            }
        }
    };
}

sums_of!(singles, f32);
sums_of!(doubles, f64);

/// Small numbers, and numbers around whole chains, lanes, leaves and columns.
fn counts() -> Vec<usize> {
    let mut counts: Vec<usize> = (1..=6).chain(31..=34).chain(43..=46).collect();
    for whole in [64, 512, 1024, 16 * 1024] {
        counts.extend(whole - 1..=whole + 1);
    }
    let mut random = Random(1);
    counts.extend((0..4).map(|_| random.next() as usize % 2000 + 1));
    counts
}

fn of<T: Real, S: Shape>(shape: S, elements: &[T]) -> Tensor<T, S> {
    let mut tensor = Tensor::zeros_with(shape);
    tensor.as_mut_slice().copy_from_slice(elements);
    tensor
}

/// The exact sums over the axes of a tensor that are not kept, and the number of elements in each.
struct Kept {
    sums: Vec<Exact>,
    count: usize,
}

impl Kept {
    fn of<T: Real>(elements: &[T], dims: &[usize], kept: &[bool]) -> Self {
        assert_eq!(dims.iter().product::<usize>(), elements.len());
        let len = dims.iter().zip(kept).filter(|(_, kept)| **kept).map(|(extent, _)| extent).product();
        let mut strides = vec![0; dims.len()];
        let mut stride = 1;
        for axis in (0..dims.len()).rev().filter(|axis| kept[*axis]) {
            (strides[axis], stride) = (stride, stride * dims[axis]);
        }
        let mut sums = vec![Exact::default(); len];
        let (mut index, mut at) = (vec![0; dims.len()], 0);
        for element in elements {
            sums[at].add((*element).into());
            for axis in (0..dims.len()).rev() {
                index[axis] += 1;
                at += strides[axis];
                if index[axis] < dims[axis] {
                    break;
                }
                at -= strides[axis] * dims[axis];
                index[axis] = 0;
            }
        }
        Self { sums, count: elements.len() / len }
    }

    /// Keeps only some of the sums.
    fn only(self, which: &[usize]) -> Self {
        Self { sums: which.iter().map(|sum| self.sums[*sum]).collect(), ..self }
    }

    #[track_caller]
    fn sums<T: Real>(&self, what: &str, found: &[T]) {
        self.check(what, found, 1.0);
    }

    #[track_caller]
    fn means<T: Real>(&self, what: &str, found: &[T]) {
        self.check(what, found, self.count as f64);
    }

    /// Checks results against the sums divided by `by`.
    #[track_caller]
    fn check<T: Real>(&self, what: &str, found: &[T], by: f64) {
        assert_eq!(found.len(), self.sums.len(), "{what}");
        let most = 4.0 * T::EPSILON * (self.count as f64).log2();
        for (found, exact) in found.iter().zip(&self.sums) {
            let off = exact.distance((*found).into(), by) / (exact.magnitude / by);
            assert!(
                off <= most || exact.magnitude == 0.0,
                "{what} of {} elements: off by {off:.2e} of their magnitudes, {:.1} times as much as it may be",
                self.count,
                off / most
            );
        }
    }
}

mod finite {
    mind::mind! {
        pub fn total<N>(x: f32[N]) -> f32 { sum(x) }
        pub fn columns<N, C>(x: f32[N, C]) -> f32[C] { sum(x, axes = [0]) }
    }
}

#[test]
fn sums_with_what_is_not_finite_are_what_additions_give() {
    for n in [3, 40, 100, 2000, 40_000] {
        let with = |at: &[(usize, f32)]| {
            let mut x = vec![1.0; n];
            at.iter().for_each(|(position, value)| x[*position] = *value);
            let bare = of((n,), &x);
            [mind::mind!(sum(bare)), finite::total(&bare), finite::columns(&of((n, 1), &x)).as_slice()[0]]
        };
        let infinite = f32::INFINITY;
        assert_eq!(with(&[(n / 2, infinite)]), [infinite; 3]);
        assert_eq!(with(&[(0, -infinite), (n - 1, -infinite)]), [-infinite; 3]);
        assert!(with(&[(0, infinite), (n - 1, -infinite)]).iter().all(|sum| sum.is_nan()));
        assert!(with(&[(n / 3, f32::NAN)]).iter().all(|sum| sum.is_nan()));
        assert_eq!(with(&[(0, f32::MAX), (1, f32::MAX), (2, f32::MAX)])[2], infinite);
    }
}
