//! State shared by the parsers of both text forms: the module read so far and the diagnostics found so far.

use std::{collections::BTreeMap, mem, sync::Arc};

use super::{
    Comment, Document, Inner, Limits, TextForm,
    cursor::{self, Cursor, ReadResult, Spaces},
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

/// The parser state for one text.
pub(super) struct Reader<'a> {
    pub(super) limits: &'a Limits,
    pub(super) form: TextForm,
    pub(super) diags: Diags,
    /// The module being read.
    module: PartialModule,
    /// The enclosing modules, outermost first. Each is paired with the instruction in it that holds the next module.
    around: Vec<(PartialModule, Option<Holder>)>,
    /// The number of instructions in the enclosing modules and in finished nested modules.
    elsewhere: usize,
    /// Final messages for references to undefined values, each with the index of its diagnostic.
    resolved: Vec<(usize, String)>,
    /// Whether the number of nodes exceeds its limit.
    is_over: bool,
}

/// A module being read, without its nested modules.
struct PartialModule {
    numbers: Numbering,
    insts: Vec<Inst>,
    outputs: Vec<ValueId>,
    lines: Lines,
    output_lines: Lines,
    /// References to values that are not defined above. Whether they are defined below is known only at the end.
    missing: Vec<Missing>,
    /// The values whose lines already have a reported error.
    reported: Vec<ValueId>,
    /// The text positions of the nested modules that were read, by the value that holds each.
    inner: BTreeMap<ValueId, Inner>,
    /// The number of diagnostics before this module.
    mistakes: usize,
}

/// An instruction whose nested module has not been read yet.
pub(super) struct Holder {
    pub(super) row: &'static OpInfo,
    /// All attributes except the module.
    pub(super) attributes: Attributes,
    pub(super) operands: Operands,
    pub(super) ty: Type,
}

/// The parts of a text beside its module.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) name: Option<Arc<str>>,
    pub(super) docs: Vec<String>,
    pub(super) comments: Vec<Comment>,
}

/// A reference to a value that is not defined above it.
struct Missing {
    /// The index of its diagnostic.
    diag: usize,
    number: u64,
    reader: Option<&'static str>,
    output: usize,
}

/// Returns the E1008 error for a text of too many bytes, at the line where the limit is exceeded.
/// The text must be longer than the limit.
pub(super) fn too_long(text: &[u8], limits: &Limits) -> Diag {
    let before = text[..limits.bytes].iter().filter(|byte| **byte == b'\n').count();
    let line = u32::try_from(before + 1).unwrap_or(u32::MAX);
    let message = format!(
        "the text has {} bytes, more than the limit of {}, which is exceeded at this line",
        text.len(),
        limits.bytes
    );
    Diag::new(Code::E1008, Site::Text { line, column: 1 }, message).help(SPLIT)
}

/// The help for a text that is too large.
const SPLIT: &str = "split the program; a large constant can be an input with its value in a separate file";

fn line_count(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count() + usize::from(!text.ends_with('\n'))
}

/// Estimates the number of nodes in a text, to allocate memory once.
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
    // A text with few bytes cannot exceed the line limit. A node takes about 32 bytes with its types and symbols.
    let small = text.len() <= limits.lines.min(4096);
    let lines = if small { text.len() / 32 } else { line_count(text) };
    if lines > limits.lines {
        let site = Site::Text { line: u32::try_from(limits.lines + 1).unwrap_or(u32::MAX), column: 1 };
        let message = format!("the text has {lines} lines, more than the limit of {}", limits.lines);
        return fail(Diag::new(Code::E1008, site, message).help(SPLIT));
    }
    Ok(lines.min(limits.nodes))
}

