//! Kernels against their definitions. Functions that compute cotangents are tested as adjoints,
//! `⟨dy, f(dx)⟩ = ⟨f'(dy), dx⟩`, which is exact on integers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mind_shape::rules::{self, Padding, Permutation, Subscript};

use super::*;

fn ty(dims: &[i64]) -> Type {
    Type::new(DType::I64, dims)
}

/// Integers without a pattern that broadcasting or transposing would keep.
fn numbers(ty: &Type, seed: i64) -> Vec<i64> {
    (0..count(ty) as i64).map(|i| (i * 7919 + seed * 104_729) % 23 - 11).collect()
}

fn inner(a: &[i64], b: &[i64]) -> i64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn run(ty: &Type, f: impl FnOnce(&mut [i64])) -> Vec<i64> {
    let mut out = vec![-99; count(ty) + 2];
    f(&mut out);
    assert_eq!(out[count(ty)..], [-99; 2], "the rest of the slot is not written");
    out.truncate(count(ty));
    out
}

/// The element of a matrix product by its definition; a vector on the left is a row, one on the right a column.
fn product_by_definition(a: (&Type, &[i64]), b: (&Type, &[i64]), out: &Type) -> Vec<i64> {
    let matrix = |ty: &Type, left: bool| match (ty.rank(), left) {
        (1, true) => (1, ty.extent(0)),
        (1, false) => (ty.extent(0), 1),
        (rank, _) => (ty.extent(rank - 2), ty.extent(rank - 1)),
    };
    let ((m, k), (_, n)) = (matrix(a.0, true), matrix(b.0, false));
    let matrices = count(out) as i64 / (m * n);
    let batch = &out.dims()[..out.rank().saturating_sub(2)];
    let mut result = Vec::new();
    for index in 0..matrices {
        let at = |ty: &Type| {
            let own = &ty.dims()[..ty.rank().saturating_sub(2)];
            let (mut rest, mut position, mut stride) = (index, 0, 1);
            for back in 1..=batch.len() {
                let i = rest % batch[batch.len() - back];
                rest /= batch[batch.len() - back];
                if back <= own.len() {
                    let extent = own[own.len() - back];
                    position += if extent == 1 { 0 } else { i * stride };
                    stride *= extent;
                }
            }
            position
        };
        let (a_at, b_at) = (at(a.0) * m * k, at(b.0) * k * n);
        for i in 0..m {
            for j in 0..n {
                let term = |l: i64| a.1[(a_at + i * k + l) as usize] * b.1[(b_at + l * n + j) as usize];
                result.push((0..k).map(term).sum());
            }
        }
    }
    result
}

#[test]
fn products_and_what_they_pass_back() {
    let shapes: [[&[i64]; 2]; 12] = [
        [&[3], &[3]],
        [&[2, 3], &[3]],
        [&[3], &[3, 4]],
        [&[2, 3], &[3, 4]],
        [&[5, 2, 3], &[3, 4]],
        [&[2, 3], &[5, 3, 4]],
        [&[5, 2, 3], &[5, 3, 4]],
        [&[5, 2, 3], &[1, 3, 4]],
        [&[1, 2, 3], &[5, 3, 4]],
        [&[6, 1, 2, 3], &[5, 3, 4]],
        [&[5, 2, 3], &[6, 1, 3, 4]],
        [&[1, 1, 2, 3], &[3, 4]],
    ];
    for [a, b] in shapes {
        let (a_ty, b_ty) = (ty(a), ty(b));
        let out_ty = rules::at(a_ty, b_ty).expect("the shapes fit");
        let (a, b, dy) = (numbers(&a_ty, 1), numbers(&b_ty, 2), numbers(&out_ty, 3));
        let (a, b, dy) = (Argument::new(&a, &a_ty), Argument::new(&b, &b_ty), Argument::new(&dy, &out_ty));
        let y = run(&out_ty, |out| product(a, b, out));
        assert_eq!(
            y,
            product_by_definition((&a_ty, a.elements), (&b_ty, b.elements), &out_ty),
            "{a_ty} @ {b_ty}"
        );
        let da = run(&a_ty, |out| product_grad_lhs(dy, &a_ty, b, out));
        assert_eq!(inner(dy.elements, &y), inner(&da, a.elements), "{a_ty} of {a_ty} @ {b_ty}");
        let db = run(&b_ty, |out| product_grad_rhs(dy, a, &b_ty, out));
        assert_eq!(inner(dy.elements, &y), inner(&db, b.elements), "{b_ty} of {a_ty} @ {b_ty}");
    }
}

