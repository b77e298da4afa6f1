//! Types: `f32[N, 784]`, `i64`, `(f32, f32[3])`.

use mind_shape::names;
use proc_macro2::Delimiter;

use super::parser::Parser;
use super::paths::separator;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{DimExpr, ElementClass, TypeExpr, TypeKind};
use crate::ty::DType;

const EXPECTED: &str = "a type such as `f32[2, 3]`";

impl Parser<'_> {
    /// Reads a type.
    pub(super) fn type_expr(&mut self) -> Result<TypeExpr, Diag> {
        if self.at_group(Delimiter::Parenthesis) {
            return self.tuple_type();
        }
        if self.at("&") {
            return Err(self
                .unexpected(EXPECTED)
                .help("write only the type: tensors are borrowed automatically"));
        }
        if self.at_word("mut") {
            let help =
                "declare a parameter that is updated in place as `x: &mut f32[3]`; remove any other `mut`";
            return Err(self.unexpected(EXPECTED).help(help));
        }
        if self.at_group(Delimiter::Bracket) {
            let written = self.array_type().unwrap_or_else(|| "f32[3]".to_owned());
            let help = format!("put the type first, as in `{written}`");
            return Err(self.unexpected(EXPECTED).help(help));
        }
        if self.at_path() {
            return self.struct_type();
        }
        // The result type of a closure may be followed by its value in brackets.
        let is_declared = self.last_span().source_text().as_deref() == Some(":");
        let here = self.current_site();
        let name = self.cursor.ident().map(|(ident, _)| ident.to_string());
        let dtype = match name.as_deref().map(|name| (name, DType::from_name(name))) {
            Some((_, Some(dtype))) => dtype,
            Some((name, _)) if !super::parser::is_keyword(name) => {
                let before = (self.cursor, self.last_span());
                self.name(EXPECTED)?;
                let is_refused = self.refused.iter().any(|refused| refused == name);
                let Some(help) = foreign_type(name).filter(|_| !is_refused) else {
                    self.advance(before.1, before.0);
                    return self.struct_type();
                };
                let message = format!("found `{name}`, expected a type such as `f32[2, 3]`");
                return Err(Diag::new(Code::E1007, here, message).help(help));
            }
            Some(_) | None => return Err(self.unexpected(EXPECTED)),
        };
        self.name(EXPECTED)?;
        let (dims, site) = match self.at_group(Delimiter::Bracket) {
            true => self.list(Delimiter::Bracket, EXPECTED, "an operator, `,` or `]`", Self::dim_expr)?,
            false if is_declared && self.at_group(Delimiter::Parenthesis) => {
                let inside =
                    self.cursor.group(Delimiter::Parenthesis).map(|(inside, ..)| inside.token_stream());
                let dims = inside.map_or_else(String::new, |inside| inside.to_string());
                let help = format!("write dimensions in brackets: `{dtype}[{}]`", dims.replace(" ,", ","));
                return Err(self.unexpected("`[` and dimensions").help(help));
            }
            false => (Vec::new(), here),
        };
        if is_declared && self.at_group(Delimiter::Bracket) {
            let help = format!("write all dimensions in one pair of brackets, as in `{dtype}[2, 3]`");
            return Err(self.unexpected("the end of the type").help(help));
        }
        Ok(TypeExpr { kind: TypeKind::Tensor { dtype, dims }, site: here.to(site) })
    }

    /// `f32[2, 3]` for the next tokens `[[f32; 3]; 2]`, `Block[12]` for `[Block; 12]`.
    fn array_type(&self) -> Option<String> {
        let (mut inside, ..) = self.cursor.group(Delimiter::Bracket)?;
        let mut dims = Vec::new();
        loop {
            let nested = inside.group(Delimiter::Bracket);
            let behind = match nested {
                Some((_, _, behind)) => behind,
                None => inside.ident()?.1,
            };
            let (semicolon, rest) = behind.punct()?;
            let (extent, end) = rest.token_tree()?;
            if semicolon.as_char() != ';' || !end.eof() {
                return None;
            }
            dims.push(extent.to_string());
            match nested {
                Some((next, ..)) => inside = next,
                None => {
                    return Some(format!("{}[{}]", inside.ident()?.0, dims.join(", ")));
                }
            }
        }
    }

    /// Reads `Mlp`, `Dense<64, N>`, `layers::Dense<64, N>` or `Dense<64, N>[12]`.
    fn struct_type(&mut self) -> Result<TypeExpr, Diag> {
        let here = self.current_site();
        let name = self.name_or_path(EXPECTED)?;
        let (dims, over) = self.type_arguments()?;
        let stacked = self.leading_axes()?;
        Ok(TypeExpr { kind: TypeKind::Struct { name, dims, over, stacked }, site: here.to(self.before()) })
    }

    /// Reads `[12]` after the type of a struct, if it comes next.
    fn leading_axes(&mut self) -> Result<Vec<DimExpr>, Diag> {
        if !self.at_group(Delimiter::Bracket) {
            return Ok(Vec::new());
        }
        let (axes, _) = self.list(Delimiter::Bracket, EXPECTED, "an operator, `,` or `]`", Self::dim_expr)?;
        if self.at_group(Delimiter::Bracket) {
            let help = "write all leading axes in one pair of brackets, as `Block[2, 3]`";
            return Err(self.unexpected("the end of the type").help(help));
        }
        Ok(axes)
    }

    /// Reads `<64, N>` or `<Dense<64, N>>` after the name of a struct, if it comes next.
    fn type_arguments(&mut self) -> Result<(Vec<DimExpr>, Option<Box<TypeExpr>>), Diag> {
        if self.take("<").is_none() {
            return Ok((Vec::new(), None));
        }
        if !self.at_type() {
            return Ok((self.dim_arguments()?, None));
        }
        let here = self.current_site();
        let over = match self.cursor.ident().and_then(|(name, _)| DType::from_name(&name.to_string())) {
            Some(_) => self.type_expr()?,
            // A struct over parameters cannot itself be an argument, so types do not nest without bound.
            None => {
                let name = self.name_or_path(EXPECTED)?;
                let dims = if self.take("<").is_some() { self.dim_arguments()? } else { Vec::new() };
                let kind = TypeKind::Struct { name, dims, over: None, stacked: self.leading_axes()? };
                TypeExpr { kind, site: here.to(self.before()) }
            }
        };
        self.end_of_one()?;
        Ok((Vec::new(), Some(Box::new(over))))
    }

    /// Reads the end of `<…>` with a single argument: `>` or `,>`.
    pub(super) fn end_of_one(&mut self) -> Result<(), Diag> {
        self.take(",");
        if self.take_angle() { Ok(()) } else { Err(self.unexpected("`>`")) }
    }

    /// Whether the next tokens are a type and not a dimension: `f32[3]`, `Dense<64, N>`, `Block[12]`.
    fn at_type(&self) -> bool {
        let Some((mut name, mut behind)) = self.cursor.ident() else { return false };
        while let Some((next, rest)) = separator(behind).and_then(|rest| rest.ident()) {
            (name, behind) = (next, rest);
        }
        let is_struct = behind.punct().is_some_and(|(punct, _)| punct.as_char() == '<')
            || behind.group(Delimiter::Bracket).is_some();
        is_struct || DType::from_name(&name.to_string()).is_some()
    }

    /// Reads `64, N>`.
    fn dim_arguments(&mut self) -> Result<Vec<DimExpr>, Diag> {
        let mut dims = Vec::new();
        while !self.take_angle() {
            dims.push(self.dim_expr()?);
            if !self.at_angle() && self.take(",").is_none() {
                return Err(self.unexpected("an operator, `,` or `>`"));
            }
        }
        Ok(dims)
    }

    /// Reads `(f32)`, which is `f32`, or a tuple.
    fn tuple_type(&mut self) -> Result<TypeExpr, Diag> {
        let ((mut elements, is_tuple), site) = self.group(Delimiter::Parenthesis, EXPECTED, |parser| {
            let (mut elements, mut comma) = (Vec::new(), false);
            while !parser.at_end() {
                elements.push(parser.type_expr()?);
                comma = parser.at(",");
                parser.separator("`,` or `)`")?;
            }
            Ok((elements, comma))
        })?;
        match (elements.len(), is_tuple) {
            (1, false) => Ok(TypeExpr { site, ..elements.remove(0) }),
            _ => Ok(TypeExpr { kind: TypeKind::Tuple(elements), site }),
        }
    }

    /// Reads `: type` if `:` comes next.
    pub(super) fn annotation(&mut self) -> Result<Option<TypeExpr>, Diag> {
        self.take(":").map(|_: Site| self.type_expr()).transpose()
    }
}

/// Whether a name is never that of a struct in a type. It is then an element type, a class of them, or a type of Rust
/// or of another language.
pub(super) fn is_no_struct(name: &str) -> bool {
    DType::from_name(name).is_some() || ElementClass::of(name).is_some() || foreign_type(name).is_some()
}

/// The help for a type of Rust or of another language.
fn foreign_type(name: &str) -> Option<String> {
    let dtype = match name {
        "Tensor" | "TensorRef" | "TensorView" | "TensorViewMut" => {
            return Some("write the dtype and dimensions, as in `f32[N, 3]`".to_owned());
        }
        "Vec" | "Array" => {
            return Some(
                "write the dtype and dimensions, as in `f32[N, 3]`; for structs `Block[N]`".to_owned(),
            );
        }
        "usize" | "u64" | "isize" | "int" | "int64" | "long" => DType::I64,
        "int32" | "u32" | "i8" | "i16" | "u16" => DType::I32,
        "f16" | "bf16" | "float" | "float32" | "Float" | "single" => DType::F32,
        "double" | "float64" | "Double" => DType::F64,
        _ => return None,
    };
    Some(format!("dtypes are {}; write `{dtype}`", names::NUMBERS_THERE_ARE))
}
