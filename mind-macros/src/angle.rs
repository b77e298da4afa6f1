//! `mind!< … >`, which is not valid Rust: the wrapper `angle!` rewrites it. Also the same brackets inside `mind!( … )`.

use mind_core::{
    diag::{Code, Diag, Site},
    surface::nesting::check_nesting,
};
use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::{configured::begins_items, report::compile_error};

#[cfg(test)]
mod tests;

/// Expands `angle! { … }`: to its tokens, with `mind!( … )` in place of each `mind!< … >` at any depth.
///
/// - A block ends at the first `>` on its level that does not end a `->`, a `=>` or the `<N>` of an item.
/// - A block of items becomes `mind! { … }`, or `mind!( … );` if a `;` follows.
/// - Brackets without a block keep their tokens and spans.
/// - A block with an error becomes the error.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    rewrite(input).unwrap_or_else(|diag| (compile_error(&diag), Found::default())).0
}

/// The blocks in `input`, and the errors.
pub(crate) fn find(input: TokenStream) -> Found {
    rewrite(input).map_or_else(|diag| Found { blocks: Vec::new(), mistakes: vec![diag] }, |(_, found)| found)
}

/// The blocks in angle brackets, and the errors.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) blocks: Vec<Brackets>,
    pub(crate) mistakes: Vec<Diag>,
}

/// The angle brackets of a block.
pub(crate) struct Brackets {
    /// The `<`.
    pub(crate) opener: Span,
    /// The `>`.
    pub(crate) closer: Span,
    /// The delimiter that replaces them.
    pub(crate) delimiter: Delimiter,
}

fn rewrite(input: TokenStream) -> Result<(TokenStream, Found), Diag> {
    check_nesting(&input)?;
    let mut open = vec![Level::new(None, input)];
    loop {
        let innermost = open.last_mut().expect("the outermost level returns when it ends");
        match innermost.rest.next() {
            Some(TokenTree::Group(group)) => {
                let inside = group.stream();
                open.push(Level::new(Some(group), inside));
            }
            Some(tree @ (TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_))) => {
                innermost.read(tree);
            }
            None => {
                let level = open.pop().expect("it has just been looked at");
                let (group, inside, found) = level.end();
                match (group, open.last_mut()) {
                    (Some(group), Some(outer)) => outer.take(group, inside, found),
                    (_, _) => return Ok((inside.tokens(), found)),
                }
            }
        }
    }
}

/// Removes the angle brackets of `mind!(< … >)`, which follow the prefix of the facade. Leaves other input unchanged.
pub(crate) fn strip(input: TokenStream) -> TokenStream {
    let mut trees: Vec<_> = input.clone().into_iter().collect();
    let opener = usize::from(matches!(trees.first(), Some(TokenTree::Group(_))));
    let is_closed = trees.pop_if(|last| is_punct(last, '>')).is_some() && !trees.last().is_some_and(is_stem);
    if !is_closed || !trees.get(opener).is_some_and(|first| is_punct(first, '<')) {
        return input;
    }
    trees.remove(opener);
    part_last(&mut trees);
    trees.into_iter().collect()
}

/// The tokens inside one bracket, or those of the outermost level.
struct Level {
    /// The bracket, unless this is the outermost level.
    group: Option<Group>,
    /// The tokens in the bracket.
    original: TokenStream,
    /// The tokens that have not been read.
    rest: <TokenStream as IntoIterator>::IntoIter,
    /// The tokens that have been read, with blocks rewritten.
    done: Vec<TokenTree>,
    is_changed: bool,
    /// The open block.
    block: Option<AngleBlock>,
    /// The blocks that have ended, on this level and in its brackets.
    found: Found,
    /// The index in `done` of the last block that became braces.
    braces: Option<usize>,
}

struct AngleBlock {
    /// The `mind` of `mind!<`.
    name: Span,
    /// The `<`.
    opener: Span,
    /// The length of `done` when the block began.
    start: usize,
    /// The number of open blocks: this one, and others inside it on the same level, which are errors.
    open: usize,
    /// The first of the blocks inside it.
    inner: Option<Span>,
    /// The first `;` in the block. If the block has no end, its statement ends there.
    semicolon: Option<usize>,
    /// The number of open `<` in its items, such as the one of `fn f<N>`.
    generics: usize,
}

