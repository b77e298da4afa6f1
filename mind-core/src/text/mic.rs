//! MIC, `mic@1`: the compact text form of RFC-0001.
//!
//! One entry a line: symbols, types, nodes, outputs, each table in the order of first use and counted from 0, nodes
//! from 1. The grammar and every decision where the RFC leaves one stand in `docs/mic.md`.
//!
//! The parser takes what the grammar allows: gaps in ids, so that a line can be added, changed or removed and nothing
//! else; entries nothing uses; `\r\n`. The printer has one way to write a module. Neither changes an instruction.

use std::{borrow::Cow, collections::HashMap, hash::Hash, sync::Arc};

use super::{
    Above, Comment, Document, Form, Limits,
    cursor::{self, Cursor, Read, Spaces},
    decode,
    read::{self, Reader},
    write,
};
use crate::{
    definitions::Numbering,
    diag::{Code, Diag, Diags},
    dim::Dim,
    ir::{Inst, Module, Op, Operands, Padding, Slice, ValueId},
    ops::{Attribute, Attributes, Field, FieldKind, InMic, OpInfo, TABLE},
    surface::lower::names::nearest,
    ty::Type,
};

/// The first line of every text.
const HEADER: &str = "mic@1";

/// The text of a module, valid or not.
///
/// ```
/// use mind_core::{ir::{Builder, Op, Reduction}, text::mic, ty::{DType, Shape, Type}};
/// let mut b = Builder::new();
/// let x = b.input("x", Type::new(DType::F32, Shape::literal(&[2, 3])))?;
/// let total = b.push(Op::Sum(Reduction { axes: vec![1], keepdims: false }), &[x])?;
/// assert_eq!(
///     mic::print(&b.finish([total])),
///     "mic@1\nS0 \"x\"\nT0 [f32;2,3]\nT1 [f32;2]\nN1 input S0 T0\nN2 sum N1 [1] kd=0 T1\nO N2\n"
/// );
/// # Ok::<(), Box<mind_core::ops::OpError>>(())
/// ```
pub fn print(module: &Module) -> String {
    print_with(module, None, &[], &[])
}

/// The text of a module with a name as the first symbol, for the function that it is, and with comment lines above all.
pub fn print_named(module: &Module, name: &Arc<str>, docs: &[String]) -> String {
    print_with(module, Some(name), docs, &[])
}

/// The text of a document's module with the function's name as the first symbol, and with its comments.
pub fn print_document(document: &Document) -> String {
    print_with(&document.module, document.name.as_ref(), &document.docs, &document.comments)
}

/// The module of a text, not verified.
///
/// # Errors
/// As [`parse_document`].
///
/// ```
/// use mind_core::text::{Form, Limits, mic, report};
/// let text = "mic@1\nS0 \"x\"\nT0 [f32;N,3]\nN1 input S0 T0\nN2 neg N1 T0\nO N2\n";
/// assert_eq!(mic::print(&mic::parse(text, &Limits::default())?), text);
/// let errors = mic::parse(&text.replace("O N2", "O N9"), &Limits::default()).unwrap_err();
/// assert_eq!(
///     report(&errors.as_slice()[0], "mic", Form::Mic),
///     "mic:6: error[E4003]: output 0 is N9, which is never defined"
/// );
/// # Ok::<(), mind_core::diag::Diags>(())
/// ```
pub fn parse(text: &str, limits: &Limits) -> Result<Module, Diags> {
    parse_document(text, limits).map(|document| document.module)
}

/// As [`parse_document`], of bytes.
///
/// # Errors
/// Also E1001 where they are not UTF-8.
pub fn parse_bytes(bytes: &[u8], limits: &Limits) -> Result<Document, Diags> {
    parse_document(decode(bytes, limits)?, limits)
}

