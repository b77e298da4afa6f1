//! The allocations of calls: the `_into` forms allocate nothing, the others only their results.
//!
//! This is a separate binary because it counts allocations.

use std::sync::Once;

use mind::{Const, Tensor, Workspace, Xoshiro256, mind, optim::Adam};
use ndarray::{Array1, Array2};

/// Whether the crate `matrixmultiply` computes large floating-point products. It allocates memory for packed operands.
const PRODUCTS_ALLOCATE: bool = cfg!(any(feature = "matrixmultiply", not(target_arch = "x86_64")));

/// The number of allocations of `f`, and its result. Where products allocate, only allocations that are still in use
/// count. A process detects its instructions once and starts its threads once, so this does both first.
fn allocations<R>(f: impl FnOnce() -> R) -> (u64, R) {
    static THREADS: Once = Once::new();
    THREADS.call_once(|| {
        let x = Tensor::<f32, _>::full_with((500, 500), 0.5);
        std::hint::black_box(mind!(x @ x));
    });
    let mut result = None;
    let info = allocation_counter::measure(|| result = Some(f()));
    let count = if PRODUCTS_ALLOCATE { info.count_current.unsigned_abs() } else { info.count_total };
    (count, result.expect("measuring calls the function"))
}

mind! {
    /// Products that are large enough to be packed.
    fn mlp<N>(x: f32[N, 200], w1: f32[200, 150], b1: f32[150], w2: f32[150, 10], b2: f32[10]) -> f32[N, 10] {
        relu(x @ w1 + b1) @ w2 + b2
    }

    #[grad(w1, b1, w2, b2)]
    fn loss<N>(
        x: f32[N, 200], y: f32[N, 10], w1: f32[200, 150], b1: f32[150], w2: f32[150, 10], b2: f32[10]
    ) -> f32 {
        let z = mlp(x, w1, b1, w2, b2);
        let logp = z - log(sum(exp(z), axes = [1], keepdims = true));
        -mean(sum(y * logp, axes = [1]))
    }

    fn step<N>(
        x: f32[N, 200], y: f32[N, 10],
        w1: &mut f32[200, 150], b1: &mut f32[150], w2: &mut f32[150, 10], b2: &mut f32[10], lr: f32
    ) -> f32 {
        let (l, (dw1, db1, dw2, db2)) = value_and_grad(loss, wrt = (w1, b1, w2, b2))(x, y, w1, b1, w2, b2);
        w1 -= lr * dw1;
        b1 -= lr * db1;
        w2 -= lr * dw2;
        b2 -= lr * db2;
        l
    }

    /// All other kernels.
    #[grad(x, k, table, w)]
    fn kernels<N>(x: f32[N, 9, 9, 2], k: f32[3, 3, 2, 4], table: f32[5, 4], rows: i64[N], w: f32[3, 4, 4]) -> f32 {
        let features = mean(relu(conv2d(x, k, strides = [2, 2], padding = same)), axes = [1, 2]);
        let picked = gather(table, rows) * features;
        let batched = picked @ w @ w;
        sum(transpose(batched, [2, 0, 1])[1..;2] * 0.5) + sum(x[0.., 0, .., 1]) + sum(log(exp(picked) + 1.0))
    }

    #[derive(Clone)]
    struct Layer { w: f32[20, 30], b: f32[30], scale: f32 }

    #[grad(p)]
    fn norm(p: Layer) -> f32 { sum(p.w * p.w) + sum(p.b * p.scale) }

    fn descend(p: &mut Layer, rate: f32) -> f32 {
        let (l, g) = value_and_grad(norm, wrt = p)(p);
        p -= rate * g;
        l
    }

    /// One step of Adam with its state, after clipping the gradient.
    fn adam(p: &mut Layer, state: &mut optim::Adam<Layer>, rate: f32) -> f32 {
        let (l, g) = value_and_grad(norm, wrt = p)(p);
        let (new, next) = optim::adam_step(p, optim::clip_by_global_norm(g, 1.0), state, rate);
        p = new;
        state = next;
        l
    }

    /// Transforms of rows of even and odd lengths.
    fn transforms<N>(x: f32[N, 1024], y: f64[N, 243]) -> (f32[N, 1024], f64[N, 243], f64[N, 243, 2]) {
        let z = fft::rfft(y);
        (fft::irfft(fft::rfft(x), 1024), fft::irfft(z, 243), fft::ifft(stack([y, y], axis = -1)))
    }

    fn doubles<N>(x: f64[N, 90], n: i32[N, N]) -> (f64[N, N], i32[N, N]) {
        (x @ x.T @ (x @ x.T), n @ n @ n)
    }
}

