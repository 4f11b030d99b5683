// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulated screen. The bytes of a frame are never copied. The host receives the slab that contains the picture, and returns it later.

use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use clearway_codec::Value;
use clearway_sys::{
    CLEARWAY_FULL, CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_RUN_DIRECT, Content, Host, PluginId, Status,
    Stream, View,
};

use crate::example::{Example, OnMessage, OwnedMemory, Pointer, Request, all, guarded, lock, now_ns};
use crate::ticker::{OnListen, Rate, Tick, argument};

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

// Draws a moving picture. A bar moves over a gradient, and a cross marks the pointer. Pixels are RGBA. The first bytes contain a stamp
// instead of pixels:
//
//    0       4       8          12   16   20        24           32            40
//    +-------+-------+----------+----+----+---------+------------+-------------+----
//    | magic | frame | sequence | x  | y  | buttons | ns to draw | ns at start | 0 …   little-endian, up to byte 64
//    +-------+-------+----------+----+----+---------+------------+-------------+----

/// The first bytes of a stamp. In memory they are the text "CLF1".
const MAGIC: u32 = 0x3146_4c43;
/// The size of a stamp, in bytes.
const STAMP: usize = 64;

// The cross is 24 pixels wide, and its lines are 4 pixels thick. The width of the bar is a sixteenth of the picture's width. The bar
// moves across the picture in 240 frames, which are 4 seconds at 60 frames per second.
const CROSS: i64 = 24;
const CROSS_THICK: i64 = 4;
const BAR_PART: usize = 16;
const BAR_STEPS: u32 = 240;

const WHITE: [u8; 4] = [240, 240, 240, 255];

pub struct Picture {
    width: usize,
    height: usize,
    /// The pixels of the gradient. `draw` copies them to restore the places where the bar and the cross were.
    background: Vec<u8>,
}

/// The last drawing in one slab.
#[derive(Clone, Copy)]
pub struct Drawn {
    bar: usize,
    pointer: Pointer,
}

/// A rectangle in pixels, inside the picture: left, top, right and bottom.
type Area = (usize, usize, usize, usize);

impl Picture {
    pub fn new(width: usize, height: usize) -> Picture {
        let mut background = Vec::with_capacity(width * height * 4);
        for y in 0..height {
            for x in 0..width {
                background.extend_from_slice(&[(x * 255 / width) as u8, (y * 255 / height) as u8, 96, 255]);
            }
        }
        Picture { width, height, background }
    }

    /// Returns the size of a frame, in bytes.
    pub fn size(&self) -> usize {
        self.background.len()
    }

    fn bar(&self, left: usize) -> Area {
        (left, 0, (left + (self.width / BAR_PART).max(1)).min(self.width), self.height)
    }

    fn around(&self, at: &Pointer, reach_x: i64, reach_y: i64) -> Area {
        let within = |value: i64, max: usize| value.clamp(0, max as i64) as usize;
        let (x, y) = (i64::from(at.x), i64::from(at.y));
        (
            within(x - reach_x, self.width),
            within(y - reach_y, self.height),
            within(x + reach_x, self.width),
            within(y + reach_y, self.height),
        )
    }

    fn rows(&self, (left, top, right, bottom): Area) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let width = self.width;
        (top..bottom).map(move |y| (y * width + left) * 4..(y * width + right) * 4)
    }

    fn restore(&self, pixels: &mut [u8], area: Area) {
        for row in self.rows(area) {
            pixels[row.clone()].copy_from_slice(&self.background[row]);
        }
    }

    fn fill(&self, pixels: &mut [u8], area: Area, colour: [u8; 4]) {
        for row in self.rows(area) {
            for pixel in pixels[row].chunks_exact_mut(4) {
                pixel.copy_from_slice(&colour);
            }
        }
    }

    /// Draws a frame into `pixels`. The first frame of a slab copies the whole background. Each later frame changes only the bar, the cross
    /// and the stamp. `last_drawn` describes the slab's last drawing, and the function updates it.
    pub fn draw(&self, pixels: &mut [u8], last_drawn: &mut Option<Drawn>, frame: u32, at: &Pointer) {
        let start = now_ns();
        match last_drawn {
            Some(drawn) => {
                self.restore(pixels, self.bar(drawn.bar));
                self.restore(pixels, self.around(&drawn.pointer, CROSS / 2, CROSS / 2));
            }
            None => pixels.copy_from_slice(&self.background),
        }
        let bar = (frame % BAR_STEPS) as usize * self.width / BAR_STEPS as usize;
        *last_drawn = Some(Drawn { bar, pointer: *at });
        self.fill(pixels, self.bar(bar), WHITE);
        // Draws no cross before the first pointer command.
        if at.sequence != 0 {
            let colour = [255, if at.buttons == 0 { 210 } else { 0 }, 0, 255];
            self.fill(pixels, self.around(at, CROSS / 2, CROSS_THICK / 2), colour);
            self.fill(pixels, self.around(at, CROSS_THICK / 2, CROSS / 2), colour);
        }

        let mut stamp = [0; STAMP];
        let words = [MAGIC, frame, at.sequence, at.x as u32, at.y as u32, at.buttons];
        for (place, word) in stamp.chunks_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        stamp[24..32].copy_from_slice(&(now_ns() - start).to_le_bytes());
        stamp[32..40].copy_from_slice(&start.to_le_bytes());
        let size = pixels.len().min(STAMP);
        pixels[..size].copy_from_slice(&stamp[..size]);
    }
}

