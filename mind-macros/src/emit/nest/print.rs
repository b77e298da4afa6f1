//! Prints loops as Rust text, statement by statement. All decisions were made before.

use std::fmt::Write;

use mind_core::{
    dim::Dim,
    loops::{
        CheckedLoop, Combined, Control, ElementRef, Expr, Holds, Lanes, Loops, Ranges, Size, Statement,
        Subslice, Var,
    },
    reduce::{Monoid, Neutral},
    ty::DType,
};

use super::{Body, grouped, symbol_variable};
use crate::emit::{
    body::expression,
    extent::{Arithmetic, extent},
    literal,
    names::Names,
};

/// Names in the emitted text that are not names of variables.
const OWN: [&str; 11] =
    ["nest", "rows", "elements", "near", "turns", "sum", "at", "block", "product", "by", "set"];

#[derive(Clone)]
pub(super) struct Printer<'a> {
    loops: &'a Loops,
    names: Vec<String>,
    /// The path of functions such as `exp`, which use fused multiply-adds at some SIMD levels: the type parameter of a
    /// loop, or `rt` for separate operations.
    by: &'static str,
}

impl<'a> Printer<'a> {
    pub(super) fn new(body: &Body<'_>, loops: &'a Loops) -> Self {
        let mut names = Names::new();
        OWN.iter().for_each(|own| _ = names.fresh(own));
        body.symbols.iter().for_each(|symbol| _ = names.fresh(&symbol_variable(symbol)));
        let name = |variable: &mind_core::loops::Variable| {
            let value = variable.value.map(|value| body.preferred_name(value));
            let wish = match (&value, &*variable.what) {
                (Some(value), "") => value.clone(),
                (Some(value), what) => format!("{}_{what}", value.trim_start_matches("r#")),
                (None, what) => what.to_owned(),
            };
            names.fresh(&wish)
        };
        let names = loops.variables.iter().map(name).collect();
        Self { loops, names, by: if loops.depends_on_fusing { "by" } else { "rt" } }
    }

    pub(super) fn name(&self, var: Var) -> &str {
        &self.names[var.0]
    }

    /// All statements, one per line.
    pub(super) fn body(&self) -> String {
        let mut text = String::new();
        self.statements(&self.loops.body, &mut text);
        text
    }

    fn statements(&self, statements: &[Statement], text: &mut String) {
        for statement in statements {
            match statement {
                Statement::Do(head @ Control::Elements { .. }, body) => self.elements(head, body, text),
                Statement::Do(head, body) => self.block(head, body, text),
                simple => _ = writeln!(text, "{}", self.statement(simple)),
            }
        }
    }

    fn block(&self, head: &Control, body: &[Statement], text: &mut String) {
        if let Control::For { index, from, to } = head
            && let Some(checked) = self.loops.checked_loop(body)
        {
            return self.runs((*index, from, to), checked, text);
        }
        let _ = writeln!(text, "{}", self.head(head));
        self.statements(body, text);
        text.push_str(&self.end(head));
    }

    /// Emits a loop whose iterations each check whether their elements are in range. An inner loop runs consecutive
    /// iterations that are in range. The outer loop runs the one after them, which is not. In a single loop, LLVM would
    /// reload the constants of both variants in each iteration.
    fn runs(&self, (index, from, to): (Var, &Size, &Size), checked: CheckedLoop<'_>, text: &mut String) {
        let CheckedLoop { before, head, elements, ranges, after } = checked;
        let (index, from, to) = (self.name(index), self.size(from), self.size(to));
        let turn = |by: &Self, text: &mut String| {
            by.block(head, elements, text);
            self.statements(after, text);
            let _ = writeln!(text, "{index} += 1;\n}}");
        };
        let _ = writeln!(text, "{{ let (mut {index}, turns) = ({from}, {to});\nwhile {index} < turns {{");
        let _ = writeln!(text, "while {index} < turns {{\nuse rt::MultiplyAdd as _;");
        self.statements(before, text);
        self.question(head, ranges, text);
        text.push_str("if !near { break; }\n");
        turn(&self.near(), text);
        let _ = writeln!(text, "if {index} < turns {{");
        self.statements(before, text);
        turn(self, text);
        text.push_str("} }\n");
    }

    /// Emits a loop over elements. If functions have a shorter form for operands in range, this is a loop that checks
    /// whether all operands are in range, and one loop for each outcome.
    fn elements(&self, head: &Control, body: &[Statement], text: &mut String) {
        let Some(ranges) = self.loops.ranges(body) else {
            return self.block(head, body, text);
        };
        self.question(head, ranges, text);
        text.push_str("if near {\nuse rt::MultiplyAdd as _;\n");
        self.near().block(head, body, text);
        text.push_str("} else {\n");
        self.block(head, body, text);
        text.push_str("}\n");
    }

