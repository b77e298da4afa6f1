//! Emits operations on accumulators: creating, adding, lending and reading.

use super::{
    body::Writer,
    kinds::{Kind, Tree},
    placeholders::placeholder,
    repr::{AccumulatorPart, Borrowed, Leaf, PartStep, Repr},
};
use crate::ir::{Projection, ValueId};

/// An expression that can be added to.
struct AccumulatorPlace {
    /// A `ViewMut`, or a place expression.
    text: String,
    is_view: bool,
}

impl Writer<'_> {
    pub(super) fn accumulator(&mut self, structure: ValueId, result: ValueId) -> Repr {
        let structure = self.get(structure).clone();
        let tree = self.tree_of(result);
        self.accumulator_of(&structure, &tree)
    }

    fn accumulator_of(&mut self, structure: &Repr, tree: &Tree) -> Repr {
        match (tree, structure) {
            (Tree::Tuple(trees), Repr::Tuple(structures)) => Repr::Tuple(
                trees
                    .iter()
                    .zip(structures)
                    .map(|(tree, structure)| self.accumulator_of(structure, tree))
                    .collect(),
            ),
            (Tree::Tuple(_), _) => Repr::unit(),
            (Tree::Leaf(kind), structure) => {
                let zero = self.zero_text(structure, kind);
                let name = self.fresh("o");
                let view = self.fresh("w");
                let owner = self.declare_owner(&name);
                let made = if kind.is_numeric_tensor() {
                    let any = format!("k::stale({}.size, {})?", structure.text(), self.at());
                    self.later.fills.push((view.clone(), [zero, any]));
                    self.likes.insert(view.clone(), structure.text().to_owned());
                    placeholder(&view)
                } else {
                    zero
                };
                self.line(format!("let mut {name}: {} = {made};", self.kinds.owned(kind)));
                let base = if matches!(kind, Kind::Tensor(..)) {
                    self.line(format!("let mut {view} = {name}.view_mut();"));
                    view
                } else {
                    name
                };
                let (base_kind, kind) = (kind.clone(), kind.clone());
                Repr::Leaf(Leaf::AccumulatorPart(AccumulatorPart {
                    base,
                    base_kind,
                    kind,
                    steps: Vec::new(),
                    owner: Some(owner),
                }))
            }
        }
    }

    /// The part of an accumulator at the end of the steps.
    pub(super) fn part(&mut self, whole: ValueId, steps: &[Projection], indices: &[ValueId]) -> Repr {
        let mut repr = self.get(whole).clone();
        let mut indices = indices.iter();
        for step in steps {
            repr = match step {
                Projection::Member(member) => repr.member(*member).clone(),
                Projection::Element => {
                    let index = indices.next().expect("each such step has an index");
                    element(&repr, &self.members(*index))
                }
                Projection::Taped(layout, member) => {
                    let Leaf::AccumulatorPart(place) = repr.first().clone() else {
                        unreachable!("a tape is added to in an accumulator")
                    };
                    let types = &self.kinds.program.types;
                    let ty = types.tangent(self.kinds.program.layouts[layout.index()][*member]);
                    let fields = self.kinds.fields(*layout, *member, ty);
                    let mut position = 0;
                    Repr::of(&self.kinds.tree(ty), &mut |kind| {
                        let mut place = place.clone();
                        let here = fields
                            .iter()
                            .map(|(variant, fields)| (*variant, fields.start + position))
                            .collect();
                        place.steps.push(PartStep::Taped(here));
                        place.kind = kind.clone();
                        position += 1;
                        Leaf::AccumulatorPart(place)
                    })
                }
            };
        }
        repr
    }

    /// Adds a value to a part.
    pub(super) fn add_to(&mut self, part: &Repr, value: ValueId) {
        let repr = self.get(value).clone();
        let tree = self.tree_of(value);
        self.add_leaves(part, &repr, &tree);
    }

    fn add_leaves(&mut self, part: &Repr, value: &Repr, tree: &Tree) {
        match (part, value, tree) {
            (Repr::Tuple(parts), Repr::Tuple(values), Tree::Tuple(trees)) => {
                for ((part, value), tree) in parts.iter().zip(values).zip(trees) {
                    self.add_leaves(part, value, tree);
                }
            }
            (Repr::Leaf(Leaf::AccumulatorPart(place)), Repr::Leaf(leaf), Tree::Leaf(kind)) => {
                let leaf = self.nominal(leaf, kind);
                let (value, at) = (leaf.text().to_owned(), self.at());
                if let Some(variable) = self.element_variable(place) {
                    self.line(format!("{variable} += {value};"));
                    return;
                }
                let AccumulatorPlace { text, is_view } = self.navigate(place);
                self.line(match kind {
                    Kind::Float => format!("{text} += {value};"),
                    Kind::Tensor(..) if is_view => format!("{text}.grow(&{value}, {at})?;"),
                    Kind::Tensor(..) => format!("{text}.view_mut().grow(&{value}, {at})?;"),
                    _ => format!("{text}.grow({value}, {at})?;"),
                });
            }
            // Values without a tangent.
            (_, _, _) => {}
        }
    }

    /// An argument through which a callee adds to a part.
    pub(super) fn accumulator_argument(&mut self, leaf: &Leaf) -> String {
        let Leaf::AccumulatorPart(place) = leaf else { unreachable!("an accumulator is lent") };
        let AccumulatorPlace { text, is_view } = self.navigate(place);
        match &place.kind {
            Kind::Tensor(..) if is_view => format!("{text}.reborrow()"),
            Kind::Tensor(..) => format!("{text}.view_mut()"),
            _ => format!("&mut {text}"),
        }
    }

    /// A scalar part of an accumulator, as a place expression.
    pub(super) fn place_text(&mut self, place: &AccumulatorPart) -> String {
        self.navigate(place).text
    }

    fn navigate(&mut self, place: &AccumulatorPart) -> AccumulatorPlace {
        self.touched.insert(place.base.clone());
        let mut kind = place.base_kind.clone();
        let mut target =
            AccumulatorPlace { text: place.base.clone(), is_view: matches!(kind, Kind::Tensor(..)) };
        for step in &place.steps {
            let name = self.fresh("e");
            match step {
                PartStep::Element(index) => {
                    if !target.is_view {
                        let view = self.fresh("w");
                        self.line(format!("let mut {view} = {}.view_mut();", target.text));
                        target.text = view;
                    }
                    let index = index.join(", ");
                    self.line(format!("let {name} = {}.get_mut([{index}], {})?;", target.text, self.at()));
                    target.text = format!("(*{name})");
                    if let Kind::Tensor(_, element) = kind {
                        kind = *element;
                    }
                }
                PartStep::Taped(fields) => {
                    let mut arms = String::new();
                    for (variant, field) in fields {
                        let kinds = self.kinds.variant(*variant);
                        let pattern: Vec<_> =
                            (0..kinds.len()).map(|at| if at == *field { "field" } else { "_" }).collect();
                        arms += &format!("Tape::{}({}) => field, ", variant.name(), pattern.join(", "));
                        kind = kinds[*field].clone();
                    }
                    let fault = format!("{}.failure(\"the tape belongs to another function\")", self.at());
                    self.line(format!(
                        "let {name} = match &mut {} {{ {arms}_ => return Err({fault}) }};",
                        target.text
                    ));
                    target.text =
                        if kind.holds_tapes() { format!("(**{name})") } else { format!("(*{name})") };
                }
            }
            target.is_view = false;
        }
        target
    }

    /// The sum in an accumulator.
    pub(super) fn read_accumulator(&mut self, accumulator: ValueId) -> Repr {
        let repr = self.get(accumulator).clone();
        self.read_places(&repr)
    }

    fn read_places(&mut self, repr: &Repr) -> Repr {
        match repr {
            Repr::Tuple(members) => {
                Repr::Tuple(members.iter().map(|member| self.read_places(member)).collect())
            }
            Repr::Leaf(Leaf::AccumulatorPart(AccumulatorPart { kind, owner: Some(owner), .. })) => {
                let (name, depth) = self.owner_of(*owner);
                let name = name.to_owned();
                if kind.is_scalar() {
                    return self.local(&name);
                }
                let view = self.fresh("v");
                self.line(format!("let {view} = {};", super::body::borrow(kind, &name)));
                let (kind, owner, roots) = (kind.clone(), Some(*owner), vec![*owner]);
                Repr::Leaf(Leaf::Borrowed(Borrowed { text: view, kind, owner, roots, depth }))
            }
            Repr::Leaf(leaf) => unreachable!("{leaf:?} is no accumulator of this function"),
        }
    }
}

/// The elements at an index of a tensor's leaves.
fn element(repr: &Repr, index: &[String]) -> Repr {
    match repr {
        Repr::Tuple(members) => Repr::Tuple(members.iter().map(|member| element(member, index)).collect()),
        Repr::Leaf(Leaf::AccumulatorPart(place)) => {
            let mut place = place.clone();
            place.steps.push(PartStep::Element(index.to_vec()));
            match place.kind {
                Kind::Tensor(_, element) if *element == Kind::Unit => return Repr::unit(),
                Kind::Tensor(_, element) => place.kind = *element,
                kind => unreachable!("{kind:?} has no elements"),
            }
            Repr::Leaf(Leaf::AccumulatorPart(place))
        }
        Repr::Leaf(leaf) => unreachable!("{leaf:?} is no accumulator"),
    }
}
