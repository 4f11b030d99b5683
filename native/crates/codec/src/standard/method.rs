// SPDX-License-Identifier: MIT OR Apache-2.0

use super::read::value;
use super::tag;
use super::write::{put, write_or_truncate};
use crate::error::{Code, Error, Limits};
use crate::standard::read::Reader;
use crate::value::{Call, Reply, Value};

/// Reads a call: the method's name, then the arguments.
pub fn read_call(message: &[u8], limits: Limits) -> Result<Call, Error> {
    let mut reader = Reader::new(message, limits);
    let method = text(&mut reader)?;
    let args = value(&mut reader, 0)?;
    reader.finish()?;
    Ok(Call { method, args })
}

/// Reads a reply. A message without bytes is `Reply::None`.
pub fn read_reply(message: &[u8], limits: Limits) -> Result<Reply, Error> {
    if message.is_empty() {
        return Ok(Reply::None);
    }
    let mut reader = Reader::new(message, limits);
    let reply = match reader.byte()? {
        tag::SUCCESS => Reply::Success(value(&mut reader, 0)?),
        tag::ERROR => {
            let code = text(&mut reader)?;
            let message = text_or_null(&mut reader)?;
            let details = value(&mut reader, 0)?;
            let stack = if reader.is_at_end() { None } else { Some(text_or_null(&mut reader)?) };
            Reply::Error { code, message, details, stack }
        }
        _ => return Err(Error::at(Code::Malformed, 0)),
    };
    reader.finish()?;
    Ok(reply)
}

fn text(reader: &mut Reader<'_>) -> Result<String, Error> {
    let from = reader.at;
    if reader.byte()? != tag::TEXT {
        return Err(Error::at(Code::Malformed, from));
    }
    reader.text().map(str::to_owned)
}

fn text_or_null(reader: &mut Reader<'_>) -> Result<Option<String>, Error> {
    if reader.peek() == Some(tag::NULL) {
        reader.at += 1;
        return Ok(None);
    }
    text(reader).map(Some)
}

/// Appends a call. Removes the appended bytes on failure.
pub fn write_call(method: &str, args: &Value, limits: Limits, to: &mut Vec<u8>) -> Result<(), Error> {
    write_or_truncate(to, |writer| {
        writer.sized(tag::TEXT, method.as_bytes())?;
        put(writer, args, 0, limits.depth())
    })
}

/// Appends a reply. `Reply::None` makes a message without bytes. Removes the appended bytes on failure.
pub fn write_reply(reply: &Reply, limits: Limits, to: &mut Vec<u8>) -> Result<(), Error> {
    write_or_truncate(to, |writer| match reply {
        Reply::None => Ok(()),
        Reply::Success(value) => {
            writer.byte(tag::SUCCESS);
            put(writer, value, 0, limits.depth())
        }
        Reply::Error { code, message, details, stack } => {
            writer.byte(tag::ERROR);
            writer.sized(tag::TEXT, code.as_bytes())?;
            let put_text = |writer: &mut super::write::Writer<'_>, text: &Option<String>| match text {
                Some(text) => writer.sized(tag::TEXT, text.as_bytes()),
                None => {
                    writer.byte(tag::NULL);
                    Ok(())
                }
            };
            put_text(writer, message)?;
            put(writer, details, 0, limits.depth())?;
            stack.as_ref().map_or(Ok(()), |stack| put_text(writer, stack))
        }
    })
}
