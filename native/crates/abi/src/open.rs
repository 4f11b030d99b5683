// SPDX-License-Identifier: MIT OR Apache-2.0

use std::ffi::{c_char, c_void};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clearway_core::{Failure, Plugin};
use clearway_sys::{
    CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR, CLEARWAY_INVALID_ARGUMENT, PluginId, Status, Text, read_growing,
    write_growing,
};

use crate::options::{Options, Stats};
use crate::{channel, give, plugin, status, text};

/// Called when a plugin's queue of events stops being empty, on any thread. The function must only wake the thread that
/// takes the events out (`clearway_plugin_drain`).
pub type Wake = Option<unsafe extern "C-unwind" fn(context: *mut c_void)>;

/// Returns the version of this library: `CLEARWAY_ABI_MAJOR` in the upper 16 bits, and `CLEARWAY_ABI_MINOR` in the
/// lower 16 bits.
#[unsafe(no_mangle)]
pub extern "C" fn clearway_version() -> u32 {
    CLEARWAY_ABI_MAJOR << 16 | CLEARWAY_ABI_MINOR
}

/// Loads a library and opens its plugin, on the calling thread. A null `options` selects the defaults. If opening
/// fails, writes the reason to `error`: at most `error_size` bytes, including a terminating zero. `error` may be null.
///
/// # Safety
/// Each pointer must be null, or valid for its stated size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_plugin_open(
    path: Text,
    options: *const Options,
    plugin: *mut PluginId,
    error: *mut c_char,
    error_size: usize,
) -> Status {
    status(|| {
        // SAFETY: the caller guarantees this.
        let opened = unsafe { read_and_load(path, options, plugin) };
        opened.map_err(|Failure { status, text }| {
            // SAFETY: the caller guarantees this.
            unsafe { tell(&text, error, error_size) };
            status
        })
    })
}

unsafe fn read_and_load(path: Text, options: *const Options, plugin: *mut PluginId) -> Result<(), Failure> {
    let wrong = |what: &'static str| move |status| Failure { status, text: what.into() };
    // SAFETY: the caller guarantees this.
    let path = unsafe { text(path) }.map_err(wrong("path must be UTF-8, of 1 to 65536 bytes"))?;
    // SAFETY: the caller guarantees this.
    let options = unsafe { core_options(options) }
        .map_err(wrong("options must be aligned, and options.size at least sizeof(clearway_options)"))?;
    if plugin.is_null() || !plugin.is_aligned() {
        return Err(wrong("plugin must be where the id can be written to")(CLEARWAY_INVALID_ARGUMENT));
    }
    let opened = Plugin::load(Path::new(path), options)?;
    // SAFETY: the caller guarantees this.
    unsafe { give(plugin, opened.id()) }.map_err(wrong("plugin"))
}

unsafe fn core_options(options: *const Options) -> Result<clearway_core::Options, Status> {
    let mut made = clearway_core::Options::default();
    if options.is_null() {
        return Ok(made);
    }
    // SAFETY: the caller guarantees this.
    let options = unsafe { read_growing(options)? };
    let set = |to: &mut usize, value: u32| {
        if value > 0 {
            *to = value as usize;
        }
    };
    set(&mut made.threads, options.threads);
    set(&mut made.calls_max, options.calls_max);
    set(&mut made.streams_max, options.streams_max);
    Ok(made)
}

unsafe fn tell(text: &str, to: *mut c_char, size: usize) {
    if to.is_null() || size == 0 {
        return;
    }
    let mut end = text.len().min(size - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // SAFETY: the caller guarantees `size` writable bytes at `to`.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), to, end);
        *to.add(end) = 0;
    }
}

