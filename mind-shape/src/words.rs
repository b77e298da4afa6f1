//! The message for each failure.

use crate::{
    AxisFault, DType,
    failure::{Problem, same_text},
    names,
    rules::Takes,
    ty::{MAX_RANK, UNKNOWN},
    writer::{
        Part,
        Part::{Base, Count, Excerpt, Extent, Integer, List, Named, Pairs, Shape, Text as T},
        Writer,
    },
};

impl Writer<'_> {
    pub(crate) const fn say(&mut self, problem: &Problem<'_>) {
        let context = self.context;
        match *problem {
            Problem::Mismatch { expected } => self.parts(&[
                T(context.label),
                T(": expected "),
                Part::Type(&expected),
                T(", found "),
                Part::Type(&context.operands[0].ty),
            ]),
            Problem::Pattern { pattern } => self.argument(pattern),
            Problem::Tied { tie, needed } => {
                self.argument(tie.text);
                self.parts(&[T(", but `"), T(tie.name)]);
                match needed {
                    Some(needed) => self.parts(&[T("` is "), Integer(needed)]),
                    None => self.parts(&[T("` differs")]),
                }
                if context.operands.len() > 1 {
                    self.parts(&[T(" because ")]);
                    self.operands(&[1]);
                }
            }
            Problem::Mixed => {
                let [a, b] = [context.operands[0].ty.dtype(), context.operands[1].ty.dtype()];
                self.fault(
                    &[T("element types differ, "), Part::DType(a), T(" and "), Part::DType(b)],
                    &[0, 1],
                );
                // A number is converted in place. Of two numbers, the second operand is converted.
                let number = if context.operands[1].is_number() { 1 } else { 0 };
                if context.operands[number].is_number() {
                    let to = context.operands[1 - number].ty.dtype();
                    self.help(&[T("write `{"), Named(number), T(" as "), Part::DType(to), T("}`")]);
                } else {
                    // Converts to the type that loses less.
                    let (from, to) = if (a as u8) < (b as u8) { (0, b) } else { (1, a) };
                    self.help(&[T("convert it: write `"), Part::DType(to), T("("), Base(from), T(")`")]);
                }
            }
            Problem::LiteralKind { description, help } => {
                self.fault(&[T("element types differ: "), Named(0), T(" is "), T(description), T(", ")], &[]);
                self.operands(&[1]);
                if !help.is_empty() {
                    self.help(&[T(help)]);
                }
            }
            Problem::Literal { message, .. } => self.parts(&[T(message)]),
            Problem::NotTaken { operand, takes } => {
                let found = context.operands[operand].ty.dtype();
                let allowed = T(takes.names());
                self.fault(&[T("found "), Part::DType(found), T(", allowed "), allowed], &[operand]);
                if found.is(DType::Bool) {
                    self.help(&[T("write `where("), Named(operand), T(", 1.0, 0.0)` for numbers")]);
                } else if matches!(takes, Takes::Truths) {
                    self.help(&[T("compare it, as in `"), Named(operand), T(" > 0.0`")]);
                }
            }
            Problem::MixedAmong { operands: [a, b] } => {
                let [first, second] = [context.operands[a].ty.dtype(), context.operands[b].ty.dtype()];
                self.fault(
                    &[T("element types differ, "), Part::DType(first), T(" and "), Part::DType(second)],
                    &[a, b],
                );
            }

            Problem::Broadcast { axis, extents: [a, b] } => {
                let parts = &[
                    T("extents "),
                    Integer(a),
                    T(" and "),
                    Integer(b),
                    T(" do not broadcast in dimension "),
                    Count(axis),
                ];
                self.fault(parts, &[0, 1]);
                self.broadcast_help();
            }
            Problem::BroadcastRank { to } => self.fault(
                &[
                    T("shape "),
                    Shape(&context.operands[0].ty),
                    T(" of rank "),
                    Count(context.operands[0].ty.rank()),
                    T(" does not broadcast to "),
                    Part::Extents(to),
                    T(" of rank "),
                    Count(to.written.len()),
                ],
                &[0],
            ),
            Problem::BroadcastTo { axis, from, to } => self.fault(
                &[
                    T("extent "),
                    Integer(from),
                    T(" does not broadcast to "),
                    Integer(to),
                    T(" in dimension "),
                    Count(axis),
                ],
                &[0],
            ),

            Problem::DotRank { operand } => {
                let rank = context.operands[operand].ty.rank();
                self.fault(&[T("operand of rank "), Count(rank), T(", needed rank 1 or 2")], &[0, 1]);
                if rank > 2 {
                    self.help(&[T("use `matmul` for batches of matrices")]);
                }
            }
            Problem::MatMulRank { operand } => {
                let rank = context.operands[operand].ty.rank();
                self.fault(&[T("operand of rank "), Count(rank), T(", needed rank 2 or more")], &[0, 1]);
                let other = context.operands[1 - operand].ty.rank();
                let (least, most) = if rank < other { (rank, other) } else { (other, rank) };
                if least == 1 && most <= 2 {
                    self.help(&[T("use `@` or `dot` for vectors")]);
                }
            }
            Problem::Rank { operand, needed } => {
                let rank = context.operands[operand].ty.rank();
                let parts = &[T("operand of rank "), Count(rank), T(", needed rank "), Count(needed)];
                self.fault(parts, &[operand]);
            }
            Problem::NoMatrix => {
                let rank = context.operands[0].ty.rank();
                self.fault(&[T("operand of rank "), Count(rank), T(", needed rank 2 or more")], &[0]);
            }
            Problem::NoRow => self.fault(&[T("operand of rank 0, needed rank 1 or more")], &[0]),
            Problem::Inner { extents: [a, b] } => {
                let parts = &[T("inner dimensions differ, "), Integer(a), T(" and "), Integer(b)];
                self.fault(parts, &[0, 1]);
                self.inner_help(a, b);
            }
            Problem::AmountCount { low, high } => self.fault(
                &[
                    Count(low),
                    T(" and "),
                    Count(high),
                    T(" amounts given, "),
                    Count(context.operands[0].ty.rank()),
                    T(" of each needed"),
                ],
                &[0],
            ),
            Problem::Amount { axis, amount } => self.fault(
                &[T("amount "), Integer(amount), T(" in dimension "), Count(axis), T(", needed at least 0")],
                &[0],
            ),
            Problem::ShapesDiffer { operands: [a, b] } => {
                let [first, second] = [&context.operands[a].ty, &context.operands[b].ty];
                self.fault(&[T("shapes differ, "), Shape(first), T(" and "), Shape(second)], &[a, b]);
            }
            Problem::Unlike { axis, extents: [a, b], operands } => self.fault(
                &[T("extents "), Integer(a), T(" and "), Integer(b), T(" differ in dimension "), Count(axis)],
                &operands,
            ),
            Problem::Shape { operand, needed } => {
                let found = &context.operands[operand].ty;
                let parts = &[T("operand of shape "), Shape(found), T(", needed "), Shape(&needed)];
                self.fault(parts, &[operand]);
            }

            Problem::AxisOutOfRange { axis, rank } => {
                self.fault(&[T("axis "), Integer(axis), T(" is out of range for rank "), Count(rank)], &[0]);
                if axis < 0 {
                    self.help(&[T("the first axis is `0`")]);
                } else if rank > 0 {
                    self.help(&[T("axes count from 0: the last is `-1`")]);
                }
            }
            Problem::AxisTwice { axis, axes } => {
                self.fault(&[T("axis "), Integer(axis), T(" occurs twice in "), Excerpt(axes)], &[0]);
            }
            Problem::NoAxis => {
                self.fault(&[T("`[]` reduces no axis, needed at least one axis")], &[]);
                self.help(&[T("remove `axes` to reduce every axis")]);
            }
            Problem::Permutation { permutation, rank, fault } => {
                self.permutation(permutation, rank, fault);
                if rank > 1 {
                    self.help(&[T("list each axis from 0 to "), Count(rank - 1), T(" once")]);
                }
            }
            Problem::NotOne { axis, extent } => self.fault(
                &[
                    T("axis "),
                    Count(axis),
                    T(" of "),
                    Shape(&context.operands[0].ty),
                    T(" has extent "),
                    Integer(extent),
                    T(", needed 1"),
                ],
                &[0],
            ),

            Problem::NotPositive { axis, shape } => {
                let extent = shape.extent(axis);
                self.not_positive(axis, Part::Extents(shape), extent);
            }
            Problem::TypeNotPositive { axis, ty } => {
                self.not_positive(axis, Part::Type(&ty), ty.extent(axis));
            }
            Problem::ManyOpen { count, shape } => self.fault(
                &[T("-1 occurs "), Count(count), T(" times in "), Excerpt(shape), T(", needed at most once")],
                &[0],
            ),
            Problem::OpenOverflow => self.fault(&[T("the element count exceeds 64 bits")], &[0]),
            Problem::Indivisible { count, others } => self.fault(
                &[
                    Shape(&context.operands[0].ty),
                    T(" has "),
                    Integer(count),
                    T(" elements, which is not divisible by "),
                    Integer(others),
                ],
                &[0],
            ),
            Problem::Counts { from, to, shape } => self.fault(
                &[
                    Shape(&context.operands[0].ty),
                    T(" has "),
                    Integer(from),
                    T(" elements, "),
                    Part::Extents(shape),
                    T(" has "),
                    Integer(to),
                ],
                &[0],
            ),

            Problem::RankLimit { rank } => {
                self.fault(&[T("rank "), Count(rank), T(" exceeds the limit of "), Count(MAX_RANK)], &[]);
            }
            Problem::CountLimit { ty } => {
                self.fault(&[Part::Type(&ty), T(" has more than 2^63 elements")], &[]);
            }
            Problem::ShapeLimit { shape } => {
                self.fault(&[T("shape "), Part::Extents(shape), T(" has more than 2^63 elements")], &[]);
            }
            Problem::Overflow => self.fault(&[T("a dimension exceeds the range of 64-bit integers")], &[]),

            Problem::SliceLengths { starts, ends, steps } => self.fault(
                &[
                    Count(starts),
                    T(" starts, "),
                    Count(ends),
                    T(" ends and "),
                    Count(steps),
                    T(" steps given, "),
                    Count(context.operands[0].ty.rank()),
                    T(" of each needed"),
                ],
                &[0],
            ),
            Problem::Step { axis, step } => self.fault(
                &[T("step "), Integer(step), T(" in dimension "), Count(axis), T(", needed at least 1")],
                &[0],
            ),
            Problem::Start { axis, start } => self.outside("start ", start, axis),
            Problem::End { axis, end } => self.outside("end ", end, axis),
            Problem::Empty { axis, start, end } => {
                let range = [Part::Bound(start), T(".."), Part::Bound(end)];
                let [low, dots, high] = range;
                self.fault(&[low, dots, high, T(" in dimension "), Count(axis), T(" is empty")], &[0]);
                self.help(&[T("a range goes up, and excludes its end")]);
            }
            Problem::IndexCount { written } => {
                let rank = context.operands[0].ty.rank();
                let given = if written == 1 { " index given, at most " } else { " indices given, at most " };
                self.fault(&[Count(written), T(given), Count(rank), T(" needed")], &[0]);
                if rank == 0 {
                    self.help(&[T("write `"), Base(0), T("`")]);
                } else if written == rank + 1 {
                    self.help(&[T("remove it: each axis has one subscript")]);
                } else {
                    self.help(&[T("remove it and those after it: each axis has one subscript")]);
                }
            }
            Problem::IndexOutside { axis, index } => self.outside("index ", index, axis),
            Problem::BoundOutside { axis, bound } => self.outside("bound ", bound, axis),

            Problem::IndexType { operand } => {
                let found = context.operands[operand].ty.dtype();
                self.fault(
                    &[T("indices are "), Part::DType(found), T(", needed "), T(names::ANY_INTEGER)],
                    &[operand],
                );
                if found.is_float() {
                    self.help(&[T("convert them: write `i64("), Base(operand), T(")`")]);
                } else if found.is(DType::Bool) && operand == 1 {
                    self.help(&[
                        T("a shape cannot depend on the values of elements: write `where("),
                        Base(operand),
                        T(", "),
                        Base(0),
                        T(", 0.0)`, which keeps the shape"),
                    ]);
                }
            }
            Problem::Channels { image, filter } => {
                let differ =
                    [T("channels differ, "), Integer(image), T(" in the image and "), Integer(filter)];
                let [differ, of_image, between, of_filter] = differ;
                self.fault(&[differ, of_image, between, of_filter, T(" in the filter")], &[0, 1]);
                self.help(&[T(
                    "images are [batch, height, width, channels] and filters [height, width, in, out]",
                )]);
            }
            Problem::Strides { strides } => {
                self.fault(&[T("strides "), List(strides), T(", needed two of at least 1")], &[]);
            }
            Problem::Padding { pairs, needed } => {
                let needed = match needed {
                    1 => ", needed one pair of at least 0",
                    2 => ", needed two pairs of at least 0",
                    _ => ", needed three pairs of at least 0",
                };
                self.fault(&[T("padding "), Pairs(pairs), T(needed)], &[]);
            }
            Problem::EachAxis { name, list, needed } => {
                self.fault(
                    &[T(name), T(" "), List(list), T(", needed "), Count(needed), T(" of at least 1")],
                    &[0],
                );
            }
            Problem::Window { axis, extent, window, positions } => self.fault(
                &[
                    T("a window of "),
                    Integer(window),
                    T(" does not fit dimension "),
                    Count(axis),
                    T(" of extent "),
                    Integer(extent),
                    T(": the result has extent "),
                    Integer(positions),
                ],
                if context.operands.len() > 1 { &[0, 1] } else { &[0] },
            ),

            Problem::NotScalar => {
                let ty = &context.operands[0].ty;
                let parts =
                    &[Part::Quoted(0), T(" returns "), Part::Type(ty), T(", needed a single f32 or f64")];
                self.fault(parts, &[]);
                self.help(&[T("reduce the result, as in `mean(…)`, or give a cotangent with `vjp`")]);
            }
            Problem::NotDifferentiable => self.parts(&[
                Part::Quoted(0),
                T(" is "),
                Part::Type(&context.operands[0].ty),
                T(": a gradient is only with respect to f32 and f64"),
            ]),
        }
    }

    /// Suggests a likely fix where two shapes do not broadcast: keep the reduced axes, multiply matrices, or add axes
    /// after those of a vector.
    const fn broadcast_help(&mut self) {
        let context = self.context;
        let mut operand = 2;
        while operand > 0 {
            operand -= 1;
            let (part, whole) = (&context.operands[operand], &context.operands[1 - operand].ty);
            if let Some(open) = without_kept_axes(part.base)
                && is_without_an_axis(&part.ty, whole)
            {
                let comma = if ends_with(open, "(") { "" } else { ", " };
                self.help(&[T("write `"), T(open), T(comma), T("keepdims = true)`")]);
                return;
            }
        }
        let [a, b] = [&context.operands[0].ty, &context.operands[1].ty];
        if a.rank() > 0 && b.rank() > 0 && matches!(context.label.as_bytes(), [b'*']) {
            let [inner, other] = [a.extent(a.rank() - 1), b.extent(b.rank().saturating_sub(2))];
            if inner == other && inner != UNKNOWN && a.rank() <= 2 && b.rank() <= 2 {
                let written = [Base(0), T(" @ "), Base(1), T("`")];
                self.help(&[T("`*` is elementwise: for the matrix product, write `")]);
                self.parts(&written);
                return;
            }
        }
        operand = 2;
        while operand > 0 {
            operand -= 1;
            let (part, whole) = (&context.operands[operand].ty, &context.operands[1 - operand].ty);
            if let Some(axes) = axes_behind(part, whole) {
                let axes = [1, 2, 3, 4, 5, 6, 7].split_at(axes).0;
                self.help(&[
                    T("shapes are aligned at their last dimensions: write `expand_dims("),
                    Base(operand),
                    T(", axes = "),
                    List(axes),
                    T(")`"),
                ]);
                return;
            }
        }
    }

    const fn inner_help(&mut self, a: i64, b: i64) {
        let [lhs, rhs] = [&self.context.operands[0].ty, &self.context.operands[1].ty];
        if rhs.rank() == 2 && a == rhs.extent(1) {
            self.help(&[T("write `"), Base(1), T(".T`")]);
        } else if lhs.rank() == 2 && lhs.extent(0) == b {
            self.help(&[T("write `"), Base(0), T(".T`")]);
        } else if lhs.rank() == 2
            && rhs.rank() == 2
            && rhs.extent(1) == lhs.extent(0)
            && lhs.extent(0) != UNKNOWN
        {
            self.help(&[T("swap the operands: `"), Base(1), T(" @ "), Base(0), T("`")]);
        }
    }

    const fn permutation(&mut self, permutation: &[i64], rank: usize, fault: AxisFault) {
        self.label();
        self.parts(&[T("[")]);
        let mut i = 0;
        while i < permutation.len() {
            if i > 0 {
                self.parts(&[T(", ")]);
            }
            self.parts(&[Integer(crate::rules::from_end(permutation[i], rank))]);
            i += 1;
        }
        self.parts(&[T("] is not a permutation of the axes of rank "), Count(rank), T(": ")]);
        match fault {
            AxisFault::Length => self.parts(&[T("it has length "), Count(permutation.len())]),
            AxisFault::OutOfRange(axis) => self.parts(&[T("axis "), Integer(axis), T(" is out of range")]),
            AxisFault::Duplicate(axis) => self.parts(&[T("axis "), Integer(axis), T(" occurs twice")]),
        }
        self.shown(&[0]);
    }

    const fn not_positive(&mut self, axis: usize, shape: Part<'_>, extent: i64) {
        let parts = &[
            T("dimension "),
            Count(axis),
            T(" of "),
            shape,
            T(" is "),
            Integer(extent),
            T(", needed at least 1"),
        ];
        self.fault(parts, &[]);
    }

    /// Writes the type of an argument of a template, and the type that it needs.
    const fn argument(&mut self, pattern: &str) {
        let context = self.context;
        self.parts(&[
            T(context.label),
            T(": expected "),
            T(pattern),
            T(", found "),
            Part::Type(&context.operands[0].ty),
        ]);
    }

    const fn outside(&mut self, what: &str, position: i64, axis: usize) {
        let extent = self.context.operands[0].ty.extent(axis);
        let parts = &[
            T(what),
            Integer(position),
            T(" is outside dimension "),
            Count(axis),
            T(" of extent "),
            Extent(extent),
        ];
        self.fault(parts, &[0]);
        if position < 0 {
            self.help(&[T("indices count from 0, and negative ones from the end")]);
        } else if same_text(what, "index ") {
            self.help(&[T("indices count from 0: the last is `-1`")]);
        } else {
            self.help(&[
                T("bounds count from 0: the start is less than "),
                Extent(extent),
                T(", the end at most "),
                Extent(extent),
            ]);
        }
    }
}

