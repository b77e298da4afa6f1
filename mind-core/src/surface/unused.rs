//! Names that are bound and never read, for warnings like those of rustc.

use std::collections::HashMap;

use proc_macro2::Ident;

use super::ast::{Body, NodeKind, Parameter, Pattern, Scope};

/// The parameters and the names bound in a body that the body does not read, in source order. Names that begin with `_`
/// are left out.
///
/// An assignment is a use of a parameter: the parameter is `&mut`, and the caller sees its value.
///
/// ```
/// use mind_core::surface::{parse_function, unused::unused_names};
/// let text = "fn f(x: f32, y: f32, _z: f32) -> f32 { let h = x * x; let k = h; x }";
/// let (function, _) = parse_function(text.parse().unwrap());
/// let function = function.unwrap();
/// let unused = unused_names(&function.parameters, function.body.as_ref().unwrap());
/// assert_eq!(unused.iter().map(ToString::to_string).collect::<Vec<_>>(), ["y", "k"]);
/// ```
pub fn unused_names(parameters: &[Parameter], body: &Body) -> Vec<Ident> {
    let mut names = NameUses::default();
    parameters.iter().for_each(|parameter| names.bind(&parameter.name));
    for node in &body.nodes {
        match &node.kind {
            NodeKind::Name(name) => names.read(name),
            NodeKind::Assign { target, .. } => names.read(&target.name),
            NodeKind::Let { pattern, .. } => names.bind_all(pattern),
            kind => match kind.scope() {
                Some(Scope::Begins { patterns, .. }) => {
                    names.scopes.push(names.visible.len());
                    patterns.into_iter().for_each(|pattern| names.bind_all(pattern));
                    // Many derivatives do not need the result, but each needs its cotangent.
                    if let NodeKind::Pullback { value, .. } = kind {
                        names.read_all(value);
                    }
                }
                Some(Scope::Ends) => names.close(),
                None => {}
            },
        }
    }
    let unused =
        names.bound.into_iter().filter(|(name, is_read)| !is_read && !name.to_string().starts_with('_'));
    unused.map(|(name, _)| name.clone()).collect()
}

#[derive(Default)]
struct NameUses<'a> {
    /// Every name that has been bound, and whether it has been read.
    bound: Vec<(&'a Ident, bool)>,
    /// The visible names, in the order in which they were bound.
    visible: Vec<String>,
    /// For each visible name, its indices in `bound`. The last one shadows the others.
    positions: HashMap<String, Vec<usize>>,
    /// The length of `visible` at the start of each open scope.
    scopes: Vec<usize>,
}

impl<'a> NameUses<'a> {
    fn bind(&mut self, ident: &'a Ident) {
        let name = ident.to_string();
        self.positions.entry(name.clone()).or_default().push(self.bound.len());
        self.visible.push(name);
        self.bound.push((ident, false));
    }

    fn bind_all(&mut self, pattern: &'a Pattern) {
        pattern.names().into_iter().for_each(|name| self.bind(name));
    }

    fn read_all(&mut self, pattern: &Pattern) {
        pattern.names().into_iter().for_each(|name| self.read(name));
    }

    fn close(&mut self) {
        let start = self.scopes.pop().unwrap_or_default();
        for name in self.visible.drain(start..) {
            self.positions.get_mut(&name).and_then(Vec::pop);
        }
    }

    fn read(&mut self, name: &Ident) {
        let positions = self.positions.get(&name.to_string());
        if let Some(position) = positions.and_then(|positions| positions.last()) {
            self.bound[*position].1 = true;
        }
    }
}
