//! `weights!`: checks a safetensors file against a struct while Rust compiles, and embeds it in the program.
//!
//! The struct is imported like the struct of an expression (`link`). Its fields are therefore known here, and
//! differences are reported at the user's tokens. A check in constants could also cover structs that are not from
//! `mind!`. But it could only report one fixed text, at a constant that the user did not write.

use mind_core::{
    diag::{Code, Diag, Diags, Site},
    surface::{
        self,
        lower::{Library, Structure},
    },
};
use mind_files::{Archive, Fault, Layout, Names, Part, safetensors};
use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::{
    emit::{Root, structs::zeros_of},
    expand::unreadable,
    include::{Source, split_at_comma},
    link::{CallSite, Imports, Linked},
    report::{compile_error, compile_errors},
};

const FORM: &str = "write `weights!(\"net.safetensors\", Net)`, optionally followed by `names = [(\"fc1.weight\", \
    \"w1\")]`, which maps a name in the file to a field, and `allow_unexpected`";

/// Expands `mind::weights!("net.safetensors", Net)`: to a macro call that ends in [`expand_linked`], with the source of
/// the struct.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let (root, written) = Root::take(input);
    let request = match Request::read(written.clone()) {
        Ok(request) => request,
        Err(diag) => return compile_error(&diag),
    };
    let (program, diags) = surface::parse(request.program());
    if !diags.is_empty() {
        return compile_errors(&diags.as_slice()[..1]);
    }
    if program.imports().is_empty() {
        return compile_error(&request.no_struct());
    }
    let imports = Imports::new(program.imports(), &CallSite::of(&written));
    let (uses, call) = imports.call_chain(&root, written, "weights_linked");
    quote! {{ #uses #call }}
}

/// Expands the call after the source of the struct has been received.
pub(crate) fn expand_linked(input: TokenStream) -> TokenStream {
    let Linked { root, written, names, received } = Linked::read(input);
    let checked = || {
        let request = Request::read(written).map_err(|diag| vec![diag])?;
        let (program, _) = surface::parse(request.program());
        let received = received.map_err(|why| vec![unreadable(program.imports(), Some(&why))])?;
        let library = received.library(program.imports(), &names);
        let structure = request.structure(&program, library)?;
        request.checked(&root, &structure).map_err(|diag| vec![diag])
    };
    checked().unwrap_or_else(|diags: Vec<Diag>| compile_errors(&diags))
}

/// The arguments of the call.
struct Request {
    path: TokenStream,
    ty: Vec<TokenTree>,
    /// Pairs of the name in the file and the name of the parameter.
    names: Vec<(String, String)>,
    allow_unexpected: bool,
}

impl Request {
    fn read(input: TokenStream) -> Result<Self, Diag> {
        let (path, rest) = split_at_comma(input);
        let (ty, mut rest) = split_type(rest);
        let mut request = Self { path, ty, names: Vec::new(), allow_unexpected: false };
        if request.ty.is_empty() {
            return Err(malformed(Span::call_site(), "no struct is named"));
        }
        while !rest.is_empty() {
            let (option, others) = split_at_comma(rest);
            rest = others;
            let option: Vec<TokenTree> = option.into_iter().collect();
            match &option[..] {
                [] if rest.is_empty() => {}
                [TokenTree::Ident(word)] if word == "allow_unexpected" => request.allow_unexpected = true,
                [TokenTree::Ident(word), TokenTree::Punct(equals), TokenTree::Group(list)]
                    if word == "names"
                        && equals.as_char() == '='
                        && list.delimiter() == Delimiter::Bracket =>
                {
                    request.names.extend(pairs(list)?);
                }
                option => {
                    let at = option.first().map_or_else(Span::call_site, TokenTree::span);
                    return Err(malformed(at, "an option is malformed"));
                }
            }
        }
        Ok(request)
    }

    /// A program with the struct as the type of a parameter. It imports the names that the type uses without a path.
    fn program(&self) -> TokenStream {
        let (imports, ty) = (plain_names(&self.ty), &self.ty);
        quote! { #(use #imports;)* fn weights(net: #(#ty)*) -> bool { true } }
    }

    /// The place of the struct's type in the call.
    fn site(&self) -> Site {
        let [first, .., last] = &self.ty[..] else { return Site::token(self.ty[0].span()) };
        Site::token(first.span()).to(Site::token(last.span()))
    }

    /// The struct's type as text.
    fn shown(&self) -> String {
        let ty: TokenStream = self.ty.iter().cloned().collect();
        let shown = ty.to_string().replace(" :: ", "::").replace(" < ", "<").replace(" >", ">");
        shown.replace(" ,", ",").replace(" [", "[")
    }

    fn no_struct(&self) -> Diag {
        let message = format!("found `{}`, needed a struct of `mind!`", self.shown());
        Diag::new(Code::E2001, self.site(), message).help(FORM)
    }

    /// The resolved type of the struct.
    fn structure(
        &self,
        program: &surface::ast::Program,
        library: Option<Library>,
    ) -> Result<Structure, Vec<Diag>> {
        let Some(library) = library else {
            let message =
                "the source of the struct cannot be read, expected one of this version of the language";
            let diag = Diag::new(Code::E2002, self.site(), message);
            return Err(vec![diag.help("depend on only one version of the library")]);
        };
        let (lowered, diags): (_, Diags) = surface::lower_with(program, &library);
        let structure = lowered.functions.first().and_then(|function| function.parameters.first());
        match structure.map(|parameter| parameter.structure.clone()) {
            _ if !diags.is_empty() => Err(diags.as_slice().to_vec()),
            Some(structure @ Structure::Struct(_)) => Ok(structure),
            Some(Structure::Value(_) | Structure::Tuple(_)) | None => Err(vec![self.no_struct()]),
        }
    }

    /// The expression for the struct's value.
    ///
    /// # Errors
    /// If the file does not fit the struct, or cannot be read.
    fn checked(&self, root: &Root, structure: &Structure) -> Result<TokenStream, Diag> {
        let parts = parts(structure).ok_or_else(|| {
            let message = format!("`{}` has dimensions that are not known at compile time", self.shown());
            Diag::new(Code::E2003, self.site(), message).help("write them as numbers, as in `Net<64, 10>`")
        })?;
        let (source, at) = Source::open(self.path.clone()).map_err(|diag| match diag.code {
            Code::E1008 => diag.help("load it at run time with `mind::files::safetensors::load`"),
            _ => diag,
        })?;
        let refused = |fault: Fault| {
            let message = format!("`{}` is not a safetensors file: {fault}", source.shown());
            Diag::new(Code::E1007, Site::token(at), message)
        };
        let file = safetensors::File::of_bytes(source.bytes()).map_err(refused)?;
        let names = Names::pairs(self.names.iter().cloned());
        let names = if self.allow_unexpected { names.allow_unexpected() } else { names };
        if let Err(differences) = mind_files::fit(&parts, file.arrays(), &names) {
            let message = format!("`{}` does not fit `{}`", source.shown(), self.shown());
            let diag = Diag::new(Code::E2001, self.site(), message);
            return Err(differences.iter().fold(diag, |diag, difference| diag.note(difference.to_string())));
        }
        let Some(path) = source.path().to_str() else {
            let message = format!("the path of `{}` is not valid UTF-8", source.shown());
            return Err(Diag::new(Code::E1007, Site::token(at), message));
        };
        let (files, zeros) = (root.files(), zeros_of(root, structure));
        let (mut path, more) = (Literal::string(path), self.allow_unexpected);
        path.set_span(at);
        let names = self.names.iter().map(|(file, parameter)| quote! { (#file, #parameter) });
        // `include_bytes!` also makes Cargo compile the crate again when the file changes.
        Ok(quote_spanned! { at.resolved_at(Span::mixed_site()) =>
            #files::safetensors::embedded(#zeros, ::core::include_bytes!(#path), &[#(#names),*], #more)
        })
    }
}

/// The tokens before the first comma outside of `<…>`, and the tokens after it.
fn split_type(input: TokenStream) -> (Vec<TokenTree>, TokenStream) {
    let (mut depth, mut ty, mut trees) = (0_usize, Vec::new(), input.into_iter());
    for tree in trees.by_ref() {
        match &tree {
            TokenTree::Punct(mark) => match mark.as_char() {
                '<' => depth += 1,
                '>' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => break,
                _ => {}
            },
            TokenTree::Ident(_) | TokenTree::Group(_) | TokenTree::Literal(_) => {}
        }
        ty.push(tree);
    }
    (ty, trees.collect())
}

/// The names in a type that are not part of a path.
fn plain_names(ty: &[TokenTree]) -> Vec<TokenTree> {
    let is_colon = |at: usize| matches!(ty.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    let mut names: Vec<TokenTree> = Vec::new();
    for (at, tree) in ty.iter().enumerate() {
        let TokenTree::Ident(name) = tree else { continue };
        let is_capital = name.to_string().trim_start_matches("r#").starts_with(char::is_uppercase);
        let is_in_path = is_colon(at + 1) || at.checked_sub(1).is_some_and(is_colon);
        let is_new = names.iter().all(|other| *name != other.to_string());
        if is_capital && !is_in_path && is_new {
            names.push(tree.clone());
        }
    }
    names
}

/// `("fc1.weight", "w1"), …`
fn pairs(list: &Group) -> Result<Vec<(String, String)>, Diag> {
    let (mut rest, mut pairs) = (list.stream(), Vec::new());
    while !rest.is_empty() {
        let (pair, others) = split_at_comma(rest);
        rest = others;
        let inside = match pair.clone().into_iter().next() {
            Some(TokenTree::Group(group)) if pair.into_iter().count() == 1 => group.stream(),
            _ => return Err(malformed(list.span(), "`names` is a list of pairs")),
        };
        let (file, parameter) = split_at_comma(inside);
        match (text(file), text(parameter)) {
            (Some(file), Some(parameter)) => pairs.push((file, parameter)),
            _ => return Err(malformed(list.span(), "`names` is a list of pairs of strings")),
        }
    }
    Ok(pairs)
}

fn text(tokens: TokenStream) -> Option<String> {
    syn::parse2::<syn::LitStr>(tokens).ok().map(|text| text.value())
}

fn malformed(at: Span, what: &str) -> Diag {
    Diag::new(Code::E1007, Site::token(at), what).help(FORM)
}

/// The tensors and numbers of a struct, by their names in `Parameters`. `None` if an extent is unknown.
fn parts(structure: &Structure) -> Option<Vec<Part>> {
    let part = |leaf: surface::lower::Leaf<'_>| {
        let path = leaf.path.iter().map(|field| field.to_string().trim_start_matches("r#").to_owned());
        let dims = leaf.ty.shape.iter().map(|dim| usize::try_from(dim.as_literal()?).ok());
        let layout = Layout { dtype: leaf.ty.dtype.name().to_owned(), dims: dims.collect::<Option<_>>()? };
        Some(Part { name: path.collect::<Vec<_>>().join("."), layout })
    };
    structure.named_leaves().into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expansion of a call, or its error, for a struct with these fields.
    fn checked(fields: &str, call: &str) -> Result<String, String> {
        let program = format!("struct Net {{ {fields} }} fn weights(net: Net) -> bool {{ true }}");
        let (program, _) = surface::parse(program.parse().unwrap());
        let structure = surface::lower(&program).0.functions[0].parameters[0].structure.clone();
        let request = Request::read(call.parse().unwrap()).map_err(|diag| diag.to_string())?;
        let checked = request.checked(&Root::take(TokenStream::new()).0, &structure);
        checked.map(|tokens| tokens.to_string()).map_err(|diag| diag.to_string())
    }

    /// All arrays in `mind-files/tests/data/arrays.safetensors`.
    const FIELDS: &str =
        "w: f32[2, 3], columns: f32[2, 3], big: f64[2, 3], count: i64, ids: i32[2], mask: bool[3]";
    const FILE: &str = "\"../../mind-files/tests/data/arrays.safetensors\"";

    #[test]
    fn a_file_of_the_struct_becomes_part_of_the_program() {
        let found = checked(FIELDS, &format!("{FILE}, Net")).unwrap();
        assert!(found.contains(":: mind :: files :: safetensors :: embedded (Net :: zeros ()"), "{found}");
        assert!(found.contains("include_bytes"), "{found}");
        let fields = "rows: f32[2, 3]";
        let call = format!("{FILE}, Net, names = [(\"w\", \"rows\")], allow_unexpected,");
        let found = checked(fields, &call).unwrap();
        assert!(found.contains("& [(\"w\" , \"rows\")] , true"), "{found}");
    }

    #[test]
    fn all_differences_are_told_at_once() {
        let fields = "w: f32[2, 4], columns: f64[2, 3], big: f64[2, 3], count: i64, more: i32[2]";
        let said = checked(fields, &format!("{FILE}, Net")).unwrap_err();
        assert!(said.starts_with("[E2001] `"), "{said}");
        for line in [
            "arrays.safetensors` does not fit `Net`",
            "`w` is f32[2, 3], needed f32[2, 4]",
            "`columns` is f32[2, 3], needed f64[2, 3]",
            "`more` i32[2] is missing",
            "`ids` i32[2] is unexpected",
            "`mask` bool[3] is unexpected",
        ] {
            assert!(said.contains(line), "{line}\n{said}");
        }
        assert!(!said.contains("count"), "{said}");
    }

    #[test]
    fn what_is_no_file_of_safetensors_and_what_is_malformed_is_told() {
        for (call, words) in [
            ("\"weights.rs\", Net", "is not a safetensors file: the header has "),
            ("\"none.safetensors\", Net", "there is no file `none.safetensors`"),
            ("\"none.safetensors\"", "no struct is named"),
            ("\"none.safetensors\", Net, names", "an option is malformed"),
            ("\"none.safetensors\", Net, names = [\"w\"]", "`names` is a list of pairs"),
            ("\"none.safetensors\", Net, names = [(\"w\", w)]", "`names` is a list of pairs of strings"),
        ] {
            let said = checked(FIELDS, call).unwrap_err();
            assert!(said.starts_with("[E1007] ") && said.contains(words), "{said}");
        }
    }

    #[test]
    fn what_a_type_names_is_imported_unless_it_has_a_path() {
        let names = |ty: &str| {
            let tokens: Vec<_> = ty.parse::<TokenStream>().unwrap().into_iter().collect();
            plain_names(&tokens).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(names("Net"), ["Net"]);
        assert_eq!(names("nets::Net"), [""; 0]);
        assert_eq!(names("Dense<WIDTH, 10>"), ["Dense", "WIDTH"]);
        assert_eq!(names("optim::Adam<Net>"), ["Net"]);
    }
}