/// The tokens in a bracket after the rewriting.
enum Inside {
    Kept(TokenStream),
    Changed(TokenStream),
}

impl Inside {
    fn tokens(self) -> TokenStream {
        match self {
            Self::Kept(tokens) | Self::Changed(tokens) => tokens,
        }
    }
}

impl Level {
    fn new(group: Option<Group>, original: TokenStream) -> Self {
        let rest = original.clone().into_iter();
        Self {
            group,
            original,
            rest,
            done: Vec::new(),
            is_changed: false,
            block: None,
            found: Found::default(),
            braces: None,
        }
    }

    /// Reads a token of this level.
    fn read(&mut self, tree: TokenTree) {
        if is_punct(&tree, '<')
            && let Some(name) = self.called()
        {
            if let Some(unended) = self.block.take_if(|block| block.semicolon.is_some()) {
                self.fail_unended(&unended);
            }
            match &mut self.block {
                None => {
                    let (opener, start) = (tree.span(), self.done.len());
                    let block = AngleBlock {
                        name,
                        opener,
                        start,
                        open: 1,
                        inner: None,
                        semicolon: None,
                        generics: 0,
                    };
                    self.block = Some(block);
                    return;
                }
                Some(block) => {
                    block.open += 1;
                    block.inner.get_or_insert(name);
                }
            }
        } else if is_punct(&tree, '<') && self.names_an_item() {
            if let Some(block) = &mut self.block {
                block.generics += 1;
            }
        } else if is_punct(&tree, '>') && !self.done.last().is_some_and(is_stem) {
            if let Some(block) = &mut self.block
                && block.generics > 0
            {
                block.generics -= 1;
                return self.done.push(tree);
            }
            if let Some(block) = self.block.take_if(|block| block.open == 1) {
                return self.close(&block, tree.span());
            }
            if let Some(block) = &mut self.block {
                block.open -= 1;
            }
        } else if is_punct(&tree, ';')
            && let Some(block) = &mut self.block
        {
            block.semicolon.get_or_insert(self.done.len());
        } else if is_punct(&tree, ';') {
            self.end_item();
        }
        self.done.push(tree);
    }

    /// Whether the last token is a name in a block of items, so that a `<` after it begins a list of dimensions.
    fn names_an_item(&self) -> bool {
        let is_name = matches!(self.done.last(), Some(TokenTree::Ident(_)));
        is_name && self.block.as_ref().is_some_and(|block| begins_items(self.done.get(block.start)))
    }

    /// Turns a block of items that a `;` follows into `mind!( … );`, since Rust does not allow a `;` after braces.
    fn end_item(&mut self) {
        if self.braces.take().is_some_and(|braces| braces + 1 == self.done.len())
            && let (Some(TokenTree::Group(braces)), Some(block)) =
                (self.done.last_mut(), self.found.blocks.last_mut())
        {
            block.delimiter = Delimiter::Parenthesis;
            *braces = bracketed(block.delimiter, braces.stream(), block.opener);
        }
    }

    /// The span of `mind`, if the last tokens are `mind!`.
    fn called(&self) -> Option<Span> {
        match self.done.as_slice() {
            [.., TokenTree::Ident(name), bang] if name == "mind" && is_punct(bang, '!') => Some(name.span()),
            _ => None,
        }
    }

    /// Adds a bracket whose tokens have been read.
    fn take(&mut self, group: Group, inside: Inside, found: Found) {
        self.found.blocks.extend(found.blocks);
        self.found.mistakes.extend(found.mistakes);
        self.done.push(TokenTree::Group(match inside {
            Inside::Kept(_) => group,
            Inside::Changed(tokens) => {
                self.is_changed = true;
                bracketed(group.delimiter(), tokens, group.span())
            }
        }));
    }

