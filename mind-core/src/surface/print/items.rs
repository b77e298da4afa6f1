//! Programs, items, patterns and types as text.

use std::fmt;

use super::{Binding, PULLBACK, Printer, join, join_tuple, within};
use crate::map::Tightness;
use crate::surface::ast::{
    Block, Body, Closure, Constant, ConstantValue, Declared, DeclaredKind, DimExpr, DimOperator, DimStepKind,
    ElementPattern, Expression, Extern, Field, FieldPattern, Formal, Function, Import, NumberValue, Pack,
    Parameter, Path, Pattern, Plain, Program, Struct, Template, TemplateParameter, TensorPattern,
    TransformKind, TypeExpr, TypeKind, Wrt,
};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(block) => block.fmt(f),
            Self::Closure(closure) => closure.fmt(f),
            Self::Expression(expression) => expression.fmt(f),
        }
    }
}

/// Without attributes and visibility.
impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "const {}: ", self.name)?;
        match &self.value {
            ConstantValue::Dim(dim) => write!(f, "dim = {dim};"),
            ConstantValue::Plain(Plain::Truth(truth)) => write!(f, "bool = {truth};"),
            ConstantValue::Plain(Plain::Number(number)) => {
                let kind = match number.value {
                    NumberValue::Integer(_) => "int",
                    NumberValue::Float(_) => "float",
                };
                write!(f, "{kind} = {};", number.text)
            }
        }
    }
}

/// Without visibilities and without attributes other than `#[grad(…)]`.
impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for import in self.imports.iter().chain(&self.library).filter(|import| import.name.is_name()) {
            writeln!(f, "use {import};")?;
        }
        for constant in &self.constants {
            writeln!(f, "{constant}")?;
        }
        for item in &self.structs {
            item.fmt(f)?;
        }
        for item in &self.externs {
            item.fmt(f)?;
        }
        for template in &self.templates {
            template.fmt(f)?;
        }
        for function in &self.functions {
            function.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Struct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "struct {}", self.name)?;
        if let Some(over) = &self.over {
            write!(f, "<{over}: params>")?;
        }
        if !self.symbols.is_empty() {
            write!(f, "<{}>", join(&self.symbols))?;
        }
        let fields: Vec<String> = self
            .fields
            .iter()
            .map(|Field { name, ty, .. }| match ty {
                Some(ty) => format!("{name}: {ty}"),
                None => format!("{name}: <unread>"),
            })
            .collect();
        writeln!(f, " {{ {} }}", fields.join(", "))
    }
}

/// The path without spaces, and always the renaming.
impl fmt::Display for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in self.path.clone() {
            segment.fmt(f)?;
        }
        write!(f, " as {}", self.name)
    }
}

impl fmt::Display for Extern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Function { symbols, parameters, result, .. } = &self.function;
        write!(f, "extern fn {}", self.path)?;
        if !symbols.is_empty() {
            write!(f, "<{}>", join(symbols))?;
        }
        write!(f, "({})", join(parameters))?;
        if let Some(result) = result {
            write!(f, " -> {result}")?;
        }
        f.write_str(";\n")
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gradient, memory, name, symbols, parameters, result, body, .. } = self;
        if let Some(gradient) = gradient {
            let list = gradient.to_string();
            let list = list.strip_prefix('(').and_then(|list| list.strip_suffix(')')).unwrap_or(&list);
            writeln!(f, "#[grad({list})]")?;
        }
        if let Some(bound) = memory {
            writeln!(f, "#[memory(max = {:?})]", bound.text)?;
        }
        write!(f, "fn {name}")?;
        if !symbols.is_empty() {
            write!(f, "<{}>", join(symbols))?;
        }
        write!(f, "({})", join(parameters))?;
        if let Some(result) = result {
            write!(f, " -> {result}")?;
        }
        f.write_str(" {\n")?;
        write_body(f, body.as_ref())
    }
}

/// Writes the statements of a body, and the brace after them.
fn write_body(f: &mut fmt::Formatter<'_>, body: Option<&Body>) -> fmt::Result {
    match body {
        None => f.write_str("    <unread>\n")?,
        Some(body) => {
            for line in Printer::lines(body) {
                let indent = if line.starts_with(PULLBACK) { "" } else { "    " };
                writeln!(f, "{indent}{line}")?;
            }
        }
    }
    f.write_str("}\n")
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, declared, parameters, body, .. } = self;
        write!(f, "fn {name}")?;
        if !declared.is_empty() {
            write!(f, "<{}>", join(declared))?;
        }
        writeln!(f, "({}) {{", join(parameters))?;
        write_body(f, body.as_ref())
    }
}

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            DeclaredKind::Dim => self.name.fmt(f),
            DeclaredKind::Pack => write!(f, "..{}", self.name),
            DeclaredKind::Params => write!(f, "{}: params", self.name),
            DeclaredKind::Elements(class) => write!(f, "{}: {}", self.name, class.name()),
        }
    }
}

impl fmt::Display for TemplateParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, takes, .. } = self;
        match takes {
            Formal::Any => name.fmt(f),
            Formal::Tensor(pattern) => write!(f, "{name}: {pattern}"),
            Formal::Params(class) => write!(f, "{name}: {class}"),
            Formal::State { name: state, over } => write!(f, "{name}: {state}<{over}>"),
            Formal::Constant { kind, default } => {
                write!(f, "const {name}: {}", kind.name())?;
                let value = default.as_ref().and_then(|body| Some(body.text(body.tail?)));
                value.map_or(Ok(()), |value| write!(f, " = {value}"))
            }
        }
    }
}

