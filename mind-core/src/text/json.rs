//! JSON, for tools that read no other form: the record of each instruction that the specification names.
//!
//! ```json
//! {"inputs": [0],
//!  "instructions": [
//!    {"value_id": 0, "opcode": "Input", "operands": [], "attributes": {"name": "x"}, "result_type": "f32[N, 3]"},
//!    {"value_id": 1, "opcode": "Sum", "operands": [0], "attributes": {"axes": [1], "keepdims": false},
//!     "result_type": "f32[N]"}
//!  ],
//!  "outputs": [1]}
//! ```
//!
//! Opcodes, attributes and types are those of Core IR text. The module that an instruction holds is its attribute
//! `module`, an object of the same form. Extents are integers, or strings if they contain symbols.
//! A float is a number. A float that JSON cannot represent is the string of Core IR text: `"inf"`, `"-inf"`, `"nan"`,
//! `"nan:0x7fc00001"`.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use mind_shape::{match_dtype, match_elements};

use super::{
    Limits, TextForm, core_ir,
    cursor::{self, Cursor, ElementText, ReadResult, Spaces},
    read,
    write::PrintElement,
};
use crate::{
    data::TensorData,
    definitions::Definition,
    diag::{Code, Diag, Diags, Site},
    dim::Dim,
    ir::{self, Nested, Padding, Slice},
    ops::{Attribute, Attributes, FieldKind, OpInfo, TABLE},
    ty::{DType, Shape, Type},
};

/// The JSON record of a module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// The numbers of the input values.
    pub inputs: Vec<u64>,
    /// The instructions, inputs first.
    pub instructions: Vec<Instruction>,
    /// The numbers of the result values.
    pub outputs: Vec<u64>,
}

/// An instruction: the specification's `CoreOperation`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// The number of its value.
    pub value_id: u64,
    /// The opcode of Core IR text, such as `MatMul`.
    pub opcode: String,
    /// The numbers of earlier values.
    pub operands: Vec<u64>,
    /// The attributes by name.
    pub attributes: Map<String, Value>,
    /// The type in Core IR text, such as `f32[N, 3]`.
    pub result_type: String,
}

/// Prints a module as JSON on one line, valid or not.
pub fn print(module: &ir::Module) -> String {
    serde_json::to_string(&Module::from(module)).expect("its keys are strings and its numbers finite")
}

/// Prints a module as indented JSON, with one line per item.
pub fn print_pretty(module: &ir::Module) -> String {
    let mut text = serde_json::to_string_pretty(&Module::from(module))
        .expect("its keys are strings and its numbers finite");
    text.push('\n');
    text
}

/// Parses a module from JSON without verifying it.
///
/// # Errors
/// E1007, with its position, for text that is not JSON of this form. Invalid values in a record give the errors of
/// [`super::core_ir::parse_document`], without a position. All of these messages name their value.
///
/// ```
/// use mind_core::text::{Limits, core_ir, json};
/// let limits = Limits::default();
/// let module = core_ir::parse("%0 = Input () {name=\"x\"} : f32[N, 3]\noutputs: %0\n", &limits)?;
/// assert_eq!(json::parse(&json::print(&module), &limits)?, module);
/// # Ok::<(), mind_core::diag::Diags>(())
/// ```
pub fn parse(text: &str, limits: &Limits) -> Result<ir::Module, Diags> {
    let mut diags = Diags::new();
    if text.len() > limits.bytes {
        diags.push(read::too_long(text.as_bytes(), limits));
        return Err(diags);
    }
    let module: Module = match serde_json::from_str(text) {
        Ok(module) => module,
        Err(error) => {
            let place = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
            let site = Site::Text { line: place(error.line()), column: place(error.column()) };
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default().to_owned();
            diags.push(Diag::new(Code::E1007, site, message));
            return Err(diags);
        }
    };
    read_module(module, limits, &mut 0)
}

