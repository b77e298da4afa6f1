//! Items: functions, constants and structs, with recovery at the next item.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Ident, TokenStream};
use syn::buffer::Cursor;

use super::literals::number;
use super::memory;
use super::parser::{Parser, Unexpected, is_transform};
use super::paths::resolve_block_paths;
use crate::diag::{Code, Diag, Diags, Site};
use crate::surface::ast::{
    Block, Constant, ConstantKind, ConstantValue, Function, Import, MemoryBound, Number, NumberValue,
    Parameter, Plain, TypeExpr, TypeKind, Wrt,
};

const PARAMETER: &str = "a parameter such as `x: f32[2, 3]`";

/// Attributes that are passed on to the generated item, where they have their usual meaning.
const PASSED_ON: &[&str] = &[
    "allow",
    "cfg",
    "cfg_attr",
    "clippy",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "inline",
    "must_use",
    "rustfmt",
    "warn",
];

/// The attributes and the visibility before an item or a field.
#[derive(Default)]
pub(super) struct ItemHead {
    pub(super) attributes: TokenStream,
    /// All attributes, including those that only structs and fields may have.
    pub(super) every: TokenStream,
    pub(super) gradient: Option<Wrt>,
    pub(super) memory: Option<MemoryBound>,
    pub(super) visibility: TokenStream,
    /// The errors for attributes that only structs and fields may have.
    unusual: Vec<Diag>,
}

/// The content of `#[…]`.
enum Attribute {
    PassedOn,
    Gradient(Wrt),
    Memory(MemoryBound),
    /// An attribute that only structs and fields may have, with the error for it on other items.
    Unusual(Diag),
}

