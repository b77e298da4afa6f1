//! What the parsers of both text forms share: the module as it grows, and the mistakes found so far.

use std::{collections::BTreeMap, mem, sync::Arc};

use super::{
    Comment, Document, Form, Inner, Limits,
    cursor::{self, Cursor, Read, Spaces},
    lines::Lines,
};
use crate::{
    definitions::Numbering,
    diag::{Code, Diag, Diags, Site},
    dim::Dim,
    ir::{Inst, Module, Nested, Op, Operands, Padding, ValueId},
    map::Map,
    ops::{Attribute, Attributes, FieldKind, OpInfo},
    ty::{DType, MAX_RANK, Shape, Type, type_fault},
};

/// A module as it is read.
pub(super) struct Reader<'a> {
    pub(super) limits: &'a Limits,
    pub(super) form: Form,
    pub(super) diags: Diags,
    /// The module that is being read.
    module: Part,
    /// Those that it stands in, outermost first, each with the instruction that holds the next.
    around: Vec<(Part, Option<Holder>)>,
    /// The instructions of modules around it and of those that were read in it.
    elsewhere: usize,
    /// What is known by now of references to what stood nowhere above, by the places of the diagnostics.
    resolved: Vec<(usize, String)>,
    /// Whether the nodes exceed their limit.
    is_over: bool,
}

/// A module as it is read, without those in it.
struct Part {
    numbers: Numbering,
    insts: Vec<Inst>,
    outputs: Vec<ValueId>,
    lines: Lines,
    output_lines: Lines,
    /// References to what stood nowhere above: at the end it is known whether it stands below.
    missing: Vec<Missing>,
    /// The values whose lines are known to be wrong.
    reported: Vec<ValueId>,
    /// Where the modules stand that were read in it.
    inner: BTreeMap<ValueId, Inner>,
    /// How many mistakes there were before it.
    mistakes: usize,
}

/// An instruction that holds a module, which is still to be read.
pub(super) struct Holder {
    pub(super) row: &'static OpInfo,
    /// But for the module.
    pub(super) attributes: Attributes,
    pub(super) operands: Operands,
    pub(super) ty: Type,
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

/// At the line that passes the limit, which is there.
pub(super) fn too_long(text: &[u8], limits: &Limits) -> Diag {
    let before = text[..limits.bytes].iter().filter(|byte| **byte == b'\n').count();
    let line = u32::try_from(before + 1).unwrap_or(u32::MAX);
    let message = format!(
        "the text has {} bytes, more than the limit of {}, which this line passes",
        text.len(),
        limits.bytes
    );
    Diag::new(Code::E1008, Site::Text { line, column: 1 }, message).help(SPLIT)
}

/// What to do about a text that is too large.
const SPLIT: &str =
    "split the program; a large constant can be an input, whose value is in a file of its own";

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
        return fail(too_long(text.as_bytes(), limits));
    }
    // A text of few bytes has few lines, a node with what it refers to mostly takes 32 bytes of them.
    let small = text.len() <= limits.lines.min(4096);
    let lines = if small { text.len() / 32 } else { line_count(text) };
    if lines > limits.lines {
        let site = Site::Text { line: u32::try_from(limits.lines + 1).unwrap_or(u32::MAX), column: 1 };
        let message = format!("the text has {lines} lines, more than the limit of {}", limits.lines);
        return fail(Diag::new(Code::E1008, site, message).help(SPLIT));
    }
    Ok(lines.min(limits.nodes))
}

impl Part {
    fn new(nodes: usize, form: Form, mistakes: usize) -> Self {
        let prefix = match form {
            Form::CoreIr => "%",
            Form::Mic => "N",
        };
        Self {
            numbers: Numbering::new(prefix),
            insts: Vec::with_capacity(nodes),
            outputs: Vec::with_capacity(1),
            lines: Lines::default(),
            output_lines: Lines::default(),
            missing: Vec::new(),
            reported: Vec::new(),
            inner: BTreeMap::new(),
            mistakes,
        }
    }

    /// What the references to what stood nowhere above come to, now that all has been read.
    fn resolve(&self, resolved: &mut Vec<(usize, String)>) {
        resolved.extend(self.missing.iter().map(|Missing { diag, number, reader, output }| {
            let message = match reader {
                Some(reader) => self.numbers.missing(*number, reader),
                None => self.numbers.missing_output(*output, *number),
            };
            (*diag, message)
        }));
    }
}

impl<'a> Reader<'a> {
    #[inline]
    pub(super) fn new(nodes: usize, limits: &'a Limits, form: Form) -> Self {
        Self {
            limits,
            form,
            diags: Diags::new(),
            module: Part::new(nodes, form, 0),
            around: Vec::new(),
            elsewhere: 0,
            resolved: Vec::new(),
            is_over: false,
        }
    }

    /// How many modules there are around the one that is being read.
    pub(super) fn depth(&self) -> usize {
        self.around.len()
    }

    /// Goes on with the module that the value holds which was numbered last; nothing where its instruction was in error and
    /// reported. The instruction starts at this position.
    ///
    /// # Errors
    /// E1008 where modules nest deeper than their limit.
    #[cold]
    pub(super) fn open(&mut self, cursor: Cursor<'_>, start: usize, holder: Option<Holder>) -> Read<()> {
        if self.around.len() == Nested::MAX_DEPTH {
            self.is_over = true;
            let message = crate::ir::NestingFault::Depth.to_string();
            return cursor.fault_at(start, Code::E1008, message);
        }
        let part = Part::new(0, self.form, self.diags.as_slice().len());
        self.elsewhere += self.module.insts.len();
        self.around.push((mem::replace(&mut self.module, part), holder));
        Ok(())
    }

