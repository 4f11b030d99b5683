// SPDX-License-Identifier: MIT OR Apache-2.0
//! Implements the attribute `#[plugin]`. The crate clearway-plugin exports the attribute and documents it.

#![warn(missing_docs)]

mod method;

use proc_macro::TokenStream;
use quote::quote;
use syn::{ImplItem, ItemImpl, parse_macro_input};

use crate::method::{Method, Options};

/// Makes a plugin of an `impl` block, and exports it as the library's one plugin. The functions with `#[handler("channel")]` become the
/// plugin's handlers, and those with `#[source("channel")]` its sources. The documentation of the crate clearway-plugin has the details.
///
/// - `#[plugin(crate = path)]` sets the path of the crate clearway-plugin. Use it if the dependency has another name than `clearway`.
/// - `#[plugin(no_export)]` does not export the plugin. Use it for a test that has several plugins in one program.
#[proc_macro_attribute]
pub fn plugin(options: TokenStream, block: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as Options);
    let block = parse_macro_input!(block as ItemImpl);
    expand(&options, block).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Returns the block without the attributes, followed by the generated code.
fn expand(options: &Options, mut block: ItemImpl) -> syn::Result<proc_macro2::TokenStream> {
    if block.trait_.is_some() || !block.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(
            &block.self_ty,
            "#[plugin] wants `impl Type { .. }`, without a trait and without generics",
        ));
    }
    let mut methods = Vec::new();
    let mut has_open = false;
    for item in &mut block.items {
        let ImplItem::Fn(function) = item else { continue };
        has_open |= function.sig.ident == "open";
        methods.extend(Method::of(function)?);
    }
    if methods.is_empty() {
        return Err(syn::Error::new_spanned(
            &block.self_ty,
            "the plugin has no function with #[handler(\"channel\")] or #[source(\"channel\")]",
        ));
    }
    let clearway = &options.path;
    let this = &block.self_ty;
    let open = if has_open {
        quote!(::core::result::Result::Ok(<#this>::open(host)?))
    } else {
        quote!({
            let _ = host;
            ::core::result::Result::Ok(<#this as ::core::default::Default>::default())
        })
    };
    let registrations = methods.iter().map(|method| method.registration(clearway, this));
    let export = options.export.then(|| quote!(#clearway::export!(#this);));
    Ok(quote! {
        #block

        // The generated code is the same for all kinds of functions. For some kinds, Clippy would suggest simpler code.
        #[allow(clippy::all, clippy::pedantic)]
        impl #clearway::Plugin for #this {
            fn open(host: #clearway::Host) -> #clearway::Result<Self> {
                #open
            }

            fn register(registry: &mut #clearway::Registry<Self>) -> #clearway::Result<()> {
                #(#registrations)*
                ::core::result::Result::Ok(())
            }
        }

        #export
    })
}
