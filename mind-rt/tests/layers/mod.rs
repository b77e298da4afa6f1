//! Modules of the crate name only modules of their own layer and of lower ones: kernels know slices, and neither
//! tensors nor shapes.

use std::fs;
use std::path::Path;

use names::{files, named};

#[path = "../../../tests/support/names.rs"]
mod names;

/// The layers, lowest first.
const LAYERS: [&[&str]; 4] = [
    &["error", "kernels", "parallel", "simd", "workspace"],
    &["axis_count", "dims", "element", "random", "refusal", "shape"],
    &[
        "argument",
        "bare",
        "convert",
        "external",
        "format",
        "gradcheck",
        "initialise",
        "inspect",
        "interop",
        "optim",
        "parameters",
        "profile",
        "stack",
        "support",
        "tensor",
        "view",
        "watch",
    ],
    &["knossos", "private"],
];

#[test]
fn no_module_names_one_of_a_layer_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut up, mut seen) = (Vec::new(), 0);
    for (layer, modules) in LAYERS.iter().enumerate() {
        for module in *modules {
            let files = files(&source, module);
            assert!(!files.is_empty(), "{module} is a module");
            for file in files {
                let text = fs::read_to_string(&file).expect("the source can be read");
                for named in named(&text, "crate::") {
                    let place = LAYERS.iter().position(|modules| modules.contains(&&*named));
                    seen += usize::from(place.is_some());
                    if place.is_some_and(|place| place > layer) {
                        up.push(format!("{} names {named}", file.display()));
                    }
                }
            }
        }
    }
    assert!(seen > 200, "{seen} names of modules are found");
    assert!(up.is_empty(), "{}", up.join("\n"));
}

/// Every module of the crate is in a layer.
#[test]
fn every_module_has_a_layer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let text = fs::read_to_string(root).expect("the source can be read");
    let declared = text.lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    let without: Vec<_> = declared
        .filter(|name| *name != "sample" && !LAYERS.iter().any(|modules| modules.contains(name)))
        .collect();
    assert!(without.is_empty(), "{without:?}");
}
