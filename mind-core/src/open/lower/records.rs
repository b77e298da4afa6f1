//! Structs: Rust places that are declared to be structs, struct expressions, and operations field by field.
//!
//! Only Rust knows the type of a place, so an expression declares the struct: `(net: Net)`. The import of the struct
//! gives the definition. Its tensors are leaves, in order, whatever their extents are.

use std::rc::Rc;

use proc_macro2::Ident;

use super::lowering::ExpressionLowering;
use super::roles::PlaceExpr;
use super::tensors::without_symbols;
use crate::diag::{Code, Diag, Site};
use crate::dim::Bindings;
use crate::open::{Check, CheckKind, Contract, Demand, Leaf, NodeId, PartOf};
use crate::surface::ast::{Callee, ExprId, FieldValue, TypeExpr, TypeKind};
use crate::surface::lower::Structure;
use crate::surface::lower::declarations::states;
use crate::surface::lower::declarations::structure::StructType;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::records::Records;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Record, Stop, Value};
use crate::ty::Type;
use crate::written::ExtentRef;

impl Records for ExpressionLowering<'_> {
    fn convert_field(
        &mut self,
        found: &Value<NodeId>,
        structure: &Structure,
        expr: ExprId,
        text: &str,
    ) -> Lowered<Value<NodeId>> {
        let value = self.coerce(found, structure, expr, text)?;
        if let (Value::Tensor(node), Structure::Value(ty)) = (&value, structure)
            && ty.rank() > 0
            && self.graph.shape(*node).is_scalar()
        {
            let message = format!("{text}: expected {ty}, found a number");
            return Err(Diag::new(Code::E2001, self.site(expr), message).into());
        }
        Ok(value)
    }

    fn check_extents(&mut self, record: &Record<NodeId>, name: &Callee, expr: ExprId) -> Lowered<()> {
        let structure = Structure::Struct((*record.ty).clone());
        let nodes = record.sound()?.leaves();
        let leaves = structure.named_leaves();
        let mut bindings = Bindings::new();
        let mut others = Vec::new();
        for (leaf, node) in leaves.iter().zip(&nodes) {
            for (axis, dim) in leaf.ty.shape.iter().enumerate() {
                let from_end = leaf.ty.rank() - axis;
                match dim.as_symbol() {
                    Some(symbol) if !bindings.contains_key(symbol) => {
                        let axis = -i64::try_from(from_end).expect("a rank is small");
                        let own = self.extent_symbol(symbol, *node, ExtentRef::Axis(axis), expr);
                        bindings.insert(symbol.clone(), own);
                    }
                    _ if dim.as_literal().is_some() => {}
                    _ => others.push((leaf, *node, from_end, dim.clone())),
                }
            }
        }
        for (leaf, node, axis, dim) in others {
            let needed = dim.substitute(&bindings).map_err(|overflow| {
                Diag::new(Code::E1008, self.site(expr), format!("`{name}`: {overflow}"))
            })?;
            let mut extent_witnesses = Vec::new();
            let extent = self.over_operands(&needed, 1, &mut extent_witnesses);
            let others = extent_witnesses.into_iter().map(|(node, _)| (node, self.text(expr))).collect();
            let contract = Contract {
                label: format!("field `{}` of `{name}`", leaf.text()),
                pattern: leaf.ty.to_string(),
                demand: Demand::Extent { axis, name: dim.to_string(), extent },
                others,
            };
            let (kind, text) = (CheckKind::Argument(contract.into()), leaf.text());
            self.checks.push(Check { kind, node, text, site: self.site(expr) });
        }
        Ok(())
    }
}

