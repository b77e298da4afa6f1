//! Calls of the functions of the language, as read in functions and in expressions.

use super::arguments::match_arguments;
use super::arranging::{self, Arranging, Fill, Mode, Padding};
use super::convolving::Convolving;
use super::einsum::CALL;
use super::foreign::ForeignNames;
use super::{Builtin, BuiltinFunction, Parameter, find};
use crate::diag::{Code, Diag};
use crate::dim::Dim;
use crate::ir::Rows;
use crate::ir::{Operands, Reduction};
use crate::map::Map;
use crate::ops::Attribute;
use crate::reduce::Reduce;
use crate::surface::ast::{Argument, ExprId, NodeKind};
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::{Lowered, Stop, Value, Word};
use crate::ty::{DType, Shape};
use crate::written::{self, AttributeForm, Op, Own};

/// A call of a function of the language.
#[derive(Clone, Debug)]
pub(crate) enum BuiltinCall {
    /// An operation on tensors.
    Operation(Op, Vec<ExprId>),
    /// An elementwise function; on literals it may be a literal.
    Map(Map, Vec<ExprId>),
    /// A chain of operations on the values and on the results of earlier operations.
    Composite(Vec<written::CompositeOp>, Vec<ExprId>),
    /// `zeros(shape)` or `ones(shape)`
    Filled { one: bool, shape: Vec<Dim> },
    /// `full(shape, c)`
    Full { shape: Vec<Dim>, value: ExprId },
    /// `extent(x, axis)`
    Extent { x: ExprId, axis: i64 },
    /// `replace(x[i], value)`
    Replace { part: ExprId, value: ExprId },
    /// A convolution.
    Convolved { x: ExprId, f: ExprId, with: Convolving },
    /// `tile`, `repeat`, `split` or `pad`
    Arranged { x: ExprId, arranging: Arranging },
    /// `einsum("ij,jk->ik", x, w)`
    Einsum { equation: ExprId, operands: Vec<ExprId> },
    /// `meshgrid(x, y, z)`
    Meshgrid { vectors: Vec<ExprId> },
    /// `positions(shape)`
    Positions { shape: Vec<Dim> },
    /// The value of an argument.
    Argument(ExprId),
}

impl BuiltinCall {
    /// The operands whose structs are taken field by field. Also the operation that combines the results of the fields,
    /// if the result is not a struct.
    pub(crate) fn by_field(&self) -> Option<(&[ExprId], Option<Map>)> {
        match self {
            Self::Map(_, operands) | Self::Operation(Op::Own(Own::FilledLike { .. }), operands) => {
                Some((operands, None))
            }
            Self::Operation(Op::Reduce(reduce, over), operands)
                if over.axes.is_none() && !over.keepdims && !reduce.row().divides =>
            {
                Some((operands, Some(reduce.row().monoid.combine)))
            }
            Self::Operation(..)
            | Self::Composite(..)
            | Self::Filled { .. }
            | Self::Full { .. }
            | Self::Extent { .. }
            | Self::Replace { .. }
            | Self::Convolved { .. }
            | Self::Arranged { .. }
            | Self::Einsum { .. }
            | Self::Meshgrid { .. }
            | Self::Positions { .. }
            | Self::Argument(_) => None,
        }
    }
}

/// The arguments of a call, one slot per formal.
pub(crate) struct CallArguments {
    pub(crate) name: &'static str,
    formals: &'static [&'static str],
    arguments: Vec<Option<ExprId>>,
    pub(crate) expr: ExprId,
}

impl CallArguments {
    /// An array whose elements are stacked. It names no arguments.
    pub(super) const fn array(expr: ExprId) -> Self {
        Self { name: "stack", formals: &[], arguments: Vec::new(), expr }
    }

    /// The argument of a required formal.
    fn required(&self, position: usize) -> ExprId {
        self.arguments[position].expect("arguments were matched with what is required")
    }

    /// Whether the operands are passed in a list.
    pub(crate) fn is_of_list(&self) -> bool {
        let builtin = find(self.name).map(|builtin| builtin.function);
        matches!(builtin, Some(BuiltinFunction::Operation(function)) if function.list)
    }

