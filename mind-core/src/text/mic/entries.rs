//! The part of the parser that reads lines and every entry except nodes.

use std::{borrow::Cow, sync::Arc};

use super::{HEADER, INDENT, table::Table};
use crate::{
    diag::{Code, Diag, Diags},
    dim::Dim,
    ir::ValueId,
    text::{
        Above, Comment, Document, Limits, TextForm,
        cursor::{Cursor, ReadResult, Spaces},
        read::{self, Holder, Notes, Reader},
    },
    ty::{Shape, Type},
};

/// Parses a document.
pub(super) fn document(text: &str, limits: &Limits) -> Result<Document, Diags> {
    let nodes = read::expected_nodes(text, limits)?;
    let mut parser = Parser {
        reader: Reader::new(nodes, limits, TextForm::Mic),
        symbols: Table::new("S"),
        types: Table::new("T"),
        name: None,
        docs: Vec::new(),
        pending: Vec::new(),
        comments: Vec::new(),
        held: None,
    };
    let mut cursor = Cursor::new(text, TextForm::Mic);
    match parser.header(cursor) {
        Ok(end) => cursor = end,
        Err(diag) => {
            parser.reader.diags.push(*diag);
            return parser.reader.finish(cursor.line(), Notes::default());
        }
    }
    while !cursor.is_at_end() && !parser.reader.is_full() {
        match parser.line(&cursor) {
            Ok(end) => cursor.rewind(end),
            Err(diag) => parser.reader.diags.push(*diag),
        }
        cursor.next_line();
    }
    parser.without_module();
    if !parser.pending.is_empty() {
        parser.place_comments(Above::End);
    }
    let name = parser.name.and_then(|number| parser.symbols.get(number)?).map(|name| Arc::from(&**name));
    let notes = Notes { name, docs: parser.docs, comments: parser.comments };
    parser.reader.finish(cursor.line(), notes)
}

/// The state of the parser. Each line is read by a copy of the cursor. The function that reads it returns a position at
/// or before the end of the line.
pub(super) struct Parser<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) symbols: Table<Cow<'a, str>>,
    pub(super) types: Table<Type>,
    /// The first symbol, as long as no node uses it.
    pub(super) name: Option<u64>,
    docs: Vec<String>,
    /// Comments whose following entry has not been read yet.
    pending: Vec<String>,
    comments: Vec<Comment>,
    /// The previous node and its position, if it holds the module on the lines below. The inner option is `None` if the
    /// node had an error; its value has not been appended yet.
    pub(super) held: Option<(Cursor<'a>, Option<Holder>)>,
}

