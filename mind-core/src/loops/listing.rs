//! Prints loops for people.

use std::{collections::HashMap, fmt::Write};

use crate::{
    ir::ValueId,
    loops::{
        Capture, Captured, Control, Cut, ElementRef, Epilogue, Execution, Expr, Finished, Lanes, Loops,
        LoweredNest, LoweredStep, OfBlock, Product, Size, Statement, Subslice, Total, Var, of_step,
    },
    plan::{BufferId, Listing, Scalar, Step},
    reduce::Neutral,
};

/// Lists the loops of each step that has some, one statement per line. Steps are numbered as in [`plan::listing`].
///
/// `x_row = x[i0 * 8 ..+ 8]` names a part of memory, and `x_row[j]` is an element of it. `:=` stores. The length of
/// chains and blocks is the greatest that they have. `settle` adds chains to sums and keeps the rounding errors.
///
/// [`plan::listing`]: crate::plan::listing()
pub fn listing(listing: &Listing<'_>) -> String {
    let mut text = String::new();
    let numbered = listing.plan.steps.iter().enumerate().flat_map(|(position, step)| {
        let steps =
            if let Step::Strips(strips) = step { &strips.steps[..] } else { std::slice::from_ref(step) };
        steps.iter().map(move |step| (position, step))
    });
    for (position, step) in numbered {
        if let Some(loops) = shown(listing, step) {
            let _ = write!(text, "{:>3}  ", position + 1);
            text.push_str(loops.trim_end().replace('\n', "\n     ").as_str());
            text.push('\n');
        }
    }
    text
}

/// The text of a step; `None` if the step is only a call of the run time.
fn shown(listing: &Listing<'_>, step: &Step) -> Option<String> {
    let of = of_step(listing.plan, step)?;
    if let LoweredStep::Nest(LoweredNest::Copied { from, to }) = &of {
        let from = listing.buffer(from.buffer().expect("a copied view is in memory"));
        return Some(format!("{} <- {from}, by blocks\n", listing.buffer(*to)));
    }
    let loops = of.loops()?;
    let head = match &of {
        LoweredStep::Nest(_) => run(listing, loops),
        LoweredStep::Product(Product::Tiny(_)) => "a product, inline".to_owned(),
        LoweredStep::Product(Product::Kernel(epilogue)) | LoweredStep::Convolution(epilogue) => {
            of_blocks(epilogue).to_owned()
        }
    };
    Some(format!("{head}\n{}", Printer::new(listing, loops).all()))
}

fn of_blocks(epilogue: &Epilogue) -> &'static str {
    match epilogue {
        Epilogue::Finished(Finished { joins_rows: true, .. }) => {
            "for each block of a product's sums, whole rows as one"
        }
        Epilogue::Finished(_) | Epilogue::Stored(_) => "for each block of a product's sums",
    }
}

fn run(listing: &Listing<'_>, loops: &Loops) -> String {
    match &loops.run {
        Execution::Inline => "inline".to_owned(),
        Execution::Dispatched => "by the machine's SIMD level".to_owned(),
        Execution::Cut(Cut { axis, steps, elements, .. }) => {
            let [steps, elements] = [steps, elements].map(|dim| listing.dim(dim));
            format!("cut along axis {axis}, {steps} steps of {elements}")
        }
    }
}

struct Printer<'a> {
    listing: &'a Listing<'a>,
    loops: &'a Loops,
    names: Vec<String>,
}

impl<'a> Printer<'a> {
    fn new(listing: &'a Listing<'a>, loops: &'a Loops) -> Self {
        let mut taken: HashMap<String, usize> = HashMap::new();
        let names = loops.variables.iter().map(|variable| {
            let value = variable.value.map(|value: ValueId| listing.name(value));
            let parts = [value.as_deref().unwrap_or(""), &variable.what];
            let name = parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("_");
            let count = taken.entry(name.clone()).or_default();
            *count += 1;
            if *count > 1 { format!("{name}_{count}") } else { name }
        });
        Self { listing, loops, names: names.collect() }
    }

    fn all(&self) -> String {
        let mut text = String::new();
        for Capture { var, source, .. } in &self.loops.captures {
            let of = match source {
                Captured::Read(buffer) => self.given(*buffer, "read"),
                Captured::Written(buffer) => self.given(*buffer, "written"),
                Captured::Scratch(buffer) => self.given(*buffer, "scratch, as long"),
                Captured::Number(scalar @ Scalar::Count { .. }) => self.listing.scalar(scalar),
                Captured::Number(Scalar::Input(_) | Scalar::Local(_) | Scalar::Constant(_)) => {
                    "a number".to_owned()
                }
                Captured::Position => "a position".to_owned(),
                Captured::Steps(steps) => format!("steps, {} in all", self.listing.dim(steps)),
                Captured::Block(OfBlock::Sums) => "a block of sums".to_owned(),
                Captured::Block(_) => "of the block".to_owned(),
            };
            let _ = writeln!(text, "  given {}: {of}", self.name(*var));
        }
        self.statements(&self.loops.body, 1, &mut text);
        for Total { value, part, .. } in &self.loops.totals {
            let _ = writeln!(text, "  gives {} = {}", self.listing.name(*value), self.value(part));
        }
        text
    }

