//! Attributes that contain extents of operands: dims whose symbols each name an axis of an operand. In the list of a
//! shape, a dim may also be a single symbol that stands for several extents.

use std::cell::OnceCell;

use mind_shape::{MAX_RANK, Type, UNKNOWN, rules};

use super::Subscript;
use super::arguments::{RuleArgument, Text, Texts};
use super::resolve::position;
use crate::dim::{Atom, Bindings, Dim, Overflow, Symbol, Term};
use crate::ty;

/// The extents of an operand that a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtentRef {
    /// The extent of an axis. A negative axis counts from the end.
    Axis(i64),
    /// All extents except this number of last ones. They occur in lists, never in arithmetic.
    Leading(usize),
    /// All extents except this number of first ones. They occur in lists, never in arithmetic.
    Trailing(usize),
}

/// The dim for extents of an operand.
pub(crate) fn extent_symbol(operand: usize, what: ExtentRef) -> Dim {
    Dim::symbol(
        match what {
            ExtentRef::Axis(axis) => format!("{operand}[{axis}]"),
            ExtentRef::Leading(last) => format!("{operand}[..{last}]"),
            ExtentRef::Trailing(first) => format!("{operand}[{first}..]"),
        }
        .as_str(),
    )
}

/// The operand and its extents that a symbol names. `None` for a symbol of a program.
fn place(symbol: &Symbol) -> Option<(usize, ExtentRef)> {
    let (operand, part) = symbol.strip_suffix(']')?.split_once('[')?;
    let part = match part.split_once("..") {
        Some(("", last)) => ExtentRef::Leading(last.parse().ok()?),
        Some((first, _)) => ExtentRef::Trailing(first.parse().ok()?),
        None => ExtentRef::Axis(part.parse().ok()?),
    };
    Some((operand.parse().ok()?, part))
}

/// The operand and its axis that a symbol names in a number of an expression, which has no symbols of a program.
fn named(symbol: &Symbol) -> (usize, i64) {
    match place(symbol) {
        Some((operand, ExtentRef::Axis(axis))) => (operand, axis),
        Some((_, ExtentRef::Leading(_) | ExtentRef::Trailing(_))) | None => {
            unreachable!("numbers of expressions are over extents of operands")
        }
    }
}

/// Several extents of an operand, for which one dim stands.
pub(super) struct Pack {
    pub(super) operand: usize,
    /// The number of extents before them.
    first: usize,
    /// The number of extents after them.
    last: usize,
}

impl Pack {
    /// The extents for which a dim stands, if they are several.
    pub(super) fn of(dim: &Dim) -> Option<Self> {
        match place(dim.as_symbol()?)? {
            (operand, ExtentRef::Leading(last)) => Some(Self { operand, first: 0, last }),
            (operand, ExtentRef::Trailing(first)) => Some(Self { operand, first, last: 0 }),
            (_, ExtentRef::Axis(_)) => None,
        }
    }

    /// The number of other extents of the operand.
    pub(super) fn others(&self) -> usize {
        self.first + self.last
    }

    fn among<'d, D>(&self, extents: &'d [D]) -> &'d [D] {
        &extents[self.first..extents.len() - self.last]
    }

    /// The call in Rust that appends the extents to a list.
    fn text(&self, at: &Texts<'_>) -> String {
        let ty = at.operands[self.operand].trim_start_matches('&');
        match self.first {
            0 => format!("leading(&{ty}, {})", self.last),
            first => format!("trailing(&{ty}, {first})"),
        }
    }
}

/// The number of operands up to the last one whose extents occur in the dims.
pub(crate) fn operands<'d>(dims: impl IntoIterator<Item = &'d Dim>) -> usize {
    let mut count = 0;
    for dim in dims {
        dim.for_each_symbol(&mut |symbol| {
            count = count.max(place(symbol).map_or(0, |(operand, _)| operand + 1));
        });
    }
    count
}

