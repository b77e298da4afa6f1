//! Lowering of whole programs: constants, signatures, the order of functions, and their bodies.

pub(crate) mod externs;
pub(crate) mod library;

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

use proc_macro2::{Ident, Span, TokenStream};

use self::externs::add_externs;
use self::library::{Library, add_library};
use crate::diag::{Code, Diag, Diags, Site};
use crate::surface::ast;
use crate::surface::lower::body::{LoweredBody, check_template, lower_body};
use crate::surface::lower::callees::inline::Templates;
use crate::surface::lower::callees::table::{Entry, Scope, Table};
use crate::surface::lower::declarations::constants::{constants, path};
use crate::surface::lower::declarations::lowered::{Function, Lowered, Template};
use crate::surface::lower::declarations::order::order;
use crate::surface::lower::declarations::signature::{
    closure_signature, function_signature, public_parameters,
};
use crate::surface::lower::declarations::stacks::{report_taken, stacks};
use crate::surface::lower::declarations::structs::structs;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::declarations::types::DimNames;

/// How programs are lowered.
#[derive(Clone, Copy, Default)]
pub(crate) struct ProgramLowering<'a> {
    /// The functions that the program may import.
    pub(crate) library: Option<&'a Library>,
    /// Whether each call becomes an instruction that holds the body of the callee. Otherwise it is inlined.
    pub(crate) keeps_calls: bool,
}

/// Lowers a block.
pub(crate) fn lower_block(block: &ast::Block, options: ProgramLowering<'_>) -> (Lowered, Diags) {
    let library = options.library;
    let mut diags = Diags::new();
    let unread: Vec<_> = unread(&block.unread, &block.imports, library);
    let known = imported_names(library, &block.imports, &unread);
    let (constants, mut dims) = constants(block, known, &mut diags);
    report_taken(block, &mut dims, &mut diags);
    let mut structs = structs(block, &mut dims, &mut diags);
    structs.extend(stacks(block, &mut dims, &mut diags));
    let mut table = Table::new(unread);
    table.keeps_calls = options.keeps_calls;
    // One list per function: errors are reported in the order of the source, not in that of the calls.
    let mut found: Vec<Diags> = Vec::new();
    for (position, function) in block.functions.iter().enumerate() {
        let mut own = Diags::new();
        let signature = function_signature(function, &dims, &mut own);
        found.push(own);
        table.own().insert(function.name.to_string(), position);
        table.entries.push(Entry { signature, ..Entry::default() });
    }
    add_externs(&mut table, &block.externs, &dims, &mut diags);
    let mut templates = match library {
        Some(library) => add_library(&mut table, library, &block.imports, &mut diags),
        None => Templates::default(),
    };
    let sound = templates
        .add(&block.templates, &mut diags, |template| check_template(table.scope(0), &dims, template));
    let mut functions = Cow::Borrowed(&block.functions);
    if block.functions.iter().flat_map(ast::Function::callees).any(|(callee, _)| templates.has(callee)) {
        for (function, found) in functions.to_mut().iter_mut().zip(&mut found) {
            function.body.iter_mut().for_each(|body| templates.inline(body, found));
        }
    }
    let calls: Vec<Vec<FunctionCall>> =
        functions.iter().map(|function| calls(function, table.scope(0))).collect();
    let own = |callee: &usize| *callee < functions.len();
    let needs: Vec<Vec<usize>> =
        calls.iter().map(|calls| calls.iter().map(|call| call.callee).filter(own).collect()).collect();
    let order = order(&needs);
    for cycle in &order.cycles {
        found[cycle[0]].push(cycle_diag(&functions, &calls, cycle));
    }
    for position in order.nodes {
        let function = &functions[position];
        let (Some(signature), Some(body)) = (&table.entries[position].signature, &function.body) else {
            continue;
        };
        let LoweredBody { compiled, locals, diags } = lower_body(table.scope(0), signature, body);
        found[position].extend(diags);
        table.entries[position] = Entry { compiled, locals, ..mem::take(&mut table.entries[position]) };
    }
    diags.extend(found.into_iter().flatten());
    let functions = functions.iter().zip(table.entries);
    let functions = functions.filter_map(|(function, entry)| public_function(function, entry)).collect();
    let templates = block.templates.iter().zip(sound).map(|(template, is_sound)| Template {
        attributes: template.attributes.clone(),
        visibility: template.visibility.clone(),
        name: template.name.clone(),
        broken: !is_sound,
    });
    (Lowered { constants, structs, functions, templates: templates.collect() }, diags)
}

