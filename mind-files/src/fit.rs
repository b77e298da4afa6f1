//! Checks whether a file fits parameters.

use std::collections::BTreeMap;

use crate::error::Difference;
use crate::layout::{Arrays, Part};
use crate::names::Names;

/// The name in the file of each part.
///
/// # Errors
/// All differences: first conflicts of names, then those of each part in order, then unexpected arrays in the file.
pub fn fit(parts: &[Part], arrays: &Arrays, names: &Names<'_>) -> Result<Vec<String>, Vec<Difference>> {
    let (in_file, mut differences) = (in_file(parts, names), conflicts(parts, names));
    let mut beside = arrays.clone();
    for (part, name) in parts.iter().zip(&in_file) {
        beside.remove(name);
        let (name, parameter, needed) = (name.clone(), part.name.clone(), part.layout.clone());
        match arrays.get(&name) {
            None => differences.push(Difference::Missing { name, parameter, needed }),
            Some(found) if *found != needed => {
                differences.push(Difference::Layout { name, parameter, found: found.clone(), needed });
            }
            Some(_) => {}
        }
    }
    if !names.may_have_more() {
        differences.extend(beside.into_iter().map(|(name, found)| Difference::Unexpected { name, found }));
    }
    if differences.is_empty() { Ok(in_file) } else { Err(differences) }
}

/// The name in a file of each part, if all names differ.
///
/// # Errors
/// Names that belong to no part, and names that belong to several.
pub fn named(parts: &[Part], names: &Names<'_>) -> Result<Vec<String>, Vec<Difference>> {
    let differences = conflicts(parts, names);
    if differences.is_empty() { Ok(in_file(parts, names)) } else { Err(differences) }
}

fn in_file(parts: &[Part], names: &Names<'_>) -> Vec<String> {
    parts.iter().map(|part| names.in_file(&part.name)).collect()
}

/// Names that belong to no part, and names that belong to several.
fn conflicts(parts: &[Part], names: &Names<'_>) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (name, parameter) in names.listed() {
        if parts.iter().all(|part| part.name != *parameter) {
            let (name, parameter) = (name.clone(), parameter.clone());
            differences.push(Difference::NoParameter { name, parameter });
        }
    }
    let mut first = BTreeMap::new();
    for (part, name) in parts.iter().zip(in_file(parts, names)) {
        if let Some(other) = first.insert(name.clone(), &part.name) {
            let parameters = [other.clone(), part.name.clone()];
            differences.push(Difference::Twice { name, parameters });
        }
    }
    differences
}
