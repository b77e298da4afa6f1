//! `#[cfg(…)]` in a block: on items, fields and statements.
//!
//! Only rustc can evaluate a condition, and it does so after the macro has read the block. A block with conditions
//! therefore expands to one block for each combination of outcomes. Each of these blocks lacks the code that its
//! combination removes, and has a `#[cfg(…)]` that selects the combination.

use mind_core::{
    diag::{Code, Diag, Site},
    surface::nesting::check_nesting,
};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

/// The maximum number of conditions in a block. The number of copies of the block doubles with each condition.
pub(crate) const MAX_CONDITIONS: usize = 6;

/// A block for one combination of outcomes of its conditions.
pub(crate) struct Configuration {
    /// The predicate of the combination, as the argument of `#[cfg(…)]`.
    pub(crate) predicate: TokenStream,
    pub(crate) block: TokenStream,
}

/// The block `written` for each combination of outcomes of its conditions. Empty if it has no conditions or is not a
/// block of items.
///
/// # Errors
/// E1008 if there are more than [`MAX_CONDITIONS`] conditions.
pub(crate) fn configurations(written: &TokenStream) -> Result<Vec<Configuration>, Diag> {
    let mut conditions = Vec::new();
    // The parser rejects input that nests too deep.
    if begins_items(written.clone().into_iter().next().as_ref()) && check_nesting(written).is_ok() {
        collect(written, &mut conditions);
    }
    if let Some(condition) = conditions.get(MAX_CONDITIONS) {
        let message = format!(
            "a block has at most {MAX_CONDITIONS} different conditions `#[cfg(…)]`, this is one too many"
        );
        let first = condition.predicate.clone().into_iter().next();
        let site = first.map_or(Site::Nowhere, |first| Site::token(first.span()));
        return Err(Diag::new(Code::E1008, site, message).help("put its items into several blocks"));
    }
    if conditions.is_empty() {
        return Ok(Vec::new());
    }
    let configurations = (0..1_u32 << conditions.len()).map(|outcomes| {
        let holds = |position: usize| outcomes & 1 << position == 0;
        let parts =
            conditions.iter().enumerate().map(|(position, Condition { predicate, .. })| {
                match holds(position) {
                    true => quote! { #predicate },
                    false => quote! { not(#predicate) },
                }
            });
        let predicate = quote! { all(#(#parts),*) };
        let holds =
            |text: &str| conditions.iter().position(|condition| condition.text == text).is_some_and(holds);
        Configuration { predicate, block: resolve(written.clone(), &holds) }
    });
    Ok(configurations.collect())
}

/// The condition of a `#[cfg(…)]`, without a `not` around it.
struct Condition {
    predicate: TokenStream,
    text: String,
}

/// Whether a program that begins with this token consists of items.
pub(crate) fn begins_items(first: Option<&TokenTree>) -> bool {
    match first {
        Some(TokenTree::Ident(word)) => {
            ["const", "extern", "fn", "pub", "struct", "use"].iter().any(|begins| word == begins)
        }
        Some(TokenTree::Punct(punct)) => punct.as_char() == '#',
        Some(TokenTree::Group(_) | TokenTree::Literal(_)) | None => false,
    }
}

/// Adds the conditions in `tokens` to `conditions`, without duplicates.
fn collect(tokens: &TokenStream, conditions: &mut Vec<Condition>) {
    let trees: Vec<_> = tokens.clone().into_iter().collect();
    let mut rest = trees.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        let Some(_) = attribute(rest) else {
            if let TokenTree::Group(group) = first {
                collect(&group.stream(), conditions);
            }
            rest = behind;
            continue;
        };
        if let Some((condition, _)) = condition(rest)
            && conditions.iter().all(|known| known.text != condition.text)
        {
            conditions.push(condition);
        }
        // Skips the tokens in attributes.
        rest = &rest[2..];
    }
}

/// The condition of the `#[cfg(…)]` at the start of `trees`, and the outcome that the attribute requires.
fn condition(trees: &[TokenTree]) -> Option<(Condition, bool)> {
    let mut inside = attribute(trees)?.into_iter();
    let (mut predicate, mut expected) = match (inside.next(), inside.next(), inside.next()) {
        (Some(TokenTree::Ident(name)), Some(TokenTree::Group(group)), None) if name == "cfg" => {
            (group.stream(), true)
        }
        _ => return None,
    };
    loop {
        let mut trees = predicate.clone().into_iter();
        match (trees.next(), trees.next(), trees.next()) {
            (Some(TokenTree::Ident(name)), Some(TokenTree::Group(group)), None) if name == "not" => {
                (predicate, expected) = (group.stream(), !expected);
            }
            _ => return Some((Condition { text: predicate.to_string(), predicate }, expected)),
        }
    }
}

/// The tokens inside the attribute `#[…]` at the start of `trees`.
fn attribute(trees: &[TokenTree]) -> Option<TokenStream> {
    match trees {
        [TokenTree::Punct(hash), TokenTree::Group(group), ..]
            if hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
        {
            Some(group.stream())
        }
        _ => None,
    }
}

/// The tokens without conditions, and without the elements whose conditions are not met.
fn resolve(tokens: TokenStream, holds: &dyn Fn(&str) -> bool) -> TokenStream {
    let trees: Vec<_> = tokens.into_iter().collect();
    let mut resolved = Vec::new();
    let mut rest = trees.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        if attribute(rest).is_none() {
            resolved.push(match first {
                TokenTree::Group(group) => {
                    let mut inside = Group::new(group.delimiter(), resolve(group.stream(), holds));
                    inside.set_span(group.span());
                    TokenTree::Group(inside)
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => first.clone(),
            });
            rest = behind;
            continue;
        }
        let (mut attributes, mut is_there) = (Vec::new(), true);
        while attribute(rest).is_some() {
            let (attribute, behind) = rest.split_at(2);
            match condition(attribute) {
                Some((condition, expected)) => is_there &= holds(&condition.text) == expected,
                None => attributes.extend_from_slice(attribute),
            }
            rest = behind;
        }
        match is_there {
            true => resolved.append(&mut attributes),
            false => rest = &rest[element(rest)..],
        }
    }
    resolved.into_iter().collect()
}

/// The number of tokens in the element at the start of `trees`: an item, a statement, or an element that a comma ends.
fn element(trees: &[TokenTree]) -> usize {
    let word = |tree: &&TokenTree, words: &[&str]| matches!(tree, TokenTree::Ident(name) if words.iter().any(|word| name == word));
    let is_keyword = |tree: &&TokenTree| word(tree, &["const", "extern", "fn", "let", "struct", "use"]);
    // At most `pub(crate)` precedes the keyword.
    let keyword = trees.iter().take(3).find(is_keyword);
    let ends_in_braces = keyword.is_some_and(|keyword| word(&keyword, &["fn", "struct"]));
    let mut angles = 0_usize;
    for (position, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) if ends_in_braces && group.delimiter() == Delimiter::Brace => {
                return position + 1;
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                ';' => return position + 1,
                ',' if keyword.is_none() && angles == 0 => return position + 1,
                '<' => angles += 1,
                '>' => angles = angles.saturating_sub(1),
                _ => {}
            },
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => {}
        }
    }
    trees.len()
}