#[test]
fn a_network_into_the_callers_output_allocates_nothing() {
    let x = Tensor::<f32, _>::full_with((64, Const), 0.5);
    let (w1, b1, w2, b2) = (Tensor::full(0.01), Tensor::full(0.1), Tensor::full(0.02), Tensor::full(0.2));
    let mut out = Tensor::zeros_with((64, Const));
    let mut workspace = Workspace::with_bytes(mlp::peak_bytes(64));
    for _ in 0..2 {
        let (count, result) = allocations(|| mlp_into(&x, &w1, &b1, &w2, &b2, &mut out, &mut workspace));
        assert_eq!((count, result), (0, Ok(())));
    }
    assert_eq!(out, mlp(&x, &w1, &b1, &w2, &b2));
}

#[test]
fn a_workspace_that_grows_is_allocated_once() {
    let x = Tensor::<f32, _>::full_with((64, Const), 0.5);
    let (w1, b1, w2, b2) = (Tensor::full(0.01), Tensor::full(0.1), Tensor::full(0.02), Tensor::full(0.2));
    let mut out = Tensor::zeros_with((64, Const));
    let mut workspace = Workspace::new();
    for expected in [1, 0, 0] {
        let (count, result) = allocations(|| mlp_into(&x, &w1, &b1, &w2, &b2, &mut out, &mut workspace));
        assert_eq!((count, result), (expected, Ok(())));
    }
}

#[test]
fn a_gradient_and_a_training_step_allocate_nothing() {
    let (x, y) =
        (Tensor::<f32, _>::full_with((33, Const), 0.5), Tensor::<f32, _>::full_with((33, Const), 0.1));
    let (mut w1, mut b1, mut w2, mut b2) =
        (Tensor::full(0.01), Tensor::full(0.1), Tensor::full(0.02), Tensor::full(0.2));
    let (mut value, mut dw1, mut db1, mut dw2, mut db2) =
        (0.0, Tensor::zeros(), Tensor::zeros(), Tensor::zeros(), Tensor::zeros());
    let mut workspace = Workspace::with_bytes(loss_grad::peak_bytes(33).max(step::peak_bytes(33)));
    let (count, result) = allocations(|| {
        let out = (&mut value, (&mut *dw1, &mut *db1, &mut *dw2, &mut *db2));
        loss_grad_into(&x, &y, &w1, &b1, &w2, &b2, out, &mut workspace)
    });
    assert_eq!((count, result), (0, Ok(())));
    assert!(value > 0.0);
    let mut l = 0.0;
    let (count, result) =
        allocations(|| step_into(&x, &y, &mut w1, &mut b1, &mut w2, &mut b2, 0.1, &mut l, &mut workspace));
    assert_eq!((count, result), (0, Ok(())));
    assert_eq!(l, value);
}

#[test]
fn every_other_kernel_and_dtype_allocates_nothing() {
    let (x, k) = (Tensor::<f32, _>::full_with((3, Const, Const, Const), 0.5), Tensor::full(0.1));
    let (table, rows, w) =
        (Tensor::full(0.2), Tensor::from_vec((3,), vec![0, 4, 2]).expect("3"), Tensor::full(0.3));
    let (mut value, mut dx, mut dk) = (0.0, Tensor::zeros_with((3, Const, Const, Const)), Tensor::zeros());
    let (mut dtable, mut dw) = (Tensor::zeros(), Tensor::zeros());
    let mut workspace = Workspace::with_bytes(kernels_grad::peak_bytes(3));
    let (count, result) = allocations(|| {
        let out = (&mut value, (&mut *dx, &mut *dk, &mut *dtable, &mut *dw));
        kernels_grad_into(&x, &k, &table, &rows, &w, out, &mut workspace)
    });
    assert_eq!((count, result), (0, Ok(())));

    let (x, n) = (Tensor::<f64, _>::full_with((70, Const), 0.5), Tensor::<i32, _>::full_with((70, 70), 3));
    let (mut a, mut b) = (Tensor::zeros_with((70, 70)), Tensor::zeros_with((70, 70)));
    let mut workspace = Workspace::with_bytes(doubles::peak_bytes(70));
    let (count, result) = allocations(|| doubles_into(&x, &n, (&mut *a, &mut *b), &mut workspace));
    assert_eq!((count, result), (0, Ok(())));
}

