//! One pass over the elements of a row.

use std::fmt::Write;

use mind_core::{
    dim::Dim,
    plan::{Node, Operand, Pass, Target, View},
    ty::DType,
};

use super::{
    At, Frame, Loops, Variables, combined,
    folds::{Gathered, LaneFold},
    grouped,
};
use crate::emit::{
    body::expression,
    nest::{Along, chains::Place},
};

/// Elements of a row that are handled at once where its length is not known: a register of the highest level.
const fn register(dtype: DType) -> usize {
    64 / dtype.bytes()
}

/// Elements of a block where no sum decides it: two registers, so that one `exp` hides the latency of another.
const PLAIN: usize = 32;

/// So few elements, known ahead, are computed one by one as fast as in a block.
const ONE_BY_ONE: usize = 3;

impl Loops<'_, '_> {
    /// Names for what a pass reads, computes and writes.
    pub(super) fn variables(&mut self, pass: &Pass) -> Variables {
        let mut loads = vec![None; self.nest.loads.len()];
        let element_operands = pass.elements.iter().flat_map(|node| &node.operands);
        let number_operands = pass.numbers.iter().flat_map(|node| &node.operands);
        let stores = pass.stores.iter().chain(&pass.row_stores).map(|store| &store.operand);
        let folds = pass.folds.iter().chain(&pass.row_folds).map(|fold| &fold.operand);
        for operand in element_operands.chain(number_operands).chain(stores).chain(folds) {
            if let Operand::Load(load) = operand {
                loads[*load].get_or_insert_with(String::new);
            }
        }
        let memory = pass.folds.iter().filter_map(|fold| match &fold.target {
            Target::Memory(view) => Some(view),
            Target::Number(_) | Target::Total(_) => None,
        });
        let mut targets: Vec<(View, String)> = Vec::new();
        for view in pass.stores.iter().map(|store| &store.target).chain(memory) {
            if !targets.iter().any(|(known, _)| known.buffer() == view.buffer()) {
                let name =
                    self.names.fresh(&format!("{}_row", self.captures.target(view).trim_start_matches("r#")));
                targets.push((view.clone(), name));
            }
        }
        for (position, variable) in loads.iter_mut().enumerate() {
            let Some(variable) = variable else { continue };
            let field = &self.captures.loads[position];
            let written = targets.iter().find(|(view, _)| self.captures.target(view) == field);
            *variable = match written {
                Some((_, row)) => row.clone(),
                None => self.names.fresh(&format!("{}_row", field.trim_start_matches("r#"))),
            };
        }
        let nodes = pass.elements.iter().map(|node| self.names.fresh(&self.body.wish(node.value))).collect();
        Variables { loads, nodes, targets, values: Vec::new() }
    }

    /// Loads that stand still along the elements are read once a row.
    pub(super) fn still_loads(&mut self, variables: &Variables) {
        for (position, variable) in variables.loads.iter().enumerate() {
            let view = &self.nest.loads[position];
            if let Some(name) = variable
                && !variables.is_target(name)
                && self.is_still(view)
            {
                let at = self.position(view, 0..self.rank());
                let _ = writeln!(self.text, "let {name} = {}[{at}];", self.captures.loads[position]);
            }
        }
    }

    fn is_still(&self, view: &View) -> bool {
        view.strides[self.nest.row_axes..].iter().all(|stride| *stride == Dim::ZERO)
    }