impl PartialModule {
    fn new(nodes: usize, form: TextForm, mistakes: usize) -> Self {
        let prefix = match form {
            TextForm::CoreIr => "%",
            TextForm::Mic => "N",
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

    /// Writes the final messages for references to undefined values. Call it after the whole module is read.
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
    pub(super) fn new(nodes: usize, limits: &'a Limits, form: TextForm) -> Self {
        Self {
            limits,
            form,
            diags: Diags::new(),
            module: PartialModule::new(nodes, form, 0),
            around: Vec::new(),
            elsewhere: 0,
            resolved: Vec::new(),
            is_over: false,
        }
    }

    /// The number of modules around the one being read.
    pub(super) fn depth(&self) -> usize {
        self.around.len()
    }

    /// Starts reading the module held by the last numbered value, whose instruction starts at position `start`.
    /// `holder` is `None` if that instruction had an error, which was reported.
    ///
    /// # Errors
    /// E1008 if modules nest deeper than the limit.
    #[cold]
    pub(super) fn open(
        &mut self,
        cursor: Cursor<'_>,
        start: usize,
        holder: Option<Holder>,
    ) -> ReadResult<()> {
        if self.around.len() == Nested::MAX_DEPTH {
            self.is_over = true;
            let message = crate::ir::NestingFault::Depth.to_string();
            return cursor.fault_at(start, Code::E1008, message);
        }
        let part = PartialModule::new(0, self.form, self.diags.as_slice().len());
        self.elsewhere += self.module.insts.len();
        self.around.push((mem::replace(&mut self.module, part), holder));
        Ok(())
    }

    /// Ends the module being read if it is a nested one.
    #[cold]
    pub(super) fn close(&mut self) {
        let Some((around, holder)) = self.around.pop() else { return };
        let inner = mem::replace(&mut self.module, around);
        self.elsewhere = self.elsewhere + inner.insts.len() - self.module.insts.len();
        inner.resolve(&mut self.resolved);
        let holds = ValueId::new(self.module.insts.len());
        let PartialModule { numbers, insts, outputs, lines, reported, inner, mistakes, .. } = inner;
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

    /// Numbers the next value, whose line starts at position `start`.
    #[inline(always)]
    pub(super) fn define(&mut self, cursor: &Cursor<'_>, start: usize, number: u64) -> ReadResult<()> {
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

    /// Appends the instruction of the last numbered value.
    #[inline(always)]
    pub(super) fn push(&mut self, op: Op, operands: Operands, ty: Type) {
        self.module.insts.push(Inst { op, operands, ty });
    }

    /// Reports an error in the instruction of the last numbered value, and appends a placeholder instruction.
    #[cold]
    pub(super) fn push_fault(&mut self, diag: Diag) {
        self.diags.push(diag);
        self.push_any();
    }

    /// Appends a placeholder for an instruction whose error was reported.
    #[cold]
    pub(super) fn push_any(&mut self) {
        self.push_any_of(Type::scalar(DType::Bool));
    }

    /// Like [`Self::push_any`], for a known result type.
    #[cold]
    pub(super) fn push_any_of(&mut self, ty: Type) {
        self.module.reported.push(ValueId::new(self.module.insts.len()));
        self.push(Op::Map(Map::COPY), Operands::NONE, ty);
    }

    /// Whether reading stops: the limit of errors is reached, or the nodes exceed their limit, which is reported once.
    pub(super) fn is_full(&self) -> bool {
        self.is_over || self.diags.as_slice().len() >= self.limits.errors
    }

    /// Returns the operand with this number, which starts at position `start`. If it is not defined above, reports it
    /// and returns value 0.
    #[inline(always)]
    pub(super) fn operand(
        &mut self,
        cursor: &Cursor<'_>,
        start: usize,
        number: u64,
        row: &'static OpInfo,
    ) -> ValueId {
        // The value being defined already has its number, but is not defined above.
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

    /// Appends an output, which starts at position `start`.
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

    /// The number of values that the outermost module has so far.
    pub(super) fn values(&self) -> usize {
        self.outermost().insts.len()
    }

    /// The number of outputs that the outermost module has so far.
    pub(super) fn outputs(&self) -> usize {
        self.outermost().outputs.len()
    }

    fn outermost(&self) -> &PartialModule {
        self.around.first().map_or(&self.module, |(part, _)| part)
    }

    /// Returns E2007 if the number of operands does not fit the operation, which starts at position `start`.
    #[inline(always)]
    pub(super) fn check_count(
        &self,
        cursor: &Cursor<'_>,
        start: usize,
        row: &OpInfo,
        count: usize,
    ) -> ReadResult<()> {
        if row.takes(count) { Ok(()) } else { self.wrong_count(*cursor, start, row, count) }
    }

    #[cold]
    fn wrong_count(&self, cursor: Cursor<'_>, start: usize, row: &OpInfo, count: usize) -> ReadResult<()> {
        let message = format!("`{}`: {}", self.name_of(row), row.miscounted(count));
        cursor.fault_at(start, Code::E2007, message)
    }

    fn name_of(&self, row: &OpInfo) -> &'static str {
        match self.form {
            TextForm::CoreIr => row.name,
            TextForm::Mic => row.mnemonic,
        }
    }

    /// Replaces the extent -1 of a reshape by the extent inferred from the operand's element count. `start` is the
    /// position of the attributes.
    pub(super) fn resolve(
        &self,
        cursor: Cursor<'_>,
        start: usize,
        shape: &mut Shape,
        operands: &Operands,
    ) -> ReadResult<()> {
        let unknown = Dim::literal(-1);
        let Some(axis) = shape.iter().position(|dim| *dim == unknown) else { return Ok(()) };
        if shape[axis + 1..].contains(&unknown) {
            let message = format!("`reshape`: {shape} has several extents of -1, needed at most one");
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
            let message = format!("`reshape`: no extent for -1 reshapes {ty} to {shape}");
            return cursor.fault_at(start, Code::E3007, message);
        };
        let mut dims = shape.to_vec();
        dims[axis] = extent;
        *shape = Shape::new(dims);
        Ok(())
    }

    /// Returns the document.
    ///
    /// # Errors
    /// All errors found.
    #[inline]
    pub(super) fn finish(mut self, end: u32, notes: Notes) -> Result<Document, Diags> {
        while self.depth() > 0 {
            self.close();
        }
        if self.diags.is_empty() { Ok(self.document(end, notes)) } else { Err(self.mistakes(end)) }
    }

    /// Returns the errors found while reading and the type errors of all other instructions, ordered by line.
    /// Instructions that use a value with an error are checked against its declared type.
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
        let PartialModule { numbers, insts, outputs, lines, output_lines, inner, .. } = self.module;
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

/// Checks a type, which starts at position `start`, for errors that do not depend on where it is used.
pub(super) fn check_type(cursor: &Cursor<'_>, start: usize, ty: &Type) -> ReadResult<()> {
    match type_fault(ty) {
        None => Ok(()),
        Some((code, message)) => cursor.fault_at(start, code, message),
    }
}

/// Reads the extents of a type and `]`. The opening bracket has already been read.
pub(super) fn shape(cursor: &mut Cursor<'_>, spaced: Spaces, limits: &Limits) -> ReadResult<Shape> {
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

/// Reads one extent. Returns whether it is the last.
fn extent(cursor: &mut Cursor<'_>, spaced: Spaces) -> ReadResult<(Dim, bool)> {
    let dim = cursor::dim(cursor, spaced)?;
    spaced.skip(cursor);
    if cursor.eat(b']') {
        return Ok((dim, true));
    }
    cursor.expect(b',', "`,` or `]`")?;
    spaced.skip(cursor);
    Ok((dim, false))
}

/// Returns the error for a shape that starts at `start`. An excessive rank takes precedence over `fault`.
#[cold]
fn no_shape<T>(start: Cursor<'_>, limit: usize, fault: Option<Box<Diag>>) -> ReadResult<T> {
    let rest = (0..).map(|ahead| start.ahead(ahead)).take_while(|byte| !matches!(byte, b']' | b'\n'));
    let rank = 1 + rest.filter(|byte| *byte == b',').count();
    match fault {
        Some(fault) if rank <= limit => Err(fault),
        Some(_) | None => start.fault(Code::E1008, format!("rank {rank} exceeds the limit of {limit}")),
    }
}

/// Reads a list in brackets.
pub(super) fn list<T>(
    cursor: &mut Cursor<'_>,
    spaced: Spaces,
    what: &str,
    item: impl Fn(&mut Cursor<'_>) -> ReadResult<T>,
) -> ReadResult<Vec<T>> {
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

pub(super) fn integers(cursor: &mut Cursor<'_>, spaced: Spaces) -> ReadResult<Vec<i64>> {
    list(cursor, spaced, "a list of integers in brackets", |cursor| cursor.integer("an integer"))
}

pub(super) fn dims(cursor: &mut Cursor<'_>, spaced: Spaces) -> ReadResult<Vec<Dim>> {
    list(cursor, spaced, "a list of dimensions in brackets", |cursor| cursor::dim(cursor, spaced))
}

/// Reads `valid`, `same` or `[[top, bottom], [left, right]]`.
pub(super) fn padding(cursor: &mut Cursor<'_>, spaced: Spaces) -> ReadResult<Padding> {
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
