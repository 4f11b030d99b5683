// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parses the arguments of `#[plugin]`, `#[handler]` and `#[source]`.

use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, Path, Token, parse_quote};

/// The options of `#[plugin(..)]`.
pub struct Options {
    /// The path of the crate clearway-plugin in the plugin's code. Default: `::clearway`.
    pub path: Path,
    /// Whether to export the plugin as the library's one plugin. Default: true.
    pub export: bool,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Options> {
        let mut options = Options { path: parse_quote!(::clearway), export: true };
        while !input.is_empty() {
            if input.peek(Token![crate]) {
                input.parse::<Token![crate]>()?;
                input.parse::<Token![=]>()?;
                options.path = input.call(Path::parse_mod_style)?;
            } else {
                let word: Ident = input.parse()?;
                if word != "no_export" {
                    return Err(syn::Error::new(word.span(), "expected `crate = path` or `no_export`"));
                }
                options.export = false;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// The thread or threads that run a function.
#[derive(Default)]
pub enum Place {
    /// The attribute has no second argument. The default is the pool for a handler, and a separate thread for a source.
    #[default]
    Unsaid,
    /// The calling thread.
    Direct,
    /// The plugin's pool of threads.
    Pool,
    /// The thread with that name.
    Serial(LitStr),
}

/// The arguments of `#[handler(..)]` and `#[source(..)]`.
pub struct Channel {
    pub name: LitStr,
    pub place: Place,
}

/// The maximum length of a name, in bytes. It is the same as in `clearway.h`.
const NAME_MAX: usize = 256;

/// Parses the name of a channel or of a thread, and checks its length.
fn name(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let name: LitStr = input.parse()?;
    let bytes = name.value().len();
    if bytes == 0 || bytes > NAME_MAX {
        return Err(syn::Error::new(name.span(), format!("a name has 1 to {NAME_MAX} bytes: bytes={bytes}")));
    }
    Ok(name)
}

impl Parse for Channel {
    fn parse(input: ParseStream<'_>) -> syn::Result<Channel> {
        let mut channel = Channel { name: name(input)?, place: Place::Unsaid };
        if input.is_empty() {
            return Ok(channel);
        }
        input.parse::<Token![,]>()?;
        let word: Ident = input.parse()?;
        channel.place = match word.to_string().as_str() {
            "direct" => Place::Direct,
            "pool" => Place::Pool,
            "serial" => {
                input.parse::<Token![=]>()?;
                Place::Serial(name(input)?)
            }
            _ => return Err(syn::Error::new(word.span(), "expected `direct`, `pool` or `serial = \"thread\"`")),
        };
        input.parse::<Option<Token![,]>>()?;
        Ok(channel)
    }
}
