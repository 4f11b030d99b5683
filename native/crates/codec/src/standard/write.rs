// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::error::{BIG_DIGITS_MAX, Code, Error, Limits};
use crate::standard::tag;
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

/// Appends a message to the caller's bytes. Offsets and padding count from the message's first byte.
pub(super) struct Writer<'a> {
    to: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(to: &'a mut Vec<u8>) -> Writer<'a> {
        let start = to.len();
        Writer { to, start }
    }

    pub(super) fn at(&self) -> usize {
        self.to.len() - self.start
    }

    pub(super) fn refuse(&self, code: Code) -> Error {
        Error::at(code, self.at())
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.to.push(byte);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.to.extend_from_slice(bytes);
    }

    pub(super) fn pad(&mut self, alignment: usize) {
        let zeros = self.at().next_multiple_of(alignment) - self.at();
        self.to.resize(self.to.len() + zeros, 0);
    }

    pub(super) fn size(&mut self, size: usize) -> Result<(), Error> {
        if size <= tag::SIZE_ONE_MAX {
            self.byte(size as u8);
        } else if size <= tag::SIZE_TWO_MAX {
            self.byte(tag::SIZE_TWO);
            self.bytes(&(size as u16).to_le_bytes());
        } else {
            let four = u32::try_from(size).map_err(|_| self.refuse(Code::TooLarge))?;
            self.byte(tag::SIZE_FOUR);
            self.bytes(&four.to_le_bytes());
        }
        Ok(())
    }

    pub(super) fn sized(&mut self, tag: u8, bytes: &[u8]) -> Result<(), Error> {
        self.byte(tag);
        self.size(bytes.len())?;
        self.bytes(bytes);
        Ok(())
    }

    pub(super) fn numbers<const N: usize, T: Copy>(
        &mut self,
        tag: u8,
        numbers: &[T],
        each: impl Fn(T) -> [u8; N],
    ) -> Result<(), Error> {
        self.byte(tag);
        self.size(numbers.len())?;
        self.pad(N);
        self.to.reserve(numbers.len() * N);
        for number in numbers {
            self.to.extend_from_slice(&each(*number));
        }
        Ok(())
    }
}