/// Converts a record to a module. Adds its nodes to `nodes`, including those of nested modules.
fn read_module(module: Module, limits: &Limits, nodes: &mut usize) -> Result<ir::Module, Diags> {
    let mut diags = Diags::new();
    *nodes += module.instructions.len();
    if *nodes > limits.nodes {
        let message = format!("{nodes} nodes, more than the limit of {}", limits.nodes);
        diags.push(Diag::new(Code::E1008, Site::Nowhere, message));
        return Err(diags);
    }
    let mut definitions = Vec::with_capacity(module.instructions.len());
    for instruction in module.instructions {
        let id = instruction.value_id;
        match definition(instruction, limits, nodes) {
            Ok(definition) => definitions.push(definition),
            Err(mut diag) => {
                diag.message = format!("%{id}: {}", diag.message);
                diag.site = Site::Nowhere;
                diags.push(*diag);
            }
        }
    }
    if !diags.is_empty() {
        return Err(diags);
    }
    let inputs = definitions.iter().filter(|definition| definition.op.is_input());
    let inputs: Vec<_> = inputs.map(|input| input.id).collect();
    if inputs != module.inputs {
        let message =
            format!("the list of inputs is {:?}, but the input instructions are {inputs:?}", module.inputs);
        diags.push(Diag::new(Code::E4004, Site::Nowhere, message));
        return Err(diags);
    }
    ir::Module::from_definitions(definitions, &module.outputs, "%").map_err(|errors| {
        diags.extend(errors.into_iter().map(|error| {
            let value = error.value.map_or_else(String::new, |value| format!("{value}: "));
            Diag::new(error.code, Site::Nowhere, format!("{value}{}", error.message))
        }));
        diags
    })
}

impl From<&ir::Module> for Module {
    fn from(module: &ir::Module) -> Self {
        let number = |value: ir::ValueId| value.index() as u64;
        let instructions = module.iter().map(|(value, inst)| {
            let row = inst.op.info();
            let mut attributes = Map::new();
            for (field, attribute) in row.fields.iter().zip((row.attributes)(&inst.op).into_iter().flatten())
            {
                insert(&mut attributes, field.name, attribute);
            }
            Instruction {
                value_id: number(value),
                opcode: row.name.into(),
                operands: inst.operands.iter().map(|operand| number(*operand)).collect(),
                attributes,
                result_type: inst.ty.to_string(),
            }
        });
        Self {
            inputs: (0..module.inputs().len() as u64).collect(),
            instructions: instructions.collect(),
            outputs: module.outputs().iter().map(|output| number(*output)).collect(),
        }
    }
}

fn insert(attributes: &mut Map<String, Value>, name: &str, attribute: Attribute) {
    let value = match attribute {
        Attribute::Text(text) => Value::from(&*text),
        Attribute::Flag(flag) => flag.into(),
        Attribute::I64(value) => value.into(),
        Attribute::F32(value) => float(value.get()),
        Attribute::F64(value) => float(value.get()),
        Attribute::DType(dtype) => dtype.name().into(),
        Attribute::Integers(integers) => integers.into(),
        Attribute::Dims(dims) => dim_values(&dims),
        Attribute::Data(data) => match elements(&data) {
            mut single if single.len() == 1 => single.remove(0),
            several => several.into(),
        },
        Attribute::Padding(Padding::Valid) => "valid".into(),
        Attribute::Padding(Padding::Same) => "same".into(),
        Attribute::Padding(Padding::Custom(pairs)) => {
            pairs.into_iter().map(|pair| Value::from(pair.to_vec())).collect()
        }
        Attribute::Slice(slice) => {
            attributes.insert("starts".into(), dim_values(&slice.starts));
            attributes.insert("ends".into(), dim_values(&slice.ends));
            attributes.insert("steps".into(), slice.steps.into());
            return;
        }
        Attribute::LeadingAxis => return,
        Attribute::Module(nested) => {
            serde_json::to_value(Module::from(&*nested)).expect("its keys are strings and its numbers finite")
        }
    };
    attributes.insert(name.into(), value);
}

fn dim_values(dims: &[Dim]) -> Value {
    dims.iter().map(|dim| dim.as_literal().map_or_else(|| dim.to_string().into(), Value::from)).collect()
}

fn elements(data: &TensorData) -> Vec<Value> {
    match_elements!(data, TensorData(elements) {
        truths => elements.iter().map(|element| element.get().into()).collect(),
        integers => elements.iter().map(|element| element.get().into()).collect(),
        floats => elements.iter().map(|element| float(element.get())).collect(),
    })
}

/// A number with the shortest decimal that rounds to the same float. A float that is not finite becomes a string.
fn float<T: PrintElement>(value: T) -> Value {
    let mut text = String::new();
    value.write(&mut text);
    let number = f64::from_str(&text).ok().and_then(Number::from_f64);
    number.map_or_else(|| text.into(), Value::Number)
}

