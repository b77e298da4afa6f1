//! The expansion of `mind!`: from its tokens to Rust code.

use std::collections::BTreeSet;

use mind_core::{
    diag::{Code, Diag, Diags, Site},
    dim::{Dim, Symbol},
    ir::ValueId,
    pipeline::{self, Compiled},
    plan::Plan,
    surface::{
        self,
        ast::{Block, Expression, Import, Number, Plain, Program},
        lower::{ConstantValue, Function, Library, Lowered, Struct, Structure, Template},
    },
    ty::DType,
};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

use crate::{
    bare,
    configured::{self, Configuration},
    editor,
    emit::{self, Arguments, Constants, Emitter, Item, Lengths, Parameter, Root},
    link::{CallSite, Exports, Imports, Linked, Received, Unreadable, VERSION, stacks_of_imports},
    report::compile_errors,
    transforms, warnings, watch,
};

/// Expands `mind!`: to the code of the program, and to a compile error for each error in it.
///
/// A function with an error keeps its signature, so that one mistake gives one error and editors keep working. A
/// program with imports expands to a macro call that ends in [`expand_linked`].
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let (root, written) = Root::take(input);
    match configured::configurations(&written) {
        Ok(ways) if ways.is_empty() => {
            let place = CallSite::of(&written);
            expand_with(root, written, &place, compile_errors)
        }
        Ok(ways) => {
            let (macros, prefix) = (root.macros(), root.prefix());
            let blocks = ways.into_iter().map(|Configuration { predicate, block }| {
                quote! { #[cfg(#predicate)] #macros::mind! { #prefix #block } }
            });
            blocks.collect()
        }
        Err(diag) => compile_errors(&[diag]),
    }
}

/// Like [`expand`], for a program at `place`, with the items that `report` makes of the errors.
pub(crate) fn expand_with(
    root: Root,
    written: TokenStream,
    place: &CallSite,
    report: impl FnOnce(&[Diag]) -> TokenStream,
) -> TokenStream {
    let (program, mut diags) = surface::parse(written.clone());
    if let Program::Expression(expression) = &program
        && (expression.imports.is_empty() || !diags.is_empty())
    {
        return expand_expression(&root, &program, expression, &Library::default(), diags, report);
    }
    if diags.is_empty() && !program.imports().is_empty() {
        return expand_with_imports(&root, program, written, place, &report(&[]));
    }
    let (lowered, more) = surface::lower(&program);
    diags.extend(more);
    let exports = Exports::new(&program, place, &written, &lowered, &Received::default(), |_| true);
    Expansion { root, program, exports, lowered, diags, part: Part::All }.tokens(report)
}

