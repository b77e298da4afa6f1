//! The functions of the language: one row each, and what a call of one says.

use super::attributes::Attributes;
use super::calls::match_arguments;
use super::expressions::Expressions;
use super::foreign::Foreign;
use super::values::Lowered;
use crate::dim::Dim;
use crate::ir::{Convolution, Padding};
use crate::map::Map;
use crate::reduce::Reduce;
use crate::surface::ast::{Argument, ExprId};

/// A function of the language.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    /// The names of the arguments, those required first.
    pub(crate) formals: &'static [&'static str],
    required: usize,
    function: Function,
}

/// What a function is.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    MatMul,
    Dot,
    Reduce(Reduce),
    Reshape,
    Transpose,
    ExpandDims,
    Squeeze,
    Slice,
    Gather,
    Conv2d,
    Map(Map),
    Zeros,
    Ones,
    Full,
    ZerosLike,
    OnesLike,
    BroadcastTo,
}

/// A call of a function of the language: tensors as expressions, attributes as they are written.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    /// `matmul(a, b)`
    MatMul(ExprId, ExprId),
    /// `dot(a, b)`
    Dot(ExprId, ExprId),
    /// `sum(x, axes = …, keepdims = …)`: a reduction
    Reduce { reduce: Reduce, x: ExprId, axes: Option<Written>, keepdims: bool },
    /// `reshape(x, shape)`, of which one extent may be -1
    Reshape { x: ExprId, shape: Vec<Dim> },
    /// `transpose(x, permutation)`; without it all axes are reversed
    Transpose { x: ExprId, permutation: Option<Written> },
    /// `expand_dims(x, axes)`
    ExpandDims { x: ExprId, axes: Written },
    /// `squeeze(x, axes)`; without them every axis of extent 1
    Squeeze { x: ExprId, axes: Option<Written> },
    /// `slice(x, starts, ends, steps)`
    Slice { x: ExprId, starts: Vec<Dim>, ends: Vec<Dim>, steps: Vec<i64> },
    /// `gather(t, i)`
    Gather { t: ExprId, i: ExprId },
    /// `conv2d(x, f, strides, padding)`
    Conv2d { x: ExprId, f: ExprId, convolution: Convolution },
    /// `exp(x)`: a function of elements
    Map { map: Map, operands: Vec<ExprId> },
    /// `neg(x)`, which is a literal of a literal
    Neg(ExprId),
    /// `zeros(shape)` or `ones(shape)`
    Filled { one: bool, shape: Vec<Dim> },
    /// `full(shape, c)`
    Full { shape: Vec<Dim>, value: ExprId },
    /// `zeros_like(x)` or `ones_like(x)`
    FilledLike { one: bool, x: ExprId },
    /// `broadcast_to(x, shape)`
    BroadcastTo { x: ExprId, shape: Vec<Dim> },
}

/// Axes as they are written: negative ones count from the end.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) axes: Vec<i64>,
    /// The argument.
    pub(crate) expr: ExprId,
}

/// The arguments of a call, one place a formal.
pub(crate) struct Given {
    pub(crate) name: &'static str,
    pub(crate) arguments: Vec<Option<ExprId>>,
    pub(crate) expr: ExprId,
}

const REDUCTION: &[&str] = &["x", "axes", "keepdims"];

const BUILTINS: &[Builtin] = &[
    builtin("matmul", &["a", "b"], 2, Function::MatMul),
    builtin("dot", &["a", "b"], 2, Function::Dot),
    builtin("reshape", &["x", "shape"], 2, Function::Reshape),
    builtin("transpose", &["x", "permutation"], 1, Function::Transpose),
    builtin("expand_dims", &["x", "axes"], 2, Function::ExpandDims),
    builtin("squeeze", &["x", "axes"], 1, Function::Squeeze),
    builtin("slice", &["x", "starts", "ends", "steps"], 3, Function::Slice),
    builtin("gather", &["t", "i"], 2, Function::Gather),
    builtin("conv2d", &["x", "f", "strides", "padding"], 2, Function::Conv2d),
    builtin("zeros", &["shape"], 1, Function::Zeros),
    builtin("ones", &["shape"], 1, Function::Ones),
    builtin("full", &["shape", "c"], 2, Function::Full),
    builtin("zeros_like", &["x"], 1, Function::ZerosLike),
    builtin("ones_like", &["x"], 1, Function::OnesLike),
    builtin("broadcast_to", &["x", "shape"], 2, Function::BroadcastTo),
];

/// The functions of elements that are called by a name.
static MAPS: [Option<Builtin>; Map::ALL.len()] = {
    let mut builtins = [const { None }; Map::ALL.len()];
    let mut next = 0;
    while next < builtins.len() {
        let row = Map::ALL[next].row();
        if let Some(name) = row.function() {
            builtins[next] = Some(builtin(name, row.formals, row.arity(), Function::Map(Map::ALL[next])));
        }
        next += 1;
    }
    builtins
};

