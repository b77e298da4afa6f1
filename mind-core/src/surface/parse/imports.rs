//! Imports: `use` items, each split into the items that it names.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};

use super::parser::{Parser, is_keyword, is_transform};
use crate::diag::{Code, Diag, Site};
use crate::standard;
use crate::surface::ast::{Import, ImportKind};

const PATH: &str = "the path of a function such as `crate::layers::dense`";

impl Parser<'_> {
    /// Reads `use` items until another token follows.
    pub(super) fn leading_imports(&mut self) -> Vec<Import> {
        let mut imports = Vec::new();
        while self.at_word("use") {
            if let Err(diag) = self.import(&mut imports) {
                self.diags.push(diag);
                while !self.at_end() && self.take(";").is_none() {
                    self.skip_token();
                }
            }
        }
        imports
    }

    /// Reads `use a::{b, c as d};`.
    pub(super) fn import(&mut self, imports: &mut Vec<Import>) -> Result<(), Diag> {
        self.take_word("use");
        let mut path = Vec::new();
        if self.take("::").is_some() {
            push_separator(&mut path);
        }
        let read = self.import_tree(&mut path, imports).and_then(|()| self.expect(";"));
        self.imports_lost |= read.is_err();
        read.map(|_| ())
    }

    /// Reads the rest of a path: segments and a name, or trees in braces. Restores `path` at the end.
    fn import_tree(&mut self, path: &mut Vec<TokenTree>, imports: &mut Vec<Import>) -> Result<(), Diag> {
        let before = path.len();
        let start = self.current_site();
        loop {
            if self.at_group(Delimiter::Brace) {
                self.list(Delimiter::Brace, "`{`", "`,` or `}`", |parser| parser.import_tree(path, imports))?;
                break;
            }
            if self.at("*") {
                return Err(self.unexpected(PATH).help(
                    "import each function, struct and constant by name: glob imports are not supported",
                ));
            }
            let segment = self.segment(path)?;
            path.push(TokenTree::Ident(segment));
            if self.take("::").is_some() {
                push_separator(path);
                continue;
            }
            let import = self.imported(path, start)?;
            self.add_import(imports, import);
            break;
        }
        path.truncate(before);
        Ok(())
    }

    /// Reads a segment of a path.
    pub(super) fn segment(&mut self, path: &[TokenTree]) -> Result<Ident, Diag> {
        let ident = self.cursor.ident().filter(|(ident, _)| {
            let word = ident.to_string();
            let first = path.last().is_none_or(|last| !matches!(last, TokenTree::Punct(_)));
            let root = matches!(word.as_str(), "crate" | "self" | "super") && !word.starts_with("r#");
            !is_keyword(&word) || root && (first || word != "crate")
        });
        let (ident, rest) = ident.ok_or_else(|| self.unexpected(PATH))?;
        self.advance(ident.span(), rest);
        Ok(ident)
    }

    /// The import of a complete path. Reads `as name` after it.
    fn imported(&mut self, path: &[TokenTree], start: Site) -> Result<Import, Diag> {
        let mut path = path.to_vec();
        let is_self = |tree: &TokenTree| matches!(tree, TokenTree::Ident(name) if name == "self");
        if path.len() > 3 && path.last().is_some_and(is_self) {
            // `a::b::{self}` means `a::b`.
            path.truncate(path.len() - 3);
        }
        let last = path.last().and_then(|last| match last {
            TokenTree::Ident(last) => Some(last.clone()),
            TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        });
        let last = last.expect("a path ends with a segment");
        let name = match self.take_word("as") {
            Some(_) => self.name("a name").map_err(|diag| Diag { help: None, ..diag })?,
            None => last,
        };
        let site = start.to(self.before());
        if is_keyword(&name.to_string()) {
            return Err(Diag::new(Code::E1007, site, format!("found a path to a module, expected {PATH}")));
        }
        if let [TokenTree::Ident(file), TokenTree::Punct(_), TokenTree::Punct(_), TokenTree::Ident(name)] =
            &path[..]
            && standard::structure(&file.to_string(), &name.to_string()).is_some()
        {
            let last = name.clone();
            let message =
                format!("`{file}::{name}` is a struct of the library, which is always written with its path");
            let help = format!("remove the import, and write `{file}::{name}<Net>`");
            self.refused.push(last);
            return Err(Diag::new(Code::E1007, site, message).help(help));
        }
        let path = path.into_iter().collect::<TokenStream>();
        Ok(Import { path, name: name.into(), site, kind: ImportKind::Function })
    }

    fn add_import(&mut self, imports: &mut Vec<Import>, import: Import) {
        let site = import.name.site();
        if is_transform(&import.name.name) {
            let message =
                format!("`{}` is a transform of the language, expected another function name", import.name);
            self.diags
                .push(Diag::new(Code::E2008, site, message).help(format!("write `{} as …`", import.name)));
            return;
        }
        match imports.iter().find(|first| first.name.name == import.name.name) {
            Some(first) => {
                let message = format!("`{}` is imported twice", import.name);
                self.diags.push(
                    Diag::new(Code::E2008, site, message)
                        .note_at(first.name.site(), format!("`{}` is imported first", first.name))
                        .help("give one of them another name with `as`"),
                );
            }
            None => imports.push(import),
        }
    }
}

pub(super) fn push_separator(path: &mut Vec<TokenTree>) {
    for spacing in [Spacing::Joint, Spacing::Alone] {
        path.push(TokenTree::Punct(proc_macro2::Punct::new(':', spacing)));
    }
}
