//! Core IR text, the reference encoding.
//!
//! One instruction per line, `%id = Opcode (operands) {attributes} : type`, without braces if there are no attributes.
//! The last line is `outputs: %id, …`. Choices that the specification leaves open:
//!
//! - A type is an element type, followed by its extents unless it is a scalar: `f32`, `f32[2, 2 * N + 1]`.
//! - The module that an instruction holds follows it in braces, with its own value numbers. It is printed indented by
//!   two spaces.
//! - Attributes are `name=value`, in a fixed order per operation: text in double quotes with the escapes `\\ \" \n \t
//!   \r \u{hex}`; `true` or `false`; lists in brackets; padding `valid`, `same` or `[[top, bottom], [left, right]]`.
//! - Constant tensors list their elements flat in row-major order. A number without brackets fills the tensor.
//! - Floats are the shortest decimal that reads back to the same bits, `inf`, `-inf`, `nan` for the quiet NaN without
//!   payload, and all bits, as in `nan:0x7fc00001`, for every other NaN.
//! - The parser accepts any number of spaces between tokens, empty lines, `\r\n`, ascending ids with gaps, and one
//!   extent of -1 in a reshape, which it infers from the element count.

use std::fmt;

use super::{
    Document, Limits, TextForm,
    cursor::{self, Cursor, ElementText, ReadResult, Spaces},
    decode,
    read::{self, Holder, Notes, Reader},
    write::{self, PrintElement},
};
use crate::{
    diag::{Code, Diag, Diags},
    ir::{Inst, Module, Op, Operands, Padding, Slice, ValueId},
    map::Map,
    ops::{Attribute, Attributes, FieldKind, OpInfo, TABLE},
    surface::lower::declarations::names::nearest,
    ty::{Shape, Type},
};

/// Prints a module, valid or not.
///
/// ```
/// use mind_core::{build::Builder, ir::{Op, Reduction}, reduce::Reduce, text::core_ir, ty::{DType, Shape, Type}};
/// let mut b = Builder::new();
/// let x = b.input("x", Type::new(DType::F32, Shape::literal(&[2, 3])))?;
/// let total = b.push(Op::Reduce(Reduce::Sum, Reduction { axes: vec![1], keepdims: false }), &[x])?;
/// assert_eq!(
///     core_ir::print(&b.finish([total])),
///     "%0 = Input () {name=\"x\"} : f32[2, 3]\n\
///      %1 = Sum (%0) {axes=[1], keepdims=false} : f32[2]\n\
///      outputs: %1\n"
/// );
/// # Ok::<(), Box<mind_core::ops::OpError>>(())
/// ```
pub fn print(module: &Module) -> String {
    let mut text = String::new();
    push_module(&mut text, module, 0);
    text
}

/// Appends the lines of a module that is nested `depth` levels deep.
fn push_module(text: &mut String, module: &Module, depth: usize) {
    let indent = |text: &mut String, depth: usize| text.extend(std::iter::repeat_n("  ", depth));
    for (value, inst) in module.iter() {
        indent(text, depth);
        push_line(text, value, inst);
        if let Some(nested) = inst.op.nested() {
            text.push_str(" {\n");
            push_module(text, nested, depth + 1);
            indent(text, depth);
            text.push('}');
        }
        text.push('\n');
    }
    indent(text, depth);
    text.push_str("outputs:");
    for (position, output) in module.outputs().iter().enumerate() {
        text.push_str(if position > 0 { ", " } else { " " });
        push_value(text, *output);
    }
    text.push('\n');
}

/// Parses a module without verifying it.
///
/// # Errors
/// See [`parse_document`].
///
/// ```
/// use mind_core::text::{Limits, core_ir};
/// let text = "%0 = Input () {name=\"x\"} : f32[N, 3]\n%1 = Neg (%0) : f32[N, 3]\noutputs: %1\n";
/// assert_eq!(core_ir::print(&core_ir::parse(text, &Limits::default())?), text);
/// let errors = core_ir::parse(&text.replace("Neg (%0)", "Neg (%7)"), &Limits::default()).unwrap_err();
/// assert_eq!(errors.as_slice()[0].to_string(), "[E4001] `Neg` reads %7, which is never defined");
/// assert_eq!(errors.as_slice()[0].site.to_string(), "2:11");
/// # Ok::<(), mind_core::diag::Diags>(())
/// ```
pub fn parse(text: &str, limits: &Limits) -> Result<Module, Diags> {
    parse_document(text, limits).map(|document| document.module)
}

