//! What the parsers of both text forms share: the module as it grows, and the mistakes found so far.

use super::{
    Document, Form, Limits, Place,
    cursor::{self, Cursor, Read, Spaces},
};
use crate::{
    definitions::Numbering,
    diag::{Code, Diag, Diags, Site},
    dim::Dim,
    ir::{Inst, Module, Op, Operands, Padding, ValueId},
    ops::OpInfo,
    ty::{DType, Shape, Type, type_fault},
};

/// A module as it is read.
pub(super) struct Reader<'a> {
    pub(super) limits: &'a Limits,
    pub(super) form: Form,
    pub(super) diags: Diags,
    numbers: Numbering,
    places: Vec<Place>,
    insts: Vec<Inst>,
    outputs: Vec<ValueId>,
    output_lines: Vec<u32>,
    /// References to what stood nowhere above: at the end it is known whether it stands below.
    missing: Vec<Missing>,
}

/// A reference to a value that is not defined above it.
struct Missing {
    /// Its place among the diagnostics.
    diag: usize,
    number: u64,
    reader: Option<&'static str>,
    output: usize,
}

pub(super) fn too_long(bytes: usize, limits: &Limits) -> Diag {
    let message = format!("the text has {bytes} bytes, more than the limit of {}", limits.bytes);
    Diag::new(Code::E1008, Site::Text { line: 1, column: 1 }, message)
}

impl<'a> Reader<'a> {
    /// # Errors
    /// E1008 where the text has too many bytes or lines.
    pub(super) fn new(text: &str, limits: &'a Limits, form: Form) -> Result<Self, Diags> {
        let mut diags = Diags::new();
        if text.len() > limits.bytes {
            diags.push(too_long(text.len(), limits));
            return Err(diags);
        }
        let lines = text.bytes().filter(|byte| *byte == b'\n').count() + usize::from(!text.ends_with('\n'));
        if lines > limits.lines {
            let site = Site::Text { line: u32::try_from(limits.lines + 1).unwrap_or(u32::MAX), column: 1 };
            let message = format!("the text has {lines} lines, more than the limit of {}", limits.lines);
            diags.push(Diag::new(Code::E1008, site, message));
            return Err(diags);
        }
        let nodes = lines.min(limits.nodes);
        let prefix = match form {
            Form::CoreIr => "%",
            Form::Mic => "N",
        };
        Ok(Self {
            limits,
            form,
            diags,
            numbers: Numbering::with_capacity(prefix, nodes),
            places: Vec::with_capacity(nodes),
            insts: Vec::with_capacity(nodes),
            outputs: Vec::new(),
            output_lines: Vec::new(),
            missing: Vec::new(),
        })
    }

    /// Numbers the next value.
    pub(super) fn define(&mut self, cursor: &Cursor<'_>, start: usize, number: u64) -> Read<()> {
        if self.insts.len() == self.limits.nodes {
            let message = format!("more than the limit of {} nodes", self.limits.nodes);
            return cursor.fault_at(start, Code::E1008, message);
        }
        self.places.push(Place { number, line: cursor.line() });
        if let Err(message) = self.numbers.define(number) {
            self.diags.push(Diag::new(Code::E4002, cursor.site_of(start), message));
        }
        Ok(())
    }

    /// Takes in the instruction of the value that was numbered last. Whatever was wrong with it, there is one.
    pub(super) fn push(&mut self, read: Read<Inst>) {
        let inst = read.unwrap_or_else(|diag| {
            self.diags.push(*diag);
            Inst { op: Op::StopGradient, operands: Operands::NONE, ty: Type::scalar(DType::Bool) }
        });
        self.insts.push(inst);
    }

    pub(super) fn is_full(&self) -> bool {
        self.diags.as_slice().len() >= self.limits.errors
    }

    /// The value of an operand; one that is not defined above is reported and stands for any.
    pub(super) fn operand(
        &mut self,
        cursor: &Cursor<'_>,
        start: usize,
        number: u64,
        row: &'static OpInfo,
    ) -> ValueId {
        // The value that is being defined has its number already.
        if let Some(value) = self.numbers.get(number).filter(|value| value.index() < self.insts.len()) {
            return value;
        }
        self.missing.push(Missing {
            diag: self.diags.as_slice().len(),
            number,
            reader: Some(row.name),
            output: 0,
        });
        self.diags.push(Diag::new(Code::E4001, cursor.site_of(start), ""));
        ValueId::new(0)
    }

    pub(super) fn output(&mut self, cursor: &Cursor<'_>, start: usize, number: u64) {
        let value = self.numbers.get(number);
        if value.is_none() {
            let (diag, output) = (self.diags.as_slice().len(), self.outputs.len());
            self.missing.push(Missing { diag, number, reader: None, output });
            self.diags.push(Diag::new(Code::E4003, cursor.site_of(start), ""));
        }
        self.outputs.push(value.unwrap_or(ValueId::new(0)));
        self.output_lines.push(cursor.line());
    }

    pub(super) fn values(&self) -> usize {
        self.insts.len()
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// The operands of an instruction, as many as its operation takes.
    pub(super) fn operands(
        &self,
        cursor: &Cursor<'_>,
        start: usize,
        row: &OpInfo,
        (found, count): ([ValueId; Operands::MAX], usize),
    ) -> Read<Operands> {
        if count != row.arity {
            let needed = row.arity;
            let message = format!("`{}`: {count} operands given, {needed} needed", self.name_of(row));
            return cursor.fault_at(start, Code::E2007, message);
        }
        Ok(Operands::new(&found[..count]).unwrap_or(Operands::NONE))
    }

    fn name_of(&self, row: &OpInfo) -> &'static str {
        match self.form {
            Form::CoreIr => row.name,
            Form::Mic => row.mnemonic,
        }
    }