    pub(super) fn elements(&mut self, pass: &Pass, variables: &Variables, sums: &[Option<LaneFold>]) {
        if pass.stores.is_empty() && pass.folds.is_empty() {
            return;
        }
        let outer = self.nest.row_axes..self.rank() - 1;
        self.text.push_str("{\n");
        let in_lanes: Vec<LaneFold> = sums.iter().flatten().cloned().collect();
        outer.clone().for_each(|axis| self.open(axis, &in_lanes));
        self.slices(variables);
        let len = self.inner_len();
        let width = match self.frame {
            Frame::Nest | Frame::Row => in_lanes.iter().map(|sum| sum.lanes).max(),
            Frame::Block => pass.stores.iter().map(|store| register(self.dtype(&store.target))).max(),
            Frame::Rows => None,
        };
        let is_short = self.inner_known().is_some_and(|len| len <= PLAIN);
        let width = width.or_else(|| (!is_short && self.is_padded(pass, variables, PLAIN)).then_some(PLAIN));
        match width {
            None => {
                if self.inner_known().is_some_and(|len| ONE_BY_ONE < len && len <= PLAIN)
                    && reads_numbers(pass)
                {
                    self.text.push_str("rt::one_by_one();\n");
                }
                self.open_elements("j", &len);
                self.element(pass, variables, sums, At::Row);
                self.close_elements("j");
            }
            Some(width) => self.blocks(pass, variables, sums, width),
        }
        for axis in outer.rev() {
            self.text.push_str("}\n");
            self.close_chains(axis, &in_lanes);
        }
        self.text.push_str("}\n");
    }

    /// The part of each captured slice that one run along the innermost axis goes over.
    fn slices(&mut self, variables: &Variables) {
        let (inner, len) = (self.rank() - 1, grouped(&self.inner_len()));
        for (view, row) in &variables.targets {
            let (name, is_array) = match self.gathered_in(view) {
                Some((sum, Gathered { chain, .. })) => (&**chain, matches!(sum.place, Place::Arrays(_))),
                None => (self.captures.target(view), false),
            };
            if is_array {
                let text = format!("let {row} = &mut {name};\n");
                self.text.push_str(&text);
                continue;
            }
            let (name, at) = (name.to_string(), grouped(&self.row_position(view, true)));
            let _ = match Along::of(view, inner) {
                Along::Consecutive => writeln!(self.text, "let {row} = &mut {name}[{at}..][..{len}];"),
                Along::Still | Along::Strided => writeln!(self.text, "let {row} = &mut {name}[{at}..];"),
            };
        }
        for (position, variable) in variables.loads.iter().enumerate() {
            let view = &self.nest.loads[position];
            let Some(row) = variable.as_ref().filter(|name| !variables.is_target(name)) else { continue };
            if self.is_still(view) {
                continue;
            }
            let name = &self.captures.loads[position];
            let at = self.row_position(view, false);
            let _ = match Along::of(view, inner) {
                Along::Still => writeln!(self.text, "let {row} = {name}[{at}];"),
                Along::Consecutive => {
                    writeln!(self.text, "let {row} = &{name}[{}..][..{len}];", grouped(&at))
                }
                Along::Strided => writeln!(self.text, "let {row} = &{name}[{}..];", grouped(&at)),
            };
        }
    }

    /// Blocks as wide as the lanes of sums, and what is left.
    fn blocks(&mut self, pass: &Pass, variables: &Variables, sums: &[Option<LaneFold>], width: usize) {
        let (len, known) = (grouped(&self.inner_len()), self.inner_known());
        if known.is_some_and(|len| len <= width) {
            // Else rows may be put together, by gathers and scatters.
            self.text.push_str("rt::one_by_one();\n");
            if known != Some(width) && self.is_padded(pass, variables, width) {
                let rows = self.consecutive(variables);
                return self.padded(pass, variables, sums, width, &len, &rows);
            }
            self.text.push_str("let start = 0;\n");
            self.open_elements("lane", &len);
            self.element(pass, variables, sums, At::Block);
            self.close_elements("lane");
            return;
        }
        let rows: Vec<(String, bool, String)> = self
            .consecutive(variables)
            .into_iter()
            .map(|(row, written)| {
                let rest = self.names.fresh(&format!("{row}_rest"));
                (row, written, rest)
            })
            .collect();
        for (row, written, rest) in &rows {
            let chunks = if *written { "as_chunks_mut" } else { "as_chunks" };
            let _ = writeln!(self.text, "let ({row}, {rest}) = {row}.{chunks}::<{width}>();");
        }
        let (inner, in_lanes) = (self.rank() - 1, sums.iter().flatten().cloned().collect::<Vec<LaneFold>>());
        let (from, to) = self.open_chains(inner, &format!("({len} / {width})"), &in_lanes);
        let _ = writeln!(self.text, "for block in {from}..{to} {{ let start = block * {width};");
        if self.frame == Frame::Block {
            self.text.push_str("rt::one_by_one();\n");
        }
        let mut back = String::new();
        for (row, written, _) in &rows {
            let _ = match written {
                false => writeln!(self.text, "let {row} = &{row}[block];"),
                // Written as a whole, since LLVM does not know that it is elsewhere than what is read: rustc inlines before
                // it says so.
                true => {
                    let to = self.names.fresh(&format!("{row}_to"));
                    let _ = write!(back, "*{to} = {row}; ");
                    writeln!(self.text, "let {to} = &mut {row}[block]; let mut {row} = *{to};")
                }
            };
        }
        self.open_elements("lane", &width.to_string());
        self.element(pass, variables, sums, At::Block);
        self.close_elements("lane");
        let _ = writeln!(self.text, "{back} }}");
        self.close_chains(inner, &in_lanes);
        if known.is_some_and(|len| len % width == 0) {
            return;
        }
        self.rest(pass, variables, sums, width, rows);
    }

