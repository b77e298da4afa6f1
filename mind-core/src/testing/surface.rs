//! Properties of every text of the surface language, see [`super::properties`].

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenTree};

use super::{Random, properties::shown};
use crate::{
    diag::{Code, Diag},
    open,
    ops::Profile,
    pipeline,
    surface::{
        ast::{self, Import, ImportKind},
        essence, format, lex, lower,
        lower::{ForeignBlock, ForeignItem, Imported, ImportedItem, Library},
        lower_with, parse,
    },
    ty::{DType, Shape, Type},
    verify::verify,
};

/// A text is refused as a program of the surface language, or all its functions and gradients can be planned.
///
/// The text before a form feed is a separate block, whose functions the rest imports by name.
pub fn surface_text_is_read_or_refused(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (block, text) = text.split_once('\x0c').unwrap_or(("", text));
    let (tokens, mut diags) = lex(text);
    let (program, more) = parse(tokens);
    diags.extend(more);
    if let ast::Program::Expression(expression) = &program {
        shown(diags);
        return expression_is_planned_or_refused(expression, &mut Random::from_bytes(bytes));
    }
    let library = library(block, program.imports());
    let (lowered, more) = match &library {
        Some(library) => lower_with(&program, library),
        None => lower(&program),
    };
    diags.extend(more);
    let is_right = diags.is_empty() && (library.is_some() || program.imports().is_empty());
    shown(diags);
    for function in &lowered.functions {
        assert!(!is_right || function.program.is_some(), "`{}` is right, and has no program", function.name);
        is_not_our_fault(pipeline::compile(function), text);
        if let Some(request) = &function.gradient {
            is_not_our_fault(pipeline::compile_gradient(function, request), text);
        }
    }
}

/// A text is refused, or formatted. The formatted text has the same tokens and comments and is the same program, and
/// formatting it again changes nothing.
pub fn surface_text_is_formatted_or_refused(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let formatted = match format(text) {
        Ok(formatted) => formatted,
        Err(diags) => return shown(diags),
    };
    assert_eq!(essence(&formatted), essence(text), "{text}\nbecame\n{formatted}");
    let program = |text: &str| parse(lex(text).0).0.to_string();
    assert_eq!(program(&formatted), program(text), "{text}\nbecame\n{formatted}");
    match format(&formatted) {
        Ok(again) => assert_eq!(again, formatted, "{text}"),
        Err(diags) => panic!("{text}\nbecame\n{formatted}\n{:?}", diags.as_slice()),
    }
}

/// The functions of a block, as a program imports them. `None` if the block has mistakes or lacks an imported function.
fn library(text: &str, imports: &[Import]) -> Option<Library> {
    let (tokens, mut diags) = lex(text);
    let (program, more) = parse(tokens);
    diags.extend(more);
    let (_, more) = lower(&program);
    diags.extend(more);
    let ast::Program::Block(block) = program else { return None };
    if !diags.is_empty() || !block.imports.is_empty() {
        return None;
    }
    // Each function comes after those that it calls. In a block without mistakes no function calls itself.
    let templates =
        block.templates.into_iter().map(|item| (item.name.to_string(), ForeignItem::Template(item)));
    let items = block.functions.into_iter().map(|item| (item.name.to_string(), ForeignItem::Function(item)));
    let mut rest: Vec<(String, ForeignItem)> = items.chain(templates).collect();
    let own: Vec<String> = rest.iter().map(|(name, _)| name.clone()).collect();
    let mut functions: Vec<ImportedItem> = Vec::new();
    let mut places = BTreeMap::new();
    while !rest.is_empty() {
        let callees = |item: &ForeignItem| -> Option<Vec<(String, usize)>> {
            let names = item.callees().map(|(name, _)| name.to_string());
            let names = names.filter(|name| own.contains(name));
            names.map(|name| Some((name.clone(), *places.get(&name)?))).collect()
        };
        let at = rest.iter().position(|(_, item)| callees(item).is_some())?;
        let callees = callees(&rest[at].1).expect("its position was found by them");
        let (name, item) = rest.remove(at);
        places.insert(name, functions.len());
        functions.push(ImportedItem { item, callees, block: 0 });
    }
    let last = |import: &Import| import.path.clone().into_iter().last();
    let name = |import: &Import| match last(import)? {
        TokenTree::Ident(name) => Some(name.to_string()),
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    };
    let imported = imports.iter().map(|import| {
        let name = name(import)?;
        Some(match import.kind {
            ImportKind::Function => Imported::Function(*places.get(&name)?),
            ImportKind::Item => {
                let alias = Ident::new("imported", Span::call_site());
                Imported::Item { block: 0, name, alias }
            }
        })
    });
    let imported = imported.collect::<Option<_>>()?;
    let externs = block.externs.iter().map(|external| external.function.name.to_string()).collect();
    let blocks = vec![ForeignBlock {
        imports: Vec::new(),
        constants: block.constants,
        structs: block.structs,
        stacks: Vec::new(),
        externs,
    }];
    Some(Library { functions, imported, blocks })
}

/// An expression is refused, or it is planned and becomes a valid module for types that are right for it.
fn expression_is_planned_or_refused(expression: &ast::Expression, random: &mut Random) {
    let (program, diags) = open::lower(expression);
    shown(diags);
    let Some(program) = program else { return };
    if let Err(diag) = open::check_annotated(&program) {
        shown([diag]);
    }
    let _ = (open::plan(&program), program.to_string());
    for _ in 0..3 {
        let types: Vec<Type> = program
            .leaves
            .iter()
            .map(|leaf| match &leaf.annotation {
                Some((ty, _)) => ty.clone(),
                None => any_type(random),
            })
            .collect();
        match open::instantiate(&program, &types) {
            Ok(module) => assert!(verify(module, Profile::Extended).is_ok(), "{program}"),
            Err(diag) => assert_ne!(diag.code, Code::E5002, "{program}\n{diag}"),
        }
    }
}

fn any_type(random: &mut Random) -> Type {
    let extents: Vec<i64> = (0..random.below(4)).map(|_| 1 + random.below(3) as i64).collect();
    let dtype =
        *random.pick(&[DType::F32, DType::F32, DType::F32, DType::F64, DType::I64, DType::I32, DType::U8]);
    Type::new(dtype, Shape::literal(&extents))
}

/// A program that cannot be compiled has an error. E5002 is a fault of the compiler.
fn is_not_our_fault<T>(compiled: Option<Result<T, Diag>>, text: &str) {
    if let Some(Err(diag)) = compiled {
        assert_ne!(diag.code, Code::E5002, "{diag}\n{text}");
        shown([diag]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_block_imports_is_lowered_with_it_in_whatever_order() {
        let block =
            "fn twice(x: f32[3]) -> f32[3] { once(x) + once(x) }\nfn once(x: f32[3]) -> f32[3] { exp(x) }";
        for imports in ["twice as two, once", "once, twice as two"] {
            let text = format!("use crate::{{{imports}}};\nfn f(x: f32[3]) -> f32[3] {{ two(x) * once(x) }}");
            let (program, _) = parse(lex(&text).0);
            let library = library(block, program.imports()).expect("it has both");
            let (lowered, diags) = lower_with(&program, &library);
            assert_eq!(diags.into_iter().map(|diag| diag.message).collect::<Vec<_>>(), [""; 0]);
            assert!(lowered.functions[0].program.is_some());
            surface_text_is_read_or_refused(format!("{block}\x0c{text}").as_bytes());
        }
        assert!(library(block, parse(lex("use crate::other;").0).0.imports()).is_none());
    }
}
