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
                let argument: Ident = input.parse()?;
                if argument != "no_export" {
                    return Err(syn::Error::new(argument.span(), "expected `crate = path` or `no_export`"));
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
pub enum RunsOn {
    /// The attribute has no second argument. The default is the pool for a handler, and a separate thread for a source.
    #[default]
    Default,
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
    pub runs_on: RunsOn,
}

/// The maximum length of a name, in bytes. It is the same as in `clearway.h`.
const NAME_MAX: usize = 256;

/// Parses the name of a channel or of a thread, and checks its length.
fn parse_name(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let name: LitStr = input.parse()?;
    let bytes = name.value().len();
    if bytes == 0 || bytes > NAME_MAX {
        return Err(syn::Error::new(name.span(), format!("a name has 1 to {NAME_MAX} bytes: bytes={bytes}")));
    }
    Ok(name)
}

impl Parse for Channel {
    fn parse(input: ParseStream<'_>) -> syn::Result<Channel> {
        let mut channel = Channel { name: parse_name(input)?, runs_on: RunsOn::Default };
        if input.is_empty() {
            return Ok(channel);
        }
        input.parse::<Token![,]>()?;
        let argument: Ident = input.parse()?;
        channel.runs_on = match argument.to_string().as_str() {
            "direct" => RunsOn::Direct,
            "pool" => RunsOn::Pool,
            "serial" => {
                input.parse::<Token![=]>()?;
                RunsOn::Serial(parse_name(input)?)
            }
            _ => return Err(syn::Error::new(argument.span(), "expected `direct`, `pool` or `serial = \"thread\"`")),
        };
        input.parse::<Option<Token![,]>>()?;
        Ok(channel)
    }
}
