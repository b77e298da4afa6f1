//! Patterns of several operations: normalised rows, operations after products, values with several readers, updates,
//! masks.

use mind_shape::match_dtype;

use super::generate::{Generator, Proposal};
use crate::{
    cumulate::Cumulate,
    ir::{Arrange, Const, Factorization, Matrix, Op, Part, Product, Reduction, Triangular, ValueId},
    map::Map,
    ops::Profile,
    reduce::Reduce,
    ty::{Shape, Type},
};

impl Generator {
    /// Adds the operations of a pattern on `x`, except for the last one, which is proposed.
    pub(super) fn pattern(&mut self, x: ValueId) -> Option<Proposal> {
        let ty = self.builder.ty(x).clone();
        if self.profile != Profile::Extended || !ty.dtype.is_float() || ty.rank() == 0 {
            return None;
        }
        match self.random.below(6) {
            0 => self.softmax(x, &ty),
            1 => self.normalised(x, &ty),
            2 => self.layer(x, &ty),
            3 => self.gradient_of_a_layer(x, &ty),
            4 => self.updated(&ty),
            _ => self.masked(x, &ty),
        }
    }

    /// `exp(x) / sum(exp(x))` over trailing axes, or its logarithm.
    fn softmax(&mut self, x: ValueId, ty: &Type) -> Option<Proposal> {
        let rows = self.trailing(ty);
        let exponentials = self.made(Op::Map(Map::Exp), &[x])?;
        let sum = self.made(Op::Reduce(Reduce::Sum, rows), &[exponentials])?;
        if self.random.once_in(2) {
            return Some((Op::Map(Map::Div), vec![exponentials, sum]));
        }
        let log = self.made(Op::Map(Map::Log), &[sum])?;
        Some((Op::Map(Map::Sub), vec![x, log]))
    }

    /// `(x - mean(x)) * (variance + 1)`, or a division by the same factor, over trailing axes.
    fn normalised(&mut self, x: ValueId, ty: &Type) -> Option<Proposal> {
        let rows = self.trailing(ty);
        let mean = self.made(Op::Reduce(Reduce::Mean, rows.clone()), &[x])?;
        let centred = self.made(Op::Map(Map::Sub), &[x, mean])?;
        let squares = self.made(Op::Map(Map::Mul), &[centred, centred])?;
        let variance = self.made(Op::Reduce(Reduce::Mean, rows), &[squares])?;
        let one = self.builder.constant(ty.dtype, 1.0);
        let scale = self.made(Op::Map(Map::Add), &[variance, one])?;
        let op = if self.random.once_in(2) { Op::Map(Map::Mul) } else { Op::Map(Map::Div) };
        Some((op, vec![centred, scale]))
    }

    /// `relu` of a product plus a value that broadcasts to it.
    fn layer(&mut self, x: ValueId, _: &Type) -> Option<Proposal> {
        let (op, operands) = self.product(x)?;
        let product = self.made(op, &operands)?;
        let made = self.builder.ty(product).clone();
        let bias = self.partner(|other| {
            let suffix = made.rank().checked_sub(other.rank());
            other.dtype == made.dtype && suffix.is_some_and(|start| made.shape[start..] == other.shape[..])
        })?;
        let sum = self.made(Op::Map(Map::Add), &[product, bias])?;
        Some((Op::Map(Map::Relu), vec![sum]))
    }

    /// The sum over the first axis of a product that is masked by an activation.
    fn gradient_of_a_layer(&mut self, x: ValueId, _: &Type) -> Option<Proposal> {
        let (op, operands) = self.product(x)?;
        let product = self.made(op, &operands)?;
        let made = self.builder.ty(product).clone();
        let activation = self.partner(|other| *other == made).unwrap_or(product);
        let hidden = self.made(Op::Map(Map::Relu), &[activation])?;
        let masked = self.made(Op::Map(Map::ReluGrad), &[product, activation])?;
        let both = self.made(Op::Map(Map::Add), &[masked, hidden])?;
        Some((
            Op::Reduce(Reduce::Sum, Reduction { axes: vec![0], keepdims: self.random.once_in(2) }),
            vec![both],
        ))
    }

    /// An input minus a multiple of a value of its type.
    fn updated(&mut self, ty: &Type) -> Option<Proposal> {
        let is_input = |value: &usize| self.builder.insts()[*value].op.is_input();
        let inputs = (0..self.builder.insts().len()).take_while(is_input).map(ValueId::new);
        let input = inputs.filter(|input| self.builder.ty(*input).dtype == ty.dtype).last()?;
        let own = self.builder.ty(input).clone();
        let gradient = self.partner(|other| *other == own)?;
        let rate = self.builder.constant(ty.dtype, 0.25);
        let change = self.made(Op::Map(Map::Mul), &[gradient, rate])?;
        Some((Op::Map(Map::Sub), vec![input, change]))
    }

