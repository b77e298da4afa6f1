//! Forms that make Floats.

use super::{
    generate::Generator,
    program::{Node, Part},
    types::Ty,
};

impl Generator {
    pub fn float(&mut self, depth: usize) -> Option<Node> {
        let form = |head: &str, parts: Vec<Part>| Node::form(Ty::Float, head, parts);
        let x = |this: &mut Self| Part::from(this.expression(&Ty::Float, depth));
        Some(match self.random.below(34) {
            0..3 => form("add", vec![x(self), x(self)]),
            3 => form("sub", vec![x(self), x(self)]),
            4..7 => form("mul", vec![x(self), x(self)]),
            7 => form("neg", vec![x(self)]),
            8 => form("div", vec![x(self), self.positive(depth)]),
            9 => form("sin", vec![x(self)]),
            10 => form("cos", vec![x(self)]),
            11 => form("tanh", vec![x(self)]),
            12 => form("erf", vec![x(self)]),
            13 => form("abs", vec![x(self)]),
            14 => form("exp", vec![self.small(depth)]),
            15 => form("cosh", vec![self.small(depth)]),
            16 => form("log", vec![self.positive(depth)]),
            17 => form("sqrt", vec![self.positive(depth)]),
            18 => form("lgamma", vec![self.positive(depth)]),
            19 => form("atan2", vec![x(self), self.positive(depth)]),
            20 => form("max", vec![x(self), x(self)]),
            21 => form("min", vec![x(self), x(self)]),
            22 => form("pow", vec![x(self), (*self.random.pick(&["0", "1", "2", "3"])).into()]),
            23 => form("pow", vec![self.positive(depth), (*self.random.pick(&["-1", "-2"])).into()]),
            24 => form("mul", vec![x(self), self.expression(&Ty::Integer, depth.min(1)).into()]),
            25 => form("to_float", vec![self.expression(&Ty::Integer, depth).into()]),
            26 => form("bool_to_float", vec![self.expression(&Ty::Bool, depth).into()]),
            27 => form("pi", Vec::new()),
            28 => form("$ranhashdoub", vec![self.leaf(&Ty::Integer).into()]),
            29 => self.sum_build(&Ty::Float, depth),
            30 => {
                let ty = if self.random.once_in(2) {
                    Ty::Vector
                } else {
                    let extents = self.extents();
                    Ty::tensor(extents, Ty::Float)
                };
                form("sum", vec![self.expression(&ty, depth).into()])
            }
            31 => {
                let ty = Ty::tensor([1 + self.random.below(3)], Ty::Float);
                form("dot", vec![self.expression(&ty, depth).into(), self.expression(&ty, depth).into()])
            }
            32 => {
                let ty = self.ty(2).tangent();
                if !ty.is_sized() {
                    return None;
                }
                form("ts_dot", vec![self.expression(&ty, depth).into(), self.expression(&ty, depth).into()])
            }
            _ => {
                let ty = Ty::tensor([1 + self.random.below(3)], Ty::Float);
                form("max", vec![self.expression(&ty, depth).into()])
            }
        })
    }

    /// An expression between 0.25 and 2.25 that is smooth.
    fn positive(&mut self, depth: usize) -> Part {
        let small = self.small(depth);
        Node::form(Ty::Float, "add", ["1.25".into(), small]).into()
    }

    /// An expression between -1 and 1 that is smooth.
    fn small(&mut self, depth: usize) -> Part {
        let x = self.expression(&Ty::Float, depth);
        Node::form(Ty::Float, *self.random.pick(&["sin", "cos", "tanh"]), [x.into()]).into()
    }
}
