//! The code that `mind!` generates in the user's crate, as tokens.

use proc_macro2::{TokenStream, TokenTree};

use mind_tests::{programs, sample};

use crate::expand;

/// The expansion of a program, as text with single spaces.
fn expansion(source: &str) -> String {
    expand::expand(source.parse().expect("the program is made of tokens")).to_string()
}

/// Calls `look` with each token, also inside brackets, and up to three tokens before it.
fn walk(tokens: TokenStream, look: &mut impl FnMut(&[TokenTree], &TokenTree)) {
    let trees: Vec<_> = tokens.into_iter().collect();
    for (i, tree) in trees.iter().enumerate() {
        look(&trees[i.saturating_sub(3)..i], tree);
        if let TokenTree::Group(group) = tree {
            walk(group.stream(), look);
        }
    }
}

#[test]
fn no_expansion_holds_unsafe_code() {
    for program in sample("programs of the sources", programs()) {
        walk(expand::expand(program), &mut |_, tree| {
            assert!(!matches!(tree, TokenTree::Ident(name) if name == "unsafe"));
        });
    }
}

#[test]
fn paths_from_the_root_go_to_core_and_to_what_is_private_of_mind() {
    let is_colon = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ':');
    let (mut core, mut mind) = (0, 0);
    for program in sample("programs of the sources", programs()) {
        let expansion = expand::expand(program);
        walk(expansion, &mut |before, tree| {
            let TokenTree::Ident(name) = tree else { return };
            // A path such as `num::std` continues from a name.
            let from_root = match before {
                [first, colons @ ..] if colons.len() == 2 => {
                    colons.iter().all(is_colon) && !matches!(first, TokenTree::Ident(_))
                }
                _ => before.len() == 2 && before.iter().all(is_colon),
            };
            if from_root {
                core += usize::from(name == "core");
                mind += usize::from(name == "mind");
                assert!(name != "std" && name != "alloc", "::{name}");
            }
        });
    }
    assert!(core > 200 && mind > 200, "{core} {mind}");
}

#[test]
fn a_function_keeps_its_docs_and_tells_its_shapes() {
    let text = expansion(
        "/// Scales.\n#[must_use] #[inline] pub(crate) fn scale<N>(x: &mut f32[N, 3], by: f64, n: i64[2 * N]) -> (f32[N], f64) {
            x *= 2.0;
            (sum(x, axes = [1]), by)
        }",
    );
    for part in [
        "Scales.",
        "# [must_use]",
        "# [inline]",
        "pub (crate) fn scale < N",
        "pub (crate) fn try_scale < N",
        "pub (crate) fn scale_into < N",
        "pub (crate) mod scale",
        "# Shapes",
        "- `x`: `f32[N, 3]`, updated in place",
        "- `by`: `f64`",
        "- `n`: `i64[2 * N]`",
        "- returns `(f32[N], f64)`",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn a_function_in_error_keeps_its_items() {
    let text = expansion("#[grad(w)] pub fn f<N>(x: f32[N, 3], w: f32[4]) -> f32 { sum(x @ w) }");
    assert_eq!(text.matches("compile_error").count(), 1, "{text}");
    for item in [
        "fn f <",
        "fn try_f <",
        "fn f_into <",
        "mod f {",
        "fn f_grad <",
        "fn try_f_grad <",
        "fn f_grad_into <",
    ] {
        assert!(text.contains(item), "{item} is not in\n{text}");
    }
}

#[test]
fn a_private_function_makes_nothing_public() {
    let text = expansion("fn f(x: f32[3]) -> f32 { sum(x) }");
    assert!(!text.contains("pub fn f") && !text.contains("pub mod f"), "{text}");
}

#[test]
fn what_cannot_fail_has_no_try_form() {
    let text = expansion(
        "fn fixed(x: f32[3]) -> f32 { sum(x) }
        fn symbolic<N>(x: f32[N]) -> f32 { sum(x) }
        fn gathering(t: f32[3], i: i64) -> f32 { gather(t, i) }",
    );
    assert!(!text.contains("try_fixed"), "{text}");
    assert!(text.contains("try_symbolic") && text.contains("try_gathering"), "{text}");
}

/// Only the numbers of elements differ.
#[test]
fn the_code_for_a_stack_does_not_grow_with_its_elements() {
    let program = |layers: usize| {
        format!(
            "#[derive(Clone)] struct Block {{ w: f32[8, 8], b: f32[8] }}
             struct Net {{ blocks: Block[{layers}] }}
             fn loss<N>(p: Net, x: f32[N, 8]) -> f32 {{
                 sum(fold x = x for layer in p.blocks {{ x + tanh(x @ layer.w + layer.b) }})
             }}
             #[grad(p)]
             fn squared<N>(p: Net, x: f32[N, 8]) -> f32 {{ loss(p, x) * loss(p, x) }}
             fn first(p: Net) -> f32 {{ sum(p.blocks[0].w) }}"
        )
    };
    let [few, many] = [12, 96].map(|layers| expansion(&program(layers)).split_whitespace().count());
    assert!(few > 1000, "{few}");
    assert_eq!(few, many);
}