    /// What is left of a row after its whole blocks of `width` elements. Of known length it is a block of a narrower register.
    fn rest(
        &mut self,
        pass: &Pass,
        variables: &Variables,
        sums: &[Option<LaneFold>],
        width: usize,
        rows: Vec<(String, bool, String)>,
    ) {
        let (len, known) = (grouped(&self.inner_len()), self.inner_known());
        for (row, _, rest) in &rows {
            let _ = writeln!(self.text, "let {row} = {rest};");
        }
        let _ = writeln!(self.text, "let start = {len} / {width} * {width};");
        let mut rests = Vec::new();
        let mut back = String::new();
        for sum in sums {
            rests.push(sum.as_ref().map(|sum| {
                let rest = self.names.fresh("rest");
                let inner = self.rank() - 1;
                let _ = match sum
                    .chains
                    .as_ref()
                    .filter(|(chain, _)| chain.axis == inner && sum.last.is_none())
                {
                    // It is a chain of its own.
                    Some((_, Gathered { lost, .. })) => {
                        let (monoid, name) = (sum.of.monoid.rust, &sum.name);
                        let _ = write!(
                            back,
                            "rt::settle_lanes::<rt::{monoid}, _, _>(&mut {name}, &mut {lost}, {rest}); "
                        );
                        writeln!(self.text, "let mut {rest} = [{}; {}];", sum.of.neutral(), sum.lanes)
                    }
                    None => {
                        let chain = sum.last.as_deref().unwrap_or(sum.chain());
                        let _ = write!(back, "{chain} = {rest}; ");
                        writeln!(self.text, "let mut {rest} = {chain};")
                    }
                };
                LaneFold { name: rest, chains: None, last: None, ..sum.clone() }
            }));
        }
        let rest = known.map(|len| len % width);
        let is_padded = match rest {
            Some(rest) => rest > ONE_BY_ONE && self.can_be_padded(pass, variables),
            None => self.is_padded(pass, variables, width),
        };
        let narrow = rest.map_or(width, |rest| rest.next_power_of_two().min(width));
        if is_padded {
            let rows: Vec<_> = rows.into_iter().map(|(row, written, _)| (row, written)).collect();
            let _ = writeln!(self.text, "if start < {len} {{");
            self.padded(pass, variables, &rests, narrow, &format!("({len} - start)"), &rows);
            let _ = writeln!(self.text, "}}\n{back}");
            return;
        }
        self.open_elements("lane", &format!("{len} - start"));
        self.element(pass, variables, &rests, At::Block);
        self.close_elements("lane");
        let _ = writeln!(self.text, "{back}");
    }

    /// Whether what is left of a row after its whole blocks is computed as one more block, filled up with zeros: that is
    /// one vector or two where `exp` and `ln`, of some twenty instructions each, would be computed number by number.
    fn is_padded(&self, pass: &Pass, variables: &Variables, width: usize) -> bool {
        let is_little = self
            .inner_known()
            .is_some_and(|len| (len / width > 0 && len % width <= ONE_BY_ONE) || len <= ONE_BY_ONE);
        let is_slow = |node: &Node| node.op.row().cost.is_series();
        !is_little && pass.elements.iter().any(is_slow) && self.can_be_padded(pass, variables)
    }

