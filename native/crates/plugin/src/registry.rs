// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trait `Plugin`, and the function that the library exports. Registers handlers and sources with the host, and contains the functions that
//! the host calls for them.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use clearway_sys as sys;

use crate::content::Request;
use crate::error::{Error, Result, Status, catch_panic, ignore_panic};
use crate::host::{Host, Level};
use crate::reply::Reply;
use crate::stream::{SourceCall, Stream, Streams};

/// The threads that run a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs<'a> {
    /// The thread that sends the message runs the handler and waits for it. Use it for work of microseconds.
    Direct,
    /// The plugin's pool of threads. Several calls may run at once.
    Pool,
    /// The thread with that name. It runs one call after the other. Handlers with the same name share the thread.
    Serial(&'a str),
}

/// The threads that run a source's function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listens {
    /// A separate thread for each listener. The function may block.
    Thread,
    /// The thread that listens. The function must return soon, and may keep the stream.
    Direct,
}

/// Registers the handlers and the sources of one plugin instance. The code that `#[plugin]` generates calls it.
pub struct Registry<P> {
    host: Host,
    plugin: Arc<P>,
}

struct Handler<P, F> {
    table: &'static sys::Host,
    plugin: Arc<P>,
    call: F,
}

struct Source<P, F> {
    table: &'static sys::Host,
    plugin: Arc<P>,
    call: Arc<F>,
    listens: Listens,
    /// The name of the listeners' threads: the beginning of the channel's name, because Linux cuts off longer names.
    thread_name: String,
    streams: Arc<Streams>,
}

