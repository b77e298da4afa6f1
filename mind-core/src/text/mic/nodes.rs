//! The part of the parser that reads nodes.

use std::sync::Arc;

use super::{entries::Parser, mnemonics::mnemonic};
use crate::{
    diag::{Code, Diag},
    ir::{Op, Operands, Slice},
    ops::{Attribute, Attributes, Field, FieldKind, InMic, Make, OpInfo, TABLE, WorkClass, listed},
    surface::lower::declarations::names::nearest,
    text::{
        Limits,
        cursor::{self, Cursor, ElementText, ReadResult, Spaces},
        read::{self, Holder},
    },
    ty::Type,
};

impl<'a> Parser<'a> {
    /// Reads a node: `N2 sum N1 [1] kd=0 T1`.
    #[inline(never)]
    pub(super) fn node(&mut self, cursor: &Cursor<'a>) -> ReadResult<usize> {
        let mut cursor = *cursor;
        let start = cursor.position();
        cursor.advance(1);
        let number = cursor.digits("the id of a value")?;
        self.reader.define(&cursor, start, number)?;
        match self.definition(cursor) {
            Ok(end) => Ok(end),
            Err(fault) => {
                self.reader.diags.push(*fault);
                // The lines below show whether it holds a module.
                self.held = Some((cursor, None));
                Ok(start)
            }
        }
    }

    /// Reads everything after the id. Returns the position of its end.
    #[inline(always)]
    fn definition(&mut self, mut cursor: Cursor<'a>) -> ReadResult<usize> {
        cursor.space("a space and the operation")?;
        let start = cursor.position();
        let row = operation(&mut cursor)?;
        let operands = self.operands(&mut cursor, start, row)?;
        let op = if let Make::Plain(make) = row.make {
            make()
        } else if row.class == WorkClass::Input {
            cursor.space("a symbol, `S…`")?;
            Op::input(self.symbol_reference(&mut cursor)?)
        } else {
            return self.with_fields(cursor, row, operands);
        };
        let Some(ty) = self.result(&mut cursor)? else {
            self.reader.push_any();
            return Ok(cursor.position());
        };
        let ty = ty.clone();
        self.reader.push(op, operands, ty);
        Ok(cursor.position())
    }

    /// Reads everything after the operands of an operation with attributes. Returns the position of its end.
    #[inline(never)]
    fn with_fields(
        &mut self,
        cursor: Cursor<'a>,
        row: &'static OpInfo,
        operands: Operands,
    ) -> ReadResult<usize> {
        let mut cursor = cursor;
        let start = cursor.position();
        let mut attributes = [const { None }; 5];
        let literal = self.attributes(&mut cursor, row, &mut attributes)?;
        let Some(ty) = self.result(&mut cursor)? else {
            self.reader.push_any();
            return Ok(cursor.position());
        };
        if row.fields.iter().any(|field| field.kind == FieldKind::Module) {
            let ty = ty.clone();
            self.held = Some((cursor, Some(Holder { row, attributes, operands, ty })));
            return Ok(cursor.position());
        }
        if let Some(literal) = literal {
            attributes = constant(literal, ty, self.reader.limits)?;
        } else {
            let of_type =
                row.fields.iter().zip(&mut attributes).filter(|(field, _)| field.kind == FieldKind::DType);
            of_type.for_each(|(_, attribute)| *attribute = Some(Attribute::DType(ty.dtype)));
        }
        let (mut op, ty) = (row.op(attributes), ty.clone());
        if let Op::Arrange(arrange) = &mut op
            && let Some(shape) = arrange.open_shape()
        {
            self.reader.resolve(cursor, start + 1, shape, &operands)?;
        }
        self.reader.push(op, operands, ty);
        Ok(cursor.position())
    }

    /// Reads the result type, ` T1`, at the end of the line. Returns `None` if the entry of the type had an error,
    /// which was reported.
    #[inline(always)]
    fn result(&self, cursor: &mut Cursor<'a>) -> ReadResult<Option<&Type>> {
        cursor.space("a space and the type of the result, `T…`")?;
        let start = cursor.position();
        cursor.expect(b'T', "the type of the result, `T…`")?;
        let number = cursor.digits("the id of a type")?;
        cursor.line_end()?;
        match self.types.get(number) {
            Some(ty) => Ok(ty),
            None => cursor.fault_at(start, Code::E4001, format!("T{number} is not defined above")),
        }
    }

    /// Reads all operands `N…`.
    #[inline(always)]
    fn operands(
        &mut self,
        cursor: &mut Cursor<'a>,
        start: usize,
        row: &'static OpInfo,
    ) -> ReadResult<Operands> {
        let (mut operands, mut count) = (Operands::NONE, 0);
        loop {
            let before = cursor.position();
            // The common case: one space.
            if cursor.peek() == b' ' {
                cursor.advance(1);
            }
            if matches!(cursor.peek(), b' ' | b'\t') {
                cursor.skip_spaces();
            }
            let place = cursor.position();
            let Some(number) = value(cursor)? else {
                cursor.rewind(before);
                break;
            };
            operands.push(self.reader.operand(cursor, place, number, row));
            count += 1;
        }
        self.reader.check_count(cursor, start, row, count)?;
        Ok(operands)
    }

