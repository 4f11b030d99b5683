// SPDX-License-Identifier: MIT OR Apache-2.0

use super::reader::{MALFORMED, Reader};
use crate::error::Error;

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
