//! Copies of some columns of a filter in the layout that the tiles read.

use std::ops::Range;

use super::axis::{Direction, Phase};
use super::correlate::Correlation;
use crate::kernels::number::Number;

/// The layout of the columns of a panel. A factor of a column is a tap of the phase with a channel of the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelLayout {
    /// A row for each factor.
    Rows,
    /// One column after the other.
    Columns,
}

impl PanelLayout {
    /// The distances from one factor to the next and from one column to the next, in a phase of `factors` factors and
    /// `width` columns.
    pub fn strides(self, factors: usize, width: usize) -> [usize; 2] {
        match self {
            Self::Rows => [width, 1],
            Self::Columns => [1, factors],
        }
    }
}

/// Copies `columns`, phase by phase, with zeros for the columns that are missing to `width`. Returns the number of
/// elements.
pub fn pack<T: Number>(
    of: &Correlation<'_, T>,
    columns: &Range<usize>,
    width: usize,
    layout: PanelLayout,
    to: &mut [T],
) -> usize {
    let Correlation { depth, .. } = *of;
    if depth == 0 {
        return 0;
    }
    let mut len = 0;
    of.for_each_phase(|[y, x]| {
        let factors = y.taps * x.taps * depth;
        let [factor, column] = layout.strides(factors, width);
        let phase = &mut to[len..][..factors * width];
        len += phase.len();
        for_each_tap(y, x, |tap, a, b| {
            let from = &of.filter[(a * of.kw + b) * depth * of.columns..];
            let (from, strides) = match of.direction {
                Direction::Forward => (&from[columns.start..], [of.columns, 1]),
                Direction::GradInput => (&from[columns.start * depth..], [1, depth]),
            };
            let to = &mut phase[tap * depth * factor..];
            copy(from, strides, to, [factor, column], [depth, columns.len()]);
            for missing in columns.len()..width {
                for d in 0..depth {
                    to[d * factor + missing * column] = T::ZERO;
                }
            }
        });
    });
    len
}

/// Calls `f` with each tap of a phase and its filter position.
fn for_each_tap(y: &Phase, x: &Phase, mut f: impl FnMut(usize, usize, usize)) {
    for a in 0..y.taps {
        for b in 0..x.taps {
            f(a * x.taps + b, y.place(a), x.place(b));
        }
    }
}

/// Copies a matrix between layouts.
fn copy<T: Number>(
    from: &[T],
    from_strides: [usize; 2],
    to: &mut [T],
    to_strides: [usize; 2],
    [rows, columns]: [usize; 2],
) {
    /// The number of rows at a time, so that the parts of the columns that are written stay in the cache.
    const ROWS: usize = 16;

    if from_strides[1] == 1 && to_strides[1] == 1 {
        for row in 0..rows {
            to[row * to_strides[0]..][..columns].copy_from_slice(&from[row * from_strides[0]..][..columns]);
        }
        return;
    }
    for start in (0..rows).step_by(ROWS) {
        for column in 0..columns {
            for row in start..rows.min(start + ROWS) {
                to[row * to_strides[0] + column * to_strides[1]] =
                    from[row * from_strides[0] + column * from_strides[1]];
            }
        }
    }
}