    /// Turns the block that ends here into `( … )`, or into `{ … }` if it consists of items.
    fn close(&mut self, block: &AngleBlock, closer: Span) {
        if let Some(inner) = block.inner {
            let message = "found `mind!<` inside another, expected an expression";
            let diag = Diag::new(Code::E1007, Site::token(inner), message);
            return self
                .fail(block.start, &diag.help("write only the inner expression: a block is one program"));
        }
        self.is_changed = true;
        let mut inside = self.done.split_off(block.start);
        part_last(&mut inside);
        part_last(&mut self.done);
        let (opener, mut delimiter) = (block.opener, Delimiter::Parenthesis);
        if begins_items(inside.first()) {
            delimiter = Delimiter::Brace;
            self.braces = Some(self.done.len());
        }
        self.done.push(TokenTree::Group(bracketed(delimiter, inside.into_iter().collect(), opener)));
        self.found.blocks.push(Brackets { opener, closer, delimiter });
    }

    /// Replaces a block without an end by an error, up to the end of its statement.
    fn fail_unended(&mut self, block: &AngleBlock) {
        let message = "found the end, expected `>` for this `mind!<`";
        let site = Site::Tokens { first: block.name, last: block.opener };
        let diag = Diag::new(Code::E1007, site, message)
            .help("end it with `>`; the `>` of `->` and `=>` does not end it");
        let behind = self.done.split_off(block.semicolon.unwrap_or(self.done.len()));
        self.fail(block.start, &diag);
        self.done.extend(behind);
    }

    /// Replaces a block whose tokens begin at `start`, and the path before it, by an error.
    fn fail(&mut self, start: usize, diag: &Diag) {
        self.is_changed = true;
        self.braces = None;
        self.found.mistakes.push(diag.clone());
        // `mind` and `!`.
        self.done.truncate(start.saturating_sub(2));
        while let [.., first, second] = self.done.as_slice()
            && is_punct(first, ':')
            && is_punct(second, ':')
        {
            self.done.truncate(self.done.len() - 2);
            self.done.pop_if(|tree| matches!(tree, TokenTree::Ident(name) if is_segment(name)));
        }
        // With parentheses, `compile_error!` can stand wherever the block could, also before `.method()`.
        self.done.extend(compile_error(diag).into_iter().map(|tree| match tree {
            TokenTree::Group(braces) => {
                TokenTree::Group(bracketed(Delimiter::Parenthesis, braces.stream(), braces.span()))
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => tree,
        }));
    }

    /// Ends the level after its last token. Returns its bracket, its tokens and the blocks in it.
    fn end(mut self) -> (Option<Group>, Inside, Found) {
        if let Some(block) = self.block.take() {
            self.fail_unended(&block);
        }
        let inside = match self.is_changed {
            true => Inside::Changed(self.done.into_iter().collect()),
            false => Inside::Kept(self.original),
        };
        (self.group, inside, self.found)
    }
}

fn bracketed(delimiter: Delimiter, inside: TokenStream, span: Span) -> Group {
    let mut group = Group::new(delimiter, inside);
    group.set_span(span);
    group
}

fn is_punct(tree: &TokenTree, char: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char)
}

/// Whether this token and a `>` after it form an arrow.
fn is_stem(tree: &TokenTree) -> bool {
    let is_stem = |punct: &Punct| matches!(punct.as_char(), '-' | '=') && punct.spacing() == Spacing::Joint;
    matches!(tree, TokenTree::Punct(punct) if is_stem(punct))
}

/// Whether the name can precede `::` in a path.
fn is_segment(name: &Ident) -> bool {
    let is_keyword = ["crate", "$crate", "self", "Self", "super"].iter().any(|keyword| name == keyword);
    is_keyword || syn::parse2::<Ident>(TokenTree::Ident(name.clone()).into()).is_ok()
}

/// Marks the last token as not joined to the next one.
fn part_last(trees: &mut [TokenTree]) {
    if let Some(TokenTree::Punct(last)) = trees.last_mut()
        && last.spacing() == Spacing::Joint
    {
        let mut alone = Punct::new(last.as_char(), Spacing::Alone);
        alone.set_span(last.span());
        *last = alone;
    }
}
