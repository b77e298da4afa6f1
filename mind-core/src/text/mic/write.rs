//! The printer.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use super::HEADER;
use crate::{
    dim::Dim,
    ir::{Inst, Module, Op, Own, Padding, Slice, ValueId},
    ops::{Attribute, FieldKind, InMic},
    text::{
        Above, Comment,
        write::{self, PrintElement},
    },
    ty::Type,
};

/// Prints a module with its name and comments.
pub(super) fn text(
    module: &Module,
    name: Option<&Arc<str>>,
    docs: &[String],
    comments: &[Comment],
) -> String {
    let mut symbols = Interner::default();
    let mut types = Interner::default();
    if let Some(name) = name {
        symbols.intern(name);
    }
    let mut uses = Vec::with_capacity(module.insts().len());
    intern(module, &mut symbols, &mut types, &mut uses);
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
    // Comments are ordered by the entries below them.
    let mut comments = comments.iter().peekable();
    let mut push_comments = |text: &mut String, above: &dyn Fn(Above) -> bool| {
        while let Some(comment) = comments.next_if(|comment| above(comment.above)) {
            push_comment(text, &comment.text);
        }
    };
    let mut uses = uses.into_iter();
    for (value, inst) in module.iter() {
        push_comments(&mut text, &|above| match above {
            Above::Nodes => true,
            Above::Node(other) => other <= value,
            Above::Output(_) | Above::End => false,
        });
        push_node(&mut text, value, inst, &mut uses, 0);
    }
    for (position, output) in module.outputs().iter().enumerate() {
        push_comments(&mut text, &|above| match above {
            Above::Nodes | Above::Node(_) => true,
            Above::Output(other) => other <= position,
            Above::End => false,
        });
        push_output(&mut text, *output);
    }
    push_comments(&mut text, &|_| true);
    text
}

/// The symbol and type of each instruction. Those of a nested module follow the instruction that holds it.
type Uses = std::vec::IntoIter<(usize, usize)>;

fn intern<'m>(
    module: &'m Module,
    symbols: &mut Interner<'m, Arc<str>>,
    types: &mut Interner<'m, Type>,
    uses: &mut Vec<(usize, usize)>,
) {
    for inst in module.insts() {
        let symbol = match (inst.op.input_name(), &inst.op) {
            (Some(name), _) => symbols.intern(name),
            (None, Op::Own(Own::External(external))) => symbols.intern(external.function()),
            (None, Op::Effect(effect)) => symbols.intern(effect.label()),
            (None, _) => 0,
        };
        uses.push((symbol, types.intern(&inst.ty)));
        if let Some(nested) = inst.op.nested() {
            intern(nested, symbols, types, uses);
        }
    }
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n(super::INDENT, depth));
}

fn push_output(text: &mut String, output: ValueId) {
    text.push_str("O ");
    push_value(text, output);
    text.push('\n');
}

fn push_comment(text: &mut String, comment: &str) {
    text.push('#');
    if !comment.is_empty() {
        text.push(' ');
        text.push_str(comment);
    }
    text.push('\n');
}

/// Appends the lines of a node and its nested module, indented for nesting depth `depth`.
fn push_node(text: &mut String, value: ValueId, inst: &Inst, uses: &mut Uses, depth: usize) {
    let row = inst.op.info();
    let (symbol, ty) = uses.next().expect("there is a use for each instruction");
    indent(text, depth);
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
                _ if field.kind == FieldKind::Module => continue,
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
    if let Some(nested) = inst.op.nested() {
        for (value, inst) in nested.iter() {
            push_node(text, value, inst, uses, depth + 1);
        }
        for output in nested.outputs() {
            indent(text, depth + 1);
            push_output(text, *output);
        }
    }
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
        Attribute::F32(value) => value.get().write(text),
        Attribute::F64(value) => value.get().write(text),
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
        Attribute::Module(_) => unreachable!("a module has lines of its own"),
    }
}

fn push_ranges(text: &mut String, slice: &Slice) {
    let Slice { starts, ends, steps } = slice;
    let count = starts.len().max(ends.len()).max(steps.len());
    if count == 0 {
        text.push_str("[]");
    }
    // The lists have equal lengths unless the module is invalid.
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

/// Numbers items in the order of their first use.
struct Interner<'a, T> {
    items: Vec<&'a T>,
    /// Empty while the items are few enough for a linear search.
    places: HashMap<&'a T, usize>,
}

impl<T> Default for Interner<'_, T> {
    fn default() -> Self {
        Self { items: Vec::new(), places: HashMap::new() }
    }
}

impl<'a, T: Eq + Hash> Interner<'a, T> {
    /// The largest number of items for which a linear search is faster.
    const SEARCHED: usize = 16;

    fn intern(&mut self, item: &'a T) -> usize {
        let found = if self.items.len() <= Self::SEARCHED {
            self.items.iter().position(|other| *other == item)
        } else {
            self.places.get(item).copied()
        };
        found.unwrap_or_else(|| {
            self.items.push(item);
            if self.items.len() > Self::SEARCHED {
                let known = self.places.len();
                self.places
                    .extend(self.items.iter().enumerate().skip(known).map(|(place, item)| (*item, place)));
            }
            self.items.len() - 1
        })
    }
}
