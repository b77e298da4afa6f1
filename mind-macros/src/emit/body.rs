//! The body of the function that runs a plan, while it is written: the names of its variables, and the text so far.

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

/// What one plan is called by.
pub(super) struct Body<'p> {
    pub(super) plan: &'p Plan,
    /// The symbols that `sizes` has the extents of: those of the plan, then those of the strip at hand.
    pub(super) symbols: Vec<Symbol>,
    /// The function, for run-time errors.
    pub(super) function: &'p str,
    pub(super) wishes: &'p dyn Fn(ValueId) -> Option<String>,
    pub(super) said: &'p dyn Fn(ValueId) -> WatchedText,
    pub(super) names: Names,
    pub(super) buffers: HashMap<BufferId, String>,
    /// The single numbers that steps have computed so far, and their element types.
    pub(super) locals: HashMap<ValueId, (String, DType)>,
    pub(super) inputs: Vec<String>,
    pub(super) results: Vec<String>,
    /// For each element type, the variable that is the memory of temporaries.
    pub(super) arenas: HashMap<DType, String>,
    /// For each element type, what is left of the workspace beside the arena.
    pub(super) scratch: HashMap<DType, String>,
    /// The convolutions so far, whose geometries are functions of the module.
    pub(super) convolutions: usize,
    /// The loops so far, each of which has a module.
    pub(super) loops: usize,
    pub(super) text: String,
}

impl Body<'_> {
    /// Gives a single number its name from here on.
    pub(super) fn define_local(&mut self, value: ValueId, dtype: DType, text: &str) {
        let name = self.name_local(value, dtype);
        let _ = writeln!(self.text, "let {name} = {text};");
    }

    /// The name of a single number that a loop or expression computes.
    pub(super) fn name_local(&mut self, value: ValueId, dtype: DType) -> String {
        let name = self.wish(value);
        let name = self.names.fresh(&name);
        self.locals.insert(value, (name.clone(), dtype));
        name
    }

    /// What the user calls a value, or a short name of our own.
    pub(super) fn wish(&self, value: ValueId) -> String {
        let input = self.plan.inputs.get(value.index()).map(|input| input.name.to_string());
        input.or_else(|| (self.wishes)(value)).unwrap_or_else(|| format!("t{}", value.index()))
    }

    /// The element type of what a view shows.
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

    /// A buffer's variable, to write to.
    pub(super) fn write(&self, buffer: BufferId) -> String {
        assert!(
            !matches!(self.plan.buffers[buffer.0].place, Location::Constant(_)),
            "constants are not written"
        );
        self.read(buffer)
    }
}

/// The place of a number's new value.
pub(super) fn new_value(input: &str) -> String {
    format!("new_{}", input.trim_start_matches("r#"))
}

/// What a function takes of an input: a number as it was on entry, or elements.
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

/// `<N: rt::Dim, M: rt::Dim>` over the symbols.
pub(super) fn generics(plan: &Plan) -> String {
    let symbols: Vec<_> = plan.symbols.iter().map(|symbol| format!("{symbol}: rt::Dim")).collect();
    if symbols.is_empty() { String::new() } else { format!("<{}>", symbols.join(", ")) }
}

/// A function of operands that are single words or indexed. `by` is what the functions of the run time are told of products and
/// sums: the type parameter of a loop, or one after the other.
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

/// `N: usize` of each symbol.
pub(super) fn size_parameters(plan: &Plan) -> String {
    let parameters: Vec<_> =
        plan.symbols.iter().map(|symbol| format!("{}: usize", symbol_variable(symbol))).collect();
    parameters.join(", ")
}
