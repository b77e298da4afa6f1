//! The distribution of a tensor's elements over devices.

use std::rc::Rc;

use mind_core::stablehlo::{Described, ShardedType};
use mind_core::ty::DType;

/// The type of a tensor, and the part of it that each device has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub dtype: DType,
    pub extents: Vec<usize>,
    /// For each dimension, its number of parts, and the distance in devices between consecutive parts.
    splits: Vec<Split>,
    local: Rc<[LocalDevice]>,
}

/// A device of the mesh that belongs to this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalDevice {
    /// The position in the mesh.
    pub position: usize,
    /// The position among the devices of this process.
    pub device: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Split {
    parts: usize,
    stride: usize,
}

/// Elements that are contiguous both in the whole tensor and in a part.
pub struct Run {
    /// The offset in the whole tensor, in bytes.
    pub start: usize,
    /// The length in bytes.
    pub len: usize,
}

impl Layout {
    pub fn new(placed: &ShardedType, program: &Described, local: &Rc<[LocalDevice]>) -> Self {
        let size = |extent: i64| usize::try_from(extent).expect("the text counts its elements in 63 bits");
        let split = |axis: &Option<_>| {
            let found = axis.as_ref().and_then(|axis| program.axes.iter().position(|(name, _)| name == axis));
            found.map_or(Split { parts: 1, stride: 1 }, |axis| Split {
                parts: size(program.axes[axis].1),
                stride: program.axes[axis + 1..].iter().map(|(_, count)| size(*count)).product(),
            })
        };
        Self {
            dtype: placed.dtype,
            extents: placed.extents.iter().map(|extent| size(*extent)).collect(),
            splits: placed.split.iter().map(split).collect(),
            local: local.clone(),
        }
    }

    /// The devices of this process that have a part, in the order of the mesh.
    pub fn local(&self) -> &[LocalDevice] {
        &self.local
    }

    /// The number of different parts.
    pub fn part_count(&self) -> usize {
        self.splits.iter().map(|split| split.parts).product()
    }

    /// Whether each device has the whole tensor.
    pub fn is_whole(&self) -> bool {
        self.splits.iter().all(|split| split.parts == 1)
    }

    /// The size of the whole tensor in bytes.
    pub fn bytes(&self) -> usize {
        self.extents.iter().product::<usize>() * self.dtype.bytes()
    }

    /// The size of a part in bytes.
    pub fn part_bytes(&self) -> usize {
        self.counts().iter().product::<usize>() * self.dtype.bytes()
    }

    /// The number of the element type in the PJRT interface, a `PJRT_Buffer_Type`.
    pub const fn element(&self) -> i32 {
        match self.dtype {
            DType::Bool => 1,
            DType::U8 => 6,
            DType::I32 => 4,
            DType::I64 => 5,
            DType::F32 => 11,
            DType::F64 => 12,
        }
    }

    /// The extents of a part.
    pub fn counts(&self) -> Vec<usize> {
        self.extents.iter().zip(&self.splits).map(|(extent, split)| extent / split.parts).collect()
    }

    /// The index of the part that a device has, in each dimension.
    pub fn part(&self, device: usize) -> Vec<usize> {
        self.splits.iter().map(|split| device / split.stride % split.parts).collect()
    }

    /// Appends the bytes of a device's part of a whole tensor.
    pub fn gather(&self, device: usize, whole: &[u8], part: &mut Vec<u8>) {
        for run in self.runs(device) {
            part.extend_from_slice(&whole[run.start..run.start + run.len]);
        }
    }

    /// The extents of a part, as the plugin takes them.
    pub fn part_extents(&self) -> Vec<i64> {
        self.counts().into_iter().map(|count| count as i64).collect()
    }

    /// The contiguous runs of a device's part, in the order of the part.
    pub fn runs(&self, device: usize) -> Vec<Run> {
        let counts = self.counts();
        // After the last split dimension, the elements of the whole and of a part are in the same order.
        let last = self.splits.iter().rposition(|split| split.parts > 1).unwrap_or(0);
        let inner: usize = self.extents.iter().skip(last + 1).product::<usize>() * self.dtype.bytes();
        let len = counts.get(last).copied().unwrap_or(1) * inner;
        let starts: Vec<usize> =
            self.part(device).iter().zip(&counts).map(|(part, count)| part * count).collect();
        let outer = &counts[..last.min(counts.len())];
        let rows: usize = outer.iter().product();
        let runs = (0..rows).map(|row| {
            let (mut rest, mut start, mut stride) = (row, 0, inner);
            if let Some(first) = starts.get(last) {
                start += first * stride;
                stride *= self.extents[last];
            }
            for (axis, count) in outer.iter().enumerate().rev() {
                start += (starts[axis] + rest % count) * stride;
                rest /= count;
                stride *= self.extents[axis];
            }
            Run { start, len }
        });
        runs.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(extents: &[i64], axes: &[(&str, i64)], split: &[Option<&str>]) -> Layout {
        let split = split.iter().map(|axis| axis.map(Into::into)).collect();
        let placed = ShardedType { dtype: DType::F32, extents: extents.to_vec(), split };
        let axes = axes.iter().map(|(name, count)| ((*name).into(), *count)).collect();
        let local: Rc<[LocalDevice]> = [LocalDevice { position: 0, device: 0 }].into();
        Layout::new(
            &placed,
            &Described { text: String::new(), axes, arguments: vec![], results: vec![] },
            &local,
        )
    }

    /// The positions in the whole tensor of the elements of a device's part.
    fn elements(layout: &Layout, device: usize) -> Vec<usize> {
        layout.runs(device).iter().flat_map(|run| run.start / 4..(run.start + run.len) / 4).collect()
    }

    #[test]
    fn rows_are_split_into_blocks() {
        let layout = layout(&[4, 3], &[("d", 2)], &[Some("d"), None]);
        assert_eq!(elements(&layout, 0), (0..6).collect::<Vec<_>>());
        assert_eq!(elements(&layout, 1), (6..12).collect::<Vec<_>>());
        assert_eq!((layout.runs(0).len(), layout.part_bytes(), layout.bytes()), (1, 24, 48));
    }

    #[test]
    fn columns_are_split_in_each_row() {
        let layout = layout(&[2, 4], &[("d", 2)], &[None, Some("d")]);
        assert_eq!(elements(&layout, 0), [0, 1, 4, 5]);
        assert_eq!(elements(&layout, 1), [2, 3, 6, 7]);
    }

    #[test]
    fn devices_count_along_the_last_axis_first() {
        let axes = [("d", 2), ("m", 2)];
        let both = layout(&[2, 2, 2], &axes, &[Some("m"), Some("d"), None]);
        let parts: Vec<_> = (0..4).map(|device| elements(&both, device)).collect();
        assert_eq!(parts, [[0, 1], [4, 5], [2, 3], [6, 7]]);
        let rows = layout(&[2, 2], &axes, &[Some("d"), None]);
        let parts: Vec<_> = (0..4).map(|device| elements(&rows, device)).collect();
        assert_eq!(parts, [[0, 1], [0, 1], [2, 3], [2, 3]]);
    }

    #[test]
    fn a_number_is_whole() {
        let layout = layout(&[], &[("d", 2)], &[]);
        assert!(layout.is_whole());
        assert_eq!(elements(&layout, 1), [0]);
    }
}
