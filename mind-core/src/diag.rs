//! Diagnostics as data: a stable code, a message in the user's words, the place in the source, and a likely fix.
//!
//! Nothing here prints or stops the program. A phase collects every independent [`Diag`] in [`Diags`]. The macro, a
//! file reader or a command renders them. [`Code::info`] is the only table of codes.

mod explain;

use std::fmt;

use proc_macro2::Span;

pub use explain::{Example, ExampleInput, Explanation};

/// One mistake: what is wrong, where, and how to fix it.
#[derive(Clone, Debug)]
pub struct Diag {
    /// The stable error code.
    pub code: Code,
    /// The message, in lower case and one line, without a final full stop. It names what was found and what was needed,
    /// each with its full type.
    pub message: String,
    /// The source to underline.
    pub site: Site,
    /// Further lines, such as the operands and the origin of each dimension.
    pub notes: Vec<Note>,
    /// A likely fix, in the imperative.
    pub help: Option<String>,
}

/// A further line of a diagnostic, followed by `site` as `file:line:column`.
#[derive(Clone, Debug)]
pub struct Note {
    /// The text, in lower case, without a final full stop.
    pub text: String,
    /// The place that the note is about, or [`Site::Nowhere`].
    pub site: Site,
}

/// A place in the source.
#[derive(Clone, Copy, Debug, Default)]
pub enum Site {
    /// No place: the whole program is at fault, or a program built the IR.
    #[default]
    Nowhere,
    /// The range from the first to the last token of an expression or declaration.
    Tokens {
        /// The first token.
        first: Span,
        /// The last token, which equals `first` for a single token.
        last: Span,
    },
    /// A place in a text.
    Text {
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
    },
}

impl Site {
    /// The site of a single token.
    pub fn token(span: Span) -> Self {
        Self::Tokens { first: span, last: span }
    }

    /// From the first token of `self` to the last token of `other`. If only one of them has tokens, it is returned. If
    /// neither has tokens, `other` is returned.
    pub fn to(self, other: Self) -> Self {
        match (self, other) {
            (Self::Tokens { first, .. }, Self::Tokens { last, .. }) => Self::Tokens { first, last },
            (Self::Tokens { .. }, Self::Nowhere | Self::Text { .. }) => self,
            (Self::Nowhere | Self::Text { .. }, _) => other,
        }
    }
}

/// Writes `file:line:column`, `line:column` or nothing, as far as the place is known.
impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => Ok(()),
            Self::Tokens { first, .. } => {
                let start = first.start();
                write!(f, "{}:{}:{}", first.file(), start.line, start.column + 1)
            }
            Self::Text { line, column } => write!(f, "{line}:{column}"),
        }
    }
}

impl Diag {
    /// A diagnostic without notes or help.
    pub fn new(code: Code, site: Site, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), site, notes: Vec::new(), help: None }
    }

    /// Adds a further line without a place.
    pub fn note(self, text: impl Into<String>) -> Self {
        self.note_at(Site::Nowhere, text)
    }

    /// Adds a further line about `site`.
    pub fn note_at(mut self, site: Site, text: impl Into<String>) -> Self {
        self.notes.push(Note { text: text.into(), site });
        self
    }

    /// Sets the likely fix.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

/// Writes all lines as the macro and the commands print them: `error[E3003]: …` without the leading `error`.
///
/// ```
/// use mind_core::diag::{Code, Diag, Site};
/// let d = Diag::new(Code::E3002, Site::Nowhere, "`matmul`: x is f32[3], needed rank 2 or more").help("use `dot`");
/// assert_eq!(d.to_string(), "[E3002] `matmul`: x is f32[3], needed rank 2 or more\n  help: use `dot`");
/// ```
impl fmt::Display for Diag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code, self.message)?;
        for Note { text, site } in &self.notes {
            match site {
                Site::Nowhere => write!(f, "\n  {text}")?,
                Site::Tokens { .. } | Site::Text { .. } => write!(f, "\n  {text} at {site}")?,
            }
        }
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diag {}