    fn given(&self, buffer: BufferId, how: &str) -> String {
        let buffer = &self.listing.plan.buffers[buffer.0];
        format!("{how}, {}", buffer.ty)
    }

    fn statements(&self, statements: &[Statement], depth: usize, text: &mut String) {
        for statement in statements {
            let _ = writeln!(text, "{:1$}{2}", "", 2 * depth, self.statement(statement));
            if let Statement::Do(_, body) = statement {
                self.statements(body, depth + 1, text);
            }
        }
    }

    fn statement(&self, statement: &Statement) -> String {
        let name = |var: &Var| self.name(*var);
        match statement {
            Statement::Size(var, size) => format!("{} = {}", name(var), self.size(size)),
            Statement::Number(var, value) => format!("{} = {}", name(var), self.value(value)),
            Statement::Mask { var, index, below } => {
                format!("{} = {} < {}", name(var), name(index), self.size(below))
            }
            Statement::Array(var, neutral) => {
                format!("{} = [{}; {}]", name(var), of_neutral(*neutral), self.len(*var))
            }
            Statement::Copy { var, of } => format!("{} = copy of {}", name(var), name(of)),
            Statement::Assign { to, from } => format!("{} := {}", name(to), name(from)),
            Statement::Borrow { var, part, .. } => format!("{} = {}", name(var), self.part(part)),
            Statement::ProductRow { var, row } => {
                format!("{} = row {} of the product", name(var), self.size(row))
            }
            Statement::Chunks { var, rest, of, .. } => {
                let (blocks, rest, of) = (name(var), name(rest), name(of));
                format!("{blocks}, {rest} = blocks of {} of {of}", self.len(*var))
            }
            Statement::Chunk { var, of, index } => format!("{} = {}[{}]", name(var), name(of), name(index)),
            Statement::TakeOut { var, of, index, .. } => {
                format!("{} = copy of {}[{}]", name(var), name(of), name(index))
            }
            Statement::PutBack { from, .. } => format!("put back {}", name(from)),
            Statement::Padded { var, of, .. } => {
                format!("{} = {} filled up to {}", name(var), name(of), self.len(*var))
            }
            Statement::Whole { var, of, len, .. } => {
                format!(
                    "{} = first {} of {}, of which {} count",
                    name(var),
                    self.len(*var),
                    name(of),
                    self.size(len)
                )
            }
            Statement::CopyInto { to, from } => format!("{} := {}", self.part(to), self.part(from)),
            Statement::Fill(part, neutral) => format!("{} := {}", self.part(part), of_neutral(*neutral)),
            Statement::Divide(part, count) => format!("{} /= {}", self.part(part), self.size(count)),
            Statement::Store(place, value) => format!("{} := {}", self.place(place), self.value(value)),
            Statement::Combine { place, monoid, value, mask } => {
                let (place, value) = (self.place(place), self.value(value));
                let mask = mask.as_ref().map(|mask| format!(" if {}", name(mask))).unwrap_or_default();
                format!("{} {value} into {place}{mask}", monoid.label)
            }
            Statement::CombineChains { sums, lost, chain, .. } => {
                let [sums, lost, chain] = [sums, lost, chain].map(|part| self.part(part));
                format!("settle {chain} in {sums}, losing {lost}")
            }
            Statement::Columns { to, monoid, lanes, columns } => {
                let (to, lanes) = (self.part(to), self.lanes(lanes));
                format!("{to} := {} of {lanes}, by {columns} columns", monoid.label)
            }
            Statement::FoldRows { monoid, folds, of, len, stride } => {
                let (folds, of) = (self.part(folds), self.part(of));
                let [len, stride] = [len, stride].map(|size| self.size(size));
                format!("{folds} := {} of rows of {len}, {stride} apart, of {of}", monoid.label)
            }
            Statement::SumColumns { sums, of, stride, rows, .. } => {
                let (sums, of) = (self.part(sums), self.part(of));
                let [rows, stride] = [rows, stride].map(|size| self.size(size));
                format!("{sums} := sum of {rows} rows, {stride} apart, of {of}")
            }
            Statement::Draws(var) => format!("{} = random bits", name(var)),
            Statement::Draw { var, of, key, first, left } => {
                let (first, left) = (self.size(first), self.size(left));
                format!("{} = {} of key {} from {first}, of {left}", name(var), name(of), self.value(key))
            }
            Statement::OneByOne => "one by one:".to_owned(),
            Statement::Do(head, _) => self.head(head),
        }
    }

