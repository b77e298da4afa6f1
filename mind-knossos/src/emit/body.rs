//! Emits functions: signatures, blocks, and the ownership of values.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::rc::Rc;

use super::{
    bound,
    calls::Reached,
    hoist::{Element, Row, Slice, Turns},
    kinds::{Kind, Kinds, Tree, tuple},
    names::plain_name,
    placeholders::Placeholders,
    repr::{AccumulatorPart, Borrowed, Leaf, OwnerId, Repr},
};
use crate::{
    ir::{self, BlockId, Body, Definition, FunctionId, ValueId},
    types::{Type, TypeId},
};

/// Emits a function.
pub(super) fn function(kinds: &Kinds, reached: &Reached, id: FunctionId, text: &mut String) {
    let function = kinds.program.function(id);
    let body = match &function.definition {
        Definition::Defined(body) => body,
        Definition::Bound(_) => return bound::function(kinds, id, text),
        // A call of such a function is emitted as a failure.
        Definition::Declared | Definition::Pending(..) | Definition::Wrong => return,
    };
    let depth = if reached.is_counted(id) { "calls: u32, " } else { "" };
    let result = kinds.owned_leaves(&kinds.tree(function.result));
    let _ = write!(text, "fn {}({depth}", inner_name(kinds, id));
    let mut writer = Writer::new(kinds, reached, id, body);
    for (parameter, ty) in body.block(body.entry).parameters.iter().zip(&function.parameters) {
        let repr = writer.parameter(*ty, text);
        writer.set(*parameter, repr);
    }
    let _ = writeln!(text, ") -> Result<{result}, k::Fault> {{");
    let result = writer.block(body.entry);
    writer.at = (body.entry, usize::MAX);
    let tree = kinds.tree(function.result);
    let owned = writer.own(&[(&result, &tree)]);
    let _ = writeln!(
        text,
        "{}Ok({})\n}}",
        writer.later.filled(&writer.out, &writer.written, &writer.moved),
        tuple(&owned)
    );
}

/// The name of a function within the module.
pub(super) fn inner_name(kinds: &Kinds, id: FunctionId) -> String {
    format!("f{}_{}", id.index(), plain_name(&kinds.program.function(id).name))
}

/// The state of a body being emitted.
pub(super) struct Writer<'a> {
    pub kinds: &'a Kinds<'a>,
    pub reached: &'a Reached,
    pub id: FunctionId,
    pub body: &'a Body,
    /// The statements emitted so far.
    pub out: String,
    /// The number of blocks around the current statement.
    pub depth: usize,
    /// The current instruction: its block and its position.
    pub at: (BlockId, usize),
    /// The source position of the current instruction.
    pub place: ir::Position,
    values: Vec<Option<Repr>>,
    owners: Vec<Owner>,
    /// For each block, the last instruction that uses each value. The block's result counts as used at the end.
    last_uses: Vec<HashMap<ValueId, usize>>,
    names: usize,
    /// The instruction that defines each value; `None` for parameters.
    pub(super) made: Vec<Option<&'a ir::Instruction>>,
    /// The open loops, the innermost last. The fields below hold the lookups made for them.
    pub(super) loops: Vec<Turns>,
    pub(super) rows: Vec<Row>,
    pub(super) elements: Vec<Element>,
    pub(super) slices: Vec<Slice>,
    /// Variables that are the sum of a counter and another term, with the text of the sum.
    pub(super) sums: HashMap<String, String>,
    /// Equal extents: maps the name of an extent to an earlier name of an equal one.
    pub(super) extents: HashMap<String, String>,
    /// The view whose size each accumulator has.
    pub(super) likes: HashMap<String, String>,
    /// The accumulators that something has been added to.
    pub(super) touched: HashSet<String>,
    /// The accumulators whose elements are all written before anything is added to them.
    pub(super) written: HashSet<String>,
    /// Loops whose results are added directly to a sum: for each, the sum's variables, one per leaf, and the sum's
    /// position.
    pub(super) summands: HashMap<ValueId, (Vec<String>, ir::Position)>,
    /// Whether the code being emitted is an iteration of a kernel.
    pub(super) in_kernel: bool,
    /// The texts that are chosen at the end.
    pub(super) later: Placeholders,
    /// The variables that were moved.
    moved: HashSet<String>,
}

