// SPDX-License-Identifier: MIT OR Apache-2.0
//! One instance of the plugin, and functions that all parts of the plugin use.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clearway_sys::{
    CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_PANICKED, Content, Handler, Host, Memory, PluginId, Reply, Status,
    Text, View,
};

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
    pub held: Mutex<Option<OwnedMemory>>,
}

/// A reference to memory, which the plugin owns. Dropping this value releases the reference.
pub struct OwnedMemory {
    host: &'static Host,
    pub view: View,
}

// SAFETY: any thread may use and release a reference, and only the owner of this value accesses the memory.
unsafe impl Send for OwnedMemory {}

impl OwnedMemory {
    /// Takes ownership of the reference in a view that the host has returned.
    pub fn new(host: &'static Host, view: View) -> OwnedMemory {
        OwnedMemory { host, view }
    }

    /// Returns all bytes of the memory.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the reference keeps the memory valid, and the plugin has not passed the memory to other code.
        unsafe { std::slice::from_raw_parts_mut(self.view.data, self.view.size) }
    }
}

impl Drop for OwnedMemory {
    fn drop(&mut self) {
        // SAFETY: this value owns the reference, and only this drop releases it.
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
        // SAFETY: the host lends the message's bytes during the call.
        unsafe { std::slice::from_raw_parts(self.message.data, self.message.size) }
    }

    /// Returns the attachments.
    pub fn attachments(&self) -> &[Memory] {
        if self.message.attachments_count == 0 {
            return &[];
        }
        // SAFETY: the host lends an array of `attachments_count` handles during the call.
        unsafe { std::slice::from_raw_parts(self.message.attachments, self.message.attachments_count) }
    }

    /// Returns the first attachment. Returns `None` if there is none.
    pub fn attachment(&self) -> Option<Memory> {
        self.attachments().first().copied()
    }

    /// Returns whether the caller still waits for the answer.
    pub fn is_wanted(&self) -> bool {
        // SAFETY: the host checks the handle.
        unsafe { (self.example.host.wanted)(self.reply) == CLEARWAY_OK }
    }

    /// Returns the address and the size of a memory, or the status of the failed call.
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

    /// Answers with an error, which has a status and a text for people. Returns the status of that call, which is `CLEARWAY_OK` if the host
    /// accepted the answer.
    pub fn refuse(&self, status: Status, text: &str) -> Status {
        // SAFETY: the text is valid during the call.
        unsafe { (self.example.host.reply_error)(self.reply, status, Text::of(text)) }
    }

    /// Answers with `CLEARWAY_INVALID_ARGUMENT` and a text.
    pub fn invalid(&self, text: &str) -> Status {
        self.refuse(CLEARWAY_INVALID_ARGUMENT, text)
    }
}

/// A type whose function handles the messages of a channel.
pub trait OnMessage {
    /// Handles a message. If it has not answered, a returned status other than `CLEARWAY_OK` is the answer.
    fn on_message(request: &Request<'_>) -> Status;
}

unsafe extern "C-unwind" fn on_message<H: OnMessage>(
    context: *mut c_void,
    message: *const Content,
    reply: Reply,
) -> Status {
    guarded(CLEARWAY_PANICKED, || {
        // SAFETY: the context is the `Example`, which lives until the plugin is closed. The host lends the message during this call.
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

    /// Registers `H` as the handler of a channel. `runs` and `queue` select the thread or the queue that runs the handler.
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
    pub fn allocate(&self, size: usize, flags: u32) -> Result<OwnedMemory, Status> {
        let mut view = View::NONE;
        // SAFETY: `view` is writable.
        match unsafe { (self.host.allocate)(self.id, size, flags, &mut view) } {
            CLEARWAY_OK => Ok(OwnedMemory::new(self.host, view)),
            status => Err(status),
        }
    }
}

/// Returns `CLEARWAY_OK`, or the first status that differs from it.
pub fn all(statuses: impl IntoIterator<Item = Status>) -> Status {
    statuses.into_iter().find(|status| *status != CLEARWAY_OK).unwrap_or(CLEARWAY_OK)
}

/// Returns the time of CLOCK_MONOTONIC in nanoseconds. `Instant` does not provide this number.
pub fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Runs code that may panic. Returns `instead` if the code panics, because a panic must not leave the plugin.
pub fn guarded<T>(instead: T, run: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        // Dropping the panic's payload could panic again, so the payload is leaked.
        std::mem::forget(panic);
        instead
    })
}

/// Locks a mutex. Ignores poisoning: every change under a lock is a single step, so a panic cannot leave half a change.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