impl Parser<'_> {
    /// Reads items to the end and reports every error.
    pub(super) fn block(&mut self, imports: Vec<Import>) -> Block {
        let mut block = Block { imports, ..Block::default() };
        self.refuse_structs();
        while !self.at_end() {
            let before = self.cursor;
            if let Err(diag) = self.item(&mut block) {
                self.diags.push(diag);
                if self.cursor == before {
                    self.skip_token();
                }
                self.skip_item();
            }
        }
        block.unread.append(&mut self.refused);
        self.check_names(&mut block);
        resolve_block_paths(&mut block);
        block.stacks = block.named_stacks();
        if self.imports_lost {
            block.functions.iter_mut().for_each(|function| function.body = None);
        }
        block
    }

    /// Reports names that are shared by different kinds of items.
    fn check_names(&mut self, block: &mut Block) {
        let constants = || block.constants.iter().map(|constant| &constant.name);
        let structs = || block.structs.iter().map(|item| &item.name);
        let symbols = block.structs.iter().flat_map(|item| &item.symbols);
        for symbol in symbols.chain(block.functions.iter().flat_map(|function| &function.symbols)) {
            if let Some(first) = constants().chain(structs()).find(|first| *first == symbol) {
                self.diags.push(defined_twice("dimension", symbol, first));
            }
        }
        for name in constants() {
            if let Some(first) = structs().find(|first| *first == name) {
                self.diags.push(defined_twice("name", name, first));
            }
        }
        // A function has a module of its name in Rust, in the namespace of types.
        let (structs, diags) = (&block.structs, &mut self.diags);
        block.functions.retain(|Function { name, gradient, .. }| {
            let module =
                |other: &Ident| other == name || gradient.is_some() && *other == format!("{name}_grad");
            let Some(first) = structs.iter().map(|item| &item.name).find(|first| module(first)) else {
                return true;
            };
            diags.push(defined_twice("name", name, first));
            block.unread.push(name.clone());
            false
        });
        check_forms(block, &mut self.diags);
        let structs = block.structs.iter().map(|item| ("struct", &item.name));
        let constants = block.constants.iter().map(|constant| ("constant", &constant.name));
        let functions = function_names(block).map(|name| ("function", name));
        for (what, name) in functions.chain(structs).chain(constants) {
            if let Some(import) = block.imports.iter().find(|import| import.name.name == *name) {
                let message = format!("the {what} `{name}` is imported and defined");
                let diag = Diag::new(Code::E2008, Site::token(name.span()), message);
                let diag = diag.note_at(import.site, "it is imported");
                self.diags.push(diag.help("import it under another name with `as`"));
            }
        }
    }

    /// Reads a single function.
    pub(super) fn lone_function(&mut self) -> Option<Function> {
        let start = (self.current_site(), self.cursor);
        self.take_word("fn");
        let name = self.name("a function name");
        let function = name.and_then(|name| self.function(ItemHead::default(), name, start));
        function.map_err(|diag| self.diags.push(diag)).ok()
    }

    fn item(&mut self, block: &mut Block) -> Result<(), Diag> {
        let first = self.current_site();
        let mut head = self.head()?;
        if self.at_word("struct") {
            if let Some(bound) = &head.memory {
                self.diags.push(memory::misplaced(bound, "a struct"));
            }
            return self.struct_item(head, block);
        }
        self.diags.extend(head.unusual.drain(..));
        if let Some(bound) = head.memory.take_if(|_| !self.at_word("fn")) {
            self.diags.push(memory::misplaced(&bound, "another item"));
        }
        if self.at_word("use") {
            if !head.attributes.is_empty() || head.gradient.is_some() || !head.visibility.is_empty() {
                let message = "found attributes or `pub` before `use`, expected `use` alone";
                let help = "import without them; to re-export a function, write `pub use` outside the block";
                self.diags.push(Diag::new(Code::E1007, first, message).help(help));
            }
            return self.import(&mut block.imports);
        }
        if self.at_word("const") && !self.followed_by("fn") {
            return self.constant(head, block);
        }
        if self.at_word("extern") {
            return self.external(&head, block);
        }
        let (start, from) = (self.current_site(), self.cursor);
        if self.take_word("fn").is_none() {
            // Whatever item it should be, its name is known.
            let named = self.cursor.ident().and_then(|(_, behind)| behind.ident());
            self.refused.extend(named.map(|(name, _)| name));
            return Err(self.unexpected("`fn`, `const` or `struct`"));
        }
        let name = self.name("a function name").map_err(|diag| Diag { help: None, ..diag })?;
        if self.at_template() {
            let template = match self.template(head, name.clone(), (start, from)) {
                Ok(template) => template,
                Err(diag) => {
                    block.unread.push(name);
                    return Err(diag);
                }
            };
            if let Some(first) = function_names(block).find(|first| **first == name) {
                let diag = defined_twice("function", &name, first);
                self.diags.push(diag);
            } else {
                block.templates.push(template);
            }
            return Ok(());
        }
        let function = match self.function(head, name.clone(), (start, from)) {
            Ok(function) => function,
            Err(diag) => {
                block.unread.push(name);
                return Err(diag);
            }
        };
        if let Some(first) = function_names(block).find(|first| **first == function.name) {
            let diag = defined_twice("function", &function.name, first);
            self.diags.push(diag);
        } else {
            block.functions.push(function);
        }
        Ok(())
    }

    fn function(
        &mut self,
        head: ItemHead,
        name: Ident,
        (start, from): (Site, Cursor<'_>),
    ) -> Result<Function, Diag> {
        if is_transform(&name) {
            let message = format!("`{name}` is a transform of the language, expected another function name");
            return Err(Diag::new(Code::E2008, Site::token(name.span()), message));
        }
        let symbols = self.symbols()?;
        if self.at_group(Delimiter::Bracket) {
            let diag = self.unexpected("`(` and parameters");
            return Err(diag.help(format!("dimensions are declared in angle brackets: `{name}<…>`")));
        }
        let parameters = self
            .group(Delimiter::Parenthesis, "`(` and parameters", |parser| {
                parser.parameters(&symbols, Self::at_end, "`,` or `)`")
            })?
            .0;
        let result = self.result()?;
        let site = start.to(self.before());
        let (mut source, before_body) = (tokens_between(from, self.cursor), self.cursor);
        // If the body is missing, the signature is kept.
        let body = match self.group(Delimiter::Brace, "`{` and a body", |parser| Ok(parser.block_body())) {
            Ok((body, _)) => {
                let names: Vec<&Ident> = parameters.iter().map(|parameter| &parameter.name).collect();
                let body = self.with_pullback(body, &names);
                source.extend(tokens_between(before_body, self.cursor));
                body
            }
            Err(diag) => {
                let diag = match self.found() {
                    Unexpected::Operator("=" | "=>") if result.is_some() => {
                        diag.help("write the body in braces, without `=`: `-> … { … }`")
                    }
                    _ => diag,
                };
                let is_result = result.is_none()
                    && matches!(self.found(), Unexpected::Operator(":" | "=>") | Unexpected::Word(_));
                self.diags.push(match is_result && !self.at_word("where") {
                    true => diag.help("declare the result type after an arrow: `) -> …`"),
                    false => diag,
                });
                self.skip_item();
                None
            }
        };
        let ItemHead { attributes, gradient, memory, visibility, .. } = head;
        Ok(Function {
            attributes,
            gradient,
            memory: memory.map(Box::new),
            visibility,
            name,
            symbols,
            parameters,
            result,
            body,
            site,
            source,
        })
    }

    /// Reads `<N, M>`.
    pub(super) fn symbols(&mut self) -> Result<Vec<Ident>, Diag> {
        let mut symbols: Vec<Ident> = Vec::new();
        if self.take("<").is_none() {
            return Ok(symbols);
        }
        while self.take(">").is_none() {
            if self.at_word("const") {
                return Err(self.unexpected("the name of a dimension").help("write `<N>` alone"));
            }
            let symbol = self.name("the name of a dimension")?;
            if self.at(":") {
                return Err(self
                    .unexpected("`,` or `>`")
                    .help("dimensions need no bounds: write `<N>` alone"));
            }
            match symbols.iter().find(|first| **first == symbol) {
                Some(first) => {
                    let diag = defined_twice("dimension", &symbol, first);
                    self.diags.push(diag);
                }
                None => symbols.push(symbol),
            }
            if !self.at(">") && self.take(",").is_none() {
                return Err(self.unexpected("`,` or `>`"));
            }
        }
        Ok(symbols)
    }

    /// Reads parameters until `at_end`.
    pub(super) fn parameters(
        &mut self,
        symbols: &[Ident],
        at_end: fn(&Self) -> bool,
        separator: &str,
    ) -> Result<Vec<Parameter>, Diag> {
        let mut parameters: Vec<Parameter> = Vec::new();
        while !at_end(self) {
            let parameter = self.parameter()?;
            let names = parameters.iter().map(|first| &first.name);
            let twice = names.map(|first| ("parameter", first)).chain(symbols.iter().map(|s| ("name", s)));
            match twice.into_iter().find(|(_, first)| **first == parameter.name) {
                Some((what, first)) => {
                    let diag = defined_twice(what, &parameter.name, first);
                    self.diags.push(diag);
                }
                None => parameters.push(parameter),
            }
            if !at_end(self) && self.take(",").is_none() {
                let diag = self.unexpected(separator);
                return Err(match self.at("=") {
                    true => diag.help("parameters have no default values: remove `= …`"),
                    false => diag,
                });
            }
        }
        Ok(parameters)
    }

    fn parameter(&mut self) -> Result<Parameter, Diag> {
        let start = self.current_site();
        if self.at_word("self") {
            return Err(self.unexpected(PARAMETER).help("pass the fields as parameters"));
        }
        if self.at_word("mut") {
            return Err(self.unexpected(PARAMETER).help("to update it in place write `w: &mut f32[3]`"));
        }
        let name = self.name(PARAMETER)?;
        self.expect(":").map_err(|diag| diag.help(format!("give it a type, as in `{name}: f32[2, 3]`")))?;
        let update = match (self.at("&"), self.followed_by("mut")) {
            (true, true) => {
                self.take("&");
                self.take_word("mut");
                true
            }
            (true, false) | (false, _) => false,
        };
        let ty = self.type_expr()?;
        if let TypeKind::Tuple(_) = ty.kind {
            let message = "found a tuple, expected the type of one tensor such as `f32[2, 3]`";
            return Err(Diag::new(Code::E1007, ty.site, message)
                .help("give each element its own parameter, or make them a `struct`"));
        }
        Ok(Parameter { name, update, ty, site: start.to(self.before()) })
    }

    /// Reads `-> type`.
    pub(super) fn result(&mut self) -> Result<Option<TypeExpr>, Diag> {
        self.take("->").map(|_| self.type_expr()).transpose()
    }

    /// Reads `|x: f32[3]| -> f32[3]`.
    pub(super) fn closure_signature(&mut self) -> Result<(Vec<Parameter>, Option<TypeExpr>, Site), Diag> {
        let start = self.current_site();
        let mut parameters = Vec::new();
        if self.take("||").is_none() {
            self.expect("|")?;
            parameters = self.parameters(&[], |parser| parser.at("|") || parser.at_end(), "`,` or `|`")?;
            self.expect("|")?;
        }
        let result = self.result()?;
        Ok((parameters, result, start.to(self.before())))
    }

    fn constant(&mut self, head: ItemHead, block: &mut Block) -> Result<(), Diag> {
        if let Some(gradient) = head.gradient {
            let message = "found `#[grad(…)]` before `const`, expected it before `fn`";
            return Err(Diag::new(Code::E1007, gradient.site, message));
        }
        self.take_word("const");
        let name = self.name("the name of a constant")?;
        let value = match self.constant_value(&name) {
            Ok(Some(value)) => value,
            Ok(None) => {
                block.unread.push(name);
                return Ok(());
            }
            Err(diag) => {
                block.unread.push(name);
                return Err(diag);
            }
        };
        if let Some(first) = block.constants.iter().find(|first| first.name == name) {
            let diag = defined_twice("constant", &name, &first.name);
            self.diags.push(diag);
            return Ok(());
        }
        let ItemHead { attributes, visibility, .. } = head;
        block.constants.push(Constant { attributes, visibility, name, value });
        Ok(())
    }

    /// Reads the type and value after the name. Returns `None` if the value is of another kind, which has been
    /// reported.
    fn constant_value(&mut self, name: &Ident) -> Result<Option<ConstantValue>, Diag> {
        const KINDS: &str = "`dim`, `float`, `int` or `bool`";
        let help = format!("give its kind, as in `const {name}: dim = 64;` or `const {name}: float = 0.5;`");
        self.expect(":").map_err(|diag| diag.help(&help))?;
        if self.take_word("dim").is_some() {
            self.expect("=")?;
            let value = self.dim_expr()?;
            self.expect(";")?;
            return Ok(Some(ConstantValue::Dim(value)));
        }
        let kinds = [ConstantKind::Float, ConstantKind::Int, ConstantKind::Bool];
        let kind = kinds.into_iter().find(|kind| self.take_word(kind.name()).is_some());
        let kind = kind.ok_or_else(|| {
            let found = self.cursor.ident().map(|(word, _)| word.to_string());
            let meant = match found.as_deref() {
                Some("usize" | "isize" | "u32" | "u64" | "i32" | "i64") => "dim",
                Some("f32" | "f64") => "float",
                Some(_) | None => return self.unexpected(KINDS).help(&help),
            };
            self.unexpected(KINDS).help(format!("declare it as `const {name}: {meant} = …;`"))
        })?;
        self.expect("=")?;
        let start = self.current_site();
        let value = self.plain_value()?;
        let site = start.to(self.before());
        self.expect(";")?;
        let value = plain_of_kind(name, kind, value, site).map(ConstantValue::Plain);
        Ok(value.map_err(|diag| self.diags.push(diag)).ok())
    }

    /// Reads `1e-5`, `-inf` or `true`.
    fn plain_value(&mut self) -> Result<Plain, Diag> {
        for (word, value) in [("true", true), ("false", false)] {
            if self.take_word(word).is_some() {
                return Ok(Plain::Truth(value));
            }
        }
        let is_negative = self.take("-").is_some();
        for word in ["inf", "nan"] {
            if self.take_word(word).is_some() {
                let text = if is_negative { format!("-{word}") } else { word.to_owned() };
                let value = NumberValue::Float(text.clone());
                return Ok(Plain::Number(Number { text, value, suffix: None }));
            }
        }
        match self.take_literal() {
            Some(literal) => number(literal, is_negative).map(Plain::Number),
            None => Err(self
                .unexpected("a number")
                .help("a constant other than a dimension is a number, `true` or `false`: compute with it where it is \
                    used")),
        }
    }

    /// Reads attributes and visibility.
    pub(super) fn head(&mut self) -> Result<ItemHead, Diag> {
        let (mut attributes, mut every) = (TokenStream::new(), TokenStream::new());
        let (mut gradient, mut memory, mut unusual) = (None, None, Vec::new());
        while self.at("#") {
            let start = self.cursor;
            self.take("#");
            if self.at("!") {
                return Err(self
                    .unexpected("`[`")
                    .help("put attributes of the crate or module outside the block"));
            }
            let bracketed = self.at_group(Delimiter::Bracket);
            match self.group(Delimiter::Bracket, "`[` and an attribute", Self::attribute) {
                Ok((Attribute::PassedOn, _)) => {
                    attributes.extend(tokens_between(start, self.cursor));
                    every.extend(tokens_between(start, self.cursor));
                }
                Ok((Attribute::Unusual(diag), _)) => {
                    every.extend(tokens_between(start, self.cursor));
                    unusual.push(diag);
                }
                Ok((Attribute::Gradient(wrt), _)) => {
                    if let Some(first) = &gradient {
                        let diag = second_gradient(&wrt, first);
                        self.diags.push(diag);
                    }
                    gradient.get_or_insert(wrt);
                }
                Ok((Attribute::Memory(bound), _)) => {
                    if let Some(MemoryBound { site, .. }) = &memory {
                        let diag =
                            Diag::new(Code::E2008, bound.site, "a second `#[memory(…)]` on one function");
                        self.diags.push(diag.note_at(*site, "the first is"));
                    }
                    memory.get_or_insert(bound);
                }
                // The item after an invalid attribute is read all the same.
                Err(diag) if bracketed => self.diags.push(diag),
                Err(diag) => return Err(diag),
            }
        }
        let start = self.cursor;
        if self.take_word("pub").is_some() && self.at_group(Delimiter::Parenthesis) {
            self.skip_token();
        }
        let visibility = tokens_between(start, self.cursor);
        Ok(ItemHead { attributes, every, gradient, memory, visibility, unusual })
    }

    /// Reads the inside of `#[…]`.
    fn attribute(&mut self) -> Result<Attribute, Diag> {
        let expected = "`grad`, `memory`, a doc comment or a lint attribute";
        let here = self.current_site();
        let name = self.name(expected)?;
        if name == "grad" {
            let wrt = self.gradient_attribute()?;
            self.expect_end("`]`")?;
            return Ok(Attribute::Gradient(wrt));
        }
        if name == "memory" {
            let bound = self.memory_attribute(here)?;
            self.expect_end("`]`")?;
            return Ok(Attribute::Memory(bound));
        }
        while !self.at_end() {
            self.skip_token();
        }
        if PASSED_ON.iter().any(|passed| name == passed) {
            return Ok(Attribute::PassedOn);
        }
        let message = format!("found attribute `{name}`, expected {expected}");
        Ok(Attribute::Unusual(Diag::new(Code::E1007, here, message)))
    }

    fn followed_by(&self, word: &str) -> bool {
        let next = self.cursor.token_tree();
        next.is_some_and(|(_, rest)| rest.ident().is_some_and(|(ident, _)| ident == word))
    }

    /// Skips to the next item: after `{ … }` or `;`, or before a token that can only begin an item.
    pub(super) fn skip_item(&mut self) {
        let begins =
            |parser: &Self| ["fn", "pub", "struct", "extern"].iter().any(|word| parser.at_word(word));
        while !self.at_end() && !begins(self) && !self.at("#") {
            let ends = self.at_group(Delimiter::Brace) || self.at(";");
            self.skip_token();
            if ends {
                return;
            }
        }
    }
}

