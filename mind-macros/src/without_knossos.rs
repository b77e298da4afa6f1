//! The macros of Knossos in a build without the feature `knossos`: each reports how to enable it.

use proc_macro2::TokenStream;
use quote::quote;

pub fn expand_file(_: TokenStream) -> TokenStream {
    expand_text(TokenStream::new())
}

pub fn expand_text(_: TokenStream) -> TokenStream {
    quote! {
        ::core::compile_error! {
            "Knossos programs need the feature `knossos`: add `features = [\"knossos\"]` to `mind-dsl` in Cargo.toml"
        }
    }
}