impl<P: Send + Sync + 'static> Registry<P> {
    pub(crate) fn new(host: Host, plugin: Arc<P>) -> Registry<P> {
        Registry { host, plugin }
    }

    /// Registers a handler of a channel's messages. Fails if the channel already has a handler.
    pub fn handler<F>(&mut self, channel: &str, runs: Runs<'_>, call: F) -> Result<()>
    where
        F: Fn(&P, Request<'_>, Reply) + Send + Sync + 'static,
    {
        let table = self.host.table;
        let context = Box::into_raw(Box::new(Handler { table, plugin: self.plugin.clone(), call }));
        let (runs, queue) = match runs {
            Runs::Direct => (sys::CLEARWAY_RUN_DIRECT, sys::Text::NONE),
            Runs::Pool => (sys::CLEARWAY_RUN_POOL, sys::Text::NONE),
            Runs::Serial(name) => (sys::CLEARWAY_RUN_SERIAL, sys::Text::of(name)),
        };
        let handler = sys::Handler {
            size: size_of::<sys::Handler>(),
            channel: sys::Text::of(channel),
            runs,
            reserved: 0,
            queue,
            context: context.cast(),
            on_message: Some(on_message::<P, F>),
            on_drop: Some(on_drop::<Handler<P, F>>),
        };
        // SAFETY: the host copies the handler. If it accepts the handler, it calls `on_drop` once.
        check_registration(channel, unsafe { (table.handle)(self.host.id, &handler) }).inspect_err(|_| {
            // SAFETY: the host refused the handler, so this function still owns the context.
            drop(unsafe { Box::from_raw(context) });
        })
    }

    /// Registers a source of a channel's events. Fails if the channel already has a source.
    pub fn source<F>(&mut self, channel: &str, listens: Listens, call: F) -> Result<()>
    where
        F: Fn(&P, Request<'_>, Stream) -> Result<()> + Send + Sync + 'static,
    {
        let table = self.host.table;
        let context = Box::into_raw(Box::new(Source {
            table,
            plugin: self.plugin.clone(),
            call: Arc::new(call),
            listens,
            thread_name: channel.chars().filter(|letter| *letter != '\0').take(15).collect(),
            streams: Arc::default(),
        }));
        let source = sys::Source {
            size: size_of::<sys::Source>(),
            channel: sys::Text::of(channel),
            // All callbacks are short. They call a direct source's function, start a thread, or wake that thread.
            runs: sys::CLEARWAY_RUN_DIRECT,
            reserved: 0,
            queue: sys::Text::NONE,
            context: context.cast(),
            on_listen: Some(on_listen::<P, F>),
            on_cancel: Some(on_cancel::<P, F>),
            on_room: Some(on_room::<P, F>),
            on_drop: Some(on_drop::<Source<P, F>>),
        };
        // SAFETY: the host copies the source. If it accepts the source, it calls `on_drop` once.
        check_registration(channel, unsafe { (table.source)(self.host.id, &source) }).inspect_err(|_| {
            // SAFETY: the host refused the source, so this function still owns the context.
            drop(unsafe { Box::from_raw(context) });
        })
    }
}

/// Converts the status of a registration to a result. Adds the channel's name to the error.
fn check_registration(channel: &str, status: sys::Status) -> Result<()> {
    Error::check(status)
        .map_err(|error| Error::new(error.status(), format!("channel {channel:?}: refused as {:?}", error.status())))
}

unsafe extern "C-unwind" fn on_drop<C>(context: *mut c_void) {
    // SAFETY: `Registry` made the box. The host calls this function once, when no callback uses the context any more.
    ignore_panic(|| drop(unsafe { Box::from_raw(context.cast::<C>()) }));
}

unsafe extern "C-unwind" fn on_message<P, F>(
    context: *mut c_void,
    message: *const sys::Content,
    reply: sys::Reply,
) -> sys::Status
where
    F: Fn(&P, Request<'_>, Reply),
{
    let done = catch_panic(|| {
        // SAFETY: the context lives until `on_drop`. The host lends the message during this call.
        let (handler, message) =
            unsafe { (&*context.cast::<Handler<P, F>>(), message.as_ref().unwrap_or(&sys::Content::NULL)) };
        // SAFETY: the host lends the message during this call.
        let request = unsafe { Request::new(handler.table, message) };
        (handler.call)(&handler.plugin, request, Reply::new(handler.table, reply));
        Ok(())
    });
    // If the handler panicked, the drop of its reply has normally answered. The host then ignores the status that this returns.
    done.map_or_else(|error| error.status().number(), |()| sys::CLEARWAY_OK)
}

unsafe extern "C-unwind" fn on_listen<P, F>(
    context: *mut c_void,
    arguments: *const sys::Content,
    handle: sys::Stream,
) -> sys::Status
where
    P: Send + Sync + 'static,
    F: Fn(&P, Request<'_>, Stream) -> Result<()> + Send + Sync + 'static,
{
    ignore_panic(|| {
        // SAFETY: the context lives until `on_drop`. The host lends the arguments during this call.
        let (source, arguments) =
            unsafe { (&*context.cast::<Source<P, F>>(), arguments.as_ref().unwrap_or(&sys::Content::NULL)) };
        // SAFETY: the host lends the arguments during this call.
        let request = unsafe { Request::new(source.table, arguments) };
        let (stream, source_call) = Stream::start(source.table, handle, &source.streams);
        match source.listens {
            Listens::Direct => source_call.finish(catch_panic(|| (source.call)(&source.plugin, request, stream))),
            Listens::Thread => source.start(request, stream, source_call),
        }
    });
    sys::CLEARWAY_OK // after a failure, `SourceCall` has already ended the stream with the error
}

unsafe extern "C-unwind" fn on_cancel<P, F>(context: *mut c_void, handle: sys::Stream) {
    // SAFETY: the context lives until `on_drop`.
    ignore_panic(|| unsafe { &*context.cast::<Source<P, F>>() }.streams.cancelled(handle));
}

unsafe extern "C-unwind" fn on_room<P, F>(context: *mut c_void, handle: sys::Stream) {
    // SAFETY: the context lives until `on_drop`.
    ignore_panic(|| unsafe { &*context.cast::<Source<P, F>>() }.streams.has_room(handle));
}

impl<P, F> Source<P, F>
where
    P: Send + Sync + 'static,
    F: Fn(&P, Request<'_>, Stream) -> Result<()> + Send + Sync + 'static,
{
    /// Runs the source's function on a separate thread, with its own references to the arguments.
    fn start(&self, arguments: Request<'_>, stream: Stream, source_call: SourceCall) {
        let arguments = match arguments.to_owned_request() {
            Ok(arguments) => arguments,
            Err(error) => return source_call.finish(Err(error)),
        };
        let (plugin, call) = (self.plugin.clone(), self.call.clone());
        // Shared with the closure, so that this function can still end the stream if the thread does not start.
        let source_call = Arc::new(Mutex::new(Some(source_call)));
        let shared_call = source_call.clone();
        let run = move || {
            let result = catch_panic(|| arguments.lend(|request| call(&plugin, request, stream)));
            finish(&shared_call, result);
            ignore_panic(|| drop((plugin, call))); // may drop the author's values, whose drop may panic
        };
        if let Err(error) = thread::Builder::new().name(self.thread_name.clone()).spawn(run) {
            finish(&source_call, Err(Error::new(Status::OutOfMemory, format!("no thread could be started: {error}"))));
        }
    }
}

/// Finishes the call, unless it was finished before.
fn finish(source_call: &Mutex<Option<SourceCall>>, result: Result<()>) {
    let source_call = source_call.lock().unwrap_or_else(PoisonError::into_inner).take();
    source_call.into_iter().for_each(|source_call| source_call.finish(result.clone()));
}

/// A type whose functions are a plugin's handlers and sources. `#[plugin]` implements this trait. Each opened instance of the plugin has
/// one value of the type. The value is dropped when the instance is closed and its last function has returned.
pub trait Plugin: Send + Sync + Sized + 'static {
    /// Makes the value for one instance. If it returns an error, the plugin is not opened, and the host reports the error's text.
    fn open(host: Host) -> Result<Self>;

    /// Registers the instance's handlers and sources.
    fn register(registry: &mut Registry<Self>) -> Result<()>;
}

unsafe extern "C-unwind" fn on_close<P>(context: *mut c_void) {
    // SAFETY: `init` made the pointer, and the host calls this function once.
    ignore_panic(|| drop(unsafe { Arc::from_raw(context.cast::<P>()) }));
}

/// Implements `clearway_plugin_init` for a plugin of type `P`.
///
/// # Safety
/// Only a host may call this, with its table and a struct to fill in.
#[doc(hidden)]
pub unsafe extern "C-unwind" fn init<P: Plugin>(table: *const sys::Host, plugin_info: *mut sys::Plugin) -> sys::Status {
    // SAFETY: each pointer is null or valid, as the header requires. The table lives until the process ends.
    let (table, plugin_info) = match unsafe { sys::agree(table, plugin_info) } {
        Ok(both) => both,
        Err(status) => return status,
    };
    let host = Host { table, id: plugin_info.id };
    let opened = catch_panic(|| {
        let plugin = Arc::new(P::open(host.clone())?);
        P::register(&mut Registry::new(host.clone(), plugin.clone()))?;
        Ok(plugin)
    });
    match opened {
        Ok(plugin) => {
            plugin_info.context = Arc::into_raw(plugin).cast_mut().cast();
            plugin_info.on_close = Some(on_close::<P>);
            sys::CLEARWAY_OK
        }
        Err(error) => {
            log_open_error(&host, &error);
            match error.status().number() {
                // From an init function, these numbers do not say that opening failed.
                sys::CLEARWAY_OK | sys::CLEARWAY_PENDING | sys::CLEARWAY_VERSION => sys::CLEARWAY_FAILED,
                status => status,
            }
        }
    }
}

/// Logs the error of a failed `init`. The host reports the log lines of a plugin that it could not open.
fn log_open_error(host: &Host, error: &Error) {
    host.log(Level::Error, error.to_string());
}

/// Exports a [`Plugin`] as the library's plugin. `#[plugin]` uses this macro.
#[doc(hidden)]
#[macro_export]
macro_rules! export {
    ($plugin:ty) => {
        /// # Safety
        /// Only a host may call this, as `clearway.h` specifies.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn clearway_plugin_init(
            host: *const $crate::__private::Host,
            plugin: *mut $crate::__private::About,
        ) -> i32 {
            // SAFETY: the host passes its table and a struct to fill in, as `init` requires.
            unsafe { $crate::__private::init::<$plugin>(host, plugin) }
        }
    };
}
