use super::super::LinearAlgebra;
use crate::kernels::memory::Storable;
use crate::parallel::tests::Threads;

/// Numbers between -1 and 1 without an apparent order.
fn scattered(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Matrices of every kind that is hard for decompositions.
fn matrices(m: usize, n: usize) -> Vec<(&'static str, Vec<f64>)> {
    let random = scattered(m * n, (m * 1000 + n) as u64);
    let of = |f: &dyn Fn(usize, usize) -> f64| (0..m * n).map(|at| f(at / n, at % n)).collect::<Vec<_>>();
    let power = |i: usize, len: usize| 10.0_f64.powf(10.0 - 20.0 * i as f64 / len.max(2) as f64);
    let (left, right) = (scattered(2 * m, 5), scattered(2 * n, 6));
    let all = vec![
        ("random", random.clone()),
        ("columns from large to small", of(&|i, j| random[i * n + j] * power(j, n))),
        ("columns from small to large", of(&|i, j| random[i * n + j] * power(n - j, n))),
        ("rows from large to small", of(&|i, j| random[i * n + j] * power(i, m))),
        ("both from large to small", of(&|i, j| random[i * n + j] * (power(i, m) * power(j, n)).sqrt())),
        (
            "both from small to large",
            of(&|i, j| random[i * n + j] * (power(m - i, m) * power(n - j, n)).sqrt()),
        ),
        ("Hilbert", of(&|i, j| 1.0 / (i + j + 1) as f64)),
        ("rank 2", of(&|i, j| left[i] * right[j] + left[m + i] * right[n + j])),
        ("zero", vec![0.0; m * n]),
        ("identity", of(&|i, j| f64::from(u8::from(i == j)))),
        (
            "nearly identity",
            of(&|i, j| f64::from(u8::from(i == j)) + 1e-9 * random[(i.min(j) * n + i.max(j)) % (m * n)]),
        ),
        ("ones", vec![1.0; m * n]),
        ("1, -2, 1", of(&|i, j| [-2.0, 1.0].get(i.abs_diff(j)).copied().unwrap_or(0.0))),
        (
            "Wilkinson",
            of(&|i, j| {
                if i == j {
                    (i as f64 - (n / 2) as f64).abs()
                } else {
                    f64::from(u8::from(i.abs_diff(j) == 1))
                }
            }),
        ),
        ("triangular", of(&|i, j| if i <= j { random[i * n + j] } else { 0.0 })),
        ("zero columns", of(&|i, j| if j % 2 == 0 { 0.0 } else { random[i * n + j] })),
        ("tiny", random.iter().map(|x| x * 1e-30).collect()),
        ("huge", random.iter().map(|x| x * 1e30).collect()),
        ("tiny and huge", of(&|i, j| random[i * n + j] * if (i + j) % 3 == 0 { 1e25 } else { 1e-25 })),
    ];
    // Products in `f64` take long without optimisation.
    let is_taken = |at: &usize| m.max(n) < 16 || at % 6 == m % 6;
    all.into_iter().enumerate().filter(|(at, _)| is_taken(at)).map(|(_, kind)| kind).collect()
}

const SIZES: &[[usize; 2]] = &[
    [1, 1],
    [1, 5],
    [5, 1],
    [2, 2],
    [3, 3],
    [4, 4],
    [3, 7],
    [7, 3],
    [8, 8],
    [16, 16],
    [17, 15],
    [33, 33],
    [40, 64],
    [70, 68],
    [90, 30],
];

/// An element type with the functions of these tests.
trait Tested: LinearAlgebra + Storable {
    fn double(self) -> f64;
    fn word(self) -> u64;
}

impl Tested for f32 {
    fn double(self) -> f64 {
        f64::from(self)
    }

    fn word(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Tested for f64 {
    fn double(self) -> f64 {
        self
    }

    fn word(self) -> u64 {
        self.to_bits()
    }
}

fn rounded<T: Tested>(x: &[f64]) -> Vec<T> {
    x.iter().map(|x| T::of(*x)).collect()
}

/// A matrix in `f64`.
#[derive(Clone)]
struct Dense {
    columns: usize,
    data: Vec<f64>,
}

impl Dense {
    fn of<T: Tested>(data: &[T], columns: usize) -> Self {
        Self { columns, data: data.iter().map(|x| x.double()).collect() }
    }

    fn rows(&self) -> usize {
        self.data.len() / self.columns
    }

    fn transposed(&self) -> Self {
        let (rows, columns) = (self.rows(), self.columns);
        let data = (0..rows * columns).map(|at| self.data[at % rows * columns + at / rows]).collect();
        Self { columns: rows, data }
    }

    fn times(&self, other: &Self) -> Self {
        let mut data = vec![0.0; self.rows() * other.columns];
        for (to, row) in data.chunks_mut(other.columns).zip(self.data.chunks(self.columns)) {
            for (x, other) in row.iter().zip(other.data.chunks(other.columns)) {
                to.iter_mut().zip(other).for_each(|(to, other)| *to += x * other);
            }
        }
        Self { columns: other.columns, data }
    }

    /// The columns multiplied by factors.
    fn scaled(mut self, factors: &[f64]) -> Self {
        for row in self.data.chunks_mut(self.columns) {
            row.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
        }
        self
    }

    /// The root of the sum of the squares of the elements.
    fn norm(&self) -> f64 {
        let largest = self.data.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        if largest == 0.0 {
            0.0
        } else {
            largest * self.data.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt()
        }
    }

    fn minus(&self, other: &Self) -> Self {
        let data = self.data.iter().zip(&other.data).map(|(a, b)| a - b).collect();
        Self { columns: self.columns, data }
    }

    fn column(&self, j: usize) -> Self {
        Self { columns: 1, data: self.data.iter().skip(j).step_by(self.columns).copied().collect() }
    }

    /// The distance of the products of columns from those of an orthogonal matrix.
    fn distance_from_orthogonal(&self) -> f64 {
        let k = self.columns;
        let identity = (0..k * k).map(|at| f64::from(u8::from(at / k == at % k))).collect();
        self.transposed().times(self).minus(&Self { columns: k, data: identity }).norm()
    }
}

/// The norm of an error is at most this many times `ε √n` times the norm of the matrix.
const BOUND: f64 = 20.0;

fn is_small<T: Tested>(error: f64, norm: f64, n: usize, what: &str) {
    let bound = BOUND * T::EPSILON.double() * (n as f64).sqrt() * norm;
    assert!(error <= bound, "{what}: {error:e} is more than {bound:e}");
}

/// The eigenvectors and columns of U and V have a sign that their elements determine.
fn have_signs(vectors: &Dense) {
    for j in 0..vectors.columns {
        let column = vectors.column(j).data;
        let largest = column.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let first = column.iter().find(|x| x.abs() >= 0.5 * largest).expect("an element");
        assert!(*first >= 0.0, "column {j}");
    }
}

fn qr_is_right<T: Tested>() {
    for [m, n] in SIZES.iter().copied() {
        let k = m.min(n);
        for (kind, matrix) in matrices(m, n) {
            let a: Vec<T> = rounded(&matrix);
            let mut out = vec![T::NAN; (m + n) * k];
            T::qr([m, n], &a, &mut out);
            let (q, r) = (Dense::of(&out[..m * k], k), Dense::of(&out[m * k..], k).transposed());
            let (a, what) = (Dense::of(&a, n), format!("{kind}, {m} by {n}"));
            is_small::<T>(q.distance_from_orthogonal(), 1.0, k * m, &what);
            let product = q.times(&r);
            for j in 0..n {
                // The error of a column is relative to the column, however small.
                let column = a.column(j);
                is_small::<T>(product.column(j).minus(&column).norm(), column.norm(), k * m, &what);
            }
            assert!((0..k).all(|i| (0..i).all(|j| r.data[i * n + j] == 0.0)), "{what}");
        }
    }
}

#[test]
fn q_is_orthogonal_and_q_times_r_is_the_matrix() {
    qr_is_right::<f32>();
    qr_is_right::<f64>();
}

fn eigh_is_right<T: Tested>() {
    for [_, n] in SIZES.iter().copied() {
        for (kind, matrix) in matrices(n, n) {
            // The upper triangle is not read.
            let a: Vec<T> = rounded(&matrix);
            let a: Vec<T> = (0..n * n).map(|at| if at / n >= at % n { a[at] } else { T::NAN }).collect();
            let mut out = vec![T::NAN; (n + 1) * n];
            T::eigh(n, &a, &mut out);
            let a = Dense::of(&a, n);
            let a = (0..n * n).map(|at| a.data[(at / n).max(at % n) * n + (at / n).min(at % n)]).collect();
            let (a, what) = (Dense { columns: n, data: a }, format!("{kind}, {n} by {n}"));
            let (values, vectors) = (Dense::of(&out[..n], n), Dense::of(&out[n..], n));
            is_small::<T>(vectors.distance_from_orthogonal(), 1.0, n * n, &what);
            let error = a.times(&vectors).minus(&vectors.clone().scaled(&values.data)).norm();
            is_small::<T>(error, a.norm(), n * n, &what);
            assert!(values.data.is_sorted(), "{what}");
            have_signs(&vectors);
        }
    }
}

#[test]
fn eigenvectors_are_orthogonal_and_scaled_by_the_matrix() {
    eigh_is_right::<f32>();
    eigh_is_right::<f64>();
}

fn svd_is_right<T: Tested>() {
    for [m, n] in SIZES.iter().copied() {
        let k = m.min(n);
        for (kind, matrix) in matrices(m, n) {
            let a: Vec<T> = rounded(&matrix);
            let mut out = vec![T::NAN; (1 + m + n) * k];
            T::svd([m, n], &a, &mut out);
            let (a, what) = (Dense::of(&a, n), format!("{kind}, {m} by {n}"));
            let values = Dense::of(&out[..k], k);
            let (u, v) = (Dense::of(&out[k..][..m * k], k), Dense::of(&out[k + m * k..], k));
            is_small::<T>(u.distance_from_orthogonal(), 1.0, k * m, &what);
            is_small::<T>(v.distance_from_orthogonal(), 1.0, k * n, &what);
            let error = u.clone().scaled(&values.data).times(&v.transposed()).minus(&a).norm();
            is_small::<T>(error, a.norm(), m * n, &what);
            assert!(values.data.is_sorted_by(|a, b| a >= b) && values.data[k - 1] >= 0.0, "{what}");
            have_signs(if m < n { &v } else { &u });
        }
    }
}

#[test]
fn singular_vectors_are_orthogonal_and_multiply_to_the_matrix() {
    svd_is_right::<f32>();
    svd_is_right::<f64>();
}

/// All decompositions of a batch, one after the other, as words.
fn all<T: Tested>(count: usize, [m, n]: [usize; 2], a: &[T]) -> Vec<u64> {
    let k = m.min(n);
    let mut of_qr = vec![T::ZERO; count * (m + n) * k];
    T::qr([m, n], a, &mut of_qr);
    let mut of_svd = vec![T::ZERO; count * (1 + m + n) * k];
    T::svd([m, n], a, &mut of_svd);
    let squares: Vec<T> =
        a.chunks(m * n).flat_map(|a| a.chunks(n).take(k).flat_map(|row| &row[..k])).copied().collect();
    let mut of_eigh = vec![T::ZERO; count * (k + 1) * k];
    T::eigh(k, &squares, &mut of_eigh);
    of_qr.iter().chain(&of_svd).chain(&of_eigh).map(|x| x.word()).collect()
}

fn have_the_same_bits<T: Tested>() {
    for (count, m, n) in [(300, 4, 4), (40, 9, 16), (7, 40, 33), (1, 100, 100), (1, 200, 70)] {
        let a: Vec<T> = rounded(&scattered(count * m * n, 3));
        let words = |threads| {
            let _held = Threads::set(threads);
            all(count, [m, n], &a)
        };
        let alone = words(1);
        for threads in [2, 7, 128] {
            assert!(words(threads) == alone, "{count} matrices, {m} by {n}, {threads} threads");
        }
        let first = all(1, [m, n], &a[..m * n]);
        let k = m.min(n);
        assert!(
            alone.starts_with(&first[..(m + n) * k]),
            "a batch decomposes each matrix as if it were alone"
        );
    }
}

#[test]
fn every_number_of_threads_gives_the_same_bits() {
    have_the_same_bits::<f32>();
    have_the_same_bits::<f64>();
}

#[test]
fn a_matrix_with_an_element_that_is_no_number_has_a_decomposition_of_nan() {
    for [m, n] in SIZES.iter().copied() {
        let k = m.min(n);
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in [0, m * n / 2, m * n - 1] {
                // The other matrices of the batch stay right.
                let mut a = scattered(3 * m * n, 9);
                let others = all(1, [m, n], &a[2 * m * n..]);
                a[m * n + at] = wrong;
                let (mut of_qr, mut of_svd) = (vec![0.0; 3 * (m + n) * k], vec![0.0; 3 * (1 + m + n) * k]);
                f64::qr([m, n], &a, &mut of_qr);
                f64::svd([m, n], &a, &mut of_svd);
                let mut square = scattered(k * k, 9);
                square[at % k] = if at % k == 0 { wrong } else { square[at % k] };
                square[k * k - 1] = wrong;
                let mut of_eigh = vec![0.0; (k + 1) * k];
                f64::eigh(k, &square, &mut of_eigh);
                assert!(of_eigh.iter().all(|x| x.is_nan()));
                let len = (m + n) * k;
                assert!(
                    of_qr[len..2 * len].iter().all(|x| x.is_nan())
                        && !of_qr[..len].iter().any(|x| x.is_nan())
                );
                let words = of_qr[2 * len..].iter().map(|x| x.to_bits());
                let len = (1 + m + n) * k;
                assert!(
                    of_svd[len..2 * len].iter().all(|x| x.is_nan())
                        && !of_svd[..len].iter().any(|x| x.is_nan())
                );
                assert!(others.starts_with(
                    &words.chain(of_svd[2 * len..].iter().map(|x| x.to_bits())).collect::<Vec<_>>()
                ));
            }
        }
    }
}

#[test]
fn empty_matrices_have_empty_decompositions() {
    for [m, n] in [[0, 0], [0, 3], [3, 0]] {
        f32::qr([m, n], &[], &mut []);
        f32::svd([m, n], &[], &mut []);
    }
    f64::eigh(0, &[], &mut []);
    f64::eigh(2, &[], &mut []);
    f64::qr([3, 2], &[], &mut []);
}

/// Matrices of integers and their decompositions by NumPy 2, with the signs that these functions choose.
mod recorded {
    pub(super) const TALL: [f64; 12] = [2.0, -1.0, 3.0, 4.0, 0.0, -2.0, -3.0, 5.0, 1.0, 1.0, 2.0, -4.0];
    pub(super) const WIDE: [f64; 12] = [2.0, 4.0, -3.0, 1.0, -1.0, 0.0, 5.0, 2.0, 3.0, -2.0, 1.0, -4.0];
    pub(super) const SYMMETRIC: [f64; 16] =
        [4.0, 1.0, -2.0, 2.0, 1.0, 2.0, 0.0, 1.0, -2.0, 0.0, 3.0, -2.0, 2.0, 1.0, -2.0, -1.0];

    #[rustfmt::skip]
    pub(super) const QR_OF_TALL: [f64; 21] = [
        -0.3651483716701107, 0.0, -0.7606388292556651,
        -0.7302967433402215, -0.42163702135578385, -0.028171808490950523,
        0.5477225575051662, -0.7378647873726218, -0.3662335103823573,
        -0.18257418583505539, -0.5270462766947299, 0.5352643613280604,
        -5.47722557505166, 0.0, 0.0,
        2.738612787525831, -4.743416490252569, 0.0,
        1.643167672515499, 2.213594362117865, -4.732863826479693,
    ];
    #[rustfmt::skip]
    pub(super) const QR_OF_WIDE: [f64; 21] = [
        -0.5345224838248486, -0.8365362877141229, 0.12038585308576914,
        0.2672612419124244, -0.0321744726043893, 0.9630868246861536,
        -0.8017837257372731, 0.5469660342746188, 0.24077170617153842,
        -3.7416573867739413, 0.0, 0.0,
        -0.5345224838248486, -4.44007721940573, 0.0,
        2.138089935299395, 2.895702534395041, 4.695048270344999,
        3.2071349029490928, -3.088749370021378, 1.0834726777719235,
    ];
    #[rustfmt::skip]
    pub(super) const EIGH: [f64; 20] = [
        -2.1975169774394243, 1.0843644637732166, 2.2685314064312423, 6.844621107234965,
        -0.17670517062447652, 0.6422600067660328, 0.20171109662094233, 0.7180459594506796,
        -0.17810046990630077, -0.5441878481946866, 0.7894499124874399, 0.2211529881551807,
        0.28766803431970117, 0.5202218509386148, 0.5796341693167878, -0.5573513771375096,
        0.9242849167461132, -0.14398227457619123, 0.010280998686330589, 0.3533564748939929,
    ];
    #[rustfmt::skip]
    pub(super) const SVD_OF_TALL: [f64; 24] = [
        6.736852693227085, 5.9272316266993865, 3.079405954597986,
        0.23634587652785333, 0.45214842296002955, 0.6720172558556816,
        0.49135634730221267, -0.422622721355926, 0.5402441459787422,
        -0.8379784460743297, -0.1409374662938503, 0.5064584712303171,
        0.022398449253458602, -0.772714998950544, 0.0053747080803549785,
        0.7383938993859972, -0.19167407503615314, 0.6465566474088538,
        -0.6503691572175062, -0.45590689254624966, 0.6075926799007809,
        -0.178309867056572, 0.8691432300189984, 0.4612977747858861,
    ];
    #[rustfmt::skip]
    pub(super) const SVD_OF_WIDE: [f64; 24] = [
        6.736852693227082, 5.9272316266993865, 3.079405954597985,
        0.7383938993859974, -0.1916740750361538, 0.6465566474088538,
        -0.6503691572175065, -0.4559068925462493, 0.6075926799007811,
        -0.17830986705657137, 0.8691432300189986, 0.4612977747858862,
        0.23634587652785355, 0.4521484229600294, 0.6720172558556815,
        0.49135634730221234, -0.42262272135592654, 0.540244145978742,
        -0.8379784460743298, -0.14093746629384984, 0.5064584712303168,
        0.022398449253458103, -0.7727149989505436, 0.005374708080354923,
    ];
}

fn is_as_recorded<T: Tested>(got: &[T], recorded: &[f64]) {
    let bound = 40.0 * T::EPSILON.double();
    for (got, recorded) in got.iter().zip(recorded) {
        assert!((got.double() - recorded).abs() <= bound, "{got} is not {recorded}");
    }
}

fn are_as_recorded<T: Tested>() {
    use recorded::*;
    for (extents, a, of_qr, of_svd) in
        [([4, 3], TALL, QR_OF_TALL, SVD_OF_TALL), ([3, 4], WIDE, QR_OF_WIDE, SVD_OF_WIDE)]
    {
        let mut out = vec![T::NAN; of_qr.len()];
        T::qr(extents, &rounded::<T>(&a), &mut out);
        is_as_recorded(&out, &of_qr);
        let mut out = vec![T::NAN; of_svd.len()];
        T::svd(extents, &rounded::<T>(&a), &mut out);
        is_as_recorded(&out, &of_svd);
    }
    let mut out = vec![T::NAN; EIGH.len()];
    T::eigh(4, &rounded::<T>(&SYMMETRIC), &mut out);
    is_as_recorded(&out, &EIGH);
}

#[test]
fn decompositions_are_those_of_numpy() {
    are_as_recorded::<f32>();
    are_as_recorded::<f64>();
}

/// A bidiagonal matrix determines its singular values to full relative accuracy, however small they are (Demmel and
/// Kahan). Those of this matrix are the roots of the eigenvalues of a matrix of 2 rows, `x² - (1 + 2 s²) x + s⁴ = 0` with
/// `s = 1e-6`.
#[test]
fn a_small_singular_value_of_a_bidiagonal_matrix_is_accurate() {
    let s = 1e-6_f64;
    let (trace, determinant) = (1.0 + 2.0 * s * s, s.powi(2));
    let large = ((trace + (trace * trace - 4.0 * determinant * determinant).sqrt()) / 2.0).sqrt();
    let mut out = [0.0; 10];
    f64::svd([2, 2], &[s, 1.0, 0.0, s], &mut out);
    assert!((out[0] - large).abs() <= 4.0 * f64::EPSILON * large);
    assert!((out[1] - determinant / large).abs() <= 20.0 * f64::EPSILON * out[1], "{:e}", out[1]);
}

/// Numbers near the ends of the range neither overflow nor vanish.
#[test]
fn numbers_of_every_magnitude_are_decomposed() {
    let matrix = [3.0, 1.0, 1.0, 3.0_f64];
    for scale in [f64::MIN_POSITIVE, f64::from_bits(1 << 14), 2.0_f64.powi(1020)] {
        let a = matrix.map(|x| x * scale);
        let (mut of_eigh, mut of_svd, mut of_qr) = ([0.0; 6], [0.0; 10], [0.0; 8]);
        f64::eigh(2, &a, &mut of_eigh);
        f64::svd([2, 2], &a, &mut of_svd);
        f64::qr([2, 2], &a, &mut of_qr);
        let is_near = |x: f64, y: f64| (x / scale - y).abs() <= 1e-4;
        assert!(is_near(of_eigh[0], 2.0) && is_near(of_eigh[1], 4.0), "{scale:e}: {of_eigh:?}");
        assert!(is_near(of_svd[0], 4.0) && is_near(of_svd[1], 2.0), "{scale:e}: {of_svd:?}");
        assert!(is_near(of_qr[4], -(10.0_f64.sqrt())), "{scale:e}: {of_qr:?}");
        for (vectors, row) in [(&of_eigh[2..], 2), (&of_svd[2..], 2), (&of_svd[6..], 2), (&of_qr[..4], 2)] {
            let dot = vectors[0] * vectors[1] + vectors[row] * vectors[row + 1];
            assert!(dot.abs() <= 1e-15, "{scale:e}");
        }
    }
}
