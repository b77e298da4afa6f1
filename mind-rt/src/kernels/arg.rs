//! The positions of the largest or smallest elements: of the first NaN if there is one, else of the first of equal
//! elements.

use mind_shape::MAX_RANK;

use super::internal_error;
use super::limit::limit;
use super::math::Functions;
use super::monoid::{Max, Min, Monoid};
use super::reduce::Reduce;

/// The number of columns that are compared at a time.
const COLUMNS: usize = limit(64, 4);

/// The position of the largest element of each group along the `reduced` axes, counted in row-major order within the
/// group.
pub fn argmax<T: Functions + Reduce>(dims: &[usize], reduced: &[bool], x: &[T], out: &mut [i64]) {
    positions::<Max, T>(dims, reduced, x, out, |x, best| x > best);
}

/// The position of the smallest element of each group along the `reduced` axes, counted in row-major order within the
/// group.
pub fn argmin<T: Functions + Reduce>(dims: &[usize], reduced: &[bool], x: &[T], out: &mut [i64]) {
    positions::<Min, T>(dims, reduced, x, out, |x, best| x < best);
}

/// An axis, or neighbouring axes that are all reduced or all kept, merged into one.
#[derive(Clone, Copy, Default)]
struct MergedAxis {
    extent: usize,
    /// The distance from one position to the next.
    stride: usize,
}

fn positions<M: Monoid<T>, T: Functions + Reduce>(
    dims: &[usize],
    reduced: &[bool],
    x: &[T],
    out: &mut [i64],
    is_beyond: impl Fn(T, T) -> bool + Copy,
) {
    // The first of two NaN stays.
    let beats = |x: T, best: T| is_beyond(x, best) | (is_nan(x) & !is_nan(best));
    let ([kept, gone], inner) = axes(dims, reduced);
    let Some((is_reduced, inner)) = inner else { return out[0] = 0 };
    let count = |axes: &[MergedAxis]| axes.iter().map(|axis| axis.extent).product::<usize>();
    let (kept, gone) = (kept.trimmed(), gone.trimmed());
    if is_reduced {
        let out = &mut out[..count(kept)];
        for (at, out) in out.iter_mut().enumerate() {
            let first = offset(kept, at);
            let mut best: Option<(T, usize)> = None;
            for turn in 0..count(gone) {
                let row = &x[first + offset(gone, turn)..][..inner.extent];
                let extreme = T::lane_fold::<M>(row);
                if best.is_none_or(|(known, _)| beats(extreme, known)) {
                    best = Some((extreme, turn * inner.extent + first_of(row, extreme)));
                }
            }
            *out = best.map_or(0, |(_, position)| position as i64);
        }
        return;
    }
    for (row, out) in out[..count(kept) * inner.extent].chunks_exact_mut(inner.extent).enumerate() {
        for (part, out) in out.chunks_mut(COLUMNS).enumerate() {
            let first = offset(kept, row) + part * COLUMNS;
            let mut best = [T::ZERO; COLUMNS];
            let best = &mut best[..out.len()];
            best.copy_from_slice(&x[first..][..out.len()]);
            out.fill(0);
            for turn in 1..count(gone) {
                let row = &x[first + offset(gone, turn)..][..out.len()];
                for ((x, best), out) in row.iter().zip(&mut *best).zip(&mut *out) {
                    let wins = beats(*x, *best);
                    *best = if wins { *x } else { *best };
                    *out = if wins { turn as i64 } else { *out };
                }
            }
        }
    }
}

/// A list of axes.
#[derive(Clone, Copy, Default)]
struct Axes {
    all: [MergedAxis; MAX_RANK],
    count: usize,
}

impl Axes {
    fn trimmed(&self) -> &[MergedAxis] {
        &self.all[..self.count]
    }

    fn push(&mut self, axis: MergedAxis) {
        self.all[self.count] = axis;
        self.count += 1;
    }
}