    /// Emits the loop that computes whether all elements are in range.
    fn question(&self, head: &Control, Ranges { numbers, questions }: Ranges<'_>, text: &mut String) {
        let _ = writeln!(text, "let mut near = true;\n{}", self.head(head));
        for (var, value) in numbers {
            let _ = writeln!(text, "let {} = {};", self.name(var), self.value(value));
        }
        for (question, operands) in questions {
            let operands: Vec<_> = operands.iter().map(|operand| self.value(operand)).collect();
            let _ = writeln!(text, "near &= rt::OperandRanges::{question}({});", operands.join(", "));
        }
        text.push_str(&self.end(head));
    }

    /// A printer of the same loops for operands in range.
    fn near(&self) -> Self {
        Self { by: "rt::Near::<by>", ..self.clone() }
    }

    fn statement(&self, statement: &Statement) -> String {
        let name = |var: &Var| self.name(*var);
        match statement {
            Statement::Size(var, size) => format!("let {}: usize = {};", name(var), self.size(size)),
            Statement::Number(var, value) => format!("let {} = {};", name(var), self.value(value)),
            Statement::Mask { var, index, below } => {
                format!("let {} = {} < {};", name(var), name(index), grouped(&self.size(below)))
            }
            Statement::Array(var, neutral) => {
                let of = of_neutral(*neutral, self.loops.dtype(*var));
                format!("let mut {} = [{of}; {}];", name(var), self.len(*var))
            }
            Statement::Copy { var, of } => format!("let mut {} = {};", name(var), name(of)),
            Statement::Assign { to, from } => format!("{} = {};", name(to), name(from)),
            Statement::Borrow { var, part, written } => {
                let borrow = if *written { "&mut " } else { "&" };
                let part = if self.is_array(part) { name(&part.of).to_owned() } else { self.part(part) };
                format!("let {} = {borrow}{part};", name(var))
            }
            Statement::ProductRow { var, row } => {
                format!("let {} = product.row({});", name(var), self.size(row))
            }
            Statement::Chunks { var, rest, of, written } => {
                let chunks = if *written { "as_chunks_mut" } else { "as_chunks" };
                let (blocks, rest, of) = (name(var), name(rest), name(of));
                format!("let ({blocks}, {rest}) = {of}.{chunks}::<{}>();", self.len(*var))
            }
            Statement::Chunk { var, of, index } => {
                format!("let {} = &{}[{}];", name(var), name(of), name(index))
            }
            Statement::TakeOut { var, home, of, index } => {
                let (var, home, of, index) = (name(var), name(home), name(of), name(index));
                format!("let {home} = &mut {of}[{index}]; let mut {var} = *{home};")
            }
            Statement::PutBack { home, from } => format!("*{} = {};", name(home), name(from)),
            Statement::Padded { var, of, written } => {
                let padded = format!("rt::padded::<_, {}>({})", self.len(*var), name(of));
                let (mutable, borrow) = if *written { ("mut ", "") } else { ("", "&") };
                format!("let {mutable}{} = {borrow}{padded};", name(var))
            }
            Statement::Whole { var, spare, of, len } => {
                let (wide, var, spare, of) = (var, name(var), name(spare), name(of));
                let (width, len) = (self.len(*wide), self.size(len));
                format!(
                    "let {spare}; let {var} = match {of}.first_chunk::<{width}>() {{ Some(block) => block, \
                     None => {{ {spare} = rt::padded(&{of}[..{len}]); &{spare} }} }};"
                )
            }
            Statement::CopyInto { to, from } => {
                format!("{}.copy_from_slice(&{});", self.part(to), self.part(from))
            }
            Statement::Fill(part, neutral) => {
                let of = of_neutral(*neutral, self.loops.dtype(part.of));
                format!("{}.fill({of});", self.part(part))
            }
            Statement::Divide(part, count) => {
                let (part, dtype) = (self.part(part), self.loops.dtype(part.of));
                format!("for sum in &mut {part} {{ *sum = *sum / ({} as {dtype}); }}", self.grouped(count))
            }
            Statement::Store(place, value) => format!("{} = {};", self.place(place), self.value(value)),
            Statement::Combine { place, monoid, value, mask } => {
                let dtype = self.loops.dtype(place.of);
                let (place, value) = (self.place(place), self.value(value));
                let all = expression(monoid.combine, &[place.clone(), value], dtype, "rt");
                match mask {
                    None => format!("{place} = {all};"),
                    Some(mask) => format!("{place} = rt::choose({}, {all}, {place});", name(mask)),
                }
            }
            Statement::CombineChains { monoid, sums, lost, chain, lanes } => {
                let rust = monoid.rust;
                let [all, lost_all, chain_all] = [sums, lost, chain].map(|part| self.part(part));
                match lanes {
                    false => {
                        format!(
                            "rt::combine_chains::<rt::{rust}, _>(&mut {all}, &mut {lost_all}, &{chain_all});"
                        )
                    }
                    true => format!(
                        "rt::combine_lane_chains::<rt::{rust}, _, _>(&mut {all}, &mut {}, {});",
                        name(&lost.of),
                        name(&chain.of)
                    ),
                }
            }
            Statement::Columns { to, monoid, lanes, columns } => {
                let (to, rust, len) = (self.part(to), monoid.rust, self.len(lanes.sums()));
                let lanes = self.lanes(lanes, monoid);
                format!(
                    "{to}.copy_from_slice(&rt::combine_columns::<rt::{rust}, _, {len}, {columns}>({lanes}));"
                )
            }
            Statement::FoldRows { monoid, folds, of, len, stride } => {
                let [folds, of] = [folds, of].map(|part| self.part(part));
                let (stride, rust) = (self.size(stride), monoid.rust);
                match len.literal().filter(|_| monoid.is_compensated) {
                    Some(len) => {
                        let lanes = len.next_power_of_two();
                        format!("rt::sum_rows::<_, {len}, {lanes}>(&{of}, {stride}, &mut {folds});")
                    }
                    None => {
                        let len = self.size(len);
                        format!("rt::fold_rows::<rt::{rust}, _>(&{of}, {len}, {stride}, &mut {folds});")
                    }
                }
            }
            Statement::SumColumns { sums, lost, chain, of, stride, rows } => {
                let [sums, lost, chain, of] = [sums, lost, chain, of].map(|part| self.part(part));
                let [stride, rows] = [stride, rows].map(|size| self.size(size));
                format!("rt::sum_columns(&mut {sums}, &mut {lost}, &mut {chain}, &{of}, {stride}, {rows});")
            }
            Statement::Draws(var) => format!("let mut {} = rt::Draws::new();", name(var)),
            Statement::Draw { var, of, key, first, left } => {
                let (first, left) = (self.grouped(first), self.size(left));
                let (width, of, key) = (self.len(*var), name(of), self.value(key));
                format!("let {} = {of}.block::<{width}>({key}, {first} as i64, {left});", name(var))
            }
            Statement::OneByOne => "rt::one_by_one();".to_owned(),
            Statement::Do(..) => unreachable!("a statement with a body is printed with it"),
        }
    }

