// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sensor that writes lines to a serial device, such as `temperature=21.5 humidity=40`. Each listener gets the readings as events. The
//! stream's credit reaches the device: while the listener's queue is full, the plugin reads no further line.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use clearway::{Error, Result, Stream};
use serde::{Deserialize, Serialize};

#[derive(Default)]
struct Sensor;

#[derive(Deserialize)]
struct Device {
    /// The path of the device, such as `/dev/ttyUSB0`. A file works, too.
    path: String,
    /// The number of readings after which the stream ends. Without it, the stream ends with the device's data.
    count: Option<u64>,
}

#[derive(Serialize)]
struct Reading {
    number: u64,
    values: BTreeMap<String, f64>,
}

/// The longest line. A device that sends no line breaks must not fill the memory.
const LINE_BYTES_MAX: u64 = 4096;

#[clearway::plugin]
impl Sensor {
    /// Runs on a thread of its own for each listener, so reading may block. After a cancel, the thread ends with the device's next line.
    #[source("readings")]
    fn readings(&self, Device { path, count }: Device, stream: Stream) -> Result<()> {
        let device = File::open(&path).map_err(|error| Error::invalid_argument(format!("path {path}: {error}")))?;
        let mut lines = BufReader::new(device);
        let mut line = String::new();
        let mut number = 0;
        while count.is_none_or(|count| number < count) && !stream.is_cancelled() {
            line.clear();
            lines.by_ref().take(LINE_BYTES_MAX).read_line(&mut line)?;
            if line.is_empty() {
                break; // the end of the device's data
            }
            if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with('\n') {
                return Err(Error::failed(format!("path {path}: a line is longer than {LINE_BYTES_MAX} bytes")));
            }
            if line.trim().is_empty() {
                continue;
            }
            stream.send(Reading { number, values: parse(&line)? })?; // waits while the listener's queue is full
            number += 1;
        }
        Ok(())
    }
}

/// Reads a line of `name=number` pairs.
fn parse(line: &str) -> Result<BTreeMap<String, f64>> {
    let mut values = BTreeMap::new();
    for pair in line.split_whitespace() {
        let invalid = || Error::failed(format!("the sensor wrote {pair:?}; name=number is expected"));
        let (name, value) = pair.split_once('=').ok_or_else(invalid)?;
        let value: f64 = value.parse().map_err(|_| invalid())?;
        values.insert(name.to_owned(), value);
    }
    Ok(values)
}
