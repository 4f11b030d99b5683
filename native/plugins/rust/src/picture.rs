// SPDX-License-Identifier: MIT OR Apache-2.0
//! Draws a moving picture. A bar moves over a gradient, and a cross marks the pointer. Pixels are RGBA. The first bytes contain a stamp
//! instead of pixels:
//!
//! ```text
//!    0       4       8          12   16   20        24           32            40
//!    +-------+-------+----------+----+----+---------+------------+-------------+----
//!    | magic | frame | sequence | x  | y  | buttons | ns to draw | ns at start | 0 …   little-endian, up to byte 64
//!    +-------+-------+----------+----+----+---------+------------+-------------+----
//! ```

use crate::example::{Pointer, now_ns};

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