/// Like [`parse_document`], for bytes.
///
/// # Errors
/// Also E1001 if they are not UTF-8.
pub fn parse_bytes(bytes: &[u8], limits: &Limits) -> Result<Document, Diags> {
    parse_document(decode(bytes, limits)?, limits)
}

/// Parses a document without verifying its module.
///
/// # Errors
/// Returns every independent error with its line and column, at most one per line:
///
/// - E1002 to E1008: malformed or too large text.
/// - E2002: an unknown operation.
/// - E2007: a wrong number of operands.
/// - E3006, E1008: an invalid type.
/// - E4001 to E4003: references to values that are not defined above, and ids that do not ascend.
/// - E4005, E4010: data and padding that do not fit.
///
/// If there is an error, the list also holds violations of the operations' own rules in other lines.
pub fn parse_document(text: &str, limits: &Limits) -> Result<Document, Diags> {
    let mut reader = Reader::new(read::expected_nodes(text, limits)?, limits, TextForm::CoreIr);
    let mut cursor = Cursor::new(text, TextForm::CoreIr);
    // For the module being read and each enclosing one: whether its outputs were read.
    let mut ended = vec![false];
    while !cursor.is_at_end() && !reader.is_full() {
        cursor.skip_spaces();
        if cursor.is_at_line_end() {
            cursor.next_line();
            continue;
        }
        let is_within = reader.depth() > 0;
        let line = if is_within && cursor.eat(b'}') {
            close(&mut reader, &mut cursor, &ended)
        } else if ended.last() == Some(&true) {
            cursor.unexpected(if is_within { "`}`" } else { "nothing after the outputs" })
        } else if cursor.eat_str("outputs:") {
            ended.pop();
            ended.push(true);
            outputs(&mut reader, &mut cursor)
        } else {
            instruction(&mut reader, &mut cursor)
        };
        ended.resize(reader.depth() + 1, false);
        if let Err(diag) = line {
            reader.diags.push(*diag);
        }
        cursor.next_line();
    }
    let message = match ended[..] {
        [true] => None,
        [.., true] => Some("found the end of the text, expected `}`"),
        [.., false] | [] => Some("found the end of the text, expected `outputs:` and the results"),
    };
    if let Some(message) = message.filter(|_| !reader.is_full()) {
        reader.diags.push(Diag::new(Code::E1007, cursor.site(), message));
    }
    reader.finish(cursor.line(), Notes::default())
}

/// Prints one instruction, without the module that it may hold, for messages that quote it.
pub fn line(value: ValueId, inst: &Inst) -> String {
    let mut text = String::new();
    push_line(&mut text, value, inst);
    text
}

/// The same text as [`print()`].
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

fn push_line(text: &mut String, value: ValueId, inst: &Inst) {
    let row = inst.op.info();
    push_value(text, value);
    text.push_str(" = ");
    text.push_str(row.name);
    text.push_str(" (");
    for (position, operand) in inst.operands.iter().enumerate() {
        if position > 0 {
            text.push_str(", ");
        }
        push_value(text, *operand);
    }
    text.push(')');
    let mut separator = " {";
    for (field, attribute) in row.fields.iter().zip((row.attributes)(&inst.op).into_iter().flatten()) {
        if matches!(attribute, Attribute::LeadingAxis | Attribute::Module(_)) {
            continue;
        }
        text.push_str(separator);
        separator = ", ";
        if let Attribute::Slice(slice) = &attribute {
            text.push_str("starts=");
            write::list(text, &slice.starts, ", ", |text, start| write::shown(text, start));
            text.push_str(", ends=");
            write::list(text, &slice.ends, ", ", |text, end| write::shown(text, end));
            text.push_str(", steps=");
            push_integers(text, &slice.steps);
        } else {
            text.push_str(field.name);
            text.push('=');
            push_attribute(text, &attribute);
        }
    }
    if separator == ", " {
        text.push('}');
    }
    text.push_str(" : ");
    write::shown(text, &inst.ty);
}

fn push_value(text: &mut String, value: ValueId) {
    text.push('%');
    write::unsigned(text, value.index() as u64);
}

