//! A loop over the elements of a row: two where functions are shorter of operands in range.

use std::fmt::Write;

use mind_core::open::{NodeId, Op, Program};

use super::fused::expression;

/// Elements that are asked at a time whether all operands are in range.
const ASKED: usize = 256;

/// What is computed of each element.
pub(super) struct Elements<'a> {
    pub(super) program: &'a Program,
    /// In order.
    pub(super) nodes: &'a [NodeId],
    /// What the operand at a position of a node is called.
    pub(super) operand: &'a dyn Fn(NodeId, usize) -> String,
    /// Where a node is stored, if it is.
    pub(super) place: &'a dyn Fn(NodeId) -> Option<String>,
}

impl Elements<'_> {
    /// The loop over `__len` elements, `__j` the index.
    pub(super) fn text(&self) -> String {
        // It counts by itself, as the loops of functions do (`emit/nest/print.rs`).
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

    /// What is asked of an element, unless there is no such function or an operand takes longer to compute than the answer is
    /// worth.
    fn question(&self) -> Option<String> {
        let mut asked = Vec::new();
        let mut needed: Vec<NodeId> = Vec::new();
        for node in self.nodes {
            let Op::Map(map) = &self.program.node(*node).op else { continue };
            if let Some(question) = map.row().range {
                let operands: Vec<_> =
                    (0..map.row().arity()).map(|position| (self.operand)(*node, position)).collect();
                needed.extend(&self.program.node(*node).operands);
                let question = format!("__near &= rt::Ranges::{question}({});\n", operands.join(", "));
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