fn definition(instruction: Instruction, limits: &Limits, nodes: &mut usize) -> ReadResult<Definition> {
    let Instruction { value_id, opcode, operands, mut attributes, result_type } = instruction;
    let row = match opcode.as_str() {
        "BinOp" => Some(binary(attributes.remove("op"))?),
        name => TABLE.iter().copied().find(|row| row.name == name),
    };
    let Some(row) = row else { return fault(Code::E2002, format!("undefined operation `{opcode}`")) };
    if !row.takes(operands.len()) {
        return fault(Code::E2007, format!("`{opcode}`: {}", row.miscounted(operands.len())));
    }
    let values = values(row, &mut attributes, limits, nodes)?;
    if let Some(name) = attributes.keys().next() {
        return fault(Code::E1007, format!("`{opcode}` has no attribute `{name}`"));
    }
    let ty = whole(&result_type, |cursor| core_ir::typed(cursor, limits))?;
    Ok(Definition { id: value_id, op: row.op(values), operands, ty })
}

/// The operation of a `BinOp`.
fn binary(op: Option<Value>) -> ReadResult<&'static OpInfo> {
    let named = |op: &Value| core_ir::binary_named(op.as_str()?);
    match op {
        Some(op) => named(&op)
            .map_or_else(|| fault(Code::E1007, format!("found `{op}`, expected {}", core_ir::BINARY)), Ok),
        None => fault(Code::E1007, "`BinOp` has no value for `op`".into()),
    }
}

fn fault<T>(code: Code, message: String) -> ReadResult<T> {
    Err(Diag::new(code, Site::Nowhere, message).into())
}