#[test]
fn parts_and_what_they_pass_back() {
    let x_ty = ty(&[4, 5, 6]);
    let x = numbers(&x_ty, 1);
    let x = Argument::new(&x, &x_ty);
    let range = |start, end, step| Subscript::Range { start, end, step };
    let all: [&[Subscript]; 4] = [
        &[Subscript::At(-1)],
        &[range(Some(1), Some(-1), None), Subscript::Rest, Subscript::At(2)],
        &[Subscript::Rest, range(None, None, Some(2))],
        &[Subscript::At(0), Subscript::At(-2), Subscript::At(5)],
    ];
    for subscripts in all {
        let out_ty = rules::subscript(x_ty, subscripts).expect("the subscripts fit");
        let y = run(&out_ty, |out| subscript(x, subscripts, out));
        let dy = numbers(&out_ty, 2);
        let dx = run(&x_ty, |out| subscript_grad(Argument::new(&dy, &out_ty), &x_ty, subscripts, out));
        assert_eq!(inner(&dy, &y), inner(&dx, x.elements), "{subscripts:?}");
    }
    let last =
        run(&ty(&[]), |out| subscript(x, &[Subscript::At(0), Subscript::At(-2), Subscript::At(5)], out));
    assert_eq!(last, [x.elements[3 * 6 + 5]]);

    let (starts, ends, steps) = ([1, 0, 2], [4, 5, 6], [2, 1, 3]);
    let out_ty = rules::slice(x_ty, &starts, &ends, Some(&steps)).expect("the bounds fit");
    let y = run(&out_ty, |out| slice(x, &starts, &ends, &steps, out));
    assert_eq!(y[..2], [x.elements[30 + 2], x.elements[30 + 5]]);
    let dy = numbers(&out_ty, 2);
    let dx = run(&x_ty, |out| slice_grad(Argument::new(&dy, &out_ty), &x_ty, &starts, &ends, &steps, out));
    assert_eq!(inner(&dy, &y), inner(&dx, x.elements));
}

#[test]
fn rows_by_index_and_what_they_pass_back() {
    let (table_ty, i_ty) = (ty(&[3, 2, 2]), ty(&[2, 2]));
    let (table, indices) = (numbers(&table_ty, 1), [2, 0, 2, 1]);
    let indices = Argument::new(&indices, &i_ty);
    let out_ty = rules::gather(table_ty, i_ty).expect("the indices are integers");
    let y = run(&out_ty, |out| gather(Argument::new(&table, &table_ty), indices, out));
    assert_eq!((&y[..4], &y[4..8]), (&table[8..12], &table[..4]));
    let dy = numbers(&out_ty, 2);
    let dt = run(&table_ty, |out| gather_grad(Argument::new(&dy, &out_ty), indices, &table_ty, out));
    assert_eq!(inner(&dy, &y), inner(&dt, &table));
}

#[test]
fn an_index_out_of_range_is_found_by_the_check() {
    let (table_ty, i_ty) = (ty(&[3]), ty(&[2]));
    let caught = catch_unwind(AssertUnwindSafe(|| {
        check_picked(Argument::new(&[1, 2, 3], &table_ty), Argument::new(&[0, 3], &i_ty), 0, "i");
    }));
    let message = caught.expect_err("3 is out of range");
    let message = message.downcast_ref::<String>().expect("a message in words");
    assert_eq!(message, "E6001: `i`: index 3 at position 1 is out of range, needed 0 to 2");
}

/// `x` broadcast to the shape of `like`, element by element.
fn broadcast_like(x: Argument<'_, i64>, like: &Type, out: &mut [i64]) {
    let added = like.rank() - x.ty.rank();
    for (index, out) in out[..count(like)].iter_mut().enumerate() {
        let (mut rest, mut at, mut stride) = (index, 0, 1);
        for axis in (0..like.rank()).rev() {
            let position = rest % extent(like, axis);
            rest /= extent(like, axis);
            if axis >= added {
                let own = x.extent(axis - added);
                at += if own == 1 { 0 } else { position * stride };
                stride *= own;
            }
        }
        *out = x.elements[at];
    }
}

