// SPDX-License-Identifier: MIT OR Apache-2.0

use super::reader::Reader;
use super::tag;
use crate::error::{Code, Error};
use crate::limits::{BIG_DIGITS_MAX, Limits};
use crate::string::utf8;
use crate::value::{Value, without_duplicate_keys};

/// Reads a message. A message without bytes is null.
pub fn read(message: &[u8], limits: Limits) -> Result<Value, Error> {
    if message.is_empty() { Ok(Value::Null) } else { read_value(message, limits) }
}

/// Reads a value. Fails with `trailing-bytes` if more bytes follow the value.
pub fn read_value(bytes: &[u8], limits: Limits) -> Result<Value, Error> {
    let mut reader = Reader::new(bytes, limits);
    let value = value(&mut reader, 0)?;
    reader.finish()?;
    Ok(value)
}

/// Reads a value with its type byte. `depth` is the number of enclosing lists and maps.
pub(super) fn value(reader: &mut Reader<'_>, depth: usize) -> Result<Value, Error> {
    let from = reader.at;
    Ok(match reader.byte()? {
        tag::NULL => Value::Null,
        tag::TRUE => Value::Bool(true),
        tag::FALSE => Value::Bool(false),
        tag::INT32 => Value::Int(i32::from_le_bytes(reader.number()?).into()),
        tag::INT64 => Value::Int(i64::from_le_bytes(reader.number()?)),
        tag::BIG => big(reader)?,
        tag::FLOAT64 => Value::Float(f64::from_le_bytes(reader.aligned()?)),
        tag::TEXT => Value::Text(reader.text()?.to_owned()),
        tag::BYTES => Value::Bytes(reader.sized()?.to_vec()),
        tag::INT32S => Value::Int32s(reader.numbers(i32::from_le_bytes)?),
        tag::INT64S => Value::Int64s(reader.numbers(i64::from_le_bytes)?),
        tag::FLOAT32S => Value::Float32s(reader.numbers(f32::from_le_bytes)?),
        tag::FLOAT64S => Value::Float64s(reader.numbers(f64::from_le_bytes)?),
        tag::LIST => list(reader, enter(reader, depth, from)?)?,
        tag::MAP => map(reader, enter(reader, depth, from)?)?,
        _ => return Err(Error::at(Code::UnknownTag, from)),
    })
}

fn enter(reader: &Reader<'_>, depth: usize, from: usize) -> Result<usize, Error> {
    if depth >= reader.depth_max { Err(Error::at(Code::TooDeep, from)) } else { Ok(depth + 1) }
}

// A list grows with its values and is not allocated by its count. Each of several nested lists could announce all remaining bytes, and a
// value takes more memory than its one byte in the message. The allocations would have no bound.
fn list(reader: &mut Reader<'_>, inside: usize) -> Result<Value, Error> {
    let count = reader.count(1)?;
    let mut list = Vec::with_capacity(count.min(64));
    for _ in 0..count {
        list.push(value(reader, inside)?);
    }
    Ok(Value::List(list))
}

fn map(reader: &mut Reader<'_>, inside: usize) -> Result<Value, Error> {
    let count = reader.count(2)?;
    let mut entries = Vec::with_capacity(count.min(32));
    for _ in 0..count {
        let key = value(reader, inside)?;
        entries.push((key, value(reader, inside)?));
    }
    Ok(Value::Map(without_duplicate_keys(entries)))
}

fn big(reader: &mut Reader<'_>) -> Result<Value, Error> {
    let from = reader.at;
    let bytes = reader.sized()?;
    let negative = bytes.first() == Some(&b'-');
    let digits = &bytes[usize::from(negative)..];
    if digits.len() > BIG_DIGITS_MAX {
        return Err(Error::at(Code::TooLarge, from));
    }
    let digits = utf8(digits, reader.at - digits.len())?;
    Value::integer(negative, digits).ok_or(Error::at(Code::Malformed, from))
}
