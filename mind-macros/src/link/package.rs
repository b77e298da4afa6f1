//! Packages: the functions of a block and the meaning of the names in them, as tokens.
//!
//! ```text
//! { hash
//!   [const WIDTH: dim = 32; struct Dense { … } …]
//!   [[gelu] gelu_tanh hash [Net] type Mlp hash [sm] [nn::softmax] …]
//!   [DenseStack …]
//!   [dense { fn dense<N>(…) … { … } } broken ! { fn broken(…) {} } …] }
//! ```
//!
//! The hash of the block is followed by four lists:
//!
//! - the evaluated constants of the block, its structs, and its `extern` functions, which are used in messages;
//! - its imports, each with its name in the block, then its name in the defining block and the hash of that block
//!   (after `type` for a struct or constant), or its path in the library;
//! - the Rust names of stacks of structs for which it has Rust types;
//! - its functions and templates. `!` marks one with an error.

use std::collections::BTreeMap;

use mind_core::surface::{
    ast::{Body, Plain, Template},
    parse_block, resolve_library_calls,
};
use proc_macro2::{Delimiter, Group, Literal};
use quote::ToTokens;

use super::*;

/// Everything that a linked block received.
#[derive(Default)]
pub(crate) struct Received {
    /// The items that its imports name, in order.
    requests: Vec<Key>,
    /// The blocks, without duplicates. Each comes after the blocks whose structs and constants it names.
    packages: Vec<Package>,
}

/// A function, struct or constant of a block: its name and the block's hash.
type Key = (String, String);

/// The reason why the tokens that macros appended cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Another version of this crate expanded the block of this import.
    Version {
        /// The position of the import, counted from 0.
        import: usize,
        /// The version, if the tokens contain it.
        version: Option<String>,
    },
    /// Any other reason.
    Other,
}

struct Package {
    hash: Ident,
    items: Group,
    imports: Group,
    stacks: Group,
    functions: Vec<Packed>,
}

struct Packed {
    name: Ident,
    /// Whether it has an error, which its own block reports.
    broken: bool,
    source: Group,
}

/// The package of a block.
pub(super) fn write(hash: &Ident, block: &Block, lowered: &Lowered, received: &Received) -> TokenStream {
    let functions = lowered.functions.iter().filter_map(|lowered| {
        let function = block.functions.iter().find(|function| function.name == lowered.name)?;
        Some(packed_item(&function.name, &function.source, lowered.program.is_none()))
    });
    let templates = block.templates.iter().zip(&lowered.templates);
    let templates =
        templates.map(|(template, lowered)| packed_item(&template.name, &template.source, lowered.broken));
    with_functions(hash, block, lowered, received, functions.chain(templates).collect())
}

/// The package of a block without its functions.
pub(super) fn write_items(
    hash: &Ident,
    block: &Block,
    lowered: &Lowered,
    received: &Received,
) -> TokenStream {
    with_functions(hash, block, lowered, received, TokenStream::new())
}

