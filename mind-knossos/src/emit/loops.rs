//! Emits loops.

use super::{
    body::Writer,
    hoist::Around,
    kinds::{Kind, Tree, tuple},
    placeholders::{Allocated, placeholder},
    repr::{Borrowed, Leaf, Repr},
    turns::IterationResults,
};
use crate::{
    ir::{BlockId, Body, Instruction, Loop, Operation, Position, ValueId},
    opt::Pointwise,
};

impl Writer<'_> {
    pub(super) fn turns(&mut self, instruction: &Instruction, form: Loop, body: BlockId) -> Repr {
        let size = self.get(instruction.operands[0]).clone();
        let mut extents = Vec::new();
        for leaf in size.leaves() {
            let Leaf::Scalar(scalar) = leaf else { unreachable!("a size is of Integers") };
            let name = self.fresh("n");
            match &scalar.count {
                Some(count) => {
                    self.same_extent(&name, count);
                    self.line(format!("let {name}: usize = {count};"));
                }
                None => self.line(format!("let {name} = k::extent({}, {})?;", scalar.text, self.at())),
            }
            extents.push(name);
        }
        if extents.len() > 1 {
            self.line(format!("k::total([{}], {})?;", extents.join(", "), self.at()));
        }
        match form {
            Loop::Build => self.build(instruction, body, &extents),
            Loop::Sum => self.sum_of_turns(instruction, body, &extents),
            Loop::Fold | Loop::Scan => self.carried(instruction, form, body, &extents),
        }
    }

    /// Emits nested loops over the extents around statements that use these counters.
    fn nest(&mut self, extents: &[String], counters: &[String], around: &Around, statements: &str) {
        let [before, after] = self.later.around_loop(statements);
        self.out.push_str(&before);
        for (axis, (counter, extent)) in counters.iter().zip(extents).enumerate() {
            if axis + 1 == extents.len() {
                self.out.push_str(&around.before);
            }
            self.line(format!("for {counter} in 0..{extent} {{"));
        }
        self.out.push_str(&around.begin);
        self.out.push_str(statements);
        self.out.push_str(&around.end);
        self.line("}".repeat(extents.len()) + &after);
    }

    /// Emits loops over all extents except the last. `kernel` runs the iterations of the last one.
    fn nest_of_rows(&mut self, extents: &[String], counters: &[String], around: &Around, kernel: &str) {
        let outer = extents.len() - 1;
        for (counter, extent) in counters.iter().zip(extents).take(outer) {
            self.line(format!("for {counter} in 0..{extent} {{"));
        }
        self.out.push_str(&around.before);
        self.out.push_str(kernel);
        if outer > 0 {
            self.line("}".repeat(outer));
        }
    }

    /// Like [`Writer::enter`], after the shared instructions of a loop that a kernel runs.
    fn enter_parts(
        &mut self,
        body: BlockId,
        parts: Option<&Pointwise>,
        counter: &Repr,
        counters: &[String],
        extents: &[String],
    ) -> Around {
        let Some(parts) = parts else { return self.enter(body, counters, extents) };
        self.set(self.body.block(body).parameters[0], counter.clone());
        let shared = self.shared(body, parts, &extents[extents.len() - 1]);
        let mut around = self.enter(body, counters, extents);
        around.before.insert_str(0, &shared);
        around
    }

    fn counters(&mut self, extents: &[String]) -> (Vec<String>, Repr) {
        let names: Vec<_> = extents.iter().map(|_| self.fresh("i")).collect();
        let mut reprs: Vec<_> = names.iter().map(|name| Repr::count(name)).collect();
        let repr = if reprs.len() == 1 { reprs.remove(0) } else { Repr::Tuple(reprs) };
        (names, repr)
    }

    fn build(&mut self, instruction: &Instruction, body: BlockId, extents: &[String]) -> Repr {
        let tree = self.tree_of(instruction.result);
        let kept = self.is_used(instruction.result);
        let summand = self.summands.remove(&instruction.result);
        let adds = summand.is_some();
        let buffers: Vec<Buffer> = match (kept, summand) {
            (_, Some((sums, place))) => {
                let leaves = tree.leaves().into_iter().zip(sums);
                leaves.map(|(kind, sum)| self.summand(kind, extents, sum, place)).collect()
            }
            (true, None) => tree.leaves().into_iter().map(|kind| self.buffer(kind, extents)).collect(),
            (false, None) => Vec::new(),
        };
        if let [buffer] = &buffers[..]
            && !adds
            && buffer.kind.is_numeric_tensor()
            && self.one_operation(instruction, extents, &buffer.slice).is_some()
        {
            return self.finish(&buffers, &tree, extents);
        }
        let (counters, counter) = self.counters(extents);
        let block = self.body.block(body);
        let (counter_here, last) = (&counters[counters.len() - 1], &extents[extents.len() - 1]);
        let parts = self.pointwise(instruction);
        let mut around = self.enter_parts(body, parts.as_ref(), &counter, &counters, extents);
        if extents.len() > 1 {
            for Buffer { slice, element, .. } in &buffers {
                if matches!(element, Kind::Float | Kind::Integer) {
                    let place = self.fresh("at");
                    self.line(format!("let mut {place} = 0_usize;"));
                    around.before += &format!(
                        "let {slice} = &mut {slice}[{place}..{place} + {last}]; {place} += {last};\n"
                    );
                }
            }
        }
        let floats = buffers.iter().all(|buffer| buffer.element == Kind::Float);
        let slices: Vec<_> = buffers.iter().map(|buffer| buffer.slice.clone()).collect();
        let kernel = parts.filter(|_| floats).and_then(|parts| {
            self.kernel(body, &parts, &around, last, &IterationResults::Rows(&slices, adds))
        });
        if let Some(kernel) = kernel {
            self.leave(&around);
            self.nest_of_rows(extents, &counters, &around, &kernel);
            return self.built(kept, adds, &buffers, &tree, extents);
        }
        let (statements, ()) = self.nested(|this| {
            this.set(block.parameters[0], counter);
            let result = this.block(body);
            if kept {
                let element = this.tree_of(block.result);
                this.at = (body, usize::MAX);
                let owned = this.own(&[(&result, &element)]);
                this.store(&buffers, &owned, counter_here);
            }
        });
        self.leave(&around);
        self.nest(extents, &counters, &around, &statements);
        self.built(kept, adds, &buffers, &tree, extents)
    }

    /// The result of a loop, unless it is unused or was added to a sum.
    fn built(&mut self, kept: bool, adds: bool, buffers: &[Buffer], tree: &Tree, extents: &[String]) -> Repr {
        match kept && !adds {
            true => self.finish(buffers, tree, extents),
            false => Repr::of(tree, &mut |_| Leaf::scalar("()")),
        }
    }

    /// The memory of a sum of tensors, which a loop adds its elements to.
    fn summand(&mut self, kind: &Kind, extents: &[String], sum: String, place: Position) -> Buffer {
        let slice = self.fresh("w");
        let size = format!("[{}]", extents.join(", "));
        let (at, at_sum) = (self.at(), self.kinds.at(&self.kinds.program.function(self.id).name, place));
        let Kind::Tensor(_, element) = kind else { unreachable!("a loop builds no {kind:?}") };
        self.line(format!("let {slice} = &mut *k::summand(&mut {sum}, {size}, {at}, {at_sum})?;"));
        if let [extent] = extents {
            self.line(format!("let {slice} = &mut {slice}[..{extent}];"));
        }
        Buffer { name: sum, slice, size, element: (**element).clone(), kind: kind.clone(), adds: true }
    }

    /// Lets loops that build the terms of a sum add to the sum directly. Returns for each leaf whether this is done.
    fn sum_in_place(
        &mut self,
        sum: &Instruction,
        block: BlockId,
        kinds: &[Kind],
        sums: &[String],
    ) -> Vec<bool> {
        let mut in_place = vec![false; kinds.len()];
        let (value, place) = (self.body.block(block).result, sum.place);
        self.find_summands(value, block, place, kinds, sums, &mut in_place);
        in_place
    }

    fn find_summands(
        &mut self,
        value: ValueId,
        block: BlockId,
        place: Position,
        kinds: &[Kind],
        sums: &[String],
        in_place: &mut [bool],
    ) {
        let own = self.body.block(block).instructions.iter().find(|own| own.result == value);
        match own.map(|own| (&own.operation, own)) {
            Some((Operation::Tuple, own)) => {
                let mut first = 0;
                for member in &own.operands {
                    let count = self.tree_of(*member).leaves().len();
                    let range = first..first + count;
                    let (kinds, sums) = (&kinds[range.clone()], &sums[range.clone()]);
                    self.find_summands(*member, block, place, kinds, sums, &mut in_place[range]);
                    first += count;
                }
            }
            Some((Operation::Loop(Loop::Build, _), own))
                if kinds.iter().all(Kind::is_numeric_tensor)
                    && uses(self.body, block, value) == 1
                    && !self.is_one_operation(own) =>
            {
                self.summands.insert(value, (sums.to_vec(), place));
                in_place.fill(true);
            }
            _ => {}
        }
    }

    /// Allocates memory for a leaf of a loop's result.
    fn buffer(&mut self, kind: &Kind, extents: &[String]) -> Buffer {
        let (name, size) = (self.fresh("o"), format!("[{}]", extents.join(", ")));
        let slice = self.fresh("w");
        let (owned, at) = (self.kinds.owned(kind), self.at());
        let element = match kind {
            Kind::Tensor(_, element) => (**element).clone(),
            kind => unreachable!("a loop leaves no {kind:?}"),
        };
        match element {
            Kind::Float | Kind::Integer => {
                self.line(placeholder(&name));
                self.later.allocated.push(Allocated {
                    name: name.clone(),
                    ty: owned,
                    size: size.clone(),
                    at,
                    in_loop: false,
                });
                match extents {
                    [extent] => self.line(format!("let {slice} = &mut {name}.data_mut()[..{extent}];")),
                    _ => self.line(format!("let {slice} = {name}.data_mut();")),
                }
            }
            _ => self.line(format!(
                "let mut {slice} = k::elements::<{}, _>({size}, {at})?;",
                self.kinds.owned(&element)
            )),
        }
        Buffer { name, slice, size, element, kind: kind.clone(), adds: false }
    }

    /// Stores the leaves of an iteration's result in buffers. Units have a buffer but no leaf.
    fn store(&mut self, buffers: &[Buffer], owned: &[String], position: &str) {
        let mut owned = owned.iter();
        for Buffer { slice, element, adds, .. } in buffers {
            let line = match element {
                Kind::Unit => format!("{slice}.push(());"),
                Kind::Float | Kind::Integer => {
                    let value = owned.next().expect("one for each leaf");
                    match (adds, element) {
                        (false, _) => format!("{slice}[{position}] = {value};"),
                        (true, Kind::Float) => format!("{slice}[{position}] += {value};"),
                        (true, _) => {
                            format!("{slice}[{position}] = i64::wrapping_add({slice}[{position}], {value});")
                        }
                    }
                }
                _ => format!("{slice}.push({});", owned.next().expect("one for each leaf")),
            };
            self.line(line);
        }
    }

    /// Converts filled buffers to tensors.
    fn finish(&mut self, buffers: &[Buffer], tree: &Tree, extents: &[String]) -> Repr {
        let mut made = Vec::new();
        for Buffer { name, slice, size, element, kind, .. } in buffers {
            if !matches!(element, Kind::Float | Kind::Integer) {
                let owned = self.kinds.owned(kind);
                self.line(format!("let {name} = <{owned} as k::Array>::from_parts({size}, {slice});"));
            }
            let leaf = self.owned_by(kind, name.clone());
            for (axis, extent) in extents.iter().enumerate() {
                self.same_extent(&format!("{}.size[{axis}]", leaf.text()), extent);
            }
            made.push(leaf);
        }
        let mut made = made.into_iter();
        Repr::of(tree, &mut |_| made.next().expect("one for each leaf"))
    }

    fn sum_of_turns(&mut self, instruction: &Instruction, body: BlockId, extents: &[String]) -> Repr {
        let (counters, counter) = self.counters(extents);
        let parts = self.pointwise(instruction);
        let around = self.enter_parts(body, parts.as_ref(), &counter, &counters, extents);
        if let ([_], Some(sum)) = (extents, self.sum_of_rows(body)) {
            self.leave(&around);
            self.out.push_str(&around.before);
            return self.local(&sum);
        }
        let tree = self.tree_of(instruction.result);
        let kinds: Vec<Kind> = tree.leaves().into_iter().cloned().collect();
        let sums: Vec<_> = kinds.iter().map(|_| self.fresh("s")).collect();
        let float = self.kinds.float();
        for (kind, sum) in kinds.iter().zip(&sums) {
            self.line(match kind {
                // Adding to -0 keeps every number, including the sign of zero.
                Kind::Float => format!("let mut {sum} = -0.0_{float};"),
                Kind::Integer => format!("let mut {sum} = 0_i64;"),
                kind => format!("let mut {sum}: Option<{}> = None;", self.kinds.owned(kind)),
            });
        }
        let block = self.body.block(body);
        let last = &extents[extents.len() - 1];
        let kernel =
            parts.and_then(|parts| self.kernel(body, &parts, &around, last, &IterationResults::Sums(&sums)));
        if let Some(kernel) = kernel {
            self.leave(&around);
            self.nest_of_rows(extents, &counters, &around, &kernel);
            return self.finish_sums(instruction, &tree, &kinds, sums, extents);
        }
        let in_place = self.sum_in_place(instruction, body, &kinds, &sums);
        let (statements, ()) = self.nested(|this| {
            this.set(block.parameters[0], counter);
            let result = this.block(body);
            this.at = (body, usize::MAX);
            this.place = instruction.place;
            let at = this.at();
            let leaves: Vec<Leaf> = result.leaves().into_iter().cloned().collect();
            let leaves = leaves.into_iter().zip(&in_place).filter(|(_, in_place)| !**in_place);
            let sums = kinds.iter().zip(&sums).zip(&in_place).filter(|(_, in_place)| !**in_place);
            for (((kind, sum), _), (leaf, _)) in sums.zip(leaves) {
                let value = this.nominal(&leaf, kind).text().to_owned();
                match kind {
                    Kind::Float => this.line(format!("{sum} += {value};")),
                    Kind::Integer => this.line(format!("{sum} = i64::wrapping_add({sum}, {value});")),
                    kind => {
                        let (copy, owned) = this.nested(|this| {
                            this.depth -= 1;
                            let owned = this.own(&[(&Repr::Leaf(leaf.clone()), &Tree::Leaf(kind.clone()))]);
                            this.depth += 1;
                            owned
                        });
                        this.line(format!(
                            "match &mut {sum} {{ Some(sum) => sum.grow(&{value}, {at})?, \
                             None => {{ {copy}{sum} = Some({}); }} }}",
                            owned[0]
                        ));
                    }
                }
            }
        });
        self.leave(&around);
        self.nest(extents, &counters, &around, &statements);
        self.finish_sums(instruction, &tree, &kinds, sums, extents)
    }

    /// The results of sums.
    fn finish_sums(
        &mut self,
        instruction: &Instruction,
        tree: &Tree,
        kinds: &[Kind],
        sums: Vec<String>,
        extents: &[String],
    ) -> Repr {
        let float = self.kinds.float();
        let ty = self.kinds.program.types.show(self.body.ty(instruction.result));
        let nothing = format!("an empty sum of {ty} has no known size");
        let empty: Vec<_> = extents.iter().map(|extent| format!("{extent} == 0")).collect();
        let empty = empty.join(" || ");
        let mut made = Vec::new();
        for (kind, sum) in kinds.iter().zip(sums) {
            made.push(match kind {
                Kind::Float => {
                    self.local(&format!("if {empty} {{ 0.0_{float} }} else {{ {sum} }}")).first().clone()
                }
                Kind::Integer => Leaf::scalar(sum),
                kind => {
                    let at = self.at();
                    let name = self.fresh("o");
                    self.line(format!(
                        "let Some({name}) = {sum} else {{ return Err({at}.failure({nothing:?})); }};"
                    ));
                    self.owned_by(kind, name)
                }
            });
        }
        let mut made = made.into_iter();
        Repr::of(tree, &mut |_| made.next().expect("one for each leaf"))
    }

    /// Emits a fold or a scan.
    fn carried(&mut self, instruction: &Instruction, form: Loop, body: BlockId, extents: &[String]) -> Repr {
        let first = instruction.operands[1];
        let carried_tree = self.tree_of(first);
        let repr = self.get(first).clone();
        let owned = self.own(&[(&repr, &carried_tree)]);
        let kinds: Vec<Kind> = carried_tree.leaves().into_iter().cloned().collect();
        let names: Vec<_> = kinds.iter().map(|_| self.fresh("c")).collect();
        for ((kind, name), owned) in kinds.iter().zip(&names).zip(owned) {
            self.line(format!("let mut {name}: {} = {owned};", self.kinds.owned(kind)));
        }
        let tree = self.tree_of(instruction.result);
        let kept_tree = match (&*tree, form) {
            (Tree::Tuple(members), Loop::Scan) => Some(members[1].clone()),
            _ => None,
        };
        let buffers: Vec<Buffer> = match &kept_tree {
            Some(tree) => tree.leaves().into_iter().map(|kind| self.buffer(kind, extents)).collect(),
            None => Vec::new(),
        };
        let (counters, counter) = self.counters(extents);
        let block = self.body.block(body);
        let around = self.enter(body, &counters, extents);
        let (statements, ()) = self.nested(|this| {
            this.set(block.parameters[0], counter);
            let mut given = Vec::new();
            for (kind, name) in kinds.iter().zip(&names) {
                given.push(if kind.is_scalar() {
                    Leaf::scalar(this.local(name).text())
                } else {
                    let text = this.fresh("v");
                    this.line(format!("let {text} = {};", super::body::borrow(kind, name)));
                    let (kind, depth) = (kind.clone(), this.depth);
                    Leaf::Borrowed(Borrowed { text, kind, owner: None, roots: Vec::new(), depth })
                });
            }
            let before = given.clone();
            let mut given = given.into_iter();
            let carried = Repr::of(&carried_tree, &mut |_| given.next().expect("one for each leaf"));
            this.set(block.parameters[1], carried);
            let result = this.block(body);
            this.at = (body, usize::MAX);
            let result_tree = this.tree_of(block.result);
            // A value that is only passed on is not assigned again.
            let (next, kept) = match form {
                Loop::Scan => (result.member(0).clone(), Some(result.member(1).clone())),
                _ => (result, None),
            };
            let next: Vec<Leaf> = next.leaves().into_iter().cloned().collect();
            let changed: Vec<usize> =
                (0..next.len()).filter(|leaf| next[*leaf].text() != before[*leaf].text()).collect();
            let mut parts: Vec<(Repr, Tree)> = changed
                .iter()
                .map(|leaf| (Repr::Leaf(next[*leaf].clone()), Tree::Leaf(kinds[*leaf].clone())))
                .collect();
            if let (Some(kept), Tree::Tuple(trees)) = (kept, &*result_tree) {
                parts.push((kept, trees[1].clone()));
            }
            let parts: Vec<_> = parts.iter().map(|(repr, tree)| (repr, tree)).collect();
            let owned = this.own(&parts);
            let (next, kept) = owned.split_at(changed.len());
            this.store(&buffers, kept, &counters[0]);
            let assigned: Vec<_> = changed.iter().map(|leaf| names[*leaf].clone()).collect();
            if !assigned.is_empty() {
                this.line(format!("{} = {};", tuple(&assigned), tuple(next)));
            }
        });
        self.leave(&around);
        self.nest(extents, &counters, &around, &statements);
        let mut made = Vec::new();
        for (kind, name) in kinds.iter().zip(names) {
            made.push(self.owned_by(kind, name));
        }
        let mut made = made.into_iter();
        let last = Repr::of(&carried_tree, &mut |_| made.next().expect("one for each leaf"));
        match &kept_tree {
            Some(tree) => {
                let kept = self.finish(&buffers, tree, extents);
                Repr::Tuple(vec![last, kept])
            }
            None => last,
        }
    }
}

/// Memory that the iterations of a loop fill.
struct Buffer {
    /// The variable that finally owns the tensor.
    name: String,
    /// The name that is written to: a slice, or a `Vec` to push to.
    slice: String,
    size: String,
    element: Kind,
    kind: Kind,
    /// Whether results are added to the present elements.
    adds: bool,
}

/// The number of uses of a value in a block and its nested blocks.
fn uses(body: &Body, id: BlockId, value: ValueId) -> usize {
    let block = body.block(id);
    let of_instruction = |instruction: &Instruction| {
        let own = instruction.operands.iter().filter(|operand| **operand == value).count();
        own + instruction.operation.blocks().map(|inner| uses(body, inner, value)).sum::<usize>()
    };
    usize::from(block.result == value) + block.instructions.iter().map(of_instruction).sum::<usize>()
}
