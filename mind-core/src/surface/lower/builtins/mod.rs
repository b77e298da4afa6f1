//! The functions of the language: their table, their arguments, and help for calls that are written as in other
//! libraries.

pub(crate) mod arguments;
pub(crate) mod arranging;
pub(crate) mod calls;
pub(crate) mod convolving;
pub(crate) mod einsum;
pub(crate) mod foreign;
pub(crate) mod foreign_arguments;
pub(crate) mod foreign_reductions;
pub(crate) mod operations;

use crate::map::Map;
use crate::reduce::{ArgReduce, Reduce};
use crate::surface::ast::Callee;
use crate::written::{self, FUNCTIONS, Op, Own, PRIVATE_FUNCTIONS};

/// A function of the language.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    /// The names of the arguments, the required ones first.
    pub(crate) formals: &'static [&'static str],
    pub(crate) required: usize,
    pub(crate) function: BuiltinFunction,
}

impl Builtin {
    /// Whether the first argument is a list of tensors.
    pub(crate) fn takes_list(&self) -> bool {
        matches!(self.function, BuiltinFunction::Operation(function) if function.list)
    }
}

/// The kind of a function.
#[derive(Clone, Copy)]
pub(crate) enum BuiltinFunction {
    /// An operation.
    Operation(&'static written::WrittenFunction),
    Reduce(Reduce),
    /// Any other operation over axes.
    Over(fn(written::Reduction) -> Op),
    Map(Map),
    Zeros,
    Ones,
    Full,
    ZerosLike,
    OnesLike,
    Extent,
    OneHot,
    Replace,
    Tile,
    Repeat,
    Split,
    Pad,
    AvgPool,
    /// A convolution over this number of axes.
    Convolution {
        axes: usize,
        is_transposed: bool,
    },
    /// `einsum`, which takes any number of operands.
    Einsum,
    /// `meshgrid`, which takes any number of vectors.
    Meshgrid,
    ScatterAdd,
    /// The positions of the elements of a shape, in row-major order.
    Positions,
    /// The argument for an element type.
    OfType,
    /// A parameter of a distribution, which is checked if it is known.
    Parameter(Parameter),
}

/// The numbers that a parameter of a distribution may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// From 0 to 1.
    Probability,
    /// Above 0.
    Positive,
    /// Above 0, for the distance of two parameters.
    PositiveDistance,
    /// At least 0.
    NotNegative,
}

/// The arguments of convolutions.
const CONVOLUTION: &[&str] = &["x", "f", "strides", "padding", "dilations", "groups"];

/// The arguments of transposed convolutions.
const TRANSPOSED: &[&str] = &["x", "f", "strides", "padding"];

/// The arguments of `avg_pool`: those of `max_pool`, and whether padding counts as zeros.
const AVG_POOL: &[&str] = &["x", "sizes", "strides", "padding", "dilations", "counted"];

const REDUCTION: &[&str] = &["x", "axes", "keepdims"];

/// The functions that make literals.
const LITERALS: &[Builtin] = &[
    builtin("zeros", &["shape"], 1, BuiltinFunction::Zeros),
    builtin("ones", &["shape"], 1, BuiltinFunction::Ones),
    builtin("full", &["shape", "c"], 2, BuiltinFunction::Full),
    builtin("zeros_like", &["x"], 1, BuiltinFunction::ZerosLike),
    builtin("ones_like", &["x"], 1, BuiltinFunction::OnesLike),
    builtin("extent", &["x", "axis"], 2, BuiltinFunction::Extent),
];

/// The functions that consist of several operations.
const COMPOSITES: &[Builtin] = &[
    builtin("one_hot", &["indices", "n", "dtype"], 2, BuiltinFunction::OneHot),
    builtin("replace", &["part", "value"], 2, BuiltinFunction::Replace),
    builtin("tile", &["x", "counts"], 2, BuiltinFunction::Tile),
    builtin("repeat", &["x", "count", "axis"], 3, BuiltinFunction::Repeat),
    builtin("split", &["x", "parts", "axis"], 3, BuiltinFunction::Split),
    builtin("pad", &["x", "low", "high", "mode", "value", "interior"], 3, BuiltinFunction::Pad),
    builtin("avg_pool", AVG_POOL, 3, BuiltinFunction::AvgPool),
    builtin("conv1d", CONVOLUTION, 2, BuiltinFunction::Convolution { axes: 1, is_transposed: false }),
    builtin("conv2d", CONVOLUTION, 2, BuiltinFunction::Convolution { axes: 2, is_transposed: false }),
    builtin("conv3d", CONVOLUTION, 2, BuiltinFunction::Convolution { axes: 3, is_transposed: false }),
    builtin("conv_transpose1d", TRANSPOSED, 2, BuiltinFunction::Convolution { axes: 1, is_transposed: true }),
    builtin("conv_transpose2d", TRANSPOSED, 2, BuiltinFunction::Convolution { axes: 2, is_transposed: true }),
    builtin("conv_transpose3d", TRANSPOSED, 2, BuiltinFunction::Convolution { axes: 3, is_transposed: true }),
    builtin("einsum", &["equation", "x"], 2, BuiltinFunction::Einsum),
    builtin("meshgrid", &["x"], 1, BuiltinFunction::Meshgrid),
    builtin("scatter_add", &["x", "indices", "updates"], 3, BuiltinFunction::ScatterAdd),
];

