// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions of `clearway_host`. They check pointers and lengths as far as possible, because a plugin may have bugs.

use std::ffi::c_void;
use std::sync::Arc;

use clearway_sys::{
    CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR, CLEARWAY_INVALID_ARGUMENT, CLEARWAY_LOG_ERROR, CLEARWAY_MEMORY_LENT,
    CLEARWAY_OK, CLEARWAY_PANICKED, CLEARWAY_RUN_DIRECT, CLEARWAY_RUN_POOL, CLEARWAY_RUN_SERIAL, CLEARWAY_STALE,
    Content, Handler, Host, Memory as Handle, OnAnswer, PluginId, ReleaseMemory, Reply, Source, Status, Stream, Text,
    View, read_growing,
};

use crate::answer;
use crate::content::{Given, name, shown};
use crate::entry::{Callbacks, Entry};
use crate::guard::guarded;
use crate::memory::{Memory, resolve};
use crate::outcome::{Failure, plugin_status};
use crate::plugin::{PLUGINS, Plugin, register, unregister};
use crate::queue::Queue;
use crate::{listen, send};

/// The table of the host's functions, one for all plugins of the process.
pub static HOST: Host = Host {
    size: size_of::<Host>(),
    abi_major: CLEARWAY_ABI_MAJOR,
    abi_minor: CLEARWAY_ABI_MINOR,
    allocate,
    adopt,
    view,
    retain,
    release,
    seal,
    handle,
    unhandle,
    reply,
    reply_error,
    wanted,
    send: send_to_host,
    source,
    unsource,
    emit,
    end,
    end_error,
    log,
};

type Done = Result<(), Status>;

/// Runs `work` and returns its status. A panic of the core must not unwind into a plugin.
fn status(work: impl FnOnce() -> Done) -> Status {
    guarded(CLEARWAY_PANICKED, || work().err().unwrap_or(CLEARWAY_OK))
}

fn plugin(id: PluginId) -> Result<Arc<Plugin>, Status> {
    let plugin = PLUGINS.get(id).ok_or(CLEARWAY_STALE)?;
    plugin.open()?;
    Ok(plugin)
}

