//! Emits the code that splits a nest along an axis, as Rust text.

use std::fmt::Write;

use mind_core::dim::Dim;

use super::{
    Body,
    captures::{Field, Kind},
    grouped,
};

/// `fn split`: the part before step `at`, and the part from it on.
pub(super) fn implementation(body: &Body<'_>, fields: &[Field], names: &str, sizes: &str) -> String {
    let (mut cuts, mut first, mut later) = (String::new(), String::new(), String::new());
    if !sizes.is_empty() {
        first.push_str("sizes, ");
        later.push_str("sizes, ");
    }
    for Field { name, kind, .. } in fields {
        match kind {
            Kind::Read(_, stride) if *stride != Dim::ZERO => {
                let stride = grouped(&body.extent(stride));
                let _ = write!(first, "{name}, ");
                let _ = write!(later, "{name}: &{name}[at * {stride}..], ");
            }
            Kind::Position(stride) if *stride != Dim::ZERO => {
                let stride = grouped(&body.extent(stride));
                let _ = write!(first, "{name}, ");
                let _ = write!(later, "{name}: {name} + at * {stride}, ");
            }
            Kind::Read(..) | Kind::Number(_) | Kind::Position(_) => {
                let _ = write!(first, "{name}, ");
                let _ = write!(later, "{name}, ");
            }
            Kind::Written(_, stride) => {
                let stride = grouped(&body.extent(stride));
                let _ = writeln!(cuts, "let {name} = {name}.split_at_mut(at * {stride});");
                let _ = write!(first, "{name}: {name}.0, ");
                let _ = write!(later, "{name}: {name}.1, ");
            }
            Kind::Steps => {
                let _ = write!(first, "{name}: at, ");
                let _ = write!(later, "{name}: {name} - at, ");
            }
        }
    }
    format!(
        "fn split(self, at: usize) -> (Self, Self) {{ let Self {{ {names}}} = self; {sizes}\n{cuts}\
         (Self {{ {first}}}, Self {{ {later}}}) }}"
    )
}
