// SPDX-License-Identifier: MIT OR Apache-2.0

use super::tag;
use super::writer::Writer;
use crate::error::{Code, Error};
use crate::limits::{BIG_DIGITS_MAX, Limits};
use crate::value::Value;

/// Appends a message. Null makes a message without bytes. Removes the appended bytes on failure.
pub fn write(value: &Value, limits: Limits, to: &mut Vec<u8>) -> Result<(), Error> {
    if *value == Value::Null { Ok(()) } else { write_value(value, limits, to) }
}

/// Appends a value with its type byte. Alignment counts from the value's first byte. Removes the appended bytes on failure.
pub fn write_value(value: &Value, limits: Limits, to: &mut Vec<u8>) -> Result<(), Error> {
    write_or_truncate(to, |writer| put(writer, value, 0, limits.depth()))
}

pub(super) fn write_or_truncate(
    to: &mut Vec<u8>,
    write: impl FnOnce(&mut Writer<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let start = to.len();
    let written = write(&mut Writer::new(to));
    if written.is_err() {
        to.truncate(start);
    }
    written
}

pub(super) fn put(writer: &mut Writer<'_>, value: &Value, depth: usize, depth_max: usize) -> Result<(), Error> {
    match value {
        Value::Null => writer.byte(tag::NULL),
        Value::Bool(true) => writer.byte(tag::TRUE),
        Value::Bool(false) => writer.byte(tag::FALSE),
        Value::Int(int) => put_int(writer, *int),
        Value::Big(big) => {
            if big.digits().len() > BIG_DIGITS_MAX {
                return Err(writer.refuse(Code::TooLarge));
            }
            let sign = if big.is_negative() { "-" } else { "" };
            writer.byte(tag::BIG);
            writer.size(sign.len() + big.digits().len())?;
            writer.bytes(sign.as_bytes());
            writer.bytes(big.digits().as_bytes());
        }
        Value::Float(float) => {
            writer.byte(tag::FLOAT64);
            writer.pad(8);
            writer.bytes(&float.to_le_bytes());
        }
        Value::Text(text) => writer.sized(tag::TEXT, text.as_bytes())?,
        Value::Bytes(bytes) => writer.sized(tag::BYTES, bytes)?,
        Value::Int32s(numbers) => writer.numbers(tag::INT32S, numbers, i32::to_le_bytes)?,
        Value::Int64s(numbers) => writer.numbers(tag::INT64S, numbers, i64::to_le_bytes)?,
        Value::Float32s(numbers) => writer.numbers(tag::FLOAT32S, numbers, f32::to_le_bytes)?,
        Value::Float64s(numbers) => writer.numbers(tag::FLOAT64S, numbers, f64::to_le_bytes)?,
        Value::List(values) => {
            begin(writer, tag::LIST, values.len(), depth, depth_max)?;
            for each in values {
                put(writer, each, depth + 1, depth_max)?;
            }
        }
        Value::Map(entries) => {
            begin(writer, tag::MAP, entries.len(), depth, depth_max)?;
            for (key, each) in entries {
                put(writer, key, depth + 1, depth_max)?;
                put(writer, each, depth + 1, depth_max)?;
            }
        }
    }
    Ok(())
}

fn begin(writer: &mut Writer<'_>, tag: u8, count: usize, depth: usize, depth_max: usize) -> Result<(), Error> {
    if depth >= depth_max {
        return Err(writer.refuse(Code::TooDeep));
    }
    writer.byte(tag);
    writer.size(count)
}

fn put_int(writer: &mut Writer<'_>, int: i64) {
    match i32::try_from(int) {
        Ok(narrow) => {
            writer.byte(tag::INT32);
            writer.bytes(&narrow.to_le_bytes());
        }
        Err(_) => {
            writer.byte(tag::INT64);
            writer.bytes(&int.to_le_bytes());
        }
    }
}
