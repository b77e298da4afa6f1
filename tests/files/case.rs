//! Splits a file into sections, and writes the file with the result of each directive.

use std::fmt::Write as _;

use super::directives;

/// A module and its directives.
pub(crate) struct Case<'a> {
    /// A sentence that says what the file tests.
    pub title: &'a str,
    /// The module's text, in either form.
    pub module: &'a str,
    /// The directives, in order.
    pub directives: Vec<Directive<'a>>,
}

/// A line such as `=== grad wrt=x profile=core-v1`, and the lines below it.
pub(crate) struct Directive<'a> {
    /// The name, for example `grad`.
    pub name: &'a str,
    /// The arguments, for example `wrt=x` and `profile=core-v1`.
    pub arguments: Vec<(&'a str, &'a str)>,
    /// The line itself.
    header: &'a str,
    /// The lines below it.
    pub body: &'a str,
}

const MARK: &str = "=== ";

impl<'a> Case<'a> {
    /// Reads a title, the section `module` and the directives.
    pub(crate) fn parse(text: &'a str) -> Result<Self, String> {
        let mut sections = sections(text);
        let (_, title) = sections.next().expect("a text has a first section, if an empty one");
        if title.trim().is_empty() {
            return Err("the first line says what the file shows".into());
        }
        let Some(("=== module", module)) = sections.next() else {
            return Err("the first section is `=== module`".into());
        };
        let mut directives = Vec::new();
        for (header, body) in sections {
            let mut words = header[MARK.len()..].split_whitespace();
            let name = words.next().ok_or("a section has a name")?;
            let arguments = words.map(|word| word.split_once('=').unwrap_or((word, ""))).collect();
            directives.push(Directive { name, arguments, header, body });
        }
        if directives.is_empty() {
            return Err("the file has no directive".into());
        }
        Ok(Self { title, module, directives })
    }

    /// The expected text of the file.
    pub(crate) fn run(&self) -> String {
        let mut text = format!("{}=== module\n{}", self.title, self.module);
        for directive in &self.directives {
            writeln!(text, "{}", directive.header).expect("writing to a string cannot fail");
            text.push_str(&directives::run(self.module, directive));
        }
        text
    }
}

impl<'a> Directive<'a> {
    /// The value of `name=value`.
    pub(crate) fn argument(&self, name: &str) -> Option<&'a str> {
        self.arguments.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }
}

/// The header of each section and the lines below it. The first header is empty.
fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = Some(("", text));
    std::iter::from_fn(move || {
        let (header, body) = rest?;
        let starts = body.starts_with(MARK).then_some(0).or_else(|| body.find("\n=== ").map(|at| at + 1));
        let Some(next) = starts else {
            rest = None;
            return Some((header, body));
        };
        let (body, tail) = body.split_at(next);
        rest = Some(tail.split_once('\n').unwrap_or((tail, "")));
        Some((header, body))
    })
}
