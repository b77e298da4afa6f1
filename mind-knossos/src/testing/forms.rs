//! Forms of any type, and those of tuples, Integers and Bools.

use super::{
    generate::{Generator, binding},
    program::{Node, Part, size},
    types::Ty,
};

impl Generator {
    /// A form that can make a value of any type.
    pub fn general(&mut self, ty: &Ty, depth: usize) -> Option<Node> {
        let ty = ty.clone();
        Some(match self.random.below(13) {
            0 | 1 => {
                let condition = self.expression(&Ty::Bool, depth.min(2));
                let (then, otherwise) = (self.expression(&ty, depth), self.expression(&ty, depth));
                Node::form(ty, "if", [condition.into(), then.into(), otherwise.into()])
            }
            2 | 3 => {
                let bound = self.ty(1);
                let (name, value) = (self.name(), self.expression(&bound, depth));
                let value_ty = value.ty.clone();
                let body = self.within([(name.clone(), value_ty)], |this| this.expression(&ty, depth));
                Node::form(ty, "let", [binding(&name, value), body.into()])
            }
            4 => self.unpacked(&ty, depth),
            5 | 6 => self.call(&ty, depth)?,
            7 => {
                // A member of a new tuple.
                let before = self.random.below(2);
                let mut members: Vec<_> = (0..before).map(|_| self.ty(0)).collect();
                members.push(ty.clone());
                members.extend((0..self.random.below(2)).map(|_| Ty::Float));
                let head = format!("get${}${}", before + 1, members.len());
                let tuple = self.expression(&Ty::Tuple(members), depth);
                Node::form(ty, head, [tuple.into()])
            }
            8 => {
                let extents = self.extents();
                let index = self.expression(&Ty::index(&extents), depth.min(1));
                let tensor = self.expression(&Ty::tensor(extents, ty.clone()), depth);
                Node::form(ty, "index", [index.into(), tensor.into()])
            }
            9 => self.fold(&ty, depth)?,
            10 => {
                let body = self.expression(&ty, depth);
                match self.random.below(4) {
                    0 => Node::form(ty, "assert", ["(lte 0 1)".into(), body.into()]),
                    1 => Node::form(ty, "$inline", [body.into()]),
                    2 => Node::form(ty, "$copydown", [body.into()]),
                    _ => {
                        let (i, j) = (self.leaf(&Ty::Index(3)), self.leaf(&Ty::Index(2)));
                        Node::form(ty, "delta", [i.into(), j.into(), body.into()])
                    }
                }
            }
            11 if ty.is_summable() => self.sum_build(&ty, depth),
            _ => self.derivative(&ty, depth)?,
        })
    }

    /// `(let ((a b) tuple) body)`.
    fn unpacked(&mut self, ty: &Ty, depth: usize) -> Node {
        let count = 1 + self.random.below(3);
        let members: Vec<_> = (0..count).map(|_| self.ty(1)).collect();
        let tuple = self.expression(&Ty::Tuple(members.clone()), depth);
        // Later members hide earlier ones of the same name.
        let names: Vec<_> = (0..count).map(|_| self.name()).collect();
        let bound: Vec<_> = names.iter().cloned().zip(members).collect();
        let body = self.within(bound, |this| this.expression(ty, depth));
        let binding = Node::form(tuple.ty.clone(), format!("({})", names.join(" ")), [tuple.into()]);
        Node::form(ty.clone(), "let", [binding.into(), body.into()])
    }

    fn fold(&mut self, ty: &Ty, depth: usize) -> Option<Node> {
        let (extent, element) = (self.random.below(4), self.ty(1));
        let first = self.expression(ty, depth);
        let vector = match (&element, self.random.once_in(3)) {
            (Ty::Float, true) => self.expression(&Ty::Vector, depth),
            _ => self.expression(&Ty::tensor([extent], element.clone()), depth),
        };
        let pair = Ty::pair(ty.clone(), element.clone());
        let [name, acc, x] = ["both", "acc", "next"].map(String::from);
        let bound = [(name.clone(), pair.clone()), (acc, ty.clone()), (x, element)];
        let body = self.within(bound, |this| this.expression(ty, depth));
        let body = Node::form(ty.clone(), "let", ["((acc next) both)".into(), body.into()]);
        let lambda = Part::Lambda(format!("({name} : {pair})"), body);
        Some(Node::form(ty.clone(), "fold", [lambda, first.into(), vector.into()]))
    }

