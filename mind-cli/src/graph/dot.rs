//! Writes a picture in the language of Graphviz.

use std::fmt::{self, Write};

use super::{
    Kind, Picture,
    look::{Look, heat, look},
};

/// The text of a picture. Equal pictures give equal texts.
pub fn render(picture: &Picture) -> String {
    let mut text = String::new();
    write_graph(picture, &mut text).expect("writing to a string cannot fail");
    text
}

fn write_graph(picture: &Picture, text: &mut String) -> fmt::Result {
    writeln!(text, "digraph mind {{")?;
    writeln!(
        text,
        "  label={}; labelloc=t; labeljust=l; rankdir=TB; nodesep=0.35; ranksep=0.5;",
        Quoted(&picture.title)
    )?;
    writeln!(text, "  fontname=\"monospace\";")?;
    writeln!(text, "  node [fontname=\"monospace\", fontsize=11, style=\"filled\", shape=box, height=0.3];")?;
    writeln!(
        text,
        "  edge [fontname=\"monospace\", fontsize=9, color=\"#64748b\", fontcolor=\"#475569\", arrowsize=0.7];"
    )?;
    write_boxes(picture, "n", text)?;
    writeln!(text, "}}")
}

/// Writes boxes and arrows. The name of each box begins with `prefix`. A box that holds a picture is a cluster with the
/// box at its top.
fn write_boxes(picture: &Picture, prefix: &str, text: &mut String) -> fmt::Result {
    for (position, node) in picture.nodes.iter().enumerate() {
        let name = format!("{prefix}{position}");
        let label = node.lines.join("\n");
        let Look { fill, line, is_round, is_dashed, .. } = look(node.kind, node.gradient);
        let style = match (is_round, is_dashed) {
            (true, _) => "filled,rounded",
            (false, true) => "filled,dashed",
            (false, false) => "filled",
        };
        let fill = heat(node.share).unwrap_or_else(|| fill.to_owned());
        let is_open = node.inside.is_some();
        if is_open {
            writeln!(text, "  subgraph cluster_{name} {{\n  label=\"\"; style=rounded; color=\"{line}\";")?;
        }
        writeln!(
            text,
            "  {name} [label={}, tooltip={}, style=\"{style}\", fillcolor=\"{fill}\", color=\"{line}\"];",
            Quoted(&label),
            Quoted(&node.tooltip)
        )?;
        if let Some(inside) = &node.inside {
            write_boxes(inside, &format!("{name}_"), text)?;
            let inputs = inside.nodes.iter().enumerate().filter(|(_, node)| node.kind == Kind::Input);
            for (input, _) in inputs {
                writeln!(text, "  {name} -> {name}_{input} [style=dotted, arrowhead=none];")?;
            }
            writeln!(text, "  }}")?;
        }
    }
    for edge in &picture.edges {
        let from = &picture.nodes[edge.from];
        let mut attributes = Vec::new();
        if let Some(ty) = &from.ty {
            attributes.push(format!("label={}", Quoted(ty)));
        }
        if from.gradient {
            attributes.push("color=\"#c2570c\", fontcolor=\"#9a4308\"".into());
        }
        let attributes =
            if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
        writeln!(text, "  {prefix}{} -> {prefix}{}{attributes};", edge.from, edge.to)?;
    }
    Ok(())
}

/// A string in the language of Graphviz, in which backslashes and quotes are escaped.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                control if control.is_control() => f.write_char('\u{fffd}')?,
                other => f.write_char(other)?,
            }
        }
        f.write_char('"')
    }
}