/// The kept and the reduced axes without the innermost one, then the innermost one with whether it is reduced. Axes of
/// extent 1 are left out.
fn axes(dims: &[usize], reduced: &[bool]) -> ([Axes; 2], Option<(bool, MergedAxis)>) {
    let mut all: [(bool, MergedAxis); MAX_RANK] = [(false, MergedAxis::default()); MAX_RANK];
    let (mut count, mut stride) = (0, 1);
    for (extent, reduced) in dims.iter().zip(reduced).rev().filter(|(extent, _)| **extent != 1) {
        match all[..count].last_mut() {
            Some((known, last)) if known == reduced => last.extent *= extent,
            Some(_) | None => {
                all[count] = (*reduced, MergedAxis { extent: *extent, stride });
                count += 1;
            }
        }
        stride *= extent;
    }
    let [mut kept, mut gone] = [Axes::default(); 2];
    for (reduced, axis) in all[1..count.max(1)].iter().rev() {
        if *reduced { gone.push(*axis) } else { kept.push(*axis) }
    }
    ([kept, gone], (count > 0).then(|| all[0]))
}

/// The offset of the element at `position`, counted in row-major order over `axes`.
fn offset(axes: &[MergedAxis], mut position: usize) -> usize {
    let mut offset = 0;
    for axis in axes.iter().rev() {
        offset += position % axis.extent * axis.stride;
        position /= axis.extent;
    }
    offset
}

/// The position of the first element that equals `extreme`, or of the first NaN if `extreme` is NaN.
fn first_of<T: Functions + Reduce>(row: &[T], extreme: T) -> usize {
    let found = if is_nan(extreme) {
        row.iter().position(|x| is_nan(*x))
    } else {
        row.iter().position(|x| *x == extreme)
    };
    found.unwrap_or_else(|| internal_error("the extreme of a row is not in it"))
}

#[inline(always)]
fn is_nan<T: PartialOrd>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows the definition, element by element.
    fn naive(dims: &[usize], reduced: &[bool], x: &[f32], largest: bool) -> Vec<i64> {
        let kept: usize =
            dims.iter().zip(reduced).filter(|(_, reduced)| !**reduced).map(|(n, _)| n).product();
        let (mut best, mut seen) = (vec![None; kept], vec![0_i64; kept]);
        for (at, x) in x.iter().enumerate() {
            let (mut rest, mut group, mut stride) = (at, 0, 1);
            for (extent, reduced) in dims.iter().zip(reduced).rev() {
                if !reduced {
                    group += rest % extent * stride;
                    stride *= extent;
                }
                rest /= extent;
            }
            let wins =
                |known: f32| !known.is_nan() && (x.is_nan() || if largest { *x > known } else { *x < known });
            if best[group].is_none_or(|(known, _)| wins(known)) {
                best[group] = Some((*x, seen[group]));
            }
            seen[group] += 1;
        }
        best.into_iter().map(|best| best.map_or(0, |(_, at)| at)).collect()
    }

    #[test]
    fn positions_are_those_of_the_definition() {
        let shapes: [&[usize]; 9] =
            [&[], &[1], &[7], &[1, 70], &[3, 5], &[2, 67], &[3, 1, 4], &[2, 3, 4, 5], &[4, 2, 33]];
        for dims in shapes {
            let len: usize = dims.iter().product();
            for seed in 0..6_usize {
                // Few values, so that many are equal; zeros of both signs; NaN in some.
                let x: Vec<f32> = (0..len)
                    .map(|at| match (at * 31 + seed * 17) % 11 {
                        0 if seed > 2 => f32::NAN,
                        1 => -0.0,
                        2 => 0.0,
                        3 => f32::INFINITY,
                        4 if seed == 5 => f32::NEG_INFINITY,
                        other => (other % 4) as f32 - 1.0,
                    })
                    .collect();
                for mask in 0..1_usize << dims.len() {
                    let reduced: Vec<bool> = (0..dims.len()).map(|axis| mask >> axis & 1 == 1).collect();
                    let kept = naive(dims, &reduced, &x, true).len();
                    let (mut largest, mut smallest) = (vec![-1; kept], vec![-1; kept]);
                    argmax(dims, &reduced, &x, &mut largest);
                    argmin(dims, &reduced, &x, &mut smallest);
                    assert_eq!(largest, naive(dims, &reduced, &x, true), "{dims:?} {reduced:?} {x:?}");
                    assert_eq!(smallest, naive(dims, &reduced, &x, false), "{dims:?} {reduced:?} {x:?}");
                }
            }
        }
    }

    #[test]
    fn integers_are_compared_as_they_are() {
        let mut out = [0; 2];
        argmin(&[2, 2], &[false, true], &[i64::MAX, i64::MIN, 3, 3], &mut out);
        assert_eq!(out, [1, 0]);
    }
}
