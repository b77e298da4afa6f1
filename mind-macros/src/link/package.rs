//! Packages: the functions of a block with what their names mean, as tokens.
//!
//! ```text
//! { hash [WIDTH 32 …] [[gelu] gelu_tanh hash [sm] [nn::softmax] …] [struct Dense { … } …] [dense { fn dense<N>(…) … { … } } broken ! { fn broken(…) {} } …] }
//! ```
//!
//! The lists are the constants of the block; its imports, each with the name it has in the block and the name it has where
//! it is defined and the block that is, or its path in the library; its structs, and its `extern` functions for messages; and
//! the functions and templates. `!` marks one with a mistake.

use std::collections::BTreeMap;

use mind_core::surface::{
    ast::{Body, Template},
    parse_block, settle_library,
};
use proc_macro2::{Delimiter, Group, Literal};
use quote::ToTokens;

use super::*;

/// All that a linked block received.
#[derive(Default)]
pub(crate) struct Received {
    /// The functions that its imports name, in order.
    requests: Vec<Key>,
    /// The blocks, each once.
    packages: Vec<Package>,
}

/// A function of a block: its name and the block's hash.
type Key = (String, String);

struct Package {
    hash: Ident,
    constants: Group,
    imports: Group,
    structs: Group,
    functions: Vec<Packed>,
}

struct Packed {
    name: Ident,
    /// Whether its mistake is reported where it stands.
    broken: bool,
    source: Group,
}