/// The reductions.
static REDUCTIONS: [Builtin; Reduce::ALL.len()] = {
    let mut builtins =
        [const { builtin("", REDUCTION, 1, Function::Reduce(Reduce::ALL[0])) }; Reduce::ALL.len()];
    let mut next = 0;
    while next < builtins.len() {
        let reduce = Reduce::ALL[next];
        builtins[next] = builtin(reduce.row().function, REDUCTION, 1, Function::Reduce(reduce));
        next += 1;
    }
    builtins
};

const fn builtin(
    name: &'static str,
    formals: &'static [&'static str],
    required: usize,
    function: Function,
) -> Builtin {
    Builtin { name, formals, required, function }
}

pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    all().find(|builtin| builtin.name == name)
}

pub(crate) fn is_builtin(name: &str) -> bool {
    find(name).is_some()
}

pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    all().map(|builtin| builtin.name)
}

fn all() -> impl Iterator<Item = &'static Builtin> {
    BUILTINS.iter().chain(&REDUCTIONS).chain(MAPS.iter().flatten())
}

impl Given {
    /// The argument of a required formal.
    fn required(&self, position: usize) -> ExprId {
        self.arguments[position].expect("arguments were matched with what is required")
    }
}

/// What calls of functions of the language say.
pub(crate) trait ReadCalls: Attributes + Foreign {
    /// Matches the arguments of a call and reads its attributes.
    fn read_call(
        &self,
        builtin: &'static Builtin,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<(Call, Given)> {
        let Builtin { name, formals, required, function } = builtin;
        let read = || {
            let matched = match_arguments(name, formals, *required, arguments, self.site(expr))?;
            let arguments = matched.given.iter().map(|given| given.map(|argument| argument.value)).collect();
            let given = Given { name, arguments, expr };
            let call = self.call_of(*function, &given)?;
            Ok((call, given))
        };
        read().map_err(|stop| self.as_written_here(stop, builtin, arguments, expr))
    }

    fn call_of(&self, function: Function, given: &Given) -> Lowered<Call> {
        let x = given.required(0);
        Ok(match function {
            Function::MatMul => Call::MatMul(x, given.required(1)),
            Function::Dot => Call::Dot(x, given.required(1)),
            Function::Reduce(reduce) => self.reduction(reduce, given)?,
            Function::Reshape => Call::Reshape { x, shape: self.dims_attribute(given.required(1))? },
            Function::Transpose => {
                let permutation = given.arguments[1];
                let written =
                    |expr| -> Lowered<_> { Ok(Written { axes: self.integers_attribute(expr)?, expr }) };
                Call::Transpose { x, permutation: permutation.map(written).transpose()? }
            }
            Function::ExpandDims => Call::ExpandDims { x, axes: self.written(given.required(1))? },
            Function::Squeeze => {
                let axes = given.arguments[1].map(|axes| self.written(axes)).transpose()?;
                Call::Squeeze { x, axes }
            }
            Function::Slice => {
                let starts = self.dims_attribute(given.required(1))?;
                let ends = self.dims_attribute(given.required(2))?;
                let steps = match given.arguments[3] {
                    Some(steps) => self.integers_attribute(steps)?,
                    None => vec![1; starts.len()],
                };
                Call::Slice { x, starts, ends, steps }
            }
            Function::Gather => Call::Gather { t: x, i: given.required(1) },
            Function::Conv2d => {
                let strides = match given.arguments[2] {
                    Some(strides) => self.integers_attribute(strides)?,
                    None => vec![1, 1],
                };
                let padding = match given.arguments[3] {
                    Some(padding) => self.padding_attribute(padding)?,
                    None => Padding::Valid,
                };
                Call::Conv2d { x, f: given.required(1), convolution: Convolution { strides, padding } }
            }
            Function::Map(Map::SIGN) => Call::Neg(x),
            Function::Map(map) => {
                let operands = (0..map.row().arity()).map(|position| given.required(position)).collect();
                Call::Map { map, operands }
            }
            Function::Zeros => Call::Filled { one: false, shape: self.dims_attribute(x)? },
            Function::Ones => Call::Filled { one: true, shape: self.dims_attribute(x)? },
            Function::Full => Call::Full { shape: self.dims_attribute(x)?, value: given.required(1) },
            Function::ZerosLike => Call::FilledLike { one: false, x },
            Function::OnesLike => Call::FilledLike { one: true, x },
            Function::BroadcastTo => Call::BroadcastTo { x, shape: self.dims_attribute(given.required(1))? },
        })
    }

    fn reduction(&self, reduce: Reduce, given: &Given) -> Lowered<Call> {
        let axes = given.arguments[1].map(|axes| self.written(axes)).transpose()?;
        let keepdims = match given.arguments[2] {
            Some(keepdims) => self.flag_attribute(keepdims)?,
            None => false,
        };
        Ok(Call::Reduce { reduce, x: given.required(0), axes, keepdims })
    }

    fn written(&self, expr: ExprId) -> Lowered<Written> {
        Ok(Written { axes: self.axes_attribute(expr)?, expr })
    }
}

impl<E: Expressions + Foreign> ReadCalls for E {}
