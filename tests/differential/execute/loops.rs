//! Executes loops statement by statement in the memory that steps share. Checks that every part, element and variable
//! exists.

use mind::__private as rt;
use mind_core::{
    dim::Dim,
    interp::Elements,
    loops::{
        Capture, Captured, Control, ElementRef, Epilogue, Execution, Expr, Finished, Lanes, Loops, OfBlock,
        Size, Statement, Subslice, Var,
    },
    map::Map,
    plan::{BufferId, Finish},
    reduce::{Monoid, Neutral},
    ty::DType,
};
use mind_shape::match_dtype;

use super::{
    Run,
    defined::{assert_defined_once, defined},
    number::{Element, Number, constant, each_number, each_type, len, scalar_op, unwritten},
};

/// The value of a variable.
#[derive(Clone)]
enum Held {
    /// The variable is not defined here.
    Nothing,
    Size(usize),
    Mask(bool),
    /// One element.
    Number(Elements),
    /// An array that the variable owns.
    Array(Elements),
    /// Elements in other memory: the base, the first element, and the number of elements.
    Slice(Base, usize, usize),
}

/// The memory that holds elements.
#[derive(Clone, Copy)]
enum Base {
    /// A buffer of the plan.
    Buffer(BufferId),
    /// The array of a variable.
    Array(Var),
}

/// The execution of loops, or of a part of them.
struct Machine<'m, 'p> {
    run: &'m mut Run<'p>,
    loops: &'m Loops,
    held: Vec<Held>,
    /// The elements of a product that is computed inside the loops, and the number of elements in a row.
    product: Option<(&'m Elements, usize)>,
}

impl Run<'_> {
    /// Runs loops. Their totals go to the single numbers that later steps read.
    pub(super) fn loops(&mut self, loops: &Loops) {
        assert_defined_once(loops);
        let parts = match &loops.run {
            Execution::Cut(cut) => {
                // Two cuts, so that one part has others on both sides.
                let steps = self.size(&cut.steps);
                let mut ends = vec![steps / 3, steps - steps / 3, steps];
                ends.dedup();
                let starts = [0].into_iter().chain(ends.clone());
                starts.zip(ends).filter(|(start, end)| start < end).collect()
            }
            Execution::Inline | Execution::Dispatched => vec![(0, 1)],
        };
        let is_cut = matches!(loops.run, Execution::Cut(_));
        // Scratch memory is cut like the sums that it is for.
        let mut scratch: Vec<Elements> = Vec::new();
        for Capture { var, source, .. } in &loops.captures {
            if let Captured::Scratch(of) = source {
                scratch.push(unwritten(loops.dtype(*var), self.len(*of)));
            }
        }
        let mut totals: Vec<Option<Elements>> = vec![None; loops.totals.len()];
        for (start, end) in parts {
            let mut machine = Machine::new(self, loops, None);
            let mut of_scratch = scratch.iter();
            for Capture { var, source, stride } in &loops.captures {
                let stride = machine.run.size(stride);
                let moved = start * stride;
                let held = match source {
                    Captured::Read(buffer) => {
                        Held::Slice(Base::Buffer(*buffer), moved, machine.run.len(*buffer) - moved)
                    }
                    Captured::Written(buffer) => {
                        let all = machine.run.len(*buffer);
                        let len = if is_cut && end < last(loops, machine.run) {
                            (end - start) * stride
                        } else {
                            all - moved
                        };
                        Held::Slice(Base::Buffer(*buffer), moved, len)
                    }
                    Captured::Scratch(_) => {
                        let all = of_scratch.next().expect("as much as there are");
                        each_type!(all, all => {
                            Held::Array(Element::wrap(all[moved.min(all.len())..].to_vec()))
                        })
                    }
                    Captured::Number(scalar) => Held::Number(machine.run.scalar(scalar)),
                    Captured::Steps(_) => Held::Size(end - start),
                    Captured::Position => Held::Size(moved),
                    Captured::Block(_) => panic!("a nest has no blocks of sums"),
                };
                machine.held[var.0] = held;
            }
            machine.statements(&loops.body);
            for (total, all) in loops.totals.iter().zip(&mut totals) {
                let part = machine.value(&total.part);
                *all = Some(match all.take() {
                    None => part,
                    Some(before) => scalar_op(total.monoid.combine, total.dtype, &[before, part]),
                });
            }
        }
        for (total, all) in loops.totals.iter().zip(totals) {
            let all = all.expect("there is a part");
            let count = total.count.as_ref().map(|count| self.size(count));
            let value = match count {
                Some(count) => each_number!(&all, all => Element::wrap(vec![all[0].divided_by(count)])),
                None => all,
            };
            self.locals.insert(total.value, value);
        }
    }