/// Checks that a value is of the declared kind.
fn plain_of_kind(name: &Ident, kind: ConstantKind, value: Plain, site: Site) -> Result<Plain, Diag> {
    let is_of_kind = match (&value, kind) {
        (Plain::Truth(_), ConstantKind::Bool) => true,
        (Plain::Number(Number { value: NumberValue::Float(_), .. }), ConstantKind::Float) => true,
        (Plain::Number(Number { value: NumberValue::Integer(_), .. }), ConstantKind::Int) => true,
        (Plain::Truth(_) | Plain::Number(_), _) => false,
    };
    if is_of_kind {
        return Ok(value);
    }
    let text = match &value {
        Plain::Truth(truth) => truth.to_string(),
        Plain::Number(number) => number.text.clone(),
    };
    let message = format!("the constant `{name}` is declared `{}`, found `{text}`", kind.name());
    let diag = Diag::new(Code::E2001, site, message);
    let other = match &value {
        Plain::Truth(_) => "bool",
        Plain::Number(Number { value: NumberValue::Float(_), .. }) => "float",
        Plain::Number(number) if kind == ConstantKind::Float && number.suffix.is_none() => {
            return Err(diag.help(format!("write `{text}.0`")));
        }
        Plain::Number(_) => "int",
    };
    Err(diag.help(format!("declare it as `const {name}: {other} = {text};`")))
}