impl<'a> Parser<'a> {
    /// Reads comments, empty lines and `mic@1`. Returns the position of the next line.
    fn header(&mut self, mut cursor: Cursor<'a>) -> ReadResult<Cursor<'a>> {
        loop {
            cursor.skip_spaces();
            if cursor.is_at_end() {
                return cursor.unexpected("the header `mic@1`");
            }
            if cursor.peek() == b'#' {
                self.comment(cursor);
            } else if !cursor.is_at_line_end() {
                break;
            }
            cursor.next_line();
        }
        if !cursor.eat_str("mic@") {
            return cursor.unexpected("the header `mic@1`");
        }
        let start = cursor.position();
        while cursor.peek().is_ascii_digit() {
            cursor.advance(1);
        }
        let version = cursor.since(start);
        if version.is_empty() {
            return cursor.unexpected("the version, 1");
        }
        if version != "1" {
            let shown = version.get(..20).map_or_else(|| version.to_owned(), |start| format!("{start}…"));
            let message = format!("unsupported version mic@{shown}, supported: {HEADER}");
            return cursor.fault_at(start, Code::E1009, message);
        }
        cursor.line_end()?;
        cursor.next_line();
        Ok(cursor)
    }

    #[inline(always)]
    fn line(&mut self, cursor: &Cursor<'a>) -> ReadResult<usize> {
        let first = cursor.peek();
        if first == b' ' || first == b'\t' {
            return self.indented(*cursor);
        }
        if (self.held.is_some() || self.reader.depth() > 0) && first != b'#' && !cursor.is_at_line_end() {
            self.without_module();
            while self.reader.depth() > 0 {
                self.reader.close();
            }
        }
        if !self.pending.is_empty() {
            match first {
                b'N' => self.place_comments(Above::Node(ValueId::new(self.reader.values()))),
                b'T' | b'S' => self.place_comments(Above::Nodes),
                b'O' => self.place_comments(Above::Output(self.reader.outputs())),
                _ => {}
            }
        }
        match first {
            b'N' => self.node(cursor),
            b'T' => self.type_entry(cursor),
            b'S' => self.symbol_entry(cursor),
            b'O' => self.output_entry(cursor),
            b'#' => {
                self.comment(*cursor);
                Ok(cursor.position())
            }
            _ if cursor.is_at_line_end() => Ok(cursor.position()),
            _ => cursor.unexpected("an entry: `S…`, `T…`, `N…`, `O` or `#`"),
        }
    }

    /// Reads a line that begins with a space: an empty line, a comment, or an entry of a nested module.
    #[cold]
    fn indented(&mut self, mut cursor: Cursor<'a>) -> ReadResult<usize> {
        let start = cursor.position();
        cursor.skip_spaces();
        if cursor.is_at_line_end() {
            return Ok(cursor.position());
        }
        let found = cursor.since(start);
        let depth = found.len() / INDENT.len();
        let most = self.reader.depth() + usize::from(self.held.is_some());
        if depth > most || found != INDENT.repeat(depth) {
            let needed = match (most, INDENT.len()) {
                (0, _) => "needed at the start of its line".to_owned(),
                (most, each) => format!("needed {each} spaces per enclosing module, at most {}", each * most),
            };
            let begins = if cursor.peek() == b'#' { "a comment" } else { "an entry" };
            let message = format!("spaces before {begins}, {needed}");
            return cursor.fault(Code::E1007, message);
        }
        if cursor.peek() == b'#' {
            self.comment(cursor);
            return Ok(cursor.position());
        }
        if depth == most
            && let Some((at, holder)) = self.held.take()
        {
            self.reader.open(at, at.position(), holder)?;
        }
        self.without_module();
        while self.reader.depth() > depth {
            self.reader.close();
        }
        if !self.pending.is_empty() {
            self.place_comments(Above::Node(ValueId::new(self.reader.values())));
        }
        match cursor.peek() {
            b'N' => self.node(&cursor),
            b'O' => self.output_entry(&cursor),
            _ => cursor.unexpected("an entry of a nested module: `N…`, `O` or `#`"),
        }
    }

    /// Ends a node that holds a module if no module follows.
    fn without_module(&mut self) {
        let Some((cursor, holder)) = self.held.take() else { return };
        match holder {
            None => self.reader.push_any(),
            Some(Holder { row, ty, .. }) => {
                let message = format!(
                    "`{}` needs a module on the lines below, indented by {} more spaces",
                    row.mnemonic,
                    INDENT.len()
                );
                self.reader.diags.push(Diag::new(Code::E1007, cursor.site(), message));
                self.reader.push_any_of(ty);
            }
        }
    }

    fn comment(&mut self, mut cursor: Cursor<'a>) {
        cursor.advance(1);
        let text = cursor.rest_of_line();
        let text = text.strip_prefix(' ').unwrap_or(text).to_owned();
        if self.symbols.count() == 0 && self.types.count() == 0 && self.reader.values() == 0 {
            self.docs.push(text);
        } else {
            self.pending.push(text);
        }
    }

    fn place_comments(&mut self, above: Above) {
        self.comments.extend(self.pending.drain(..).map(|text| Comment { above, text }));
    }

    /// Reads a symbol: `S0 "x"`.
    #[inline(never)]
    fn symbol_entry(&mut self, cursor: &Cursor<'a>) -> ReadResult<usize> {
        let mut cursor = *cursor;
        let start = cursor.position();
        cursor.advance(1);
        let number = cursor.digits("the id of a symbol")?;
        if let Err(message) = self.symbols.define(number) {
            self.reader.diags.push(Diag::new(Code::E4002, cursor.site_of(start), message));
        }
        self.symbols.set(symbol(&mut cursor)?);
        if self.symbols.count() == 1 {
            self.name = Some(number);
        }
        Ok(cursor.position())
    }

    /// Reads a type: `T0 [f32;N,3]`.
    #[inline(never)]
    fn type_entry(&mut self, cursor: &Cursor<'a>) -> ReadResult<usize> {
        let mut cursor = *cursor;
        let start = cursor.position();
        cursor.advance(1);
        let number = cursor.digits("the id of a type")?;
        if let Err(message) = self.types.define(number) {
            self.reader.diags.push(Diag::new(Code::E4002, cursor.site_of(start), message));
        }
        cursor.space("a space and the type")?;
        if let Some(ty) = plain_type(&mut cursor, self.reader.limits) {
            self.types.set(ty);
            return Ok(cursor.position());
        }
        let (ty, end) = typed(cursor, self.reader.limits)?;
        cursor.rewind(end);
        cursor.line_end()?;
        self.types.set(ty);
        Ok(cursor.position())
    }

    /// Reads an output: `O N3`.
    #[inline(never)]
    fn output_entry(&mut self, cursor: &Cursor<'a>) -> ReadResult<usize> {
        let mut cursor = *cursor;
        cursor.advance(1);
        cursor.space("a space and the value, `N…`")?;
        let start = cursor.position();
        cursor.expect(b'N', "a value, `N…`")?;
        let number = cursor.digits("the id of a value")?;
        cursor.line_end()?;
        self.reader.output(cursor, start, number);
        Ok(cursor.position())
    }
}

/// Reads the rest of a symbol entry after its id: ` "x"`.
#[inline(always)]
fn symbol<'a>(cursor: &mut Cursor<'a>) -> ReadResult<Cow<'a, str>> {
    cursor.space("a space and the name in double quotes")?;
    let name = cursor.quoted("the name in double quotes")?;
    cursor.line_end()?;
    Ok(name)
}

