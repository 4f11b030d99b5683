// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads functions with `#[handler]` or `#[source]`, and generates the code that registers them. Parses the arguments of these attributes and of
//! `#[plugin]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{FnArg, Ident, ImplItemFn, LitStr, Path, ReceiverKind, ReturnType, Token, Type, parse_quote};

/// A function with `#[handler]` or `#[source]`.
pub struct Method {
    name: Ident,
    channel: Channel,
    kind: Kind,
    /// The type of the message or of the arguments. `None` if the function has no parameter for them.
    input: Option<Type>,
    /// Whether the function returns a `Result`.
    fallible: bool,
    /// Whether the function returns a value.
    returns: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A handler that returns the answer.
    Handler,
    /// A handler that answers by a `Reply`.
    Replies,
    /// A source of events.
    Source,
}

/// Returns whether the last segment of a type's path is `name`.
fn is_type(given: &Type, name: &str) -> bool {
    matches!(given, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

impl Method {
    /// Reads a function, and removes its attribute `#[handler]` or `#[source]`. Returns `None` if the function has neither.
    pub fn of(function: &mut ImplItemFn) -> syn::Result<Option<Method>> {
        let is_own =
            |attribute: &syn::Attribute| ["handler", "source"].iter().any(|name| attribute.path().is_ident(name));
        let (mut own, others) = function.attrs.drain(..).partition::<Vec<_>, _>(is_own);
        function.attrs = others;
        let Some(attribute) = own.pop() else { return Ok(None) };
        if let Some(another) = own.pop() {
            return Err(syn::Error::new_spanned(another, "a function is one handler, or one source"));
        }
        let channel: Channel = attribute.parse_args()?;
        let signature = &function.sig;
        let error = |what: &str| Err(syn::Error::new_spanned(signature, what));
        if signature.asyncness.is_some() {
            return error("an async function cannot be called by the host: take a `Reply`, and answer later");
        }
        if signature.generics.type_params().next().is_some() {
            return error("the function must have no type parameters");
        }
        let mut inputs = signature.inputs.iter();
        let by_reference = |given: &FnArg| matches!(given, FnArg::Receiver(this) if matches!(this.kind, ReceiverKind::Reference(_, _, None)));
        if !inputs.next().is_some_and(by_reference) {
            return error("the function must take `&self`: calls run on several threads at once");
        }
        let mut types: Vec<Type> = inputs
            .filter_map(|given| match given {
                FnArg::Typed(typed) => Some((*typed.ty).clone()),
                FnArg::Receiver(_) => None,
            })
            .collect();
        let kind = if attribute.path().is_ident("source") {
            if !types.pop().is_some_and(|last| is_type(&last, "Stream")) {
                return error("a source takes a `Stream` as its last argument: fn(&self, arguments, Stream)");
            }
            Kind::Source
        } else if types.last().is_some_and(|last| is_type(last, "Reply")) {
            types.pop();
            Kind::Replies
        } else {
            Kind::Handler
        };
        if types.len() > 1 {
            return error("the function takes one message: put several values into a struct or a tuple");
        }
        if let (Kind::Source, RunsOn::Pool | RunsOn::Serial(_)) = (kind, &channel.runs_on) {
            return error("a source runs on a thread of its own for each listener, or `direct`");
        }
        let output = match &signature.output {
            ReturnType::Default => None,
            ReturnType::Type(_, output) => Some(&**output),
        };
        let unit = output.is_none_or(|output| matches!(output, Type::Tuple(tuple) if tuple.elems.is_empty()));
        let fallible = output.is_some_and(|output| is_type(output, "Result"));
        if kind == Kind::Replies && !unit {
            return error("a function that takes a `Reply` answers by it, and returns nothing");
        }
        let name = signature.ident.clone();
        Ok(Some(Method { name, channel, kind, input: types.pop(), fallible, returns: !unit }))
    }

    /// Returns the statement that registers the function.
    pub fn registration(&self, clearway: &Path, this: &Type) -> TokenStream {
        let Method { name, channel: Channel { name: channel, runs_on }, .. } = self;
        let request = match &self.input {
            None => quote!({
                let _ = request;
            }),
            // Has the span of the type, so that a compiler error points to the type that cannot be read.
            Some(input) => quote_spanned!(input.span()=> #clearway::FromRequest::from_request(request)?),
        };
        let input = self.input.as_ref().map(|_| quote!(input,));
        let bind = match &self.input {
            None => quote!(#request),
            Some(_) => quote!(let input = #request;),
        };
        let result = |call: TokenStream| match (self.fallible, self.returns) {
            (true, _) => quote!(::core::result::Result::Ok(#call?)),
            (false, true) => quote!(::core::result::Result::Ok(#call)),
            (false, false) => quote!({
                #call;
                ::core::result::Result::Ok(())
            }),
        };
        if self.kind == Kind::Source {
            let listens = match runs_on {
                RunsOn::Direct => quote!(Direct),
                _ => quote!(Thread),
            };
            let result = result(quote!(plugin.#name(#input stream)));
            return quote! {
                registry.source(#channel, #clearway::Listens::#listens, |plugin: &#this, request, stream| {
                    #bind
                    #result
                })?;
            };
        }
        let runs = match runs_on {
            RunsOn::Direct => quote!(Direct),
            RunsOn::Serial(queue) => quote!(Serial(#queue)),
            RunsOn::Default | RunsOn::Pool => quote!(Pool),
        };
        let body = if self.kind == Kind::Replies {
            let read = match &self.input {
                None => quote!(#request),
                Some(input) => quote_spanned! {input.span()=>
                    let input = match #clearway::FromRequest::from_request(request) {
                        ::core::result::Result::Ok(input) => input,
                        ::core::result::Result::Err(error) => {
                            let _: #clearway::Result<()> = reply.fail(error);
                            return;
                        }
                    };
                },
            };
            quote! {
                #read
                plugin.#name(#input reply);
            }
        } else {
            let result = result(quote!(plugin.#name(#input)));
            quote!(#clearway::__private::answer(reply, || {
                #bind
                #result
            });)
        };
        quote! {
            registry.handler(#channel, #clearway::Runs::#runs, |plugin: &#this, request, reply| {
                #body
            })?;
        }
    }
}

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
