// SPDX-License-Identifier: MIT OR Apache-2.0

use super::number::number;
use super::reader::{MALFORMED, Reader};
use super::text::text;
use crate::error::{Code, Error};
use crate::limits::Limits;
use crate::value::{Value, without_duplicate_keys};

/// Reads a message. A message without bytes is null. An object becomes a map. A number becomes an integer if it has no fraction and lies
/// within ±(2^53 - 1), except minus zero.
pub fn read(message: &[u8], limits: Limits) -> Result<Value, Error> {
    if message.is_empty() { Ok(Value::Null) } else { read_value(message, limits) }
}

/// Reads a JSON text. Nothing but white space may follow the value.
pub fn read_value(bytes: &[u8], limits: Limits) -> Result<Value, Error> {
    read_to(bytes, limits.depth())
}

pub(super) fn read_to(bytes: &[u8], depth_max: usize) -> Result<Value, Error> {
    let mut reader = Reader { bytes, at: 0, depth_max };
    let value = reader.value(0)?;
    reader.space();
    if reader.at < bytes.len() { Err(MALFORMED) } else { Ok(value) }
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, Error> {
        match self.next()? {
            open @ (b'[' | b'{') => {
                if depth >= self.depth_max {
                    return Err(Error::at(Code::TooDeep, 0));
                }
                self.at += 1;
                if open == b'[' { self.list(depth + 1) } else { self.map(depth + 1) }
            }
            b'"' => text(self).map(Value::Text),
            b'-' | b'0'..=b'9' => number(self),
            b'n' => self.word("null", Value::Null),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            _ => Err(MALFORMED),
        }
    }

    fn list(&mut self, inside: usize) -> Result<Value, Error> {
        let mut list = Vec::new();
        let mut more = self.next()? != b']';
        while more {
            list.push(self.value(inside)?);
            more = self.comma_or_end(b']')?;
        }
        self.at += 1;
        Ok(Value::List(list))
    }

    fn map(&mut self, inside: usize) -> Result<Value, Error> {
        let mut entries = Vec::new();
        let mut more = self.next()? != b'}';
        while more {
            if self.next()? != b'"' {
                return Err(MALFORMED);
            }
            let key = Value::Text(text(self)?);
            if self.next()? != b':' {
                return Err(MALFORMED);
            }
            self.at += 1;
            entries.push((key, self.value(inside)?));
            more = self.comma_or_end(b'}')?;
        }
        self.at += 1;
        Ok(Value::Map(without_duplicate_keys(entries)))
    }

    /// Consumes a comma and returns true. At `end`, returns false and consumes nothing.
    fn comma_or_end(&mut self, end: u8) -> Result<bool, Error> {
        match self.next()? {
            b',' => {
                self.at += 1;
                Ok(true)
            }
            byte if byte == end => Ok(false),
            _ => Err(MALFORMED),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Error> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(MALFORMED);
        }
        self.at += word.len();
        Ok(value)
    }
}
