// SPDX-License-Identifier: MIT OR Apache-2.0
//! One instance of the plugin, and functions that the plugin's parts share.

use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use clearway_sys::{
    CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_PANICKED, Content, Handler, Host, Memory, PluginId, Reply, Status,
    Text, View,
};

use crate::guard::{guarded, lock};
use crate::ticker::Tickers;

/// The last pointer command that `frames/pointer` received.
#[derive(Clone, Copy, Default)]
pub struct Pointer {
    pub sequence: u32,
    pub x: i32,
    pub y: i32,
    pub buttons: u32,
}

/// One instance of the plugin. It is the context of every handler and source.
pub struct Example {
    pub host: &'static Host,
    pub id: PluginId,
    pub tickers: Tickers,
    pub pointer: Arc<Mutex<Pointer>>,
    /// The memory that `memset/held` fills.
    pub held: Mutex<Option<Owned>>,
}

/// A reference that the plugin owns. Dropping it releases the reference.
pub struct Owned {
    host: &'static Host,
    pub view: View,
}

// SAFETY: any thread may release a reference. Only one thread at a time writes to its memory.
unsafe impl Send for Owned {}

impl Owned {
    /// Takes ownership of a reference that a call to the host made.
    pub fn new(host: &'static Host, view: View) -> Owned {
        Owned { host, view }
    }

    /// Returns all bytes of the memory.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the reference keeps the memory alive, and no other code uses the memory yet.
        unsafe { std::slice::from_raw_parts_mut(self.view.data, self.view.size) }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the plugin owns the reference and releases it once.
        unsafe { (self.host.release)(self.view.memory) };
    }
}

/// A handler's input: the message, and the right to answer it.
pub struct Request<'a> {
    pub example: &'a Example,
    pub message: &'a Content,
    pub reply: Reply,
}

impl Request<'_> {
    /// Returns the message's bytes.
    pub fn bytes(&self) -> &[u8] {
        if self.message.data.is_null() {
            return &[];
        }
        // SAFETY: received content is lent during the call.
        unsafe { std::slice::from_raw_parts(self.message.data, self.message.size) }
    }

    /// Returns the first attachment.
    pub fn attachment(&self) -> Option<Memory> {
        // SAFETY: `attachments_count` handles are readable during the call.
        (self.message.attachments_count > 0).then(|| unsafe { *self.message.attachments })
    }

    /// Returns the view of a memory.
    pub fn view(&self, memory: Memory) -> Result<View, Status> {
        let mut view = View::NONE;
        // SAFETY: the host checks the handle, and `view` is writable.
        match unsafe { (self.example.host.view)(memory, &mut view) } {
            CLEARWAY_OK => Ok(view),
            status => Err(status),
        }
    }

    /// Answers with content.
    pub fn answer(&self, content: &Content) -> Status {
        // SAFETY: the content's pointers are readable during the call.
        unsafe { (self.example.host.reply)(self.reply, content) }
    }

    /// Answers with bytes. The host copies the bytes.
    pub fn answer_bytes(&self, bytes: &[u8]) -> Status {
        self.answer(&Content::of(bytes))
    }

    /// Answers with a null message.
    pub fn answer_null(&self) -> Status {
        self.answer(&Content::NULL)
    }

    /// Answers with an error: a status, and a text that the host shows. Returns the host's status: `CLEARWAY_OK` if the host accepted the
    /// answer.
    pub fn refuse(&self, status: Status, text: &str) -> Status {
        // SAFETY: the text is lent during the call.
        unsafe { (self.example.host.reply_error)(self.reply, status, Text::of(text)) }
    }

    /// Refuses an invalid message.
    pub fn invalid(&self, text: &str) -> Status {
        self.refuse(CLEARWAY_INVALID_ARGUMENT, text)
    }
}

/// A handler in Rust.
pub trait OnMessage {
    fn on_message(request: &Request<'_>) -> Status;
}

unsafe extern "C-unwind" fn on_message<H: OnMessage>(
    context: *mut c_void,
    message: *const Content,
    reply: Reply,
) -> Status {
    guarded(CLEARWAY_PANICKED, || {
        // SAFETY: the context is the `Example`, which lives until the plugin is closed. The message is lent during this call.
        let (example, message) = unsafe { (&*context.cast::<Example>(), message.as_ref().unwrap_or(&Content::NULL)) };
        H::on_message(&Request { example, message, reply })
    })
}

impl Example {
    pub fn new(host: &'static Host, id: PluginId) -> Example {
        Example { host, id, tickers: Tickers::default(), pointer: Arc::default(), held: Mutex::new(None) }
    }

    /// Stops the tickers and releases the held memory.
    pub fn close(&self) {
        self.tickers.stop();
        *lock(&self.held) = None;
    }

    /// Registers a handler with a channel's name, and the thread or queue that runs the handler.
    pub fn handle<H: OnMessage>(&self, channel: &str, runs: u32, queue: &str) -> Status {
        let handler = Handler {
            size: size_of::<Handler>(),
            channel: Text::of(channel),
            runs,
            reserved: 0,
            queue: Text::of(queue),
            context: self.context(),
            on_message: Some(on_message::<H>),
            on_drop: None,
        };
        // SAFETY: the host copies the handler. Its context lives until the plugin is closed.
        unsafe { (self.host.handle)(self.id, &handler) }
    }

    /// Returns the context for handlers and sources.
    pub fn context(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// Allocates memory of the host.
    pub fn allocate(&self, size: usize, flags: u32) -> Result<Owned, Status> {
        let mut view = View::NONE;
        // SAFETY: `view` is writable.
        match unsafe { (self.host.allocate)(self.id, size, flags, &mut view) } {
            CLEARWAY_OK => Ok(Owned::new(self.host, view)),
            status => Err(status),
        }
    }
}

/// Returns the first status that is not `CLEARWAY_OK`.
pub fn all(statuses: impl IntoIterator<Item = Status>) -> Status {
    statuses.into_iter().find(|status| *status != CLEARWAY_OK).unwrap_or(CLEARWAY_OK)
}

/// Returns CLOCK_MONOTONIC in nanoseconds. `Instant` does not expose that number.
pub fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
