//! Prints open programs.

use std::fmt;

use super::{Class, NodeId, Op, Program, Structure};

/// Prints one node per line, as `%3 = At %0, %1 : x`. `like` precedes a witness.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, node) in self.iter() {
            write!(f, "{id} = ")?;
            match (node.op.input_name(), &node.op) {
                (Some(leaf), _) => write!(f, "{}", self.leaves[leaf.index()].text)?,
                (None, Op::Const(constant)) => write!(f, "{}", constant.text.trim_matches('`'))?,
                (None, op) => write!(f, "{:?}", op.shown())?,
            }
            for (position, operand) in node.operands.iter().enumerate() {
                let like = if node.op.reads(position) { "" } else { "like " };
                write!(f, "{} {like}{operand}", if position == 0 { "" } else { "," })?;
            }
            match self.classes[node.class.index()] {
                Class::Of(leaf) | Class::NumbersOf(leaf) => {
                    writeln!(f, " : {}", self.leaves[leaf.index()].text)?
                }
                Class::Fixed(dtype) => writeln!(f, " : {dtype}")?,
            }
        }
        for check in &self.checks {
            writeln!(f, "check {:?} of {}", check.kind, check.node)?;
        }
        writeln!(f, "result {}", self.result)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.index())
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => node.fmt(f),
            Self::Tuple(elements) => {
                f.write_str("(")?;
                for (i, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(if elements.len() == 1 { ",)" } else { ")" })
            }
            Self::Struct { ty, parts } => {
                write!(f, "{} {{", ty.rust_name())?;
                for (i, (node, _)) in parts.iter().enumerate() {
                    write!(f, "{}{node}", if i == 0 { " " } else { ", " })?;
                }
                f.write_str(" }")
            }
        }
    }
}
