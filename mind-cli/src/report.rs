//! Failures of commands, and their text.

use std::{
    fmt,
    io::{self, Write},
    rc::Rc,
};

use mind_core::diag::{Code, Diag, Note, Site};

use crate::{args::Form, style::Style};

/// The reason why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// Wrong use of the command, or a file that cannot be read or written. The exit code is 2.
    Usage {
        /// The message.
        message: String,
        /// A likely remedy.
        help: Option<String>,
    },
    /// The program has mistakes. The exit code is 1.
    Mistakes(Vec<Mistake>),
    /// The failure has already been reported. Contains the exit code.
    Reported(u8),
    /// The reader of the output has closed it. This is not an error and is not reported.
    ReaderGone,
}

/// The result of a command.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Wrong use, or a file that cannot be read or written.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: None }
    }

    /// The same, with a likely remedy.
    pub fn with_help(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: Some(help.into()) }
    }

    /// One mistake.
    pub fn mistake(mistake: Mistake) -> Self {
        Self::Mistakes(vec![mistake])
    }
}

impl Failure {
    /// Prints the failure on standard error and returns the exit code. If standard error is closed, prints nothing.
    pub fn print(&self, style: &Style) -> u8 {
        let mut err = io::stderr().lock();
        let written = match self {
            Self::ReaderGone => return 0,
            Self::Reported(code) => return *code,
            Self::Mistakes(mistakes) => {
                let shown: Vec<_> = mistakes.iter().map(|mistake| mistake.render(style) + "\n").collect();
                let count = match mistakes.len() {
                    1 => "1 mistake".to_owned(),
                    several => format!("{several} mistakes"),
                };
                let code = mistakes.first().and_then(|first| first.code);
                let code =
                    code.map(|code| format!("; `mind explain {code}` explains it")).unwrap_or_default();
                writeln!(err, "{}\n{count}{code}", shown.join("\n"))
            }
            Self::Usage { message, help: None } => {
                writeln!(err, "{}: {}", style.error("error"), printable(message))
            }
            Self::Usage { message, help: Some(help) } => {
                let (error, mark) = (style.error("error"), style.strong("help"));
                writeln!(err, "{error}: {}\n  {mark}: {}", printable(message), printable(help))
            }
        };
        // If standard error is closed, the failure cannot be reported anywhere.
        drop(written);
        if matches!(self, Self::Usage { .. }) { 2 } else { 1 }
    }
}

/// A text that was read.
#[derive(Debug)]
pub struct Source {
    /// The name of the file as given, or `<stdin>`.
    pub name: String,
    /// Its form.
    pub form: Form,
    /// The text.
    pub text: String,
}

impl Source {
    /// The name without folders.
    pub fn title(&self) -> String {
        let file = std::path::Path::new(&self.name).file_name();
        file.map_or_else(|| self.name.clone(), |name| name.to_string_lossy().into_owned())
    }
}

impl Form {
    /// The name of the form in `--from`, and at the start of messages for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mic => "mic",
            Self::CoreIr => "core-ir",
            Self::Json => "json",
            Self::Mind => "mind",
            Self::Ks => "ks",
        }
    }
}

/// A part of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// The line, from 1; 0 if it is unknown.
    pub line: u32,
    /// The first character, from 1; 0 for the whole line.
    pub column: u32,
    /// The number of characters; 0 for the word that begins at the column.
    pub width: u32,
}

impl Spot {
    /// A whole line.
    pub const fn line(line: u32) -> Self {
        Self { line, column: 0, width: 0 }
    }
}

impl From<Site> for Spot {
    fn from(site: Site) -> Self {
        match site {
            Site::Nowhere => Self::default(),
            // The first column stands for the whole line: an instruction is at fault.
            Site::Text { line, column: 1 } => Self::line(line),
            Site::Text { line, column } => Self { line, column, width: 0 },
            Site::Tokens { first, last } => {
                let (start, end) = (first.start(), last.end());
                let column = start.column as u32 + 1;
                let width =
                    if end.line == start.line { end.column.saturating_sub(start.column) as u32 } else { 0 };
                Self { line: start.line as u32, column, width }
            }
        }
    }
}

