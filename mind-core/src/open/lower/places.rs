//! The leaves of an expression: Rust places such as `x` and `self.w`, and Rust expressions in braces.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};

use super::lowering::ExpressionLowering;
use super::roles::{ExprRole, PlaceExpr, key};
use super::tensors::without_symbols;
use crate::diag::{Code, Diag, Diags, Site};
use crate::open::{Leaf, LeafId, NodeId, Op};
use crate::surface::ast::{Callee, ExprId, Pattern, TypeExpr, TypeKind};
use crate::surface::habits;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::{Binding, Lowered, Stop, Value};

impl ExpressionLowering<'_> {
    pub(super) fn name(&mut self, name: &Ident, expr: ExprId) -> Lowered<Value<NodeId>> {
        let (text, key) = (name.to_string(), key(name));
        match self.names.get(&key) {
            Some(Binding::Local(value)) => return Ok(value.clone()),
            Some(Binding::Parameter(passed)) => {
                let place = self.passed[*passed].clone();
                return self.place(place, expr);
            }
            None => {}
        }
        if let Some(constant) = self.constant(&text, expr) {
            return constant;
        }
        if let Some(word) = self.frames.last().and_then(|frame| frame.elements.get(&text)) {
            return Ok(Value::Word(*word));
        }
        let role = self.roles[expr.index()];
        if let (ExprRole::Padding, Some(word)) = (role, self.padding_word(&text)) {
            return Ok(word);
        }
        if let Some(word) = self.word(&text, expr) {
            return Ok(word);
        }
        if let ("True" | "False" | "None", Some(help)) = (text.as_str(), habits::name(&text)) {
            let diag = Diag::new(Code::E2002, self.site(expr), format!("undefined name `{text}`"));
            return Err(diag.help(help).into());
        }
        if !self.frames.is_empty() {
            // The mistake has been reported at the template.
            let diag = Diag::new(Code::E2002, self.site(expr), format!("undefined name `{text}`"));
            return Err(diag.into());
        }
        let place = PlaceExpr { tokens: TokenTree::Ident(name.clone()).into(), text, key };
        self.place(place, expr)
    }

    /// A constant by its path in a template, such as `layers::EPS`.
    pub(super) fn constant_by_path(&mut self, path: &Callee, expr: ExprId) -> Lowered<Value<NodeId>> {
        let text = path.to_string();
        match self.constant(&text, expr) {
            Some(constant) => constant,
            None => Err(Diag::new(Code::E2002, self.site(expr), format!("undefined name `{text}`")).into()),
        }
    }

    pub(super) fn member(&mut self, base: ExprId, name: &Ident, expr: ExprId) -> Lowered<Value<NodeId>> {
        let Some(mut place) = self.places.remove(&base) else {
            if let Value::Struct(record) = self.value(base).clone() {
                return self.field_of(&record, name);
            }
            if matches!(self.value(base), Value::Poison) {
                return Err(Stop::Poisoned);
            }
            let message = format!("only Rust variables have fields, found {}", self.describe(base));
            let operand = self.body.text(base);
            let help = habits::field_among_rust(&name.to_string(), &operand).unwrap_or_else(|| {
                "call a method with parentheses; only Rust structs have fields".to_owned()
            });
            return Err(Diag::new(Code::E2001, Site::token(name.span()), message).help(help).into());
        };
        if let Some(record) = self.records.get(&place.key).cloned() {
            return self.field_of(&record, name);
        }
        self.push_field(&mut place, name);
        self.place(place, expr)
    }

    /// Adds a field to a place. If a template names the field, it gets the span of the place, where rustc then reports
    /// that the field is missing.
    fn push_field(&self, place: &mut PlaceExpr, name: &Ident) {
        let (mut name, last) = (name.clone(), place.tokens.clone().into_iter().last());
        if let (false, Some(last)) = (self.frames.is_empty(), last) {
            name.set_span(last.span());
        }
        let span = name.span();
        place.push(TokenTree::Ident(name), span);
    }

    /// Binds a place to a name, or its fields to those of a pattern.
    pub(super) fn bind_place(&mut self, pattern: &Pattern, place: PlaceExpr, mistakes: &mut Diags) {
        let mut rest = vec![(pattern, place)];
        while let Some((pattern, place)) = rest.pop() {
            match pattern {
                Pattern::Wildcard(_) => {}
                Pattern::Name(name) => {
                    self.passed.push(place);
                    self.names.bind(key(name), Binding::Parameter(self.passed.len() - 1));
                }
                Pattern::Struct { name, fields, rest: others, site } => {
                    let dims = self.dims();
                    mistakes.extend(dims.pattern_errors(name, fields, *others, *site));
                    for field in fields.iter().rev() {
                        let mut part = place.clone();
                        self.push_field(&mut part, &field.name);
                        rest.push((&field.pattern, part));
                    }
                }
                Pattern::Tuple { site, .. } => {
                    let message =
                        format!("the pattern {pattern} matches a tuple, expected a name or a struct");
                    mistakes.push(Diag::new(Code::E2001, *site, message));
                    for name in pattern.names() {
                        self.names.bind(key(name), Binding::Local(Value::Poison));
                    }
                }
            }
        }
    }

    pub(super) fn field(
        &mut self,
        base: ExprId,
        index: usize,
        field: Site,
        expr: ExprId,
    ) -> Lowered<Value<NodeId>> {
        let Some(mut place) = self.places.remove(&base) else {
            return self.tuple_element(base, index, field);
        };
        let mut literal = Literal::usize_unsuffixed(index);
        let span = if let Site::Tokens { first, .. } = field { first } else { Span::call_site() };
        literal.set_span(span);
        place.push(TokenTree::Literal(literal), span);
        self.place(place, expr)
    }

    /// The leaf of a place. If only a field is read, or the place is bound to a name, the place is recorded instead.
    fn place(&mut self, place: PlaceExpr, expr: ExprId) -> Lowered<Value<NodeId>> {
        if let ExprRole::Base | ExprRole::Passed = self.roles[expr.index()] {
            self.places.insert(expr, place);
            // Only the surrounding node uses the value, and it uses the place instead.
            return Ok(Value::Poison);
        }
        let PlaceExpr { tokens, text, key } = place;
        if let Some(record) = self.records.get(&key) {
            return Ok(Value::Struct(record.clone()));
        }
        if let Some(leaf) = self.leaf_of.get(&key) {
            return Ok(Value::Tensor(*leaf));
        }
        let site = self.site(expr);
        let leaf = self.leaf(Leaf { tokens, text, is_place: true, part: None, annotation: None, site });
        self.leaf_of.insert(key, leaf);
        Ok(Value::Tensor(leaf))
    }

    /// Reports E1007 for `x.shape` if the expression also reads `x`, since a tensor or a number has no fields.
    /// Otherwise only rustc knows the type of `x`.
    pub(super) fn refuse_fields_of_tensors(&mut self) {
        let of_leaf = |(key, node): (&String, &NodeId)| {
            let (base, field) = key.rsplit_once('.')?;
            let known = habits::field(field).is_some() && self.leaf_of.contains_key(base);
            self.graph.node(*node).op.input_name().copied().filter(|_| known)
        };
        let leaves: Vec<LeafId> = self.leaf_of.iter().filter_map(of_leaf).collect();
        for leaf in leaves {
            let Leaf { text, site, .. } = &self.leaves[leaf.index()];
            let Some((base, field)) = text.rsplit_once('.') else { continue };
            let message =
                format!("found `.{field}` after a tensor, expected `T`, `mT`, a method call or an operator");
            let diag = Diag {
                help: habits::field_among_rust(field, base),
                ..Diag::new(Code::E1007, *site, message)
            };
            self.report(diag.into());
        }
    }

    pub(super) fn rust(&mut self, tokens: &TokenStream, text: &str, expr: ExprId) -> Value<NodeId> {
        let (tokens, text) = (tokens.clone(), text.to_owned());
        Value::Tensor(self.leaf(Leaf {
            tokens,
            text,
            is_place: false,
            part: None,
            annotation: None,
            site: self.site(expr),
        }))
    }

    pub(super) fn leaf(&mut self, leaf: Leaf) -> NodeId {
        let id = LeafId::new(self.leaves.len());
        self.leaves.push(leaf);
        self.graph.derive(Op::input(id), &[])
    }

    /// Annotates a leaf with its type.
    pub(super) fn typed(&mut self, operand: ExprId, ty: &TypeExpr) -> Lowered<Value<NodeId>> {
        if let TypeKind::Struct { .. } = ty.kind {
            return self.of_struct(operand, ty);
        }
        let written = self.imported.tensor(ty).map_err(without_symbols)?;
        let Value::Tensor(node) = *self.value(operand) else {
            if matches!(self.value(operand), Value::Poison) {
                return Err(Stop::Poisoned);
            }
            return self.expected("a variable before `:`", operand);
        };
        if !self.graph.node(node).op.is_input() {
            let message =
                format!("{} is bound by `let`, expected a Rust variable before `:`", self.text(operand));
            return Err(Diag::new(Code::E2001, self.site(operand), message)
                .help("give the type in the `let`, as `let a: f32[2, 3] = …`")
                .into());
        }
        self.annotate(node, written, ty.site)?;
        Ok(Value::Tensor(node))
    }
}
