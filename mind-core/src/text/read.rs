//! What the parsers of both text forms share: the module as it grows, and the mistakes found so far.

use std::{mem, sync::Arc};

use super::{
    Comment, Document, Form, Limits,
    cursor::{self, Cursor, Read, Spaces},
    lines::Lines,
};
use crate::{
    definitions::Numbering,
    diag::{Code, Diag, Diags, Site},
    dim::Dim,
    ir::{Inst, Module, Op, Operands, Padding, ValueId},
    map::Map,
    ops::OpInfo,
    ty::{DType, MAX_RANK, Shape, Type, type_fault},
};

/// A module as it is read.
pub(super) struct Reader<'a> {
    pub(super) limits: &'a Limits,
    pub(super) form: Form,
    pub(super) diags: Diags,
    numbers: Numbering,
    insts: Vec<Inst>,
    outputs: Vec<ValueId>,
    lines: Lines,
    output_lines: Lines,
    /// References to what stood nowhere above: at the end it is known whether it stands below.
    missing: Vec<Missing>,
    /// The values whose lines are known to be wrong.
    reported: Vec<ValueId>,
    /// Whether the nodes exceed their limit.
    is_over: bool,
}

/// What stands beside the module in a text.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) name: Option<Arc<str>>,
    pub(super) docs: Vec<String>,
    pub(super) comments: Vec<Comment>,
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

/// About how many nodes a text has, so that memory is taken once.
///
/// # Errors
/// E1008 where the text has too many bytes or lines.
pub(super) fn expected_nodes(text: &str, limits: &Limits) -> Result<usize, Diags> {
    let fail = |diag: Diag| {
        let mut diags = Diags::new();
        diags.push(diag);
        Err(diags)
    };
    if text.len() > limits.bytes {
        return fail(too_long(text.len(), limits));
    }
    // A text of few bytes has few lines, a node with what it refers to mostly takes 32 bytes of them.
    let small = text.len() <= limits.lines.min(4096);
    let lines = if small { text.len() / 32 } else { line_count(text) };
    if lines > limits.lines {
        let site = Site::Text { line: u32::try_from(limits.lines + 1).unwrap_or(u32::MAX), column: 1 };
        let message = format!("the text has {lines} lines, more than the limit of {}", limits.lines);
        return fail(Diag::new(Code::E1008, site, message));
    }
    Ok(lines.min(limits.nodes))
}

impl<'a> Reader<'a> {
    #[inline]
    pub(super) fn new(nodes: usize, limits: &'a Limits, form: Form) -> Self {
        let prefix = match form {
            Form::CoreIr => "%",
            Form::Mic => "N",
        };
        Self {
            limits,
            form,
            diags: Diags::new(),
            numbers: Numbering::new(prefix),
            insts: Vec::with_capacity(nodes),
            outputs: Vec::with_capacity(1),
            lines: Lines::default(),
            output_lines: Lines::default(),
            missing: Vec::new(),
            reported: Vec::new(),
            is_over: false,
        }
    }

    /// Numbers the next value, which starts at this position.
    #[inline(always)]
    pub(super) fn define(&mut self, cursor: &Cursor<'_>, start: usize, number: u64) -> Read<()> {
        if self.insts.len() == self.limits.nodes {
            self.is_over = true;
            let message = format!("more than the limit of {} nodes", self.limits.nodes);
            return cursor.fault_at(start, Code::E1008, message);
        }
        self.lines.push(cursor.line());
        if let Err(message) = self.numbers.define(number) {
            self.diags.push(Diag::new(Code::E4002, cursor.site_of(start), message));
        }
        Ok(())
    }

    /// Takes in the instruction of the value that was numbered last.
    #[inline(always)]
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
    #[cold]
    pub(super) fn push_any(&mut self) {
        self.reported.push(ValueId::new(self.insts.len()));
        self.push(Op::Map(Map::COPY), Operands::NONE, Type::scalar(DType::Bool));
    }

    /// Whether reading stops: there are more mistakes than are told, or the nodes exceed their limit, which is told once.
    pub(super) fn is_full(&self) -> bool {
        self.is_over || self.diags.as_slice().len() >= self.limits.errors
    }

    /// The value of an operand, which starts at this position; one that is not defined above is reported and stands for any.
    #[inline(always)]
    pub(super) fn operand(
        &mut self,
        cursor: &Cursor<'_>,
        start: usize,
        number: u64,
        row: &'static OpInfo,
    ) -> ValueId {
        // The value that is being defined has its number already.
        match self.numbers.get(number) {
            Some(value) if value.index() < self.insts.len() => value,
            Some(_) | None => self.missing_operand(*cursor, start, number, row),
        }
    }

    #[cold]
    fn missing_operand(
        &mut self,
        cursor: Cursor<'_>,
        start: usize,
        number: u64,
        row: &'static OpInfo,
    ) -> ValueId {
        self.missing.push(Missing {
            diag: self.diags.as_slice().len(),
            number,
            reader: Some(row.name),
            output: 0,
        });
        self.diags.push(Diag::new(Code::E4001, cursor.site_of(start), ""));
        self.reported.push(ValueId::new(self.insts.len()));
        ValueId::new(0)
    }