    /// Whether more may be computed of a row than there is.
    fn can_be_padded(&self, pass: &Pass, variables: &Variables) -> bool {
        let inner = self.rank() - 1;
        let loads = variables.loads.iter().zip(&self.nest.loads).filter(|(row, _)| row.is_some());
        let targets = variables.targets.iter().map(|(view, _)| view);
        // The quotient of two integers that nobody asked for may be one by 0.
        pass.elements.iter().all(|node| node.dtype.is_float())
            && loads.map(|(_, view)| view).all(|view| !matches!(Along::of(view, inner), Along::Strided))
            && targets.into_iter().all(|view| matches!(Along::of(view, inner), Along::Consecutive))
    }

    /// The `len` elements of rows that are no whole block, as a block of which only so many count.
    fn padded(
        &mut self,
        pass: &Pass,
        variables: &Variables,
        sums: &[Option<LaneFold>],
        width: usize,
        len: &str,
        rows: &[(String, bool)],
    ) {
        let mut back = String::new();
        for (row, written) in rows {
            let block = self.names.fresh(&format!("{row}_block"));
            let _ = match written {
                true => writeln!(
                    self.text,
                    "let mut {block} = rt::padded::<_, {width}>({row});\n\
                     let ({row}, {block}) = (&mut {block}, {row});"
                ),
                false => writeln!(self.text, "let {row} = &rt::padded::<_, {width}>({row});"),
            };
            if *written {
                let _ = writeln!(back, "{block}.copy_from_slice(&{row}[..{len}]);");
            }
        }
        self.open_elements("lane", &width.to_string());
        let _ = writeln!(self.text, "let counts = lane < {len};");
        self.element(pass, variables, sums, At::Padded);
        self.close_elements("lane");
        let _ = writeln!(self.text, "{back}");
    }

    /// The rows whose elements follow each other, and whether they are written.
    fn consecutive(&self, variables: &Variables) -> Vec<(String, bool)> {
        let inner = self.rank() - 1;
        let follows = |view: &View| matches!(Along::of(view, inner), Along::Consecutive);
        let targets = variables.targets.iter().filter(|(view, _)| follows(view));
        let mut rows: Vec<_> = targets.map(|(_, row)| (row.clone(), true)).collect();
        rows.extend(variables.values.iter().map(|(_, row)| (row.clone(), true)));
        if self.frame == Frame::Block {
            rows.push(("sums".to_string(), false));
        }
        let loads = variables.loads.iter().zip(&self.nest.loads);
        for (row, view) in loads.filter_map(|(row, view)| Some((row.as_ref()?, view))) {
            if follows(view) && !variables.is_target(row) {
                rows.push((row.clone(), false));
            }
        }
        rows
    }

    /// Opens a loop over so many elements. It counts by itself, since the calls that a range makes for each element are a
    /// good part of what a build without optimisation does.
    fn open_elements(&mut self, index: &str, elements: &str) {
        let _ =
            writeln!(self.text, "let (mut {index}, elements) = (0, {elements}); while {index} < elements {{");
    }

    fn close_elements(&mut self, index: &str) {
        let _ = writeln!(self.text, "{index} += 1; }}");
    }

