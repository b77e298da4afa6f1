//! Operations that move elements without computing, or only add them.

use mind_core::testing::Random;
use mind_rt::private as rt;

use crate::case::{Case, SMALL, extent, smaller_extents};
use crate::number::{DType, Number, operand, with_type};
use crate::product::judge;

#[derive(Clone, Debug)]
enum Of {
    /// A strided copy. `order` lists the axes by their strides in the source, smallest first. Axes marked in `repeats`
    /// have stride 0. `steps` multiplies the strides.
    Copy {
        order: Vec<usize>,
        repeats: Vec<bool>,
        steps: Vec<usize>,
        offset: usize,
    },
    SliceGrad {
        starts: Vec<usize>,
        steps: Vec<usize>,
    },
    Gather {
        row: usize,
        scatters: bool,
    },
}

/// An operation that moves elements, and the extents of its tensor.
#[derive(Clone, Debug)]
pub struct Movement {
    dtype: DType,
    extents: Vec<usize>,
    of: Of,
}

impl Movement {
    pub fn random(random: &mut Random) -> Self {
        let most = if SMALL { 1 << 13 } else { 1 << 18 };
        let rank = 1 + random.below(4);
        let longest = if SMALL { 63 } else { 5000 };
        let extents: Vec<usize> = loop {
            let extents: Vec<usize> = (0..rank).map(|_| extent(random, longest)).collect();
            if extents.iter().product::<usize>() <= most {
                break extents;
            }
        };
        let mut order: Vec<usize> = (0..rank).collect();
        for at in (1..rank).rev() {
            order.swap(at, random.below(at + 1));
        }
        let draw = |random: &mut Random, most: usize| -> Vec<usize> {
            (0..rank).map(|_| 1 + random.below(3) * random.below(most)).collect()
        };
        let of = match random.below(5) {
            0..3 => Of::Copy {
                order,
                repeats: (0..rank).map(|_| random.below(8) == 0).collect(),
                steps: draw(random, 2),
                offset: random.below(5),
            },
            3 => {
                Of::SliceGrad { starts: (0..rank).map(|_| random.below(4)).collect(), steps: draw(random, 3) }
            }
            _ => Of::Gather {
                row: 1 + random.below(if SMALL { 20 } else { 300 }),
                scatters: random.below(2) == 0,
            },
        };
        Self { dtype: DType::ALL[random.below(4)], extents, of }
    }

    fn compute<T: Number>(&self) -> Result<u64, String> {
        match &self.of {
            Of::Copy { order, repeats, steps, offset } => self.copy::<T>(order, repeats, steps, *offset),
            Of::SliceGrad { starts, steps } => self.slice_grad::<T>(starts, steps),
            Of::Gather { row, scatters } => self.gather::<T>(*row, *scatters),
        }
    }

    fn copy<T: Number>(
        &self,
        order: &[usize],
        repeats: &[bool],
        steps: &[usize],
        offset: usize,
    ) -> Result<u64, String> {
        let mut strides = vec![0; self.extents.len()];
        let mut stride = 1;
        for axis in order {
            if !repeats[*axis] {
                strides[*axis] = stride * steps[*axis];
                stride *= self.extents[*axis] * steps[*axis];
            }
        }
        let last: usize =
            self.extents.iter().zip(&strides).map(|(extent, stride)| (extent - 1) * stride).sum();
        let source: Vec<T> = operand(0, offset + last + 1);
        let mut out = vec![T::POISON; self.extents.iter().product()];
        rt::copy_strided(&self.extents, &strides, offset, &source, &mut out);
        judge(&out, 1, |at| T::number(offset + dotted(&self.extents, at, &strides)))
    }

    fn slice_grad<T: Number>(&self, starts: &[usize], steps: &[usize]) -> Result<u64, String> {
        let whole: Vec<usize> = (0..self.extents.len())
            .map(|axis| starts[axis] + (self.extents[axis] - 1) * steps[axis] + 1 + starts[axis] % 2)
            .collect();
        let updates: Vec<T> = operand(0, self.extents.iter().product());
        let len: usize = whole.iter().product();
        let mut out = vec![T::POISON; len];
        rt::slice_grad(&whole, starts, steps, &self.extents, &updates, &mut out);
        let mut expected = vec![0; len];
        let mut strides = vec![1; whole.len()];
        for axis in (1..whole.len()).rev() {
            strides[axis - 1] = strides[axis] * whole[axis];
        }
        let start: usize = starts.iter().zip(&strides).map(|(start, stride)| start * stride).sum();
        let taken: Vec<usize> = strides.iter().zip(steps).map(|(stride, step)| stride * step).collect();
        for at in 0..updates.len() {
            expected[start + dotted(&self.extents, at, &taken)] = T::number(at);
        }
        judge(&out, 1, |at| expected[at])
    }

    fn gather<T: Number>(&self, row: usize, scatters: bool) -> Result<u64, String> {
        let rows = self.extents[0];
        let count: usize = self.extents.iter().skip(1).product();
        let indices: Vec<i32> =
            (0..count).map(|i| (i64::number(i).unsigned_abs() % rows as u64) as i32).collect();
        if scatters {
            let updates: Vec<T> = operand(0, count * row);
            let mut out = vec![T::POISON; rows * row];
            rt::scatter_add(&mut out, rt::Picked::Row(row), &indices, &updates);
            let mut expected = vec![0_i64; rows * row];
            for (i, index) in indices.iter().enumerate() {
                for at in 0..row {
                    let to = &mut expected[*index as usize * row + at];
                    *to = to.wrapping_add(T::number(i * row + at));
                }
            }
            return judge(&out, 1, |at| expected[at]);
        }
        let table: Vec<T> = operand(0, rows * row);
        let mut out = vec![T::POISON; count * row];
        rt::gather(&table, rt::Picked::Row(row), &indices, &mut out);
        judge(&out, 1, |at| T::number(indices[at / row] as usize * row + at % row))
    }
}

/// The scalar product of an element's indices with `factors`.
fn dotted(extents: &[usize], mut at: usize, factors: &[usize]) -> usize {
    let mut sum = 0;
    for axis in (0..extents.len()).rev() {
        sum += at % extents[axis] * factors[axis];
        at /= extents[axis];
    }
    sum
}

impl Case for Movement {
    fn run(&self) -> Result<u64, String> {
        with_type!(self.dtype, T => self.compute::<T>())
    }

    fn smaller(&self) -> Vec<Box<dyn Case>> {
        let mut smaller: Vec<Box<dyn Case>> = Vec::new();
        for axis in 0..self.extents.len() {
            for extent in smaller_extents(self.extents[axis], 1) {
                let mut case = self.clone();
                case.extents[axis] = extent;
                smaller.push(Box::new(case));
            }
        }
        smaller
    }
}