#[test]
fn fourier_transforms_with_plans_of_earlier_calls_allocate_nothing() {
    let (x, y) =
        (Tensor::<f32, _>::full_with((5, Const), 0.5), Tensor::<f64, _>::full_with((5, Const), 0.25));
    let (mut a, mut b, mut c) = (
        Tensor::zeros_with((5, Const)),
        Tensor::zeros_with((5, Const)),
        Tensor::zeros_with((5, Const, Const)),
    );
    let mut workspace = Workspace::with_bytes(transforms::peak_bytes(5));
    let mut call = || transforms_into(&x, &y, (&mut *a, &mut *b, &mut *c), &mut workspace);
    // The first call makes the tables for each length.
    assert_eq!(call(), Ok(()));
    let (count, result) = allocations(call);
    assert_eq!((count, result), (0, Ok(())));
    assert_eq!(a.as_slice()[..2], [0.5; 2]);
}

mod iterations {
    mind::ks!(
        r#"
        ; The sum of a vector's elements from a position on, by recursion.
        (def rest Float ((v : Vec Float) (at : Integer))
          (if (eq at (size v)) 0.0 (add (index at v) (rest v (add at 1)))))
        ; Each iteration builds a vector of the same size, or of a size of its own.
        (def equal Float (n : Integer)
          (sumbuild n (lam (i : Integer)
            (rest (build 3 (lam (j : Integer) (to_float (add (mul 10 i) j)))) 0))))
        (def growing Float (n : Integer)
          (sumbuild n (lam (i : Integer)
            (rest (build (div (add i 2) 2) (lam (j : Integer) (to_float (add (mul 10 i) j)))) 0))))
        ; Iterations move the vectors that they build.
        (def moved (Vec (Vec Float)) (n : Integer)
          (build n (lam (i : Integer)
            (let (v (build 2 (lam (j : Integer) (to_float (add (mul 10 i) j)))))
              (if (gt (rest v 0) 15.0) v v)))))
    "#
    );
}

#[test]
fn iterations_in_knossos_build_tensors_in_one_memory() {
    let sum = |sizes: &dyn Fn(i64) -> i64| -> f64 {
        (0..20).flat_map(|i| (0..sizes(i)).map(move |j| (10 * i + j) as f64)).sum()
    };
    assert_eq!(allocations(|| iterations::equal(20)), (1, sum(&|_| 3)));
    assert_eq!(iterations::growing(20), sum(&|i| (i + 2) / 2));
    let rows: Vec<Vec<f64>> = iterations::moved(3).into_iter().map(|row| row.as_slice().to_vec()).collect();
    assert_eq!(rows, [[0.0, 1.0], [10.0, 11.0], [20.0, 21.0]]);
}

#[test]
fn structs_into_the_callers_own_allocate_nothing() {
    let (mut p, mut g, mut value) = (Layer::he_normal(&mut Xoshiro256::new(1)), Layer::zeros(), 0.0);
    let needed = [norm_grad::PEAK_BYTES, descend::PEAK_BYTES, adam::PEAK_BYTES].into_iter().max();
    let mut workspace = Workspace::with_bytes(needed.expect("three programs"));
    let (count, result) = allocations(|| norm_grad_into(&p, (&mut value, &mut g), &mut workspace));
    assert_eq!((count, result), (0, Ok(())));
    assert_eq!(g.w[[3, 4]], 2.0 * p.w[[3, 4]]);
    let (count, result) = allocations(|| descend_into(&mut p, 0.1, &mut value, &mut workspace));
    assert_eq!((count, result), (0, Ok(())));
    let mut state = Adam::zeros_like(&p);
    for steps in 1..3 {
        let (count, result) = allocations(|| adam_into(&mut p, &mut state, 0.1, &mut value, &mut workspace));
        assert_eq!((count, result, state.steps), (0, Ok(()), steps));
    }
}