impl Text for Dim {
    fn text(&self, at: &Texts<'_>) -> String {
        let path = at.rules;
        let number = |number: i64| format!("::core::option::Option::Some({number})");
        let atom = |atom: &Atom| match atom {
            Atom::Symbol(symbol) => {
                let (operand, axis) = named(symbol);
                // A kernel receives references to types, and a rule receives types.
                let ty = at.operands[operand].trim_start_matches('&');
                format!("{path}::extent_of(&{ty}, {axis})")
            }
            Atom::Floor(inner, by) => format!("{path}::floored({}, {by})", inner.text(at)),
        };
        let term = |Term { factors, coefficient }: &Term| {
            let atoms = factors.iter().flat_map(|(factor, power)| vec![atom(factor); *power as usize]);
            let factors =
                atoms.chain((*coefficient != 1 || factors.is_empty()).then(|| number(*coefficient)));
            factors.reduce(|a, b| format!("{path}::times({a}, {b})")).expect("a term has a factor")
        };
        let terms = self.terms();
        let sum = terms.iter().map(term).reduce(|a, b| format!("{path}::sum({a}, {b})"));
        sum.unwrap_or_else(|| number(0))
    }
}

/// The value is `None` while an extent is unknown.
impl RuleArgument for Dim {
    type Value<'v> = Option<i64>;

    fn value(&self, operands: &[Type]) -> Option<i64> {
        let atom = |atom: &Atom| match atom {
            Atom::Symbol(symbol) => {
                let (operand, axis) = named(symbol);
                rules::extent_of(&operands[operand], axis)
            }
            Atom::Floor(inner, by) => rules::floored(inner.value(operands), *by),
        };
        let term = |Term { factors, coefficient }: &Term| {
            let power = |(factor, power): &(Atom, u32)| {
                (0..*power).try_fold(1, |product, _| rules::times(Some(product), atom(factor)))
            };
            factors
                .iter()
                .try_fold(*coefficient, |product, factor| rules::times(Some(product), power(factor)))
        };
        self.terms().iter().try_fold(0, |sum, own| rules::sum(Some(sum), term(own)))
    }
}

/// The meaning of dims that become numbers.
#[derive(Clone, Copy)]
enum Stand {
    /// The extents of a written shape.
    Extent,
    /// Bounds and indices.
    Bound,
}

impl Stand {
    fn text(self, dim: &Dim, at: &Texts<'_>) -> String {
        if let Some(text) = at.dim {
            return text(dim);
        }
        let function = match (self, dim.as_literal()) {
            (_, Some(number)) => return Self::literal(number).to_string(),
            (Self::Extent, None) => "as_extent",
            (Self::Bound, None) => "as_bound",
        };
        format!("{}::{function}({})", at.rules, dim.text(at))
    }

    fn value(self, dim: &Dim, operands: &[Type]) -> i64 {
        match (self, dim.as_literal()) {
            (_, Some(number)) => Self::literal(number),
            (Self::Extent, None) => rules::as_extent(dim.value(operands)),
            (Self::Bound, None) => rules::as_bound(dim.value(operands)),
        }
    }

    /// A literal number, which is always known. One extent of a shape may be -1.
    fn literal(number: i64) -> i64 {
        rules::as_bound(Some(number))
    }
}

/// Dims as an argument of rules.
pub(super) struct Numbers<'d> {
    dims: &'d [Dim],
    stand: Stand,
    values: OnceCell<Vec<i64>>,
}

/// A written shape.
pub(super) fn sizes(dims: &[Dim]) -> Numbers<'_> {
    Numbers { dims, stand: Stand::Extent, values: OnceCell::new() }
}

/// The bounds of a slice.
pub(super) fn bounds(dims: &[Dim]) -> Numbers<'_> {
    Numbers { dims, stand: Stand::Bound, values: OnceCell::new() }
}

impl Text for Numbers<'_> {
    fn text(&self, at: &Texts<'_>) -> String {
        let packs = self.dims.iter().filter(|dim| Pack::of(dim).is_some()).count();
        if packs > 0 {
            let most = self.dims.len() + packs * MAX_RANK;
            let parts = self.dims.iter().map(|dim| match Pack::of(dim) {
                Some(pack) => pack.text(at),
                None => format!("and({})", self.stand.text(dim, at)),
            });
            let parts: Vec<_> = parts.collect();
            return format!("{}::List::<{most}>::NEW.{}.extents()", at.rules, parts.join("."));
        }
        let numbers: Vec<_> = self.dims.iter().map(|dim| self.stand.text(dim, at)).collect();
        format!("&[{}]", numbers.join(", "))
    }
}

