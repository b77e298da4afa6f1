//! The structs and constants that types and bodies name, and the items that depend on imported ones.

use std::collections::BTreeSet;

use mind_shape::MAX_RANK;
use proc_macro2::Ident;

use super::{
    Block, Body, Callee, Closure, Constant, ConstantValue, DimExpr, DimStepKind, Expression, Formal,
    Function, ImportKind, NodeKind, Parameter, Pattern, Scope, Struct, Template, TypeExpr, TypeKind,
};

/// The visitor of the names of structs and constants.
type Visit<'v, 'a> = &'v mut dyn FnMut(&'a Callee);

impl Block {
    /// Visits every name of a struct or constant in the block.
    pub(crate) fn items<'a>(&'a self, visit: Visit<'_, 'a>) {
        self.structs.iter().for_each(|item| item.items(visit));
        self.constants.iter().for_each(|item| item.items(visit));
        let externs = self.externs.iter().map(|item| &item.function);
        for function in self.functions.iter().chain(externs) {
            function.interface_items(visit);
            function.body.iter().for_each(|body| body.items(visit));
        }
        self.templates.iter().for_each(|template| template.items(visit));
    }

    /// The structs that occur as stacks in the types of fields, parameters and results, also inside other stacks. Each
    /// has the number of its leading axes, at most the maximum rank of a tensor.
    pub(crate) fn named_stacks(&self) -> Vec<(Callee, usize)> {
        let interfaces = self.functions.iter().flat_map(|function| {
            function.parameters.iter().map(|parameter| &parameter.ty).chain(&function.result)
        });
        let types = self.structs.iter().flat_map(Struct::types).chain(interfaces);
        let mut rest: Vec<(&TypeExpr, usize)> = types.map(|ty| (ty, 0)).collect();
        rest.reverse();
        let mut found: Vec<(Callee, usize)> = Vec::new();
        while let Some((ty, outer)) = rest.pop() {
            let (name, axes) = match &ty.kind {
                TypeKind::Tensor { .. } => continue,
                TypeKind::Tuple(elements) => {
                    rest.extend(elements.iter().rev().map(|element| (element, outer)));
                    continue;
                }
                TypeKind::Struct { name, over, stacked, .. } => {
                    rest.extend(over.as_deref().map(|over| (over, 0)));
                    (name, outer + stacked.len())
                }
            };
            let text = name.to_string();
            let known = found.iter().position(|(known, _)| known.to_string() == text);
            if axes > known.map_or(0, |known| found[known].1) && axes <= MAX_RANK {
                match known {
                    Some(known) => found[known].1 = axes,
                    None => found.push((name.clone(), axes)),
                }
                let own = self.structs.iter().find(|item| name.is_name() && item.name == name.name);
                rest.extend(own.into_iter().flat_map(Struct::types).map(|field| (field, axes)));
            }
        }
        found
    }

    /// The structs, constants and functions whose Rust items cannot be generated before imports are known. Their types
    /// name an imported item, or a struct or constant of this kind.
    pub fn late_items(&self) -> BTreeSet<String> {
        let imported = self.imports.iter().filter(|import| import.kind == ImportKind::Item);
        let imported: Vec<String> = imported.map(|import| import.name.to_string()).collect();
        let mut late: BTreeSet<String> = BTreeSet::new();
        if imported.is_empty() {
            return late;
        }
        loop {
            let before = late.len();
            for item in &self.structs {
                late.extend(named(&late, &imported, &item.name, |visit| item.items(visit)));
            }
            for item in &self.constants {
                late.extend(named(&late, &imported, &item.name, |visit| item.items(visit)));
            }
            if late.len() == before {
                break;
            }
        }
        let functions = self.functions.iter().filter_map(|function| {
            named(&late, &imported, &function.name, |visit| function.interface_items(visit))
        });
        let functions: Vec<String> = functions.collect();
        late.extend(functions);
        late
    }
}

/// The name of an item, if the item names an imported item or a late one.
fn named<'a>(
    late: &BTreeSet<String>,
    imported: &[String],
    name: &Ident,
    items: impl FnOnce(Visit<'_, 'a>),
) -> Option<String> {
    let mut is_late = false;
    items(&mut |item| {
        let item = item.to_string();
        is_late |= imported.contains(&item) || late.contains(&item);
    });
    is_late.then(|| name.to_string())
}

