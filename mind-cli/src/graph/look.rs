//! The colours of boxes and arrows.

use super::Kind;

/// The look of a box.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Its classes in SVG, separated by a space.
    pub class: &'static str,
    /// The colour inside.
    pub fill: &'static str,
    /// The colour of the border.
    pub line: &'static str,
    /// The width of the border.
    pub width: f64,
    /// Whether the ends are round.
    pub is_round: bool,
    /// Whether the border is dashed.
    pub is_dashed: bool,
}

const INPUT: Look =
    Look { class: "input", fill: "#dbeafe", line: "#2563eb", width: 1.2, is_round: true, is_dashed: false };
const CONSTANT: Look = Look { class: "constant", fill: "#f1f5f9", line: "#94a3b8", width: 1.0, ..INPUT };
const OPERATION: Look =
    Look { class: "operation", fill: "#ffffff", line: "#334155", is_round: false, ..INPUT };
const OUTPUT: Look = Look { class: "output", fill: "#dcfce7", line: "#16a34a", ..INPUT };
const REFERENCE: Look = Look {
    class: "reference",
    fill: "#ffffff",
    line: "#64748b",
    width: 1.0,
    is_round: false,
    is_dashed: true,
};
const OPERATION_OF_GRADIENT: Look =
    Look { class: "operation gradient", fill: "#ffedd5", line: "#c2570c", ..OPERATION };
const CONSTANT_OF_GRADIENT: Look =
    Look { class: "constant gradient", fill: "#fff7ed", line: "#ea9a5c", ..CONSTANT };
const OUTPUT_OF_GRADIENT: Look = Look { class: "output gradient", line: "#c2570c", ..OUTPUT };

/// Every look. Those of gradients come last, because they change others.
pub const LOOKS: [Look; 8] = [
    INPUT,
    CONSTANT,
    OPERATION,
    OUTPUT,
    REFERENCE,
    OPERATION_OF_GRADIENT,
    CONSTANT_OF_GRADIENT,
    OUTPUT_OF_GRADIENT,
];

/// The look of the boxes of a kind. `gradient` tells whether only gradients need them.
pub const fn look(kind: Kind, gradient: bool) -> Look {
    match (kind, gradient) {
        (Kind::Input, _) => INPUT,
        (Kind::Constant, false) => CONSTANT,
        (Kind::Constant, true) => CONSTANT_OF_GRADIENT,
        (Kind::Operation, false) => OPERATION,
        (Kind::Operation, true) => OPERATION_OF_GRADIENT,
        (Kind::Output, false) => OUTPUT,
        (Kind::Output, true) => OUTPUT_OF_GRADIENT,
        (Kind::Reference, _) => REFERENCE,
    }
}

/// The colours of arrows, of the texts beside them, of names and of details.
pub const ARROW: [&str; 2] = ["#64748b", "#c2570c"];
pub const TYPE: [&str; 2] = ["#475569", "#9a4308"];
pub const NAME: &str = "#0f172a";
pub const DETAIL: &str = "#475569";

/// The colour of a box with this part of the arithmetic, from white to amber. `None` below one percent.
pub fn heat(share: f64) -> Option<String> {
    let mixed = |full: f64| (255.0 + (full - 255.0) * share.sqrt().min(1.0)).round() as u8;
    (share >= 0.01).then(|| format!("#{:02x}{:02x}{:02x}", mixed(251.0), mixed(191.0), mixed(36.0)))
}