    /// Reads the attributes of an operation. Returns the position of a constant's elements, which can be read only
    /// after its type.
    #[inline(always)]
    fn attributes(
        &mut self,
        cursor: &mut Cursor<'a>,
        row: &OpInfo,
        attributes: &mut Attributes,
    ) -> ReadResult<Option<Cursor<'a>>> {
        let mut literal = None;
        for (field, attribute) in row.fields.iter().zip(attributes) {
            match field.mic {
                _ if field.kind == FieldKind::Module => continue,
                InMic::Type => continue,
                InMic::Place => cursor.space(described(field))?,
                InMic::Key(key) => {
                    cursor.skip_spaces();
                    let start = cursor.position();
                    if !(cursor.eat_str(key) && cursor.eat(b'=')) {
                        cursor.rewind(start);
                        return cursor.unexpected(&format!("`{key}=` and {}", described(field)));
                    }
                }
            }
            match field.kind {
                FieldKind::Data => {
                    literal = Some(*cursor);
                    while !matches!(cursor.peek(), b' ' | b'\t' | b'\r' | b'\n') {
                        cursor.advance(1);
                    }
                }
                FieldKind::Text => *attribute = Some(Attribute::Text(self.symbol_reference(cursor)?)),
                _ => {
                    let (value, end) = read_attribute(*cursor, field)?;
                    *attribute = Some(value);
                    cursor.rewind(end);
                }
            }
        }
        Ok(literal)
    }

    #[inline(always)]
    fn symbol_reference(&mut self, cursor: &mut Cursor<'a>) -> ReadResult<Arc<str>> {
        let start = cursor.position();
        cursor.expect(b'S', "a symbol, `S…`")?;
        let number = cursor.digits("the id of a symbol")?;
        if self.name == Some(number) {
            self.name = None;
        }
        match self.symbols.get(number) {
            // An error in the entry was already reported.
            Some(name) => Ok(name.map_or("", |name| &**name).into()),
            None => cursor.fault_at(start, Code::E4001, format!("S{number} is not defined above")),
        }
    }
}

#[inline(always)]
fn operation(cursor: &mut Cursor<'_>) -> ReadResult<&'static OpInfo> {
    let start = cursor.position();
    match mnemonic(cursor) {
        Some(row) => Ok(row),
        None => no_operation(*cursor, start),
    }
}

#[cold]
fn no_operation(mut cursor: Cursor<'_>, start: usize) -> ReadResult<&'static OpInfo> {
    let name = cursor.since(start);
    if name.is_empty() {
        return cursor.unexpected("an operation");
    }
    let message = format!("undefined operation {}", cursor::shortened(name));
    cursor.rewind(start);
    let diag = Diag::new(Code::E2002, cursor.site(), message);
    Err(match nearest(name, TABLE.iter().map(|row| row.mnemonic)) {
        Some(near) => diag.help(format!("write `{near}`")),
        None => diag,
    }
    .into())
}

/// Reads `N1` if it is a whole token. A slice may begin with a dimension that has such a name.
#[inline(always)]
fn value(cursor: &mut Cursor<'_>) -> ReadResult<Option<u64>> {
    if cursor.peek() != b'N' || !cursor.ahead(1).is_ascii_digit() {
        return Ok(None);
    }
    cursor.advance(1);
    let number = cursor.digits("the id of a value")?;
    let ends = matches!(cursor.peek(), b' ' | b'\t' | b'\r' | b'\n');
    Ok(ends.then_some(number))
}

/// Reads the value of a field. Returns it and the position of its end.
#[inline(never)]
fn read_attribute(mut cursor: Cursor<'_>, field: &Field) -> ReadResult<(Attribute, usize)> {
    let cursor = &mut cursor;
    let value = match field.kind {
        FieldKind::Flag if cursor.eat(b'0') => Attribute::Flag(false),
        FieldKind::Flag if cursor.eat(b'1') => Attribute::Flag(true),
        FieldKind::Flag => return cursor.unexpected(described(field)),
        FieldKind::I64 => Attribute::I64(i64::read(cursor)?),
        FieldKind::F32 => Attribute::F32(f32::read(cursor)?.into()),
        FieldKind::F64 => Attribute::F64(f64::read(cursor)?.into()),
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
        FieldKind::Text | FieldKind::DType | FieldKind::Data | FieldKind::Module => {
            unreachable!(
                "a name is of the table of symbols, a module of the lines below, the rest is read from the type"
            )
        }
    };
    Ok((value, cursor.position()))
}

/// Reads the elements of a constant and returns the values of its fields.
fn constant(mut cursor: Cursor<'_>, ty: &Type, limits: &Limits) -> ReadResult<Attributes> {
    let needed = ty.shape.element_count().ok().and_then(|count| u64::try_from(count.as_literal()?).ok());
    let of = || ty.to_string();
    let data = cursor::data(&mut cursor, ty.dtype, Spaces::None, limits.literal, needed, &of)?;
    if !matches!(cursor.peek(), b' ' | b'\t') {
        return cursor.unexpected("a space");
    }
    let dims = ty.shape.to_vec();
    Ok(listed([Attribute::Data(data), Attribute::DType(ty.dtype), Attribute::Dims(dims)]))
}

/// Reads `0:2:1,1:N:1`, or `[]` for a scalar.
fn ranges(cursor: &mut Cursor<'_>) -> ReadResult<Slice> {
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

/// The expected token of a field, for messages.
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
        FieldKind::Module => "a module on the lines below",
    }
}
