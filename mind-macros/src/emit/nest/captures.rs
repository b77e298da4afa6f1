//! The captures of loops, as fields of the struct whose `run` the run time compiles for each SIMD level.

use std::{collections::BTreeMap, fmt::Write};

use mind_core::{
    dim::Dim,
    loops::{Capture, Captured, Loops},
    ty::DType,
};

use super::{Body, grouped, list, print::Printer, symbol_variable};

/// A capture of loops.
pub(super) struct Field {
    pub(super) name: String,
    /// The captured expression, outside of the loops.
    pub(super) value: String,
    pub(super) kind: Kind,
}

/// The contents of a field.
pub(super) enum Kind {
    /// Elements that are read, and the number of them per step of the axis that is split.
    Read(DType, Dim),
    /// Elements that are written, and the number of them per step of the axis that is split.
    Written(DType, Dim),
    /// A single number.
    Number(DType),
    /// The number of steps of the axis that is split.
    Steps,
    /// A position, and how far it moves per step of the axis that is split.
    Position(Dim),
}

impl Field {
    /// The fields of loops. Also emits the code that borrows their scratch memory.
    pub(super) fn all(body: &mut Body<'_>, loops: &Loops, printer: &Printer<'_>) -> Vec<Self> {
        let scratch = scratch(body, loops, printer);
        let mut scratch = scratch.into_iter();
        let fields = loops.captures.iter().filter_map(|Capture { var, source, stride }| {
            let name = printer.name(*var).to_owned();
            let (stride, holds) = (stride.clone(), loops.variable(*var).holds.dtype());
            let dtype = || holds.expect("a captured row has elements");
            let (value, kind) = match source {
                Captured::Read(buffer) => (body.read(*buffer), Kind::Read(dtype(), stride)),
                Captured::Written(buffer) => (body.write(*buffer), Kind::Written(dtype(), stride)),
                Captured::Scratch(_) => {
                    (scratch.next().expect("scratch memory was taken"), Kind::Written(dtype(), stride))
                }
                Captured::Number(scalar) => (body.scalar_text(scalar), Kind::Number(dtype())),
                Captured::Steps(steps) => (body.extent(steps), Kind::Steps),
                Captured::Position => ("0".to_owned(), Kind::Position(stride)),
                Captured::Block(_) => return None,
            };
            Some(Self { name, value, kind })
        });
        fields.collect()
    }

    pub(super) fn is_borrow(&self) -> bool {
        match self.kind {
            Kind::Read(..) | Kind::Written(..) => true,
            Kind::Number(_) | Kind::Steps | Kind::Position(_) => false,
        }
    }

    pub(super) fn ty(&self, lifetime: &str) -> String {
        match &self.kind {
            Kind::Read(dtype, _) => format!("&{lifetime}[{dtype}]"),
            Kind::Written(dtype, _) => format!("&{lifetime}mut [{dtype}]"),
            Kind::Number(dtype) => dtype.to_string(),
            Kind::Steps | Kind::Position(_) => "usize".to_string(),
        }
    }
}

/// The pieces of the struct of loops as text: the symbols of the program and the fields.
#[derive(Default)]
pub(super) struct Scaffold {
    /// The fields with their types.
    pub(super) declaration: String,
    /// The names of the fields.
    pub(super) names: String,
    /// The fields with their values, for the expression that constructs the struct.
    pub(super) construction: String,
    /// The variables of extents, from `sizes`.
    pub(super) sizes: String,
    /// Extents and fields as parameters of a function. LLVM knows that the slices in parameters do not overlap; for
    /// fields it would have to check.
    pub(super) parameters: String,
    /// The extents as arguments of that function.
    pub(super) extents: String,
    /// The symbols as generic parameters with bounds (`bounds`), and as generic arguments (`symbols`).
    pub(super) bounds: Vec<String>,
    pub(super) symbols: Vec<String>,
}

impl Scaffold {
    pub(super) fn new(body: &Body<'_>, fields: &[Field]) -> Self {
        let symbols: Vec<_> = body.symbols.iter().map(ToString::to_string).collect();
        let bounds = symbols.iter().map(|symbol| format!("{symbol}: rt::Dim")).collect();
        let mut all = Self { bounds, ..Self::default() };
        if !symbols.is_empty() {
            let _ = write!(all.declaration, "sizes: ({}), ", list(&symbols));
            all.names.push_str("sizes, ");
            all.construction.push_str("sizes, ");
        }
        for (position, symbol) in symbols.iter().enumerate() {
            let variable = symbol_variable(symbol);
            let _ = write!(all.sizes, "let {variable} = sizes.{position}.extent(); ");
            let _ = write!(all.parameters, "{variable}: usize, ");
            let _ = write!(all.extents, "{variable}, ");
        }
        for field in fields {
            let Field { name, value, .. } = field;
            let _ = write!(all.declaration, "{name}: {}, ", field.ty("'a "));
            let _ = write!(all.names, "{name}, ");
            let _ = match name == value {
                true => write!(all.construction, "{name}, "),
                false => write!(all.construction, "{name}: {value}, "),
            };
            let _ = write!(all.parameters, "{name}: {}, ", field.ty(""));
        }
        Self { symbols, ..all }
    }
}

/// Borrows scratch memory for each captured buffer, with as many elements as the buffer. Returns the variables in the
/// order of the captures.
fn scratch(body: &mut Body<'_>, loops: &Loops, printer: &Printer<'_>) -> Vec<String> {
    let mut all = Vec::new();
    // For each element type the variables, their ranges, and the start of the next range.
    let mut of_types: BTreeMap<DType, (String, String, String)> = BTreeMap::new();
    for Capture { var, source, .. } in &loops.captures {
        let Captured::Scratch(buffer) = source else { continue };
        let ty = &body.plan.buffers[buffer.0].ty;
        let len = ty.shape.element_count().expect("a verified type has a countable number of elements");
        let (dtype, len) = (ty.dtype, grouped(&body.extent(&len)));
        let name = body.names.fresh(printer.name(*var));
        let (names, ranges, from) =
            of_types.entry(dtype).or_insert_with(|| (String::new(), String::new(), "0".to_owned()));
        let _ = write!(names, "{name}, ");
        let _ = write!(ranges, "{from}..{from} + {len}, ");
        *from = format!("{from} + rt::chain_scratch::<{dtype}>({len})");
        all.push(name);
    }
    for (dtype, (names, ranges, _)) in of_types {
        let scratch = &body.scratch[&dtype];
        let _ = writeln!(body.text, "let [{names}] = rt::split(&mut *{scratch}, [{ranges}]);");
    }
    all
}
