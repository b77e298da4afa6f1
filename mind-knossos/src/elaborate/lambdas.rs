//! Primitives that take a lambda. A lambda is never a value: its body becomes a block, or is inlined where it is
//! applied.

use mind_core::diag::{Code, Diag};

use super::{Elaborator, Found};
use crate::{
    ir::{Loop, Operation, Projection, ValueId},
    primitives::{common_size, is_summable},
    read::{Form, FormId},
    scalars::Scalar,
    types::{Type, TypeId},
};

/// A lambda that has not been applied yet.
#[derive(Clone, Copy)]
struct Lambda<'a> {
    variable: &'a str,
    ty: TypeId,
    body: FormId,
    at: FormId,
}

impl<'a> Elaborator<'_, 'a> {
    pub(super) fn with_lambda(&mut self, name: &'a str, head: FormId, arguments: &[FormId]) -> Found {
        match (name, arguments) {
            ("build" | "sumbuild", [size, lambda]) => self.build(name, head, *size, *lambda),
            ("fold", [lambda, first, vector]) => self.fold(head, *lambda, *first, *vector),
            ("map", [lambda, tensor]) => self.map(head, *lambda, *tensor),
            ("map2", [lambda, first, second]) => self.map2(head, *lambda, *first, *second),
            ("diag", [rows, columns, lambda]) => self.diag(head, *rows, *columns, *lambda),
            ("buildFromSparse" | "buildFromSparseTupled", [shape, count, lambda]) => {
                self.sparse(name, head, *shape, *count, *lambda)
            }
            ("$check", [f, rev, at, change, cotangent]) => {
                self.check_derivative(head, [*f, *rev], [*at, *change, *cotangent])
            }
            _ => {
                let needed = match name {
                    "build" | "sumbuild" | "map" => 2,
                    "$check" => 5,
                    _ => 3,
                };
                let message = format!("`{name}` takes {needed} arguments, found {}", arguments.len());
                let diag = Diag::new(Code::E2007, self.forms.place(head).into(), message);
                let diag = self.with_overloads(diag, name);
                self.diags.push(diag);
                None
            }
        }
    }

    fn lambda(&mut self, form: FormId) -> Found<Lambda<'a>> {
        const WHAT: &str = "a lambda such as `(lam (i : Integer) body)`";
        match self.forms.get(form) {
            Form::List(members) => match members[..] {
                [lam, parameter, body] if matches!(self.forms.name(lam), Some("lam" | "lambda")) => {
                    let (variable, ty) = self.parameter(parameter)?;
                    Some(Lambda { variable, ty, body, at: form })
                }
                _ => {
                    self.unexpected(form, WHAT);
                    None
                }
            },
            _ => {
                self.unexpected(form, WHAT);
                None
            }
        }
    }

    /// Elaborates the body with this value for the variable.
    fn apply(&mut self, lambda: Lambda<'a>, value: Found) -> Found {
        if let Some(value) = value {
            self.b.name(value, lambda.variable);
        }
        self.variables.push((lambda.variable, value));
        let found = self.expression(lambda.body);
        self.variables.pop();
        found
    }

    /// Checks the parameter type of a lambda.
    fn takes(&mut self, lambda: Lambda<'a>, expected: TypeId) -> bool {
        self.same(lambda.at, "the parameter of the lambda", expected, lambda.ty)
    }

    /// Reports the errors in the body of a lambda that cannot be used.
    fn only_check(&mut self, lambda: Option<Lambda<'a>>) {
        if let Some(lambda) = lambda {
            let value = self.b.begin(&[lambda.ty])[0];
            self.apply(lambda, Some(value));
            self.b.end(value);
        }
    }

    fn misuse(&mut self, name: &'a str, head: FormId, types: &[TypeId]) -> Found {
        let argument = self.program.argument(types);
        self.no_overload(name, head, argument);
        None
    }

    fn build(&mut self, name: &'a str, head: FormId, size: FormId, lambda: FormId) -> Found {
        let (size, lambda) = (self.expression(size), self.lambda(lambda));
        let (Some(size), Some(lambda)) = (size, lambda) else {
            self.only_check(lambda);
            return None;
        };
        let ty = self.b.ty(size);
        let Some(rank) = self.program.types.rank_of_index(ty) else {
            self.only_check(Some(lambda));
            let lambda = self.program.types.intern(Type::Lambda(lambda.ty, TypeId::UNIT));
            return self.misuse(name, head, &[ty, lambda]);
        };
        let fits = self.takes(lambda, ty);
        let counter = self.b.begin(&[lambda.ty])[0];
        let result = self.apply(lambda, Some(counter));
        let body = self.b.end(result.unwrap_or(counter));
        let element = self.b.ty(result?);
        if !fits {
            return None;
        }
        if name == "build" {
            let ty = self.program.types.tensor(rank, element);
            return Some(self.b.emit(Operation::Loop(Loop::Build, body), [size], ty));
        }
        if !is_summable(&self.program.types, element) {
            let message = format!("{} cannot be summed", self.program.types.show(element));
            self.report(Code::E2006, lambda.body, message);
            return None;
        }
        Some(self.b.emit(Operation::Loop(Loop::Sum, body), [size], element))
    }

    fn fold(&mut self, head: FormId, lambda: FormId, first: FormId, vector: FormId) -> Found {
        let lambda = self.lambda(lambda);
        let (first, vector) = (self.expression(first), self.expression(vector));
        let (Some(lambda), Some(first), Some(vector)) = (lambda, first, vector) else {
            self.only_check(lambda);
            return None;
        };
        let (carried, ty) = (self.b.ty(first), self.b.ty(vector));
        let Some((1, element)) = self.program.types.element(ty) else {
            self.only_check(Some(lambda));
            let lambda = self.program.types.intern(Type::Lambda(lambda.ty, carried));
            return self.misuse("fold", head, &[lambda, carried, ty]);
        };
        let pair = self.program.types.tuple([carried, element]);
        if !self.takes(lambda, pair) {
            self.only_check(Some(lambda));
            return None;
        }
        let size = self.b.size(&mut self.program.types, vector);
        let parameters = self.b.begin(&[TypeId::INTEGER, carried]);
        let x = self.b.index(&self.program.types, parameters[0], vector);
        let pair = self.b.tuple(&mut self.program.types, &[parameters[1], x]);
        let result = self.apply(lambda, Some(pair));
        let body = self.b.end(result.unwrap_or(pair));
        let found = self.b.ty(result?);
        self.same(lambda.body, "the body of the lambda", carried, found).then_some(())?;
        Some(self.b.emit(Operation::Loop(Loop::Fold, body), [size, first], carried))
    }

    /// Builds a tensor of a size. `element` computes each element from its index.
    fn each(&mut self, size: ValueId, element: impl FnOnce(&mut Self, ValueId) -> Found) -> Found {
        let ty = self.b.ty(size);
        let counter = self.b.begin(&[ty])[0];
        let result = element(self, counter);
        let body = self.b.end(result.unwrap_or(counter));
        let element = self.b.ty(result?);
        let rank = self.program.types.rank_of_index(ty)?;
        let ty = self.program.types.tensor(rank, element);
        Some(self.b.emit(Operation::Loop(Loop::Build, body), [size], ty))
    }

    fn map(&mut self, head: FormId, lambda: FormId, tensor: FormId) -> Found {
        let (lambda, tensor) = (self.lambda(lambda), self.expression(tensor));
        let (Some(lambda), Some(tensor)) = (lambda, tensor) else {
            self.only_check(lambda);
            return None;
        };
        let ty = self.b.ty(tensor);
        let Some((_, element)) = self.program.types.element(ty) else {
            self.only_check(Some(lambda));
            let lambda = self.program.types.intern(Type::Lambda(lambda.ty, TypeId::UNIT));
            return self.misuse("map", head, &[lambda, ty]);
        };
        if !self.takes(lambda, element) {
            self.only_check(Some(lambda));
            return None;
        }
        let size = self.b.size(&mut self.program.types, tensor);
        self.each(size, |this, i| {
            let x = this.b.index(&this.program.types, i, tensor);
            this.apply(lambda, Some(x))
        })
    }

    fn map2(&mut self, head: FormId, lambda: FormId, first: FormId, second: FormId) -> Found {
        let lambda = self.lambda(lambda);
        let (first, second) = (self.expression(first), self.expression(second));
        let (Some(lambda), Some(first), Some(second)) = (lambda, first, second) else {
            self.only_check(lambda);
            return None;
        };
        let tys = [self.b.ty(first), self.b.ty(second)];
        let elements = tys.map(|ty| self.program.types.element(ty));
        let [Some((rank, x)), Some((other, y))] = elements else {
            self.only_check(Some(lambda));
            return self.misuse("map2", head, &tys);
        };
        let pair = self.program.types.tuple([x, y]);
        if rank != other {
            self.only_check(Some(lambda));
            return self.misuse("map2", head, &tys);
        }
        if !self.takes(lambda, pair) {
            self.only_check(Some(lambda));
            return None;
        }
        let size = common_size(&mut self.b, &mut self.program.types, first, second);
        self.each(size, |this, i| {
            let x = this.b.index(&this.program.types, i, first);
            let y = this.b.index(&this.program.types, i, second);
            let pair = this.b.tuple(&mut this.program.types, &[x, y]);
            this.apply(lambda, Some(pair))
        })
    }

    /// Elaborates `diag` as `build rows (i. deltaVec columns i (lambda i))`.
    fn diag(&mut self, head: FormId, rows: FormId, columns: FormId, lambda: FormId) -> Found {
        let sizes = [self.expression(rows), self.expression(columns)];
        let lambda = self.lambda(lambda);
        let ([Some(rows), Some(columns)], Some(lambda)) = (sizes, lambda) else {
            self.only_check(lambda);
            return None;
        };
        let tys = [self.b.ty(rows), self.b.ty(columns)];
        if tys != [TypeId::INTEGER; 2] {
            self.only_check(Some(lambda));
            return self.misuse("diag", head, &tys);
        }
        if !self.takes(lambda, TypeId::INTEGER) {
            self.only_check(Some(lambda));
            return None;
        }
        self.each(rows, |this, i| {
            let value = this.apply(lambda, Some(i))?;
            let types = &mut this.program.types;
            crate::primitives::call(&mut this.b, types, "deltaVec", &[columns, i, value])
        })
    }

    /// Adds the value of each iteration at its index to zeros of a shape, with accumulators.
    fn sparse(&mut self, name: &'a str, head: FormId, shape: FormId, count: FormId, lambda: FormId) -> Found {
        let (shape, count, lambda) = (self.expression(shape), self.expression(count), self.lambda(lambda));
        let (Some(shape), Some(count), Some(lambda)) = (shape, count, lambda) else {
            self.only_check(lambda);
            return None;
        };
        let (shape_ty, count_ty) = (self.b.ty(shape), self.b.ty(count));
        let types = &self.program.types;
        let tupled = name == "buildFromSparseTupled";
        let shape_tys =
            if tupled { types.members(shape_ty).map(<[_]>::to_vec) } else { Some(vec![shape_ty]) };
        let Some(shape_tys) = shape_tys.filter(|_| types.rank_of_index(count_ty).is_some()) else {
            self.only_check(Some(lambda));
            return self.misuse(name, head, &[shape_ty, count_ty]);
        };
        let fits = self.takes(lambda, count_ty);
        // The body determines the types of the accumulators, which are created before the loop.
        let counter = self.b.begin(&[lambda.ty])[0];
        let result = self.apply(lambda, Some(counter));
        let Some(result) = result.filter(|_| fits) else {
            self.b.end(counter);
            return None;
        };
        let result_ty = self.b.ty(result);
        let parts = if tupled { self.b.members(&self.program.types, result) } else { vec![result] };
        let mut sums = Vec::new();
        for (position, part) in parts.iter().enumerate() {
            let types = &mut self.program.types;
            let members = types.members(self.b.ty(*part)).map(<[_]>::to_vec);
            let shape_ty = shape_tys.get(position).copied();
            let Some([index, value]) = members.as_deref() else { break };
            let Some(rank) = types.rank_of_index(*index).filter(|_| types.tangent(*value) == *value) else {
                break;
            };
            let tensor = types.tensor(rank, *value);
            if shape_ty != Some(types.shape(tensor)) && shape_ty != Some(types.structure(tensor)) {
                break;
            }
            let accumulator = types.intern(Type::Accumulator(tensor));
            sums.push((self.b.value(accumulator), tensor));
        }
        if sums.len() != shape_tys.len() || parts.len() != sums.len() {
            self.b.end(counter);
            let types = &mut self.program.types;
            let lambda = types.intern(Type::Lambda(lambda.ty, result_ty));
            return self.misuse(name, head, &[shape_ty, count_ty, lambda]);
        }
        for (part, (accumulator, _)) in parts.iter().zip(&sums) {
            let (at, value) =
                (self.b.get(&self.program.types, *part, 0), self.b.get(&self.program.types, *part, 1));
            let step = Operation::AddTo([Projection::Element].into());
            self.b.emit(step, [*accumulator, at, value], TypeId::UNIT);
        }
        let nothing = self.b.unit();
        let body = self.b.end(nothing);
        let shapes = if tupled { self.b.members(&self.program.types, shape) } else { vec![shape] };
        let depth = self.b.depth() - 1;
        for (shape, (accumulator, tensor)) in shapes.into_iter().zip(&sums) {
            let types = &mut self.program.types;
            // Programs give the shape, or the structure with `(tuple)` for each number.
            let structure = match self.b.ty(shape) == types.structure(*tensor) {
                true => shape,
                false => self.b.structure_of_shape(types, shape, *tensor),
            };
            self.b.place_at(depth, *accumulator, Operation::Accumulator, [structure]);
        }
        let types = &mut self.program.types;
        let rank = types.rank_of_index(count_ty)?;
        let ty = types.tensor(rank, TypeId::UNIT);
        self.b.emit(Operation::Loop(Loop::Build, body), [count], ty);
        let read = sums.iter().map(|(accumulator, ty)| self.b.emit(Operation::Read, [*accumulator], *ty));
        let read: Vec<_> = read.collect();
        Some(if tupled { self.b.tuple(&mut self.program.types, &read) } else { read[0] })
    }

    /// The relative difference of `dt · (f(s + ds) - f(s))` and `rev(s, dt) · ds`.
    fn check_derivative(&mut self, head: FormId, lambdas: [FormId; 2], values: [FormId; 3]) -> Found {
        let [f, rev] = lambdas.map(|lambda| self.lambda(lambda));
        let values = values.map(|value| self.expression(value));
        let (Some(f), Some(rev), [Some(s), Some(ds), Some(dt)]) = (f, rev, values) else {
            self.only_check(f);
            self.only_check(rev);
            return None;
        };
        let (ty, d_ty, dt_ty) = (self.b.ty(s), self.b.ty(ds), self.b.ty(dt));
        if d_ty != self.program.types.tangent(ty) || dt_ty != self.program.types.tangent(dt_ty) {
            return self.misuse("$check", head, &[ty, d_ty, dt_ty]);
        }
        let pair_ty = self.program.types.tuple([ty, dt_ty]);
        if !self.takes(f, ty) || !self.takes(rev, pair_ty) {
            return None;
        }
        let moved = self.b.emit(Operation::Add, [s, ds], ty);
        // A loop, so that the lambda's body occurs once. Otherwise each nested `$check` would double it.
        let two = self.b.integer(2);
        let sums = self.each(two, |this, turn| {
            let zero = this.b.integer(0);
            let is_first = this.b.equal(turn, zero);
            let x = this.b.choose(is_first, |_| s, |_| moved);
            let y = this.apply(f, Some(x))?;
            let ty = this.b.ty(y);
            if ty != dt_ty || this.program.types.tangent(ty) != ty {
                return this.misuse("$check", head, &[ty, d_ty, dt_ty]);
            }
            Some(this.b.emit(Operation::Dot, [y, dt], TypeId::FLOAT))
        });
        let pair = self.b.tuple(&mut self.program.types, &[s, dt]);
        let (sums, back) = (sums?, self.apply(rev, Some(pair))?);
        if self.b.ty(back) != d_ty {
            return self.misuse("$check", head, &[ty, d_ty, dt_ty]);
        }
        let [before, after] = [0, 1].map(|turn| {
            let turn = self.b.integer(turn);
            self.b.index(&self.program.types, turn, sums)
        });
        let linear = self.b.emit(Operation::Dot, [back, ds], TypeId::FLOAT);
        let change = self.b.scalar(Scalar::SubF, &[after, before]);
        let difference = self.b.scalar(Scalar::SubF, &[change, linear]);
        let sizes = [difference, change, linear].map(|x| self.b.scalar(Scalar::Abs, &[x]));
        let size = self.b.scalar(Scalar::AddF, &[sizes[1], sizes[2]]);
        let zero = self.b.float(0.0);
        let nothing = self.b.equal(size, zero);
        Some(self.b.choose(nothing, |_| zero, |b| b.scalar(Scalar::DivF, &[sizes[0], size])))
    }
}