impl Closure {
    pub(crate) fn items<'a>(&'a self, visit: Visit<'_, 'a>) {
        interface(&self.parameters, self.result.as_ref(), visit);
        self.body.iter().for_each(|body| body.items(visit));
    }
}

impl Expression {
    pub(crate) fn items<'a>(&'a self, visit: Visit<'_, 'a>) {
        self.body.items(visit);
        self.ty.iter().for_each(|ty| ty.items(visit));
    }
}

impl Function {
    /// Visits the structs and constants in the types of its parameters and its result.
    fn interface_items<'a>(&'a self, visit: Visit<'_, 'a>) {
        interface(&self.parameters, self.result.as_ref(), visit);
    }
}

fn interface<'a>(parameters: &'a [Parameter], result: Option<&'a TypeExpr>, visit: Visit<'_, 'a>) {
    parameters.iter().map(|parameter| &parameter.ty).chain(result).for_each(|ty| ty.items(visit));
}

impl Template {
    fn items<'a>(&'a self, visit: Visit<'_, 'a>) {
        for parameter in &self.parameters {
            match &parameter.takes {
                Formal::Any | Formal::Params(_) => {}
                Formal::State { name, .. } => visit(name),
                Formal::Tensor(pattern) => pattern.dims.iter().for_each(|dim| dim.items(visit)),
                Formal::Constant { default, .. } => default.iter().for_each(|body| body.items(visit)),
            }
        }
        self.body.iter().for_each(|body| body.items(visit));
    }
}

impl Struct {
    fn items<'a>(&'a self, visit: Visit<'_, 'a>) {
        self.types().for_each(|ty| ty.items(visit));
    }

    fn types(&self) -> impl Iterator<Item = &TypeExpr> {
        self.fields.iter().filter_map(|field| field.ty.as_ref())
    }
}

impl Constant {
    fn items<'a>(&'a self, visit: Visit<'_, 'a>) {
        match &self.value {
            ConstantValue::Dim(dim) => dim.items(visit),
            ConstantValue::Plain(_) => {}
        }
    }
}

impl DimExpr {
    fn items<'a>(&'a self, visit: Visit<'_, 'a>) {
        for step in &self.steps {
            match &step.kind {
                DimStepKind::Name(name) => visit(name),
                DimStepKind::Integer(_) | DimStepKind::Operator(_) => {}
            }
        }
    }
}

impl TypeExpr {
    fn items<'a>(&'a self, visit: Visit<'_, 'a>) {
        let mut rest = vec![self];
        while let Some(ty) = rest.pop() {
            match &ty.kind {
                TypeKind::Tensor { dims, .. } => dims.iter().for_each(|dim| dim.items(visit)),
                TypeKind::Tuple(elements) => rest.extend(elements.iter().rev()),
                TypeKind::Struct { name, dims, over, stacked } => {
                    visit(name);
                    dims.iter().chain(stacked).for_each(|dim| dim.items(visit));
                    rest.extend(over.as_deref());
                }
            }
        }
    }
}

impl Body {
    fn items<'a>(&'a self, visit: Visit<'_, 'a>) {
        for node in &self.nodes {
            match &node.kind {
                NodeKind::Path(name) | NodeKind::Struct { name, .. } => visit(name),
                NodeKind::Typed { ty, .. } => ty.items(visit),
                NodeKind::Let { pattern, ty, .. } => {
                    pattern.items(visit);
                    ty.iter().for_each(|ty| ty.items(visit));
                }
                kind => {
                    if let Some(Scope::Begins { patterns, .. }) = kind.scope() {
                        patterns.into_iter().for_each(|pattern| pattern.items(visit));
                    }
                }
            }
        }
    }

    /// The names that it uses as values.
    pub(crate) fn reads(&self) -> impl Iterator<Item = String> {
        self.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Name(name) => Some(name.to_string()),
            _ => None,
        })
    }
}

impl Pattern {
    fn items<'a>(&'a self, visit: Visit<'_, 'a>) {
        let mut rest = vec![self];
        while let Some(pattern) = rest.pop() {
            match pattern {
                Self::Wildcard(_) | Self::Name(_) => {}
                Self::Tuple { elements, .. } => rest.extend(elements.iter().rev()),
                Self::Struct { name, fields, .. } => {
                    visit(name);
                    rest.extend(fields.iter().rev().map(|field| &field.pattern));
                }
            }
        }
    }
}