    /// Ends the module that is being read, if it stands in another.
    #[cold]
    pub(super) fn close(&mut self) {
        let Some((around, holder)) = self.around.pop() else { return };
        let inner = mem::replace(&mut self.module, around);
        self.elsewhere = self.elsewhere + inner.insts.len() - self.module.insts.len();
        inner.resolve(&mut self.resolved);
        let holds = ValueId::new(self.module.insts.len());
        let Part { numbers, insts, outputs, lines, reported, inner, mistakes, .. } = inner;
        self.module.inner.insert(holds, Inner { numbers, lines, reported, inner });
        let Some(Holder { row, mut attributes, operands, ty }) = holder else { return self.push_any() };
        match Nested::new(Module::from_parts(insts, outputs)) {
            Ok(nested) => {
                if self.diags.as_slice().len() > mistakes {
                    self.module.reported.push(holds);
                }
                let module = row.fields.iter().position(|field| field.kind == FieldKind::Module);
                let module = module.expect("only an instruction with a module in its row holds one");
                attributes[module] = Some(Attribute::Module(nested));
                self.push(row.op(attributes), operands, ty);
            }
            Err(fault) => {
                let line = self.module.lines.get(holds.index()).unwrap_or_default();
                let diag = Diag::new(Code::E1008, Site::Text { line, column: 1 }, fault.to_string());
                self.push_fault(diag);
            }
        }
    }

    /// Numbers the next value, which starts at this position.
    #[inline(always)]
    pub(super) fn define(&mut self, cursor: &Cursor<'_>, start: usize, number: u64) -> Read<()> {
        if self.module.insts.len() + self.elsewhere >= self.limits.nodes {
            self.is_over = true;
            let message = format!("more than the limit of {} nodes", self.limits.nodes);
            return cursor.fault_at(start, Code::E1008, message);
        }
        self.module.lines.push(cursor.line());
        if let Err(message) = self.module.numbers.define(number) {
            self.diags.push(Diag::new(Code::E4002, cursor.site_of(start), message));
        }
        Ok(())
    }

    /// Takes in the instruction of the value that was numbered last.
    #[inline(always)]
    pub(super) fn push(&mut self, op: Op, operands: Operands, ty: Type) {
        self.module.insts.push(Inst { op, operands, ty });
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
        self.push_any_of(Type::scalar(DType::Bool));
    }

    /// As [`Self::push_any`], of a type that is known.
    #[cold]
    pub(super) fn push_any_of(&mut self, ty: Type) {
        self.module.reported.push(ValueId::new(self.module.insts.len()));
        self.push(Op::Map(Map::COPY), Operands::NONE, ty);
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
        match self.module.numbers.get(number) {
            Some(value) if value.index() < self.module.insts.len() => value,
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
        self.module.missing.push(Missing {
            diag: self.diags.as_slice().len(),
            number,
            reader: Some(row.name),
            output: 0,
        });
        self.diags.push(Diag::new(Code::E4001, cursor.site_of(start), ""));
        self.module.reported.push(ValueId::new(self.module.insts.len()));
        ValueId::new(0)
    }

    /// Takes in an output, which starts at this position.
    pub(super) fn output(&mut self, cursor: Cursor<'_>, start: usize, number: u64) {
        let value = self.module.numbers.get(number);
        if value.is_none() {
            let (diag, output) = (self.diags.as_slice().len(), self.module.outputs.len());
            self.module.missing.push(Missing { diag, number, reader: None, output });
            self.diags.push(Diag::new(Code::E4003, cursor.site_of(start), ""));
        }
        self.module.outputs.push(value.unwrap_or(ValueId::new(0)));
        self.module.output_lines.push(cursor.line());
    }

    /// How many values the module around all has so far.
    pub(super) fn values(&self) -> usize {
        self.outermost().insts.len()
    }

    /// How many outputs the module around all has so far.
    pub(super) fn outputs(&self) -> usize {
        self.outermost().outputs.len()
    }

    fn outermost(&self) -> &Part {
        self.around.first().map_or(&self.module, |(part, _)| part)
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
        let operand = self.module.insts.get(operands[0].index()).filter(|_| self.diags.is_empty());
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
    pub(super) fn finish(mut self, end: u32, notes: Notes) -> Result<Document, Diags> {
        while self.depth() > 0 {
            self.close();
        }
        if self.diags.is_empty() { Ok(self.document(end, notes)) } else { Err(self.mistakes(end)) }
    }

    /// What was found while reading, and what is wrong with the types of all other instructions, in the order of lines.
    /// The declared type of a line in error counts for what reads it.
    #[cold]
    fn mistakes(mut self, end: u32) -> Diags {
        let (limit, reported) = (self.limits.errors, mem::take(&mut self.module.reported));
        let mut diags: Vec<Diag> = mem::take(&mut self.diags).into_iter().collect();
        let mut resolved = mem::take(&mut self.resolved);
        self.module.resolve(&mut resolved);
        for (diag, message) in resolved {
            diags[diag].message = message;
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
        let Part { numbers, insts, outputs, lines, output_lines, inner, .. } = self.module;
        Document {
            form: self.form,
            module: Module::from_parts(insts, outputs),
            name,
            docs,
            comments,
            numbers,
            lines,
            output_lines,
            inner,
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
