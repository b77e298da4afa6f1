//! Forms that make tensors.

use super::{
    generate::{Generator, binding},
    program::{Node, Part, size},
    types::Ty,
};

impl Generator {
    pub fn tensor(&mut self, extents: &[usize], element: &Ty, depth: usize) -> Option<Node> {
        let ty = Ty::tensor(extents, element.clone());
        let is_floats = *element == Ty::Float;
        Some(match self.random.below(16) {
            0..3 => {
                let lambda = self.over_indices(extents, element, depth);
                Node::form(ty, "build", [size(extents).into(), lambda])
            }
            3 | 4 => {
                let of = self.ty(1);
                let tensor = self.expression(&Ty::tensor(extents, of.clone()), depth);
                let lambda = self.over_values("item", &of, element, depth);
                Node::form(ty, "map", [lambda, tensor.into()])
            }
            5 => {
                let (first, second) = (self.ty(1), self.ty(0));
                let tensors = [&first, &second]
                    .map(|of| Part::from(self.expression(&Ty::tensor(extents, of.clone()), depth)));
                let lambda = self.over_values("items", &Ty::pair(first, second), element, depth);
                Node::form(ty, "map2", [lambda].into_iter().chain(tensors))
            }
            6 => {
                let value = self.expression(element, depth);
                let index: Vec<_> = extents.iter().map(|extent| extent + self.random.below(2)).collect();
                let index = self.leaf(&Ty::index(&index));
                let parts: [Part; 3] = [size(extents).into(), index.into(), value.into()];
                match self.random.once_in(2) {
                    true => Node::form(ty, "deltaVec", parts),
                    false => {
                        let [size, _, value] = parts;
                        Node::form(ty, "constVec", [size, value])
                    }
                }
            }
            7 if ty.is_tangent() && ty.is_sized() => {
                let (x, y) = (self.expression(&ty, depth), self.expression(&ty, depth));
                Node::form(ty, "ts_add", [x.into(), y.into()])
            }
            8 if ty.is_tangent() => {
                let (factor, x) = (self.expression(&Ty::Float, depth), self.expression(&ty, depth));
                match self.random.once_in(3) {
                    true => Node::form(ty, "ts_neg", [x.into()]),
                    false => Node::form(ty, "ts_scale", [factor.into(), x.into()]),
                }
            }
            9 if extents.len() == 1 => {
                let elements: Vec<Part> =
                    (0..extents[0]).map(|_| self.expression(element, depth.min(2)).into()).collect();
                if elements.is_empty() {
                    return None;
                }
                Node::form(ty, "Vec_init", elements)
            }
            10 => {
                let tuple = Ty::Tuple(vec![Ty::tensor(extents, Ty::Integer), ty.clone()]);
                Node::form(ty, "get$2$2", [self.expression(&tuple, depth).into()])
            }
            11 if ty.is_tangent() => self.sparse(extents, element, depth)?,
            12 if is_floats && extents.len() == 1 => self.floats(&ty, extents[0], depth),
            13 => match element {
                Ty::Tensor(inner, of) if extents.len() == 1 && inner.len() == 1 => {
                    let lambda = self.over_indices(extents, of, depth);
                    Node::form(ty.clone(), "diag", [size(extents).into(), size(inner).into(), lambda])
                }
                _ => return None,
            },
            14 | 15 if is_floats => self.operation(&ty, extents, depth),
            _ => return None,
        })
    }

    /// Operations for which emitted code has kernels: elementwise functions, permuted tensors, products of matrices.
    fn operation(&mut self, ty: &Ty, extents: &[usize], depth: usize) -> Node {
        let index = Ty::index(extents);
        let parameter = format!("(at : {index})");
        if let ([m, n], true) = (extents, self.random.once_in(2)) {
            let matrix = |body: &str| format!("(build (tuple {m} {n}) (lam {parameter} {body}))");
            if self.random.once_in(2) {
                let of = self.expression(&Ty::tensor([*n, *m], Ty::Float), depth);
                let turned = matrix("(index (tuple (get$2$2 at) (get$1$2 at)) turned)");
                return Node::form(ty.clone(), "let", [binding("turned", of), turned.into()]);
            }
            let k = 1 + self.random.below(3);
            let factors = [("lhs", [*m, k]), ("rhs", [k, *n])]
                .map(|(name, extents)| (name, self.expression(&Ty::tensor(extents, Ty::Float), depth)));
            let product = matrix(&format!(
                "(sumbuild {k} (lam (l : Integer) (mul (index (tuple (get$1$2 at) l) lhs) (index (tuple l (get$2$2 at)) rhs))))"
            ));
            let [(lhs, of_lhs), (rhs, of_rhs)] = factors;
            let inner = Node::form(ty.clone(), "let", [binding(rhs, of_rhs), product.into()]);
            return Node::form(ty.clone(), "let", [binding(lhs, of_lhs), inner.into()]);
        }
        let (of, factor) = (self.expression(ty, depth), self.expression(&Ty::Float, depth));
        let function = *self.random.pick(&["exp", "tanh", "abs", "neg"]);
        let body =
            format!("(build (size of) (lam {parameter} ({function} (mul 0.25 (add factor (index at of))))))");
        let inner = Node::form(ty.clone(), "let", [binding("factor", factor), body.into()]);
        Node::form(ty.clone(), "let", [binding("of", of), inner.into()])
    }

