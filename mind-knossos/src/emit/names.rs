//! Converts names of programs to names in Rust.

use crate::types::{Type, TypeId, Types};

/// A valid Rust name: invalid characters become `_`, and a keyword gets the suffix `_`.
pub(crate) fn rust_name(name: &str) -> String {
    let allowed = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
    let mut word: String = name.chars().map(allowed).collect();
    if word.chars().all(|character| character == '_') {
        word.insert_str(0, "value");
    }
    if word.starts_with(|first: char| first.is_ascii_digit()) {
        word.insert(0, '_');
    }
    if syn::parse_str::<proc_macro2::Ident>(&word).is_err() {
        word.push('_');
    }
    word
}

/// The name of a derivative, such as `[rev f]`, without brackets.
pub(super) fn plain_name(name: &str) -> String {
    rust_name(name.replace(['[', ']'], "").trim())
}

/// A type as part of a name: `tuple_float_vec_integer`.
pub(crate) fn type_name(types: &Types, ty: TypeId) -> String {
    match types.get(ty) {
        Type::Integer => "integer".into(),
        Type::Float => "float".into(),
        Type::Bool => "bool".into(),
        Type::String => "string".into(),
        Type::Tape => "tape".into(),
        Type::Tensor(1, element) => format!("vec_{}", type_name(types, *element)),
        Type::Tensor(rank, element) => format!("tensor{rank}_{}", type_name(types, *element)),
        Type::Tuple(members) => {
            let members: Vec<_> = members.iter().map(|member| type_name(types, *member)).collect();
            if members.is_empty() { "nothing".into() } else { members.join("_") }
        }
        Type::Lambda(..) | Type::LinearMap(..) | Type::Accumulator(_) => "value".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_rust_names() {
        let shown = ["w", "p.w1", "mul@ff", "2nd", "_", "type", "self", "a-b"].map(rust_name);
        assert_eq!(
            shown,
            ["w", "p_w1", "mul_ff", "_2nd", "value_", "type_", "self_", "a_b"].map(String::from)
        );
        assert_eq!(plain_name("[rev [fwd f]]"), "rev_fwd_f");
    }
}
