//! Products of floats divided among threads: each part has the same bits as in the whole product, and parts are even.

use std::ops::Range;
use std::sync::Mutex;

#[cfg(not(feature = "__small_blocks"))]
use super::super::columns;
use super::super::product::{InBounds, Product, Sink};
use super::super::products::Products;
use super::super::region::Region;
use super::super::{BatchDim, Gemm, floats, matmul_scratch, on_demand};
use super::floats::{bits, random};
use super::{Collect, MatRef};
use crate::kernels::epilogue::Epilogue;
use crate::sample::sample;

/// The bits are the same for any number of threads that take parts of a batch, and for any amount of scratch memory per
/// thread.
#[test]
fn parts_of_a_batch_give_the_same_bits() {
    for dims @ [matrices, m, k, n] in [[3, 37, 600, 20], [41, 9, 40, 70]] {
        let data = [random::<f32>(matrices * m * k, 9), random::<f32>(matrices * k * n, 10)];
        let batch = [BatchDim { extent: matrices, lhs_stride: m * k, rhs_stride: k * n }];
        let lhs = MatRef { data: &data[0], offset: 0, row_stride: k, col_stride: 1 };
        let rhs = MatRef { data: &data[1], offset: 0, row_stride: 1, col_stride: k };
        let products = Products::new(&batch, &[m, k, n], &lhs, &rhs);
        let by_threads = |threads| {
            let mut taken = vec![None; matrices * m * n];
            let collect = Collect { first: 0, end: matrices * m, columns: n, taken: &mut taken };
            let mut scratch = vec![f32::NAN; matmul_scratch::<f32>(m, k, n, 1)];
            products.by_rows(
                threads,
                &mut scratch,
                collect,
                |collect, _, at| collect.split(at),
                |mut collect, rows, scratch| f32::some_rows(&products, rows, scratch, &mut collect),
            );
            taken.into_iter().map(|sum| sum.expect("every element comes once").to_bits()).collect::<Vec<_>>()
        };
        let whole = by_threads(1);
        for threads in [2, 3, 5, 40] {
            assert!(by_threads(threads) == whole, "{dims:?}, {threads} threads");
        }
    }
}

/// Threads take whole matrices if there are many, and otherwise one part each.
#[test]
fn rows_of_parts() {
    let parts = |matrices, m, threads| {
        let data = vec![0.0_f32; matrices * m];
        let batch = [BatchDim { extent: matrices, lhs_stride: m, rhs_stride: 1 }];
        let lhs = MatRef { data: &data, offset: 0, row_stride: 1, col_stride: 1 };
        let products = Products::new(&batch, &[m, 1, 1], &lhs, &lhs);
        let taken = Mutex::new(Vec::new());
        let work = |(), rows: Range<usize>, _: &mut [f32]| taken.lock().expect("no panic").push(rows);
        products.by_rows(threads, &mut [], (), |(), _, _| ((), ()), work);
        let mut taken = taken.into_inner().expect("no panic");
        taken.sort_by_key(|rows| rows.start);
        let ends: Vec<_> = taken.iter().map(|rows| rows.end).collect();
        let starts: Vec<_> = taken.iter().map(|rows| rows.start).collect();
        assert_eq!((starts[0], &starts[1..]), (0, &ends[..ends.len() - 1]), "one behind the other");
        ends
    };
    assert_eq!(parts(1, 1000, 1), [1000]);
    assert_eq!(parts(1, 1000, 2), [504, 1000]);
    assert_eq!(parts(1, 100_000, 2), [50_000, 100_000]);
    assert_eq!(parts(1, 20, 2), [8, 20]);
    assert_eq!(parts(1, 36, 4), [8, 16, 24, 36]);
    assert_eq!(parts(3, 37, 2), [37 + 16, 111], "multiples of eight in a matrix");
    assert_eq!(parts(3, 37, 3), [37, 74, 111]);
    assert_eq!(parts(8, 37, 2), [37, 74, 111, 148, 185, 222, 259, 296]);
    assert_eq!(parts(10, 9, 2), [9, 18, 27, 45, 54, 63, 72, 90], "one or two matrices");
    assert_eq!(parts(1, 9, 40), [9], "fewer rows than parts");
}

/// Threads take columns of few rows, with little scratch memory in addition to the sums.
#[test]
#[cfg(not(feature = "__small_blocks"))]
fn columns_give_the_bits_of_the_whole() {
    for [m, k, n] in [[1, 300, 250], [1, 1100, 250], [7, 600, 250], [8, 1100, 250], [31, 40, 300]] {
        let data = [random::<f32>(m * k, 11), random::<f32>(k * n, 12)];
        for [row_stride, col_stride] in [[n, 1], [1, k]] {
            let dims = &[m, k, n];
            let lhs = &MatRef { data: &data[0], offset: 0, row_stride: k, col_stride: 1 };
            let rhs = &MatRef { data: &data[1], offset: 0, row_stride, col_stride };
            let product = InBounds::new(Product { dims, all_rows: m, lhs, rhs });
            let mut whole = vec![f32::NAN; m * n];
            f32::multiply(&product, &mut [], Sink::Store(&mut whole));
            for (parts, more) in [(2, 0), (3, 5000), (100, 100_000)] {
                let mut scratch = vec![f32::NAN; m * n + more];
                let width = columns::width(m, n, parts, scratch.len()).expect("rows are few");
                let mut taken = vec![None; m * n];
                let mut collect = Collect { first: 0, end: m, columns: n, taken: &mut taken };
                columns::multiply(&product, width, &mut scratch, f32::multiply, |block| collect.block(block));
                let sums: Vec<_> =
                    taken.into_iter().map(|sum| sum.expect("every element comes once")).collect();
                assert!(bits(&sums) == bits(&whole), "{m}x{k}x{n} in {parts} parts");
            }
        }
    }
}