/// A text as it was read, its module not verified.
///
/// # Errors
/// Every independent mistake with its line and column, one a line at most: E1009 for another version, E1002 to E1008
/// for what is malformed or too large, E2002 for an unknown operation, E2007 for a wrong number of operands, E4001 to
/// E4003 for references to what stands nowhere above and ids that do not ascend, E3006, E1008 and E4004 for what is no
/// type, E4005 and E4010 for data and padding that do not fit, E4013 for a gather along another axis than the first.
pub fn parse_document(text: &str, limits: &Limits) -> Result<Document, Diags> {
    let mut parser = Parser {
        reader: Reader::new(text, limits, Form::Mic)?,
        cursor: Cursor::new(text),
        symbols: Table::new("S"),
        types: Table::new("T"),
        name: None,
        docs: Vec::new(),
        pending: Vec::new(),
        comments: Vec::new(),
    };
    if let Err(diag) = parser.header() {
        parser.reader.diags.push(*diag);
        return parser.reader.finish(parser.cursor.line());
    }
    while !parser.cursor.is_at_end() && !parser.reader.is_full() {
        if let Err(diag) = parser.line() {
            parser.reader.diags.push(*diag);
        }
        parser.cursor.next_line();
    }
    parser.place_comments(Above::End);
    let name = parser.name.and_then(|number| parser.symbols.get(number)?.take()).map(Into::into);
    let document = parser.reader.finish(parser.cursor.line())?;
    Ok(Document { name, docs: parser.docs, comments: parser.comments, ..document })
}

struct Parser<'a> {
    reader: Reader<'a>,
    cursor: Cursor<'a>,
    symbols: Table<Cow<'a, str>>,
    types: Table<Type>,
    /// The first symbol while no node uses it.
    name: Option<u64>,
    docs: Vec<String>,
    /// Comments whose next entry is still to come.
    pending: Vec<String>,
    comments: Vec<Comment>,
}

/// Symbols or types by their ids; nothing where an entry is malformed.
struct Table<T> {
    numbers: Numbering,
    /// The first items, which in most texts are all.
    few: [Option<T>; 8],
    many: Vec<Option<T>>,
}

impl<T> Table<T> {
    const fn new(prefix: &'static str) -> Self {
        Self { numbers: Numbering::new(prefix), few: [const { None }; 8], many: Vec::new() }
    }

    /// Numbers the next item, which is nothing until it is set.
    fn define(&mut self, number: u64) -> Result<(), String> {
        if self.numbers.count() >= self.few.len() {
            self.many.push(None);
        }
        self.numbers.define(number)
    }

    fn set(&mut self, item: T) {
        let last = self.numbers.count() - 1;
        *self.place(last) = Some(item);
    }

    fn place(&mut self, position: usize) -> &mut Option<T> {
        if position < self.few.len() {
            &mut self.few[position]
        } else {
            &mut self.many[position - self.few.len()]
        }
    }

    /// The item of an id; twice nothing where none has the id, once where its entry is malformed.
    fn get(&mut self, number: u64) -> Option<&mut Option<T>> {
        let value = self.numbers.get(number)?;
        Some(self.place(value.index()))
    }
}

impl<'a> Parser<'a> {
    /// Comments and empty lines, then `mic@1`.
    fn header(&mut self) -> Read<()> {
        loop {
            self.cursor.skip_spaces();
            if self.cursor.is_at_end() {
                return self.cursor.unexpected("the header `mic@1`");
            }
            if self.cursor.peek() == b'#' {
                self.comment();
            } else if !self.cursor.is_at_line_end() {
                break;
            }
            self.cursor.next_line();
        }
        if !self.cursor.eat_str("mic@") {
            return self.cursor.unexpected("the header `mic@1`");
        }
        let start = self.cursor.position();
        let version = self.cursor.digits("the version, 1")?;
        if version != 1 {
            let message = format!("unsupported version mic@{version}, supported: {HEADER}");
            return self.cursor.fault_at(start, Code::E1009, message);
        }
        self.line_end()?;
        self.cursor.next_line();
        Ok(())
    }

    fn comment(&mut self) {
        self.cursor.advance(1);
        let text = self.cursor.rest_of_line();
        let text = text.strip_prefix(' ').unwrap_or(text).to_owned();
        if self.symbols.numbers.count() == 0 && self.types.numbers.count() == 0 && self.reader.values() == 0 {
            self.docs.push(text);
        } else {
            self.pending.push(text);
        }
    }

    #[inline]
    fn place_comments(&mut self, above: Above) {
        if self.pending.is_empty() {
            return;
        }
        self.comments.extend(self.pending.drain(..).map(|text| Comment { above, text }));
    }

