// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handler `image/filter`, which runs on the pool. It changes RGBA pixels in place, in memory that both sides see.

use clearway_sys::{CLEARWAY_MEMORY_SEALED, CLEARWAY_RUN_POOL, Status};

use crate::example::{Example, OnMessage, Request};
use crate::source::{argument, read_arguments};

fn negative(pixel: &mut [u8; 4]) {
    for channel in &mut pixel[..3] {
        *channel = 255 - *channel;
    }
}

/// Makes a pixel grey. Computes luma by Rec. 709 with weights of 16 bits, which add up to 65536.
fn grey(pixel: &mut [u8; 4]) {
    let [red, green, blue, _] = pixel.map(u32::from);
    let luma = (red * 13933 + green * 46871 + blue * 4732) >> 16;
    pixel[..3].fill(luma as u8);
}

struct Filter;

impl OnMessage for Filter {
    fn on_message(request: &Request<'_>) -> Status {
        let given = match read_arguments(request.message) {
            Ok(given) => given,
            Err(_) => return request.invalid("the message is a map"),
        };
        let sides = || Some((argument(&given, "width", 1..=1 << 15, 0)?, argument(&given, "height", 1..=1 << 15, 0)?));
        // Width and height are required: their default, 0, is out of range.
        let Some((width, height)) = sides() else { return request.invalid("width and height are 1 to 32768") };
        let change = match given.get("filter") {
            Some(clearway_codec::Value::Text(name)) if name == "negative" => negative,
            Some(clearway_codec::Value::Text(name)) if name == "grey" => grey,
            _ => return request.invalid("filter is \"negative\" or \"grey\""),
        };
        let view = match request.view(request.attachment().unwrap_or(0)) {
            Ok(view) => view,
            Err(status) => return request.refuse(status, "no pixels come with the message"),
        };
        if view.flags & CLEARWAY_MEMORY_SEALED != 0 {
            return request.invalid("the pixels are sealed");
        }
        let count = (width * height) as usize;
        if view.size / 4 < count {
            return request.invalid("there are too few pixels");
        }
        // SAFETY: the host keeps the memory valid during this call, and the memory is large enough. The sender allows changes.
        let pixels = unsafe { std::slice::from_raw_parts_mut(view.data.cast::<[u8; 4]>(), count) };
        pixels.iter_mut().for_each(change);
        request.answer_null()
    }
}

pub fn add(example: &Example) -> Status {
    example.handle::<Filter>("image/filter", CLEARWAY_RUN_POOL, "")
}