/// Writes a result to the caller's memory. Returns `CLEARWAY_INVALID_ARGUMENT` if `to` is null or not aligned.
///
/// # Safety
/// `to` must be null, or writable for a `T`.
unsafe fn give<T>(to: *mut T, value: T) -> Done {
    if to.is_null() || !to.is_aligned() {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    // SAFETY: the caller guarantees this.
    unsafe { to.write(value) };
    Ok(())
}

/// Returns a copy of the content struct. A null pointer means the null message.
///
/// # Safety
/// `raw` must be null or readable.
pub(crate) unsafe fn content(raw: *const Content) -> Result<Content, Status> {
    if raw.is_null() {
        return Ok(Content::NULL);
    }
    if !raw.is_aligned() {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    // SAFETY: the caller guarantees this.
    Ok(unsafe { *raw })
}

// SAFETY, for all functions below: a pointer is null, or is valid for its stated size during the call. The header requires that of a
// plugin. The functions check what they can: null, alignment, lengths, ranges and generations.

unsafe extern "C" fn allocate(id: PluginId, size: usize, flags: u32, to: *mut View) -> Status {
    status(|| {
        plugin(id)?;
        if to.is_null() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        let memory = Memory::allocate(size, flags)?;
        // SAFETY: see above.
        unsafe { give(to, memory.view()) }?;
        memory.into_handle();
        Ok(())
    })
}

unsafe extern "C" fn adopt(
    id: PluginId,
    data: *mut u8,
    size: usize,
    flags: u32,
    release: ReleaseMemory,
    context: *mut c_void,
    to: *mut View,
) -> Status {
    status(|| {
        plugin(id)?;
        if to.is_null() || !to.is_aligned() || flags & CLEARWAY_MEMORY_LENT != 0 {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        // SAFETY: see above.
        let memory = unsafe { Memory::foreign(data, size, flags, release, context) }?;
        // SAFETY: see above.
        unsafe { give(to, memory.view()) }?;
        memory.into_handle();
        Ok(())
    })
}

unsafe extern "C" fn view(memory: Handle, to: *mut View) -> Status {
    // SAFETY: see above.
    status(|| unsafe { give(to, resolve::look(memory)?) })
}

unsafe extern "C" fn retain(memory: Handle, to: *mut Handle) -> Status {
    status(|| {
        let another = Memory::retain(memory)?;
        // SAFETY: see above.
        unsafe { give(to, another.handle()) }?;
        another.into_handle();
        Ok(())
    })
}

unsafe extern "C" fn release(memory: Handle) -> Status {
    status(|| resolve::release(memory))
}

unsafe extern "C" fn seal(memory: Handle) -> Status {
    status(|| resolve::seal(memory))
}

/// Returns the queue that runs the callbacks, or `None` if they run on the calling thread.
unsafe fn queue(plugin: &Plugin, runs: u32, text: Text) -> Result<Option<Arc<Queue>>, Status> {
    match runs {
        CLEARWAY_RUN_DIRECT => Ok(None),
        CLEARWAY_RUN_POOL => Ok(Some(plugin.pool.clone())),
        // SAFETY: see above.
        CLEARWAY_RUN_SERIAL => Ok(Some(plugin.serial(unsafe { name(text) }?))),
        _ => Err(CLEARWAY_INVALID_ARGUMENT),
    }
}

unsafe extern "C" fn handle(id: PluginId, handler: *const Handler) -> Status {
    status(|| {
        let plugin = plugin(id)?;
        // SAFETY: see above.
        let (handler, channel, queue) = unsafe {
            let handler = read_growing(handler)?;
            (handler, name(handler.channel)?, queue(&plugin, handler.runs, handler.queue)?)
        };
        if handler.on_message.is_none() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        let entry = Entry::new(handler.context, handler.on_drop, queue, Callbacks::Handler(handler.on_message));
        register(&plugin, &plugin.channel(channel)?.handler, entry)
    })
}

unsafe extern "C" fn unhandle(id: PluginId, channel: Text) -> Status {
    status(|| {
        // SAFETY: see above.
        let channel = unsafe { name(channel) }?;
        let plugin = plugin(id)?;
        unregister(&plugin, &plugin.existing_channel(channel)?.handler).map(drop)
    })
}

unsafe extern "C" fn source(id: PluginId, source: *const Source) -> Status {
    status(|| {
        let plugin = plugin(id)?;
        // SAFETY: see above.
        let (source, channel, queue) = unsafe {
            let source = read_growing(source)?;
            (source, name(source.channel)?, queue(&plugin, source.runs, source.queue)?)
        };
        if source.on_listen.is_none() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        let Source { on_listen, on_cancel, on_room, .. } = source;
        let entry =
            Entry::new(source.context, source.on_drop, queue, Callbacks::Source { on_listen, on_cancel, on_room });
        register(&plugin, &plugin.channel(channel)?.source, entry)
    })
}

unsafe extern "C" fn unsource(id: PluginId, channel: Text) -> Status {
    status(|| {
        let plugin = plugin(id)?;
        // SAFETY: see above.
        let channel = unsafe { name(channel) }?;
        let taken = unregister(&plugin, &plugin.existing_channel(channel)?.source)?;
        for stream in plugin.listened(Some(&taken)) {
            let _ = listen::end(stream, None);
        }
        Ok(())
    })
}

unsafe extern "C" fn reply(reply: Reply, answer: *const Content) -> Status {
    // SAFETY: see above.
    status(|| send::reply(reply, Ok(&unsafe { Given::raw(content(answer)?) })))
}

unsafe extern "C" fn reply_error(reply: Reply, error: Status, text: Text) -> Status {
    // SAFETY: see above.
    status(|| send::reply(reply, Err(Failure { status: error, text: unsafe { shown(text) } })))
}

unsafe extern "C" fn wanted(reply: Reply) -> Status {
    status(|| answer::wanted(reply))
}

unsafe extern "C" fn send_to_host(
    id: PluginId,
    channel: Text,
    message: *const Content,
    on_answer: OnAnswer,
    context: *mut c_void,
) -> Status {
    status(|| {
        // SAFETY: see above.
        let (channel, message) = unsafe { (name(channel)?, Given::raw(content(message)?)) };
        plugin(id)?.deliver(channel, &message, on_answer, context)
    })
}

unsafe extern "C" fn emit(stream: Stream, event: *const Content) -> Status {
    // SAFETY: see above.
    status(|| listen::emit(stream, &unsafe { Given::raw(content(event)?) }))
}

unsafe extern "C" fn end(stream: Stream) -> Status {
    status(|| listen::end(stream, None))
}

unsafe extern "C" fn end_error(stream: Stream, error: Status, text: Text) -> Status {
    // SAFETY: see above.
    status(|| listen::end(stream, Some(Failure { status: plugin_status(error), text: unsafe { shown(text) } })))
}

unsafe extern "C" fn log(id: PluginId, level: u32, text: Text) -> Status {
    status(|| {
        if level > CLEARWAY_LOG_ERROR {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        let plugin = PLUGINS.get(id).ok_or(CLEARWAY_STALE)?;
        // SAFETY: see above.
        plugin.log(level, unsafe { shown(text) });
        Ok(())
    })
}