    fn line(&mut self) -> Read<()> {
        match self.cursor.peek() {
            b'N' => {
                self.place_comments(Above::Node(ValueId::new(self.reader.values())));
                self.node()
            }
            b'T' => {
                self.place_comments(Above::Nodes);
                self.type_entry()
            }
            b'S' => {
                self.place_comments(Above::Nodes);
                self.symbol_entry()
            }
            b'O' => {
                self.place_comments(Above::Output(self.reader.outputs()));
                self.output_entry()
            }
            b'#' => {
                self.comment();
                Ok(())
            }
            b' ' | b'\t' => {
                self.cursor.skip_spaces();
                if self.cursor.is_at_line_end() {
                    return Ok(());
                }
                let message = "spaces before an entry, needed at the start of its line";
                self.cursor.fault(Code::E1007, message)
            }
            _ if self.cursor.is_at_line_end() => Ok(()),
            _ => self.cursor.unexpected("an entry: `S…`, `T…`, `N…`, `O` or `#`"),
        }
    }

    #[inline]
    fn line_end(&mut self) -> Read<()> {
        if self.cursor.peek() == b'\n' {
            return Ok(());
        }
        self.cursor.skip_spaces();
        if self.cursor.is_at_line_end() { Ok(()) } else { self.cursor.unexpected("the end of the line") }
    }

    #[inline]
    fn space(&mut self, before: &str) -> Read<()> {
        if self.cursor.peek() == b' ' && self.cursor.ahead(1) > b' ' {
            self.cursor.advance(1);
            return Ok(());
        }
        if self.cursor.skip_spaces() && !self.cursor.is_at_line_end() {
            return Ok(());
        }
        self.cursor.unexpected(before)
    }

    /// `S0 "x"`.
    fn symbol_entry(&mut self) -> Read<()> {
        let start = self.cursor.position();
        self.cursor.advance(1);
        let number = self.cursor.digits("the id of a symbol")?;
        if let Err(message) = self.symbols.define(number) {
            self.reader.diags.push(Diag::new(Code::E4002, self.cursor.site_of(start), message));
        }
        self.space("a space and the name in double quotes")?;
        let name = self.cursor.quoted("the name in double quotes")?;
        self.line_end()?;
        if self.symbols.numbers.count() == 1 {
            self.name = Some(number);
        }
        self.symbols.set(name);
        Ok(())
    }

    /// `T0 [f32;N,3]`.
    fn type_entry(&mut self) -> Read<()> {
        let start = self.cursor.position();
        self.cursor.advance(1);
        let number = self.cursor.digits("the id of a type")?;
        if let Err(message) = self.types.define(number) {
            self.reader.diags.push(Diag::new(Code::E4002, self.cursor.site_of(start), message));
        }
        self.space("a space and the type")?;
        let ty = self.typed()?;
        self.line_end()?;
        self.types.set(ty);
        Ok(())
    }

    /// `f32` or `[f32;N,3]`.
    fn typed(&mut self) -> Read<Type> {
        let start = self.cursor.position();
        if !self.cursor.eat(b'[') {
            return Ok(Type::scalar(self.cursor.dtype()?));
        }
        let dtype = self.cursor.dtype()?;
        self.cursor.expect(b';', "`;` and the extents")?;
        if self.cursor.peek() == b'?' {
            let message = "a type of unknown rank, `?`, needed extents or symbols for them";
            return self.cursor.fault_at(start, Code::E4004, message);
        }
        let ty = Type::new(dtype, read::shape(&mut self.cursor, Spaces::None, self.reader.limits)?);
        read::check_type(&self.cursor, start, &ty)?;
        Ok(ty)
    }

    /// `O N3`.
    fn output_entry(&mut self) -> Read<()> {
        self.cursor.advance(1);
        self.space("a space and the value, `N…`")?;
        let start = self.cursor.position();
        self.cursor.expect(b'N', "a value, `N…`")?;
        let number = self.cursor.digits("the id of a value")?;
        self.line_end()?;
        self.reader.output(&self.cursor, start, number);
        Ok(())
    }