    /// The argument that lists the operands.
    pub(crate) fn list(&self) -> Option<ExprId> {
        self.arguments.first().copied().flatten().filter(|_| self.is_of_list())
    }

    /// The arguments that are given, by the names that the rules use for attributes. These are the names of the
    /// formals, except that an extent `n` is a `shape`.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&'static str, ExprId)> + '_ {
        self.named().map(|(name, argument)| (if name == "n" { "shape" } else { name }, argument))
    }

    /// The arguments that are given, by the names of their formals.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, ExprId)> + '_ {
        let named = self.formals.iter().zip(&self.arguments);
        named.filter_map(|(formal, argument)| Some((*formal, (*argument)?)))
    }
}

/// Reading of calls of the functions of the language.
pub(crate) trait ReadCalls: Attributes + ForeignNames {
    /// Matches the arguments of a call and reads its attributes.
    fn read_call(
        &self,
        builtin: &'static Builtin,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<(BuiltinCall, CallArguments)> {
        let Builtin { name, formals, required, function } = builtin;
        // These take any number of operands.
        let call = match function {
            BuiltinFunction::Einsum => Some(self.read_einsum(arguments, expr)?),
            BuiltinFunction::Meshgrid => Some(self.read_meshgrid(arguments, expr)?),
            _ => None,
        };
        if let Some(call) = call {
            return Ok((call, CallArguments { name, formals: &[], arguments: Vec::new(), expr }));
        }
        let read = || {
            let matched = match_arguments(name, formals, *required, arguments, self.site(expr))?;
            let arguments = matched.given.iter().map(|given| given.map(|argument| argument.value)).collect();
            let name = match function {
                BuiltinFunction::Operation(function) => function.label,
                _ => name,
            };
            let given = CallArguments { name, formals, arguments, expr };
            let call = self.call_of(*function, &given)?;
            Ok((call, given))
        };
        read().map_err(|stop| self.as_written_here(stop, builtin, arguments, expr))
    }