// A pool of slabs, which are blocks of memory of one size. The plugin lends a slab to the host, and the host returns it. A returned slab
// still contains its last frame, so drawing the next frame changes only the differences. The slab's pages are already mapped.

// The limits of a pool. 16 slabs for frames of 1080p take 133 MB. A listener that holds 16 frames does not keep up with the source. For
// larger frames, `BYTES_MAX` allows fewer slabs, but at least two: one is drawn while the other is shown.
const SLABS_MAX: usize = 16;
const SLABS_MIN: usize = 2;
const BYTES_MAX: usize = 256 << 20;
/// The maximum time to wait for a slab: about a third of a frame's time at 60 frames per second. A ticker that waits for a slab notices a
/// cancelled listener only after this time.
const WAIT: Duration = Duration::from_millis(5);

pub struct Slab {
    owner: Arc<Slabs>,
    pub pixels: Box<[u8]>,
    /// The last drawing in `pixels`. `None` if nothing was drawn yet.
    pub last_drawn: Option<Drawn>,
}

#[derive(Default)]
struct State {
    free: Vec<(Box<[u8]>, Option<Drawn>)>,
    /// The number of slabs that were allocated, including those in use.
    slab_count: usize,
}

pub struct Slabs {
    state: Mutex<State>,
    slab_returned: Condvar,
    size: usize,
    max: usize,
}

impl Slabs {
    /// Makes an empty pool of slabs of `size` bytes.
    pub fn new(size: usize) -> Arc<Slabs> {
        let max = (BYTES_MAX / size).clamp(SLABS_MIN, SLABS_MAX);
        Arc::new(Slabs { state: Mutex::default(), slab_returned: Condvar::new(), size, max })
    }

    /// Takes a free slab, or makes one. If the maximum number of slabs is in use, waits up to 5 ms for one. Returns `None` if no slab came
    /// back in that time.
    pub fn take(self: &Arc<Slabs>) -> Option<Box<Slab>> {
        let none_left = |state: &mut State| state.free.is_empty() && state.slab_count == self.max;
        let waited = self.slab_returned.wait_timeout_while(lock(&self.state), WAIT, none_left);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let (pixels, last_drawn) = match state.free.pop() {
            Some(free) => free,
            None if state.slab_count == self.max => return None,
            None => {
                state.slab_count += 1;
                (vec![0; self.size].into(), None)
            }
        };
        Some(Box::new(Slab { owner: Arc::clone(self), pixels, last_drawn }))
    }
}

impl Slab {
    /// Returns the slab to the pool. Any thread may call this, also long after the stream has ended: each slab keeps the pool alive.
    pub fn give_back(self) {
        let Slab { owner, pixels, last_drawn } = self;
        lock(&owner.state).free.push((pixels, last_drawn));
        owner.slab_returned.notify_one();
    }
}

/// Returns a slab to its pool. The host calls this when the last reference to the slab's memory is released. The context is the slab's
/// box.
pub unsafe extern "C-unwind" fn released(context: *mut c_void, _data: *mut u8, _size: usize) {
    // SAFETY: the context is a box from `Box::into_raw`, and the host calls this function once.
    guarded((), || unsafe { Box::from_raw(context.cast::<Slab>()) }.give_back());
}