    /// Everything that happens at one element.
    fn element(&mut self, pass: &Pass, variables: &Variables, sums: &[Option<LaneFold>], at: At) {
        for (node, name) in pass.elements.iter().zip(&variables.nodes) {
            let text = self.node(node, &variables.nodes, variables, at);
            let _ = writeln!(self.text, "let {name} = {text};");
        }
        // An operand may be the element that a store replaces.
        let operands = pass.stores.iter().map(|store| &store.operand);
        let operands = operands.chain(pass.folds.iter().map(|fold| &fold.operand));
        let mut values = Vec::new();
        for operand in operands {
            let text = self.operand(operand, &variables.nodes, variables, at);
            values.push(match operand {
                Operand::Load(_) if pass.stores.len() + pass.folds.len() > 1 => {
                    let name = self.names.fresh("element");
                    let _ = writeln!(self.text, "let {name} = {text};");
                    name
                }
                Operand::Load(_)
                | Operand::Node(_)
                | Operand::Number(_)
                | Operand::Scalar(_)
                | Operand::Sum => text,
            });
        }
        let mut values = values.into_iter();
        for (store, value) in pass.stores.iter().zip(values.by_ref()) {
            let place = self.target_element(&store.target, variables, at);
            let _ = writeln!(self.text, "{place} = {value};");
        }
        for ((_, row), value) in variables.values.iter().zip(values.by_ref()) {
            let index = match at {
                At::Row => "j",
                At::Block | At::Padded => "lane",
            };
            let _ = writeln!(self.text, "{row}[{index}] = {value};");
        }
        for ((fold, sum), value) in pass.folds.iter().zip(sums).zip(values.by_ref()) {
            let widest = sums.iter().flatten().map(|sum| sum.lanes).max();
            let place = match (&fold.target, sum) {
                (Target::Memory(view), _) => self.target_element(view, variables, at),
                (_, Some(sum)) if Some(sum.lanes) == widest => format!("{}[lane]", sum.chain()),
                (_, Some(sum)) => format!("{}[lane % {}]", sum.chain(), sum.lanes),
                (_, None) => unreachable!("sums along a row have lanes"),
            };
            let sum = combined(&place, &value, fold);
            let _ = match at {
                At::Row | At::Block => writeln!(self.text, "{place} = {sum};"),
                At::Padded => writeln!(self.text, "{place} = if counts {{ {sum} }} else {{ {place} }};"),
            };
        }
        assert!(values.next().is_none(), "each value is stored, kept in a row or added to a sum");
    }

    pub(super) fn node(&self, node: &Node, nodes: &[String], variables: &Variables, at: At) -> String {
        let operands = node.operands.iter().map(|operand| self.operand(operand, nodes, variables, at));
        let functions = match self.frame {
            Frame::Nest | Frame::Rows => "by",
            Frame::Block | Frame::Row => "rt",
        };
        expression(node.op, &operands.collect::<Vec<_>>(), node.dtype, functions)
    }

    pub(super) fn operand(
        &self,
        operand: &Operand,
        nodes: &[String],
        variables: &Variables,
        at: At,
    ) -> String {
        match operand {
            Operand::Node(node) => nodes[*node].clone(),
            Operand::Number(value) => {
                let number = self.numbers.iter().rfind(|number| number.value == *value);
                number.expect("numbers are computed before they are read").name.clone()
            }
            Operand::Scalar(scalar) => self.captures.scalar(self.body, scalar),
            Operand::Load(load) => {
                let name = variables.loads[*load].as_ref().expect("a pass names what it reads");
                self.along(name, &self.nest.loads[*load], at, variables.is_target(name))
            }
            Operand::Sum => match at {
                At::Row => "sums[j]".to_string(),
                At::Block | At::Padded => "sums[lane]".to_string(),
            },
        }
    }

    fn target_element(&self, view: &View, variables: &Variables, at: At) -> String {
        let row = variables.targets.iter().find(|(known, _)| known.buffer() == view.buffer());
        let (_, name) = row.expect("a pass names what it writes");
        self.along(name, view, at, true)
    }

    /// The element of a row; a row that stands still is its only element, unless it is written.
    fn along(&self, name: &str, view: &View, at: At, written: bool) -> String {
        let inner = self.rank() - 1;
        match (Along::of(view, inner), at) {
            (Along::Still, _) if written => format!("{name}[0]"),
            (Along::Still, _) => name.to_string(),
            (Along::Consecutive, At::Row) => format!("{name}[j]"),
            (Along::Consecutive, At::Block | At::Padded) => format!("{name}[lane]"),
            (Along::Strided, At::Row) => format!("{name}[j * {}]", self.stride(view, inner)),
            (Along::Strided, At::Block | At::Padded) => {
                format!("{name}[(start + lane) * {}]", self.stride(view, inner))
            }
        }
    }
}

/// Whether elements are computed from numbers of their row.
fn reads_numbers(pass: &Pass) -> bool {
    let mut operands = pass.elements.iter().flat_map(|node| &node.operands);
    operands.any(|operand| matches!(operand, Operand::Number(_)))
}