/// Reads a whole string.
fn whole<T>(text: &str, read: impl FnOnce(&mut Cursor<'_>) -> ReadResult<T>) -> ReadResult<T> {
    let mut cursor = Cursor::new(text, TextForm::CoreIr);
    let value = read(&mut cursor)?;
    if cursor.is_at_end() { Ok(value) } else { cursor.unexpected("the end of the string") }
}

fn values(
    row: &OpInfo,
    given: &mut Map<String, Value>,
    limits: &Limits,
    nodes: &mut usize,
) -> ReadResult<Attributes> {
    let missing = |name: &str| fault(Code::E1007, format!("`{}` has no value for `{name}`", row.name));
    let take =
        |given: &mut Map<String, Value>, name: &str| given.remove(name).map_or_else(|| missing(name), Ok);
    let mut values = Attributes::default();
    for (field, value) in row.fields.iter().zip(&mut values) {
        let name = field.name;
        *value = Some(match field.kind {
            FieldKind::LeadingAxis => Attribute::LeadingAxis,
            FieldKind::Text => Attribute::Text(string(name, take(given, name)?)?.into()),
            FieldKind::Flag => match take(given, name)? {
                Value::Bool(flag) => Attribute::Flag(flag),
                other => return unfit(name, "true or false", &other),
            },
            FieldKind::I64 => Attribute::I64(integer(name, take(given, name)?)?),
            FieldKind::F32 => Attribute::F32(
                read_float(name, &take(given, name)?, DType::F32, |value| value as f32)?.into(),
            ),
            FieldKind::F64 => {
                Attribute::F64(read_float(name, &take(given, name)?, DType::F64, |value| value)?.into())
            }
            FieldKind::DType => {
                Attribute::DType(whole(&string(name, take(given, name)?)?, |cursor| cursor.dtype())?)
            }
            FieldKind::Integers => Attribute::Integers(integers(name, take(given, name)?)?),
            FieldKind::Dims => Attribute::Dims(dims(name, take(given, name)?)?),
            FieldKind::Data => {
                // The fields for the shape and element type come after the data, so they are read ahead.
                let data = take(given, name)?;
                let dtype = given.get("dtype").cloned().unwrap_or_default();
                let dtype = whole(&string("dtype", dtype)?, |cursor| cursor.dtype())?;
                let shape = Shape::new(dims("shape", given.get("shape").cloned().unwrap_or_default())?);
                let data = tensor(name, data, &Type::new(dtype, shape), limits)?;
                Attribute::Data(data)
            }
            FieldKind::Slice => Attribute::Slice(
                Slice {
                    starts: dims("starts", take(given, "starts")?)?,
                    ends: dims("ends", take(given, "ends")?)?,
                    steps: integers("steps", take(given, "steps")?)?,
                }
                .into(),
            ),
            FieldKind::Padding => Attribute::Padding(padding(name, take(given, name)?)?),
            FieldKind::Module => Attribute::Module(nested_module(take(given, name)?, limits, nodes)?),
        });
    }
    Ok(values)
}

/// Reads a nested module. Its first error is reported for the instruction that holds it.
fn nested_module(value: Value, limits: &Limits, nodes: &mut usize) -> ReadResult<Nested> {
    let module: Module = match serde_json::from_value(value) {
        Ok(module) => module,
        Err(error) => return fault(Code::E1007, format!("`module`: {error}")),
    };
    let module = read_module(module, limits, nodes)
        .map_err(|diags| diags.into_iter().next().expect("a rejected module has an error"))?;
    Nested::new(module).or_else(|error| fault(Code::E1008, error.to_string()))
}

fn unfit<T>(name: &str, needed: &str, found: &Value) -> ReadResult<T> {
    let found = cursor::shortened(&found.to_string());
    fault(Code::E1007, format!("`{name}`: found {found}, expected {needed}"))
}

fn string(name: &str, value: Value) -> ReadResult<String> {
    match value {
        Value::String(text) => Ok(text),
        other => unfit(name, "a string", &other),
    }
}

fn list<T>(name: &str, value: Value, item: impl Fn(Value) -> ReadResult<T>) -> ReadResult<Vec<T>> {
    match value {
        Value::Array(items) => items.into_iter().map(item).collect(),
        other => unfit(name, "a list", &other),
    }
}

fn integer(name: &str, value: Value) -> ReadResult<i64> {
    value.as_i64().map_or_else(|| unfit(name, "an integer of 64 bits", &value), Ok)
}

fn integers(name: &str, value: Value) -> ReadResult<Vec<i64>> {
    list(name, value, |item| integer(name, item))
}

fn dims(name: &str, value: Value) -> ReadResult<Vec<Dim>> {
    list(name, value, |item| match item {
        Value::String(text) => whole(&text, |cursor| cursor::dim(cursor, Spaces::Allowed)),
        other => integer(name, other).map(Dim::literal),
    })
}

/// Reads a float. `round` converts from the nearest `f64`.
fn read_float<T: ElementText + Into<f64> + Copy>(
    name: &str,
    value: &Value,
    dtype: DType,
    round: impl Fn(f64) -> T,
) -> ReadResult<T> {
    if let Value::String(text) = value {
        return whole(text, T::read);
    }
    let rounded = value.as_f64().map(round).filter(|value| (*value).into().is_finite());
    rounded.map_or_else(|| unfit(name, &format!("a number of {dtype}"), value), Ok)
}

fn tensor(name: &str, value: Value, ty: &Type, limits: &Limits) -> ReadResult<TensorData> {
    let items = match value {
        Value::Array(items) => items,
        single => return typed(name, vec![single], ty.dtype),
    };
    if items.len() > limits.literal {
        let message = format!("a literal has more elements than the limit of {}", limits.literal);
        return fault(Code::E1008, message);
    }
    let needed = ty.shape.element_count().ok().and_then(|count| usize::try_from(count.as_literal()?).ok());
    if needed.is_some_and(|needed| needed != items.len()) || items.is_empty() {
        let needed = needed.map_or_else(|| "1 or more".into(), |needed| needed.to_string());
        let message = format!("{} elements given, {needed} needed for {ty}", items.len());
        return fault(Code::E4005, message);
    }
    typed(name, items, ty.dtype)
}

fn typed(name: &str, items: Vec<Value>, dtype: DType) -> ReadResult<TensorData> {
    fn all<T>(items: Vec<Value>, element: impl Fn(Value) -> ReadResult<T>) -> ReadResult<Vec<T>> {
        items.into_iter().map(element).collect()
    }
    Ok(match_dtype!(dtype, T {
        truths => all(items, |item| match item {
            Value::Bool(truth) => Ok(truth),
            other => unfit(name, "true or false", &other),
        })?
        .into(),
        integers => all(items, |item| {
            let integer = T::try_from(integer(name, item.clone())?);
            integer.or_else(|_| unfit(name, &format!("an integer of {} bits", T::BITS), &item))
        })?
        .into(),
        floats => all(items, |item| read_float(name, &item, dtype, |value| value as T))?.into(),
    }))
}

fn padding(name: &str, value: Value) -> ReadResult<Padding> {
    let text = match &value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match whole(&text, |cursor| read::padding(cursor, Spaces::Allowed)) {
        Ok(padding) => Ok(padding),
        Err(diag) if diag.code == Code::E4010 => fault(diag.code, format!("`{name}`: {}", diag.message)),
        Err(_) => unfit(name, "\"valid\", \"same\" or [[top, bottom], [left, right]]", &value),
    }
}