    fn call_of(&self, function: BuiltinFunction, given: &CallArguments) -> Lowered<BuiltinCall> {
        let x = given.required(0);
        let (op, operands) = match function {
            BuiltinFunction::Operation(function) => {
                // A conversion to the element type of a tensor whose type is not known.
                if let [AttributeForm::DType] = function.attributes
                    && let Value::Word(Word::ElementsOf(like)) = self.value(given.required(1))
                {
                    return Ok(BuiltinCall::Operation(Op::Own(Own::ConvertedLike), vec![x, *like]));
                }
                let operands = match function.list {
                    true => self.listed(given)?,
                    false => (0..function.operands()).map(|position| given.required(position)).collect(),
                };
                let attributes = given.arguments[function.operands()..].iter().zip(function.attributes);
                let attributes = attributes.map(|(argument, takes)| {
                    argument.map(|argument| self.attribute(*takes, argument)).transpose()
                });
                let attributes = attributes.collect::<Lowered<_>>()?;
                ((function.make)(written::GivenAttributes(attributes)), operands)
            }
            BuiltinFunction::Reduce(reduce) => {
                let axes = self.reduced_axes(reduce, given)?;
                (Op::Reduce(reduce, Reduction { axes, keepdims: self.keepdims(given)? }), vec![x])
            }
            BuiltinFunction::Over(op) => {
                let axes = given.arguments[1].map(|axes| self.axes_attribute(axes)).transpose()?;
                (op(Reduction { axes, keepdims: self.keepdims(given)? }), vec![x])
            }
            BuiltinFunction::Map(map) => {
                let operands = (0..map.row().arity()).map(|position| given.required(position)).collect();
                return Ok(BuiltinCall::Map(map, operands));
            }
            BuiltinFunction::Zeros => {
                return Ok(BuiltinCall::Filled { one: false, shape: self.dims_attribute(x)? });
            }
            BuiltinFunction::Ones => {
                return Ok(BuiltinCall::Filled { one: true, shape: self.dims_attribute(x)? });
            }
            BuiltinFunction::Full => {
                return Ok(BuiltinCall::Full { shape: self.dims_attribute(x)?, value: given.required(1) });
            }
            BuiltinFunction::Extent => {
                return Ok(BuiltinCall::Extent { x, axis: self.integer_attribute(given.required(1))? });
            }
            BuiltinFunction::Replace => {
                return Ok(BuiltinCall::Replace { part: x, value: given.required(1) });
            }
            BuiltinFunction::Tile => {
                let at = given.required(1);
                let counts = self.dims_attribute(at)?;
                return Ok(BuiltinCall::Arranged { x, arranging: Arranging::Tile { counts, at } });
            }
            BuiltinFunction::Repeat => {
                let (at, axis) = (given.required(1), self.integer_attribute(given.required(2))?);
                let count = self.dim_attribute(at)?;
                return Ok(BuiltinCall::Arranged { x, arranging: Arranging::Repeat { count, at, axis } });
            }
            BuiltinFunction::Split => {
                let (at, axis) = (given.required(1), self.integer_attribute(given.required(2))?);
                let is_list =
                    matches!(self.value(at), Value::Literal(id) if self.literals().elements(*id).is_some());
                let arranging = match is_list {
                    true => Arranging::Between { bounds: self.bounds_attribute(at)?, at, axis },
                    false => Arranging::Parts { count: self.integer_attribute(at)?, at, axis },
                };
                return Ok(BuiltinCall::Arranged { x, arranging });
            }
            BuiltinFunction::Pad => {
                let arranging = Arranging::Pad(self.padding_of(given)?);
                return Ok(BuiltinCall::Arranged { x, arranging });
            }
            BuiltinFunction::Convolution { axes, is_transposed } => {
                let written = |position: usize| given.arguments.get(position).copied().flatten();
                let list = |position: usize| match written(position) {
                    Some(list) => self.integers_attribute(list),
                    None => Ok(vec![1; axes]),
                };
                let padding = written(3).map(|padding| self.padding_attribute(padding)).transpose()?;
                let groups = written(5).map(|groups| self.integer_attribute(groups)).transpose()?;
                let with = Convolving {
                    axes,
                    strides: list(2)?,
                    padding: padding.unwrap_or(crate::ir::Padding::Valid),
                    dilations: list(4)?,
                    groups: groups.unwrap_or(1),
                    is_transposed,
                    at: [2, 3, 4, 5].map(|position| written(position).unwrap_or(given.expr)),
                };
                return Ok(BuiltinCall::Convolved { x, f: given.required(1), with });
            }
            BuiltinFunction::AvgPool => {
                self.check_averaged(x)?;
                let counted = given.arguments[5].map(|counted| self.flag_attribute(counted)).transpose()?;
                let attributes = given.arguments[1..5].iter().zip(written::POOLING);
                let attributes = attributes.map(|(argument, takes)| {
                    argument.map(|argument| self.attribute(*takes, argument)).transpose()
                });
                let attributes = written::GivenAttributes(attributes.collect::<Lowered<_>>()?);
                let steps = written::avg_pool(attributes, counted.unwrap_or(true));
                return Ok(BuiltinCall::Composite(steps, vec![x]));
            }
            BuiltinFunction::Einsum | BuiltinFunction::Meshgrid => {
                unreachable!("their arguments are read without formals")
            }
            BuiltinFunction::ScatterAdd => {
                let operands = vec![x, given.required(1), given.required(2)];
                self.check_added(x, operands[2])?;
                (Op::Rows(Rows::ADDED), operands)
            }
            BuiltinFunction::OneHot => {
                let count = self.dim_attribute(given.required(1))?;
                let (dtype, like) = match given.arguments[2] {
                    None => (Some(DType::F32), None),
                    Some(dtype) => match self.value(dtype) {
                        // The element type of a tensor whose type is not known.
                        Value::Word(Word::ElementsOf(like)) => (None, Some(*like)),
                        _ => (Some(self.dtype_attribute(dtype)?), None),
                    },
                };
                let operands = [x].into_iter().chain(like).collect();
                return Ok(BuiltinCall::Composite(written::one_hot(count, dtype), operands));
            }
            BuiltinFunction::Positions => {
                let shape = self.shape_attribute(x)?;
                let too_small = |dim: &Dim| dim.as_literal().is_some_and(|extent| extent < 1);
                if let Some(axis) = shape.iter().position(too_small) {
                    let extent = &shape[axis];
                    let shape = Shape::new(shape.clone());
                    let message = format!("dimension {axis} of {shape} is {extent}, needed at least 1");
                    return Err(Stop::Argument(x, Diag::new(Code::E3006, self.site(x), message).into()));
                }
                return Ok(BuiltinCall::Positions { shape });
            }
            BuiltinFunction::OfType => return self.of_type(given),
            BuiltinFunction::Parameter(parameter) => {
                self.check_parameter(x, parameter)?;
                return Ok(BuiltinCall::Argument(x));
            }
            BuiltinFunction::ZerosLike => (Op::Own(Own::FilledLike { one: false }), vec![x]),
            BuiltinFunction::OnesLike => (Op::Own(Own::FilledLike { one: true }), vec![x]),
        };
        Ok(BuiltinCall::Operation(op, operands))
    }

