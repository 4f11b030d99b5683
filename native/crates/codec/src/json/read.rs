// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::error::{Code, Error, Limits};
use crate::json::number::number;
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

/// What is no JSON in UTF-8. The error does not say where.
pub(super) const MALFORMED: Error = Error::at(Code::Malformed, 0);

/// A JSON text, and the position of the next byte.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) depth_max: usize,
}

impl Reader<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips white space and returns the next byte, without consuming it.
    pub(super) fn next(&mut self) -> Result<u8, Error> {
        self.space();
        self.peek().ok_or(MALFORMED)
    }
}

/// Reads a text from its opening quote to its closing quote.
pub(super) fn text(reader: &mut Reader<'_>) -> Result<String, Error> {
    let mut text = String::new();
    reader.at += 1;
    loop {
        let from = reader.at;
        while matches!(reader.peek(), Some(byte) if byte >= 0x20 && byte != b'"' && byte != b'\\') {
            reader.at += 1;
        }
        text.push_str(std::str::from_utf8(&reader.bytes[from..reader.at]).map_err(|_| MALFORMED)?);
        match reader.peek() {
            Some(b'"') => break,
            Some(b'\\') => text.push(escape(reader)?),
            _ => return Err(MALFORMED),
        }
    }
    reader.at += 1;
    Ok(text)
}

/// Reads an escape, from its backslash on.
fn escape(reader: &mut Reader<'_>) -> Result<char, Error> {
    reader.at += 1;
    let letter = reader.peek().ok_or(MALFORMED)?;
    let simple = match letter {
        b'"' | b'\\' | b'/' => char::from(letter),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(reader),
        _ => return Err(MALFORMED),
    };
    reader.at += 1;
    Ok(simple)
}

/// Reads `uXXXX`, or this and the next escape if they are a surrogate pair, and returns the character.
fn unicode(reader: &mut Reader<'_>) -> Result<char, Error> {
    reader.at += 1;
    let high = unit(reader)?;
    if let Some(character) = char::from_u32(high) {
        return Ok(character);
    }
    if !reader.bytes[reader.at..].starts_with(b"\\u") {
        return Err(MALFORMED);
    }
    reader.at += 2;
    let low = unit(reader)?;
    // UTF-8 has no form for half of a pair.
    if high >= 0xdc00 || !(0xdc00..=0xdfff).contains(&low) {
        return Err(MALFORMED);
    }
    char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).ok_or(MALFORMED)
}

/// Reads four hex digits.
fn unit(reader: &mut Reader<'_>) -> Result<u32, Error> {
    let mut unit = 0;
    for _ in 0..4 {
        let byte = reader.peek().ok_or(MALFORMED)?;
        let digit = char::from(byte).to_digit(16).ok_or(MALFORMED)?;
        unit = unit << 4 | digit;
        reader.at += 1;
    }
    Ok(unit)
}