/// The independent errors found so far, in the order of discovery.
#[derive(Clone, Debug, Default)]
pub struct Diags(Vec<Diag>);

impl Diags {
    /// The number of diagnostics.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes the diagnostics after the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }

    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a mistake.
    pub fn push(&mut self, diag: Diag) {
        self.0.push(diag);
    }

    /// Returns the value, or adds the mistake and returns `None`.
    pub fn keep<T>(&mut self, result: Result<T, Diag>) -> Option<T> {
        result.map_err(|diag| self.push(diag)).ok()
    }

    /// Whether no mistake was found so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The errors.
    pub fn as_slice(&self) -> &[Diag] {
        &self.0
    }

    /// `value` if no mistake was found, else all mistakes.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl IntoIterator for Diags {
    type Item = Diag;
    type IntoIter = std::vec::IntoIter<Diag>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Extend<Diag> for Diags {
    fn extend<I: IntoIterator<Item = Diag>>(&mut self, diags: I) {
        self.0.extend(diags);
    }
}

/// One row of the table of codes: the meaning of a code and where it can arise.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// The code as printed, such as `E3001`.
    pub name: &'static str,
    /// The mistake, in one line.
    pub meaning: &'static str,
    /// The things that the message must name.
    pub names: &'static str,
    /// Every place where the code can arise.
    pub arises: &'static [Arises],
}

/// A place that can report a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arises {
    /// In a `mind!` block.
    Macro,
    /// In a file or text in one of the text forms.
    File,
    /// In the `mind` command.
    Command,
    /// From the compiler's Rust interface only.
    Library,
    /// While a compiled program runs.
    Run,
    /// In a Knossos program, while it is read or while it runs.
    Knossos,
    /// Nowhere yet: the code is reserved for a part of the language that does not exist.
    Reserved,
}