    /// The arguments of `pad` after the tensor.
    fn padding_of(&self, given: &CallArguments) -> Lowered<Padding> {
        let at = [1, 2].map(|position| given.required(position));
        let sides = [self.integers_attribute(at[0])?, self.integers_attribute(at[1])?];
        let [mode, value, interior] = [3, 4, 5].map(|position| given.arguments[position]);
        let fill = match (mode, value) {
            (None, None) => Fill::Zeros,
            (None, Some(value)) => Fill::Value(value),
            (Some(at), value) => {
                let name = self.text_attribute(at)?;
                match (Mode::of(&name), value) {
                    (Some(mode), None) => Fill::Mode(mode),
                    (Some(_), Some(value)) => {
                        let message = format!("`pad`: `{name}` takes no value");
                        return Err(Diag::new(Code::E4010, self.site(value), message)
                            .help("remove it")
                            .into());
                    }
                    (None, None) if *name == *"constant" => Fill::Zeros,
                    (None, Some(value)) if *name == *"constant" => Fill::Value(value),
                    (None, _) => {
                        const MODES: &str = "`constant`, `edge`, `reflect`, `symmetric` or `wrap`";
                        let message = format!("`pad`: the mode is `{name}`, needed {MODES}");
                        return Err(Diag::new(Code::E4010, self.site(at), message).into());
                    }
                }
            }
        };
        let interior = match interior {
            Some(at) => Some((self.integers_attribute(at)?, at)),
            None => None,
        };
        Ok(Padding { sides, interior, fill, at })
    }

    /// Separates the equation of an einsum from the operands.
    fn read_einsum(&self, arguments: &[Argument], expr: ExprId) -> Lowered<BuiltinCall> {
        unnamed("einsum", arguments, CALL)?;
        match arguments {
            [equation, operands @ ..] if !operands.is_empty() => Ok(BuiltinCall::Einsum {
                equation: equation.value,
                operands: operands.iter().map(|operand| operand.value).collect(),
            }),
            _ => {
                let found = if arguments.is_empty() { "nothing" } else { "no tensor" };
                let message = format!("`einsum` takes a string and at least one tensor, found {found}");
                Err(Diag::new(Code::E2007, self.site(expr), message).help(CALL).into())
            }
        }
    }

    /// The vectors of a grid.
    fn read_meshgrid(&self, arguments: &[Argument], expr: ExprId) -> Lowered<BuiltinCall> {
        unnamed("meshgrid", arguments, arranging::GRID)?;
        if arguments.is_empty() {
            let message = "`meshgrid` takes at least one vector, found nothing";
            return Err(Diag::new(Code::E2007, self.site(expr), message).help(arranging::GRID).into());
        }
        Ok(BuiltinCall::Meshgrid { vectors: arguments.iter().map(|vector| vector.value).collect() })
    }

    /// Returns E2004 for updates whose element type is known and is not that of the tensor.
    fn check_added(&self, x: ExprId, updates: ExprId) -> Lowered<()> {
        let ty = |expr: ExprId| self.tensor_type(self.value(expr).tensor()?);
        let (Some(a), Some(b)) = (ty(x), ty(updates)) else { return Ok(()) };
        let [of_x, of_updates] = [&a, &b].map(|ty| ty.split('[').next().unwrap_or_default().to_owned());
        if of_x == of_updates {
            return Ok(());
        }
        let (text, new) = (self.text(x), self.text(updates));
        let message = format!(
            "`scatter_add`: element types differ, {of_x} and {of_updates}: {text} is {a}, {new} is {b}"
        );
        let help = format!("convert it: write `{of_x}({})`", self.body().text(updates));
        Err(Diag::new(Code::E2004, self.site(updates), message).help(help).into())
    }