    /// Runs the finish of a product or convolution on its elements in row-major order.
    pub(super) fn finish_by_loops(&mut self, finish: &Finish, epilogue: &Epilogue, elements: &Elements) {
        match epilogue {
            Epilogue::Stored(buffer) => self.store_buffer(*buffer, elements.clone()),
            Epilogue::Finished(finished) => {
                let [rows, columns] = [0, 1].map(|axis| self.size(&finish.extents[axis]));
                assert_defined_once(&finished.loops);
                // The targets are cut after the first row, and kernels deliver blocks.
                for (first, end) in [(0, rows.min(1)), (rows.min(1), rows)] {
                    if finished.joins_rows {
                        let all = (end - first) * columns;
                        self.block(finished, [first, first, 0, 1, all], elements, columns);
                        continue;
                    }
                    for row in (first..end).step_by(3) {
                        for column in (0..columns).step_by(21) {
                            let block = [first, row, column, 3.min(end - row), 21.min(columns - column)];
                            self.block(finished, block, elements, columns);
                        }
                    }
                }
            }
        }
    }

    fn block(&mut self, finished: &Finished, of: [usize; 5], elements: &Elements, stride: usize) {
        let [first, row, column, rows, columns] = of;
        let loops = &finished.loops;
        let mut machine = Machine::new(self, loops, None);
        for Capture { var, source, stride: moved } in &loops.captures {
            let held = match source {
                Captured::Read(buffer) => Held::Slice(Base::Buffer(*buffer), 0, machine.run.len(*buffer)),
                Captured::Written(buffer) => {
                    let moved = first * machine.run.size(moved);
                    Held::Slice(Base::Buffer(*buffer), moved, machine.run.len(*buffer) - moved)
                }
                Captured::Number(scalar) => Held::Number(machine.run.scalar(scalar)),
                Captured::Position => Held::Size(0),
                Captured::Block(OfBlock::First) => Held::Size(first),
                Captured::Block(OfBlock::Row) => Held::Size(row),
                Captured::Block(OfBlock::Column) => Held::Size(column),
                Captured::Block(OfBlock::Rows) => Held::Size(rows),
                Captured::Block(OfBlock::Columns) => Held::Size(columns),
                Captured::Block(OfBlock::Stride) => Held::Size(stride),
                Captured::Block(OfBlock::Sums) => each_type!(elements, all => {
                    Held::Array(Element::wrap(all[row * stride + column..].to_vec()))
                }),
                Captured::Scratch(_) | Captured::Steps(_) => panic!("blocks need no scratch and are not cut"),
            };
            machine.held[var.0] = held;
        }
        machine.statements(&loops.body);
    }

    /// Runs loops with a product that is computed inside them.
    pub(super) fn whole(&mut self, finish: &Finish, loops: &Loops, elements: &Elements) {
        assert_defined_once(loops);
        let columns = self.size(&finish.extents[1]);
        let mut machine = Machine::new(self, loops, Some((elements, columns)));
        for Capture { var, source, .. } in &loops.captures {
            machine.held[var.0] = match source {
                Captured::Read(buffer) | Captured::Written(buffer) => {
                    Held::Slice(Base::Buffer(*buffer), 0, machine.run.len(*buffer))
                }
                Captured::Number(scalar) => Held::Number(machine.run.scalar(scalar)),
                Captured::Position => Held::Size(0),
                other => panic!("{other:?} in a product that is computed where it stands"),
            };
        }
        machine.statements(&loops.body);
    }
}

/// The number of steps of the axis along which loops are cut.
fn last(loops: &Loops, run: &Run<'_>) -> usize {
    match &loops.run {
        Execution::Cut(cut) => run.size(&cut.steps),
        Execution::Inline | Execution::Dispatched => 1,
    }
}