/// A variable that owns memory.
struct Owner {
    name: String,
    depth: usize,
    /// The values that borrow from it.
    readers: Vec<ValueId>,
}

impl<'a> Writer<'a> {
    fn new(kinds: &'a Kinds<'a>, reached: &'a Reached, id: FunctionId, body: &'a Body) -> Self {
        let mut last_uses = vec![HashMap::new(); body.blocks.len()];
        note_uses(body, body.entry, &mut last_uses);
        let mut made = vec![None; body.values.len()];
        for instruction in body.blocks.iter().flat_map(|block| &block.instructions) {
            made[instruction.result.index()] = Some(instruction);
        }
        Self {
            kinds,
            reached,
            id,
            body,
            out: String::new(),
            depth: 0,
            at: (body.entry, 0),
            place: kinds.program.function(id).place,
            values: vec![None; body.values.len()],
            owners: Vec::new(),
            last_uses,
            names: 0,
            made,
            loops: Vec::new(),
            rows: Vec::new(),
            elements: Vec::new(),
            slices: Vec::new(),
            sums: HashMap::new(),
            extents: HashMap::new(),
            likes: HashMap::new(),
            touched: HashSet::new(),
            written: HashSet::new(),
            summands: HashMap::new(),
            in_kernel: false,
            later: Placeholders::default(),
            moved: HashSet::new(),
        }
    }

    /// Emits a parameter. Its leaves become parameters of the Rust function.
    fn parameter(&mut self, ty: TypeId, signature: &mut String) -> Repr {
        let kinds = self.kinds;
        let adds = matches!(kinds.program.types.get(ty), Type::Accumulator(_));
        Repr::of(&kinds.tree(ty), &mut |kind| {
            let name = self.fresh("a");
            let (mutable, ty) = match (adds, kind) {
                (true, Kind::Tensor(..)) => ("mut ", kinds.added_to(kind)),
                (true, _) => ("", kinds.added_to(kind)),
                (false, _) => ("", kinds.borrowed(kind)),
            };
            let _ = write!(signature, "{mutable}{name}: {ty}, ");
            match (adds, kind) {
                (true, kind) => {
                    let base = if matches!(kind, Kind::Tensor(..)) { name } else { format!("*{name}") };
                    Leaf::AccumulatorPart(AccumulatorPart {
                        base,
                        base_kind: kind.clone(),
                        kind: kind.clone(),
                        steps: Vec::new(),
                        owner: None,
                    })
                }
                (false, kind) if kind.is_scalar() => Leaf::scalar(name),
                (false, kind) => Leaf::Borrowed(Borrowed {
                    text: name,
                    kind: kind.clone(),
                    owner: None,
                    roots: Vec::new(),
                    depth: 0,
                }),
            }
        })
    }

    /// Emits the instructions of a block and returns its result.
    pub fn block(&mut self, id: BlockId) -> Repr {
        let body = self.body;
        let block = body.block(id);
        for (position, instruction) in block.instructions.iter().enumerate() {
            self.at = (id, position);
            self.place = instruction.place;
            let repr = self.instruction(instruction);
            self.set(instruction.result, repr);
        }
        self.at = (id, block.instructions.len());
        self.get(block.result).clone()
    }

    /// Emits a nested block. Returns its statements, without braces, and its result.
    pub fn nested<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> (String, R) {
        let outer = (std::mem::take(&mut self.out), self.at, self.place);
        let slices = self.slices.len();
        self.depth += 1;
        let result = write(self);
        self.depth -= 1;
        self.slices.truncate(slices);
        let inner = std::mem::replace(&mut self.out, outer.0);
        (self.at, self.place) = (outer.1, outer.2);
        (inner, result)
    }