    /// Operations of the prelude on vectors of Floats.
    fn floats(&mut self, ty: &Ty, extent: usize, depth: usize) -> Node {
        let mut of = |ty: &Ty| Part::from(self.expression(ty, depth));
        let parts = match depth % 2 {
            0 => [of(ty), of(ty)],
            _ => [of(&Ty::tensor([extent, 2], Ty::Float)), of(&Ty::tensor([2], Ty::Float))],
        };
        let [first, second] = parts;
        match (depth % 2, self.random.below(4)) {
            (1, _) => Node::form(ty.clone(), "mul", [first, second]),
            (_, 0) => Node::form(ty.clone(), "sub", [first, second]),
            (_, 1) => {
                let x = self.expression(&Ty::Float, depth);
                Node::form(ty.clone(), "sub", [first, x.into()])
            }
            (_, 2) => {
                let x = self.expression(&Ty::Float, depth);
                Node::form(ty.clone(), "mul", [x.into(), second])
            }
            (_, _) => {
                let small = Node::form(ty.clone(), "map", ["(lam (e : Float) (sin e))".into(), first]);
                Node::form(ty.clone(), "exp", [small.into()])
            }
        }
    }

    fn sparse(&mut self, extents: &[usize], element: &Ty, depth: usize) -> Option<Node> {
        let ty = Ty::tensor(extents, element.clone());
        if !element.is_sized() || extents.contains(&0) {
            return None;
        }
        // Every element has to have the shape of the one that it is added to.
        let like = Node::form(ty.clone(), "shape", [self.leaf(&ty).into()]);
        let turns = self.extents();
        let lambda = self.over_indices(&turns, &Ty::pair(Ty::index(extents), element.clone()), depth);
        Some(Node::form(ty, "buildFromSparse", [Part::from(like.to_string()), size(&turns).into(), lambda]))
    }

    /// A lambda over values of a type.
    fn over_values(&mut self, name: &str, of: &Ty, body: &Ty, depth: usize) -> Part {
        let body = self.within([(name.to_owned(), of.clone())], |this| this.expression(body, depth));
        Part::Lambda(format!("({name} : {of})"), body)
    }

    /// A vector whose size is not part of its type.
    pub fn vector(&mut self, depth: usize) -> Option<Node> {
        Some(match self.random.below(6) {
            0 => {
                let element = self.expression(&Ty::Float, depth);
                let extent = self.leaf(&Ty::Index(4));
                Node::form(Ty::Vector, "constVec", [extent.into(), element.into()])
            }
            1 => {
                let like = self.leaf(&Ty::Vector).to_string();
                let element = self.within([("at".into(), Ty::Integer)], |this| {
                    let other = this.expression(&Ty::Float, depth);
                    let own = Node::form(Ty::Float, "index", ["at".into(), like.as_str().into()]);
                    Node::form(Ty::Float, "mul", [own.into(), other.into()])
                });
                let lambda = Part::Lambda("(at : Integer)".into(), element);
                Node::form(Ty::Vector, "build", [format!("(size {like})").into(), lambda])
            }
            2 => {
                let vector = self.expression(&Ty::Vector, depth);
                let lambda = self.over_values("item", &Ty::Float, &Ty::Float, depth);
                Node::form(Ty::Vector, "map", [lambda, vector.into()])
            }
            3 => {
                let (factor, x) = (self.expression(&Ty::Float, depth), self.expression(&Ty::Vector, depth));
                Node::form(Ty::Vector, "ts_scale", [factor.into(), x.into()])
            }
            4 => {
                let extents = [1 + self.random.below(3)];
                let ragged = self.expression(&Ty::tensor(extents, Ty::Vector), depth);
                let index = self.expression(&Ty::Index(extents[0]), 1);
                Node::form(Ty::Vector, "index", [index.into(), ragged.into()])
            }
            _ => {
                let extents = [1 + self.random.below(3)];
                self.expression(&Ty::tensor(extents, Ty::Float), depth)
            }
        })
    }
}