    /// Returns E2005 for a tensor whose element type is known and is no float.
    fn check_averaged(&self, x: ExprId) -> Lowered<()> {
        let Some(ty) = self.value(x).tensor().and_then(|tensor| self.tensor_type(tensor)) else {
            return Ok(());
        };
        let dtype = ty.split('[').next().and_then(DType::from_name);
        if dtype.is_none_or(DType::is_float) {
            return Ok(());
        }
        let (text, found) = (self.text(x), ty.split('[').next().unwrap_or_default());
        let message = format!("`avg_pool`: found {found}, allowed f32 or f64: {text} is {ty}");
        let help = format!("convert it: write `f32({})`", self.body().text(x));
        Err(Diag::new(Code::E2005, self.site(x), message).help(help).into())
    }

    /// `of_type(dtype, i32 = a, i64 = b)`: the argument that is named after the element type.
    fn of_type(&self, given: &CallArguments) -> Lowered<BuiltinCall> {
        let word = given.required(0);
        let named = |name: &str| given.named().find(|(formal, _)| *formal == name).map(|(_, value)| value);
        if let Value::Word(Word::ElementsOf(like)) = self.value(word) {
            // The element type of a tensor whose type is not known.
            let [narrow, wide] = [DType::F32, DType::F64].map(|dtype| named(dtype.name()));
            if let (Some(narrow), Some(wide)) = (narrow, wide) {
                return Ok(BuiltinCall::Composite(written::of_float_type(), vec![narrow, wide, *like]));
            }
        }
        let dtype = self.dtype_attribute(word)?;
        let value = named(dtype.name()).ok_or_else(|| {
            let accepted: Vec<_> = given.named().skip(1).map(|(name, _)| name).collect();
            let message = format!("the element type is {dtype}, needed {}", accepted.join(" or "));
            let diag = Diag::new(Code::E2005, self.site(word), message);
            Stop::Argument(word, diag.into())
        })?;
        Ok(BuiltinCall::Argument(value))
    }

    /// Checks the parameter of a distribution if it is known.
    fn check_parameter(&self, x: ExprId, parameter: Parameter) -> Lowered<()> {
        let Value::Literal(id) = self.value(x) else { return Ok(()) };
        if !(self.literals().is_number(*id) && self.literals().is_constant(*id)) {
            return Ok(());
        }
        let Some(number) = self.scalar(*id, DType::F64)?.float() else { return Ok(()) };
        let (is_valid, name, needed) = match parameter {
            Parameter::Probability => ((0.0..=1.0).contains(&number), "probability", "from 0 to 1"),
            Parameter::Positive => (number > 0.0, "parameter", "above 0"),
            Parameter::PositiveDistance => (number > 0.0, "distance of the bounds", "above 0"),
            Parameter::NotNegative => (number >= 0.0, "parameter", "of at least 0"),
        };
        if is_valid {
            return Ok(());
        }
        let message = format!("the {name} is {number}, needed a number {needed}");
        Err(Stop::Argument(x, Diag::new(Code::E4010, self.site(x), message).into()))
    }

    /// The tensors in the list that is the first argument of a call, or the value that is a tuple of tensors.
    fn listed(&self, given: &CallArguments) -> Lowered<Vec<ExprId>> {
        let (list, name) = (given.required(0), given.name);
        let (elements, count) = match (&self.body()[list].kind, self.value(list).tuple_of_tensors()) {
            (NodeKind::Array(elements) | NodeKind::Tuple(elements), _) => (elements.clone(), elements.len()),
            (_, Some(tensors)) => (vec![list], tensors.len()),
            (_, None) => {
                let is_tensor = |each: &&ExprId| matches!(self.value(**each), Value::Tensor(_));
                let tensors = given.arguments.iter().flatten().filter(is_tensor);
                let tensors: Vec<_> = tensors.map(|each| self.short_text(*each)).collect();
                let help = format!("write `{name}([{}])`", tensors.join(", "));
                let stop = self.expected("a list of tensors such as `[a, b]`", list);
                return stop.map_err(|stop| {
                    stop.map(|diag| if tensors.is_empty() { diag } else { diag.help(help) })
                });
            }
        };
        let most = Operands::MAX;
        let fault = |problem: String| Diag::new(Code::E2007, self.site(list), format!("`{name}`: {problem}"));
        match count {
            0 => Err(fault("an empty list, needed at least one tensor".to_owned()).into()),
            _ if count > most => Err(fault(format!("{count} tensors given, at most {most} needed")).into()),
            _ => Ok(elements),
        }
    }