/// One or two columns alone are multiplied in another order, so no part has so few.
#[test]
#[cfg(not(feature = "__small_blocks"))]
fn no_part_has_few_columns() {
    for n in 1..600 {
        for parts in 2..8 {
            let Some(width) = columns::width(1, n, parts, n) else { continue };
            assert!(
                width < n && (n % width == 0 || n % width >= 16),
                "{n} columns in {parts} parts of {width}"
            );
        }
    }
    assert_eq!(columns::width(1, 256, 2, 255), None, "no room for the sums");
    assert_eq!(columns::width(32, 256, 2, 1 << 20), None, "rows are enough");
    assert_eq!(columns::width(31, 256, 2, 1 << 20), Some(128));
}

/// The bits are the same for any number of threads that take columns of a product of many rows on demand, and for any
/// amount of scratch memory.
#[test]
fn columns_on_demand_give_the_bits_of_the_whole() {
    let by_columns = floats::by_columns::<f32>().expect("floats are multiplied so");
    for [m, k, n] in [[33, 40, 160], [64, 1030, 272], [40, 70, 528]] {
        let data = [random::<f32>(m * k, 21), random::<f32>(k * n, 22)];
        for (left, right) in sample("layouts", [([k, 1], [n, 1]), ([1, m], [n, 1]), ([k, 1], [1, k])]) {
            let operand = |of: usize, [row_stride, col_stride]: [usize; 2]| MatRef {
                data: &data[of],
                offset: 0,
                row_stride,
                col_stride,
            };
            let (lhs, rhs) = (&operand(0, left), &operand(1, right));
            let dims = &[m, k, n];
            let product = InBounds::new(Product { dims, all_rows: m, lhs, rhs });
            let mut whole = vec![f32::NAN; m * n];
            floats::multiply(&product, &mut [], Sink::Store(&mut whole));
            for (threads, width) in [(1, 64), (2, 128), (3, 64), (128, 64)] {
                for share in [0, 1000, matmul_scratch::<f32>(m, k, n, lhs.col_stride)] {
                    let mut out = vec![f32::NAN; m * n];
                    let mut scratch = vec![f32::NAN; share * threads];
                    let region = Region::new(&mut out, n);
                    on_demand::multiply(&product, width, threads, &mut scratch, region, by_columns);
                    assert!(
                        bits(&out) == bits(&whole),
                        "{m}×{k}×{n} by {width} columns on {threads} threads"
                    );
                }
            }
        }
    }
}

/// Parts keep all threads busy, and none is so narrow that it would be multiplied in another order.
#[test]
#[cfg(not(feature = "__small_blocks"))]
fn threads_share_columns_evenly() {
    let width = |[m, k, n]: [usize; 3], left: [usize; 2], threads| {
        let lhs = &MatRef { data: &[0.0_f32][..], offset: 0, row_stride: left[0], col_stride: left[1] };
        let rhs = &MatRef { data: &[0.0_f32][..], offset: 0, row_stride: n, col_stride: 1 };
        on_demand::width(&Product { dims: &[m, k, n], all_rows: m, lhs, rhs }, threads)
    };
    for n in 1..3000 {
        for threads in 2..20 {
            let Some(width) = width([64, 64, n], [64, 1], threads) else { continue };
            assert!(width % 64 == 0 && width >= 128 && (n % width == 0 || n % width >= 16), "{n} by {width}");
            let mut taken = vec![0; threads];
            for start in (0..n).step_by(width) {
                *taken.iter_mut().min().expect("a thread") += width.min(n - start);
            }
            let most = taken.iter().max().expect("a thread");
            assert!(most * threads * 7 <= (n + 64) * 8, "{threads} threads take {taken:?} of {n} columns");
        }
    }
    assert_eq!(width([512, 512, 512], [512, 1], 2), Some(128));
    let left_is_packed = "a left operand that is packed for each part";
    assert_eq!(width([1024, 1024, 1024], [1, 1024], 2), Some(512), "{left_is_packed}");
    assert_eq!(width([512, 512, 512], [1, 512], 2), None, "{left_is_packed}");
    assert_eq!(width([256, 784, 784], [784, 1], 2), Some(128), "a last part of 16 is soon done");
    assert_eq!(width([256, 512, 512], [512, 1], 8), None, "too few columns");
    assert_eq!(width([31, 512, 512], [512, 1], 2), None, "few rows");
    assert_eq!(width([512, 32, 512], [32, 1], 2), None, "a shallow product");
}