    fn head(&self, head: &Control) -> String {
        match head {
            Control::For { index, from, to } => {
                let (from, to) = (self.grouped(from), self.grouped(to));
                format!("for {} in {from}..{to} {{", self.name(*index))
            }
            Control::Chains { first, end, turns, most } => {
                let (first, end, turns) = (self.name(*first), self.name(*end), self.grouped(turns));
                format!(
                    "for {first} in (0..{turns}).step_by({most}) {{ \
                     let {end} = ({first} + {most}).min({turns});"
                )
            }
            Control::Blocks { first, rows, from, to, most } => {
                let [first, rows, most] = [first, rows, most].map(|var| self.name(*var));
                let (from, to) = (self.grouped(from), self.grouped(to));
                format!(
                    "for {first} in ({from}..{to}).step_by({most}) {{ \
                     let {rows} = ({to} - {first}).min({most});"
                )
            }
            Control::Nonzero { index, first, of } => {
                let [index, first, elements] = [index, first, of].map(|var| self.name(*var));
                let zero = of_neutral(Neutral::Zero, self.loops.dtype(*of));
                format!(
                    "{{ let (mut set, mut at) = (0_u64, 0); while at < {elements}.len() {{ \
                     set |= u64::from({elements}[at] != {zero}) << at; at += 1; }} while set > 0 {{ \
                     let {index} = {first} + set.trailing_zeros() as usize; set &= set - 1;"
                )
            }
            Control::Registers { first, count, len, width } => {
                let ([first, count], len) = ([first, count].map(|var| self.name(*var)), self.size(len));
                format!(
                    "{{ let (mut {first}, mut {count}) = (0, rt::whole_registers({len}, {width})); loop {{"
                )
            }
            // The loop has its own counter. In a build without optimisation, the calls that a range makes for each
            // element take a large part of the time.
            Control::Elements { index, count } => {
                let (index, count) = (self.name(*index), self.size(count));
                format!("{{ let (mut {index}, elements) = (0, {count}); while {index} < elements {{")
            }
            Control::If { less, than } => format!("if {} < {} {{", self.grouped(less), self.grouped(than)),
        }
    }

