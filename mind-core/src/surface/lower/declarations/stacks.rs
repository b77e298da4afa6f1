//! Structs with a leading axis (stacks), `Block[12]`, as structs of the generated Rust. A block generates one for each
//! stack that its types name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;
use std::sync::Arc;

use mind_shape::MAX_RANK;
use proc_macro2::{Ident, TokenStream, TokenTree};

use super::structs::{Struct, StructField};
use super::structure::{Definition, Field, StructType, Structure, ident, stack_name};
use super::types::DimNames;
use crate::diag::{Code, Diag, Diags, Site};
use crate::dim::Dim;
use crate::surface::ast;

/// The stacks that the types of a block name, without those that another block has.
pub(crate) fn stacks(block: &ast::Block, dims: &mut DimNames, diags: &mut Diags) -> Vec<Struct> {
    let named = block.stacks.iter().rev().filter_map(|(name, axes)| {
        let defined = dims.definition(name).ok()?;
        let open = StructType::open(name.name.clone(), defined);
        (0..*axes).try_fold(open, |ty, _| ty.stacked(Dim::ONE)?.ok()).map(Structure::Struct)
    });
    let mut rest: Vec<Structure> = named.collect();
    let (mut found, mut seen) = (Vec::new(), BTreeMap::<String, Rc<Definition>>::new());
    while let Some(structure) = rest.pop() {
        let ty = match structure {
            Structure::Value(_) | Structure::Tuple(_) => continue,
            Structure::Struct(ty) => ty,
        };
        let name = ty.rust_name().to_string();
        // The type that names the stack reports a tensor with too many axes.
        let is_reported = dims.is_unread(&name)
            || Structure::Struct(ty.clone()).leaves().iter().any(|leaf| leaf.rank() > MAX_RANK);
        if !ty.is_made_here() || is_reported {
            continue;
        }
        match seen.entry(name) {
            Entry::Occupied(first) => {
                if !first.get().is(&ty.definition) {
                    diags.push(same_name(&ty));
                }
                continue;
            }
            Entry::Vacant(entry) => _ = entry.insert(ty.definition.clone()),
        }
        match stack(&ty, dims) {
            Ok((item, needed)) => {
                rest.extend(needed.into_iter().rev());
                found.push(item);
            }
            Err(diag) => {
                diags.push(diag);
                Arc::make_mut(&mut dims.unread).push(ty.rust_name().to_string());
            }
        }
    }
    found
}

/// The struct of the generated Rust for a stack, and the types that it names.
fn stack(ty: &StructType, dims: &DimNames) -> Result<(Struct, Vec<Structure>), Diag> {
    let of = ty.definition.symbols.iter().cloned().map(Dim::symbol).collect();
    let open = StructType::new(ty.name.clone(), of, ty.defined());
    let open = open.expect("symbols in the place of themselves are no larger");
    let (_, element) = open.element().expect("only a stack is made");
    let site = Site::token(ty.name.span());
    let (base, _) = open.definition.base();
    let field = |(field, structure): (&Field, &Structure)| {
        let mut structure = structure.clone();
        dims.give_aliases(&mut structure, site).map_err(|diag| {
            let message = format!(
                "`{}[…]`: the struct in its field `{}` has a leading axis too, and is not imported",
                ty.name, field.name
            );
            Diag { message, ..diag }
        })?;
        let visibility = match ty.alias {
            // The path in a visibility would lead to another module here.
            Some(_) if !field.is_public => TokenStream::new(),
            Some(_) | None => field.visibility.clone(),
        };
        let (name, attributes) = (field.name.clone(), TokenStream::new());
        Ok(StructField { attributes, visibility, name, structure: Some(structure) })
    };
    let fields: Vec<StructField> =
        open.definition.fields.iter().zip(&open.fields).map(field).collect::<Result<_, _>>()?;
    let needed = fields.iter().filter_map(|field| field.structure.clone());
    let needed = needed.chain([Structure::Struct(element.clone())]).collect();
    let symbols = open.definition.symbols.iter();
    let item = Struct {
        attributes: without_docs(&base.attributes),
        visibility: match ty.alias {
            // The struct is as visible as its import. Its own visibility is relative to another module.
            Some(_) => TokenTree::Ident(Ident::new("pub", ty.name.span())).into(),
            None => base.visibility.clone(),
        },
        name: open.rust_name(),
        symbols: symbols.map(|symbol| ident(symbol, ty.name.span())).collect(),
        fields,
        sound: true,
        site,
        element: Some(element),
    };
    Ok((item, needed))
}

/// Reports the items of a block that have the Rust name of a stack. Types that name such a stack have no value.
pub(crate) fn report_taken(block: &ast::Block, dims: &mut DimNames, diags: &mut Diags) {
    let structs = block.structs.iter().map(|item| &item.name);
    let functions = block.functions.iter().map(|function| &function.name);
    let templates = block.templates.iter().map(|template| &template.name);
    let externs = block.externs.iter().map(|item| &item.function.name);
    let constants = block.constants.iter().map(|constant| &constant.name);
    let items: Vec<&Ident> =
        structs.chain(functions).chain(templates).chain(externs).chain(constants).collect();
    for (name, axes) in &block.stacks {
        let imported = dims.definition(name).ok().and_then(|defined| defined.alias);
        for level in imported.map_or(0, |alias| alias.stacks) + 1..=*axes {
            let stack = stack_name(&name.name, level);
            let Some(taken) = items.iter().find(|item| ***item == stack) else { continue };
            let message = format!("`{taken}` is the Rust name of `{name}[…]`, which this block uses");
            diags.push(
                Diag::new(Code::E2008, Site::token(taken.span()), message)
                    .note_at(name.site(), format!("`{name}` has a leading axis"))
                    .help("give the item another name"),
            );
            Arc::make_mut(&mut dims.unread).push(stack.to_string());
        }
    }
}

/// The error E2008 for the stacks of two structs that are imported from two blocks by one name.
fn same_name(ty: &StructType) -> Diag {
    let name = ty.rust_name();
    let message = format!("the stacks of two structs named `{}` have the Rust name `{name}`", ty.name);
    let help = format!("import one of them by another name, as `use …::{0} as Other{0};`", ty.name);
    Diag::new(Code::E2008, Site::token(ty.name.span()), message).help(help)
}

/// Attributes except documentation, which is of one element.
fn without_docs(attributes: &TokenStream) -> TokenStream {
    let mut kept = TokenStream::new();
    let mut tokens = attributes.clone().into_iter();
    while let Some(hash) = tokens.next() {
        let Some(TokenTree::Group(group)) = tokens.next() else { break };
        let is_doc = group.stream().into_iter().next().is_some_and(|first| first.to_string() == "doc");
        if !is_doc {
            kept.extend([hash, TokenTree::Group(group)]);
        }
    }
    kept
}