impl ExpressionLowering<'_> {
    /// `(net: Net)`, or `let p: Net = net;`: a value that is declared to be a struct.
    pub(super) fn of_struct(&mut self, operand: ExprId, ty: &TypeExpr) -> Lowered<Value<NodeId>> {
        self.is_imported(ty)?;
        let structure = self.imported.structure(ty).map_err(without_symbols)?;
        self.imported.has_rust_types(&structure, ty.site)?;
        let Structure::Struct(ty) = structure else { unreachable!("the caller has seen a struct") };
        if let Some(place) = self.places.remove(&operand) {
            return self.record_at(&place, ty, operand);
        }
        let value = self.value(operand).clone();
        match &value {
            Value::Poison => Err(Stop::Poisoned),
            Value::Struct(record) => self.as_struct(record, &ty, operand, &self.text(operand)),
            Value::Tensor(_) | Value::Literal(_) | Value::Tuple(_) | Value::Word(_) => {
                let message = format!("expected a `{ty}`, found {}", self.describe(operand));
                let help = "the expression takes Rust structs only from variables and their fields: bind the struct \
                    with `let` first";
                Err(Diag::new(Code::E2001, self.site(operand), message).help(help).into())
            }
        }
    }

    /// Returns E2002 for a struct type that the expression does not import.
    fn is_imported(&self, ty: &TypeExpr) -> Lowered<()> {
        let TypeKind::Struct { name, dims, over, .. } = &ty.kind else { return Ok(()) };
        let name = match self.imported.state(name) {
            None => name.clone(),
            Some(_) => match states::over(name, dims, over.as_deref()).map(|over| over.kind) {
                Some(TypeKind::Struct { name, .. }) => name,
                // The lowering of the type reports a state over no struct.
                Some(TypeKind::Tensor { .. } | TypeKind::Tuple(_)) | None => return Ok(()),
            },
        };
        let known = self.imported.definition(&name).map(|_| ());
        known.map_err(|mistake| {
            let help = |diag: Diag| match diag.code == Code::E2002 && !states::is_path(&name) {
                true => diag.help(
                    "import it at the start of the expression, as in `use crate::nets::Net;`: Rust's own \
                        `use` is not visible in expressions",
                ),
                false => diag,
            };
            Stop::from(mistake.map(help))
        })
    }

    /// The struct at a Rust place. Later uses of the place refer to this struct.
    fn record_at(&mut self, place: &PlaceExpr, ty: StructType, expr: ExprId) -> Lowered<Value<NodeId>> {
        if let Some(known) = self.records.get(&place.key).cloned() {
            return self.as_struct(&known, &ty, expr, &place.text);
        }
        let (of, structure) = (Rc::new(ty.clone()), Structure::Struct(ty));
        let mut nodes = Vec::new();
        for (position, leaf) in structure.named_leaves().iter().enumerate() {
            let of_field = |text: &str| format!("{text}.{}", leaf.text());
            let known = self.leaf_of.get(&of_field(&place.key)).copied();
            let node = known.unwrap_or_else(|| {
                let (tokens, text) = (place.tokens.clone(), of_field(&place.text));
                let (part, site) = (Some(PartOf { of: of.clone(), position }), self.site(expr));
                let node = self.leaf(Leaf { tokens, text, is_place: true, part, annotation: None, site });
                self.leaf_of.insert(of_field(&place.key), node);
                node
            });
            if leaf.ty.shape.as_literals().is_some() {
                self.annotate(node, leaf.ty.clone(), self.site(expr))?;
            }
            nodes.push(node);
        }
        let value = Value::rebuilt(&structure, &mut nodes.into_iter());
        if let Value::Struct(record) = &value {
            self.records.insert(place.key.clone(), record.clone());
        }
        Ok(value)
    }

    /// A field of a struct. rustc reports a field that is private.
    pub(super) fn field_of(&mut self, record: &Record<NodeId>, name: &Ident) -> Lowered<Value<NodeId>> {
        let position = record.ty.position(name)?;
        self.sees(&record.ty, name).unwrap_or_else(|stop| self.report(stop));
        match &record.fields[position] {
            Value::Poison => Err(Stop::Poisoned),
            field => Ok(field.clone()),
        }
    }

    /// `Net { w: a, b, ..net }`, where the base after `..` may be a place.
    pub(super) fn struct_of_places(
        &mut self,
        name: &Callee,
        written: &[FieldValue],
        base: Option<ExprId>,
        expr: ExprId,
    ) -> Lowered<Value<NodeId>> {
        if let Some(base) = base
            && let Some(place) = self.places.remove(&base)
        {
            let defined = match self.dims().state(name) {
                Some(state) if state.value_of_parameters(written).is_none() => {
                    return Err(self.unknown_parameters(name, base).into());
                }
                Some(state) => self.given_state(name, &state, written, None)?,
                None => self.dims().definition(name)?,
            };
            let ty = StructType::open(name.name.clone(), defined);
            self.values[base.index()] = self.record_at(&place, ty, base)?;
        }
        self.struct_expression(name, written, base, expr)
    }

    /// The error for a struct of the library if neither a field nor the base after `..` determines its parameter
    /// struct.
    fn unknown_parameters(&self, name: &Callee, base: ExprId) -> Diag {
        let text = self.short_text(base);
        let message = format!("`..`: expected a `{name}`, found {text}, whose type is not written");
        let help = format!("write its type, as in `..({text}: {name}<Net>)`");
        Diag::new(Code::E2001, self.site(base), message).help(help)
    }

    /// Annotates a leaf with its type. Returns E2001 if the leaf has another one.
    pub(super) fn annotate(&mut self, node: NodeId, written: Type, site: Site) -> Lowered<()> {
        let leaf = self.graph.node(node).op.input_name().expect("the caller has seen a leaf");
        let leaf = &mut self.leaves[leaf.index()];
        match &leaf.annotation {
            Some((first, first_site)) if *first != written => {
                let message = format!("{} is declared {first}, found {written}", leaf.text);
                let diag = Diag::new(Code::E2001, site, message);
                Err(diag.note_at(*first_site, format!("{first} is declared first")).into())
            }
            Some(_) => Ok(()),
            None => {
                let extents = written.shape.as_literals().expect("no symbol stands in the type of a leaf");
                leaf.annotation = Some((written, site));
                self.graph.set_shape(node, &extents);
                Ok(())
            }
        }
    }
}
