//! Times linear algebra of faer and nalgebra on one thread, with the rows of `benches/peers/linalg.py`:
//! `cargo run --release --manifest-path benches/linalg/Cargo.toml [WORD …]`. Words select rows.
//!
//! All rows are measured in turn, and the shortest time of each is kept. Batches are loops over matrices.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::{Mat, Par, Side};
use nalgebra::{DMatrix, DVector};

/// The number of matrices, and their rows.
const SIZES: [[usize; 2]; 8] =
    [[1, 4], [1, 16], [1, 64], [1, 256], [1, 512], [10_000, 4], [10_000, 8], [10_000, 16]];

/// A call of one library.
type Call = Box<dyn FnMut()>;

struct Row {
    name: String,
    /// The calls of faer and of nalgebra.
    calls: [Call; 2],
    best: [Duration; 2],
}

/// Numbers between -1 and 1, by xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f64 / (1 << 23) as f64 - 1.0
    }
}

/// Symmetric positive definite matrices: `m mᵀ / n + 1` for random `m`.
fn matrices(random: &mut Random, [count, n]: [usize; 2]) -> Vec<Vec<f64>> {
    let one = |_| {
        let m: Vec<f64> = (0..n * n).map(|_| random.next()).collect();
        let element = |at: usize| {
            let (row, column) = (at / n, at % n);
            let product: f64 = (0..n).map(|k| m[row * n + k] * m[column * n + k]).sum();
            product / n as f64 + f64::from(u8::from(row == column))
        };
        (0..n * n).map(element).collect()
    };
    (0..count).map(one).collect()
}

/// A call of a function for each matrix.
fn each<M: Clone + 'static, R>(matrices: &[M], of: impl Fn(&M) -> R + 'static) -> Call {
    let matrices = matrices.to_vec();
    Box::new(move || {
        for matrix in &matrices {
            black_box(of(matrix));
        }
    })
}

const REGULAR: &str = "the matrix is positive definite";

macro_rules! add {
    ($rows:ident, $words:ident, $ty:ident, $matrices:ident, $n:ident) => {
        let of_faer: Vec<Mat<$ty>> =
            $matrices.iter().map(|a| Mat::from_fn($n, $n, |i, j| a[i * $n + j] as $ty)).collect();
        let of_nalgebra: Vec<DMatrix<$ty>> =
            $matrices.iter().map(|a| DMatrix::from_fn($n, $n, |i, j| a[i * $n + j] as $ty)).collect();
        let (f, n) = (&of_faer, &of_nalgebra);
        let (side, column) =
            (f[0].subcols(0, 1).to_owned(), DVector::from_column_slice(n[0].column(0).as_slice()));
        let calls: [(&str, [Call; 2]); 7] = [
            (
                "cholesky",
                [
                    each(f, |a| a.llt(Side::Lower).expect(REGULAR)),
                    each(n, |a| a.clone().cholesky().expect(REGULAR).l()),
                ],
            ),
            (
                "solve",
                [
                    each(f, move |a| a.partial_piv_lu().solve(&side)),
                    each(n, move |a| a.clone().lu().solve(&column).expect(REGULAR)),
                ],
            ),
            (
                "inv",
                [
                    each(f, |a| a.partial_piv_lu().inverse()),
                    each(n, |a| a.clone().try_inverse().expect(REGULAR)),
                ],
            ),
            ("det", [each(f, |a| a.determinant()), each(n, |a| a.determinant())]),
            (
                "qr",
                [
                    each(f, |a| {
                        let qr = a.qr();
                        (qr.compute_thin_Q(), qr.thin_R().to_owned())
                    }),
                    each(n, |a| a.clone().qr().unpack()),
                ],
            ),
            (
                "eigh",
                [
                    each(f, |a| a.self_adjoint_eigen(Side::Lower).expect(REGULAR)),
                    each(n, |a| a.clone().symmetric_eigen()),
                ],
            ),
            ("svd", [each(f, |a| a.svd().expect(REGULAR)), each(n, |a| a.clone().svd(true, true))]),
        ];
        for (name, calls) in calls {
            let name = format!("{name} {}, {} x {}", stringify!($ty), $matrices.len(), $n);
            if $words.iter().all(|word| name.contains(word)) {
                $rows.push(Row { name, calls, best: [Duration::MAX; 2] });
            }
        }
    };
}

fn main() {
    faer::set_global_parallelism(Par::Seq);
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (mut random, mut rows) = (Random(1), Vec::new());
    for [count, n] in SIZES {
        let matrices = matrices(&mut random, [count, n]);
        add!(rows, words, f32, matrices, n);
        add!(rows, words, f64, matrices, n);
    }
    for _ in 0..10 {
        for Row { calls, best, .. } in &mut rows {
            for (call, best) in calls.iter_mut().zip(best) {
                let start = Instant::now();
                call();
                let count = (1e-3 / start.elapsed().as_secs_f64().max(1e-9)).max(1.0) as u32;
                let start = Instant::now();
                for _ in 0..count {
                    call();
                }
                *best = (*best).min(start.elapsed() / count);
            }
        }
    }
    for Row { name, best, .. } in rows {
        let [faer, nalgebra] = best.map(|best| best.as_secs_f64() * 1e6);
        println!("{name:25} faer {faer:10.2}  nalgebra {nalgebra:10.2} µs");
    }
}
