//! Structs: their items, types, expressions and patterns.

use proc_macro2::{Delimiter, Ident, TokenTree};

use super::items::{ItemHead, defined_twice, tokens_between};
use super::levels::{FieldPart, LevelKind, OpenStruct, ParsedOperand, State};
use super::memory::misplaced;
use super::parser::Parser;
use super::templates::PARAMS;
use super::types::is_no_struct;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{
    Block, Callee, Field, FieldPattern, FieldValue, NodeKind, Path, Pattern, Struct, Transposed, TypeExpr,
    TypeKind,
};

const FIELD: &str = "a field such as `w: f32[2, 3]`";

impl Parser<'_> {
    /// Reads `struct Dense<I, O> { w: f32[I, O] }`.
    pub(super) fn struct_item(&mut self, head: ItemHead, block: &mut Block) -> Result<(), Diag> {
        let (start, from) = (self.current_site(), self.cursor);
        self.take_word("struct");
        if let Some(gradient) = head.gradient {
            let message = "found `#[grad(…)]` before `struct`, expected it before `fn`";
            self.diags.push(Diag::new(Code::E1007, gradient.site, message));
        }
        let name = self.name("the name of a struct")?;
        let over = self.over_parameters().inspect_err(|_| block.unread.push(name.clone()))?;
        let symbols = match self.symbols() {
            Ok(symbols) if self.at_group(Delimiter::Brace) => symbols,
            symbols => {
                block.unread.push(name.clone());
                let help = format!("fields need names: `struct {name} {{ w: f32[2, 3] }}`");
                return Err(symbols.err().unwrap_or_else(|| self.unexpected("`{` and fields").help(help)));
            }
        };
        let fields = match self.group(Delimiter::Brace, "`{` and fields", Self::fields) {
            Ok((fields, _)) => fields,
            Err(diag) => {
                block.unread.push(name);
                self.diags.push(diag);
                return Ok(());
            }
        };
        if is_no_struct(&name.to_string()) {
            let message = format!("`{name}` is the name of another type, expected another struct name");
            self.diags.push(Diag::new(Code::E2008, Site::token(name.span()), message));
            return Ok(());
        }
        if let Some(first) = block.structs.iter().find(|first| first.name == name) {
            let diag = defined_twice("struct", &name, &first.name);
            self.diags.push(diag);
            return Ok(());
        }
        let ItemHead { every: attributes, visibility, .. } = head;
        let (site, source) = (start.to(self.before()), tokens_between(from, self.cursor));
        block.structs.push(Struct { attributes, visibility, name, symbols, over, fields, site, source });
        Ok(())
    }

    /// Records the structs whose names are not allowed, so that uses of them report no further errors.
    pub(super) fn refuse_structs(&mut self) {
        let mut rest = self.cursor;
        while let Some((tree, behind)) = rest.token_tree() {
            rest = behind;
            let name = match tree {
                TokenTree::Ident(word) if word == "struct" => rest.ident().map(|(name, _)| name),
                TokenTree::Ident(_) | TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    None
                }
            };
            self.refused.extend(name.filter(|name| is_no_struct(&name.to_string())));
        }
    }

    /// Reads `<P: params>`, if it comes next.
    fn over_parameters(&mut self) -> Result<Option<Ident>, Diag> {
        let name = self.cursor.punct().filter(|(angle, _)| angle.as_char() == '<');
        let Some((name, colon)) = name.and_then(|(_, rest)| rest.ident()) else { return Ok(None) };
        let class = colon.punct().filter(|(colon, _)| colon.as_char() == ':');
        match class.and_then(|(_, rest)| rest.ident()) {
            Some((class, behind)) if class == PARAMS => {
                self.advance(class.span(), behind);
                self.end_of_one()?;
                Ok(Some(name))
            }
            Some(_) | None => Ok(None),
        }
    }

    fn fields(&mut self) -> Result<Vec<Field>, Diag> {
        let mut fields: Vec<Field> = Vec::new();
        while !self.at_end() {
            let field = self.field()?;
            match fields.iter().find(|first| first.name == field.name) {
                Some(first) => {
                    let diag = defined_twice("field", &field.name, &first.name);
                    self.diags.push(diag);
                }
                None => fields.push(field),
            }
            self.separator("`,` or `}`")?;
        }
        if fields.is_empty() { Err(self.unexpected(FIELD)) } else { Ok(fields) }
    }

    fn field(&mut self) -> Result<Field, Diag> {
        let ItemHead { every: attributes, visibility, gradient, memory, .. } = self.head()?;
        if let Some(bound) = memory {
            self.diags.push(misplaced(&bound, "a field"));
        }
        if let Some(gradient) = gradient {
            let message = "found `#[grad(…)]` before a field, expected it before `fn`";
            self.diags.push(Diag::new(Code::E1007, gradient.site, message));
        }
        let start = self.current_site();
        let name = self.name(FIELD)?;
        if let Some(axes) = Transposed::of(&name.to_string()) {
            let message = format!("`{}` is a transpose, expected another field name", axes.symbol());
            self.diags.push(Diag::new(Code::E2008, start, message));
        }
        let ty = self.field_type(&name);
        let site = start.to(self.before());
        // A field whose type has an error is kept.
        let ty = ty.map_err(|diag| {
            self.diags.push(diag);
            while !self.at_end() && !self.at(",") {
                self.skip_token();
            }
        });
        Ok(Field { attributes, visibility, name, ty: ty.ok(), site })
    }

    fn field_type(&mut self, name: &Ident) -> Result<TypeExpr, Diag> {
        self.expect(":").map_err(|diag| diag.help(format!("give it a type, as in `{name}: f32[2, 3]`")))?;
        let ty = self.type_expr()?;
        match ty.kind {
            TypeKind::Tuple(_) => {
                let message = "found a tuple, expected the type of a tensor or a struct";
                Err(Diag::new(Code::E1007, ty.site, message).help("give each element its own field"))
            }
            TypeKind::Tensor { .. } | TypeKind::Struct { .. } => Ok(ty),
        }
    }

    /// Enters `{ … }` after the name of a struct.
    pub(super) fn enter_struct(&mut self, name: Callee) -> State {
        let part = FieldPart::Base;
        let open = OpenStruct { name, fields: Vec::new(), part, base: None };
        self.enter(Delimiter::Brace, LevelKind::Struct(open))
    }

    /// Reads `w1:`, `b1` alone or `..` in a struct expression.
    pub(super) fn field_start(&mut self) -> Result<State, Diag> {
        if self.take("..").is_some() {
            self.open_struct().part = FieldPart::Base;
            return Ok(State::Operand);
        }
        let name = self.name("a field, `..` or `}`")?;
        let site = Site::token(name.span());
        if self.take(":").is_some() {
            self.open_struct().part = FieldPart::Field(name);
            return Ok(State::Operand);
        }
        let value = self.push(NodeKind::Name(name.clone()), site);
        self.open_struct().fields.push(FieldValue { name, value });
        let is_value = self.at(".");
        self.separator("`:`, `,` or `}`").map_err(|diag| match is_value {
            true => diag.help("write the name of the field before each value, as in `w: net.w`"),
            false => diag,
        })?;
        Ok(State::Element)
    }

    /// Adds an expression to the field or the base that is being read.
    pub(super) fn field_value(&mut self, operand: ParsedOperand) -> Result<State, Diag> {
        let open = self.open_struct();
        match std::mem::replace(&mut open.part, FieldPart::Base) {
            FieldPart::Field(name) => {
                open.fields.push(FieldValue { name, value: operand.id });
                self.separator("an operator, `,` or `}`")?;
            }
            FieldPart::Base => {
                open.base = Some(operand.id);
                self.expect_end("an operator or `}`")?;
            }
        }
        Ok(State::Element)
    }

    fn open_struct(&mut self) -> &mut OpenStruct {
        match &mut self.level().kind {
            LevelKind::Struct(open) => open,
            LevelKind::Fragment
            | LevelKind::Parenthesis { .. }
            | LevelKind::Array { .. }
            | LevelKind::Call(_)
            | LevelKind::Subscripts { .. }
            | LevelKind::Block { .. }
            | LevelKind::Closure
            | LevelKind::Expression
            | LevelKind::Derivative(_)
            | LevelKind::Cotangent(_)
            | LevelKind::Loop(_) => unreachable!("the caller has seen the struct"),
        }
    }

    /// Reads `{ w1, b1: b, .. }` after the name of a struct in a pattern.
    pub(super) fn struct_pattern(&mut self, name: Callee) -> Result<Pattern, Diag> {
        let ((fields, rest), site) = self.group(Delimiter::Brace, "`{`", |parser| {
            let mut fields = Vec::new();
            while !parser.at_end() {
                if parser.take("..").is_some() {
                    parser.expect_end("`}`")?;
                    return Ok((fields, true));
                }
                let name = parser.name("a field or `..`")?;
                let pattern = match parser.take(":") {
                    Some(_) => parser.pattern()?,
                    None => Pattern::Name(name.clone()),
                };
                fields.push(FieldPattern { name, pattern });
                parser.separator("`:`, `,` or `}`")?;
            }
            Ok((fields, false))
        })?;
        let site = name.site().to(site);
        Ok(Pattern::Struct { name, fields, rest, site })
    }

    /// Reads `p` or `p.first.w`.
    pub(super) fn path(&mut self, expected: &str) -> Result<Path, Diag> {
        let name = self.name(expected)?;
        let mut fields = Vec::new();
        while self.take(".").is_some() {
            fields.push(self.name("the name of a field")?);
        }
        Ok(Path { name, fields })
    }
}

impl OpenStruct {
    /// The node of the struct expression, with its site.
    pub(super) fn close(self, braces: Site) -> (NodeKind, Site) {
        let Self { name, fields, part: _, base } = self;
        let site = name.site().to(braces);
        (NodeKind::Struct { name, fields, base }, site)
    }
}
