// SPDX-License-Identifier: MIT OR Apache-2.0

use super::reader::Reader;
use crate::error::{Code, Error};
use crate::string::utf8;

/// Reads a text from its opening quote to its closing quote.
pub(super) fn text(reader: &mut Reader<'_>) -> Result<String, Error> {
    let mut text = String::new();
    reader.at += 1;
    loop {
        let from = reader.at;
        while matches!(reader.peek(), Some(byte) if byte >= 0x20 && byte != b'"' && byte != b'\\') {
            reader.at += 1;
        }
        text.push_str(utf8(&reader.bytes[from..reader.at], from)?);
        match reader.peek() {
            None => return Err(reader.refuse(Code::Truncated)),
            Some(b'"') => break,
            Some(b'\\') => text.push(escape(reader)?),
            Some(_) => return Err(reader.refuse(Code::Malformed)),
        }
    }
    reader.at += 1;
    Ok(text)
}

/// Reads an escape, from its backslash on.
fn escape(reader: &mut Reader<'_>) -> Result<char, Error> {
    let from = reader.at;
    reader.at += 1;
    let letter = reader.peek().ok_or(reader.refuse(Code::Truncated))?;
    let simple = match letter {
        b'"' | b'\\' | b'/' => char::from(letter),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(reader, from),
        _ => return Err(reader.refuse(Code::Malformed)),
    };
    reader.at += 1;
    Ok(simple)
}

/// Reads `\uXXXX`, or two such escapes that form a surrogate pair, and returns the character. `from` is the offset of the first backslash.
fn unicode(reader: &mut Reader<'_>, from: usize) -> Result<char, Error> {
    let alone = Error::at(Code::BadUtf8, from);
    reader.at = from + 2;
    let high = unit(reader)?;
    if !(0xd800..=0xdbff).contains(&high) {
        return char::from_u32(high).ok_or(alone);
    }
    // The escape of the lower half must follow. If the text ends before this is clear, the error is `truncated`. If anything else follows,
    // the error is `bad-utf8`, because UTF-8 has no form for the upper half alone.
    let lower: [fn(u8) -> bool; 4] = [
        |byte| byte == b'\\',
        |byte| byte == b'u',
        |byte| byte | 0x20 == b'd',
        |byte| matches!(byte | 0x20, b'c'..=b'f'),
    ];
    for (at, fits) in lower.iter().enumerate() {
        match reader.bytes.get(from + 6 + at) {
            None => return Err(Error::at(Code::Truncated, reader.bytes.len())),
            Some(byte) if !fits(*byte) => return Err(alone),
            Some(_) => {}
        }
    }
    reader.at = from + 8;
    let low = unit(reader).map_err(|error| if error.code == Code::Malformed { alone } else { error })?;
    char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).ok_or(alone)
}

/// Reads four hex digits.
fn unit(reader: &mut Reader<'_>) -> Result<u32, Error> {
    let mut unit = 0;
    for _ in 0..4 {
        let byte = reader.peek().ok_or(reader.refuse(Code::Truncated))?;
        let digit = char::from(byte).to_digit(16).ok_or(reader.refuse(Code::Malformed))?;
        unit = unit << 4 | digit;
        reader.at += 1;
    }
    Ok(unit)
}