fn expand_expression(
    root: &Root,
    program: &Program,
    expression: &Expression,
    library: &Library,
    diags: Diags,
    report: impl FnOnce(&[Diag]) -> TokenStream,
) -> TokenStream {
    let is_read = diags.is_empty();
    let expansion = bare::expand(root, expression, library, diags, report);
    let warnings = if is_read { warnings::warnings(program) } else { TokenStream::new() };
    let editor = editor::bodies(root, program, &Lowered::default());
    if warnings.is_empty() && editor.is_empty() {
        expansion
    } else {
        quote! {{ #editor #warnings #expansion }}
    }
}

/// Expands a program with imports, after their sources have been received.
pub(crate) fn expand_linked(input: TokenStream) -> TokenStream {
    let Linked { root, written, names, received } = Linked::read(input);
    let (program, mut diags) = surface::parse(written.clone());
    let place = CallSite::of(&written);
    let library = received.as_ref().ok().and_then(|received| received.library(program.imports(), &names));
    if let (Program::Expression(expression), Some(library)) = (&program, &library) {
        let expansion = expand_expression(&root, &program, expression, library, diags, compile_errors);
        return match stacks_of_imports(program.imports(), library, &expansion) {
            Some(uses) => quote! {{ #uses #expansion }},
            None => expansion,
        };
    }
    let lowered = match &library {
        Some(library) => {
            let (lowered, more) = surface::lower_with(&program, library);
            diags.extend(more);
            lowered
        }
        None => {
            diags.push(unreadable(program.imports(), received.as_ref().err()));
            surface::lower(&program).0
        }
    };
    let part = match &program {
        Program::Block(block) => {
            let (mut late, (_, early)) = (block.late_items(), early(block.clone()));
            let is_late = |item: &&Struct| early.structs.iter().all(|early| early.name != item.name);
            late.extend(lowered.structs.iter().filter(is_late).map(|item| item.name.to_string()));
            Part::Modules { late }
        }
        Program::Closure(_) | Program::Expression(_) => Part::All,
    };
    let is_late = |name: &Ident| matches!(part.of(name), Part::All);
    let received = received.unwrap_or_default();
    let exports = Exports::new(&program, &place, &written, &lowered, &received, is_late);
    let (imports, is_block) = (program.imports().to_vec(), matches!(program, Program::Block(_)));
    let expansion = Expansion { root, program, exports, lowered, diags, part }.tokens(compile_errors);
    let uses = library.and_then(|library| stacks_of_imports(&imports, &library, &expansion));
    match (uses, is_block) {
        (Some(uses), false) => quote! {{ #uses #expansion }},
        (uses, _) => quote! { #uses #expansion },
    }
}

/// The error for an import from a block of another version of the library.
pub(crate) fn unreadable(imports: &[Import], why: Option<&Unreadable>) -> Diag {
    let (import, version) = match why {
        Some(Unreadable::Version { import, version }) => (imports.get(*import), version.as_deref()),
        Some(Unreadable::Other) | None => (imports.first(), None),
    };
    let site = import.map_or(Site::Nowhere, |import| import.site);
    let name = import.map_or_else(|| "an import".to_owned(), |import| format!("`{}`", import.name));
    let found = version.map_or_else(|| "another version".to_owned(), |version| format!("version {version}"));
    let message =
        format!("{name} is from {found} of mind-dsl, needed version {VERSION}, which this block uses");
    let help = "`cargo tree --duplicates` shows which crates depend on which version; blocks that import each other \
        need the same version";
    Diag::new(Code::E2002, site, message).help(help)
}

/// The part of an expansion that does not depend on the imports, after `head`, and the macro call that expands to the
/// rest.
fn expand_with_imports(
    root: &Root,
    program: Program,
    written: TokenStream,
    place: &CallSite,
    head: &TokenStream,
) -> TokenStream {
    let imports = Imports::new(program.imports(), place);
    let (uses, call) = imports.call_chain(root, written.clone(), "linked");
    let Program::Block(block) = program else { return quote! {{ #head #uses #call }} };
    let (block, lowered) = early(block);
    let exported = items_at_once(block, &lowered, place, &written);
    let (constants, structs) = (constants(&lowered, |_| true), structs(root, &lowered, |_| true));
    let guard = |body| imports.guard(body);
    let part = Part::Forms(&guard);
    let forms = lowered.functions.iter().map(|function| {
        items(root, function, Arguments::OF_ITEMS, &part, &TokenStream::new(), &mut Diags::new())
    });
    quote! { #head #uses #constants #structs #exported #(#forms)* #call }
}

/// The items of a block that do not depend on its imports, without bodies, and their lowering. The second part of the
/// expansion reports errors in them.
fn early(mut block: Block) -> (Block, Lowered) {
    // Signatures do not depend on the imports.
    block.functions.iter_mut().for_each(|function| function.body = None);
    let late = block.late_items();
    let is_early = |name: &Ident| !late.contains(&name.to_string());
    block.functions.retain(|function| is_early(&function.name));
    block.structs.retain(|item| is_early(&item.name));
    block.constants.retain(|constant| is_early(&constant.name));
    let (lowered, _) = surface::lower(&Program::Block(block.clone()));
    (block, lowered)
}

/// The macros by which other blocks import the structs and constants of a block that do not name anything imported.
fn items_at_once(block: Block, lowered: &Lowered, place: &CallSite, written: &TokenStream) -> TokenStream {
    let (functions, templates) = (Vec::new(), Vec::new());
    let block = Block { imports: Vec::new(), library: Vec::new(), functions, templates, ..block };
    let (constants, structs) = (lowered.constants.clone(), lowered.structs.clone());
    let lowered = Lowered { constants, structs, ..Lowered::default() };
    let program = Program::Block(block);
    let exports = Exports::new(&program, place, written, &lowered, &Received::default(), |_| true);
    exports.map(|exports| exports.items).unwrap_or_default()
}

/// Selects the items of a function that an expansion contains.
enum Part<'a> {
    /// All items.
    All,
    /// The items that depend only on the signature. Their bodies are passed through the guard.
    Forms(&'a emit::Guard<'a>),
    /// The items that [`Part::Forms`] leaves out. For functions that had to wait for the imports, all items.
    Modules {
        /// The names of the items that waited for the imports.
        late: BTreeSet<String>,
    },
}

impl Part<'_> {
    /// The part for the item `name`.
    fn of(&self, name: &Ident) -> &Self {
        match self {
            Self::Modules { late } if late.contains(&name.to_string()) => &Part::All,
            Self::All | Self::Forms(_) | Self::Modules { .. } => self,
        }
    }
}

/// A lowered program, with everything that its expansion needs.
struct Expansion {
    root: Root,
    program: Program,
    exports: Option<Exports>,
    lowered: Lowered,
    diags: Diags,
    part: Part<'static>,
}

impl Expansion {
    fn tokens(self, report: impl FnOnce(&[Diag]) -> TokenStream) -> TokenStream {
        let Self { root, program, exports, lowered, mut diags, part } = self;
        let arguments = match program {
            Program::Block(_) | Program::Expression(_) => Arguments::OF_ITEMS,
            Program::Closure(_) => Arguments::Tensors,
        };
        let functions = lowered.functions.iter().map(|function| {
            let import = exports
                .as_ref()
                .map(|exports| exports.import(&function.name, &function.visibility))
                .unwrap_or_default();
            items(&root, function, arguments, part.of(&function.name), &import, &mut diags)
        });
        let functions: TokenStream = functions.collect();
        let templates: TokenStream = match (&exports, &part) {
            (Some(exports), Part::All | Part::Modules { .. }) => {
                lowered.templates.iter().map(|template| module_of(template, exports)).collect()
            }
            (Some(_), Part::Forms(_)) | (None, _) => TokenStream::new(),
        };
        let errors = report(diags.as_slice());
        // After the items, since rustc shows the first item if a block is used as an expression.
        let tracking = diags.is_empty().then(watch::tracking);
        // Before the other items, since rust-analyzer completes a word only if the code before it does not depend on
        // the word.
        let editor = match part {
            Part::All | Part::Modules { .. } => editor::bodies(&root, &program, &lowered),
            Part::Forms(_) => TokenStream::new(),
        };
        let warnings = match (diags.is_empty(), &part) {
            (true, Part::All | Part::Modules { .. }) => warnings::warnings(&program),
            (true, Part::Forms(_)) | (false, _) => TokenStream::new(),
        };
        match program {
            Program::Expression(_) => quote! { #errors #tracking },
            Program::Block(_) => {
                let is_here = |name: &Ident| match part.of(name) {
                    Part::All | Part::Forms(_) => true,
                    Part::Modules { .. } => false,
                };
                let (constants, structs) = (constants(&lowered, is_here), structs(&root, &lowered, is_here));
                let exports = exports.map(|Exports { first, source, items, .. }| [first, source, items]);
                let [first, source, items] = exports.unwrap_or_default();
                quote! { #first #editor #errors #warnings #constants #structs #items #source #templates #functions #tracking }
            }
            Program::Closure(_) => {
                let name = lowered.functions.first().map(|function| &function.name);
                quote! {{ #editor #errors #warnings #functions #tracking #name }}
            }
        }
    }
}

/// The module by which other blocks import a template. It has the template's documentation, since a template generates
/// no function.
fn module_of(template: &Template, exports: &Exports) -> TokenStream {
    let Template { attributes, visibility, name, .. } = template;
    let module = emit::keyword_at("mod", name);
    let visibility = emit::visibility_at(visibility);
    let inside = emit::braces_at(name, exports.import(name, &template.visibility));
    quote! {
        #attributes
        #[allow(non_snake_case)]
        #visibility #module #name #inside
    }
}

fn structs(root: &Root, lowered: &Lowered, is_here: impl Fn(&Ident) -> bool) -> TokenStream {
    let structs = lowered.structs.iter().filter(|item| is_here(&item.name));
    structs.map(|item| emit::structs::structure(root, item)).collect()
}

/// The constants of a block as Rust constants.
fn constants(lowered: &Lowered, is_here: impl Fn(&Ident) -> bool) -> TokenStream {
    let constants = lowered.constants.iter().filter(|constant| is_here(&constant.name));
    let constants = constants.map(|constant| {
        let (attributes, visibility, name) = (&constant.attributes, &constant.visibility, &constant.name);
        let (ty, value) = match &constant.value {
            ConstantValue::Dim(value) => {
                (format_ident!("usize"), Literal::i64_unsuffixed(*value).into_token_stream())
            }
            ConstantValue::Plain(Plain::Truth(truth)) => (format_ident!("bool"), quote! { #truth }),
            ConstantValue::Plain(Plain::Number(number)) => number_of_rust(number),
        };
        quote! {
            #attributes
            #[allow(dead_code)]
            #visibility const #name: ::core::primitive::#ty = #value;
        }
    });
    constants.collect()
}

/// The Rust type of a number, which is that of its suffix or the widest, and its value.
fn number_of_rust(number: &Number) -> (Ident, TokenStream) {
    let widest = if number.is_float() { DType::F64 } else { DType::I64 };
    let ty = format_ident!("{}", number.suffix.unwrap_or(widest).name());
    let value = match &*number.text {
        "inf" => quote! { ::core::primitive::#ty::INFINITY },
        "-inf" => quote! { ::core::primitive::#ty::NEG_INFINITY },
        "nan" | "-nan" => quote! { ::core::primitive::#ty::NAN },
        text => text.parse().expect("a number is a token"),
    };
    (ty, value)
}

/// The Rust items of a function that no block can import, and of its requested gradient.
pub(crate) fn lone_items(root: &Root, function: &Function, diags: &mut Diags) -> TokenStream {
    items(root, function, Arguments::OF_ITEMS, &Part::All, &TokenStream::new(), diags)
}

/// The Rust items of a function and of its requested gradient. `import` contains the items by which other blocks import
/// the function.
fn items(
    root: &Root,
    function: &Function,
    arguments: Arguments,
    part: &Part<'_>,
    import: &TokenStream,
    diags: &mut Diags,
) -> TokenStream {
    // A symbol is a type parameter, so it would hide modules and types of the same name that the items use.
    let hides = |symbol: &&Ident| {
        **symbol == function.name
            || ["rt", "bool", "str", "u64", "usize"].iter().any(|own| *symbol == own)
            || DType::ALL.iter().any(|dtype| *symbol == dtype.name())
    };
    if let Some(symbol) = function.symbols.iter().find(hides) {
        let message =
            format!("the symbol `{symbol}` of `{}` has a name that generated items use", function.name);
        let diag = Diag::new(Code::E2008, Site::token(symbol.span()), message);
        diags.push(diag.help("give the symbol another name, such as `N`"));
        return TokenStream::new();
    }
    let seen = match part {
        Part::All | Part::Modules { .. } => emit::structs::seen(root, &function.seen),
        Part::Forms(_) => TokenStream::new(),
    };
    let watching = watch::watching();
    let refused = transforms::refused(function);
    let is_whole = refused.is_none();
    diags.extend(refused);
    let own = is_whole.then(|| pipeline::compile_watching(function, watching)).flatten();
    let own = own.and_then(|compiled| diags.keep(compiled));
    let result = function.result.clone();
    let face = Face {
        name: function.name.clone(),
        attributes: function.attributes.clone(),
        result,
        updates: function.updates.clone(),
        import: import.clone(),
        arguments,
    };
    let item = emit_item(root, function, face, own.as_ref(), part);
    let item = quote! { #item #seen };
    let Some(request) = &function.gradient else { return item };
    let compiled = is_whole.then(|| pipeline::compile_gradient_watching(function, request, watching));
    let compiled = compiled.flatten().and_then(|compiled| diags.keep(compiled));
    let result = pipeline::gradient_result(function, request);
    let doc = format!(" Computes [`{0}`]({0}()) and its gradient.", function.name);
    let name = format_ident!("{}_grad", function.name);
    let attributes = quote! { #[doc = #doc] };
    let (updates, import) = (Vec::new(), TokenStream::new());
    let face = Face { name, attributes, result, updates, import, arguments };
    let gradient = emit_item(root, function, face, compiled.as_ref(), part);
    quote! { #item #gradient }
}

/// The properties in which a function and its gradient differ.
struct Face {
    name: Ident,
    attributes: TokenStream,
    result: Structure,
    updates: Vec<usize>,
    import: TokenStream,
    arguments: Arguments,
}

fn emit_item(
    root: &Root,
    function: &Function,
    face: Face,
    compiled: Option<&Compiled>,
    part: &Part<'_>,
) -> TokenStream {
    let Face { name, attributes, result, updates, import, arguments } = face;
    let symbols: Vec<Symbol> =
        function.symbols.iter().map(|symbol| symbol.to_string().as_str().into()).collect();
    let plan = compiled.map_or_else(Plan::default, |compiled| compiled.plan.clone());
    // The symbols in the order of the signature.
    let plan = plan.with_symbols(&symbols);
    let value_name = |value: ValueId| {
        let origin = compiled.and_then(|compiled| *compiled.origins.get(value.index())?)?;
        function.program.as_ref()?.names.get(origin.index())?.as_ref().map(ToString::to_string)
    };
    let value_span = |value: ValueId| {
        let origin = compiled.and_then(|compiled| *compiled.origins.get(value.index())?)?;
        match *function.program.as_ref()?.sites.get(origin.index())? {
            Site::Tokens { first, .. } => Some(first),
            Site::Text { .. } | Site::Nowhere => None,
        }
    };
    let watched_text = |value: ValueId| {
        let source = compiled.and_then(|compiled| *compiled.sources.get(value.index())?);
        let input = plan.inputs.get(value.index()).map(|input| input.name.to_string());
        watch::watched_text(source.filter(|_| input.is_none()), input.or_else(|| value_name(value)))
    };
    let parameters = function.parameters.iter().map(|parameter| Parameter {
        name: parameter.name.clone(),
        structure: parameter.structure.clone(),
        update: parameter.update,
        end: match parameter.site {
            Site::Tokens { last, .. } => last,
            Site::Text { .. } | Site::Nowhere => parameter.name.span(),
        },
    });
    let item = Item {
        root,
        attributes,
        visibility: function.visibility.clone(),
        name,
        symbols: function.symbols.clone(),
        parameters: parameters.collect(),
        result,
        plan: &plan,
        value_name: &value_name,
        value_span: &value_span,
        watched_text: &watched_text,
        constants: Constants {
            core_ir: compiled.map(|compiled| compiled.core_ir.clone()).unwrap_or_default(),
            mic: compiled.map(|compiled| compiled.mic.clone()).unwrap_or_default(),
            updates,
            params: trained_elements(function),
            flops: compiled.map_or(Dim::ZERO, |compiled| compiled.flops.clone()),
        },
        memory: function.memory.as_ref(),
        import,
        arguments,
        lengths: Lengths::DEFAULT,
    };
    let emitter = Emitter::new(&item);
    let fails_anyhow = emitter.is_fallible_anyhow();
    match (part, compiled) {
        (Part::All, Some(_)) => emitter.items(),
        (Part::All, None) => emitter.fallback(),
        (Part::Forms(guard), _) => {
            let (forms, try_form) = (emitter.forms(guard), fails_anyhow.then(|| emitter.try_form(guard)));
            quote! { #forms #try_form }
        }
        (Part::Modules { .. }, _) => {
            let module = compiled.map_or_else(|| emitter.fallback_module(), |_| emitter.module());
            let fails = compiled.is_none() || emitter.is_fallible();
            let try_form = (fails && !fails_anyhow).then(|| emitter.try_form(&|body| body));
            quote! { #module #try_form }
        }
    }
}

/// The number of elements that training changes: those of the updated or differentiated inputs, or of all inputs if
/// there are none of these.
fn trained_elements(function: &Function) -> Dim {
    let mut trained = Vec::new();
    let mut shapes = Vec::new();
    for parameter in &function.parameters {
        for leaf in parameter.structure.leaves() {
            let mut targets = function.gradient.iter().flat_map(|request| &request.targets);
            trained.push(parameter.update || targets.any(|target| target.inputs.contains(&shapes.len())));
            shapes.push(&leaf.shape);
        }
    }
    let any = trained.contains(&true);
    let counted = shapes.iter().zip(trained).filter(|(_, trained)| !any || *trained);
    counted.fold(Dim::ZERO, |sum, (shape, _)| {
        let count = shape.element_count().unwrap_or(Dim::literal(i64::MAX));
        sum.add(&count).unwrap_or(Dim::literal(i64::MAX))
    })
}
