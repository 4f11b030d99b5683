// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulated sensor. An event has 24 bytes: u64 number, u64 ns, float64 value.

use clearway_codec::Value;
use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, Content, Host, Status, Stream};

use crate::example::{Example, now_ns};
use crate::source::{OnListen, argument};
use crate::ticker::{Rate, Tick};

struct Sensor {
    host: &'static Host,
}

impl Tick for Sensor {
    fn emit(&mut self, stream: Stream, number: u64, _is_retry: bool) -> Status {
        let mut reading = [0; 24];
        reading[..8].copy_from_slice(&number.to_le_bytes());
        reading[8..16].copy_from_slice(&now_ns().to_le_bytes());
        // The values are a sawtooth of a hundred steps, in which a lost event is visible.
        reading[16..].copy_from_slice(&((number % 100) as f64 / 100.0).to_le_bytes());
        // SAFETY: the host checks the handle and copies the bytes.
        unsafe { (self.host.emit)(stream, &Content::of(&reading)) }
    }
}

impl OnListen for Sensor {
    fn on_listen(example: &Example, arguments: &Value, stream: Stream) -> Status {
        let (Some(rate), Some(count)) =
            (argument(arguments, "rate", 0..=1_000_000, 100), argument(arguments, "count", 0..=i64::MAX, 0))
        else {
            return CLEARWAY_INVALID_ARGUMENT;
        };
        let rate = Rate { per_second: rate as u32, count: count as u64, catches_up: true };
        example.tickers.start(example.host, stream, Box::new(Sensor { host: example.host }), rate)
    }
}

pub fn add(example: &Example) -> Status {
    example.source::<Sensor>("sensor")
}