    /// The representation of a value, if it is already defined.
    pub fn known(&self, value: ValueId) -> Option<&Repr> {
        self.values[value.index()].as_ref()
    }

    /// Replaces the representation of a defined value and returns the previous one.
    pub fn replace(&mut self, value: ValueId, repr: Repr) -> Option<Repr> {
        self.values[value.index()].replace(repr)
    }

    pub fn get(&self, value: ValueId) -> &Repr {
        self.values[value.index()].as_ref().expect("values are made before they are used")
    }

    pub fn set(&mut self, value: ValueId, repr: Repr) {
        for leaf in repr.leaves() {
            for root in leaf.roots() {
                self.owners[root.0].readers.push(value);
            }
        }
        self.values[value.index()] = Some(repr);
    }

    /// The leaves of a value's type.
    pub fn tree_of(&self, value: ValueId) -> Rc<Tree> {
        self.kinds.tree(self.body.ty(value))
    }

    /// Whether the current block uses a value.
    pub fn is_used(&self, value: ValueId) -> bool {
        self.last_uses[self.at.0.index()].contains_key(&value)
    }

    pub fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub fn line(&mut self, line: impl AsRef<str>) {
        self.out.push_str(line.as_ref());
        self.out.push('\n');
    }

    /// Emits a variable for a number or a truth value.
    pub fn local(&mut self, expression: &str) -> Repr {
        let name = self.fresh("v");
        self.line(format!("let {name} = {expression};"));
        Repr::scalar(name)
    }

    /// The source position of the current instruction, as a Rust expression.
    pub fn at(&self) -> String {
        self.kinds.at(&self.kinds.program.function(self.id).name, self.place)
    }

    /// Emits a variable that owns a leaf.
    pub fn owner(&mut self, kind: &Kind, expression: &str) -> Leaf {
        if kind.is_scalar() {
            let name = self.fresh("v");
            self.line(format!("let {name}: {} = {expression};", self.kinds.owned(kind)));
            return Leaf::scalar(name);
        }
        let name = self.fresh("o");
        self.line(format!("let {name}: {} = {expression};", self.kinds.owned(kind)));
        self.owned_by(kind, name)
    }

    /// A leaf that an existing variable owns.
    pub fn owned_by(&mut self, kind: &Kind, name: String) -> Leaf {
        if kind.is_scalar() {
            return Leaf::scalar(name);
        }
        let view = self.fresh("v");
        self.line(format!("let {view} = {};", borrow(kind, &name)));
        let owner = OwnerId(self.owners.len());
        self.owners.push(Owner { name, depth: self.depth, readers: Vec::new() });
        Leaf::Borrowed(Borrowed {
            text: view,
            kind: kind.clone(),
            owner: Some(owner),
            roots: vec![owner],
            depth: self.depth,
        })
    }

    /// Registers a variable that owns memory and is read by another name.
    pub fn declare_owner(&mut self, name: &str) -> OwnerId {
        self.owners.push(Owner { name: name.to_owned(), depth: self.depth, readers: Vec::new() });
        OwnerId(self.owners.len() - 1)
    }

    /// The name and depth of a variable.
    pub fn owner_of(&self, id: OwnerId) -> (&str, usize) {
        (&self.owners[id.0].name, self.owners[id.0].depth)
    }

    /// Converts a leaf to the kind of its type. A structure may be represented by the value that it was taken from; its
    /// zero is made then.
    pub fn nominal(&mut self, leaf: &Leaf, kind: &Kind) -> Leaf {
        match leaf {
            Leaf::Borrowed(borrowed) if borrowed.kind != *kind => {
                let expression =
                    format!("k::zeros::<{}, _>(&{}, {})?", self.kinds.owned(kind), borrowed.text, self.at());
                self.owner(kind, &expression)
            }
            leaf => leaf.clone(),
        }
    }

