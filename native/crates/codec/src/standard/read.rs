// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::error::{BIG_DIGITS_MAX, Code, Error, Limits};
use crate::standard::tag;
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

/// A message, and the position of the next byte. Has functions that read the parts of a value.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    /// The number of values that later counts may announce.
    items_left: usize,
    pub(super) depth_max: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], limits: Limits) -> Reader<'a> {
        Reader { bytes, at: 0, items_left: limits.items_max, depth_max: limits.depth() }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.left() == 0
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Returns the next `count` bytes. `from` is the offset for the error if they are missing.
    fn take(&mut self, count: usize, from: usize) -> Result<&'a [u8], Error> {
        if count > self.left() {
            return Err(Error::at(Code::Truncated, from));
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, from: usize) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, from)?);
        Ok(array)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        Ok(self.array::<1>(self.at)?[0])
    }

    /// Reads an unaligned number.
    pub(super) fn number<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.array(self.at)
    }

    /// Skips the padding and reads a number.
    pub(super) fn aligned<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let from = self.at;
        self.pad(N, from)?;
        self.array(from)
    }

    fn pad(&mut self, alignment: usize, from: usize) -> Result<(), Error> {
        let over = self.at % alignment;
        if over != 0 {
            self.take(alignment - over, from)?;
        }
        Ok(())
    }

    fn size(&mut self) -> Result<usize, Error> {
        let from = self.at;
        Ok(match self.byte()? {
            tag::SIZE_TWO => u16::from_le_bytes(self.array(from)?).into(),
            tag::SIZE_FOUR => u32::from_le_bytes(self.array(from)?) as usize,
            one => one.into(),
        })
    }

    /// Reads a count of values that take at least `each` bytes. Compares the count with the number of remaining bytes and with the limit.
    pub(super) fn count(&mut self, each: usize) -> Result<usize, Error> {
        let from = self.at;
        let count = self.size()?;
        let bytes = count.checked_mul(each).filter(|bytes| *bytes <= self.left());
        let bytes = bytes.ok_or(Error::at(Code::Truncated, from))?;
        self.items_left = self.items_left.checked_sub(bytes).ok_or(Error::at(Code::TooLarge, from))?;
        Ok(count)
    }

    /// Reads a size, and then that number of bytes.
    pub(super) fn sized(&mut self) -> Result<&'a [u8], Error> {
        let from = self.at;
        let size = self.size()?;
        self.take(size, from)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Error> {
        let bytes = self.sized()?;
        utf8(bytes, self.at - bytes.len())
    }

    /// Reads a count, the padding, and then `count` numbers of `N` bytes.
    pub(super) fn numbers<const N: usize, T>(&mut self, each: impl Fn([u8; N]) -> T) -> Result<Vec<T>, Error> {
        let from = self.at;
        let count = self.size()?;
        self.pad(N, from)?;
        let bytes = count.checked_mul(N).ok_or(Error::at(Code::Truncated, from))?;
        let bytes = self.take(bytes, from)?;
        Ok(bytes.chunks_exact(N).map(|chunk| each(chunk.try_into().expect("chunks have N bytes"))).collect())
    }

    pub(super) fn finish(&self) -> Result<(), Error> {
        if self.is_at_end() { Ok(()) } else { Err(Error::at(Code::TrailingBytes, self.at)) }
    }
}
