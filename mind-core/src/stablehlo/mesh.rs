//! The layout of inputs over devices, in terms of Shardy.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Error, quoted_text,
    tensor::{Tensor, list},
};
use crate::{canon::Canonical, diag::Code, interp::RunError};

/// A grid of devices, and the inputs that are split over them.
///
/// Each axis has a name and a number of devices. A split input names a mesh axis, or none, for each of its dimensions.
/// Other inputs are whole on every device. An output that updates an input has the layout of the input. Other outputs
/// are whole on every device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mesh {
    /// The axes in order: name and number of devices.
    pub axes: Vec<(Arc<str>, i64)>,
    /// For each input that is split, by name, the mesh axis that splits each dimension.
    pub shards: BTreeMap<Arc<str>, Vec<Option<Arc<str>>>>,
}

impl Mesh {
    /// Checks that the inputs can be split over the mesh.
    ///
    /// # Errors
    /// See [`Error::Mesh`].
    pub(super) fn check(&self, module: &Canonical, inputs: &[Tensor]) -> Result<(), Error> {
        let mut devices = 1_i64;
        let mut sizes: BTreeMap<&str, i64> = BTreeMap::new();
        for (name, size) in &self.axes {
            if *size < 1 {
                return fault(Code::E3006, format!("the mesh axis `{name}` is {size}, needed at least 1"));
            }
            if sizes.insert(name, *size).is_some() {
                return fault(Code::E2008, format!("the mesh has two axes `{name}`"));
            }
            let Some(product) = devices.checked_mul(*size) else {
                return fault(Code::E6004, "the mesh has more devices than 64 bits can count".into());
            };
            devices = product;
        }
        let names: BTreeMap<&str, usize> =
            module.inputs().enumerate().map(|(position, (name, _))| (&**name, position)).collect();
        for (input, split) in &self.shards {
            let Some(position) = names.get(&**input) else {
                return fault(Code::E2002, format!("the program has no input `{input}`"));
            };
            let extents = &inputs[*position].shape;
            if extents.len() != split.len() {
                let (rank, given) = (extents.len(), split.len());
                let message = format!("`{input}` has rank {rank}, and {given} mesh axes are given for it");
                return fault(Code::E2007, message);
            }
            let mut used = BTreeSet::new();
            for (dimension, (axis, extent)) in split.iter().zip(extents).enumerate() {
                let Some(axis) = axis else { continue };
                let Some(size) = sizes.get(&**axis) else {
                    return fault(Code::E2002, format!("the mesh has no axis `{axis}`"));
                };
                if !used.insert(axis) {
                    let message = format!("the mesh axis `{axis}` splits two dimensions of `{input}`");
                    return fault(Code::E2008, message);
                }
                if extent % size != 0 {
                    let message = format!(
                        "dimension {dimension} of `{input}` is {extent}, which the {size} devices of the mesh axis `{axis}` do \
                         not divide"
                    );
                    return fault(Code::E6009, message);
                }
            }
        }
        Ok(())
    }

    /// The line that declares the mesh.
    pub(super) fn declared(&self) -> String {
        let axes = self.axes.iter().map(|(name, size)| format!("{}={size}", quoted_text(name)));
        format!("  sdy.mesh @mesh = <{}>\n", list(axes))
    }

    /// The mesh axis that splits each dimension of an input of this rank.
    pub(super) fn split(&self, input: &str, rank: usize) -> Vec<Option<Arc<str>>> {
        self.shards.get(input).cloned().unwrap_or_else(|| vec![None; rank])
    }
}

/// The attribute of a split value: `sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>`.
pub(super) fn attribute(split: &[Option<Arc<str>>]) -> String {
    let dimensions = split.iter().map(|axis| match axis {
        Some(axis) => format!("{{{}}}", quoted_text(axis)),
        None => "{}".into(),
    });
    format!("sdy.sharding = #sdy.sharding<@mesh, {}>", list(dimensions))
}

fn fault(code: Code, message: String) -> Result<(), Error> {
    Err(Error::Mesh(RunError::new(code, message)))
}
