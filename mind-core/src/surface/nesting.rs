//! The limit on nested brackets, checked before anything recurses into them.

use proc_macro2::{TokenStream, TokenTree};

use crate::diag::{Code, Diag, Site};

/// The maximum nesting depth of brackets.
pub const MAX_NESTING: usize = 256;

/// Checks that no bracket is inside more than [`MAX_NESTING`] - 1 others. Does not recurse.
///
/// # Errors
/// Returns E1008 at the first bracket that is too deep.
pub fn check_nesting(tokens: &TokenStream) -> Result<(), Diag> {
    let mut open = vec![tokens.clone().into_iter()];
    while let Some(innermost) = open.last_mut() {
        match innermost.next() {
            None => {
                open.pop();
            }
            Some(TokenTree::Group(group)) => {
                if open.len() > MAX_NESTING {
                    let message = format!("brackets nest deeper than the limit of {MAX_NESTING}");
                    return Err(Diag::new(Code::E1008, Site::token(group.span_open()), message)
                        .help("name the inner parts with `let`"));
                }
                open.push(group.stream().into_iter());
            }
            Some(TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) => {}
        }
    }
    Ok(())
}