#[test]
fn an_expression_over_arrays_allocates_its_result_and_copies_what_does_not_lie_row_by_row() {
    let (x, w) = (Array2::<f32>::from_elem((400, 300), 0.5), Array2::<f32>::from_elem((300, 200), 0.25));
    let (turned, bias) = (Array2::<f32>::from_elem((300, 400), 0.5), Array1::<f32>::ones(200));
    let (by_lying, by_turned) = (|| mind!(relu(x @ w + bias)), || mind!(relu({turned.t()} @ w + bias)));
    // The first calls allocate the thread's scratch memory and the library's memory for a copy. Both are kept.
    let (first, again) = (by_lying(), by_turned());
    assert_eq!(first, again);
    let bytes = |f: &dyn Fn() -> Array2<f32>| {
        let info = allocation_counter::measure(|| drop(f()));
        (info.count_total, info.bytes_total)
    };
    if !PRODUCTS_ALLOCATE {
        assert_eq!(bytes(&by_lying), (1, 4 * 400 * 200));
        assert_eq!(bytes(&by_turned), (1, 4 * 400 * 200));
    }
    // A row-major array is read in place. The first copy of this size in a process needs new memory.
    let columns = Array2::<f64>::ones((7, 100_000));
    let mut sums = (0.0, 0.0);
    let info = allocation_counter::measure(|| sums.0 = mind!(sum(columns)));
    assert_eq!(info.count_total, 0, "{info:?}");
    let info = allocation_counter::measure(|| sums.1 = mind!(sum({ columns.t() })));
    assert!((8 * 700_000..8 * 700_000 * 9 / 8 + (64 << 10)).contains(&info.bytes_total), "{info:?}");
    assert_eq!(sums, (700_000.0, 700_000.0));
}

#[test]
fn a_closure_on_numbers_allocates_nothing() {
    let f = mind!(|x: f32[4, 4], s: f32| sum(relu(x * s)));
    let x = Tensor::full(1.0);
    let (count, y) = allocations(|| f(&x, 2.0));
    assert_eq!((count, y), (0, 32.0));
}

#[test]
fn the_allocating_form_allocates_its_results() {
    let x = Tensor::<f32, _>::full_with((64, Const), 0.5);
    let (w1, b1, w2, b2) = (Tensor::full(0.01), Tensor::full(0.1), Tensor::full(0.02), Tensor::full(0.2));
    let first = mlp(&x, &w1, &b1, &w2, &b2);
    let (count, again) = allocations(|| mlp(&x, &w1, &b1, &w2, &b2));
    assert_eq!((count, again), (1, first));
}

#[test]
fn an_update_in_place_allocates_nothing_once_its_thread_has_a_workspace() {
    let (x, y) = (Tensor::<f32, _>::full_with((8, Const), 0.5), Tensor::<f32, _>::full_with((8, Const), 0.1));
    let (mut w1, mut b1, mut w2, mut b2) =
        (Tensor::full(0.01), Tensor::full(0.1), Tensor::full(0.02), Tensor::full(0.2));
    let mut run = || step(&x, &y, &mut w1, &mut b1, &mut w2, &mut b2, 0.1);
    run();
    let (count, _) = allocations(run);
    assert_eq!(count, 0);
}

/// The peak memory of a training step, besides the parameters that are updated in place, is the memory of the backward
/// pass: the hidden activations, the cotangents of two neighbouring layers, and the gradient of a bias. Products need
/// further memory for packed operands.
#[test]
fn the_peak_is_what_an_allocator_sees_and_no_more_than_activations_and_cotangents() {
    for n in [1, 7, 64, 200, 1000] {
        let needed = 4 * (n * (150 + (150 + 10)) + 150);
        // The last number is the distance between columns of the left operand.
        let sizes =
            [(n, 200, 150, 1), (n, 150, 10, 1), (n, 10, 150, 1), (150, n, 10, 150), (200, n, 150, 200)];
        let scratch =
            sizes.map(|(m, k, n, apart)| 4 * mind::__private::matmul_scratch::<f32>(m, k, n, apart));
        let most = needed + scratch.into_iter().max().expect("five products");
        // Each temporary, and each packed operand, begins at a cache line.
        assert!(step::peak_bytes(n) <= most + 6 * 64, "{} of {most}", step::peak_bytes(n));
        let (x, y) =
            (Tensor::<f32, _>::full_with((n, Const), 0.5), Tensor::<f32, _>::full_with((n, Const), 0.1));
        let (mut w1, mut b1, mut w2, mut b2) =
            (Tensor::full(0.01), Tensor::full(0.1), Tensor::full(0.02), Tensor::full(0.2));
        let mut l = 0.0;
        let mut run = |bytes| {
            let mut workspace = Workspace::with_bytes(bytes);
            step_into(&x, &y, &mut w1, &mut b1, &mut w2, &mut b2, 0.1, &mut l, &mut workspace)
        };
        assert!(run(step::peak_bytes(n) - 64).is_err());
        // The first call may start threads.
        run(step::peak_bytes(2 * n)).expect("enough memory");
        let seen = allocation_counter::measure(|| run(step::peak_bytes(n)).expect("enough memory"));
        // A workspace is aligned by hand, which takes up to 64 bytes more.
        if PRODUCTS_ALLOCATE {
            assert!(seen.bytes_max >= step::peak_bytes(n) as u64 + 64 && seen.count_current == 0, "{n} rows");
        } else {
            assert_eq!((seen.bytes_max, seen.count_total), (step::peak_bytes(n) as u64 + 64, 1), "{n} rows");
        }
    }
}