    /// `N2 sum N1 [1] kd=0 T1`.
    fn node(&mut self) -> Read<()> {
        let start = self.cursor.position();
        self.cursor.advance(1);
        let number = self.cursor.digits("the id of a value")?;
        self.reader.define(&self.cursor, start, number)?;
        if let Err(diag) = self.definition() {
            self.reader.push_fault(*diag);
        }
        Ok(())
    }

    /// Everything after the id.
    fn definition(&mut self) -> Read<()> {
        self.space("a space and the operation")?;
        let start = self.cursor.position();
        let row = self.operation()?;
        let operands = self.operands(start, row)?;
        let attributes_start = self.cursor.position() + 1;
        let mut attributes = [None, None, None];
        let literal = if row.fields.is_empty() { None } else { self.attributes(row, &mut attributes)? };
        self.space("a space and the type of the result, `T…`")?;
        let type_start = self.cursor.position();
        self.cursor.expect(b'T', "the type of the result, `T…`")?;
        let number = self.cursor.digits("the id of a type")?;
        self.line_end()?;
        let Some(ty) = self.types.get(number) else {
            let message = format!("T{number} is not defined above");
            return self.cursor.fault_at(type_start, Code::E4001, message);
        };
        let Some(ty) = ty else {
            // Its entry is in error and was reported.
            self.reader.push_any();
            return Ok(());
        };
        if let Some(mut literal) = literal {
            let needed =
                ty.shape.element_count().ok().and_then(|count| u64::try_from(count.as_literal()?).ok());
            let limit = self.reader.limits.literal;
            let of = || ty.to_string();
            let data = cursor::data(&mut literal, ty.dtype, Spaces::None, limit, needed, &of)?;
            if !matches!(literal.peek(), b' ' | b'\t') {
                return literal.unexpected("a space");
            }
            attributes = [
                Some(Attribute::Data(data)),
                Some(Attribute::DType(ty.dtype)),
                Some(Attribute::Dims(ty.shape.to_vec())),
            ];
        }
        let mut op = (row.make)(attributes);
        self.reader.resolve(&self.cursor, attributes_start, &mut op, &operands)?;
        self.reader.push(op, operands, ty.clone());
        Ok(())
    }