    /// Whether a call takes this array as a list of tensors.
    fn is_list_of_call(&self, array: ExprId) -> bool {
        let body = self.body();
        let user = body.user(array).map(|user| &body[user].kind);
        let Some(NodeKind::Call { callee, arguments, .. }) = user else { return false };
        let name = callee.to_string();
        let Some(Builtin { function: BuiltinFunction::Operation(function), .. }) = find(&name) else {
            return false;
        };
        let is_first = |argument: &&Argument| match &argument.name {
            Some(name) => *name == function.formals[0],
            None => true,
        };
        let first = arguments.iter().find(is_first);
        !self.is_own_function(&name) && function.list && first.is_some_and(|first| first.value == array)
    }

    /// Reads an attribute in the form that an operation takes.
    fn attribute(&self, takes: AttributeForm, argument: ExprId) -> Lowered<Attribute> {
        Ok(match takes {
            AttributeForm::Dims => Attribute::Dims(self.dims_attribute(argument)?),
            AttributeForm::Bounds => Attribute::Dims(self.bounds_attribute(argument)?),
            AttributeForm::Shape => Attribute::Dims(self.shape_attribute(argument)?),
            AttributeForm::Integer => Attribute::I64(self.integer_attribute(argument)?),
            AttributeForm::Flag => Attribute::Flag(self.flag_attribute(argument)?),
            AttributeForm::Integers => Attribute::Integers(self.integers_attribute(argument)?),
            AttributeForm::Axes => Attribute::Integers(self.axes_attribute(argument)?),
            AttributeForm::Text => Attribute::Text(self.text_attribute(argument)?),
            AttributeForm::DType => Attribute::DType(self.dtype_attribute(argument)?),
            AttributeForm::Padding => Attribute::Padding(self.padding_attribute(argument)?),
        })
    }

    /// Whether a reduction keeps its axes.
    fn keepdims(&self, given: &CallArguments) -> Lowered<bool> {
        let keepdims = given.arguments[2].map(|keepdims| self.flag_attribute(keepdims)).transpose()?;
        Ok(keepdims.unwrap_or_default())
    }

    /// The axes of a reduction. For two tensors, as in `max(a, b)`, the help names the elementwise function.
    fn reduced_axes(&self, reduce: Reduce, given: &CallArguments) -> Lowered<Option<Vec<i64>>> {
        let axes = given.arguments[1].map(|axes| self.axes_attribute(axes)).transpose();
        axes.map_err(|stop| stop.map(|diag| Diag { help: self.of_two(reduce, given).or(diag.help), ..diag }))
    }

    /// The help that names the elementwise function of two tensors, if the reduction has one.
    fn of_two(&self, reduce: Reduce, given: &CallArguments) -> Option<String> {
        let function = reduce.row().monoid.combine.row().function()?;
        let [a, b] = [given.required(0), given.arguments[1]?].map(|operand| self.short_text(operand));
        Some(format!("for two tensors, write `{function}({a}, {b})`"))
    }
}

impl<E: Expressions + ForeignNames> ReadCalls for E {}

/// Returns E2007 if an argument of a call without formals is named.
fn unnamed(name: &str, arguments: &[Argument], help: &str) -> Lowered<()> {
    match arguments.iter().find(|argument| argument.name.is_some()) {
        Some(named) => {
            let message = format!("`{name}` has no named arguments");
            Err(Diag::new(Code::E2007, named.site, message).help(help).into())
        }
        None => Ok(()),
    }
}
