//! Emits instructions other than loops and accumulator operations.

use super::{
    body::{Writer, borrow, inner_name},
    kinds::{Kind, Tree, tuple},
    repr::{Borrowed, Leaf, Repr, Scalar as ScalarLeaf, Variant},
};
use crate::{
    interp::Precision,
    ir::{BlockId, Check, Definition, FunctionId, Instruction, LayoutId, Operation, ValueId},
    scalars::Scalar,
    types::Type,
};

impl Writer<'_> {
    /// Emits an instruction and returns its result.
    pub(super) fn instruction(&mut self, instruction: &Instruction) -> Repr {
        // Blocks nest as deep as in the program, so each level of recursion must use little stack.
        match &instruction.operation {
            Operation::Loop(form, body) => self.turns(instruction, *form, *body),
            Operation::If(then, otherwise) => {
                let blocks = [*then, *otherwise];
                self.branch(instruction, blocks)
            }
            _ => self.without_blocks(instruction),
        }
    }

    fn without_blocks(&mut self, instruction: &Instruction) -> Repr {
        let Instruction { result, operation, operands, .. } = instruction;
        let tree = self.tree_of(*result);
        match operation {
            Operation::Integer(value) => {
                let count = (*value >= 0).then(|| format!("{value}_usize"));
                Repr::Leaf(Leaf::Scalar(ScalarLeaf { text: integer(*value), count }))
            }
            Operation::Float(value) => Repr::scalar(self.float(*value)),
            Operation::Bool(value) => Repr::scalar(value.to_string()),
            Operation::String(value) => Repr::Leaf(Leaf::Borrowed(Borrowed {
                text: format!("{value:?}"),
                kind: Kind::String,
                owner: None,
                roots: Vec::new(),
                depth: 0,
            })),
            Operation::Scalar(scalar) => {
                let operands: Vec<_> =
                    operands.iter().map(|operand| self.get(*operand).text().to_owned()).collect();
                let expression = self.scalar(*scalar, &operands);
                let made = self.local(&expression);
                self.note_sum(made.text(), *scalar, &operands);
                made
            }
            Operation::Tuple => {
                Repr::Tuple(operands.iter().map(|operand| self.get(*operand).clone()).collect())
            }
            Operation::Get(member) => self.get(operands[0]).member(*member).clone(),
            Operation::Equal => self.equal(operands[0], operands[1]),
            Operation::Size => self.size(operands[0]),
            Operation::Index => self.index(operands[0], operands[1]),
            Operation::VecInit => self.vector(operands, &tree),
            Operation::ArgMax => {
                let view = self.get(operands[0]).text().to_owned();
                let expression = format!("k::arg_max({view}, {})?", self.at());
                self.local(&expression)
            }
            // A tensor of tuples is already represented as a tuple of tensors.
            Operation::Unzip => self.get(operands[0]).clone(),
            Operation::Structure => structure(self.get(operands[0])),
            Operation::Zero => {
                let structure = self.get(operands[0]).clone();
                self.zero(&structure, &tree)
            }
            Operation::Add => self.add(operands[0], operands[1]),
            Operation::Negate => self.negate(operands[0]),
            Operation::Scale => self.scale(operands[0], operands[1]),
            Operation::Dot => self.dot(operands[0], operands[1]),
            Operation::Loop(..) | Operation::If(..) => unreachable!("an instruction with blocks"),
            Operation::Assert(check) => {
                let message = match check {
                    Check::Written => "the assertion failed".to_owned(),
                    Check::Sizes(name) => format!("the tensors of `{name}` have different sizes"),
                };
                let condition = self.get(operands[0]).text().to_owned();
                self.assume_equal_sizes(operands[0]);
                self.line(format!("if !{condition} {{ return Err({}.failure({message:?})); }}", self.at()));
                Repr::unit()
            }
            Operation::Bounds => self.bounds(operands),
            Operation::Print => self.print(operands),
            Operation::Call(id) => self.call(*id, operands, &tree),
            Operation::Accumulator => self.accumulator(operands[0], *result),
            Operation::AddTo(steps) => {
                let (value, indices) = operands[1..].split_last().expect("the added value comes last");
                let part = self.part(operands[0], steps, indices);
                self.add_to(&part, *value);
                Repr::unit()
            }
            Operation::Part(steps) => self.part(operands[0], steps, &operands[1..]),
            Operation::Read => self.read_accumulator(operands[0]),
            Operation::Pack(layout) => self.pack(*layout, operands),
            Operation::Unpack(layout, member) => self.unpack(*layout, *member, operands[0], *result),
        }
    }

    fn float(&self, value: f64) -> String {
        let float = self.kinds.float();
        match self.kinds.options.precision {
            Precision::F64 if value.is_finite() => format!("({value:?}_f64)"),
            Precision::F32 if (value as f32).is_finite() => format!("({:?}_f32)", value as f32),
            _ if value.is_nan() => format!("{float}::NAN"),
            _ if value > 0.0 => format!("{float}::INFINITY"),
            _ => format!("{float}::NEG_INFINITY"),
        }
    }

    fn scalar(&self, scalar: Scalar, x: &[String]) -> String {
        let float = self.kinds.float();
        // Operations that the type itself rounds exactly are computed directly. The others use double precision.
        let wide = |function: &str| match self.kinds.options.precision {
            Precision::F64 => format!("f64::{function}({})", x[0]),
            Precision::F32 => format!("(f64::{function}(f64::from({})) as f32)", x[0]),
        };
        let rounded = |call: &str| match self.kinds.options.precision {
            Precision::F64 => call.to_owned(),
            Precision::F32 => format!("({call} as f32)"),
        };
        let widened = |x: &str| match self.kinds.options.precision {
            Precision::F64 => x.to_owned(),
            Precision::F32 => format!("f64::from({x})"),
        };
        let binary = |operator: &str| format!("{} {operator} {}", x[0], x[1]);
        if self.in_kernel {
            match scalar {
                Scalar::Exp => return format!("A::exp({})", x[0]),
                Scalar::Log => return format!("A::ln({})", x[0]),
                Scalar::Tanh => return format!("A::tanh({})", x[0]),
                _ => {}
            }
        }
        match scalar {
            Scalar::AddF => binary("+"),
            Scalar::SubF => binary("-"),
            Scalar::MulF => binary("*"),
            Scalar::DivF => binary("/"),
            Scalar::AddI => format!("i64::wrapping_add({}, {})", x[0], x[1]),
            Scalar::SubI => format!("i64::wrapping_sub({}, {})", x[0], x[1]),
            Scalar::MulI => format!("i64::wrapping_mul({}, {})", x[0], x[1]),
            Scalar::DivI => format!("k::divide({}, {}, {})?", x[0], x[1], self.at()),
            Scalar::NegF => format!("-{}", x[0]),
            Scalar::NegI => format!("i64::wrapping_neg({})", x[0]),
            Scalar::GtF | Scalar::GtI => binary(">"),
            Scalar::LtF | Scalar::LtI => binary("<"),
            Scalar::GteF | Scalar::GteI => binary(">="),
            Scalar::LteF | Scalar::LteI => binary("<="),
            Scalar::Pow => rounded(&format!("k::power({}, {})", widened(&x[0]), x[1])),
            Scalar::Log => wide("ln"),
            Scalar::Exp => wide("exp"),
            Scalar::Sin => wide("sin"),
            Scalar::Cos => wide("cos"),
            Scalar::Tanh => wide("tanh"),
            Scalar::Cosh => wide("cosh"),
            Scalar::Sinh => wide("sinh"),
            Scalar::Abs => format!("{float}::abs({})", x[0]),
            Scalar::Sqrt => format!("{float}::sqrt({})", x[0]),
            Scalar::Erf => rounded(&format!("k::erf({})", widened(&x[0]))),
            Scalar::Lgamma => rounded(&format!("k::lgamma({})", widened(&x[0]))),
            Scalar::Polygamma => rounded(&format!("k::polygamma({}, {})", x[0], widened(&x[1]))),
            Scalar::Atan2 => rounded(&format!("f64::atan2({}, {})", widened(&x[0]), widened(&x[1]))),
            Scalar::Max => format!("k::maximum({}, {})", x[0], x[1]),
            Scalar::Min => format!("k::minimum({}, {})", x[0], x[1]),
            Scalar::Or => binary("|"),
            Scalar::And => binary("&"),
            Scalar::Not => format!("!{}", x[0]),
            Scalar::ToFloat => format!("k::from_integer::<{float}>({})", x[0]),
            Scalar::BoolToFloat => format!("{float}::from(u8::from({}))", x[0]),
            Scalar::Pi => format!("std::{float}::consts::PI"),
            Scalar::RandomHash => rounded(&format!("k::random_hash({})", x[0])),
        }
    }

    fn bounds(&mut self, operands: &[ValueId]) -> Repr {
        let mut extents = Vec::new();
        for leaf in self.get(operands[0]).clone().leaves() {
            let Leaf::Scalar(scalar) = leaf else { unreachable!("a size is of Integers") };
            extents.push(match &scalar.count {
                Some(count) => count.clone(),
                None => {
                    let name = self.fresh("n");
                    self.line(format!("let {name} = k::extent({}, {})?;", scalar.text, self.at()));
                    name
                }
            });
        }
        if let Some(index) = operands.get(1) {
            let (index, extents) = (self.members(*index).join(", "), extents.join(", "));
            self.line(format!("k::within([{index}], [{extents}], {})?;", self.at()));
        }
        Repr::unit()
    }

    fn size(&mut self, tensor: ValueId) -> Repr {
        let view = self.get(tensor).text().to_owned();
        let rank = self.rank_of(tensor);
        let mut extents = Vec::new();
        for axis in 0..rank {
            let name = self.fresh("n");
            self.line(format!("let {name} = {view}.size[{axis}];"));
            self.same_extent(&name, &format!("{view}.size[{axis}]"));
            extents.push(Repr::count(&name));
        }
        if rank == 1 { extents.remove(0) } else { Repr::Tuple(extents) }
    }

    /// Records that two sizes are equal after an assertion of it.
    fn assume_equal_sizes(&mut self, condition: ValueId) {
        let Some(made) = self.made[condition.index()].filter(|made| made.operation == Operation::Equal)
        else {
            return;
        };
        let counts = |this: &Self, value: ValueId| -> Vec<Option<String>> {
            let leaves = this.get(value).leaves().into_iter();
            let count = |leaf: &Leaf| match leaf {
                Leaf::Scalar(scalar) => scalar.count.clone(),
                Leaf::Borrowed(_) | Leaf::AccumulatorPart(_) => None,
            };
            leaves.map(count).collect()
        };
        let [left, right] = [made.operands[0], made.operands[1]].map(|value| counts(self, value));
        // An assertion in a branch or loop holds only there.
        if self.depth == 0 {
            for (left, right) in left.into_iter().zip(right) {
                if let (Some(left), Some(right)) = (left, right) {
                    self.same_extent(&left, &right);
                }
            }
        }
    }

    pub(super) fn rank_of(&self, tensor: ValueId) -> usize {
        let types = &self.kinds.program.types;
        types.element(self.body.ty(tensor)).map_or(1, |(rank, _)| rank as usize)
    }

    fn index(&mut self, index: ValueId, tensor: ValueId) -> Repr {
        let index = self.members(index);
        let tensor = self.get(tensor).clone();
        self.element(&tensor, &index)
    }

    /// The members of an index or a size.
    pub(super) fn members(&self, index: ValueId) -> Vec<String> {
        self.get(index).leaves().iter().map(|leaf| leaf.text().to_owned()).collect()
    }

    fn element(&mut self, tensor: &Repr, index: &[String]) -> Repr {
        let leaf = match tensor {
            Repr::Tuple(members) => {
                return Repr::Tuple(members.iter().map(|member| self.element(member, index)).collect());
            }
            Repr::Leaf(leaf) => leaf.clone(),
        };
        let Leaf::Borrowed(Borrowed { text, kind: Kind::Tensor(_, kind), roots, depth, .. }) = leaf else {
            unreachable!("only tensors are indexed")
        };
        let row = self.in_row(&text, index);
        let found = row.clone().map_or_else(
            || format!("{text}.get([{}], {})?", index.join(", "), self.at()),
            |element| format!("(&{element})"),
        );
        match *kind {
            Kind::Unit => {
                self.line(format!("{found};"));
                Repr::unit()
            }
            Kind::Float | Kind::Integer | Kind::Bool => {
                self.local(&row.unwrap_or_else(|| format!("*{found}")))
            }
            Kind::String | Kind::Tape | Kind::Tensor(..) => {
                let name = self.fresh("v");
                let found = if *kind == Kind::Tape { found } else { borrow(&kind, &found) };
                self.line(format!("let {name} = {found};"));
                Repr::Leaf(Leaf::Borrowed(Borrowed { text: name, kind: *kind, owner: None, roots, depth }))
            }
        }
    }

    fn vector(&mut self, operands: &[ValueId], tree: &Tree) -> Repr {
        let trees: Vec<_> = operands.iter().map(|operand| self.tree_of(*operand)).collect();
        let reprs: Vec<_> = operands.iter().map(|operand| self.get(*operand).clone()).collect();
        let parts: Vec<_> = reprs.iter().zip(&trees).map(|(repr, tree)| (repr, &**tree)).collect();
        let owned = self.own(&parts);
        let count = operands.len();
        let leaves = owned.len() / count;
        let (mut used, mut made) = (0, Vec::new());
        for kind in tree.leaves() {
            let list = if *kind == Kind::Tensor(1, Box::new(Kind::Unit)) {
                format!("vec![(); {count}]")
            } else {
                let elements: Vec<_> =
                    (0..count).map(|element| owned[element * leaves + used].clone()).collect();
                used += 1;
                format!("vec![{}]", elements.join(", "))
            };
            let ty = self.kinds.owned(kind);
            made.push(self.owner(kind, &format!("<{ty} as k::Array>::from_parts([{count}], {list})")));
        }
        let mut made = made.into_iter();
        Repr::of(tree, &mut |_| made.next().expect("one for each leaf"))
    }

    fn branch(&mut self, instruction: &Instruction, blocks: [BlockId; 2]) -> Repr {
        let condition = self.get(instruction.operands[0]).text().to_owned();
        let first = self.one_branch(blocks[0]);
        let second = self.one_branch(blocks[1]);
        let tree = self.tree_of(instruction.result);
        self.join_branches(&condition, blocks, [first, second], &tree)
    }

    /// The statements of a branch, and its result.
    fn one_branch(&mut self, block: BlockId) -> (String, Vec<Leaf>) {
        self.nested(|this| this.block(block).leaves().into_iter().cloned().collect())
    }

    fn join_branches(
        &mut self,
        condition: &str,
        blocks: [BlockId; 2],
        [(mut first, firsts), (mut second, seconds)]: [(String, Vec<Leaf>); 2],
        tree: &Tree,
    ) -> Repr {
        let outer = self.depth;
        let kinds: Vec<Kind> = tree.leaves().into_iter().cloned().collect();
        // A leaf that both branches only pass on is not copied.
        let passes: Vec<bool> = firsts
            .iter()
            .zip(&seconds)
            .map(|leaves| match leaves {
                (Leaf::Borrowed(first), Leaf::Borrowed(second)) => {
                    first.kind == second.kind && first.depth <= outer && second.depth <= outer
                }
                _ => false,
            })
            .collect();
        for (block, text, leaves) in [(blocks[0], &mut first, &firsts), (blocks[1], &mut second, &seconds)] {
            let (end, ()) = self.nested(|this| {
                this.at = (block, usize::MAX);
                let mut results = Vec::new();
                let own: Vec<_> = leaves.iter().zip(&kinds).zip(&passes).collect();
                let owned: Vec<(Repr, Tree)> = own
                    .iter()
                    .filter(|(_, passes)| !**passes)
                    .map(|((leaf, kind), _)| (Repr::Leaf((*leaf).clone()), Tree::Leaf((*kind).clone())))
                    .collect();
                let parts: Vec<_> = owned.iter().map(|(repr, tree)| (repr, tree)).collect();
                let mut texts = this.own(&parts).into_iter();
                for ((leaf, _), passes) in own {
                    results.push(if *passes {
                        leaf.text().to_owned()
                    } else {
                        texts.next().expect("one for each")
                    });
                }
                let results = tuple(&results);
                this.line(results);
            });
            text.push_str(&end);
        }
        let names: Vec<_> = kinds.iter().map(|_| self.fresh("o")).collect();
        self.line(format!("let {} = if {condition} {{\n{first}}} else {{\n{second}}};", tuple(&names)));
        let mut made = Vec::new();
        for (position, (kind, name)) in kinds.iter().zip(names).enumerate() {
            made.push(match (passes[position], &firsts[position], &seconds[position]) {
                (true, Leaf::Borrowed(first), Leaf::Borrowed(second)) => Leaf::Borrowed(Borrowed {
                    text: name,
                    kind: first.kind.clone(),
                    owner: None,
                    roots: first.roots.iter().chain(&second.roots).copied().collect(),
                    depth: first.depth.max(second.depth),
                }),
                _ => self.owned_by(kind, name),
            });
        }
        let mut made = made.into_iter();
        Repr::of(tree, &mut |_| made.next().expect("one for each leaf"))
    }

    fn call(&mut self, id: FunctionId, operands: &[ValueId], tree: &Tree) -> Repr {
        // The text of each argument, and the text that passes a variable of the same value.
        let mut arguments = Vec::new();
        for operand in operands {
            let repr = self.get(*operand).clone();
            if matches!(self.kinds.program.types.get(self.body.ty(*operand)), Type::Accumulator(_)) {
                for leaf in repr.leaves() {
                    let text = self.accumulator_argument(leaf);
                    let again = if text.starts_with("&mut ") { "&mut *{}" } else { "{}.reborrow()" };
                    arguments.push((text, again));
                }
            } else {
                let tree = self.tree_of(*operand);
                arguments.extend(self.read(&repr, &tree).into_iter().map(|text| (text, "{}")));
            }
        }
        let moved: Vec<(String, String)> = arguments
            .iter()
            .map(|(text, again)| {
                let name = self.fresh("x");
                (format!("let mut {name} = {text}; "), again.replace("{}", &name))
            })
            .collect();
        let arguments = arguments.into_iter().map(|(text, _)| text).collect::<Vec<_>>().join(", ");
        let name = inner_name(self.kinds, id);
        let at = self.at();
        let callee = self.kinds.program.function(id);
        let expression = match (self.reached.is_counted(id), self.reached.is_counted(self.id)) {
            _ if !matches!(callee.definition, Definition::Defined(_) | Definition::Bound(_)) => {
                let message = format!("`{}` is declared but not defined", callee.name);
                format!("Err::<{}, k::Fault>({at}.failure({message:?}))?", self.kinds.owned_leaves(tree))
            }
            _ if matches!(callee.definition, Definition::Bound(_)) => format!("{name}({at}, {arguments})?"),
            (false, _) => format!("{name}({arguments})?"),
            (true, false) => format!("{name}(k::FIRST_CALL, {arguments})?"),
            (true, true) => {
                // The closure captures copies. If it captured the caller's variables by reference, they would be kept
                // in memory on the other branch too, where nearly all calls are made.
                let (variables, again): (String, Vec<String>) = moved.into_iter().unzip();
                let again = again.join(", ");
                format!(
                    "if k::has_room(calls, {at})? {{ {name}(calls + 1, {arguments})? }} else {{ \
                     {variables}k::on_new_stack({at}, &mut move || {name}(calls + 1, {again}))? }}"
                )
            }
        };
        let kinds: Vec<Kind> = tree.leaves().into_iter().cloned().collect();
        let names: Vec<_> = kinds.iter().map(|_| self.fresh("o")).collect();
        self.line(format!("let {} = {expression};", tuple(&names)));
        let mut made = Vec::new();
        for (kind, name) in kinds.iter().zip(names) {
            made.push(self.owned_by(kind, name));
        }
        let mut made = made.into_iter();
        Repr::of(tree, &mut |_| made.next().expect("one for each leaf"))
    }

    fn pack(&mut self, layout: LayoutId, operands: &[ValueId]) -> Repr {
        let trees: Vec<_> = operands.iter().map(|operand| self.tree_of(*operand)).collect();
        let reprs: Vec<_> = operands.iter().map(|operand| self.get(*operand).clone()).collect();
        let parts: Vec<_> = reprs.iter().zip(&trees).map(|(repr, tree)| (repr, &**tree)).collect();
        let mut owned = self.own(&parts);
        let kinds = trees.iter().flat_map(|tree| tree.leaves());
        for (text, kind) in owned.iter_mut().zip(kinds) {
            if kind.holds_tapes() {
                *text = format!("k::Deep::new({text})");
            }
        }
        let types = &self.kinds.program.layouts[layout.index()];
        let values = operands.iter().zip(types).all(|(operand, ty)| self.body.ty(*operand) == *ty);
        let variant = Variant { layout, tangent: !values };
        let expression = format!("Tape::{}({})", variant.name(), owned.join(", "));
        Repr::Leaf(self.owner(&Kind::Tape, &expression))
    }

    fn unpack(&mut self, layout: LayoutId, member: usize, tape: ValueId, result: ValueId) -> Repr {
        let tree = self.tree_of(result);
        let leaf = self.get(tape).first().clone();
        let kinds: Vec<Kind> = tree.leaves().into_iter().cloned().collect();
        let names: Vec<_> = kinds.iter().map(|_| self.fresh("p")).collect();
        let fields = self.kinds.fields(layout, member, self.body.ty(result));
        let arms: String = fields
            .iter()
            .map(|(variant, fields)| {
                let count = self.kinds.variant(*variant).len();
                let pattern: Vec<_> = (0..count)
                    .map(|field| match fields.contains(&field) {
                        true => names[field - fields.start].clone(),
                        false => "_".into(),
                    })
                    .collect();
                format!("Tape::{}({}) => {}, ", variant.name(), pattern.join(", "), tuple(&names))
            })
            .collect();
        let fault =
            format!("_ => return Err({}.failure(\"the tape belongs to another function\")),", self.at());
        self.line(format!("let {} = match {} {{ {arms}{fault} }};", tuple(&names), leaf.text()));
        let (roots, depth) = match &leaf {
            Leaf::Borrowed(Borrowed { roots, depth, .. }) => (roots.clone(), *depth),
            Leaf::Scalar(_) | Leaf::AccumulatorPart(_) => (Vec::new(), 0),
        };
        let mut made = Vec::new();
        for (kind, name) in kinds.iter().zip(names) {
            made.push(if kind.is_scalar() {
                self.local(&format!("*{name}")).first().clone()
            } else {
                let view = self.fresh("v");
                let place = if kind.holds_tapes() { format!("(**{name})") } else { name };
                self.line(format!("let {view} = {};", borrow(kind, &place)));
                let (roots, kind) = (roots.clone(), kind.clone());
                Leaf::Borrowed(Borrowed { text: view, kind, owner: None, roots, depth })
            });
        }
        let mut made = made.into_iter();
        Repr::of(&tree, &mut |_| made.next().expect("one for each leaf"))
    }
}

/// The structure of a value, represented by the value itself.
fn structure(repr: &Repr) -> Repr {
    match repr {
        Repr::Tuple(members) => Repr::Tuple(members.iter().map(structure).collect()),
        Repr::Leaf(Leaf::Borrowed(Borrowed { kind: Kind::Tensor(..) | Kind::Tape, .. })) => repr.clone(),
        Repr::Leaf(_) => Repr::unit(),
    }
}

/// An Integer literal.
pub(super) fn integer(value: i64) -> String {
    if value == i64::MIN { "i64::MIN".into() } else { format!("({value}_i64)") }
}