    /// Replaces the extent -1 of a reshape by what the operand's elements leave for it.
    pub(super) fn resolve(
        &self,
        cursor: &Cursor<'_>,
        start: usize,
        op: &mut Op,
        operands: &Operands,
    ) -> Read<()> {
        let unknown = Dim::literal(-1);
        let Op::Reshape { shape } = op else { return Ok(()) };
        let Some(axis) = shape.iter().position(|dim| *dim == unknown) else { return Ok(()) };
        if shape[axis + 1..].contains(&unknown) {
            let message = format!("`reshape`: {shape} has several extents of -1, needed one at most");
            return cursor.fault_at(start, Code::E3006, message);
        }
        let operand = self.insts.get(operands[0].index()).filter(|_| self.diags.is_empty());
        let Some(Inst { ty, .. }) = operand else { return Ok(()) };
        let mut others = shape.iter().filter(|dim| **dim != unknown);
        let others = others.try_fold(Dim::ONE, |product, dim| product.mul(dim));
        let extent = match (ty.shape.element_count(), others) {
            (Ok(count), Ok(others)) => count.exact_div(&others),
            (Ok(_) | Err(_), Ok(_) | Err(_)) => None,
        };
        let Some(extent) = extent else {
            let message = format!("`reshape`: no extent in place of -1 makes {shape} of {ty}");
            return cursor.fault_at(start, Code::E3007, message);
        };
        let mut dims = shape.to_vec();
        dims[axis] = extent;
        *shape = Shape::new(dims);
        Ok(())
    }

    /// What was read.
    ///
    /// # Errors
    /// Every mistake.
    pub(super) fn finish(mut self, end: u32) -> Result<Document, Diags> {
        if !self.diags.is_empty() {
            let mut diags: Vec<Diag> = self.diags.into_iter().collect();
            for Missing { diag, number, reader, output } in self.missing {
                diags[diag].message = match reader {
                    Some(reader) => self.numbers.missing(number, reader),
                    None => self.numbers.missing_output(output, number),
                };
            }
            self.diags = Diags::new();
            self.diags.extend(diags);
            return Err(self.diags);
        }
        Ok(Document {
            form: self.form,
            module: Module::from_parts(self.insts, self.outputs),
            name: None,
            docs: Vec::new(),
            comments: Vec::new(),
            places: self.places,
            output_lines: self.output_lines,
            end,
        })
    }
}

/// What is wrong with a type whatever has it.
pub(super) fn check_type(cursor: &Cursor<'_>, start: usize, ty: &Type) -> Read<()> {
    match type_fault(ty) {
        None => Ok(()),
        Some((code, message)) => cursor.fault_at(start, code, message),
    }
}

/// The extents of a type, up to `]`; the bracket before is read.
pub(super) fn shape(cursor: &mut Cursor<'_>, spaced: Spaces, limits: &Limits) -> Read<Shape> {
    let start = cursor.position();
    let mut dims = [const { Dim::ONE }; crate::ty::MAX_RANK];
    let limit = limits.rank.min(dims.len());
    let mut rank = 0;
    loop {
        let dim = cursor::dim(cursor, spaced)?;
        match dims.get_mut(rank).filter(|_| rank < limit) {
            Some(place) => *place = dim,
            None => {
                return cursor.fault_at(
                    start,
                    Code::E1008,
                    format!("a rank of more than the limit of {limit}"),
                );
            }
        }
        rank += 1;
        spaced.skip(cursor);
        if cursor.eat(b']') {
            return Ok(Shape::from_slice(&dims[..rank]));
        }
        cursor.expect(b',', "`,` or `]`")?;
        spaced.skip(cursor);
    }
}

/// A list in brackets.
pub(super) fn list<T>(
    cursor: &mut Cursor<'_>,
    spaced: Spaces,
    what: &str,
    item: impl Fn(&mut Cursor<'_>) -> Read<T>,
) -> Read<Vec<T>> {
    cursor.expect(b'[', what)?;
    spaced.skip(cursor);
    let mut items = Vec::new();
    if cursor.eat(b']') {
        return Ok(items);
    }
    loop {
        items.push(item(cursor)?);
        spaced.skip(cursor);
        if cursor.eat(b']') {
            return Ok(items);
        }
        cursor.expect(b',', "`,` or `]`")?;
        spaced.skip(cursor);
    }
}

pub(super) fn integers(cursor: &mut Cursor<'_>, spaced: Spaces) -> Read<Vec<i64>> {
    list(cursor, spaced, "a list of integers in brackets", |cursor| cursor.integer("an integer"))
}

pub(super) fn dims(cursor: &mut Cursor<'_>, spaced: Spaces) -> Read<Vec<Dim>> {
    list(cursor, spaced, "a list of dimensions in brackets", |cursor| cursor::dim(cursor, spaced))
}

/// `valid`, `same` or `[[top, bottom], [left, right]]`.
pub(super) fn padding(cursor: &mut Cursor<'_>, spaced: Spaces) -> Read<Padding> {
    if cursor.eat_str("valid") {
        return Ok(Padding::Valid);
    }
    if cursor.eat_str("same") {
        return Ok(Padding::Same);
    }
    let what = "`valid`, `same` or `[[top,bottom],[left,right]]`";
    let pairs = list(cursor, spaced, what, |cursor| {
        let start = cursor.position();
        let pair = integers(cursor, spaced)?;
        match <[i64; 2]>::try_from(pair) {
            Ok(pair) => Ok(pair),
            Err(pair) => {
                let message = format!("{} amounts of padding given, 2 needed: before and after", pair.len());
                cursor.fault_at(start, Code::E4010, message)
            }
        }
    })?;
    Ok(Padding::Custom(pairs))
}