    fn operation(&mut self) -> Read<&'static OpInfo> {
        let start = self.cursor.position();
        let name = self.cursor.kind();
        match with_mnemonic(name.as_bytes()) {
            Some(row) => Ok(row),
            None if name.is_empty() => self.cursor.unexpected("an operation"),
            None => {
                let message = format!("undefined operation {}", cursor::shortened(name));
                let diag = Diag::new(Code::E2002, self.cursor.site_of(start), message);
                Err(match nearest(name, TABLE.iter().map(|row| row.mnemonic)) {
                    Some(near) => diag.help(format!("write `{near}`")),
                    None => diag,
                }
                .into())
            }
        }
    }

    /// Every `N…` that follows.
    fn operands(&mut self, start: usize, row: &'static OpInfo) -> Read<Operands> {
        let (mut operands, mut count) = (Operands::NONE, 0);
        loop {
            let before = self.cursor.position();
            self.cursor.skip_spaces();
            let place = self.cursor.position();
            let Some(number) = self.value()? else {
                self.cursor.rewind(before);
                break;
            };
            operands.push(self.reader.operand(&self.cursor, place, number, row));
            count += 1;
        }
        self.reader.check_count(&self.cursor, start, row, count)?;
        Ok(operands)
    }

    /// `N1`, where that is the whole token: a slice may begin with a dimension named so.
    fn value(&mut self) -> Read<Option<u64>> {
        if self.cursor.peek() != b'N' || !self.cursor.ahead(1).is_ascii_digit() {
            return Ok(None);
        }
        self.cursor.advance(1);
        let number = self.cursor.digits("the id of a value")?;
        let ends = matches!(self.cursor.peek(), b' ' | b'\t' | b'\r' | b'\n');
        Ok(ends.then_some(number))
    }

    /// The values of a row's fields; gives where the elements of a constant stand, which its type is needed to read.
    fn attributes(&mut self, row: &OpInfo, attributes: &mut Attributes) -> Read<Option<Cursor<'a>>> {
        let mut literal = None;
        for (field, attribute) in row.fields.iter().zip(attributes) {
            match field.mic {
                InMic::Type => continue,
                InMic::Place => self.space(described(field))?,
                InMic::Key(key) => {
                    self.cursor.skip_spaces();
                    let start = self.cursor.position();
                    if !(self.cursor.eat_str(key) && self.cursor.eat(b'=')) {
                        self.cursor.rewind(start);
                        return self.cursor.unexpected(&format!("`{key}=` and {}", described(field)));
                    }
                }
            }
            if field.kind == FieldKind::Data {
                literal = Some(self.cursor.clone());
                while !matches!(self.cursor.peek(), b' ' | b'\t' | b'\r' | b'\n') {
                    self.cursor.advance(1);
                }
            } else {
                *attribute = Some(self.attribute(field)?);
            }
        }
        Ok(literal)
    }

    fn attribute(&mut self, field: &Field) -> Read<Attribute> {
        let cursor = &mut self.cursor;
        Ok(match field.kind {
            FieldKind::Text => Attribute::Text(self.symbol_reference()?),
            FieldKind::Flag if cursor.eat(b'0') => Attribute::Flag(false),
            FieldKind::Flag if cursor.eat(b'1') => Attribute::Flag(true),
            FieldKind::Flag => return cursor.unexpected(described(field)),
            FieldKind::I64 => Attribute::I64(cursor::i64_element(cursor)?),
            FieldKind::F32 => Attribute::F32(cursor::f32_element(cursor)?.into()),
            FieldKind::F64 => Attribute::F64(cursor::f64_element(cursor)?.into()),
            FieldKind::Integers => Attribute::Integers(read::integers(cursor, Spaces::None)?),
            FieldKind::Dims => Attribute::Dims(read::dims(cursor, Spaces::None)?),
            FieldKind::Slice => Attribute::Slice(ranges(cursor)?.into()),
            FieldKind::Padding => Attribute::Padding(read::padding(cursor, Spaces::None)?),
            FieldKind::LeadingAxis => {
                let start = cursor.position();
                match cursor.integer(described(field))? {
                    0 => Attribute::LeadingAxis,
                    axis => {
                        let message = format!("`gather`: axis {axis}, supported: 0");
                        return cursor.fault_at(start, Code::E4013, message);
                    }
                }
            }
            FieldKind::DType | FieldKind::Data => unreachable!("read from the type"),
        })
    }

    fn symbol_reference(&mut self) -> Read<Arc<str>> {
        let start = self.cursor.position();
        self.cursor.expect(b'S', "a symbol, `S…`")?;
        let number = self.cursor.digits("the id of a symbol")?;
        if self.name == Some(number) {
            self.name = None;
        }
        match self.symbols.get(number) {
            // A malformed entry was reported.
            Some(name) => Ok(name.as_deref().unwrap_or_default().into()),
            None => self.cursor.fault_at(start, Code::E4001, format!("S{number} is not defined above")),
        }
    }
}

/// The operation of a mnemonic.
fn with_mnemonic(name: &[u8]) -> Option<&'static OpInfo> {
    /// How many places there are: twice as many as operations at least, and a power of two.
    const PLACES: usize = 128;
    /// For each hash the position of a row, plus one; where two rows have a hash, the later is in the next place.
    static ROWS: [u8; PLACES] = {
        assert!(TABLE.len() * 2 <= PLACES);
        let mut rows = [0; PLACES];
        let mut row = 0;
        while row < TABLE.len() {
            let mut place = hash(TABLE[row].mnemonic.as_bytes());
            while rows[place] != 0 {
                place = (place + 1) % PLACES;
            }
            row += 1;
            rows[place] = row as u8;
        }
        rows
    };
    const fn hash(name: &[u8]) -> usize {
        match name {
            [first, middle, .., last] => {
                (*first as usize + *middle as usize * 4 + *last as usize * 16 + name.len() * 5) % PLACES
            }
            _ => 0,
        }
    }
    let mut place = hash(name);
    loop {
        let row = TABLE[usize::from(ROWS[place]).checked_sub(1)?];
        if row.mnemonic.as_bytes() == name {
            return Some(row);
        }
        place = (place + 1) % PLACES;
    }
}