impl fmt::Display for TensorPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.elements {
            ElementPattern::Class(class) => f.write_str(class.name())?,
            ElementPattern::Variable(name) => name.fmt(f)?,
            ElementPattern::Fixed(dtype) => dtype.fmt(f)?,
        }
        let pack = self.pack.as_ref().map(|pack| match pack {
            Pack::Any => "..".to_owned(),
            Pack::Named(name) => format!("..{name}"),
        });
        let parts: Vec<String> = pack.into_iter().chain(self.dims.iter().map(ToString::to_string)).collect();
        if parts.is_empty() { Ok(()) } else { write!(f, "[{}]", join(&parts)) }
    }
}

impl fmt::Display for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for import in &self.imports {
            write!(f, "use {import}; ")?;
        }
        write!(f, "|{}| ", join(&self.parameters))?;
        if let Some(result) = &self.result {
            write!(f, "-> {result} ")?;
        }
        match &self.body {
            None => f.write_str("<unread>"),
            Some(body) => f.write_str(&Printer::lines(body).concat()),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.late { "late: " } else { "" })?;
        let text = Printer::lines(&self.body).concat();
        // Without parentheses, the variable would be read as `late:`.
        let is_late = !self.late && self.ty.is_some() && text == "late";
        if is_late {
            f.write_str("(late)")?
        } else {
            f.write_str(&text)?
        }
        self.ty.iter().try_for_each(|ty| write!(f, " : {ty}"))
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{}", self.name, if self.update { "&mut " } else { "" }, self.ty)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wildcard(_) => f.write_str("_"),
            Self::Name(name) => name.fmt(f),
            Self::Tuple { elements, .. } => write!(f, "({})", join_tuple(elements)),
            Self::Struct { name, fields, rest, .. } => {
                let mut texts: Vec<String> = fields.iter().map(ToString::to_string).collect();
                texts.extend(rest.then(|| "..".to_owned()));
                write!(f, "{name} {{ {} }}", texts.join(", "))
            }
        }
    }
}

impl fmt::Display for FieldPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            Pattern::Name(name) if *name == self.name => name.fmt(f),
            pattern => write!(f, "{}: {pattern}", self.name),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)?;
        self.fields.iter().try_for_each(|field| write!(f, ".{field}"))
    }
}

/// The options that differ from the defaults, `, axis = 1`.
impl fmt::Display for TransformKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jacobian { mode: Some(mode) } => write!(f, ", mode = {}", mode.name()),
            Self::Vmap { axis, out } => {
                for (name, value) in
                    [("axis", axis), ("out", out)].into_iter().filter(|(_, value)| **value != 0)
                {
                    write!(f, ", {name} = {value}")?;
                }
                Ok(())
            }
            Self::AssociativeScan { reverse: true } => f.write_str(", reverse = true"),
            Self::Gradient(_)
            | Self::Jvp
            | Self::Jacobian { mode: None }
            | Self::Hessian
            | Self::Hvp
            | Self::AssociativeScan { reverse: false }
            | Self::Checkpoint => Ok(()),
        }
    }
}

impl fmt::Display for Wrt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let targets: Vec<String> = self
            .targets
            .iter()
            .map(|target| format!("{}{}", if target.zero_ok { "zero_ok " } else { "" }, target.path))
            .collect();
        if self.tuple { write!(f, "({})", join_tuple(&targets)) } else { f.write_str(&join(&targets)) }
    }
}

impl fmt::Display for TypeExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TypeKind::Tensor { dtype, dims } if dims.is_empty() => dtype.fmt(f),
            TypeKind::Tensor { dtype, dims } => write!(f, "{dtype}[{}]", join(dims)),
            TypeKind::Tuple(elements) => write!(f, "({})", join_tuple(elements)),
            TypeKind::Struct { name, dims, over, stacked } => {
                name.fmt(f)?;
                match over {
                    Some(over) => write!(f, "<{over}>")?,
                    None if dims.is_empty() => {}
                    None => write!(f, "<{}>", join(dims))?,
                }
                if stacked.is_empty() { Ok(()) } else { write!(f, "[{}]", join(stacked)) }
            }
        }
    }
}

impl fmt::Display for DimExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut operands: Vec<(String, Binding)> = Vec::new();
        for step in &self.steps {
            let operator = match &step.kind {
                DimStepKind::Integer(value) => {
                    operands.push((value.to_string(), Binding::Atom));
                    continue;
                }
                DimStepKind::Name(name) => {
                    operands.push((name.to_string(), Binding::Atom));
                    continue;
                }
                DimStepKind::Operator(operator) => operator,
            };
            let (symbol, own, tighter) = match operator {
                DimOperator::Add => {
                    ("+", Binding::Infix(Tightness::Additive), Binding::Infix(Tightness::Multiplicative))
                }
                DimOperator::Sub => {
                    ("-", Binding::Infix(Tightness::Additive), Binding::Infix(Tightness::Multiplicative))
                }
                DimOperator::Mul => ("*", Binding::Infix(Tightness::Multiplicative), Binding::Sign),
                DimOperator::Div => ("/", Binding::Infix(Tightness::Multiplicative), Binding::Sign),
            };
            let rhs = within(operands.pop().unwrap_or_default(), tighter);
            let mut text = within(operands.pop().unwrap_or_default(), own);
            text.extend([" ", symbol, " ", &rhs]);
            operands.push((text, own));
        }
        f.write_str(&operands.pop().unwrap_or_default().0)
    }
}