/// A mistake in a program that was read, or a warning.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// The error code, which is stable; `None` for a warning.
    pub code: Option<Code>,
    /// The message, in one line.
    pub message: String,
    /// The text that contains the mistake, if there is one.
    pub source: Option<Rc<Source>>,
    /// The place in the text.
    pub spot: Spot,
    /// Further lines.
    pub notes: Vec<String>,
    /// A likely fix.
    pub help: Option<String>,
}

impl Mistake {
    /// A mistake of a program as a whole.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code: Some(code), ..Self::warning(message) }
    }

    /// A warning about a program as a whole.
    pub fn warning(message: impl Into<String>) -> Self {
        Self {
            code: None,
            message: message.into(),
            source: None,
            spot: Spot::default(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// The same at a place.
    pub fn at(self, source: &Rc<Source>, spot: Spot) -> Self {
        Self { source: Some(source.clone()), spot, ..self }
    }

    /// The same with a likely fix.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// A mistake that the compiler found in a text.
    pub fn of_diag(diag: &Diag, source: &Rc<Source>) -> Self {
        let note = |Note { text, site }: &Note| match Spot::from(*site).line {
            0 => text.clone(),
            line => format!("{text} on line {line}"),
        };
        Self {
            code: Some(diag.code),
            message: diag.message.clone(),
            source: Some(source.clone()),
            spot: diag.site.into(),
            notes: diag.notes.iter().map(note).collect(),
            help: diag.help.clone(),
        }
    }

    /// The same, for a form whose lines contain more than an instruction, so that column 1 means the first character
    /// and not the whole line.
    pub fn in_columns(self) -> Self {
        match self.spot {
            Spot { line, column: 0, width } if line > 0 => {
                Self { spot: Spot { line, column: 1, width }, ..self }
            }
            _ => self,
        }
    }

    /// The first line, for machines: `mic:12: error[E3003]: message`, with the column in the other forms. A warning
    /// has the word `warning` in place of the code.
    fn headline(&self, style: &Style) -> String {
        let place = match &self.source {
            None => String::new(),
            Some(source) if self.spot.line == 0 => format!("{}: ", source.form.name()),
            Some(source) if source.form == Form::Mic || self.spot.column == 0 => {
                format!("{}:{}: ", source.form.name(), self.spot.line)
            }
            Some(source) => format!("{}:{}:{}: ", source.form.name(), self.spot.line, self.spot.column),
        };
        let kind = match self.code {
            Some(code) => style.error(&format!("error[{code}]")),
            None => style.strong("warning"),
        };
        format!("{place}{kind}: {}", style.strong(&printable(&self.message)))
    }

    /// The full text, with all lines.
    pub fn render(&self, style: &Style) -> String {
        let mut lines = vec![self.headline(style)];
        let mut margin = 1;
        if let Some(source) = &self.source {
            let line = source
                .text
                .lines()
                .nth(self.spot.line.wrapping_sub(1) as usize)
                .filter(|_| self.spot.line > 0);
            margin = self.spot.line.to_string().len();
            let indent = " ".repeat(margin);
            let arrow = style.frame("-->");
            let place = match (self.spot.line, self.spot.column) {
                (0, _) => source.name.clone(),
                (line, 0) => format!("{}:{line}", source.name),
                (line, column) => format!("{}:{line}:{column}", source.name),
            };
            lines.push(format!("{indent}{arrow} {place}"));
            if let Some(line) = line {
                let bar = style.frame("|");
                let (text, before, width) = excerpt(line, self.spot);
                lines.push(format!("{indent} {bar}"));
                lines.push(format!("{} {bar} {text}", style.frame(&self.spot.line.to_string())));
                let carets = "^".repeat(width);
                let carets = if self.code.is_some() { style.error(&carets) } else { style.strong(&carets) };
                lines.push(format!("{indent} {bar} {}{carets}", " ".repeat(before)));
            }
        }
        let indent = " ".repeat(margin + 1);
        let equals = style.frame("=");
        lines.extend(self.notes.iter().map(|note| format!("{indent}{equals} {}", printable(note))));
        if let Some(help) = &self.help {
            lines.push(format!("{indent}{equals} {}: {}", style.strong("help"), printable(help)));
        }
        lines.join("\n")
    }
}

/// Without colours.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Style::plain()))
    }
}

