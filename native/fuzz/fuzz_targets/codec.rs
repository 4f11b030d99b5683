// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks the Rust codecs. No bytes may cause a panic, or an error with an offset past their end. A value that was encoded, decoded and
//! encoded again must give the same bytes. A decoded value must not have more values than the message has bytes, nor more than the limit.
#![no_main]

use clearway_codec::{Call, Error, Limits, Reply, Value, json, standard, string};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits::DEFAULT;

fn check<T>(
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Result<T, Error>,
    write: impl Fn(&T, &mut Vec<u8>) -> Result<(), Error>,
) {
    let value = match read(bytes) {
        Ok(value) => value,
        Err(error) => {
            assert!(error.offset <= bytes.len(), "{error:?} of {} bytes", bytes.len());
            return;
        }
    };
    let mut once = Vec::new();
    if write(&value, &mut once).is_err() {
        assert!(once.is_empty(), "what a writer refuses is taken back");
        return;
    }
    let mut twice = Vec::new();
    let again = read(&once).expect("what was written can be read");
    write(&again, &mut twice).expect("what was written can be written again");
    assert_eq!(once, twice);
}

/// Counts a value and all values in its lists and maps.
fn count(value: &Value) -> usize {
    match value {
        Value::List(values) => 1 + values.iter().map(count).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|(key, value)| count(key) + count(value)).sum::<usize>(),
        _ => 1,
    }
}

/// Checks the number of values that a message creates, without a limit and with a small one.
fn check_count(bytes: &[u8], read: impl Fn(&[u8], Limits) -> Result<Value, Error>) {
    if let Ok(value) = read(bytes, LIMITS) {
        // A message without bytes is null.
        assert!(count(&value) <= bytes.len().max(1), "{} values of {} bytes", count(&value), bytes.len());
    }
    let items_max = usize::from(bytes.first().copied().unwrap_or(0));
    if let Ok(value) = read(bytes, Limits { items_max, ..LIMITS }) {
        assert!(count(&value) - 1 <= items_max, "{} values in a message with at most {items_max}", count(&value) - 1);
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else { return };
    match kind % 7 {
        0 => {
            check_count(bytes, standard::read);
            check(bytes, |bytes| standard::read(bytes, LIMITS), |value: &Value, to| standard::write(value, LIMITS, to))
        }
        1 => check(
            bytes,
            |bytes| standard::read_call(bytes, LIMITS),
            |call: &Call, to| standard::write_call(&call.method, &call.args, LIMITS, to),
        ),
        2 => check(
            bytes,
            |bytes| standard::read_reply(bytes, LIMITS),
            |reply: &Reply, to| standard::write_reply(reply, LIMITS, to),
        ),
        // Reads and writes values instead of messages. JSON writes an infinite number as null, and the message null has no bytes. So a
        // message such as 1e999 would give other bytes when it is written again.
        3 => check(
            bytes,
            |bytes| json::read_value(bytes, LIMITS),
            |value: &Value, to| json::write_value(value, LIMITS, to),
        ),
        4 => check(
            bytes,
            |bytes| json::read_call(bytes, LIMITS),
            |call: &Call, to| json::write_call(&call.method, &call.args, LIMITS, to),
        ),
        5 => check(
            bytes,
            |bytes| json::read_reply(bytes, LIMITS),
            |reply: &Reply, to| json::write_reply(reply, LIMITS, to),
        ),
        _ => {
            if let Err(error) = string::read(bytes) {
                assert!(error.offset < bytes.len());
            }
        }
    }
});
