// SPDX-License-Identifier: MIT OR Apache-2.0

use super::number::{nearest, put_float, put_int};
use crate::error::{Code, Error, Limits};
use crate::value::Value;

/// Appends a message, as `JSON.stringify` writes it. Null makes a message without bytes. Removes the appended bytes on failure.
pub fn write(value: &Value, limits: Limits, to: &mut Vec<u8>) -> Result<(), Error> {
    if *value == Value::Null { Ok(()) } else { write_value(value, limits, to) }
}

/// Appends a JSON text. Writes NaN and infinities as null, and integers beyond ±(2^53 - 1) as the nearest float. Writes lists of numbers as
/// objects, as `JSON.stringify` does for typed arrays. Fails with `not-encodable` for a map with keys that are not texts, and for non-empty
/// lists of 64-bit integers. Removes the appended bytes on failure.
pub fn write_value(value: &Value, limits: Limits, to: &mut Vec<u8>) -> Result<(), Error> {
    write_or_truncate(to, |writer| writer.put(value, 0, limits.depth()))
}

pub(super) fn write_or_truncate(
    to: &mut Vec<u8>,
    write: impl FnOnce(&mut Writer<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let start = to.len();
    let written = write(&mut Writer { to, start });
    if written.is_err() {
        to.truncate(start);
    }
    written
}

pub(super) struct Writer<'a> {
    pub(super) to: &'a mut Vec<u8>,
    start: usize,
}

const NOT_ENCODABLE: Error = Error::at(Code::NotEncodable, 0);

impl Writer<'_> {
    pub(super) fn raw(&mut self, text: &str) {
        self.to.extend_from_slice(text.as_bytes());
    }

    pub(super) fn put(&mut self, value: &Value, depth: usize, depth_max: usize) -> Result<(), Error> {
        match value {
            Value::Null => self.raw("null"),
            Value::Bool(bool) => self.raw(if *bool { "true" } else { "false" }),
            Value::Int(int) => put_int(*int, self.to),
            Value::Big(big) => put_float(nearest(big), self.to),
            Value::Float(float) => put_float(*float, self.to),
            Value::Text(text) => self.text(text),
            Value::Bytes(numbers) => self.numbers(numbers, depth < depth_max, |each, to| put_int(each.into(), to))?,
            Value::Int32s(numbers) => self.numbers(numbers, depth < depth_max, |each, to| put_int(each.into(), to))?,
            Value::Int64s(numbers) if numbers.is_empty() => self.numbers(numbers, depth < depth_max, put_int)?,
            Value::Int64s(_) => return Err(NOT_ENCODABLE),
            Value::Float32s(numbers) => {
                self.numbers(numbers, depth < depth_max, |each, to| put_float(each.into(), to))?
            }
            Value::Float64s(numbers) => self.numbers(numbers, depth < depth_max, put_float)?,
            Value::List(values) => {
                self.enter(depth < depth_max)?;
                self.raw("[");
                for (at, each) in values.iter().enumerate() {
                    self.raw(if at > 0 { "," } else { "" });
                    self.put(each, depth + 1, depth_max)?;
                }
                self.raw("]");
            }
            Value::Map(entries) => {
                self.enter(depth < depth_max)?;
                self.raw("{");
                for (at, (key, each)) in entries.iter().enumerate() {
                    let Value::Text(key) = key else { return Err(NOT_ENCODABLE) };
                    self.raw(if at > 0 { "," } else { "" });
                    self.text(key);
                    self.raw(":");
                    self.put(each, depth + 1, depth_max)?;
                }
                self.raw("}");
            }
        }
        Ok(())
    }

    fn enter(&self, allowed: bool) -> Result<(), Error> {
        if allowed { Ok(()) } else { Err(Error::at(Code::TooDeep, self.to.len() - self.start)) }
    }

    fn numbers<T: Copy>(&mut self, numbers: &[T], allowed: bool, put: impl Fn(T, &mut Vec<u8>)) -> Result<(), Error> {
        self.enter(allowed)?;
        self.raw("{");
        for (at, each) in numbers.iter().enumerate() {
            let key = format!("{}\"{at}\":", if at > 0 { "," } else { "" });
            self.raw(&key);
            put(*each, self.to);
        }
        self.raw("}");
        Ok(())
    }

    pub(super) fn text_or_null(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.text(text),
            None => self.raw("null"),
        }
    }

    /// Writes a text. Uses JSON's short escapes, and `\u00xx` for the other control characters.
    pub(super) fn text(&mut self, text: &str) {
        self.raw("\"");
        let mut from = 0;
        for (at, byte) in text.bytes().enumerate() {
            let escaped = match byte {
                b'"' => "\\\"",
                b'\\' => "\\\\",
                8 => "\\b",
                12 => "\\f",
                b'\n' => "\\n",
                b'\r' => "\\r",
                b'\t' => "\\t",
                0..0x20 => &format!("\\u{byte:04x}"),
                _ => continue,
            };
            self.raw(&text[from..at]);
            self.raw(escaped);
            from = at + 1;
        }
        self.raw(&text[from..]);
        self.raw("\"");
    }
}