#[test]
fn transposes_and_broadcasts() {
    let x_ty = ty(&[2, 3, 4]);
    let x = numbers(&x_ty, 1);
    let x = Argument::new(&x, &x_ty);
    let y = run(&x_ty, |out| transpose(x, Permutation::Written(&[1, -1, 0]), out));
    assert_eq!(y[(2 * 4 + 3) * 2 + 1], x.elements[(3 + 2) * 4 + 3]);
    let y = run(&x_ty, |out| transpose(x, Permutation::Reversed, out));
    assert_eq!(y[(3 * 3 + 2) * 2 + 1], x.elements[(3 + 2) * 4 + 3]);

    let swapped_ty = ty(&[2, 4, 3]);
    let y = run(&swapped_ty, |out| transpose(x, Permutation::Matrices, out));
    assert_eq!(y[(4 + 3) * 3 + 2], x.elements[(3 + 2) * 4 + 3]);
    assert_eq!(
        run(&x_ty, |out| transpose(Argument::new(&y, &swapped_ty), Permutation::Matrices, out)),
        x.elements
    );

    let small_ty = ty(&[3, 1]);
    let small = [1, 2, 3];
    let y = run(&x_ty, |out| broadcast_like(Argument::new(&small, &small_ty), &x_ty, out));
    assert_eq!(y[12..20], [1, 1, 1, 1, 2, 2, 2, 2]);
    let dy = numbers(&x_ty, 2);
    let back = run(&small_ty, |out| sum_like(Argument::new(&dy, &x_ty), &small_ty, out));
    assert_eq!(inner(&dy, &y), inner(&back, &small));

    // With the reduced axes restored, the cotangent of a reduction's operand is a broadcast.
    for (axes, kept, dims) in [
        (Some(&[1][..]), &[2, 1, 4][..], &[2, 4][..]),
        (Some(&[-2]), &[2, 1, 4], &[2, 1, 4]),
        (None, &[], &[]),
    ] {
        let (kept_ty, reduced_ty) = (ty(kept), ty(dims));
        let reduced = numbers(&reduced_ty, 3);
        let up = run(&x_ty, |out| broadcast_like(Argument::new(&reduced, &kept_ty), &x_ty, out));
        let down = run(&reduced_ty, |out| sum(x, axes, out));
        assert_eq!(inner(&up, x.elements), inner(&reduced, &down), "{axes:?}");
        let mut things = [0];
        count_reduced::<i64>(&x_ty, axes, &mut things);
        assert_eq!(things[0] as usize * count(&reduced_ty), count(&x_ty));
    }
    assert_eq!(run(&small_ty, |out| filled(&small_ty, 7, out)), [7; 3]);
    assert_eq!(run(&small_ty, |out| copy(Argument::new(&small, &small_ty), out)), small);
}

#[test]
fn convolutions_and_what_they_pass_back() {
    let (x_ty, f_ty) = (ty(&[2, 5, 6, 3]), ty(&[3, 2, 3, 4]));
    let (x, f) = (numbers(&x_ty, 1), numbers(&f_ty, 2));
    let (x, f) = (Argument::new(&x, &x_ty), Argument::new(&f, &f_ty));
    for (strides, padding) in
        [([1, 1], Padding::Valid), ([2, 3], Padding::Same), ([1, 2], Padding::Pairs(&[[1, 0], [2, 1]]))]
    {
        let out_ty = rules::conv2d(x_ty, f_ty, &strides, padding).expect("the window fits");
        let y = run(&out_ty, |out| conv2d(x, f, &strides, padding, &out_ty, out));
        let dy = numbers(&out_ty, 3);
        let dy = Argument::new(&dy, &out_ty);
        let dx = run(&x_ty, |out| conv2d_grad_input(dy, &x_ty, f, &strides, padding, out));
        assert_eq!(inner(dy.elements, &y), inner(&dx, x.elements), "{padding:?}");
        let df = run(&f_ty, |out| conv2d_grad_filter(dy, x, &f_ty, &strides, padding, out));
        assert_eq!(inner(dy.elements, &y), inner(&df, f.elements), "{padding:?}");
    }
}

#[test]
fn what_squeeze_removes_is_decided_by_what_is_known() {
    let x = ty(&[1, 3, 1]);
    assert_eq!(squeeze(x, &[], 0), ty(&[3]));
    assert_eq!(squeeze(x, &[ty(&[-1, 3, 1])], 0), ty(&[1, 3]));
}