fn push_integers(text: &mut String, integers: &[i64]) {
    write::list(text, integers, ", ", |text, value| write::integer(text, *value));
}

fn push_attribute(text: &mut String, attribute: &Attribute) {
    match attribute {
        Attribute::Text(name) => write::quoted(text, name),
        Attribute::Flag(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Attribute::I64(value) => write::integer(text, *value),
        Attribute::F32(value) => value.get().write(text),
        Attribute::F64(value) => value.get().write(text),
        Attribute::DType(dtype) => text.push_str(dtype.name()),
        Attribute::Integers(integers) => push_integers(text, integers),
        Attribute::Dims(dims) => write::list(text, dims, ", ", |text, dim| write::shown(text, dim)),
        Attribute::Data(data) => write::data(text, data, ", "),
        Attribute::Padding(Padding::Valid) => text.push_str("valid"),
        Attribute::Padding(Padding::Same) => text.push_str("same"),
        Attribute::Padding(Padding::Custom(pairs)) => {
            write::list(text, pairs, ", ", |text, pair| push_integers(text, pair));
        }
        Attribute::Slice(_) | Attribute::LeadingAxis | Attribute::Module(_) => {
            unreachable!(
                "a slice is three lists, the leading axis is not written, a module has lines of its own"
            )
        }
    }
}

/// Reads an instruction: `%1 = Sum (%0) {axes=[1], keepdims=false} : f32[2]`.
fn instruction(reader: &mut Reader<'_>, cursor: &mut Cursor<'_>) -> ReadResult<()> {
    let start = cursor.position();
    let number = value(cursor, "an instruction `%0 = …` or `outputs:`")?;
    reader.define(cursor, start, number)?;
    // An unknown operation may hold a module.
    let mut holds = true;
    match definition(reader, cursor, &mut holds) {
        Ok(None) => Ok(()),
        Ok(Some(holder)) => reader.open(*cursor, start, Some(holder)),
        // The lines below belong to the module that the instruction would hold.
        Err(diag) if holds && cursor.rest_of_line().trim_end().ends_with('{') => {
            reader.diags.push(*diag);
            reader.open(*cursor, start, None)
        }
        Err(diag) => {
            reader.push_fault(*diag);
            Ok(())
        }
    }
}

/// Ends a nested module, after its `}` was read.
fn close(reader: &mut Reader<'_>, cursor: &mut Cursor<'_>, ended: &[bool]) -> ReadResult<()> {
    if ended.last() == Some(&false) {
        let message = "found `}`, expected `outputs:` and the results before it";
        reader.diags.push(Diag::new(Code::E1007, cursor.site_of(cursor.position() - 1), message));
    }
    reader.close();
    cursor.skip_spaces();
    if cursor.is_at_line_end() { Ok(()) } else { cursor.unexpected("the end of the line") }
}

/// Reads everything after the id. Returns the instruction if it holds a module, which is on the lines below.
fn definition(
    reader: &mut Reader<'_>,
    cursor: &mut Cursor<'_>,
    holds: &mut bool,
) -> ReadResult<Option<Holder>> {
    cursor.skip_spaces();
    cursor.expect(b'=', "`=`")?;
    cursor.skip_spaces();
    let start = cursor.position();
    let (row, is_generic) = operation(cursor)?;
    *holds = row.fields.iter().any(|field| field.kind == FieldKind::Module);
    cursor.skip_spaces();
    cursor.expect(b'(', "`(` and the operands")?;
    let (mut operands, mut count) = (Operands::NONE, 0);
    cursor.skip_spaces();
    while !cursor.eat(b')') {
        if count > 0 {
            cursor.expect(b',', "`,` or `)`")?;
            cursor.skip_spaces();
        }
        let start = cursor.position();
        let number = value(cursor, "an operand such as `%0`")?;
        operands.push(reader.operand(cursor, start, number, row));
        count += 1;
        cursor.skip_spaces();
    }
    reader.check_count(cursor, start, row, count)?;
    cursor.skip_spaces();
    let attributes_start = cursor.position();
    if is_generic {
        binary(cursor)?;
    }
    let (mut attributes, literal) = attributes(cursor, row)?;
    cursor.skip_spaces();
    cursor.expect(b':', "`:` and the type of the result")?;
    cursor.skip_spaces();
    let ty = typed(cursor, reader.limits)?;
    cursor.skip_spaces();
    if *holds {
        cursor.expect(b'{', "`{` and the module on the lines below")?;
        cursor.skip_spaces();
    }
    if !cursor.is_at_line_end() {
        return cursor.unexpected("the end of the line");
    }
    if *holds {
        return Ok(Some(Holder { row, attributes, operands, ty }));
    }
    if let (
        Some(mut literal),
        [Some(Attribute::Data(data)), Some(Attribute::DType(dtype)), Some(Attribute::Dims(dims)), ..],
    ) = (literal, &mut attributes)
    {
        let shape = Shape::new(dims.clone());
        let needed = shape.element_count().ok().and_then(|count| u64::try_from(count.as_literal()?).ok());
        let of = || Type::new(*dtype, shape.clone()).to_string();
        *data = cursor::data(&mut literal, *dtype, Spaces::Allowed, reader.limits.literal, needed, &of)?;
        literal.skip_spaces();
        if literal.peek() != b',' {
            return literal.unexpected("`,`");
        }
    }
    let mut op = row.op(attributes);
    if let Op::Arrange(arrange) = &mut op
        && let Some(shape) = arrange.open_shape()
    {
        reader.resolve(*cursor, attributes_start, shape, &operands)?;
    }
    reader.push(op, operands, ty);
    Ok(None)
}

fn value(cursor: &mut Cursor<'_>, expected: &str) -> ReadResult<u64> {
    cursor.expect(b'%', expected)?;
    cursor.digits("the number of a value")
}

/// Reads the operation. Also returns whether it is written as `BinOp`, whose `op` attribute names the operation.
fn operation(cursor: &mut Cursor<'_>) -> ReadResult<(&'static OpInfo, bool)> {
    let start = cursor.position();
    let name = cursor.identifier("an operation")?;
    if name == "BinOp" {
        let mut ahead = *cursor;
        while ahead.peek() != b'{' && !ahead.is_at_line_end() {
            ahead.advance(1);
        }
        return Ok((binary(&mut ahead)?, true));
    }
    match TABLE.iter().find(|row| row.name == name) {
        Some(row) => Ok((row, false)),
        None => {
            let message = format!("undefined operation {}", cursor::shortened(name));
            let diag = Diag::new(Code::E2002, cursor.site_of(start), message);
            Err(match nearest(name, TABLE.iter().map(|row| row.name)) {
                Some(near) => diag.help(format!("write `{near}`")),
                None => diag,
            }
            .into())
        }
    }
}

/// Reads `{op=Add}`: the operation of a `BinOp`.
fn binary(cursor: &mut Cursor<'_>) -> ReadResult<&'static OpInfo> {
    cursor.expect(b'{', "`{op=Add}`, which gives the kind of `BinOp`")?;
    name(cursor, "op")?;
    let start = *cursor;
    let Some(row) = cursor.identifier("").ok().and_then(binary_named) else {
        return start.unexpected(BINARY);
    };
    cursor.skip_spaces();
    cursor.expect(b'}', "`}`")?;
    Ok(row)
}

/// The values that `op` of the specification's `BinOp` can have.
pub(super) const BINARY: &str = "one of `Add`, `Sub`, `Mul`, `Div`";

/// The operation named by `op` of a `BinOp`.
pub(super) fn binary_named(name: &str) -> Option<&'static OpInfo> {
    Map::operators().map(|map| Op::Map(map).info()).find(|row| row.name == name)
}

/// Reads the attributes of an operation. Also returns the position of a constant's elements, which can be read only
/// after its type.
fn attributes<'a>(cursor: &mut Cursor<'a>, row: &OpInfo) -> ReadResult<(Attributes, Option<Cursor<'a>>)> {
    let mut attributes = Attributes::default();
    let mut literal = None;
    let braces =
        row.fields.iter().any(|field| !matches!(field.kind, FieldKind::LeadingAxis | FieldKind::Module));
    if braces {
        cursor.expect(b'{', "`{` and the attributes")?;
    }
    let mut first = true;
    for (field, attribute) in row.fields.iter().zip(&mut attributes) {
        if field.kind == FieldKind::LeadingAxis {
            *attribute = Some(Attribute::LeadingAxis);
            continue;
        }
        if field.kind == FieldKind::Module {
            continue;
        }
        if !first {
            separator(cursor)?;
        }
        first = false;
        if field.kind == FieldKind::Slice {
            name(cursor, "starts")?;
            let starts = read::dims(cursor, Spaces::Allowed)?;
            separator(cursor)?;
            name(cursor, "ends")?;
            let ends = read::dims(cursor, Spaces::Allowed)?;
            separator(cursor)?;
            name(cursor, "steps")?;
            let steps = read::integers(cursor, Spaces::Allowed)?;
            *attribute = Some(Attribute::Slice(Slice { starts, ends, steps }.into()));
            continue;
        }
        name(cursor, field.name)?;
        *attribute = Some(match field.kind {
            FieldKind::Text => Attribute::Text(cursor.quoted("text in double quotes")?.into()),
            FieldKind::Flag => Attribute::Flag(flag(cursor)?),
            FieldKind::I64 => Attribute::I64(i64::read(cursor)?),
            FieldKind::F32 => Attribute::F32(f32::read(cursor)?.into()),
            FieldKind::F64 => Attribute::F64(f64::read(cursor)?.into()),
            FieldKind::DType => Attribute::DType(cursor.dtype()?),
            FieldKind::Integers => Attribute::Integers(read::integers(cursor, Spaces::Allowed)?),
            FieldKind::Dims => Attribute::Dims(read::dims(cursor, Spaces::Allowed)?),
            FieldKind::Padding => Attribute::Padding(read::padding(cursor, Spaces::Allowed)?),
            FieldKind::Data => {
                literal = Some(*cursor);
                skip_literal(cursor);
                Attribute::Data(vec![0i32].into())
            }
            FieldKind::Slice | FieldKind::LeadingAxis | FieldKind::Module => unreachable!("read above"),
        });
    }
    cursor.skip_spaces();
    if braces {
        cursor.expect(b'}', "`}`")?;
    }
    Ok((attributes, literal))
}