/// The text of a reduction that drops its axes, without the last parenthesis.
const fn without_kept_axes(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let is_reduction = starts_with(bytes, b"sum(") || starts_with(bytes, b"mean(");
    if !is_reduction || !ends_with(text, ")") {
        return None;
    }
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.split_at(at).1;
        // A text that contains another reduction, or is shortened, is not examined.
        if starts_with(rest, b"keepdims") || starts_with(rest, "…".as_bytes()) || starts_with(rest, b") ") {
            return None;
        }
        at += 1;
    }
    match core::str::from_utf8(bytes.split_at(bytes.len() - 1).0) {
        Ok(open) => Some(open),
        Err(_) => None,
    }
}

const fn starts_with(text: &[u8], start: &[u8]) -> bool {
    let mut at = 0;
    while at < start.len() {
        if at >= text.len() || text[at] != start[at] {
            return false;
        }
        at += 1;
    }
    true
}

const fn ends_with(text: &str, end: &str) -> bool {
    let (text, end) = (text.as_bytes(), end.as_bytes());
    text.len() >= end.len() && starts_with(text.split_at(text.len() - end.len()).1, end)
}

/// Whether a shape is another shape without one of its axes.
const fn is_without_an_axis(part: &crate::Type, whole: &crate::Type) -> bool {
    if part.rank() + 1 != whole.rank() {
        return false;
    }
    let mut dropped = 0;
    while dropped < whole.rank() {
        let (mut axis, mut same) = (0, true);
        while axis < part.rank() {
            let of_whole = if axis < dropped { axis } else { axis + 1 };
            same = same && part.extent(axis) == whole.extent(of_whole);
            axis += 1;
        }
        if same {
            return true;
        }
        dropped += 1;
    }
    false
}

/// The number of axes that have to follow a vector's axis to align it with an axis of the same extent.
const fn axes_behind(part: &crate::Type, whole: &crate::Type) -> Option<usize> {
    if part.rank() != 1 || part.extent(0) <= 1 {
        return None;
    }
    let mut axis = 0;
    while axis + 1 < whole.rank() {
        if whole.extent(axis) == part.extent(0) {
            return Some(whole.rank() - 1 - axis);
        }
        axis += 1;
    }
    None
}
