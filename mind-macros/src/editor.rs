//! Code for language servers: Rust functions that bind and use the same names as the bodies of a program, with the
//! user's tokens.
//!
//! rust-analyzer resolves a token of a macro's input by the position of the token in the expansion. Bodies are
//! compiled, so the expansion does not contain their tokens. The expansion therefore also contains a copy of each body
//! that only binds and uses its names, under a `cfg` that only rust-analyzer sets. rustc drops this code before it
//! resolves names.

use std::collections::VecDeque;

use mind_core::surface::ast::{
    self, Block, Body, Callee, ExprId, Expression, Function, Import, NodeKind, Path, Pattern, Program,
    Template, TypeExpr, TypeKind,
};
use mind_core::surface::lower::{self, Local, Lowered, Structure};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::emit::{Root, names::raw};

/// The bodies of a program for language servers.
pub(crate) fn bodies(root: &Root, program: &Program, lowered: &Lowered) -> TokenStream {
    // A program in another file has no tokens in the Rust file.
    if root.is_placeholder() {
        return TokenStream::new();
    }
    let (library, functions) = match program {
        Program::Block(block) => (&block.library[..], of_block(root, block, lowered)),
        Program::Closure(closure) => {
            let function = lowered.functions.first();
            let parameters = closure.parameters.iter().map(|parameter| &parameter.name);
            let types = closure.parameters.iter().map(|parameter| &parameter.ty);
            (&[][..], of_body(root, &[], parameters, types, closure.body.as_ref(), function))
        }
        Program::Expression(Expression { body, ty, .. }) => {
            (&[][..], of_body(root, &[], [].into_iter(), ty.iter(), Some(body), None))
        }
    };
    let imports = program.imports().iter().filter(|import| import.name.is_name());
    let imports = imports.map(|Import { path, name, .. }| {
        let name = &name.name;
        let is_renamed = path.clone().into_iter().last().is_none_or(|last| *name != last.to_string());
        let renaming = is_renamed.then(|| quote! { as #name });
        quote! { use #path #renaming; }
    });
    let editor = root.editor();
    let library = library.iter().map(|Import { path, .. }| quote! { use #editor::#path; });
    // The lint for an unknown `cfg` takes its level from the item around it.
    quote! {
        #[allow(warnings)]
        const _: () = {
            #[cfg(rust_analyzer)]
            const _: () = {
                struct Value<const TYPE: &'static str>;
                fn any<T>() -> T { loop {} }
                use #editor::*;
                #(#library)*
                #(#imports)*
                #functions
            };
        };
    }
}

fn of_block(root: &Root, block: &Block, lowered: &Lowered) -> TokenStream {
    let functions = block.functions.iter().map(|function| {
        let Function { name, symbols, parameters, result, body, .. } = function;
        let lowered = lowered.functions.iter().find(|lowered| lowered.name == *name);
        let names = parameters.iter().map(|parameter| &parameter.name);
        let types = parameters.iter().map(|parameter| &parameter.ty).chain(result);
        of_body(root, symbols, names, types, body.as_ref(), lowered)
    });
    let templates = block.templates.iter().map(|template| {
        let Template { declared, parameters, body, .. } = template;
        let symbols: Vec<Ident> = declared.iter().map(|declared| declared.name.clone()).collect();
        let names = parameters.iter().map(|parameter| &parameter.name);
        of_body(root, &symbols, names, [].into_iter(), body.as_ref(), None)
    });
    functions.chain(templates).collect()
}

/// A Rust function that binds the symbols, parameters and local names of a body, and uses the names that the body uses.
fn of_body<'a>(
    root: &Root,
    symbols: &[Ident],
    parameters: impl Iterator<Item = &'a Ident>,
    signature: impl Iterator<Item = &'a TypeExpr>,
    body: Option<&Body>,
    lowered: Option<&lower::Function>,
) -> TokenStream {
    let of_parameters = lowered.iter().flat_map(|function| &function.parameters).map(|parameter| {
        let item = match &parameter.structure {
            Structure::Struct(ty) => Some(ty.rust_name().clone()),
            Structure::Value(_) | Structure::Tuple(_) => None,
        };
        Local { name: parameter.name.clone(), ty: parameter.structure.to_string(), item }
    });
    let of_body = lowered.iter().flat_map(|function| &function.locals).cloned();
    let types = of_parameters.chain(of_body).collect();
    let mut shadow = Shadow { editor: root.editor(), types, open: vec![TokenStream::new()] };
    symbols.iter().for_each(|symbol| shadow.bind_as(symbol, quote! { usize }));
    signature.for_each(|ty| shadow.names_of_type(ty));
    parameters.for_each(|parameter| shadow.bind(parameter));
    body.iter().for_each(|body| shadow.body(body));
    let statements = shadow.whole();
    // Each function is in a separate block, so that all can have the same name.
    quote! { const _: () = { fn body() { #statements } }; }
}

/// Builds the copy of a body for language servers.
struct Shadow {
    editor: TokenStream,
    /// The types of the names that are bound next, in order.
    types: VecDeque<Local>,
    /// The statements of each open scope, innermost last.
    open: Vec<TokenStream>,
}

impl Shadow {
    fn add_statement(&mut self, statement: TokenStream) {
        self.open.last_mut().expect("the outermost scope stays open").extend(statement);
    }

    /// `let h: …;`
    fn bind(&mut self, name: &Ident) {
        // After a mistake in the program some names may be missing, so this finds the next entry of this name.
        let known = self.types.iter().position(|local| local.name == *name);
        let ty = match known.and_then(|position| self.types.drain(..=position).next_back()) {
            Some(Local { item: Some(item), .. }) => quote! { #item },
            Some(Local { ty, item: None, .. }) => {
                let ty = Literal::string(&ty);
                quote! { Value<#ty> }
            }
            None => quote! { _ },
        };
        self.bind_as(name, ty);
    }

    fn bind_as(&mut self, name: &Ident, ty: TokenStream) {
        let name = of_rust(name);
        self.add_statement(quote! { let #name: #ty = any(); });
    }

    /// Uses the symbols, constants and structs that a type names.
    fn names_of_type(&mut self, ty: &TypeExpr) {
        let mut rest = vec![ty];
        while let Some(ty) = rest.pop() {
            let dims = match &ty.kind {
                TypeKind::Tensor { dims, .. } => [&dims[..], &[]],
                TypeKind::Tuple(elements) => {
                    rest.extend(elements.iter().rev());
                    continue;
                }
                TypeKind::Struct { name, dims, over, stacked } => {
                    let path = path_of(name);
                    self.add_statement(quote! { let _: #path; });
                    rest.extend(over.as_deref());
                    [&dims[..], stacked]
                }
            };
            for step in dims.into_iter().flatten().flat_map(|dim| &dim.steps) {
                match &step.kind {
                    ast::DimStepKind::Name(name) => self.names(name),
                    ast::DimStepKind::Integer(_) | ast::DimStepKind::Operator(_) => {}
                }
            }
        }
    }

    fn names(&mut self, callee: &Callee) {
        let path = path_of(callee);
        let editor = callee.of_library.then(|| {
            let editor = &self.editor;
            quote! { #editor:: }
        });
        self.add_statement(quote! { #editor #path; });
    }

    /// Uses a struct and some of its fields by a pattern.
    fn fields<'a>(&mut self, name: &Callee, fields: impl Iterator<Item = &'a Ident>) {
        let (path, fields) = (path_of(name), fields.map(of_rust));
        self.add_statement(quote! { let #path { #(#fields: _,)* .. } = any(); });
    }

    fn pattern(&mut self, pattern: &Pattern) {
        let mut rest = vec![pattern];
        while let Some(pattern) = rest.pop() {
            match pattern {
                Pattern::Wildcard(_) => {}
                Pattern::Name(name) => self.bind(name),
                Pattern::Tuple { elements, .. } => rest.extend(elements.iter().rev()),
                Pattern::Struct { name, fields, .. } => {
                    self.fields(name, fields.iter().map(|field| &field.name));
                    rest.extend(fields.iter().rev().map(|field| &field.pattern));
                }
            }
        }
    }

    fn body(&mut self, body: &Body) {
        for (index, node) in body.nodes.iter().enumerate() {
            match &node.kind {
                NodeKind::Name(name) | NodeKind::Pack(name) => {
                    let name = of_rust(name);
                    self.add_statement(quote! { #name; });
                }
                NodeKind::Path(callee)
                | NodeKind::Call { callee, .. }
                | NodeKind::Transformed { function: callee, .. } => self.names(callee),
                NodeKind::Member { .. } => {
                    let expr = u32::try_from(index).map(ExprId).expect("bodies are bounded");
                    body.path(expr).iter().for_each(|path| self.path(path));
                }
                NodeKind::Struct { name, fields, .. } => {
                    self.fields(name, fields.iter().map(|field| &field.name))
                }
                NodeKind::Typed { ty, .. } => self.names_of_type(ty),
                NodeKind::Let { pattern, ty, .. } => {
                    ty.iter().for_each(|ty| self.names_of_type(ty));
                    self.pattern(pattern);
                }
                NodeKind::Assign { target, .. } => self.path(target),
                NodeKind::Open => self.open.push(TokenStream::new()),
                NodeKind::Close { .. } | NodeKind::PulledBack { .. } | NodeKind::Looped { .. } => {
                    self.close()
                }
                NodeKind::While { carry, .. } => {
                    self.open.push(TokenStream::new());
                    self.pattern(carry);
                }
                NodeKind::Loop(of) => {
                    self.open.push(TokenStream::new());
                    of.carry.iter().for_each(|(pattern, _)| self.pattern(pattern));
                    self.pattern(&of.element);
                }
                NodeKind::Pullback { value, cotangent, .. } => {
                    self.open.push(TokenStream::new());
                    self.pattern(value);
                    self.pattern(cotangent);
                }
                _ => {}
            }
        }
    }

    /// `p.w;`
    fn path(&mut self, path: &Path) {
        let (name, fields) = (of_rust(&path.name), path.fields.iter().map(of_rust));
        self.add_statement(quote! { #name #(.#fields)*; });
    }

    fn close(&mut self) {
        // A scope that a mistake left open ends with the body.
        if self.open.len() > 1 {
            let inside = self.open.pop();
            self.add_statement(quote! {{ #inside }});
        }
    }

    fn whole(mut self) -> TokenStream {
        while self.open.len() > 1 {
            self.close();
        }
        self.open.pop().expect("the outermost scope stays open")
    }
}

/// A name as a Rust identifier: raw if it is a keyword, also one of a single edition, such as `gen`.
fn of_rust(name: &Ident) -> Ident {
    let leads_a_path = ["crate", "self", "super", "Self"].iter().any(|word| name == word);
    if leads_a_path { name.clone() } else { raw(name) }
}

fn path_of(callee: &Callee) -> TokenStream {
    let (path, name) = (callee.path.iter().map(of_rust), of_rust(&callee.name));
    quote! { #(#path::)*#name }
}