    /// Takes in an output, which starts at this position.
    pub(super) fn output(&mut self, cursor: Cursor<'_>, start: usize, number: u64) {
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

    /// E2007 unless an operation, which starts at this position, has as many operands as it takes.
    #[inline(always)]
    pub(super) fn check_count(
        &self,
        cursor: &Cursor<'_>,
        start: usize,
        row: &OpInfo,
        count: usize,
    ) -> Read<()> {
        if row.takes(count) { Ok(()) } else { self.wrong_count(*cursor, start, row, count) }
    }

    #[cold]
    fn wrong_count(&self, cursor: Cursor<'_>, start: usize, row: &OpInfo, count: usize) -> Read<()> {
        let message = format!("`{}`: {}", self.name_of(row), row.miscounted(count));
        cursor.fault_at(start, Code::E2007, message)
    }

    fn name_of(&self, row: &OpInfo) -> &'static str {
        match self.form {
            Form::CoreIr => row.name,
            Form::Mic => row.mnemonic,
        }
    }

    /// Replaces the extent -1 of a reshape, whose attributes start at this position, by what the operand's elements leave for it.
    pub(super) fn resolve(
        &self,
        cursor: Cursor<'_>,
        start: usize,
        shape: &mut Shape,
        operands: &Operands,
    ) -> Read<()> {
        let unknown = Dim::literal(-1);
        let Some(axis) = shape.iter().position(|dim| *dim == unknown) else { return Ok(()) };
        if shape[axis + 1..].contains(&unknown) {
            let message = format!("`reshape`: {shape} has several extents of -1, needed one at most");
            return cursor.fault_at(start, Code::E3006, message);
        }
        let operand = self.insts.get(operands[0].index()).filter(|_| self.diags.is_empty());
        let Some(Inst { ty, .. }) = operand else { return Ok(()) };
        let others: Shape = shape.iter().filter(|dim| **dim != unknown).cloned().collect();
        let counts = ty.shape.element_count().and_then(|count| Ok((count, others.element_count()?)));
        let extent = match counts.and_then(|(count, others)| count.exact_div(&others)) {
            Ok(extent) => extent,
            Err(overflow) => return cursor.fault_at(start, Code::E1008, format!("`reshape`: {overflow}")),
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
    #[inline]
    pub(super) fn finish(self, end: u32, notes: Notes) -> Result<Document, Diags> {
        if self.diags.is_empty() { Ok(self.document(end, notes)) } else { Err(self.mistakes(end)) }
    }

    /// What was found while reading, and what is wrong with the types of all other instructions, in the order of lines.
    /// The declared type of a line in error counts for what reads it.
    #[cold]
    fn mistakes(mut self, end: u32) -> Diags {
        let (limit, reported) = (self.limits.errors, mem::take(&mut self.reported));
        let mut diags: Vec<Diag> = mem::take(&mut self.diags).into_iter().collect();
        for Missing { diag, number, reader, output } in &self.missing {
            diags[*diag].message = match reader {
                Some(reader) => self.numbers.missing(*number, reader),
                None => self.numbers.missing_output(*output, *number),
            };
        }
        diags.extend(self.document(end, Notes::default()).type_mistakes(&reported));
        diags.sort_by_key(|diag| match diag.site {
            Site::Text { line, .. } => line,
            Site::Nowhere | Site::Tokens { .. } => u32::MAX,
        });
        diags.truncate(limit);
        let mut all = Diags::new();
        all.extend(diags);
        all
    }

    #[inline]
    fn document(self, end: u32, Notes { name, docs, comments }: Notes) -> Document {
        Document {
            form: self.form,
            module: Module::from_parts(self.insts, self.outputs),
            name,
            docs,
            comments,
            numbers: self.numbers,
            lines: self.lines,
            output_lines: self.output_lines,
            end,
        }
    }
}

/// What is wrong with a type, which starts at this position, whatever has it.
pub(super) fn check_type(cursor: &Cursor<'_>, start: usize, ty: &Type) -> Read<()> {
    match type_fault(ty) {
        None => Ok(()),
        Some((code, message)) => cursor.fault_at(start, code, message),
    }
}

/// The extents of a type and `]`; the bracket before is read.
pub(super) fn shape(cursor: &mut Cursor<'_>, spaced: Spaces, limits: &Limits) -> Read<Shape> {
    let start = *cursor;
    let limit = limits.rank.min(MAX_RANK);
    let mut dims = [const { Dim::ZERO }; MAX_RANK];
    for (rank, place) in (1..=limit).zip(&mut dims) {
        match extent(cursor, spaced) {
            Ok((dim, last)) => {
                *place = dim;
                if last {
                    return Ok(dims.into_iter().take(rank).collect());
                }
            }
            Err(fault) => return no_shape(start, limit, Some(fault)),
        }
    }
    no_shape(start, limit, None)
}

/// An extent, and whether it is the last.
fn extent(cursor: &mut Cursor<'_>, spaced: Spaces) -> Read<(Dim, bool)> {
    let dim = cursor::dim(cursor, spaced)?;
    spaced.skip(cursor);
    if cursor.eat(b']') {
        return Ok((dim, true));
    }
    cursor.expect(b',', "`,` or `]`")?;
    spaced.skip(cursor);
    Ok((dim, false))
}

/// What is wrong with extents that begin here: first that they are too many.
#[cold]
fn no_shape<T>(start: Cursor<'_>, limit: usize, fault: Option<Box<Diag>>) -> Read<T> {
    let rest = (0..).map(|ahead| start.ahead(ahead)).take_while(|byte| !matches!(byte, b']' | b'\n'));
    let rank = 1 + rest.filter(|byte| *byte == b',').count();
    match fault {
        Some(fault) if rank <= limit => Err(fault),
        Some(_) | None => start.fault(Code::E1008, format!("rank {rank} exceeds the limit of {limit}")),
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