impl<'m, 'p> Machine<'m, 'p> {
    fn new(run: &'m mut Run<'p>, loops: &'m Loops, product: Option<(&'m Elements, usize)>) -> Self {
        Self { run, loops, held: vec![Held::Nothing; loops.variables.len()], product }
    }

    fn statements(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    /// Variables that are defined in a body end with it.
    fn body(&mut self, statements: &[Statement]) {
        self.statements(statements);
        statements.iter().flat_map(defined).for_each(|var| self.held[var.0] = Held::Nothing);
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Size(var, size) => self.define(*var, Held::Size(self.size(size))),
            Statement::Number(var, value) => self.define(*var, Held::Number(self.value(value))),
            Statement::Mask { var, index, below } => {
                let counts = self.index(*index) < self.size(below);
                self.define(*var, Held::Mask(counts));
            }
            Statement::Array(var, neutral) => {
                let (dtype, len) = (self.loops.dtype(*var), self.len(*var));
                self.define(*var, Held::Array(filled(*neutral, dtype, len)));
            }
            Statement::Copy { var, of } => {
                let array = self.array(*of).clone();
                self.define(*var, Held::Array(array));
            }
            Statement::Assign { to, from } => {
                let (array, len) = (self.array(*from).clone(), self.len(*to));
                assert_eq!(super::number::len(&array), len, "arrays of other lengths");
                self.held[to.0] = Held::Array(array);
            }
            Statement::Borrow { var, part, .. } => {
                let (base, at, len) = self.part(part);
                self.define(*var, Held::Slice(base, at, len));
            }
            Statement::ProductRow { var, row } => {
                let (elements, columns) = self.product.expect("a product is computed here");
                let row = self.size(row);
                let row = each_type!(elements, all => {
                    Element::wrap(all[row * columns..][..columns].to_vec())
                });
                self.define(*var, Held::Array(row));
            }
            Statement::Chunks { var, rest, of, .. } => {
                let (base, at, len) = self.part(&Subslice::whole(*of));
                let whole = len / self.len(*var) * self.len(*var);
                self.define(*var, Held::Slice(base, at, whole));
                self.define(*rest, Held::Slice(base, at + whole, len - whole));
            }
            // Nothing reads bits that are drawn ahead but `Draw`, which draws its own here.
            Statement::Draws(_) => {}
            Statement::Draw { var, key, first, .. } => {
                let (key, first) = (self.value(key), self.size(first));
                let bits = (0..self.len(*var)).map(|at| {
                    let counter = Elements::I64(vec![(first + at) as i64]);
                    let drawn = scalar_op(Map::Threefry, DType::I64, &[key.clone(), counter]);
                    i64::unwrap(&drawn)[0]
                });
                let bits = Elements::I64(bits.collect());
                self.define(*var, Held::Array(bits));
            }
            Statement::Chunk { var, of, index } => {
                let block = self.chunk(*of, *index);
                self.define(*var, block);
            }
            Statement::TakeOut { var, home, of, index } => {
                let block = self.chunk(*of, *index);
                self.define(*home, block);
                let array = self.read(&Subslice::whole(*home));
                self.define(*var, Held::Array(array));
            }
            Statement::PutBack { home, from } => {
                let array = self.array(*from).clone();
                self.write(&Subslice::whole(*home), &array);
            }
            Statement::Padded { var, of, .. } => {
                let elements = self.read(&Subslice::whole(*of));
                let mut padded = filled(Neutral::Zero, self.loops.dtype(*var), self.len(*var));
                each_type!(&elements, all => {
                    Element::unwrap_mut(&mut padded)[..all.len()].copy_from_slice(all);
                });
                self.define(*var, Held::Array(padded));
            }
            Statement::Whole { var, of, len, .. } => {
                let (len, elements) = (self.size(len), self.read(&Subslice::whole(*of)));
                // An element behind the row that counts makes a sum infinite.
                let mut block = filled(Neutral::Greatest, self.loops.dtype(*var), self.len(*var));
                each_type!(&elements, all => {
                    Element::unwrap_mut(&mut block)[..len].copy_from_slice(&all[..len]);
                });
                self.define(*var, Held::Array(block));
            }
            Statement::CopyInto { to, from } => {
                let elements = self.read(from);
                self.write(to, &elements);
            }
            Statement::Fill(part, neutral) => {
                let (dtype, (.., len)) = (self.loops.dtype(part.of), self.part(part));
                self.write(part, &filled(*neutral, dtype, len));
            }
            Statement::Divide(part, count) => {
                let (count, all) = (self.size(count), self.read(part));
                let all = each_number!(all, all => {
                    Element::wrap(all.into_iter().map(|sum| sum.divided_by(count)).collect())
                });
                self.write(part, &all);
            }
            Statement::Store(place, value) => {
                let value = self.value(value);
                self.write(&self.one(place), &value);
            }
            Statement::Combine { place, monoid, value, mask } => {
                let (part, value) = (self.one(place), self.value(value));
                let counts = mask.is_none_or(|mask| match self.held[mask.0] {
                    Held::Mask(counts) => counts,
                    _ => panic!("a mask is not defined"),
                });
                if counts {
                    let dtype = self.loops.dtype(place.of);
                    let all = scalar_op(monoid.combine, dtype, &[self.read(&part), value]);
                    self.write(&part, &all);
                }
            }
            Statement::CombineChains { monoid, sums, lost, chain, .. } => {
                let [mut all, mut loses, chains] = [sums, lost, chain].map(|part| self.read(part));
                combine_chains(monoid, &mut all, &mut loses, &chains);
                self.write(sums, &all);
                self.write(lost, &loses);
            }
            Statement::Columns { to, monoid, lanes, columns } => {
                let lanes = self.lanes(lanes, monoid);
                let sums = each_number!(lanes, lanes => {
                    let column = |column: usize| {
                        let lanes: Vec<_> = lanes.iter().skip(column).step_by(*columns).copied().collect();
                        Number::total(monoid, &lanes)
                    };
                    Element::wrap((0..*columns).map(column).collect())
                });
                self.write(to, &sums);
            }
            Statement::FoldRows { monoid, folds, of, len, stride } => {
                let [len, stride] = [len, stride].map(|size| self.size(size));
                let (elements, mut all) = (self.read(of), self.read(folds));
                each_number!(&mut all, all => {
                    let elements = Element::unwrap(&elements);
                    for (row, fold) in all.iter_mut().enumerate() {
                        *fold = Number::total(monoid, &elements[row * stride..][..len]);
                    }
                });
                self.write(folds, &all);
            }
            Statement::SumColumns { sums, of, stride, rows, .. } => {
                let [rows, stride] = [rows, stride].map(|size| self.size(size));
                let (elements, mut all) = (self.read(of), self.read(sums));
                each_number!(&mut all, all => {
                    let elements = Element::unwrap(&elements);
                    for (column, sum) in all.iter_mut().enumerate() {
                        let column: Vec<_> = (0..rows).map(|row| elements[row * stride + column]).collect();
                        *sum = rt::sum(&column);
                    }
                });
                self.write(sums, &all);
            }
            Statement::OneByOne => {}
            Statement::Do(head, body) => self.repeat(head, body),
        }
    }

    fn repeat(&mut self, head: &Control, body: &[Statement]) {
        match head {
            Control::For { index, from, to } => {
                for at in self.size(from)..self.size(to) {
                    self.define(*index, Held::Size(at));
                    self.body(body);
                    self.held[index.0] = Held::Nothing;
                }
            }
            Control::Chains { first, end, turns, most } => {
                let turns = self.size(turns);
                for at in (0..turns).step_by(*most) {
                    self.define(*first, Held::Size(at));
                    self.define(*end, Held::Size((at + most).min(turns)));
                    self.body(body);
                    [first, end].into_iter().for_each(|var| self.held[var.0] = Held::Nothing);
                }
            }
            Control::Blocks { first, rows, from, to, most } => {
                let (from, to, most) = (self.size(from), self.size(to), self.index(*most));
                for at in (from..to).step_by(most) {
                    self.define(*first, Held::Size(at));
                    self.define(*rows, Held::Size((to - at).min(most)));
                    self.body(body);
                    [first, rows].into_iter().for_each(|var| self.held[var.0] = Held::Nothing);
                }
            }
            Control::Nonzero { index, first, of } => {
                let first = self.index(*first);
                let elements = self.read(&Subslice::whole(*of));
                let is_nonzero: Vec<bool> = each_type!(&elements, elements => {
                    let mut zeros = elements.clone();
                    zeros.fill(Default::default());
                    zeros.iter().zip(elements).map(|(zero, element)| zero != element).collect()
                });
                for at in (0..is_nonzero.len()).filter(|at| is_nonzero[*at]) {
                    self.define(*index, Held::Size(first + at));
                    self.body(body);
                    self.held[index.0] = Held::Nothing;
                }
            }
            Control::Registers { first, count, len, width } => {
                let len = self.size(len);
                let whole = if len < *width { len } else { len / width * width };
                let rest = (whole < len).then(|| (len - width, *width));
                for (at, of_part) in [(0, whole)].into_iter().chain(rest) {
                    self.define(*first, Held::Size(at));
                    self.define(*count, Held::Size(of_part));
                    self.body(body);
                    [first, count].into_iter().for_each(|var| self.held[var.0] = Held::Nothing);
                }
            }
            Control::Elements { index, count } => {
                for at in 0..self.size(count) {
                    self.define(*index, Held::Size(at));
                    self.body(body);
                    self.held[index.0] = Held::Nothing;
                }
            }
            Control::If { less, than } => {
                if self.size(less) < self.size(than) {
                    self.body(body);
                }
            }
        }
    }

    fn define(&mut self, var: Var, held: Held) {
        assert!(matches!(self.held[var.0], Held::Nothing), "{var:?} is defined already");
        self.held[var.0] = held;
    }

    fn value(&self, value: &Expr) -> Elements {
        match value {
            Expr::Number(var) => match &self.held[var.0] {
                Held::Number(number) => number.clone(),
                _ => panic!("{var:?} is no number here"),
            },
            Expr::Constant(data) => constant(data),
            Expr::Element(place) => self.read(&self.one(place)),
            Expr::Position(position) => Elements::I64(vec![self.size(position) as i64]),
            Expr::Apply { op, operands, dtype } => {
                let operands: Vec<_> = operands.iter().map(|operand| self.value(operand)).collect();
                scalar_op(*op, *dtype, &operands)
            }
            Expr::Mean { sum, count, .. } => {
                let count = self.size(count);
                each_number!(self.value(sum), sum => Element::wrap(vec![sum[0].divided_by(count)]))
            }
            Expr::Lanes { monoid, lanes, .. } => {
                each_number!(self.lanes(lanes, monoid), lanes => {
                    Element::wrap(vec![Number::total(monoid, &lanes)])
                })
            }
        }
    }

    /// The lanes after all additions.
    fn lanes(&self, lanes: &Lanes, monoid: &Monoid) -> Elements {
        match lanes {
            Lanes::Array(var) => self.array(*var).clone(),
            Lanes::Chained { sums, lost, last } => {
                let [mut sums, mut lost, last] = [sums, lost, last].map(|var| self.array(*var).clone());
                combine_chains(monoid, &mut sums, &mut lost, &last);
                sums
            }
        }
    }

    fn size(&self, size: &Size) -> usize {
        match size {
            Size::Dim(dim) => self.run.size(dim),
            Size::Var(var) => self.index(*var),
            Size::Plus(parts) => parts.iter().map(|part| self.size(part)).sum(),
            Size::Times(both) => self.size(&both[0]) * self.size(&both[1]),
            Size::Minus(both) => {
                self.size(&both[0]).checked_sub(self.size(&both[1])).expect("no size is below zero")
            }
            Size::Over(size, by) => self.size(size) / by,
            Size::Least(sizes) => self.size(&sizes[0]).min(self.size(&sizes[1])),
            Size::Share { of, by, most } => (of / self.size(by)).clamp(1, *most),
        }
    }

    fn index(&self, var: Var) -> usize {
        match self.held[var.0] {
            Held::Size(size) => size,
            _ => panic!("{var:?} is no size here"),
        }
    }

    fn array(&self, var: Var) -> &Elements {
        match &self.held[var.0] {
            Held::Array(array) => array,
            _ => panic!("{var:?} is no array here"),
        }
    }

    /// The length of an array or of a block.
    fn len(&self, var: Var) -> usize {
        self.loops.variable(var).holds.count().expect("arrays and blocks have a length")
    }

    fn chunk(&self, of: Var, index: Var) -> Held {
        let (base, at, len) = self.part(&Subslice::whole(of));
        let (width, index) = (self.len(of), self.index(index));
        assert!((index + 1) * width <= len, "block {index} of {len} elements");
        Held::Slice(base, at + index * width, width)
    }

    fn one(&self, place: &ElementRef) -> Subslice {
        Subslice { of: place.of, at: Some(place.index.clone()), len: Some(Size::Dim(Dim::ONE)) }
    }

    /// The memory, the first element and the length of a part.
    fn part(&self, Subslice { of, at, len }: &Subslice) -> (Base, usize, usize) {
        let (base, start, all) = match &self.held[of.0] {
            Held::Array(array) => (Base::Array(*of), 0, super::number::len(array)),
            Held::Slice(base, start, all) => (*base, *start, *all),
            _ => panic!("{of:?} holds no elements here"),
        };
        let at = at.as_ref().map_or(0, |at| self.size(at));
        assert!(at <= all, "a part at {at} of {all} elements");
        let len = len.as_ref().map_or(all - at, |len| self.size(len));
        assert!(at + len <= all, "{len} elements at {at} of {all}");
        (base, start + at, len)
    }

    fn read(&self, part: &Subslice) -> Elements {
        let (base, at, len) = self.part(part);
        match base {
            Base::Array(var) => {
                each_type!(self.array(var), all => Element::wrap(all[at..at + len].to_vec()))
            }
            Base::Buffer(buffer) => {
                let at = self.run.range(buffer).start + at;
                each_type!(self.run.region(buffer), all => Element::wrap(all[at..at + len].to_vec()))
            }
        }
    }

    fn write(&mut self, part: &Subslice, elements: &Elements) {
        let (base, at, count) = self.part(part);
        assert_eq!(len(elements), count, "as many are written");
        match base {
            Base::Array(var) => {
                let Held::Array(array) = &mut self.held[var.0] else { panic!("{var:?} is no array here") };
                each_type!(elements, from => Element::unwrap_mut(array)[at..at + count].copy_from_slice(from));
            }
            Base::Buffer(buffer) => each_type!(elements, from => {
                self.run.elements_mut(buffer)[at..at + count].copy_from_slice(from);
            }),
        }
    }
}

