// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulated screen. The bytes of a frame are never copied. The host receives the slab that contains the picture, and returns it later.

use std::sync::{Arc, Mutex};

use clearway_codec::Value;
use clearway_sys::{
    CLEARWAY_FULL, CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_RUN_DIRECT, Content, Host, PluginId, Status,
    Stream, View,
};

use crate::example::{Example, OnMessage, OwnedMemory, Pointer, Request, all};
use crate::guard::lock;
use crate::picture::Picture;
use crate::slabs::{Slab, Slabs, released};
use crate::source::{OnListen, argument};
use crate::ticker::{Rate, Tick};

struct Screen {
    host: &'static Host,
    id: PluginId,
    pointer: Arc<Mutex<Pointer>>,
    picture: Picture,
    slabs: Arc<Slabs>,
    /// The memory of a drawn frame that the stream has not accepted yet.
    pending_frame: Option<OwnedMemory>,
    /// The number of frames that were drawn.
    drawn: u32,
}

impl Screen {
    /// Turns a slab into memory of the host. The host calls `released` when the last reference to the memory is released.
    fn adopt(&self, slab: Box<Slab>) -> Result<OwnedMemory, Status> {
        let slab = Box::into_raw(slab);
        let mut view = View::NONE;
        // SAFETY: the slab's pixels are valid until the host calls `released`. No other code of the plugin uses them until then.
        let status = unsafe {
            let pixels = &mut (*slab).pixels;
            (self.host.adopt)(self.id, pixels.as_mut_ptr(), pixels.len(), 0, Some(released), slab.cast(), &mut view)
        };
        if status == CLEARWAY_OK {
            return Ok(OwnedMemory::new(self.host, view));
        }
        // SAFETY: the host does not call `released` for memory that it refused, so this function still owns the slab.
        unsafe { Box::from_raw(slab) }.give_back();
        Err(status)
    }

    /// Draws the next frame. Returns `None` if the host still has all slabs.
    fn draw(&mut self) -> Result<Option<OwnedMemory>, Status> {
        let Some(mut slab) = self.slabs.take() else { return Ok(None) };
        let at = *lock(&self.pointer);
        let Slab { pixels, last_drawn, .. } = &mut *slab;
        self.picture.draw(pixels, last_drawn, self.drawn, &at);
        self.drawn = self.drawn.wrapping_add(1);
        self.adopt(slab).map(Some)
    }
}

impl Tick for Screen {
    fn emit(&mut self, stream: Stream, _number: u64, is_retry: bool) -> Status {
        if !is_retry {
            match self.draw() {
                Ok(Some(frame)) => self.pending_frame = Some(frame),
                // The host still has all slabs. Skips this frame; the next tick tries again.
                Ok(None) => return CLEARWAY_OK,
                Err(status) => return status,
            }
        }
        let Some(frame) = &self.pending_frame else { return CLEARWAY_OK };
        // SAFETY: the host checks the handle and takes its own reference.
        let status = unsafe { (self.host.emit)(stream, &Content::of_memory(frame.view.memory)) };
        // If the stream is full, keeps the frame. The ticker calls `emit` again when the stream has room.
        if status != CLEARWAY_FULL {
            self.pending_frame = None;
        }
        status
    }
}

impl OnListen for Screen {
    fn on_listen(example: &Example, arguments: &Value, stream: Stream) -> Status {
        let (Some(width), Some(height), Some(rate)) = (
            argument(arguments, "width", 1..=8192, 1920),
            argument(arguments, "height", 1..=8192, 1080),
            argument(arguments, "rate", 0..=1000, 60),
        ) else {
            return CLEARWAY_INVALID_ARGUMENT;
        };
        let picture = Picture::new(width as usize, height as usize);
        let screen = Screen {
            host: example.host,
            id: example.id,
            pointer: Arc::clone(&example.pointer),
            slabs: Slabs::new(picture.size()),
            picture,
            pending_frame: None,
            drawn: 0,
        };
        let rate = Rate { per_second: rate as u32, count: 0, catches_up: false };
        example.tickers.start(example.host, stream, Box::new(screen), rate)
    }
}

/// Moves the pointer. Every screen of this plugin instance draws the pointer with its next frame.
struct MovePointer;

impl OnMessage for MovePointer {
    fn on_message(request: &Request<'_>) -> Status {
        let Ok(bytes) = <[u8; 16]>::try_from(request.bytes()) else {
            return request.invalid("the message is u32 sequence, i32 x, i32 y, u32 buttons");
        };
        let read_word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        *lock(&request.example.pointer) =
            Pointer { sequence: read_word(0), x: read_word(4) as i32, y: read_word(8) as i32, buttons: read_word(12) };
        request.answer_null()
    }
}

pub fn add(example: &Example) -> Status {
    all([example.source::<Screen>("frames"), example.handle::<MovePointer>("frames/pointer", CLEARWAY_RUN_DIRECT, "")])
}