/// The package of a block.
pub(super) fn write(hash: &Ident, block: &Block, lowered: &Lowered, received: &Received) -> TokenStream {
    let constants = lowered.constants.iter().map(|constant| {
        let (name, value) = (&constant.name, Literal::i64_unsuffixed(constant.value));
        quote! { #name #value }
    });
    let imports = block.imports.iter().zip(&received.requests).map(|(import, (name, hash))| {
        let (local, name, hash) = (local(import), ident(name), ident(hash));
        quote! { [#local] #name #hash }
    });
    let library = block.library.iter().map(|import| {
        let (local, path) = (local(import), &import.path);
        quote! { [#local] [#path] }
    });
    // What is elsewhere is said for messages only.
    let externs =
        block.externs.iter().map(|item| item.to_string().parse::<TokenStream>().unwrap_or_default());
    let structs = block.structs.iter().map(|item| item.source.clone()).chain(externs);
    let functions = lowered.functions.iter().filter_map(|lowered| {
        let function = block.functions.iter().find(|function| function.name == lowered.name)?;
        Some(packed_item(&function.name, &function.source, lowered.program.is_none()))
    });
    let templates = block.templates.iter().zip(&lowered.templates);
    let templates =
        templates.map(|(template, lowered)| packed_item(&template.name, &template.source, lowered.broken));
    quote! { { #hash [#(#constants)*] [#(#imports)* #(#library)*] [#(#structs)*] [#(#functions)* #(#templates)*] } }
}

/// What an import is called in its block.
fn local(import: &Import) -> TokenStream {
    import.name.to_string().parse().expect("names and paths are tokens")
}

fn packed_item(name: &Ident, source: &TokenStream, is_broken: bool) -> TokenStream {
    if !is_broken {
        return quote! { #name { #source } };
    }
    let signature = without_body(source);
    quote! { #name ! { #signature {} } }
}

fn without_body(source: &TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = source.clone().into_iter().collect();
    let is_body =
        |last: &TokenTree| matches!(last, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    tokens.pop_if(|last| is_body(last));
    tokens.into_iter().collect()
}

impl Received {
    /// Reads what the macros on the way appended: `(name hash)` and packages. Nothing if it is something else.
    pub(crate) fn read(tokens: TokenStream) -> Option<Self> {
        let mut received = Self::default();
        for tree in tokens {
            let TokenTree::Group(group) = tree else { return None };
            let mut inside = group.stream().into_iter();
            match group.delimiter() {
                Delimiter::Parenthesis => {
                    let (name, hash) = (name(inside.next()?)?, name(inside.next()?)?);
                    received.requests.push((name.to_string(), hash.to_string()));
                }
                Delimiter::Brace => {
                    let hash = name(inside.next()?)?;
                    let [constants, imports, structs] =
                        [list(inside.next()?)?, list(inside.next()?)?, list(inside.next()?)?];
                    let functions = packed(list(inside.next()?)?)?;
                    received.add(Package { hash, constants, imports, structs, functions });
                }
                Delimiter::Bracket | Delimiter::None => return None,
            }
        }
        Some(received)
    }

    /// Adds a package, or what it has more than one of the same block: a block that imports hands on only what it needs.
    fn add(&mut self, package: Package) {
        let Some(known) = self.packages.iter_mut().find(|known| known.hash == package.hash) else {
            self.packages.push(package);
            return;
        };
        for function in package.functions {
            if known.functions.iter().all(|other| other.name != function.name) {
                known.functions.push(function);
            }
        }
    }

    /// The blocks that were received, for the hash of the block that received them.
    pub(super) fn hashes(&self) -> Vec<String> {
        self.packages.iter().map(|package| package.hash.to_string()).collect()
    }

    /// The functions that the imports name and those that these call, read.
    pub(crate) fn library(&self) -> Option<Library> {
        let sources = self.reach(self.requests.iter().cloned())?;
        let mut positions: BTreeMap<Key, usize> = BTreeMap::new();
        let blocks: Option<_> = self.packages.iter().map(Package::block).collect();
        let mut library = Library { blocks: blocks?, ..Library::default() };
        // Callees first: a function is added once all that it calls have been.
        let mut path: Vec<(Key, usize)> = Vec::new();
        for request in &self.requests {
            path.push((request.clone(), 0));
            while let Some((key, next)) = path.last_mut() {
                let source = sources.get(key)?;
                match source.callees.get(*next) {
                    Some((_, callee)) => {
                        *next += 1;
                        if !positions.contains_key(callee) {
                            if path.len() > sources.len() {
                                return None;
                            }
                            path.push((callee.clone(), 0));
                        }
                    }
                    None => {
                        let (key, _) = path.pop()?;
                        if positions.contains_key(&key) {
                            continue;
                        }
                        let callees = source.callees.iter();
                        let callees: Option<_> = callees
                            .map(|(name, callee)| Some((name.clone(), *positions.get(callee)?)))
                            .collect();
                        positions.insert(key, library.functions.len());
                        library.functions.push(Foreign {
                            item: source.item.clone(),
                            callees: callees?,
                            block: source.block,
                        });
                    }
                }
            }
            library.imported.push(*positions.get(request)?);
        }
        Some(library)
    }

    /// The packages of what the functions of a block import, without the functions that they do not need.
    pub(super) fn needed_by(&self, block: &Block) -> TokenStream {
        let called = |import: &Import| {
            let functions = block.functions.iter().flat_map(|function| function.callees());
            let mut callees = functions.chain(block.templates.iter().flat_map(|template| template.callees()));
            callees.any(|(callee, _)| callee.to_string() == import.name.to_string())
        };
        let imports = block.imports.iter().zip(&self.requests);
        let needed = imports.filter(|(import, _)| called(import)).map(|(_, key)| key.clone());
        let needed = self.reach(needed).unwrap_or_default();
        let packages = self.packages.iter().map(|package| {
            let Package { hash, constants, imports, structs, functions } = package;
            let is_needed =
                |packed: &&Packed| needed.contains_key(&(packed.name.to_string(), hash.to_string()));
            let functions: Vec<_> = functions.iter().filter(is_needed).collect();
            (!functions.is_empty())
                .then(|| quote! { { #hash #constants #imports #structs [#(#functions)*] } })
        });
        packages.flatten().collect()
    }

    /// Functions and all that they call, directly or not.
    fn reach(&self, from: impl Iterator<Item = Key>) -> Option<BTreeMap<Key, Read>> {
        let mut reached: BTreeMap<Key, Read> = BTreeMap::new();
        let mut rest: Vec<Key> = from.collect();
        while let Some(key) = rest.pop() {
            if reached.contains_key(&key) {
                continue;
            }
            let read = self.read_function(&key)?;
            rest.extend(read.callees.iter().map(|(_, callee)| callee.clone()));
            reached.insert(key, read);
        }
        Some(reached)
    }

    fn read_function(&self, (name, hash): &Key) -> Option<Read> {
        let block = self.packages.iter().position(|package| package.hash == hash)?;
        let package = &self.packages[block];
        let packed = package.functions.iter().find(|packed| packed.name == name)?;
        let imports = package.imports()?;
        let read_body = |body: &mut Option<Body>| match body {
            Some(_) if packed.broken => *body = None,
            Some(body) => settle_library(body, &imports.library),
            None => {}
        };
        let block_of_one = parse_block(packed.source.stream()).0;
        let function = block_of_one.functions.into_iter().next().map(|mut function| {
            read_body(&mut function.body);
            ForeignItem::Function(function)
        });
        let item = function.or_else(|| {
            let mut template: Template = block_of_one.templates.into_iter().next()?;
            read_body(&mut template.body);
            Some(ForeignItem::Template(template))
        })?;
        let mut callees: BTreeMap<String, Key> = BTreeMap::new();
        for (callee, _) in item.callees().filter(|(callee, _)| !callee.of_library) {
            let callee = callee.to_string();
            let key = match package.functions.iter().any(|packed| packed.name == callee) {
                true => Some((callee.clone(), hash.clone())),
                false => imports.blocks.get(&callee).cloned(),
            };
            // What is neither is built in.
            if let Some(key) = key {
                callees.insert(callee, key);
            }
        }
        let callees = callees.into_iter().collect();
        Some(Read { item, callees, block })
    }
}

/// A function that was received.
struct Read {
    item: ForeignItem,
    callees: Vec<(String, Key)>,
    block: usize,
}

/// What a block imports, under the names that it has there.
#[derive(Default)]
struct Imported {
    /// Of other blocks.
    blocks: BTreeMap<String, Key>,
    /// Of the library, by their paths.
    library: Vec<(String, TokenStream)>,
}

impl Package {
    fn block(&self) -> Option<ForeignBlock> {
        let Block { structs, externs, .. } = parse_block(self.structs.stream()).0;
        let externs = externs.iter().map(|item| item.function.name.to_string()).collect();
        Some(ForeignBlock { constants: self.constants()?, structs, externs })
    }

    fn constants(&self) -> Option<Vec<(String, i64)>> {
        let tokens: Vec<_> = self.constants.stream().into_iter().collect();
        let constant = |pair: &[TokenTree]| match pair {
            [TokenTree::Ident(name), TokenTree::Literal(value)] => {
                Some((name.to_string(), value.to_string().parse().ok()?))
            }
            _ => None,
        };
        tokens.chunks(2).map(constant).collect()
    }

    /// What each import is: of another block, or by its path in the library.
    fn imports(&self) -> Option<Imported> {
        let mut imported = Imported::default();
        let mut tokens = self.imports.stream().into_iter();
        while let Some(local) = tokens.next() {
            let local = list(local)?.stream().into_iter().map(|tree| tree.to_string()).collect::<String>();
            match tokens.next()? {
                TokenTree::Group(path) => imported.library.push((local, path.stream())),
                name => {
                    let (TokenTree::Ident(name), TokenTree::Ident(hash)) = (name, tokens.next()?) else {
                        return None;
                    };
                    imported.blocks.insert(local, (name.to_string(), hash.to_string()));
                }
            }
        }
        Some(imported)
    }
}

impl ToTokens for Packed {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let (name, source) = (&self.name, &self.source);
        let mark = self.broken.then(|| quote! { ! });
        tokens.extend(quote! { #name #mark #source });
    }
}

fn packed(list: Group) -> Option<Vec<Packed>> {
    let mut tokens = list.stream().into_iter().peekable();
    let mut functions = Vec::new();
    while let Some(first) = tokens.next() {
        let name = name(first)?;
        let broken = tokens.next_if(|tree| matches!(tree, TokenTree::Punct(_))).is_some();
        let TokenTree::Group(source) = tokens.next()? else { return None };
        functions.push(Packed { name, broken, source });
    }
    Some(functions)
}

fn name(tree: TokenTree) -> Option<Ident> {
    match tree {
        TokenTree::Ident(name) => Some(name),
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    }
}

fn list(tree: TokenTree) -> Option<Group> {
    match tree {
        TokenTree::Group(group) => Some(group),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    }
}

fn ident(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(name) => Ident::new_raw(name, Span::call_site()),
        None => Ident::new(name, Span::call_site()),
    }
}