    fn head(&self, head: &Control) -> String {
        match head {
            Control::For { index, from, to } => {
                format!("for {} in {}..{}", self.name(*index), self.size(from), self.size(to))
            }
            Control::Chains { first, end, turns, most } => {
                let (first, end) = (self.name(*first), self.name(*end));
                format!("for {first}, {end} of chains of {most} in 0..{}", self.size(turns))
            }
            Control::Blocks { first, rows, from, to, most } => {
                let [first, rows, most] = [first, rows, most].map(|var| self.name(*var));
                let (from, to) = (self.size(from), self.size(to));
                format!("for {first}, {rows} of blocks of {most} in {from}..{to}")
            }
            Control::Nonzero { index, first, of } => {
                let [index, first, of] = [index, first, of].map(|var| self.name(*var));
                format!("for {index} from {first} on where {of} is not 0")
            }
            Control::Registers { first, count, len, width } => {
                let [first, count] = [first, count].map(|var| self.name(*var));
                format!("registers of {width} in {}, {count} elements from {first} on", self.size(len))
            }
            Control::Elements { index, count } => {
                format!("each {} of {}", self.name(*index), self.size(count))
            }
            Control::If { less, than } => format!("if {} < {}", self.size(less), self.size(than)),
        }
    }

    fn value(&self, value: &Expr) -> String {
        match value {
            Expr::Number(var) => self.name(*var).to_owned(),
            Expr::Constant(data) => self.listing.scalar(&Scalar::Constant(data.clone())),
            Expr::Element(place) => self.place(place),
            Expr::Position(position) => self.size(position),
            Expr::Apply { op, operands, .. } => {
                let operands: Vec<_> = operands.iter().map(|operand| self.value(operand)).collect();
                crate::plan::operation(*op, &operands)
            }
            Expr::Mean { sum, count, .. } => format!("{} / {}", self.value(sum), self.grouped(count)),
            Expr::Lanes { monoid, lanes, .. } => format!("{} of {}", monoid.label, self.lanes(lanes)),
        }
    }

    fn lanes(&self, lanes: &Lanes) -> String {
        match lanes {
            Lanes::Array(var) => self.name(*var).to_owned(),
            Lanes::Chained { sums, lost, last } => {
                let [sums, lost, last] = [sums, lost, last].map(|var| self.name(*var));
                format!("{sums} and {last}, having lost {lost}")
            }
        }
    }

    fn part(&self, Subslice { of, at, len }: &Subslice) -> String {
        let (of, at) = (self.name(*of), at.as_ref().map(|at| self.size(at)));
        match (at, len.as_ref().map(|len| self.size(len))) {
            (None, None) => of.to_owned(),
            (at, None) => format!("{of}[{} ..]", at.unwrap_or_default()),
            (at, Some(len)) => format!("{of}[{} ..+ {len}]", at.unwrap_or_else(|| "0".to_owned())),
        }
    }

    fn place(&self, place: &ElementRef) -> String {
        format!("{}[{}]", self.name(place.of), self.size(&place.index))
    }

    fn size(&self, size: &Size) -> String {
        match size {
            Size::Dim(dim) => self.listing.dim(dim),
            Size::Var(var) => self.name(*var).to_owned(),
            Size::Plus(parts) => parts.iter().map(|part| self.size(part)).collect::<Vec<_>>().join(" + "),
            Size::Times(both) => format!("{} * {}", self.grouped(&both[0]), self.grouped(&both[1])),
            Size::Minus(both) => format!("{} - {}", self.size(&both[0]), self.grouped(&both[1])),
            Size::Over(size, by) => format!("{} / {by}", self.grouped(size)),
            Size::Least(sizes) => {
                let [a, b] = [0, 1].map(|at| self.size(&sizes[at]));
                format!("the lesser of {a} and {b}")
            }
            Size::Share { of, by, most } => format!("{of} / {}, 1 to {most}", self.grouped(by)),
        }
    }

    fn grouped(&self, size: &Size) -> String {
        match matches!(size, Size::Dim(_) | Size::Var(_)) {
            true => self.size(size),
            false => format!("({})", self.size(size)),
        }
    }

    fn len(&self, var: Var) -> usize {
        self.loops.variable(var).holds.count().expect("arrays and blocks have a length")
    }

    fn name(&self, var: Var) -> &str {
        &self.names[var.0]
    }
}

fn of_neutral(neutral: Neutral) -> &'static str {
    match neutral {
        Neutral::Zero => "0",
        Neutral::One => "1",
        Neutral::Least => "least",
        Neutral::Greatest => "greatest",
    }
}
