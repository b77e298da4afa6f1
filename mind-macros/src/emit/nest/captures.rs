//! What the loops of a nest capture, and under which names.

use std::fmt::Write;

use mind_core::{
    dim::Dim,
    plan::{BufferId, Nest, Operand, Place, Scalar, Target, View},
    reduce::Monoid,
    ty::DType,
};

use super::{Body, Cut, chains::in_scratch, grouped, operands, symbol_variable, targets};
use crate::emit::names::Names;

/// What a nest captures.
pub(super) struct Captures {
    /// In the order of declaration.
    pub(super) fields: Vec<Field>,
    /// For each load, the name of its field.
    pub(super) loads: Vec<String>,
    /// For each single number that a step before computed, or the caller gave, the name of its field.
    pub(super) scalars: Vec<(Scalar, String)>,
    /// For each buffer that is written, the name of its field.
    pub(super) targets: Vec<(BufferId, String)>,
    /// The sums over everything, in the order of passes.
    pub(super) totals: Vec<Total>,
    /// For each sum in memory that is gathered in scratch memory, the names of the fields of its chain and of what it lost.
    scratch: Vec<(BufferId, [String; 2])>,
    /// The axis along which the nest is cut.
    pub(super) cut: Option<usize>,
    /// The names that are taken.
    pub(super) names: Names,
}

/// Something that a nest captures.
pub(super) struct Field {
    pub(super) name: String,
    /// What it is outside.
    pub(super) value: String,
    pub(super) dtype: DType,
    pub(super) kind: Kind,
}

/// What a field holds.
pub(super) enum Kind {
    /// Elements that are read; from one step of the axis that is cut to the next the stride, if there is one.
    Load(Dim),
    /// Elements that are written, likewise.
    Target(Dim),
    /// A single number.
    Number,
    /// How many steps of the axis that is cut there are.
    Steps,
}

/// A fold over everything.
pub(super) struct Total {
    pub(super) name: String,
    pub(super) monoid: &'static Monoid,
    pub(super) dtype: DType,
    /// For a mean, the number of elements.
    pub(super) count: Option<Dim>,
}

impl Field {
    pub(super) fn is_borrow(&self) -> bool {
        match self.kind {
            Kind::Load(_) | Kind::Target(_) => true,
            Kind::Number | Kind::Steps => false,
        }
    }

    pub(super) fn ty(&self, lifetime: &str) -> String {
        let dtype = self.dtype;
        match self.kind {
            Kind::Load(_) => format!("&{lifetime}[{dtype}]"),
            Kind::Target(_) => format!("&{lifetime}mut [{dtype}]"),
            Kind::Number => dtype.to_string(),
            Kind::Steps => "usize".to_string(),
        }
    }
}

impl Captures {
    pub(super) fn new(body: &mut Body<'_>, nest: &Nest, cut: Option<&Cut>) -> Self {
        let mut names = Names::new();
        let own = [
            "nest", "most", "r", "steps", "start", "elements", "lane", "rest", "at", "j", "block", "row",
            "column", "rows", "columns", "sums", "stride", "first", "counts", "product",
        ];
        for own in own {
            names.fresh(own);
        }
        body.plan.symbols.iter().for_each(|symbol| _ = names.fresh(&symbol_variable(symbol)));
        for axis in 0..nest.extents.len() {
            ["i", "chain", "end"].into_iter().for_each(|own| _ = names.fresh(&format!("{own}{axis}")));
        }
        let mut captures = Self {
            fields: Vec::new(),
            loads: Vec::new(),
            scalars: Vec::new(),
            targets: Vec::new(),
            totals: Vec::new(),
            scratch: Vec::new(),
            cut: cut.map(|cut| cut.axis),
            names,
        };
        // What is read is named before the targets begin, which may take the memory of something read.
        captures.name_targets(body, nest);
        captures.loads(body, nest, cut);
        captures.scalars(body, nest);
        captures.targets(body, nest, cut);
        captures.take_scratch(body, nest, cut);
        captures.totals(body, nest);
        if let Some(cut) = cut {
            let (name, value) = ("steps".to_string(), body.extent(&cut.steps));
            captures.fields.push(Field { name, value, dtype: DType::I64, kind: Kind::Steps });
        }
        captures
    }

    fn name_targets(&mut self, body: &Body<'_>, nest: &Nest) {
        for view in targets(nest) {
            let buffer = buffer(view);
            if !self.targets.iter().any(|(known, _)| *known == buffer) {
                let name = self.names.fresh(&body.wish(body.plan.buffers[buffer.0].value));
                self.targets.push((buffer, name));
            }
        }
    }

    fn loads(&mut self, body: &Body<'_>, nest: &Nest, cut: Option<&Cut>) {
        for load in &nest.loads {
            let buffer = buffer(load);
            let written = self.targets.iter().find(|(target, _)| {
                let [a, b] = [*target, buffer].map(|buffer| &body.plan.buffers[buffer.0].place);
                a == b && !matches!(a, Place::Constant(_))
            });
            if let Some((_, name)) = written {
                self.loads.push(name.clone());
                continue;
            }
            let value = body.read(buffer);
            let stride = cut.map_or(Dim::ZERO, |cut| load.strides[cut.axis].clone());
            let known = self.fields.iter().find(|field| {
                field.value == value && matches!(&field.kind, Kind::Load(known) if *known == stride)
            });
            let name = known.map(|field| field.name.clone()).unwrap_or_else(|| {
                let name = self.names.fresh(&body.wish(body.plan.buffers[buffer.0].value));
                let dtype = body.plan.buffers[buffer.0].ty.dtype;
                self.fields.push(Field { name: name.clone(), value, dtype, kind: Kind::Load(stride) });
                name
            });
            self.loads.push(name);
        }
    }

