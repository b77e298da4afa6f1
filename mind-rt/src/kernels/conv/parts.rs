//! Results whose rows are split among threads.

use std::ops::Range;

use mind_shape::threads as split;

use crate::kernels::epilogue::Epilogue;
use crate::kernels::limit::limit;
use crate::parallel::{join, threads};

/// Some rows of a result, and their epilogue.
pub struct OutputRows<'a, T> {
    /// The rows.
    pub rows: Range<usize>,
    /// Receives all of these rows, and no others.
    pub epilogue: &'a mut dyn Epilogue<T>,
}

/// All rows of a result, split among threads.
pub struct SplitRows<'s, 'a, T>(&'s mut [Option<OutputRows<'a, T>>]);

/// The most parts of a result.
const MAX_PARTS: usize = split::PARTS_OF_CONVOLUTION;

/// The number of multiply-adds that are worth a thread.
const WORTH: usize = limit(split::WORTH_OF_CONVOLUTION, 64);

/// The number of parts that are worth their threads, for `work` multiply-adds.
pub fn parts_worth(work: usize) -> usize {
    split::convolution_parts(work, threads(), WORTH)
}

/// Splits `rows` rows into at most `count` parts, at multiples of `grain`, and calls `f` with them.
pub fn with_parts<T, E: Epilogue<T>>(
    count: usize,
    [rows, grain]: [usize; 2],
    mut epilogue: E,
    f: impl FnOnce(SplitRows<'_, '_, T>),
) {
    let grain = grain.max(1);
    let grains = rows.div_ceil(grain);
    let count = count.min(grains).clamp(1, MAX_PARTS);
    if count == 1 {
        return f(SplitRows(&mut [Some(OutputRows { rows: 0..rows, epilogue: &mut epilogue })]));
    }
    let start = |part: usize| (grains * part / count * grain).min(rows);
    let mut rest = Some(epilogue);
    let mut epilogues: [Option<E>; MAX_PARTS] = std::array::from_fn(|part| {
        let epilogue = rest.take()?;
        if part + 1 == count {
            return Some(epilogue);
        }
        let (first, later) = epilogue.split(start(part + 1));
        rest = Some(later);
        Some(first)
    });
    let mut part = 0;
    let mut parts = epilogues.each_mut().map(|epilogue| {
        part += 1;
        let epilogue: &mut dyn Epilogue<T> = epilogue.as_mut()?;
        Some(OutputRows { rows: start(part - 1)..start(part), epilogue })
    });
    f(SplitRows(&mut parts[..count]));
}

impl<T> SplitRows<'_, '_, T> {
    /// Calls `f` with each part, in parallel.
    pub fn for_each(&mut self, f: &(dyn Fn(&mut OutputRows<'_, T>) + Sync)) {
        for_each(self.0, f);
    }
}

fn for_each<T>(parts: &mut [Option<OutputRows<'_, T>>], f: &(dyn Fn(&mut OutputRows<'_, T>) + Sync)) {
    match parts {
        [] => {}
        [part] => part.iter_mut().for_each(f),
        parts => {
            let (first, later) = parts.split_at_mut(parts.len() / 2);
            join(|| for_each(first, f), || for_each(later, f));
        }
    }
}
