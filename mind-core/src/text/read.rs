//! What the parsers of both text forms share: the module as it grows, and the mistakes found so far.

use std::sync::Arc;

use super::{
    Document, Form, Limits,
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
    insts: Vec<Inst>,
    outputs: Vec<ValueId>,
    /// The lines of the values, then those of the outputs.
    lines: Vec<u32>,
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

fn line_count(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count() + usize::from(!text.ends_with('\n'))
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
        // A text of few bytes has few lines; the shortest node takes 12 bytes.
        let small = text.len() <= limits.lines.min(4096);
        let lines = if small { text.len() / 12 } else { line_count(text) };
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
            numbers: Numbering::new(prefix),
            insts: Vec::with_capacity(nodes),
            outputs: Vec::new(),
            lines: Vec::with_capacity(nodes + 1),
            missing: Vec::new(),
        })
    }

    /// Numbers the next value.
    #[inline]
    pub(super) fn define(&mut self, cursor: &Cursor<'_>, start: usize, number: u64) -> Read<()> {
        if self.insts.len() == self.limits.nodes {
            let message = format!("more than the limit of {} nodes", self.limits.nodes);
            return cursor.fault_at(start, Code::E1008, message);
        }
        if self.outputs.is_empty() {
            self.lines.push(cursor.line());
        } else {
            // Outputs nearly always come after the values.
            self.lines.insert(self.insts.len(), cursor.line());
        }
        if let Err(message) = self.numbers.define(number) {
            self.diags.push(Diag::new(Code::E4002, cursor.site_of(start), message));
        }
        Ok(())
    }

    /// Takes in the instruction of the value that was numbered last.
    #[inline]
    pub(super) fn push(&mut self, op: Op, operands: Operands, ty: Type) {
        self.insts.push(Inst { op, operands, ty });
    }

    /// Reports what is wrong with the instruction of the value that was numbered last; another stands for it.
    #[cold]
    pub(super) fn push_fault(&mut self, diag: Diag) {
        self.diags.push(diag);
        self.push_any();
    }

    /// Takes in any instruction, where what is wrong was reported.
    pub(super) fn push_any(&mut self) {
        self.push(Op::StopGradient, Operands::NONE, Type::scalar(DType::Bool));
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
        self.lines.push(cursor.line());
    }

    pub(super) fn values(&self) -> usize {
        self.insts.len()
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// E2007 unless an operation has as many operands as it takes.
    pub(super) fn check_count(
        &self,
        cursor: &Cursor<'_>,
        start: usize,
        row: &OpInfo,
        count: usize,
    ) -> Read<()> {
        if count == row.arity {
            return Ok(());
        }
        let needed = row.arity;
        let message = format!("`{}`: {count} operands given, {needed} needed", self.name_of(row));
        cursor.fault_at(start, Code::E2007, message)
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
        let Op::Reshape { shape } = op else { return Ok(()) };
        let unknown = Dim::literal(-1);
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
            numbers: self.numbers,
            lines: self.lines,
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
    let limit = limits.rank.min(crate::ty::MAX_RANK);
    // One extent more than commas; what is malformed is found where it is read.
    let mut rank = 1;
    for ahead in 0.. {
        match cursor.ahead(ahead) {
            b',' => rank += 1,
            b']' | b'\n' => break,
            _ => {}
        }
    }
    if rank > limit {
        return cursor.fault(Code::E1008, format!("rank {rank} exceeds the limit of {limit}"));
    }
    let mut fault = None;
    let mut extent = |axis: usize| -> Read<Dim> {
        if axis > 0 {
            cursor.expect(b',', "`,` or `]`")?;
            spaced.skip(cursor);
        }
        let dim = cursor::dim(cursor, spaced)?;
        spaced.skip(cursor);
        Ok(dim)
    };
    // Written where they stay.
    let dims: Arc<[Dim]> = (0..rank)
        .map(|axis| match &fault {
            None => extent(axis).unwrap_or_else(|diag| {
                fault = Some(diag);
                Dim::ONE
            }),
            Some(_) => Dim::ONE,
        })
        .collect();
    match fault {
        Some(fault) => Err(fault),
        None => {
            cursor.expect(b']', "`,` or `]`")?;
            Ok(Shape::new(dims))
        }
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