    fn scalars(&mut self, body: &Body<'_>, nest: &Nest) {
        for (operand, dtype) in operands(body, nest) {
            let Operand::Scalar(scalar @ (Scalar::Input(_) | Scalar::Local(_))) = operand else { continue };
            if self.scalars.iter().any(|(known, _)| known == scalar) {
                continue;
            }
            let value = body.scalar_text(scalar);
            let name = self.names.fresh(value.trim_start_matches('*'));
            self.fields.push(Field { name: name.clone(), value, dtype, kind: Kind::Number });
            self.scalars.push((scalar.clone(), name));
        }
    }

    fn targets(&mut self, body: &mut Body<'_>, nest: &Nest, cut: Option<&Cut>) {
        for (buffer, name) in &self.targets {
            let value = body.write(*buffer);
            let view = targets(nest).find(|view| view.buffer() == Some(*buffer));
            let view = view.expect("a target is the target of something");
            let stride = cut.map_or(Dim::ZERO, |cut| view.strides[cut.axis].clone());
            let dtype = body.plan.buffers[buffer.0].ty.dtype;
            self.fields.push(Field { name: name.clone(), value, dtype, kind: Kind::Target(stride) });
        }
    }

    /// Takes what chains of sums in memory, and what these lost, are gathered in: as much as the sums, lying likewise.
    fn take_scratch(&mut self, body: &mut Body<'_>, nest: &Nest, cut: Option<&Cut>) {
        let (mut names, mut ranges, mut from) = (String::new(), String::new(), "0".to_string());
        let Some(dtype) = nest.folds().next().map(|fold| fold.dtype) else { return };
        for sum in in_scratch(nest, self.cut) {
            let of = buffer(sum.view);
            let len = body.plan.buffers[of.0].ty.shape.element_count();
            let len =
                grouped(&body.extent(&len.expect("a verified type has a countable number of elements")));
            let stride = cut.map_or(Dim::ZERO, |cut| sum.view.strides[cut.axis].clone());
            let wish = self.target(sum.view).trim_start_matches("r#").to_string();
            let fields = ["chain", "lost"].map(|what| {
                let wish = format!("{wish}_{what}");
                let (name, value) = (self.names.fresh(&wish), body.names.fresh(&wish));
                let _ = write!(names, "{value}, ");
                let _ = write!(ranges, "{from}..{from} + {len}, ");
                from = format!("{from} + rt::chain_scratch::<{dtype}>({len})");
                let kind = Kind::Target(stride.clone());
                self.fields.push(Field { name: name.clone(), value, dtype, kind });
                name
            });
            self.scratch.push((of, fields));
        }
        if !names.is_empty() {
            let scratch = &body.scratch[&dtype];
            let _ = writeln!(body.text, "let [{names}] = rt::split(&mut *{scratch}, [{ranges}]);");
        }
    }

    /// The variables of the chain of a sum and of what it lost, which are in scratch memory.
    pub(super) fn scratch(&self, view: &View) -> &[String; 2] {
        let buffer = buffer(view);
        let scratch = self.scratch.iter().find(|(known, _)| *known == buffer);
        &scratch.expect("scratch memory was taken for it").1
    }

    fn totals(&mut self, body: &mut Body<'_>, nest: &Nest) {
        for pass in &nest.passes {
            for fold in pass.folds.iter().chain(&pass.row_folds) {
                if let Target::Total(value) = &fold.target {
                    let name = body.name_local(*value, fold.dtype);
                    self.totals.push(Total {
                        name,
                        monoid: fold.monoid,
                        dtype: fold.dtype,
                        count: fold.count.clone(),
                    });
                }
            }
        }
    }

    /// The variable of the number of steps, if the nest is cut along this axis.
    pub(super) fn steps(&self, axis: usize) -> Option<&str> {
        let mut fields = self.fields.iter().filter(|_| self.cut == Some(axis));
        let steps = fields.find(|field| matches!(field.kind, Kind::Steps));
        steps.map(|field| &*field.name)
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// The variable of a single number.
    pub(super) fn scalar(&self, body: &Body<'_>, scalar: &Scalar) -> String {
        let field = self.scalars.iter().find(|(known, _)| known == scalar);
        field.map_or_else(|| body.scalar_text(scalar), |(_, name)| name.clone())
    }

    /// The variable of what is written.
    pub(super) fn target(&self, view: &View) -> &str {
        let buffer = buffer(view);
        let target = self.targets.iter().find(|(known, _)| *known == buffer);
        &target.expect("every target is captured").1
    }
}

fn buffer(view: &View) -> BufferId {
    view.buffer().expect("nests read and write memory")
}
