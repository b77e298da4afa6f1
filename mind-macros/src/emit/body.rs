//! The state while the body of the function that runs a plan is emitted: the names of its variables, and the text so
//! far.

use std::{collections::HashMap, fmt::Write};

use mind_core::{
    dim::{Dim, Symbol},
    ir::ValueId,
    map::{Map, Rust},
    plan::{BufferId, Location, Parameter, Plan, Scalar, View},
    ty::DType,
};

use super::{
    extent::{Arithmetic, extent, grouped, symbol_variable},
    literal,
    names::Names,
    watched::WatchedText,
};

/// The emitted body of one plan so far.
pub(super) struct Body<'p> {
    pub(super) plan: &'p Plan,
    /// The symbols whose extents are in `sizes`: those of the plan, then those of the current strip.
    pub(super) symbols: Vec<Symbol>,
    /// The name of the function, for run-time errors.
    pub(super) function: &'p str,
    pub(super) wishes: &'p dyn Fn(ValueId) -> Option<String>,
    pub(super) watched_text: &'p dyn Fn(ValueId) -> WatchedText,
    pub(super) names: Names,
    pub(super) buffers: HashMap<BufferId, String>,
    /// The single numbers that steps have computed so far, and their element types.
    pub(super) locals: HashMap<ValueId, (String, DType)>,
    pub(super) inputs: Vec<String>,
    pub(super) results: Vec<String>,
    /// For each element type, the variable of the arena, which is the memory of temporaries.
    pub(super) arenas: HashMap<DType, String>,
    /// For each element type, the variable of the part of the workspace after the arena.
    pub(super) scratch: HashMap<DType, String>,
    /// The number of convolutions so far. Their geometries are functions of the module.
    pub(super) convolutions: usize,
    /// The number of loops so far. Each has a module.
    pub(super) loops: usize,
    pub(super) text: String,
}

impl Body<'_> {
    /// Emits a variable for a single number, which later steps use by name.
    pub(super) fn define_local(&mut self, value: ValueId, dtype: DType, text: &str) {
        let name = self.name_local(value, dtype);
        let _ = writeln!(self.text, "let {name} = {text};");
    }

    /// Creates the name of a single number that a loop or expression computes.
    pub(super) fn name_local(&mut self, value: ValueId, dtype: DType) -> String {
        let name = self.preferred_name(value);
        let name = self.names.fresh(&name);
        self.locals.insert(value, (name.clone(), dtype));
        name
    }

    /// The user's name of a value, or a short generated name.
    pub(super) fn preferred_name(&self, value: ValueId) -> String {
        let input = self.plan.inputs.get(value.index()).map(|input| input.name.to_string());
        input.or_else(|| (self.wishes)(value)).unwrap_or_else(|| format!("t{}", value.index()))
    }

    /// The element type of a view.
    pub(super) fn dtype(&self, view: &View) -> DType {
        let buffer = view.buffer().expect("steps read and write memory");
        self.plan.buffers[buffer.0].ty.dtype
    }

    pub(super) fn extent(&self, dim: &Dim) -> String {
        extent(dim, Arithmetic::Plain)
    }

    pub(super) fn scalar_text(&self, scalar: &Scalar) -> String {
        match scalar {
            Scalar::Constant(data) => literal::scalar(data),
            Scalar::Input(input) => self.inputs[*input].clone(),
            Scalar::Local(value) => self.locals[value].0.clone(),
            Scalar::Count { count, dtype } => {
                format!("({} as {dtype})", grouped(&self.extent(count)))
            }
        }
    }

    /// A buffer's variable, to read from.
    pub(super) fn read(&self, buffer: BufferId) -> String {
        match &self.plan.buffers[buffer.0].place {
            Location::Input(input) => self.inputs[*input].clone(),
            Location::Result(result) => self.results[*result].clone(),
            Location::Constant(data) => {
                let values = literal::elements(data);
                format!("const {{ &{values} }}")
            }
            Location::Arena { .. } | Location::Part { .. } => self.buffers[&buffer].clone(),
        }
    }

    /// Whether two buffers of one type have the same memory, one after the other.
    pub(super) fn is_same_memory(&self, a: BufferId, b: BufferId) -> bool {
        self.plan.buffers[a.0].place == self.plan.buffers[b.0].place
    }

    /// A buffer's variable, to write to.
    pub(super) fn write(&self, buffer: BufferId) -> String {
        assert!(
            !matches!(self.plan.buffers[buffer.0].place, Location::Constant(_)),
            "constants are not written"
        );
        self.read(buffer)
    }
}

/// The variable for the new value of an updated number.
pub(super) fn new_value(input: &str) -> String {
    format!("new_{}", input.trim_start_matches("r#"))
}

/// The parameter type for an input: a number by its value on entry, or a slice of elements.
pub(super) fn input_type(input: &Parameter) -> String {
    let dtype = input.ty.dtype;
    match (input.ty.rank(), input.updated) {
        (0, _) => dtype.to_string(),
        (_, false) => format!("&[{dtype}]"),
        (_, true) => format!("&mut [{dtype}]"),
    }
}

/// The type of `sizes`.
pub(super) fn sizes(plan: &Plan) -> String {
    format!("({})", plan.symbols.iter().map(|symbol| format!("{symbol},")).collect::<String>())
}

/// The variables of the symbols, from `sizes`.
pub(super) fn extents_of_symbols(plan: &Plan) -> String {
    let symbols = plan.symbols.iter().map(|symbol| symbol_variable(symbol)).enumerate();
    symbols.map(|(position, variable)| format!("let {variable} = sizes.{position}.extent();\n")).collect()
}

/// `<N: rt::Dim, M: rt::Dim>` for the symbols, or nothing.
pub(super) fn generics(plan: &Plan) -> String {
    let symbols: Vec<_> = plan.symbols.iter().map(|symbol| format!("{symbol}: rt::Dim")).collect();
    if symbols.is_empty() { String::new() } else { format!("<{}>", symbols.join(", ")) }
}

/// The expression of an elementwise function. Operands are single words or indexed. `by` is the path of functions such
/// as `exp`, which use fused multiply-adds at some SIMD levels: the type parameter of a loop, or `rt` for separate
/// operations.
pub(super) fn expression(map: Map, operands: &[String], dtype: DType, by: &str) -> String {
    let all = operands.join(", ");
    match (map.row().rust, operands) {
        (Rust::Identity, _) => all,
        (Rust::Operator { sign, .. }, [x]) if dtype.is_float() => format!("{sign}{x}"),
        (Rust::Operator { sign, .. }, [a, b]) if dtype.is_float() => format!("{a} {sign} {b}"),
        (Rust::Operator { wrapping, .. }, [x, others @ ..]) => {
            format!("{x}.{wrapping}({})", others.join(", "))
        }
        (Rust::Operator { .. }, []) => unreachable!("operators have operands"),
        (Rust::Sign(sign), [x]) => format!("({sign}{x})"),
        (Rust::Sign(sign), _) => format!("({})", operands.join(&format!(" {sign} "))),
        (Rust::Function(name), _) => format!("rt::{name}({all})"),
        (Rust::By(name), _) => format!("{by}::{name}({all})"),
    }
}

/// `dim_n: usize` for each symbol.
pub(super) fn size_parameters(plan: &Plan) -> String {
    let parameters: Vec<_> =
        plan.symbols.iter().map(|symbol| format!("{}: usize", symbol_variable(symbol))).collect();
    parameters.join(", ")
}
