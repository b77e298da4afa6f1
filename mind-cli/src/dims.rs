//! The extents that `--dim` gives to symbols.

use std::collections::{BTreeMap, BTreeSet};

use mind_core::{diag::Code, dim::Symbol, ir::Module};

use crate::{
    input::Context,
    report::{Failure, Mistake, Outcome, Spot},
    spelling::is_near,
};

/// The symbols of a module, in the order of its inputs.
pub fn symbols(module: &Module) -> Vec<Symbol> {
    let (mut symbols, mut seen) = (Vec::new(), BTreeSet::new());
    for dim in module.inputs().flat_map(|(_, ty)| ty.shape.iter()) {
        dim.for_each_symbol(&mut |symbol| {
            if seen.insert(symbol.clone()) {
                symbols.push(symbol.clone());
            }
        });
    }
    symbols
}

/// The extents that `--dim` gives to symbols, from texts such as `N=32`.
///
/// # Errors
/// Wrong use for an invalid extent, E2002 for an unknown symbol, E2008 for a symbol that is given twice, E3006 for an
/// extent below 1.
pub fn parse_extents(module: &Module, context: &Context, texts: &[String]) -> Outcome<BTreeMap<Symbol, i64>> {
    let symbols = symbols(module);
    let mut extents = BTreeMap::new();
    let mistake = |code, message: String| Mistake::new(code, message).at(&context.source, Spot::default());
    for text in texts {
        let (name, extent) = text.split_once('=').unwrap_or((text, ""));
        let Ok(extent) = extent.trim().parse::<i64>() else {
            return Err(Failure::with_help(format!("--dim {text} has no extent"), "write --dim N=32"));
        };
        let Some(symbol) = symbols.iter().find(|symbol| ***symbol == *name) else {
            let unknown = mistake(Code::E2002, format!("the program has no symbol `{name}`"));
            let near = symbols.iter().find(|symbol| is_near(symbol, name));
            return Err(Failure::mistake(match near {
                _ if symbols.is_empty() => unknown.help("remove --dim: all extents are known"),
                Some(near) => unknown.help(format!("write `{near}`")),
                None => unknown.help(format!("its symbols are {}", symbols.join(", "))),
            }));
        };
        if extent < 1 {
            let message = format!("`{name}` is {extent}, needed at least 1");
            return Err(Failure::mistake(mistake(Code::E3006, message)));
        }
        if extents.insert(symbol.clone(), extent).is_some() {
            let message = format!("`{name}` is given twice in --dim");
            return Err(Failure::mistake(mistake(Code::E2008, message)));
        }
    }
    Ok(extents)
}