    fn end(&self, head: &Control) -> String {
        match head {
            Control::Elements { index, .. } => format!("{} += 1; }} }}\n", self.name(*index)),
            Control::Registers { first, count, len, width } => {
                let ([first, count], len) = ([first, count].map(|var| self.name(*var)), self.grouped(len));
                format!(
                    "if {first} + {count} == {len} {{ break; }}\n\
                     ({first}, {count}) = ({len} - {width}, {width}); }} }}\n"
                )
            }
            Control::Nonzero { .. } => "} }\n".to_owned(),
            Control::For { .. } | Control::Chains { .. } | Control::Blocks { .. } | Control::If { .. } => {
                "}\n".to_owned()
            }
        }
    }

    pub(super) fn value(&self, value: &Expr) -> String {
        match value {
            Expr::Number(var) => self.name(*var).to_owned(),
            Expr::Constant(data) => literal::scalar(data),
            Expr::Element(place) => self.place(place),
            Expr::Position(position) => format!("({} as i64)", self.grouped(position)),
            Expr::Apply { op, operands, dtype } => {
                let operands: Vec<_> = operands.iter().map(|operand| self.value(operand)).collect();
                expression(*op, &operands, *dtype, self.by)
            }
            Expr::Mean { sum, count, dtype } => {
                format!("{} / ({} as {dtype})", self.value(sum), self.grouped(count))
            }
            Expr::Lanes { monoid, lanes, at } => {
                let function = match at {
                    Combined::Inline => "combine_lanes",
                    Combined::AfterLoop => "reduce_lanes",
                    Combined::Apart => "reduce_lanes_apart",
                };
                format!("rt::{function}::<rt::{}, _, _>({})", monoid.rust, self.lanes(lanes, monoid))
            }
        }
    }

    fn lanes(&self, lanes: &Lanes, monoid: &Monoid) -> String {
        match lanes {
            Lanes::Array(var) => self.name(*var).to_owned(),
            Lanes::Chained { sums, lost, last } => {
                let [sums, lost, last] = [sums, lost, last].map(|var| self.name(*var));
                format!("rt::combine_last_chains::<rt::{}, _, _>({sums}, {lost}, {last})", monoid.rust)
            }
        }
    }

    fn part(&self, Subslice { of, at, len }: &Subslice) -> String {
        let mut text = self.name(*of).to_owned();
        let _ = match at {
            Some(at) => write!(text, "[{}..]", self.grouped(at)),
            None if len.is_some() => Ok(()),
            None => write!(text, "[..]"),
        };
        if let Some(len) = len {
            let _ = write!(text, "[..{}]", self.size(len));
        }
        text
    }

    /// Whether a part is a whole array.
    fn is_array(&self, Subslice { of, at, len }: &Subslice) -> bool {
        matches!(self.loops.variable(*of).holds, Holds::Array(..)) && at.is_none() && len.is_none()
    }

    fn place(&self, place: &ElementRef) -> String {
        format!("{}[{}]", self.name(place.of), self.size(&place.index))
    }

    fn size(&self, size: &Size) -> String {
        match size {
            Size::Dim(dim) => plain(dim),
            Size::Var(var) => self.name(*var).to_owned(),
            Size::Plus(parts) => parts.iter().map(|part| self.size(part)).collect::<Vec<_>>().join(" + "),
            Size::Times(both) => format!("{} * {}", self.grouped(&both[0]), self.grouped(&both[1])),
            Size::Minus(both) => format!("{} - {}", self.size(&both[0]), self.grouped(&both[1])),
            Size::Over(size, by) => format!("{} / {by}", self.grouped(size)),
            Size::Least(sizes) => format!("{}.min({})", self.grouped(&sizes[0]), self.grouped(&sizes[1])),
            Size::Share { of, by, most } => format!("({of} / {}).clamp(1, {most})", self.grouped(by)),
        }
    }

    fn grouped(&self, size: &Size) -> String {
        grouped(&self.size(size))
    }

    fn len(&self, var: Var) -> usize {
        self.loops.variable(var).holds.count().expect("arrays and blocks have a length")
    }
}

/// The text of an extent. The function has checked its arithmetic on entry.
fn plain(dim: &Dim) -> String {
    extent(dim, Arithmetic::Plain)
}

/// The neutral element, with its type.
fn of_neutral(neutral: Neutral, dtype: DType) -> String {
    if dtype == DType::Bool {
        return matches!(neutral, Neutral::One | Neutral::Greatest).to_string();
    }
    match (neutral, dtype.is_float()) {
        (Neutral::Zero, true) => format!("0.0_{dtype}"),
        (Neutral::Zero, false) => format!("0_{dtype}"),
        (Neutral::One, true) => format!("1.0_{dtype}"),
        (Neutral::One, false) => format!("1_{dtype}"),
        (Neutral::Least, true) => format!("{dtype}::NEG_INFINITY"),
        (Neutral::Least, false) => format!("{dtype}::MIN"),
        (Neutral::Greatest, true) => format!("{dtype}::INFINITY"),
        (Neutral::Greatest, false) => format!("{dtype}::MAX"),
    }
}