/// The maximum number of characters of a line that are shown.
const WIDEST: usize = 120;

/// The shown part of a line, the position of the carets, and their number.
fn excerpt(line: &str, spot: Spot) -> (String, usize, usize) {
    let characters: Vec<char> = line.chars().map(plain).collect();
    let begins = characters.iter().position(|character| *character != ' ').unwrap_or(0);
    let ends = characters.iter().rposition(|character| *character != ' ').map_or(0, |last| last + 1);
    let start = match spot.column {
        0 => begins,
        column => (column as usize - 1).min(characters.len()),
    };
    let width = match (spot.column, spot.width) {
        (0, _) => ends.saturating_sub(start),
        (_, 0) => {
            let rest = &characters[start..];
            rest.iter().take_while(|character| !matches!(character, ' ' | ',' | ')' | ']' | '}')).count()
        }
        (_, width) => width as usize,
    };
    let first = if start > WIDEST - 20 { start - 20 } else { 0 };
    let shown = &characters[first..characters.len().min(first + WIDEST)];
    let (head, tail) =
        (if first > 0 { "…" } else { "" }, if first + WIDEST < characters.len() { "…" } else { "" });
    let text = format!("{head}{}{tail}", shown.iter().collect::<String>());
    let before = start - first + usize::from(first > 0);
    (text, before, width.clamp(1, WIDEST.saturating_sub(start - first).max(1)))
}

/// The text with control characters replaced, since a terminal would obey them.
pub fn printable(text: &str) -> String {
    text.chars().map(|character| if character == '\n' { '\n' } else { plain(character) }).collect()
}

fn plain(character: char) -> char {
    match character {
        '\t' => ' ',
        control if control.is_control() => '\u{fffd}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str, spot: Spot) -> String {
        let source = Rc::new(Source { name: "net.mic".into(), form: Form::Mic, text: text.into() });
        Mistake::new(Code::E4001, "x").at(&source, spot).help("define it").to_string()
    }

    #[test]
    fn the_line_is_shown_with_carets() {
        let shown = mistake("mic@1\nN1 add N1 N2 T0\n", Spot { line: 2, column: 8, width: 0 });
        assert_eq!(
            shown,
            "mic:2: error[E4001]: x\n --> net.mic:2:8\n  |\n2 | N1 add N1 N2 T0\n  |        ^^\n  = help: define it"
        );
    }

    #[test]
    fn all_of_a_line_and_no_line() {
        assert!(mistake("  abc  ", Spot::line(1)).contains("1 |   abc  \n  |   ^^^\n"));
        let nowhere = mistake("abc", Spot::default());
        assert_eq!(nowhere, "mic: error[E4001]: x\n --> net.mic\n  = help: define it");
        assert!(!mistake("abc", Spot::line(7)).contains('^'));
    }

    #[test]
    fn long_lines_are_cut_and_control_characters_are_not_printed() {
        let long = format!("{}{}", "a ".repeat(500), "\u{1b}[31mb");
        let shown = mistake(&long, Spot { line: 1, column: 1001, width: 0 });
        assert!(shown.lines().all(|line| line.chars().count() < 140), "{shown}");
        assert!(!shown.contains('\u{1b}'));
    }
}
