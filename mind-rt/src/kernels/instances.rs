//! The kernels for each element type, as instances of the generic ones.

use mind_shape::element_types;

use super::compiled::{Compiled, SumKernels};
use super::cumulate::{Along, By, by_factors, by_monoid};
use super::gather::{self, Indices, Picked, by_type};
use super::monoid::{Max, Min, Product, Sum};
use super::pooling::{self, Pool, PoolOf};
use super::{copy, order, reduce};

macro_rules! compiled {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Compiled for $ty {
            #[inline(never)]
            fn fill(elements: &mut [Self], value: Self) {
                elements.fill(value);
            }

            #[inline(never)]
            fn are_equal(lhs: &[Self], rhs: &[Self]) -> bool {
                // Compares all elements of a block, several at a time, and branches once per block instead of once per
                // element.
                let ((lhs, lhs_rest), (rhs, rhs_rest)) = (lhs.as_chunks::<64>(), rhs.as_chunks::<64>());
                let mut blocks = lhs.iter().zip(rhs);
                lhs.len() == rhs.len()
                    && lhs_rest == rhs_rest
                    && blocks.all(|(lhs, rhs)| {
                        let (mut at, mut equal) = (0, true);
                        while at < lhs.len() {
                            equal &= lhs[at] == rhs[at];
                            at += 1;
                        }
                        equal
                    })
            }

            #[inline(never)]
            fn copy_strided(dims: &[usize], strides: &[usize], offset: usize, src: &[Self], dst: &mut [Self]) {
                copy::strided(dims, strides, offset, src, dst);
            }

            #[inline(never)]
            fn copy_rows(to: &mut [Self], from: &[Self], strides: [usize; 2], rows: usize, columns: usize) {
                for r in 0..rows {
                    to[r * strides[0]..][..columns].copy_from_slice(&from[r * strides[1]..][..columns]);
                }
            }

            #[inline(never)]
            fn flip(extents: [usize; 3], x: &[Self], out: &mut [Self]) {
                order::flip(extents, x, out);
            }

            #[inline(never)]
            fn gather(table: &[Self], picked: Picked, indices: Indices<'_>, out: &mut [Self]) {
                by_type!(indices => gather::pick(table, picked, indices, out))
            }

            #[inline(never)]
            fn scatter(out: &mut [Self], row_len: usize, indices: Indices<'_>, updates: &[Self]) {
                by_type!(indices => gather::scatter(out, row_len, indices, updates))
            }
        })*
    };
}

macro_rules! sums {
    ($($ty:ident $variant:ident;)*) => {
        $(impl SumKernels for $ty {
            #[inline(never)]
            fn slice_grad(
                dims: &[usize],
                starts: &[usize],
                steps: &[usize],
                update_dims: &[usize],
                updates: &[Self],
                out: &mut [Self],
            ) {
                copy::put_back(dims, starts, steps, update_dims, updates, out);
            }

            #[inline(never)]
            fn add_strided(dims: &[usize], steps: &[usize], updates: &[Self], out: &mut [Self]) {
                copy::put_sums(dims, steps, updates, out);
            }

            #[inline(never)]
            fn pool(pool: &Pool, of: PoolOf<'_, Self>, out: &mut [Self]) {
                pooling::run(pool, of, out);
            }

            #[inline(never)]
            fn scatter_add(out: &mut [Self], picked: Picked, indices: Indices<'_>, updates: &[Self]) {
                by_type!(indices => gather::put(out, picked, indices, updates))
            }

            #[inline(never)]
            fn add_rows(out: &mut [Self], row_len: usize, indices: Indices<'_>, updates: &[Self]) {
                by_type!(indices => gather::add_rows(out, row_len, indices, updates))
            }

            #[inline(never)]
            fn cumulate(by: By, along: Along, x: &[Self], out: &mut [Self]) {
                match by {
                    By::Sum => by_monoid::<Sum, Self>(along, x, out),
                    By::Product => by_monoid::<Product, Self>(along, x, out),
                    By::Max => by_monoid::<Max, Self>(along, x, out),
                    By::Min => by_monoid::<Min, Self>(along, x, out),
                }
            }

            #[inline(never)]
            fn sort(extents: [usize; 3], first: usize, descending: bool, x: &[Self], out: &mut [Self]) {
                order::sorted(extents, first, descending, x, out);
            }

            #[inline(never)]
            fn argsort(extents: [usize; 3], first: usize, descending: bool, x: &[Self], out: &mut [i64]) {
                order::order(extents, first, descending, x, out);
            }

            #[inline(never)]
            fn recurrence(along: Along, a: &[Self], b: &[Self], out: &mut [Self]) {
                by_factors(along, a, b, out);
            }

            #[inline(never)]
            fn sum_all(elements: &[Self]) -> Self {
                reduce::all::<Sum, Self>(elements)
            }

            #[inline(never)]
            fn sum_columns(
                sums: &mut [Self],
                lost: &mut [Self],
                chain: &mut [Self],
                elements: &[Self],
                stride: usize,
                rows: usize,
            ) {
                reduce::columns(sums, lost, chain, elements, stride, rows);
            }
        })*
    };
}

element_types!(all => compiled!);
element_types!(numbers => sums!);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_equal_if_every_element_is() {
        for len in [0, 1, 63, 64, 65, 200] {
            let elements: Vec<f32> = (0..len as u16).map(f32::from).collect();
            assert!(Compiled::are_equal(&elements, &elements));
            for at in 0..len {
                let mut other = elements.clone();
                other[at] = f32::NAN;
                assert!(!Compiled::are_equal(&elements, &other) && !Compiled::are_equal(&other, &other));
                assert!(!Compiled::are_equal(&elements, &elements[..at]));
            }
        }
    }
}