fn with_functions(
    hash: &Ident,
    block: &Block,
    lowered: &Lowered,
    received: &Received,
    functions: TokenStream,
) -> TokenStream {
    let imports = block.imports.iter().zip(&received.requests).map(|(import, (name, hash))| {
        let (local, name, hash) = (local(import), ident(name), ident(hash));
        let mark = (import.kind == ImportKind::Item).then(|| quote! { type });
        quote! { [#local] #mark #name #hash }
    });
    let library = block.library.iter().map(|import| {
        let (local, path) = (local(import), &import.path);
        quote! { [#local] [#path] }
    });
    let constants = lowered.constants.iter().map(|constant| {
        let (name, value) = (&constant.name, &constant.value);
        let value = match value {
            ConstantValue::Dim(value @ 0..) => {
                let value = Literal::i64_unsuffixed(*value);
                quote! { dim = #value }
            }
            ConstantValue::Dim(value) => {
                let value = Literal::u64_unsuffixed(value.unsigned_abs());
                quote! { dim = 0 - #value }
            }
            ConstantValue::Plain(Plain::Truth(truth)) => quote! { bool = #truth },
            ConstantValue::Plain(Plain::Number(number)) => {
                let kind = if number.is_float() {
                    quote! { float }
                } else {
                    quote! { int }
                };
                let value: TokenStream = number.text.parse().expect("a number is a token");
                quote! { #kind = #value }
            }
        };
        quote! { const #name: #value; }
    });
    // The `extern` functions are only used in messages.
    let externs =
        block.externs.iter().map(|item| item.to_string().parse::<TokenStream>().unwrap_or_default());
    let structs = block.structs.iter().map(|item| {
        let (derives, source) = (derives(&item.attributes), &item.source);
        quote! { #derives #source }
    });
    let structs = structs.chain(externs);
    let stacks = lowered.structs.iter().filter(|item| item.element.is_some()).map(|item| &item.name);
    quote! {
        { #hash [#(#constants)* #(#structs)*] [#(#imports)* #(#library)*] [#(#stacks)*] [#functions] }
    }
}

/// The traits that a struct derives and that have the same name in every module. An importing block derives them for
/// stacks.
fn derives(attributes: &TokenStream) -> Option<TokenStream> {
    const EVERYWHERE: [&str; 8] =
        ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "PartialEq", "PartialOrd"];
    let mut derived = Vec::new();
    for tree in attributes.clone() {
        let TokenTree::Group(group) = tree else { continue };
        let mut inside = group.stream().into_iter();
        if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(traits))) = (inside.next(), inside.next())
            && name == "derive"
        {
            let traits = traits.stream().to_string();
            let is_everywhere = |name: &&str| EVERYWHERE.contains(name);
            derived.extend(
                traits.split(',').map(str::trim).filter(is_everywhere).map(|name| format_ident!("{name}")),
            );
        }
    }
    (!derived.is_empty()).then(|| quote! { #[derive(#(#derived),*)] })
}

/// The name of an import in its block.
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
    /// Reads the tokens that the macros of the imports appended: `(name hash version)` for each import, and packages.
    ///
    /// # Errors
    /// If this version of the crate did not write them.
    pub(crate) fn read(tokens: TokenStream) -> Result<Self, Unreadable> {
        // Checks all versions first, since the rest is read in the format of this version.
        let answers = tokens.clone().into_iter().filter_map(|tree| match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group.stream()),
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        });
        for (import, answer) in answers.enumerate() {
            match answer.into_iter().nth(2) {
                Some(version) if version.to_string() == format!("{VERSION:?}") => {}
                version => {
                    let version = version.map(|version| version.to_string().trim_matches('"').to_owned());
                    return Err(Unreadable::Version { import, version });
                }
            }
        }
        Self::read_own(tokens).ok_or(Unreadable::Other)
    }

    /// Reads tokens in the format of this version.
    fn read_own(tokens: TokenStream) -> Option<Self> {
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
                    let [items, imports, stacks] =
                        [list(inside.next()?)?, list(inside.next()?)?, list(inside.next()?)?];
                    let functions = packed(list(inside.next()?)?)?;
                    received.add(Package { hash, items, imports, stacks, functions });
                }
                Delimiter::Bracket | Delimiter::None => return None,
            }
        }
        received.sort()?;
        Some(received)
    }

    /// Sorts the blocks, each after those whose structs and constants it names. There are no cycles, since the hash of
    /// a block depends on the hashes of the blocks that it imports from.
    fn sort(&mut self) -> Option<()> {
        let mut rest = std::mem::take(&mut self.packages);
        while !rest.is_empty() {
            let waiting: Vec<String> = rest.iter().map(|package| package.hash.to_string()).collect();
            let mut ready = None;
            for (position, package) in rest.iter().enumerate() {
                if package.imports()?.items.values().all(|(_, hash)| !waiting.contains(hash)) {
                    ready = Some(position);
                    break;
                }
            }
            self.packages.push(rest.remove(ready?));
        }
        Some(())
    }

    /// Adds a package, or its new functions to a known package of the same block: a block passes on only the functions
    /// of its imports that it needs.
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

    /// The hashes of the received blocks, which enter the hash of the receiving block.
    pub(super) fn hashes(&self) -> Vec<String> {
        self.packages.iter().map(|package| package.hash.to_string()).collect()
    }

    /// The items that the imports of a program name, and the items that these name in turn. `names` are the Rust names
    /// of the imports.
    pub(crate) fn library(&self, imports: &[Import], names: &[Ident]) -> Option<Library> {
        if imports.len() != self.requests.len() || imports.len() != names.len() {
            return None;
        }
        let of_function = |(import, _): &(&Import, &Key)| import.kind == ImportKind::Function;
        let requests = imports.iter().zip(&self.requests).filter(of_function);
        let sources = self.reach(requests.map(|(_, key)| key.clone()))?;
        let mut positions: BTreeMap<Key, usize> = BTreeMap::new();
        let blocks: Option<_> = self.packages.iter().map(|package| self.block(package)).collect();
        let mut library = Library { blocks: blocks?, ..Library::default() };
        // Callees first: a function is added after all functions that it calls.
        let mut path: Vec<(Key, usize)> = Vec::new();
        for ((import, request), alias) in imports.iter().zip(&self.requests).zip(names) {
            if import.kind == ImportKind::Item {
                let (name, block) = (request.0.clone(), self.position(&request.1)?);
                library.imported.push(Imported::Item { block, name, alias: alias.clone() });
                continue;
            }
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
                        library.functions.push(ImportedItem {
                            item: source.item.clone(),
                            callees: callees?,
                            block: source.block,
                        });
                    }
                }
            }
            library.imported.push(Imported::Function(*positions.get(request)?));
        }
        Some(library)
    }

    /// The packages of a block's imports, without the functions that the block does not need.
    pub(super) fn needed_by(&self, block: &Block) -> TokenStream {
        let called = |import: &Import| {
            let functions = block.functions.iter().flat_map(|function| function.callees());
            let mut callees = functions.chain(block.templates.iter().flat_map(|template| template.callees()));
            callees.any(|(callee, _)| callee.to_string() == import.name.to_string())
        };
        let imports = block.imports.iter().zip(&self.requests);
        let needed = imports.filter(|(import, _)| import.kind == ImportKind::Function && called(import));
        let needed = self.reach(needed.map(|(_, key)| key.clone())).unwrap_or_default();
        self.packages_with(block, needed.into_keys().collect())
    }

    /// The packages of the structs and constants that a block imports, and of the structs and constants that these
    /// name.
    pub(super) fn named_by(&self, block: &Block) -> TokenStream {
        self.packages_with(block, BTreeSet::new())
    }

    /// The packages with these functions, and the packages with structs and constants that `block` or one of the
    /// packages imports.
    fn packages_with(&self, block: &Block, functions: BTreeSet<Key>) -> TokenStream {
        let imports = block.imports.iter().zip(&self.requests);
        let named = imports.filter(|(import, _)| import.kind == ImportKind::Item).map(|(_, (_, hash))| hash);
        let mut hashes: BTreeSet<String> =
            named.chain(functions.iter().map(|(_, hash)| hash)).cloned().collect();
        // Each package comes after those that it names.
        for package in self.packages.iter().rev() {
            if hashes.contains(&package.hash.to_string()) {
                let imported = package.imports().unwrap_or_default();
                hashes.extend(imported.items.into_values().map(|(_, hash)| hash));
            }
        }
        let packages = self.packages.iter().map(|package| {
            let Package { hash, items, imports, stacks, functions: all } = package;
            let is_needed =
                |packed: &&Packed| functions.contains(&(packed.name.to_string(), hash.to_string()));
            let functions: Vec<_> = all.iter().filter(is_needed).collect();
            hashes
                .contains(&hash.to_string())
                .then(|| quote! { { #hash #items #imports #stacks [#(#functions)*] } })
        });
        packages.flatten().collect()
    }

    fn position(&self, hash: &str) -> Option<usize> {
        self.packages.iter().position(|package| package.hash == hash)
    }

    fn block(&self, package: &Package) -> Option<ForeignBlock> {
        let Block { constants, structs, externs, .. } = parse_block(package.items.stream()).0;
        let externs = externs.iter().map(|item| item.function.name.to_string()).collect();
        let import = |(local, (name, hash)): (String, Key)| {
            Some(ForeignName { local, block: self.position(&hash)?, name })
        };
        let imports = package.imports()?.items.into_iter().map(import).collect::<Option<_>>()?;
        let stacks = package.stacks.stream().into_iter().map(|name| name.to_string()).collect();
        Some(ForeignBlock { imports, constants, structs, stacks, externs })
    }

    /// The functions in `from`, and all functions that they call directly or indirectly.
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
            Some(body) => resolve_library_calls(body, &imports.library),
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
            // A callee that is neither in the block nor imported is built in.
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

/// The imports of a block, by their names in the block.
#[derive(Default)]
struct LocalNames {
    /// Functions of other blocks.
    blocks: BTreeMap<String, Key>,
    /// Structs and constants of other blocks.
    items: BTreeMap<String, Key>,
    /// Functions of the library, with their paths.
    library: Vec<(String, TokenStream)>,
}

impl Package {
    /// The imports of the block: from other blocks, or by their path in the library.
    fn imports(&self) -> Option<LocalNames> {
        let mut imported = LocalNames::default();
        let mut tokens = self.imports.stream().into_iter();
        while let Some(local) = tokens.next() {
            let local = list(local)?.stream().into_iter().map(|tree| tree.to_string()).collect::<String>();
            match tokens.next()? {
                TokenTree::Group(path) => imported.library.push((local, path.stream())),
                first => {
                    let first = name(first)?;
                    let (of, first) = match first == "type" {
                        true => (&mut imported.items, name(tokens.next()?)?),
                        false => (&mut imported.blocks, first),
                    };
                    of.insert(local, (first.to_string(), name(tokens.next()?)?.to_string()));
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

/// The token as a name. `None` for other tokens.
pub(super) fn name(tree: TokenTree) -> Option<Ident> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Received, Unreadable> {
        Received::read(text.parse().expect("it is tokens"))
    }

    #[test]
    fn what_another_version_wrote_is_not_read() {
        let own = format!("(layer h1 {VERSION:?}) {{ h1 [] [] [] [layer {{ fn layer(x: f32) {{ x }} }}] }}");
        assert_eq!(read(&own).expect("it is of this version").requests, [("layer".into(), "h1".into())]);
        // The version is checked before the rest is read.
        let other = format!("{own} (gate h2 \"9.0.0\" more) < {{ }} >");
        let version = Some("9.0.0".to_owned());
        assert_eq!(read(&other).err(), Some(Unreadable::Version { import: 1, version }));
        assert_eq!(read("(layer h1)").err(), Some(Unreadable::Version { import: 0, version: None }));
        assert_eq!(read(&format!("{own} {{ h2 }}")).err(), Some(Unreadable::Other));
    }
}