/// Lowers a closure.
pub(crate) fn lower_closure(closure: &ast::Closure, options: ProgramLowering<'_>) -> (Lowered, Diags) {
    let library = options.library;
    let mut diags = Diags::new();
    let unread = unread(&[], &closure.imports, library);
    let dims = imported_names(library, &closure.imports, &unread);
    let mut table = Table::new(unread);
    table.keeps_calls = options.keeps_calls;
    let templates = match library {
        Some(library) => add_library(&mut table, library, &closure.imports, &mut diags),
        None => Templates::default(),
    };
    let signature = closure_signature(closure, dims, &mut diags);
    let (Some(signature), Some(body)) = (signature, &closure.body) else {
        return (Lowered::default(), diags);
    };
    let mut body = body.clone();
    templates.inline(&mut body, &mut diags);
    let LoweredBody { mut compiled, locals, diags: own } = lower_body(table.scope(0), &signature, &body);
    diags.extend(own);
    if let Some(result) = compiled.as_mut().map(|compiled| &mut compiled.result)
        && let Err(diag) = { signature.dims.give_aliases(result, closure.site) }
            .and_then(|()| signature.dims.has_rust_types(result, closure.site))
    {
        diags.push(diag);
        compiled = None;
    }
    let function = compiled.map(|compiled| Function {
        attributes: TokenStream::new(),
        visibility: TokenStream::new(),
        name: Ident::new("closure", Span::call_site()),
        symbols: Vec::new(),
        parameters: public_parameters(&closure.parameters, &signature),
        result: compiled.result,
        updates: compiled.updates,
        seen: compiled.seen,
        gradient: None,
        memory: None,
        program: Some(compiled.source),
        locals,
    });
    (Lowered { functions: function.into_iter().collect(), ..Lowered::default() }, diags)
}

/// The names for dimensions and types that a program imports.
fn imported_names(library: Option<&Library>, imports: &[ast::Import], unread: &[String]) -> DimNames {
    let mut dims = library.map(|library| library.names(imports)).unwrap_or_default();
    Arc::make_mut(&mut dims.unread).extend_from_slice(unread);
    dims
}

/// The names of items that exist but whose definition is not known.
fn unread(items: &[Ident], imports: &[ast::Import], library: Option<&Library>) -> Vec<String> {
    let imports = imports.iter().filter(|_| library.is_none()).map(|import| &import.name);
    items.iter().map(Ident::to_string).chain(imports.map(ToString::to_string)).collect()
}

fn public_function(function: &ast::Function, entry: Entry) -> Option<Function> {
    let signature = entry.signature?;
    let parameters = public_parameters(&function.parameters, &signature);
    let compiled = entry.compiled.as_ref().map(|compiled| (compiled.updates.clone(), compiled.seen.clone()));
    let (updates, seen) = compiled.unwrap_or_default();
    Some(Function {
        attributes: function.attributes.clone(),
        visibility: function.visibility.clone(),
        name: function.name.clone(),
        symbols: function.symbols.clone(),
        parameters,
        result: signature.result.unwrap_or(Structure::UNIT),
        updates,
        seen,
        gradient: signature.gradient,
        memory: function.memory.as_deref().cloned(),
        program: entry.compiled.map(|compiled| compiled.source),
        locals: entry.locals,
    })
}

/// A call of a function of the block.
struct FunctionCall {
    callee: usize,
    site: Site,
}

fn calls(function: &ast::Function, table: Scope<'_>) -> Vec<FunctionCall> {
    let call = |(callee, site): (&ast::Callee, Site)| {
        Some(FunctionCall { callee: table.position(&callee.to_string())?, site })
    };
    function.body.iter().flat_map(ast::Body::callees_here).filter_map(call).collect()
}

fn cycle_diag(functions: &[ast::Function], calls: &[Vec<FunctionCall>], cycle: &[usize]) -> Diag {
    let names: Vec<_> = cycle.iter().map(|position| functions[*position].name.to_string()).collect();
    let site_of_call = |from: usize, to: usize| {
        calls[from].iter().find(|call| call.callee == to).map_or(Site::Nowhere, |call| call.site)
    };
    let next = |i: usize| cycle[(i + 1) % cycle.len()];
    let message = match &names[..] {
        [name] => format!("`{name}` calls itself"),
        _ => format!("functions call each other in a cycle: {}", path(&names)),
    };
    let mut diag = Diag::new(Code::E2009, site_of_call(cycle[0], next(0)), message);
    for (i, from) in cycle.iter().enumerate().skip(1) {
        let text = format!("`{}` calls `{}`", names[i], names[(i + 1) % names.len()]);
        diag = diag.note_at(site_of_call(*from, next(i)), text);
    }
    diag.help("calls are inlined, so recursion is not supported: write out each call")
}