/// Reads a type with one or two known extents at the end of the line, the common case. [`typed`] reads all others.
#[inline(always)]
fn plain_type(cursor: &mut Cursor<'_>, limits: &Limits) -> Option<Type> {
    let mut end = *cursor;
    if !end.eat(b'[') {
        return None;
    }
    let dtype = end.known_dtype()?;
    if !end.eat(b';') {
        return None;
    }
    let first = end.extent()?;
    let (second, rank) = if end.eat(b',') { (end.extent()?, 2) } else { (1, 1) };
    let fits = rank <= limits.rank && first.checked_mul(second).is_some();
    if !end.eat(b']') || end.peek() != b'\n' || !fits {
        return None;
    }
    *cursor = end;
    let (first, second) = (Dim::literal(first), Dim::literal(second));
    Some(Type::new(dtype, if rank == 1 { Shape::new([first]) } else { Shape::new([first, second]) }))
}

/// Reads `f32` or `[f32;N,3]`. Returns the type and the position of its end.
#[inline(never)]
fn typed(mut cursor: Cursor<'_>, limits: &Limits) -> ReadResult<(Type, usize)> {
    let start = cursor.position();
    if !cursor.eat(b'[') {
        return Ok((Type::scalar(cursor.dtype()?), cursor.position()));
    }
    let dtype = cursor.dtype()?;
    cursor.expect(b';', "`;` and the extents")?;
    if cursor.peek() == b'?' {
        let message = "`?` is a type of unknown rank, needed extents or symbols";
        return cursor.fault_at(start, Code::E4004, message);
    }
    let ty = Type::new(dtype, read::shape(&mut cursor, Spaces::None, limits)?);
    read::check_type(&cursor, start, &ty)?;
    Ok((ty, cursor.position()))
}