    /// A lambda over the indices of these extents.
    pub fn over_indices(&mut self, extents: &[usize], body: &Ty, depth: usize) -> Part {
        let ty = Ty::index(extents);
        let name = (*self.random.pick(&["i", "j", "k"])).to_owned();
        let parameter = format!("({name} : {ty})");
        let mut bound = vec![(name.clone(), ty.clone())];
        let members: Vec<_> = match &ty {
            Ty::Tuple(members) => {
                ["r", "s", "t"].map(String::from).into_iter().zip(members.iter().cloned()).collect()
            }
            _ => Vec::new(),
        };
        let names: Vec<_> = members.iter().map(|(name, _)| name.clone()).collect();
        bound.extend(members);
        let written = self.within(bound, |this| this.expression(body, depth));
        if names.is_empty() {
            return Part::Lambda(parameter, written);
        }
        let pattern = format!("(({}) {name})", names.join(" "));
        Part::Lambda(parameter, Node::form(body.clone(), "let", [pattern.into(), written.into()]))
    }

    pub fn sum_build(&mut self, ty: &Ty, depth: usize) -> Node {
        let extents = self.extents();
        let lambda = self.over_indices(&extents, ty, depth);
        Node::form(ty.clone(), "sumbuild", [size(&extents).into(), lambda])
    }

    pub fn tuple(&mut self, members: &[Ty], depth: usize) -> Option<Node> {
        let ty = Ty::Tuple(members.to_vec());
        if let [Ty::Tensor(first, _), rest @ ..] = members
            && rest.iter().all(|member| matches!(member, Ty::Tensor(extents, _) if extents == first))
        {
            let elements = members.iter().filter_map(|member| match member {
                Ty::Tensor(_, element) => Some((**element).clone()),
                _ => None,
            });
            let tensor = Ty::tensor(first.clone(), Ty::Tuple(elements.collect()));
            return Some(Node::form(ty, "unzip", [self.expression(&tensor, depth).into()]));
        }
        let parts: Vec<Part> = members.iter().map(|member| self.expression(member, depth).into()).collect();
        Some(Node::form(ty, "tuple", parts))
    }

    /// Small integers, so that Floats made from them are small.
    pub fn integer(&mut self, depth: usize) -> Option<Node> {
        let part = |this: &mut Self| Part::from(this.expression(&Ty::Integer, depth.min(1)));
        Some(match self.random.below(9) {
            0 => Node::form(Ty::Integer, "add", [part(self), part(self)]),
            1 => Node::form(Ty::Integer, "sub", [part(self), part(self)]),
            2 => Node::form(
                Ty::Integer,
                "mul",
                [self.leaf(&Ty::Integer).into(), self.leaf(&Ty::Integer).into()],
            ),
            3 => Node::form(Ty::Integer, "neg", [part(self)]),
            4 => Node::form(Ty::Integer, "div", [part(self), (*self.random.pick(&["2", "-3", "1"])).into()]),
            5 => Node::form(Ty::Integer, "size", [self.expression(&Ty::Vector, depth.min(2)).into()]),
            6 => {
                let x = self.leaf(&Ty::Float);
                Node::form(Ty::Integer, "print", [x.into(), "\" \"".into()])
            }
            7 => match self.shape_of_call(depth) {
                Some(shape) => shape,
                None => Node::form(Ty::Integer, "shape", [self.expression(&Ty::Vector, depth.min(2)).into()]),
            },
            _ => self.leaf(&Ty::Integer),
        })
    }

    pub fn index(&mut self, bound: usize, depth: usize) -> Option<Node> {
        let ty = Ty::Index(bound);
        Some(match self.random.below(4) {
            0 if bound > 0 => {
                let vector = self.expression(&Ty::tensor([bound], Ty::Float), depth.min(1));
                Node::form(ty, "imax", [vector.into()])
            }
            1 => {
                let inner = self.leaf(&ty);
                Node::form(ty, "div", [inner.into(), "2".into()])
            }
            _ => self.leaf(&ty),
        })
    }

    pub fn truth(&mut self, depth: usize) -> Option<Node> {
        let of = |this: &mut Self, ty: &Ty| Part::from(this.expression(ty, depth.min(2)));
        Some(match self.random.below(8) {
            0 | 1 => {
                let head = *self.random.pick(&["gt", "lt", "gte", "lte"]);
                Node::form(Ty::Bool, head, [of(self, &Ty::Float), of(self, &Ty::Float)])
            }
            2 | 3 => {
                let head = *self.random.pick(&["gt", "lt", "gte", "lte", "eq", "ne"]);
                Node::form(Ty::Bool, head, [of(self, &Ty::Integer), of(self, &Ty::Integer)])
            }
            4 => {
                let head = *self.random.pick(&["or", "and"]);
                Node::form(Ty::Bool, head, [of(self, &Ty::Bool), of(self, &Ty::Bool)])
            }
            5 => Node::form(Ty::Bool, "not", [of(self, &Ty::Bool)]),
            _ => {
                // The two sides are the same value: where different Floats happen to be equal, no derivative exists.
                let ty = self.ty(1);
                let value = self.leaf(&ty);
                Node::form(Ty::Bool, *self.random.pick(&["eq", "ne"]), [value.clone().into(), value.into()])
            }
        })
    }
}
