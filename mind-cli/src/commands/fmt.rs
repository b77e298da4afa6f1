//! `mind fmt`: writes modules in canonical form with new ids, and formats the text of the language of `mind!`.

use std::{path::Path, rc::Rc};

use mind_core::{
    canon::canonicalise_mapped,
    ir::{Module, ValueId},
    ops::Profile,
    surface,
    text::{Above, Comment, Document, core_ir, mic},
};

use super::convert::{json, readable};
use crate::{
    args::{FmtArguments, Form, Reading},
    input::{Program, mistakes},
    output,
    report::{Failure, Outcome, Source},
    source::read_source,
    style::Style,
};

/// Runs the command. A failure on one file does not prevent formatting the others.
pub fn run(arguments: &FmtArguments, out: &Style, err: &Style) -> Outcome {
    let mut worst = 0;
    for file in &arguments.files {
        match format(file, arguments, out) {
            Ok(()) => {}
            Err(Failure::ReaderGone) => return Err(Failure::ReaderGone),
            Err(failure) => worst = worst.max(failure.print(err)),
        }
    }
    if worst == 0 { Ok(()) } else { Err(Failure::Reported(worst)) }
}

fn format(file: &Path, arguments: &FmtArguments, style: &Style) -> Outcome {
    let source = read_source(file, arguments.from)?;
    let formatted = formatted(&source)?;
    let is_stdin = file.as_os_str() == "-";
    if arguments.check {
        if formatted == source.text {
            return Ok(());
        }
        let form = if source.form == Form::Mind { "formatted" } else { "in canonical form" };
        output::print(&format!(
            "{} is not {form}:\n{}",
            source.name,
            difference(&source.text, &formatted, style)
        ))?;
        return Err(Failure::Reported(1));
    }
    if is_stdin || arguments.stdout {
        return output::print(&formatted);
    }
    if formatted == source.text { Ok(()) } else { output::write(file, &formatted) }
}

/// The formatted text of a source.
fn formatted(source: &Rc<Source>) -> Outcome<String> {
    if source.form == Form::Mind {
        let text = surface::format(&source.text).map_err(|diags| mistakes(&diags, source))?;
        return readable(text, source.form);
    }
    let reading = Reading { from: Some(source.form), function: None, keeps_calls: false };
    let (module, context) = Program::of_source(source, &reading)?.verified(Profile::Extended)?;
    let (canonical, map) = canonicalise_mapped(module);
    let text = match (source.form, &context.document) {
        (Form::Mic, Some(document)) => mic::print_document(&with_comments(document, &canonical, &map)),
        (Form::Mic, None) => mic::print(&canonical),
        (Form::CoreIr | Form::Mind | Form::Ks, _) => core_ir::print(&canonical),
        (Form::Json, _) => json(&canonical),
    };
    readable(text, source.form)
}

/// The document with another module. A comment stays above its instruction. If that is gone, it goes above the next
/// one.
fn with_comments(document: &Document, module: &Module, map: &[Option<ValueId>]) -> Document {
    let mut formatted = document.clone();
    formatted.module = module.clone();
    for Comment { above, .. } in &mut formatted.comments {
        if let Above::Node(value) = above {
            let next = map.iter().skip(value.index()).find_map(|became| *became);
            *above = next.map_or(Above::Output(0), Above::Node);
        }
    }
    // Printers expect the comments in the order of the instructions below them.
    formatted.comments.sort_by_key(|comment| match comment.above {
        Above::Nodes => (0, 0),
        Above::Node(value) => (1, value.index()),
        Above::Output(position) => (2, position),
        Above::End => (3, 0),
    });
    formatted
}

/// The removed and the added lines, in runs. Their number is minimal if that is cheap to compute.
fn difference(before: &str, after: &str, style: &Style) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut text = String::new();
    for change in changes(&old, &new) {
        match change {
            Change::Gone(line) => text.push_str(&style.bad(&format!("-{}: {}\n", line + 1, old[line]))),
            Change::New(line) => text.push_str(&style.good(&format!("+{}: {}\n", line + 1, new[line]))),
        }
    }
    if text.is_empty() { "only ends of lines differ\n".into() } else { text }
}

#[derive(Clone, Copy)]
enum Change {
    Gone(usize),
    New(usize),
}

/// The changes between two texts, by the longest common subsequence of the lines between the common beginning and the
/// common end. If there are too many of these lines, all of them count as changed.
fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    const LONG: usize = 2_000;
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut changes = Vec::new();
    if a.len() > LONG || b.len() > LONG {
        changes.extend((0..a.len()).map(|line| Change::Gone(head + line)));
        changes.extend((0..b.len()).map(|line| Change::New(head + line)));
        return changes;
    }
    // common[i][j]: the length of the longest common subsequence of a[i..] and b[j..].
    let mut common = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] =
                if a[i] == b[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || common[i + 1][j] >= common[i][j + 1]) {
            changes.push(Change::Gone(head + i));
            i += 1;
        } else {
            changes.push(Change::New(head + j));
            j += 1;
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_difference_is_shown() {
        let shown = difference("a\nb\nc\nd\n", "a\nc\nx\nd\n", &Style::plain());
        assert_eq!(shown, "-2: b\n+3: x\n");
        assert_eq!(difference("a\r\n", "a\n", &Style::plain()), "only ends of lines differ\n");
    }
}