fn separator(cursor: &mut Cursor<'_>) -> ReadResult<()> {
    cursor.skip_spaces();
    cursor.expect(b',', "`,` and the next attribute")
}

fn name(cursor: &mut Cursor<'_>, name: &str) -> ReadResult<()> {
    cursor.skip_spaces();
    let start = *cursor;
    if cursor.identifier("").is_ok_and(|found| found == name) {
        cursor.skip_spaces();
        if cursor.eat(b'=') {
            cursor.skip_spaces();
            return Ok(());
        }
    }
    start.unexpected(&format!("`{name}=`"))
}

fn flag(cursor: &mut Cursor<'_>) -> ReadResult<bool> {
    if cursor.eat_str("true") {
        Ok(true)
    } else if cursor.eat_str("false") {
        Ok(false)
    } else {
        cursor.unexpected("`true` or `false`")
    }
}

/// Skips the elements of a constant: a list of numbers, or one number.
fn skip_literal(cursor: &mut Cursor<'_>) {
    let end: &[u8] = if cursor.peek() == b'[' { b"]" } else { b",} \t" };
    while !end.contains(&cursor.peek()) && !cursor.is_at_line_end() {
        cursor.advance(1);
    }
    cursor.eat(b']');
}

/// Reads `f32` or `f32[2, N]`.
pub(super) fn typed(cursor: &mut Cursor<'_>, limits: &Limits) -> ReadResult<Type> {
    let start = cursor.position();
    let dtype = cursor.dtype()?;
    if !cursor.eat(b'[') {
        return Ok(Type::scalar(dtype));
    }
    cursor.skip_spaces();
    let ty = Type::new(dtype, read::shape(cursor, Spaces::Allowed, limits)?);
    read::check_type(cursor, start, &ty)?;
    Ok(ty)
}

/// Reads the list after `outputs:`.
fn outputs(reader: &mut Reader<'_>, cursor: &mut Cursor<'_>) -> ReadResult<()> {
    cursor.skip_spaces();
    if cursor.is_at_line_end() {
        return Ok(());
    }
    loop {
        let start = cursor.position();
        let number = value(cursor, "a result such as `%0`")?;
        reader.output(*cursor, start, number);
        cursor.skip_spaces();
        if cursor.is_at_line_end() {
            return Ok(());
        }
        cursor.expect(b',', "`,` or the end of the line")?;
        cursor.skip_spaces();
    }
}