/// The functions that only the text of the library calls.
const PRIVATE: &[Builtin] = &[
    builtin("positions", &["shape"], 1, BuiltinFunction::Positions),
    builtin("of_type", OF_TYPE, 1, BuiltinFunction::OfType),
    builtin("probability", &["p"], 1, BuiltinFunction::Parameter(Parameter::Probability)),
    builtin("positive", &["x"], 1, BuiltinFunction::Parameter(Parameter::Positive)),
    builtin("positive_distance", &["x"], 1, BuiltinFunction::Parameter(Parameter::PositiveDistance)),
    builtin("not_negative", &["x"], 1, BuiltinFunction::Parameter(Parameter::NotNegative)),
    builtin("threefry", Map::Threefry.row().formals, 2, BuiltinFunction::Map(Map::Threefry)),
];

/// The arguments of `of_type`: an element type, and a value for each element type that is accepted.
const OF_TYPE: &[&str] = &["dtype", "u8", "i32", "i64", "f32", "f64"];

/// The operations over axes whose result or operand has a fixed element type.
const OVER: &[Builtin] = &[
    builtin("argmax", REDUCTION, 1, BuiltinFunction::Over(|over| Op::ArgReduce(ArgReduce::Max, over))),
    builtin("argmin", REDUCTION, 1, BuiltinFunction::Over(|over| Op::ArgReduce(ArgReduce::Min, over))),
    builtin(
        "any",
        REDUCTION,
        1,
        BuiltinFunction::Over(|reduction| Op::Own(Own::Truths { all: false, reduction })),
    ),
    builtin(
        "all",
        REDUCTION,
        1,
        BuiltinFunction::Over(|reduction| Op::Own(Own::Truths { all: true, reduction })),
    ),
];

/// The functions that are a single operation.
static OPERATIONS: [Builtin; FUNCTIONS.len()] = operations(FUNCTIONS);

/// The functions that are a single operation and that only the text of the library calls.
static PRIVATE_OPERATIONS: [Builtin; PRIVATE_FUNCTIONS.len()] = operations(PRIVATE_FUNCTIONS);

const fn operations<const N: usize>(functions: &'static [written::WrittenFunction]) -> [Builtin; N] {
    let mut builtins = [const { builtin("", REDUCTION, 1, BuiltinFunction::Zeros) }; N];
    let mut next = 0;
    while next < N {
        let function = &functions[next];
        let kind = BuiltinFunction::Operation(function);
        builtins[next] = builtin(function.name, function.formals, function.required, kind);
        next += 1;
    }
    builtins
}

/// The elementwise functions that are called by name.
static MAPS: [Option<Builtin>; Map::ALL.len()] = {
    let mut builtins = [const { None }; Map::ALL.len()];
    let mut next = 0;
    while next < builtins.len() {
        let row = Map::ALL[next].row();
        if let Some(name) = row.function() {
            builtins[next] =
                Some(builtin(name, row.formals, row.arity(), BuiltinFunction::Map(Map::ALL[next])));
        }
        next += 1;
    }
    builtins
};

/// The reductions.
static REDUCTIONS: [Builtin; Reduce::ALL.len()] = {
    let mut builtins =
        [const { builtin("", REDUCTION, 1, BuiltinFunction::Reduce(Reduce::ALL[0])) }; Reduce::ALL.len()];
    let mut next = 0;
    while next < builtins.len() {
        let reduce = Reduce::ALL[next];
        builtins[next] = builtin(reduce.row().function, REDUCTION, 1, BuiltinFunction::Reduce(reduce));
        next += 1;
    }
    builtins
};

const fn builtin(
    name: &'static str,
    formals: &'static [&'static str],
    required: usize,
    function: BuiltinFunction,
) -> Builtin {
    Builtin { name, formals, required, function }
}

pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    all().find(|builtin| builtin.name == name)
}

/// The function that a call names, which may be private in the text of the library.
pub(crate) fn called(callee: &Callee) -> Option<&'static Builtin> {
    let name = callee.to_string();
    find(&name).or_else(|| callee.in_library.then(|| find_private(&name)).flatten())
}

/// A function that only the text of the library calls.
pub(crate) fn find_private(name: &str) -> Option<&'static Builtin> {
    PRIVATE.iter().chain(&PRIVATE_OPERATIONS).find(|builtin| builtin.name == name)
}

pub(crate) fn is_builtin(name: &str) -> bool {
    find(name).is_some()
}

pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    all().map(|builtin| builtin.name)
}

fn all() -> impl Iterator<Item = &'static Builtin> {
    OPERATIONS
        .iter()
        .chain(LITERALS)
        .chain(COMPOSITES)
        .chain(OVER)
        .chain(&REDUCTIONS)
        .chain(MAPS.iter().flatten())
}