/// `0:2:1,1:N:1`, or `[]` of a single number.
fn ranges(cursor: &mut Cursor<'_>) -> Read<Slice> {
    let mut slice = Slice { starts: Vec::new(), ends: Vec::new(), steps: Vec::new() };
    if cursor.eat_str("[]") {
        return Ok(slice);
    }
    loop {
        slice.starts.push(cursor::dim(cursor, Spaces::None)?);
        cursor.expect(b':', "`:` and the end of a range, as in `0:2:1`")?;
        slice.ends.push(cursor::dim(cursor, Spaces::None)?);
        cursor.expect(b':', "`:` and the step of a range, as in `0:2:1`")?;
        slice.steps.push(cursor.integer("the step of a range, as in `0:2:1`")?);
        if !cursor.eat(b',') {
            return Ok(slice);
        }
    }
}

/// What stands in the place of a field.
const fn described(field: &Field) -> &'static str {
    match field.kind {
        FieldKind::Text => "a symbol, `S…`",
        FieldKind::Flag => "`0` or `1`",
        FieldKind::I64 | FieldKind::F32 | FieldKind::F64 => "a number",
        FieldKind::DType => "an element type",
        FieldKind::Integers => "a list of integers in brackets",
        FieldKind::Dims => "a list of dimensions in brackets",
        FieldKind::Data => "a number, or a list of them in brackets",
        FieldKind::Slice => "a range for each axis, as in `0:2:1,1:4:1`",
        FieldKind::Padding => "`valid`, `same` or `[[top,bottom],[left,right]]`",
        FieldKind::LeadingAxis => "`0`",
    }
}

fn print_with(module: &Module, name: Option<&Arc<str>>, docs: &[String], comments: &[Comment]) -> String {
    let mut symbols = Interner::default();
    let mut types = Interner::default();
    if let Some(name) = name {
        symbols.intern(name);
    }
    let mut uses = Vec::with_capacity(module.insts().len());
    for inst in module.insts() {
        let symbol = if let Op::Input { name } = &inst.op { symbols.intern(name) } else { 0 };
        uses.push((symbol, types.intern(&inst.ty)));
    }
    let mut text =
        String::with_capacity(64 + 24 * (module.insts().len() + symbols.items.len() + types.items.len()));
    text.push_str(HEADER);
    text.push('\n');
    for line in docs {
        push_comment(&mut text, line);
    }
    for (number, name) in symbols.items.iter().enumerate() {
        push_id(&mut text, 'S', number);
        text.push(' ');
        write::quoted(&mut text, name);
        text.push('\n');
    }
    for (number, ty) in types.items.iter().enumerate() {
        push_id(&mut text, 'T', number);
        text.push(' ');
        push_type(&mut text, ty);
        text.push('\n');
    }
    // Comments stand in the order of what they are above.
    let mut comments = comments.iter().peekable();
    let mut push_comments = |text: &mut String, above: &dyn Fn(Above) -> bool| {
        while let Some(comment) = comments.next_if(|comment| above(comment.above)) {
            push_comment(text, &comment.text);
        }
    };
    for ((value, inst), (symbol, ty)) in module.iter().zip(uses) {
        push_comments(&mut text, &|above| match above {
            Above::Nodes => true,
            Above::Node(other) => other <= value,
            Above::Output(_) | Above::End => false,
        });
        push_node(&mut text, value, inst, symbol, ty);
    }
    for (position, output) in module.outputs().iter().enumerate() {
        push_comments(&mut text, &|above| match above {
            Above::Nodes | Above::Node(_) => true,
            Above::Output(other) => other <= position,
            Above::End => false,
        });
        text.push_str("O ");
        push_value(&mut text, *output);
        text.push('\n');
    }
    push_comments(&mut text, &|_| true);
    text
}

fn push_comment(text: &mut String, comment: &str) {
    text.push('#');
    if !comment.is_empty() {
        text.push(' ');
        text.push_str(comment);
    }
    text.push('\n');
}

fn push_node(text: &mut String, value: ValueId, inst: &Inst, symbol: usize, ty: usize) {
    let row = inst.op.info();
    push_value(text, value);
    text.push(' ');
    text.push_str(row.mnemonic);
    for operand in &*inst.operands {
        text.push(' ');
        push_value(text, *operand);
    }
    if !row.fields.is_empty() {
        for (field, attribute) in row.fields.iter().zip((row.attributes)(&inst.op).into_iter().flatten()) {
            match field.mic {
                InMic::Type => continue,
                InMic::Place => text.push(' '),
                InMic::Key(key) => {
                    text.push(' ');
                    text.push_str(key);
                    text.push('=');
                }
            }
            push_attribute(text, &attribute, symbol);
        }
    }
    text.push(' ');
    push_id(text, 'T', ty);
    text.push('\n');
}