    /// A factorization of positive definite matrices, or a triangular system with one of their triangles. Elements between
    /// -1 and 1 and a multiple of the identity keep the condition small.
    pub(super) fn factored(&mut self, x: ValueId) -> Option<Proposal> {
        let ty = self.builder.ty(x).clone();
        if !ty.dtype.is_float() || ty.rank() < 2 {
            return None;
        }
        let [rows, columns] = [2, 1].map(|from_end| ty.shape[ty.rank() - from_end].as_literal());
        let rows = rows?;
        let side = self.made(Op::Map(Map::Tanh), &[x])?;
        if columns.is_some() && self.random.once_in(3) {
            let factorization = if self.random.once_in(2) { Factorization::Qr } else { Factorization::Svd };
            return Some((Op::Matrix(Matrix::Factor(factorization)), vec![side]));
        }
        let mut permutation: Vec<i64> = (0..ty.rank() as i64).collect();
        permutation.swap(ty.rank() - 2, ty.rank() - 1);
        let across = self.made(Op::Arrange(Arrange::Transpose { permutation }), &[side])?;
        let product = self.made(Op::Product(Product::MatMul), &[side, across])?;
        let data = match_dtype!(ty.dtype, T {
            floats => {
                let scale = columns.unwrap_or(5) as T;
                (0..rows * rows).map(|at| if at / rows == at % rows { scale } else { 0.0 }).collect::<Vec<_>>().into()
            },
            others => return None,
        });
        let shape = Shape::literal(&[rows, rows]);
        let identity = self.made(Op::Const(Const::Tensor { data, shape }), &[])?;
        let matrix = self.made(Op::Map(Map::Add), &[product, identity])?;
        let factorizations = [Factorization::Cholesky, Factorization::Lu, Factorization::Eigh];
        let factor = Op::Matrix(Matrix::Factor(*self.random.pick(&factorizations)));
        if self.random.once_in(2) {
            return Some((factor, vec![matrix]));
        }
        let [lower, transposed, unit_diagonal] = [(); 3].map(|()| self.random.once_in(2));
        let is_factored = lower && self.random.once_in(2);
        let triangle = match is_factored {
            true => self.made(Op::Matrix(Matrix::Factor(Factorization::Cholesky)), &[matrix])?,
            false => matrix,
        };
        let of = Triangular { lower, transposed, unit_diagonal: unit_diagonal && !is_factored };
        Some((Op::Matrix(Matrix::SolveTriangular(of)), vec![triangle, side]))
    }

    /// A function that is infinite somewhere, an operation on its results, and a mask after that.
    fn masked(&mut self, x: ValueId, ty: &Type) -> Option<Proposal> {
        const INFINITE: [Map; 6] = [Map::Log, Map::Sqrt, Map::Exp, Map::Log1p, Map::Asin, Map::Rsqrt];
        let function = *self.random.pick(&INFINITE);
        let unsafe_value = self.made(Op::Map(function), &[x])?;
        let operands = [unsafe_value; 2];
        let (op, operands) = match self.random.below(5) {
            0 => (Op::Reduce(*self.random.pick(Reduce::ALL), self.trailing(ty)), &operands[..1]),
            1 => (Op::Cumulate(*self.random.pick(Cumulate::ALL), self.cumulation(ty.rank())), &operands[..1]),
            2 => {
                let permutation = self.permutation(ty.rank());
                (Op::Arrange(Arrange::Transpose { permutation }), &operands[..1])
            }
            3 => (Op::Part(Part::Slice(self.slice(&ty.shape).into())), &operands[..1]),
            _ => (Op::Map(Map::Mul), &operands[..]),
        };
        let between = self.made(op, operands)?;
        let zero = self.builder.constant(ty.dtype, 0.0);
        if self.random.once_in(3) {
            return Some((Op::Map(Map::Maximum), vec![between, zero]));
        }
        let selector = self.partner(|other| other.dtype == ty.dtype)?;
        let condition = self.made(Op::Map(Map::Gt), &[selector, zero])?;
        Some((Op::Map(Map::Where), vec![condition, between, zero]))
    }

    /// A reduction over some of the last axes, which stay with extent 1.
    fn trailing(&mut self, ty: &Type) -> Reduction {
        let first = self.random.below(ty.rank());
        Reduction { axes: (first as i64..ty.rank() as i64).collect(), keepdims: true }
    }

    /// Adds an operation if it fits.
    pub(super) fn made(&mut self, op: Op, operands: &[ValueId]) -> Option<ValueId> {
        if self.fits(&op, operands) { self.builder.push(op, operands).ok() } else { None }
    }
}