    /// The texts of a value's leaves, for reading.
    pub fn read(&mut self, repr: &Repr, tree: &Tree) -> Vec<String> {
        let leaves: Vec<Leaf> = repr.leaves().into_iter().cloned().collect();
        let kinds: Vec<Kind> = tree.leaves().into_iter().cloned().collect();
        leaves.iter().zip(&kinds).map(|(leaf, kind)| self.nominal(leaf, kind).text().to_owned()).collect()
    }

    /// The texts of the leaves of values, as owned values. A leaf is moved if nothing reads it after the current
    /// instruction, else copied.
    pub fn own(&mut self, parts: &[(&Repr, &Tree)]) -> Vec<String> {
        let mut leaves = Vec::new();
        for (repr, tree) in parts {
            let kinds: Vec<Kind> = tree.leaves().into_iter().cloned().collect();
            let own: Vec<Leaf> = repr.leaves().into_iter().cloned().collect();
            for (leaf, kind) in own.iter().zip(kinds) {
                leaves.push((self.nominal(leaf, &kind), kind));
            }
        }
        // A variable is moved only once, after all copies.
        let mut moved = Vec::new();
        let mut texts = Vec::new();
        for (leaf, kind) in leaves {
            let text = match leaf {
                Leaf::Scalar(scalar) => scalar.text,
                Leaf::Borrowed(Borrowed { owner: Some(owner), .. })
                    if !moved.contains(&owner) && self.can_move(owner) =>
                {
                    moved.push(owner);
                    let name = self.owners[owner.0].name.clone();
                    self.moved.insert(name.clone());
                    name
                }
                Leaf::Borrowed(borrowed) => {
                    let name = self.fresh("o");
                    let copy = self.copy_of(&borrowed.text, &kind);
                    self.line(format!("let {name} = {copy};"));
                    name
                }
                Leaf::AccumulatorPart(place) => unreachable!("accumulator {} is not read", place.base),
            };
            texts.push(text);
        }
        texts
    }

    fn can_move(&self, owner: OwnerId) -> bool {
        let Owner { depth, readers, .. } = &self.owners[owner.0];
        let (block, position) = self.at;
        let uses = &self.last_uses[block.index()];
        // The body of a loop is evaluated after the initial values were moved.
        let instruction = self.body.block(block).instructions.get(position);
        let mut inner = instruction.into_iter().flat_map(|instruction| instruction.operation.blocks());
        let read_inside = inner
            .any(|block| readers.iter().any(|reader| self.last_uses[block.index()].contains_key(reader)));
        let read_later = readers.iter().any(|reader| uses.get(reader).is_some_and(|last| *last > position));
        *depth == self.depth && !read_inside && !read_later
    }

    /// An owned copy of a borrowed leaf.
    fn copy_of(&self, text: &str, kind: &Kind) -> String {
        match kind {
            Kind::Tensor(..) => format!("k::owned::<{}>({text}, {})?", self.kinds.owned(kind), self.at()),
            Kind::String => format!("{text}.to_owned()"),
            Kind::Tape => format!("{text}.clone()"),
            Kind::Float | Kind::Integer | Kind::Bool | Kind::Unit => text.to_owned(),
        }
    }
}

/// The expression that borrows from a variable.
pub(super) fn borrow(kind: &Kind, place: &str) -> String {
    match kind {
        Kind::Tensor(..) => format!("{place}.view()"),
        Kind::String => format!("{place}.as_str()"),
        Kind::Tape => format!("&{place}"),
        Kind::Float | Kind::Integer | Kind::Bool | Kind::Unit => place.to_owned(),
    }
}

fn note_uses(body: &Body, id: BlockId, last_uses: &mut [HashMap<ValueId, usize>]) {
    let block = body.block(id);
    let mut own = HashMap::new();
    for (position, instruction) in block.instructions.iter().enumerate() {
        for operand in &instruction.operands {
            own.insert(*operand, position);
        }
        for inner in instruction.operation.blocks() {
            note_uses(body, inner, last_uses);
            for value in last_uses[inner.index()].keys() {
                own.insert(*value, position);
            }
        }
    }
    own.insert(block.result, usize::MAX);
    last_uses[id.index()] = own;
}