/// Adds chains to sums like the run time.
fn combine_chains(monoid: &Monoid, sums: &mut Elements, lost: &mut Elements, chains: &Elements) {
    each_number!(sums, sums => {
        let (lost, chains) = (Element::unwrap_mut(lost), Element::unwrap(chains));
        match monoid.is_compensated {
            true => rt::combine_chains::<rt::Sum, _>(sums, lost, chains),
            false => {
                assert_eq!(sums.len(), chains.len(), "as many chains as sums");
                for (sum, chain) in sums.iter_mut().zip(chains) {
                    *sum = Number::apply(monoid.combine, &[*sum, *chain]);
                }
            }
        }
    });
}

fn filled(neutral: Neutral, dtype: DType, len: usize) -> Elements {
    match_dtype!(dtype, T {
        truths => vec![matches!(neutral, Neutral::One | Neutral::Greatest); len].into(),
        integers => vec![of_integer(neutral, T::MIN, T::MAX); len].into(),
        floats => vec![of_float(neutral) as T; len].into(),
    })
}

fn of_float(neutral: Neutral) -> f64 {
    match neutral {
        Neutral::Zero => 0.0,
        Neutral::One => 1.0,
        Neutral::Least => f64::NEG_INFINITY,
        Neutral::Greatest => f64::INFINITY,
    }
}

fn of_integer<T: From<bool>>(neutral: Neutral, least: T, greatest: T) -> T {
    match neutral {
        Neutral::Zero => false.into(),
        Neutral::One => true.into(),
        Neutral::Least => least,
        Neutral::Greatest => greatest,
    }
}
