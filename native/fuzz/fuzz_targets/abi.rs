// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls the functions of the host's table and of the core in any order, with valid, stale and invented handles.
#![no_main]

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::time::Duration;

use clearway_core::{Given, HOST, Memory, Options, Plugin, WhenFull, Window};
use clearway_sys::{
    CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR, CLEARWAY_OK, CLEARWAY_RUN_DIRECT, Content, Handler, Host, Plugin as About, Reply,
    Source, Status, Stream, Text, View,
};
use libfuzzer_sys::fuzz_target;

/// The handles that the plugin's handler and source have received.
#[derive(Default)]
struct Seen {
    replies: Vec<u64>,
    streams: Vec<u64>,
}

// The handler and the source run on the fuzzer's thread, because they are direct.
thread_local!(static SEEN: RefCell<Seen> = RefCell::default());

unsafe extern "C-unwind" fn on_message(_context: *mut c_void, _message: *const Content, reply: Reply) -> Status {
    SEEN.with_borrow_mut(|seen| seen.replies.push(reply));
    CLEARWAY_OK
}

unsafe extern "C-unwind" fn on_listen(_context: *mut c_void, _arguments: *const Content, stream: Stream) -> Status {
    SEEN.with_borrow_mut(|seen| seen.streams.push(stream));
    CLEARWAY_OK
}

unsafe extern "C-unwind" fn init(host: *const Host, plugin: *mut About) -> Status {
    // SAFETY: the host passes its table and a struct to fill in.
    unsafe {
        let plugin = &mut *plugin;
        (plugin.abi_major, plugin.abi_minor) = (CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR);
        let handler = Handler {
            size: size_of::<Handler>(),
            channel: Text::of("m"),
            runs: CLEARWAY_RUN_DIRECT,
            reserved: 0,
            queue: Text::NONE,
            context: null_mut(),
            on_message: Some(on_message),
            on_drop: None,
        };
        let source = Source {
            size: size_of::<Source>(),
            channel: Text::of("e"),
            runs: CLEARWAY_RUN_DIRECT,
            reserved: 0,
            queue: Text::NONE,
            context: null_mut(),
            on_listen: Some(on_listen),
            on_cancel: None,
            on_room: None,
            on_drop: None,
        };
        ((*host).handle)(plugin.id, &handler);
        ((*host).source)(plugin.id, &source)
    }
}

/// Reads the fuzzer's bytes as choices.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    /// Returns the next byte, or `None` at the end.
    fn byte(&mut self) -> Option<u8> {
        self.0.next().copied()
    }

    /// Returns a handle from `of`, a handle with one changed bit, or an invalid handle.
    fn handle(&mut self, of: &[u64]) -> Option<u64> {
        let byte = self.byte()?;
        Some(match byte {
            0xff => u64::MAX,
            0xfe => 0,
            0xf0..=0xfd => of.last().copied().unwrap_or(1) ^ (1 << (self.byte()? % 64)),
            at if of.is_empty() => u64::from(at),
            at => of[usize::from(at) % of.len()],
        })
    }
}

fuzz_target!(|data: &[u8]| {
    SEEN.take();
    // SAFETY: `init` follows the ABI.
    let plugin = unsafe { Plugin::start(init, Options::default()) }.expect("a plugin opens");
    let (messages, events) = (plugin.channel("m").expect("a name"), plugin.channel("e").expect("a name"));
    let id = plugin.id();
    let (mut memories, mut choices, mut items) = (Vec::new(), Choices(data.iter()), Vec::new());
    let bytes = [7u8; 64];
    let mut step = || -> Option<()> {
        let (replies, streams) = SEEN.with_borrow(|seen| (seen.replies.clone(), seen.streams.clone()));
        let mut view = View::NONE;
        let operation = choices.byte()?;
        // SAFETY: every pointer is null or valid, except `data` in operations 7 and 8. The host must check the handles. It must also check
        // that the bytes of `data` lie inside of the memory, before it reads them.
        unsafe {
            match operation % 15 {
                0 => {
                    let size = usize::from(choices.byte()?);
                    let size = if size == 255 { usize::MAX } else { size * 64 };
                    if (HOST.allocate)(id, size, u32::from(choices.byte()?) & 8, &mut view) == CLEARWAY_OK {
                        view.data.write_bytes(1, view.size);
                        memories.push(view.memory);
                    }
                }
                1 => drop((HOST.release)(choices.handle(&memories)?)),
                2 => {
                    let mut another = 0;
                    if (HOST.retain)(choices.handle(&memories)?, &mut another) == CLEARWAY_OK {
                        memories.push(another);
                    }
                }
                3 => {
                    if (HOST.view)(choices.handle(&memories)?, &mut view) == CLEARWAY_OK && view.size > 0 {
                        std::hint::black_box(view.data.read());
                    }
                }
                4 => drop((HOST.seal)(choices.handle(&memories)?)),
                5 => drop(plugin.send(&messages, &Given::bytes(&bytes[..usize::from(choices.byte()? % 65)]), 1, operation < 128)),
                6 => drop((HOST.reply)(choices.handle(&replies)?, null())),
                7 | 8 => {
                    // `data` may point beyond the end of the memory. `data` plus `size` may exceed that end, or overflow the address space.
                    let memory = choices.handle(&memories)?;
                    let offset = usize::from(choices.byte()?);
                    let looked = (HOST.view)(memory, &mut view) == CLEARWAY_OK;
                    let data = if looked && offset < 128 { view.data.wrapping_add(offset).cast_const() } else { null() };
                    let size = match choices.byte()? {
                        255 => usize::MAX,
                        254 => usize::MAX - offset,
                        size => usize::from(size),
                    };
                    let content = Content { data, size, memory, ..Content::NULL };
                    match operation % 15 {
                        7 => (HOST.reply)(choices.handle(&replies)?, &content),
                        _ => (HOST.emit)(choices.handle(&streams)?, &content),
                    };
                }
                9 => drop((HOST.emit)(choices.handle(&streams)?, &Content::of(&bytes[..usize::from(choices.byte()? % 65)]))),
                10 => {
                    let items = usize::from(choices.byte()? % 4) + 1;
                    let when_full =
                        [WhenFull::Wait, WhenFull::Fail, WhenFull::DropOldest, WhenFull::DropNewest][usize::from(operation) % 4];
                    let window = Window { items, bytes: 1 << 16, when_full, credit: 2 };
                    let _ = plugin.listen(&events, &Given::bytes(&[]), window, 2);
                }
                11 => drop((HOST.end)(choices.handle(&streams)?)),
                12 => drop(plugin.cancel(choices.handle(&streams)?)),
                13 => drop(plugin.credit(choices.handle(&streams)?, u64::from(choices.byte()?))),
                _ => {
                    plugin.read(&mut items, usize::from(choices.byte()?) + 1);
                    items.clear();
                }
            }
        }
        Some(())
    };
    while step().is_some() {}
    for memory in memories {
        // SAFETY: the host checks the handle.
        unsafe { (HOST.release)(memory) };
    }
    drop(Memory::allocate(64, 0));
    plugin.close(Duration::from_secs(10)).expect("nothing runs that would hold it");
    let _ = plugin.free();
});