impl RuleArgument for Numbers<'_> {
    type Value<'v>
        = &'v [i64]
    where
        Self: 'v;

    fn value<'v>(&'v self, operands: &'v [Type]) -> &'v [i64] {
        let numbers = |dim: &Dim| match Pack::of(dim) {
            Some(pack) => {
                let extents = pack.among(operands[pack.operand].dims()).iter();
                extents.map(|extent| rules::as_extent((*extent != UNKNOWN).then_some(*extent))).collect()
            }
            None => vec![self.stand.value(dim, operands)],
        };
        self.values.get_or_init(|| self.dims.iter().flat_map(numbers).collect())
    }
}

/// The parts of an index expression as an argument of rules.
pub(super) struct Subscripts<'s> {
    written: &'s [Subscript],
    values: OnceCell<Vec<rules::Subscript>>,
}

pub(super) fn subscripts(written: &[Subscript]) -> Subscripts<'_> {
    Subscripts { written, values: OnceCell::new() }
}

impl Text for Subscripts<'_> {
    fn text(&self, at: &Texts<'_>) -> String {
        let path = at.rules;
        let bound = |dim: &Dim| Stand::Bound.text(dim, at);
        let optional = |number: Option<String>| match number {
            Some(number) => format!("::core::option::Option::Some({number})"),
            None => "::core::option::Option::None".to_owned(),
        };
        let part = |part: &Subscript| match part {
            Subscript::At(index) => format!("{path}::Subscript::At({})", bound(index)),
            Subscript::Range { start, end, step } => format!(
                "{path}::Subscript::Range {{ start: {}, end: {}, step: {} }}",
                optional(start.as_ref().map(bound)),
                optional(end.as_ref().map(bound)),
                optional(step.map(|step| step.to_string()))
            ),
            Subscript::Rest => format!("{path}::Subscript::Rest"),
        };
        format!("&[{}]", self.written.iter().map(part).collect::<Vec<_>>().join(", "))
    }
}

impl RuleArgument for Subscripts<'_> {
    type Value<'v>
        = &'v [rules::Subscript]
    where
        Self: 'v;

    fn value<'v>(&'v self, operands: &'v [Type]) -> &'v [rules::Subscript] {
        let bound = |dim: &Dim| Stand::Bound.value(dim, operands);
        self.values.get_or_init(|| self.written.iter().map(|part| with_bounds(part, bound)).collect())
    }
}

/// A part of an index expression with other bounds.
pub(super) fn with_bounds<B>(part: &Subscript, bound: impl Fn(&Dim) -> B) -> rules::Subscript<B> {
    match part {
        Subscript::At(index) => rules::Subscript::At(bound(index)),
        Subscript::Range { start, end, step } => rules::Subscript::Range {
            start: start.as_ref().map(&bound),
            end: end.as_ref().map(&bound),
            step: *step,
        },
        Subscript::Rest => rules::Subscript::Rest,
    }
}

/// The bounds in a part of an index expression.
pub(super) fn bounds_of(part: &Subscript) -> impl Iterator<Item = &Dim> {
    let [first, second] = match part {
        Subscript::At(index) => [Some(index), None],
        Subscript::Range { start, end, step: _ } => [start.as_ref(), end.as_ref()],
        Subscript::Rest => [None, None],
    };
    first.into_iter().chain(second)
}

/// Dims with the extents of operands filled in.
pub(super) fn known(dims: &[Dim], operands: &[&ty::Type]) -> Result<Vec<Dim>, Overflow> {
    let bindings = extents_in(dims, operands);
    let mut known = Vec::new();
    for dim in dims {
        match Pack::of(dim) {
            Some(pack) => known.extend_from_slice(pack.among(&operands[pack.operand].shape)),
            None => known.push(dim.substitute(&bindings)?),
        }
    }
    Ok(known)
}

/// The values of the operands' extents that occur in dims.
pub(super) fn extents_in<'d>(dims: impl IntoIterator<Item = &'d Dim>, operands: &[&ty::Type]) -> Bindings {
    let mut bindings = Bindings::new();
    for dim in dims {
        dim.for_each_symbol(&mut |symbol| {
            if let Some((operand, ExtentRef::Axis(axis))) = place(symbol) {
                let shape = &operands[operand].shape;
                let axis = if axis < 0 { axis + position(shape.len()) } else { axis };
                bindings.insert(
                    symbol.clone(),
                    shape[usize::try_from(axis).expect("its check has passed")].clone(),
                );
            }
        });
    }
    bindings
}