/// Closes a plugin. Cancels its listeners. Queued messages are still handled until `timeout_ms` milliseconds are over.
/// Calls that still wait are then answered with `CLEARWAY_CLOSED`. The host drains these answers as usual.
///
/// Waits for running handlers. If one does not end in time, returns `CLEARWAY_TIMEOUT`, and the host may call the
/// function again. Returns `CLEARWAY_INVALID_ARGUMENT` in a callback of any plugin: a handler, a source, a wake or a
/// release. `on_drop`, `on_close` and a direct source's `on_cancel` run on the calling thread, and the timeout does not
/// bound them. After the timeout, the same holds for `on_cancel` and `on_answer` of a queue none of whose callbacks
/// runs. If one runs, the queue's own thread runs them next. The library stays loaded.
#[unsafe(no_mangle)]
pub extern "C" fn clearway_plugin_close(id: PluginId, timeout_ms: u32) -> Status {
    status(|| plugin(id)?.close(Duration::from_millis(timeout_ms.into())))
}

/// Frees a plugin after it was closed. The plugin's id becomes stale, and events that the host has not drained are
/// dropped. Closes an open plugin first, without waiting for handlers, under the rules of `clearway_plugin_close`.
/// Returns `CLEARWAY_INVALID_ARGUMENT` in a wake.
///
/// If no close has called the plugin's `on_close` yet, this function calls it, unless a handler still runs or the calling
/// thread is in a callback. In these two cases, only a `clearway_plugin_close` that is waiting on another thread calls
/// `on_close`, after the last handler has returned. If no thread waits, `on_close` is never called.
#[unsafe(no_mangle)]
pub extern "C" fn clearway_plugin_free(id: PluginId) -> Status {
    status(|| {
        plugin(id)?.free()?;
        channel::forget(id);
        Ok(())
    })
}

/// Sets the function that is called when the plugin's queue of events stops being empty. Null removes the function.
/// Blocks until no thread runs the previous function. Returns `CLEARWAY_INVALID_ARGUMENT` in a wake.
///
/// # Safety
/// Any thread may call `wake` with `context` until `wake` is replaced or the plugin is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_plugin_set_wake(id: PluginId, wake: Wake, context: *mut c_void) -> Status {
    struct Waker(unsafe extern "C-unwind" fn(*mut c_void), *mut c_void);
    // SAFETY: the caller allows any thread to call the function.
    unsafe impl Send for Waker {}
    // SAFETY: as above.
    unsafe impl Sync for Waker {}
    status(|| {
        let wake = wake.map(|wake| Arc::new(Waker(wake, context)));
        plugin(id)?.set_wake(wake.map(|waker| {
            Box::new(move || {
                let Waker(wake, context) = *waker;
                // SAFETY: the caller guarantees this.
                unsafe { wake(context) }
            }) as Box<dyn Fn() + Send + Sync>
        }))
    })
}

/// Writes the counters of a plugin, and how long its calls took, to `stats`. The host must set `stats->size` first.
///
/// # Safety
/// `stats` must be null, or readable and writable for the size in its first field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_plugin_stats(id: PluginId, stats: *mut Stats) -> Status {
    status(|| {
        let plugin = plugin(id)?;
        let (counts, times, slabs) = (plugin.counts(), plugin.times(), clearway_core::slabs());
        let (calls, _, streams) = plugin.in_flight();
        let (wait, run) = (&times.wait, &times.run);
        let made = Stats {
            size: size_of::<Stats>(),
            messages: counts.messages,
            events: counts.events,
            events_dropped: counts.dropped,
            copies: counts.copies,
            copied_bytes: counts.copied_bytes,
            calls: calls as u64,
            streams: streams as u64,
            wait_ns_p50: wait.value_at_quantile(0.5),
            wait_ns_p99: wait.value_at_quantile(0.99),
            wait_ns_max: wait.max(),
            run_ns_p50: run.value_at_quantile(0.5),
            run_ns_p99: run.value_at_quantile(0.99),
            run_ns_max: run.max(),
            memories: slabs.live,
            memory_bytes: slabs.live_bytes,
            kept_bytes: slabs.kept_bytes,
        };
        // SAFETY: the caller guarantees this.
        unsafe { write_growing(stats, &made) }
    })
}