macro_rules! codes {
    ($($code:ident $meaning:literal $names:literal [$($arises:ident),+];)+) => {
        /// A stable error number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $meaning] $code,)+ }

        impl Code {
            /// Every code, ascending.
            pub const ALL: &'static [Self] = &[$(Self::$code),+];

            /// The code's row.
            pub const fn info(self) -> CodeInfo {
                match self {
                    $(Self::$code => CodeInfo {
                        name: stringify!($code), meaning: $meaning, names: $names, arises: &[$(Arises::$arises),+],
                    },)+
                }
            }
        }
    };
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

codes! {
    E1001 "invalid UTF-8" "byte offset, first bytes" [Macro, Command, Library];
    E1002 "invalid character in identifier" "the character" [Macro, File, Knossos];
    E1003 "unterminated string" "where it starts" [Macro, File, Knossos];
    E1004 "invalid escape sequence" "the escape" [Macro, File, Knossos];
    E1005 "invalid numeric literal, or one out of range for its dtype" "the literal, the dtype" [Macro, File, Command, Knossos];
    E1006 "unterminated block comment" "where it starts" [Macro, Knossos];
    E1007 "unexpected token" "found, expected" [Macro, File, Knossos];
    E1008 "a limit is exceeded: nesting, input size, lines, nodes, rank over 8, an element count over 2^63, terms of a dimension"
        "the limit, the value" [Macro, File, Command, Library, Knossos];
    E1009 "unsupported format version" "found, supported" [File];
    E2001 "type mismatch" "expected, found" [Macro, Command, Run, Knossos];
    E2002 "undefined name" "the name, near misses" [Macro, File, Command, Knossos];
    E2003 "cannot infer type" "what is missing" [Macro, File, Command, Library, Run];
    E2004 "dtypes differ in a binary operation" "both dtypes" [Macro, File, Library];
    E2005 "dtype not allowed for the operation" "op, found, allowed" [Macro, File, Library];
    E2006 "no overload for these argument types" "the name, the types, the overloads" [Knossos];
    E2007 "wrong number of arguments, or unknown or duplicate named argument" "expected, found" [Macro, File, Command, Library, Run, Knossos];
    E2008 "name defined twice in one scope" "both places" [Macro, Command, Knossos];
    E2009 "functions call each other in a cycle" "the cycle" [Macro];
    E2010 "assignment to something not `&mut`" "the name" [Macro];
    E2011 "a lambda is called or stored" "the name" [Knossos];
    E3001 "shapes do not broadcast" "both shapes, the dimension, both extents" [Macro, File, Library, Run];
    E3002 "wrong rank" "op, expected, found" [Macro, File, Library, Run];
    E3003 "dimensions that must agree differ" "op, the dimension, both extents" [Macro, File, Library, Run];
    E3004 "axis out of range" "op, axis, rank" [Macro, File, Library, Run];
    E3005 "duplicate axis" "op, axes, the duplicate" [Macro, File, Library];
    E3006 "dimension not positive" "shape, index, value" [Macro, File, Command, Library, Run];
    E3007 "element counts differ in reshape" "both shapes, both counts" [Macro, File, Library, Run];
    E3008 "invalid permutation" "permutation, rank, why" [Macro, File, Library, Run];
    E3009 "squeezed dimension is not 1" "axis, extent, shape" [Macro, File, Library];
    E3010 "tensor literal is ragged or does not have its declared shape" "both lengths or shapes" [Macro];
    E3011 "slice or index bound outside the dimension" "bound, extent" [Macro, File, Library, Run];
    E4001 "value used before it is defined, or never defined" "instruction, value" [File, Library];
    E4002 "value defined twice" "both instructions" [File, Library];
    E4003 "output names no value" "output, value" [File, Library];
    E4004 "invalid input declaration" "input, why" [File, Library];
    E4005 "constant data does not fit its declared type" "value, why" [File, Library];
    E4006 "index list length differs from the rank" "value, list length, rank" [Macro, File, Library];
    E4007 "slice parameter lengths differ from the rank" "value, all lengths, rank" [Macro, File, Library];
    E4008 "slice step is zero or negative" "value, dimension" [Macro, File, Library, Run];
    E4009 "conv2d channels differ" "both channel counts" [Macro, File, Library];
    E4010 "strides, padding or parameter of a distribution invalid" "value" [Macro, File, Library];
    E4011 "indices are not integers" "dtype" [Macro, File, Library];
    E4012 "declared result type differs from the inferred one" "both types" [File, Library];
    E4013 "operation not in the profile being verified" "op, profile" [File, Library];
    E4014 "module has no output" "" [Macro, File, Library];
    E5001 "no derivative rule" "op, value, the path from the output to the parameter"
        [Macro, Command, Library, Knossos];
    E5002 "the gradient module does not verify" "the verification error" [Library];
    E5003 "invalid axis during gradient construction" "op, axis, shape" [Library];
    E5004 "shape unsupported during gradient construction, or output not a scalar and no cotangent" "shapes"
        [Macro, Command, Library];
    E5005 "differentiation with respect to something not differentiable" "name, type or the missing path"
        [Macro, Command, Library];
    E6001 "index out of range at run time" "index, extent" [Command, Run, Knossos];
    E6002 "backend unavailable" "requested, available" [Command];
    E6003 "operation unsupported on the backend" "op, backend" [Run];
    E6004 "allocation failed or size overflows" "shape, dtype" [Command, Run, Knossos];
    E6005 "numeric overflow in a checked operation" "op" [Reserved];
    E6009 "a dynamic dimension differs from what the signature requires" "function, parameter, dimension, both extents" [Command, Run];
    E6010 "a program failed while it ran" "what failed, where" [Command, Run, Knossos];
    E6011 "a function needs more memory than its `#[memory]` allows" "the bytes needed, the bound, the difference" [Macro, Run];
}