fn push_id(text: &mut String, table: char, number: usize) {
    text.push(table);
    write::unsigned(text, number as u64);
}

/// Values count from 1.
fn push_value(text: &mut String, value: ValueId) {
    push_id(text, 'N', value.index() + 1);
}

fn push_type(text: &mut String, ty: &Type) {
    if ty.rank() == 0 {
        text.push_str(ty.dtype.name());
        return;
    }
    text.push('[');
    text.push_str(ty.dtype.name());
    for (axis, dim) in ty.shape.iter().enumerate() {
        text.push(if axis == 0 { ';' } else { ',' });
        push_dim(text, dim);
    }
    text.push(']');
}

fn push_dim(text: &mut String, dim: &Dim) {
    match dim.as_literal() {
        Some(extent) => write::integer(text, extent),
        None => write::shown(text, format_args!("{dim:#}")),
    }
}

fn push_integers(text: &mut String, integers: &[i64]) {
    write::list(text, integers, ",", |text, value| write::integer(text, *value));
}

fn push_attribute(text: &mut String, attribute: &Attribute, symbol: usize) {
    match attribute {
        Attribute::Text(_) => push_id(text, 'S', symbol),
        Attribute::Flag(flag) => text.push(if *flag { '1' } else { '0' }),
        Attribute::I64(value) => write::integer(text, *value),
        Attribute::F32(value) => write::float32(text, *value),
        Attribute::F64(value) => write::float64(text, *value),
        Attribute::DType(dtype) => text.push_str(dtype.name()),
        Attribute::Integers(integers) => push_integers(text, integers),
        Attribute::Dims(dims) => write::list(text, dims, ",", push_dim),
        Attribute::Data(data) => write::data(text, data, ","),
        Attribute::Slice(slice) => push_ranges(text, slice),
        Attribute::Padding(Padding::Valid) => text.push_str("valid"),
        Attribute::Padding(Padding::Same) => text.push_str("same"),
        Attribute::Padding(Padding::Custom(pairs)) => {
            write::list(text, pairs, ",", |text, pair| push_integers(text, pair));
        }
        Attribute::LeadingAxis => text.push('0'),
    }
}

fn push_ranges(text: &mut String, slice: &Slice) {
    let Slice { starts, ends, steps } = slice;
    let count = starts.len().max(ends.len()).max(steps.len());
    if count == 0 {
        text.push_str("[]");
    }
    // Lists of one length, but that a module may be invalid.
    for axis in 0..count {
        if axis > 0 {
            text.push(',');
        }
        starts.get(axis).into_iter().for_each(|start| push_dim(text, start));
        text.push(':');
        ends.get(axis).into_iter().for_each(|end| push_dim(text, end));
        text.push(':');
        steps.get(axis).into_iter().for_each(|step| write::integer(text, *step));
    }
}

/// Numbers things in the order of their first use.
struct Interner<'a, T> {
    items: Vec<&'a T>,
    /// Empty while there are few.
    places: HashMap<&'a T, usize>,
}

impl<T> Default for Interner<'_, T> {
    fn default() -> Self {
        Self { items: Vec::new(), places: HashMap::new() }
    }
}

impl<'a, T: Eq + Hash> Interner<'a, T> {
    /// How many are found faster by looking at each.
    const FEW: usize = 16;

    fn intern(&mut self, item: &'a T) -> usize {
        let found = if self.items.len() <= Self::FEW {
            self.items.iter().position(|other| *other == item)
        } else {
            self.places.get(item).copied()
        };
        found.unwrap_or_else(|| {
            self.items.push(item);
            if self.items.len() > Self::FEW {
                let known = self.places.len();
                self.places
                    .extend(self.items.iter().enumerate().skip(known).map(|(place, item)| (*item, place)));
            }
            self.items.len() - 1
        })
    }
}