mind! {
    fn remember_rows(cache: &mut f32[4096, 16], rows: f32[3, 16], i: i32[3]) { cache[i] = rows; }
    fn add_to_rows(cache: &mut f32[4096, 16], rows: f32[3, 16], i: i32[3]) { cache[i] += rows; }
    fn add_by_call(cache: &mut f32[4096, 16], rows: f32[3, 16], i: i32[3]) {
        cache = scatter_add(cache, i, rows);
    }
    /// Only the negated rows take memory.
    fn subtract_from_rows(cache: &mut f32[4096, 16], rows: f32[3, 16], i: i32[3]) { cache[i] -= rows; }
    /// Only the products of the rows take memory.
    fn scale_rows(cache: &mut f32[4096, 16], rows: f32[3, 16], i: i32[3]) { cache[i] = cache[i] * rows; }
}

/// Rows at indices are replaced where they are too.
#[test]
fn rows_of_a_parameter_are_replaced_in_place() {
    let (mut cache, rows, i) =
        (Tensor::<f32, _>::full(0.0), Tensor::full(1.0), Tensor::from([4095, 0, 4095]));
    let (count, _) = allocations(|| remember_rows(&mut cache, &rows, &i));
    assert_eq!((count, remember_rows::PEAK_BYTES), (0, 0));
    assert_eq!(cache.as_slice().iter().sum::<f32>(), 32.0);
    assert_eq!((cache[[4095, 15]], cache[[0, 15]], cache[[1, 15]]), (1.0, 1.0, 0.0));
}

/// Rows are added where they are too, in the order of the indices.
#[test]
fn rows_are_added_to_a_parameter_in_place() {
    let (mut cache, i) = (Tensor::<f32, _>::full(0.1), Tensor::from([4095, 0, 4095]));
    let rows = Tensor::from_fn(|[row, column]| (row * 16 + column) as f32 / 3.0);
    let (count, _) = allocations(|| add_to_rows(&mut cache, &rows, &i));
    assert_eq!((count, add_to_rows::PEAK_BYTES), (0, 0));
    let expected = |rows: &[f32]| rows.iter().fold(0.1, |sum, row| sum + row);
    assert_eq!(cache[[4095, 15]].to_bits(), expected(&[rows[[0, 15]], rows[[2, 15]]]).to_bits());
    assert_eq!((cache[[0, 3]], cache[[1, 3]]), (expected(&[rows[[1, 3]]]), 0.1));
    let (count, _) = allocations(|| add_by_call(&mut cache, &rows, &i));
    assert_eq!((count, add_by_call::PEAK_BYTES), (0, 0));
    let (before, rows_of) = (cache.clone(), 3 * 16 * size_of::<f32>());
    subtract_from_rows(&mut cache, &rows, &i);
    assert_eq!(subtract_from_rows::PEAK_BYTES, rows_of);
    assert_eq!(cache[[0, 3]], before[[0, 3]] - rows[[1, 3]]);
    assert_eq!(cache[[4095, 15]], before[[4095, 15]] - rows[[0, 15]] - rows[[2, 15]]);
    assert_eq!(scale_rows::PEAK_BYTES, rows_of);
}

mind! {
    fn remember(cache: &mut f32[8, 4096, 16], row: f32[8, 16], t: i64) { cache[0.., t] = row; }
}

/// A part of a parameter is replaced where it is: a call allocates nothing and needs no workspace.
#[test]
fn a_part_of_a_parameter_is_replaced_in_place() {
    let (mut cache, row) = (Tensor::<f32, _>::full(0.0), Tensor::full(1.0));
    let (count, _) = allocations(|| remember(&mut cache, &row, 4095));
    assert_eq!((count, remember::PEAK_BYTES), (0, 0));
    assert_eq!(cache.as_slice().iter().sum::<f32>(), 128.0);
    assert_eq!((cache[[7, 4095, 15]], cache[[7, 4094, 15]]), (1.0, 0.0));
}
