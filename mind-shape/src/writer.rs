//! Sentences composed of parts.

use crate::{
    DType,
    failure::{Bound, Extents},
    message::Context,
    text::Text,
    ty::Type,
};

/// A part of a sentence.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    Text(&'a str),
    Integer(i64),
    /// An extent that may be unknown.
    Extent(i64),
    Count(usize),
    List(&'a [i64]),
    Excerpt(&'a [i64]),
    Pairs(&'a [[i64; 2]]),
    Extents(Extents<'a>),
    Bound(Bound),
    /// An element type.
    DType(DType),
    Shape(&'a Type),
    Type(&'a Type),
    /// An operand, always in backquotes.
    Quoted(usize),
    /// An operand with its name in a sentence.
    Named(usize),
    /// An operand before an operator or suffix.
    Base(usize),
}

/// A message that is being written.
pub(crate) struct Writer<'a> {
    pub(crate) text: Text,
    pub(crate) context: &'a Context<'a>,
}

impl<'a> Writer<'a> {
    pub(crate) const fn new(context: &'a Context<'a>) -> Self {
        Self { text: Text::new(), context }
    }

    /// Writes the operation, the problem, and these operands.
    pub(crate) const fn fault(&mut self, problem: &[Part<'_>], operands: &[usize]) {
        self.label();
        self.parts(problem);
        self.shown(operands);
    }

    pub(crate) const fn label(&mut self) {
        let label = self.context.label;
        self.parts(&[Part::Text("`"), Part::Text(label), Part::Text("`: ")]);
    }

    pub(crate) const fn shown(&mut self, operands: &[usize]) {
        // Operations without operands show none.
        if !operands.is_empty() && !self.context.operands.is_empty() {
            self.parts(&[Part::Text(": ")]);
            self.operands(operands);
        }
    }

    /// Writes operands with their types: `x is f32[3], w is f32[4]`.
    pub(crate) const fn operands(&mut self, operands: &[usize]) {
        let context = self.context;
        let mut i = 0;
        while i < operands.len() {
            if i > 0 {
                self.parts(&[Part::Text(", ")]);
            }
            self.parts(&[
                Part::Named(operands[i]),
                Part::Text(" is "),
                Part::Type(&context.operands[operands[i]].ty),
            ]);
            i += 1;
        }
    }

    pub(crate) const fn help(&mut self, help: &[Part<'_>]) {
        self.parts(&[Part::Text("\n  help: ")]);
        self.parts(help);
    }

    pub(crate) const fn parts(&mut self, parts: &[Part<'_>]) {
        let mut i = 0;
        while i < parts.len() {
            self.part(&parts[i]);
            i += 1;
        }
    }

    pub(crate) const fn part(&mut self, part: &Part<'_>) {
        let context = self.context;
        match *part {
            Part::Text(text) => self.text.push(text),
            Part::Integer(value) => self.text.push_integer(value),
            Part::Extent(value) => self.text.push_extent(value),
            Part::Count(value) => self.text.push_integer(value as i64),
            Part::List(list) => self.text.push_list(list),
            Part::Excerpt(list) => self.text.push_quoted(list),
            Part::Pairs(pairs) => self.text.push_pairs(pairs),
            Part::Extents(shape) => {
                self.text.push("[");
                let mut axis = 0;
                while axis < shape.written.len() {
                    if axis > 0 {
                        self.text.push(", ");
                    }
                    self.text.push_integer(shape.extent(axis));
                    axis += 1;
                }
                self.text.push("]");
            }
            Part::Bound(Bound::At(position)) => self.text.push_integer(position),
            Part::Bound(Bound::FromEnd(0)) => self.text.push("?"),
            Part::Bound(Bound::FromEnd(back)) => {
                self.text.push("? - ");
                self.text.push_integer(-back);
            }
            Part::DType(dtype) => self.text.push(dtype.name()),
            Part::Shape(ty) => self.text.push_shape(ty.dims()),
            Part::Type(ty) => self.text.push_type(ty),
            Part::Quoted(operand) => {
                let text = context.operands[operand].text;
                let is_quoted = matches!(text.as_bytes(), [b'`', ..]);
                if is_quoted {
                    self.text.push(text);
                } else {
                    self.parts(&[Part::Text("`"), Part::Text(text), Part::Text("`")]);
                }
            }
            Part::Named(operand) => self.text.push(context.operands[operand].text),
            Part::Base(operand) => self.text.push(context.operands[operand].base),
        }
    }
}
