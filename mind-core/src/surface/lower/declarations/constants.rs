//! Evaluation of the constants of a block.

use std::sync::Arc;

use super::lowered::{Constant, ConstantValue};
use super::order::order;
use super::types::DimNames;
use crate::diag::{Code, Diag, Diags, Site};
use crate::surface::ast::{self, DimStepKind};

/// Evaluates the constants, which may be defined in any order, and adds them to `dims`.
pub(crate) fn constants(
    block: &ast::Block,
    mut dims: DimNames,
    diags: &mut Diags,
) -> (Vec<Constant>, DimNames) {
    let position = |name: &ast::Callee| {
        block.constants.iter().position(|constant| name.is_name() && constant.name == name.name)
    };
    let needs = |constant: &ast::Constant| -> Vec<usize> {
        let steps = match &constant.value {
            ast::ConstantValue::Dim(dim) => &dim.steps[..],
            ast::ConstantValue::Plain(_) => &[],
        };
        let name = steps.iter().filter_map(|step| match &step.kind {
            DimStepKind::Name(name) => Some(name),
            DimStepKind::Integer(_) | DimStepKind::Operator(_) => None,
        });
        name.filter_map(position).collect()
    };
    let order = order(&block.constants.iter().map(needs).collect::<Vec<_>>());
    for cycle in &order.cycles {
        let names: Vec<_> =
            cycle.iter().map(|position| block.constants[*position].name.to_string()).collect();
        let message = format!("constants refer to each other in a cycle: {}", path(&names));
        let site = match &block.constants[cycle[0]].value {
            ast::ConstantValue::Dim(dim) => dim.site,
            ast::ConstantValue::Plain(_) => Site::token(block.constants[cycle[0]].name.span()),
        };
        diags.push(Diag::new(Code::E2009, site, message));
        Arc::make_mut(&mut dims.unread).extend(names);
    }
    let mut found: Vec<Option<ConstantValue>> = vec![None; block.constants.len()];
    for at in order.nodes {
        let constant = &block.constants[at];
        let name = constant.name.to_string();
        let value = match &constant.value {
            ast::ConstantValue::Dim(value) => value,
            ast::ConstantValue::Plain(value) => {
                found[at] = Some(ConstantValue::Plain(value.clone()));
                Arc::make_mut(&mut dims.plain).insert(name, value.clone());
                continue;
            }
        };
        match dims.dim(value) {
            Ok(dim) => {
                found[at] = dim.as_literal().map(ConstantValue::Dim);
                Arc::make_mut(&mut dims.constants).insert(name, dim);
            }
            Err(diag) => {
                diags.extend(diag);
                Arc::make_mut(&mut dims.unread).push(name);
            }
        }
    }
    let public = |(constant, value): (&ast::Constant, Option<ConstantValue>)| {
        Some(Constant {
            attributes: constant.attributes.clone(),
            visibility: constant.visibility.clone(),
            name: constant.name.clone(),
            value: value?,
        })
    };
    (block.constants.iter().zip(found).filter_map(public).collect(), dims)
}

/// `f -> g -> f`
pub(crate) fn path(names: &[String]) -> String {
    let names: Vec<_> = names.iter().chain(names.first()).map(|name| format!("`{name}`")).collect();
    names.join(" -> ")
}
