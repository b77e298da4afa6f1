//! Sums, and loops that the run time splits.

use mind_core::testing::Random;
use mind_rt::private as rt;

use crate::case::{Case, SMALL, extent, smaller_extents};
use crate::number::{DType, Number, operand, with_type};
use crate::product::judge;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// The sum of all `rows * len` elements.
    All,
    /// The sum of each row, with `gap` elements between rows.
    Rows { gap: usize },
    /// A loop that writes every element, split by rows.
    Written,
    /// A loop that sums all elements, split by rows.
    Folded,
    /// A loop that sums each column, split by columns.
    Columns,
}

#[derive(Clone, Debug)]
pub struct Sum {
    dtype: DType,
    of: Of,
    rows: usize,
    len: usize,
    /// The cost of an element, as passed to the run time.
    cost: usize,
}

impl Sum {
    pub fn random(random: &mut Random) -> Self {
        let most = if SMALL { 1 << 13 } else { 1 << 21 };
        let longest = if SMALL { 300 } else { 100_000 };
        let (rows, len) = loop {
            let (rows, len) = (extent(random, longest), extent(random, longest));
            if rows * len <= most {
                break (rows, len);
            }
        };
        let of = match random.below(6) {
            0 => Of::All,
            1 | 2 => Of::Rows { gap: random.below(3) * random.below(5) },
            3 => Of::Written,
            4 => Of::Folded,
            _ => Of::Columns,
        };
        Self { dtype: DType::ALL[random.below(4)], of, rows, len, cost: 1 + random.below(20) }
    }

    fn compute<T: Number + rt::Combine>(&self) -> Result<u64, String> {
        let Self { rows, len, cost, .. } = *self;
        let total = |start: usize, step: usize, count: usize| -> i64 {
            (0..count).fold(0, |sum, i| sum.wrapping_add(T::number(start + i * step)))
        };
        match self.of {
            Of::All => judge(&[rt::sum(&operand::<T>(0, rows * len))], 1, |_| total(0, 1, rows * len)),
            Of::Rows { gap } => {
                let stride = len + gap;
                let elements: Vec<T> = operand(0, (rows - 1) * stride + len);
                let mut sums = vec![T::POISON; rows];
                rt::sum_rows_of(&elements, len, stride, &mut sums);
                judge(&sums, 1, |row| total(row * stride, 1, len))
            }
            Of::Written => {
                let elements: Vec<T> = operand(0, rows * len);
                let mut out = vec![T::POISON; rows * len];
                rt::run(Doubled { from: &elements, to: &mut out, len }, rows, len, cost);
                judge(&out, 1, |at| T::number(at).wrapping_mul(2))
            }
            Of::Folded => {
                let elements: Vec<T> = operand(0, rows * len);
                let sum = rt::run(Total { from: &elements, len }, rows, len, cost);
                judge(&[sum], 1, |_| total(0, 1, rows * len))
            }
            Of::Columns => {
                let elements: Vec<T> = operand(0, rows * len);
                let mut sums = vec![T::POISON; len];
                rt::run_columns(
                    Columns { from: &elements, columns: len, first: 0, sums: &mut sums },
                    len,
                    rows,
                    cost,
                );
                judge(&sums, 1, |column| total(column, len, rows))
            }
        }
    }
}

struct Doubled<'a, T> {
    from: &'a [T],
    to: &'a mut [T],
    len: usize,
}

impl<T: Number> rt::Kernel for Doubled<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (to, from) in self.to.iter_mut().zip(self.from) {
            *to = from.plus(*from);
        }
    }
}

impl<T: Number> rt::Split for Doubled<'_, T> {
    fn split(self, at: usize) -> (Self, Self) {
        let Self { from, to, len } = self;
        let (from, later) = from.split_at(at * len);
        let (to, to_later) = to.split_at_mut(at * len);
        (Self { from, to, len }, Self { from: later, to: to_later, len })
    }
}

struct Total<'a, T> {
    from: &'a [T],
    len: usize,
}

impl<T: Number> rt::Kernel for Total<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        T::lane_sum(self.from)
    }
}

impl<T: Number> rt::Split for Total<'_, T> {
    fn split(self, at: usize) -> (Self, Self) {
        let (from, later) = self.from.split_at(at * self.len);
        (Self { from, ..self }, Self { from: later, ..self })
    }
}

struct Columns<'a, T> {
    from: &'a [T],
    columns: usize,
    first: usize,
    sums: &'a mut [T],
}

impl<T: Number> rt::Kernel for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.sums.fill(T::ZERO);
        for row in self.from.chunks_exact(self.columns) {
            let row = &row[self.first..][..self.sums.len()];
            for (sum, element) in self.sums.iter_mut().zip(row) {
                *sum = sum.plus(*element);
            }
        }
    }
}

impl<T: Number> rt::Split for Columns<'_, T> {
    fn split(self, at: usize) -> (Self, Self) {
        let Self { from, columns, first, sums } = self;
        let (sums, later) = sums.split_at_mut(at);
        (Self { from, columns, first, sums }, Self { from, columns, first: first + at, sums: later })
    }
}

impl Case for Sum {
    fn run(&self) -> Result<u64, String> {
        with_type!(self.dtype, T => self.compute::<T>())
    }

    fn smaller(&self) -> Vec<Box<dyn Case>> {
        let rows = smaller_extents(self.rows, 1).into_iter().map(|rows| Self { rows, ..self.clone() });
        let lens = smaller_extents(self.len, 1).into_iter().map(|len| Self { len, ..self.clone() });
        rows.chain(lens).map(|case| Box::new(case) as Box<dyn Case>).collect()
    }
}
