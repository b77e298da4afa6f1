//! Emits a loop over the elements of a row. Some functions have a shorter form for operands in a limited range. A loop
//! with such functions is emitted twice: for operands in range, and for any operands.

use std::fmt::Write;

use mind_core::open::{NodeId, Op, Program};

use super::fused::expression;

/// The number of elements for which one check decides whether all operands are in range.
const ASKED: usize = 256;

/// The computation for each element.
pub(super) struct Elements<'a> {
    pub(super) program: &'a Program,
    /// The nodes to compute, in order.
    pub(super) nodes: &'a [NodeId],
    /// The name of the operand at a position of a node.
    pub(super) operand: &'a dyn Fn(NodeId, usize) -> String,
    /// The place into which a node is stored, if it is stored.
    pub(super) place: &'a dyn Fn(NodeId) -> Option<String>,
}

impl Elements<'_> {
    /// The loop over `__len` elements, with the index `__j`.
    pub(super) fn text(&self) -> String {
        // The loop has its own counter, like the loops of functions (`emit/nest/print.rs`).
        let over = |end: &str, body: &str| format!("while __j < {end} {{\n{body}__j += 1;\n}}\n");
        let body = self.body("A");
        let Some(question) = self.question() else {
            return format!("let mut __j = 0;\n{}", over("__len", &body));
        };
        format!(
            "let mut __j = 0;\nwhile __j < __len {{\n\
             let (mut __near, __start, __end) = (true, __j, ::core::cmp::Ord::min(__len, __j + {ASKED}));\n\
             {asked}__j = __start;\n\
             if __near {{\nuse rt::MultiplyAdd as _;\n{near}}} else {{\n{all}}}\n}}\n",
            asked = over("__end", &question),
            near = over("__end", &self.body("rt::Near::<A>")),
            all = over("__end", &body),
        )
    }

    fn body(&self, by: &str) -> String {
        let mut text = String::new();
        for node in self.nodes {
            let _ = writeln!(text, "{}", self.definition(*node, by));
            if let Some(place) = (self.place)(*node) {
                let _ = writeln!(text, "{place} = v{};", node.index());
            }
        }
        text
    }

    fn definition(&self, node: NodeId, by: &str) -> String {
        let value = expression(self.program, node, by, |position| (self.operand)(node, position));
        format!("let v{} = {value};", node.index())
    }

    /// The check whether the operands of one element are in range. `None` if no function has a shorter form, or if
    /// computing an operand for the check costs more than the shorter form saves.
    fn question(&self) -> Option<String> {
        let mut asked = Vec::new();
        let mut needed: Vec<NodeId> = Vec::new();
        for node in self.nodes {
            let Op::Map(map) = &self.program.node(*node).op else { continue };
            if let Some(question) = map.row().range {
                let operands: Vec<_> =
                    (0..map.row().arity()).map(|position| (self.operand)(*node, position)).collect();
                needed.extend(&self.program.node(*node).operands);
                let question = format!("__near &= rt::OperandRanges::{question}({});\n", operands.join(", "));
                if !asked.contains(&question) {
                    asked.push(question);
                }
            }
        }
        if asked.is_empty() {
            return None;
        }
        let mut definitions = Vec::new();
        for node in self.nodes.iter().rev() {
            if needed.contains(node) {
                let known = self.program.node(*node);
                if matches!(&known.op, Op::Map(map) if map.row().cost.is_worth_keeping()) {
                    return None;
                }
                needed.extend(&known.operands);
                definitions.push(self.definition(*node, "A") + "\n");
            }
        }
        definitions.reverse();
        Some(definitions.concat() + &asked.concat())
    }
}