/// Removes functions whose names are generated forms of other functions, and functions whose modules would hide a crate
/// that every module sees.
fn check_forms(block: &mut Block, diags: &mut Diags) {
    let plain = |name: &Ident| name.to_string().trim_start_matches("r#").to_string();
    let mut forms: BTreeMap<String, Ident> = BTreeMap::new();
    for Function { name, gradient, .. } in &block.functions {
        let own = plain(name);
        let gradient = gradient.as_ref().map(|_| format!("{own}_grad"));
        let functions = [Some(own), gradient.clone()].into_iter().flatten();
        let made = functions.flat_map(|function| [format!("try_{function}"), format!("{function}_into")]);
        for form in gradient.into_iter().chain(made) {
            forms.entry(form).or_insert_with(|| name.clone());
        }
    }
    block.functions.retain(|Function { name, .. }| {
        let diag = |message| Diag::new(Code::E2008, Site::token(name.span()), message);
        let diag = if let Some(other) = forms.get(&plain(name)) {
            let note = format!("`{other}` also generates `try_…`, `…_into` and, with `#[grad]`, `…_grad`");
            diag(format!("`{other}` also generates a function `{name}`, expected another function name"))
                .note_at(Site::token(other.span()), note)
        } else if ["alloc", "core", "mind", "std"].contains(&&*plain(name)) {
            diag(format!("a function `{name}` would hide the crate `{name}`, expected another function name"))
                .help("a function also generates a module of the same name, which paths in the same scope would \
                    resolve to")
        } else {
            return true;
        };
        diags.push(diag);
        block.unread.push(name.clone());
        false
    });
}

fn function_names(block: &Block) -> impl Iterator<Item = &Ident> {
    let externs = block.externs.iter().map(|item| &item.function.name);
    let templates = block.templates.iter().map(|template| &template.name);
    block.functions.iter().map(|function| &function.name).chain(templates).chain(externs)
}

pub(super) fn defined_twice(what: &str, second: &Ident, first: &Ident) -> Diag {
    Diag::new(Code::E2008, Site::token(second.span()), format!("the {what} `{second}` is defined twice"))
        .note_at(Site::token(first.span()), format!("`{first}` is defined first"))
}

fn second_gradient(second: &Wrt, first: &Wrt) -> Diag {
    Diag::new(Code::E2008, second.site, "a second `#[grad(…)]` on one function")
        .note_at(first.site, "the first is")
        .help("list every parameter in one attribute")
}

pub(super) fn tokens_between(start: Cursor<'_>, end: Cursor<'_>) -> TokenStream {
    let mut cursor = start;
    let next = || {
        let (tree, rest) = (cursor != end).then(|| cursor.token_tree()).flatten()?;
        cursor = rest;
        Some(tree)
    };
    std::iter::from_fn(next).collect()
}
